//! How juror is started: gdb's options, limits of a batch run, and the files that are executed
//! first.

use crate::support::{juror, program};
use juror_testing::Fixture;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn pushes() -> PathBuf {
    program("pushes.c").compile_plain()
}

fn directory() -> TempDir {
    TempDir::with_prefix("juror-starts-").expect("a directory")
}

#[test]
fn gdbs_options_are_understood() {
    let executable = pushes();
    let output = juror(&["-q", "-nx", "-batch", "-ex", "break push", "-ex", "run"])
        .args(["-ex", "print key"])
        .args([&executable])
        .run();
    assert!(output.stdout.contains("$1 = 0"), "{}", output.stdout);
    assert_eq!(output.status.code(), Some(0));
    // The words after the program are the program's.
    let output = juror(&["-batch", "--args"])
        .args([Path::new("/bin/echo"), Path::new("-ex"), Path::new("-q")])
        .run();
    assert!(output.stdout.contains("-ex -q\n"), "{}", output.stdout);
}

#[test]
fn commands_that_fail_do_not_drop_the_rest_without_a_word() {
    let executable = pushes();
    let output = juror(&["-ex", "print nosuch", "-ex", "print 40 + 2"])
        .args([&executable])
        .input("quit\n")
        .run();
    assert!(output.stdout.contains("$1 = 42"), "{}", output.stdout);
    let output = juror(&["-batch", "-ex", "print nosuch", "-ex", "print 40 + 2"])
        .args([&executable])
        .run();
    assert!(!output.stdout.contains("42"), "{}", output.stdout);
    assert!(
        output.stderr.contains("one more command is not executed"),
        "{}",
        output.stderr
    );
    assert_eq!(output.status.code(), Some(2));
    let directory = directory();
    let file = directory.path().join("file");
    fs::write(&file, "print 1\nprint nosuch\nprint 2\n").expect("a file");
    let output = juror(&["-x"])
        .args([&file])
        .args(["-ex", "print 3", "--args"])
        .args([&executable])
        .input("quit\n")
        .run();
    assert!(
        output
            .stderr
            .contains("file:2: the rest of the file is not executed"),
        "{}",
        output.stderr
    );
    assert!(output.stdout.contains("$2 = 3"), "{}", output.stdout);
}

#[test]
fn the_status_of_the_program_can_be_that_of_juror() {
    for (options, file, status) in [
        (&["--return-child-result"][..], "pushes.c", 2),
        (&[], "pushes.c", 0),
        (&["--return-child-result"], "aborts.c", 128 + 6),
        (&["--fail-on-crash"], "aborts.c", 3),
        // It is stopped at the signal when juror has no more commands.
        (&["--fail-on-crash", "-e", "run"], "aborts.c", 3),
        (&["--fail-on-crash", "-e", "run", "-e", "bt"], "aborts.c", 3),
        (&["--fail-on-crash"], "pushes.c", 0),
        (&[], "aborts.c", 0),
    ] {
        let executable = program(file).compile_plain();
        let output = juror(&["run", "--batch"])
            .args(options)
            .args([&executable])
            .run();
        assert_eq!(output.status.code(), Some(status), "{options:?} {file}");
    }
}

#[test]
fn the_status_of_juror_can_be_named_by_quit() {
    let executable = program("pushes.c").compile_plain();
    for (lines, status) in [
        ("quit", 0),
        ("quit 5", 5),
        ("q 2 + 3", 5),
        ("quit -1", 255),
        ("quit 256", 0),
        ("run\nquit $_exitcode", 2),
        ("break push\nrun\nquit 1 == 1", 1),
        ("quit 5 5\nquit 6", 6),
        ("quit nothing\nquit 7", 7),
        ("quit 1.5\nquit 8", 8),
    ] {
        let output = juror(&["run", "--color=never", "--no-init"])
            .args([&executable])
            .input(format!("{lines}\n"))
            .run();
        assert_eq!(output.status.code(), Some(status), "{lines}: {output:?}");
    }
    let output = juror(&["run", "--batch", "--no-init", "-e", "quit 3", "-e", "quit"])
        .args(["--return-child-result"])
        .args([&executable])
        .run();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}

