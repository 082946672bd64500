//! Tensor views: base pointer, shape, strides and layout, and the `GlobalTensor` that stands for them.

use crate::{expression::Expression, function::Body};
use melior::ir::{OperationRef, Value};
use pto_dialect::{Element, Op, View};

/// The C++ library's tensors always have five dimensions.
pub const RANK: usize = 5;

/// What is known of a view while its function is emitted.
#[derive(Clone)]
pub struct ViewBinding {
    /// Pointer to the first element of the window.
    pub base: Expression,
    /// Extents, outermost first, at the view's own rank.
    pub shape: Vec<Expression>,
    /// Strides in elements, at the view's own rank.
    pub strides: Vec<Expression>,
    /// `Layout::ND` and so on.
    pub layout: String,
    /// Element type.
    pub element: Element,
    /// The `GlobalTensor` variable, once there is one.
    pub object: Option<String>,
}

impl ViewBinding {
    /// Extents and strides right-aligned to five: leading dimensions have extent 1 and the stride of all that is inside
    /// them.
    pub fn aligned(&self) -> (Vec<Expression>, Vec<Expression>) {
        let missing = RANK - self.shape.len().min(RANK);
        let mut shape = vec![Expression::integer(1); missing];
        shape.extend(self.shape.iter().cloned());
        let mut strides = self.strides.clone();
        for _ in 0..missing {
            let outer = self.shape[0].times(&self.strides[0]);
            // Every leading dimension has extent 1 in front of it, so they all have the same stride.
            strides.insert(0, if strides.len() == self.strides.len() { outer } else { strides[0].clone() });
        }
        (shape, strides)
    }

    /// `Shape<1, 1, 1, 16, -1>` and the run-time arguments.
    fn template(name: &str, values: &[Expression]) -> (String, Vec<String>) {
        let fixed: Vec<String> =
            values.iter().map(|v| v.literal().map_or("-1".to_owned(), |l| l.to_string())).collect();
        let dynamic = values.iter().filter(|v| v.literal().is_none()).map(|v| v.text().to_owned()).collect();
        (format!("pto::{name}<{}>", fixed.join(", ")), dynamic)
    }

    /// The C++ type, and constructor arguments for shape and strides (empty where everything is static).
    fn declaration(&self) -> (String, String) {
        let (shape, strides) = self.aligned();
        let (shape, shape_arguments) = Self::template("Shape", &shape);
        let (strides, stride_arguments) = Self::template("Stride", &strides);
        let ty = format!("GlobalTensor<{}, {shape}, {strides}, {}>", self.element.cpp(), self.layout);
        if shape_arguments.is_empty() && stride_arguments.is_empty() {
            return (ty, String::new());
        }
        let arguments =
            format!(", {shape}({}), {strides}({})", shape_arguments.join(", "), stride_arguments.join(", "));
        (ty, arguments)
    }
}

