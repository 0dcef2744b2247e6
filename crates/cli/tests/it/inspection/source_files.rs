//! `info source`: the language, compiler and options of a source file.

use crate::support::juror;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Compiles in a directory; false where there is no such compiler.
fn compile(directory: &Path, compiler: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(compiler);
    let status = command.current_dir(directory).args(arguments).status();
    let is_there = status.is_ok_and(|status| status.success());
    if !is_there {
        println!("skipped: {compiler} {arguments:?}");
    }
    is_there
}

/// What the prompt says to these commands.
fn said(program: &Path, commands: &[&str]) -> String {
    let output = juror(&["run", "--batch", "--color=never"])
        .args(commands.iter().flat_map(|command| ["-e", command]))
        .args([program])
        .run();
    format!("{}{}", output.stdout, output.stderr)
}

#[test]
fn info_source_tells_how_a_file_was_compiled() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().canonicalize().expect("it is there");
    let source = "int main(void) {\n    return 0;\n}\n";
    fs::write(path.join("plain.c"), source).expect("a source");
    let compiled = ["-gdwarf-4", "-std=c99", "-o", "plain", "plain.c"];
    if !compile(&path, "gcc", &compiled) {
        return;
    }
    let tell = || said(&path.join("plain"), &["break main", "run", "info source"]);
    let there = tell();
    let whole = path.join("plain.c");
    for expected in [
        format!("line 2 of {}, at 0x", whole.display()),
        "\n3 lines\n".to_owned(),
        format!("compiled as plain.c in {}\n", path.display()),
        "language C99, DWARF 4\n".to_owned(),
        "compiler GNU C99 ".to_owned(),
    ] {
        assert!(there.contains(&expected), "{expected}: {there}");
    }
    fs::remove_file(whole).expect("it goes");
    assert!(tell().contains("the file is not there"), "{}", tell());
}
