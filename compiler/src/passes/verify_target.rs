//! `pto-verify-target`: what the target's instructions and the library's code for it accept.
//!
//! What holds everywhere is verified by the dialect; whether tiles fit their memory is placement's question. Rules have
//! the names that `rule` in `dialect/td` uses; a rule reports all that it finds. Rows of element types are the fields
//! `a3` and `a5` there. `left` tiles are accepted with either block layout: on A5 the library reads only col_major ones,
//! and `pto-legalize-tiles` rewrites the others.
//!
//! | code | expected |
//! | --- | --- |
//! | PTO-0310 | a target that has the operation |
//! | PTO-0311 | another element type, or pair of them |
//! | PTO-0312 | other memory spaces |
//! | PTO-0313 | another layout |
//! | PTO-0314 | another physical shape |
//! | PTO-0315 | other valid extents; never a negative constant |
//! | PTO-0316 | another attribute, or none |
//! | PTO-0317 | an extent within a limit of the device |
//! | PTO-0318 | another scratch tile |
//! | PTO-0319 | different storage for operands |
//! | PTO-0323 | an entry function that the host can call |
//!
//! Tests: `tests/cases/verify/target_*.pto`.

mod codes;
mod elementwise;
mod function;
mod irregular;
mod matrix;
mod partial;
mod pipe;
mod reduce;
mod scratch;
mod subject;
mod transfer;

use crate::ir;
use codes::{ALIAS, ELEMENT, MISSING, VALID};
use melior::ir::OperationRef;
use pto_dialect::{
    Op,
    device::{Device, Legality},
};
use subject::Subject;

/// A rule.
type Rule = fn(&mut Subject);

/// The rules with a part that depends on the target.
const RULES: &[(&str, Rule)] = &[
    ("trem", scratch::trem),
    ("txor", scratch::txor),
    ("tprelu", scratch::tprelu),
    ("tpow", elementwise::tpow),
    ("texpands", elementwise::texpands),
    ("trsqrt", scratch::trsqrt),
    ("tcmp", elementwise::tcmp),
    ("tsel", elementwise::tsel),
    ("tcvt", elementwise::tcvt),
    ("row_reduce", reduce::row_reduce),
    ("row_arg", reduce::row_arg),
    ("col_reduce", reduce::col_reduce),
    ("col_arg", reduce::col_arg),
    ("row_expand", reduce::row_expand),
    ("row_expand_bin", reduce::row_expand_bin),
    ("tload", transfer::tload),
    ("tstore", transfer::tstore),
    ("tmov", transfer::tmov),
    ("textract", transfer::textract),
    ("tinsert", transfer::tinsert),
    ("tmatmul", matrix::product),
    ("tgemv", matrix::product),
    ("tmatmul_mx", matrix::scaled),
    ("ttrans", irregular::ttrans),
    ("tconcat", irregular::tconcat),
    ("tgather", irregular::tgather),
    ("tgatherb", irregular::tgatherb),
    ("tscatter", irregular::tscatter),
    ("mgather", irregular::global_index),
    ("mscatter", irregular::mscatter),
    ("tsort32", scratch::tsort32),
    ("tci", scratch::tci),
    ("tprint", irregular::tprint),
    ("initialize_pipe", pipe::initialize_pipe),
    ("set_quant_vector", pipe::set_quant_vector),
    ("cross_core", pipe::cross_core),
    ("tpart", partial::tpart),
    ("tpart_arg", partial::tpart_arg),
    ("tquant", partial::tquant),
];

/// Checks every operation of a module against a device; whether all are legal.
pub fn verify_target(module: OperationRef, device: &Device) -> bool {
    let mut legal = true;
    for function in ir::functions(module) {
        legal &= function::signature(function);
    }
    for op in ir::walk(module).into_iter().filter_map(Op::of) {
        legal &= function::attributes(op) & verify_op(op, device);
    }
    legal
}

fn verify_op(op: Op, device: &Device) -> bool {
    let mut subject = Subject::new(op, device);
    if exists(&mut subject) {
        elements(&mut subject);
        extents(&mut subject);
        aliases(&mut subject);
        for (_, rule) in RULES.iter().filter(|(name, _)| op.facts.has_rule(name)) {
            rule(&mut subject);
        }
    }
    subject.report()
}

fn legal_elements(subject: &Subject) -> &'static str {
    match subject.device.legality {
        Legality::A3 => subject.op.facts.a3,
        Legality::A5 => subject.op.facts.a5,
    }
}

fn exists(subject: &mut Subject) -> bool {
    let exists = legal_elements(subject) != "-";
    let name = subject.device.name.as_str();
    subject.require(exists, MISSING, format_args!("a target that has this operation"), name)
}

/// The element type of the operand that decides.
fn elements(subject: &mut Subject) {
    let legal = legal_elements(subject);
    if legal.is_empty() {
        return;
    }
    if let Some(tile) = subject.tile(subject.op.facts.typed) {
        let expected = format_args!("{tile} to hold one of {legal} on {}", subject.device.name);
        subject.require(tile.element.is_in(legal), ELEMENT, expected, tile.element.name());
    }
}

/// A negative valid extent stops the transfer engines for ever.
fn extents(subject: &mut Subject) {
    for operand in ["valid_row", "valid_col"] {
        let Some(extent) = subject.constant(operand) else { continue };
        let of = subject.result_label();
        subject.require(extent >= 0, VALID, format_args!("{operand}{of} of at least 0"), extent);
    }
}

/// On A2/A3 some library calls use dst while they still read their sources.
fn aliases(subject: &mut Subject) {
    let facts = subject.op.facts;
    if !subject.is_a3() || !facts.inplace_a3.is_empty() || facts.inplace.is_empty() {
        return;
    }
    let Some(dst) = subject.tile("dst") else { return };
    for tile in subject.sources() {
        let expected = format_args!("{tile} in other storage than dst on {}", subject.device.name);
        subject.require(tile.value != dst.value, ALIAS, expected, "the same tile");
    }
}

#[cfg(test)]
mod tests {
    use super::RULES;
    use pto_dialect::OP_FACTS;

    #[test]
    fn every_rule_belongs_to_an_operation() {
        for (name, _) in RULES {
            assert!(OP_FACTS.iter().any(|row| row.has_rule(name)), "no operation has the rule '{name}'");
        }
    }
}
