//! Front-end programs through the compiler: parse, place, prove, lower.

use super::{CompileOptions, Emit};
use crate::frontend::{
    ast::{Function, MemorySpace, Notation, Problem, Program, Stmt, StmtKind, Type},
    check, lower, memory,
    ops::{Memory, op_by_name},
    parse, print,
};
use melior::{
    Context,
    ir::{Location, Module},
};
use pto_dialect::{
    Space,
    device::{Device, Legality},
    diagnostics,
};
use std::time::{Duration, Instant};

/// The code of a memory space that overflows.
const OVERFLOW: &str = "PTO-0658";

/// Targets with more memory than the default.
const OTHER_TARGETS: &[&str] = &["a5"];

/// What comes of a program.
pub enum Product<'c> {
    /// A module for the pipeline.
    Module(Module<'c>),
    /// A text that is the result already.
    Text(String),
}

/// A program's text on its way to a device.
pub struct FrontEnd<'t, 'c> {
    /// Where the module lives.
    pub context: &'c Context,
    /// What messages call the text.
    pub file: &'t str,
    /// The target.
    pub device: &'t Device,
    /// How to compile.
    pub options: &'t CompileOptions,
}

/// Whether a text is a front-end program: by its file's name, else by how it begins.
pub fn is_program(text: &str, file: &str) -> bool {
    match file.rsplit_once('.').map(|(_, extension)| extension) {
        Some("py") => true,
        Some("pto" | "mlir") => false,
        _ => {
            let first = text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
            ["# ", "#!", "import ", "from ", "@", "class ", "def ", "\"\"\""]
                .iter()
                .any(|start| first.starts_with(start))
        }
    }
}

