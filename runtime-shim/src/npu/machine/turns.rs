//! Whose turn it is, deadlock, and the end of a run.

use super::*;

impl Machine {
    /// The scalar program has ended: `Next::Wait` until the pipes are empty, then the last checks.
    pub(in crate::npu) fn finish(&mut self, core: usize) -> Next {
        if self.aborted {
            self.cores[core].state = State::Done;
            return Next::Go;
        }
        self.drain(core);
        if let Some(waits) = self.pending(core) {
            return Next::Wait(waits);
        }
        let place = self.component((core * PIPES) as u32);
        let left: Vec<_> = self.cores[core]
            .flags
            .iter()
            .filter_map(|(&key, flag)| flag.set.as_ref().map(|set| (key, set.site)))
            .collect();
        for ((from, to, id), site) in left {
            self.find(Rule::LeftSet, site, Site::NONE, || {
                let message =
                    format!("flag {id} from {} to {} is still set when the kernel ends", from.name(), to.name());
                (message, vec![format!("in {place}: the next kernel on this core would not wait for it")])
            });
        }
        self.cores[core].state = State::Done;
        self.progress += 1;
        Next::Go
    }

    /// Flags between cores that nobody consumed, once all have ended. Of a run that was stopped, nothing is known.
    pub(in crate::npu) fn finish_all(&mut self) {
        if self.aborted {
            return;
        }
        let left: Vec<(usize, u64, Site)> = self
            .cores
            .iter()
            .enumerate()
            .flat_map(|(c, core)| core.signals.iter().map(move |(&id, s)| (c, id, s)))
            .filter_map(|(c, id, s)| s.front().map(|r| (c, id, r.site)))
            .filter(|&(_, id, _)| !self.fifos.owns(id))
            .collect();
        for (core, id, site) in left {
            let place = self.component((core * PIPES) as u32);
            self.find(Rule::LeftSet, site, Site::NONE, || {
                (format!("cross-core flag {id} to {place} is still set when the kernel ends"), Vec::new())
            });
        }
    }

    /// Notes that a core waits, and gives the turn to another; reports a deadlock when none can go on.
    pub(in crate::npu) fn yield_turn(&mut self, core: usize, what: String) {
        let at = self.cores[core].at;
        self.cores[core].state = State::Blocked { what, site: at, seen: self.progress };
        self.pass_turn(core);
    }

    /// Gives the turn to the next core that may be able to go on.
    pub(in crate::npu) fn pass_turn(&mut self, core: usize) {
        let count = self.cores.len();
        let next = (1..=count).map(|step| (core + step) % count).find(|&c| match &self.cores[c].state {
            State::Ready => true,
            State::Blocked { seen, .. } => self.aborted || *seen != self.progress,
            State::Done => false,
        });
        match next {
            Some(next) => {
                self.turn = next;
                self.cores[next].state = State::Ready;
            }
            None if self.cores.iter().all(|c| c.state == State::Done) => self.turn = usize::MAX,
            None => {
                self.deadlock();
                self.pass_turn(core);
            }
        }
    }

    /// Reports what everyone waits for, and ends the run.
    pub(in crate::npu) fn deadlock(&mut self) {
        self.aborted = true;
        let mut notes = Vec::new();
        let mut first = Site::NONE;
        for core in 0..self.cores.len() {
            let State::Blocked { what, site, .. } = &self.cores[core].state else { continue };
            if first == Site::NONE {
                first = *site;
            }
            let program = if what.starts_with("PIPE_") {
                format!("the scalar program at line {} waits for its pipes: {what}", site.line)
            } else {
                let pipes = self.pending(core).map_or_else(String::new, |p| format!("; {p}"));
                format!("the scalar program waits at line {} for {what}{pipes}", site.line)
            };
            notes.push(match self.cores.len() {
                1 => program,
                _ => format!("{}: {program}", core_name(&self.cores[core].place)),
            });
        }
        self.findings.add(Rule::Deadlock, first, Site::NONE, || {
            ("deadlock: the kernel waits for what nothing will set".to_owned(), notes)
        });
    }

    /// Whether every core has ended.
    pub(in crate::npu) fn all_done(&self) -> bool {
        self.cores.iter().all(|c| c.state == State::Done)
    }

    /// Names of the components that did something, for the trace.
    pub(in crate::npu) fn trace_rows(&self) -> Vec<(u32, usize, String, String)> {
        let mut rows = Vec::new();
        for (c, core) in self.cores.iter().enumerate() {
            for p in (0..PIPES).filter(|&p| core.pipes[p].issued > 0) {
                rows.push(((c * PIPES + p) as u32, c, core_name(&core.place), Pipe::EVERY[p].name().to_owned()));
            }
        }
        rows
    }
}
