//! For tests of instructions: memories of one core, and a way to run one instruction on them.

use super::super::abi::{Flag, Slot};
use super::*;
use crate::npu::memory::{Bank, capacity};

/// One core and its memories.
pub struct Bench {
    arch: Arch,
    spaces: Spaces,
    gm: GlobalMemory,
    registers: Registers,
    on_chip: Vec<Log>,
    gm_log: Log,
    findings: Findings,
    epoch: u32,
    /// Memories of the vector halves of a cube half; see [`Bench::cube`].
    halves: Vec<(Spaces, Vec<Log>)>,
    printed: String,
}

/// Dense row-major strides of a shape.
pub fn dense(shape: [i64; 5]) -> [i64; 5] {
    let mut stride = [1; 5];
    (0..4).rev().for_each(|d| stride[d] = stride[d + 1] * shape[d + 1]);
    stride
}

/// An enumerator.
pub fn flag(kind: &'static str, value: u64) -> Operand {
    Operand::Flag(Flag { kind, value })
}

/// An unboxed row-major tile, all of it valid.
pub fn tile(space: Space, element: Element, rows: usize, cols: usize, address: u64) -> Tile {
    Tile::plain(space, element, rows, cols, address, Site::NONE)
}

/// An unboxed row-major vector tile, all of it valid.
pub fn vec(element: Element, rows: usize, cols: usize, address: u64) -> Tile {
    tile(Space::Vec, element, rows, cols, address)
}

impl Bench {
    /// A core of `arch`.
    pub fn new(arch: Arch) -> Bench {
        Bench {
            arch,
            spaces: Spaces::new(Space::ALL.map(|space| capacity(arch, space))),
            gm: GlobalMemory::default(),
            registers: Registers::default(),
            on_chip: Space::ALL.iter().map(|_| Log::new(12)).collect(),
            gm_log: Log::new(16),
            findings: Findings::default(),
            epoch: 0,
            halves: Vec::new(),
            printed: String::new(),
        }
    }

    /// A cube half of `arch`, with two vector halves.
    pub fn cube(arch: Arch) -> Bench {
        let half = || Bench::new(arch);
        let halves = [half(), half()].map(|b| (b.spaces, b.on_chip));
        Bench { halves: halves.into(), ..half() }
    }

    /// Reads the valid part of a tile of a vector half.
    pub fn get_half(&mut self, half: usize, tile: &Tile) -> Vec<f64> {
        self.with("get", Vec::new(), |ctx| ctx.on_half(half, |ctx| ctx.read(tile))).expect("the tile fits")
    }

    /// Writes the valid part of a tile (rounded to its type).
    pub fn put(&mut self, tile: &Tile, values: &[f64]) {
        assert_eq!(values.len(), tile.valid_rows * tile.valid_cols);
        let operands = vec![Operand::Tile(tile.clone())];
        self.with("put", operands, |ctx| ctx.write(tile, values)).expect("the tile fits");
    }

    /// Reads the valid part of a tile.
    pub fn get(&mut self, tile: &Tile) -> Vec<f64> {
        self.with("get", Vec::new(), |ctx| ctx.read(tile)).expect("the tile fits")
    }

    /// Adds a global tensor of a dense ND layout with these contents.
    pub fn global(&mut self, element: Element, shape: [i64; 5], values: &[f64]) -> Global {
        let mut bytes = vec![0; element.bytes_of(values.len())];
        element.encode(values, &mut bytes, 0, 1);
        let address = self.gm.add("g", Bank::of(bytes));
        Global {
            element,
            layout: 0,
            shape,
            stride: dense(shape),
            address,
            slot: Slot(std::ptr::null_mut()),
            site: Site::NONE,
        }
    }

    /// Everything in the buffer of a global tensor, as its elements.
    pub fn contents(&self, global: &Global) -> Vec<f64> {
        let (index, _) = self.gm.find(global.address).expect("a tensor of this bench");
        let bytes = &self.gm.buffers[index].bank.bytes;
        let mut values = Vec::new();
        global.element.decode(bytes, 0, 1, bytes.len() * 8 / global.element.bits(), &mut values);
        values
    }

    /// What was printed since the last question.
    pub fn printed(&mut self) -> String {
        std::mem::take(&mut self.printed)
    }

