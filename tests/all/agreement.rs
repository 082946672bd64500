//! Agreement of the simulated NPU with the vendor's CPU simulator: the same kernel with the same arguments in both,
//! every buffer compared.
//!
//! Needs a checkout of the vendor's headers (`PTO_ISA_DIR`); [`models_agree`] also a folder of emitted C++ for a3
//! (`PTO_MODEL_CPP`). Without them the tests are skipped. What must agree only nearly, what one of the two cannot run,
//! and why, is in tables; whatever is in no table must agree bit for bit.

use crate::run::launch::{ENTRY, Target, emit, launched};
use crate::run::{Row, TABLES};
use pto_runtime_shim::{
    Arch, Argument, Checks, CompileOptions, Core, Element, Error, Kernel, Outcome, Parameter, Rule, Runner, Signature,
    Tensor, VendorArg, VendorEntry, VendorKernel, VendorOptions,
};
use pto_tests::{Case, files_below, repository};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use std::{env, fs};

/// Longest run of a kernel in either simulator.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Kernels that are compiled and run at the same time.
const WORKERS: usize = 2;

/// What is left of agreement where sums are taken in another order: part of the largest number in the buffer.
const CLOSE: f64 = 1e-6;

/// A folder that an environment variable names.
fn folder(variable: &str) -> Option<PathBuf> {
    let folder = env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {variable} is not set");
    }
    folder
}

/// Results of `work` for each item, in their order.
fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(0..items.len());
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let worker = || {
        while let Some(at) = { next.lock().expect("nobody panics here").next() } {
            *results[at].lock().expect("nobody else has it") = Some(work(&items[at]));
        }
    };
    std::thread::scope(|scope| (0..WORKERS).for_each(|_| drop(scope.spawn(worker))));
    results.into_iter().map(|r| r.into_inner().expect("done").expect("each was worked on")).collect()
}

/// A kernel for both simulators.
struct Pair {
    ours: Kernel,
    theirs: Result<VendorKernel, Error>,
}

impl Pair {
    fn compile(source: &Path, entry: Option<&str>, options: &VendorOptions) -> Pair {
        let ours = Kernel::compile(source, &CompileOptions::new(options.arch), entry);
        let ours = ours.unwrap_or_else(|e| panic!("{}: {e}", source.display()));
        let theirs = VendorKernel::compile(options, source, &vendor_entry(&ours.signature));
        Pair { ours, theirs }
    }

    fn parameters(&self) -> &[Parameter] {
        &self.ours.signature.parameters
    }

    fn run_ours(&self, arguments: &[Argument], blocks: usize, checks: Checks) -> Outcome {
        let runner = arguments.iter().fold(Runner::new(&self.ours), |runner, a| runner.arg(a.clone()));
        let outcome = runner.blocks(blocks).checks(checks).time_limit(TIME_LIMIT).run();
        outcome.unwrap_or_else(|e| panic!("{}: {e}", self.ours.signature.name))
    }

    /// What the vendor's simulator leaves in the arguments.
    fn run_theirs(&self, arguments: &[Argument]) -> Result<Vec<VendorArg>, String> {
        let mut arguments: Vec<VendorArg> = arguments.iter().map(vendor_argument).collect();
        let theirs = self.theirs.as_ref().map_err(Error::to_string)?;
        theirs.run(&mut arguments).map_err(|e| e.to_string())?;
        Ok(arguments)
    }

    /// How far the buffers are apart that `counts` lets through.
    fn compare(
        &self,
        before: &[Argument],
        ours: &Outcome,
        theirs: &[VendorArg],
        counts: impl Fn(usize) -> bool,
    ) -> Deviation {
        let mut all = Deviation::default();
        for (index, parameter) in self.parameters().iter().enumerate().filter(|(index, _)| counts(*index)) {
            let (VendorArg::Buffer(before), VendorArg::Buffer(theirs)) =
                (vendor_argument(&before[index]), &theirs[index])
            else {
                continue;
            };
            all.add(parameter, &before, &ours.memory[index], theirs);
        }
        all
    }
}

