//! What passes between cores: signals, rendezvous, signals in global memory.

use super::*;

impl Machine {
    /// An access of the scalar unit to a signal in global memory: it may meet others.
    pub(in crate::npu) fn signal_access<T>(
        &mut self,
        core: usize,
        instr: &Instr,
        body: impl FnOnce(&mut Ctx) -> Result<T, Fault>,
    ) {
        let pipe = &mut self.cores[core].pipes[Pipe::S as usize];
        pipe.issued += 1;
        let epoch = pipe.issued;
        self.progress += 1;
        self.execute(core, core, Pipe::S, instr, epoch, |ctx| {
            ctx.atomic = true;
            body(ctx)
        });
    }

    /// Whoever finds the signal at an address satisfied knows what this core knows.
    pub(in crate::npu) fn announce_signal(&mut self, core: usize, address: u64, site: Site) {
        let released = self.release(core, Pipe::S, site);
        match self.announced.entry(address) {
            btree_map::Entry::Vacant(entry) => {
                entry.insert(released);
            }
            btree_map::Entry::Occupied(mut entry) => entry.get_mut().join(&released),
        }
    }

    /// A core learns what those who set these signals knew.
    pub(in crate::npu) fn learn_signals(&mut self, core: usize, addresses: &[u64]) {
        for address in addresses {
            let released = self.announced.get(address).cloned();
            self.acquire(core, Pipe::S, released);
        }
    }

    /// Starts a transfer of the engine beside the core; its number.
    pub(in crate::npu) fn start_transfer(&mut self, core: usize, op: &'static Op, instr: Instr) -> u64 {
        let site = instr.site;
        self.enqueue(core, TRANSFERS, Item::Run(op, instr), site);
        self.started += 1;
        let released = self.release(core, TRANSFERS, site);
        self.transfers.insert(self.started, released);
        self.started
    }

    /// The core's scalar unit learns that a transfer is complete.
    pub(in crate::npu) fn finish_transfer(&mut self, core: usize, number: u64) {
        let released = self.transfers.remove(&number);
        self.acquire(core, Pipe::S, released);
    }

    /// What signals hold; `None` when one is outside every buffer.
    pub(in crate::npu) fn peek_signals(&self, addresses: &[u64]) -> Option<Vec<i32>> {
        let peek = |&address: &u64| {
            let (index, offset) = self.gm.find(address)?;
            let bytes = self.gm.buffers[index].bank.bytes.get(usize::try_from(offset).ok()?..)?.first_chunk::<4>()?;
            Some(i32::from_le_bytes(*bytes))
        };
        addresses.iter().map(peek).collect()
    }

    /// Delivers a signal to the cores that it reaches.
    pub(in crate::npu) fn signal(&mut self, core: usize, signal: Signal, released: Released) {
        let Place { block, kind, sub } = self.cores[core].place;
        match signal {
            Signal::Intra { id } => {
                let (targets, id) = match kind {
                    Kind::Cube => {
                        let wanted = (id / 16) as usize;
                        let subs = self.of_block(block, Kind::Vector);
                        (subs.into_iter().filter(|&c| self.cores[c].place.sub == wanted).collect(), id % 16)
                    }
                    _ => (self.of_block(block, Kind::Cube), id + 16 * sub as u64),
                };
                self.deliver(&targets, id, &released);
            }
            // Cube to vectors at once; vectors to the cube, or to one another, when all of the group have come.
            Signal::Group { mode: 2, id } if kind == Kind::Cube => {
                let targets = self.of_block(block, Kind::Vector);
                self.deliver(&targets, id, &released);
            }
            Signal::Group { mode, id } => {
                let (members, targets) = match mode {
                    2 => (self.of_block(block, Kind::Vector), self.of_block(block, Kind::Cube)),
                    1 => (self.of_block(block, kind), self.of_block(block, kind)),
                    _ => {
                        let all: Vec<usize> =
                            (0..self.cores.len()).filter(|&c| self.cores[c].place.kind == kind).collect();
                        (all.clone(), all)
                    }
                };
                let scope = if mode == 0 { kind as usize } else { block * 4 + kind as usize };
                let arrived = self.arrivals.entry((mode, scope, id)).or_default();
                arrived.push((core, released));
                // One arrival of each member makes a round.
                if members.iter().all(|m| arrived.iter().any(|(c, _)| c == m)) {
                    let mut together: Option<Released> = None;
                    for member in &members {
                        let at = arrived.iter().position(|(c, _)| c == member).expect("all have come");
                        let (_, one) = arrived.remove(at);
                        match &mut together {
                            None => together = Some(one),
                            Some(sum) => sum.join(&one),
                        }
                    }
                    let together = together.expect("a group has members");
                    self.deliver(&targets, id, &together);
                }
            }
        }
    }

    pub(in crate::npu) fn deliver(&mut self, targets: &[usize], id: u64, released: &Released) {
        for &target in targets {
            let waiting = self.cores[target].signals.entry(id).or_default();
            waiting.push_back(released.clone());
            // The device counts signals in four bits.
            if waiting.len() > 15 {
                let site = released.site;
                self.find(Rule::SetTwice, site, site, || {
                    (format!("more than 15 signals of cross-core flag {id} wait to be consumed"), Vec::new())
                });
            }
            self.drain(target);
        }
    }

    /// `SYNCALL`: all cores of a kind (or all there are) have finished what they issued before.
    pub(in crate::npu) fn rendezvous(&mut self, core: usize, kind: Option<Kind>, site: Site) -> Next {
        let id = RENDEZVOUS + kind.map_or(0, |k| k as u64 + 1);
        if !self.cores[core].arrived {
            if let Next::Wait(what) = self.barrier_all(core) {
                return Next::Wait(what);
            }
            self.cores[core].arrived = true;
            let released = self.release(core, Pipe::S, site);
            let arrived = self.arrivals.entry((RENDEZVOUS, 0, id)).or_default();
            arrived.push((core, released));
            // A core that is both halves stands for either.
            let joins = |c: &Core| kind.is_none_or(|k| c.place.kind == k || c.place.kind == Kind::Whole);
            let members: Vec<usize> = (0..self.cores.len()).filter(|&c| joins(&self.cores[c])).collect();
            if members.iter().all(|m| arrived.iter().any(|(c, _)| c == m)) {
                let mut all = std::mem::take(arrived);
                let (_, mut together) = all.pop().expect("this core has come");
                all.iter().for_each(|(_, one)| together.join(one));
                self.deliver(&members, id, &together);
            }
        }
        let next = self.scalar(core, Item::Await(id), site);
        match next {
            Next::Go => {
                self.cores[core].arrived = false;
                // Every pipe starts from here.
                self.barrier_all(core)
            }
            Next::Wait(_) => Next::Wait("the other cores at SYNCALL".to_owned()),
        }
    }

    /// Vector cores beside one another: of its block, for a vector core.
    pub(in crate::npu) fn sub_blocks(&self, core: usize) -> usize {
        self.of_block(self.cores[core].place.block, Kind::Vector).len().max(1)
    }
}
