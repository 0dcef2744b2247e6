//! Debug information that is not in the program's own file: each arrangement
//! tells the same as a program that has it all.

use crate::support::compile;
use juror_symbols::{SymbolFile, SymbolSettings, TypeKind};
use juror_testing::is_installed;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const PROGRAM: &str = r#"
#include <stdio.h>
struct pair { int first; long second; };
enum color { RED, GREEN = 7 };
int total = 3;
static inline __attribute__((always_inline)) int twice(int n) { return 2 * n; }
__attribute__((noinline)) int weigh(struct pair *pair, int scale) {
    int sum = pair->first + twice(scale);
    printf("%d\n", sum);
    return sum;
}
int main(void) {
    struct pair pair = {1, 2};
    enum color color = GREEN;
    return weigh(&pair, total) + color;
}
"#;

/// What a person asks first.
fn check(file: &SymbolFile, how: &str) {
    assert!(file.has_debug_info(), "{how}");
    assert_eq!(file.problems(), Vec::<String>::new(), "{how}");
    let weigh = file.functions_named("weigh");
    let [weigh] = weigh.as_slice() else {
        panic!("{how}: {weigh:?}")
    };
    let parameters = file.parameters(weigh);
    let names: Vec<_> = parameters.iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["pair", "scale"], "{how}");
    let pair = parameters[0].r#type.target().unwrap();
    assert_eq!(pair.name(), "struct pair", "{how}");
    assert_eq!(pair.size(), Some(16), "{how}");
    let line = file.line_at(file.prologue_end(weigh)).unwrap();
    assert!(line.file.ends_with("program.c"), "{how}: {line:?}");
    assert!((6..=8).contains(&line.line), "{how}: {line:?}");
    let copies = file.inlined_copies("twice");
    assert_eq!(copies.len(), 1, "{how}: {copies:?}");
    assert_eq!(&*copies[0].caller, "weigh", "{how}");
    let frames = (weigh.low_pc..weigh.high_pc()).map(|at| file.inlined_frames(at));
    let inlined = frames.flatten().map(|frame| frame.name.to_string());
    assert!(inlined.into_iter().all(|name| name == "twice"), "{how}");
    assert_eq!(file.globals_named("total").len(), 1, "{how}");
    let (color, value) = file.enumerator_named("GREEN").unwrap();
    assert_eq!((color.name().as_str(), value), ("enum color", 7), "{how}");
    let kind = file.type_named("struct pair").map(|it| it.kind());
    assert!(matches!(kind, Some(TypeKind::Composite(_))), "{how}");
    let at = file.addresses_of_line("program.c", 14);
    assert_eq!(at.len(), 1, "{how}: {at:?}");
    let sources = file.source_files();
    assert!(sources.iter().any(|it| it.ends_with("program.c")), "{how}");
    let locals = file.locals_at(weigh.high_pc() - 1);
    let scope = locals.last().unwrap();
    assert!(scope.variables.iter().any(|it| &*it.name == "sum"), "{how}");
}

fn run(tool: &str, directory: &Path, arguments: &[&str]) {
    let output = Command::new(tool)
        .current_dir(directory)
        .args(arguments)
        .output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {arguments:?}: {said}");
}

