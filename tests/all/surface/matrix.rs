//! Matrix products, plain and with scales, for all triples of element types; and what leads to them and away: moves to
//! the operand memories, the fixpipe.

use super::build::{Case, Maker, Shape, Subject, Target};
use super::number::{Close, Data, Num, TYPES, Type, named, noise};
use super::row::{Row, row};

/// The operations.
pub const ROWS: &[Row] = &[
    row("tmatmul", product).wrong(other_triples),
    row("tmatmul.acc", product),
    row("tmatmul.bias", product),
    row("tgemv", product).wrong(other_triples),
    row("tgemv.acc", product),
    row("tgemv.bias", product),
];

/// Sum, left, right of the products that a target has.
const PRODUCTS: &[(&str, &str, &str)] =
    &[("i32", "i8", "i8"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "f32", "f32")];
const A5_PRODUCTS: &[(&str, &str, &str)] = &[
    ("f32", "f8e4m3", "f8e4m3"),
    ("f32", "f8e4m3", "f8e5m2"),
    ("f32", "f8e5m2", "f8e4m3"),
    ("f32", "f8e5m2", "f8e5m2"),
    ("f32", "hif8", "hif8"),
];

fn triples(target: Target) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    let more: &[(&str, &str, &str)] = if target == Target::A5 { A5_PRODUCTS } else { &[] };
    PRODUCTS.iter().chain(more)
}

const NZ: &str = "blayout=col_major, slayout=row_major";
const ACC: &str = "blayout=col_major, slayout=row_major, fractal=1024";

/// A whole number from -4 to 4 in a type; its bits where they are not read here.
fn small(ty: &'static Type, seed: u64, at: usize) -> (f64, Num) {
    let value = (noise(seed, at as u64) % 9) as f64 - 4.0;
    let number = match ty.name {
        // Codes of 0, 1, 2, 3 and 4.
        "hif8" => {
            let code = [0, 0x08, 0x10, 0x14, 0x20][value.abs() as usize];
            Num::I(if value < 0.0 { code | 0x80 } else { code })
        }
        _ if ty.is_integer() => Num::I(value as i128),
        _ => Num::F(value),
    };
    (value, number)
}

/// A matrix of such numbers: their values and their data.
fn matrix(ty: &'static Type, rows: usize, cols: usize, seed: u64) -> (Vec<Vec<f64>>, Data) {
    let values = (0..rows).map(|r| (0..cols).map(|c| small(ty, seed, r * cols + c).0).collect()).collect();
    (values, Data::new(ty, rows, cols, |r, c| small(ty, seed, r * cols + c).1))
}

/// Types and extents of a product.
struct Product {
    left: &'static Type,
    right: &'static Type,
    sum: &'static Type,
    /// Rows, length of the sums, columns.
    extents: (usize, usize, usize),
}

/// Extents of the tiles.
const TILE: (usize, usize, usize) = (32, 64, 64);

impl Product {
    fn shapes(&self, subject: &Subject) -> (Shape, Shape, Shape) {
        let (m, k, n) = self.extents;
        // A5 has left operands by columns of blocks.
        let left = if subject.is_a3() { "slayout=row_major" } else { NZ };
        (
            Shape::vec(self.left, TILE.0, TILE.1).valid(m, k).space("left").keys(left),
            Shape::vec(self.right, TILE.1, TILE.2).valid(k, n).space("right").keys("slayout=col_major"),
            Shape::vec(self.sum, TILE.0, TILE.2).valid(m, n).space("acc").keys(ACC),
        )
    }
}

/// The names of left, right and what is added in each form.
fn names(op: &str) -> (&'static str, &'static str) {
    if op.ends_with(".bias") { ("a", "b") } else { ("lhs", "rhs") }
}

fn product(_: &Row, subject: &Subject) -> Vec<Case> {
    let mut cases = Vec::new();
    // Whatever is not a product at all is made with itself.
    let fits: Vec<_> = triples(subject.target).filter(|(_, left, _)| *left == subject.ty.name).collect();
    let other = ("f32", subject.ty.name, subject.ty.name);
    let fits = if fits.is_empty() { vec![&other] } else { fits };
    let vector = subject.op.starts_with("tgemv");
    let rows = if vector { 1 } else { TILE.0 };
    for (number, (sum, _, right)) in fits.into_iter().enumerate() {
        let product = |extents| Product { left: subject.ty, right: named(right), sum: named(sum), extents };
        let label = if number == 0 { String::new() } else { format!("by_{right}") };
        let parts = if vector { (1, 48, 37) } else { (19, 48, 37) };
        let whole = product((rows, TILE.1, TILE.2));
        cases.push(Case::join((0..2).map(|seed| one(subject, &whole, &label, seed))));
        cases.push(one(subject, &product(parts), &format!("{label}part"), 3));
    }
    cases
}

