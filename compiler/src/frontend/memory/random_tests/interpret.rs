//! Runs a placed function on concrete memory: each cell holds a mark of the value that was written there.
//!
//! Beside the memory, each variable has the marks that it should find: those of a language in which values are never
//! changed. A read that finds others is a fault. So is a result that lies on an argument it may not replace. What
//! operations do is written down here once more, so that a mistake in the table of operations shows.

use super::{
    cells::{CELL, Place},
    random::Random,
};
use crate::frontend::ast::{
    BinaryOp, Block, Call, Expr, ExprKind, Function, MemRef, MemorySpace, Stmt, StmtKind, VarId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Runs of a function that has loops or branches.
const RUNS: u64 = 12;

/// What goes wrong when a function is run: with all loops left out, with all as long as they get, and in between.
pub fn faults(function: &Function) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for run in 0..RUNS {
        let mut machine = Machine::new(function, run);
        if let Some(body) = &function.body {
            machine.block(body);
        }
        found.extend(machine.faults);
        if !machine.chose {
            break;
        }
    }
    found
}

/// A variable's place and the marks it should find there; 0 for what nobody wrote. Popped tiles have no place.
#[derive(Clone, Debug)]
struct Value {
    place: Option<Place>,
    marks: Vec<u32>,
}

struct Machine<'a> {
    function: &'a Function,
    memory: BTreeMap<MemorySpace, Vec<u32>>,
    values: BTreeMap<VarId, Value>,
    numbers: BTreeMap<VarId, i64>,
    next: u32,
    run: u64,
    random: Random,
    /// Whether there was any choice.
    chose: bool,
    faults: Vec<String>,
}

impl<'a> Machine<'a> {
    fn new(function: &'a Function, run: u64) -> Self {
        Self {
            function,
            memory: BTreeMap::new(),
            values: BTreeMap::new(),
            numbers: BTreeMap::new(),
            next: 0,
            run,
            random: Random::new(run),
            chose: false,
            faults: Vec::new(),
        }
    }

    fn choose(&mut self, bound: u64) -> u64 {
        self.chose = true;
        match self.run {
            0 => 0,
            1 => bound - 1,
            _ => self.random.below(bound),
        }
    }

