//! The addresses of lines by the index of source files, against a walk over all units, in random
//! programs of many files.

use super::super::path::is_path_of;
use super::{Candidates, LineAddresses};
use crate::settings::{Cache, SymbolSettings};
use crate::{SymbolFile, line::LineTable};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

/// The directories of a program; files of the same names are in all of them.
const DIRECTORIES: [&str; 4] = ["src", "src/part", "lib", "lib/part"];

/// Numbers at random that are the same in every run (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

fn is_installed(command: &str) -> bool {
    let output = Command::new(command).arg("--version").output();
    let is_here = output.is_ok_and(|output| output.status.success());
    if !is_here {
        eprintln!("there is no `{command}` here; it is left out");
    }
    is_here
}

/// Returns the addresses of a line as they are found without an index: in every row of the line
/// table of every unit.
fn walk(symbols: &SymbolFile, written: &str, line: u32) -> Vec<LineAddresses> {
    let info = symbols.inner.debug_info().unwrap();
    let mut by_file: BTreeMap<Arc<Path>, Candidates> = BTreeMap::new();
    for unit in info.unit_numbers() {
        let Some(table) = info.line_table(unit) else {
            continue;
        };
        for (number, path) in table.files().iter().enumerate() {
            if is_path_of(Path::new(written), path) {
                let candidates = by_file.entry(Arc::clone(path));
                let candidates = candidates.or_insert_with(|| Candidates::new(line));
                walk_rows(table, number as u32, candidates);
                candidates.files.push((unit, number as u32));
            }
        }
    }
    let found = by_file.into_iter().filter_map(|(file, candidates)| {
        let (found, addresses) = symbols.best_of(info, &file, &candidates)?;
        Some(LineAddresses {
            file,
            line: found,
            exact: found == line,
            addresses,
        })
    });
    found.collect()
}

fn walk_rows(table: &LineTable, file: u32, candidates: &mut Candidates) {
    for sequence in table.sequences() {
        for (at, row) in table.rows(sequence).iter().enumerate() {
            let is_meant = row.file == file && row.line != 0;
            if is_meant && (candidates.wanted..=candidates.line).contains(&row.line) {
                candidates.add_row(table, sequence, at, row);
            }
        }
    }
}

/// Returns the columns of the statements of a line, by a walk.
fn walk_columns(symbols: &SymbolFile, written: &str, line: u32) -> BTreeSet<u32> {
    let info = symbols.inner.debug_info().unwrap();
    let mut columns = BTreeSet::new();
    for table in info.unit_numbers().filter_map(|unit| info.line_table(unit)) {
        for row in table.sequences().iter().flat_map(|it| table.rows(it)) {
            let path = table.file(row.file);
            let is_meant = path.is_some_and(|path| is_path_of(Path::new(written), path));
            if is_meant && row.line == line && row.is_stmt && row.column != 0 {
                columns.insert(row.column);
            }
        }
    }
    columns
}

/// Compares the answers for every line of every file, by the first of its names; returns how many
/// of the lines have code.
fn compare(program: &Path, sources: &[PathBuf], names: usize, how: &str) -> usize {
    let directory = TempDir::new().unwrap();
    let settings = Arc::new(SymbolSettings {
        cache: Some(Cache {
            size_min_bytes: 0,
            ..Cache::new(directory.path())
        }),
        ..SymbolSettings::default()
    });
    let oracle = SymbolFile::open(program).unwrap();
    let built = SymbolFile::open_with(program, Arc::clone(&settings)).unwrap();
    assert!(!built.source_files().is_empty());
    let kept = SymbolFile::open_with(program, settings).unwrap();
    let mut with_code = 0;
    for source in sources {
        let lines = std::fs::read_to_string(source).unwrap().lines().count() as u32;
        for written in names_of(source).into_iter().take(names) {
            for line in 0..=lines + 1 {
                let expected = walk(&oracle, &written, line);
                with_code += usize::from(!expected.is_empty());
                for symbols in [&built, &kept] {
                    let found = symbols.addresses_of_line(&written, line);
                    assert_eq!(found, expected, "{written}:{line} in {how}");
                    let columns = symbols.columns_of_line(&written, line);
                    let expected = walk_columns(&oracle, &written, line);
                    assert_eq!(columns, expected, "{written}:{line} in {how}");
                }
            }
        }
    }
    with_code
}

/// Returns the ways in which a user may write the path of a file.
fn names_of(source: &Path) -> Vec<String> {
    let name = source.file_name().unwrap().to_str().unwrap();
    let directory = source.parent().unwrap();
    let last = directory.file_name().unwrap().to_str().unwrap();
    vec![
        name.to_owned(),
        format!("{last}/{name}"),
        source.display().to_string(),
        format!("{}/../{last}/{name}", directory.display()),
        format!("other/{name}"),
    ]
}