/// The functions of a kernel by half. One without sections runs where vector instructions do.
fn vendor_entry(signature: &Signature) -> VendorEntry {
    let of = |wanted: &[Core]| signature.entries.iter().find(|(c, _)| wanted.contains(c)).map(|(_, name)| name.clone());
    VendorEntry { cube: of(&[Core::Cube]), vector: of(&[Core::Vector, Core::Whole]) }
}

fn vendor_argument(argument: &Argument) -> VendorArg {
    match argument {
        Argument::Tensor(tensor) => VendorArg::Buffer(tensor.bytes.clone()),
        // What fresh memory holds in our simulator.
        Argument::Fresh(bytes) => VendorArg::Buffer(vec![0xff; *bytes]),
        Argument::Spare => panic!("memory of unknown size is only for our simulator"),
        Argument::Int(value) => VendorArg::Integer(*value),
        Argument::Float(value) => VendorArg::Real(*value),
        Argument::BlockIndex => VendorArg::BlockIndex,
        Argument::BlockCount => VendorArg::BlockCount,
        Argument::SubblockIndex => VendorArg::SubblockIndex,
    }
}

/// How far the buffers of two runs are apart.
#[derive(Clone, Debug, Default)]
struct Deviation {
    /// Elements that the kernel changed; those of them that are NaN in both say nothing.
    changed: u64,
    nans: u64,
    /// Elements that hold nothing of use here, which differ: never written memory, or NaN that spread from it.
    junk: u64,
    /// Other elements that differ.
    differing: u64,
    /// Largest difference in units of the last place; of integers, the difference.
    ulps: u64,
    /// Largest difference of f32, as part of the largest number in its buffer.
    part: f64,
    /// Largest difference of narrower floats in units of the last place; of integers, the difference.
    steps: u64,
    /// The first element that differs.
    at: Option<String>,
}

impl Deviation {
    /// Adds a buffer: what it was, what it is here, what it is there.
    fn add(&mut self, parameter: &Parameter, before: &[u8], ours: &[u8], theirs: &[u8]) {
        assert_eq!(ours.len(), theirs.len(), "buffers keep their sizes");
        if ours == theirs && ours == before {
            return;
        }
        let element = parameter.element.unwrap_or(Element::U8);
        let size = element.bits().div_ceil(8);
        let value = |bytes: &[u8]| {
            let mut values: Vec<f64> = Vec::new();
            element.decode(bytes, 0, 1, 1, &mut values);
            values[0]
        };
        let (mut largest, mut difference) = (0f64, 0f64);
        let elements = before.chunks_exact(size).zip(ours.chunks_exact(size)).zip(theirs.chunks_exact(size));
        for (index, ((before, ours), theirs)) in elements.enumerate() {
            let (a, b) = (value(ours), value(theirs));
            if ours != before {
                self.changed += 1;
                self.nans += u64::from(a.is_nan() && b.is_nan());
            }
            largest = [a, b].into_iter().filter(|v| v.is_finite()).fold(largest, |m, v| m.max(v.abs()));
            if ours == theirs || a == b || (a.is_nan() && b.is_nan()) {
                continue;
            }
            if a.is_nan() || (size > 1 && ours.iter().all(|&byte| byte == 0xff)) {
                self.junk += 1;
                continue;
            }
            self.differing += 1;
            self.at.get_or_insert_with(|| format!("{}[{index}]: {a} here, {b} there", parameter.name));
            let ulps = match element.is_float() {
                true => ordered(ours).abs_diff(ordered(theirs)),
                false => (a - b).abs() as u64,
            };
            self.ulps = self.ulps.max(ulps);
            match element {
                Element::F32 => difference = difference.max(if b.is_nan() { f64::INFINITY } else { (a - b).abs() }),
                _ => self.steps = self.steps.max(ulps),
            }
        }
        self.part = self.part.max(difference / largest.max(f64::MIN_POSITIVE));
    }

    /// Adds another run.
    fn join(&mut self, other: Deviation) {
        self.changed += other.changed;
        self.nans += other.nans;
        self.junk += other.junk;
        self.differing += other.differing;
        self.ulps = self.ulps.max(other.ulps);
        self.part = self.part.max(other.part);
        self.steps = self.steps.max(other.steps);
        self.at = self.at.take().or(other.at);
    }

    /// Whether nothing differs but the last places of floats.
    fn close(&self) -> bool {
        self.part <= CLOSE && self.steps <= 1
    }
}

