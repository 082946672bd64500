//! Runs of the kernels whose C++ the codegen tests look at.

use super::data::{
    EXACT, F32, by_row, cast, column, floats, from, integers, map, matrix, noise, product, rows, transposed, zip,
};
use super::{Element, Row, Tensor, Trial, row, run_all};

#[test]
fn codegen_examples() {
    run_all(ROWS);
}

/// The kernels.
pub const ROWS: &[Row] = &[
    row("tests/cases/codegen/column_windows.pto", &["vector"], column_windows),
    row("tests/cases/codegen/column_windows.pto", &["cube"], boxed_windows),
    row("tests/cases/codegen/control_flow.pto", &["halve"], halve),
    row("tests/cases/codegen/control_flow.pto", &["choose"], choose),
    row("tests/cases/codegen/control_flow.pto", &["table"], table),
    row("tests/cases/codegen/convert.pto", &["convert"], convert),
    row("tests/cases/codegen/dynamic_tail.pto", &["scale"], scale),
    row("tests/cases/codegen/dynamic_tail.pto", &["reshaped"], reshaped),
    row("tests/cases/codegen/fixpipe_store.pto", &["quantised"], fixpipe_store),
    row("tests/cases/codegen/gather_sort.pto", &["top_values"], top_values),
    row("tests/cases/codegen/given_addresses.pto", &["row_maximum"], row_maximum),
    row("tests/cases/codegen/called_with_tiles.pto", &["kernel"], called_with_tiles),
    row("tests/cases/codegen/helper_call.pto", &["kernel"], helper_call),
    row("tests/cases/codegen/layer_norm.pto", &["layer_norm"], layer_norm),
    row("tests/cases/codegen/local_array.pto", &["histogram"], histogram),
    row("tests/cases/codegen/loop_carried.pto", &["carried"], carried),
    row("tests/cases/codegen/loop_carried.pto", &["fibonacci"], fibonacci),
    row("tests/cases/codegen/loop_carried.pto", &["swapped"], swapped),
    row("tests/cases/codegen/loop_carried.pto", &["accumulated"], accumulated),
    row("tests/cases/codegen/masks.pto", &["select"], masks),
    row("tests/cases/codegen/matmul_k_loop_a3.pto", &["matmul"], matmul_k_loop),
    row("tests/cases/codegen/matmul_k_loop_a5.pto", &["matmul"], matmul_k_loop),
    Row { launcher: Some(MIXED_SECTIONS), ..row("tests/cases/codegen/mixed_sections.pto", &["both"], mixed_sections) },
    row("tests/cases/codegen/multi_tile.pto", &["rotate"], rotate),
    row("tests/cases/codegen/narrow_integers.pto", &["bytes"], narrow_integers),
    row("tests/cases/codegen/own_flags.pto", &["flags"], own_flags),
    Row {
        launcher: Some(POP_STORE),
        ..row("tests/cases/codegen/pop_store_a5.pto", &["produce", "consume"], pop_store)
    },
    row("tests/cases/codegen/push_pop_a3.pto", &["multiply", "exponential"], push_pop),
    row("tests/cases/codegen/push_pop_a5.pto", &["multiply", "exponential"], push_pop),
    row("tests/cases/codegen/queue_handles_a5.pto", &["multiply", "exponential"], push_pop),
    row("tests/cases/codegen/scalar_arithmetic.pto", &["integers"], scalar_integers),
    row("tests/cases/codegen/scalar_arithmetic.pto", &["floats"], scalar_floats),
    row("tests/cases/codegen/scalar_memory.pto", &["copy"], scalar_memory),
    row("tests/cases/codegen/subviews.pto", &["windows"], subviews),
    row("tests/cases/codegen/tile_handles.pto", &["carried"], accumulated),
    row("tests/cases/codegen/tile_handles.pto", &["alternating"], alternating),
    row("tests/cases/codegen/tile_handles.pto", &["chosen"], chosen),
    row("tests/cases/codegen/transposed_load.pto", &["columns"], columns),
    row("tests/cases/codegen/transposed_load.pto", &["transpose"], transpose),
    row("tests/cases/codegen/vector_add.pto", &["vector_add"], vector_add),
];

