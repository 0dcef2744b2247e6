//! gdb as an oracle: in all builds of the same programs, both debuggers show the same stacks,
//! values and stepped lines.
//!
//! A table has the differences with both results and the reason ([`Difference`]); a difference
//! that no longer exists fails the test. Without gdb, the test prints that nothing is compared;
//! the same for features that gdb lacks on the machine.

mod light;
mod optimized;
mod unoptimized;

use crate::support::{juror, program};
use juror_testing::{Build, Compiler, Optimization};
use std::path::Path;
use std::process::Command;

/// A question that both debuggers are asked: what is typed before it, and what
/// is typed for each of its answers.
struct Question {
    program: &'static str,
    wanted: fn(&Build) -> bool,
    before: &'static [&'static str],
    asked: Vec<String>,
}

/// Where the two differ.
struct Difference {
    program: &'static str,
    gdb: &'static [&'static str],
    juror: &'static [&'static str],
    /// Why it is right that they do.
    why: &'static str,
}

/// Where the program is loaded is the same to both.
fn unoptimized(build: &Build) -> bool {
    build.optimization == Optimization::None && build.pie
}

fn optimized(build: &Build) -> bool {
    build.optimization == Optimization::Full && build.pie
}

fn light(build: &Build) -> bool {
    build.optimization == Optimization::Light
}

fn gcc_optimized(build: &Build) -> bool {
    optimized(build) && build.compiler == Compiler::Gcc
}

fn clang_optimized(build: &Build) -> bool {
    optimized(build) && build.compiler == Compiler::Clang
}

fn gcc_unoptimized(build: &Build) -> bool {
    unoptimized(build) && build.compiler == Compiler::Gcc
}

fn has_gdb() -> bool {
    let found = Command::new("gdb").arg("--version").output().is_ok();
    if !found {
        println!("There is no gdb here: what it shows is not compared.");
    }
    found
}

/// What stands after each mark in the output of a debugger.
fn sections(output: &str) -> Vec<Vec<String>> {
    let mut sections: Vec<Vec<String>> = Vec::new();
    for line in output.lines().filter(|line| !line.starts_with("(juror) ")) {
        match sections.last_mut() {
            _ if line.trim() == MARK => sections.push(Vec::new()),
            Some(section) => section.push(line.to_owned()),
            None => {}
        }
    }
    sections
}

const MARK: &str = "@@";

/// The commands, with a mark before each answer.
fn script(question: &Question) -> String {
    let mut script = String::new();
    for line in question.before {
        script.push_str(&format!("{line}\n"));
    }
    for line in &question.asked {
        script.push_str(&format!("echo {MARK}\\n\n{line}\n"));
    }
    script
}

fn ask_gdb(executable: &Path, question: &Question) -> Vec<Vec<String>> {
    // One mistake would end the file, so each line is an option.
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]);
    // juror steps into code whose source is there, gdb into all that has lines.
    gdb.args(["-iex", "set debug-file-directory /nowhere"]);
    let set = [
        "confirm off",
        "width 0",
        "print null-stop on",
        "startup-with-shell off",
    ];
    for line in set {
        gdb.args(["-ex", &format!("set {line}")]);
    }
    for line in script(question).lines() {
        gdb.args(["-ex", line]);
    }
    let output = gdb.arg(executable).output().expect("gdb runs");
    let mut sections = sections(&String::from_utf8_lossy(&output.stdout));
    if String::from_utf8_lossy(&output.stderr).contains(CANNOT_WRITE_REGISTERS) {
        println!("gdb cannot write registers here: its calls are not compared.");
        let asked = sections.iter_mut().zip(&question.asked);
        asked
            .filter(|(section, line)| section.is_empty() && is_call(line))
            .for_each(|(section, _)| *section = lines(&[CANNOT_WRITE_REGISTERS]));
    }
    sections
}

/// What gdb 13 says on processors whose state of vectors is larger than it knows (AMX).
const CANNOT_WRITE_REGISTERS: &str = "Couldn't write extended state status";

fn is_call(line: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut opened = line.split('(');
    opened.next_back();
    // Of a function by its name, or by a value in parentheses.
    let is_called = |before: &str| before.ends_with(is_name) || before.ends_with(')');
    line.starts_with("print ") && opened.any(is_called)
}

fn ask_juror(executable: &Path, question: &Question) -> Vec<Vec<String>> {
    let output = juror(&["run"]).args([executable]).input(script(question));
    sections(&output.run().stdout)
}