/// A number that grows with the float in these bytes, by one from float to float.
fn ordered(bytes: &[u8]) -> i64 {
    let bits = bytes.iter().rev().fold(0i64, |word, &byte| word << 8 | i64::from(byte));
    let sign = 1i64 << (8 * bytes.len() - 1);
    if bits & sign != 0 { sign - bits } else { bits }
}

/// A row of the tables of runs, on an architecture.
struct Subject {
    row: &'static Row,
    name: &'static str,
    arch: Arch,
}

impl Subject {
    fn is(&self, file: &str, function: &str, arch: &str) -> bool {
        let functions = self.row.functions;
        self.row.file.ends_with(file) && functions.contains(&function) && (arch.is_empty() || self.name == arch)
    }
}

/// Own kernels that agree only nearly: file, function, largest difference in units of the last place. All have sums in
/// f32, which the vendor's simulator takes in the order that its compiler likes (rows), or its threads (over blocks).
/// Numbers near 0 lose most.
const NEARLY: [(&str, &str, u64); 7] = [
    ("codegen/layer_norm.pto", "layer_norm", 256),
    ("examples/softmax.pto", "softmax", 8),
    ("examples/rms_norm.py", "rms_norm", 8),
    ("run/reductions.pto", "rows", 32),
    ("run/block_sums.pto", "block_sums", 32),
    ("run/attention_a3.pto", "normalise", 8),
    ("run/attention_a5.pto", "normalise", 8),
];

/// Own kernels that the vendor's simulator cannot run: file, function, architecture (none: every), what it says, why.
const CANNOT: [(&str, &str, &str, &str, &str); 6] = [
    ("codegen/masks.pto", "select", "", SIGNED_MASK, "masks of i8, as the dialect has them"),
    ("run/select.pto", "tiles", "", SIGNED_MASK, "masks of i8, as the dialect has them"),
    ("run/select.pto", "halves", "", SIGNED_MASK, "masks of i8, as the dialect has them"),
    ("run/select.pto", "scalars", "", SIGNED_MASK, "masks of i8, as the dialect has them"),
    ("run/quantise.pto", "quantise", "a3", NO_QUANT, "the form for a3, with a scratch tile, is missing"),
    ("run/quantise.pto", "with_offset", "a3", NO_QUANT, "the form for a3, with a scratch tile, is missing"),
];

const SIGNED_MASK: &str = "TCMP: dst data type must be uint8_t/uint32_t";
const NO_QUANT: &str = "no matching function for call to 'TQUANT_IMPL'";

