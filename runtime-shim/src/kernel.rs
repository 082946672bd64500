//! Reads the signature of a kernel from its C++ text: entry, parameters, and which halves of a core it has code for.

use crate::npu::Element;

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Whether it is a pointer to global memory.
    pub pointer: bool,
    /// Element type; `None` when the type is not known here.
    pub element: Option<Element>,
    /// The C++ type as written.
    pub cpp: String,
}

/// The core that a function runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// The cube half.
    Cube,
    /// The vector half.
    Vector,
    /// One core that is both, for code without sections.
    Whole,
}

/// What is known of a kernel from its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Name of the kernel.
    pub name: String,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// The functions that start together: one, or one for each half.
    pub entries: Vec<(Core, String)>,
}

/// C++ types of elements and scalars.
const TYPES: [(&str, Element); 26] = [
    ("float", Element::F32),
    ("half", Element::F16),
    ("bfloat16_t", Element::BF16),
    ("double", Element::F64),
    ("int8_t", Element::I8),
    ("uint8_t", Element::U8),
    ("int16_t", Element::I16),
    ("uint16_t", Element::U16),
    ("int32_t", Element::I32),
    ("uint32_t", Element::U32),
    ("int64_t", Element::I64),
    ("uint64_t", Element::U64),
    ("bool", Element::Bool),
    ("int", Element::I32),
    ("unsigned", Element::U32),
    ("size_t", Element::U64),
    ("char", Element::I8),
    ("float8_e4m3_t", Element::F8E4M3),
    ("float8_e5m2_t", Element::F8E5M2),
    ("float8_e8m0_t", Element::F8E8M0),
    ("hifloat8_t", Element::HiF8),
    ("float4_e2m1x2_t", Element::F4E2M1),
    ("float4_e1m2x2_t", Element::F4E1M2),
    ("hifloat4x2_t", Element::HiF4),
    ("int4b_t", Element::I4),
    ("long", Element::I64),
];

/// A function with a body.
struct Function<'t> {
    name: &'t str,
    parameters: &'t str,
    body: &'t str,
    global: bool,
}

impl Signature {
    /// Finds the kernel `entry`, or the only one.
    ///
    /// # Errors
    /// What is wrong, when there is none or several.
    pub fn find(text: &str, entry: Option<&str>) -> Result<Signature, String> {
        let functions = functions(text);
        let mut kernels: Vec<&Function> = functions.iter().filter(|f| f.global).collect();
        if kernels.is_empty() {
            // Where none is marked, a function that no other calls can be run.
            let called = |f: &Function| functions.iter().any(|g| g.name != f.name && calls(g.body, f.name));
            kernels = functions.iter().filter(|f| !called(f)).collect();
        }
        let names = || kernels.iter().map(|k| format!("'{}'", k.name)).collect::<Vec<_>>().join(", ");
        if let Some((stem, cube, vector)) = pair(&kernels, entry) {
            let (of_cube, of_vector) = (split_parameters(cube.parameters), split_parameters(vector.parameters));
            // The vector half may take more at its end, such as the number of its core.
            if !of_vector.starts_with(&of_cube) {
                return Err(format!("'{}' and '{}' take different parameters", cube.name, vector.name));
            }
            return Ok(Signature {
                name: stem.to_owned(),
                parameters: of_vector.into_iter().map(parameter).collect(),
                entries: vec![(Core::Cube, cube.name.to_owned()), (Core::Vector, vector.name.to_owned())],
            });
        }
        let kernel = match (entry, kernels.as_slice()) {
            (_, []) => return Err("there is no kernel (no AICORE function)".to_owned()),
            (Some(name), all) => *all
                .iter()
                .find(|k| k.name == name)
                .ok_or_else(|| format!("there is no kernel '{name}'; there are {}", names()))?,
            (None, [only]) => only,
            (None, _) => return Err(format!("there are several kernels, choose one with --entry: {}", names())),
        };
        let mut reached = Vec::new();
        reach(kernel, &functions, &mut reached);
        let has = |word: &str| reached.iter().any(|f| f.body.contains(word));
        let cores: &[Core] = match (has("__DAV_CUBE__"), has("__DAV_VEC__")) {
            (false, false) => &[Core::Whole],
            (true, false) => &[Core::Cube],
            (false, true) => &[Core::Vector],
            (true, true) => &[Core::Cube, Core::Vector],
        };
        Ok(Signature {
            name: kernel.name.to_owned(),
            parameters: split_parameters(kernel.parameters).into_iter().map(parameter).collect(),
            entries: cores.iter().map(|&core| (core, kernel.name.to_owned())).collect(),
        })
    }
}

/// The halves of a mixed kernel that are functions of their own, `NAME_aic` and `NAME_aiv`, if that is what is meant.
fn pair<'f, 't>(
    kernels: &[&'f Function<'t>],
    entry: Option<&str>,
) -> Option<(&'t str, &'f Function<'t>, &'f Function<'t>)> {
    let find = |name: String| kernels.iter().find(|k| k.name == name).copied();
    let cubes: Vec<_> = kernels.iter().filter_map(|k| Some((k.name.strip_suffix("_aic")?, *k))).collect();
    let chosen = match entry {
        Some(entry) if find(entry.to_owned()).is_none() => cubes.into_iter().find(|(stem, _)| *stem == entry),
        None if kernels.len() == 2 => cubes.into_iter().next(),
        _ => None,
    };
    let (stem, cube) = chosen?;
    Some((stem, cube, find(format!("{stem}_aiv"))?))
}

