//! The generated table of facts about every operation (from `td/*.td`, see `build/facts.rs`).

/// What an operation does with the memory behind an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A plain value, or a tile that is only named.
    None,
    /// Its memory is read.
    Read,
    /// Its memory is written.
    Write,
    /// Its memory is read and written.
    Update,
    /// Its memory is written and read during the operation; the content means nothing before or after.
    Scratch,
}

/// How many values an operand stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Arity {
    One,
    Optional,
    Variadic,
}

/// One operand of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The name in the definition (`src0`, `dst`, `tmp`).
    pub name: &'static str,
    /// What happens to its memory.
    pub role: Role,
    /// How many values it stands for.
    pub arity: Arity,
    /// Whether it stands in `outs(...)`.
    pub is_out: bool,
    /// Whether it must be a tile.
    pub is_tile: bool,
}

/// Everything the definition of an operation says; see `td/Base.td` for the meaning of each field.
#[derive(Debug)]
#[expect(missing_docs, reason = "documented in td/Base.td")]
pub struct OpFacts {
    /// The full name (`pto.tadd`).
    pub name: &'static str,
    pub operands: &'static [Operand],
    pub attributes: &'static [&'static str],
    pub results: &'static [&'static str],
    pub segments: bool,
    pub pipe: &'static str,
    pub cpp: &'static str,
    pub typed: &'static str,
    pub a3: &'static str,
    pub a5: &'static str,
    pub inplace: &'static str,
    pub inplace_a3: &'static str,
    pub destroys_a3: &'static str,
    pub scratch: &'static str,
    pub events: &'static str,
    pub rules: &'static [&'static str],
}

/// How the cases of an enumeration are written in C++; see `td/Enums.td`.
#[derive(Debug)]
pub struct EnumSpelling {
    /// The enumeration's name in the dialect.
    pub name: &'static str,
    /// Its name in the C++ library; empty: cases are bare names.
    pub cpp_enum: &'static str,
    /// How a case is turned into a C++ name.
    pub cpp_case: &'static str,
    /// The cases in the order of the definition.
    pub cases: &'static [&'static str],
}

/// One row per operation, sorted by name (generated).
pub static OP_FACTS: &[OpFacts] = generated::OP_FACTS;
/// One row per enumeration, sorted by name (generated).
pub static ENUM_SPELLINGS: &[EnumSpelling] = generated::ENUM_SPELLINGS;

mod generated {
    use super::{Arity, EnumSpelling, OpFacts, Operand, Role};
    include!(concat!(env!("OUT_DIR"), "/op_facts.rs"));
}

/// The facts of an operation by its full name.
pub fn facts_by_name(name: &str) -> Option<&'static OpFacts> {
    OP_FACTS.binary_search_by(|row| row.name.cmp(name)).ok().map(|index| &OP_FACTS[index])
}

/// The C++ spelling of an enumeration by its name in the dialect.
pub fn enum_spelling(name: &str) -> Option<&'static EnumSpelling> {
    ENUM_SPELLINGS.iter().find(|row| row.name == name)
}

impl OpFacts {
    /// The position of an operand in `operands`.
    pub fn operand_index(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|o| o.name == name)
    }

    /// The operands whose bytes `dst` may take on every target.
    pub fn inplace_on_all(&self) -> &'static str {
        if self.inplace_a3 == "=" { self.inplace } else { self.inplace_a3 }
    }

    /// Whether a verifier rule applies.
    pub fn has_rule(&self, rule: &str) -> bool {
        self.rules.contains(&rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found_by_name() {
        assert!(OP_FACTS.windows(2).all(|pair| pair[0].name < pair[1].name));
        let add = facts_by_name("pto.tadd").expect("tadd is defined");
        assert_eq!(add.pipe, "PIPE_V");
        assert_eq!(add.operands.iter().map(|o| o.name).collect::<Vec<_>>(), ["src0", "src1", "dst"]);
        assert!(add.operands[2].is_out && add.operands[2].role == Role::Write);
        assert!(facts_by_name("pto.nothing").is_none());
    }

    #[test]
    fn every_call_names_only_what_the_operation_has() {
        for row in OP_FACTS {
            let mut rest = row.cpp;
            while let Some(at) = rest.find(['$', '@', '%']) {
                let tail = &rest[at + 1..];
                let end = tail.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail.len());
                let name = &tail[..end];
                let known =
                    row.operand_index(name).is_some() || row.attributes.contains(&name) || row.results.contains(&name);
                assert!(known, "{}: '{name}' in the C++ call is no operand, attribute or result", row.name);
                rest = &tail[end..];
            }
        }
    }
}
