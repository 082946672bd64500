//! The same kernels with the vendor's headers in their CPU simulation, where `PTO_ISA_DIR` names them.
//!
//! A family is compiled once, with a function that calls any of its kernels by number. What the vendor's simulator
//! leaves must be what is expected; where it cannot run a kernel or is known to give something else, a table says why.
//! Kernels that its headers refuse by a static assertion are counted: it has fewer element types than devices have.

use super::build::{Case, Part, Target};
use super::check::{Fate, blamed, without};
use super::number::first_difference;
use pto_runtime_shim::{Argument, Core, Error, Kernel, VendorArg, VendorEntry, VendorKernel, VendorOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What comes of a kernel there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It gives what is expected.
    Agrees,
    /// A static assertion refuses it.
    Refused,
    /// It gives something else, does not compile or stops.
    Differs(String),
}

/// What comes of kernels, by their functions' names.
pub type Agreements = BTreeMap<String, Agreement>;

/// Kernels that the vendor's simulator does not run, or runs to other results: operation (`*` for its whole stem), target
/// (empty: both), element types (empty: all), start of the label (empty: all), why.
const DIFFERS: &[(&str, &str, &str, &str, &str)] = &[
    ("trecip", "", "", "", BY_ZERO),
    ("tdivs", "", "f16 f32", "by_tile", BY_ZERO),
    ("trowexpanddiv", "", "f16 f32", "", BY_ZERO),
    ("tcolexpanddiv", "", "f16 f32", "", BY_ZERO),
    ("trem", "", "f32", "", EXACT),
    ("tfmod", "", "f32", "", EXACT),
    ("trems", "a3", "", "", SCRATCH),
    ("txors", "a3", "", "part", SCRATCH),
    ("tquant", "a3", "f32", "", "it has no form with scratch"),
    ("tpows", "", "i8 ui8 i16 ui16 i32 ui32", "", "it converts a power of floats, which does not wrap around"),
    ("tcmps", "", "", "part", "it packs the bits of all columns of a row, valid or not"),
    ("tcmps", "", "f16", "", "an infinity is not equal to itself: it looks at the difference"),
    ("tsel", "", "", "part", "it reads the bits of the mask one after another, also where a row of the tile ends"),
    ("tprefetch", "", "", "part", "it reads whole rows of a tile"),
    ("tfillpad", "", "f16 bf16", "max", LIMITS),
    ("tfillpad", "", "f16 bf16", "min", LIMITS),
    ("mgather", "a5", "f8e4m3 f8e5m2 hif8", "elem_zero", "it cannot tell its 8-bit floats from integers"),
    ("tsort32", "", "f16", "", "it puts blocks of records of f16 at half their distance"),
    ("tpartargm*", "", "", "", "of two equal numbers it takes the second"),
    ("trandom", "a5", "", "", "it does not put the four words of a counter behind one another"),
    ("tcvt", "", "i16", "from_f16_saturated", SATURATED),
    ("tcvt", "", "i32", "from_bf16_saturated", SATURATED),
    ("tcvt", "", "i32 i64", "from_f32_saturated", SATURATED),
    ("tcvt", "", "bf16", "from_f32_ROUND", MODES),
    ("tcvt", "", "f16 bf16", "from_f32_FLOOR", MODES),
    ("tcvt", "", "f16 bf16", "from_f32_CEIL", MODES),
    ("tcvt", "", "f16 bf16", "from_f32_TRUNC", MODES),
    ("tcvt", "", "f32", "from_f32", MODES),
    ("tcvt", "a5", "f16", "from_bf16", "it has no conversion from bf16 to f16"),
    ("tcvt", "a5", "f8e4m3 f8e5m2", "from_f32", "it cuts off the digits that 8-bit floats do not have"),
    ("tcvt", "a5", "f32", "from_hif8", NEAR_ONE),
    ("tcvt", "a5", "hif8", "", NEAR_ONE),
    ("tgemv.mx*", "a5", "", "", "it moves scales between tiles of equal valid extents only"),
];

const BY_ZERO: &str = "it stops at a division by 0";
const EXACT: &str = "it computes the remainder of doubles; devices round the quotient and the product";
const SCRATCH: &str = "it takes scratch of the type of dst only";
const LIMITS: &str = "its f16 and bf16 have no largest and no smallest number";
const SATURATED: &str = "it casts what the integer cannot hold";
const MODES: &str = "between floats it rounds to nearest, or not at all, in every mode";
const NEAR_ONE: &str = "it takes hif8 of exponents -1 to 1 for numbers with more digits than they have";

