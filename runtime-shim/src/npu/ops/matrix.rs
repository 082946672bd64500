//! The matrix unit: `TMATMUL`, `TGEMV` and their accumulating, biased and block-scaled (MX) forms.
//!
//! Every element of the product starts from zero and takes its terms in ascending order of k, each fused with the sum
//! (one rounding), as in the vendor's simulator; addend and bias come last. Extents come from the valid shapes of the
//! operands; the result is written over them, wherever its own valid shape ends, and the rest of its boxes is spoilt.

use super::super::abi::{Space, Tile};
use super::super::element::{Element, Lane};
use super::super::layout::Window;
use super::{Ctx, Done, Fault, On, Op, Pipe, illegal};

/// The instructions.
pub const OPS: &[Op] = &[
    unit("TMATMUL", |c| multiply(c, false, false)),
    unit("TMATMUL_ACC", |c| multiply(c, false, true)),
    unit("TMATMUL_BIAS", |c| multiply(c, false, false)),
    unit("TMATMUL_MX", |c| multiply(c, false, false)),
    unit("TGEMV", |c| multiply(c, true, false)),
    unit("TGEMV_ACC", |c| multiply(c, true, true)),
    unit("TGEMV_BIAS", |c| multiply(c, true, false)),
    unit("TGEMV_MX", |c| multiply(c, true, false)),
];

/// An instruction of the matrix unit.
const fn unit(name: &'static str, run: fn(&mut Ctx) -> Done) -> Op {
    Op { name, on: On::Pipe(Pipe::M), run }
}

/// Largest extent the unit takes.
const LONGEST: usize = 4095;

/// Elements of K that share a scale in the MX forms.
const GROUP: usize = 32;

/// Element types that may meet in a product: of the result, and those that left and right may have.
const PRODUCTS: [(Element, &[Element]); 5] = [
    (Element::I32, &[Element::I8]),
    (Element::F32, &[Element::F16]),
    (Element::F32, &[Element::BF16]),
    (Element::F32, &[Element::F32]),
    (Element::F32, &[Element::HiF8]),
];

/// As [`PRODUCTS`]: with or without scales, and only with them.
const NARROW: [(Element, &[Element]); 2] =
    [(Element::F32, &[Element::F8E4M3, Element::F8E5M2]), (Element::F32, &[Element::F4E2M1, Element::F4E1M2])];

/// Operands, told apart by their memories: `c, [c_in,] a, [a_scale,] b, [b_scale,] [bias]`.
struct Operands<'m> {
    result: &'m Tile,
    addend: Option<&'m Tile>,
    left: &'m Tile,
    right: &'m Tile,
    scales: Option<(&'m Tile, &'m Tile)>,
    bias: Option<&'m Tile>,
    /// Rows of the result, length of the sums, columns of the result.
    m: usize,
    k: usize,
    n: usize,
}

