//! Holds the structure of the crates: the size of `Session` and of `Debuggee`, and
//! the circles of imports.
//!
//! `cargo test -p juror-testing --test it -- structure --nocapture` prints the
//! figures. [`LIMITS`] is the rule, the sources are the evidence. A crate of the
//! list that does not exist is skipped.
//!
//! A file imports another if a path in it that begins with `crate`, `super` or
//! `self` names a module of the other file. A re-exported item belongs to the
//! module that the path names. Tests within the sources do not count, and
//! neither does `mod name;`. Beside the circle by this rule the table has, as
//! information, the circle by a stricter one: paths that begin with the name of
//! a child module count, and a re-exported item belongs to its own module.

use cargo_metadata::{MetadataCommand, TargetKind};
use sources::{Crate, largest_circle, true_arms_in};
use std::collections::{BTreeMap, BTreeSet};
use std::{fmt, fs};

#[path = "structure/sources.rs"]
mod sources;

/// Directories below `crates/` that are measured.
const CRATES: &[&str] = &[
    "session",
    "instrument",
    "values",
    "program",
    "points",
    "monitoring",
    "view",
    "text",
    "cli",
    "debuggee",
    "symbols",
    "model",
    "dap",
    "monitor",
    "language",
    "logic",
    "stepping",
];

/// Modules of `debuggee` that its folders share.
const SHARED_FOLDERS: &[&str] = &["kernel", "state", "lib"];