/// A function and those that its body names.
fn reach<'f, 't>(function: &'f Function<'t>, all: &'f [Function<'t>], reached: &mut Vec<&'f Function<'t>>) {
    if reached.iter().any(|f| f.name == function.name) {
        return;
    }
    reached.push(function);
    for other in all.iter().filter(|other| calls(function.body, other.name)) {
        reach(other, all, reached);
    }
}

fn calls(body: &str, name: &str) -> bool {
    body.match_indices(name).any(|(at, _)| {
        let before = body[..at].chars().next_back();
        let after = body[at + name.len()..].trim_start().chars().next();
        !before.is_some_and(is_word) && matches!(after, Some('(' | '<'))
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The functions of the device (`AICORE`) that have a body.
fn functions(text: &str) -> Vec<Function<'_>> {
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find("AICORE") {
        let start = at + found;
        at = start + "AICORE".len();
        let Some(open) = text[at..].find('(').map(|p| at + p) else { break };
        let head = text[at..open].trim_end();
        let name = &head[head.rfind(|c| !is_word(c)).map_or(0, |p| p + 1)..];
        let Some(close) = matching(text, open, '(', ')') else { break };
        let rest = text[close + 1..].trim_start();
        if !rest.starts_with('{') || name.is_empty() {
            continue;
        }
        let brace = text.len() - rest.len();
        let Some(end) = matching(text, brace, '{', '}') else { break };
        let line = &text[..start];
        let before = &line[line.rfind(['\n', ';', '}']).map_or(0, |p| p + 1)..];
        let global = before.contains("__global__") || head.contains("__global__");
        list.push(Function { name, parameters: &text[open + 1..close], body: &text[brace..=end], global });
        at = end;
    }
    list
}

/// The bracket that closes the one at `open`.
fn matching(text: &str, open: usize, left: char, right: char) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text[open..].char_indices() {
        if c == left {
            depth += 1;
        } else if c == right {
            depth -= 1;
            if depth == 0 {
                return Some(open + at);
            }
        }
    }
    None
}

/// At commas outside of template arguments.
fn split_parameters(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let outside = |c: char| {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(outside).map(str::trim).filter(|p| !p.is_empty() && *p != "void").collect()
}

fn parameter(text: &str) -> Parameter {
    let name_at = text.rfind(|c| !is_word(c)).map_or(0, |p| p + 1);
    let (cpp, name) = (text[..name_at].trim(), &text[name_at..]);
    let word = cpp.split(|c: char| !is_word(c)).find(|w| TYPES.iter().any(|(t, _)| t == w));
    Parameter {
        name: name.to_owned(),
        pointer: cpp.contains('*'),
        element: word.and_then(|w| TYPES.iter().find(|(t, _)| *t == w)).map(|(_, e)| *e),
        cpp: cpp.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include \"pto/pto-inst.hpp\"\nstatic AICORE void half_of_it(float v) {\n#if defined(__DAV_CUBE__)\n#endif\n}\n\
        extern \"C\" __global__ AICORE void first(__gm__ float* x, int64_t n, half alpha) {\n  if (n) { half_of_it(alpha); }\n}\n\
        extern \"C\" __global__ AICORE void second(__gm__ void* q) {\n#if defined(__DAV_VEC__)\n#endif\n}\n";

    #[test]
    fn template_arguments_are_no_parameters() {
        let list = "GlobalTensor<float, Shape<1, 2>, Layout::ND> x, int64_t n";
        assert_eq!(split_parameters(list), ["GlobalTensor<float, Shape<1, 2>, Layout::ND> x", "int64_t n"]);
    }

    #[test]
    fn parameters_and_sections_are_read() {
        let first = Signature::find(TEXT, Some("first")).expect("it is there");
        let found: Vec<_> = first.parameters.iter().map(|p| (p.name.as_str(), p.pointer, p.element)).collect();
        let wanted =
            [("x", true, Some(Element::F32)), ("n", false, Some(Element::I64)), ("alpha", false, Some(Element::F16))];
        assert_eq!(found, wanted);
        assert_eq!(first.entries, [(Core::Cube, "first".to_owned())], "through the function that it calls");
        let second = Signature::find(TEXT, Some("second")).expect("it is there");
        assert_eq!(second.entries, [(Core::Vector, "second".to_owned())]);
        assert_eq!(second.parameters[0].element, None);
    }

    #[test]
    fn a_choice_is_asked_for() {
        assert!(Signature::find(TEXT, None).expect_err("two kernels").contains("'first', 'second'"));
        assert!(Signature::find(TEXT, Some("third")).expect_err("not there").contains("no kernel 'third'"));
        assert!(Signature::find("int x;", None).is_err());
    }

    #[test]
    fn halves_that_are_functions_of_their_own_start_together() {
        let text = "AICORE void mix_aic(__gm__ float* x) {}\nAICORE void mix_aiv(__gm__ float* x) {}\n";
        let both = [(Core::Cube, "mix_aic".to_owned()), (Core::Vector, "mix_aiv".to_owned())];
        for entry in [None, Some("mix")] {
            let found = Signature::find(text, entry).expect("a pair");
            assert_eq!((found.name.as_str(), found.entries.as_slice()), ("mix", &both[..]));
        }
        let one = Signature::find(text, Some("mix_aiv")).expect("one of them");
        assert_eq!(one.entries, [(Core::Whole, "mix_aiv".to_owned())]);
        let longer = text.replace("mix_aiv(__gm__ float* x)", "mix_aiv(__gm__ float* x, int32_t sub)");
        assert_eq!(Signature::find(&longer, None).expect("a pair").parameters.len(), 2, "those of the vector half");
        let other = text.replace("mix_aiv(__gm__ float* x)", "mix_aiv(int32_t n)");
        assert!(Signature::find(&other, None).expect_err("they differ").contains("different parameters"));
    }
}
