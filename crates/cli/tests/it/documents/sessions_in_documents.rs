//! The sessions in the documents show the actual output.
//!
//! A block after `<!-- output: DIRECTORY -->` (with `, -DNAME` if the program is compiled with
//! it, and `, after ARGUMENTS` if juror is run with them before) is a session: the first line is
//! the command, lines that begin with `(juror) ` are typed, the others are the output.
//! Addresses, process IDs, open pipes and the number of spaces in a row may differ; everything
//! else is compared. A user who may not choose thread numbers is told of one more loss in each
//! list of a checkpoint's losses.

use crate::support::juror;
use juror_session::command_table::entry::Entry;
use juror_session::command_table::{INFO_SUBJECTS, TABLE};
use juror_testing::{
    Expected, is_update, may_choose_thread_numbers, repository_directory, updated_lines,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MARK: &str = "<!-- output: ";

/// The heading of the losses of a checkpoint, and the loss that only some users have.
const LOSSES: &str = "not restored:";
const NUMBER_LOSS: &str = "  its process number (this user may not choose one; in a PID namespace \
                           of its own it is restored: set checkpoint-namespace on, before run)";

/// A session that a document shows.
struct Shown {
    directory: PathBuf,
    define: Option<String>,
    /// The arguments of a run before this one.
    before: Option<String>,
    lines: Vec<String>,
}

fn file(document: &str) -> Expected {
    Expected::file(repository_directory().join(document))
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
pub(crate) fn build(directory: &Path, define: Option<&str>, target: &Path) {
    let mut command = Command::new("cc");
    command.args(["-g", "-pthread", "-o"]);
    command.arg(directory.file_name().expect("a name"));
    command.args(define);
    let mut has_program = false;
    for entry in fs::read_dir(directory).expect("the directory is there") {
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

/// Returns a line without what may differ from run to run.
pub(crate) fn normalized(line: &str) -> String {
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

/// Takes the loss of the process number out of a session: each list of losses has it for a user
/// who may not choose numbers, and none for others.
#[track_caller]
fn without_number_losses<'a>(given: Vec<&'a str>, what: &str) -> Vec<&'a str> {
    let count = |meant: &str| given.iter().filter(|line| **line == meant).count();
    let expected = if may_choose_thread_numbers() {
        0
    } else {
        count(LOSSES)
    };
    assert_eq!(count(NUMBER_LOSS), expected, "{what}: {given:?}");
    given
        .into_iter()
        .filter(|line| *line != NUMBER_LOSS)
        .collect()
}

#[track_caller]
fn check(document: &str) {
    let file = file(document);
    let mut shown = sessions(&file.text());
    // Shown with their files, and compared elsewhere.
    shown.retain(|one| one.directory.is_dir());
    assert!(!shown.is_empty(), "{document} shows no session");
    for one in shown {
        let target = tempfile::tempdir().expect("a directory");
        build(&one.directory, one.define.as_deref(), target.path());
        if let Some(before) = &one.before {
            let arguments: Vec<&str> = before.split(' ').collect();
            juror(&arguments).directory(target.path()).run();
        }
        let (first, rest) = one.lines.split_first().expect("a command");
        let arguments = first.strip_prefix("$ juror ").expect("a command of juror");
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let typed = rest.iter().filter_map(|line| {
            // The lines of a list have a prompt of their own.
            let listed = line.starts_with('>').then(|| line.trim_start_matches('>'));
            line.strip_prefix("(juror) ").or(listed)
        });
        let typed: String = typed.flat_map(|line| [line, "\n"]).collect();
        let output = juror(&arguments)
            .directory(target.path())
            .input(typed)
            .run();
        let shown: Vec<&str> = rest.iter().map(String::as_str).collect();
        let lines = output.stdout.lines().filter(|line| *line != "(juror) ");
        let mut given = without_number_losses(lines.collect(), &format!("{document}: {first}"));
        let status = output.status.code().unwrap_or(-1).to_string();
        if let [.., asks @ "$ echo $?", _] = shown[..] {
            given.extend([asks, &status]);
        }
        let is_same = shown
            .iter()
            .map(|line| normalized(line))
            .eq(given.iter().map(|line| normalized(line)));
        if is_same {
            continue;
        }
        assert!(
            is_update(),
            "{document}: {first}\n--- shown\n{}\n--- is\n{}\n{}\n\
             (JUROR_UPDATE=1 writes the document anew)",
            shown.join("\n"),
            given.join("\n"),
            output.stderr
        );
        let block = |lines: &[&str]| format!("\n{first}\n{}\n```", lines.join("\n"));
        let lines = updated_lines(&shown, &given, normalized);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        file.replace(&block(&shown), &block(&lines));
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
    check("examples/comp_string/README.md");
    check("examples/sudoku/README.md");
    check("examples/workers/README.md");
}

#[test]
fn the_book_shows_what_juror_says() {
    let pages = fs::read_dir(repository_directory().join("book/src")).expect("the book is there");
    let names = pages.map(|page| page.expect("a page").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("text")).collect();
    names.retain(|name| name.ends_with(".md"));
    names.sort();
    let mut count = 0;
    for name in names {
        let page = format!("book/src/{name}");
        if file(&page).text().contains(MARK) {
            check(&page);
            count += 1;
        }
    }
    assert!(count > 15, "only {count} pages show sessions");
}

/// A command as `commands.md` has it.
fn section(entry: &Entry) -> String {
    let mut text = format!("### `{}`", entry.name);
    for alias in entry.aliases {
        text.push_str(&format!(", `{alias}`"));
    }
    text.push_str(&format!("\n\n{}.", capitalized(entry.summary)));
    if !entry.details.is_empty() {
        text.push_str(&format!(" {}", entry.details));
    }
    if let Some(possible) = entry.modes.words() {
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

/// The last part of `commands.md`: all commands, from the table.
fn commands_part() -> String {
    let sections: Vec<String> = TABLE.iter().map(|entry| section(entry)).collect();
    format!("## All commands\n\n{}", sections.join("\n"))
}

/// The subjects of `info`, as `commands.md` lists them.
fn info_rows() -> String {
    let rows = INFO_SUBJECTS
        .iter()
        .map(|(subject, what)| format!("| `info {subject}` | {what} |\n"));
    format!(
        "| you type | and get |\n| --- | --- |\n{}",
        rows.collect::<String>()
    )
}

#[test]
fn the_book_has_every_command() {
    let file = file("book/src/commands.md");
    let text = file.text();
    let wanted = with_commands(&text);
    if is_update() {
        return file.change(with_commands);
    }
    for (given, wanted) in text.lines().zip(wanted.lines()) {
        assert_eq!(
            given, wanted,
            "commands.md is behind the table of commands; JUROR_UPDATE=1 writes it anew"
        );
    }
    assert_eq!(text.lines().count(), wanted.lines().count());
}

/// The document with its parts that come from the table.
fn with_commands(text: &str) -> String {
    let (before, _) = text
        .split_once("## All commands")
        .expect("the part is there");
    let (before, info) = before
        .split_once("## What `info` shows\n\n")
        .expect("the part is there");
    let rest = info.trim_start_matches(|c| c != '\n');
    let rest: Vec<&str> = rest.lines().filter(|line| !line.starts_with('|')).collect();
    format!(
        "{before}## What `info` shows\n\n{}\n{}{}",
        info_rows(),
        rest.join("\n").trim_start(),
        commands_part()
    )
}

#[test]
fn the_summary_lists_what_there_is() {
    let summary = file("book/src/SUMMARY.md").text();
    let pages = fs::read_dir(repository_directory().join("book/src")).expect("the book is there");
    for page in pages {
        let name = page.expect("an entry").file_name();
        let name = name.to_string_lossy();
        let is_chapter = name.ends_with(".md") && name != "SUMMARY.md";
        let listed = summary.contains(&format!("({name})"));
        assert!(listed || !is_chapter, "SUMMARY.md lacks {name}");
    }
}
