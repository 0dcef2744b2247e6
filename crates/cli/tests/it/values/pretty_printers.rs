//! Values of library types are shown by their contents.

use crate::support::printed::{check, plain_builds, printed};
use crate::support::{Batch, program};
use juror_testing::{Build, Compiler, Language};
use serde_json::Value;
use std::path::Path;

#[test]
fn code_of_the_compiler_is_shown_near_the_line_before_it() {
    let source = include_str!("../../programs/generated.c");
    // The statement begins, and then its code is said to be of no line.
    let line = source.lines().position(|line| line.contains(".loc 0 0"));
    let line = line.expect("the line is there") + 1;
    let mut builds = plain_builds(Language::C);
    builds.retain(|build| build.compiler == Compiler::Clang);
    for build in builds {
        let report = Batch::new()
            .command("tbreak main")
            .command("run")
            .command("break *place")
            .command("continue")
            .command("info line")
            .command("list")
            .run(program("generated.c").compile(&build), &[]);
        let stop = report.kind("stop").nth(1).expect("a stop");
        let place = &stop["location"];
        assert_eq!(place["near"]["line"], line, "{place}, {build}");
        assert_eq!(place["line"], Value::Null, "{place}, {build}");
        assert_eq!(stop["source"]["current"], line, "{stop}, {build}");
        let text = &report.output.stdout;
        let has_place = text.lines().any(|text| {
            let near = text.split_once(" in compiler-generated code near ");
            near.is_some_and(|(_, near)| near.contains(&format!("generated.c:{line},")))
        });
        assert!(has_place, "{build} {}", report.all());
        let words = format!("compiler-generated code near line {line} of generated.c, at ");
        assert!(text.contains(&words), "{build} {}", report.all());
    }
}

