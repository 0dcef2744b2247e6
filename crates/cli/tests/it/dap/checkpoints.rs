//! Checkpoints, by the commands of the prompt.

use super::client::{Client, queue_source};
use super::sessions::queue;
use serde_json::json;

#[test]
fn a_restored_checkpoint_is_a_stop() {
    let (program, property) = queue();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "properties": [property] }));
    let source = queue_source(&program, "main.c");
    client.break_at(source.to_str().unwrap(), &[34]);
    let stop = client.begin();
    assert_eq!(stop["reason"], "breakpoint");
    assert!(client.repl("checkpoint").contains("Checkpoint 1"));
    let stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(stop["reason"], "exception");

    // The client's view of the moment before is no longer true.
    client.repl("restore 1");
    assert_eq!(client.event("invalidated")["areas"], json!(["all"]));
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "goto");
    let frame = client.top(&stop["threadId"]);
    assert_eq!(frame["line"], 34);
    let monitors = client.scope(&frame, "Monitors");
    let property = client.variable(&monitors["variablesReference"], "queue_bounds");
    assert!(!property["value"].as_str().unwrap().contains("violated,"));

    // The program goes on from there, to the same violation.
    let stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(stop["reason"], "exception");
    client.leave();
}