#[test]
fn a_crash_while_libraries_are_loaded_is_a_stop() {
    let source = "\
        static int one(void) { return 1; }\n\
        static int (*pick(void))(void) { *(volatile int *)8 = 1; return one; }\n\
        int f(void) __attribute__((ifunc(\"pick\")));\n\
        int main(void) { return f(); }\n";
    let executable = Fixture::c("early", source)
        .argument("-Wl,-z,now")
        .compile_plain();
    let output = juror(&["run", "--color=never", "--no-init"])
        .args([&executable])
        .input("run\nbacktrace 1\nprint 1 + 1\ncontinue\n")
        .run();
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains("SIGSEGV"), "{said}");
    assert!(said.contains("#0  pick () at "), "{said}");
    assert!(said.contains("$1 = 2"), "{said}");
    assert!(said.contains("was ended by SIGSEGV"), "{said}");
    let output = juror(&["run", "--batch", "--no-init", "--fail-on-crash"])
        .args([&executable])
        .run();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(output.stdout.contains("early.c:2"), "{output:?}");
}

#[test]
fn a_run_that_takes_too_long_is_ended_with_its_stacks() {
    let executable = program("endless.c").compile_plain();
    let output = juror(&["run", "--batch", "--timeout", "0.5"])
        .args([&executable])
        .run();
    assert_eq!(output.status.code(), Some(124));
    assert!(output.stdout.contains("main () at"), "{}", output.stdout);
    assert!(
        output.stderr.contains("the time limit of 0.5 s is over"),
        "{}",
        output.stderr
    );
    let output = juror(&["run", "--batch", "--timeout", "240"])
        .args([&pushes()])
        .run();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_users_file_is_executed_first() {
    let directory = directory();
    fs::create_dir(directory.path().join("juror")).expect("a directory");
    let text = "set listsize 3\ndefine look\nprint 40 + 2\nend\n";
    fs::write(directory.path().join("juror/init"), text).expect("a file");
    let run = |options: &[&str]| {
        let juror = juror(options).args([&pushes()]);
        let juror = juror.env("XDG_CONFIG_HOME", directory.path());
        juror.input("show listsize\nlook\nquit\n").run().stdout
    };
    let shown = run(&["run"]);
    assert!(shown.contains('3') && shown.contains("$1 = 42"), "{shown}");
    let shown = run(&["run", "--no-init"]);
    assert!(!shown.contains("42"), "{shown}");
}

#[test]
fn the_file_of_a_directory_is_executed_if_it_was_allowed() {
    let directory = directory();
    let state = self::directory();
    let executable = pushes();
    let file = directory.path().join(".juror");
    let run = |options: &[&str], program: bool| {
        let juror = juror(options)
            .directory(directory.path())
            .env("XDG_STATE_HOME", state.path());
        if program {
            juror.args([&executable]).run()
        } else {
            juror.run()
        }
    };
    let batch = ["run", "--batch", "-e", "print $n"];
    assert!(!run(&batch, true).stderr.contains(".juror"));
    assert_eq!(run(&["trust"], false).status.code(), Some(2));
    fs::write(&file, "set $n = 40 + 2\n").expect("a file");
    let output = run(&batch, true);
    assert!(
        output.stderr.contains("allow it by juror trust"),
        "{}",
        output.stderr
    );
    assert!(!output.stdout.contains("42"), "{}", output.stdout);
    let output = run(&["trust"], false);
    assert!(
        output.stdout.contains("  set $n = 40 + 2\n"),
        "{}",
        output.stdout
    );
    assert!(run(&batch, true).stdout.contains("$1 = 42"));
    assert!(
        run(&["run", "--no-init", "--batch", "-e", "print $n"], true)
            .stderr
            .is_empty()
    );
    // The same text elsewhere was not allowed.
    fs::write(&file, "set $n = 40 + 3\n").expect("a file");
    let output = run(&batch, true);
    assert!(
        output.stderr.contains("has changed since"),
        "{}",
        output.stderr
    );
    assert!(!output.stdout.contains("43"), "{}", output.stdout);
    fs::write(&file, "set $n = 40 + 2\n").expect("a file");
    assert_eq!(run(&["trust", "--forget"], false).status.code(), Some(0));
    assert!(!run(&batch, true).stdout.contains("42"));
    // juror does not wait for a named pipe.
    fs::remove_file(&file).expect("it is there");
    symlink("/dev/zero", &file).expect("a link");
    assert_eq!(run(&batch, true).status.code(), Some(2));
}
