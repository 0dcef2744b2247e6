//! Reactions that let the program run, and reactions that change scenarios.

use super::{check, check_error, queue, run, said};
use crate::support::{Batch, juror};
use juror_testing::Fixture;
use std::fs;
use tempfile::TempDir;

#[test]
fn a_reaction_goes_on_where_its_command_has_led() {
    let report = check(
        "scenario s
         on enter some {
             print \"count {program(q.count)}\"
             command \"finish\"
             print \"count {program(q.count)}\"
             command \"next\"
             command \"next\"
             print \"pushes {program(pushes)}\"
         }",
        &["count 0", "count 1", "pushes 5"],
    );
    // The run goes on, and no event of it is lost.
    let mut stops = report.lines.iter().filter(|line| line["kind"] == "stop");
    assert_eq!(stops.next_back().expect("a stop")["reason"], "violation");
    assert_eq!(report.summary("bounds")["violations"], 1);
    report.assert_code(1);
}

#[test]
fn a_program_may_be_moved_at_every_hit() {
    // Each goes on where the next one takes over, and the last with the end.
    let report = check(
        "scenario s
         var pushes = 0
         on start {
             break push { pushes += 1 command \"continue\" print \"after {pushes}\" }
             break done { print \"done\" }
         }
         on enter full { continue }",
        &[
            "after 2", "after 3", "after 4", "after 5", "done", "after 5",
        ],
    );
    assert_eq!(report.summary("bounds")["violations"], 1);
    report.assert_code(1);
}

#[test]
fn a_stop_is_stronger_and_what_is_not_done_is_told() {
    let report = run(
        "scenario a on enter some { command \"next\" print \"never\" }
         scenario b on enter some { stop \"here\" }",
        &[],
    );
    assert_eq!(said(&report), ["here"]);
    assert_eq!(report.stop()["reason"], "scenario");
    let told = &report.output.stderr;
    assert!(
        told.contains("scenario a: `next` is not executed, since the program stops"),
        "{told}"
    );
}

#[test]
fn a_violation_is_passed_in_silence_only_when_asked_for() {
    let moves = |first: &str| {
        let scenario = format!("scenario s on enter full {{ {first} command \"finish\" }}");
        run(&scenario, &[])
    };
    let report = moves("");
    let shown = &report.output.stdout;
    assert!(shown.contains("VIOLATED  bounds: "), "{shown}");
    assert!(
        shown.contains("The program exited with status 5"),
        "{shown}"
    );
    let report = moves("continue");
    let shown = report.output.stdout.split("The program exited").next();
    assert!(!shown.unwrap_or("").contains("VIOLATED"), "{shown:?}");
    report.assert_code(1);
}

#[test]
fn a_scenario_may_end_the_session() {
    let report = check(
        "scenario s on enter some { print \"enough\" command \"quit\" }",
        &["enough"],
    );
    assert!(report.lines.iter().all(|line| line["kind"] != "stop"));
    report.assert_code(0);
    check(
        "scenario s on enter some { command \"kill\" print \"gone\" }",
        &["gone"],
    );
}

#[test]
fn a_program_is_run_until_it_fails() {
    let source = "#include <stdio.h>
        int main(int count, char **arguments) {
            int runs = 0;
            FILE *file = fopen(arguments[1], \"r\");
            if (file) { if (fscanf(file, \"%d\", &runs) != 1) return 9; fclose(file); }
            file = fopen(arguments[1], \"w\");
            fprintf(file, \"%d\", runs + 1);
            fclose(file);
            return runs;
        }";
    let directory = TempDir::with_prefix("juror-scenario-").expect("a directory");
    let file = directory.path().join("s.scn");
    let text = "scenario s on exit when exit_status < 2 { print exit_status command \"run\" }";
    fs::write(&file, text).expect("a file");
    let runs = directory.path().join("runs");
    let report = Batch::new().option("--scenario").option(&file).run(
        Fixture::c("runs", source).compile_plain(),
        &[runs.to_str().expect("a path")],
    );
    assert_eq!(said(&report), ["0", "1"], "{}", report.output.stderr);
    let shown = &report.output.stdout;
    for status in 0..3 {
        let line = format!("The program exited with status {status}");
        assert_eq!(shown.matches(&line).count(), 1, "{shown}");
    }
}

#[test]
fn a_step_of_yours_ends_where_the_reaction_leaves_the_program() {
    let directory = TempDir::with_prefix("juror-scenario-").expect("a directory");
    let file = directory.path().join("s.scn");
    fs::write(
        &file,
        "scenario s on start { tbreak push { command \"next\" print \"at {program(item)}\" } }",
    )
    .expect("a file");
    let output = juror(&["run", "--color=never", "--scenario"])
        .args([&file])
        .args([&queue()])
        .input("start\nnext\nnext\nbacktrace 1\ncontinue\nquit\n")
        .run();
    let text = &output.stdout;
    // Once in the run at the beginning, which it lets run on, and once in the step.
    assert_eq!(text.matches("[s] at 0").count(), 2, "{text}");
    assert!(text.contains("#0  push (queue="), "{text}");
    assert!(text.contains("The program exited with status 5"), "{text}");
}

#[test]
fn what_reacts_is_changed_when_the_reactions_are_done() {
    check(
        "scenario a on enter some { command \"scenario disable b\" print \"off\" }
         scenario b on enter some { print \"b\" } on enter full { print \"never\" }",
        &["b", "off"],
    );
    check(
        "scenario a on enter some { command \"scenario delete a\" print \"never\" }
         scenario b on enter full { print \"b\" }",
        &["b"],
    );
    let report = run(
        "scenario s on enter some { command \"property remove bounds\" print \"gone\" }",
        &[],
    );
    assert_eq!(said(&report), ["gone"]);
    report.assert_code(0);
}

#[test]
fn a_command_that_cannot_be_done_is_shown_in_its_reaction() {
    check_error(
        "scenario s on enter some { command \"until nowhere\" }",
        &[],
        "command \"until nowhere\"",
        "nowhere",
        "",
    );
    check_error(
        "scenario s on enter some { command \"scenario disable t\" }",
        &[],
        "command \"scenario disable t\"",
        "no scenario is named `t`",
        "",
    );
}

#[test]
fn a_stop_at_watched_memory_shows_the_statement_that_did_it() {
    let line = |scenario: &str| {
        let report = run(scenario, &[]);
        let stop = report.stop();
        let location = &stop["location"];
        assert_eq!(location["function"], "push", "{stop}");
        (
            stop["source"]["current"].clone(),
            location["line"].clone(),
            stop["backtrace"][0]["location"]["line"].clone(),
        )
    };
    let counting = (6.into(), 6.into(), 6.into());
    for word in ["watch", "change", "awatch"] {
        let place = match word {
            "awatch" => "q.items[0]",
            _ => "q.count",
        };
        let found = line(&format!(
            "scenario s on start {{ {word} {place} {{ stop }} }}"
        ));
        let expected = match word {
            "awatch" => (5.into(), 5.into(), 5.into()),
            _ => counting.clone(),
        };
        assert_eq!(found, expected, "{word}");
    }
    // A mistake in the reaction, too.
    let found = line("scenario s on start { watch q.count { print program(nothing) } }");
    assert_eq!(found, counting);
}

#[test]
fn parameters_of_the_slice_stand_for_their_values_in_code() {
    // The assignment sets memory by its address.
    let report = run(
        "scenario s
         on enter some {
             print program(((struct queue *){queue})->count)
             set ((struct queue *){queue})->items[7] = {count} + 3
             command \"print ((struct queue *){queue})->items[7]\"
             print program(q.items[7])
             watch ((struct queue *){queue})->count {
                 print \"{queue == 0}, {old_value} -> {new_value}\"
                 remove point
             }
         }
         on enter full { continue }",
        &["--allow-programs"],
    );
    assert_eq!(said(&report), ["0", "3", "false, 0 -> 1"]);
}