#[test]
fn split_units_are_read_from_beside_and_from_packages() {
    let packers = ["llvm-dwp", "dwp"].map(|tool| Some(tool).filter(|tool| is_installed(tool)));
    let mut packed = 0;
    for compiler in ["gcc", "clang"] {
        for format in ["-gdwarf-4", "-gdwarf-5"] {
            for level in ["-O0", "-O1"] {
                let options = [level, format, "-gsplit-dwarf", "-fno-inline-functions"];
                let Some(program) = compile(compiler, "program.c", PROGRAM, &options) else {
                    continue;
                };
                check(&program.file, &program.how);
                let directory = program.directory.path();
                for packer in packers.into_iter().flatten() {
                    // Not every packer knows every format.
                    let package = directory.join("program.dwp");
                    let output = Command::new(packer)
                        .current_dir(directory)
                        .args(["-e", "program", "-o", "program.dwp"])
                        .output();
                    if !output.unwrap().status.success() {
                        println!("skipped: {packer} of {}", program.how);
                    } else {
                        let alone = tempfile::TempDir::new().unwrap();
                        let copy = alone.path().join("program");
                        std::fs::copy(&program.path, &copy).unwrap();
                        std::fs::rename(&package, alone.path().join("program.dwp")).unwrap();
                        hide_objects(directory, true);
                        check(&SymbolFile::open(&copy).unwrap(), packer);
                        hide_objects(directory, false);
                        packed += 1;
                    }
                    let _ = std::fs::remove_file(package);
                }
                // Where it was compiled there is nothing any more.
                let elsewhere = tempfile::TempDir::new().unwrap();
                for entry in std::fs::read_dir(directory).unwrap().flatten() {
                    let to = elsewhere.path().join(entry.file_name());
                    std::fs::rename(entry.path(), to).unwrap();
                }
                let moved = elsewhere.path().join("program");
                check(&SymbolFile::open(&moved).unwrap(), &program.how);
                hide_objects(elsewhere.path(), true);
                let without = SymbolFile::open(&moved).unwrap();
                let problems = without.problems();
                assert_eq!(problems.len(), 1, "{}: {problems:?}", program.how);
                assert!(problems[0].contains("no such file"), "{problems:?}");
                assert!(problems[0].contains(".dwo"), "{problems:?}");
                // The names of the symbol table are still there.
                assert_eq!(without.functions_named("weigh").len(), 1);
            }
        }
    }
    assert!(packed > 0 || packers == [None, None]);
}

/// Gives the split units other names, or their own again.
fn hide_objects(directory: &Path, hide: bool) {
    let (from, to) = if hide {
        ("dwo", "away")
    } else {
        ("away", "dwo")
    };
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|it| it == from) {
            std::fs::rename(&path, path.with_extension(to)).unwrap();
        }
    }
}

#[test]
fn objects_of_another_build_are_not_used() {
    let options = ["-O1", "-gdwarf-5", "-gsplit-dwarf"];
    let Some(program) = compile("gcc", "program.c", PROGRAM, &options) else {
        return;
    };
    let source = PROGRAM.replace("2 * n", "2 * n + 1");
    let Some(other) = compile("gcc", "program.c", &source, &options) else {
        return;
    };
    let find = |directory: &Path| {
        let mut entries = std::fs::read_dir(directory).unwrap().flatten();
        let object = entries.find(|it| it.path().extension().is_some_and(|it| it == "dwo"));
        object.unwrap().path()
    };
    let (own, foreign) = (find(program.directory.path()), find(other.directory.path()));
    std::fs::copy(foreign, own).unwrap();
    let problems = program.file.problems();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("another build"), "{problems:?}");
}

/// Moves the debug information of a program into a file of its own.
fn strip(directory: &Path, debug: &str) {
    run(
        "objcopy",
        directory,
        &["--only-keep-debug", "program", debug],
    );
    run("objcopy", directory, &["--strip-all", "program"]);
}

