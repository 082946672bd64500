//! The front-end IR: PyPTO programs as typed data.
//!
//! A function owns its variables; everything else names them by [`VarId`]. A name that is assigned again makes a new
//! variable. Types stand on variables, not on statements. Nothing here reads, prints or interprets a program.

use std::fmt;

/// Where something stands in the text: line and column from 1; 0 for what the compiler made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// How memory is written in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// `mem: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)`, `pl.MemRef(mem, offset, size)` in types.
    #[default]
    Today,
    /// `mem: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, addr, 16384, id)`, the bare name in types.
    Older,
    /// As `Older`, `memref=mem` in types, `Vec` for `pl.Mem.Vec`.
    Shorthand,
}

/// A program: one class of functions.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Name of the class; empty for bare statements.
    pub name: String,
    /// How memory is written.
    pub notation: Notation,
    /// What the language module is called in the text (`pl`); empty when names stand without it.
    pub prefix: String,
    /// Other imports, as they stand.
    pub imports: Vec<String>,
    /// Names declared with `dynamic("M")`.
    pub dynamics: Vec<String>,
    /// In the order of the text.
    pub functions: Vec<Function>,
}

/// What a function is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are PyPTO's")]
pub enum FunctionKind {
    #[default]
    Opaque,
    Orchestration,
    InCore,
    Aic,
    Aiv,
    Group,
    Spmd,
    Inline,
    Graph,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Its name; `main` for bare statements.
    pub name: String,
    /// What it is for.
    pub kind: FunctionKind,
    /// Whether the statements stand in the file without class and function.
    pub bare: bool,
    /// Keyword arguments of `@pl.function` other than `type`.
    pub decorations: Vec<(String, Expr)>,
    /// Whether `self` comes first.
    pub has_self: bool,
    /// Parameters without `self`.
    pub params: Vec<Param>,
    /// What it returns; several when the text says `tuple[...]`; `None` when it says nothing.
    pub returns: Option<Vec<Type>>,
    /// The dictionary of `pl.func_attr`.
    pub attributes: Option<Expr>,
    /// `None` for `...`.
    pub body: Option<Block>,
    /// All variables, parameters included.
    pub vars: Vec<Var>,
    /// Where its name stands.
    pub span: Span,
}

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// The variable; its type stands there.
    pub var: VarId,
    /// Direction.
    pub direction: Direction,
}

/// Direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Direction {
    In,
    Out,
    InOut,
}

/// A variable of a function: an index into its `vars`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarId(pub u32);

impl VarId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// The author's name.
    pub name: String,
    /// Its type; for carried variables, loop indices and results of `a, b = pl.yield_(...)` it is derived.
    pub ty: Type,
    /// Whether the text says the type.
    pub annotated: bool,
    /// Where it is defined.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it begins.
    pub span: Span,
    /// Comment lines above it, without `# `.
    pub comments: Vec<String>,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `x: T = value`.
    Assign {
        /// The new variable.
        target: VarId,
        /// Its value.
        value: Expr,
    },
    /// A call for its effect.
    Eval(Expr),
    /// Two ways.
    If {
        /// A scalar.
        condition: Expr,
        /// When it holds.
        then: Block,
        /// When it does not.
        otherwise: Option<Block>,
        /// Bound by the yields at the ends of both blocks.
        results: Vec<VarId>,
    },
    /// A counted loop.
    For(Box<For>),
    /// A loop with a condition.
    While(Box<While>),
    /// At the end of a loop's or branch's block.
    Yield(Vec<Expr>),
    /// At the end of a function.
    Return(Vec<Expr>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `pass`.
    Pass,
    /// `with context:`, a scope of orchestration.
    With {
        /// What opens it.
        context: Expr,
        /// Inside.
        body: Block,
    },
    /// `for x in context:` over anything but a range, in orchestration.
    Scope {
        /// The names it binds.
        targets: Vec<VarId>,
        /// What opens it.
        context: Expr,
        /// Inside.
        body: Block,
    },
}

