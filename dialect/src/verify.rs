//! Verifiers: what every operation must satisfy whatever the target is. Rules that depend on the target are in the
//! compiler's `verify_target`; whether tiles fit their memory is placement's question.
//!
//! A rule is a function with a name; `rule` in `td/` lists the rules of an operation. MLIR has checked counts, operand
//! kinds and attribute kinds by the time a rule runs. A rule reports everything it finds; it does not look into other
//! operations beyond constants and the kind of a value's definition.
//!
//! | code | expected |
//! | --- | --- |
//! | PTO-0201 | an operand or an attribute that this form of the operation needs, or lacks |
//! | PTO-0202 | a tile in a certain memory space |
//! | PTO-0203 | a certain layout: block, box, fractal, 32-byte rows |
//! | PTO-0204 | a certain element type, or the same one as elsewhere |
//! | PTO-0205 | a certain physical shape or size in bytes |
//! | PTO-0206 | certain valid extents |
//! | PTO-0207 | an offset, an index or a window inside its parent |
//! | PTO-0208 | a certain value of an attribute or a constant |
//! | PTO-0209 | a certain rank or number of extents |
//! | PTO-0210 | identical types |
//! | PTO-0215 | another place: what stands around the operation, or who uses its result |
//! | PTO-0216 | an operation on tiles, not one of another backend (told when the text is read) |
//!
//! Tests: `tests/cases/verify/`, one file per family.

mod check;
mod codes;
mod comm;
mod convert;
mod elementwise;
mod fill;
mod gather;
mod generic;
mod global;
mod global_gather;
pub mod layout;
mod matrix;
mod matrix_scaled;
mod partial;
mod pipe;
mod quantize;
mod reduce;
mod sequence;
mod structure;
mod sync;
mod tile;
mod transfer;
mod window;

use crate::op::Op;
use check::Check;
use melior::ir::OperationRef;

/// A rule.
type Rule = fn(&mut Check);

/// All rules by the name that `td/` uses.
const RULES: &[(&str, Rule)] = &[
    ("vec", generic::vec),
    ("row_major", generic::row_major),
    ("same_elem", generic::same_elem),
    ("same_valid", generic::same_valid),
    ("alloc_tile", tile::alloc_tile),
    ("alloc_multi_tile", tile::alloc_multi_tile),
    ("multi_tile_get", tile::multi_tile_get),
    ("declare_tile", tile::declare_tile),
    ("subview", window::subview),
    ("set_validshape", window::set_validshape),
    ("tile_cast", window::tile_cast),
    ("make_tensor_view", global::make_tensor_view),
    ("partition_view", global::partition_view),
    ("scalar_access", global::scalar_access),
    ("local_array", global::local_array),
    ("cache_line", global::cache_line),
    ("reserve_buffer", pipe::reserve_buffer),
    ("initialize_pipe", pipe::initialize_pipe),
    ("pipe_shape", pipe::pipe_shape),
    ("stated_attributes", pipe::stated_attributes),
    ("transfer", pipe::transfer),
    ("pop_from", pipe::pop_from),
    ("handle", pipe::handle),
    ("set_quant_vector", pipe::set_quant_vector),
    ("tpush_quant", pipe::tpush_quant),
    ("declare_global", pipe::declare_global),
    ("flag", sync::flag),
    ("eventid_array", sync::eventid_array),
    ("buf", sync::buf),
    ("cross_core", sync::cross_core),
    ("syncall", sync::syncall),
    ("comm_copy", comm::comm_copy),
    ("comm_signal", comm::comm_signal),
    ("comm_group", comm::comm_group),
    ("build_async_session", comm::build_async_session),
    ("byte_workspace", comm::byte_workspace),
    ("async_copy", comm::async_copy),
    ("declare_struct", structure::declare_struct),
    ("struct_access", structure::struct_access),
    ("inttoptr", structure::inttoptr),
    ("section_simt", structure::section_simt),
    ("fusion_region", structure::fusion_region),
    ("trem", elementwise::scalar_is_element),
    ("txor", nothing),
    ("tprelu", nothing),
    ("tpow", elementwise::scalar_is_element),
    ("tdivs", elementwise::tdivs),
    ("tfmods", elementwise::scalar_is_element),
    ("tshifts", elementwise::tshifts),
    ("taxpy", elementwise::taxpy),
    ("texpands", elementwise::texpands),
    ("trsqrt", nothing),
    ("tcmp", elementwise::tcmp),
    ("tsel", elementwise::tsel),
    ("tcvt", convert::tcvt),
    ("row_reduce", reduce::row_reduce),
    ("row_arg", reduce::row_arg),
    ("col_reduce", reduce::col_reduce),
    ("tcolsum", reduce::tcolsum),
    ("col_arg", reduce::col_arg),
    ("row_expand", reduce::row_expand),
    ("col_expand", reduce::col_expand),
    ("row_expand_bin", reduce::row_expand_bin),
    ("col_expand_bin", reduce::col_expand_bin),
    ("tload", transfer::tload),
    ("tstore", transfer::tstore),
    ("tmov", transfer::tmov),
    ("textract", transfer::textract),
    ("tinsert", transfer::tinsert),
    ("tfillpad", fill::tfillpad),
    ("ttrans", fill::ttrans),
    ("tconcat", fill::tconcat),
    ("tsetval", fill::tsetval),
    ("tgetval", fill::tgetval),
    ("tmatmul", matrix::tmatmul),
    ("tgemv", matrix::tgemv),
    ("bias", matrix::bias),
    ("acc_in_place", matrix::acc_in_place),
    ("tmatmul_mx", matrix_scaled::tmatmul_mx),
    ("tgemv_mx", matrix_scaled::tgemv_mx),
    ("tget_scale_addr", matrix_scaled::tget_scale_addr),
    ("tgather", gather::tgather),
    ("tgatherb", gather::tgatherb),
    ("tscatter", gather::tscatter),
    ("mgather", global_gather::mgather),
    ("mscatter", global_gather::mscatter),
    ("tsort32", sequence::tsort32),
    ("tmrgsort", sequence::tmrgsort),
    ("tci", sequence::tci),
    ("ttri", sequence::ttri),
    ("trandom", sequence::trandom),
    ("thistogram", sequence::thistogram),
    ("tprint", sequence::tprint),
    ("tpart", partial::tpart),
    ("tpart_arg", partial::tpart_arg),
    ("tquant", quantize::tquant),
    ("tquant_mx", quantize::tquant_mx),
    ("tdequant", quantize::tdequant),
];

/// Verifies one operation; operations of other dialects pass.
pub fn verify(op: OperationRef) -> bool {
    let Some(op) = Op::of(op) else { return true };
    let mut check = Check::new(op);
    generic::known_attributes(&mut check);
    generic::known_elements(&mut check);
    for (_, rule) in RULES.iter().filter(|(name, _)| op.facts.has_rule(name)) {
        rule(&mut check);
    }
    check.report()
}

/// A rule whose conditions all depend on the target.
fn nothing(_: &mut Check) {}

#[cfg(test)]
mod tests {
    use super::RULES;
    use crate::facts::OP_FACTS;

    #[test]
    fn every_rule_that_the_definitions_name_exists_and_the_other_way_round() {
        let used = |rule: &str| OP_FACTS.iter().any(|row| row.has_rule(rule));
        for row in OP_FACTS {
            for rule in row.rules {
                assert!(RULES.iter().any(|(name, _)| name == rule), "{}: no rule '{rule}'", row.name);
            }
        }
        for (name, _) in RULES {
            assert!(used(name), "no operation has the rule '{name}'");
        }
    }
}
