//! Single statements of random programs.

use super::source::{Form, Lie, Source, Tile};

type Scope = Vec<Tile>;

/// Forms that are loaded.
const FORMS: [(u64, u64, &str); 9] = [
    (16, 16, "FP32"),
    (16, 16, "FP32"),
    (8, 16, "FP32"),
    (16, 8, "FP32"),
    (8, 8, "FP32"),
    (1, 16, "FP32"),
    (1, 9, "FP32"),
    (16, 16, "BF16"),
    (8, 32, "BF16"),
];

/// Writes one statement; nothing when it finds no tiles for it.
pub fn statement(source: &mut Source, scope: &mut Scope, cube: bool) {
    let kind = source.random.below(100);
    let _: Option<()> = match kind {
        0..15 => load(source, scope),
        15..17 => create(source, scope),
        17..40 => elementwise(source, scope),
        40..47 => apart(source, scope),
        47..51 => row_sum(source, scope),
        51..55 => cast(source, scope),
        55..60 => reshape(source, scope),
        60..70 => slice(source, scope),
        70..76 => assemble(source, scope),
        76..79 => fill_in_place(source, scope),
        79..81 => pop(source, scope),
        81..83 => other_name(source, scope),
        83..90 => store(source, scope),
        _ if cube => matmul(source, scope),
        _ => elementwise(source, scope),
    };
}

fn in_vec(tile: &Tile) -> bool {
    tile.form.space == "Vec" && tile.lie != Lie::Empty
}

fn dense(tile: &Tile) -> bool {
    in_vec(tile) && tile.lie == Lie::Dense
}

pub fn load(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let (rows, columns, dtype) = source.random.of(&FORMS)?;
    let value = format!("pl.tile.load(x, [0, 0], [{rows}, {columns}], [{rows}, {columns}], target_memory=pl.Mem.Vec)");
    source.assign(scope, Form::vec(rows, columns, dtype), &value);
    Some(())
}

/// A tile that may begin a loop although nothing was written to it.
fn create(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let value = "pl.tile.create([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)";
    source.assign(scope, Form::vec(16, 16, "FP32"), value);
    scope.last_mut()?.lie = Lie::Empty;
    Some(())
}

fn elementwise(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = source.pick(scope, in_vec)?;
    let b = source.pick(scope, |t| t.form == a.form && t.lie != Lie::Empty)?;
    let value = match source.random.below(3) {
        0 => format!("pl.tile.exp({})", a.name),
        1 => format!("pl.tile.muls({}, 2.0)", a.name),
        _ => format!("pl.tile.add({}, {})", a.name, b.name),
    };
    source.assign(scope, a.form, &value);
    Some(())
}

/// Operations that may not write over all they read.
fn apart(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = source.pick(scope, in_vec)?;
    let b = source.pick(scope, |t| t.form == a.form && t.lie != Lie::Empty)?;
    let (form, value) = match source.random.below(4) {
        0 => (a.form, format!("pl.tile.recip({})", a.name)),
        1 => (a.form, format!("pl.tile.move({}, target_memory=pl.Mem.Vec)", a.name)),
        2 if a.form.columns <= 16 => {
            let form = Form { columns: a.form.columns * 2, ..a.form };
            (form, format!("pl.tile.concat({}, {})", a.name, b.name))
        }
        _ => (a.form, format!("pl.tile.row_expand_mul({}, {})", a.name, b.name)),
    };
    source.assign(scope, form, &value);
    Some(())
}

/// With working memory, whose content is lost.
fn row_sum(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = source.pick(scope, |t| in_vec(t) && t.form.dtype == "FP32" && t.form.rows % 8 == 0)?;
    let Form { rows, columns, .. } = a.form;
    let value = format!("pl.tile.create([{rows}, {columns}], dtype=pl.FP32, target_memory=pl.Mem.Vec)");
    let tmp = source.assign(scope, a.form, &value);
    scope.pop();
    source.assign(scope, Form { columns: 1, ..a.form }, &format!("pl.tile.row_sum({}, {})", a.name, tmp.name));
    Some(())
}

fn cast(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = source.pick(scope, |t| in_vec(t) && t.form.columns % 16 == 0)?;
    let dtype = if a.form.dtype == "FP32" { "BF16" } else { "FP32" };
    let value = format!("pl.tile.cast({}, target_type=pl.{dtype}, mode='rint')", a.name);
    source.assign(scope, Form { dtype, ..a.form }, &value);
    Some(())
}

fn reshape(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = source.pick(scope, |t| dense(t) && t.form.rows % 2 == 0 && t.form.columns <= 32)?;
    let form = Form { rows: a.form.rows / 2, columns: a.form.columns * 2, ..a.form };
    let value = format!("pl.tile.reshape({}, [{}, {}])", a.name, form.rows, form.columns);
    source.view(scope, &a, form, Lie::Dense, &value);
    Some(())
}

