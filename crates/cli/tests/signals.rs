//! Signals that come while a program is stepped.

mod support;

use support::{Batch, program};

/// `signals.c`, stopped where it is about to send itself its first signal.
fn sending() -> Batch {
    Batch::new()
        .command("handle SIGUSR1 nostop noprint")
        .command("tbreak send")
        .command("run")
}

#[test]
fn a_step_by_instruction_leads_into_the_handler() {
    let mut batch = sending().command("break on_signal");
    for _ in 0..3 {
        batch = batch.command("stepi 40");
    }
    let report = batch
        .command("info breakpoints")
        .command("finish")
        .command("print first")
        .run(program("signals.c").compile_plain(), &[]);
    let points = report.outcome("info breakpoints");
    assert_eq!(points[0]["hits"], 1, "{}", report.all());
    assert_eq!(
        report.outcome("print first")["value"],
        "1",
        "{}",
        report.all()
    );
}

#[test]
fn a_step_by_line_runs_through_the_handler() {
    for step in ["next", "step"] {
        let report = sending()
            .command(step)
            .command("print first")
            .command("info line")
            .run(program("signals.c").compile_plain(), &[]);
        assert_eq!(
            report.outcome("print first")["value"],
            "1",
            "{}",
            report.all()
        );
        let line = report.outcome("info line").as_str().unwrap_or_default();
        assert!(!line.contains("line 10"), "{step}: {}", report.all());
        let function = report.kind("stop").last().expect("a stop")["location"]["function"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert_eq!(function, "send", "{step}: {}", report.all());
    }
}
