//! One function: signature, guards, statements, control flow.

use crate::{
    expression::Expression,
    module::{Options, Shared},
    names::{Names, is_function_name},
    scalar::unsigned_of,
    tile::tile_type,
    view::{ND, ViewBinding, variable_types},
};
use melior::ir::{
    BlockLike, BlockRef, OperationRef, RegionLike, Type, Value, ValueLike, attribute::TypeAttribute,
    operation::OperationLike, r#type::FunctionType,
};
use pto_dialect::{
    Element, Op, Space, Tile, View, attribute, constant_int, device::Device, diagnostics, edit, enum_text, int_values,
    name_of_value, op_name, pointer, position, string_value, symbol_value, value_key,
};
use std::collections::HashMap;

/// What a value is in C++.
#[derive(Clone)]
enum Binding {
    Expression(Expression),
    View(ViewBinding),
}

/// The core a piece of code runs on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Core {
    Any,
    Cube,
    Vector,
}

/// A function while it is printed.
pub struct Body<'m, 'c, 'a> {
    shared: &'m mut Shared,
    names: Names,
    values: HashMap<usize, Binding>,
    indent: usize,
    core: Core,
    symbols: &'m [String],
    /// Layouts of the views that control flow carries, by the name of the variable.
    layouts: HashMap<String, String>,
    marker: std::marker::PhantomData<(&'c (), &'a ())>,
}

/// The name of a function.
pub fn symbol(function: OperationRef) -> String {
    attribute(function, "sym_name").and_then(string_value).unwrap_or_default()
}

fn signature<'c>(function: OperationRef<'c, '_>) -> Option<FunctionType<'c>> {
    let ty = TypeAttribute::try_from(attribute(function, "function_type")?).ok()?.value();
    FunctionType::try_from(ty).ok()
}

/// Whether a function has no body.
pub fn is_declaration(function: OperationRef) -> bool {
    function.region(0).ok().and_then(|r| r.first_block()).is_none()
}

fn has(function: OperationRef, name: &str) -> bool {
    attribute(function, name).is_some()
}

/// Attributes that make a function a kernel entry.
const ENTRY: [&str; 4] = ["pto.entry", "hacc.entry", "pto.kernel", "pto.aicore"];

/// Linkage and return type, up to the name.
fn qualifiers(function: OperationRef, result: &str) -> String {
    let visibility = attribute(function, "pto.visibility").and_then(string_value);
    let private = attribute(function, "sym_visibility").and_then(string_value).as_deref() == Some("private");
    let prefix = match () {
        () if is_declaration(function) => "extern \"C\" AICORE",
        () if ENTRY.iter().any(|name| has(function, name)) => "extern \"C\" __global__ AICORE",
        // Callers rewrite `AICORE void` to `static ... void`, so a second `static` must not stand before it.
        () if private && result == "void" => "inline AICORE",
        () if private => "static AICORE",
        () if visibility.as_deref() == Some("external") => "extern \"C\" AICORE",
        () => "AICORE",
    };
    format!("{prefix} {result}")
}

/// The C++ type of a value, if values of that type can be C++ variables.
pub fn cpp_type(ty: Type) -> Option<String> {
    if let Some(tile) = Tile::of(ty) {
        return Some(tile_type(&tile));
    }
    if let Some(view) = View::of(ty) {
        let [ty, ..] = variable_types(&view, ND);
        return Some(ty);
    }
    if let Some((element, space)) = pointer(ty).or_else(|| crate::carried::memory_reference(ty)) {
        return Some(format!("{} {}*", qualifier(space), element.cpp()));
    }
    Element::of(ty).map(Element::cpp).or_else(|| crate::structure::handle_type(ty)).map(str::to_owned)
}

fn qualifier(space: Space) -> &'static str {
    match space {
        Space::Vec => "__ubuf__",
        Space::Mat => "__cbuf__",
        Space::Left | Space::ScaleLeft => "__ca__",
        Space::Right | Space::ScaleRight => "__cb__",
        Space::Acc => "__cc__",
        Space::Scaling => "__fbuf__",
        Space::Gm | Space::Bias => "__gm__",
    }
}