fn column_windows() -> Vec<Trial> {
    let x = floats(&[16, 64], 1);
    let old = rows(&x);
    let run = |at: usize| {
        let new = matrix(Element::F32, 16, 64, |r, c| {
            if (at..at + 8).contains(&c) { old[r][c - at] + old[r][c - at + 8] } else { old[r][c] }
        });
        Trial::new().update(&x, new, EXACT).int(at as i64)
    };
    [16, 56, 0, 8].map(run).to_vec()
}

/// Nothing of this comes out again: it must only run.
fn boxed_windows() -> Vec<Trial> {
    let x = noise(Element::F16, &[64, 64], 2, 1.0);
    vec![Trial::new().read(&x).int(0), Trial::new().read(&x).int(32)]
}

fn halve() -> Vec<Trial> {
    let run = |start: i64| {
        let (mut x, mut steps) = (start, 0);
        while x > 1 {
            x /= 2;
            steps += 1;
        }
        Trial::new().write(integers(Element::I32, &[steps]), EXACT).int(start)
    };
    [1000, 1, 0, -5, i64::from(i32::MAX)].map(run).to_vec()
}

fn choose() -> Vec<Trial> {
    let (x, y) = (floats(&[16, 64], 3), floats(&[16, 64], 4));
    let run = |first: bool, n: i64| {
        let (from, factor) = if first { (&x, 0.5) } else { (&y, -2.0) };
        let added = if n > 1 { (n * (n + 1) / 2) as f64 * 0.5 } else { 0.0 };
        let out = map(from, |v| v * factor + added);
        Trial::new().read(&x).read(&y).write(out, F32).int(i64::from(first)).int(n)
    };
    vec![run(true, 0), run(false, 1), run(true, 3), run(false, 2)]
}

fn table() -> Vec<Trial> {
    let run = |(i, value)| Trial::new().write(integers(Element::I32, &[value]), EXACT).int(i);
    [(0, 10), (3, 20), (1, -1), (2, -1), (-1, -1)].map(run).to_vec()
}

fn convert() -> Vec<Trial> {
    let x = noise(Element::F32, &[16, 64], 5, 1000.0);
    let half = cast(&x, Element::F16);
    let int = cast(&map(&x, f64::trunc), Element::I32);
    let short = cast(&map(&x, f64::round_ties_even), Element::I16);
    vec![Trial::new().read(&x).write(half, EXACT).write(int, EXACT).write(short, EXACT)]
}

fn scale() -> Vec<Trial> {
    let run = |n: usize| {
        let x = floats(&[n], n as u64);
        Trial::new().read(&x).write(map(&x, |v| v * 1.5), F32).int(n as i64).float(1.5)
    };
    [1, 7, 1024, 1025, 3000].map(run).to_vec()
}

fn reshaped() -> Vec<Trial> {
    let run = |n: usize| {
        let x = floats(&[1, n], n as u64);
        Trial::new().read(&x).int(n as i64).write(x, EXACT)
    };
    [1, 8, 333, 1024].map(run).to_vec()
}

fn fixpipe_store() -> Vec<Trial> {
    let (a, b) = (noise(Element::I8, &[32, 32], 6, 127.0), noise(Element::I8, &[32, 32], 7, 127.0));
    let sums = product(&a, &b);
    let before = noise(Element::I32, &[32, 32], 8, 1e6);
    let old = rows(&before);
    let ints = matrix(Element::I32, 32, 32, |r, c| old[r][c] + sums[r][c]);
    let scale = 0.015_625_f32;
    let halves = matrix(Element::F16, 32, 32, |r, c| (sums[r][c] * f64::from(scale)).max(0.0));
    let scale = i64::from(scale.to_bits());
    vec![Trial::new().read(&a).read(&b).update(&before, ints, EXACT).write(halves, EXACT).int(scale)]
}

