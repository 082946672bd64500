//! Where each tile variable's value stands: from what its type states and what it is another name of.
//!
//! Views, slices and copies stand where their source stands, results of in-place operations where the argument did, and
//! bound variables (carried, results) where what is bound to them does. A type that says otherwise is a problem here
//! (PTO-0674): its reader would look elsewhere. Whether values survive is not decided here.

use super::{
    area::Area,
    bounds::Bounds,
    effects::{Origin, origin},
    stated::{Declarations, Stated},
    views::{part, pitch, seen_as},
};
use crate::frontend::ast::{Block, Expr, Function, MemorySpace, Problem, Span, Stmt, StmtKind, TileType, VarId};
use std::collections::HashSet;

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its bytes, or bytes among which they are.
    pub(super) area: Area,
    /// Whether `area` is its bytes, and not just around them.
    pub(super) exact: bool,
    /// Whether it depends on run-time values which slot of its allocation it is.
    pub(super) moves: bool,
    /// The variable that was given the value.
    pub(super) value: VarId,
    /// The allocation, when it is declared in slots.
    pub(super) slots: Option<VarId>,
    /// Bytes from one row to the next, when rows follow one another.
    pub(super) pitch: Option<u64>,
}

/// All of a function.
pub(super) struct Places {
    of: Vec<Option<Place>>,
    /// Variables whose value is known to stand elsewhere; that is reported, and their reads are not checked.
    pub(super) misplaced: HashSet<VarId>,
}

/// What finds them.
struct Finder<'p, 'b> {
    function: &'p Function,
    declarations: &'p Declarations,
    places: Places,
    /// Tiles in the slot of a queue.
    popped: HashSet<VarId>,
    bounds: &'b mut Bounds<'p>,
    problems: Vec<Problem>,
}

impl Places {
    /// Finds them, and has the addresses checked on the way.
    pub(super) fn find<'p>(
        function: &'p Function,
        declarations: &'p Declarations,
        bounds: &mut Bounds<'p>,
    ) -> (Self, Vec<Problem>) {
        let places = Self { of: vec![None; function.vars.len()], misplaced: HashSet::new() };
        let mut finder =
            Finder { function, declarations, places, popped: HashSet::new(), bounds, problems: Vec::new() };
        for param in &function.params {
            finder.own(param.var, function.span);
        }
        if let Some(body) = &function.body {
            finder.block(body);
        }
        (finder.places, finder.problems)
    }

    /// Of a variable; `None` for what is no tile, and for tiles in the slot of a queue.
    pub(super) fn get(&self, var: VarId) -> Option<&Place> {
        self.of.get(var.index())?.as_ref()
    }
}

