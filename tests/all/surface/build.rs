//! Kernels as text: a function that loads its tiles, does one operation and stores what it left, with the arguments of
//! its runs.

use super::number::{Close, Data, Num, Type};
use pto_dialect::{OpFacts, facts_by_name};
use pto_runtime_shim::{Arch, Argument};
use std::collections::BTreeSet;

/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    A3,
    A5,
}

pub const TARGETS: [Target; 2] = [Target::A3, Target::A5];

impl Target {
    pub fn name(self) -> &'static str {
        match self {
            Target::A3 => "a3",
            Target::A5 => "a5",
        }
    }

    pub fn arch(self) -> Arch {
        match self {
            Target::A3 => Arch::A3,
            Target::A5 => Arch::A5,
        }
    }

    /// The element types that the facts allow.
    pub fn legal(self, facts: &OpFacts) -> &'static str {
        match self {
            Target::A3 => facts.a3,
            Target::A5 => facts.a5,
        }
    }
}

/// What a kernel is made for.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub op: &'static str,
    pub target: Target,
    /// The element type of the tile that decides.
    pub ty: &'static Type,
}

impl Subject {
    pub fn facts(&self) -> &'static OpFacts {
        let name = format!("pto.{}", self.op);
        facts_by_name(&name).unwrap_or_else(|| panic!("the dialect has no {name}"))
    }

    pub fn is_a3(&self) -> bool {
        self.target == Target::A3
    }
}

/// The type of a tile.
#[derive(Clone, Debug)]
pub struct Shape {
    pub space: &'static str,
    pub rows: usize,
    pub cols: usize,
    pub valid: (usize, usize),
    pub ty: &'static Type,
    /// Layout and padding, as the type has them.
    pub keys: &'static str,
}

impl Shape {
    /// A vec tile of rows, all of it valid.
    pub fn vec(ty: &'static Type, rows: usize, cols: usize) -> Shape {
        Shape { space: "vec", rows, cols, valid: (rows, cols), ty, keys: "" }
    }

    /// A vec tile that is one column.
    pub fn column(ty: &'static Type, rows: usize) -> Shape {
        Shape { keys: "blayout=col_major", ..Shape::vec(ty, rows, 1) }
    }

    pub fn valid(self, rows: usize, cols: usize) -> Shape {
        Shape { valid: (rows, cols), ..self }
    }

    pub fn keys(self, keys: &'static str) -> Shape {
        Shape { keys, ..self }
    }

    pub fn space(self, space: &'static str) -> Shape {
        Shape { space, ..self }
    }

    pub fn text(&self) -> String {
        let mut text = format!("!pto.tile_buf<{}, {}x{}x{}", self.space, self.rows, self.cols, self.ty.text);
        if self.valid != (self.rows, self.cols) {
            text += &format!(", valid={}x{}", self.valid.0, self.valid.1);
        }
        if !self.keys.is_empty() {
            text += &format!(", {}", self.keys);
        }
        text + ">"
    }
}

/// One argument of a run, and what it must hold afterwards.
#[derive(Clone, Debug)]
pub struct Part {
    pub argument: Argument,
    pub want: Option<(Data, Close)>,
}

/// A function and its runs.
#[derive(Clone, Debug)]
pub struct Case {
    pub subject: Subject,
    /// Which form of the operation; empty for the plain one.
    pub label: String,
    /// Name of the function.
    pub function: String,
    pub text: String,
    /// Names of the values that its call must have.
    pub names: Vec<String>,
    /// The call, where the facts do not have it.
    pub callee: Option<&'static str>,
    pub runs: Vec<Vec<Part>>,
}

impl Case {
    /// Adds the runs of the same function with other arguments.
    pub fn and(mut self, other: Case) -> Case {
        assert_eq!(self.text, other.text, "{}: two functions of one name", self.function);
        self.runs.extend(other.runs);
        self
    }

    /// All runs of one function.
    pub fn join(cases: impl IntoIterator<Item = Case>) -> Case {
        cases.into_iter().reduce(Case::and).expect("a function has runs")
    }

    /// What to call it in messages.
    pub fn title(&self) -> String {
        let label = if self.label.is_empty() { String::new() } else { format!(" {}", self.label) };
        format!("{} of {} on {}{label}", self.subject.op, self.subject.ty.name, self.subject.target.name())
    }
}

/// Writes a function.
pub struct Maker {
    subject: Subject,
    label: String,
    parameters: Vec<String>,
    constants: BTreeSet<usize>,
    lines: Vec<String>,
    names: Vec<String>,
    callee: Option<&'static str>,
    parts: Vec<Part>,
}

impl Maker {
    pub fn new(subject: Subject, label: &str) -> Maker {
        Maker {
            subject,
            label: label.to_owned(),
            parameters: Vec::new(),
            constants: BTreeSet::new(),
            lines: Vec::new(),
            names: Vec::new(),
            callee: None,
            parts: Vec::new(),
        }
    }

    /// A constant index.
    pub fn index(&mut self, value: usize) -> String {
        self.constants.insert(value);
        format!("%c{value}")
    }

    pub fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// A tile.
    pub fn tile(&mut self, name: &str, shape: &Shape) {
        self.line(format!("%{name} = pto.alloc_tile : {}", shape.text()));
    }

    fn parameter(&mut self, name: &str, cpp: String, part: Part) {
        self.parameters.push(format!("%{name}: {cpp}"));
        self.parts.push(part);
    }