fn top_values() -> Vec<Trial> {
    let x = floats(&[1, 128], 9);
    let mut sorted = x.values();
    sorted.sort_by(|a, b| b.total_cmp(a));
    vec![Trial::new().read(&x).write(Tensor::of(Element::F32, &[1, 128], &sorted), EXACT).write(x, EXACT)]
}

fn row_maximum() -> Vec<Trial> {
    let x = floats(&[16, 64], 10);
    let largest = column(&x, |row| row.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    vec![Trial::new().read(&x).write(largest, EXACT)]
}

fn called_with_tiles() -> Vec<Trial> {
    let (x, y) = (floats(&[16, 64], 41), floats(&[16, 64], 42));
    let sum = zip(&x, &y, |x, y| y + f64::from(x.exp() as f32));
    vec![Trial::new().read(&x).update(&y, sum, F32)]
}

fn helper_call() -> Vec<Trial> {
    let x = floats(&[16, 64], 11);
    let run = |n: i64| {
        let m = n.clamp(0, 255);
        let scaled = map(&x, |v| v * m as f64);
        Trial::new().write(integers(Element::I32, &[m]), EXACT).read(&x).write(scaled, F32).int(n)
    };
    [-3, 17, 1000].map(run).to_vec()
}

fn layer_norm() -> Vec<Trial> {
    let (x, gamma, beta) = (floats(&[16, 128], 12), floats(&[1, 128], 13), floats(&[1, 128], 14));
    let (weight, shift) = (gamma.values(), beta.values());
    let normal = by_row(&x, |row| {
        let mean = row.iter().sum::<f64>() / 128.0;
        let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 128.0;
        let root = (variance + 1e-5).sqrt();
        row.iter().zip(weight.iter().zip(&shift)).map(|(v, (w, s))| (v - mean) / root * w + s).collect()
    });
    vec![Trial::new().read(&x).read(&gamma).read(&beta).write(normal, (1e-5, 2e-6))]
}

fn histogram() -> Vec<Trial> {
    let run = |n: usize| {
        let values: Vec<i64> = (0..n as i64).map(|i| i * i * 5 + i / 3).collect();
        let mut counts = [0; 4];
        let counted: Vec<i64> = values
            .iter()
            .map(|v| {
                counts[(v & 3) as usize] += 1;
                counts[(v & 3) as usize]
            })
            .collect();
        let before = integers(Element::I32, &values);
        Trial::new().update(&before, integers(Element::I32, &counted), EXACT).int(n as i64)
    };
    [1, 50].map(run).to_vec()
}

fn carried() -> Vec<Trial> {
    let run = |n: usize| {
        let values = noise(Element::I32, &[n.max(2)], 15, 1000.0);
        let list = values.values();
        let sum: f64 = list[..n].iter().sum();
        let positive = list[..n].iter().filter(|v| **v > 0.0).count() as f64;
        let after = from(Element::I32, &values.shape, |at| [sum, positive].get(at).copied().unwrap_or(list[at]));
        Trial::new().update(&values, after, EXACT).int(n as i64)
    };
    [0, 1, 40].map(run).to_vec()
}

fn fibonacci() -> Vec<Trial> {
    let run = |n: i64| {
        let (mut a, mut b) = (0i32, 1i32);
        for _ in 0..n {
            (a, b) = (b, a.wrapping_add(b));
        }
        Trial::new().write(integers(Element::I32, &[i64::from(a)]), EXACT).int(n)
    };
    [0, 1, 10, 60].map(run).to_vec()
}

fn swapped() -> Vec<Trial> {
    let run = |n: i64| {
        let pair = if n % 2 == 0 { [7, -9] } else { [-9, 7] };
        Trial::new().write(integers(Element::I32, &pair), EXACT).int(n).int(7).int(-9)
    };
    [0, 1, 2, 7].map(run).to_vec()
}

fn accumulated() -> Vec<Trial> {
    let x = floats(&[16, 64], 16);
    let run = |n: i64| Trial::new().read(&x).write(map(&x, |v| v * n as f64), F32).int(n);
    [0, 1, 5].map(run).to_vec()
}

fn masks() -> Vec<Trial> {
    // Quotients next to a whole number would make the remainder depend on the last bit.
    let mut candidates = noise(Element::F32, &[4096], 17, 1.0).values().into_iter().map(f64::abs);
    let mut good = || {
        let ok = |d: &f64| *d > 0.2 && (0.01..0.99).contains(&(1.0 / d / d).fract());
        candidates.find(ok).expect("there are enough candidates")
    };
    let larger: Vec<f64> = (0..1024).map(|_| good()).collect();
    let smaller = floats(&[1024], 18).values();
    let less = |at: usize| if smaller[at] < larger[at] { smaller[at] } else { -smaller[at] };
    let x = from(Element::F32, &[16, 64], |at| if at % 3 == 0 { less(at) } else { larger[at] });
    let y = from(Element::F32, &[16, 64], |at| if at % 3 == 0 { larger[at] } else { less(at) });
    let out = zip(&x, &y, |p, q| {
        let d = if p > q { p } else { q };
        let a = 1.0 / d;
        a + d + a + (a - (a / d).floor() * d)
    });
    vec![Trial::new().read(&x).read(&y).write(out, (2e-6, 1e-5))]
}

fn matmul_k_loop() -> Vec<Trial> {
    let run = |k: usize| {
        let (a, b) = (noise(Element::F16, &[64, k], 19, 1.0), noise(Element::F16, &[k, 128], 20, 1.0));
        let c = product(&a, &b);
        let c = matrix(Element::F32, 64, 128, |r, col| c[r][col]);
        Trial::new().read(&a).read(&b).write(c, (2e-6, 4e-6)).int(k as i64)
    };
    [64, 192].map(run).to_vec()
}

/// Both vector cores run the section: each gets its own half of the output.
const MIXED_SECTIONS: &str = "
extern \"C\" __global__ AICORE void launch_it(__gm__ half* x, __gm__ half* y, int64_t n) {
  using Window = GlobalTensor<half, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<-1, -1, -1, -1, -1>, pto::Layout::ND>;
  const Window::Stride dense(256, 256, 256, 16, 1);
  both(Window(x, Window::Shape(), dense), Window(y + get_subblockid() * 256, Window::Shape(), dense), n);
}
";

