//! Scales of left and right tiles stand where the hardware looks for them: at the tile's own address divided by 16
//! (PTO-ISA `GetScaleAddr`, a shift by 4), whatever else is free.

use super::collect::{Roots, leader};
use crate::ir;
use pto_dialect::{Op, Space, value_key};

/// An address in L0A or L0B, shifted by this, is the address of the scales.
const SCALE_SHIFT: u32 = 4;

/// Gives scale tiles of a space the address that follows from their left or right tile, which has its own by now.
pub fn place(roots: &mut Roots, space: Space) {
    if !matches!(space, Space::ScaleLeft | Space::ScaleRight) {
        return;
    }
    for op in ir::walk(roots.function).into_iter().filter_map(Op::of) {
        for (of, scale) in [("src", "dst"), ("a", "a_scale"), ("b", "b_scale")] {
            if scale == "dst" && !op.is("tget_scale_addr") {
                continue;
            }
            let find = |name: &str| {
                let key = value_key(op.operand(name)?);
                roots.list.iter().position(|root| value_key(root.value) == key)
            };
            let (Some(of), Some(scale)) = (find(of), find(scale)) else { continue };
            let address = roots.list[leader(&roots.list, of)].addr;
            let own = &mut roots.list[scale];
            if own.space == space && own.addr.is_none() {
                own.addr = address.map(|address| address >> SCALE_SHIFT);
                own.planned = own.addr.is_some();
            }
        }
    }
}
