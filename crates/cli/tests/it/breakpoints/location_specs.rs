//! Location specs by name: overloads, methods, templates, generic functions, regular
//! expressions, files. The lines of the functions are the expected locations.

use crate::support::{Report, juror, program};
use juror_testing::{Build, Language, Optimization};
use std::collections::BTreeSet;
use std::path::Path;

/// What `break PLACE` answered.
fn answers(executable: &Path, places: &[&str]) -> Vec<Vec<String>> {
    let input: String = places.iter().map(|place| format!("{place}\n")).collect();
    let output = juror(&["run"]).args([executable]).input(input).run();
    let mut answers: Vec<Vec<String>> = Vec::new();
    for line in output.stdout.lines().chain(output.stderr.lines()) {
        match (line.strip_prefix("(juror) "), answers.last_mut()) {
            (Some(_), _) => answers.push(Vec::new()),
            (None, Some(answer)) => answer.push(line.to_owned()),
            (None, None) => {}
        }
    }
    answers
}

/// The line of a file at the end of a line of an answer: `, FILE:LINE`.
fn place_in(line: &str, file: &str) -> Option<usize> {
    let (_, place) = line.rsplit_once(", ")?;
    let number = place.strip_prefix(file)?.strip_prefix(':')?;
    number.parse().ok()
}

/// Every place must mean the functions with these marks (`// mark: NAME` at the
/// ends of their first lines), in every build.
#[track_caller]
fn check(file: &str, wanted: impl Fn(&Build) -> bool, table: &[(&str, &[&str])]) {
    let fixture = program(file);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(file);
    let source = std::fs::read_to_string(path).expect("the program is there");
    let marks: Vec<Option<&str>> = source
        .lines()
        .map(|line| line.split_once("// mark: ").map(|(_, mark)| mark))
        .collect();
    // The function that a line belongs to.
    let mark_of = |line: usize| marks[..line].iter().rev().flatten().next().copied();
    let places: Vec<&str> = table.iter().map(|(place, _)| *place).collect();
    for build in Build::all_of(fixture.language()).into_iter().filter(wanted) {
        let executable = fixture.compile(&build);
        let answers = answers(&executable, &places);
        assert!(answers.len() >= table.len(), "{answers:?}, {build}");
        for ((place, marks), answer) in table.iter().zip(&answers) {
            let expected: BTreeSet<&str> = marks.iter().copied().collect();
            let lines = answer.iter().filter_map(|line| place_in(line, file));
            let given: BTreeSet<&str> = lines.filter_map(mark_of).collect();
            assert_eq!(given, expected, "{place}, {build}: {answer:#?}");
        }
    }
}

fn any(_: &Build) -> bool {
    true
}

#[test]
fn overloads_methods_and_templates_of_cpp() {
    let table: &[(&str, &[&str])] = &[
        ("break area(int)", &["scaled", "int"]),
        ("break geo::area(int)", &["int"]),
        ("break area(double)", &["double"]),
        ("break area(const char *)", &["text"]),
        ("break area(char const*)", &["text"]),
        ("break area(std::string const&)", &["string"]),
        ("break area(const Shape&, unsigned long)", &["shape"]),
        (
            "break area(const std::vector<int>&, int (*)(int))",
            &["vector"],
        ),
        ("break geo::area", &["int", "double", "shape"]),
        ("break Square::area", &["square"]),
        ("break Square::area() const", &["square"]),
        ("break geo::Shape::area(int)", &["scaled"]),
        ("break largest", &["largest"]),
        ("break largest<int>", &["largest"]),
        ("break largest<double>(double, double)", &["largest"]),
        ("break Stack<int>::push", &["push"]),
        ("break Stack::push", &["push"]),
        ("break Stack<double>::operator()", &["call"]),
        ("break operator==", &["equal"]),
        ("break operator==<int>", &["equal"]),
        ("break operator<", &["less"]),
        ("break overloads.cpp:twice", &["twice"]),
        ("break /^twi/", &["twice"]),
        (
            "rbreak overloads.cpp:^geo::area",
            &["int", "double", "shape"],
        ),
        ("rbreak ^geo::Square::area", &["square"]),
    ];
    check("overloads.cpp", any, table);
}