const CPP: &[(&str, &str)] = &[
    ("numbers", "{1, 2, 3}"),
    ("none", "{}"),
    ("truths", "{true, false, true}"),
    ("points", "{{x = 1, y = 2}, {x = 3, y = 4}}"),
    ("many", "{5 <repeats 200 times>...}"),
    ("words", r#"{"one", "a \"quoted\" word"}"#),
    ("nested", "{{1}, {}, {2, 3}}"),
    ("text", r#""hello""#),
    ("empty", r#""""#),
    ("wide", r#""hä""#),
    ("wider", r#""hä""#),
    ("part", r#""ell""#),
    ("fixed", "{4, 5, 6}"),
    ("ends", "{1, 2, 3}"),
    ("linked", "{7, 8, 9}"),
    ("forward", "{97 'a', 98 'b'}"),
    ("ages", r#"{"ann": 31, "bob": 27, "cid": 5}"#),
    (
        "large",
        "{0: 0, 1: 3, 2: 6, 3: 9, 4: 12, 5: 15, 6: 18, 7: 1, 8: 4, 9: 7, 10: 10, 11: 13, 12: 16, \
         13: 19, 14: 2, 15: 5, 16: 8, 17: 11, 18: 14, 19: 17}",
    ),
    ("twice", "{1: 97 'a', 1: 98 'b'}"),
    ("sorted", "{1, 2, 3}"),
    ("table", r#"{1: "one"}"#),
    ("bag", "{5}"),
    ("pair", r#"(1, "two")"#),
    ("triple", r#"(1, 2.5, "three")"#),
    ("unit", "()"),
    ("some", "5"),
    ("nothing", "nullopt"),
    ("choice", r#""chosen""#),
    ("other", "2.5"),
    ("unique", "@0x?: {x = 5, y = 6}"),
    ("vacant", "null"),
    ("shared", "@0x?: 8"),
    ("weak", "@0x?: 8"),
    ("expired", "expired"),
    ("stack", "{1}"),
    ("queue", "{2}"),
    ("heap", "{3}"),
    ("atomic", "4"),
    ("plain.legs", "4"),
    ("len(numbers)", "3"),
    ("len(none)", "0"),
    ("len(truths)", "3"),
    ("len(words) + len(nested[2])", "4"),
    ("len(text)", "5"),
    ("len(empty)", "0"),
    ("len(part)", "3"),
    ("len(fixed)", "3"),
    ("len(ends)", "3"),
    ("len(linked)", "3"),
    ("len(ages)", "3"),
    ("len(large)", "20"),
    ("len(twice)", "2"),
    ("len(sorted)", "3"),
    ("len(table)", "1"),
    ("len(bag)", "1"),
    ("len(stack)", "1"),
    ("len(queue)", "1"),
    ("len(heap)", "1"),
];

#[test]
fn containers_of_cpp_are_shown_by_what_they_hold() {
    for build in plain_builds(Language::Cpp) {
        let executable = program("views.cpp").argument("-std=c++17").compile(&build);
        check(&executable, &build, CPP);
    }
}

/// Checks the same values with LLVM's library, where that is installed.
#[test]
fn containers_of_libcxx_are_shown_by_what_they_hold() {
    for build in plain_builds(Language::Cpp) {
        if build.compiler != Compiler::Clang {
            continue;
        }
        let fixture = program("views.cpp")
            .argument("-std=c++17")
            .argument("-stdlib=libc++");
        match fixture.try_compile(&build) {
            Ok(executable) => check(&executable, &build, CPP),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("file not found"), "{message}");
                eprintln!("libc++ is not installed: left out");
            }
        }
    }
}

/// What both libraries show of the objects of `callable.cpp`; which thread it is
/// differs from run to run.
const CALLABLE: &[(&str, &str)] = &[
    ("empty", "empty"),
    ("free", "unlocked"),
    ("held", "locked by thread N"),
    ("none", "none"),
    ("running", "0x?"),
    ("nobody", "none"),
    ("somebody", "0x?"),
];

/// Those that LLVM's library describes in itself, and not to the program.
const CALLABLE_GNU: &[(&str, &str)] = &[
    (
        "plain",
        "0x? <std::_Function_handler<int(int), int (*)(int)>::_M_invoke>",
    ),
    (
        "object",
        "0x? <std::_Function_handler<int(int), Adder>::_M_invoke>",
    ),
    ("again", "locked 2 times by thread N"),
];

const CALLABLE_LLVM: &[(&str, &str)] = &[("plain", "0x? <twice>"), ("object", "{by = 3}")];

#[test]
fn what_is_called_and_locked_is_shown_by_its_state() {
    for build in plain_builds(Language::Cpp) {
        let fixture = program("callable.cpp").argument("-pthread");
        let executable = fixture.compile(&build);
        check_callable(&executable, &build, CALLABLE, "");
        check_callable(&executable, &build, CALLABLE_GNU, "");
        if build.compiler != Compiler::Clang {
            continue;
        }
        match fixture.argument("-stdlib=libc++").try_compile(&build) {
            Ok(executable) => {
                check_callable(&executable, &build, CALLABLE, "");
                // The class of what is kept stands before it.
                check_callable(
                    &executable,
                    &build,
                    CALLABLE_LLVM,
                    "(std::__1::__function::__func<",
                );
            }
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("file not found"), "{message}");
                eprintln!("libc++ is not installed: left out");
            }
        }
    }
}

fn check_callable(executable: &Path, build: &Build, table: &[(&str, &str)], before: &str) {
    for (shown, (expression, expected)) in printed(executable, table).iter().zip(table) {
        // The compilers write the name of this type in two ways.
        let shown = shown.replace("int (int)", "int(int)");
        let shown = match shown.split_once("by thread ") {
            Some((state, number)) if number.parse::<u32>().is_ok() => format!("{state}by thread N"),
            _ => shown,
        };
        assert!(shown.starts_with(before), "{expression}: {shown}, {build}");
        let value = match before {
            "" => shown.as_str(),
            _ => shown.split_once(") ").map_or("", |(_, value)| value),
        };
        assert_eq!(value, *expected, "{expression}: {shown}, {build}");
    }
}

#[test]
fn objects_of_virtual_classes_are_shown_whole() {
    for build in plain_builds(Language::Cpp) {
        let executable = program("views.cpp").argument("-std=c++17").compile(&build);
        let report = Batch::new()
            .command("break look")
            .command("run")
            .command("up")
            .command("print *beast")
            .command("print *named")
            .command("print plain")
            .command("print/r *beast")
            .run(&executable, &[]);
        for command in ["print *beast", "print *named"] {
            let shown = report.outcome(command)["value"]
                .as_str()
                .unwrap_or_default();
            assert!(
                shown.starts_with("(Dog) {<Animal> = {_vptr"),
                "{shown}, {build}"
            );
            assert!(
                shown.ends_with("length = 3}, barks = 7}"),
                "{shown}, {build}"
            );
        }
        for command in ["print plain", "print/r *beast"] {
            let shown = report.outcome(command)["value"]
                .as_str()
                .unwrap_or_default();
            assert!(shown.starts_with("{_vptr"), "{shown}, {build}");
            assert!(shown.ends_with("legs = 4}"), "{shown}, {build}");
        }
    }
}

const RUST: &[(&str, &str)] = &[
    ("numbers", "[1, 2, 3]"),
    ("none", "[]"),
    ("points", "[Point {x: 1, y: 2}, Point {x: 3, y: 4}]"),
    ("many", "[5 <repeats 200 times>...]"),
    ("text", r#""hello""#),
    ("borrowed", r#""ell""#),
    ("words", r#"["one", "a \"quoted\" word"]"#),
    ("slice", "[2, 3]"),
    ("array", "[4, 5, 6]"),
    ("boxed", "@0x?: Point {x: 5, y: 6}"),
    ("boxed_slice", "[7, 8]"),
    ("ends", "[1, 2, 3]"),
    ("linked", "[7, 8, 9]"),
    ("heap", "[3]"),
    ("ages", r#"{"ann": 31}"#),
    ("bag", "{5}"),
    ("small", "{1: 'a', 2: 'b'}"),
    ("sorted", "{1, 2, 3}"),
    ("empty", "{}"),
    ("some", "Some(5)"),
    ("nothing", "None"),
    ("pointer", "Some(@0x?: 6)"),
    ("vacant", "None"),
    ("right", "Ok(1)"),
    ("wrong", r#"Err("why")"#),
    ("shapes", "[Circle {radius: 1.5}, Square(4), Empty]"),
    ("colors", "[Red, Green]"),
    ("tuple", r#"(1, 2.5, 'x', "y")"#),
    ("meters", "Meters(2.5)"),
    ("unit_like", "Nothing"),
    ("letter", "'ä'"),
    ("truth", "true"),
    ("shared", "@0x?: 8"),
    ("weak", "@0x?: 8"),
    ("expired", "expired"),
    ("atomic_shared", "@0x?: 10"),
    ("cell", "11"),
    ("ref_cell", "[12]"),
    ("mutex", "13"),
    ("lock", "14"),
    ("atomic", "15"),
    ("path", r#""/tmp""#),
    ("path_of", r#""/tmp""#),
    ("part", r#"Some("tmp")"#),
    ("boxed_path", r#""/tmp""#),
    ("system_text", r#""tmp""#),
    ("system_part", r#""tmp""#),
    ("c_text", r#""see""#),
    ("counted", r#""counted""#),
    ("shared_path", r#""/tmp""#),
    ("len(numbers)", "3"),
    ("len(none)", "0"),
    ("len(text)", "5"),
    ("len(borrowed)", "3"),
    ("len(words)", "2"),
    ("len(slice)", "2"),
    ("len(array)", "3"),
    ("len(boxed_slice)", "2"),
    ("len(ends)", "3"),
    ("len(linked)", "3"),
    ("len(heap)", "1"),
    ("len(ages)", "1"),
    ("len(bag)", "1"),
    ("len(small)", "2"),
    ("len(sorted)", "3"),
    ("len(empty)", "0"),
];

#[test]
fn values_of_rust_are_shown_as_rust_writes_them() {
    for build in plain_builds(Language::Rust) {
        let executable = program("library.rs").compile(&build);
        check(&executable, &build, RUST);
        let whole: Vec<String> = (0..100u32)
            .map(|key| format!("{key}: {}", key * 43 % 100))
            .collect();
        let whole = format!("{{{}}}", whole.join(", "));
        check(&executable, &build, &[("large", &whole)]);
    }
}