/// `for index, (carried,) in pl.range(start, stop, step, init_values=(inits,)): body`.
#[derive(Clone, Debug)]
pub struct For {
    /// `range`, `parallel`, `unroll`, `pipeline`.
    pub kind: LoopKind,
    /// Counts.
    pub index: VarId,
    /// First value.
    pub start: Expr,
    /// Behind the last value.
    pub stop: Expr,
    /// Distance.
    pub step: Expr,
    /// What the body knows the carried values as.
    pub carried: Vec<VarId>,
    /// Their first values.
    pub inits: Vec<Expr>,
    /// Other keyword arguments (`stage`, `attrs`).
    pub extra: Vec<(String, Expr)>,
    /// Ends with a yield when values are carried.
    pub body: Block,
    /// The carried values after the loop.
    pub results: Vec<VarId>,
}

/// Kind of a counted loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are PyPTO's")]
pub enum LoopKind {
    Range,
    Parallel,
    Unroll,
    Pipeline,
}

/// `while condition:`, or `for (carried) in pl.while_(init_values=(...)): pl.cond(condition)`.
#[derive(Clone, Debug)]
pub struct While {
    /// A scalar; may name carried values.
    pub condition: Expr,
    /// What the body knows the carried values as.
    pub carried: Vec<VarId>,
    /// Their first values.
    pub inits: Vec<Expr>,
    /// Whether the text uses `pl.while_`.
    pub explicit: bool,
    /// Ends with a yield when values are carried.
    pub body: Block,
    /// The carried values after the loop.
    pub results: Vec<VarId>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it begins.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A variable of the function.
    Var(VarId),
    /// A dynamic extent of the program.
    Dynamic(String),
    /// An integer; bare ones (`None`) are INDEX.
    Int(i64, Option<DataType>),
    /// A number with a fraction; bare ones are FP32.
    Float(f64, Option<DataType>),
    /// `True`, `False`.
    Bool(bool),
    /// A string.
    Str(String),
    /// `None`.
    Null,
    /// `-x`, `not x`, `~x`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, `a < b`, `a and b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A call.
    Call(Box<Call>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `{a: b}`.
    Dict(Vec<(Expr, Expr)>),
    /// `a[i]`.
    Item(Box<Expr>, Box<Expr>),
    /// A name of the language without its module: `Mem.Vec`, `FP32`, `PipeType.MTE1`.
    Symbol(String),
    /// A function of the program: `self.kernel`.
    Function(String),
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// Arguments by position.
    pub args: Vec<Expr>,
    /// Arguments by name.
    pub kwargs: Vec<(String, Expr)>,
}

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// An operation or built-in of the language without its module: `tile.load`, `system.bar_v`, `min`, `cast`. Without
    /// the underscore that keeps Python keywords apart (`tile.and`). Other modules keep theirs (`pld.tile.get`).
    Op(String),
    /// A function of the program.
    Function(String),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum UnaryOp {
    Neg,
    Not,
    BitNot,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    FloorDiv,
    Mod,
    Div,
    Pow,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    /// `Scalar[FP32]`.
    Scalar(DataType),
    /// `Tensor[[64, 64], FP32]`.
    Tensor(Box<TensorType>),
    /// `Tile[[64, 64], FP32]`.
    Tile(Box<TileType>),
    /// `Array[4, INT32]`.
    Array(u64, DataType),
    /// `Tuple[...]`.
    Tuple(Vec<Type>),
    /// `Ptr`: the base of an allocation.
    Ptr,
    /// `MemRefType`: the same in the older notation.
    MemRef,
    /// Not said.
    Unknown,
    /// Any other, as it stands (without the language's module).
    Other(String),
}

/// A tensor in global memory.
#[derive(Clone, Debug)]
pub struct TensorType {
    /// Extents.
    pub shape: Vec<Expr>,
    /// Element.
    pub dtype: DataType,
    /// How it lies in memory.
    pub view: Option<TensorView>,
    /// Which memory.
    pub memref: Option<MemRef>,
}

/// How a tensor lies in memory.
#[derive(Clone, Debug, Default)]
pub struct TensorView {
    /// Extents that hold values.
    pub valid_shape: Option<Vec<Expr>>,
    /// Elements from one index to the next.
    pub stride: Option<Vec<Expr>>,
    /// `ND`, `DN` or `NZ`.
    pub layout: Option<String>,
    /// `null`, `zero`, `max`, `min`.
    pub pad: Option<String>,
}

/// A tile in on-chip memory.
#[derive(Clone, Debug)]
pub struct TileType {
    /// Physical rows and columns.
    pub shape: Vec<Expr>,
    /// Element.
    pub dtype: DataType,
    /// Which bytes.
    pub memref: Option<MemRef>,
    /// Which memory.
    pub space: Option<MemorySpace>,
    /// What differs from the space's usual form.
    pub view: Option<TileView>,
}

/// How a tile lies in its memory; `None` is the space's usual value.
#[derive(Clone, Debug, Default)]
pub struct TileView {
    /// Extents that hold values.
    pub valid_shape: Option<Vec<Expr>>,
    /// Elements from one index to the next.
    pub stride: Option<Vec<Expr>>,
    /// Elements in front.
    pub start_offset: Option<Expr>,
    /// `row_major`, `col_major`.
    pub blayout: Option<String>,
    /// `none_box`, `row_major`, `col_major`.
    pub slayout: Option<String>,
    /// Bytes of a fractal.
    pub fractal: Option<i64>,
    /// `null`, `zero`, `max`, `min`.
    pub pad: Option<String>,
    /// `null`, `normal`.
    pub compact: Option<String>,
}

/// Which bytes a tile or tensor has.
#[derive(Clone, Debug)]
pub enum MemRef {
    /// `MemRef(base, offset, size)`: bytes of an allocation. After placement, the offset is the address.
    Part {
        /// Whose bytes.
        base: Base,
        /// Bytes from its start.
        offset: Expr,
        /// Bytes.
        size: u64,
        /// How many slots the declared allocation has, and which is meant.
        slot: Option<(u64, Expr)>,
    },
    /// The whole of an allocation, by its bare name (older notations).
    Whole(VarId),
    /// `MemRef(addr, size, id)`: memory outside the chip in the older notation.
    Numbered {
        /// Byte address, -1 for none.
        addr: i64,
        /// Bytes.
        size: u64,
        /// Number.
        id: i64,
    },
    /// `MemRef("name", slots=2)[i]`: an author's declaration, before memory is given.
    Declared {
        /// Its name.
        name: String,
        /// How many slots, and which is meant; one when not said.
        slot: Option<(u64, Expr)>,
    },
}

/// Whose bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// An allocation of this function.
    Var(VarId),
    /// Memory from outside, by name.
    Named(String),
}