    /// Runs a block; what it yields.
    fn block(&mut self, block: &Block) -> Vec<Option<Value>> {
        for stmt in block {
            if let StmtKind::Yield(values) = &stmt.kind {
                return values.iter().map(|e| self.values.get(&e.as_var()?).cloned()).collect();
            }
            self.stmt(stmt);
        }
        Vec::new()
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value } => self.assign(*target, value, stmt),
            StmtKind::Eval(value) => value.vars().into_iter().for_each(|v| self.read(v, stmt)),
            StmtKind::If { then, otherwise, results, .. } => {
                let none = Block::new();
                let side = if self.choose(2) == 1 { then } else { otherwise.as_ref().unwrap_or(&none) };
                let yielded = self.block(side);
                self.bind(results, yielded, stmt);
            }
            StmtKind::For(f) => {
                let mut carried: Vec<Option<Value>> =
                    f.inits.iter().map(|e| self.values.get(&e.as_var()?).cloned()).collect();
                for trip in 0..self.choose(4) {
                    self.numbers.insert(f.index, i64::try_from(trip).expect("few trips"));
                    self.bind(&f.carried, carried, stmt);
                    carried = self.block(&f.body);
                }
                self.bind(&f.results, carried, stmt);
            }
            _ => {}
        }
    }

    /// Joined and carried values are read at places of their own.
    fn bind(&mut self, vars: &[VarId], values: Vec<Option<Value>>, stmt: &Stmt) {
        for (&var, value) in vars.iter().zip(values) {
            let Some(value) = value else { continue };
            let place = self.stated(var);
            if place.map(|p| (p.rows, p.columns)) != value.place.map(|p| (p.rows, p.columns)) {
                self.fault(stmt, &format!("'{}' has another shape than its value", self.function.var(var).name));
            }
            self.values.insert(var, Value { place, ..value });
        }
    }

    fn assign(&mut self, target: VarId, value: &Expr, stmt: &Stmt) {
        if self.function.var(target).ty.tile().is_none() {
            return;
        }
        if let Some(source) = value.as_var() {
            return self.name_again(target, source, stmt);
        }
        let Some(call) = value.as_call() else { return };
        let argument = |index: usize| call.args.get(index).and_then(Expr::as_var);
        match (call.op().unwrap_or_default(), argument(0)) {
            ("tile.create", _) => {
                let place = self.stated(target);
                self.values.insert(target, Value { place, marks: vec![0; place.map_or(0, |p| p.count())] });
            }
            ("tile.tpop_from_aic", _) => {
                self.values.insert(target, Value { place: None, marks: Vec::new() });
            }
            ("tile.reshape", Some(source)) => self.name_again(target, source, stmt),
            ("tile.slice", Some(source)) => self.window(target, source, call, stmt),
            ("tile.assemble", Some(source)) => self.assemble(target, source, call, stmt),
            ("tile.matmul_acc" | "tile.fillpad_inplace", Some(source)) => {
                self.read_all(call, stmt);
                self.in_place(target, source, stmt);
                self.write(target, stmt);
            }
            (op, _) => self.compute(op, target, call, stmt),
        }
    }

    /// The same marks in the same cells, perhaps with other extents.
    fn name_again(&mut self, target: VarId, source: VarId, stmt: &Stmt) {
        let Some(value) = self.values.get(&source).cloned() else { return };
        self.in_place(target, source, stmt);
        self.values.insert(target, Value { place: self.stated(target), ..value });
    }

    /// Rows and columns of a tile, which lie where the tile has them.
    fn window(&mut self, target: VarId, source: VarId, call: &Call, stmt: &Stmt) {
        let Some(Value { place: Some(whole), marks }) = self.values.get(&source).cloned() else { return };
        let Some(own) = self.stated(target) else { return };
        let Some((row, column)) = self.origin(call, target, whole) else { return };
        let place = Place { start: whole.start + row * whole.pitch + column, pitch: whole.pitch, ..own };
        if place.start != own.start {
            self.fault(stmt, &format!("'{}' is said to lie elsewhere", self.function.var(target).name));
        }
        let relative = Place { start: row * whole.columns + column, pitch: whole.columns, ..own };
        let marks = relative.cells().map(|c| at(&marks, c)).collect();
        self.values.insert(target, Value { place: Some(place), marks });
    }

    fn assemble(&mut self, target: VarId, source: VarId, call: &Call, stmt: &Stmt) {
        let part = call.args.get(1).and_then(Expr::as_var);
        let (Some(mut value), Some(part)) = (self.values.get(&source).cloned(), part) else { return };
        self.read(part, stmt);
        self.in_place(target, source, stmt);
        let (Some(whole), Some(part)) = (self.stated(target), self.stated(part)) else { return };
        let Some((row, column)) = self.origin(call, target, whole) else { return };
        let mark = self.mark();
        let window = Place { rows: part.rows, columns: part.columns, ..whole };
        self.fill(Place { start: whole.start + row * whole.pitch + column, ..window }, mark);
        for cell in (Place { start: row * whole.columns + column, pitch: whole.columns, ..window }).cells() {
            value.marks[slot(cell)] = mark;
        }
        value.place = Some(whole);
        self.values.insert(target, value);
    }

    /// Everything else: arguments are read, working memory is spoilt, a result is written.
    fn compute(&mut self, op: &str, target: VarId, call: &Call, stmt: &Stmt) {
        let vars: Vec<Option<VarId>> = call.args.iter().map(Expr::as_var).collect();
        let scratch = if op == "tile.row_sum" { Some(1) } else { None };
        if let Some(Some(tmp)) = scratch.and_then(|i: usize| vars.get(i)) {
            self.write(*tmp, stmt);
        }
        let result = self.stated(target);
        for (index, var) in vars.iter().enumerate() {
            let Some(var) = *var else { continue };
            self.read(var, stmt);
            let Some(argument) = self.values.get(&var).and_then(|v| v.place) else { continue };
            let Some(result) = result.filter(|r| r.meets(argument)) else { continue };
            let larger = result.count() > argument.count();
            if result.start != argument.start || larger || is_apart(op, index) {
                let name = &self.function.var(var).name;
                self.fault(stmt, &format!("{op} writes over '{name}' while it reads it"));
            }
        }
        self.write(target, stmt);
    }

    fn write(&mut self, var: VarId, stmt: &Stmt) {
        let mark = self.mark();
        let Some(place) = self.stated(var) else {
            return self.fault(stmt, &format!("'{}' has no place", self.function.var(var).name));
        };
        let tile = self.function.var(var).ty.tile();
        let filled = tile.map_or(place, |t| place.filled_up(t.dtype.bits(), !t.dtype.is_float()));
        self.fill(filled, mark);
        self.values.insert(var, Value { place: Some(place), marks: vec![mark; place.count()] });
    }

    fn fill(&mut self, place: Place, mark: u32) {
        let memory = self.memory.entry(place.space).or_default();
        for run in place.runs() {
            let (start, end) = (slot(run.start), slot(run.end));
            if memory.len() < end {
                memory.resize(end, 0);
            }
            memory[start..end].fill(mark);
        }
    }

    fn read_all(&mut self, call: &Call, stmt: &Stmt) {
        call.args.iter().filter_map(Expr::as_var).for_each(|v| self.read(v, stmt));
    }

    fn read(&mut self, var: VarId, stmt: &Stmt) {
        let Some(Value { place: Some(place), marks }) = self.values.get(&var) else { return };
        let memory = self.memory.get(&place.space).map_or(&[][..], Vec::as_slice);
        if place.cells().zip(marks).any(|(cell, &mark)| mark != 0 && at(memory, cell) != mark) {
            self.fault(stmt, &format!("'{}' is read, but another value is there", self.function.var(var).name));
        }
    }

    /// A result that is said to be its source's bytes must be there.
    fn in_place(&mut self, target: VarId, source: VarId, stmt: &Stmt) {
        let from = self.values.get(&source).and_then(|v| v.place);
        if from.map(|p| (p.space, p.start)) != self.stated(target).map(|p| (p.space, p.start)) {
            self.fault(stmt, &format!("'{}' does not lie where its source does", self.function.var(target).name));
        }
    }

    fn mark(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn fault(&mut self, stmt: &Stmt, what: &str) {
        self.faults.push(format!("line {}: {what}", stmt.span.line));
    }

    /// Where the program says that a tile lies.
    fn stated(&self, var: VarId) -> Option<Place> {
        let tile = self.function.var(var).ty.tile()?;
        let MemRef::Part { offset, .. } = tile.memref.as_ref()? else { return None };
        let start = self.number(offset)?;
        let shape = tile.static_shape()?;
        let (rows, columns) = (i64::try_from(*shape.first()?).ok()?, i64::try_from(*shape.get(1)?).ok()?);
        let columns = columns * i64::try_from(tile.dtype.bits()).ok()? / 8 / CELL;
        Some(Place { space: tile.space?, start: start / CELL, pitch: columns, rows, columns })
    }

    /// A window's first row, and the cells in front of it in that row.
    fn origin(&self, call: &Call, target: VarId, whole: Place) -> Option<(i64, i64)> {
        let origin = call.args.get(2)?.as_elements()?;
        let (row, column) = (self.number(origin.first()?)?, self.number(origin.get(1)?)?);
        let bits = i64::try_from(self.function.var(target).ty.tile()?.dtype.bits()).ok()?;
        (row < whole.rows).then_some((row, column * bits / 8 / CELL))
    }

    fn number(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Var(var) => self.numbers.get(var).copied(),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                match op {
                    BinaryOp::Add => Some(a + b),
                    BinaryOp::Sub => Some(a - b),
                    BinaryOp::Mul => Some(a * b),
                    _ => None,
                }
            }
            _ => expr.as_int(),
        }
    }
}

fn at(marks: &[u32], cell: i64) -> u32 {
    marks.get(slot(cell)).copied().unwrap_or(0)
}

fn slot(cell: i64) -> usize {
    usize::try_from(cell).expect("cells are counted from 0")
}

/// Arguments that an operation's result may not lie on.
fn is_apart(op: &str, argument: usize) -> bool {
    match op {
        "tile.recip" | "tile.move" | "tile.concat" | "tile.row_sum" => true,
        "tile.row_expand_mul" => argument == 1,
        _ => false,
    }
}
