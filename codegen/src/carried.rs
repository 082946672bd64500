//! Tensor views that control flow carries: results of branches, arguments of loops. They are `GlobalTensor` variables
//! whose strides, and extents that the type leaves open, are known only at run time.

use crate::{
    expression::Expression,
    function::Body,
    view::{ND, RANK, ViewBinding, stated_layout, variable_types},
};
use melior::ir::{
    BlockLike, OperationRef, Type, Value, ValueLike,
    operation::OperationLike,
    r#type::{MemRefType, ShapedTypeLike},
};
use pto_dialect::{Element, Op, Space, View, defining_op, enum_text, op_name, value_key};

/// Element type and memory of a `memref`, which older programs take as a parameter and cast to a pointer.
pub fn memory_reference(ty: Type) -> Option<(Element, Space)> {
    let memory = MemRefType::try_from(ty).ok()?;
    let space = memory.memory_space().and_then(enum_text).map_or(Some(Space::Gm), Space::by_name)?;
    Some((Element::of(memory.element())?, space))
}

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// Makes a variable's name stand for a value of control flow, be it a view or not.
    pub fn bind_variable(&mut self, value: Value<'c, 'a>, name: &str) {
        let Some(view) = View::of_value(value) else { return self.bind(value, Expression::atom(name)) };
        let layout = self.carried_layout(name);
        let offset = RANK - view.shape.len().min(RANK);
        let query = |what: &str, i: usize| Expression::atom(format!("{name}.Get{what}({})", i + offset));
        let shape = view.shape.iter().enumerate();
        let binding = ViewBinding {
            base: Expression::atom(format!("{name}.data()")),
            shape: shape.map(|(i, e)| e.map_or_else(|| query("Shape", i), Expression::integer)).collect(),
            strides: (0..view.shape.len()).map(|i| query("Stride", i)).collect(),
            layout,
            element: view.element,
            object: Some(name.to_owned()),
        };
        self.bind_view(value, binding);
    }

    /// The C++ type of a variable for a value of control flow; for a view, with the layout of what flows in.
    pub fn variable_type(&mut self, value: Value<'c, 'a>, source: Option<Value<'c, 'a>>, name: &str) -> Option<String> {
        let Some(view) = View::of_value(value) else { return crate::function::cpp_type(value.r#type()) };
        let layout = source.and_then(|s| self.layout_of(s, 0)).unwrap_or_else(|| ND.to_owned());
        self.remember_layout(name, &layout);
        let [ty, ..] = variable_types(&view, &layout);
        Some(ty)
    }

    /// What is assigned to the variable `name` for a value.
    pub fn carried_text(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>, name: &str) -> String {
        let Some(view) = View::of_value(value) else { return self.argument(value) };
        let Some(binding) = self.view_of(value) else {
            self.fail(op, "hands on a view that is not defined in its function");
            return String::new();
        };
        let layout = self.carried_layout(name);
        if binding.layout != layout {
            self.fail(op, "joins tensor views of different layouts");
        }
        if binding.object.as_deref() == Some(name) {
            return name.to_owned();
        }
        let [ty, shape, stride] = variable_types(&view, &layout);
        let (_, strides) = binding.aligned();
        let open = binding.shape.iter().zip(&view.shape).filter(|(_, e)| e.is_none());
        let extents: Vec<&str> = open.map(|(value, _)| value.text()).collect();
        let strides: Vec<&str> = strides.iter().map(Expression::text).collect();
        format!("{ty}({}, {shape}({}), {stride}({}))", binding.base.text(), extents.join(", "), strides.join(", "))
    }

    /// The layout that a view has where it is made.
    fn layout_of(&self, value: Value<'c, 'a>, depth: usize) -> Option<String> {
        const DEEPEST: usize = 64;
        if let Some(binding) = self.view_of(value) {
            return Some(binding.layout);
        }
        let op = defining_op(value).filter(|_| depth < DEEPEST)?;
        if let Some(known) = Op::of(op) {
            if known.is("make_tensor_view") {
                return Some(stated_layout(known));
            }
            return self.layout_of(known.operand("source")?, depth + 1);
        }
        if op_name(op) == "scf.for" {
            let at = op.results().position(|r| value_key(r.into()) == value_key(value))?;
            return self.layout_of(op.operand(3 + at).ok()?, depth + 1);
        }
        let at = op.results().position(|r| value_key(r.into()) == value_key(value))?;
        op.regions().find_map(|region| {
            let last = melior::ir::RegionLike::first_block(&region)?.terminator()?;
            let skip = usize::from(op_name(last) == "scf.condition");
            self.layout_of(last.operand(skip + at).ok()?, depth + 1)
        })
    }
}
