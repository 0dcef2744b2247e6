//! Symbols of large programs, and of programs with separate debug information or moved
//! sources.

use crate::support::juror;
use juror_testing::{Juror, Output};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The files of the cache.
fn kept(cache: &Path) -> Vec<String> {
    let entries = fs::read_dir(cache.join("juror")).into_iter().flatten();
    let names = entries.flatten().map(|it| it.file_name());
    names.map(|it| it.to_string_lossy().into_owned()).collect()
}

/// The indexes of names in the cache.
fn indexes(cache: &Path) -> Vec<String> {
    let mut names = kept(cache);
    names.retain(|name| name.ends_with(".names"));
    names
}

/// juror debugs itself: the largest program that is certainly there.
fn itself(cache: &Path, arguments: &[&str]) -> Output {
    let own = env!("CARGO_BIN_EXE_juror");
    // A list of names needs the index; a breakpoint does not.
    let commands = [
        "info functions juror::main",
        "break juror::main",
        "run",
        "backtrace",
    ];
    let commands = commands.iter().flat_map(|command| ["-e", command]);
    juror(&["run", "--batch", "--color=never"])
        .env("XDG_CACHE_HOME", cache)
        .args(arguments)
        .args(commands)
        .args([own, "--version"])
        .run()
}

#[test]
fn a_large_program_is_read_once_and_again_when_its_index_is_damaged() {
    let cache = TempDir::new().expect("a directory");
    let first = itself(cache.path(), &["--no-cache"]);
    assert!(kept(cache.path()).is_empty());
    for round in ["cold", "warm"] {
        let output = itself(cache.path(), &[]);
        assert_eq!(output.stdout, first.stdout, "{round}");
        assert_eq!(output.stderr, first.stderr, "{round}");
        assert!(!kept(cache.path()).is_empty(), "{round}");
    }
    assert!(
        first.stdout.contains("#0  juror::main ()"),
        "{}",
        first.stdout
    );
    // Libraries with debug information have an index, too. A damaged section is made anew without
    // a word. A block of an index is read when it is needed, so each of them is damaged.
    for name in &kept(cache.path()) {
        let file = cache.path().join("juror").join(name);
        let mut bytes = fs::read(&file).expect("the index");
        let first = bytes.len().min(1 << 10) / 2;
        for at in (first..bytes.len()).step_by(1 << 15) {
            bytes[at] ^= 1;
        }
        fs::write(&file, bytes).expect("a damaged index");
    }
    let is_index = |name: &&String| name.ends_with(".names") || name.ends_with(".functions");
    let count = kept(cache.path()).iter().filter(is_index).count();
    let output = itself(cache.path(), &[]);
    assert_eq!(output.stdout, first.stdout);
    let told = output.stderr.lines().filter(|it| it.contains("damaged"));
    assert_eq!(told.count(), count, "{}", output.stderr);
    assert_eq!(itself(cache.path(), &[]).stderr, first.stderr);
}

/// A program that was compiled in a directory that is now another one.
fn moved() -> Option<(TempDir, Juror)> {
    let directory = TempDir::new().expect("a directory");
    let (old, new) = (directory.path().join("old"), directory.path().join("new"));
    fs::create_dir(&old).expect("a directory");
    let source = "int total;\nint main(void) {\n    total = 7;\n    return 0;\n}\n";
    fs::write(old.join("moved.c"), source).expect("a source");
    let compiled = Command::new("gcc")
        .current_dir(&old)
        .args(["-g", "-o", "moved", "moved.c"])
        .status();
    compiled.ok().filter(|status| status.success())?;
    fs::rename(&old, &new).expect("another name");
    let run = juror(&["run", "--batch", "--color=never"]);
    Some((directory, run))
}

#[test]
fn sources_that_have_moved_are_found_by_a_rule() {
    let Some((directory, run)) = moved() else {
        return;
    };
    let (old, new) = (directory.path().join("old"), directory.path().join("new"));
    let rule = format!("set substitute-path {} {}", old.display(), new.display());
    let commands = ["break main", "run", &rule, "list 1"];
    let output = run
        .args(commands.iter().flat_map(|command| ["-e", command]))
        .args([new.join("moved")])
        .run();
    let shown = output.stdout.matches("total = 7;").count();
    // Not at the stop, when nobody knew where the file is; then in the list.
    assert_eq!(shown, 1, "{}\n{}", output.stdout, output.stderr);
}

