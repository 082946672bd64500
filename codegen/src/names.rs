//! C++ names for values: the author's where there is one, unique in a function.

use std::collections::{HashMap, HashSet};

/// Names that a kernel must not use for its own values: C++ keywords, and what the library and the emitted code name.
const TAKEN: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "concept",
    "const",
    "consteval",
    "constexpr",
    "constinit",
    "const_cast",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "half",
    "bfloat16_t",
    "pto",
    "std",
    "cce",
    "Tile",
    "TPipe",
    "ConvTile",
    "Event",
    "GlobalTensor",
    "TileSplitAxis",
    "RoundMode",
    "SaturationMode",
    "CmpMode",
    "AtomicType",
    "ReluPreMode",
    "STPhase",
    "AccPhase",
    "AccToVecMode",
    "MaskPattern",
    "TFillPadMode",
    "SyncAllMode",
    "SyncCoreType",
    "CompactMode",
    "cache_line_t",
    "mem_dsb_t",
    "Shape",
    "Stride",
    "Layout",
    "TileType",
    "BLayout",
    "SLayout",
    "PadValue",
    "Direction",
    "event_t",
    "pipe_t",
    "set_flag",
    "wait_flag",
    "pipe_barrier",
    "dcci",
    "dsb",
    "trap",
    "block_idx",
    "block_num",
    "get_block_idx",
    "get_block_num",
    "get_subblockid",
    "get_subblockdim",
    "AICORE",
    "main",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "size_t",
    "NULL",
    "Max",
    "Min",
    "INFINITY",
    "NAN",
    "comm",
    "exp",
    "log",
    "abs",
    "min",
    "max",
    "sqrt",
    "print",
    "printf",
    "defined",
    "errno",
    "ffts_cross_core_sync",
    "get_buf",
    "getFFTSMsg",
    "linux",
    "ptoc_bitcast",
    "rls_buf",
    "set_ffts_base_addr",
    "set_intra_block",
    "set_mask_norm",
    "set_vector_mask",
    "typeof",
    "unix",
    "wait_flag_dev",
    "wait_intra_block",
];

/// Hands out names.
pub struct Names {
    used: HashSet<String>,
    next: HashMap<String, u32>,
}

impl Names {
    /// With the module's own symbols taken.
    pub fn new<'a>(symbols: impl IntoIterator<Item = &'a String>) -> Self {
        let mut used: HashSet<String> = symbols.into_iter().cloned().collect();
        used.extend(TAKEN.iter().map(|&n| n.to_owned()));
        Self { used, next: HashMap::new() }
    }

    /// A name like `wanted` that nobody has yet.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let base = identifier(wanted);
        if self.used.insert(base.clone()) {
            return base;
        }
        let counter = self.next.entry(base.clone()).or_insert(1);
        loop {
            let candidate = format!("{base}_{counter}");
            *counter += 1;
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// The nearest C++ identifier; numbers become `v12`.
fn identifier(wanted: &str) -> String {
    let cleaned: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let cleaned = cleaned.trim_start_matches('_');
    match cleaned.chars().next() {
        None => "v".to_owned(),
        Some(c) if c.is_ascii_digit() => format!("v{cleaned}"),
        Some(_) if cleaned.starts_with(crate::structure::PREFIX) => format!("v_{cleaned}"),
        // All-capital names may be macros of the device headers.
        Some(_) if cleaned.len() > 1 && !cleaned.chars().any(|c| c.is_ascii_lowercase()) => format!("v_{cleaned}"),
        Some(_) => cleaned.to_owned(),
    }
}

/// Whether a function may have this name in C++: it cannot be changed, since callers look for it.
pub fn is_function_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // All-capital names are the library's instructions.
    let capital = name.len() > 1 && !name.chars().any(|c| c.is_ascii_lowercase());
    starts && plain && !capital && !TAKEN.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn author_names_survive_and_stay_unique() {
        let kernel = "add".to_owned();
        let mut names = Names::new([&kernel]);
        assert_eq!(names.fresh("row"), "row");
        assert_eq!(names.fresh("row"), "row_1");
        assert_eq!(names.fresh("12"), "v12");
        assert_eq!(names.fresh("float"), "float_1");
        assert_eq!(names.fresh("add"), "add_1");
        assert_eq!(names.fresh("__x-y"), "x_y");
        assert_eq!(names.fresh("PIPE_V"), "v_PIPE_V");
        assert_eq!(names.fresh("PtoStruct_f32"), "v_PtoStruct_f32");
        assert!(is_function_name("softmax_rows") && is_function_name("SpmdNormalize"));
        assert!(!is_function_name("double") && !is_function_name("a.b") && !is_function_name("TLOAD"));
    }
}
