//! A time line of a run, in the format that Perfetto and Chrome open, and the model that gives the times.
//!
//! The times are estimates for reading a schedule, not predictions: every instruction costs a start-up and its bytes
//! (or multiply-accumulates) at a rate of its pipe. One tick is a nanosecond.

use std::fmt::Write as _;

use super::abi::Site;
use super::ops::Pipe;

/// Ticks of an instruction that moves `bytes` bytes or makes `macs` multiply-accumulates.
///
/// Start-up 20 ticks; copies to and from global memory 32 bytes a tick after a further 200, copies on chip and vectors
/// 128 bytes a tick, the matrix unit 4096 multiply-accumulates a tick: orders of magnitude of an A2/A3 core.
pub fn duration(pipe: Pipe, bytes: u64, macs: u64) -> u64 {
    match pipe {
        Pipe::S => 1,
        Pipe::Mte2 | Pipe::Mte3 => 220 + bytes / 32,
        Pipe::M => 20 + macs / 4096,
        _ => 20 + bytes / 128,
    }
}

struct Slice {
    row: u32,
    name: &'static str,
    site: Site,
    start: u64,
    ticks: u64,
}

/// Slices and arrows of a run.
#[derive(Default)]
pub struct Trace {
    slices: Vec<Slice>,
    /// From row and time, to row and time.
    arrows: Vec<(u32, u64, u32, u64)>,
}

impl Trace {
    /// An instruction.
    pub fn slice(&mut self, row: u32, name: &'static str, site: Site, start: u64, ticks: u64) {
        self.slices.push(Slice { row, name, site, start, ticks });
    }

    /// A flag or signal that was waited for.
    pub fn arrow(&mut self, from: u32, set: u64, to: u32, waited: u64) {
        self.arrows.push((from, set, to, waited));
    }

    /// The trace as JSON. Each row is a component, with the number and name of its core and the name of its pipe.
    pub fn to_json(&self, rows: &[(u32, usize, String, String)]) -> String {
        let core_of = |row: u32| rows.iter().find(|r| r.0 == row).map_or(0, |r| r.1);
        let mut events = Vec::new();
        for (row, core, core_name, pipe) in rows {
            let meta = |kind: &str, name: &str| {
                format!(r#"{{"ph":"M","pid":{core},"tid":{row},"name":"{kind}","args":{{"name":"{}"}}}}"#, escape(name))
            };
            events.push(meta("process_name", core_name));
            events.push(meta("thread_name", pipe));
        }
        // Times are in microseconds.
        let us = |ticks: u64| format!("{}.{:03}", ticks / 1000, ticks % 1000);
        for s in &self.slices {
            events.push(format!(
                r#"{{"ph":"X","pid":{},"tid":{},"name":"{}","ts":{},"dur":{},"args":{{"at":"{}:{}"}}}}"#,
                core_of(s.row),
                s.row,
                escape(s.name),
                us(s.start),
                us(s.ticks),
                escape(s.site.file()),
                s.site.line
            ));
        }
        for (id, &(from, set, to, waited)) in self.arrows.iter().enumerate() {
            for (ph, row, at, more) in [("s", from, set, ""), ("f", to, waited, r#","bp":"e""#)] {
                let (core, at) = (core_of(row), us(at));
                events.push(format!(
                    r#"{{"ph":"{ph}","id":{id},"pid":{core},"tid":{row},"name":"flag","cat":"flag","ts":{at}{more}}}"#
                ));
            }
        }
        format!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
    }
}

fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if u32::from(c) < 32 => write!(out, "\\u{:04x}", u32::from(c)).expect("a string takes all"),
            c => out.push(c),
        }
        out
    })
}
