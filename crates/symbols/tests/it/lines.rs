//! Lines and addresses, against `addr2line` and the marks in the sources.

use crate::support::{compile, compile_everywhere, line_of};
use juror_symbols::SymbolFile;
use juror_testing::is_installed;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
#include <stdio.h>
volatile int sink;
static inline int twice(int x) {
    sink = x;                                   // in twice
    return x * 2;
}

// no code here
__attribute__((noinline)) int work(int count) {  // opening of work
    int sum = 0;                                // first of work

    for (int i = 0; i < count; i++) {           // loop
        sink = i;                               // body
        sum += twice(i);
    }
    return sum;                                 // last of work
}
__attribute__((noinline)) int branchy(int x) {  // opening of branchy
    if (x > 1000)                               // first of branchy
        sink = 3;                               // rare
    sink = 4;                                   // common
    return sink;
}
int main(int argc, char **argv) {               // opening of main
    int result = work(argc);                    // first of main
    result += twice(result);
    return result + branchy(argc) > 1000;       // last of main
}
"#;

#[test]
fn lines_of_addresses_are_those_of_addr2line() {
    if !is_installed("addr2line") {
        return;
    }
    for level in ["-O0", "-O2"] {
        for program in compile_everywhere(PROGRAM, level) {
            let mut addresses = Vec::new();
            for name in ["work", "main", "branchy"] {
                let function = program.function(name);
                addresses.extend(function.low_pc..function.high_pc());
            }
            let output = Command::new("addr2line")
                .arg("-e")
                .arg(&program.path)
                .args(addresses.iter().map(|address| format!("{address:#x}")))
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            for (address, expected) in addresses.iter().zip(text.lines()) {
                let line = program.file.line_at(*address).map_or(0, |line| line.line);
                let expected = expected.rsplit(':').next().unwrap();
                let expected: u32 = expected
                    .split_whitespace()
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap_or(0);
                assert_eq!(line, expected, "{address:#x} in {}", program.how);
            }
        }
    }
}

#[test]
fn files_are_named_with_their_directory() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        let line = program
            .file
            .line_at(program.function("main").low_pc)
            .unwrap();
        let directory = program.directory.path().canonicalize().unwrap();
        assert_eq!(&*line.file, directory.join("program.c"), "{}", program.how);
        assert_eq!(
            line.line,
            line_of(PROGRAM, "opening of main"),
            "{}",
            program.how
        );
        assert!(
            program.file.source_files().contains(&line.file),
            "{}",
            program.how
        );
    }
}

#[test]
fn a_directory_that_was_made_relative_is_named_once() {
    for compiler in ["gcc", "clang"].into_iter().filter(|it| is_installed(it)) {
        for format in ["-gdwarf-4", "-gdwarf-5"] {
            let directory = tempfile::TempDir::new().unwrap();
            let path = directory.path().canonicalize().unwrap();
            std::fs::write(path.join("program.c"), PROGRAM).unwrap();
            // The second time, the name has the directory as well.
            for source in [Path::new("program.c"), &path.join("program.c")] {
                let map = format!("-fdebug-prefix-map={}=./part", path.display());
                let mut command = Command::new(compiler);
                command.current_dir(&path).args([format, &map]);
                command.args(["-o", "program"]).arg(source);
                assert!(command.status().unwrap().success(), "{command:?}");
                let file = SymbolFile::open(path.join("program")).unwrap();
                let main = file.functions_named("main").remove(0).low_pc;
                let line = file.line_at(main).unwrap();
                assert_eq!(&*line.file, "./part/program.c", "{command:?}");
            }
        }
    }
}

