//! Where everything on the chip is, as data for other tools: what `--emit=placement` prints.
//!
//! Plain data. The front-ends fill it in; nothing here looks at a program.

mod of_module;

pub use of_module::of_module;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// As text, one field a line.
pub fn to_json(functions: &[FunctionPlacement]) -> String {
    // Plain strings and numbers: nothing that JSON cannot hold.
    serde_json::to_string_pretty(functions).map_or_else(|_| String::new(), |text| text + "\n")
}

/// One function's placement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionPlacement {
    /// Its name.
    pub func: String,
    /// What it is for (`AIC`, `AIV`, ...).
    #[serde(rename = "type")]
    pub kind: String,
    /// What it keeps free for queues.
    pub reserve: Vec<ReservePlacement>,
    /// Its allocations in the order of their statements.
    pub allocs: Vec<AllocPlacement>,
    /// Its tiles in the order of the text.
    pub tiles: Vec<TilePlacement>,
    /// By space, the most bytes that tiles need at once: what no placement can do without. Front-end programs only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needed: BTreeMap<String, u64>,
}

/// Bytes that are kept free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservePlacement {
    /// Its name.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Byte address.
    pub base: i64,
}

/// An allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocPlacement {
    /// Its name.
    pub base: String,
    /// Its memory space.
    pub space: String,
    /// Byte address, where the program states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addr: Option<i64>,
    /// Bytes.
    pub size: u64,
    /// Whether the author declared it, where the program states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Its number, where the program states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
}

/// A tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TilePlacement {
    /// Its name.
    pub var: String,
    /// Physical extents.
    pub shape: String,
    /// Element.
    pub dtype: String,
    /// Its allocation.
    pub base: String,
    /// Byte address of its first byte.
    pub addr: Address,
    /// What comes on top of the address at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// Bytes.
    pub size: u64,
    /// Its memory space.
    pub space: String,
}

/// A byte address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Address {
    /// Known.
    Known(i64),
    /// Computed at run time.
    Computed(String),
}