fn slice(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = source.pick(scope, |t| dense(t) && t.form.row_bytes() % 32 == 0)?;
    let Form { rows, columns, .. } = a.form;
    if source.random.chance(30) && a.form.row_bytes() % 64 == 0 {
        let half = columns / 2;
        let value = format!("pl.tile.slice({}, [{rows}, {half}], [0, {}])", a.name, half * source.random.below(2));
        let lie = if rows == 1 { Lie::Dense } else { Lie::Gaps };
        source.view(scope, &a, Form { columns: half, ..a.form }, lie, &value);
        return Some(());
    }
    // Loops run at most three times here, so their indices stay below 4.
    if let Some(index) = source.indices.last().cloned()
        && rows >= 4
        && source.random.chance(40)
    {
        let value = format!("pl.tile.slice({}, [1, {columns}], [{index}, 0])", a.name);
        source.view(scope, &a, Form { rows: 1, ..a.form }, Lie::Dense, &value);
        // Where it is must not be asked again once the index has changed.
        if let Some(last) = scope.last_mut() {
            last.lie = Lie::Gaps;
        }
        return Some(());
    }
    let count = 1 + source.random.below(rows);
    let first = source.random.below(rows - count + 1);
    let value = format!("pl.tile.slice({}, [{count}, {columns}], [{first}, 0])", a.name);
    source.view(scope, &a, Form { rows: count, ..a.form }, Lie::Dense, &value);
    Some(())
}

/// A tile of this loop body that may be changed in place.
fn own(source: &mut Source, scope: &Scope, fits: impl Fn(&Tile) -> bool) -> Option<Tile> {
    let home = source.home;
    source.pick(scope, |t| t.home == Some(home) && t.lie == Lie::Dense && fits(t))
}

fn assemble(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = own(source, scope, in_vec)?;
    let inside = |f: &Form| f.dtype == a.form.dtype && f.rows <= a.form.rows && f.columns <= a.form.columns;
    let b = source.pick(scope, |t| in_vec(t) && !t.shares(&a) && inside(&t.form))?;
    let row = source.random.below(a.form.rows - b.form.rows + 1);
    let value = format!("pl.tile.assemble({}, {}, [{row}, 0])", a.name, b.name);
    source.replace(scope, &a, &value);
    Some(())
}

fn fill_in_place(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = own(source, scope, in_vec)?;
    source.replace(scope, &a, &format!("pl.tile.fillpad_inplace({})", a.name));
    Some(())
}

/// A tile in a queue, read once.
fn pop(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let form = Form::vec(16, 16, "FP32");
    let popped = source.assign(scope, form, "pl.tile.tpop_from_aic(split=0)");
    scope.pop();
    source.assign(scope, form, &format!("pl.tile.adds({}, 1.0)", popped.name));
    source.line(&format!("pl.system.tfree_to_aic({}, split=0)", popped.name));
    Some(())
}

fn other_name(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = source.pick(scope, dense)?;
    source.view(scope, &a, a.form, Lie::Dense, &a.name);
    Some(())
}

/// Reads a tile.
pub fn store(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let a = source.pick(scope, |t| matches!(t.form.space, "Vec" | "Acc") && t.lie != Lie::Empty)?;
    source.line(&format!("pl.tile.store({}, [0, 0], out)", a.name));
    Some(())
}

/// A product, added to an accumulator when there is one that may be changed.
fn matmul(source: &mut Source, scope: &mut Scope) -> Option<()> {
    let dtype = if source.random.chance(25) { "INT32" } else { "FP32" };
    let rows = source.random.of(&[4, 16])?;
    let form = |rows, space| Form { rows, columns: 16, dtype: "BF16", space };
    let mut sides = Vec::new();
    for (rows, space) in [(rows, "Left"), (16, "Right")] {
        let shape = format!("[{rows}, 16]");
        let value = format!("pl.tile.load(x, [0, 0], {shape}, {shape}, target_memory=pl.Mem.Mat)");
        let mat = source.pick(scope, |t| t.form == form(rows, "Mat"));
        let mat = mat.unwrap_or_else(|| source.assign(scope, form(rows, "Mat"), &value));
        let value = format!("pl.tile.move({}, target_memory=pl.Mem.{space})", mat.name);
        let side = source.pick(scope, |t| t.form == form(rows, space)).filter(|_| dtype == "FP32");
        sides.push(side.unwrap_or_else(|| source.assign(scope, form(rows, space), &value)));
    }
    let operands: Vec<&str> = sides.iter().map(|t| t.name.as_str()).collect();
    let operands = operands.join(", ");
    let result = Form { rows, columns: 16, dtype, space: "Acc" };
    match own(source, scope, |t| t.form == result) {
        Some(acc) => source.replace(scope, &acc, &format!("pl.tile.matmul_acc({}, {operands})", acc.name)),
        None => {
            source.assign(scope, result, &format!("pl.tile.matmul({operands})"));
        }
    }
    Some(())
}