/// A memory space in PyPTO's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are PyPTO's")]
pub enum MemorySpace {
    Ddr,
    Vec,
    Mat,
    Left,
    Right,
    Acc,
    Bias,
    ScalarLocal,
    LeftScale,
    RightScale,
}

/// An element or scalar type in PyPTO's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are PyPTO's")]
pub enum DataType {
    Bool,
    Int4,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint4,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Fp4,
    Fp8E4M3Fn,
    Fp8E5M2,
    Fp8E8M0,
    Fp16,
    Fp32,
    Bf16,
    Hf4,
    Hf8,
    Index,
    TaskId,
}

/// A table of names, both ways.
macro_rules! names {
    ($type:ident: $($variant:ident = $text:literal,)*) => {
        impl $type {
            /// By its name in the text.
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name in the text.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// All names, for messages.
            pub const NAMES: &'static [&'static str] = &[$($text),*];
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! { MemorySpace:
    Ddr = "DDR", Vec = "Vec", Mat = "Mat", Left = "Left", Right = "Right", Acc = "Acc", Bias = "Bias",
    ScalarLocal = "ScalarLocal", LeftScale = "LeftScale", RightScale = "RightScale",
}

names! { DataType:
    Bool = "BOOL", Int4 = "INT4", Int8 = "INT8", Int16 = "INT16", Int32 = "INT32", Int64 = "INT64", Uint4 = "UINT4",
    Uint8 = "UINT8", Uint16 = "UINT16", Uint32 = "UINT32", Uint64 = "UINT64", Fp4 = "FP4", Fp8E4M3Fn = "FP8E4M3FN",
    Fp8E5M2 = "FP8E5M2", Fp8E8M0 = "FP8E8M0", Fp16 = "FP16", Fp32 = "FP32", Bf16 = "BF16", Hf4 = "HF4", Hf8 = "HF8",
    Index = "INDEX", TaskId = "TASK_ID",
}

names! { FunctionKind:
    Opaque = "Opaque", Orchestration = "Orchestration", InCore = "InCore", Aic = "AIC", Aiv = "AIV", Group = "Group",
    Spmd = "Spmd", Inline = "Inline", Graph = "Graph",
}

names! { LoopKind:
    Range = "range", Parallel = "parallel", Unroll = "unroll", Pipeline = "pipeline",
}

names! { BinaryOp:
    Add = "+", Sub = "-", Mul = "*", FloorDiv = "//", Mod = "%", Div = "/", Pow = "**", Eq = "==", Ne = "!=", Lt = "<",
    Le = "<=", Gt = ">", Ge = ">=", And = "and", Or = "or", BitAnd = "&", BitOr = "|", BitXor = "^",
    ShiftLeft = "<<", ShiftRight = ">>",
}

impl DataType {
    /// Bits that an element takes in memory.
    pub fn bits(self) -> u64 {
        match self {
            Self::Int4 | Self::Uint4 | Self::Fp4 | Self::Hf4 => 4,
            Self::Bool | Self::Int8 | Self::Uint8 | Self::Fp8E4M3Fn | Self::Fp8E5M2 | Self::Fp8E8M0 | Self::Hf8 => 8,
            Self::Int16 | Self::Uint16 | Self::Fp16 | Self::Bf16 => 16,
            Self::Int32 | Self::Uint32 | Self::Fp32 => 32,
            Self::Int64 | Self::Uint64 | Self::Index | Self::TaskId => 64,
        }
    }

    /// Whether it holds fractions.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Self::Fp4
                | Self::Fp8E4M3Fn
                | Self::Fp8E5M2
                | Self::Fp8E8M0
                | Self::Fp16
                | Self::Fp32
                | Self::Bf16
                | Self::Hf4
                | Self::Hf8
        )
    }

    /// Whether it is an integer without sign.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::Bool | Self::Uint4 | Self::Uint8 | Self::Uint16 | Self::Uint32 | Self::Uint64)
    }
}

