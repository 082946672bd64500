//! The device model: what `toolchain.toml` says about each target, with the command line's overrides applied.

use crate::tile::Space;
use serde::Deserialize;
use std::{collections::BTreeMap, sync::OnceLock};

const SOURCE: &str = include_str!("../../toolchain.toml");

/// Which column of the rules in `td/` a target follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names of the families")]
pub enum Legality {
    A3,
    A5,
}

/// In which order the boxes of a tile follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum BlockOrder {
    RowMajor,
    ColMajor,
}

/// Bytes that our own placement leaves free at the top of a space.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Reserve {
    /// How many.
    pub bytes: u64,
    /// Why.
    pub reason: String,
}

/// Limits in elements.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "documented in toolchain.toml")]
pub struct Limits {
    pub matmul_extent: i64,
    pub acc_cols: i64,
    pub vec_rows: i64,
    pub mat_rows: i64,
}

/// What a target's synchronisation offers.
#[derive(Clone, Debug, Default, Deserialize)]
#[expect(missing_docs, reason = "documented in toolchain.toml")]
pub struct Sync {
    pub event_ids: u32,
    pub cross_core_ids: u32,
    pub no_barrier: Vec<String>,
    pub in_order: Vec<String>,
}

/// How the device compiler is told about a target.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "documented in toolchain.toml")]
pub struct CompilerFlags {
    pub vector: String,
    pub cube: String,
    pub mixed: String,
    pub defines: Vec<String>,
    pub stack_flags: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct SpaceRow {
    memory: String,
    size_macro: String,
    align_macro: String,
}

#[derive(Clone, Debug, Deserialize)]
struct TargetRow {
    title: String,
    aliases: Vec<String>,
    legality: Legality,
    define: String,
    codegen: bool,
    left_blocks: Option<BlockOrder>,
    align: u64,
    capacity: BTreeMap<String, u64>,
    #[serde(default)]
    place_align: BTreeMap<String, u64>,
    #[serde(default)]
    reserve: BTreeMap<String, Reserve>,
    limits: Option<Limits>,
    #[serde(default)]
    sync: Sync,
    compiler: Option<CompilerFlags>,
}

/// How to find and call the device compiler.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "documented in toolchain.toml")]
pub struct DeviceCompiler {
    pub names: Vec<String>,
    pub home_variable: String,
    pub home_folders: Vec<String>,
    pub flags: Vec<String>,
    pub arch_flag: String,
    pub include_variables: Vec<String>,
    pub home_includes: Vec<String>,
}

#[derive(Deserialize)]
struct Toolchain {
    spaces: BTreeMap<String, SpaceRow>,
    targets: BTreeMap<String, TargetRow>,
    device_compiler: DeviceCompiler,
}

fn toolchain() -> &'static Toolchain {
    static PARSED: OnceLock<Toolchain> = OnceLock::new();
    PARSED.get_or_init(|| toml::from_str(SOURCE).expect("toolchain.toml is well-formed (checked by a test)"))
}

/// The device compiler's section.
pub fn device_compiler() -> &'static DeviceCompiler {
    &toolchain().device_compiler
}

/// What is wrong with a target name or an override.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DeviceError {
    /// No such target.
    #[error("unknown target '{name}'; expected one of {known}")]
    UnknownTarget {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such macro.
    #[error("unknown macro '{name}'; expected one of {known}")]
    UnknownMacro {
        /// What was given.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such memory space.
    #[error("unknown memory space '{name}'; expected one of {known}")]
    UnknownSpace {
        /// What was given.
        name: String,
        /// What there is.
        known: String,
    },
    /// More than there is.
    #[error("{bytes} bytes of {space} cannot be kept free; the memory has {capacity} bytes")]
    Reserve {
        /// The memory space.
        space: String,
        /// What was asked for.
        bytes: u64,
        /// What there is.
        capacity: u64,
    },
    /// The text after `-D` or `--reserve=` does not read as expected.
    #[error("cannot read '{text}'; expected {expected}")]
    Malformed {
        /// What was given.
        text: String,
        /// The form.
        expected: &'static str,
    },
}

/// One memory space of a device. Sizes are bytes.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Which space.
    pub space: Space,
    /// The hardware's name for it (`UB`, `L0A`).
    pub memory: String,
    /// Its size; 0: the target does not have it.
    pub capacity: u64,
    /// What addresses must be a multiple of.
    pub align: u64,
    /// What our own placement starts tiles at multiples of.
    pub place_align: u64,
    /// What our own placement leaves free at the top.
    pub reserve: Option<Reserve>,
    /// The macro that overrides `capacity`.
    pub size_macro: String,
    /// The macro that overrides `align`.
    pub align_macro: String,
}

