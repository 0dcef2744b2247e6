//! The book's table of rules: each rule of the paper is in it, and each name in it
//! is a module or a function that is there.

use juror_testing::repository_directory;
use std::fs;
use std::path::PathBuf;

/// The rules of section 6, by figure.
const RULES: [&str; 39] = [
    // 7 to 10: what happens.
    "NORMALEXEC",
    "BPHIT",
    "DEVWATCH",
    "SCNWATCH",
    "EVTWATCH",
    "DEVBREAK",
    "SCNBREAK",
    "EVTBREAK",
    "TRAPNOBREAK",
    // 11 and 12: points.
    "CLEAREVENTS",
    "INSTRUMENT",
    "SETBREAK",
    "SETWATCH",
    "RMBREAK",
    "RMWATCH",
    // 13 and 14: checkpoints, and who has the control.
    "CHECKPOINT",
    "RESTORE",
    "INT",
    "CONT",
    "STEP",
    "STEPREDO",
    // 15: values.
    "GETADDR",
    "GETSYM",
    "SETADDR",
    "SETSYM",
    "GETPC",
    "SETPC",
    // 16 to 20: all together.
    "EVENT",
    "INIT",
    "EXECPOINT",
    "STEPPOINT",
    "EXECEVENT",
    "STEPEVENT",
    "SCNCMD",
    "SCNCMDNOP",
    "OTHERCMD",
    // The same rule of two configurations.
    "NORMALEXEC (debugged)",
    "BPHIT (program)",
    "EVENT (monitor)",
];

fn page() -> String {
    let path = repository_directory().join("book/src/rules.md");
    fs::read_to_string(path).expect("the page is there")
}

/// The cells of all rows of tables below a heading.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let start = page.find(heading).expect("the heading is there") + heading.len();
    let section = &page[start..];
    let end = section.find("\n## ").unwrap_or(section.len());
    let lines = section[..end].lines();
    let rows = lines.filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    rows.skip(1)
        .map(|row| {
            let cells = row.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}

/// What stands in backticks.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The file of a module: `session::run::hits`.
fn module_file(segments: &[&str]) -> Option<PathBuf> {
    let (room, inside) = segments.split_first()?;
    let mut directory = repository_directory().join("crates").join(room).join("src");
    let Some((last, between)) = inside.split_last() else {
        return Some(directory.join("lib.rs")).filter(|it| it.exists());
    };
    directory.extend(between);
    let files = [
        directory.join(format!("{last}.rs")),
        directory.join(last).join("mod.rs"),
    ];
    files.into_iter().find(|it| it.exists())
}

/// Whether a path is that of a module, or of a function or constant in one.
fn is_there(path: &str) -> bool {
    let segments: Vec<&str> = path.split("::").collect();
    if module_file(&segments).is_some() {
        return true;
    }
    let Some((name, module)) = segments.split_last() else {
        return false;
    };
    let Some(file) = module_file(module) else {
        return false;
    };
    let source = fs::read_to_string(file).expect("a source file");
    let forms = ["fn {}(", "fn {}<", "const {}:"];
    let mut forms = forms.iter().map(|form| form.replace("{}", name));
    forms.any(|form| source.contains(&form))
}

#[test]
fn every_rule_has_its_place() {
    let page = page();
    let table = rows(&page, "## Rule by rule");
    let listed: Vec<&str> = table.iter().flat_map(|row| row[0].split(", ")).collect();
    for rule in RULES {
        let is_it = |it: &&str| *it == rule || it.split(" (").next() == Some(rule);
        assert!(listed.iter().any(is_it), "{rule} is not in the table");
    }
    for rule in &listed {
        let bare = rule.split(" (").next().unwrap_or(rule);
        assert!(RULES.contains(&bare), "{rule} is no rule of the paper");
    }
    for row in &table {
        assert_eq!(row.len(), 3, "{row:?}");
        for cell in &row[1..] {
            assert!(names(cell).count() > 0, "{row:?}");
        }
    }
}

#[test]
fn every_place_is_there() {
    let page = page();
    let mut seen = 0;
    for heading in ["## Rule by rule", "## What is decided, once"] {
        for row in rows(&page, heading) {
            for path in row.iter().skip(1).flat_map(|cell| names(cell)) {
                assert!(is_there(path), "{}: `{path}` is not there", row[0]);
                seen += 1;
            }
        }
    }
    assert!(seen > 60, "{seen} places");
    assert!(!is_there("oracle::machine::no_such_function"));
    assert!(!is_there("oracle::no_such_module::step"));
}