impl<'c> FrontEnd<'_, 'c> {
    /// Runs all stages; `None` after errors, which were reported.
    pub fn run(&self, text: &str, times: &mut Vec<(&'static str, Duration)>) -> Option<Product<'c>> {
        let mut timed = |name: &'static str, start: Instant| times.push((name, start.elapsed()));
        let start = Instant::now();
        let mut program = self.unless(parse::parse(text))?;
        timed("parse", start);
        self.demand_types(&program)?;
        let start = Instant::now();
        self.place(&mut program)?;
        timed("place", start);
        let start = Instant::now();
        self.prove(&program)?;
        timed("prove", start);
        self.mention_skipped(&program);
        match self.options.emit {
            Emit::Frontend => Some(Product::Text(print::print(&program))),
            Emit::Placement => {
                let placement = memory::placement::of_program(&program);
                Some(Product::Text(crate::placement::to_json(&placement)))
            }
            _ => {
                let start = Instant::now();
                let wanted = |f: &Function| memory::has_memory(f, program.notation);
                let module = self.unless(lower::lower(self.context, &program, self.file, &wanted))?;
                timed("lower", start);
                Some(Product::Module(module))
            }
        }
    }

    /// Memory is given by types, so a tile needs one; they are not derived here.
    fn demand_types(&self, program: &Program) -> Option<()> {
        let kernels = program.functions.iter().filter(|f| memory::has_memory(f, program.notation));
        let problems: Vec<Problem> = kernels.flat_map(typeless_tiles).collect();
        if problems.is_empty() { Some(()) } else { self.unless(Err(problems)) }
    }

    /// A program does not say its target. One that is too large for the default may have been written for another.
    fn place(&self, program: &mut Program) -> Option<()> {
        let unplaced = self.options.arch.is_none().then(|| program.clone());
        let mut problems = match self.place_for(self.device, program) {
            Ok(()) => return Some(()),
            Err(problems) => problems,
        };
        let only_capacity = problems.iter().all(|p| p.code == OVERFLOW);
        for name in OTHER_TARGETS.iter().filter(|_| only_capacity) {
            let (Some(unplaced), Ok(device)) = (&unplaced, Device::by_name(name)) else { continue };
            if self.place_for(&device, &mut unplaced.clone()).is_ok()
                && let Some(last) = problems.pop()
            {
                problems.push(
                    last.help(format!("compiled for {}, the default; it fits {name}: --arch={name}", self.device.name)),
                );
                break;
            }
        }
        self.unless(Err(problems))
    }

    fn place_for(&self, device: &Device, program: &mut Program) -> Result<(), Vec<Problem>> {
        let limit = |space: MemorySpace| {
            let memory = device.memory(dialect_space(space)?)?;
            let note = memory.reserve.as_ref().map_or(String::new(), |r| {
                format!("the top {} bytes of {} are kept free ({})", r.bytes, memory.memory, r.reason)
            });
            Some(memory::Limit { bytes: memory.placeable(), note })
        };
        let align = |address: u64, space: MemorySpace| {
            let align = dialect_space(space).and_then(|s| device.memory(s)).map_or(1, |m| m.place_align.max(m.align));
            address.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX)
        };
        let a3 = device.legality == Legality::A3;
        let options = memory::Options {
            planner: self.options.planner,
            order: self.options.order,
            target: memory::Target {
                limit: &limit,
                align: &align,
                // PyPTO, backend handlers of 910B and 950: rows that an INT32 accumulator is rounded up to.
                int_acc_rows: if a3 { 32 } else { 16 },
                split_load_hazard: a3,
            },
        };
        memory::place(program, &options)
    }

    fn prove(&self, program: &Program) -> Option<()> {
        let device = self.device;
        let memory = |space: MemorySpace| dialect_space(space).and_then(|s| device.memory(s));
        let capacity = |space: MemorySpace| memory(space).map(|m| m.capacity);
        let align = |space: MemorySpace| memory(space).map_or(1, |m| m.align);
        let problems = check::check(program, &check::Target { capacity: &capacity, align: &align });
        if problems.is_empty() { Some(()) } else { self.unless(Err(problems)) }
    }

    /// Functions of the host and of orchestration are somebody else's to compile.
    fn mention_skipped(&self, program: &Program) {
        let skipped: Vec<&Function> =
            program.functions.iter().filter(|f| !memory::has_memory(f, program.notation)).collect();
        let Some(first) = skipped.first() else { return };
        let names: Vec<String> = skipped.iter().map(|f| format!("'{}' ({})", f.name, f.kind)).collect();
        let message = format!("not compiled, since they run outside the cores: {}", names.join(", "));
        let location = Location::new(self.context, self.file, first.span.line as usize, first.span.column as usize);
        diagnostics::remark(location, message).emit();
        if program.notation == Notation::Today && skipped.len() == program.functions.len() {
            diagnostics::warning(location, "PTO-0717", "no function of this program is for a core (InCore, AIC, AIV)")
                .emit();
        }
    }

    /// Reports problems.
    fn unless<T>(&self, outcome: Result<T, Vec<Problem>>) -> Option<T> {
        let problems = match outcome {
            Ok(value) => return Some(value),
            Err(problems) => problems,
        };
        let place = |span: crate::frontend::ast::Span| {
            if span.line == 0 {
                Location::unknown(self.context)
            } else {
                Location::new(self.context, self.file, span.line as usize, span.column as usize)
            }
        };
        for problem in problems {
            let mut report = diagnostics::error(place(problem.span), problem.code, problem.message);
            for (span, note) in problem.notes {
                report = match span {
                    Some(span) => report.note(place(span), note),
                    None => report.help(note),
                };
            }
            report.emit();
        }
        None
    }
}

/// Results of operations on tiles that say no type.
fn typeless_tiles(function: &Function) -> Vec<Problem> {
    fn visit(function: &Function, block: &[Stmt], problems: &mut Vec<Problem>) {
        for statement in block {
            if let StmtKind::Assign { target, value } = &statement.kind
                && let Some(row) = value.as_call().and_then(|c| c.op()).and_then(op_by_name)
                && row.memory != Memory::None
                && matches!(function.var(*target).ty, Type::Unknown)
            {
                let name = &function.var(*target).name;
                let message = format!(
                    "'{name}', the result of {}, needs a type: {name}: Tile[[rows, cols], TYPE] = ...",
                    row.name
                );
                problems.push(Problem::new("PTO-0711", statement.span, message));
            }
            for inner in statement.blocks() {
                visit(function, inner, problems);
            }
        }
    }
    let mut problems = Vec::new();
    visit(function, function.body.as_deref().unwrap_or_default(), &mut problems);
    problems
}

/// The dialect's name of a memory space; `None` for what is not on the chip.
fn dialect_space(space: MemorySpace) -> Option<Space> {
    Some(match space {
        MemorySpace::Ddr | MemorySpace::ScalarLocal => return None,
        MemorySpace::Vec => Space::Vec,
        MemorySpace::Mat => Space::Mat,
        MemorySpace::Left => Space::Left,
        MemorySpace::Right => Space::Right,
        MemorySpace::Acc => Space::Acc,
        MemorySpace::Bias => Space::Bias,
        MemorySpace::LeftScale => Space::ScaleLeft,
        MemorySpace::RightScale => Space::ScaleRight,
    })
}