impl<'m, 'c, 'a> Body<'m, 'c, 'a> {
    /// Prints a whole function.
    pub fn emit_function(shared: &'m mut Shared, symbols: &'m [String], function: OperationRef<'c, 'a>) {
        let mut body = Self {
            shared,
            names: Names::new(symbols),
            values: HashMap::new(),
            indent: 0,
            core: Core::Any,
            symbols,
            layouts: HashMap::new(),
            marker: std::marker::PhantomData,
        };
        let Some(ty) = signature(function) else { return };
        let name = symbol(function);
        if !is_function_name(&name) {
            return body
                .fail(function, &format!("expected a name that C++ and the library leave free, found '{name}'"));
        }
        let result = match ty.result_count() {
            0 => Some("void".to_owned()),
            1 => ty.result(0).ok().and_then(cpp_type),
            _ => None,
        };
        let Some(result) = result else { return body.fail(function, "must return nothing or one scalar") };
        let block = function.region(0).ok().and_then(|r| r.first_block());
        let parameters: Option<Vec<String>> = (0..ty.input_count())
            .map(|i| {
                let cpp = cpp_type(ty.input(i).ok()?)?;
                let name = body.bind_parameter(block, i);
                Some(format!("{cpp} {name}"))
            })
            .collect();
        let Some(parameters) = parameters else {
            return body.fail(function, "has a parameter of a type without C++ form");
        };
        let head = format!("{} {}({})", qualifiers(function, &result), symbol(function), parameters.join(", "));
        match block {
            None => body.line(format!("{head};")),
            Some(block) => body.emit_body(function, &head, block),
        }
        body.shared.blank();
    }

    fn bind_parameter(&mut self, block: Option<BlockRef<'c, 'a>>, index: usize) -> String {
        let argument = block.and_then(|b| b.argument(index).ok()).map(Value::from);
        let wanted = argument.and_then(name_of_value).unwrap_or_else(|| format!("arg{index}"));
        let name = self.names.fresh(&wanted);
        if let Some(value) = argument {
            self.bind_variable(value, &name);
        }
        name
    }

    fn emit_body(&mut self, function: OperationRef<'c, 'a>, head: &str, block: BlockRef<'c, 'a>) {
        if block.next_in_region().is_some() {
            return self.fail(function, "has several blocks; only structured control flow (scf) has a C++ form");
        }
        self.line(format!("{head} {{"));
        self.indent += 1;
        let kind = attribute(function, "pto.kernel_kind").and_then(enum_text);
        let lane = has(function, "pto.first_lane_only");
        let guarded = kind.is_some() || lane;
        let returned = block.terminator().filter(|last| last.operand_count() > 0);
        // What is made inside the guard is returned there, and nothing outside, where nobody asks for it.
        self.emit_guarded(kind, lane, block, returned.filter(|_| guarded));
        match returned {
            Some(_) if guarded => self.line("return {};"),
            Some(last) => self.emit_return(last),
            None => self.line("return;"),
        }
        self.indent -= 1;
        self.line("}");
    }

