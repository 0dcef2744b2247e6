//! Each command reads its whole line, or refuses it: over all rows of the table of commands, all
//! subjects of `info` and all settings, with words that do not belong there.
//!
//! The oracle is the word itself: a line is refused by an error, or what is said of it has the
//! word. A line that does neither has dropped it. The program stands still meanwhile.

use crate::support::juror;
use juror_session::command_table::{INFO_SUBJECTS, TABLE};
use juror_testing::{Build, Fixture, Language};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use tempfile::TempDir;

/// A program without libraries: nothing else has names.
const PROGRAM: &str = "\
int total;
struct point { int x, y; } p = {1, 2};
int work(int i) {
    total += i;
    return total;
}
void _start(void) {
    for (int i = 0; i < 3; i++)
        work(i);
    for (;;)
        __asm__ volatile(\"syscall\" : : \"a\"(60), \"D\"(0) : \"rcx\", \"r11\", \"memory\");
}
";

/// A word that means nothing.
const JUNK: &str = "zzjunk";

/// An argument that each command takes; `-` where the rest of the line is a text of its own.
const ARGUMENTS: &[(&str, &str)] = &[
    ("abandon", ""),
    ("advance", "work"),
    ("apropos", "-"),
    ("attach", "1"),
    ("awatch", "total"),
    ("backtrace", "1"),
    ("break", "work"),
    ("call", "total"),
    ("catch", "fork"),
    ("cd", "."),
    ("change", "total"),
    ("checkpoint", ""),
    ("clear", "_start"),
    ("commands", ""),
    ("condition", "1 i > 1"),
    ("continue", "1"),
    ("core-file", "core.1"),
    ("delete", "9"),
    ("detach", ""),
    ("disable", "1"),
    ("disassemble", "work"),
    ("display", "total"),
    ("document", "-"),
    ("down", "1"),
    ("dprintf", "work,\"%d\\n\",i"),
    ("dump", "memory /dev/null &total &total+1"),
    ("echo", "-"),
    ("enable", "1"),
    ("faas", "print total"),
    ("find", "&p, +8, 1"),
    ("finish", ""),
    ("frame", "0"),
    ("generate-core-file", "-"),
    ("goto", "1"),
    ("group", "-"),
    ("handle", "SIGUSR1 nostop"),
    ("hbreak", "work"),
    ("help", "break"),
    ("ignore", "1 1"),
    ("info", ""),
    ("jump", "4"),
    ("kill", ""),
    ("last-write", "total"),
    ("list", "1"),
    ("monitor", ""),
    ("next", "1"),
    ("nexti", "1"),
    ("output", "total"),
    ("print", "total"),
    ("printf", "\"%d\\n\", total"),
    ("process", "1"),
    ("property", ""),
    ("ptype", "p"),
    ("pwd", ""),
    ("queue-signal", "SIGUSR1"),
    ("quit", "3"),
    ("rbreak", "^work$"),
    ("restart-frame", ""),
    ("restore", "9"),
    ("return", ""),
    ("record", "stop"),
    ("reverse-continue", ""),
    ("reverse-finish", ""),
    ("reverse-next", "1"),
    ("reverse-nexti", "1"),
    ("reverse-step", "1"),
    ("reverse-stepi", "1"),
    ("run", "-"),
    ("rwatch", "total"),
    ("save", "-"),
    ("scenario", ""),
    ("select-frame", "0"),
    ("set", "print pretty on"),
    ("shell", "-"),
    ("show", "args"),
    ("show-graph", ""),
    ("signal", "0"),
    ("schedule", "1"),
    ("skip", "function work"),
    ("source", "nothing.txt"),
    ("start", "-"),
    ("starti", "-"),
    ("step", "1"),
    ("stepi", "1"),
    ("taas", "print total"),
    ("tbreak", "work"),
    ("tcatch", "fork"),
    ("thbreak", "work"),
    ("thread", "1"),
    ("undisplay", "9"),
    ("unset", "args"),
    ("until", "work"),
    ("up", "1"),
    ("views", ""),
    ("watch", "total"),
    ("whatis", "p"),
    ("why", "total"),
    ("x", "&p"),
];

/// Commands that take several of what they take, or the whole line as one name.
const SEVERAL: &[&str] = &[
    "delete",
    "disable",
    "enable",
    "undisplay",
    "handle",
    "rbreak",
    "skip",
];

/// Commands that take an expression, in which `#` begins a comment, and whose names are looked up
/// when it is evaluated.
const EXPRESSIONS: &[&str] = &[
    "call",
    "condition",
    "display",
    "dump",
    "faas",
    "find",
    "output",
    "print",
    "printf",
    "ptype",
    "taas",
    "whatis",
    "x",
];

/// The lines that are made of a command and an argument, each with the words that it must not
/// drop.
fn forms(name: &str, argument: &str) -> Vec<(String, &'static str)> {
    let cut: String = argument
        .chars()
        .take(argument.chars().count() / 2)
        .collect();
    let comment = if EXPRESSIONS.contains(&name) {
        ""
    } else {
        JUNK
    };
    let listed = match name {
        "condition" => "",
        _ => JUNK,
    };
    let mut forms = vec![
        (format!("{name} {JUNK}"), JUNK),
        (format!("{name} {argument} {JUNK}"), JUNK),
        (format!("{name} {argument} {JUNK} {JUNK}2"), "zzjunk2"),
        (format!("{name} {argument} # {JUNK}"), comment),
        (format!("{name} {argument};{JUNK}"), JUNK),
        (format!("{name} -{JUNK} {argument}"), JUNK),
        (format!("{name} /{JUNK} {argument}"), JUNK),
        (format!("{name} {argument} \"{JUNK}"), JUNK),
        (format!("{name} {argument} if {JUNK}"), JUNK),
        (format!("{name} {argument}, {JUNK}"), listed),
        (format!("{name} {argument} thread {JUNK}"), JUNK),
        (format!("{name} {JUNK} {argument}"), JUNK),
        (format!("{name} {argument} \u{e9}\u{301}{JUNK}"), JUNK),
        (format!("{} {argument}", name.to_uppercase()), "!"),
    ];
    if !cut.is_empty() {
        forms.push((format!("{name} {cut}"), ""));
    }
    let upper = argument.to_uppercase();
    if upper != argument {
        forms.push((format!("{name} {upper}"), ""));
    }
    if !argument.is_empty() && !SEVERAL.contains(&name) {
        forms.push((format!("{name} {argument} {argument}"), "!"));
    }
    forms
}

fn executable() -> PathBuf {
    let fixture = Fixture::c("whole", PROGRAM);
    let fixture = ["-nostdlib", "-static", "-fno-stack-protector"]
        .iter()
        .fold(fixture, |fixture, option| fixture.argument(option));
    fixture.compile(&Build::plain(Language::C))
}

/// Types lines at a stop in `work`; returns what was said of each, as JSON, and where the program
/// stands at the end.
fn answers(lines: &[String]) -> Vec<Vec<Value>> {
    let directory = TempDir::with_prefix("juror-lines-").expect("a directory");
    let json = directory.path().join("said.json");
    let mut typed = "break work\nrun\n".to_owned();
    for (number, line) in lines.iter().enumerate() {
        writeln!(typed, "echo @{number}\n{line}").expect("text");
    }
    writeln!(
        typed,
        "echo @{}\nprint total\nbacktrace\necho @end",
        lines.len()
    )
    .expect("text");
    let option = format!("--json={}", json.display());
    let executable = executable();
    let output = juror(&["run", "--color=never", &option])
        .args([&executable])
        .directory(directory.path())
        .input(typed)
        .run();
    output.assert_code(0);
    let text = std::fs::read_to_string(&json).expect("the JSON lines");
    let mut parts: Vec<Vec<Value>> = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let is_mark = line["type"] == "printed"
            && line["value"].as_str().is_some_and(|it| it.starts_with('@'));
        match (is_mark, parts.last_mut()) {
            (true, _) => parts.push(Vec::new()),
            (false, Some(part)) => part.push(line),
            (false, None) => {}
        }
    }
    assert_eq!(
        parts.len(),
        lines.len() + 2,
        "a line has swallowed others: {text}"
    );
    parts
}

