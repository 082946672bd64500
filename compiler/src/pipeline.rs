//! The order of the passes, as data, and running them one by one.

use crate::{
    memory::{Order, Planner},
    passes::{self, AllocationOptions},
    target::DeviceSource,
};
use melior::{
    Context,
    ir::{Module, operation::OperationLike},
    pass::{Pass, PassManager},
};
use pto_dialect::device::Device;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// What the pipeline depends on.
#[derive(Clone)]
pub struct Settings {
    /// The target.
    pub device: Arc<Device>,
    /// How tiles may share bytes.
    pub planner: Planner,
    /// In which order tiles get addresses.
    pub order: Order,
    /// Whether to insert barriers.
    pub sync: bool,
    /// Whether to infer layouts of tensor views.
    pub layout: bool,
    /// The last pass to run; `None`: all.
    pub until: Option<&'static str>,
}

/// A pass and when it runs.
struct Step {
    name: &'static str,
    make: fn(&Settings) -> Pass,
    runs: fn(&Settings) -> bool,
}

fn source(settings: &Settings) -> DeviceSource {
    DeviceSource::Given(Arc::clone(&settings.device))
}

const fn always(_: &Settings) -> bool {
    true
}

/// In this order.
const STEPS: &[Step] = &[
    Step { name: "pto-lift-control-flow", make: |s| passes::lift_control_flow(source(s)), runs: always },
    Step { name: "pto-open-regions", make: |s| passes::open_regions(source(s)), runs: always },
    Step { name: "pto-compose-windows", make: |s| passes::compose_windows(source(s)), runs: always },
    Step { name: "pto-legalize-tiles", make: |s| passes::legalize_tiles(source(s)), runs: always },
    Step { name: "pto-verify-target", make: |s| passes::verify_target(source(s)), runs: always },
    Step { name: "pto-materialize-sections", make: |s| passes::materialize_sections(source(s)), runs: always },
    Step { name: "pto-infer-kernel-kind", make: |s| passes::infer_kernel_kind(source(s)), runs: always },
    Step { name: "pto-find-lost-values", make: |s| passes::find_lost_values(source(s)), runs: always },
    Step { name: "pto-lower-frontend-pipes", make: |s| passes::lower_frontend_pipes(source(s)), runs: always },
    Step { name: "pto-infer-layout", make: |s| passes::infer_layout(source(s)), runs: |s| s.layout },
    Step { name: "pto-materialize-tmp", make: |s| passes::materialize_tmp(source(s)), runs: always },
    Step {
        name: "pto-allocate-memory-addr",
        make: |s| {
            passes::allocate_memory_addr_for(
                source(s),
                AllocationOptions { planner: s.planner, order: s.order, policy: None },
            )
        },
        runs: always,
    },
    Step { name: "pto-check-placement", make: |s| passes::check_placement(source(s)), runs: always },
    Step { name: "pto-remove-identity-moves", make: |s| passes::remove_identity_moves(source(s)), runs: always },
    Step { name: "pto-resolve-reserved-buffers", make: |s| passes::resolve_reserved_buffers(source(s)), runs: always },
    Step { name: "pto-resolve-views", make: |s| passes::resolve_views(source(s)), runs: always },
    Step { name: "pto-insert-sync", make: |s| passes::insert_sync(source(s)), runs: |s| s.sync },
    Step { name: "pto-flush-scalar-stores", make: |s| passes::flush_scalar_stores(source(s)), runs: always },
    Step { name: "cse", make: |_| pto_dialect::passes::cse(), runs: always },
];

/// The names of all passes, in order.
pub fn pass_names() -> impl Iterator<Item = &'static str> {
    STEPS.iter().map(|step| step.name)
}

/// What happened.
#[derive(Default)]
pub struct Report {
    /// Time per pass.
    pub times: Vec<(&'static str, Duration)>,
    /// The IR around the passes that were asked for.
    pub printed: Vec<Printed>,
}

/// The IR before or after a pass.
pub struct Printed {
    /// Before it, or after.
    pub before: bool,
    /// The pass.
    pub pass: &'static str,
    /// The text.
    pub ir: String,
}

/// Runs the pipeline; false after an error, which goes to the context's diagnostic handlers. `print` says before (true)
/// or after (false) which passes the IR is wanted.
pub fn run(
    context: &Context,
    module: &mut Module,
    settings: &Settings,
    print: &dyn Fn(bool, &str) -> bool,
    report: &mut Report,
) -> bool {
    for step in STEPS.iter().filter(|step| (step.runs)(settings)) {
        let _span = tracing::info_span!("pass", name = step.name).entered();
        if print(true, step.name) {
            report.printed.push(Printed { before: true, pass: step.name, ir: module.as_operation().to_string() });
        }
        let start = Instant::now();
        let manager = PassManager::new(context);
        manager.enable_verifier(false);
        manager.add_pass((step.make)(settings));
        let ok = manager.run(module).is_ok();
        report.times.push((step.name, start.elapsed()));
        if print(false, step.name) {
            report.printed.push(Printed { before: false, pass: step.name, ir: module.as_operation().to_string() });
        }
        if !ok {
            return false;
        }
        if settings.until == Some(step.name) {
            break;
        }
    }
    // Passes change operands and types in place; what they leave must be what its verifiers accept.
    let _span = tracing::info_span!("pass", name = "verify").entered();
    module.as_operation().verify()
}