/// Writes a random program in C: units in several directories, with headers of the same names
/// that have code, and functions that are inlined. Returns the sources, units first.
fn write_c(directory: &Path, numbers: &mut Numbers) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut headers = Vec::new();
    for (number, part) in DIRECTORIES.iter().enumerate() {
        std::fs::create_dir_all(directory.join(part)).unwrap();
        let mut text = format!("#ifndef H{number}\n#define H{number}\n");
        for function in 0..1 + numbers.below(3) {
            let attribute = match numbers.below(3) {
                0 => "__attribute__((always_inline))",
                1 => "__attribute__((noinline))",
                _ => "",
            };
            writeln!(
                text,
                "static inline {attribute} int h{number}_{function}(int x) {{"
            )
            .unwrap();
            text.push_str(&"\n".repeat(numbers.below(3) as usize));
            writeln!(
                text,
                "    if (x > {function})\n        x *= 3; else x -= 2;"
            )
            .unwrap();
            writeln!(text, "    return x;\n}}").unwrap();
        }
        text.push_str("#endif\n");
        let path = directory.join(part).join("shared.h");
        std::fs::write(&path, text).unwrap();
        headers.push(path);
    }
    let mut units = Vec::new();
    for unit in 0..3 + numbers.below(4) {
        let part = DIRECTORIES[numbers.below(4) as usize];
        let path = directory.join(part).join(format!("unit{}.c", unit % 3));
        if units.contains(&path) {
            continue;
        }
        let mut text = String::new();
        let mut calls = String::new();
        for (number, directory) in DIRECTORIES.iter().enumerate() {
            if numbers.below(2) == 0 {
                writeln!(text, "#include \"{directory}/shared.h\"").unwrap();
                write!(calls, " x += h{number}_0(x);").unwrap();
                calls.push_str(["", "\n", "\n\n"][numbers.below(3) as usize]);
            }
        }
        writeln!(text, "volatile int sink{unit};").unwrap();
        writeln!(
            text,
            "int work{unit}(int x) {{\n{calls}\n    sink{unit} = x;"
        )
        .unwrap();
        writeln!(
            text,
            "    return x; }}\nint late{unit}(void) {{ return 1; }}"
        )
        .unwrap();
        if units.is_empty() {
            text.push_str("int main(int argc, char **argv) {\n    return argc > 9;\n}\n");
        }
        std::fs::write(&path, text).unwrap();
        units.push(path);
    }
    (units, headers)
}

#[test]
fn lines_of_random_programs_are_those_of_a_walk() {
    let mut numbers = Numbers(0x5eed);
    let mut with_code = 0;
    for round in 0..6 {
        let compiler = ["gcc", "clang"][round % 2];
        if !is_installed(compiler) {
            continue;
        }
        let directory = TempDir::new().unwrap();
        let place = directory.path().canonicalize().unwrap();
        let (units, headers) = write_c(&place, &mut numbers);
        std::fs::create_dir_all(place.join("build")).unwrap();
        let level = ["-O0", "-O2", "-O1"][numbers.below(3) as usize];
        let format = ["-gdwarf-4", "-gdwarf-5"][numbers.below(2) as usize];
        let mut command = Command::new(compiler);
        command
            .current_dir(place.join("build"))
            .args([level, format, "-I..", "-o", "program"]);
        for unit in &units {
            let relative = Path::new("..").join(unit.strip_prefix(&place).unwrap());
            match numbers.below(2) {
                0 => command.arg(relative),
                _ => command.arg(unit),
            };
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {said}");
        let sources = [units, headers].concat();
        let program = place.join("build/program");
        with_code += compare(&program, &sources, usize::MAX, &format!("{command:?}"));
    }
    assert!(with_code > 500, "{with_code}");
}

#[test]
fn lines_of_a_rust_program_are_those_of_a_walk() {
    if !is_installed("rustc") {
        return;
    }
    for level in ["0", "2"] {
        let directory = TempDir::new().unwrap();
        let place = directory.path().canonicalize().unwrap();
        let generic = "#[inline(always)]\npub fn twice<T: Copy + std::ops::Add<Output = T>>(x: T) \
                       -> T {\n    x + x\n}\npub mod part;\n";
        let main = "mod first;\nmod second;\nfn main() {\n    let n = std::env::args().count();\n    \
                    let list: Vec<usize> = (0..n).map(|it| first::twice(it)).collect();\n    \
                    println!(\"{} {}\", list.len(), second::twice(n as u8));\n    \
                    first::part::say(1);\n    second::part::say(2);\n}\n";
        let say = "pub fn say(n: u32) {\n    println!(\"{n}\");\n}\n";
        let mut sources = vec![place.join("main.rs")];
        std::fs::write(&sources[0], main).unwrap();
        for name in ["first", "second"] {
            std::fs::create_dir_all(place.join(name)).unwrap();
            for (file, text) in [("mod.rs", generic), ("part.rs", say)] {
                let path = place.join(name).join(file);
                std::fs::write(&path, text).unwrap();
                sources.push(path);
            }
        }
        let mut command = Command::new("rustc");
        command
            .current_dir(&place)
            .args(["-g", "-C", "codegen-units=4", "-C"])
            .arg(format!("opt-level={level}"))
            .args(["-o", "program", "main.rs"]);
        assert!(command.status().unwrap().success(), "{command:?}");
        let how = format!("{command:?}");
        assert!(
            compare(&place.join("program"), &sources, 2, &how) > 20,
            "{how}"
        );
    }
}