impl<'m> Operands<'m> {
    fn of(ctx: &Ctx<'m>, vector: bool, accumulate: bool) -> Result<Self, Fault> {
        let name = ctx.instr.name;
        let find = |space: Space| (1..ctx.count()).filter_map(|i| ctx.tile_if(i)).find(|t| t.space == space);
        let need =
            |space: Space| find(space).ok_or_else(|| illegal(format!("{name} has no operand in the {space:?} buffer")));
        let result = ctx.tile(0)?;
        if result.space != Space::Acc {
            return Err(illegal(format!("{name}: the result must be in the Acc buffer, found {:?}", result.space)));
        }
        let (left, right) = (need(Space::Left)?, need(Space::Right)?);
        // The left operand of a matrix product gives k, the right one of a vector product.
        let (m, k, n) = match vector {
            true => (1, right.valid_rows, right.valid_cols),
            false => (left.valid_rows, left.valid_cols, right.valid_cols),
        };
        if let Some(extent) = [m, k, n].into_iter().find(|e| !(1..=LONGEST).contains(e)) {
            return Err(illegal(format!(
                "{name}: extents must lie in 1..={LONGEST}, found {extent} in {m} x {k} x {n}"
            )));
        }
        if left.valid_rows < m || left.valid_cols < k || right.valid_rows < k {
            return Err(illegal(format!(
                "{name}: the valid parts of left ({} x {}) and right ({} x {}) do not fit together",
                left.valid_rows, left.valid_cols, right.valid_rows, right.valid_cols
            )));
        }
        let scaled = name.ends_with("_MX");
        let scales = if scaled { Some((need(Space::ScaleLeft)?, need(Space::ScaleRight)?)) } else { None };
        let fits = |&(c, ab): &(Element, &[Element])| {
            c == result.element && ab.contains(&left.element) && ab.contains(&right.element)
        };
        let allowed = match scaled {
            true => NARROW.iter().any(fits),
            false => PRODUCTS.iter().any(fits) || fits(&NARROW[0]),
        };
        if !allowed {
            return Err(illegal(format!(
                "{name}: the matrix unit does not multiply {} by {} into {}",
                left.element.name(),
                right.element.name(),
                result.element.name()
            )));
        }
        let addend = match find(Space::Acc) {
            // The device accumulates in place and never looks at the addend's address.
            Some(tile) if tile.address != result.address => {
                return Err(illegal(format!(
                    "{name}: the addend must be the result itself, found it at byte {} and the result at byte {}",
                    tile.address, result.address
                )));
            }
            Some(_) => Some(result),
            None => accumulate.then_some(result),
        };
        let bias = if name.ends_with("_BIAS") { Some(need(Space::Bias)?) } else { find(Space::Bias) };
        if let Some(tile) = bias.filter(|b| b.element != result.element) {
            return Err(illegal(format!(
                "{name}: the bias must be of the result's type {}, found {}",
                result.element.name(),
                tile.element.name()
            )));
        }
        Ok(Operands { result, addend, left, right, scales, bias, m, k, n })
    }
}

/// c = [c +] a * b [+ bias].
fn multiply(ctx: &mut Ctx, vector: bool, accumulate: bool) -> Done {
    let o = Operands::of(ctx, vector, accumulate)?;
    ctx.macs += (o.m * o.k * o.n) as u64;
    if o.result.element == Element::I32 {
        let product = operands(ctx, &o, product_i32)?;
        return finish(ctx, &o, product, i32::wrapping_add);
    }
    let product = match o.scales {
        Some((left, right)) => scaled_product(ctx, &o, left, right)?,
        None => operands(ctx, &o, product_f32)?,
    };
    finish(ctx, &o, product, |a, b| a + b)
}

/// Reads left and right and multiplies them.
fn operands<L: Lane>(
    ctx: &mut Ctx,
    o: &Operands,
    product: fn(&[L], &[L], usize, usize) -> Vec<L>,
) -> Result<Vec<L>, Fault> {
    let a = ctx.read_window(o.left, corner(o.m, o.k), o.left.element)?;
    let b = ctx.read_window(o.right, corner(o.k, o.n), o.right.element)?;
    Ok(product(&a, &b, o.k, o.n))
}

/// The product of operands with a scale for each [`GROUP`] of K. Scales are powers of two, so that they may be
/// multiplied into the operands first; terms are exact in f64, sums are rounded to f32.
fn scaled_product(ctx: &mut Ctx, o: &Operands, left: &Tile, right: &Tile) -> Result<Vec<f32>, Fault> {
    let groups = o.k.div_ceil(GROUP);
    let mut a: Vec<f64> = ctx.read_window(o.left, corner(o.m, o.k), o.left.element)?;
    let mut b: Vec<f64> = ctx.read_window(o.right, corner(o.k, o.n), o.right.element)?;
    let a_scale: Vec<f64> = ctx.read_window(left, corner(o.m, groups), Element::F8E8M0)?;
    let b_scale: Vec<f64> = ctx.read_window(right, corner(groups, o.n), Element::F8E8M0)?;
    for (row, scales) in a.chunks_exact_mut(o.k).zip(a_scale.chunks_exact(groups)) {
        row.chunks_mut(GROUP).zip(scales).for_each(|(group, s)| group.iter_mut().for_each(|x| *x *= s));
    }
    for (group, scales) in b.chunks_mut(GROUP * o.n).zip(b_scale.chunks_exact(o.n)) {
        for row in group.chunks_exact_mut(o.n) {
            row.iter_mut().zip(scales).for_each(|(x, s)| *x *= s);
        }
    }
    Ok(product_scaled(&a, &b, o.k, o.n))
}