    /// Runs an instruction.
    pub fn run(&mut self, name: &'static str, operands: Vec<Operand>) -> Done {
        let op = find(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        self.with(name, operands, |ctx| (op.run)(ctx))
    }

    /// Runs `body` as the body of an instruction without operands.
    pub fn check(&mut self, body: impl FnOnce(&mut Ctx)) {
        self.with("check", Vec::new(), body);
    }

    /// Codes of the rules broken so far.
    pub fn broken(self) -> Vec<&'static str> {
        self.findings.into_list().iter().map(|f| f.rule.code()).collect()
    }

    /// Runs an instruction that answers: where, and in how many bytes.
    pub fn ask(&mut self, name: &'static str, operands: Vec<Operand>, result: (Slot, usize)) -> Done {
        let op = find(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        self.with_result(name, operands, result, |ctx| (op.run)(ctx))
    }

    fn with<T>(&mut self, name: &'static str, operands: Vec<Operand>, body: impl FnOnce(&mut Ctx) -> T) -> T {
        self.with_result(name, operands, (Slot(std::ptr::null_mut()), 0), body)
    }

    fn with_result<T>(
        &mut self,
        name: &'static str,
        operands: Vec<Operand>,
        result: (Slot, usize),
        body: impl FnOnce(&mut Ctx) -> T,
    ) -> T {
        self.epoch += 1;
        let instr = Instr { name, operands, result, site: Site::NONE };
        let clock = [self.epoch; 8];
        let mut halves =
            self.halves.iter_mut().map(|(spaces, on_chip)| Half { spaces, on_chip: on_chip.as_mut_slice() });
        let mut ctx = Ctx {
            arch: self.arch,
            instr: &instr,
            registers: &mut self.registers,
            spaces: &mut self.spaces,
            gm: &mut self.gm,
            on_chip: &mut self.on_chip,
            gm_log: &mut self.gm_log,
            moment: Moment { who: 1, epoch: self.epoch, clock: &clock, in_order: true },
            checks: Checks::ALL,
            findings: &mut self.findings,
            sources: &mut Sources::default(),
            component: &|who| format!("pipe {who}"),
            bytes: 0,
            macs: 0,
            atomic: false,
            repeats: false,
            halves: [halves.next(), halves.next()],
            printed: &mut self.printed,
        };
        body(&mut ctx)
    }
}

/// `Operand::Tile` of clones.
pub fn tiles<const N: usize>(tiles: [&Tile; N]) -> Vec<Operand> {
    tiles.into_iter().map(|t| Operand::Tile(t.clone())).collect()
}

#[test]
fn add_over_the_valid_part_of_the_destination() {
    let mut bench = Bench::new(Arch::A3);
    let (a, b) = (vec(Element::F16, 2, 16, 0), vec(Element::F16, 2, 16, 64));
    let mut sum = vec(Element::F16, 2, 16, 128);
    sum.valid_cols = 3;
    let values: Vec<f64> = (0..32).map(f64::from).collect();
    bench.put(&a, &values);
    bench.put(&b, &values);
    bench.run("TADD", tiles([&sum, &a, &b])).expect("legal");
    assert_eq!(bench.get(&sum), [0.0, 2.0, 4.0, 32.0, 34.0, 36.0]);
    assert!(bench.broken().is_empty());
}

#[test]
fn unwritten_bytes_and_tiles_past_the_end_are_reported() {
    let mut bench = Bench::new(Arch::A3);
    let (a, b) = (vec(Element::F32, 1, 8, 0), vec(Element::F32, 1, 8, 32));
    bench.put(&a, &[1.0; 8]);
    bench.run("TABS", tiles([&a, &b])).expect("runs");
    let outside = vec(Element::F32, 1, 8, 192 * 1024);
    let fault = bench.run("TABS", tiles([&outside, &a])).expect_err("outside");
    assert_eq!(fault.rule, Rule::OutsideSpace);
    assert_eq!(bench.broken(), ["PTO-0801"]);
}

#[test]
fn load_and_store_move_every_element() {
    let mut bench = Bench::new(Arch::A3);
    let values: Vec<f64> = (0..32).map(f64::from).collect();
    let x = bench.global(Element::F32, [1, 1, 1, 2, 16], &values);
    let y = bench.global(Element::F32, [1, 1, 1, 2, 16], &[0.0; 32]);
    let t = vec(Element::F32, 2, 16, 0);
    bench.run("TLOAD", vec![Operand::Tile(t.clone()), Operand::Global(x)]).expect("legal");
    bench.run("TSTORE", vec![Operand::Global(y.clone()), Operand::Tile(t), Operand::Null]).expect("legal");
    assert_eq!(bench.contents(&y), values);
}
