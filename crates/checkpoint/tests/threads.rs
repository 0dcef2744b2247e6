//! Going back in the middle of a run of several threads, whose locks, counters,
//! pipe and file must come out as if nothing had been.
//!
//! `JUROR_CHECKPOINTS=nightly` makes it a hundred runs.

use juror_checkpoint::{Checkpoint, Settings};
use juror_debuggee::{Debuggee, Launch, Notice, Owner, Redirection};
use std::path::Path;
use std::process::Command;

const SOURCE: &str = include_str!("../../debuggee/tests/programs/kept.c");

/// A sequence that is as good as random, and the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

fn compile(directory: &Path) -> std::path::PathBuf {
    let (source, program) = (directory.join("kept.c"), directory.join("kept"));
    std::fs::write(&source, SOURCE).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O1", "-pthread", "-o"])
        .arg(&program)
        .arg(&source);
    assert!(compiler.status().unwrap().success());
    program
}

/// Runs until so many hits have come; whether the program goes on then.
fn run_hits(debuggee: &mut Debuggee, count: u64) -> Option<Notice> {
    let mut hits = 0;
    debuggee.resume_all().unwrap();
    loop {
        let notice = debuggee.wait().unwrap();
        match notice {
            Notice::Exited { .. } | Notice::Killed { .. } => return Some(notice),
            Notice::Hit { .. } => hits += 1,
            _ => {}
        }
        if hits == count && count > 0 {
            debuggee.halt_all().unwrap();
            return None;
        }
        if let Some(thread) = notice.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
}

#[test]
fn threads_go_on_as_if_nothing_had_been() {
    let runs = match std::env::var("JUROR_CHECKPOINTS").as_deref() {
        Ok("nightly") => 100,
        _ => 6,
    };
    let directory = tempfile::tempdir().unwrap();
    let program = compile(directory.path());
    for seed in 0..runs {
        let mut random = Random(seed);
        let output = directory.path().join("output");
        let mut launch = Launch::new(&program);
        launch.arguments = vec![directory.path().join("lines").into(), "60".into()];
        launch.input = Redirection::File("/dev/null".into());
        launch.output = Redirection::File(output.clone());
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let check = symbol(&program, "check") + debuggee.modules()[0].bias;
        debuggee.insert(check, Owner::Monitor).unwrap();
        // Each worker checks some 660 times.
        let before = 1 + random.below(2000);
        assert_eq!(run_hits(&mut debuggee, before), None);
        let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
        for _ in 0..3 {
            run_hits(&mut debuggee, 1 + random.below(1500));
            let points = checkpoint.process().points().to_vec();
            let restored = checkpoint.restore(Some(&mut debuggee), &points).unwrap();
            assert_eq!(restored.losses, checkpoint.losses());
            debuggee = restored.thawed.debuggee;
        }
        let end = run_hits(&mut debuggee, 0);
        let said = std::fs::read_to_string(&output).unwrap();
        assert_eq!(
            end,
            Some(Notice::Exited { status: 0 }),
            "seed {seed}: {said}"
        );
        assert!(said.ends_with("signals 1 same 1\n"), "seed {seed}: {said}");
    }
}

/// The address of a function in its file, by `nm`.
fn symbol(program: &Path, name: &str) -> u64 {
    let output = Command::new("nm").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(name));
    u64::from_str_radix(line.unwrap().split(' ').next().unwrap(), 16).unwrap()
}
