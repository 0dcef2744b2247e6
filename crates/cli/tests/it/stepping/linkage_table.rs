//! `step` enters functions of shared libraries through the linkage table. Nothing else than
//! the step can stop there: no test here has a breakpoint in a library.

use crate::support::{Batch, Report};
use juror_testing::{Build, Compiler, Fixture, Language, Optimization};
use std::path::{Path, PathBuf};

const LIBRARY: &str = "int scale(int n)
{
    int r = n * 3;
    return r;
}
";

fn library(name: &str, source: &str, build: &Build) -> PathBuf {
    Fixture::c(name, source)
        .argument("-shared")
        .argument("-fPIC")
        .compile(build)
}

/// Compiles a program with libraries and linker options.
fn linked(fixture: Fixture, libraries: &[&Path], options: &[&str], build: &Build) -> PathBuf {
    let fixture = fixture.argument("-Wl,--no-as-needed");
    let libraries = libraries.iter().map(|it| it.display().to_string());
    let arguments = options.iter().map(|it| (*it).to_owned()).chain(libraries);
    arguments
        .fold(fixture, |fixture, argument| fixture.argument(&argument))
        .compile(build)
}

fn steps(executable: &Path, commands: &[&str]) -> Report {
    let batch = commands
        .iter()
        .fold(Batch::new(), |batch, command| batch.command(command));
    batch.run(executable, &[])
}

/// Returns the function and the line of each stop.
fn stops(report: &Report) -> Vec<String> {
    report
        .kind("stop")
        .map(|stop| {
            let location = &stop["location"];
            let function = location["function"].as_str().unwrap_or("?");
            format!("{function}:{}", location["line"])
        })
        .collect()
}

const MAIN: &str = "int scale(int n);
int main(void)
{
    int a = scale(4);
    a = scale(a);
    return a - 36;
}
";

#[test]
fn a_step_enters_a_function_of_a_library() {
    for build in Build::all() {
        let at_level = |it: &Build| it.optimization == Optimization::None;
        if !at_level(&build) {
            continue;
        }
        let library = library("scale", LIBRARY, &build);
        for options in [
            &["-Wl,-z,lazy"][..],
            &["-Wl,-z,now"],
            &["-fno-plt"],
            &["-Wl,-z,lazy", "-fcf-protection=full"],
        ] {
            let program = linked(Fixture::c("scaled", MAIN), &[&library], options, &build);
            // The first call is bound by the linker, the second one is bound already.
            let report = steps(
                &program,
                &[
                    "break main",
                    "run",
                    "step",
                    "finish",
                    "step",
                    "step",
                    "step",
                ],
            );
            let stops = stops(&report);
            let expected = [
                "main:4", "scale:3", "main:4", "main:5", "scale:3", "scale:4",
            ];
            assert_eq!(stops[..6], expected, "{build:?} {options:?}");
        }
    }
}

#[test]
fn a_step_enters_the_definition_that_the_linker_binds() {
    let build = Build::plain(Language::C);
    let first = library(
        "first",
        "int chosen(int n)\n{\n    return n + 1;\n}\n",
        &build,
    );
    let second = library(
        "second",
        "int pad;\nint chosen(int n)\n{\n    return n + 2;\n}\n",
        &build,
    );
    let main = "int chosen(int n);\nint main(void)\n{\n    return chosen(4) - 5;\n}\n";
    for (libraries, line) in [([&first, &second], 3), ([&second, &first], 4)] {
        let libraries = libraries.map(|it| it.as_path());
        let program = linked(
            Fixture::c("chooses", main),
            &libraries,
            &["-Wl,-z,lazy"],
            &build,
        );
        let report = steps(&program, &["break main", "run", "step"]);
        assert_eq!(
            stops(&report)[..2],
            ["main:4".to_owned(), format!("chosen:{line}")]
        );
    }
}

#[test]
fn a_step_enters_what_an_indirect_function_chooses() {
    let build = Build {
        compiler: Compiler::Gcc,
        ..Build::plain(Language::C)
    };
    let source = "static int fast(int n)
{
    return n * 2;
}
static int (*choose(void))(int) { return fast; }
int twice(int n) __attribute__((ifunc(\"choose\")));
";
    let library = library("indirect", source, &build);
    let main = "int twice(int n);\nint main(void)\n{\n    return twice(4) - 8;\n}\n";
    for option in ["-Wl,-z,lazy", "-Wl,-z,now"] {
        let program = linked(Fixture::c("asks", main), &[&library], &[option], &build);
        let report = steps(&program, &["break main", "run", "step"]);
        assert_eq!(stops(&report)[..2], ["main:4", "fast:3"], "{option}");
    }
}

#[test]
fn a_step_enters_a_library_by_a_tail_call() {
    let build = Build {
        optimization: Optimization::Full,
        ..Build::plain(Language::C)
    };
    let plain = Build::plain(Language::C);
    let library = library("scale", LIBRARY, &plain);
    let main = "int scale(int n);
__attribute__((noinline)) int passes(int n)
{
    return scale(n + 1);
}
int main(int argc, char **argv)
{
    return passes(argc) - 6;
}
";
    let program = linked(
        Fixture::c("passes", main),
        &[&library],
        &["-Wl,-z,lazy"],
        &build,
    );
    let report = steps(&program, &["break passes", "run", "step"]);
    assert_eq!(stops(&report)[1], "scale:3", "{:?}", stops(&report));
}

#[test]
fn a_step_passes_a_function_without_source() {
    let build = Build::plain(Language::C);
    let without = Build {
        debug: false,
        ..build
    };
    let library = library("bare", LIBRARY, &without);
    let program = linked(
        Fixture::c("scaled", MAIN),
        &[&library],
        &["-Wl,-z,lazy"],
        &build,
    );
    let report = steps(&program, &["break main", "run", "step", "step"]);
    assert_eq!(stops(&report)[..3], ["main:4", "main:5", "main:6"]);
}

#[test]
fn a_function_of_a_library_may_be_skipped() {
    let build = Build::plain(Language::C);
    let library = library("scale", LIBRARY, &build);
    let program = linked(
        Fixture::c("scaled", MAIN),
        &[&library],
        &["-Wl,-z,lazy"],
        &build,
    );
    let report = steps(
        &program,
        &["skip function scale", "break main", "run", "step", "step"],
    );
    assert_eq!(stops(&report)[..3], ["main:4", "main:5", "main:6"]);
}

#[test]
fn a_skipped_call_that_was_inlined_is_skipped_with_what_it_calls() {
    let source = "static volatile int ones = 1;
int __attribute__((noinline)) bar(void)
{
    return ones;
}
static inline int __attribute__((always_inline)) foo(void)
{
    return bar();
}
static inline int __attribute__((always_inline)) outer(void)
{
    return foo() + bar();
}
int __attribute__((noinline)) baz(int a)
{
    return a + 1;
}
int main(void)
{
    int x = 0;
    x = baz(foo());
    x += baz(outer());
    return x - 3;
}
";
    for build in Build::all() {
        let program = Fixture::c("skips", source).compile(&build);
        let report = steps(
            &program,
            &[
                "skip function foo",
                "break 21",
                "run",
                "step",
                "finish",
                "step",
            ],
        );
        let stops = stops(&report);
        assert_eq!(stops[1], "baz:16", "{build:?}: {stops:?}");
        // Nor from within another inlined call that is not skipped.
        let report = steps(
            &program,
            &[
                "skip function foo",
                "skip function outer",
                "break 22",
                "run",
                "step",
            ],
        );
        assert_eq!(self::stops(&report)[1], "baz:16", "{build:?}");
    }
}