impl Memory {
    /// Where our own placement must stop.
    pub fn placeable(&self) -> u64 {
        self.capacity.saturating_sub(self.reserve.as_ref().map_or(0, |r| r.bytes))
    }
}

/// A target with its memories.
#[derive(Clone, Debug)]
pub struct Device {
    /// The name (`a3`).
    pub name: String,
    /// For people.
    pub title: String,
    /// Other names that mean the same target.
    pub aliases: Vec<String>,
    /// The macro that selects it in the PTO-ISA headers.
    pub define: String,
    /// Which rules apply.
    pub legality: Legality,
    /// Whether C++ can be emitted for it.
    pub codegen: bool,
    /// The block layout of left tiles that its library takes; `None`: what the text says.
    pub left_blocks: Option<BlockOrder>,
    /// Limits, where known.
    pub limits: Option<Limits>,
    /// Synchronisation.
    pub sync: Sync,
    /// Device compiler flags, where known.
    pub compiler: Option<CompilerFlags>,
    /// Macro overrides in the order given, for the device compiler.
    pub overrides: Vec<(String, u64)>,
    memories: Vec<Memory>,
}

/// The names of all targets.
pub fn target_names() -> Vec<&'static str> {
    toolchain().targets.keys().map(String::as_str).collect()
}

impl Device {
    /// The target of a name or alias, in any case.
    pub fn by_name(name: &str) -> Result<Self, DeviceError> {
        let wanted = name.to_ascii_lowercase();
        let found = toolchain().targets.iter().find(|(key, row)| **key == wanted || row.aliases.contains(&wanted));
        let (key, row) = found
            .ok_or_else(|| DeviceError::UnknownTarget { name: name.to_owned(), known: target_names().join(", ") })?;
        Ok(Self::from_row(key, row))
    }

    fn from_row(key: &str, row: &TargetRow) -> Self {
        let memories = Space::ON_CHIP.into_iter().map(|space| memory(space, row)).collect();
        Self {
            name: key.to_owned(),
            title: row.title.clone(),
            aliases: row.aliases.clone(),
            define: row.define.clone(),
            legality: row.legality,
            codegen: row.codegen,
            left_blocks: row.left_blocks,
            limits: row.limits.clone(),
            sync: row.sync.clone(),
            compiler: row.compiler.clone(),
            overrides: Vec::new(),
            memories,
        }
    }

    /// Whether a name means this target.
    pub fn is_named(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.name == name || self.aliases.contains(&name)
    }

    /// One memory space; `None` for global memory.
    pub fn memory(&self, space: Space) -> Option<&Memory> {
        self.memories.iter().find(|m| m.space == space)
    }

    /// All on-chip memories.
    pub fn memories(&self) -> &[Memory] {
        &self.memories
    }

    /// Applies `PTO_UBUF_SIZE_BYTES=262144` (what follows `-D`).
    pub fn apply_define(&mut self, text: &str) -> Result<(), DeviceError> {
        const EXPECTED: &str = "PTO_<MEMORY>_SIZE_BYTES=<bytes> or PTO_<MEMORY>_ALIGN_BYTES=<bytes>";
        let malformed = || DeviceError::Malformed { text: text.to_owned(), expected: EXPECTED };
        let (name, value) = text.split_once('=').ok_or_else(malformed)?;
        let value = parse_bytes(value).ok_or_else(malformed)?;
        if name.ends_with("_ALIGN_BYTES") && value == 0 {
            return Err(malformed());
        }
        let mut known = false;
        for memory in &mut self.memories {
            if memory.size_macro == name {
                memory.capacity = value;
                known = true;
            }
            if memory.align_macro == name {
                memory.align = value;
                memory.place_align = memory.place_align.max(value);
                known = true;
            }
        }
        if !known {
            let mut names: Vec<_> = self.memories.iter().flat_map(|m| [&*m.size_macro, &*m.align_macro]).collect();
            names.sort_unstable();
            names.dedup();
            return Err(DeviceError::UnknownMacro { name: name.to_owned(), known: names.join(", ") });
        }
        self.overrides.push((name.to_owned(), value));
        Ok(())
    }

