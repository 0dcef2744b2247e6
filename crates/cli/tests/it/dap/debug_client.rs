//! Sessions driven by VS Code's own test client, where node and the client are installed.

use super::client::queue_source;
use super::sessions::queue;
use juror_testing::{repository_directory, target_directory};
use std::process::Command;

/// The package of the client; `.ci/run` installs it.
const PACKAGE: &str = "node/node_modules/@vscode/debugadapter-testsupport";

#[test]
fn vs_codes_client_comes_to_the_violation_and_to_the_end() {
    let modules = target_directory().join("node/node_modules");
    if !target_directory().join(PACKAGE).is_dir() {
        println!("skipped: target/{PACKAGE} is not installed");
        return;
    }
    let (program, property) = queue();
    let script = repository_directory().join("crates/cli/tests/it/dap/debug_client.js");
    let output = Command::new("node")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_juror"))
        .args([&program, &property, &queue_source(&program, "main.c")])
        .env("NODE_PATH", modules)
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: node is not installed: {error}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert_eq!(said, "both sessions are over\n");
}
