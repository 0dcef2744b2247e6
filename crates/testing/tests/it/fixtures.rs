//! The programs of this crate and the examples compile in every way, and do
//! what their READMEs and comments say.

use juror_testing::{Build, BuildError, Fixture, Juror, Language, Output};
use std::path::Path;

/// Runs a program; the runner of juror runs any command.
fn run(program: &Path, arguments: &[&str]) -> Output {
    Juror::new(program).args(arguments).run()
}

#[track_caller]
fn check(fixture: &Fixture, arguments: &[&str], expected: impl Fn(&str) -> bool) {
    for build in Build::all_of(fixture.language()) {
        let output = run(&fixture.compile(&build), arguments);
        output.assert_code(0);
        assert!(expected(&output.stdout), "{build}: {}", output.stdout);
    }
}

#[test]
fn the_queue_overflows_until_it_is_fixed() {
    let queue = Fixture::example("queue");
    check(&queue, &[], |out| out.ends_with("digits ksha\n"));
    check(&queue.define("FIXED"), &[], |out| {
        out.ends_with("digits 5431\n")
    });
}

#[test]
fn the_producers_lose_jobs_until_they_are_fixed() {
    let producers = Fixture::example("producers");
    let right = "120 jobs handed in: 0 never done, 0 done more than once\n";
    check(&producers, &[], |out| out != right);
    check(&producers.define("FIXED"), &[], |out| out == right);
}

#[test]
fn the_file_is_read_after_its_end_until_it_is_fixed() {
    let file = Fixture::example("file");
    let directory = juror_testing::repository_directory().join("examples/file");
    let menu = directory.join("menu.txt");
    let drinks = directory.join("drinks.txt");
    let arguments = [menu.to_str().unwrap(), drinks.to_str().unwrap()];
    check(&file, &arguments, |out| {
        out.contains("Dessert:\n    Espresso\n")
    });
    check(&file.define("FIXED"), &arguments, |out| {
        out.contains("Dessert:\nCoffee and tea:\n    Espresso\n")
    });
}

#[test]
fn the_programs_run_as_their_comments_say() {
    check(&Fixture::program("correct.c"), &[], |out| {
        out == "all is well\n"
    });
    check(
        &Fixture::program("double-free.c").define("FIXED"),
        &[],
        |out| out.ends_with("no note\n"),
    );
    check(&Fixture::program("calls.c"), &["2", "10"], |out| {
        out.starts_with("calls=20 elapsed_ns=")
    });
}

#[test]
fn a_fixture_is_compiled_once() {
    let fixture = Fixture::c("once", "int main(void) { return 7; }\n");
    let first = fixture.compile_plain();
    let second = fixture.compile_plain();
    assert_eq!(first, second);
    run(&first, &[]).assert_code(7);
    let other = fixture.argument("-DUNUSED").compile_plain();
    assert_ne!(first, other);
}

#[test]
fn every_language_compiles() {
    let cpp = "#include <cstdio>\nint main() { std::puts(\"C++\"); }\n";
    check(&Fixture::cpp("cpp", cpp), &[], |out| out == "C++\n");
    let rust = "mod part;\nfn main() { println!(\"{}\", part::NAME) }\n";
    let part = "pub const NAME: &str = \"Rust\";\n";
    let rust = Fixture::files("rust", &[("main.rs", rust), ("part.rs", part)]);
    check(&rust, &[], |out| out == "Rust\n");
}

#[test]
fn a_mistake_in_a_fixture_is_shown() {
    let fixture = Fixture::c("mistake", "int main(void) { return unknown_name; }\n");
    let error = fixture.try_compile(&Build::plain(Language::C)).unwrap_err();
    assert!(error.to_string().contains("unknown_name"), "{error}");

    let error = fixture
        .try_compile(&Build::plain(Language::Rust))
        .unwrap_err();
    assert!(matches!(error, BuildError::WrongLanguage { .. }), "{error}");
}
