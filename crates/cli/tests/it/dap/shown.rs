//! The sessions of editors that the book shows: each script is executed as it is shown, and prints
//! what is shown below it.
//!
//! In the chapter, `<!-- session: FILE -->` comes before the block of the script, which is in FILE
//! then, and a block that begins with the command.

use super::nvim;
use crate::documents::sessions_in_documents::{build, normalized};
use juror_testing::{Expected, is_update, repository_directory, target_directory, updated_lines};
use std::path::Path;
use std::process::Command;

/// The chapter.
const CHAPTER: &str = "book/src/editor-sessions.md";

/// A session of the chapter.
struct Shown {
    script: String,
    command: String,
    output: Vec<String>,
}

/// Returns the session with a script of this name.
fn session(chapter: &str, file: &str) -> Shown {
    let mark = format!("<!-- session: {file} -->\n");
    let (_, rest) = chapter.split_once(&mark).expect("the session is there");
    let mut lines = rest.lines();
    let mut block = || -> Vec<String> {
        let inner = lines.by_ref().skip_while(|line| !line.starts_with("```"));
        let inner = inner.skip(1).take_while(|line| !line.starts_with("```"));
        inner.map(str::to_owned).collect()
    };
    let script = block().join("\n") + "\n";
    let mut output = block();
    let command = output.remove(0);
    Shown {
        script,
        command: command.trim_start_matches("$ ").to_owned(),
        output,
    }
}

/// Executes a session of the chapter beside the example, and compares what it prints.
fn check(file: &str, variables: &[(&str, &Path)]) {
    let chapter = Expected::file(repository_directory().join(CHAPTER));
    let shown = session(&chapter.text(), file);
    let directory = tempfile::tempdir().expect("a directory");
    build(
        &repository_directory().join("examples/queue"),
        None,
        directory.path(),
    );
    std::fs::write(directory.path().join(file), &shown.script).expect("it is written");
    let juror = Path::new(env!("CARGO_BIN_EXE_juror"));
    let search = std::env::var_os("PATH").unwrap_or_default();
    let first = juror.parent().into_iter().map(Path::to_path_buf);
    let search = std::env::join_paths(first.chain(std::env::split_paths(&search)));
    let mut words = shown.command.split(' ');
    let output = Command::new(words.next().expect("a command"))
        .args(words)
        .current_dir(directory.path())
        .env("PATH", search.expect("directories"))
        .env("XDG_STATE_HOME", directory.path())
        .env("XDG_CACHE_HOME", directory.path())
        .envs(variables.iter().copied())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    let given: Vec<&str> = said.lines().map(str::trim_end).collect();
    let shown_lines: Vec<&str> = shown.output.iter().map(String::as_str).collect();
    let normal = |lines: &[&str]| lines.iter().map(|it| normalized(it)).collect::<Vec<_>>();
    if normal(&shown_lines) == normal(&given) {
        return;
    }
    assert!(
        is_update(),
        "{CHAPTER}: {}\n--- shown\n{}\n--- is\n{said}\n{errors}\n\
         (JUROR_UPDATE=1 writes the chapter anew)",
        shown.command,
        shown_lines.join("\n"),
    );
    let block = |lines: &[&str]| format!("$ {}\n{}\n```", shown.command, lines.join("\n"));
    let lines = updated_lines(&shown_lines, &given, normalized);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    chapter.replace(&block(&shown_lines), &block(&lines));
}

#[test]
fn the_session_of_vs_codes_client_is_as_the_book_shows_it() {
    let modules = target_directory().join("node/node_modules");
    if !modules.join("@vscode/debugadapter-testsupport").is_dir() {
        println!("skipped: VS Code's test client is not in {modules:?}");
        return;
    }
    if Command::new("node").arg("--version").output().is_err() {
        println!("skipped: node is not installed");
        return;
    }
    check("session.js", &[("NODE_PATH", &modules)]);
}

#[test]
fn the_session_of_nvim_dap_is_as_the_book_shows_it() {
    match nvim::plugin() {
        Ok(plugin) => check("session.lua", &[("NVIM_DAP", &plugin)]),
        Err(why) => println!("skipped: {why}"),
    }
}
