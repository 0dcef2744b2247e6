//! What the documents show is what juror says.
//!
//! A block after `<!-- output: DIRECTORY -->` (with `, -DNAME` where the
//! program is compiled so, and `, after ARGUMENTS` where juror is run with them
//! before) is a session: its first line is the command, lines
//! that begin with `(juror) ` are typed, the others are the answer. Addresses,
//! the kernel's numbers of processes and which pipes are open may differ, and so may the
//! number of spaces in a row; everything else is compared.

use crate::support::juror;
use juror_session::commands::{Entry, INFO_SUBJECTS, TABLE};
use juror_testing::repository_directory;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MARK: &str = "<!-- output: ";

/// A session that a document shows.
struct Shown {
    directory: PathBuf,
    define: Option<String>,
    /// The arguments of a run before this one.
    before: Option<String>,
    lines: Vec<String>,
}

fn read(document: &str) -> String {
    fs::read_to_string(repository_directory().join(document)).expect("the document is there")
}

fn sessions(text: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(mark) = line.strip_prefix(MARK) else {
            continue;
        };
        let what = mark.trim_end_matches(" -->");
        let mut parts = what.split(", ");
        let directory = parts.next().unwrap_or_default();
        let mut define = None;
        let mut before = None;
        for part in parts {
            match part.strip_prefix("after ") {
                Some(arguments) => before = Some(arguments.to_owned()),
                None => define = Some(part.to_owned()),
            }
        }
        let block = lines
            .by_ref()
            .skip_while(|line| !line.starts_with("```"))
            .skip(1)
            .take_while(|line| !line.starts_with("```"));
        found.push(Shown {
            directory: repository_directory().join(directory),
            define,
            before,
            lines: block.map(str::to_owned).collect(),
        });
    }
    found
}

/// Compiles the C program of a directory under its name, beside a copy of
/// everything else that is there.
fn build(shown: &Shown, target: &Path) {
    let mut command = Command::new("cc");
    command.args(["-g", "-pthread", "-o"]);
    command.arg(shown.directory.file_name().expect("a name"));
    command.args(&shown.define);
    let mut has_program = false;
    for entry in fs::read_dir(&shown.directory).expect("the directory is there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        if path.is_dir() {
            continue;
        }
        fs::copy(&path, target.join(name)).expect("a copy");
        if path.extension().is_some_and(|extension| extension == "c") {
            command.arg(name);
            has_program = true;
        }
    }
    // Models are not compiled.
    if !has_program {
        return;
    }
    let status = command.current_dir(target).status().expect("cc runs");
    assert!(status.success());
}

fn normalized(line: &str) -> String {
    let word = |word: &str| match word.find("0x") {
        Some(at) => {
            let (before, rest) = word.split_at(at + 2);
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit());
            format!("{before}…{rest}")
        }
        None => word.to_owned(),
    };
    let mut words: Vec<String> = line.split_whitespace().map(word).collect();
    // What a program has open depends on who starts it.
    if words.iter().skip(1).any(|it| it == "end")
        && words.first().is_some_and(|it| it.starts_with("pipe"))
    {
        return "pipes … with an end in another process".to_owned();
    }
    // `process 2 (4711)`
    if let [process, _, id, ..] = words.as_mut_slice()
        && process
            .trim_start_matches('[')
            .eq_ignore_ascii_case("process")
        && id.starts_with('(')
    {
        let rest = id.trim_start_matches(|c: char| c == '(' || c.is_ascii_digit());
        *id = format!("(…{rest}");
    }
    words.join(" ")
}

#[track_caller]
fn check(document: &str) {
    let mut shown = sessions(&read(document));
    // Shown with their files, and compared elsewhere.
    shown.retain(|one| one.directory.is_dir());
    assert!(!shown.is_empty(), "{document} shows no session");
    for one in shown {
        let target = tempfile::tempdir().expect("a directory");
        build(&one, target.path());
        if let Some(before) = &one.before {
            let arguments: Vec<&str> = before.split(' ').collect();
            juror(&arguments).directory(target.path()).run();
        }
        let (first, rest) = one.lines.split_first().expect("a command");
        let arguments = first.strip_prefix("$ juror ").expect("a command of juror");
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let typed = rest.iter().filter_map(|line| line.strip_prefix("(juror) "));
        let typed: String = typed.flat_map(|line| [line, "\n"]).collect();
        let output = juror(&arguments)
            .directory(target.path())
            .input(typed)
            .run();
        let (rest, status) = match rest {
            [rest @ .., asks, status] if asks == "$ echo $?" => (rest, status.parse().ok()),
            rest => (rest, None),
        };
        let expected: Vec<String> = rest.iter().map(|line| normalized(line)).collect();
        let lines = output.stdout.lines().filter(|line| *line != "(juror) ");
        let given: Vec<String> = lines.map(normalized).collect();
        assert!(
            given == expected,
            "{document}: {first}\n--- shown\n{}\n--- is\n{}{}",
            expected.join("\n"),
            output.stdout,
            output.stderr
        );
        if let Some(status) = status {
            output.assert_code(status);
        }
    }
}

