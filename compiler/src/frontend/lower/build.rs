//! Making operations of the dialect by name: operands by the names in the table of facts, constants, locations.

use super::Lowering;
use crate::frontend::ast::{Problem, Span};
use melior::{
    Context,
    ir::{
        Attribute, Block, BlockLike, BlockRef, Identifier, Location, OperationRef, Region, RegionLike, Type, Value,
        ValueLike,
        attribute::{DenseI32ArrayAttribute, FloatAttribute, IntegerAttribute},
        operation::{Operation, OperationBuilder, OperationLike},
        r#type::IntegerType,
    },
};
use pto_dialect::{diagnostics::Collector, facts_by_name};

/// Operands of an operation by their names.
pub type Operands<'n, 'c, 'a> = [(&'n str, Value<'c, 'a>)];

impl<'c, 'a> Lowering<'_, 'c, 'a> {
    /// A place of the program's text.
    pub fn location(&self, span: Span) -> Location<'c> {
        if span.line == 0 {
            return Location::unknown(self.context);
        }
        Location::new(self.context, self.file, span.line as usize, span.column as usize)
    }

    /// The same, with the author's name for what is made there.
    pub fn named(&self, name: &str, span: Span) -> Location<'c> {
        Location::name(self.context, name, self.location(span))
    }

    /// Appends to the current block.
    pub fn append(&self, operation: Operation<'c>) -> OperationRef<'c, 'a> {
        self.block.append_operation(operation)
    }

    /// An operation of the dialect: `operands` by name, several of one name in their order.
    pub fn pto(
        &self,
        mnemonic: &str,
        operands: &Operands<'_, 'c, 'a>,
        attributes: &[(&str, Attribute<'c>)],
        result: Option<Type<'c>>,
        location: Location<'c>,
    ) -> Result<OperationRef<'c, 'a>, Problem> {
        let name = format!("pto.{mnemonic}");
        let Some(facts) = facts_by_name(&name) else {
            return Err(internal(format!("the dialect has no operation '{name}'")));
        };
        if let Some((unknown, _)) = operands.iter().find(|(n, _)| facts.operand_index(n).is_none()) {
            return Err(internal(format!("'{name}' has no operand '{unknown}'")));
        }
        let mut values = Vec::new();
        let mut sizes = Vec::new();
        for operand in facts.operands {
            let of_name = operands.iter().filter(|(n, _)| *n == operand.name).map(|(_, v)| *v);
            let before = values.len();
            values.extend(of_name);
            sizes.push((values.len() - before) as i32);
        }
        let mut all: Vec<(Identifier<'c>, Attribute<'c>)> =
            attributes.iter().map(|(n, a)| (Identifier::new(self.context, n), *a)).collect();
        if facts.segments {
            let segments = DenseI32ArrayAttribute::new(self.context, &sizes).into();
            all.push((Identifier::new(self.context, "operandSegmentSizes"), segments));
        }
        let results: Vec<Type> = result.into_iter().collect();
        let built = OperationBuilder::new(&name, location)
            .add_operands(&values)
            .add_attributes(&all)
            .add_results(&results)
            .build();
        built.map(|op| self.append(op)).map_err(|e| internal(format!("'{name}': {e}")))
    }

    /// The same, for its only result.
    pub fn pto_value(
        &self,
        mnemonic: &str,
        operands: &Operands<'_, 'c, 'a>,
        attributes: &[(&str, Attribute<'c>)],
        result: Type<'c>,
        location: Location<'c>,
    ) -> Result<Value<'c, 'a>, Problem> {
        only_result(self.pto(mnemonic, operands, attributes, Some(result), location)?)
    }

    /// An operation of another dialect with one result.
    pub fn value(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        attributes: &[(&str, Attribute<'c>)],
        result: Type<'c>,
        location: Location<'c>,
    ) -> Result<Value<'c, 'a>, Problem> {
        let attributes: Vec<(Identifier<'c>, Attribute<'c>)> =
            attributes.iter().map(|(n, a)| (Identifier::new(self.context, n), *a)).collect();
        let built = OperationBuilder::new(name, location)
            .add_operands(operands)
            .add_attributes(&attributes)
            .add_results(&[result])
            .build();
        only_result(built.map(|op| self.append(op)).map_err(|e| internal(format!("'{name}': {e}")))?)
    }

    /// An operation with regions, each one empty block with the given arguments.
    pub fn with_regions(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        results: &[Type<'c>],
        regions: &[&[(Type<'c>, Location<'c>)]],
        location: Location<'c>,
    ) -> Result<(OperationRef<'c, 'a>, Vec<BlockRef<'c, 'a>>), Problem> {
        let made: Vec<Region> = regions
            .iter()
            .map(|arguments| {
                let region = Region::new();
                region.append_block(Block::new(arguments));
                region
            })
            .collect();
        let built =
            OperationBuilder::new(name, location).add_operands(operands).add_results(results).add_regions_vec(made);
        let op = self.append(built.build().map_err(|e| internal(format!("'{name}': {e}")))?);
        let blocks = op.regions().filter_map(|r| r.first_block()).collect();
        Ok((op, blocks))
    }

    /// An integer constant at the head of the function, one for each value and type.
    pub fn constant(&mut self, value: i64, ty: Type<'c>) -> Result<Value<'c, 'a>, Problem> {
        self.constant_attribute(format!("{value} : {ty}"), IntegerAttribute::new(ty, value).into(), ty)
    }

    /// A floating-point constant at the head of the function.
    pub fn float_constant(&mut self, value: f64, ty: Type<'c>) -> Result<Value<'c, 'a>, Problem> {
        let attribute = FloatAttribute::new(self.context, ty, value).into();
        self.constant_attribute(format!("{} : {ty}", value.to_bits()), attribute, ty)
    }

    /// A constant of type index.
    pub fn index(&mut self, value: i64) -> Result<Value<'c, 'a>, Problem> {
        self.constant(value, Type::index(self.context))
    }

    fn constant_attribute(
        &mut self,
        key: String,
        value: Attribute<'c>,
        ty: Type<'c>,
    ) -> Result<Value<'c, 'a>, Problem> {
        if let Some(known) = self.constants.get(&key) {
            return Ok(*known);
        }
        let built = OperationBuilder::new("arith.constant", Location::unknown(self.context))
            .add_attributes(&[(Identifier::new(self.context, "value"), value)])
            .add_results(&[ty])
            .build()
            .map_err(|e| internal(format!("a constant: {e}")))?;
        // Before everything else: constants are used in all blocks, and a block may be open in the middle.
        let op = match self.last_constant {
            Some(last) => self.head.insert_operation_after(last, built),
            None => self.head.insert_operation(0, built),
        };
        self.last_constant = Some(op);
        let made = only_result(op)?;
        self.constants.insert(key, made);
        Ok(made)
    }

    /// An attribute by its text; the text is the compiler's own.
    pub fn attribute(&self, text: &str) -> Result<Attribute<'c>, Problem> {
        Attribute::parse(self.context, text).ok_or_else(|| internal(format!("attribute '{text}' does not parse")))
    }

    /// A type by its text; the text is the compiler's own.
    pub fn type_of_text(&self, text: &str, span: Span) -> Result<Type<'c>, Problem> {
        let reasons = Collector::attach(self.context);
        Type::parse(self.context, text).ok_or_else(|| {
            let reasons: Vec<String> = reasons.take().into_iter().map(|reason| reason.message).collect();
            Problem::new("PTO-0713", span, format!("the dialect has no type {text}: {}", reasons.join("; ")))
        })
    }

    /// An integer attribute of a width.
    pub fn integer(&self, value: i64, width: u32) -> Attribute<'c> {
        IntegerAttribute::new(integer_type(self.context, width), value).into()
    }
}

/// A signless integer type.
pub fn integer_type(context: &Context, width: u32) -> Type<'_> {
    IntegerType::new(context, width).into()
}

fn only_result<'c, 'a>(op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, Problem> {
    if op.result_count() == 0 {
        return Err(internal("an operation without result".to_owned()));
    }
    op.result(0).map(Value::from).map_err(|e| internal(e.to_string()))
}

/// What cannot happen unless the compiler is wrong.
pub fn internal(message: String) -> Problem {
    Problem::new(pto_dialect::diagnostics::INTERNAL, Span::default(), format!("internal error: {message}"))
}

/// Whether a value has an unsigned integer type, which arithmetic does not take.
pub fn is_unsigned(value: Value) -> bool {
    value.r#type().to_string().starts_with("ui")
}
