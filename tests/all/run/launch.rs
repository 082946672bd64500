//! Compiles a kernel file and writes the function that launches its kernels.

use super::{Arch, Case, Path, Row, Trial, fs, run};

/// Name of the function that is run.
pub const ENTRY: &str = "launch_it";

/// Parameters that are not the caller's: front-end programs are told where they run.
const GIVEN: [(&str, &str); 2] =
    [("pypto_spmd_block_idx", "get_block_idx()"), ("pypto_spmd_block_num", "get_block_num()")];

/// What to compile for.
pub struct Target<'t> {
    pub name: &'t str,
    pub arch: Arch,
    pub folder: &'t Path,
}

/// The C++ of a file with a launcher at its end.
pub fn launched(cpp: &str, row: &Row, trial: &Trial) -> String {
    let launcher = match row.launcher {
        Some(text) => text.to_owned(),
        None => launcher(cpp, row.functions, trial),
    };
    format!("{cpp}\n{launcher}")
}

/// The C++ of a file. What differs between architectures is changed first: the module's target, and the layout of left
/// operands.
pub fn emit(case: &Case, target: &Target) -> String {
    let extension = case.path.extension().expect("cases have extensions");
    let stem = case.path.file_stem().expect("a file has a name");
    let source = target.folder.join(stem).with_extension(extension);
    let text = case.text.replace("pto.target_arch = \"a3\"", "");
    let text: String = text.lines().map(|line| for_target(line, target) + "\n").collect();
    fs::write(&source, text).expect("the folder is writable");
    let mut arguments = vec![source.to_string_lossy().into_owned(), format!("--arch={}", target.name)];
    arguments.extend(case.directive("OPTIONS").unwrap_or_default().split_whitespace().map(str::to_owned));
    run("ptoc", arguments).succeeded()
}

fn for_target(line: &str, target: &Target) -> String {
    if target.arch == Arch::A5 && line.contains("tile_buf<left,") && !line.contains("blayout=") {
        return line.replace("slayout=row_major", "blayout=col_major, slayout=row_major");
    }
    line.to_owned()
}

/// A kernel that calls functions one after the other with the parameters of all, those of one name once. Windows of
/// global memory become pointers to dense tensors.
fn launcher(cpp: &str, functions: &[&str], trial: &Trial) -> String {
    let mut parameters: Vec<(String, String)> = Vec::new();
    let mut calls = String::new();
    for function in functions {
        let mut arguments = Vec::new();
        for (cpp_type, name) in signature(cpp, function) {
            if let Some((_, value)) = GIVEN.iter().find(|(given, _)| *given == name) {
                arguments.push((*value).to_owned());
                continue;
            }
            let at = parameters.iter().position(|(_, n)| *n == name).unwrap_or(parameters.len());
            let window = cpp_type.strip_prefix("GlobalTensor<").map(|rest| rest.split(',').next().unwrap_or(rest));
            if at == parameters.len() {
                let plain = window.map_or(cpp_type.clone(), |element| format!("__gm__ {element}*"));
                parameters.push((plain, name.clone()));
            }
            arguments.push(match window {
                Some(_) => window_of(&cpp_type, &name, &trial.parts[at].shape),
                None => name,
            });
        }
        calls += &format!("  {function}({});\n", arguments.join(", "));
    }
    let list: Vec<String> = parameters.iter().map(|(cpp_type, name)| format!("{cpp_type} {name}")).collect();
    format!("extern \"C\" __global__ AICORE void {ENTRY}({}) {{\n{calls}}}\n", list.join(", "))
}

/// Types and names of a function's parameters.
fn signature(cpp: &str, function: &str) -> Vec<(String, String)> {
    let head = format!("AICORE void {function}(");
    let start = cpp.find(&head).unwrap_or_else(|| panic!("no function {function} in:\n{cpp}")) + head.len();
    let end = start + cpp[start..].find(") {").expect("a function has a body");
    let mut depth = 0;
    let mut list = vec![String::new()];
    for c in cpp[start..end].chars() {
        depth += i32::from(c == '<') - i32::from(c == '>');
        if c == ',' && depth == 0 {
            list.push(String::new());
        } else if let Some(last) = list.last_mut() {
            last.push(c);
        }
    }
    let named = list.iter().filter_map(|parameter| parameter.trim().rsplit_once(' '));
    named.map(|(cpp_type, name)| (cpp_type.to_owned(), name.to_owned())).collect()
}

/// A dense global tensor of this shape.
fn window_of(cpp_type: &str, name: &str, shape: &[usize]) -> String {
    let mut extents = vec![1; 5 - shape.len()];
    extents.extend(shape);
    let list = |values: &mut dyn Iterator<Item = usize>| values.map(|v| v.to_string()).collect::<Vec<_>>().join(", ");
    let shape = list(&mut extents.iter().copied());
    let strides = list(&mut (0..5).map(|d| extents[d + 1..].iter().product()));
    format!("{cpp_type}({name}, {cpp_type}::Shape({shape}), {cpp_type}::Stride({strides}))")
}
