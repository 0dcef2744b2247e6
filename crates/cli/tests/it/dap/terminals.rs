//! The program in a terminal of the client.

use super::client::Client;
use crate::support::juror;
use juror_testing::Fixture;
use serde_json::{Value, json};

fn greeter() -> Fixture {
    Fixture::c(
        "dap_greeter",
        r#"#include <stdio.h>

int main(void)
{
    char name[32];
    printf("your name? ");
    fflush(stdout);
    if (scanf("%31s", name) != 1)
        return 1;
    printf("hello, %s\n", name);
    return 0;
}
"#,
    )
}

#[test]
fn the_program_reads_and_writes_in_a_terminal_of_the_client() {
    let program = greeter().compile_plain();
    let mut client = Client::start();
    client.initialize();
    let launch = client.send(
        "launch",
        json!({ "program": program, "console": "integratedTerminal" }),
    );
    let request = client.wait("runInTerminal", |message| {
        message["command"] == "runInTerminal"
    });
    assert_eq!(request["arguments"]["kind"], "integrated");
    let words = request["arguments"]["args"].as_array().unwrap();
    let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(words[0], env!("CARGO_BIN_EXE_juror"));
    let mut terminal = juror(&words[1..]).terminal();
    client.respond(&request, json!({ "processId": 1 }));
    assert_eq!(client.answer(launch)["success"], true);
    client.ask("configurationDone", Value::Null);
    terminal.expect("your name? ");
    terminal.type_line("ham");
    terminal.expect("hello, ham");
    client.event("exited");
    // The helper ends with the adapter.
    client.leave();
    assert_eq!(terminal.finish().1, 0);
}

#[test]
fn a_client_without_a_terminal_is_told() {
    let program = greeter().compile_plain();
    let mut client = Client::start();
    client.initialize();
    let launch = client.send(
        "launch",
        json!({ "program": program, "console": "externalTerminal" }),
    );
    let request = client.wait("runInTerminal", |message| {
        message["command"] == "runInTerminal"
    });
    client.refuse(&request, "there is no screen");
    let answer = client.answer(launch);
    let words = answer["body"]["error"]["format"].as_str().unwrap();
    assert_eq!(
        words,
        "the client has not opened a terminal: there is no screen"
    );
    client.leave();
}

/// With those of the adapter it would wait for a reader when the adapter has left.
#[test]
fn the_program_has_no_descriptors_of_the_adapter() {
    let program = Fixture::c(
        "dap_descriptors",
        r#"#include <fcntl.h>
#include <stdio.h>

int main(void)
{
    printf("descriptor %d\n", open("/dev/null", O_RDONLY));
    return 0;
}
"#,
    );
    let mut client = Client::start();
    client.launch(json!({ "program": program.compile_plain() }));
    client.ask("configurationDone", json!({}));
    client.wait_for_output("stdout", "descriptor 3\n");
    client.leave();
}