/// The project's own kernels, with the arguments of their other tests.
#[test]
fn own_kernels_agree() {
    let Some(headers) = folder("PTO_ISA_DIR") else { return };
    let cache = tempfile::tempdir().expect("a temporary folder");
    let on = |row: &'static Row| {
        let only = Case::read(&repository().join(row.file)).directive("ARCH").map(str::to_owned);
        let targets = [("a3", Arch::A3), ("a5", Arch::A5)];
        let wanted = move |name: &str| only.as_ref().is_none_or(|o| o == name);
        targets.into_iter().filter(move |(name, _)| wanted(name)).map(move |(name, arch)| Subject { row, name, arch })
    };
    let subjects: Vec<Subject> = TABLES.iter().flat_map(|rows| rows.iter()).flat_map(on).collect();
    let results = parallel(&subjects, |subject| {
        let cache = Some(cache.path().to_owned());
        own_kernel(
            subject,
            &VendorOptions { cache, time_limit: TIME_LIMIT, ..VendorOptions::new(&headers, subject.arch) },
        )
    });
    let (mut problems, mut exact) = (Vec::new(), 0);
    for (subject, result) in subjects.iter().zip(&results) {
        let what = format!("{} {} on {}", subject.row.file, subject.row.functions.join("+"), subject.name);
        let excuse = CANNOT.iter().find(|(file, function, arch, ..)| subject.is(file, function, arch));
        let limit = NEARLY.iter().find(|(file, function, _)| subject.is(file, function, "")).map_or(0, |row| row.2);
        let fits = match (result, excuse) {
            (Ok(found), None) => found.ulps <= limit && found.junk == 0,
            (Err(error), Some((_, _, _, text, _))) => error.contains(text),
            _ => false,
        };
        let text = match result {
            Ok(found) if found.differing == 0 => "bit for bit".to_owned(),
            Ok(found) => format!("within {} ulps: {found:?}", found.ulps),
            Err(error) => format!("cannot run there: {error}"),
        };
        println!("{what}: {}", text.lines().next().unwrap_or_default());
        exact += usize::from(matches!(result, Ok(found) if found.differing == 0));
        if !fits {
            problems.push(format!("{what}: {text}"));
        }
    }
    println!("{exact} of {} agree bit for bit", subjects.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Runs all trials of a row in both.
fn own_kernel(subject: &Subject, options: &VendorOptions) -> Result<Deviation, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = Target { name: subject.name, arch: subject.arch, folder: folder.path() };
    let cpp = emit(&Case::read(&repository().join(subject.row.file)), &target);
    let mut compiled: Option<(String, usize, Pair)> = None;
    let mut all = Deviation::default();
    for trial in (subject.row.trials)() {
        let text = launched(&cpp, subject.row, &trial);
        if compiled.as_ref().is_none_or(|(last, blocks, _)| *last != text || *blocks != trial.blocks) {
            let source = folder.path().join("launched.cpp");
            fs::write(&source, &text).expect("the folder is writable");
            let options = VendorOptions { blocks: trial.blocks as u32, ..options.clone() };
            compiled = Some((text, trial.blocks, Pair::compile(&source, Some(ENTRY), &options)));
        }
        let (_, _, pair) = compiled.as_ref().expect("compiled above");
        let arguments: Vec<Argument> = trial.parts.iter().map(|part| part.argument.clone()).collect();
        let outcome = pair.run_ours(&arguments, trial.blocks, Checks::NONE);
        let theirs = pair.run_theirs(&arguments)?;
        // What is the kernel's own affair, such as memory of queues, is left out.
        all.join(pair.compare(&arguments, &outcome, &theirs, |index| trial.parts[index].want.is_some()));
    }
    Ok(all)
}

/// Numbers that a kernel of a model is given.
#[derive(Clone, Copy, Debug)]
struct Setting {
    /// Scalars of 64 bits, and narrower integers.
    wide: i64,
    narrow: i64,
    /// Integers in tensors, which may be indices, lengths or signals.
    elements: i64,
}

/// Those of its runs.
const SETTINGS: [Setting; 3] = [
    Setting { wide: 1, narrow: 1, elements: 0 },
    Setting { wide: 16, narrow: 16, elements: 1 },
    Setting { wide: 1, narrow: 200, elements: 40 },
];

/// Most bytes that an argument of a kernel may have.
const LARGEST: u64 = 1 << 30;

/// Kernels of models with findings: end of the name, codes, why.
const FINDINGS: [(&str, &[&str], &str); 13] = [
    ("aiv_combine_wait", &["PTO-0808"], NO_OTHER_CARD),
    ("aiv_dispatch_wait", &["PTO-0808"], NO_OTHER_CARD),
    ("aiv_lm_head_combine_wait", &["PTO-0808"], NO_OTHER_CARD),
    ("aiv_lm_head_dispatch_wait", &["PTO-0808"], NO_OTHER_CARD),
    ("aiv_decode_build_cache_metadata", &["PTO-0810"], "it divides by what it is given, which is 0"),
    ("Qwen3DecodeA3_kernels_aiv_softmax", &["PTO-0802"], BEYOND_CONTEXT),
    ("Qwen3_14BPrefillA3_kernels_qk_pv_skew_probe", &["PTO-0801", "PTO-0802"], BEYOND_CONTEXT),
    ("Qwen3_14BPrefillA3_kernels_aic_lm_head", &["PTO-0803"], "its weights are larger than this test wants them"),
    ("aiv_hc_head_reduce", &["PTO-0801", "PTO-0810"], TOO_LITTLE_VALID),
    ("aiv_sh_gate_up_act_q", &["PTO-0801", "PTO-0810"], TOO_LITTLE_VALID),
    ("Qwen3_14BPrefillA3_kernels_aiv_out_proj_aiv", &["PTO-0801", "PTO-0810"], TOO_LITTLE_VALID),
    ("Qwen3_14BPrefillA3_kernels_aiv_post_rmsnorm", &["PTO-0801", "PTO-0810"], TOO_LITTLE_VALID),
    ("Qwen3_14BPrefillA3_kernels_aiv_rmsnorm", &["PTO-0801", "PTO-0810"], TOO_LITTLE_VALID),
];

