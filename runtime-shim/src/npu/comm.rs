//! Communication on one device: whoever a kernel talks to is another core, or itself, and every tensor stands in the
//! memory of the run. Signals in global memory are here; copies through staging tiles in `copies`, transfers by the
//! engine beside the core in `transfers`.

mod copies;
mod transfers;

use super::abi::{Global, Instr, Operand};
use super::element::Element;
use super::machine::{Machine, Next};
use super::ops::{Fault, GlobalRun, illegal};

/// A step of an instruction that communicates; `None` for others.
pub(super) fn step(machine: &mut Machine, core: usize, instr: &Instr) -> Option<Next> {
    match instr.name {
        "TNOTIFY" | "TWAIT" | "TTEST" => signal_step(machine, core, instr),
        _ => copies::step(machine, core, instr).or_else(|| transfers::step(machine, core, instr)),
    }
}

/// Whether a copy's ends agree, in type and shape and whatever else the caller has looked at.
fn alike(instr: &Instr, what: &str, otherwise: bool, dst: &Global, src: &Global) -> Result<(), Fault> {
    if otherwise && dst.element == src.element && dst.shape == src.shape {
        return Ok(());
    }
    Err(illegal(format!(
        "{}: destination and source must be of one {what}, found {} {:?} and {} {:?}",
        instr.name,
        dst.element.name(),
        dst.shape,
        src.element.name(),
        src.shape
    )))
}

fn signal_step(machine: &mut Machine, core: usize, instr: &Instr) -> Option<Next> {
    let (Some(Operand::Global(signal)), Some(Operand::Int(value, _)), Some(Operand::Flag(flag))) =
        (instr.operands.first(), instr.operands.get(1), instr.operands.get(2))
    else {
        machine.fault(instr, illegal(format!("{} needs a signal, a number and a mode", instr.name)));
        return Some(Next::Go);
    };
    let addresses = match addresses(signal) {
        Ok(addresses) => addresses,
        Err(fault) => {
            machine.fault(instr, fault);
            return Some(Next::Go);
        }
    };
    if instr.name == "TNOTIFY" {
        // Modes: add, set.
        let add = flag.value == 0;
        let value = *value as i32;
        machine.signal_access(core, instr, |ctx| {
            let old: Vec<i64> = ctx.read_global(signal, Element::I32, &FIRST)?;
            let new = if add { (old[0] as i32).wrapping_add(value) } else { value };
            ctx.write_global(signal, Element::I32, &FIRST, &[i64::from(new)])
        });
        machine.announce_signal(core, addresses[0], instr.site);
        return Some(Next::Go);
    }
    let holds = match machine.peek_signals(&addresses) {
        Some(values) => values.iter().all(|&found| compare(flag.value, found, *value as i32)),
        // Outside every buffer: the access below reports it.
        None => true,
    };
    if instr.name == "TTEST" {
        super::sync::answer(instr, i64::from(holds));
    } else if !holds {
        let mode = ["==", "!=", ">", ">=", "<", "<="][(flag.value as usize).min(5)];
        return Some(Next::Wait(format!("a signal to become {mode} {value}")));
    }
    let runs = runs(signal);
    machine.signal_access(core, instr, |ctx| ctx.read_global::<i64>(signal, Element::I32, &runs));
    if holds {
        machine.learn_signals(core, &addresses);
    }
    Some(Next::Go)
}

/// The first element of a tensor.
const FIRST: [GlobalRun; 1] = [GlobalRun { start: 0, step: 1, count: 1 }];

/// `pto::comm::WaitCmp`.
fn compare(mode: u64, found: i32, wanted: i32) -> bool {
    match mode {
        0 => found == wanted,
        1 => found != wanted,
        2 => found > wanted,
        3 => found >= wanted,
        4 => found < wanted,
        _ => found <= wanted,
    }
}

/// Most signals of one wait.
const MOST: i64 = 1 << 20;

/// Addresses of the elements of a signal tensor.
fn addresses(signal: &Global) -> Result<Vec<u64>, Fault> {
    let count = signal.shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    match count {
        Some(count @ 1..=MOST) => {
            let all =
                runs(signal).into_iter().flat_map(|run| (0..run.count).map(move |i| run.start + i as i64 * run.step));
            let list: Vec<u64> = all.map(|at| signal.address.wrapping_add((at * 4) as u64)).collect();
            debug_assert_eq!(list.len() as i64, count);
            Ok(list)
        }
        _ => Err(illegal(format!("a signal has from 1 to {MOST} elements, found shape {:?}", signal.shape))),
    }
}

/// All rows of a tensor.
fn runs(tensor: &Global) -> Vec<GlobalRun> {
    let [s0, s1, s2, s3, s4] = tensor.shape;
    let mut runs = Vec::new();
    for d0 in 0..s0 {
        for d1 in 0..s1 {
            for d2 in 0..s2 {
                for d3 in 0..s3 {
                    let start = [d0, d1, d2, d3].iter().zip(&tensor.stride).map(|(d, stride)| d * stride).sum();
                    runs.push(GlobalRun { start, step: tensor.stride[4], count: s4.max(0) as usize });
                }
            }
        }
    }
    runs
}
