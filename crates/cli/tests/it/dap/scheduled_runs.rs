//! A run of `juror explore` that is made again in an editor.

use super::client::Client;
use crate::support::juror;
use juror_testing::Fixture;
use serde_json::{Value, json};
use tempfile::TempDir;

const OPPOSITE_LOCKS: &str = "#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void take(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *one(void *x) { take(&a, &b); return x; }
static void *two(void *x) { take(&b, &a); return x; }
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    return pthread_join(second, 0);
}
";

#[test]
fn a_run_with_a_deadlock_stops_there_with_each_thread() {
    let directory = TempDir::with_prefix("juror-scheduled-").expect("a directory");
    let program = Fixture::c("opposite-locks-in-an-editor", OPPOSITE_LOCKS).argument("-pthread");
    let program = program.compile_plain().display().to_string();
    let found = juror(&["explore", &program])
        .directory(directory.path())
        .run();
    assert_eq!(found.code(), Some(1), "{}{}", found.stdout, found.stderr);
    let mut files = std::fs::read_dir(directory.path()).expect("a directory");
    let file = files.next().expect("a file").expect("a file").path();

    let mut client = Client::start();
    client.launch(json!({ "recording": file }));
    let stop = client.begin();
    assert_eq!(
        (&stop["reason"], &stop["description"]),
        (&json!("exception"), &json!("DEADLOCK"))
    );
    let text = stop["text"].as_str().expect("text");
    assert!(text.contains("waits for a, which thread"), "{text}");
    assert!(text.contains("waits for b, which thread"), "{text}");
    let threads = client.ask("threads", Value::Null);
    assert_eq!(threads["threads"].as_array().map(Vec::len), Some(3));
    let stack = client.ask("stackTrace", json!({ "threadId": stop["threadId"] }));
    let frames = stack["stackFrames"].as_array().expect("frames");
    assert!(frames.iter().any(|it| it["name"] == "take"), "{stack}");
    client.end();
}

/// A run is recorded, and a client goes back in it.
const BACK: &str = "#include <stdio.h>
static int twice(int n) {
    int all = n + n;
    return all;
}
int main(void) {
    int sum = 1;
    sum = twice(sum);
    sum = twice(sum);
    printf(\"%d\\n\", sum);
    return 0;
}
";

#[test]
fn a_client_goes_back_in_a_recorded_run() {
    let executable = Fixture::c("dap_back", BACK).compile_plain();
    let directory = TempDir::with_prefix("juror-run-").expect("a directory");
    let file = directory.path().join("back.run");
    let output = juror(&["record", "-o"]).args([&file, &executable]).run();
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let mut client = Client::start();
    client.launch(json!({ "recording": file, "initCommands": ["break 10"] }));
    let announced = client.event("capabilities")["capabilities"].clone();
    assert_eq!(announced, json!({ "supportsStepBack": true }));
    let thread = client.begin()["threadId"].clone();
    let line = |client: &mut Client| client.top(&thread)["line"].clone();
    assert_eq!(line(&mut client), 10);
    for expected in [9, 8] {
        assert_eq!(client.resume("stepBack", &thread)["reason"], "step");
        assert_eq!(line(&mut client), expected);
    }
    // By instructions, and back by as many.
    let instruction = json!({ "threadId": thread, "granularity": "instruction" });
    let before = client.top(&thread)["instructionPointerReference"].clone();
    client.ask("next", instruction.clone());
    client.event("stopped");
    let behind = client.top(&thread)["instructionPointerReference"].clone();
    assert_ne!(before, behind);
    client.ask("stepBack", instruction);
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.top(&thread)["instructionPointerReference"], before);
    client.repl("break twice");
    for _ in 0..2 {
        client.repl("continue");
        assert_eq!(client.event("stopped")["reason"], "breakpoint");
        assert_eq!(line(&mut client), 3);
    }
    let stop = client.resume("reverseContinue", &thread);
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(line(&mut client), 3);
    assert_eq!(client.resume("stepBack", &thread)["reason"], "step");
    assert_eq!(line(&mut client), 8);
    assert_eq!(client.resume("reverseContinue", &thread)["reason"], "entry");
    client.leave();
}
