//! Between global memory and tiles.

use super::{Ctx, Done, GlobalRun, On, Op, Pipe, illegal};

/// The instructions.
pub const OPS: &[Op] = &[
    Op { name: "TLOAD", on: On::Pipe(Pipe::Mte2), run: load },
    Op { name: "TSTORE", on: On::Pipe(Pipe::Mte3), run: store },
];

fn load(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.global(1)?);
    let raw = dst.element.raw();
    let mut runs = Vec::new();
    for d0 in 0..src.shape[0] {
        for d1 in 0..src.shape[1] {
            for d2 in 0..src.shape[2] {
                for d3 in 0..src.shape[3] {
                    let start = d0 * src.stride[0] + d1 * src.stride[1] + d2 * src.stride[2] + d3 * src.stride[3];
                    runs.push(GlobalRun { start, step: src.stride[4], count: src.shape[4] as usize });
                }
            }
        }
    }
    let values = ctx.read_global::<i64>(src, raw, &runs)?;
    if values.len() != dst.valid_rows * dst.valid_cols {
        return Err(illegal("TLOAD: shapes differ"));
    }
    ctx.write_window(dst, dst.valid(), raw, &values)
}

fn store(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.global(0)?, ctx.tile(1)?);
    let raw = src.element.raw();
    let mut runs = Vec::new();
    for d0 in 0..dst.shape[0] {
        for d1 in 0..dst.shape[1] {
            for d2 in 0..dst.shape[2] {
                for d3 in 0..dst.shape[3] {
                    let start = d0 * dst.stride[0] + d1 * dst.stride[1] + d2 * dst.stride[2] + d3 * dst.stride[3];
                    runs.push(GlobalRun { start, step: dst.stride[4], count: dst.shape[4] as usize });
                }
            }
        }
    }
    let values = ctx.read_window::<i64>(src, src.valid(), raw)?;
    ctx.write_global(dst, raw, &runs, &values)
}
