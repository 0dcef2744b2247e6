//! Properties that are monitored in every order of the threads.

use super::explored;
use super::programs::{Row, in_c};
use crate::support::juror;
use std::path::Path;
use std::path::PathBuf;
use tempfile::TempDir;

/// In the usual order the first thread opens before the second one uses.
const USED_BEFORE: Row = Row {
    name: "used-before-it-is-open",
    source: "__attribute__((noinline)) void open_it(void) { shared = 1; }
         __attribute__((noinline)) void use_it(void) { (void)shared; }
         static void *one(void *x) { LOCK(a); open_it(); UNLOCK(a); return x; }
         static void *two(void *x) { LOCK(a); use_it(); UNLOCK(a); return x; }
         int main(void) { both(); return 0; }",
    said: &[],
};

/// The second thread waits until the first one has opened.
const USED_AFTER: Row = Row {
    name: "used-after-it-is-open",
    source: "__attribute__((noinline)) void open_it(void) { shared = 1; }
         __attribute__((noinline)) void use_it(void) { (void)shared; }
         static void *one(void *x) { LOCK(a); open_it(); ready = 1;
             pthread_cond_signal(&condition); UNLOCK(a); return x; }
         static void *two(void *x) { LOCK(a); while (!ready) pthread_cond_wait(&condition, &a);
             use_it(); UNLOCK(a); return x; }
         int main(void) { both(); return 0; }",
    said: &[],
};

const OPEN_FIRST: &str = "property open_first \"nothing is used before it is open\"
event opens = before open_it()
event uses = before use_it()
state closed accepting { on opens -> open on uses -> wrong }
state open accepting
state wrong non-accepting
";

const USED_AT_LAST: &str = "property used \"it is used at last\"
event uses = before use_it()
event other = before nobody_calls_this()
state waiting non-accepting { on uses -> done }
state done accepting
";

const IN_TIME: &str = "property in_time \"it is used within a second\"
event opens = before open_it()
event uses = before use_it()
ltl always (opens implies eventually within 1 s uses)
";

/// Writes a property to a file of a directory.
fn written(directory: &Path, text: &str) -> PathBuf {
    let file = directory.join("open.prop");
    std::fs::write(&file, text).expect("a file");
    file
}

#[test]
fn an_order_that_violates_a_property_is_found_and_made_again() {
    let directory = TempDir::with_prefix("juror-explore-").expect("a directory");
    let property = written(directory.path(), OPEN_FIRST).display().to_string();
    let program = in_c(&USED_BEFORE).compile_plain();
    let found = explored(&program, &["--property", &property], 1);
    let said = "VIOLATED open_first: nothing is used before it is open  thread 3 (use_it, ";
    assert!(found.text.contains(said), "{}", found.text);
    assert!(!found.text.contains("run 1 of"), "{}", found.text);
    // The file has the property, too.
    std::fs::remove_file(&property).expect("the file");
    let file = found.file.expect("a file").display().to_string();
    let report = juror(&["replay", "--batch", &file]).run();
    assert_eq!(report.code(), Some(1), "{}{}", report.stdout, report.stderr);
    assert!(report.stdout.contains(said), "{}", report.stdout);
    let prompt = juror(&["replay", &file]).input("bt\nrun\nkill\n").run();
    let stops = prompt
        .stdout
        .matches("VIOLATED  open_first: nothing")
        .count();
    assert_eq!(stops, 2, "{}{}", prompt.stdout, prompt.stderr);
    assert!(prompt.stdout.contains("thread 3"), "{}", prompt.stdout);
}

#[test]
fn a_property_that_holds_in_each_order_is_no_failure() {
    let directory = TempDir::with_prefix("juror-explore-").expect("a directory");
    let property = written(directory.path(), OPEN_FIRST).display().to_string();
    let program = in_c(&USED_AFTER).compile_plain();
    let options = ["--runs", "60", "--property", &property];
    let text = explored(&program, &options, 0).text;
    assert!(text.contains("no failure in 60 schedules"), "{text}");
    assert!(!text.contains("HOLDS"), "{text}");
}

#[test]
fn a_property_that_cannot_be_judged_is_an_error() {
    let directory = TempDir::with_prefix("juror-explore-").expect("a directory");
    let program = in_c(&USED_AFTER).compile_plain();
    for (text, said) in [
        (USED_AT_LAST, "nobody_calls_this"),
        (IN_TIME, "the property has a deadline"),
        ("property half", "error"),
    ] {
        let property = written(directory.path(), text).display().to_string();
        let options = ["--runs", "20", "--property", &property];
        let found = explored(&program, &options, 2);
        assert!(found.text.contains(said), "{said}: {}", found.text);
        assert!(found.file.is_none(), "{}", found.text);
    }
}