    /// What a call takes or a function returns: a view as the type of a variable, unless it is one.
    fn handed_on(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> String {
        let variable = self.view_of(value).filter(|view| view.layout == ND).and_then(|view| {
            let name = view.object?;
            (view.base.text() == format!("{name}.data()")).then_some(name)
        });
        variable.unwrap_or_else(|| self.carried_text(op, value, ""))
    }

    fn emit_return(&mut self, last: OperationRef<'c, 'a>) {
        let Ok(value) = last.operand(0) else { return };
        let text = self.handed_on(last, value);
        self.line(format!("return {text};"));
    }

    /// A block for one kind of core; with what it returns, where that is made in it.
    fn emit_guarded(
        &mut self,
        kind: Option<&str>,
        first_lane_only: bool,
        block: BlockRef<'c, 'a>,
        returned: Option<OperationRef<'c, 'a>>,
    ) {
        let (core, mac) = match kind {
            Some("cube") => (Core::Cube, "__DAV_CUBE__"),
            Some("vector") => (Core::Vector, "__DAV_VEC__"),
            _ => {
                self.emit_block(block);
                return returned.into_iter().for_each(|last| self.emit_return(last));
            }
        };
        let outer = std::mem::replace(&mut self.core, core);
        self.shared.raw(&format!("#if defined({mac})"));
        if core == Core::Vector {
            self.line("set_mask_norm();");
            self.line("set_vector_mask(-1, -1);");
        }
        if first_lane_only {
            self.open("if (get_subblockid() == 0)");
        }
        self.emit_block(block);
        returned.into_iter().for_each(|last| self.emit_return(last));
        if first_lane_only {
            self.close("}");
        }
        self.shared.raw(&format!("#endif // {mac}"));
        self.core = outer;
    }

    fn emit_block(&mut self, block: BlockRef<'c, 'a>) {
        let mut next = block.first_operation();
        while let Some(op) = next {
            next = op.next_in_block();
            self.emit_op(op);
        }
    }

    fn emit_op(&mut self, op: OperationRef<'c, 'a>) {
        let name = op_name(op);
        self.emit_line_directive(op);
        if let Some(known) = Op::of(op) {
            return self.emit_pto(known);
        }
        let done = match name {
            "func.return" | "scf.yield" | "scf.condition" => true,
            "scf.for" => self.emit_for(op),
            "scf.if" => self.emit_if(op),
            "scf.while" => self.emit_while(op),
            "scf.index_switch" => self.emit_switch(op),
            "func.call" => self.emit_func_call(op),
            "builtin.unrealized_conversion_cast" => self.emit_conversion_cast(op),
            "ub.poison" => op.result(0).is_ok_and(|result| self.emit_poison(result.into())),
            _ => name.starts_with("arith.") && self.emit_arith(op),
        };
        if !done {
            self.fail(op, "has no C++ form");
        }
    }

    fn emit_line_directive(&mut self, op: OperationRef<'c, 'a>) {
        let place = position(op.location());
        if self.shared.options.line_directives && place.line > 0 {
            let file = place.file.replace('\\', "\\\\").replace('"', "\\\"");
            self.shared.raw(&format!("#line {} \"{file}\"", place.line));
        }
    }

    fn emit_pto(&mut self, op: Op<'c, 'a>) {
        match op.mnemonic() {
            "alloc_tile" | "subview" | "declare_tile" => self.emit_tile_definition(op),
            "bitcast" | "treshape" | "tassign" => self.emit_tile_cast(op),
            "tile_addr" => self.emit_tile_addr(op),
            "tile_valid_rows" | "tile_valid_cols" | "get_validshape" => self.emit_valid_query(op),
            "make_tensor_view" => self.emit_make_tensor_view(op),
            "partition_view" => self.emit_partition_view(op),
            "get_tensor_view_dim" | "get_tensor_view_stride" => self.emit_view_query(op),
            "addptr" => self.emit_addptr(op),
            "castptr" | "ptrtoint" | "inttoptr" => self.emit_castptr(op),
            "load_scalar" => self.emit_load(op),
            "store_scalar" => self.emit_store(op),
            "declare_local_array" | "local_array_get" | "local_array_set" => self.emit_local_array(op),
            "declare_eventid_array" | "eventid_array_get" | "eventid_array_set" => self.emit_event_id_array(op),
            "declare_global" => self.emit_declare_global(op),
            "declare_struct" | "struct_get" | "struct_set" => self.emit_struct(op),
            "section.simt" => self.fail(op.raw, "has no C++ form: threads belong to another backend"),
            "initialize_l2l_pipe" | "initialize_l2g2l_pipe" => self.emit_pipe(op),
            "tpush" | "tpop" | "tfree" | "talloc" => self.emit_transfer(op),
            "tpush_quant" => self.emit_push_quant(op),
            "section.cube" | "section.vector" => {
                let kind = op.mnemonic().strip_prefix("section.");
                if let Some(block) = op.raw.region(0).ok().and_then(|r| r.first_block()) {
                    self.emit_guarded(kind, op.attr("pto.first_lane_only").is_some(), block, None);
                }
            }
            _ if self.emit_sync(op) || self.emit_irregular(op) => {}
            _ if !op.facts.cpp.is_empty() => self.emit_call(op),
            _ => self.fail(op.raw, "has no C++ form yet"),
        }
    }
}

/// Control flow.
impl<'c, 'a> Body<'_, 'c, 'a> {
    fn emit_for(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let Some(block) = op.region(0).ok().and_then(|r| r.first_block()) else { return false };
        let [Some(lower), Some(upper), Some(step)] = [0, 1, 2].map(|i| op.operand(i).ok()) else { return false };
        let carried = self.declare_carried(op, 3);
        let Ok(iv) = block.argument(0).map(Value::from) else { return false };
        let ty = cpp_type(iv.r#type()).unwrap_or_else(|| "int64_t".to_owned());
        let [lower, upper, step] = [lower, upper, step].map(|v| self.expression(v));
        let name = self.declare_name(iv, "i");
        let increment = match step.literal() {
            Some(1) => format!("++{name}"),
            _ => format!("{name} += {}", step.text()),
        };
        if attribute(op, "unsignedCmp").is_some() {
            let unsigned = Element::of(iv.r#type()).map_or("uint64_t", unsigned_of);
            let (lower, upper) = (lower.cast(unsigned), upper.cast(unsigned));
            let head = format!("for ({unsigned} {name} = {}; {name} < {}; {increment})", lower.text(), upper.text());
            self.open(&head);
            self.bind(iv, Expression::atom(name).cast(&ty));
        } else {
            self.open(&format!("for ({ty} {name} = {}; {name} < {}; {increment})", lower.text(), upper.operand()));
            self.bind(iv, Expression::atom(name));
        }
        for (index, variable) in carried.iter().enumerate() {
            if let Ok(argument) = block.argument(index + 1) {
                self.bind_variable(argument.into(), variable);
            }
        }
        self.emit_block(block);
        self.assign_yielded(block, &carried, 0);
        self.close("}");
        true
    }

    /// Variables for the results of an operation, set to its operands from `first` on.
    fn declare_carried(&mut self, op: OperationRef<'c, 'a>, first: usize) -> Vec<String> {
        let mut variables = Vec::new();
        for index in 0..op.result_count() {
            let (Ok(result), Ok(init)) = (op.result(index).map(Value::from), op.operand(first + index)) else {
                continue;
            };
            variables.push(self.declare_state(op, result, init, "carried"));
        }
        variables
    }

    /// A variable for a value that changes from trip to trip, with its first value.
    fn declare_state(
        &mut self,
        op: OperationRef<'c, 'a>,
        value: Value<'c, 'a>,
        init: Value<'c, 'a>,
        otherwise: &str,
    ) -> String {
        let name = self.name_for(value, otherwise);
        let ty = self.variable_type(value, Some(init), &name).unwrap_or_else(|| "auto".to_owned());
        let text = self.carried_text(op, init, &name);
        self.bind_variable(value, &name);
        self.line(format!("{ty} {name} = {text};"));
        name
    }

    /// Variables for the results of an operation, set later.
    fn declare_results(&mut self, op: OperationRef<'c, 'a>) -> Vec<String> {
        let mut variables = Vec::new();
        for result in op.results() {
            let result = Value::from(result);
            let name = self.name_for(result, "result");
            let Some(ty) = self.variable_type(result, Some(result), &name) else {
                self.fail(op, "has a result of a type without C++ form");
                continue;
            };
            self.line(format!("{ty} {name};"));
            self.bind_variable(result, &name);
            variables.push(name);
        }
        variables
    }

    /// Sets variables to the operands of a block's terminator; all are read before the first is written.
    fn assign_yielded(&mut self, block: BlockRef<'c, 'a>, variables: &[String], first: usize) {
        let Some(last) = block.terminator() else { return };
        let mut values: Vec<(String, String)> = Vec::new();
        for (index, variable) in variables.iter().enumerate() {
            let Ok(value) = last.operand(first + index) else { continue };
            // A tile that no path defines is left as it was declared.
            let poison = pto_dialect::defining_op(value).is_some_and(|op| op_name(op) == "ub.poison");
            if poison && (Tile::of_value(value).is_some() || View::of_value(value).is_some()) {
                continue;
            }
            values.push((variable.clone(), self.carried_text(last, value, variable)));
        }
        values.retain(|(variable, value)| variable != value);
        let reads_other = |(index, (_, value)): (usize, &(String, String))| {
            values[..index].iter().any(|(earlier, _)| mentions(value, earlier))
        };
        if values.iter().enumerate().any(reads_other) {
            for (variable, value) in &mut values {
                let temporary = self.names.fresh(&format!("next_{variable}"));
                self.line(format!("const auto {temporary} = {value};"));
                *value = temporary;
            }
        }
        for (variable, value) in values {
            self.line(format!("{variable} = {value};"));
        }
    }

    fn emit_if(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let results = self.declare_results(op);
        let Ok(condition) = op.operand(0) else { return false };
        let condition = self.argument(condition);
        self.open(&format!("if ({condition})"));
        for index in 0..op.region_count() {
            let Some(block) = op.region(index).ok().and_then(|r| r.first_block()) else { continue };
            if index == 1 {
                self.close("} else {");
                self.indent += 1;
            }
            self.emit_block(block);
            self.assign_yielded(block, &results, 0);
        }
        self.close("}");
        true
    }

    fn emit_while(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let [Some(before), Some(after)] = [0, 1].map(|i| op.region(i).ok().and_then(|r| r.first_block())) else {
            return false;
        };
        let mut variables = Vec::new();
        for index in 0..op.operand_count() {
            let (Ok(argument), Ok(init)) = (before.argument(index).map(Value::from), op.operand(index)) else {
                continue;
            };
            variables.push(self.declare_state(op, argument, init, "state"));
        }
        let results = self.declare_results(op);
        self.open("while (true)");
        self.emit_block(before);
        self.assign_yielded(before, &results, 1);
        let condition = before.terminator().and_then(|t| t.operand(0).ok()).map(|v| self.expression(v));
        self.line(format!("if (!{}) break;", condition.map_or("false".to_owned(), |c| c.operand())));
        for (index, result) in results.iter().enumerate() {
            if let Ok(argument) = after.argument(index) {
                self.bind_variable(argument.into(), result);
            }
        }
        self.emit_block(after);
        self.assign_yielded(after, &variables, 0);
        self.close("}");
        true
    }

    fn emit_switch(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let cases = attribute(op, "cases").and_then(int_values);
        let (Some(cases), Ok(selector)) = (cases, op.operand(0)) else { return false };
        let results = self.declare_results(op);
        let selector = self.argument(selector);
        self.open(&format!("switch ({selector})"));
        for index in 0..op.region_count() {
            let Some(block) = op.region(index).ok().and_then(|r| r.first_block()) else { continue };
            // The default region comes first.
            let label = index.checked_sub(1).and_then(|i| cases.get(i));
            let label = label.map(|&value| format!("case {}:", Expression::integer(value).text()));
            self.open(&label.unwrap_or_else(|| "default:".to_owned()));
            self.emit_block(block);
            self.assign_yielded(block, &results, 0);
            self.line("break;");
            self.close("}");
        }
        self.close("}");
        true
    }

    fn emit_func_call(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let callee = attribute(op, "callee").and_then(symbol_value);
        let Some(callee) = callee else { return false };
        let arguments: Vec<String> = op.operands().map(|v| self.handed_on(op, v)).collect();
        let call = format!("{callee}({})", arguments.join(", "));
        let result = op.results().next().map(Value::from);
        match result {
            Some(result) if !edit::is_unused(result) && Tile::of_value(result).is_some() => {
                return self.declare_variable(result, &call);
            }
            Some(result) if !edit::is_unused(result) => self.declare_scalar(result, &call),
            _ => self.line(format!("{call};")),
        }
        true
    }

    /// Between types with the same C++ meaning, or between scalars.
    fn emit_conversion_cast(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let (Ok(value), Ok(result)) = (op.operand(0), op.result(0).map(Value::from)) else { return false };
        let memory = crate::carried::memory_reference(value.r#type());
        if memory.is_some() && memory == pointer(result.r#type()) {
            let same = self.expression(value);
            self.bind(result, same);
            return true;
        }
        let (Some(from), Some(to)) = (Element::of(value.r#type()), Element::of(result.r#type())) else { return false };
        let expression = self.expression(value);
        let cast = if from.cpp() == to.cpp() { expression } else { expression.cast(to.cpp()) };
        self.bind_scalar(op, result, cast);
        true
    }
}

/// Pointers, scalars in memory.
impl<'c, 'a> Body<'_, 'c, 'a> {
    fn emit_addptr(&mut self, op: Op<'c, 'a>) {
        let (Some(ptr), Some(offset), Some(result)) = (op.operand("ptr"), op.operand("offset"), op.result()) else {
            return;
        };
        let sum = self.expression(ptr).plus(&self.expression(offset));
        self.bind_scalar(op.raw, result, sum);
    }

    fn emit_castptr(&mut self, op: Op<'c, 'a>) {
        let input = ["input", "ptr", "addr"].into_iter().find_map(|name| op.operand(name));
        let (Some(input), Some(result)) = (input, op.result()) else { return };
        let Some(ty) = cpp_type(result.r#type()) else { return self.fail(op.raw, "casts to a type without C++ form") };
        let value = self.expression(input);
        let is_pointer = |v: Value| pointer(v.r#type()).is_some();
        let cast = match (is_pointer(input), is_pointer(result)) {
            (true, true) => value.cast(&ty),
            _ => Expression::atom(format!("reinterpret_cast<{ty}>({})", value.text())),
        };
        self.bind_scalar(op.raw, result, cast);
    }

    fn emit_load(&mut self, op: Op<'c, 'a>) {
        let (Some(ptr), Some(offset), Some(result)) = (op.operand("ptr"), op.operand("offset"), op.result()) else {
            return;
        };
        let text = format!("{}[{}]", self.expression(ptr).operand(), self.argument(offset));
        self.declare_scalar(result, &text);
    }

    fn emit_store(&mut self, op: Op<'c, 'a>) {
        let (Some(ptr), Some(offset), Some(value)) = (op.operand("ptr"), op.operand("offset"), op.operand("value"))
        else {
            return;
        };
        let target = format!("{}[{}]", self.expression(ptr).operand(), self.argument(offset));
        let value = self.argument(value);
        self.line(format!("{target} = {value};"));
    }

    fn emit_local_array(&mut self, op: Op<'c, 'a>) {
        let array = op.result().filter(|_| op.is("declare_local_array")).or_else(|| op.operand("array"));
        let Some((value, (shape, element))) = array.and_then(|v| Some((v, pto_dialect::local_array(v.r#type())?)))
        else {
            return;
        };
        if op.is("declare_local_array") {
            let name = self.declare_name(value, "array");
            let extents: String = shape.iter().map(|e| format!("[{e}]")).collect();
            self.line(format!("{} {name}{extents};", element.cpp()));
            return self.bind(value, Expression::atom(name));
        }
        let indices: String = op.operands("indices").into_iter().map(|v| format!("[{}]", self.argument(v))).collect();
        let place = format!("{}{indices}", self.argument(value));
        self.emit_access(op, &place);
    }

    /// A read of a place in memory of the scope (a copy: later writes do not change it), or a write to it.
    pub fn emit_access(&mut self, op: Op<'c, 'a>, place: &str) {
        match (op.result(), op.operand("value")) {
            (Some(result), _) => self.declare_scalar(result, place),
            (None, Some(value)) => {
                let value = self.argument(value);
                self.line(format!("{place} = {value};"));
            }
            (None, None) => {}
        }
    }

    fn emit_valid_query(&mut self, op: Op<'c, 'a>) {
        let source = op.operand("src").or_else(|| op.operand("source"));
        let Some(tile) = source.map(|v| self.argument(v)) else { return };
        for (index, result) in op.raw.results().enumerate() {
            let rows = op.is("tile_valid_rows") || (op.is("get_validshape") && index == 0);
            let query = if rows { "GetValidRow" } else { "GetValidCol" };
            self.declare_scalar(result.into(), &format!("{tile}.{query}()"));
        }
    }
}

/// Values and lines.
impl<'c, 'a> Body<'_, 'c, 'a> {
    /// The device.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Whether the code here runs on the cube core.
    pub fn in_cube(&self) -> bool {
        self.core == Core::Cube
    }

    /// Remembers that the bit-cast helper is used.
    pub fn need_bitcast(&mut self) {
        self.shared.needs_bitcast = true;
    }

    /// Counts a TASSIGN by form; a run-time one with its reason.
    pub fn count_tassign(&mut self, constant: bool, op: OperationRef<'c, 'a>, reason: &str) {
        let name = position(op.location()).name;
        self.shared.count_tassign(constant, reason, &name);
    }

    /// Prints a line.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.shared.line(self.indent, text.as_ref());
    }

    fn open(&mut self, head: &str) {
        self.line(format!("{head} {{"));
        self.indent += 1;
    }

    fn close(&mut self, tail: &str) {
        self.indent -= 1;
        self.line(tail);
    }

    /// Reports an operation that cannot be printed.
    pub fn fail(&mut self, op: OperationRef<'c, 'a>, what: &str) {
        diagnostics::error(op.location(), "PTO-0501", format!("'{}' op {what}", op_name(op))).emit();
        self.shared.failed = true;
    }

    /// Makes a value stand for an expression.
    pub fn bind(&mut self, value: Value<'c, 'a>, expression: Expression) {
        self.values.insert(value_key(value), Binding::Expression(expression));
    }

    /// Makes a value stand for a view.
    pub fn bind_view(&mut self, value: Value<'c, 'a>, view: ViewBinding) {
        self.values.insert(value_key(value), Binding::View(view));
    }

    /// What is known of a view.
    pub fn view_of(&self, value: Value<'c, 'a>) -> Option<ViewBinding> {
        match self.values.get(&value_key(value)) {
            Some(Binding::View(view)) => Some(view.clone()),
            _ => None,
        }
    }

    /// A fresh name for a value, bound to it.
    pub fn declare_name(&mut self, value: Value<'c, 'a>, otherwise: &str) -> String {
        let wanted = name_of_value(value).unwrap_or_else(|| otherwise.to_owned());
        let name = self.names.fresh(&wanted);
        self.bind(value, Expression::atom(name.clone()));
        name
    }

    /// A fresh name for a value, not yet bound.
    pub fn name_for(&mut self, value: Value<'c, 'a>, otherwise: &str) -> String {
        let wanted = name_of_value(value).unwrap_or_else(|| otherwise.to_owned());
        self.names.fresh(&wanted)
    }

    /// A fresh name for what no value is.
    pub fn fresh_name(&mut self, wanted: &str) -> String {
        self.names.fresh(wanted)
    }

    /// The C++ name of a struct type.
    pub fn struct_name(&mut self, ty: Type) -> String {
        self.shared.structs.name(ty, self.symbols)
    }

    /// The layout of a view that control flow carries in a variable.
    pub fn carried_layout(&self, name: &str) -> String {
        self.layouts.get(name).cloned().unwrap_or_else(|| ND.to_owned())
    }

    /// Remembers the layout of a view in a variable.
    pub fn remember_layout(&mut self, name: &str, layout: &str) {
        self.layouts.insert(name.to_owned(), layout.to_owned());
    }

    /// `T name;` for a value that nothing reads; false when its type has no C++ form.
    pub fn declare_default(&mut self, value: Value<'c, 'a>) -> bool {
        let Some(ty) = cpp_type(value.r#type()) else { return false };
        let name = self.name_for(value, "unset");
        self.line(format!("{ty} {name};"));
        self.bind_variable(value, &name);
        true
    }

    /// `T name = text;` for a value that calls may change through; false when its type has no C++ form.
    pub fn declare_variable(&mut self, value: Value<'c, 'a>, text: &str) -> bool {
        let Some(ty) = cpp_type(value.r#type()) else { return false };
        let name = self.declare_name(value, "chosen");
        self.line(format!("{ty} {name} = {text};"));
        true
    }

    /// `const T name = text;`
    pub fn declare_scalar(&mut self, value: Value<'c, 'a>, text: &str) {
        let ty = cpp_type(value.r#type()).unwrap_or_else(|| "auto".to_owned());
        let name = self.declare_name(value, "v");
        // A pointer's own constness would stand after the star.
        let qualifier = if ty.ends_with('*') { "" } else { "const " };
        self.line(format!("{qualifier}{ty} {name} = {text};"));
    }

    /// A pure result: dropped when unused, written in place when it has no author's name and one user beside it,
    /// else a constant.
    pub fn bind_scalar(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>, expression: Expression) {
        const LONGEST: usize = 100;
        let uses = edit::uses(value);
        if uses.is_empty() {
            return;
        }
        let named = name_of_value(value).is_some_and(|n| !n.starts_with(|c: char| c.is_ascii_digit()));
        let beside = uses.len() == 1 && uses[0].block() == op.block();
        let short = expression.text().len() <= LONGEST;
        if short && !named && (beside || is_literal_like(&expression)) {
            return self.bind(value, expression);
        }
        let text = expression.text().to_owned();
        self.declare_scalar(value, &text);
    }

    /// The expression of a value.
    pub fn expression(&mut self, value: Value<'c, 'a>) -> Expression {
        match self.values.get(&value_key(value)) {
            Some(Binding::Expression(expression)) => expression.clone(),
            Some(Binding::View(view)) => Expression::atom(view.object.clone().unwrap_or_default()),
            None => constant_int(value).map_or_else(|| Expression::atom("/* undefined */"), Expression::integer),
        }
    }

    /// A value that is written more than once: a name or a literal.
    pub fn atom_of(&mut self, value: Value<'c, 'a>) -> Expression {
        let expression = self.expression(value);
        if expression.is_atom() {
            return expression;
        }
        let text = expression.text().to_owned();
        self.declare_scalar(value, &text);
        self.expression(value)
    }

    /// A value as a whole argument.
    pub fn argument(&mut self, value: Value<'c, 'a>) -> String {
        self.expression(value).text().to_owned()
    }

    /// The same where a view must be an object.
    pub fn call_argument(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> String {
        if View::of_value(value).is_some() { self.view_object(op, value) } else { self.argument(value) }
    }

    /// Whether two tiles are known to stand at one address.
    pub fn same_constant_address(&self, a: Option<Value<'c, 'a>>, b: Option<Value<'c, 'a>>) -> bool {
        let address = |v: Option<Value<'c, 'a>>| Op::defining(v?)?.operand("addr").and_then(constant_int);
        address(a).is_some() && address(a) == address(b)
    }
}

fn is_literal_like(expression: &Expression) -> bool {
    expression.literal().is_some()
}

/// Whether an expression's text contains a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_word)
            && !text[at + name.len()..].chars().next().is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_found_as_whole_words() {
        assert!(super::mentions("a + x", "x"));
        assert!(!super::mentions("a + xs", "x"));
    }
}
