//! Placed programs to the `pto` dialect.
//!
//! One function of the module for each kernel function. Parameters: tensors as pointers, then scalars, then one index
//! for each dynamic extent, then what the runtime gives (block and sub-block numbers), the order that PyPTO documents.
//! A tile variable becomes an `alloc_tile` at its address, so variables that share bytes repeat the address; values
//! that loops carry and branches yield stand at one address already, so only scalars are carried in the IR. Views at
//! offsets that are known only at run time stay views of their parent. Nothing is placed, checked or optimised here.
//!
//! Tests: `tests/cases/frontend/lower`.

mod build;
mod control;
mod elements;
mod gather;
mod global;
mod operations;
mod queues;
mod scalars;
mod signature;
mod system;
mod tiles;
mod types;
mod views;

use super::ast::{Call, Expr, ExprKind, Function, MemorySpace, Problem, Program, Span, Stmt, StmtKind, VarId};
use build::internal;
use melior::{
    Context,
    ir::{
        Block, BlockLike, BlockRef, Location, Module, OperationRef, Region, RegionLike, Value,
        operation::{OperationBuilder, OperationLike},
    },
    pass::PassManager,
};
use scalars::Scalar;
use std::collections::{HashMap, HashSet};

/// The buffer of slots in global memory, a parameter that the front-end adds for queues.
const GM_PIPE_BUFFER: &str = "__gm_pipe_buffer";