/// A figure, and the largest value that is allowed.
struct Limit {
    figure: Figure,
    max: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    /// Fields of `struct Session`.
    SessionFields,
    /// Files with an `impl` block of `Session`.
    SessionImplFiles,
    /// Distinct fields of `Session` that one method names.
    WidestMethodFields,
    /// Files of `session` that name `Session` and may not.
    SessionImporters,
    /// Files of the largest circle of imports in a crate.
    Circle(&'static str),
    /// Fields of `struct Debuggee`.
    DebuggeeFields,
    /// Fields of `Debuggee` whose type is not in a file of its own without methods of
    /// `Debuggee`.
    DebuggeeFieldsWithoutOwner,
    /// Files that `Debuggee` is made of, and that have methods of it.
    DebuggeeMethodsBelow,
    /// Imports from one folder of `debuggee` into another, but into [`SHARED_FOLDERS`] and
    /// what `Debuggee` is made of.
    DebuggeeFolderImports,
    /// Files directly in `src` of a crate.
    TopFiles(&'static str),
    /// Executables of integration tests in the workspace.
    TestExecutables,
    /// Arms `true =>` of a match in the workspace.
    TrueArms,
}

const fn limit(figure: Figure, max: usize) -> Limit {
    Limit { figure, max }
}

/// The limits.
const LIMITS: &[Limit] = &[
    limit(Figure::SessionFields, 12),
    limit(Figure::SessionImplFiles, 25),
    limit(Figure::WidestMethodFields, 5),
    limit(Figure::SessionImporters, 0),
    limit(Figure::Circle("session"), 12),
    limit(Figure::Circle("instrument"), 12),
    limit(Figure::Circle("values"), 12),
    limit(Figure::Circle("program"), 12),
    limit(Figure::Circle("points"), 12),
    limit(Figure::Circle("monitoring"), 12),
    limit(Figure::Circle("view"), 12),
    limit(Figure::Circle("text"), 12),
    limit(Figure::Circle("cli"), 12),
    limit(Figure::Circle("debuggee"), 12),
    limit(Figure::Circle("symbols"), 12),
    limit(Figure::Circle("model"), 12),
    limit(Figure::Circle("dap"), 12),
    limit(Figure::Circle("monitor"), 12),
    limit(Figure::Circle("language"), 12),
    limit(Figure::Circle("logic"), 12),
    limit(Figure::Circle("stepping"), 12),
    limit(Figure::DebuggeeFields, 14),
    limit(Figure::DebuggeeFieldsWithoutOwner, 0),
    limit(Figure::DebuggeeMethodsBelow, 0),
    limit(Figure::DebuggeeFolderImports, 6),
    limit(Figure::TopFiles("debuggee"), 20),
    limit(Figure::TestExecutables, 16),
    limit(Figure::TrueArms, 60),
];

/// The crates of [`CRATES`] that exist, by directory.
fn crates() -> BTreeMap<&'static str, Crate> {
    let directory = juror_testing::repository_directory().join("crates");
    let sources = |name: &str| directory.join(name).join("src");
    let existing = CRATES.iter().filter(|name| sources(name).is_dir());
    existing
        .map(|name| {
            let sources = sources(name);
            let text_of = |file: &str| fs::read_to_string(sources.join(file)).ok();
            (*name, Crate::read(&text_of))
        })
        .collect()
}

/// Counts the arms `true =>` in all sources of the workspace, tests among them.
fn true_arms() -> usize {
    let mut pending = vec![juror_testing::repository_directory().join("crates")];
    let mut count = 0;
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                count += true_arms_in(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    count
}

fn test_executables() -> usize {
    let packages = MetadataCommand::new()
        .manifest_path(juror_testing::repository_directory().join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap()
        .packages;
    let targets = packages.iter().flat_map(|package| &package.targets);
    targets
        .filter(|target| target.kind.contains(&TargetKind::Test))
        .count()
}

/// Everything that is measured.
struct Figures {
    crates: BTreeMap<&'static str, Crate>,
    test_executables: usize,
    true_arms: usize,
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::SessionFields => f.write_str("fields of Session"),
            Figure::SessionImplFiles => f.write_str("files with impl Session"),
            Figure::WidestMethodFields => f.write_str("fields that one method of Session names"),
            Figure::SessionImporters => f.write_str("files that name Session and may not"),
            Figure::Circle(name) => write!(f, "files in a circle of imports, {name}"),
            Figure::DebuggeeFields => f.write_str("fields of Debuggee"),
            Figure::DebuggeeFieldsWithoutOwner => {
                f.write_str("fields of Debuggee without an owner")
            }
            Figure::DebuggeeMethodsBelow => f.write_str("files below Debuggee with its methods"),
            Figure::DebuggeeFolderImports => f.write_str("imports between folders, debuggee"),
            Figure::TopFiles(name) => write!(f, "files directly in src, {name}"),
            Figure::TestExecutables => f.write_str("executables of integration tests"),
            Figure::TrueArms => f.write_str("arms `true =>` of a match"),
        }
    }
}

impl Figures {
    /// A figure, unless its crate does not exist.
    fn value(&self, figure: Figure) -> Option<usize> {
        let session = || self.crates.get("session");
        let debuggee = || self.crates.get("debuggee");
        Some(match figure {
            Figure::SessionFields => session()?.field_names("Session").len(),
            Figure::SessionImplFiles => session()?.impl_files("Session").len(),
            Figure::WidestMethodFields => session()?.widest_method().map_or(0, |it| it.1.len()),
            Figure::SessionImporters => session()?.session_importers().len(),
            Figure::Circle(name) => largest_circle(&self.crates.get(name)?.imports()).len(),
            Figure::DebuggeeFields => debuggee()?.field_names("Debuggee").len(),
            Figure::DebuggeeFieldsWithoutOwner => {
                debuggee()?.fields_without_owner("Debuggee").len()
            }
            Figure::DebuggeeMethodsBelow => debuggee()?.methods_below("Debuggee").len(),
            Figure::DebuggeeFolderImports => debuggee()?
                .imports_between_folders("Debuggee", SHARED_FOLDERS)
                .len(),
            Figure::TopFiles(name) => self.crates.get(name)?.top_files().len(),
            Figure::TestExecutables => self.test_executables,
            Figure::TrueArms => self.true_arms,
        })
    }