    /// A dense window of global memory behind a parameter; gives its type.
    pub fn window(&mut self, name: &str, data: &Data, before: Option<&Data>, want: Option<Close>) -> String {
        let argument = match before {
            Some(before) => Argument::Tensor(before.tensor()),
            None => Argument::Fresh(data.bytes().len()),
        };
        let want = want.map(|close| (data.clone(), close));
        self.parameter(&format!("{name}_at"), format!("!pto.ptr<{}>", data.ty.text), Part { argument, want });
        let (rows, cols, zero, one) = (self.index(data.rows), self.index(data.cols), self.index(0), self.index(1));
        let shape = format!("{}x{}x{}", data.rows, data.cols, data.ty.text);
        self.line(format!(
            "%{name}_all = pto.make_tensor_view %{name}_at, shape = [{rows}, {cols}], strides = [{cols}, {one}] : \
             !pto.tensor_view<{shape}>"
        ));
        let window = format!("!pto.partition_tensor_view<{shape}>");
        self.line(format!(
            "%{name}_view = pto.partition_view %{name}_all, offsets = [{zero}, {zero}], sizes = [{rows}, {cols}] : \
             !pto.tensor_view<{shape}> -> {window}"
        ));
        window
    }

    /// A tile that is loaded from a dense tensor of these extents, in a layout of its own.
    pub fn load_as(&mut self, name: &str, shape: &Shape, data: &Data, extents: &[usize], layout: &str) {
        self.tile(name, shape);
        let argument = Argument::Tensor(data.tensor());
        self.parameter(&format!("{name}_at"), format!("!pto.ptr<{}>", data.ty.text), Part { argument, want: None });
        let sizes: Vec<String> = extents.iter().map(|&extent| self.index(extent)).collect();
        let strides: Vec<String> = (1..=extents.len()).map(|dim| self.index(extents[dim..].iter().product())).collect();
        let zero = self.index(0);
        let zeros = vec![zero; extents.len()].join(", ");
        let list: Vec<String> = extents.iter().map(usize::to_string).collect();
        let text = format!("{}x{}", list.join("x"), data.ty.text);
        let (sizes, strides) = (sizes.join(", "), strides.join(", "));
        self.line(format!(
            "%{name}_all = pto.make_tensor_view %{name}_at, shape = [{sizes}], strides = [{strides}] \
             {{layout = #pto.layout<{layout}>}} : !pto.tensor_view<{text}>"
        ));
        self.line(format!(
            "%{name}_view = pto.partition_view %{name}_all, offsets = [{zeros}], sizes = [{sizes}] : \
             !pto.tensor_view<{text}> -> !pto.partition_tensor_view<{text}>"
        ));
        self.line(format!(
            "pto.tload ins(%{name}_view : !pto.partition_tensor_view<{text}>) outs(%{name} : {})",
            shape.text()
        ));
    }

    /// A tile that is loaded with data of its valid shape.
    pub fn load(&mut self, name: &str, shape: &Shape, data: &Data) {
        self.tile(name, shape);
        let window = self.window(name, data, Some(data), None);
        self.line(format!("pto.tload ins(%{name}_view : {window}) outs(%{name} : {})", shape.text()));
    }

    /// A scalar parameter.
    pub fn scalar(&mut self, name: &str, text: &str, value: Num) {
        let argument = match value {
            Num::I(value) => Argument::Int(value as i64),
            Num::F(value) => Argument::Float(value),
        };
        self.parameter(name, text.to_owned(), Part { argument, want: None });
        self.names.push(name.to_owned());
    }

    /// The operation: values of `ins`, values of `outs`, attributes behind it.
    pub fn op(&mut self, ins: &[(&str, String)], outs: &[(&str, String)], attributes: &str) {
        let list = |values: &[(&str, String)]| {
            let names: Vec<String> = values.iter().map(|(name, _)| format!("%{name}")).collect();
            let types: Vec<&str> = values.iter().map(|(_, ty)| ty.as_str()).collect();
            format!("{} : {}", names.join(", "), types.join(", "))
        };
        self.line(format!("pto.{} ins({}) outs({}) {attributes}", self.subject.op, list(ins), list(outs)));
        self.names(ins.iter().chain(outs).map(|(name, _)| *name));
    }

    /// Names that the call must have.
    pub fn names<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        let known: Vec<String> = names.into_iter().map(str::to_owned).collect();
        self.names.extend(known);
        self.names.sort();
        self.names.dedup();
    }

    /// The call, where the facts do not have it.
    pub fn callee(&mut self, callee: &'static str) {
        self.callee = Some(callee);
    }

    /// A tile that is stored, and what its valid part must be.
    pub fn store(&mut self, name: &str, shape: &Shape, want: &Data, close: Close) {
        let window = self.window(&format!("{name}_out"), want, None, Some(close));
        self.line(format!("pto.tstore ins(%{name} : {}) outs(%{name}_out_view : {window})", shape.text()));
    }

    /// The function.
    pub fn finish(self) -> Case {
        let mut function = format!("{}_{}", self.subject.op.replace('.', "_"), self.subject.ty.name);
        if !self.label.is_empty() {
            function += &format!("_{}", self.label);
        }
        let constants = self.constants.iter().map(|c| format!("    %c{c} = arith.constant {c} : index\n"));
        let lines = self.lines.iter().map(|line| format!("    {line}\n"));
        let text = format!(
            "  func.func @{function}({}) attributes {{pto.entry}} {{\n{}{}    return\n  }}\n",
            self.parameters.join(", "),
            constants.collect::<String>(),
            lines.collect::<String>(),
        );
        Case {
            subject: self.subject,
            label: self.label,
            function,
            text,
            names: self.names,
            callee: self.callee,
            runs: vec![self.parts],
        }
    }
}