fn mixed_sections() -> Vec<Trial> {
    let x = noise(Element::F16, &[16, 16], 21, 1.0);
    let halved = map(&x, |v| v * 0.5).values();
    let twice = Tensor::of(Element::F16, &[2, 16, 16], &[halved.as_slice(), &halved].concat());
    let run = |n: i64| Trial::new().read(&x).write(twice.clone(), EXACT).int(n);
    [0, 2].map(run).to_vec()
}

fn rotate() -> Vec<Trial> {
    let run = |blocks: usize| {
        let x = floats(&[16 * blocks, 64], 22);
        Trial::new().read(&x).write(map(&x, |v| v * 3.0), F32).int(16 * blocks as i64)
    };
    [2, 3, 6].map(run).to_vec()
}

fn narrow_integers() -> Vec<Trial> {
    let run = |(a, b, n, far): (i8, i8, i64, usize)| {
        let half = a.wrapping_add(b) as u8 >> b;
        let larger = half.max(a as u8);
        let product = (i32::from(larger as i8) * i32::from(larger)) as i8;
        let before = noise(Element::I8, &[64], 23, 127.0);
        let old = before.values();
        let after = from(Element::I8, &[64], |at| match at {
            at if at == far => -128.0,
            at if (at as i64) < n => f64::from(product),
            at => old[at],
        });
        Trial::new().update(&before, after, EXACT).int(i64::from(a)).int(i64::from(b)).int(n).int(far as i64)
    };
    [(100, 3, 5, 40), (-56, 2, 64, 0), (-128, 7, 0, 63), (127, 1, 1, 1)].map(run).to_vec()
}