/// Why a kernel need not agree, and the number of the row that says so.
fn row_of(case: &Case) -> Option<(usize, &'static str)> {
    let subject = &case.subject;
    let found = DIFFERS.iter().enumerate().find(|(_, (op, target, types, label, _))| {
        let is_op = op.strip_suffix('*').map_or(*op == subject.op, |stem| subject.op.starts_with(stem));
        let is_type = types.is_empty() || subject.ty.is_in(types);
        is_op && is_type && (target.is_empty() || *target == subject.target.name()) && case.label.starts_with(label)
    });
    found.map(|(at, row)| (at, row.4))
}

/// Why a kernel need not agree.
pub fn reason(case: &Case) -> Option<&'static str> {
    row_of(case).map(|(_, why)| why)
}

/// Kernels that do not agree and have no reason, and reasons that no kernel of what was examined needs.
pub fn unexpected(fates: &[Fate]) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut needed, mut examined) = (BTreeSet::new(), BTreeSet::new());
    for fate in fates {
        let row = row_of(&fate.case).map(|(at, _)| at);
        examined.extend(row);
        let Some(Agreement::Differs(message)) = &fate.agrees else { continue };
        match row {
            Some(row) => {
                needed.insert(row);
            }
            None => problems.push(format!(
                "{}: {}",
                fate.case.title(),
                message.lines().take(2).collect::<Vec<_>>().join(" ")
            )),
        }
    }
    let idle = examined.difference(&needed).map(|&at| &DIFFERS[at]);
    problems.extend(idle.map(|row| format!("{} {} {} {}: it agrees, against '{}'", row.0, row.1, row.2, row.3, row.4)));
    problems
}

/// Parameters of the function that calls the others: pointers, integers, floats.
const POINTERS: usize = 12;
const INTEGERS: usize = 8;
const FLOATS: usize = 4;

/// Where the vendor's headers are.
pub fn headers() -> Option<PathBuf> {
    std::env::var_os("PTO_ISA_DIR").filter(|v| !v.is_empty()).map(PathBuf::from)
}

/// Runs the kernels of a family. `cache` keeps precompiled headers.
pub fn agree(
    cases: &[&Case],
    kernels: &BTreeMap<String, Kernel>,
    cpp: &str,
    target: Target,
    (headers, cache, folder): (&Path, &Path, &Path),
) -> Agreements {
    let mut agreements = Agreements::new();
    for core in [Core::Cube, Core::Vector, Core::Whole] {
        let on_core = |case: &&&Case| {
            kernels.get(&case.function).is_some_and(|kernel| kernel.signature.entries.iter().any(|(c, _)| *c == core))
        };
        let mine: Vec<&Case> = cases.iter().filter(on_core).copied().collect();
        if mine.is_empty() {
            continue;
        }
        let options = VendorOptions {
            cache: Some(cache.to_owned()),
            time_limit: Duration::from_secs(20),
            ..VendorOptions::new(headers, target.arch())
        };
        let entry = match core {
            Core::Cube => VendorEntry::cube("surface_call"),
            Core::Vector | Core::Whole => VendorEntry::vector("surface_call"),
        };
        match compile(&mine, kernels, cpp, &options, &entry, folder, &mut agreements) {
            Ok(Some(kernel)) => {
                for (number, case) in mine.iter().enumerate() {
                    if !agreements.contains_key(&case.function) {
                        agreements.insert(case.function.clone(), runs(case, number, &kernel));
                    }
                }
            }
            Ok(None) => {}
            Err(error) => {
                let all = mine.iter().map(|case| (case.function.clone(), Agreement::Differs(error.to_string())));
                agreements.extend(all);
            }
        }
    }
    agreements
}

/// The kernels that compile, with the function that calls them; the others get the reason.
fn compile(
    cases: &[&Case],
    kernels: &BTreeMap<String, Kernel>,
    cpp: &str,
    options: &VendorOptions,
    entry: &VendorEntry,
    folder: &Path,
    agreements: &mut Agreements,
) -> Result<Option<VendorKernel>, Error> {
    let source = folder.join("vendor.cpp");
    let mut text = cpp.to_owned();
    loop {
        let left: Vec<(usize, &&Case)> =
            cases.iter().enumerate().filter(|(_, case)| !agreements.contains_key(&case.function)).collect();
        if left.is_empty() {
            return Ok(None);
        }
        let caller = caller(&left, kernels);
        fs::write(&source, format!("{text}\n{caller}")).expect("the folder is writable");
        match VendorKernel::compile(options, &source, entry) {
            Ok(kernel) => return Ok(Some(kernel)),
            Err(Error::Rejected { diagnostics, .. }) => {
                let blamed = blamed(&text, &diagnostics, "vendor.cpp");
                assert!(!blamed.is_empty(), "clang names no function: {diagnostics:?}");
                text = without(&text, blamed.keys());
                agreements.extend(blamed.into_iter().map(|(name, message)| (name, refusal(&message))));
            }
            Err(error) => return Err(error),
        }
    }
}

