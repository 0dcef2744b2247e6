//! What is not known is not said to hold: events that could not be evaluated, or whose names no
//! module had.

use crate::support::{Batch, Report, juror, program};
use juror_testing::{Fixture, Output};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Checks a trace in a file of this name; returns the output and the last line of the JSON.
fn check(property: &str, (name, trace): (&str, &str), options: &[&str]) -> (Output, Value) {
    let directory = TempDir::with_prefix("juror-undecided-").expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs::write(path("p.prop"), property).expect("a file");
    fs::write(path(name), trace).expect("a file");
    let output = juror(&["check", "--color=never", "--json=out.json"])
        .args(["--property", "p.prop", name])
        .args(options)
        .directory(directory.path())
        .run();
    let json = fs::read_to_string(path("out.json")).expect("a file");
    let last = json.lines().last().expect("a line");
    (output, serde_json::from_str(last).expect("a line of JSON"))
}

#[track_caller]
fn check_status(property: &str, trace: (&str, &str), options: &[&str], status: i32, words: &str) {
    let (output, _) = check(property, trace, options);
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert!(output.stdout.contains(words), "{words}: {output:?}");
}

const ROWS: (&str, &str) = ("t.csv", "1,1,before e,7\n2000000000,2,before e,8\n");
const NAMED_ROWS: (&str, &str) = (
    "t.csv",
    "event,time,thread,x\nbefore e,1,1,7\nbefore e,2000000000,2,8\n",
);
const LINES: (&str, &str) = (
    "t.jsonl",
    "{\"event\":\"before e\",\"time\":1,\"thread\":1,\"values\":{\"x\":7}}\n\
     {\"event\":\"before e\",\"time\":2000000000,\"thread\":2,\"values\":{\"x\":8}}\n",
);

#[test]
fn a_record_has_its_thread_and_its_time() {
    for trace in [ROWS, NAMED_ROWS, LINES] {
        for (event, guard, is_violated) in [
            ("before e(x = arg 1)", "time < 1000000000", true),
            (
                "before e(x = arg 1, now = time)",
                "now <= 2000000000",
                false,
            ),
            ("before e(x)", "time < 1000000000", true),
            ("before e(x)", "thread == 1", true),
            (
                "before e(x = arg 1, who: u8 = thread)",
                "who in {1, 2}",
                false,
            ),
        ] {
            let property = format!(
                "property p\nevent e = {event}\n\
                 state init {{ on e when {guard} -> init else -> bad }}\nstate bad non-accepting\n"
            );
            let (status, word) = if is_violated {
                (1, "VIOLATED")
            } else {
                (0, "HOLDS")
            };
            check_status(&property, trace, &[], status, word);
        }
        let sliced = "property p\nslice on thread\nevent e = before e(x = arg 1)\n\
                      state init { on e -> once_ }\nstate once_ { on e -> twice }\n\
                      state twice non-accepting\n";
        check_status(sliced, trace, &[], 0, "HOLDS     p: 2 slices");
    }
}

#[test]
fn a_recording_has_them_for_other_properties_and_its_parameters_by_the_same_names() {
    let fixture = Fixture::c(
        "named_thread",
        "__attribute__((noinline)) void e(int thread, int time) { (void)thread; (void)time; }
         int main(void) { e(7, 8); e(7, 9); return 0; }",
    );
    let executable = fixture.compile_plain();
    let directory = TempDir::with_prefix("juror-undecided-").expect("a directory");
    for (trace, format) in [("run.jsonl", "json"), ("run.jtr", "binary")] {
        let file = directory.path().join(trace);
        // The recorded property asks for the thread of the record.
        Batch::watching(
            "property p\nslice on thread\nevent e = before e(x = arg 1)\nstate init { on e }",
        )
        .option("--trace")
        .option(&file)
        .option("--trace-format")
        .option(format)
        .option("--record")
        .option("before e(thread, who = thread, time)")
        .run(&executable, &[])
        .assert_code(0);
        for (captures, guard) in [
            ("thread, who = thread", "thread == 7"),
            ("now = time", "now > 0"),
        ] {
            let property = format!(
                "property q\nevent e = before e({captures})\n\
                 state init {{ on e when {guard} -> init else -> bad }}\nstate bad non-accepting\n"
            );
            let path = directory.path().join("q.prop");
            fs::write(&path, property).expect("a file");
            let output = juror(&["check", "--color=never", "--property"])
                .args([&path, &file])
                .run();
            assert_eq!(output.status.code(), Some(0), "{captures}: {output:?}");
        }
    }
}

