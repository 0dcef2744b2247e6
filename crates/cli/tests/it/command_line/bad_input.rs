//! Programs that cannot be run, invalid properties, and programs that die: each gives one
//! clear message and the right exit status, and leaves no process running.

use crate::support::{Batch, Report, juror, program, property_file};
use juror_testing::{Build, Fixture, Juror, Optimization, copy_executable};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A file that may be executed, in a directory of its own.
struct Executable {
    _directory: TempDir,
    path: PathBuf,
}

fn executable(name: &str, content: &[u8], mode: u32) -> Executable {
    let directory = TempDir::with_prefix("juror-bad-").expect("a directory");
    let path = directory.path().join(name);
    fs::write(&path, content).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode is set");
    Executable {
        _directory: directory,
        path,
    }
}

/// The start of an ELF file of this class, kind and machine.
fn elf_header(class: u8, kind: u16, machine: u16) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1, 1]);
    bytes[16..18].copy_from_slice(&kind.to_le_bytes());
    bytes[18..20].copy_from_slice(&machine.to_le_bytes());
    bytes
}

/// The program cannot be run: one line on standard error says why.
#[track_caller]
fn check_refused(program: &Path, expected: &str) {
    for batch in [&["--batch"][..], &[]] {
        let output = juror(&["run", "--color=never", "-e", "run"])
            .args(batch)
            .args([program])
            .run();
        assert_refused(&output, expected);
    }
}

#[track_caller]
fn assert_refused(output: &juror_testing::Output, expected: &str) {
    output.assert_code(2);
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
    assert!(
        output.stderr.contains(expected),
        "{expected:?} is not in {}",
        output.stderr
    );
    assert_eq!(output.stdout, "");
}

#[test]
fn what_is_no_program_is_refused_with_the_reason() {
    check_refused(Path::new("/no/such/program"), "there is no such file");
    check_refused(Path::new("no-such-program"), "PATH");
    check_refused(Path::new("/usr"), "this is a directory");
    check_refused(Path::new("."), "this is a directory");
    check_refused(Path::new("/dev/null"), "not an executable");
    let check = |content: &[u8], mode: u32, expected: &str| {
        let file = executable("program", content, mode);
        check_refused(&file.path, expected);
    };
    check(&elf_header(2, 2, 62), 0o644, "no permission to execute");
    check(b"words\n", 0o755, "not an executable");
    check(b"", 0o755, "not an executable");
    check(
        b"#!/bin/sh\necho\n",
        0o755,
        "this is a script; the program that runs it is /bin/sh",
    );
    check(&elf_header(1, 2, 3), 0o755, "32-bit");
    check(&elf_header(1, 2, 62), 0o755, "32-bit");
    check(&elf_header(2, 2, 183), 0o755, "64-bit ARM");
    check(&elf_header(2, 2, 243), 0o755, "RISC-V");
    check(&elf_header(2, 2, 4711), 0o755, "4711");
    check(&elf_header(2, 1, 62), 0o755, "an object file");
}

/// It is opened in place of a program, and has nothing.
#[test]
fn a_core_file_without_content_is_damaged() {
    let file = executable("core", &elf_header(2, 4, 62), 0o755);
    let output = juror(&["run", "--color=never", "--batch", "-e", "backtrace"])
        .args([&file.path])
        .run();
    output.assert_code(2);
    let expected = "this core file is damaged: its program headers have another size";
    assert!(output.stdout.contains(expected), "{}", output.stdout);
    assert_eq!(output.stderr, "");
}

#[test]
fn a_program_that_was_cut_off_is_refused() {
    let whole = fs::read(program("returns.c").compile_plain()).expect("the program");
    for length in [20, 64, 100, 3000, 6000] {
        let file = executable("program", &whole[..length], 0o755);
        let expected = if length < 64 {
            "not an executable"
        } else {
            "damaged"
        };
        check_refused(&file.path, expected);
    }
}

#[test]
fn a_missing_dynamic_linker_is_named() {
    let fixture = program("returns.c").argument("-Wl,--dynamic-linker=/no/such/linker.so");
    let path = fixture.compile_plain();
    check_refused(
        &path,
        "its dynamic linker /no/such/linker.so does not exist",
    );
}