/// What a kernel is that clang does not take.
fn refusal(message: &str) -> Agreement {
    match message.starts_with("static assertion failed") {
        true => Agreement::Refused,
        false => Agreement::Differs(format!("clang: {message}")),
    }
}

/// A function that calls a kernel by its number.
fn caller(cases: &[(usize, &&Case)], kernels: &BTreeMap<String, Kernel>) -> String {
    let list = |count: usize, cpp: &str, letter: char| {
        (0..count).map(move |i| format!("{cpp} {letter}{i}")).collect::<Vec<_>>()
    };
    let parameters = [
        vec!["int32_t which".to_owned()],
        list(POINTERS, "__gm__ uint8_t*", 'p'),
        list(INTEGERS, "int64_t", 'i'),
        list(FLOATS, "double", 'd'),
    ];
    let mut text = format!(
        "extern \"C\" __global__ AICORE void surface_call({}) {{\n  switch (which) {{\n",
        parameters.concat().join(", ")
    );
    for (number, case) in cases {
        let (mut pointers, mut integers, mut floats) = (0, 0, 0);
        let arguments: Vec<String> = kernels[&case.function]
            .signature
            .parameters
            .iter()
            .map(|parameter| {
                let cpp = &parameter.cpp;
                let (counter, letter) = match (parameter.pointer, parameter.element.is_some_and(|e| e.is_float())) {
                    (true, _) => (&mut pointers, 'p'),
                    (false, true) => (&mut floats, 'd'),
                    (false, false) => (&mut integers, 'i'),
                };
                *counter += 1;
                match letter {
                    'd' => format!("({cpp})(float)d{}", *counter - 1),
                    _ => format!("({cpp}){letter}{}", *counter - 1),
                }
            })
            .collect();
        assert!(pointers <= POINTERS && integers <= INTEGERS && floats <= FLOATS, "{}: too many", case.function);
        let _ = writeln!(text, "    case {number}: {}({}); break;", case.function, arguments.join(", "));
    }
    text + "  }\n}\n"
}

/// All runs of a kernel.
fn runs(case: &Case, number: usize, kernel: &VendorKernel) -> Agreement {
    for (run, parts) in case.runs.iter().enumerate() {
        if let Err(error) = one_run(parts, number, kernel) {
            return Agreement::Differs(format!("run {run}: {error}"));
        }
    }
    Agreement::Agrees
}

fn one_run(parts: &[Part], number: usize, kernel: &VendorKernel) -> Result<(), String> {
    let mut buffers: Vec<VendorArg> = Vec::new();
    let (mut integers, mut floats) = (Vec::new(), Vec::new());
    for part in parts {
        match &part.argument {
            Argument::Tensor(tensor) => buffers.push(VendorArg::Buffer(tensor.bytes.clone())),
            Argument::Fresh(bytes) => buffers.push(VendorArg::Buffer(vec![0xff; *bytes])),
            Argument::Int(value) => integers.push(VendorArg::Integer(*value)),
            Argument::Float(value) => floats.push(VendorArg::Real(*value)),
            other => panic!("the walk has no argument {other:?}"),
        }
    }
    let wanted: Vec<&Part> =
        parts.iter().filter(|p| matches!(p.argument, Argument::Tensor(_) | Argument::Fresh(_))).collect();
    buffers.resize(POINTERS, VendorArg::Buffer(vec![0; 64]));
    integers.resize(INTEGERS, VendorArg::Integer(0));
    floats.resize(FLOATS, VendorArg::Real(0.0));
    let mut arguments = [vec![VendorArg::Integer(number as i64)], buffers, integers, floats].concat();
    kernel.run(&mut arguments).map_err(|e| e.to_string())?;
    for (at, part) in wanted.into_iter().enumerate() {
        let (Some((want, close)), VendorArg::Buffer(bytes)) = (&part.want, &arguments[1 + at]) else { continue };
        if let Some(difference) = first_difference(bytes, want, *close) {
            return Err(format!("buffer {at} has {difference}"));
        }
    }
    Ok(())
}