#[test]
fn every_overload_is_named() {
    let executable = program("overloads.cpp").compile(&Build::plain(Language::Cpp));
    let places = ["break geo::area", "break largest", "break largest<int>"];
    let answers = answers(&executable, &places);
    let counts: Vec<usize> = answers.iter().take(3).map(Vec::len).collect();
    assert_eq!(counts, [4, 3, 1], "{answers:#?}");
    let names = ["geo::area(int)", "geo::area(double)"];
    for (name, line) in names.iter().zip(&answers[0][1..]) {
        assert!(line.contains(name), "{line}");
    }
}

#[test]
fn generic_functions_and_methods_of_traits_in_rust() {
    let unoptimized = |build: &Build| build.optimization == Optimization::None;
    let table: &[(&str, &[&str])] = &[
        ("break Square::area", &["square"]),
        ("break Shape::area", &["square", "circle"]),
        ("break <Circle as Shape>::area", &["circle"]),
        (
            "break <generics::Circle as generics::Shape>::area",
            &["circle"],
        ),
        ("break deep::helper", &["helper"]),
        ("break generics::deep::helper", &["helper"]),
        ("break Stack<u8>::push", &["push"]),
        ("rbreak ^generics::deep", &["helper"]),
    ];
    check("generics.rs", any, table);
    let table: &[(&str, &[&str])] = &[
        ("break generics::largest", &["largest"]),
        ("break generics.rs:apply", &["apply"]),
        ("break Stack::push", &["push"]),
        ("rbreak ^generics::largest", &["largest"]),
    ];
    check("generics.rs", unoptimized, table);
}

#[test]
fn unknown_names_suggest_near_ones() {
    let table = [
        ("overloads.cpp", "break aera", "did you mean `area`?"),
        (
            "overloads.cpp",
            "break Shape::aera",
            "did you mean `Shape::area`?",
        ),
        ("overloads.cpp", "break area(float)", "geo::area(double)"),
        (
            "generics.rs",
            "break generics::helper",
            "there is generics::deep::helper",
        ),
        (
            "overloads.cpp",
            "break largest<char>",
            "there is largest<double>",
        ),
        (
            "overloads.cpp",
            "break nosuch.cpp:twice",
            "break twice matches it in every file",
        ),
        (
            "overloads.cpp",
            "break /xyzzy/",
            "info functions lists the names",
        ),
        ("overloads.cpp", "break /(/", "unclosed group"),
        (
            "generics.rs",
            "break deep::helpr",
            "did you mean `deep::helper`?",
        ),
        (
            "generics.rs",
            "break Stack<i8>::push",
            "generics::Stack<u8>::push",
        ),
    ];
    for (file, place, expected) in table {
        let executable = program(file).compile_plain();
        let answers = answers(&executable, &[place]);
        let answer = answers[0].join("\n");
        assert!(answer.contains(expected), "{place}: {answer}");
        assert!(!answer.contains("breakpoint 1"), "{place}: {answer}");
    }
}

#[test]
fn all_overloads_are_stopped_at() {
    let executable = program("overloads.cpp").compile(&Build::plain(Language::Cpp));
    let mut batch = crate::support::Batch::new()
        .command("break geo::area")
        .command("run");
    for _ in 0..3 {
        batch = batch.command("continue");
    }
    let report: Report = batch.run(&executable, &[]);
    let stops: Vec<_> = report
        .lines
        .iter()
        .filter(|line| line["kind"] == "stop")
        .map(|line| line["backtrace"][0]["arguments"][0]["name"].clone())
        .collect();
    assert_eq!(stops, ["a", "a", "shape"], "{:#?}", report.lines);
}