const NO_OTHER_CARD: &str = "it waits for signals of other cards, which are there in the last setting only";
const BEYOND_CONTEXT: &str = "it is given a place beyond the length of the context";
const TOO_LITTLE_VALID: &str = "a source with a smaller valid part than the destination needs, against the library's \
                                assertions; what is computed from the rest is not used";

/// Kernels of models that the vendor's simulator does not run to the end: end of the name, what it says, why.
const STOPS: [(&str, &str, &str); 4] = [
    ("aiv_decode_build_cache_metadata", "division by zero", "see FINDINGS"),
    ("aiv_sh_gate_up_act_q", "TRowExpandOp", "asserts what is in FINDINGS"),
    ("Qwen3_14BPrefillA3_kernels_aiv_post_rmsnorm", "TRowExpandOp", "asserts what is in FINDINGS"),
    ("Qwen3_14BPrefillA3_kernels_aiv_rmsnorm", "TRowExpandOp", "asserts what is in FINDINGS"),
];

/// Kernels of models that store what holds nothing of use: end of the name, what it is.
const JUNK: [(&str, &str); 8] = [
    ("aic_hc_head_linear", "columns 4 to 16 of a product with 4 columns"),
    ("aic_hc_pre_linear", "columns 24 to 32 of a product with 24 columns, and rows that do not exist"),
    ("aic_idx_qr_proj_matmul", "rows 8 to 16 of a product with 8 rows"),
    ("aic_kv_score_proj", "rows 8 to 16 of a product with 8 rows"),
    ("aic_sh_gate_mm", "rows 8 to 16 of a product with 8 rows"),
    ("aic_sh_up_mm", "rows 8 to 16 of a product with 8 rows"),
    ("aic_weights_proj", "rows 8 to 16 of a product with 8 rows"),
    ("Qwen3_14BPrefillA3_kernels_aiv_out_proj_aiv", "rows that do not exist"),
];

/// Kernels of models that agree but for the last places: all have row sums in f32 (see [`NEARLY`]).
const SUMS: [&str; 15] = [
    "DeepseekV4DecodeA3_kernels_aiv_ffn_norm",
    "DeepseekV4DecodeA3_kernels_aiv_hc_head_rms",
    "DeepseekV4DecodeA3_kernels_aiv_hc_pre_rms",
    "DeepseekV4DecodeA3_kernels_aiv_qproj_dequant_rms_nope_rope",
    "DeepseekV4DecodeA3_kernels_aiv_qr_rms_norm_quant",
    "DeepseekV4DecodeA3_kernels_aiv_rmsnorm_rope_cache_write",
    "DeepseekV4DecodeA3_kernels_qk_pv",
    "DeepseekV4DecodeA3_kernels_score",
    "Qwen3DecodeA3_kernels_aiv_post_rmsnorm",
    "Qwen3DecodeA3_kernels_aiv_rmsnorm",
    "Qwen3_14BDecodeA3_kernels_aiv_post_rms_reduce",
    "Qwen3_14BDecodeA3_kernels_aiv_rms_recip",
    "Qwen3_14BPrefillA3_kernels_aiv_final_rmsnorm",
    "Qwen3_14BPrefillA3_kernels_aiv_rmsnorm",
    "Qwen3_14BPrefillA3_kernels_aiv_rope_kv_cache",
];

/// Kernels of models that give other numbers from run to run in the vendor's simulator, and are not compared: both ends
/// push into the slots of one queue at the same time.
const UNSTEADY: [&str; 1] = ["Qwen3_14BPrefillA3_kernels_qk_pv_skew_probe"];

/// What became of a kernel of a model, over all settings.
#[derive(Debug, Default)]
struct Fate {
    /// Runs that came to their end here, and there.
    ended: [usize; 2],
    /// Runs that were compared.
    compared: usize,
    codes: BTreeSet<&'static str>,
    findings: Vec<String>,
    errors: Vec<String>,
    deviation: Deviation,
    /// Whether any run stored something.
    stored: bool,
}