impl FunctionKind {
    /// Whether it runs on a core, and so is compiled here.
    pub fn is_kernel(self) -> bool {
        matches!(self, Self::InCore | Self::Aic | Self::Aiv)
    }
}

impl Expr {
    /// An expression that the compiler made.
    pub fn made(kind: ExprKind) -> Self {
        Self { kind, span: Span::default() }
    }

    /// An INDEX constant that the compiler made.
    pub fn index(value: i64) -> Self {
        Self::made(ExprKind::Int(value, None))
    }

    /// The value of an integer literal.
    pub fn as_int(&self) -> Option<i64> {
        match &self.kind {
            ExprKind::Int(value, _) => Some(*value),
            ExprKind::Unary(UnaryOp::Neg, inner) => inner.as_int().and_then(i64::checked_neg),
            _ => None,
        }
    }

    /// The variable it names.
    pub fn as_var(&self) -> Option<VarId> {
        if let ExprKind::Var(var) = self.kind { Some(var) } else { None }
    }

    /// The call it is.
    pub fn as_call(&self) -> Option<&Call> {
        if let ExprKind::Call(call) = &self.kind { Some(call) } else { None }
    }

    /// Its elements, when it is a list or tuple.
    pub fn as_elements(&self) -> Option<&[Expr]> {
        match &self.kind {
            ExprKind::List(elements) | ExprKind::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The language's name it is (`Mem.Vec`).
    pub fn as_symbol(&self) -> Option<&str> {
        if let ExprKind::Symbol(name) = &self.kind { Some(name) } else { None }
    }

    /// Its text, when it is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let ExprKind::Str(text) = &self.kind { Some(text) } else { None }
    }

    /// The expressions directly inside.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Unary(_, a) => vec![a],
            ExprKind::Binary(_, a, b) | ExprKind::Item(a, b) => vec![a, b],
            ExprKind::Call(call) => call.args.iter().chain(call.kwargs.iter().map(|(_, e)| e)).collect(),
            ExprKind::List(elements) | ExprKind::Tuple(elements) => elements.iter().collect(),
            ExprKind::Dict(pairs) => pairs.iter().flat_map(|(k, v)| [k, v]).collect(),
            _ => Vec::new(),
        }
    }

    /// The variables it names, in the order of the text.
    pub fn vars(&self) -> Vec<VarId> {
        let mut found: Vec<VarId> = self.as_var().into_iter().collect();
        for child in self.children() {
            found.extend(child.vars());
        }
        found
    }
}

impl Call {
    /// The operation's name (`tile.load`).
    pub fn op(&self) -> Option<&str> {
        if let Callee::Op(name) = &self.callee { Some(name) } else { None }
    }

    /// An argument by name.
    pub fn kwarg(&self, name: &str) -> Option<&Expr> {
        self.kwargs.iter().find(|(n, _)| n == name).map(|(_, e)| e)
    }
}