/// Returns why a line was not treated as it should be.
fn fault(said: &[Value], words: &str) -> Option<&'static str> {
    let is_refused = said.iter().any(|line| line["kind"] == "error");
    let without_command = said.iter().map(|line| {
        let mut line = line.clone();
        if let Some(fields) = line.as_object_mut() {
            fields.remove("command");
        }
        line.to_string()
    });
    let is_said = without_command.collect::<String>().contains(words);
    match words {
        "" => None,
        "!" => (!is_refused).then_some("is not refused"),
        _ => (!is_refused && !is_said).then_some("drops a word"),
    }
}

#[track_caller]
fn check(lines: &[(String, &'static str)]) {
    let typed: Vec<String> = lines.iter().map(|(line, _)| line.clone()).collect();
    let answers = answers(&typed);
    let mut faults: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for ((line, words), said) in lines.iter().zip(&answers) {
        if let Some(fault) = fault(said, words) {
            let said: Vec<String> = said.iter().map(Value::to_string).collect();
            let mut said = said.join("\n");
            said.truncate(said.floor_char_boundary(300));
            faults
                .entry(fault)
                .or_default()
                .push(format!("{line}\n      {said}"));
        }
    }
    let last: String = answers[lines.len()].iter().map(Value::to_string).collect();
    if !last.contains("\"value\":\"0\"") || !last.contains("\"function\":\"work\"") {
        faults.entry("moves the program").or_default().push(last);
    }
    let mut text = String::new();
    for (fault, lines) in &faults {
        for line in lines {
            writeln!(text, "{fault}: {line}").expect("text");
        }
    }
    assert!(faults.is_empty(), "{text}");
}

#[test]
fn every_command_reads_its_whole_line_or_refuses_it() {
    let mut lines = Vec::new();
    let mut entries: Vec<_> = TABLE.iter().collect();
    // First: it would find the points that the forms of `break` leave waiting.
    entries.sort_by_key(|entry| entry.name != "clear");
    for entry in entries {
        let known = ARGUMENTS.iter().find(|(name, _)| *name == entry.name);
        let (name, argument) = known.unwrap_or_else(|| panic!("{} has no row here", entry.name));
        if *argument != "-" {
            lines.extend(forms(name, argument));
        }
    }
    assert!(lines.len() >= 12 * 70, "{}", lines.len());
    check(&lines);
}

#[test]
fn every_subject_of_info_reads_its_whole_line_or_refuses_it() {
    let lines = INFO_SUBJECTS.iter().flat_map(|(subject, _)| {
        [
            (format!("info {subject} {JUNK}"), JUNK),
            (format!("info {subject} {JUNK} {JUNK}2"), "zzjunk2"),
            (format!("info {subject} /{JUNK}"), JUNK),
            (format!("info {subject} -{JUNK}"), JUNK),
        ]
    });
    check(&lines.collect::<Vec<_>>());
}

#[test]
fn every_setting_reads_its_whole_line_or_refuses_it() {
    let values = [
        ("allow-unbound", "on"),
        ("at-inlined", "marked"),
        ("checkpoint-files", "on"),
        ("checkpoint-namespace", "on"),
        ("confirm", "off"),
        ("context", "source"),
        ("disable-randomization", "on"),
        ("follow-fork-mode", "parent"),
        ("height", "20"),
        ("ignore-inlined", "on"),
        ("listsize", "10"),
        ("pagination", "off"),
        ("print elements", "200"),
        ("print pretty", "off"),
        ("scheduler-locking", "off"),
        ("style enabled", "off"),
        ("style sources", "off"),
        ("substitute-path", "/a /b"),
        ("width", "80"),
        ("breakpoint pending", "on"),
        ("print union", "on"),
        ("language", "c"),
        ("non-stop", "off"),
        ("print address", "on"),
    ];
    let mut lines = Vec::new();
    for (name, value) in values {
        lines.push((format!("set {name} {value} {JUNK}"), JUNK));
        lines.push((format!("set {name} {JUNK}"), JUNK));
        lines.push((format!("set {name} {JUNK} {value}"), JUNK));
        lines.push((format!("set {name} {value} # {JUNK}"), JUNK));
        lines.push((format!("show {name} {JUNK}"), JUNK));
    }
    check(&lines);
}

#[test]
fn the_opposite_of_what_is_always_so_is_refused() {
    let lines = [
        "set breakpoint pending off",
        "set print union off",
        "set print object off",
        "set print demangle off",
        "set print static-members on",
        "set disassembly-flavor att",
        "set debuginfod enabled on",
        "set startup-with-shell on",
        "set language ada",
        "set multiple-symbols ask",
        "set can-use-hw-watchpoints 0",
        "set auto-solib-add off",
        "set history save off",
        "set style function foreground red",
        "step 0",
        "next 0",
        "stepi 0",
        "nexti 0",
        "continue 0",
    ];
    check(&lines.map(|line| (line.to_owned(), "!")));
}

#[test]
fn the_wrong_words_are_marked() {
    let executable = executable();
    let lines = [
        ("break work n == 3", "           ^"),
        ("tbreak work x", "            ^"),
        ("hbreak work when i == 1", "            ^^^^"),
        ("dprintf work junk, \"x\\n\"", "             ^^^^^"),
        ("finish 3", "       ^"),
        ("step 0", "     ^"),
        ("list work if i", "          ^^"),
        ("info locals x y", "            ^"),
        ("detach now", "       ^^^"),
    ];
    let typed: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let said = juror(&["run", "--color=never"])
        .args([&executable])
        .input(format!("break work\nrun\n{typed}"))
        .run();
    for (line, marks) in lines {
        let expected = format!("  | {line}\n  | {marks}\n");
        assert!(said.stdout.contains(&expected), "{line}: {}", said.stdout);
    }
}