#[test]
fn a_program_that_may_not_be_read_cannot_be_traced() {
    let may_change_user = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !may_change_user {
        eprintln!("this test must be able to become another user; it is left out");
        return;
    }
    let content = fs::read(program("returns.c").compile_plain()).expect("the program");
    let file = executable("program", &content, 0o711);
    let directory = file.path.parent().expect("it is in a directory");
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).expect("it can be entered");
    // The other user may not be able to reach the build directory.
    let debugger = directory.join("juror");
    copy_executable(Path::new(env!("CARGO_BIN_EXE_juror")), &debugger);
    let output = Juror::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .args([debugger.as_os_str()])
        .args(["run", "--batch", "--color=never"])
        .args([&file.path])
        .directory(directory)
        .run();
    assert_refused(&output, "you may execute this file but not read it");
}

/// Runs the queue example, plain, with a property of these words.
fn run_queue(property: &str) -> Report {
    Batch::watching(property).run(Fixture::example("queue").compile_plain(), &[])
}

/// A mistake: the lines after a common head, and what is said of them.
struct Mistake {
    lines: &'static str,
    code: &'static str,
    /// Line and column.
    place: (usize, usize),
    underlined: &'static str,
    help: &'static str,
}

const fn mistake(
    lines: &'static str,
    code: &'static str,
    place: (usize, usize),
    underlined: &'static str,
    help: &'static str,
) -> Mistake {
    Mistake {
        lines,
        code,
        place,
        underlined,
        help,
    }
}

const HEAD: &str =
    "property p\nevent push = before queue_push_letter(queue, letter)\nvar count = 0\n";

#[rustfmt::skip] // a table
const MISTAKES: &[Mistake] = &[
    mistake("state a { on psh }", "unknown-event", (4, 14), "psh", "did you mean `push`?"),
    mistake("state a { on push -> overflow }", "unknown-state", (4, 22), "overflow", "known: `a`"),
    mistake("state a { on push { cuont = 1 } }", "unknown-variable", (4, 21), "cuont", "`count`"),
    mistake("state a { on push when lettr > 1 }", "unknown-name", (4, 24), "lettr", "`letter`"),
    mistake("state a { on push }\nstate a", "duplicate-name", (5, 7), "a", ""),
    mistake("state a { on push when count }", "not-boolean", (4, 24), "count", "!= 0"),
    mistake("state a { on push when count and true }", "type-mismatch", (4, 24), "count and true", ""),
    mistake("state a { on push when count < 1 / 0 }", "bad-constant", (4, 32), "1 / 0", ""),
    mistake("state a { on push { letter = 1 } }", "assignment-to-parameter", (4, 21), "letter", ""),
    mistake("state a { on push else -> a }", "else-without-when", (4, 19), "else", ""),
    mistake("state a { on push when $1 == 0 }", "not-in-properties", (4, 24), "$1", "`arg 1`"),
    mistake("slice on quue\nstate a { on push }", "unbound-slice", (4, 10), "quue", "`queue`"),
    mistake("stat a { on push }", "syntax", (4, 1), "stat", "`state`"),
    mistake("state a { on push -> }", "syntax", (4, 22), "}", ""),
    mistake("state a { on push when \"x }", "unclosed-quote", (4, 24), "\"x }", ""),
    mistake("state a { on push when count > 0x }", "bad-number", (4, 32), "0x", ""),
    mistake("var x = count\nstate a { on push }", "not-constant", (4, 9), "count", ""),
    mistake("", "no-states", (1, 10), "p", ""),
    mistake("state a initial { on push }\nstate b initial { on push }", "two-initial", (5, 9), "initial", ""),
    mistake("state a final { on push }", "final-initial", (4, 9), "final", ""),
    mistake("event e = before f(x: inti)\nstate a { on e }", "unknown-type", (4, 23), "inti", "`int`"),
    mistake("event e = before f(x = ret)\nstate a { on e }", "return-before-call", (4, 24), "ret", "after"),
    mistake("event e = before f(x = arg 0)\nstate a { on e }", "bad-argument", (4, 28), "0", "from 1"),
    // What only this program can tell.
    mistake("event e = before queue_push_lettr\nstate a { on e on push }",
        "unknown-function", (4, 18), "queue_push_lettr", "did you mean `queue_push_letter`?"),
    mistake("event e = before nowhere\nstate a { on e on push }",
        "unknown-function", (4, 18), "nowhere", "in library"),
    mistake("event e = before queue_new(sise)\nstate a { on e on push }",
        "unreadable-value", (4, 28), "sise", "`size`"),
    mistake("event e = before queue_print(n = queue->letter_cuont)\nstate a { on e on push }",
        "unreadable-value", (4, 30), "n = queue->letter_cuont", "`letter_count`"),
    mistake("event e = before queue_new(size = *size)\nstate a { on e on push }",
        "unreadable-value", (4, 28), "size = *size", "is not a pointer"),
];

