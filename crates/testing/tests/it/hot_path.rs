//! The hot path and the way of a breakpoint in ARCHITECTURE.md are those of the code.
//!
//! Each numbered line names a function, and the function that calls it; both must exist, and the
//! body of the caller must contain the call.

use juror_testing::repository_directory;
use std::fs;

/// Returns the source of the module of a path `crate::module::function`, and the name.
fn module(path: &str) -> (String, &str) {
    let mut segments: Vec<&str> = path.split("::").collect();
    let name = segments.pop().expect("a path has segments");
    let mut file = repository_directory()
        .join("crates")
        .join(segments[0])
        .join("src");
    file.extend(&segments[1..]);
    file.set_extension("rs");
    let source = fs::read_to_string(&file);
    (
        source.unwrap_or_else(|error| panic!("{path}: {}: {error}", file.display())),
        name,
    )
}

/// Returns the body of a function: the lines up to the brace that closes it.
fn body(path: &str) -> String {
    let (source, name) = module(path);
    let head = format!("fn {name}(");
    let start = source
        .find(&head)
        .unwrap_or_else(|| panic!("there is no `{path}`"));
    let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = source[line_start..]
        .chars()
        .take_while(|c| *c == ' ')
        .count();
    let end = format!("\n{}}}\n", " ".repeat(indent));
    let length = source[start..]
        .find(&end)
        .unwrap_or_else(|| panic!("`{path}` has no end"));
    source[start..start + length].to_owned()
}

/// Returns the functions of a list, each with its caller.
fn steps(heading: &str) -> Vec<(String, Option<String>)> {
    let page = fs::read_to_string(repository_directory().join("ARCHITECTURE.md"))
        .expect("the page is there");
    let section = page
        .split(&format!("## {heading}\n"))
        .nth(1)
        .expect("the section is there");
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines = section
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    lines
        .map(|line| {
            let mut names = line.split('`').skip(1).step_by(2).map(str::to_owned);
            let function = names.next().expect("a step names a function");
            let caller = names.next().filter(|_| line.contains("(called by `"));
            (function, caller)
        })
        .collect()
}

#[test]
fn each_function_exists_and_is_called() {
    check("The way of an event", 13);
    check("The way of a breakpoint", 8);
}

/// Checks the list below a heading, which has at least so many steps.
fn check(heading: &str, least: usize) {
    let steps = steps(heading);
    assert!(steps.len() >= least, "{steps:?}");
    for (function, caller) in &steps {
        body(function);
        if let Some(caller) = caller {
            let (_, name) = module(function);
            let call = format!("{name}(");
            assert!(
                body(caller).contains(&call),
                "`{caller}` does not call `{function}`"
            );
        }
    }
}