/// Adds what there was, then the bias, and writes the result.
fn finish<L: Lane>(ctx: &mut Ctx, o: &Operands, mut product: Vec<L>, add: fn(L, L) -> L) -> Done {
    let window = corner(o.m, o.n);
    if let Some(addend) = o.addend {
        let old: Vec<L> = ctx.read_window(addend, window, addend.element)?;
        product.iter_mut().zip(&old).for_each(|(p, &c)| *p = add(c, *p));
    }
    if let Some(bias) = o.bias {
        let row: Vec<L> = ctx.read_window(bias, corner(1, o.n), bias.element)?;
        product.chunks_exact_mut(o.n).for_each(|p| p.iter_mut().zip(&row).for_each(|(p, &b)| *p = add(*p, b)));
    }
    spoil_boxes(ctx, o)?;
    ctx.write_window(o.result, window, o.result.element, &product)
}

/// The unit writes whole boxes of 16 x 16: what lies in them beyond the product holds something, but nothing of use.
fn spoil_boxes(ctx: &mut Ctx, o: &Operands) -> Done {
    let (rows, cols) = (o.m.next_multiple_of(16).min(o.result.rows), o.n.next_multiple_of(16).min(o.result.cols));
    if (rows, cols) == (o.m, o.n) {
        return Ok(());
    }
    let raw = o.result.element.raw();
    ctx.write_window(o.result, corner(rows, cols), raw, &vec![i64::from(u32::MAX); rows * cols])
}

fn corner(rows: usize, cols: usize) -> Window {
    Window { row: 0, col: 0, rows, cols }
}

/// Products of row-major matrices (m x k by k x n), terms by `$step`. Compiled for vectors of 256 bits too, where the
/// machine has them; the results are the same bits.
macro_rules! product {
    ($name:ident, $a:ty, $c:ty, $step:expr) => {
        fn $name(a: &[$a], b: &[$a], k: usize, n: usize) -> Vec<$c> {
            #[inline(always)]
            fn body(a: &[$a], b: &[$a], k: usize, n: usize) -> Vec<$c> {
                let mut product = vec![<$c>::default(); a.len() / k * n];
                for (x, sums) in a.chunks_exact(k).zip(product.chunks_exact_mut(n)) {
                    for (&x, y) in x.iter().zip(b.chunks_exact(n)) {
                        sums.iter_mut().zip(y).for_each(|(sum, &y)| *sum = $step(*sum, x, y));
                    }
                }
                product
            }
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn wide(a: &[$a], b: &[$a], k: usize, n: usize) -> Vec<$c> {
                    body(a, b, k, n)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the machine has both features.
                    return unsafe { wide(a, b, k, n) };
                }
            }
            body(a, b, k, n)
        }
    };
}

product!(product_f32, f32, f32, |sum: f32, x: f32, y: f32| x.mul_add(y, sum));
product!(product_i32, i32, i32, |sum: i32, x: i32, y: i32| sum.wrapping_add(x.wrapping_mul(y)));
product!(product_scaled, f64, f32, |sum: f32, x: f64, y: f64| (f64::from(sum) + x * y) as f32);

#[cfg(test)]
mod tests {
    use super::super::super::abi::{BoxLayout, Operand};
    use super::super::Rule;
    use super::super::bench::{Bench, flag, tile, tiles};
    use super::*;
    use crate::Arch;

