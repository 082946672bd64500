//! One operation on the memory: its reads, its working memory, its result.

use super::{
    effects::{Origin, origin, reads, scratch, touched},
    pieces::Writer,
    places::Place,
    run::{Run, are_slots_of_one},
};
use crate::frontend::{
    ast::{Call, Callee, Expr, Problem, Span, VarId},
    ops::op_by_name,
};

impl Run<'_> {
    /// Runs an assignment or a call.
    pub(super) fn operation(&mut self, value: &Expr, target: Option<VarId>, span: Span) {
        let name = match value.as_call().map(|call| &call.callee) {
            Some(Callee::Op(name) | Callee::Function(name)) => name,
            None => "the value",
        };
        let origin = origin(value);
        let read = reads(value);
        for var in &read {
            self.read(*var, name, span);
        }
        let spoiled = value.as_call().map(scratch).unwrap_or_default();
        let own = target.filter(|_| origin == Origin::Own);
        self.overlaps(name, own, &read, &spoiled, span);
        if let (Some(call), Some(own)) = (value.as_call(), own) {
            self.forbidden_in_place(call, own, span);
        }
        for var in spoiled {
            if let Some(place) = self.places.get(var) {
                self.memory.write(place.area, place.value, Writer { tile: var, span }, |_| false);
            }
        }
        for var in value.as_call().map(touched).unwrap_or_default() {
            if let Some(place) = self.places.get(var) {
                self.memory.touch(place.area, place.value, Writer { tile: var, span });
            }
        }
        match (origin, target) {
            (Origin::Own | Origin::InPlace(_), Some(target)) => self.define(target, span),
            (Origin::Created, Some(target)) => {
                if let Some(place) = self.places.get(target) {
                    self.memory.claim(place.area, target, Writer { tile: target, span });
                }
            }
            // Other names of a value are resolved beforehand; what is popped stands in the queue.
            _ => {}
        }
    }

    /// Reads all variables of an expression.
    pub(super) fn read_all(&mut self, value: &Expr, reader: &str, span: Span) {
        for var in value.vars() {
            self.read(var, reader, span);
        }
    }

    fn read(&mut self, var: VarId, reader: &str, span: Span) {
        let Some(place) = self.places.get(var) else { return };
        if self.places.misplaced.contains(&place.value) {
            return;
        }
        let Some((lost, writer)) = self.memory.lost(place.area, place.value) else { return };
        if !self.reported.insert(("PTO-0673", place.value)) {
            return;
        }
        let (tile, by) = (self.function.var(var), self.function.var(writer.tile));
        let what =
            if by.name == tile.name { "another value of that name".to_owned() } else { format!("'{}'", by.name) };
        let message =
            format!("{reader} reads tile '{}' ({}), but {what} has overwritten {lost} of it", tile.name, place.area);
        self.problems.push(
            Problem::new("PTO-0673", span, message)
                .note(tile.span, format!("'{}' is given its value", tile.name))
                .note(writer.span, format!("overwritten for '{}'", by.name)),
        );
    }

    /// Whether what one operation writes spoils what it reads.
    fn overlaps(&mut self, name: &str, target: Option<VarId>, read: &[VarId], spoiled: &[VarId], span: Span) {
        let places = self.places;
        if let Some((target, result)) = target.and_then(|t| Some((t, places.get(t)?))) {
            for (source, argument) in read.iter().filter_map(|s| Some((*s, places.get(*s)?))) {
                let in_place = argument.area.start == result.area.start && result.area.bytes() <= argument.area.bytes();
                if argument.exact && !in_place && !are_slots_of_one(result, argument) {
                    self.overlap(name, ("result", target, result), ("argument", source, argument), span);
                }
            }
            for (tmp, memory) in spoiled.iter().filter_map(|s| Some((*s, places.get(*s)?))) {
                if memory.exact && memory.area.start != result.area.start {
                    self.overlap(name, ("result", target, result), ("working memory", tmp, memory), span);
                }
            }
        }
        for (tmp, memory) in spoiled.iter().filter_map(|s| Some((*s, places.get(*s)?))) {
            for (source, argument) in read.iter().filter_map(|s| Some((*s, places.get(*s)?))) {
                // Naming one value for both is the author's affair.
                if memory.exact && argument.exact && memory.value != argument.value {
                    self.overlap(name, ("working memory", tmp, memory), ("argument", source, argument), span);
                }
            }
        }
    }

    /// Whether a result stands where an argument does that the operation may not write over.
    fn forbidden_in_place(&mut self, call: &Call, target: VarId, span: Span) {
        let places = self.places;
        let Some(row) = call.op().and_then(op_by_name) else { return };
        let Some(result) = places.get(target) else { return };
        for (index, argument) in call.args.iter().enumerate() {
            let Some((source, place)) = argument.as_var().and_then(|v| Some((v, places.get(v)?))) else { continue };
            let forbidden = row.not_inplace || row.no_alias.contains(&index);
            if forbidden && place.exact && place.area.start == result.area.start && !are_slots_of_one(result, place) {
                self.overlap(row.name, ("result", target, result), ("argument", source, place), span);
            }
        }
    }

    fn overlap(&mut self, op: &str, a: (&str, VarId, &Place), b: (&str, VarId, &Place), span: Span) {
        let Some(common) = a.2.area.overlap(b.2.area) else { return };
        if !self.reported.insert(("PTO-0675", a.1)) {
            return;
        }
        let part = |(role, var, place): (&str, VarId, &Place)| {
            format!("its {role} '{}' ({})", self.function.var(var).name, place.area)
        };
        let message = format!("{op}: {} overlaps {} in {common}", part(a), part(b));
        let note = format!("'{}'", self.function.var(b.1).name);
        self.problems.push(Problem::new("PTO-0675", span, message).note(self.function.var(b.1).span, note));
    }
}
