//! `juror check` over run files: properties that are added afterwards.

use super::{Recorded, program, recorded};
use crate::support::juror;

/// Returns a property that is violated by a call of `spoiled` with a value.
fn never(value: i32) -> String {
    format!(
        "property never\nevent s = before spoiled(value: i32)\n\
         state fine accepting {{ on s when value == {value} -> bad }}\n\
         state bad non-accepting\n"
    )
}

/// Records the program, and returns the value that its `spoiled` got: another one in each run.
fn a_run() -> (Recorded, i32) {
    let executable = program("inputs.c").compile_plain();
    let run = recorded(&executable, &[], "", 0);
    let (_, rest) = run.text.split_once("sum ").expect("the sum");
    let (sum, _) = rest.split_once(',').expect("the sum");
    let sum: i32 = sum.parse().expect("a number");
    (run, sum / 2)
}

#[test]
fn a_property_is_checked_over_a_run_that_was_recorded_without_it() {
    let (run, value) = a_run();
    for (value, status, verdict) in [(value, 1, "VIOLATED  never"), (-1, 0, "HOLDS     never")] {
        let property = run.directory.path().join("never.prop");
        std::fs::write(&property, never(value)).expect("a property");
        let output = juror(&["check", "--property"])
            .args([&property, &run.file])
            .run();
        let text = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(output.code(), Some(status), "{text}");
        assert!(output.stdout.contains(verdict), "{text}");
    }
}

#[test]
fn several_run_files_are_checked_one_after_another() {
    let (first, value) = a_run();
    let (second, _) = a_run();
    let property = first.directory.path().join("never.prop");
    std::fs::write(&property, never(value)).expect("a property");
    let output = juror(&["check", "--keep-going", "--json", "--property"])
        .args([&property, &second.file, &first.file])
        .run();
    assert_eq!(output.code(), Some(1), "{}{}", output.stdout, output.stderr);
    let verdicts = output.stdout.matches("\"verdict\":").count();
    assert!(verdicts >= 2, "{}", output.stdout);
}

#[test]
fn what_cannot_be_checked_together_is_refused() {
    let (run, _) = a_run();
    let directory = run.directory.path();
    let property = directory.join("never.prop");
    std::fs::write(&property, never(0)).expect("a property");
    std::fs::write(directory.join("trace.jsonl"), "{\"trace\":1}\n").expect("a trace");
    let file = run.file.display().to_string();
    for (words, said) in [
        (vec![&*file, "trace.jsonl"], "checked apart"),
        (vec!["--follow", &*file], "are for traces"),
        (vec!["--merge", &*file], "are for traces"),
        (
            vec!["--json=out.json", &*file, &*file],
            "take the run of one",
        ),
    ] {
        let output = juror(&["check", "--property", "never.prop"])
            .args(&words)
            .directory(directory)
            .run();
        assert_eq!(output.code(), Some(2), "{words:?}: {}", output.stdout);
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(text.contains(said), "{words:?}: {text}");
    }
}
