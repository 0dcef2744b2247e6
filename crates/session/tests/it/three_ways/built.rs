//! A program of the abstract machine as an executable file.

use super::assembler::assemble;
use juror_oracle::abstract_machine::Program;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Nothing runs before its first instruction, and no library is loaded.
const FLAGS: [&str; 9] = [
    "-g",
    "-O0",
    "-w",
    "-fno-toplevel-reorder",
    "-nostdlib",
    "-static",
    "-no-pie",
    "-Wl,-emain",
    "-o",
];

/// The executable file of a program.
pub struct Built {
    pub path: PathBuf,
    /// Addresses, by name.
    pub symbols: BTreeMap<String, u64>,
    _directory: TempDir,
}

impl Built {
    #[track_caller]
    pub fn new(program: &Program) -> Built {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("program.c");
        let path = directory.path().join("program");
        std::fs::write(&source, assemble(program)).unwrap();
        let mut build = Command::new("cc");
        let output = build.args(FLAGS).args([&path, &source]).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}");
        let listed = Command::new("nm").arg(&path).output().unwrap();
        let symbols = String::from_utf8(listed.stdout).unwrap();
        let symbols = symbols.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            Some((words.nth(1)?.to_owned(), address))
        });
        Built {
            path,
            symbols: symbols.collect(),
            _directory: directory,
        }
    }
}