/// The type of a view that is a function's parameter: its strides are only known at run time.
pub fn parameter_type(view: &View) -> String {
    let mut shape = vec!["1".to_owned(); RANK - view.shape.len().min(RANK)];
    shape.extend(view.shape.iter().map(|e| e.map_or("-1".to_owned(), |e| e.to_string())));
    format!(
        "GlobalTensor<{}, pto::Shape<{}>, pto::Stride<-1, -1, -1, -1, -1>, pto::Layout::ND>",
        view.element.cpp(),
        shape.join(", ")
    )
}

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// A parameter of view type: already an object.
    pub fn bind_view_parameter(&mut self, value: Value<'c, 'a>, view: &View, name: &str) {
        let offset = RANK - view.shape.len().min(RANK);
        let query = |what: &str, i: usize| Expression::atom(format!("{name}.Get{what}({})", i + offset));
        let shape = view.shape.iter().enumerate();
        let binding = ViewBinding {
            base: Expression::atom(format!("{name}.data()")),
            shape: shape.map(|(i, e)| e.map_or_else(|| query("Shape", i), Expression::integer)).collect(),
            strides: (0..view.shape.len()).map(|i| query("Stride", i)).collect(),
            layout: "pto::Layout::ND".to_owned(),
            element: view.element,
            object: Some(name.to_owned()),
        };
        self.bind_view(value, binding);
    }

    /// `pto.make_tensor_view`.
    pub fn emit_make_tensor_view(&mut self, op: Op<'c, 'a>) {
        let (Some(ptr), Some(result)) = (op.operand("ptr"), op.result()) else { return };
        let Some(view) = View::of_value(result) else { return };
        let layout = op.attr("layout").and_then(crate::spelling::enum_case).unwrap_or_else(|| "Layout::ND".to_owned());
        let binding = ViewBinding {
            base: self.expression(ptr),
            shape: op.operands("shape").into_iter().map(|v| self.atom_of(v)).collect(),
            strides: op.operands("strides").into_iter().map(|v| self.atom_of(v)).collect(),
            layout: format!("pto::{layout}"),
            element: view.element,
            object: None,
        };
        self.bind_view(result, binding);
    }

    /// `pto.partition_view`: an offset from its source's base, in elements.
    pub fn emit_partition_view(&mut self, op: Op<'c, 'a>) {
        let (Some(source), Some(result)) = (op.operand("source"), op.result()) else { return };
        let Some(parent) = self.view_of(source) else { return self.fail(op.raw, "has a source that is no view") };
        let mut offset = Expression::integer(0);
        for (position, stride) in op.operands("offsets").into_iter().zip(&parent.strides) {
            let position = self.expression(position);
            offset = offset.plus(&position.times(stride));
        }
        let base = parent.base.plus(&offset);
        let shape = op.operands("sizes").into_iter().map(|v| self.atom_of(v)).collect();
        let mut binding = ViewBinding { base, shape, object: None, ..parent };
        if !pto_dialect::edit::is_unused(result) {
            self.declare_view(op.raw, result, &mut binding);
        }
        self.bind_view(result, binding);
    }

    /// `pto.declare_global`: extents of the type, the strides that are stated or those of a dense tensor, no address yet.
    pub fn declare_entry(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>, strides: Option<Vec<i64>>) {
        let Some(view) = View::of_value(value) else { return };
        let shape: Vec<i64> = view.shape.iter().map(|extent| extent.unwrap_or(1)).collect();
        let dense = || (0..shape.len()).map(|i| shape[i + 1..].iter().product()).collect();
        let integers = |values: &[i64]| values.iter().map(|&v| Expression::integer(v)).collect();
        let mut binding = ViewBinding {
            base: Expression::atom("nullptr"),
            shape: integers(&shape),
            strides: integers(&strides.unwrap_or_else(dense)),
            layout: "pto::Layout::ND".to_owned(),
            element: view.element,
            object: None,
        };
        self.declare_view(op, value, &mut binding);
        // Windows start where the queue has put the entry by then.
        binding.base = Expression::atom(format!("{}.data()", binding.object.clone().unwrap_or_default()));
        self.bind_view(value, binding);
    }

    /// A dense tensor of counters over a pointer; its name.
    pub fn declare_counters(&mut self, base: Expression, count: i64) -> String {
        let binding = ViewBinding {
            base,
            shape: vec![Expression::integer(count)],
            strides: vec![Expression::integer(1)],
            layout: "pto::Layout::ND".to_owned(),
            element: Element::I32,
            object: None,
        };
        let name = self.fresh_name("workspace");
        let (ty, arguments) = binding.declaration();
        self.line(format!("{ty} {name}({}{arguments});", binding.base.text()));
        name
    }

    /// Gives a view its `GlobalTensor` variable.
    fn declare_view(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>, binding: &mut ViewBinding) {
        if binding.shape.is_empty() || binding.shape.len() > RANK || binding.shape.len() != binding.strides.len() {
            return self.fail(op, "needs 1 to 5 dimensions, and as many strides");
        }
        let name = self.declare_name(value, "view");
        let (ty, arguments) = binding.declaration();
        self.line(format!("{ty} {name}({}{arguments});", binding.base.text()));
        binding.object = Some(name);
    }

    /// The `GlobalTensor` variable of a view, declared here when it has none.
    pub fn view_object(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> String {
        let Some(mut binding) = self.view_of(value) else {
            self.fail(op, "uses a view that is not defined in its function");
            return String::new();
        };
        if binding.object.is_none() {
            self.declare_view(op, value, &mut binding);
            // Not remembered: the declaration may stand in an inner block.
        }
        binding.object.unwrap_or_default()
    }

    /// `pto.get_tensor_view_dim`, `pto.get_tensor_view_stride`.
    pub fn emit_view_query(&mut self, op: Op<'c, 'a>) {
        let (Some(source), Some(result)) = (op.operand("tensor_view"), op.result()) else { return };
        let Some(binding) = self.view_of(source) else { return self.fail(op.raw, "has a source that is no view") };
        let values = if op.is("get_tensor_view_dim") { &binding.shape } else { &binding.strides };
        let index = op.operand("dim_index").and_then(pto_dialect::constant_int);
        match index.and_then(|i| usize::try_from(i).ok()).and_then(|i| values.get(i)) {
            Some(value) => self.bind(result, value.clone()),
            None => self.fail(op.raw, "needs a constant dimension within the view's rank"),
        }
    }
}
