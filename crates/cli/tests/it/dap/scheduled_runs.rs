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