#[test]
fn an_absolute_path_names_a_file_that_was_compiled_from_another_directory() {
    for compiler in ["gcc", "clang"].into_iter().filter(|it| is_installed(it)) {
        for format in ["-gdwarf-4", "-gdwarf-5"] {
            let directory = tempfile::TempDir::new().unwrap();
            let path = directory.path().canonicalize().unwrap();
            let (source, build) = (path.join("src"), path.join("build"));
            std::fs::create_dir(&source).unwrap();
            std::fs::create_dir(&build).unwrap();
            std::fs::write(source.join("main.c"), PROGRAM).unwrap();
            let mut command = Command::new(compiler);
            command.current_dir(&build).args([format, "-o", "program"]);
            command.arg("../src/main.c");
            assert!(command.status().unwrap().success(), "{command:?}");
            let file = SymbolFile::open(build.join("program")).unwrap();
            let line = line_of(PROGRAM, "first of main");
            let expected = file.addresses_of_line("main.c", line);
            assert_eq!(expected.len(), 1, "{command:?}");
            for written in ["src/main.c", "../src/main.c"] {
                assert_eq!(file.addresses_of_line(written, line), expected, "{written}");
            }
            let absolute = source.join("main.c").display().to_string();
            assert_eq!(
                file.addresses_of_line(&absolute, line),
                expected,
                "{command:?}"
            );
            let other = build.join("main.c").display().to_string();
            assert!(
                file.addresses_of_line(&other, line).is_empty(),
                "{command:?}"
            );
        }
    }
}

#[test]
fn a_breakpoint_on_a_function_stops_behind_its_prologue() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        for (name, mark) in [
            ("work", "first of work"),
            ("main", "first of main"),
            ("branchy", "first of branchy"),
        ] {
            let function = program.function(name);
            let address = program.file.prologue_end(&function);
            let line = program.file.line_at(address).unwrap();
            assert_eq!(
                line.line,
                line_of(PROGRAM, mark),
                "{name} in {}",
                program.how
            );
            assert_eq!(line.range.start, address, "{name} in {}", program.how);
        }
    }
    for program in compile_everywhere(PROGRAM, "-O2") {
        let function = program.function("branchy");
        let address = program.file.prologue_end(&function);
        // Every call must reach it, so it is not behind the branch.
        let line = program.file.line_at(address).unwrap().line;
        assert!(function.contains(address));
        assert_ne!(line, line_of(PROGRAM, "// rare"), "{}", program.how);
        // Nor behind a call that the first line makes.
        let main = program.function("main");
        let line = program
            .file
            .line_at(program.file.prologue_end(&main))
            .unwrap()
            .line;
        assert!(
            line <= line_of(PROGRAM, "first of main"),
            "{line} in {}",
            program.how
        );
    }
}

#[test]
fn breakpoints_on_lines_are_one_for_each_place() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        let how = &program.how;
        for (mark, stands_for) in [
            ("// body", "// body"),
            ("// loop", "// loop"),
            ("no code here", "opening of work"),
            ("in twice", "in twice"),
            ("last of main", "last of main"),
        ] {
            let asked = line_of(PROGRAM, mark);
            let [found] = &program.file.addresses_of_line("program.c", asked)[..] else {
                panic!("{mark} in {how}")
            };
            assert_eq!(found.line, line_of(PROGRAM, stands_for), "{mark} in {how}");
            assert_eq!(found.exact, mark == stands_for, "{mark} in {how}");
            assert_eq!(found.addresses.len(), 1, "{mark} in {how}: {found:x?}");
            if mark != "no code here" {
                assert_eq!(
                    program.file.line_at(found.addresses[0]).unwrap().line,
                    found.line,
                    "{mark} in {how}"
                );
            }
        }
        // On the opening line the frame must be there.
        let opening = &program
            .file
            .addresses_of_line("program.c", line_of(PROGRAM, "opening of work"))[0];
        assert_eq!(
            opening.addresses,
            [program.file.prologue_end(&program.function("work"))],
            "{how}"
        );
        assert!(
            program
                .file
                .addresses_of_line("program.c", 10_000)
                .is_empty(),
            "{how}"
        );
        assert!(
            program.file.addresses_of_line("other.c", 1).is_empty(),
            "{how}"
        );
        assert!(
            program.file.addresses_of_line("ogram.c", 1).is_empty(),
            "{how}"
        );
    }
    for program in compile_everywhere(PROGRAM, "-O2") {
        // The inlined copies in `work` and `main` are places of their own.
        let found = program
            .file
            .addresses_of_line("program.c", line_of(PROGRAM, "in twice"));
        let functions: std::collections::BTreeSet<u64> = found[0]
            .addresses
            .iter()
            .map(|address| program.file.function_at(*address).unwrap().low_pc)
            .collect();
        assert_eq!(functions.len(), 2, "{}: {found:x?}", program.how);
    }
}

