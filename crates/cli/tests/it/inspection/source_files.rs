//! `info source`: the language, compiler and options of a source file; the paths by which files are
//! named.

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

#[test]
fn a_breakpoint_by_an_absolute_path_stops_in_a_file_that_was_compiled_from_another_directory() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().canonicalize().expect("it is there");
    for part in ["src", "build"] {
        fs::create_dir(path.join(part)).expect("a directory");
    }
    let source = "int main(void) {\n    int x = 1;\n    return x - 1;\n}\n";
    fs::write(path.join("src/main.c"), source).expect("a source");
    let build = path.join("build");
    if !compile(&build, "gcc", &["-g", "-o", "program", "../src/main.c"]) {
        return;
    }
    let named = format!("break {}:3", path.join("src/main.c").display());
    let other = format!("tbreak {}:3", build.join("main.c").display());
    let told = said(&build.join("program"), &[&named, &other, "run"]);
    assert!(told.contains("breakpoint 1 at 0x"), "{told}");
    assert!(told.contains("main.c:3 is pending"), "{told}");
    assert!(told.contains("main.c:3"), "{told}");
    assert!(told.contains("return x - 1;"), "{told}");
}