    fn boxed(mut t: Tile, row_major: bool, inner: BoxLayout, valid: (usize, usize)) -> Tile {
        (t.row_major, t.box_layout) = (row_major, inner);
        (t.valid_rows, t.valid_cols) = valid;
        t
    }

    fn left(element: Element, rows: usize, cols: usize, valid: (usize, usize)) -> Tile {
        boxed(tile(Space::Left, element, rows, cols, 0), false, BoxLayout::RowMajor, valid)
    }

    fn right(element: Element, rows: usize, cols: usize, valid: (usize, usize)) -> Tile {
        boxed(tile(Space::Right, element, rows, cols, 0), true, BoxLayout::ColMajor, valid)
    }

    fn acc(element: Element, rows: usize, cols: usize, valid: (usize, usize)) -> Tile {
        let mut t = boxed(tile(Space::Acc, element, rows, cols, 0), false, BoxLayout::RowMajor, valid);
        t.fractal_bytes = 1024;
        t
    }

    /// Whole numbers from -4 to 4.
    fn pattern(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7 + seed * 3 + i / 5) % 9) as f64 - 4.0).collect()
    }

    /// Sums by element, in the order of the sums.
    fn reference(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
        let mut out = Vec::new();
        for i in 0..m {
            for j in 0..n {
                out.push((0..k).fold(0.0, |sum, p| sum + a[i * k + p] * b[p * n + j]));
            }
        }
        out
    }

    #[test]
    fn products_of_every_pair_of_types_over_partial_valid_parts() {
        use Element::{BF16, F8E4M3, F8E5M2, F16, F32, HiF8, I8, I32};
        let (m, k, n) = (13, 21, 19);
        for (c, a, b) in [
            (I32, I8, I8),
            (F32, F16, F16),
            (F32, BF16, BF16),
            (F32, F32, F32),
            (F32, F8E4M3, F8E5M2),
            (F32, F8E5M2, F8E5M2),
            (F32, HiF8, HiF8),
        ] {
            let mut bench = Bench::new(Arch::A5);
            let (ta, tb, tc) = (left(a, 32, 32, (m, k)), right(b, 32, 32, (k, n)), acc(c, 32, 32, (m, n)));
            let (x, y) = (pattern(m * k, 1), pattern(k * n, 2));
            bench.put(&ta, &x);
            bench.put(&tb, &y);
            // A row below and a column beside the product lie in its boxes and are spoilt.
            let around = acc(c, 32, 32, (m + 1, n + 1));
            bench.put(&around, &vec![77.0; (m + 1) * (n + 1)]);
            bench.run("TMATMUL", tiles([&tc, &ta, &tb])).expect("legal");
            let want = reference(&x, &y, m, k, n);
            assert_eq!(bench.get(&tc), want, "{} {}", a.name(), b.name());
            let all = bench.get(&around);
            assert!((0..n + 1).all(|j| all[m * (n + 1) + j] != 77.0) && (0..m).all(|i| all[i * (n + 1) + n] != 77.0));
            // Both accumulating forms, then the bias.
            bench.run("TMATMUL_ACC", tiles([&tc, &tc, &ta, &tb])).expect("legal");
            let mut three = tiles([&tc, &ta, &tb]);
            three.push(flag("AccPhase", 3));
            bench.run("TMATMUL_ACC", three).expect("legal");
            assert_eq!(bench.get(&tc), want.iter().map(|x| 3.0 * x).collect::<Vec<_>>());
            let bias = tile(Space::Bias, c, 1, n, 0);
            bench.put(&bias, &pattern(n, 3));
            bench.run("TMATMUL_BIAS", tiles([&tc, &ta, &tb, &bias])).expect("legal");
            let added: Vec<f64> = want.iter().enumerate().map(|(i, x)| x + pattern(n, 3)[i % n]).collect();
            assert_eq!(bench.get(&tc), added);
            assert!(bench.broken().is_empty());
        }
    }

    #[test]
    fn terms_are_fused_and_the_addend_comes_last() {
        let mut bench = Bench::new(Arch::A3);
        let f32s = Element::F32;
        let (ta, tb, tc) = (left(f32s, 16, 8, (1, 3)), right(f32s, 8, 16, (3, 1)), acc(f32s, 16, 16, (1, 1)));
        let eps = f64::from(f32::EPSILON);
        // (1 + eps)^2 - (1 + 2 eps) is eps^2 when fused, 0 when rounded in between.
        bench.put(&ta, &[1.0 + 2.0 * eps, 1.0 + eps, 0.0]);
        bench.put(&tb, &[-1.0, 1.0 + eps, 0.0]);
        bench.run("TMATMUL", tiles([&tc, &ta, &tb])).expect("legal");
        assert_eq!(bench.get(&tc), [eps * eps]);
        // 2^24 + (1 + 1) keeps the terms; (2^24 + 1) + 1 would lose them.
        bench.put(&tc, &[16777216.0]);
        bench.put(&ta, &[1.0, 1.0, 0.0]);
        bench.put(&tb, &[1.0, 1.0, 0.0]);
        bench.run("TMATMUL_ACC", tiles([&tc, &tc, &ta, &tb])).expect("legal");
        assert_eq!(bench.get(&tc), [16777218.0]);
    }

    #[test]
    fn a_vector_product_has_one_row_and_the_length_of_the_right() {
        let mut bench = Bench::new(Arch::A3);
        let half = Element::F16;
        let (ta, tb) = (left(half, 1, 32, (1, 32)), right(half, 32, 16, (20, 16)));
        let tc = acc(Element::F32, 16, 16, (1, 16));
        let (x, y) = (pattern(32, 4), pattern(20 * 16, 5));
        bench.put(&ta, &x);
        bench.put(&tb, &y);
        bench.run("TGEMV", tiles([&tc, &ta, &tb])).expect("legal");
        assert_eq!(bench.get(&tc), reference(&x[..20], &y, 1, 20, 16));
        bench.run("TGEMV_ACC", tiles([&tc, &tc, &ta, &tb])).expect("legal");
        let bias = tile(Space::Bias, Element::F32, 1, 16, 0);
        bench.put(&bias, &[0.5; 16]);
        bench.run("TGEMV_BIAS", tiles([&tc, &ta, &tb, &bias])).expect("legal");
        let want: Vec<f64> = reference(&x[..20], &y, 1, 20, 16).iter().map(|v| v + 0.5).collect();
        assert_eq!(bench.get(&tc), want);
    }

    #[test]
    fn block_scales_apply_to_thirty_two_of_k() {
        for (a, b) in [(Element::F8E4M3, Element::F8E5M2), (Element::F4E2M1, Element::F4E1M2)] {
            let (m, k, n) = (3, 64, 5);
            let mut bench = Bench::new(Arch::A5);
            let (ta, tb) = (left(a, 16, 64, (m, k)), right(b, 64, 32, (k, n)));
            let tc = acc(Element::F32, 16, 32, (m, n));
            let mut sa = tile(Space::ScaleLeft, Element::F8E8M0, 16, 2, 0);
            let mut sb = tile(Space::ScaleRight, Element::F8E8M0, 2, 32, 0);
            (sa.valid_rows, sb.valid_cols) = (m, n);
            let x: Vec<f64> = pattern(m * k, 1).iter().map(|v| v / 4.0).map(|v| a.round(v)).collect();
            let y: Vec<f64> = pattern(k * n, 2).iter().map(|v| v / 4.0).map(|v| b.round(v)).collect();
            let scale = |i: usize| [0.5, 2.0, 1.0, 4.0][i % 4];
            let (xs, ys): (Vec<f64>, Vec<f64>) = ((0..m * 2).map(scale).collect(), (0..2 * n).map(scale).collect());
            bench.put(&ta, &x);
            bench.put(&tb, &y);
            bench.put(&sa, &xs);
            bench.put(&sb, &ys);
            bench.run("TMATMUL_MX", tiles([&tc, &ta, &sa, &tb, &sb])).expect("legal");
            let fx: Vec<f64> = (0..m * k).map(|i| x[i] * xs[i / k * 2 + i % k / 32]).collect();
            let fy: Vec<f64> = (0..k * n).map(|i| y[i] * ys[i / n / 32 * n + i % n]).collect();
            let want = reference(&fx, &fy, m, k, n);
            assert_eq!(bench.get(&tc), want);
            bench.run("TMATMUL_MX", tiles([&tc, &tc, &ta, &sa, &tb, &sb])).expect("legal");
            assert_eq!(bench.get(&tc), want.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
            let bias = tile(Space::Bias, Element::F32, 1, 32, 0);
            bench.put(&bias, &[1.0; 32]);
            bench.run("TGEMV_MX", tiles([&tc, &ta, &sa, &tb, &sb, &bias])).expect("legal");
            let first: Vec<f64> = want[..n].iter().map(|v| v + 1.0).collect();
            assert_eq!(bench.get(&tc)[..n], first);
            assert!(bench.broken().is_empty());
        }
    }

    #[test]
    fn operands_that_do_not_fit_are_refused() {
        let (f16s, f32s) = (Element::F16, Element::F32);
        let ta = left(f16s, 16, 16, (16, 16));
        let tb = right(f16s, 16, 16, (16, 16));
        let tc = acc(f32s, 16, 16, (16, 16));
        let empty = left(f16s, 16, 16, (0, 16));
        let short = right(f16s, 16, 16, (8, 16));
        let long = left(f16s, 32, 16, (32, 16));
        let bytes = right(Element::I8, 16, 32, (16, 16));
        let narrow = left(Element::F4E2M1, 16, 64, (16, 64));
        let narrow_right = right(Element::F4E2M1, 64, 16, (64, 16));
        let bias = tile(Space::Bias, Element::I32, 1, 16, 0);
        let mut elsewhere = tc.clone();
        elsewhere.address = 1024;
        for (name, operands, words) in [
            ("TMATMUL", tiles([&tc, &empty, &tb]), "1..=4095"),
            ("TMATMUL", tiles([&tc, &ta, &short]), "do not fit together"),
            ("TMATMUL", tiles([&tc, &ta, &bytes]), "does not multiply f16 by i8 into f32"),
            ("TMATMUL", tiles([&tc, &narrow, &narrow_right]), "does not multiply f4e2m1"),
            ("TMATMUL", tiles([&ta, &ta, &tb]), "must be in the Acc buffer"),
            ("TMATMUL", tiles([&tc, &ta]), "no operand in the Right buffer"),
            ("TMATMUL_MX", tiles([&tc, &ta, &tb]), "no operand in the ScaleLeft buffer"),
            ("TMATMUL_BIAS", tiles([&tc, &ta, &tb, &bias]), "must be of the result's type f32, found i32"),
            ("TMATMUL_BIAS", tiles([&tc, &ta, &tb]), "no operand in the Bias buffer"),
            ("TMATMUL_ACC", tiles([&tc, &elsewhere, &ta, &tb]), "must be the result itself"),
            ("TMATMUL", vec![Operand::Null], "must be a tile"),
        ] {
            let fault = Bench::new(Arch::A5).run(name, operands).expect_err(words);
            assert_eq!(fault.rule, Rule::Illegal);
            assert!(fault.message.contains(words), "{}", fault.message);
        }
        // A product that is larger than the result's tile.
        let mut bench = Bench::new(Arch::A3);
        bench.put(&long, &[1.0; 512]);
        bench.put(&tb, &[1.0; 256]);
        let fault = bench.run("TMATMUL", tiles([&tc, &long, &tb])).expect_err("too large");
        assert_eq!(fault.rule, Rule::OutsideSpace);
    }
}