impl Mistake {
    /// Runs the program with the property. What is wrong with what is shown,
    /// or nothing.
    fn check(&self) -> Result<(), String> {
        let property = format!("{HEAD}{}\n", self.lines);
        let report = run_queue(&property);
        let shown = &report.output.stderr;
        let contains = |expected: &str| {
            if shown.contains(expected) {
                Ok(())
            } else {
                Err(format!("no {expected:?}"))
            }
        };
        let (line, column) = self.place;
        contains(&format!("error[{}]: ", self.code))?;
        contains(&format!("1.prop:{line}:{column}\n"))?;
        contains(self.help)?;
        // The marks begin below the column.
        let source = property.lines().nth(line - 1).unwrap_or_default();
        let mut lines = shown.lines().skip_while(|it| !it.ends_with(source));
        let indent = lines.next().map_or(0, |it| it.len() - source.len());
        let marks = lines.next().and_then(|it| it.find(['^', '-']));
        if marks != Some(indent + column - 1) {
            return Err("the marks stand elsewhere".to_owned());
        }
        if report.output.code() != Some(2) || !report.output.stdout.is_empty() {
            return Err(format!("the program ran: {}", report.output.status));
        }
        self.check_json(&property, &report)
    }

    fn check_json(&self, property: &str, report: &Report) -> Result<(), String> {
        let error = report.kind("error").next().ok_or("no line of JSON")?;
        let diagnostics = error["diagnostics"].as_array().ok_or("no list")?;
        let found = diagnostics
            .iter()
            .find(|it| it["code"] == self.code)
            .ok_or_else(|| format!("not in the JSON {error}"))?;
        let offset = |key: &str| found[key].as_u64().unwrap_or(0) as usize;
        if error["fault"] != "user" || (offset("line"), offset("column")) != self.place {
            return Err(format!("another place in the JSON: {error}"));
        }
        let underlined = property.get(offset("start")..offset("end"));
        if underlined == Some(self.underlined) {
            Ok(())
        } else {
            Err(format!("{underlined:?} in the JSON"))
        }
    }
}

