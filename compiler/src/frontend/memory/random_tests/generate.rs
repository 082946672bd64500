//! Random programs: straight lines, loops that carry tiles and numbers, branches that yield.

use super::{
    operations::{load, statement, store},
    random::Random,
    source::{Lie, Source, Tile},
};

/// Loops and branches are nested so deep.
const DEPTH: usize = 3;

const HEAD: &str = "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(x: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):\n";

/// The program of a seed. Every third one has products.
pub fn program(seed: u64) -> String {
    let mut source = Source::new(Random::new(seed));
    let mut scope = Vec::new();
    if source.random.chance(20) {
        source.line("q: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='q', size=1000, base=-1)");
    }
    load(&mut source, &mut scope);
    load(&mut source, &mut scope);
    let statements = 4 + source.random.below(12);
    block(&mut source, &mut scope, statements, seed.is_multiple_of(3));
    for _ in 0..4 {
        store(&mut source, &mut scope);
    }
    HEAD.to_owned() + &source.finish()
}

fn block(source: &mut Source, scope: &mut Vec<Tile>, statements: u64, cube: bool) {
    for _ in 0..statements {
        match source.random.below(100) {
            0..10 if source.depth < DEPTH => repeat(source, scope, cube),
            10..20 if source.depth < DEPTH => branch(source, scope, cube),
            _ => statement(source, scope, cube),
        }
    }
}

/// A loop with up to three carried tiles, at times a carried number.
fn repeat(source: &mut Source, scope: &mut Vec<Tile>, cube: bool) {
    let carried = source.random.below(4);
    let inits: Vec<Tile> = (0..carried).filter_map(|_| carriable(source, scope, true)).collect();
    let count = source.random.chance(20);
    let number = source.number();
    let home = std::mem::replace(&mut source.home, number);
    let mut inside = scope.clone();
    let mut names = Vec::new();
    for init in &inits {
        let fresh = source.number();
        names.push(format!("t{fresh}"));
        let tile =
            Tile { name: format!("t{fresh}"), data: vec![fresh], home: Some(number), lie: Lie::Dense, ..init.clone() };
        inside.push(tile);
    }
    let mut values: Vec<String> = inits.iter().map(|t| t.name.clone()).collect();
    if count {
        names.push(format!("s{number}"));
        values.push("n".to_owned());
    }
    let index = format!("i{number}");
    if names.is_empty() {
        source.line(&format!("for {index} in pl.range(4):"));
    } else {
        let (names, values) = (names.join(", "), values.join(", "));
        source.line(&format!("for {index}, ({names},) in pl.range(4, init_values=({values},)):"));
    }
    source.indices.push(index);
    source.depth += 1;
    let statements = 1 + source.random.below(5);
    block(source, &mut inside, statements, cube);
    let mut yields: Vec<Tile> = inits.iter().map(|init| like(source, &mut inside, init)).collect();
    if !yields.is_empty() || count {
        let results = results(source, &inits);
        let number = count.then(|| (format!("r{number}"), format!("s{number} + 1")));
        yield_all(source, &results, &yields, number);
        for (result, init) in results.into_iter().zip(yields.drain(..)) {
            scope.push(Tile { home: Some(home), ..Tile { name: result, ..init } });
            if let (Some(last), fresh) = (scope.last_mut(), source.number()) {
                last.data = vec![fresh];
            }
        }
    } else {
        store(source, &mut inside);
        source.line("pass");
    }
    source.depth -= 1;
    source.indices.pop();
    source.home = home;
    source.forget(scope);
}

fn branch(source: &mut Source, scope: &mut Vec<Tile>, cube: bool) {
    let count = source.random.below(3);
    let forms: Vec<Tile> = (0..count).filter_map(|_| carriable(source, scope, false)).collect();
    let results = results(source, &forms);
    let mut sides: Vec<Vec<Tile>> = Vec::new();
    for head in ["if n > 2:", "else:"] {
        source.line(head);
        source.depth += 1;
        let mut inside = scope.clone();
        let statements = 1 + source.random.below(4);
        block(source, &mut inside, statements, cube);
        let yields: Vec<Tile> = forms.iter().map(|form| like(source, &mut inside, form)).collect();
        if yields.is_empty() {
            store(source, &mut inside);
            source.line("pass");
        } else {
            yield_all(source, &results, &yields, None);
        }
        source.depth -= 1;
        sides.push(yields);
    }
    source.forget(scope);
    let (then, otherwise) = (sides.swap_remove(0), sides.remove(0));
    for ((result, a), b) in results.into_iter().zip(then).zip(otherwise) {
        // It may be either, so ending the one ends the other.
        let data = a.data.iter().chain(&b.data).copied().collect();
        let home = if a.home == b.home { a.home } else { None };
        scope.push(Tile { name: result, data, home, ..a });
    }
    source.forget(scope);
}

/// A tile whose form a loop may carry or a branch may yield.
fn carriable(source: &mut Source, scope: &[Tile], even_empty: bool) -> Option<Tile> {
    let lies = |t: &Tile| t.lie == Lie::Dense || even_empty && t.lie == Lie::Empty;
    source.pick(scope, |t| lies(t) && matches!(t.form.space, "Vec" | "Acc"))
}

/// A tile of a form, made when there is none.
fn like(source: &mut Source, scope: &mut Vec<Tile>, wanted: &Tile) -> Tile {
    let found = source.pick(scope, |t| t.form == wanted.form && t.lie == Lie::Dense);
    if let Some(found) = found {
        return found;
    }
    let form = wanted.form;
    let value = match form.space {
        "Vec" => format!("pl.tile.full([{}, {}], dtype=pl.{}, value=0.0)", form.rows, form.columns, form.dtype),
        space => format!(
            "pl.tile.create([{}, {}], dtype=pl.{}, target_memory=pl.Mem.{space})",
            form.rows, form.columns, form.dtype
        ),
    };
    source.assign(scope, form, &value)
}

fn results(source: &mut Source, forms: &[Tile]) -> Vec<String> {
    forms.iter().map(|_| format!("t{}", source.number())).collect()
}

fn yield_all(source: &mut Source, results: &[String], tiles: &[Tile], number: Option<(String, String)>) {
    let mut names = results.to_vec();
    let mut values: Vec<String> = tiles.iter().map(|t| t.name.clone()).collect();
    let ty = match (tiles, &number) {
        ([tile], None) => format!(": {}", tile.form),
        ([], Some(_)) => ": pl.Scalar[pl.INDEX]".to_owned(),
        _ => String::new(),
    };
    if let Some((name, value)) = number {
        names.push(name);
        values.push(value);
    }
    source.line(&format!("{}{ty} = pl.yield_({})", names.join(", "), values.join(", ")));
}