fn own_flags() -> Vec<Trial> {
    let x = floats(&[16, 64], 24);
    let run = |id: i64| Trial::new().read(&x).write(map(&x, f64::exp), F32).int(id);
    [1, 7].map(run).to_vec()
}

/// The accumulator that is pushed comes from a product by the identity; each vector core stores its own half.
const POP_STORE: &str = "
extern \"C\" __global__ AICORE void launch_it(__gm__ float* x, __gm__ float* one, __gm__ float* out) {
  Tile<TileType::Acc, float, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor, 1024> acc;
  TASSIGN<0x0>(acc);
#if defined(__DAV_CUBE__)
  Tile<TileType::Mat, float, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor> from;
  Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> identity;
  TileLeft<float, 16, 16> left;
  TileRight<float, 16, 64> right;
  TASSIGN<0x0>(from);
  TASSIGN<0x1000>(identity);
  TASSIGN<0x0>(left);
  TASSIGN<0x0>(right);
  GlobalTensor<float, pto::Shape<1, 1, 1, 16, 64>, pto::Stride<1024, 1024, 1024, 64, 1>> values(x);
  GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>> ones(one);
  TLOAD(from, values);
  TLOAD(identity, ones);
  pipe_barrier(PIPE_ALL);
  TMOV(left, identity);
  TMOV(right, from);
  pipe_barrier(PIPE_ALL);
  TMATMUL(acc, left, right);
  pipe_barrier(PIPE_ALL);
#endif
  produce(acc);
  using Window = GlobalTensor<float, pto::Shape<1, 1, 1, 8, 64>, pto::Stride<-1, -1, -1, -1, -1>, pto::Layout::ND>;
  consume(Window(out + get_subblockid() * 512, Window::Shape(), Window::Stride(512, 512, 512, 64, 1)));
}
";

fn pop_store() -> Vec<Trial> {
    let x = floats(&[16, 64], 25);
    let one = matrix(Element::F32, 16, 16, |r, c| f64::from(u8::from(r == c)));
    vec![Trial::new().read(&x).read(&one).write(x, EXACT)]
}

fn push_pop() -> Vec<Trial> {
    let (a, b) = (noise(Element::F16, &[16, 64], 26, 0.5), noise(Element::F16, &[64, 64], 27, 0.5));
    let c = product(&a, &b);
    let out = matrix(Element::F32, 16, 64, |r, col| c[r][col].exp());
    vec![Trial::new().scratch(8 * 4096).read(&a).read(&b).write(out, (5e-6, 0.0))]
}

fn scalar_integers() -> Vec<Trial> {
    let run = |(a, b, i, j): (i32, i32, i64, i64)| {
        let sum = a.wrapping_add(b);
        let index = (i + 3).div_euclid(4) + (i as f64 / j as f64).floor() as i64 % 3;
        let mut p = [0; 64];
        p[0] = sum.wrapping_mul(-7);
        p[1] = a.wrapping_sub(a.wrapping_sub(sum));
        p[2] = (a << b & sum) ^ a;
        p[3] = ((a as u32 / b as u32) >> a) as i32 >> b;
        p[4] = (index * 2) as i32;
        p[5] = i32::from(a < b && (a as u32) < b as u32);
        p[usize::try_from(index * 2).expect("inside")] = (a.max(b) as u32).min(-7_i32 as u32) as i32;
        let after: Vec<i64> = p.iter().copied().map(i64::from).collect();
        let before = integers(Element::I32, &[0; 64]);
        let trial = Trial::new().update(&before, integers(Element::I32, &after), EXACT);
        trial.int(a.into()).int(b.into()).int(i).int(j)
    };
    [(5, 3, 50, -7), (2, 30, 49, 8), (31, 1, 100, -33)].map(run).to_vec()
}

