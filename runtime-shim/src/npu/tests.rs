//! Runs small kernels: each check has one that trips it and a corrected twin that does not.

use crate::{Arch, Argument, CompileOptions, Element, Kernel, Outcome, Runner, Tensor};

/// Compiles a kernel `k(__gm__ float* x, __gm__ float* y)` whose vector section has this body.
fn vector_kernel(body: &str) -> Kernel {
    kernel(&format!(
        "#include \"pto/pto-inst.hpp\"\nusing namespace pto;\n\
         using Whole = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;\n\
         using Rows = Tile<TileType::Vec, float, 16, 64>;\n\
         extern \"C\" __global__ AICORE void k(__gm__ float* x, __gm__ float* y) {{\n\
         #if defined(__DAV_VEC__)\n{body}\n#endif\n}}\n"
    ))
}

fn kernel(text: &str) -> Kernel {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("kernel.cpp");
    std::fs::write(&path, text).expect("write the kernel");
    Kernel::compile(&path, &CompileOptions::new(Arch::A3), None).expect("the kernel compiles")
}

fn ramp() -> Vec<f64> {
    (0..1024).map(f64::from).collect()
}

fn run(kernel: &Kernel) -> Outcome {
    let x = Argument::Tensor(Tensor::of(Element::F32, &[16, 64], &ramp()));
    Runner::new(kernel).arg(x).arg(Argument::Fresh(4096)).run().expect("the arguments fit")
}

fn codes(body: &str) -> Vec<&'static str> {
    run(&vector_kernel(body)).findings.iter().map(|f| f.rule.code()).collect()
}

#[test]
fn doubles_a_tensor() {
    let kernel = vector_kernel(
        "Whole from(x), to(y); Rows a, b; TASSIGN<0x0>(a); TASSIGN<0x1000>(b);\n\
         TLOAD(a, from); set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n\
         TADD(b, a, a); set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n\
         TSTORE(to, b); pipe_barrier(PIPE_ALL);",
    );
    let outcome = run(&kernel);
    assert_eq!(outcome.findings, []);
    let y = Tensor { element: Element::F32, shape: vec![1024], bytes: outcome.memory[1].clone() };
    assert_eq!(y.values(), ramp().iter().map(|v| v * 2.0).collect::<Vec<_>>());
}

#[test]
fn a_missing_flag_is_a_race() {
    let body = |flag: &str| {
        format!(
            "Whole from(x); Rows a, b; TASSIGN<0x0>(a); TASSIGN<0x1000>(b); TLOAD(a, from); {flag} TADD(b, a, a); pipe_barrier(PIPE_ALL);"
        )
    };
    assert_eq!(codes(&body("")), ["PTO-0806"]);
    assert_eq!(
        codes(&body("set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);")),
        [""; 0]
    );
}

#[test]
fn a_wait_that_nothing_meets_is_a_deadlock() {
    let found = run(&vector_kernel("wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);")).findings;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rule.code(), "PTO-0808");
    assert!(found[0].notes[0].contains("wait_flag(PIPE_MTE2, PIPE_V, 0)"), "{}", found[0]);
}

/// The compiler knows how to fill and copy memory; what the kernel does to global memory must still be seen.
#[test]
fn scalar_loops_and_structures_are_checked() {
    let text = |count: usize| {
        format!(
            "for (int i = 0; i < {count}; ++i) {{ y[i] = 0; }}\n\
             struct Four {{ float part[4]; }}; ((__gm__ Four*)y)[1] = ((__gm__ Four*)x)[2];"
        )
    };
    let outcome = run(&vector_kernel(&text(1024)));
    assert_eq!(outcome.findings, []);
    let y = Tensor { element: Element::F32, shape: vec![1024], bytes: outcome.memory[1].clone() };
    let copied = |i: usize| if (4..8).contains(&i) { ramp()[i + 4] } else { 0.0 };
    assert_eq!(y.values(), (0..1024).map(copied).collect::<Vec<_>>());
    assert_eq!(codes(&text(1025)), ["PTO-0803"]);
}

/// The vector half may take the number of its core; what the kernel reaches for is noted even outside of its memory.
#[test]
fn halves_know_their_cores() {
    let kernel = kernel(
        "#include \"pto/pto-inst.hpp\"\n\
         AICORE void k_aic(__gm__ int32_t* x, int32_t block) {}\n\
         AICORE void k_aiv(__gm__ int32_t* x, int32_t block, int32_t sub) { x[2 * block + sub] = 10 * block + sub; }\n",
    );
    let given = |bytes| Runner::new(&kernel).arg(Argument::Fresh(bytes)).arg(Argument::BlockIndex);
    let run = |bytes| given(bytes).arg(Argument::SubblockIndex).blocks(2).run().expect("the arguments fit");
    let outcome = run(16);
    assert_eq!(outcome.findings, []);
    let x = Tensor { element: Element::I32, shape: vec![4], bytes: outcome.memory[0].clone() };
    assert_eq!((x.values(), outcome.reaches[0]), (vec![0.0, 1.0, 10.0, 11.0], 16));
    assert_eq!((run(12).findings[0].rule.code(), run(12).reaches[0]), ("PTO-0803", 16));
}
