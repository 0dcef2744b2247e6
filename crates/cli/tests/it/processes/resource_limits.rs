//! Programs whose resources are limited (setrlimit(2)), with events in them.

use crate::support::attached::written;
use crate::support::{juror, program};
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

const PROPERTY: &str = "property called
event called = before work(n: int = arg 1)
var seen = 0
state s accepting { on called when n == seen { seen = seen + 1 } -> s  else -> wrong }
state wrong non-accepting
";

/// Runs `limited.c` with the property under a limit of bash's.
fn run_limited(limit: &str) -> Output {
    let directory = TempDir::with_prefix("juror-limits-").expect("a directory");
    let property = directory.path().join("called.prop");
    fs::write(&property, PROPERTY).expect("a file");
    Command::new("bash")
        .args(["-c", &format!("{limit}; exec \"$@\""), "bash"])
        .arg(env!("CARGO_BIN_EXE_juror"))
        .args(["run", "--batch", "--property"])
        .args([property, program("limited.c").compile_plain()])
        .arg("3000")
        .env("XDG_STATE_HOME", directory.path())
        .env("XDG_CACHE_HOME", directory.path())
        .output()
        .expect("bash runs")
}

#[track_caller]
fn check(limit: &str, program: &str, tier: &str) {
    let output = run_limited(limit);
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{limit}: {said}{errors}");
    for expected in [program, "HOLDS", "1000 times", tier] {
        assert!(said.contains(expected), "{limit}: {expected}: {said}");
    }
}

#[test]
fn the_address_space_is_left_to_the_program() {
    // 4 GiB, of which the program maps 3000 MiB.
    check("ulimit -v 4194304", "mapped: yes", "  native");
    // Less than the program itself maps.
    check("ulimit -v 2097152", "mapped: no", "  native");
}

const OBJECTS: &str = "property objects slice on o
event put = before put(o: u64 = arg 1)
var n = 0
state init accepting { on put { n += 1 } }
";

/// What juror has mapped counts for the limits that a program sets itself.
#[test]
fn a_program_that_limits_itself_has_its_memory() {
    let executable = program("own_limit.c").compile_plain();
    for (what, tier) in [
        ("as", "native"),
        ("data", "native"),
        ("tight", "trap: the property has no room in the program"),
    ] {
        let (_directory, property) = written(OBJECTS);
        let output = juror(&["run", "--batch", "--property"])
            .args([&property, &executable])
            .args([what])
            .run();
        let text = &output.stdout;
        for expected in ["41000 times", tier, "failures: 0", "calls: 41000"] {
            assert!(text.contains(expected), "{what}: {expected}: {text}");
        }
    }
}

/// The kernel allocates all pages of memory that is locked.
#[test]
fn the_memory_of_a_program_that_locks_it_stays_small() {
    let output = run_limited("true");
    let said = String::from_utf8_lossy(&output.stdout);
    if said.contains("locked: not permitted") {
        println!("This process may not lock its memory.");
        return;
    }
    assert!(said.contains("locked: little"), "{said}");
    assert!(said.contains("  native"), "{said}");
}

/// The signal for a file that is too large ends a process by default.
#[test]
fn a_limit_of_the_size_of_files_does_not_end_juror() {
    check("ulimit -f 1024", "mapped: yes", "trap: ");
}