#[test]
fn a_step_stays_in_the_ranges_of_its_line() {
    for level in ["-O0", "-O2"] {
        for program in compile_everywhere(PROGRAM, level) {
            let function = program.function("work");
            for address in function.low_pc..function.high_pc() {
                let ranges = program.file.step_ranges(address);
                assert!(
                    ranges.iter().any(|range| range.contains(&address)),
                    "{address:#x} in {}: {ranges:x?}",
                    program.how
                );
                assert!(
                    ranges.windows(2).all(|pair| pair[0].end < pair[1].start),
                    "{ranges:x?}"
                );
                let inside = ranges.iter().all(|range| function.contains(range.start));
                assert!(inside, "{address:#x} in {}", program.how);
            }
        }
    }
    for program in compile_everywhere(PROGRAM, "-O0") {
        // The head of a loop is in two places, before and behind the body.
        let asked = line_of(PROGRAM, "// loop");
        let address = program.file.addresses_of_line("program.c", asked)[0].addresses[0];
        assert!(
            program.file.step_ranges(address).len() >= 2,
            "{}",
            program.how
        );
    }
}

#[test]
fn lines_of_a_function_cover_it() {
    for program in compile_everywhere(PROGRAM, "-O0") {
        let function = program.function("work");
        let lines = program.file.line_ranges(&function);
        assert_eq!(
            lines.first().map(|line| line.range.start),
            Some(function.low_pc)
        );
        let last = lines.last().map(|line| line.line);
        assert!(
            last >= Some(line_of(PROGRAM, "last of work")),
            "{}: {last:?}",
            program.how
        );
    }
}

#[test]
fn templates_have_a_breakpoint_for_each_instance() {
    let source = "template <class T> T add(T a, T b) {\n    return a + b;\n}\nint main(int argc, char **) {\n    return add(argc, 1) + (int)add(1.5, 2.0);\n}\n";
    let Some(program) = compile("g++", "program.cc", source, &["-g", "-O0"]) else {
        return;
    };
    let found = program.file.addresses_of_line("program.cc", 2);
    assert_eq!(found[0].addresses.len(), 2, "{found:x?}");
}

#[test]
fn code_without_line_information_has_no_lines() {
    let Some(program) = compile("gcc", "program.c", "int main(void) { return 0; }", &["-g0"])
    else {
        return;
    };
    let main = program.function("main");
    assert_eq!(program.file.line_at(main.low_pc), None);
    assert_eq!(program.file.prologue_end(&main), main.low_pc);
    assert!(program.file.step_ranges(main.low_pc).is_empty());
    assert!(program.file.addresses_of_line("program.c", 1).is_empty());
}

const CALLED: &str = r#"
volatile int sink;
static inline int sum(int count) {
    int found = count;
    for (int i = 0; i < count; i++) found += sink;
    return found;
}
static inline int twice(int count) {
    return count * 2;
}
__attribute__((noinline)) int weigh(int *weight) {
    sink = 2;                                   // first of weigh
    return
        sum(                                    // call of sum
            twice(*weight));
}

int main(int argc, char **argv) {
    return weigh(&argc) > 1000;                 // first of main
}
"#;

/// The line table has no row for a call that was inlined in the middle of a statement; the
/// copy says where the call was.
#[test]
fn a_line_of_which_only_an_inlined_call_is_left_begins_with_that() {
    let call = line_of(CALLED, "call of sum");
    for program in compile_everywhere(CALLED, "-O2") {
        if !program.how.contains("gcc") {
            continue;
        }
        let [found] = &program.file.addresses_of_line("program.c", call)[..] else {
            panic!("{}", program.how);
        };
        assert!(found.exact, "{}", program.how);
        let weigh = program.function("weigh");
        let inside = weigh.low_pc..weigh.high_pc();
        for address in &found.addresses {
            assert!(inside.contains(address), "{}", program.how);
            let inlined = program.file.inlined_frames(*address);
            let outermost = inlined.last().expect("an inlined call");
            assert_eq!(outermost.call_line, Some(call), "{}", program.how);
        }
        // What has no code at all is answered with the next line that has any.
        let [found] = &program.file.addresses_of_line("program.c", call + 3)[..] else {
            panic!("{}", program.how);
        };
        assert_eq!(found.line, line_of(CALLED, "int main"), "{}", program.how);
    }
}
