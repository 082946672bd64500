//! The passes, one file each. Names are public: they can be printed after, and run alone in `pto-opt`.

use crate::target::DeviceSource;
use melior::{ir::OperationRef, pass::Pass};
use pto_dialect::{
    device::Device,
    passes::{PassId, module_pass},
};

pub mod allocate_memory_addr;
pub mod check_placement;
pub mod compose_windows;
pub mod find_lost_values;
pub mod flush_scalar_stores;
pub mod infer_kernel_kind;
pub mod infer_layout;
pub mod insert_sync;
pub mod legalize_tiles;
pub mod lift_control_flow;
pub mod lower_frontend_pipes;
pub mod materialize_sections;
pub mod materialize_tmp;
pub mod open_regions;
pub mod remove_identity_moves;
pub mod resolve_reserved_buffers;
pub mod resolve_views;
pub mod verify_target;

pub use allocate_memory_addr::{AllocationOptions, DefaultPolicy, MemoryAllocatorPolicy, TargetPolicy, TileRef};

/// One row per pass without options: argument, what it does, and the function behind it.
macro_rules! device_passes {
    ($($(#[$doc:meta])* $name:ident = $argument:literal, $description:literal, $run:path;)*) => {
        $(
            $(#[$doc])*
            pub fn $name(device: DeviceSource) -> Pass {
                static ID: PassId = PassId;
                module_pass(&ID, $argument, $description, move |module: OperationRef| {
                    device.resolve(module).is_some_and(|device| $run(module, &device))
                })
            }
        )*

        /// Makes every pass known to `pto-opt`; there the module's own attribute names the target.
        pub fn register_all() {
            mod constructors {
                use super::{DeviceSource, Pass};
                $(pub fn $name() -> Pass { super::$name(DeviceSource::Module) })*
                pub fn allocate_memory_addr() -> Pass { super::allocate_memory_addr() }
            }
            pto_dialect::register_passes!($(constructors::$name,)* constructors::allocate_memory_addr);
        }
    };
}

device_passes! {
    /// Loops and conditions in place of branches between blocks.
    lift_control_flow = "pto-lift-control-flow", "loops and conditions in place of branches between blocks",
        lift_control_flow::run;
    /// Regions that run once, in their place.
    open_regions = "pto-open-regions", "regions that run once, in their place", open_regions::run;
    /// Legality that depends on the target.
    verify_target = "pto-verify-target", "legality that depends on the target", verify_target::verify_target;
    /// Which kind of core a function is for.
    infer_kernel_kind = "pto-infer-kernel-kind", "which kind of core a function is for", infer_kernel_kind::run;
    /// Sections for functions that work on both cores.
    materialize_sections = "pto-materialize-sections", "sections for functions that work on both cores",
        materialize_sections::run;
    /// Tile layouts and moves as the target wants them.
    legalize_tiles = "pto-legalize-tiles", "tile layouts and moves as the target wants them", legalize_tiles::run;
    /// Windows of tiles themselves.
    compose_windows = "pto-compose-windows", "windows of tiles themselves", compose_windows::run;
    /// Values that loops compute for nobody.
    find_lost_values = "pto-find-lost-values", "values that loops compute for nobody", find_lost_values::run;
    /// Queue operations on handles.
    lower_frontend_pipes = "pto-lower-frontend-pipes", "queue operations on handles", lower_frontend_pipes::run;
    /// Layouts of tensor views.
    infer_layout = "pto-infer-layout", "layouts of tensor views", infer_layout::run;
    /// Scratch tiles where an operation needs one.
    materialize_tmp = "pto-materialize-tmp", "scratch tiles where an operation needs one", materialize_tmp::run;
    /// Addresses and flags of queues.
    resolve_reserved_buffers = "pto-resolve-reserved-buffers", "addresses and flags of queues",
        resolve_reserved_buffers::run;
    /// Windows with addresses of their own.
    resolve_views = "pto-resolve-views", "windows with addresses of their own", resolve_views::run;
    /// Moves of a tile onto itself.
    remove_identity_moves = "pto-remove-identity-moves", "moves of a tile onto itself", remove_identity_moves::run;
    /// The independent check of every placement.
    check_placement = "pto-check-placement", "the independent check of every placement", check_placement::run;
    /// Barriers between dependent operations.
    insert_sync = "pto-insert-sync", "barriers between dependent operations", insert_sync::run;
    /// Scalar stores made visible before a function ends.
    flush_scalar_stores = "pto-flush-scalar-stores", "scalar stores made visible before a function ends",
        flush_scalar_stores::run;
}

/// The allocation pass with the policy of the target that the module names.
pub fn allocate_memory_addr() -> Pass {
    allocate_memory_addr_for(DeviceSource::Module, AllocationOptions::default())
}

/// The allocation pass with a policy of the caller's.
pub fn allocate_memory_addr_with(policy: impl MemoryAllocatorPolicy + 'static) -> Pass {
    let options = AllocationOptions { policy: Some(std::sync::Arc::new(policy)), ..AllocationOptions::default() };
    allocate_memory_addr_for(DeviceSource::Module, options)
}

/// The allocation pass for a device, with options.
pub fn allocate_memory_addr_for(device: DeviceSource, options: AllocationOptions) -> Pass {
    static ID: PassId = PassId;
    let description = "addresses for tiles, windows and reserved buffers";
    module_pass(&ID, "pto-allocate-memory-addr", description, move |module: OperationRef| {
        device
            .resolve(module)
            .is_some_and(|device: std::sync::Arc<Device>| allocate_memory_addr::run(module, &device, &options))
    })
}