#[test]
fn a_property_whose_events_could_not_be_evaluated_does_not_hold() {
    let property = "property p\nevent e = before e(x = arg 2)\n\
                    state init { on e when x < 9 -> init else -> bad }\nstate bad non-accepting\n";
    let (output, end) = check(property, ROWS, &["--keep-going"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let headline = "UNDECIDED  p: 2 events could not be evaluated";
    assert!(output.stdout.contains(headline), "{output:?}");
    assert!(!output.stdout.contains("HOLDS"), "{output:?}");
    let reasons = &end["summaries"][0]["undecided"];
    assert_eq!(reasons[0], "2 events could not be evaluated", "{end}");
    // A violation stays one.
    let property = "property p\nevent e = before e(x, y = arg 2)\n\
                    state init { on e when x == 7 and y == 1 -> bad on e when x == 8 -> bad }\n\
                    state bad non-accepting\n";
    check_status(property, ROWS, &["--keep-going"], 1, "VIOLATED  p");
    // An event that was not recorded, and a trace with an error.
    let declared = (
        "t.jsonl",
        "{\"trace\":1}\n{\"declare\":\"before f\",\"parameters\":[]}\n{\"end\":{\"exited\":0},\"events\":0}\n",
    );
    let property =
        "property p\nevent e = before e\nstate init { on e -> bad }\nstate bad non-accepting\n";
    check_status(
        property,
        declared,
        &["--keep-going"],
        2,
        "UNDECIDED  p: `before e` was not recorded",
    );
    let broken = ("t.csv", "1,1,g,7\nx,1,e,8\n2,1,g,9\n");
    check_status(
        property,
        broken,
        &["--keep-going"],
        2,
        "UNDECIDED  p: the trace has an error",
    );
}

#[test]
fn a_live_property_whose_event_could_not_be_evaluated_does_not_hold() {
    let fixture = Fixture::c(
        "null_once",
        "struct s { int n; };
         __attribute__((noinline)) void e(struct s *s) { (void)s; }
         int main(void) { struct s s = { 1 }; e(0); e(&s); return 0; }",
    );
    let property = "property p\nevent e = before e(s)\n\
                    state init { on e when s->n == 1 -> init else -> bad }\nstate bad non-accepting\n";
    let report = Batch::watching(property)
        .command("run")
        .command("continue")
        .run(fixture.compile_plain(), &[]);
    report.assert_code(2);
    assert!(
        report
            .all()
            .contains("UNDECIDED  p: one event could not be evaluated"),
        "{}",
        report.all()
    );
}

fn unbound(event: &str, options: &[&str]) -> Report {
    let property = format!(
        "property p\nevent gone = {event}\nstate init {{ on gone -> bad }}\nstate bad non-accepting\n"
    );
    let mut batch = Batch::watching(&property);
    for option in options {
        batch = batch.option(option);
    }
    batch.run(program("occasions.c").compile_plain(), &["1", "1"])
}

#[test]
fn an_event_that_was_never_bound_makes_no_property_hold() {
    for (event, reason) in [
        (
            "before not_there() in library",
            "no loaded module had the function `not_there`",
        ),
        (
            "after not_there in \"libnone\"",
            "no loaded `libnone` had `not_there`",
        ),
        (
            "write not_there in library",
            "no loaded module had `not_there`",
        ),
        (
            "change not_there[0..2] in \"libnone.so\"",
            "no loaded `libnone.so` had `not_there[0..2]`",
        ),
    ] {
        let report = unbound(event, &[]);
        report.assert_code(2);
        let headline = format!("UNDECIDED  p: {reason}");
        assert!(report.all().contains(&headline), "{}", report.all());
        assert_eq!(report.summary("p")["undecided"][0], reason);
        let report = unbound(event, &["--allow-unbound"]);
        report.assert_code(0);
        assert!(report.all().contains("HOLDS     p"), "{}", report.all());
        assert!(report.remarks("p").contains(&reason), "{}", report.all());
    }
}

/// A program with an event of each kind of presence, recorded in both forms.
#[test]
fn a_recorded_run_says_which_events_were_never_bound() {
    let source = "int used(int x) { return x; } int never(int x) { return x; } int value;
        int main(int argc, char **argv) { (void)argv; if (argc > 5) never(1); return used(2) - 2; }";
    let executable = Fixture::c("bound", source).compile_plain();
    let directory = TempDir::with_prefix("juror-bound-").expect("a directory");
    let other = "property other\nevent u = before used(x)\nstate s accepting { on u -> s }\n";
    fs::write(directory.path().join("other.prop"), other).expect("a file");
    for (event, reason) in [
        (
            "before absent(x) in library",
            Some("no loaded module had the function `absent`"),
        ),
        (
            "after absent(x) in \"libnone\"",
            Some("no loaded `libnone` had `absent`"),
        ),
        (
            "write absent in library",
            Some("no loaded module had `absent`"),
        ),
        ("before never(x) in library", None),
        ("write value in library", None),
        ("entry openat(fd = arg 1)", None),
    ] {
        let property = format!(
            "property p\nevent a = {event}\nevent u = before used(x)\n\
             state s accepting {{ on a when 1 == 2 -> bad on u -> s }}\nstate bad non-accepting\n"
        );
        fs::write(directory.path().join("p.prop"), property).expect("a file");
        for form in ["t.jsonl", "t.jtr"] {
            let run = |arguments: &[&str]| {
                let files = ["--property", "p.prop", "--property", "other.prop"];
                let run = juror(arguments).args(files).directory(directory.path());
                run.args(["--color=never"])
            };
            let path = executable.to_string_lossy();
            let live = run(&["run", "--batch", "--trace", form])
                .args([&*path])
                .run();
            let status = if reason.is_some() { 2 } else { 0 };
            let headline = match reason {
                Some(reason) => format!("UNDECIDED  p: {reason}"),
                None => "HOLDS     p".to_owned(),
            };
            assert_eq!(live.code(), Some(status), "{event}: {live:?}");
            assert!(live.stdout.contains(&headline), "{event}: {live:?}");
            for jobs in ["--jobs=1", "--jobs=4", "--keep-going"] {
                let checked = run(&["check", jobs]).args([form]).run();
                assert_eq!(checked.code(), Some(status), "{event}, {jobs}: {checked:?}");
                assert!(
                    checked.stdout.contains(&headline),
                    "{event}, {jobs}: {checked:?}"
                );
                assert!(
                    checked.stdout.contains("HOLDS     other"),
                    "{event}: {checked:?}"
                );
            }
            let checked = run(&["check", "--allow-unbound"]).args([form]).run();
            assert_eq!(checked.code(), Some(0), "{event}: {checked:?}");
            assert!(
                checked.stdout.contains("HOLDS     p"),
                "{event}: {checked:?}"
            );
        }
    }
}

/// The recording of a run that the user leaves says so, too. A property that can still be
/// violated is open then; one that cannot is undecided, as at the end of a run.
#[test]
fn a_run_that_was_left_says_which_events_were_not_bound() {
    let source = "int used(int x) { return x; } int main(void) { return used(0); }";
    let executable = Fixture::c("left", source).compile_plain();
    let directory = TempDir::with_prefix("juror-left-").expect("a directory");
    let reason = "no loaded module had the function `absent`";
    let undecided = format!("UNDECIDED  p: {reason}");
    for (state, headline, status) in [
        ("s", &*undecided, 2),
        (
            "bad",
            "OPEN      p: presumably satisfied when the run was left",
            0,
        ),
    ] {
        let property = format!(
            "property p\nevent a = before absent() in library\nevent u = before used()\n\
             state s {{ on a -> {state} on u -> s }}\nstate bad non-accepting\n"
        );
        fs::write(directory.path().join("p.prop"), property).expect("a file");
        let options = ["--color=never", "--property", "p.prop"];
        let run = |command: &str| juror(&[command]).args(options).directory(directory.path());
        for command in ["quit", "kill"] {
            let live = run("run").args(["--trace", "left.jsonl", "-e", "break used"]);
            let live = live.args(["-e", "run", "-e", command]);
            let live = live.args([executable.as_os_str()]).run();
            if command == "kill" {
                assert!(live.stdout.contains(headline), "{live:?}");
                assert!(live.stdout.contains(reason), "{live:?}");
                assert_eq!(live.code(), Some(status), "{live:?}");
            }
            let trace = fs::read_to_string(directory.path().join("left.jsonl"));
            let trace = trace.expect("a trace");
            let unbound = "{\"unbound\":\"before absent\"}\n{\"end\":\"stopped\"";
            assert!(trace.contains(unbound), "{command}: {trace}");
            assert_eq!(trace.matches("\"unbound\"").count(), 1, "{trace}");
            let checked = run("check").args(["left.jsonl"]).run();
            assert!(checked.stdout.contains(headline), "{checked:?}");
            assert!(checked.stdout.contains(reason), "{checked:?}");
            assert_eq!(checked.code(), Some(status), "{checked:?}");
        }
    }
}

/// An event that only one of two merged traces could have is bound.
#[test]
fn an_event_that_one_trace_of_a_run_had_is_bound() {
    let property = "property p\nevent a = before f()\nevent b = before g()\n\
        state s accepting { on a -> s on b -> s }\n";
    let with = "{\"declare\":\"before f\"}\n{\"declare\":\"before g\"}\n";
    let record = "{\"time\":1,\"thread\":1,\"event\":\"before f\"}\n";
    let directory = TempDir::with_prefix("juror-bound-").expect("a directory");
    let write = |name: &str, text: String| {
        fs::write(directory.path().join(name), text).expect("a file");
    };
    write("p.prop", property.to_owned());
    let unbound = "{\"unbound\":\"before g\"}\n";
    write("without.jsonl", format!("{with}{record}{unbound}"));
    write("with.jsonl", format!("{with}{record}"));
    for (files, status) in [
        (&["--merge", "without.jsonl", "with.jsonl"][..], 0),
        (&["--merge", "without.jsonl", "without.jsonl"], 2),
        (&["with.jsonl"], 0),
        (&["without.jsonl"], 2),
        (&["with.jsonl", "without.jsonl"], 2),
    ] {
        let check = juror(&["check", "--property", "p.prop"]).args(files);
        let output = check.directory(directory.path()).run();
        assert_eq!(output.code(), Some(status), "{files:?}: {output:?}");
    }
}

#[test]
fn a_library_that_is_loaded_and_lacks_the_name_is_an_error() {
    for (event, message) in [
        (
            "before not_there() in \"libc.so\"",
            "`libc.so` has no function `not_there`",
        ),
        ("before mallok() in \"libc.so.6\"", "did you mean `malloc`?"),
        (
            "before not_there() in \"libc\"",
            "`libc` has no function `not_there`",
        ),
    ] {
        let report = unbound(event, &["--allow-unbound"]);
        report.assert_code(2);
        assert!(
            report.all().contains(message),
            "{message}: {}",
            report.all()
        );
    }
    // Another library whose name begins so may come.
    let report = unbound("before not_there() in \"lib\"", &[]);
    report.assert_code(2);
    assert!(report.all().contains("UNDECIDED  p"), "{}", report.all());
}

#[test]
fn a_library_that_is_loaded_later_and_lacks_the_name_is_an_error() {
    let plugin = program("plugin.c")
        .argument("-shared")
        .argument("-fPIC")
        .compile_plain();
    let name = plugin
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let property = format!(
        "property p\nevent gone = before not_there() in \"{name}\"\n\
         state init {{ on gone -> bad }}\nstate bad non-accepting\n"
    );
    let loader = program("loader.c").compile_plain();
    let report = Batch::watching(&property).run(loader, &[plugin.to_str().expect("text")]);
    report.assert_code(2);
    let message = format!("`{name}` has no function `not_there`");
    assert!(report.all().contains(&message), "{}", report.all());
    assert!(!report.all().contains("HOLDS"), "{}", report.all());
}

#[test]
fn events_that_no_state_needed_and_names_of_no_property_are_told() {
    let property = "property p\nslice on u\nevent grey = before greylist(u = arg 1)\n\
                    event deposit = before depositTo(u = arg 1)\n\
                    state init { on grey -> grey_ }\nstate grey_ { on deposit -> init }\n";
    let trace = (
        "t.csv",
        "1,1,before depositTo,u1\n2,1,before depositTo,u1\n3,1,before whitelist,u1\n",
    );
    let (output, end) = check(property, trace, &[]);
    for words in [
        "deposit  before depositTo  2 times, while no state needed it",
        "not seen: grey\n",
        "1 event is in no property: before whitelist (1).",
        "no state needed the events that happened",
    ] {
        assert!(output.stdout.contains(words), "{words}: {output:?}");
    }
    assert_eq!(end["others"][0]["event"], "before whitelist", "{end}");
    assert_eq!(end["unneeded"][0]["count"], 2, "{end}");
}

#[test]
fn a_column_has_the_type_that_the_property_gives_it() {
    let property = "property p\nevent e = before e(n: text = arg 1)\nvar last = \"\"\n\
                    state init { on e when n != \"7\" { last = n } on e when n == \"7\" -> seven }\n\
                    state seven non-accepting\n";
    let rows = (
        "t.csv",
        "1,1,before e,A\n2,1,before e,007\n3,1,before e,7\n",
    );
    check_status(property, rows, &[], 1, "last = \"007\"");
}

/// Runs a property over a program in a tier; returns its status and what it says.
fn run_in_tier(executable: &Path, property: &str, tier: &str) -> (Option<i32>, String) {
    let directory = TempDir::with_prefix("juror-late-").expect("a directory");
    let path = directory.path().join("p.prop");
    fs::write(&path, property).expect("a file");
    let output = juror(&["run", "--batch", "--color=never", "--tier", tier])
        .args(["--property"])
        .args([&path])
        .args([executable])
        .run();
    let said = format!("{}{}", output.stdout, output.stderr);
    (output.code(), said)
}

/// The end of `outer` becomes needed when it has called `inner`. By traps its entry was not
/// seen; a stub sees each one.
#[test]
fn a_parameter_of_a_call_whose_entry_no_state_needed_is_not_captured_by_traps() {
    let executable = Fixture::c(
        "late",
        r#"static int inner(int x) { return x + 1; }
static int outer(int x) { return inner(x) + 1; }
int main(void) { return outer(1) != 3; }
"#,
    )
    .compile_plain();
    let property = r#"property p
event in  = before inner
event out = after  outer(x)
state init non-accepting { on in -> late }
state late non-accepting { on out when x == 1 -> done }
state done accepting {}
"#;
    let (status, said) = run_in_tier(&executable, property, "trap");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("not captured"), "{said}");
    let (status, said) = run_in_tier(&executable, property, "auto");
    assert_eq!(status, Some(0), "{said}");
}

/// The end of a call that is seen to begin may become needed later, or again: its parameters
/// are those of its beginning.
#[test]
fn parameters_are_captured_at_each_entry_that_is_seen() {
    let executable = Fixture::c(
        "again",
        r#"static int f(int x) {
    int sum = 0;
    if (x == 2) {
        sum += f(1);
        sum += f(6);
        x = 7;
    }
    return sum + x;
}
int main(void) { return f(2) != 14; }
"#,
    )
    .compile_plain();
    // The end of f(2) is needed; then f(1) ends it; then f(6) begins, and it is needed again.
    let again = r#"property p
event in  = before f
event out = after  f(x) returns r
state init non-accepting { on in -> one }
state one non-accepting { on out when x == 1 -> init on out when x == 2 and r == 14 -> done }
state done accepting {}
"#;
    // f(2) begins when only the beginnings of calls are needed.
    let later = r#"property p
event in  = before f(x)
event out = after  f(x) returns r
state init non-accepting { on in when x == 6 -> one }
state one non-accepting { on out when x == 2 and r == 14 -> done }
state done accepting {}
"#;
    for property in [again, later] {
        for tier in ["trap", "auto"] {
            let (status, said) = run_in_tier(&executable, property, tier);
            assert_eq!(status, Some(0), "{tier}: {property}{said}");
        }
    }
}