    /// Applies `vec:8192` (what follows `--reserve=`).
    pub fn apply_reserve(&mut self, text: &str) -> Result<(), DeviceError> {
        const EXPECTED: &str = "<space>:<bytes>, such as vec:8192";
        let malformed = || DeviceError::Malformed { text: text.to_owned(), expected: EXPECTED };
        let (space, bytes) = text.split_once(':').ok_or_else(malformed)?;
        let bytes = parse_bytes(bytes).ok_or_else(malformed)?;
        let known: Vec<&str> = Space::ON_CHIP.iter().map(|s| s.name()).collect();
        let memory = self
            .memories
            .iter_mut()
            .find(|m| m.space.name() == space)
            .ok_or_else(|| DeviceError::UnknownSpace { name: space.to_owned(), known: known.join(", ") })?;
        if bytes > memory.capacity {
            return Err(DeviceError::Reserve { space: space.to_owned(), bytes, capacity: memory.capacity });
        }
        memory.reserve = (bytes > 0).then(|| Reserve { bytes, reason: "asked for on the command line".to_owned() });
        Ok(())
    }
}

fn memory(space: Space, row: &TargetRow) -> Memory {
    let names = &toolchain().spaces[space.name()];
    Memory {
        space,
        memory: names.memory.clone(),
        capacity: row.capacity.get(space.name()).copied().unwrap_or(0),
        align: row.align,
        place_align: row.place_align.get(space.name()).copied().unwrap_or(row.align),
        reserve: row.reserve.get(space.name()).cloned(),
        size_macro: names.size_macro.clone(),
        align_macro: names.align_macro.clone(),
    }
}

/// A decimal or `0x` number of bytes.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_reads_and_has_all_spaces() {
        for name in target_names() {
            let device = Device::by_name(name).expect("listed");
            assert_eq!(device.memories().len(), Space::ON_CHIP.len());
            assert!(!device.codegen || (device.limits.is_some() && device.compiler.is_some()), "{name}");
        }
    }

    #[test]
    fn names_and_aliases_are_case_insensitive_and_unknown_ones_are_errors() {
        assert_eq!(Device::by_name("A2A3").expect("an alias").name, "a3");
        let error = Device::by_name("a4").expect_err("no such target");
        assert!(error.to_string().contains("'a4'; expected one of a3, a5, a6, kirin9030"));
    }

    #[test]
    fn defines_change_capacity_and_alignment() {
        let mut device = Device::by_name("a3").expect("a3");
        device.apply_define("PTO_UBUF_SIZE_BYTES=0x40000").expect("known");
        device.apply_define("PTO_L0A_ALIGN_BYTES=1024").expect("known");
        assert_eq!(device.memory(Space::Vec).expect("vec").capacity, 262144);
        assert_eq!(device.memory(Space::Left).expect("left").place_align, 1024);
        assert!(matches!(device.apply_define("PTO_X_SIZE_BYTES=1"), Err(DeviceError::UnknownMacro { .. })));
        assert!(matches!(device.apply_define("PTO_UBUF_SIZE_BYTES=big"), Err(DeviceError::Malformed { .. })));
        assert!(matches!(device.apply_define("PTO_UBUF_ALIGN_BYTES=0"), Err(DeviceError::Malformed { .. })));
    }

    #[test]
    fn the_reserve_narrows_our_own_placement_only() {
        let mut device = Device::by_name("a3").expect("a3");
        assert_eq!(device.memory(Space::Vec).expect("vec").placeable(), 188416);
        device.apply_reserve("vec:0").expect("well-formed");
        assert_eq!(device.memory(Space::Vec).expect("vec").placeable(), 196608);
        assert!(device.apply_reserve("ub=3").is_err());
        let error = device.apply_reserve("vec:196609").expect_err("there are 196608 bytes");
        assert!(error.to_string().contains("196609 bytes of vec cannot be kept free"), "{error}");
    }
}
