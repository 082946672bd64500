//! Tensor views: base pointer, shape, strides and layout, and the `GlobalTensor` that stands for them.

use crate::{expression::Expression, function::Body};
use melior::ir::{OperationRef, Value};
use pto_dialect::{Element, Op, View};

/// The C++ library's tensors always have five dimensions.
pub const RANK: usize = 5;

/// Rows one behind the other: the layout where nothing else is said.
pub const ND: &str = "pto::Layout::ND";

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

    /// `GlobalTensor<...> name(...);`
    fn declaration(&self, name: &str) -> String {
        let (ty, arguments) = common_type(std::slice::from_ref(self)).expect("one view has one layout");
        format!("{ty} {name}({});", arguments[0])
    }
}

/// One `GlobalTensor` type that all members have, and the constructor arguments of each. Extents and strides that are
/// the same literal everywhere are part of the type. `None`: the layouts differ.
pub fn common_type(members: &[ViewBinding]) -> Option<(String, Vec<String>)> {
    let first = &members[0];
    if members.iter().any(|m| m.layout != first.layout) {
        return None;
    }
    let aligned: Vec<(Vec<Expression>, Vec<Expression>)> = members.iter().map(ViewBinding::aligned).collect();
    let shapes: Vec<&Vec<Expression>> = aligned.iter().map(|(shape, _)| shape).collect();
    let strides: Vec<&Vec<Expression>> = aligned.iter().map(|(_, strides)| strides).collect();
    let (shape, shape_arguments) = common_dimensions("Shape", &shapes);
    let (stride, stride_arguments) = common_dimensions("Stride", &strides);
    let ty = format!("GlobalTensor<{}, {shape}, {stride}, {}>", first.element.cpp(), first.layout);
    let arguments = members.iter().enumerate().map(|(index, member)| {
        let base = member.base.text();
        match (shape_arguments[index].as_str(), stride_arguments[index].as_str()) {
            ("", "") => base.to_owned(),
            (s, d) => format!("{base}, {shape}({s}), {stride}({d})"),
        }
    });
    Some((ty, arguments.collect()))
}

/// `Shape<1, 1, 1, 16, -1>` and the run-time arguments of each member.
fn common_dimensions(name: &str, members: &[&Vec<Expression>]) -> (String, Vec<String>) {
    let fixed: Vec<Option<i64>> = (0..members[0].len())
        .map(|dim| members[0][dim].literal().filter(|l| members.iter().all(|m| m[dim].literal() == Some(*l))))
        .collect();
    let arguments = members.iter().map(|member| {
        let open = member.iter().zip(&fixed).filter(|(_, fixed)| fixed.is_none());
        open.map(|(value, _)| value.text().to_owned()).collect::<Vec<_>>().join(", ")
    });
    let text: Vec<String> = fixed.iter().map(|f| f.map_or("-1".to_owned(), |l| l.to_string())).collect();
    (format!("pto::{name}<{}>", text.join(", ")), arguments.collect())
}

/// `GlobalTensor<...>`, `pto::Shape<...>`, `pto::Stride<...>` of a variable or parameter: its strides, and extents that the
/// type leaves open, are known only at run time.
pub fn variable_types(view: &View, layout: &str) -> [String; 3] {
    let mut extents = vec!["1".to_owned(); RANK - view.shape.len().min(RANK)];
    extents.extend(view.shape.iter().map(|e| e.map_or("-1".to_owned(), |e| e.to_string())));
    let shape = format!("pto::Shape<{}>", extents.join(", "));
    let stride = "pto::Stride<-1, -1, -1, -1, -1>".to_owned();
    [format!("GlobalTensor<{}, {shape}, {stride}, {layout}>", view.element.cpp()), shape, stride]
}

/// The layout that `pto.make_tensor_view` states.
pub fn stated_layout(op: Op) -> String {
    op.attr("layout").and_then(crate::spelling::enum_case).map_or(ND.to_owned(), |layout| format!("pto::{layout}"))
}

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// `pto.make_tensor_view`.
    pub fn emit_make_tensor_view(&mut self, op: Op<'c, 'a>) {
        let (Some(ptr), Some(result)) = (op.operand("ptr"), op.result()) else { return };
        let Some(view) = View::of_value(result) else { return };
        let binding = ViewBinding {
            base: self.expression(ptr),
            shape: op.operands("shape").into_iter().map(|v| self.atom_of(v)).collect(),
            strides: op.operands("strides").into_iter().map(|v| self.atom_of(v)).collect(),
            layout: stated_layout(op),
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
            layout: ND.to_owned(),
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
            layout: ND.to_owned(),
            element: Element::I32,
            object: None,
        };
        let name = self.fresh_name("workspace");
        self.line(binding.declaration(&name));
        name
    }

    /// Gives a view its `GlobalTensor` variable.
    fn declare_view(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>, binding: &mut ViewBinding) {
        if binding.shape.is_empty() || binding.shape.len() > RANK || binding.shape.len() != binding.strides.len() {
            return self.fail(op, "needs 1 to 5 dimensions, and as many strides");
        }
        let name = self.declare_name(value, "view");
        self.line(binding.declaration(&name));
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

#[cfg(test)]
mod tests {
    use super::*;
    use pto_dialect::Element;

    fn member(base: &str, rows: Expression) -> ViewBinding {
        ViewBinding {
            base: Expression::atom(base),
            shape: vec![rows, Expression::integer(64)],
            strides: vec![Expression::integer(64), Expression::integer(1)],
            layout: ND.to_owned(),
            element: Element::F32,
            object: None,
        }
    }

    #[test]
    fn members_of_different_extents_share_a_type() {
        let same = common_type(&[member("p", Expression::integer(8)), member("q", Expression::integer(8))]);
        let (ty, arguments) = same.expect("one layout");
        assert!(ty.contains("Shape<1, 1, 1, 8, 64>"), "{ty}");
        assert_eq!(arguments, ["p", "q"]);
        let (ty, arguments) = common_type(&[member("p", Expression::integer(8)), member("q", Expression::atom("n"))])
            .expect("one layout");
        assert!(ty.contains("Shape<1, 1, 1, -1, 64>"), "{ty}");
        assert!(arguments[1].contains("(n)"), "{arguments:?}");
        let turned = ViewBinding { layout: "pto::Layout::DN".to_owned(), ..member("q", Expression::integer(8)) };
        assert!(common_type(&[member("p", Expression::integer(8)), turned]).is_none());
    }
}