fn one(subject: &Subject, product: &Product, label: &str, seed: u64) -> Case {
    let mut maker = Maker::new(*subject, label);
    let (m, k, n) = product.extents;
    let (left, right, sum) = product.shapes(subject);
    let (l, r) = names(subject.op);
    let (a, a_data) = matrix(product.left, m, k, seed);
    let (b, b_data) = matrix(product.right, k, n, seed + 5);
    for (name, shape, data) in [(l, &left, &a_data), (r, &right, &b_data)] {
        let staged = format!("{name}_mat");
        let mat = shape.clone().space("mat").keys(NZ);
        maker.load(&staged, &mat, data);
        maker.tile(name, shape);
        maker.line(format!("pto.tmov ins(%{staged} : {}) outs(%{name} : {})", mat.text(), shape.text()));
    }
    maker.tile("dst", &sum);
    let (lt, rt, st) = (left.text(), right.text(), sum.text());
    let mut addend = vec![vec![0.0; n]; m];
    match subject.op.rsplit_once('.') {
        Some((plain, "acc")) => {
            // The first product is what the second adds to.
            maker.line(format!("pto.{plain} ins(%{l}, %{r} : {lt}, {rt}) outs(%dst : {st})"));
            maker.line(format!("pto.{}.acc ins(%dst, %{l}, %{r} : {st}, {lt}, {rt}) outs(%dst : {st})", plain));
        }
        Some((_, _)) => {
            let line = Shape::vec(product.sum, 1, TILE.2).valid(1, n);
            let (values, data) = matrix(product.sum, 1, n, seed + 7);
            let (mat, bias) = (line.clone().space("mat"), line.space("bias"));
            maker.load("bias_mat", &mat, &data);
            maker.tile("bias", &bias);
            maker.line(format!("pto.tmov ins(%bias_mat : {}) outs(%bias : {})", mat.text(), bias.text()));
            let types = format!("{lt}, {rt}, {}", bias.text());
            maker.line(format!("pto.{} ins(%{l}, %{r}, %bias : {types}) outs(%dst : {st})", subject.op));
            maker.names(["bias"]);
            addend = vec![values[0].clone(); m];
        }
        None => maker.line(format!("pto.{} ins(%{l}, %{r} : {lt}, {rt}) outs(%dst : {st})", subject.op)),
    }
    maker.names([l, r, "dst"]);
    let times = if subject.op.ends_with(".acc") { 2.0 } else { 1.0 };
    let want = Data::new(product.sum, m, n, |row, col| {
        let dot: f64 = (0..k).map(|i| a[row][i] * b[i][col]).sum();
        let value = times * dot + addend[row][col];
        if product.sum.is_integer() { Num::I(value as i128) } else { Num::F(value) }
    });
    maker.store("dst", &sum, &want, Close::Exact);
    maker.finish()
}

/// Every other triple of left, right and sum.
fn other_triples(row: &Row, target: Target) -> Vec<Case> {
    let vector = row.op.starts_with("tgemv");
    let mut cases = Vec::new();
    let legal = |sum: &Type, left: &Type, right: &Type| {
        triples(target).any(|(s, l, r)| *s == sum.name && *l == left.name && *r == right.name)
    };
    for left in TYPES.iter().filter(|ty| ty.is_in("i8 f16 bf16 f32 f8e4m3 f8e5m2 hif8")) {
        for right in TYPES.iter().filter(|ty| ty.is_in("i8 i16 f16 bf16 f32 f8e4m3 f8e5m2 hif8")) {
            for sum in [named("i32"), named("f32")].into_iter().filter(|sum| !legal(sum, left, right)) {
                let subject = Subject { op: row.op, target, ty: left };
                let mut maker = Maker::new(subject, &format!("{}_by_{}", sum.name, right.name));
                let m = if vector { 1 } else { TILE.0 };
                let product = Product { left, right, sum, extents: (m, TILE.1, TILE.2) };
                let (l, r, s) = product.shapes(&subject);
                maker.tile("lhs", &l);
                maker.tile("rhs", &r);
                maker.tile("dst", &s);
                maker.op(&[("lhs", l.text()), ("rhs", r.text())], &[("dst", s.text())], "");
                cases.push(maker.finish());
            }
        }
    }
    cases
}
