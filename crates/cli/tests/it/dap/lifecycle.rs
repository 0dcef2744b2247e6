//! How sessions begin and end, whatever the client does.

use super::client::{Client, read};
use super::sessions::queue;
use crate::support::program;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Waits until a condition holds.
#[track_caller]
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A process that runs until it is ended, and has said so.
fn running() -> Child {
    let program = program("spin.c").compile_plain();
    let mut child = Command::new(program)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = child.stdout.as_mut().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    assert_eq!(line, "spinning\n");
    child
}

fn is_there(process: &Value) -> bool {
    Path::new(&format!("/proc/{process}/maps")).exists()
        && !std::fs::read_to_string(format!("/proc/{process}/maps"))
            .unwrap_or_default()
            .is_empty()
}

#[test]
fn a_program_stops_at_its_entry_and_starts_again() {
    let (program, _) = queue();
    let mut client = Client::start();
    client.launch(json!({
        "program": program, "stopOnEntry": true, "initCommands": ["break queue_delete", "frob"],
    }));
    client.wait_for_output("stderr", "there is no command `frob`");
    let first = client.event("process")["systemProcessId"].clone();
    let stop = client.begin();
    assert_eq!(stop["reason"], "entry");
    let new = client.wait("a new breakpoint", |message| {
        message["event"] == "breakpoint" && message["body"]["reason"] == "new"
    });
    let stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(
        stop["hitBreakpointIds"],
        json!([new["body"]["breakpoint"]["id"]])
    );
    client.ask("restart", json!({}));
    let stop = client.event("stopped");
    assert_eq!(stop["reason"], "entry");
    let now = client.repl("info program");
    assert!(!now.contains(&format!("process {first} ")), "{now}");
    client.ask("terminate", json!({}));
    client.event("terminated");
    client.leave();
}

#[test]
fn a_client_may_configure_before_the_launch() {
    let (program, _) = queue();
    let source = program.with_file_name("main.c");
    let mut client = Client::start();
    client.initialize();
    // After a moment without a program.
    client.event("initialized");
    let points = client.break_at(source.to_str().unwrap(), &[30]);
    assert_eq!(points[0]["verified"], false);
    assert_eq!(points[0]["reason"], "pending");
    client.ask("configurationDone", Value::Null);
    client.ask("launch", json!({ "program": program }));
    let changed = client.event("breakpoint");
    assert_eq!(changed["breakpoint"]["id"], points[0]["id"]);
    assert_eq!(changed["breakpoint"]["verified"], true);
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    client.leave();
}

#[test]
fn sloppy_messages_are_answered() {
    let (program, _) = queue();
    let mut client = Client::start();
    client.send_malformed(500, "{\"seq\": 500, \"type\": \"request\", ");
    assert_eq!(client.answer(500)["success"], false);
    client.initialize();
    let seq = client.next_seq();
    client.send_unjudged(json!({
        "seq": seq, "type": "request", "command": "launch",
        "arguments": {
            "program": program, "args": null, "env": null, "properties": null, "cwd": null,
        },
    }));
    assert_eq!(client.answer(seq)["success"], true);
    for (command, arguments) in [
        ("threads", json!(null)),
        ("configurationDone", json!(null)),
        ("modules", json!(null)),
        ("nonsense", json!({})),
        ("evaluate", json!(null)),
        ("setBreakpoints", json!({ "source": null })),
    ] {
        let seq = client.next_seq();
        client.send_unjudged(json!({
            "seq": seq, "type": "request", "command": command, "arguments": arguments,
        }));
        client.answer(seq);
    }
    client.event("exited");
    client.leave();
}

#[test]
fn what_cannot_start_says_why() {
    let (program, _) = queue();
    let directory = tempfile::tempdir().unwrap();
    let property = directory.path().join("bad.prop");
    std::fs::write(&property, "property p\nevent e = before nowhere()\n").unwrap();
    for (arguments, words) in [
        (json!({}), "launch needs a program"),
        (json!({ "program": "/nowhere" }), "/nowhere"),
        (
            json!({ "program": program, "properties": ["/no.prop"] }),
            "/no.prop",
        ),
        (
            json!({ "program": program, "properties": [property] }),
            "cannot be used",
        ),
        (
            json!({ "program": program, "tier": "fast" }),
            "`fast` is no tier",
        ),
        (
            json!({ "program": program, "console": "tv" }),
            "`tv` is no console",
        ),
        (
            json!({ "program": program, "checkpoint": "often" }),
            "`checkpoint` is",
        ),
        (
            json!({ "program": program, "env": { "A": [] } }),
            "must be a string",
        ),
    ] {
        let mut client = Client::start();
        client.initialize();
        let said = client.refused("launch", arguments);
        assert!(said.contains(words), "{said}");
        // It is no program yet.
        assert_eq!(
            client.refused("threads", Value::Null),
            "there is no program"
        );
        client.leave();
    }
}