#[test]
fn separate_files_are_found_by_link_and_by_identity() {
    if !is_installed("objcopy") {
        return;
    }
    for identity in ["-Wl,--build-id=sha1", "-Wl,--build-id=none"] {
        let options = ["-O1", "-g", identity];
        let Some(program) = compile("gcc", "program.c", PROGRAM, &options) else {
            return;
        };
        let directory = program.directory.path();
        strip(directory, "program.debug");
        let stripped = SymbolFile::open(&program.path).unwrap();
        assert!(!stripped.has_debug_info() && stripped.problems().is_empty());
        let link = "--add-gnu-debuglink=program.debug";
        run("objcopy", directory, &[link, "program"]);
        check(&SymbolFile::open(&program.path).unwrap(), &program.how);

        // In the subdirectory for such files.
        std::fs::create_dir(directory.join(".debug")).unwrap();
        let hidden = directory.join(".debug/program.debug");
        std::fs::rename(directory.join("program.debug"), &hidden).unwrap();
        check(&SymbolFile::open(&program.path).unwrap(), &program.how);

        // Below a directory that was set, by the path of the program.
        let root = tempfile::TempDir::new().unwrap();
        let own = directory.canonicalize().unwrap();
        let below = root.path().join(own.strip_prefix("/").unwrap());
        std::fs::create_dir_all(&below).unwrap();
        std::fs::rename(&hidden, below.join("program.debug")).unwrap();
        let settings = |root: &Path| {
            Arc::new(SymbolSettings {
                debug_file_directories: vec![PathBuf::from("/nowhere"), root.to_owned()],
                ..SymbolSettings::default()
            })
        };
        let open = || SymbolFile::open_with(&program.path, settings(root.path())).unwrap();
        check(&open(), &program.how);
        let problems = SymbolFile::open(&program.path).unwrap().problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("program.debug"), "{problems:?}");

        // One byte of it is another: the identity, or the checksum, tells.
        if identity.ends_with("none") {
            let path = below.join("program.debug");
            let mut bytes = std::fs::read(&path).unwrap();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let other = open();
            assert!(!other.has_debug_info());
            assert!(other.problems()[0].contains("another build"));
            continue;
        }
        let id = open().header().build_id.clone().unwrap();
        let name: String = id[1..].iter().map(|byte| format!("{byte:02x}")).collect();
        let place = root.path().join(format!(".build-id/{:02x}", id[0]));
        std::fs::create_dir_all(&place).unwrap();
        let to = place.join(format!("{name}.debug"));
        std::fs::rename(below.join("program.debug"), to).unwrap();
        check(&open(), &program.how);
    }
}

#[test]
fn shared_debug_information_is_followed() {
    if !is_installed("dwz") || !is_installed("gcc") {
        return;
    }
    for format in ["-gdwarf-4", "-gdwarf-5"] {
        let options = ["-O1", format];
        let Some(program) = compile("gcc", "program.c", PROGRAM, &options) else {
            return;
        };
        let directory = program.directory.path();
        std::fs::copy(&program.path, directory.join("second")).unwrap();
        let arguments = ["-m", "shared.debug", "program", "second"];
        run("dwz", directory, &arguments);
        let file = SymbolFile::open(&program.path).unwrap();
        check(&file, &format!("dwz {format}"));
        std::fs::remove_file(directory.join("shared.debug")).unwrap();
        let without = SymbolFile::open(&program.path).unwrap();
        let problems = without.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("shared.debug"), "{problems:?}");
    }
}

#[test]
fn compressed_sections_are_read() {
    for (compiler, how) in [
        ("gcc", "-gz=zlib"),
        ("gcc", "-gz=zstd"),
        ("clang", "-gz=zlib"),
    ] {
        for layout in [["-fPIE", "-pie"], ["-static", "-O1"]] {
            let options = ["-O1", "-g", layout[0], layout[1]];
            let Some(program) = compile(compiler, "program.c", PROGRAM, &options) else {
                continue;
            };
            check(&program.file, &program.how);
            let format = how.trim_start_matches("-gz=");
            let arguments = [&format!("--compress-debug-sections={format}"), "program"];
            let output = Command::new("objcopy")
                .current_dir(program.directory.path())
                .args(arguments)
                .output();
            if output.is_ok_and(|output| output.status.success()) {
                let file = SymbolFile::open(&program.path).unwrap();
                check(&file, &format!("{how} {}", program.how));
            } else {
                println!("skipped: objcopy does not know {format}");
            }
        }
    }
}

#[test]
fn type_units_are_read() {
    for format in ["-gdwarf-4", "-gdwarf-5"] {
        for split in ["-gno-split-dwarf", "-gsplit-dwarf"] {
            let options = ["-O1", format, split, "-fdebug-types-section"];
            if let Some(program) = compile("gcc", "program.c", PROGRAM, &options) {
                check(&program.file, &program.how);
            }
        }
    }
}
