//! Models read from files, and what Spin says of them.

pub mod extras;
pub mod writer;

use juror_model::promela::{Model, Reading, Text};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// The directory of the models.
pub fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// Reads a model, or says what is wrong with it.
pub fn read(text: &str, definitions: &[(String, String)], formulas: Vec<String>) -> Model {
    let reading = Reading {
        definitions: definitions.to_vec(),
        wraps: false,
        formulas,
    };
    let source = Text {
        name: "model.pml".to_owned(),
        text: text.to_owned(),
    };
    let none = &mut |name: &str| Err(format!("there is no {name}"));
    Model::read(source, &reading, none)
        .unwrap_or_else(|refused| panic!("{text}\n{:?}", refused.faults))
}

/// Reads a text that may be no model.
pub fn try_read(text: &str) -> Option<Model> {
    let source = Text {
        name: "model.pml".to_owned(),
        text: text.to_owned(),
    };
    let none = &mut |name: &str| Err(format!("there is no {name}"));
    Model::read(source, &Reading::default(), none).ok()
}

/// Whether Spin and a C compiler are here.
pub fn has_spin() -> bool {
    let has = |command: &str| Command::new(command).arg("-V").output().is_ok();
    let here = has("spin") && has("cc");
    if !here {
        eprintln!("spin and cc are not installed: the counts are not compared with Spin's");
    }
    here
}

/// Makes random models, with all threads there are, until so many could be compared
/// with Spin as `JUROR_SPIN` says: otherwise a hundred. The first seed is that of
/// `JUROR_SPIN_SEED`, otherwise 0. Tells how many that took.
pub fn compare_many(compare: impl Fn(u64) -> bool + Sync) {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    let wanted: u64 = number("JUROR_SPIN").unwrap_or(100);
    let first: u64 = number("JUROR_SPIN_SEED").unwrap_or(0);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        while done.load(Ordering::Relaxed) < wanted {
            let count = next.fetch_add(1, Ordering::Relaxed);
            assert!(count < wanted * 20, "most models are not compared");
            let seed = first + count;
            if compare(seed) {
                done.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    let (made, compared) = (next.into_inner(), done.into_inner());
    println!("{compared} of {made} random models were compared with Spin");
}

/// What Spin found: its states and transitions, and whether something is wrong.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub states: u64,
    pub transitions: u64,
    pub errors: u64,
}

/// Lets Spin search all states of a model, without any reduction.
pub fn spin(text: &str, definitions: &[(String, String)], arguments: &[&str]) -> Found {
    let safety = &["-DSAFETY", "-DNOCLAIM"];
    spin_by(text, definitions, safety, arguments)
}

/// The same for a model that nobody has written. Nothing where Spin does not search it:
/// it refuses a `break` that leads to a `d_step`, and a statement that goes to itself.
pub fn spin_random(text: &str) -> Option<Found> {
    spin_within(text, &[], &["-DSAFETY", "-DNOCLAIM"], &["-E"])
}

/// The same, where a state in which nobody goes on is an error if it is no end.
pub fn spin_deadlock(text: &str) -> Option<Found> {
    spin_within(text, &[], &["-DSAFETY", "-DNOCLAIM"], &[])
}

/// Lets Spin search for runs of a model with one formula that violate it. Nothing
/// where that takes Spin more than [`SPIN_SECONDS_MAX`].
pub fn spin_formula(text: &str) -> Option<Found> {
    spin_within(text, &[], &[], &["-a"])
}

/// Lets Spin search for runs that come to a label `accept` again and again.
pub fn spin_acceptance(text: &str) -> Option<Found> {
    spin_within(text, &[], &["-DNOCLAIM"], &["-a", "-A", "-E"])
}

/// The same for runs that come to no label `progress` any more.
pub fn spin_progress(text: &str) -> Option<Found> {
    spin_within(text, &[], &["-DNP"], &["-l", "-A", "-E"])
}

/// The most time on the processor of one command of Spin. Its automata of formulas
/// with many temporal operators take hours; no other model here comes near it.
const SPIN_SECONDS_MAX: u32 = 60;

fn spin_by(
    text: &str,
    definitions: &[(String, String)],
    kind: &[&str],
    arguments: &[&str],
) -> Found {
    let found = spin_within(text, definitions, kind, arguments);
    found.unwrap_or_else(|| panic!("Spin does not search\n{text}"))
}

/// A command that may take only so much time on the processor.
fn limited(command: &str) -> Command {
    let mut limited = Command::new("sh");
    let script = format!("ulimit -t {SPIN_SECONDS_MAX}; exec \"$0\" \"$@\"");
    limited.args(["-c", &script, command]);
    limited
}

fn spin_within(
    text: &str,
    definitions: &[(String, String)],
    kind: &[&str],
    arguments: &[&str],
) -> Option<Found> {
    let directory = tempfile::tempdir().unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(directory.path()).output().unwrap();
        let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
        shown += &String::from_utf8_lossy(&output.stderr);
        // What has used up its time is ended by a signal.
        let is_whole = output.status.code().is_some();
        is_whole.then_some((output.status.success(), shown))
    };
    std::fs::write(directory.path().join("model.pml"), text).unwrap();
    let macros = definitions
        .iter()
        .map(|(name, value)| format!("-D{name}={value}"));
    let (_, shown) = run(limited("spin")
        .args(["-o1", "-o2", "-o3"])
        .args(macros)
        .args(["-a", "model.pml"]))?;
    if shown.contains("jump into d_step sequence") {
        return None;
    }
    assert!(directory.path().join("pan.c").exists(), "{text}\n{shown}");
    let flags = ["-O0", "-w", "-DNOREDUCE", "-DMEMLIM=4000"];
    let files = ["-o", "pan", "pan.c"];
    let mut compiler = Command::new("cc");
    let (compiled, shown) = run(compiler.args(flags).args(kind).args(files))?;
    assert!(compiled, "{text}\n{shown}");
    let (_, shown) = run(limited("./pan").args(["-m1000000", "-n"]).args(arguments))?;
    // Spin's checker refuses such a loop; here it is a step that may be taken for ever.
    if shown.contains("has unconditional self-loop") {
        return None;
    }
    let has_claim = !shown.contains("(none specified)");
    assert!(has_claim || !kind.is_empty(), "{text}\n{shown}");
    let number_before = |what: &str| {
        let line = shown.lines().find(|line| line.contains(what));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.unwrap_or_else(|| panic!("{text}\n{shown}"))
    };
    let errors = shown
        .split("errors: ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    Some(Found {
        states: number_before("states, stored"),
        transitions: number_before("transitions (="),
        errors: errors.unwrap_or_else(|| panic!("{text}\n{shown}")),
    })
}
