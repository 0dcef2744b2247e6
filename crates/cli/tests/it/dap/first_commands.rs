//! The commands of the user's init file and of the launch configuration.

use super::client::Client;
use juror_testing::Fixture;
use serde_json::json;
use std::path::PathBuf;

fn program() -> PathBuf {
    let fixture = Fixture::c("dap_first", "int main(void) { return 0; }\n");
    fixture.compile_plain()
}

const INIT: &str = "\
# The user's own commands.
define greet
print 40 + 2
end
if 1 == 1
print 7
end
no such command
print 8
";

#[test]
fn the_init_file_is_executed_up_to_an_error() {
    let mut client = Client::start_with(INIT, &[]);
    client.launch(json!({ "program": program(), "stopOnEntry": true }));
    client.wait_for_output("important", "there is no command `no`");
    client.wait_for_output("important", ":8: the rest of the file is not executed");
    client.begin();
    assert_eq!(client.repl("greet"), "$2 = 42");
    let output = client.leave();
    assert!(output["console"].contains("$1 = 7"), "{output:?}");
    assert!(!output["console"].contains("= 8"), "{output:?}");
}

#[test]
fn the_program_is_begun_by_the_client() {
    for (init, said) in [
        ("print 3\nrun\n", "the client lets the program begin"),
        ("print 3\ndefine four\nprint 4\n", "has no `end`"),
    ] {
        let mut client = Client::start_with(init, &[]);
        let first = json!(["break main", "commands", "print 5", "end"]);
        let arguments = json!({ "program": program(), "initCommands": first });
        client.launch(arguments);
        client.wait_for_output("important", said);
        assert_eq!(client.begin()["reason"], "breakpoint");
        let output = client.leave();
        assert!(output["console"].contains("= 5"), "{output:?}");
    }
}

#[test]
fn the_init_file_is_left_out() {
    let mut client = Client::start_with(INIT, &["--no-init"]);
    client.launch(json!({ "program": program(), "stopOnEntry": true }));
    client.begin();
    let output = client.leave();
    assert_eq!(output.get("important"), None);
    assert!(!output.contains_key("console") || !output["console"].contains("= 7"));
}
