//! Which device a module is compiled for.

use melior::ir::{OperationRef, operation::OperationLike};
use pto_dialect::{
    attribute,
    device::{Device, DeviceError},
    diagnostics, string_value,
};
use std::sync::Arc;

/// The module attribute that names the target.
pub const TARGET_ATTRIBUTE: &str = "pto.target_arch";

/// The module attribute that names a product (`Ascend950`).
const PRODUCT_ATTRIBUTE: &str = "pto.device-spec";

/// Beginnings of the names of A5 products.
const A5_PRODUCTS: [&str; 2] = ["Ascend950", "Ascend910_95"];

/// The target when neither the module nor the caller names one.
pub const DEFAULT_TARGET: &str = "a3";

/// Where a pass takes its device from.
#[derive(Clone, Debug)]
pub enum DeviceSource {
    /// The driver chose it.
    Given(Arc<Device>),
    /// The module's own attribute, else the default.
    Module,
}

impl DeviceSource {
    /// The device; `None` after an error was reported.
    pub fn resolve(&self, module: OperationRef) -> Option<Arc<Device>> {
        match self {
            Self::Given(device) => Some(Arc::clone(device)),
            Self::Module => {
                match Device::by_name(&module_target(module).unwrap_or_else(|| DEFAULT_TARGET.to_owned())) {
                    Ok(device) => Some(Arc::new(device)),
                    Err(error) => {
                        report(module, &error);
                        None
                    }
                }
            }
        }
    }
}

/// What the module's attributes say: the target by name, or the product that it is for.
pub fn module_target(module: OperationRef) -> Option<String> {
    attribute(module, TARGET_ATTRIBUTE).and_then(string_value).or_else(|| {
        let product = attribute(module, PRODUCT_ATTRIBUTE).and_then(string_value)?;
        A5_PRODUCTS.iter().any(|prefix| product.starts_with(prefix)).then(|| "a5".to_owned())
    })
}

/// Reports a target that does not exist, at the module.
pub fn report(module: OperationRef, error: &DeviceError) {
    diagnostics::error(module.location(), "PTO-0301", error).emit();
}