impl Type {
    /// The tile it is.
    pub fn tile(&self) -> Option<&TileType> {
        if let Self::Tile(tile) = self { Some(tile) } else { None }
    }

    /// The tile it is.
    pub fn tile_mut(&mut self) -> Option<&mut TileType> {
        if let Self::Tile(tile) = self { Some(tile) } else { None }
    }

    /// The tensor it is.
    pub fn tensor(&self) -> Option<&TensorType> {
        if let Self::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    /// The scalar it is.
    pub fn scalar(&self) -> Option<DataType> {
        if let Self::Scalar(dtype) = self { Some(*dtype) } else { None }
    }
}

impl TileType {
    /// Physical extents, when all are constants that make sense.
    pub fn static_shape(&self) -> Option<Vec<u64>> {
        self.shape.iter().map(|e| e.as_int().and_then(|v| u64::try_from(v).ok())).collect()
    }
}

impl Stmt {
    /// A statement that the compiler made, at a place of the text.
    pub fn made(kind: StmtKind, span: Span) -> Self {
        Self { kind, span, comments: Vec::new() }
    }

    /// The variables that it names itself and in the yields of its blocks.
    pub fn reads(&self) -> Vec<VarId> {
        let own: Vec<&Expr> = match &self.kind {
            StmtKind::Assign { value, .. } | StmtKind::Eval(value) => vec![value],
            StmtKind::If { condition: head, .. }
            | StmtKind::With { context: head, .. }
            | StmtKind::Scope { context: head, .. } => vec![head],
            StmtKind::For(it) => [&it.start, &it.stop, &it.step].into_iter().chain(&it.inits).collect(),
            StmtKind::While(it) => std::iter::once(&it.condition).chain(&it.inits).collect(),
            StmtKind::Yield(values) | StmtKind::Return(values) => values.iter().collect(),
            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => Vec::new(),
        };
        let yields = self.blocks().into_iter().filter_map(|block| block.last());
        let yields = yields.filter(|last| matches!(last.kind, StmtKind::Yield(_)));
        own.into_iter().flat_map(Expr::vars).chain(yields.flat_map(Self::reads)).collect()
    }

    /// The variables that it binds for what comes after it.
    pub fn defines(&self) -> &[VarId] {
        match &self.kind {
            StmtKind::Assign { target, .. } => std::slice::from_ref(target),
            StmtKind::If { results, .. } => results,
            StmtKind::For(it) => &it.results,
            StmtKind::While(it) => &it.results,
            _ => &[],
        }
    }

    /// The blocks inside.
    pub fn blocks(&self) -> Vec<&Block> {
        match &self.kind {
            StmtKind::If { then, otherwise, .. } => std::iter::once(then).chain(otherwise).collect(),
            StmtKind::For(f) => vec![&f.body],
            StmtKind::While(w) => vec![&w.body],
            StmtKind::With { body, .. } | StmtKind::Scope { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// The blocks inside.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match &mut self.kind {
            StmtKind::If { then, otherwise, .. } => std::iter::once(then).chain(otherwise).collect(),
            StmtKind::For(f) => vec![&mut f.body],
            StmtKind::While(w) => vec![&mut w.body],
            StmtKind::With { body, .. } | StmtKind::Scope { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }
}

impl Function {
    /// A variable.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    /// A variable.
    pub fn var_mut(&mut self, id: VarId) -> &mut Var {
        &mut self.vars[id.index()]
    }

    /// A new variable.
    pub fn add_var(&mut self, name: impl Into<String>, ty: Type, span: Span) -> VarId {
        let id = VarId(u32::try_from(self.vars.len()).expect("fewer than 2^32 variables"));
        self.vars.push(Var { name: name.into(), ty, annotated: true, span });
        id
    }
}

/// Something that is wrong with a program.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The code (`PTO-0701`).
    pub code: &'static str,
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What belongs to it, some at a place of their own.
    pub notes: Vec<(Option<Span>, String)>,
}

impl Problem {
    /// A problem at a place.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), notes: Vec::new() }
    }

    /// Adds a note at a place of its own.
    #[must_use]
    pub fn note(mut self, span: Span, message: impl Into<String>) -> Self {
        self.notes.push((Some(span), message.into()));
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, message: impl Into<String>) -> Self {
        self.notes.push((None, message.into()));
        self
    }
}