fn scalar_floats() -> Vec<Trial> {
    let run = |(x, y, n): (f32, f32, i32)| {
        let quotient = (x + y) * 1e-6 / (x + y);
        let half = Tensor::of(Element::F16, &[1], &[f64::from(n)]).values()[0];
        let p = [quotient, -quotient, if x == y { y } else { x }, half as f32].map(f64::from);
        let halves = from(Element::F16, &[8], |at| if at == 3 { half } else { 0.0 });
        let trial = Trial::new().write(Tensor::of(Element::F32, &[4], &p), EXACT);
        let trial = trial.update(&Tensor::zeros(Element::F16, &[8]), halves, EXACT);
        trial.float(x.into()).float(y.into()).int(n.into())
    };
    [(1.5, 2.25, 7), (3.0, -1.0, 2049), (0.5, 0.5, 65000)].map(run).to_vec()
}

fn scalar_memory() -> Vec<Trial> {
    let (n, skip) = (10, 3);
    let (src, bits) = (floats(&[16], 28), noise(Element::I32, &[20], 29, 2e9));
    let (values, raw) = (src.values(), bits.values());
    let as_float = |v: f64| f64::from(f32::from_bits(v as i32 as u32));
    let dst = from(Element::F32, &[20], |at| if at < n { values[at + skip] } else { as_float(raw[at]) });
    vec![Trial::new().read(&src).write(dst, EXACT).read(&bits).int(n as i64).int(skip as i64)]
}

fn subviews() -> Vec<Trial> {
    let x = floats(&[16, 64], 30);
    let run = |(row, n): (usize, usize)| {
        let mut t = rows(&x);
        for r in 0..8 {
            t[r] = (0..64).map(|c| t[r][c] + t[r + 8][c]).collect();
        }
        t[row..row + 8].iter_mut().flatten().for_each(|v| *v *= 2.0);
        t[row..row + n].iter_mut().flatten().for_each(|v| *v += 2.0);
        let y = matrix(Element::F32, 16, 64, |r, c| t[r][c]);
        Trial::new().read(&x).write(y, F32).int(row as i64).int(n as i64)
    };
    [(4, 5), (0, 8), (8, 1)].map(run).to_vec()
}

fn alternating() -> Vec<Trial> {
    let x = floats(&[16, 64], 31);
    let run = |n: i64| Trial::new().read(&x).write(map(&x, |v| v + n as f64), (1e-6, 1e-6)).int(n);
    [0, 1, 4].map(run).to_vec()
}

fn chosen() -> Vec<Trial> {
    let x = floats(&[16, 64], 32);
    let run = |p: i64| Trial::new().read(&x).write(map(&x, |v| v + 1.0 + v), (1e-6, 2e-7)).int(p);
    [0, 1].map(run).to_vec()
}

fn columns() -> Vec<Trial> {
    let x = floats(&[16, 64], 33);
    vec![Trial::new().read(&x).write(x, EXACT)]
}

fn transpose() -> Vec<Trial> {
    let x = floats(&[64, 16], 34);
    vec![Trial::new().read(&x).write(transposed(&x), EXACT)]
}

fn vector_add() -> Vec<Trial> {
    let run = |blocks: usize| {
        let (x, y) = (floats(&[32 * blocks, 64], 35), floats(&[32 * blocks, 64], 36));
        let sum = zip(&x, &y, |a, b| a + b);
        Trial::new().read(&x).read(&y).write(sum, EXACT).int(32 * blocks as i64).blocks(blocks)
    };
    [1, 4].map(run).to_vec()
}
