//! What both ends of a queue with an epilogue must agree on: the end that pushes says how values are converted, the end
//! that pops what it takes them for.

use super::check::is_end;
use crate::ir;
use melior::ir::{OperationRef, Type, Value, ValueLike, operation::OperationLike, r#type::IntegerType};
use pto_dialect::{Element, Epilogue, Op, Tile, diagnostics, edit, op_key};
use std::collections::BTreeMap;

/// For each pushing end with an epilogue: the element type that its pushes leave.
pub type Outputs<'c> = BTreeMap<usize, Type<'c>>;

/// An end with an epilogue.
struct End<'c, 'a> {
    op: Op<'c, 'a>,
    epilogue: Epilogue<'c>,
    function: OperationRef<'c, 'a>,
}

fn error(op: Op, what: &str) -> bool {
    diagnostics::error(op.raw.location(), "PTO-0415", format!("'{}' op {what}", op.facts.name)).emit();
    false
}

/// Checks all epilogues of a module; `None` after an error.
pub fn outputs<'c>(functions: &[OperationRef<'c, '_>]) -> Option<Outputs<'c>> {
    let mut outputs = Outputs::new();
    let mut ok = true;
    for &function in functions {
        for op in ir::walk(function).into_iter().filter_map(Op::of).filter(|&op| is_end(op)) {
            let Some(epilogue) = op.attr("acc_push_epilogue").and_then(Epilogue::of) else { continue };
            let end = End { op, epilogue, function };
            let popped = if op.is("aic_initialize_pipe") { producer(&end) } else { consumer(&end, functions) };
            match popped {
                Some(element) => _ = outputs.insert(op_key(op.raw), element),
                None => ok = false,
            }
        }
    }
    ok.then_some(outputs)
}

/// The name of the buffer behind an end, where an operation of that kind defines it.
fn buffer<'c, 'a>(end: Op<'c, 'a>, kind: &str) -> Option<(Op<'c, 'a>, String)> {
    let definition = end.operand("c2v_consumer_buf").and_then(Op::defining).filter(|d| d.is(kind))?;
    Some((definition, definition.string("name")?))
}

/// The one end in a function whose buffer is as wanted.
fn only_end<'c, 'a>(function: OperationRef<'c, 'a>, fits: impl Fn(Op<'c, 'a>) -> bool) -> Option<Op<'c, 'a>> {
    let ends = ir::walk(function).into_iter().filter_map(Op::of).filter(|&op| is_end(op) && fits(op));
    let found: Vec<Op> = ends.collect();
    if let [one] = found[..] { Some(one) } else { None }
}

/// The other end has the same epilogue.
fn agrees<'c>(end: &End<'c, '_>, other: Op<'c, '_>) -> bool {
    let Some(theirs) = other.attr("acc_push_epilogue").and_then(Epilogue::of) else {
        return error(end.op, "expected acc_push_epilogue at the other end of its queue too");
    };
    let ours = &end.epilogue;
    let parts = [
        ("layout", ours.layout, theirs.layout),
        ("quant", ours.quant.case, theirs.quant.case),
        ("relu", ours.relu, theirs.relu),
    ];
    let Some((part, own, their)) = parts.into_iter().find(|(_, a, b)| a != b) else { return true };
    let what =
        format!("'pto.{}' op: both ends must agree on {part}: {own} here, {their} at the other end", end.op.mnemonic());
    diagnostics::error(end.op.raw.location(), "PTO-0415", what).note(other.raw.location(), "the other end").emit();
    false
}

