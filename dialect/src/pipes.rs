//! On which pipe an operation runs, and which memory it touches.

use crate::{
    device::Legality,
    facts::Role,
    op::{Op, attribute},
    tile::{Space, Tile},
};
use melior::ir::{Value, ValueLike, r#type::TypeLike};

/// A hardware queue of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the hardware's names")]
pub enum Pipe {
    S,
    V,
    M,
    Mte1,
    Mte2,
    Mte3,
    Fix,
    /// Several of them; counts as each.
    All,
}

impl Pipe {
    /// The name in the dialect and in C++.
    pub fn name(self) -> &'static str {
        match self {
            Self::S => "PIPE_S",
            Self::V => "PIPE_V",
            Self::M => "PIPE_M",
            Self::Mte1 => "PIPE_MTE1",
            Self::Mte2 => "PIPE_MTE2",
            Self::Mte3 => "PIPE_MTE3",
            Self::Fix => "PIPE_FIX",
            Self::All => "PIPE_ALL",
        }
    }

    /// The pipe of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::S, Self::V, Self::M, Self::Mte1, Self::Mte2, Self::Mte3, Self::Fix, Self::All]
            .into_iter()
            .find(|p| p.name() == name)
    }
}

/// One operand's memory and what happens to it.
#[derive(Clone, Copy)]
pub struct Access<'c, 'a> {
    /// A tile, a view or a pointer.
    pub value: Value<'c, 'a>,
    /// Whether it is read.
    pub reads: bool,
    /// Whether it is written.
    pub writes: bool,
    /// Whether what is written is nothing that anybody may read: the library uses a source for its own ends.
    pub destroys: bool,
}

/// The mark of a tile that no operation touches: scratch that the target's library takes and does not use.
pub const UNTOUCHED: &str = "pto.untouched";

/// The memory that an operation touches on a target, in operand order.
pub fn accesses<'c, 'a>(op: Op<'c, 'a>, legality: Legality) -> Vec<Access<'c, 'a>> {
    let to_access = |(operand, value): (&crate::facts::Operand, Value<'c, 'a>)| {
        let ty = value.r#type();
        if ty.is_integer() || ty.is_index() || ty.is_float() {
            return None;
        }
        let destroys = legality == Legality::A3 && is_destroyed(op, operand.name, value);
        let (reads, writes) = match operand.role {
            Role::None => return None,
            // The X-to-ZZ form of `tmov` has its scratch tile where others have their vector.
            Role::Read => {
                (true, destroys || (op.is("tmov") && operand.name == "fp" && space_of(op, "fp") == Some(Space::Vec)))
            }
            Role::Write => (false, true),
            Role::Update | Role::Scratch => (true, true),
        };
        let untouched = operand.role == Role::Scratch
            && crate::op::defining_op(value).is_some_and(|definition| attribute(definition, UNTOUCHED).is_some());
        (!untouched).then_some(Access { value, reads, writes, destroys })
    };
    op.named_operands().into_iter().filter_map(to_access).collect()
}

/// Whether the library for A2/A3 overwrites a source.
fn is_destroyed(op: Op, operand: &str, value: Value) -> bool {
    let Some(tile) = Tile::of_value(value) else { return false };
    op.facts.destroys_a3.split_whitespace().any(|entry| {
        let (name, elements) = entry.split_once(':').unwrap_or((entry, ""));
        name == operand && (elements.is_empty() || tile.element.is_in(elements))
    })
}

/// Elements of i32 that a soft `syncall` counts in. Source: PTO-ISA, syncall_soft.hpp: 64 bytes.
pub const SYNCALL_ELEMENTS: i64 = 16;

/// Memory that the library takes for itself from address 0 on, in bytes. Source: PTO-ISA, TPrefetchAsyncImpl.hpp: a prefetch
/// context puts its queue of 256 bytes at address 0 of UB, whatever stands there.
pub fn fixed_memory(op: Op) -> Option<(Space, u64)> {
    op.is("make_prefetch_async_context").then_some((Space::Vec, 256))
}

/// The pipe of an operation; `None` when it runs on none (views, flags, control).
pub fn pipe_of(op: Op, legality: Legality) -> Option<Pipe> {
    match op.facts.pipe {
        "" | "none" => None,
        named if named.starts_with("PIPE_") => Pipe::by_name(named),
        rule => Some(by_rule(rule, op, legality)),
    }
}

fn space_of(op: Op, operand: &str) -> Option<Space> {
    op.operand(operand).and_then(Tile::of_value).map(|tile| tile.space)
}

/// The pipes that depend on operands. Source: PTO-ISA event.hpp and the A5 copy paths.
fn by_rule(rule: &str, op: Op, legality: Legality) -> Pipe {
    let src = space_of(op, "src");
    let dst = space_of(op, "dst");
    match rule {
        "tload" => Pipe::Mte2,
        "tstore" => match src {
            Some(Space::Acc) => Pipe::Fix,
            _ => Pipe::Mte3,
        },
        "tmov" | "textract" | "tinsert" => move_pipe(src, dst, legality),
        "tfillpad" => match (src, dst) {
            (Some(Space::Mat), _) | (_, Some(Space::Mat)) => Pipe::Mte2,
            _ => Pipe::V,
        },
        "texpands" => match dst {
            Some(Space::Mat) => Pipe::Mte2,
            _ => Pipe::V,
        },
        "tci" => match op.operand("tmp") {
            None => Pipe::S,
            Some(_) => Pipe::V,
        },
        "tscatter" => match (legality, op.operand("indexes")) {
            (Legality::A3, Some(_)) => Pipe::All,
            _ => Pipe::V,
        },
        "tpush" => match space_of(op, "tile") {
            Some(Space::Acc) => Pipe::Fix,
            Some(_) => Pipe::Mte3,
            // An entry in global memory, filled by whatever pipe: all of them are done before it is sent.
            None => Pipe::All,
        },
        // A5 waits on the pipe that will read the slot first.
        "tpop" => match (legality, space_of(op, "tile")) {
            (Legality::A5, Some(Space::Vec)) if !is_through_memory(op) => Pipe::V,
            (Legality::A5, Some(Space::Mat)) if !is_through_memory(op) => Pipe::Mte1,
            _ => Pipe::Mte2,
        },
        // Library code that uses several pipes inside: ordered with everything.
        _ => Pipe::All,
    }
}

/// Whether a queue operation's slots stand in global memory.
fn is_through_memory(op: Op) -> bool {
    op.operand("pipe_handle").and_then(Op::defining).is_some_and(|queue| queue.is("initialize_l2g2l_pipe"))
}

fn move_pipe(src: Option<Space>, dst: Option<Space>, legality: Legality) -> Pipe {
    match (src, dst) {
        (Some(Space::Acc), _) | (Some(Space::Mat), Some(Space::Scaling)) => Pipe::Fix,
        (Some(Space::Mat), _) => Pipe::Mte1,
        (Some(Space::Vec), Some(Space::Mat)) if legality == Legality::A5 => Pipe::Mte3,
        (Some(Space::Vec), Some(Space::Mat)) => Pipe::Fix,
        _ => Pipe::V,
    }
}