#[test]
fn a_breakpoint_needs_no_index() {
    let cache = TempDir::new().expect("a directory");
    let own = env!("CARGO_BIN_EXE_juror");
    let output = juror(&["run", "--batch", "--color=never", "-e", "break juror::main"])
        .env("XDG_CACHE_HOME", cache.path())
        .args([own])
        .run();
    assert!(output.stdout.contains("main.rs"), "{}", output.stdout);
    assert_eq!(indexes(cache.path()), Vec::<String>::new());
}

#[test]
fn sources_that_have_moved_are_found_by_their_checksum() {
    let directory = TempDir::new().expect("a directory");
    let (old, new) = (directory.path().join("old"), directory.path().join("new"));
    fs::create_dir_all(old.join("src")).expect("a directory");
    let source = "int total;\nint main(void) {\n    total = 7;\n    return 0;\n}\n";
    fs::write(old.join("src/moved.c"), source).expect("a source");
    let compiled = Command::new("clang")
        .current_dir(&old)
        .args(["-gdwarf-5", "-o", "moved", "src/moved.c"])
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        println!("skipped: there is no clang");
        return;
    }
    fs::rename(&old, &new).expect("another name");
    let run = || {
        juror(&[
            "run",
            "--batch",
            "--color=never",
            "-e",
            "break main",
            "-e",
            "run",
        ])
        .args([new.join("moved")])
        .directory(&new)
        .run()
    };
    let output = run();
    assert!(output.stdout.contains("total = 7;"), "{}", output.stdout);
    assert!(output.stdout.contains("moved to"), "{}", output.stdout);
    // What has other contents is another file.
    fs::write(new.join("src/moved.c"), source.replace('7', "8")).expect("a source");
    let output = run();
    assert!(!output.stdout.contains("total = "), "{}", output.stdout);
    // In its old place it is shown, and pointed out.
    fs::create_dir_all(old.join("src")).expect("a directory");
    fs::rename(new.join("src/moved.c"), old.join("src/moved.c")).expect("it moves");
    let output = run();
    assert!(output.stdout.contains("total = 8;"), "{}", output.stdout);
    assert!(
        output.stdout.contains("differs from the one"),
        "{}",
        output.stdout
    );
}

#[test]
fn debug_information_that_is_missing_is_said_once() {
    let Some((directory, _)) = moved() else {
        return;
    };
    let new = directory.path().join("new");
    let strip = |arguments: &[&str]| {
        let mut command = Command::new("objcopy");
        let status = command.current_dir(&new).args(arguments).status();
        status.is_ok_and(|status| status.success())
    };
    if !strip(&["--only-keep-debug", "moved", "moved.debug"])
        || !strip(&["--strip-debug", "--add-gnu-debuglink=moved.debug", "moved"])
    {
        return;
    }
    let elsewhere = directory.path().join("debug");
    let absolute = new.canonicalize().expect("it is there");
    let below = elsewhere.join(absolute.strip_prefix("/").expect("absolute"));
    fs::create_dir_all(&below).expect("a directory");
    fs::rename(new.join("moved.debug"), below.join("moved.debug")).expect("it moves");
    let run = |arguments: &[&str]| {
        juror(&["run", "--batch", "--color=never"])
            .args(arguments)
            .args(["-e", "break main", "-e", "tbreak main", "-e", "run"])
            .args([new.join("moved")])
            .run()
    };
    let output = run(&[]);
    let told = output.stderr.matches("is in a separate file").count();
    assert_eq!(told, 1, "{}", output.stderr);
    assert!(output.stderr.contains("moved.debug"), "{}", output.stderr);
    let given = elsewhere.to_string_lossy().into_owned();
    let output = run(&["--debug-file-directory", &given]);
    assert!(
        !output.stderr.contains("separate file"),
        "{}",
        output.stderr
    );
    assert!(output.stdout.contains("moved.c:3"), "{}", output.stdout);
}