/// A frame as both show it: `#1  0x401136 in f (n=2) at file.c:3`.
fn frame(line: &str) -> Option<String> {
    let rest = line.strip_prefix('#')?.split_once(' ')?.1.trim_start();
    let rest = match rest.split_once(" in ") {
        Some((address, rest)) if address.starts_with("0x") => rest,
        _ => rest,
    };
    let (name, _) = rest.split_once(" (")?;
    let (_, place) = rest.rsplit_once(" at ")?;
    let (file, number) = place.rsplit_once(':')?;
    let file = file.rsplit('/').next()?;
    // What kind of frame it is only juror says.
    let number = number.split(" [").next().unwrap_or(number);
    Some(format!("{name} at {file}:{number}"))
}

fn frames(section: &[String]) -> Vec<String> {
    section.iter().filter_map(|line| frame(line)).collect()
}

/// A value without what is each debugger's own: the type before a pointer,
/// addresses, the symbol behind one.
fn value(section: &[String]) -> Vec<String> {
    let shown = section.iter().find(|line| !line.is_empty());
    let Some(text) = shown.map(|line| line.split_once(" = ").map_or(&**line, |it| it.1)) else {
        return Vec::new();
    };
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let (before, address) = rest.split_at(at);
        plain.push_str(before);
        plain.push_str("0x…");
        let digits = address.get(2..).unwrap_or("");
        let end = digits.find(|c: char| !c.is_ascii_hexdigit());
        rest = digits.get(end.unwrap_or(digits.len())..).unwrap_or("");
    }
    plain.push_str(rest);
    while let Some((start, end)) = plain
        .find("(")
        .and_then(|start| Some((start, start + plain[start..].find("*) ")?)))
    {
        plain.replace_range(start..end + 3, "");
    }
    while let Some((start, end)) = plain
        .find(" <")
        .and_then(|start| Some((start, start + plain[start..].find('>')?)))
    {
        plain.replace_range(start..=end, "");
    }
    vec![plain]
}

/// Compares the answers, read by `read`; each difference must be in the table,
/// and what is there must be one.
#[track_caller]
fn compare(questions: &[Question], differences: &[Difference], read: fn(&[String]) -> Vec<String>) {
    if !has_gdb() {
        return;
    }
    let mut problems = Vec::new();
    let mut seen = vec![false; differences.len()];
    // Some compilers' code alone shows some differences.
    let compilers = [
        Compiler::Gcc,
        Compiler::Gpp,
        Compiler::Clang,
        Compiler::Clangpp,
    ];
    let mut skipped = !compilers.into_iter().all(Compiler::is_present);
    for question in questions {
        let fixture = program(question.program);
        let mut builds = Build::all_of(fixture.language());
        builds.extend(Build::light_of(fixture.language()));
        for build in builds.into_iter().filter(|build| (question.wanted)(build)) {
            let executable = fixture.compile(&build);
            let theirs = ask_gdb(&executable, question);
            let ours = ask_juror(&executable, question);
            let count = question.asked.len();
            assert_eq!((theirs.len(), ours.len()), (count, count), "{build}");
            for (line, (theirs, ours)) in question.asked.iter().zip(theirs.iter().zip(&ours)) {
                if *theirs == [CANNOT_WRITE_REGISTERS] {
                    skipped = true;
                    continue;
                }
                let (theirs, ours) = (read(theirs), read(ours));
                if theirs == ours {
                    continue;
                }
                let is_known = |known: &Difference| {
                    known.program == question.program && known.gdb == theirs && known.juror == ours
                };
                match differences.iter().position(is_known) {
                    Some(known) => seen[known] = true,
                    None => problems.push(format!(
                        "{} in {build}, {line}: gdb {theirs:?}, juror {ours:?}",
                        question.program,
                    )),
                }
            }
        }
    }
    let mut unseen = differences.iter().zip(&seen).filter(|(_, seen)| !**seen);
    if let (false, Some((gone, _))) = (skipped, unseen.next()) {
        problems.push(format!(
            "{}: no difference any more: {}",
            gone.program, gone.why
        ));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// So many steps, each followed by the frame where it ended.
fn steps(word: &str, count: usize) -> Vec<String> {
    (0..count)
        .flat_map(|_| [word.to_owned(), "frame".to_owned()])
        .collect()
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}