/// Kernels of models, with arguments made up.
#[test]
fn models_agree() {
    let (Some(headers), Some(models)) = (folder("PTO_ISA_DIR"), folder("PTO_MODEL_CPP")) else { return };
    let cache = tempfile::tempdir().expect("a temporary folder");
    let only = env::var("PTO_MODEL_ONLY").unwrap_or_default();
    let files: Vec<PathBuf> = files_below(&models)
        .into_iter()
        .filter(|f| f.extension().is_some_and(|e| e == "cpp") && stem(f).contains(&only))
        .collect();
    let cache = Some(cache.path().to_owned());
    let options = VendorOptions { cache, time_limit: TIME_LIMIT, ..VendorOptions::new(headers, Arch::A3) };
    let fates = parallel(&files, |file| model(file, &options));

    for (file, fate) in files.iter().zip(&fates) {
        println!("{}: {fate:?}", stem(file));
    }
    let count = |is: &dyn Fn(&Fate) -> bool| fates.iter().filter(|f| is(f)).count();
    let whole = |f: &Fate, side: usize| f.ended[side] == SETTINGS.len();
    println!("{} kernels, {} runs each", fates.len(), SETTINGS.len());
    println!("{} run to their ends here, {} without findings", count(&|f| whole(f, 0)), count(&|f| f.codes.is_empty()));
    println!("{} run to their ends there", count(&|f| whole(f, 1)));
    println!("{} runs were compared", fates.iter().map(|f| f.compared).sum::<usize>());
    println!("{} kernels were compared", count(&|f| f.compared > 0));
    println!("{} of them store nothing", count(&|f| f.compared > 0 && !f.stored));
    println!("{} agree bit for bit", count(&|f| f.compared > 0 && f.deviation.differing + f.deviation.junk == 0));
    println!("{} agree bit for bit but for junk", count(&|f| f.deviation.differing == 0 && f.deviation.junk > 0));
    println!("{} agree but for the last places", count(&|f| f.deviation.differing > 0 && f.deviation.close()));
    println!("{} do not agree", count(&|f| !f.deviation.close()));
    let problems: Vec<String> =
        files.iter().zip(&fates).filter_map(|(file, fate)| problem(&stem(file), fate)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is not as the tables have it.
fn problem(name: &str, fate: &Fate) -> Option<String> {
    let codes = FINDINGS.iter().find(|row| name.ends_with(row.0)).map_or(&[][..], |row| row.1);
    if !fate.codes.iter().eq(codes) {
        return Some(format!("{name}: findings {:?} instead of {codes:?}: {:?}", fate.codes, fate.findings.first()));
    }
    let stops = STOPS.iter().find(|row| name.ends_with(row.0)).map(|row| row.1);
    if fate.errors.is_empty() != stops.is_none() || fate.errors.iter().any(|e| !e.contains(stops.unwrap_or_default())) {
        return Some(format!("{name}: stops with {:?} instead of {stops:?}", fate.errors.first()));
    }
    let junk = JUNK.iter().any(|row| name.ends_with(row.0));
    if (fate.deviation.junk > 0) != junk {
        return Some(format!(
            "{name}: holds junk: {}, in the table: {junk}: {:?}",
            fate.deviation.junk, fate.deviation
        ));
    }
    let sums = SUMS.iter().any(|part| name.ends_with(part));
    let wrong = (fate.deviation.differing > 0) != sums || !fate.deviation.close();
    wrong.then(|| format!("{name}: in the table of what differs: {sums}, but {:?}", fate.deviation))
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn model(file: &Path, options: &VendorOptions) -> Fate {
    let pair = Pair::compile(file, None, options);
    let text = fs::read_to_string(file).expect("it was read before");
    let queues = queues(&text);
    let unsteady = UNSTEADY.iter().any(|name| stem(file).contains(name));
    let mut fate = Fate::default();
    for setting in SETTINGS {
        let (arguments, outcome) = fitted(&pair, setting);
        let broke = |rules: &[Rule]| outcome.findings.iter().any(|f| rules.contains(&f.rule));
        fate.codes.extend(outcome.findings.iter().map(|f| f.rule.code()));
        fate.findings.extend(outcome.findings.iter().map(|f| format!("{setting:?} {f}")));
        fate.stored |= outcome.extents.iter().any(|&extent| extent > 0);
        fate.ended[0] += usize::from(!broke(&[Rule::Deadlock, Rule::Limit]));
        // A kernel that leaves its memories has no results to compare.
        if broke(&[Rule::Deadlock, Rule::Limit, Rule::OutsideSpace, Rule::OutsideTensor]) {
            continue;
        }
        match pair.run_theirs(&arguments) {
            Ok(theirs) => {
                let counts = |index: usize| !queues.contains(&pair.parameters()[index].name);
                fate.ended[1] += 1;
                if !unsteady {
                    fate.deviation.join(pair.compare(&arguments, &outcome, &theirs, counts));
                    fate.compared += 1;
                }
            }
            Err(error) => fate.errors.push(format!("{setting:?} {error}")),
        }
    }
    fate
}

/// Names of the parameters that are memory of queues between cube and vector cores: how it is used is not defined.
fn queues(text: &str) -> Vec<String> {
    let of = |rest: &str| rest.split_once(">").and_then(|(_, r)| r.split_once('(')).map(|(_, r)| r.to_owned());
    let rests = text.split("TPipe<").skip(1).filter_map(of);
    rests
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned())
        .collect()
}

/// A run with all checks, and arguments that are as large as the kernel reaches.
fn fitted(pair: &Pair, setting: Setting) -> (Vec<Argument>, Outcome) {
    let parameters = pair.parameters();
    let first = |p: &Parameter| if p.pointer { random(0, p, 1 << 16, setting) } else { scalar(p, setting) };
    let mut arguments: Vec<Argument> = parameters.iter().map(first).collect();
    let mut reaches = vec![0; parameters.len()];
    loop {
        let outcome = pair.run_ours(&arguments, 1, Checks { bounds: true, ..Checks::NONE });
        let grown: Vec<u64> = reaches.iter().zip(&outcome.reaches).map(|(&a, &b)| b.clamp(a, LARGEST)).collect();
        let settled = grown == reaches;
        reaches = grown;
        let pairs = parameters.iter().zip(&reaches).enumerate();
        arguments = pairs.map(|(index, (p, &reach))| random(index, p, reach, setting)).collect();
        if settled {
            let outcome = pair.run_ours(&arguments, 1, Checks::ALL);
            return (arguments, outcome);
        }
    }
}

fn scalar(parameter: &Parameter, setting: Setting) -> Argument {
    match parameter.name.as_str() {
        "pypto_spmd_block_idx" => Argument::BlockIndex,
        "pypto_spmd_block_num" => Argument::BlockCount,
        "pypto_spmd_subblock_idx" => Argument::SubblockIndex,
        _ if parameter.element.is_some_and(Element::is_float) => Argument::Float(0.5),
        _ if parameter.element == Some(Element::I64) => Argument::Int(setting.wide),
        _ => Argument::Int(setting.narrow),
    }
}

/// An argument of so many bytes: floats from -1 to 1, any bytes, and wider integers as the setting has them.
fn random(index: usize, parameter: &Parameter, bytes: u64, setting: Setting) -> Argument {
    if !parameter.pointer {
        return scalar(parameter, setting);
    }
    let element = parameter.element.unwrap_or(Element::U8);
    let count = (bytes.max(64) as usize * 8).div_ceil(element.bits());
    // Repeated: what is large would take long to make. A prime, so that no row looks like another.
    let period = count.min(1_000_003);
    let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ index as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let values: Vec<f64> = match element {
        _ if element.is_float() => (0..period).map(|_| next()).collect(),
        Element::I8 | Element::U8 => (0..period).map(|_| (next() * 127.0).round()).collect(),
        _ => vec![setting.elements as f64; period],
    };
    let mut tensor = Tensor::of(element, &[period], &values);
    while tensor.bytes.len() < element.bytes_of(count) {
        let more = (element.bytes_of(count) - tensor.bytes.len()).min(element.bytes_of(period));
        tensor.bytes.extend_from_within(..more);
    }
    tensor.shape = vec![count];
    Argument::Tensor(tensor)
}