/// Lowers every function for which `wanted` holds; `file` is what locations call the text.
pub fn lower<'c>(
    context: &'c Context,
    program: &Program,
    file: &str,
    wanted: &dyn Fn(&Function) -> bool,
) -> Result<Module<'c>, Vec<Problem>> {
    let mut module = Module::new(Location::new(context, file, 1, 1));
    let mut problems = Vec::new();
    for function in program.functions.iter().filter(|f| wanted(f)) {
        match Lowering::start(context, &module, program, function, file) {
            Ok(mut lowering) => {
                lowering.gm_slot_offsets = queues::gm_slot_offsets(program, function);
                lowering.finish();
                problems.append(&mut lowering.problems);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    fold(context, &mut module)?;
    Ok(module)
}

/// Index arithmetic of the front-end has many constants, its loops are often of one trip: MLIR folds both.
fn fold(context: &Context, module: &mut Module) -> Result<(), Vec<Problem>> {
    let manager = PassManager::new(context);
    manager.enable_verifier(false);
    manager.add_pass(pto_dialect::passes::canonicalize());
    manager.run(module).map_err(|e| vec![internal(format!("canonicalization: {e}"))])
}

/// What a variable of the program is in the dialect.
#[derive(Clone, Copy)]
enum Bound<'c, 'a> {
    Scalar(Scalar<'c, 'a>),
    Tile(Handle<'c, 'a>),
    Tensor(Tensor<'c, 'a>),
    Array(Value<'c, 'a>),
    /// The base of an allocation, a context: nothing that operations take.
    Nothing,
}

/// A tile value.
#[derive(Clone, Copy)]
struct Handle<'c, 'a> {
    value: Value<'c, 'a>,
    /// Whether the bytes are those that the variable's type names; otherwise only the value knows where they are.
    addressed: bool,
}

/// A tensor: a parameter, seen in some shape.
#[derive(Clone, Copy)]
struct Tensor<'c, 'a> {
    pointer: Value<'c, 'a>,
    /// The parameter.
    root: VarId,
    /// The variable whose type gives shape and strides.
    shape: VarId,
    view: Option<Value<'c, 'a>>,
}

/// One function on its way.
pub(super) struct Lowering<'p, 'c, 'a> {
    context: &'c Context,
    file: &'p str,
    program: &'p Program,
    function: &'p Function,
    head: BlockRef<'c, 'a>,
    block: BlockRef<'c, 'a>,
    last_constant: Option<OperationRef<'c, 'a>>,
    constants: HashMap<String, Value<'c, 'a>>,
    bound: HashMap<VarId, Bound<'c, 'a>>,
    dynamics: HashMap<String, Value<'c, 'a>>,
    hidden: HashMap<&'static str, Value<'c, 'a>>,
    /// Addresses that stand in `tile.alloc` (older notations).
    allocations: HashMap<VarId, (Option<MemorySpace>, Expr)>,
    gm_slot_offsets: HashMap<(i64, i64), i64>,
    gm_slots: Option<Value<'c, 'a>>,
    /// The statement being lowered.
    at: Span,
    /// Whether nothing of the function comes after the current block.
    tail: bool,
    problems: Vec<Problem>,
    /// Variables without a value because their statement has a problem.
    failed: HashSet<VarId>,
}

/// Outcome of lowering something.
type Lowered<T = ()> = Result<T, Problem>;

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    /// Makes the function with its parameters.
    fn start(
        context: &'c Context,
        module: &'a Module<'c>,
        program: &'p Program,
        function: &'p Function,
        file: &'p str,
    ) -> Lowered<Self> {
        let body = module.body();
        let empty = body.append_operation(
            OperationBuilder::new("func.func", Location::unknown(context))
                .add_regions([Region::new()])
                .build()
                .map_err(|e| internal(e.to_string()))?,
        );
        let region = empty.region(0).map_err(|e| internal(e.to_string()))?;
        let head = region.append_block(Block::new(&[]));
        let mut lowering = Self {
            context,
            file,
            program,
            function,
            head,
            block: head,
            last_constant: None,
            constants: HashMap::new(),
            bound: HashMap::new(),
            dynamics: HashMap::new(),
            hidden: HashMap::new(),
            allocations: HashMap::new(),
            gm_slot_offsets: HashMap::new(),
            gm_slots: None,
            at: function.span,
            tail: true,
            problems: Vec::new(),
            failed: HashSet::new(),
        };
        let inputs = lowering.parameters()?;
        lowering.sign(empty, &inputs);
        Ok(lowering)
    }

    /// Lowers the body and ends it.
    fn finish(&mut self) {
        let function = self.function;
        let body = function.body.as_deref().unwrap_or_default();
        for param in &function.params {
            if let Err(problem) = self.make_param_view(param.var, body) {
                self.problems.push(problem);
            }
        }
        self.statements(body);
        self.at = Span::default();
        let end = OperationBuilder::new("func.return", Location::unknown(self.context)).build();
        match end {
            Ok(end) => {
                self.append(end);
            }
            Err(error) => self.problems.push(internal(error.to_string())),
        }
    }

    /// Lowers statements into the current block; each problem costs its statement, and those that need its results.
    fn statements(&mut self, statements: &'p [Stmt]) {
        let tail = self.tail;
        for (index, statement) in statements.iter().enumerate() {
            self.at = statement.span;
            let is_last = index + 1 == statements.len();
            self.tail = tail && is_last;
            if let Err(mut problem) = self.statement(statement, is_last) {
                if problem.span == Span::default() {
                    problem.span = statement.span;
                }
                let follows = statement.reads().iter().any(|var| self.failed.contains(var));
                self.failed.extend(statement.defines());
                if !follows {
                    self.problems.push(problem);
                }
            }
        }
        self.tail = tail;
    }

    fn statement(&mut self, statement: &'p Stmt, is_last: bool) -> Lowered {
        let refuse =
            |what: &str| Err(Problem::new("PTO-0714", statement.span, format!("{what} has no form in a kernel")));
        match &statement.kind {
            StmtKind::Assign { target, value } => self.assign(*target, value),
            StmtKind::Eval(value) => match value.as_call() {
                Some(call) => self.effect(call),
                None => refuse("an expression that is not a call"),
            },
            StmtKind::If { condition, then, otherwise, results } => {
                self.lower_if(condition, then, otherwise.as_ref(), results)
            }
            StmtKind::For(it) => self.lower_for(it),
            StmtKind::While(it) => self.lower_while(it),
            // Whoever opened the block reads the yield.
            StmtKind::Yield(_) if is_last => Ok(()),
            StmtKind::Yield(_) => refuse("a yield in the middle of a block"),
            // Results are written through parameters, so the end of a function needs no values.
            StmtKind::Return(_) if self.tail => Ok(()),
            StmtKind::Return(_) => refuse("a return before the end of the function"),
            StmtKind::Break => refuse("'break'"),
            StmtKind::Continue => refuse("'continue'"),
            StmtKind::Pass => Ok(()),
            StmtKind::With { .. } | StmtKind::Scope { .. } => refuse("a scope of orchestration"),
        }
    }

    fn assign(&mut self, target: VarId, value: &'p Expr) -> Lowered {
        if let Some(source) = value.as_var() {
            let bound = self.bound.get(&source).copied();
            let Some(bound) = bound else { return Err(self.unbound(value, source)) };
            self.bound.insert(target, bound);
            return Ok(());
        }
        let call = value.as_call().filter(|c| c.op().is_some_and(|op| op.contains('.')) || c.op().is_none());
        let Some(call) = call else {
            let want = self.function.var(target).ty.scalar();
            let mut scalar = self.scalar(value, want)?;
            if let Some(dtype) = want {
                scalar = self.convert(scalar, dtype)?;
            }
            self.bound.insert(target, Bound::Scalar(scalar));
            return Ok(());
        };
        let bound = self.call(call, Some(target))?;
        self.bound.insert(target, bound.unwrap_or(Bound::Nothing));
        Ok(())
    }

    fn effect(&mut self, call: &'p Call) -> Lowered {
        self.call(call, None).map(drop)
    }

    /// Lowers a call of an operation; what its result is, when it has one.
    fn call(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let Some(name) = call.op() else {
            let message = "a kernel cannot call another function of the program";
            return Err(Problem::new("PTO-0714", self.at, message));
        };
        match name.split_once('.').map_or("", |(family, _)| family) {
            "tile" => self.tile_call(name, call, target),
            "tensor" => self.tensor_call(name, call, target),
            "array" => self.array_call(name, call, target),
            "system" => self.system_call(name, call, target),
            _ => Err(self.unknown_op(name)),
        }
    }

    fn unknown_op(&self, name: &str) -> Problem {
        Problem::new("PTO-0710", self.at, format!("operation '{name}' has no PTO form")).help(format!(
            "'{}' is compiled by this program; it may use tile.*, system.* and scalar operations",
            self.function.name
        ))
    }

    fn unbound(&self, expr: &Expr, var: VarId) -> Problem {
        let message = format!("'{}' has no value here", self.function.var(var).name);
        Problem::new("PTO-0712", expr.span, message)
    }

    /// An argument that must be a tile.
    fn tile_argument(&self, expr: &Expr) -> Lowered<Handle<'c, 'a>> {
        match expr.as_var().and_then(|v| self.bound.get(&v)) {
            Some(Bound::Tile(handle)) => Ok(*handle),
            _ => Err(self.expected("a tile", expr)),
        }
    }

    /// An argument that must be a tensor.
    fn tensor_argument(&self, expr: &Expr) -> Lowered<Tensor<'c, 'a>> {
        match expr.as_var().and_then(|v| self.bound.get(&v)) {
            Some(Bound::Tensor(tensor)) => Ok(*tensor),
            _ => Err(self.expected("a tensor", expr)),
        }
    }

    fn expected(&self, what: &str, expr: &Expr) -> Problem {
        let found = match &expr.kind {
            ExprKind::Var(var) => format!("'{}'", self.function.var(*var).name),
            ExprKind::List(_) | ExprKind::Tuple(_) => "a list".to_owned(),
            ExprKind::Int(..) | ExprKind::Float(..) => "a number".to_owned(),
            _ => "an expression".to_owned(),
        };
        Problem::new("PTO-0715", expr.span, format!("expected {what}, found {found}"))
    }

    /// An argument by position.
    fn arg<'e>(&self, call: &'e Call, index: usize, what: &str) -> Lowered<&'e Expr> {
        call.args.get(index).ok_or_else(|| {
            let name = call.op().unwrap_or_default();
            let message =
                format!("'{name}' expects {what} as argument {}, found {} arguments", index + 1, call.args.len());
            Problem::new("PTO-0715", self.at, message)
        })
    }

    /// A list argument by position.
    fn list<'e>(&self, call: &'e Call, index: usize, what: &str) -> Lowered<&'e [Expr]> {
        let expr = self.arg(call, index, what)?;
        expr.as_elements().ok_or_else(|| self.expected(&format!("a list ({what})"), expr))
    }

    /// An integer keyword argument, or its default.
    fn int_kwarg(&self, call: &Call, name: &str, default: Option<i64>) -> Lowered<i64> {
        match (call.kwarg(name), default) {
            (Some(expr), _) => expr.as_int().ok_or_else(|| self.expected(&format!("an integer for '{name}'"), expr)),
            (None, Some(default)) => Ok(default),
            (None, None) => {
                let op = call.op().unwrap_or_default();
                Err(Problem::new("PTO-0715", self.at, format!("'{op}' needs the keyword argument '{name}'")))
            }
        }
    }
}
