//! Reads the op definitions with TableGen and writes `op_facts.rs` (Rust), `PtoSyntax.cpp.inc` (parser glue) and
//! `PtoEnumList.inc`.

use std::{fmt::Write, fs, path::Path};
use tblgen::{RecordKeeper, TableGenParser, record::Record};

/// One operand, attribute or result of an op.
struct Argument {
    name: String,
    kind: String,
    role: String,
    arity: char,
    is_attribute: bool,
}

pub fn generate(td: &Path, prefix: &Path, out: &Path) {
    let records = TableGenParser::new()
        .add_source_file(path_str(&td.join("Pto.td")))
        .add_include_directory(path_str(td))
        .add_include_directory(path_str(&prefix.join("include")))
        .parse()
        .unwrap_or_else(|e| panic!("td/Pto.td does not parse: {e}"));
    let mut ops: Vec<Record> = records.all_derived_definitions("PTO_Op").collect();
    ops.sort_by_key(|op| text(*op, "opName"));
    write(out, "op_facts.rs", &op_facts(&ops, &records));
    write(out, "PtoSyntax.cpp.inc", &syntax_glue(&ops));
    write(out, "PtoEnumList.inc", &enum_list(&records));
}

fn write(out: &Path, name: &str, content: &str) {
    fs::write(out.join(name), content).unwrap_or_else(|e| panic!("cannot write {name}: {e}"));
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

fn text(record: Record, field: &str) -> String {
    record.str_value(field).map(str::to_owned).unwrap_or_default()
}

/// The arguments of an op in the order of its `def`.
fn arguments(op: Record) -> Vec<Argument> {
    let dag = op.dag_value("arguments").expect("an op has arguments");
    dag.args()
        .map(|(name, init)| {
            let record: Record = init.try_into().expect("an argument is a definition");
            let name = name.expect("an argument has a name").to_owned();
            if record.subclass_of("AttrConstraint") {
                return Argument { name, kind: String::new(), role: String::new(), arity: '?', is_attribute: true };
            }
            let arity = match () {
                _ if record.subclass_of("Optional") => '?',
                _ if record.subclass_of("Variadic") => '*',
                _ => '1',
            };
            let base = if arity == '1' { record } else { record.def_value("baseType").expect("a base type") };
            Argument { name, kind: text(base, "kind"), role: text(base, "role"), arity, is_attribute: false }
        })
        .collect()
}

fn results(op: Record) -> Vec<String> {
    op.dag_value("results")
        .map(|dag| dag.args().filter_map(|(name, _)| name.map(str::to_owned)).collect())
        .unwrap_or_default()
}

fn has_segments(op: Record) -> bool {
    op.list_of_defs_value("traits")
        .is_ok_and(|traits| traits.iter().any(|t| t.name().is_ok_and(|n| n == "AttrSizedOperandSegments")))
}

fn outs_of(op: Record) -> Vec<String> {
    text(op, "outs").split_whitespace().map(str::to_owned).collect()
}

/// The Rust table, sorted by name.
fn op_facts(ops: &[Record], records: &RecordKeeper) -> String {
    let mut s = String::from("pub static OP_FACTS: &[OpFacts] = &[\n");
    for op in ops {
        let operands: Vec<Argument> = arguments(*op).into_iter().filter(|a| !a.is_attribute).collect();
        let outs = outs_of(*op);
        let _ = writeln!(s, "    OpFacts {{\n        name: \"pto.{}\",\n        operands: &[", text(*op, "opName"));
        for o in &operands {
            let arity = match o.arity {
                '1' => "One",
                '?' => "Optional",
                _ => "Variadic",
            };
            let role = match o.role.as_str() {
                "read" => "Read",
                "write" => "Write",
                "update" => "Update",
                "scratch" => "Scratch",
                _ => "None",
            };
            let _ = writeln!(
                s,
                "            Operand {{ name: {:?}, role: Role::{role}, arity: Arity::{arity}, is_out: {}, is_tile: {} }},",
                o.name,
                outs.contains(&o.name),
                o.kind == "tile"
            );
        }
        let attributes: Vec<String> = arguments(*op).into_iter().filter(|a| a.is_attribute).map(|a| a.name).collect();
        let _ = writeln!(s, "        ],\n        attributes: &{attributes:?},\n        results: &{:?},", results(*op));
        let _ = writeln!(s, "        segments: {},", has_segments(*op));
        for field in ["pipe", "cpp", "typed", "a3", "a5", "inplace", "inplace_a3", "destroys_a3", "scratch", "events"] {
            let _ = writeln!(s, "        {field}: {:?},", text(*op, field));
        }
        let rules: Vec<String> = text(*op, "rule").split_whitespace().map(str::to_owned).collect();
        let _ = writeln!(s, "        rules: &{rules:?},\n    }},");
    }
    s.push_str("];\n\n");
    s + &enum_spellings(records)
}

/// How each enumeration is written in C++.
fn enum_spellings(records: &RecordKeeper) -> String {
    let cases = |e: Record| -> Vec<String> {
        let defs = e.list_of_defs_value("enumerants").expect("an enum has cases");
        defs.into_iter().map(|case| text(case, "str")).collect()
    };
    let mut rows: Vec<(String, String, String, Vec<String>)> = records
        .all_derived_definitions("PTO_Enum")
        .map(|e| (text(e, "className"), text(e, "cppEnum"), text(e, "cppCase"), cases(e)))
        .collect();
    rows.sort();
    let mut s = String::from("pub static ENUM_SPELLINGS: &[EnumSpelling] = &[\n");
    for (name, cpp_enum, cpp_case, cases) in rows {
        let _ = writeln!(
            s,
            "    EnumSpelling {{ name: {name:?}, cpp_enum: {cpp_enum:?}, cpp_case: {cpp_case:?}, cases: &{cases:?} }},"
        );
    }
    s + "];\n"
}

/// C++: the verifier of each op, and parser and printer of each op in the `ins(...) outs(...)` form.
fn syntax_glue(ops: &[Record]) -> String {
    let mut s = String::new();
    let mut aliases = Vec::new();
    for op in ops {
        let class = op.name().expect("an op definition has a name").to_owned();
        let _ = writeln!(s, "LogicalResult {class}::verify() {{ return verifyInRust(getOperation()); }}");
        if text(*op, "syntax") != "dps" {
            continue;
        }
        let operands: Vec<Argument> = arguments(*op).into_iter().filter(|a| !a.is_attribute).collect();
        let outs = outs_of(*op);
        let clauses = text(*op, "clauses");
        let clause_of = |name: &str| {
            clauses
                .split_whitespace()
                .filter_map(|c| c.split_once('='))
                .find(|(_, operand)| *operand == name)
                .map_or("", |(k, _)| k)
        };
        let rows: Vec<String> = operands
            .iter()
            .map(|o| {
                let (name, is_out) = (&o.name, outs.contains(&o.name));
                format!("{{\"{name}\", \"{}\", '{}', {is_out}, \"{}\"}}", o.kind, o.arity, clause_of(name))
            })
            .collect();
        let trailing: Vec<String> = text(*op, "trailing").split_whitespace().map(|n| format!("\"{n}\"")).collect();
        let inside = op.bit_value("attrsInside").unwrap_or(false);
        let _ = writeln!(s, "static constexpr OperandSpec k{class}Operands[] = {{{}}};", rows.join(", "));
        let trailing = if trailing.is_empty() {
            "{}".to_owned()
        } else {
            let _ = writeln!(s, "static constexpr const char *k{class}Trailing[] = {{{}}};", trailing.join(", "));
            format!("k{class}Trailing")
        };
        let _ = writeln!(
            s,
            "static const TileOpSpec k{class} = {{k{class}Operands, {}, {inside}, {trailing}}};",
            has_segments(*op)
        );
        let _ = writeln!(
            s,
            "ParseResult {class}::parse(OpAsmParser &parser, OperationState &result) {{ return parseTileOp(parser, result, k{class}); }}"
        );
        let _ = writeln!(
            s,
            "void {class}::print(OpAsmPrinter &printer) {{ printTileOp(printer, *this, k{class}, defaultAttributes<{class}>(*this)); }}"
        );
        for alias in text(*op, "aliases").split_whitespace() {
            let (written, needed) = alias.split_once(':').unwrap_or((alias, ""));
            let _ = writeln!(
                s,
                "static ParseResult parseAlias{}(OpAsmParser &parser, OperationState &result) {{ return parseAliasOf(parser, result, {class}::getOperationName(), k{class}, \"{needed}\"); }}",
                aliases.len()
            );
            aliases.push(format!("{{\"pto.{written}\", parseAlias{}}}", aliases.len()));
        }
    }
    let _ = writeln!(s, "static constexpr OpAlias kOpAliases[] = {{{}}};", aliases.join(", "));
    s
}

fn enum_list(records: &RecordKeeper) -> String {
    let mut names: Vec<String> = records
        .all_derived_definitions("PTO_EnumAttr")
        .map(|a| text(a.def_value("enum").expect("an enum"), "className"))
        .collect();
    names.sort();
    names.iter().map(|n| format!("PTO_ENUM({n})\n")).collect()
}
