//! Checks that front ends make command lines of nothing: the lines that they execute are those
//! that a person has typed. Everything else is a call with values.

use juror_testing::repository_directory;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the source files below a directory, without files of tests.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "rs")
                && path.file_name().is_some_and(|it| it != "tests.rs")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the places where a crate has a text, as `file: line`, without tests.
fn places(package: &str, text: &str) -> Vec<String> {
    let root = repository_directory()
        .join("crates")
        .join(package)
        .join("src");
    let mut found = Vec::new();
    for path in sources(&root) {
        let source = fs::read_to_string(&path).expect("a source");
        let product = source.split("#[cfg(test)]\nmod tests {").next();
        let name = path.strip_prefix(&root).expect("a part").display();
        let lines = product.unwrap_or_default().lines();
        let lines = lines.filter(|line| line.contains(text));
        found.extend(lines.map(|line| format!("{name}: {}", line.trim())));
    }
    found
}

#[test]
fn a_session_executes_lines_of_a_front_end_at_one_place() {
    assert_eq!(
        places("dap", ".execute("),
        ["adapter.rs: session.execute(line, self)"]
    );
    assert_eq!(places("web", ".execute("), Vec::<String>::new());
}

#[test]
fn the_lines_of_the_adapter_are_typed() {
    // The console, its file of commands and its launch configuration, and the commands of the
    // user's points.
    assert_eq!(
        places("dap", ".execute_typed("),
        [
            "adapter/running.rs: Act::Line(line) => self.execute_typed(session, line),",
            "adapter/running.rs: let next = self.execute_typed(session, &line);",
            "handlers/evaluating.rs: let outcome = adapter.execute_typed(session, line.trim());",
            "server/first_commands.rs: match adapter.execute_typed(session, &line)? {",
        ]
    );
    assert_eq!(
        places("dap", "Act::Line("),
        [
            // Whether the line changes anything.
            "adapter/running.rs: Act::Line(line) => {",
            "adapter/running.rs: Act::Line(line) => self.execute_typed(session, line),",
            "handlers/evaluating.rs: let followed = adapter.follow(session, Act::Line(line), &mut \
             |adapter, outcome| {",
        ]
    );
}