/// The end that pushes: its peer, and the element type that is popped there.
fn producer<'c>(end: &End<'c, '_>) -> Option<Type<'c>> {
    let imported = buffer(end.op, "import_reserved_buffer").and_then(|(import, name)| {
        let function = ir::peer_function(end.function, &import.symbol("peer_func")?)?;
        let reserves = |op| buffer(op, "reserve_buffer").is_some_and(|(_, other)| other == name);
        Some((function, only_end(function, |op| op.is("aiv_initialize_pipe") && reserves(op))?))
    });
    let Some((function, other)) = imported else {
        error(end.op, "expected one aiv_initialize_pipe on the buffer that its c2v_consumer_buf imports");
        return None;
    };
    if !agrees(end, other) {
        return None;
    }
    Some(pops(function, other).first().map_or_else(|| element_of(end.op), |&tile| edit::element_type(tile.r#type())))
}

/// What stands for the element type where nothing is popped: the consumer's own check reports that.
fn element_of<'c>(op: Op<'c, '_>) -> Type<'c> {
    IntegerType::new(pto_dialect::context_of(op.raw), 8).into()
}

/// What an end pops.
fn pops<'c, 'a>(function: OperationRef<'c, 'a>, end: Op<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let pops = ir::ops_named(function, "tpop_from_aic");
    pops.into_iter().filter(|pop| pop.int("id") == end.int("id")).filter_map(|pop| pop.result()).collect()
}

/// The end that pops: its peer, and tiles that can take what arrives.
fn consumer<'c, 'a>(end: &End<'c, 'a>, functions: &[OperationRef<'c, 'a>]) -> Option<Type<'c>> {
    let Some((_, name)) = buffer(end.op, "reserve_buffer") else {
        error(end.op, "expected c2v_consumer_buf from reserve_buffer: this end pops");
        return None;
    };
    let imports_it = |function: OperationRef<'c, 'a>, op: Op<'c, 'a>| {
        let Some((import, other)) = buffer(op, "import_reserved_buffer") else { return false };
        let owner = import.symbol("peer_func").and_then(|peer| ir::peer_function(function, &peer));
        other == name && owner.is_some_and(|owner| op_key(owner) == op_key(end.function))
    };
    let producers: Vec<(OperationRef, Op)> = functions
        .iter()
        .filter_map(|&f| Some((f, only_end(f, |op| op.is("aic_initialize_pipe") && imports_it(f, op))?)))
        .collect();
    let [(function, other)] = producers[..] else {
        error(end.op, "expected one aic_initialize_pipe on an import of its buffer");
        return None;
    };
    if !agrees(end, other) {
        return None;
    }
    let popped = pops(end.function, end.op);
    let id = end.op.int("id").unwrap_or(0);
    let Some(&first) = popped.first() else {
        error(end.op, &format!("expected a tpop_from_aic with id = {id}, which says what the slots hold"));
        return None;
    };
    if popped.iter().any(|tile| tile.r#type() != first.r#type()) {
        error(end.op, &format!("expected one tile type from all tpop_from_aic with id = {id}"));
        return None;
    }
    let tile = Tile::of_value(first)?;
    let holds =
        takes(end, first, &tile) && large_enough(end, other, first, &tile) && pushed(end, function, other, &tile);
    holds.then(|| edit::element_type(first.r#type()))
}

/// Element type and layout of a popped tile. The conversions to 8 bits have a sign: a tile without one says too little.
fn takes(end: &End, value: Value, tile: &Tile) -> bool {
    let quant = end.epilogue.quant;
    let element = edit::element_type(value.r#type());
    let signless = tile.element.bytes() == 1 && IntegerType::try_from(element).is_ok_and(|i| i.is_signless());
    let label = ir::label(value);
    if !quant.to.contains(&tile.element) || signless {
        let names: Vec<&str> = quant.to.iter().map(|e| if *e == Element::I8 { "si8" } else { e.name() }).collect();
        let what = format!("expected {label} to hold {} for {}, found {element}", names.join(" or "), quant.case);
        return error(end.op, &what);
    }
    let wanted = match end.epilogue.layout {
        "nz2nd" => "row_major without boxes",
        "nz2dn" => "col_major without boxes",
        _ => "col_major blocks of row_major boxes",
    };
    let what = format!("expected {label} in vec, {wanted}, for layout = {}", end.epilogue.layout);
    end.epilogue.fits_layout(tile) || error(end.op, &what)
}

/// A slot of either end holds the popped tile.
fn large_enough(end: &End, other: Op, value: Value, tile: &Tile) -> bool {
    let bytes = i64::try_from(tile.storage_bytes()).unwrap_or(i64::MAX);
    let smallest = [end.op, other].iter().filter_map(|op| op.int("slot_size")).min().unwrap_or(0);
    let what = format!("expected slot_size of at least {bytes} bytes for {}, found {smallest} bytes", ir::label(value));
    smallest >= bytes || error(end.op, &what)
}

/// Values that are not converted keep their type.
fn pushed(end: &End, function: OperationRef, other: Op, tile: &Tile) -> bool {
    let pushes = ir::ops_named(function, "tpush_to_aiv").into_iter().filter(|push| push.int("id") == other.int("id"));
    let mut sources = pushes.filter_map(|push| push.operand("tile")).filter_map(Tile::of_value);
    let bad = sources.find(|source| end.epilogue.quant.case == "no_convert" && source.element != tile.element);
    let Some(source) = bad else { return true };
    let what = format!(
        "expected {} as the other end pushes with no_convert, found {}",
        source.element.name(),
        tile.element.name()
    );
    error(end.op, &what)
}