#[test]
fn mistakes_in_a_property_are_shown_as_a_compiler_would() {
    let wrong: Vec<String> = MISTAKES
        .iter()
        .filter_map(|mistake| {
            let problem = mistake.check().err()?;
            let shown = run_queue(&format!("{HEAD}{}\n", mistake.lines))
                .output
                .stderr;
            Some(format!("{}: {problem}\n{shown}", mistake.code))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_missing_property_file_is_named() {
    let report = Batch::watching_file("/no/such.prop").run("/bin/true", &[]);
    report.assert_code(2);
    assert!(
        report
            .output
            .stderr
            .contains("/no/such.prop cannot be read")
    );
    assert_eq!(report.output.stderr.lines().count(), 1);
}

#[test]
fn a_stripped_program_is_told_from_a_misspelt_name() {
    let stripped = Fixture::example("queue").argument("-s");
    let report = Batch::watching_file(property_file("examples/queue/queue.prop"))
        .run(stripped.compile_plain(), &[]);
    report.assert_code(2);
    let shown = &report.output.stderr;
    assert!(
        shown.contains("the program has no function `queue_new`"),
        "{shown}"
    );
    assert!(
        shown.contains("the program was stripped of its symbols"),
        "{shown}"
    );
}

#[test]
fn a_function_that_was_inlined_is_refused_with_its_places() {
    let property = "property p\nevent e = before sort_text(queue)\nstate a { on e }\n";
    for build in Build::all() {
        if build.optimization == Optimization::None {
            continue;
        }
        let executable = Fixture::example("queue").compile(&build);
        let report = Batch::watching(property).run(&executable, &[]);
        report.assert_code(2);
        let shown = &report.output.stderr;
        assert!(
            shown.contains("error[inlined-function]: `sort_text`"),
            "{build}: {shown}"
        );
        assert!(shown.contains("main.c:35 (in main)"), "{build}: {shown}");
        assert!(shown.contains("--ignore-inlined"), "{build}: {shown}");
        assert_eq!(report.output.stdout, "", "{build}");

        let report = Batch::watching(property)
            .option("--ignore-inlined")
            .run(&executable, &[]);
        report.assert_code(0);
        let remarks = report.remarks("p");
        let expected = "could not be monitored";
        assert!(
            remarks.iter().any(|it| it.contains(expected)),
            "{build}: {remarks:?}"
        );
    }
}

#[test]
fn what_never_happened_is_said_with_the_verdict() {
    // The function is there and never runs.
    let property = "
        property p
        event fault = before fault(n)
        state init accepting { on fault -> bad }
        state bad non-accepting";
    let executable = program("crash.c").compile_plain();
    let report = Batch::watching(property).run(&executable, &["0"]);
    report.assert_code(0);
    assert_eq!(report.summary("p")["violations"], 0);
    let remarks = report.remarks("p");
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(
        remarks[0].contains("none of its events happened"),
        "{remarks:?}"
    );
    assert!(report.output.stdout.contains(remarks[0]));

    // It would have had to run: the verdict as it stands is a violation.
    let property = "
        property q
        event fault = before fault(n)
        event start = before main(argc)
        state init non-accepting { on start -> init on fault -> good }
        state good accepting";
    let report = Batch::watching(property).run(&executable, &["0"]);
    report.assert_code(1);
    assert_eq!(report.summary("q")["verdict"], "violated");
    assert_eq!(report.end()["violations"][0]["at_end"], true);
    let remarks = report.remarks("q");
    assert!(
        remarks.iter().any(|it| it.contains("before fault")),
        "{remarks:?}"
    );

    // Its library never comes.
    let property = "
        property r
        event work = before plugin_work(n) in library
        state init accepting { on work }";
    let loader = program("loader.c").compile_plain();
    let report = Batch::watching(property).run(loader, &[]);
    report.assert_code(2);
    let remarks = report.remarks("r");
    assert!(
        remarks.contains(&"no loaded module had the function `plugin_work`"),
        "{remarks:?}"
    );
}

/// How `crash.c` is told to end, and what the end is.
const CRASHES: [(&str, Option<&str>, &str, i64); 5] = [
    ("segv", Some("SIGSEGV"), "signal", 11),
    ("abort", Some("SIGABRT"), "signal", 6),
    ("term", Some("SIGTERM"), "signal", 15),
    ("0", None, "status", 0),
    ("3", None, "status", 3),
];

#[test]
fn a_program_that_dies_is_shown_before_it_dies() {
    for build in Build::all() {
        let executable = program("crash.c").compile(&build);
        for (how, signal, key, number) in CRASHES {
            let report = Batch::new().run(&executable, &[how]);
            report.assert_code(0);
            assert_eq!(report.end()["ending"][key], number, "{build} {how}");
            assert!(
                report.output.stdout.starts_with("handled 1\n"),
                "{build} {how}"
            );
            // SIGUSR1 is the program's own business.
            let stops: Vec<&Value> = report
                .kind("stop")
                .filter(|stop| stop["fatal"] == true)
                .collect();
            assert_eq!(stops.len(), usize::from(signal.is_some()), "{build} {how}");
            let (Some(signal), Some(stop)) = (signal, stops.first()) else {
                continue;
            };
            assert_eq!(stop["reason"], "signal", "{build} {how}");
            assert_eq!(stop["signal"], signal, "{build} {how}");
            if how == "segv" {
                assert_eq!(stop["fault_address"], 0, "{build}");
                assert_eq!(stop["location"]["function"], "fault", "{build}");
                assert_eq!(stop["location"]["line"], 12, "{build}");
            }
            assert!(
                report.output.stdout.contains(&format!("{signal}  ")),
                "{build}"
            );
            assert!(
                report
                    .output
                    .stdout
                    .contains(&format!("was ended by {signal}")),
                "{build}"
            );
        }
    }
}

#[test]
fn a_program_that_dies_can_be_looked_at_at_the_prompt() {
    let executable = program("crash.c").compile_plain();
    let output = juror(&["run", "--color=never"])
        .args([&executable])
        .args(["segv"])
        .input("handle SIGUSR1 nostop noprint\nrun\nprint n\nup\nprint how\ncontinue\n")
        .run();
    output.assert_code(0);
    let order = [
        "handled 1",
        "SIGSEGV  invalid memory access, address 0x0; it will end the program",
        "#0  fault (n=3)",
        "$1 = 3",
        "$2 = ",
        "\"segv\"",
        "The program was ended by SIGSEGV.",
    ];
    let mut rest = output.stdout.as_str();
    for expected in order {
        let Some((_, after)) = rest.split_once(expected) else {
            panic!("no {expected:?} in its place in {}", output.stdout);
        };
        rest = after;
    }
}

/// A guard or update that cannot be evaluated: the stop says what and where.
#[track_caller]
fn check_evaluation(property: &str, message: &str, underlined: &str) {
    let report = run_queue(property);
    report.assert_code(2);
    let stop = report.stop();
    assert_eq!(stop["reason"], "monitor_error");
    assert_eq!(stop["location"]["function"], "queue_push_letter");
    let found = stop["message"].as_str().expect("text");
    assert!(found.contains(message), "{found}");
    let start = stop["start"].as_u64().expect("a number") as usize;
    let end = stop["end"].as_u64().expect("a number") as usize;
    assert_eq!(&property[start..end], underlined);
    let shown = report.all();
    let line = property.lines().find(|line| line.contains(underlined));
    assert!(shown.contains(line.expect("the line").trim()), "{shown}");
    assert!(shown.contains(&"^".repeat(underlined.len())), "{shown}");
    assert!(shown.contains("1.prop:"), "{shown}");
    // It is killed at once, so it printed nothing of its own.
    assert!(!shown.contains("letters eggsham"), "{shown}");
    let remarks = report.remarks("p");
    assert_eq!(
        remarks[0],
        "one event could not be evaluated, and is ignored"
    );
}

#[test]
fn a_guard_that_cannot_be_evaluated_is_an_error_and_never_false() {
    let property = |text: &str| {
        format!(
            "property p\nevent push = before queue_push_letter(queue, letter, none = arg 3)\n\
             var big = 170141183460469231731687303715884105727\nvar zero = 0\n\
             var place = null\n{text}\nstate bad non-accepting\n"
        )
    };
    check_evaluation(
        &property("state init { on push when letter / zero > 1 -> bad }"),
        "division by zero",
        "letter / zero",
    );
    check_evaluation(
        &property("state init { on push when big + letter > 1 -> bad }"),
        "too large",
        "big + letter",
    );
    check_evaluation(
        &property("state init { on push { big += 1 } on push when false -> bad }"),
        "too large",
        "big += 1",
    );
}

#[test]
fn a_null_pointer_in_a_guard_stops_unless_it_is_guarded() {
    let run = |guard: &str| {
        let property = format!(
            "property p\nevent e = before by_pointer(list)\n\
             state init {{ on e when {guard} -> bad }}\nstate bad non-accepting\n"
        );
        Batch::watching(&property).run(program("arguments.c").compile_plain(), &[])
    };
    let report = run("list->next->next->value > 3");
    report.assert_code(2);
    let stop = report.stop();
    assert_eq!(stop["reason"], "monitor_error");
    assert!(
        stop["message"]
            .as_str()
            .is_some_and(|it| it.contains("cannot be read"))
    );
    let report = run("list->next->next != null and list->next->next->value > 3");
    report.assert_code(0);
    assert_eq!(report.occurrences("e"), 1);
    assert!(report.remarks("p").is_empty());
}
