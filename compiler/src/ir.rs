//! Walking IR: functions, operations in order, what a message calls them.

use melior::ir::{BlockLike, BlockRef, OperationRef, RegionLike, Value, ValueLike, operation::OperationLike};
use pto_dialect::{Op, Tile, View, attribute, enum_text, name_of_value, op_name, pointer, string_value, symbol_value};

/// The functions below an operation (a module, or modules in it), in source order.
pub fn functions<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    for block in blocks(root) {
        for op in operations(block) {
            match op_name(op) {
                "func.func" => found.push(op),
                "builtin.module" => found.extend(functions(op)),
                _ => {}
            }
        }
    }
    found
}

/// The blocks directly inside an operation.
pub fn blocks<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<BlockRef<'c, 'a>> {
    let mut found = Vec::new();
    for region in op.regions() {
        let mut next = region.first_block();
        while let Some(block) = next {
            found.push(block);
            next = block.next_in_region();
        }
    }
    found
}

/// Whether a region of an operation has several blocks.
pub fn is_branched(op: OperationRef) -> bool {
    op.regions().any(|region| region.first_block().and_then(|block| block.next_in_region()).is_some())
}

/// The operations of a block; safe to insert and erase while going through them.
pub fn operations<'c, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    let mut next = block.first_operation();
    while let Some(op) = next {
        found.push(op);
        next = op.next_in_block();
    }
    found
}

/// Everything inside an operation, outer before inner, in source order.
pub fn walk<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    collect(root, &mut found);
    found
}

fn collect<'c, 'a>(op: OperationRef<'c, 'a>, found: &mut Vec<OperationRef<'c, 'a>>) {
    for region in op.regions() {
        let mut next = region.first_block();
        while let Some(block) = next {
            let mut inner = block.first_operation();
            while let Some(op) = inner {
                found.push(op);
                collect(op, found);
                inner = op.next_in_block();
            }
            next = block.next_in_region();
        }
    }
}

/// The operations of one name inside an operation.
pub fn ops_named<'c, 'a>(root: OperationRef<'c, 'a>, mnemonic: &str) -> Vec<Op<'c, 'a>> {
    walk(root).into_iter().filter_map(Op::of).filter(|op| op.is(mnemonic)).collect()
}

/// A function's name.
pub fn symbol(function: OperationRef) -> String {
    attribute(function, "sym_name").and_then(string_value).unwrap_or_default()
}

/// `cube` or `vector`, where a function says it.
pub fn kernel_kind<'c>(function: OperationRef<'c, '_>) -> Option<&'c str> {
    attribute(function, "pto.kernel_kind").and_then(enum_text)
}

/// The core of a section.
pub fn section_kind(op: OperationRef) -> Option<&'static str> {
    match op_name(op) {
        "pto.section.cube" => Some("cube"),
        "pto.section.vector" => Some("vector"),
        _ => None,
    }
}

/// What messages call a value: `%acc`, or its type's role when it has no name.
pub fn label(value: Value) -> String {
    name_of_value(value).map_or_else(|| "<unnamed>".to_owned(), |name| format!("%{name}"))
}

/// Whether a value names memory: a tile, a view or a pointer.
pub fn is_memory(value: Value) -> bool {
    Tile::of_value(value).is_some() || View::of_value(value).is_some() || pointer(value.r#type()).is_some()
}

/// Through views, windows, casts and offsets to what the memory comes from.
pub fn root_of<'c: 'a, 'a>(mut value: Value<'c, 'a>) -> Value<'c, 'a> {
    const FROM: [&str; 5] = ["source", "src", "ptr", "tile", "input"];
    while let Some(definition) = Op::defining(value).filter(|d| !d.is("alloc_tile")) {
        let Some(from) = FROM.into_iter().find_map(|name| definition.operand(name)).filter(|&v| is_memory(v)) else {
            break;
        };
        value = from;
    }
    value
}

/// The function that an operation stands in.
pub fn function_of<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    ancestors(op).find(|&parent| op_name(parent) == "func.func")
}

/// The operations that an operation stands in, from the innermost.
pub fn ancestors<'c, 'a>(op: OperationRef<'c, 'a>) -> impl Iterator<Item = OperationRef<'c, 'a>> {
    std::iter::successors(op.parent_operation(), |parent| parent.parent_operation())
}

/// The name of the function that a call names.
pub fn callee(call: OperationRef) -> Option<String> {
    attribute(call, "callee").and_then(symbol_value)
}

/// The function of a name that a function means: one of its own module, else the only one of that name that is not
/// private in the modules beside it.
pub fn peer_function<'c, 'a>(function: OperationRef<'c, 'a>, name: &str) -> Option<OperationRef<'c, 'a>> {
    let module = function.parent_operation()?;
    let own = blocks(module).into_iter().flat_map(operations);
    if let Some(found) = own.into_iter().find(|&op| op_name(op) == "func.func" && symbol(op) == name) {
        return Some(found);
    }
    let outer = module.parent_operation().filter(|&op| op_name(op) == "builtin.module")?;
    let private = |op| attribute(op, "sym_visibility").and_then(string_value).as_deref() == Some("private");
    let mut found = functions(outer).into_iter().filter(|&op| symbol(op) == name && !private(op));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Whether an operation stands in the block of another one, or deeper inside it.
pub fn in_block_of(inner: OperationRef, outer: OperationRef) -> bool {
    let wanted = outer.block();
    std::iter::once(inner).chain(ancestors(inner)).any(|op| op.block() == wanted)
}