impl<'p> Finder<'p, '_> {
    fn block(&mut self, block: &'p Block) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'p Stmt) {
        if let StmtKind::Assign { target, value } = &statement.kind {
            self.assign(*target, value, statement.span);
        }
        let (carried, inits, results) = match &statement.kind {
            StmtKind::For(f) => (&f.carried[..], &f.inits[..], &f.results[..]),
            StmtKind::While(w) => (&w.carried[..], &w.inits[..], &w.results[..]),
            StmtKind::If { results, .. } => (&[][..], &[][..], &results[..]),
            _ => (&[][..], &[][..], &[][..]),
        };
        self.bind(carried, inits, "the carried variable", statement.span);
        let blocks = statement.blocks();
        for block in &blocks {
            self.block(block);
        }
        if carried.is_empty() {
            for block in blocks {
                self.bind_yields(results, block, "the result of the branches");
            }
            return;
        }
        for block in blocks {
            self.bind_yields(carried, block, "the carried variable");
        }
        for (result, carried) in results.iter().zip(carried) {
            self.bind_one(*result, Some(*carried), "the result of the loop", statement.span);
        }
    }

    fn bind_yields(&mut self, readers: &[VarId], block: &'p Block, what: &str) {
        if let Some(Stmt { kind: StmtKind::Yield(values), span, .. }) = block.last() {
            self.bind(readers, values, what, *span);
        }
    }

    fn bind(&mut self, readers: &[VarId], values: &[Expr], what: &str, span: Span) {
        for (reader, value) in readers.iter().zip(values) {
            self.bind_one(*reader, value.as_var(), what, span);
        }
    }

    /// A variable is to have the value of another, at the place that its type states.
    fn bind_one(&mut self, reader: VarId, source: Option<VarId>, what: &str, span: Span) {
        let Some(tile) = self.tile(reader) else { return };
        let Some(source) = source else { return self.own(reader, span) };
        if self.places.get(reader).is_none() && !self.popped.contains(&reader) {
            self.first_binding(reader, tile, source, span);
        }
        if self.is_misplaced(source) {
            self.places.misplaced.insert(reader);
        }
        if let Some(difference) = self.difference(reader, source)
            && self.places.misplaced.insert(reader)
        {
            let (reader, source) = (self.function.var(reader), self.function.var(source));
            let message = format!("{what} '{}' does not stand where '{}' does: {difference}", reader.name, source.name);
            self.problems.push(Problem::new("PTO-0674", span, message).note(reader.span, format!("'{}'", reader.name)));
        }
    }

    fn first_binding(&mut self, reader: VarId, tile: &TileType, source: VarId, span: Span) {
        let stated = self.declarations.stated(tile).ok().flatten();
        if self.popped.contains(&source) && stated.is_none() {
            self.popped.insert(reader);
            return;
        }
        let place = self.places.get(source).copied();
        match (place, stated) {
            // Derived types of results may leave out what they are bound to.
            (Some(place), None) if !self.function.var(reader).annotated => {
                self.set(reader, Place { value: reader, ..place });
            }
            (Some(place), Some(stated)) if same_start(&place, &stated) => {
                self.set(reader, Place { value: reader, ..place });
            }
            _ => self.own(reader, span),
        }
    }

    /// How the places of a bound variable and of what is bound to it differ.
    fn difference(&self, reader: VarId, source: VarId) -> Option<String> {
        let at = |place: Option<&Place>| place.map_or("the slot of a queue".to_owned(), |p| p.area.to_string());
        let known = |var| self.places.get(var).is_some() || self.popped.contains(&var);
        if !known(reader) || !known(source) {
            return None;
        }
        match (self.places.get(reader), self.places.get(source)) {
            (None, None) => None,
            (Some(a), Some(b)) if a.slots.is_some() && a.slots == b.slots && (a.moves || b.moves) => None,
            (Some(a), Some(b)) if !b.exact && !b.moves => {
                Some(format!("{} and somewhere in {}, which only the run decides", a.area, b.area))
            }
            (Some(a), Some(b)) => {
                let same = a.area == b.area || a.area.is_whole() && b.area.is_whole() && a.area.start == b.area.start;
                (!(same && a.area.space == b.area.space)).then(|| format!("{} and {}", a.area, b.area))
            }
            (a, b) => Some(format!("{} and {}", at(a), at(b))),
        }
    }

    fn assign(&mut self, target: VarId, value: &'p Expr, span: Span) {
        let Some(tile) = self.tile(target) else { return };
        let origin = origin(value);
        let (Origin::Alias(source) | Origin::Part(source) | Origin::InPlace(source)) = origin else {
            if origin == Origin::Popped {
                self.popped.insert(target);
                return;
            }
            return self.own(target, span);
        };
        if self.popped.contains(&source) {
            self.popped.insert(target);
            return;
        }
        let Some(from) = self.places.get(source).copied() else {
            // The source's own problem is reported; a source that is no tile gives no bytes.
            if self.tile(source).is_none() {
                self.own(target, span);
            }
            return;
        };
        let place = match origin {
            Origin::Part(_) => value.as_call().and_then(|call| part(&from, tile, self.tile(source)?, call)),
            Origin::Alias(_) => Some(seen_as(&from, tile)),
            _ => Some(from),
        };
        let place = place.unwrap_or(Place { exact: false, pitch: None, ..from });
        let value_of = if matches!(origin, Origin::InPlace(_)) { target } else { from.value };
        self.check_view(target, tile, &place, origin, span);
        self.set(target, Place { value: value_of, ..place });
    }

    /// The type of a view must state the bytes that the view has.
    fn check_view(&mut self, target: VarId, tile: &TileType, place: &Place, origin: Origin, span: Span) {
        let name = &self.function.var(target).name;
        let stated = match self.declarations.stated(tile) {
            Ok(Some(stated)) => stated,
            Ok(None) => return self.bounds.problem(span, format!("tile '{name}' has no address")),
            Err(why) => return self.bounds.problem(span, format!("tile '{name}' {why}")),
        };
        self.bounds.view(name, tile, &stated, span);
        let sized =
            !place.exact || super::bounds::unrounded_bytes(tile).is_none_or(|bytes| bytes <= place.area.bytes());
        if !sized {
            self.bounds
                .problem(span, format!("tile '{name}' has more bytes than what it is a view of, {}", place.area));
        }
        if !place.exact || place.moves || stated.moves || same_start(place, &stated) {
            return;
        }
        let whose = if matches!(origin, Origin::InPlace(_)) { "the argument that it replaces" } else { "its source" };
        let start = stated.start.unwrap_or_default();
        let message =
            format!("tile '{name}' is said to begin at {} {start}, but {whose} stands at {}", stated.space, place.area);
        self.problems.push(Problem::new("PTO-0674", span, message));
    }

    /// A tile with bytes of its own.
    fn own(&mut self, var: VarId, span: Span) {
        let Some(tile) = self.tile(var) else { return };
        if tile.space == Some(MemorySpace::Ddr) {
            return;
        }
        let name = &self.function.var(var).name;
        let stated = match self.declarations.stated(tile) {
            Ok(Some(stated)) => stated,
            Ok(None) => return self.bounds.problem(span, format!("tile '{name}' has no address")),
            Err(why) => return self.bounds.problem(span, format!("tile '{name}' {why}")),
        };
        if let Some((area, moves)) = self.bounds.own(name, tile, &stated, span) {
            let slots = stated.base.filter(|_| stated.slotted);
            let pitch = (!moves).then(|| pitch(tile)).flatten();
            self.set(var, Place { area, exact: !moves, moves, value: var, slots, pitch });
        }
    }

    fn set(&mut self, var: VarId, place: Place) {
        if let Some(entry) = self.places.of.get_mut(var.index()) {
            *entry = Some(place);
        }
    }

    fn is_misplaced(&self, var: VarId) -> bool {
        self.places.get(var).is_some_and(|p| self.places.misplaced.contains(&p.value))
    }

    fn tile(&self, var: VarId) -> Option<&'p TileType> {
        self.function.vars.get(var.index())?.ty.tile()
    }
}

fn same_start(place: &Place, stated: &Stated) -> bool {
    place.area.space == stated.space && stated.start == Some(place.area.start)
}