#[test]
fn arguments_environment_and_directory_reach_the_program() {
    let shell = Path::new("/bin/sh").canonicalize().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    let mut client = Client::start();
    client.launch(json!({
        "program": shell,
        "args": ["-c", "echo $1 $HAM $PWD $(tty); exit 4", "sh", "one two"],
        "env": { "HAM": "eggs" },
        "cwd": path,
    }));
    client.ask("configurationDone", Value::Null);
    assert_eq!(client.event("exited")["exitCode"], 4);
    let output = client.leave();
    let line = format!("one two eggs {} /dev/pts/", path.display());
    assert!(output["stdout"].starts_with(&line), "{output:?}");
}

#[test]
fn a_process_is_attached_to_and_goes_on() {
    let mut child = running();
    let process = json!(child.id());
    let mut client = Client::start();
    client.initialize();
    client.ask("attach", json!({ "pid": process, "stopOnEntry": true }));
    assert_eq!(client.event("process")["startMethod"], "attach");
    client.event("initialized");
    let stop = client.begin();
    assert_eq!(stop["reason"], "entry");
    let arguments = json!({ "breakpoints": [{ "name": "turn" }] });
    client.ask("setFunctionBreakpoints", arguments);
    let stop = client.resume("continue", &stop["threadId"]);
    assert_eq!(stop["reason"], "function breakpoint");
    client.leave();
    assert!(is_there(&process));
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    assert!(status.contains("TracerPid:\t0\n"), "{status}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_name_that_several_processes_have_lists_them() {
    let mut children = [running(), running()];
    let name = program("spin.c").compile_plain();
    let mut client = Client::start();
    client.initialize();
    let words = client.refused("attach", json!({ "program": name }));
    assert!(words.starts_with("several processes are called"), "{words}");
    for child in &children {
        assert!(words.contains(&child.id().to_string()), "{words}");
    }
    let words = client.refused("attach", json!({ "program": "no-such-program" }));
    assert_eq!(words, "no process is called no-such-program");
    client.leave();
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_launched_program_ends_with_the_connection() {
    let program = program("spin.c").compile_plain();
    for is_running in [true, false] {
        let mut client = Client::start();
        client.launch(json!({ "program": program, "stopOnEntry": !is_running }));
        let process = client.event("process")["systemProcessId"].clone();
        client.ask("configurationDone", Value::Null);
        if is_running {
            client.wait_for_output("stdout", "spinning")
        } else {
            drop(client.event("stopped"))
        }
        client.vanish();
        client.end();
        wait_until("the program has ended", || !is_there(&process));
    }
}

#[test]
fn a_launched_program_goes_on_if_the_client_wants_that() {
    let program = program("spin.c").compile_plain();
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    let process = client.event("process")["systemProcessId"].clone();
    client.ask("configurationDone", Value::Null);
    client.wait_for_output("stdout", "spinning");
    client.ask("disconnect", json!({ "terminateDebuggee": false }));
    client.end();
    assert!(is_there(&process));
    let process = nix::unistd::Pid::from_raw(process.as_i64().unwrap() as i32);
    nix::sys::signal::kill(process, nix::sys::signal::SIGKILL).unwrap();
}

#[test]
fn a_signal_to_juror_ends_the_program() {
    let program = program("spin.c").compile_plain();
    let mut client = Client::start();
    client.launch(json!({ "program": program }));
    let process = client.event("process")["systemProcessId"].clone();
    client.ask("configurationDone", Value::Null);
    client.wait_for_output("stdout", "spinning");
    let juror = nix::unistd::Pid::from_raw(client.child.id() as i32);
    nix::sys::signal::kill(juror, nix::sys::signal::SIGTERM).unwrap();
    client.event("terminated");
    client.vanish();
    let status = client.wait_for_exit();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(15)
    );
    wait_until("the program has ended", || !is_there(&process));
}

#[test]
fn what_is_cancelled_is_not_done() {
    let (program, _) = queue();
    let mut client = Client::start();
    client.launch(json!({ "program": program, "stopOnEntry": true }));
    client.begin();
    // It takes a moment, in which the next ones wait.
    let slow = json!({ "expression": "info functions", "context": "repl" });
    let slow = client.send("evaluate", slow);
    let next = json!({ "expression": "set $done = 1", "context": "repl" });
    let next = client.send("evaluate", next);
    let cancel = client.send("cancel", json!({ "requestId": next }));
    client.answer(slow);
    let answer = client.answer(next);
    assert_eq!(client.answer(cancel)["success"], true);
    // The order of arrival decides whether it was in time.
    if answer["success"] == false {
        assert_eq!(answer["message"], "cancelled");
        let unset = json!({ "expression": "output $done", "context": "repl" });
        client.refused("evaluate", unset);
    }
    client.leave();
}

/// An adapter on a port.
pub(super) fn listening(token: &str) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["dap", "--listen", "127.0.0.1:0", "--token", token])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = child.stderr.as_mut().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    let address = line.trim_end().rsplit(' ').next().unwrap().to_owned();
    (child, address)
}

