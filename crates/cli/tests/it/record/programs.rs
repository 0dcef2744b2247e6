//! Programs whose runs are made again.

use super::{check_again, program, recorded, recorded_with};
use std::fs;

#[test]
fn a_run_is_told_what_it_was_told() {
    let executable = program("inputs.c").compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("told.txt");
    fs::write(&file, "as it was\n").expect("a file");
    let path = file.display().to_string();
    let run = recorded(&executable, &[&path], "one\ntwo\n", 0);
    for words in [
        "process ",
        "file as it was",
        "input one\ninput two",
        "10 bytes",
    ] {
        assert!(run.text.contains(words), "{words}: {}", run.text);
    }
    check_again(&run, 0);
    fs::write(&file, "as it is now, which is longer\n").expect("a file");
    check_again(&run, 0);
    fs::remove_file(&file).expect("a file");
    check_again(&run, 0);
}

#[test]
fn a_static_program_is_told_the_same() {
    let executable = program("inputs.c").argument("-static").compile_plain();
    check_again(&recorded(&executable, &[], "", 0), 0);
}

#[test]
fn threads_go_on_when_they_did() {
    let executable = program("threads.c").compile_plain();
    for _ in 0..3 {
        check_again(&recorded(&executable, &[], "", 0), 0);
    }
    let executable = program("threads.c").argument("-static").compile_plain();
    check_again(&recorded(&executable, &[], "", 0), 0);
}

#[test]
fn signals_come_where_they_came() {
    let executable = program("alarm.c").compile_plain();
    for arguments in [&[][..], &["restarts"]] {
        let run = recorded(&executable, arguments, "", 0);
        if !arguments.is_empty() {
            assert!(run.text.contains("interrupted 0,"), "{}", run.text);
        }
        check_again(&run, 0);
    }
}

#[test]
fn children_and_the_signals_of_threads_are_recorded() {
    let executable = program("children.c").compile_plain();
    let run = recorded(&executable, &[], "", 0);
    assert!(run.text.contains("command: hello\n"), "{}", run.text);
    check_again(&run, 0);
    let run = recorded(&executable, &["aborts"], "", 0);
    assert!(run.text.contains("SIGABRT"), "{}", run.text);
    check_again(&run, 0);
}

#[test]
fn a_program_that_ends_while_threads_wait_is_made_again() {
    let source = "#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static void *stay(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) pthread_cond_wait(&never, &lock);
}
int main(void) {
    pthread_t thread;
    for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, stay, NULL);
    puts(\"ends\");
    return 5;
}";
    let fixture = juror_testing::Fixture::c("ends_while_threads_wait", source);
    let executable = fixture.argument("-pthread").compile_plain();
    let run = recorded(&executable, &[], "", 0);
    assert!(run.text.contains("exited with status 5"), "{}", run.text);
    check_again(&run, 0);
}

#[test]
fn a_deadlock_of_an_ordinary_run_is_told() {
    let source = "#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *take(void *unused) {
    pthread_mutex_lock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, take, NULL);
    pthread_join(thread, NULL);
    return 0;
}";
    let fixture = juror_testing::Fixture::c("deadlock_recorded", source);
    let executable = fixture.argument("-pthread").compile_plain();
    let run = recorded(&executable, &[], "", 1);
    assert!(run.text.contains("DEADLOCK"), "{}", run.text);
    check_again(&run, 1);
}

#[test]
fn a_violation_comes_again() {
    let executable = program("inputs.c").compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let property = directory.path().join("never.prop");
    let text = "property never_spoiled \"nothing is spoiled\"
event spoils = before spoiled()
state fine accepting { on spoils -> wrong }
state wrong non-accepting
";
    fs::write(&property, text).expect("a file");
    let property = property.display().to_string();
    let run = recorded_with(&["--property", &property], &executable, &[], "", 1);
    assert!(run.text.contains("VIOLATED"), "{}", run.text);
    check_again(&run, 1);
}