    /// The figures as a table, with the limits and what they are about.
    fn print(&self) {
        println!("{:<44} {:>6} {:>6}", "figure", "now", "limit");
        for Limit { figure, max } in LIMITS {
            let value = match self.value(*figure) {
                Some(value) => value.to_string(),
                None => "-".to_owned(),
            };
            println!("{:<44} {value:>6} {max:>6}", figure.to_string());
        }
        for (name, sources) in &self.crates {
            sources.print(name);
        }
    }
}

impl Crate {
    fn print(&self, name: &str) {
        let mut lines: Vec<usize> = self.files.values().map(|file| file.lines).collect();
        lines.sort_unstable();
        println!(
            "\n{name}: {} files, {} lines; lines a file: median {}, largest {}",
            lines.len(),
            lines.iter().sum::<usize>(),
            lines.get(lines.len() / 2).unwrap_or(&0),
            lines.last().unwrap_or(&0),
        );
        let print = |what: &str, names: &[&str]| {
            if !names.is_empty() {
                println!("  {what} ({}): {}", names.len(), names.join(" "));
            }
        };
        for (rule, imports) in [("", self.imports()), (", strict", self.strict_imports())] {
            let circle: Vec<&str> = largest_circle(&imports).into_iter().collect();
            print(&format!("largest circle of imports{rule}"), &circle);
        }
        print("fields of Session", &self.field_names("Session"));
        print("files with impl Session", &self.impl_files("Session"));
        if let Some((method, fields)) = self.widest_method() {
            let fields: Vec<&str> = fields.into_iter().collect();
            print(&format!("widest method of Session, {method}"), &fields);
        }
        if !self.field_names("Session").is_empty() {
            print(
                "files that name Session and may not",
                &self.session_importers(),
            );
        }
        for (field, owners) in self.owners("Debuggee") {
            let owners: Vec<&str> = owners.into_iter().collect();
            print(&format!("owner of {field}"), &owners);
        }
        print(
            "fields of Debuggee without an owner",
            &self.fields_without_owner("Debuggee"),
        );
        print(
            "files below Debuggee with its methods",
            &self.methods_below("Debuggee"),
        );
        let imports = self.imports_between_folders("Debuggee", SHARED_FOLDERS);
        let imports: Vec<&str> = imports.iter().map(String::as_str).collect();
        print("imports between folders", &imports);
        for (file, source) in &self.files {
            for (function, lines) in &source.long_functions {
                println!("  {file}: {function} has {lines} lines");
            }
        }
    }
}

#[test]
fn structure_is_within_its_limits() {
    let figures = Figures {
        crates: crates(),
        test_executables: test_executables(),
        true_arms: true_arms(),
    };
    figures.print();
    let faults: Vec<String> = LIMITS
        .iter()
        .filter_map(|Limit { figure, max }| {
            let value = figures.value(*figure)?;
            (value > *max).then(|| format!("{figure}: {value}, and the limit is {max}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A crate of texts.
fn crate_of(files: &[(&str, &str)]) -> Crate {
    let text_of = |name: &str| {
        let file = files.iter().find(|(file, _)| *file == name)?;
        Some(file.1.to_owned())
    };
    Crate::read(&text_of)
}

#[test]
fn paths_name_files() {
    let found = crate_of(&[
        (
            "lib.rs",
            "mod a; pub mod b; mod c { pub(in crate::a) mod d {} }",
        ),
        (
            "a.rs",
            "use crate::{b::inner::Thing as Other, c};
             use super::b::{self, inner};
             pub(in crate::b) fn f() { vec![crate::c::d::g::<u8>()]; }
             #[cfg(test)] mod tests { use crate::nowhere; }",
        ),
        ("b/mod.rs", "mod inner; fn f(&self) { self.a() }"),
        (
            "b/inner.rs",
            "use super::super::a::*; mod deep { use super::super::X; }",
        ),
    ]);
    let imports = found.imports();
    let check = |file: &str, expected: &[&str]| {
        assert_eq!(imports[file], expected.iter().copied().collect(), "{file}");
    };
    check("a.rs", &["b/inner.rs", "b/mod.rs", "lib.rs"]);
    check("b/mod.rs", &[]);
    check("b/inner.rs", &["a.rs", "b/mod.rs"]);
    check("lib.rs", &[]);
    let circle = largest_circle(&imports);
    assert_eq!(circle, BTreeSet::from(["a.rs", "b/inner.rs"]));
}

#[test]
fn the_parts_of_session_are_counted() {
    let found = crate_of(&[
        ("lib.rs", "mod session; mod run; mod other; mod pure;"),
        (
            "session.rs",
            "pub struct Session { pub(crate) a: Map<u8, fn(u8) -> u8>, #[doc = \"x\"] b: u8, c: u8 }
             impl Session { fn new() -> Session { todo!() } }",
        ),
        (
            "run.rs",
            "use crate::session::Session;
             impl Session {
                 fn wide(&mut self) { f(self.a, self.b()); let Self { c, .. } = self; }
                 fn narrow(&self) { self.a; other.b }
             }
             impl<T: Of<U>> Trait<T> for Session where T: X { fn b(&self) { !vec![self.b] } }",
        ),
        ("other.rs", "fn f(session: &mut crate::session::Session) {}"),
        ("pure.rs", "/// As `crate::session::Session`.\nfn f() -> Vec<Sessions> {}"),
    ]);
    assert_eq!(found.field_names("Session"), ["a", "b", "c"]);
    assert_eq!(found.impl_files("Session"), ["run.rs", "session.rs"]);
    let widest = found.widest_method().unwrap();
    assert_eq!(widest, ("wide", BTreeSet::from(["a", "c"])));
    assert_eq!(found.session_importers(), ["other.rs"]);
}

#[test]
fn the_parts_of_debuggee_have_owners() {
    let found = crate_of(&[
        (
            "lib.rs",
            "mod debuggee; mod life; mod memory; mod image; mod stops; mod ending; mod kernel;",
        ),
        (
            "debuggee.rs",
            "use crate::{image::Image, life::Life, memory::Memory};
             pub struct Debuggee { process: u32, life: Life, memory: Option<Box<Memory>>,
                 /// Mapped.
                 image: Image, driver: Driver }
             pub struct Driver(u8);
             impl Debuggee {}",
        ),
        ("life.rs", "pub(crate) struct Life;"),
        ("memory.rs", "pub(crate) struct Memory { bytes: u8 }"),
        (
            "image.rs",
            "use crate::debuggee::Debuggee; pub struct Image {} impl Debuggee {}",
        ),
        (
            "stops.rs",
            "use crate::{ending, kernel, life}; impl crate::debuggee::Debuggee { fn f() {} }",
        ),
        ("ending.rs", "use crate::{image::Image, kernel};"),
        ("kernel.rs", ""),
    ]);
    assert_eq!(
        found.field_names("Debuggee"),
        ["process", "life", "memory", "image", "driver"]
    );
    let owners = found.owners("Debuggee");
    assert_eq!(owners[0], ("process", BTreeSet::new()));
    assert_eq!(owners[2], ("memory", BTreeSet::from(["memory.rs"])));
    assert_eq!(found.fields_without_owner("Debuggee"), ["image", "driver"]);
    assert_eq!(found.methods_below("Debuggee"), ["image.rs"]);
    assert_eq!(found.top_files().len(), 8);
    assert_eq!(
        found.imports_between_folders("Debuggee", SHARED_FOLDERS),
        ["stops.rs -> ending.rs"]
    );
}

#[test]
fn arms_of_true_are_counted() {
    for (source, expected) in [
        ("fn f() { match a { true => 1, false => 2 } }", 1),
        (
            "fn f() { match (a, b) { (_, true) => true, _ => a == true } }",
            0,
        ),
        (
            "mod tests { fn f() { g(|| match a { true => {} _ => {} }) } }",
            1,
        ),
        ("/// `true => 1`\nfn f() { \"true => 1\" }", 0),
    ] {
        assert_eq!(true_arms_in(source), expected, "{source}");
    }
}
