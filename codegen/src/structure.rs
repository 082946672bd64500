//! Records on the stack: their C++ types, once for each type before the functions, and accesses to fields.

use crate::{expression::Expression, function::Body};
use melior::ir::{Type, Value, ValueLike};
use pto_dialect::{Element, Op, struct_field, struct_fields};
use std::collections::BTreeMap;

/// How every name of a struct begins; names of values never do.
pub const PREFIX: &str = "PtoStruct";

/// The structs of a file.
#[derive(Default)]
pub struct Structs {
    /// By the dialect's spelling: the C++ name.
    names: BTreeMap<String, String>,
    definitions: String,
}

impl Structs {
    /// The C++ name of a struct type, defined here at its first use. `symbols`: names that functions have.
    pub fn name(&mut self, ty: Type, symbols: &[String]) -> String {
        let spelling = ty.to_string();
        if let Some(known) = self.names.get(&spelling) {
            return known.clone();
        }
        let fields: Vec<Type> = (0..struct_fields(ty).unwrap_or(0)).map(|i| struct_field(ty, i)).collect();
        let mut text = String::new();
        for (index, field) in fields.iter().enumerate() {
            let field = match struct_fields(*field) {
                Some(_) => self.name(*field, symbols),
                None => Element::of(*field).map_or("", Element::cpp).to_owned(),
            };
            text.push_str(&format!("  {field} f{index};\n"));
        }
        let mut name = format!("{PREFIX}_{}", mangled(&fields));
        while symbols.contains(&name) {
            name.push('_');
        }
        self.definitions.push_str(&format!("struct {name} {{\n{text}}};\n\n"));
        self.names.insert(spelling, name.clone());
        name
    }

    /// All definitions, inner ones first.
    pub fn definitions(&self) -> &str {
        &self.definitions
    }
}

/// `f16_i8`; a struct inside is `S_..._E`. Spelled as in the dialect, since types that are one in C++ differ there.
fn mangled(fields: &[Type]) -> String {
    let one = |field: &Type| match struct_fields(*field) {
        Some(count) => {
            let inner: Vec<Type> = (0..count).map(|i| struct_field(*field, i)).collect();
            format!("S_{}_E", mangled(&inner))
        }
        None => field.to_string(),
    };
    fields.iter().map(one).collect::<Vec<_>>().join("_")
}

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// `declare_struct`, `struct_get`, `struct_set`.
    pub fn emit_struct(&mut self, op: Op<'c, 'a>) {
        if let Some(result) = op.result().filter(|_| op.is("declare_struct")) {
            let ty = self.struct_name(result.r#type());
            let name = self.declare_name(result, "record");
            return self.line(format!("{ty} {name};"));
        }
        let (Some(record), Some(path)) = (op.operand("s"), op.ints("path")) else { return };
        let mut place = self.argument(record);
        for index in path {
            place.push_str(&format!(".f{index}"));
        }
        self.emit_access(op, &place);
    }

    /// `ub.poison`: a value on a path that nothing reads it on.
    pub fn emit_poison(&mut self, result: Value<'c, 'a>) -> bool {
        let ty = result.r#type();
        if let Some(element) = Element::of(ty) {
            let text = if element == Element::I1 { "false".to_owned() } else { format!("({})0", element.cpp()) };
            self.bind(result, Expression::atom(text));
            return true;
        }
        if pto_dialect::pointer(ty).is_some() {
            self.bind(result, Expression::atom("nullptr"));
            return true;
        }
        self.declare_default(result)
    }
}

/// The C++ type of objects of the library that are no tiles and no views.
pub fn handle_type(ty: Type) -> Option<&'static str> {
    Some(match ty.to_string().as_str() {
        // How far each list of a merge was used (`tmrgsort`).
        "vector<4xi16>" => "MrgSortExecutedNumList",
        "!pto.async_session" => "pto::comm::AsyncSession",
        "!pto.async_event" => "pto::comm::AsyncEvent",
        "!pto.prefetch_async_context" => "pto::PrefetchAsyncContext",
        _ => return None,
    })
}