#[test]
fn the_readme_shows_what_juror_says() {
    check("README.md");
}

#[test]
fn the_examples_show_what_juror_says() {
    check("examples/queue/README.md");
    check("examples/file/README.md");
    check("examples/stack/README.md");
    check("examples/iterator/README.md");
    check("examples/completion/README.md");
    check("examples/sudoku/README.md");
    check("examples/workers/README.md");
}

#[test]
fn the_book_shows_what_juror_says() {
    check("book/src/first-property.md");
    check("book/src/prompt.md");
    check("book/src/values.md");
    check("book/src/attach.md");
    check("book/src/checkpoints.md");
    check("book/src/batch.md");
    check("book/src/traces.md");
    check("book/src/model.md");
    check("book/src/asm.md");
}

/// A command as `prompt.md` has it.
fn section(entry: &Entry) -> String {
    let mut text = format!("### `{}`", entry.name);
    for alias in entry.aliases {
        text.push_str(&format!(", `{alias}`"));
    }
    text.push_str(&format!("\n\n{}.", capitalized(entry.summary)));
    if !entry.details.is_empty() {
        text.push_str(&format!(" {}", entry.details));
    }
    if let Some(possible) = entry.command.modes().words() {
        text.push_str(&format!(" {possible}"));
    }
    text.push_str("\n\n| you type | and get |\n| --- | --- |\n");
    for (typed, effect) in entry.examples {
        text.push_str(&format!("| `{typed}` | {effect} |\n"));
    }
    text
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

/// The last part of `prompt.md`: all commands, from the table.
fn commands_part() -> String {
    let sections: Vec<String> = TABLE.iter().map(|entry| section(entry)).collect();
    format!("## All commands\n\n{}", sections.join("\n"))
}

/// What `info` shows, as `prompt.md` has it.
fn info_rows() -> String {
    let rows = INFO_SUBJECTS
        .iter()
        .map(|(subject, what)| format!("| `info {subject}` | {what} |\n"));
    format!(
        "| you type | and get |\n| --- | --- |\n{}",
        rows.collect::<String>()
    )
}

/// With `JUROR_UPDATE` set the document is written anew from the table.
#[test]
fn the_book_has_every_command() {
    let text = read("book/src/prompt.md");
    let (before, _) = text
        .split_once("## All commands")
        .expect("the part is there");
    let (before, info) = before
        .split_once("## What `info` shows\n\n")
        .expect("the part is there");
    let rest = info.trim_start_matches(|c| c != '\n');
    let rest: Vec<&str> = rest.lines().filter(|line| !line.starts_with('|')).collect();
    let wanted = format!(
        "{before}## What `info` shows\n\n{}\n{}{}",
        info_rows(),
        rest.join("\n").trim_start(),
        commands_part()
    );
    if std::env::var_os("JUROR_UPDATE").is_some() {
        let path = repository_directory().join("book/src/prompt.md");
        fs::write(path, &wanted).expect("the document can be written");
        return;
    }
    for (given, wanted) in text.lines().zip(wanted.lines()) {
        assert_eq!(
            given, wanted,
            "prompt.md is behind the table of commands; JUROR_UPDATE=1 writes it anew"
        );
    }
    assert_eq!(text.lines().count(), wanted.lines().count());
}

#[test]
fn the_summary_lists_what_there_is() {
    let summary = read("book/src/SUMMARY.md");
    let pages = fs::read_dir(repository_directory().join("book/src")).expect("the book is there");
    for page in pages {
        let name = page.expect("an entry").file_name();
        let name = name.to_string_lossy();
        let listed = summary.contains(&format!("({name})"));
        assert!(listed || name == "SUMMARY.md", "SUMMARY.md lacks {name}");
    }
}
