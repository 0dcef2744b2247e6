//! Programs that the machine may have, and C programs that a test compiles for itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tells whether a command is installed, by asking it for its version; otherwise a line on
/// standard error says that it is left out.
pub fn is_installed(command: &str) -> bool {
    let output = Command::new(command).arg("--version").output();
    let is_here = output.is_ok_and(|output| output.status.success());
    if !is_here {
        tell_absence(command);
    }
    is_here
}

/// Finds the executable of an installed program: an ELF file, not a script in its place. If
/// there is none, a line on standard error says that the program is left out.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|program| fs::read(program).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF")));
    if found.is_none() {
        tell_absence(name);
    }
    found
}

fn tell_absence(name: &str) {
    eprintln!("there is no `{name}` here; it is left out");
}

/// Compiles a C program or library to `path`, from a source beside it (`path` with the ending
/// `.c`); `flags` such as `-O2`.
///
/// # Panics
///
/// The source cannot be written, or does not compile; the message has what the compiler said.
#[track_caller]
pub fn compile_c(path: &Path, source: &str, flags: &[&str]) {
    let source_path = path.with_extension("c");
    if let Err(error) = fs::write(&source_path, source) {
        panic!("{}: {error}", source_path.display());
    }
    let mut command = Command::new("cc");
    command
        .arg("-pthread")
        .args(flags)
        .arg("-o")
        .arg(path)
        .arg(&source_path)
        .arg("-ldl");
    match command.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("cc failed: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => panic!("cc does not run: {error}"),
    }
}

/// Copies an executable that is to be run at once.
///
/// Another process writes it: a file that this one has open for writing may be inherited by
/// what another test starts at that moment, and could not be executed as long as that has it
/// open (`ETXTBSY`).
///
/// # Panics
///
/// It cannot be copied.
#[track_caller]
pub fn copy_executable(from: &Path, to: &Path) {
    match Command::new("cp").args([from, to]).output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("cp failed: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => panic!("cp does not run: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_installed_is_not_found() {
        assert!(is_installed("rustc"));
        assert!(!is_installed("juror-no-such-program"));
        assert!(find_program("sh").is_some());
        assert_eq!(find_program("juror-no-such-program"), None);
    }

    #[test]
    fn a_compiled_program_runs() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("seven");
        compile_c(&path, "int main(void) { return 7; }", &["-O1"]);
        assert_eq!(Command::new(path).status().unwrap().code(), Some(7));
    }
}