pub(super) fn say(stream: &mut TcpStream, seq: i64, command: &str, arguments: Value) -> Value {
    let message = json!({
        "seq": seq, "type": "request", "command": command, "arguments": arguments,
    });
    let body = message.to_string();
    write!(stream, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut input = BufReader::with_capacity(1, stream.try_clone().unwrap());
    loop {
        let message = read(&mut input).expect("an answer");
        if message["request_seq"] == seq {
            return message;
        }
    }
}

#[test]
fn the_port_is_for_a_client_with_the_token() {
    let (mut child, address) = listening("secret");
    // A page of a browser cannot reach it.
    let mut browser = TcpStream::connect(&address).unwrap();
    browser
        .write_all(b"POST / HTTP/1.1\r\nOrigin: http://example.org\r\n\r\n")
        .unwrap();
    let mut nothing = Vec::new();
    let _ = browser.read_to_end(&mut nothing);
    assert_eq!(nothing, b"");
    let mut stream = TcpStream::connect(&address).unwrap();
    let answer = say(
        &mut stream,
        1,
        "initialize",
        json!({ "adapterID": "juror" }),
    );
    assert_eq!(answer["success"], true);
    let answer = say(&mut stream, 2, "threads", json!({}));
    assert_eq!(answer["message"], "the token is missing");
    let (program, _) = queue();
    let arguments = json!({ "program": program, "token": "secret" });
    assert_eq!(say(&mut stream, 3, "launch", arguments)["success"], true);
    assert_eq!(
        say(&mut stream, 4, "disconnect", json!({}))["success"],
        true
    );
    assert!(child.wait().unwrap().success());

    let (mut child, address) = listening("secret");
    let mut stream = TcpStream::connect(&address).unwrap();
    let arguments = json!({ "program": program, "token": "guess" });
    assert_eq!(say(&mut stream, 1, "launch", arguments)["success"], false);
    // It waits for the client that knows the token.
    let mut stream = TcpStream::connect(&address).unwrap();
    let arguments = json!({ "program": program, "token": "secret" });
    assert_eq!(say(&mut stream, 1, "launch", arguments)["success"], true);
    let answer = say(&mut stream, 2, "disconnect", json!({}));
    assert_eq!(answer["success"], true);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_port_without_a_given_token_has_a_token() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["dap", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stderr.take().unwrap());
    let mut words = output.lines().take(2).map(|line| {
        let line = line.unwrap();
        line.rsplit(' ').next().unwrap().to_owned()
    });
    let (address, token) = (words.next().unwrap(), words.next().unwrap());
    let (program, _) = queue();
    let mut stream = TcpStream::connect(&address).unwrap();
    let arguments = json!({ "program": program });
    assert_eq!(say(&mut stream, 1, "launch", arguments)["success"], false);
    let mut stream = TcpStream::connect(&address).unwrap();
    let arguments = json!({ "program": program, "token": token });
    assert_eq!(say(&mut stream, 1, "launch", arguments)["success"], true);
    let answer = say(&mut stream, 2, "disconnect", json!({}));
    assert_eq!(answer["success"], true);
    assert!(child.wait().unwrap().success());
}
