//! The page of a run and its reports: what a browser is answered while the prompt waits, while
//! the program runs, and in a file.

use crate::support::transcripts;
use juror_testing::{Fixture, repository_directory};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use tempfile::TempDir;

/// Calls `push` once more than there is room, after a line of its input.
const PROGRAM: &str = r#"
    #include <stdio.h>
    int pushed;
    __attribute__((noinline)) void push(int n) { pushed += n; }
    __attribute__((noinline)) void beat(void) { __asm__ volatile(""); }
    int main(int argc, char **argv) {
        if (argc > 1)
            while (!pushed) beat();
        for (int n = 0; n < 4; n++) push(1);
        return 0;
    }"#;

const PROPERTY: &str = "property room
\"at most three are pushed\"
var count = 0
event push = before push(n)
state open accepting {
    on push when count < 3 { count = count + 1 } -> open else -> full
}
state full non-accepting final {}
";

struct Followed {
    juror: Child,
    /// Closed to end the prompt.
    input: Option<ChildStdin>,
    _messages: BufReader<ChildStderr>,
    host: String,
    token: String,
}

impl Followed {
    fn new(place: &Path, arguments: &[&str]) -> Followed {
        Followed::watching(place, Path::new("room.prop"), arguments)
    }

    fn watching(place: &Path, property: &Path, arguments: &[&str]) -> Followed {
        let property = property.to_str().expect("a path that is text");
        let words = ["run", "--web", "--property", property];
        Followed::of(place, &[&words, arguments].concat())
    }

    fn of(place: &Path, words: &[&str]) -> Followed {
        let mut juror = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(words)
            .current_dir(place)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("juror starts");
        let mut messages = BufReader::new(juror.stderr.take().expect("a pipe"));
        let mut line = String::new();
        messages.read_line(&mut line).expect("a line");
        let (_, address) = line.trim().rsplit_once("http://").expect("an address");
        let (host, token) = address.split_once("/#").expect("a token");
        Followed {
            input: juror.stdin.take(),
            juror,
            host: host.to_owned(),
            token: token.to_owned(),
            _messages: messages,
        }
    }

    fn send(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("the server listens");
        let request = format!(
            "{method} /api/{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            self.token,
            body.len(),
        );
        stream.write_all(request.as_bytes()).expect("it is sent");
        stream
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let mut text = String::new();
        let read = self.send(method, path, body).read_to_string(&mut text);
        read.expect("it is text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.1 200"), "{text}");
        serde_json::from_str(body).expect("it is JSON")
    }

    fn command(&self, line: &str) -> String {
        let body = serde_json::json!({ "line": line }).to_string();
        let answer = self.ask("POST", "command", &body);
        answer["text"].as_str().expect("a text").to_owned()
    }

    /// Returns snapshots from a new stream.
    fn snapshots(&self) -> impl Iterator<Item = Value> + use<> {
        let lines = BufReader::new(self.send("GET", "stream", "")).lines();
        // The sizes of chunks are between them.
        let lines = lines
            .map_while(Result::ok)
            .filter(|line| line.starts_with('{'));
        lines.map(|line| serde_json::from_str(&line).expect("it is JSON"))
    }

    /// Ends the prompt; returns the exit status.
    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.juror.wait().expect("it ends").code()
    }
}

/// Returns a directory with the program and its property.
fn place() -> TempDir {
    let place = tempfile::tempdir().expect("a directory");
    let program = Fixture::c("page", PROGRAM).compile_plain();
    std::fs::copy(program, place.path().join("page")).expect("it is copied");
    std::fs::write(place.path().join("room.prop"), PROPERTY).expect("it is written");
    place
}

#[test]
fn a_hook_of_the_user_takes_no_part_in_the_questions_of_the_page() {
    let place = place();
    let followed = Followed::new(place.path(), &["./page"]);
    let mut snapshots = followed.snapshots();
    let is_stopped = |it: &Value| it["status"] == "stopped";
    snapshots.find(is_stopped).expect("it stops");
    for line in ["define hook-info", "echo hooked\\n", "end"] {
        followed.command(line);
    }
    assert!(!followed.command("next").contains("hooked"));
    // With a hook in the way the list would be empty.
    let threads = |snapshot: Value| snapshot["threads"].as_array().map(Vec::len);
    for _ in 0..3 {
        let mut fresh = followed.snapshots();
        let snapshot = fresh.find(is_stopped).expect("it is stopped");
        assert_eq!(threads(snapshot), Some(1));
    }
    assert!(followed.command("info threads").contains("hooked"));
    followed.end();
}

fn state(property: &Value) -> &str {
    property["states"][0]["state"].as_str().expect("a state")
}

#[test]
fn the_page_has_the_violation_with_its_path_and_takes_commands_while_the_prompt_waits() {
    let place = place();
    let followed = Followed::new(place.path(), &["./page"]);
    let mut snapshots = followed.snapshots();
    let stopped = snapshots
        .find(|it| it["status"] == "stopped")
        .expect("it stops");
    let property = &stopped["properties"][0];
    assert_eq!(property["verdict"], "violated");
    assert_eq!(state(property), "full");
    let path = property["path"].as_array().expect("a path");
    assert_eq!(path.last().expect("a step")["to"], "full");
    assert!(
        stopped["stop_text"]
            .as_str()
            .is_some_and(|it| it.contains("VIOLATED  room"))
    );
    let fixed = followed.ask("GET", "static", "");
    assert_eq!(fixed["properties"][0]["name"], "room");
    let svg = fixed["properties"][0]["svg"].as_str().expect("a drawing");
    let id = property["states"][0]["id"].as_str().expect("an identifier");
    assert!(svg.contains(&format!("id=\"{id}\"")));
    assert!(followed.command("print pushed").contains("= 3"));
    assert!(
        followed
            .command("frob")
            .contains("there is no command `frob`")
    );
    assert!(followed.command("quit").contains("at the prompt"));
    assert!(
        followed
            .command("continue")
            .contains("exited with status 0")
    );
    let ended = snapshots
        .find(|it| it["status"] == "ended")
        .expect("it ends");
    assert!(
        ended["end_text"]
            .as_str()
            .is_some_and(|it| it.contains("room"))
    );
    assert_eq!(followed.end(), Some(1));
}

#[test]
fn the_page_follows_a_program_that_runs_and_interrupts_it() {
    let place = place();
    let followed = Followed::new(place.path(), &["./page", "waits"]);
    let mut snapshots = followed.snapshots();
    let running = snapshots
        .find(|it| it["status"] == "running")
        .expect("it runs");
    assert_eq!(state(&running["properties"][0]), "open");
    // A page of slices is answered in the middle of the run.
    let slices = followed.ask("POST", "slices", r#"{"property":"room","count":40}"#);
    assert_eq!(slices["total"], 1);
    followed.ask("POST", "command", r#"{"interrupt":true}"#);
    let stopped = snapshots
        .find(|it| it["status"] == "stopped")
        .expect("it stops");
    assert_eq!(stopped["stop"]["reason"], "interrupted");
    assert_eq!(stopped["threads"].as_array().map(Vec::len), Some(1));
    // A variable that the page sets is set in the program.
    followed.command("set variable pushed = 1");
    let text = followed.command("continue");
    assert!(text.contains("VIOLATED  room"), "{text}");
    assert_eq!(followed.end(), Some(1));
}

/// Writes after each push.
const WRITES: &str = r#"
    #include <unistd.h>
    int pushed;
    static void push(int n) { pushed += n; write(2, ".", 1); }
    int main(void) {
        for (int n = 0; n < 4; n++) push(1);
        return 0;
    }"#;

#[test]
fn the_page_leads_a_recorded_run_to_a_place() {
    let place = tempfile::tempdir().expect("a directory");
    let program = Fixture::c("writes", WRITES).compile_plain();
    let program = program.to_str().expect("a path that is text");
    run(place.path(), &["record", "-o", "back.run", program]);
    let followed = Followed::of(place.path(), &["replay", "--web", "back.run"]);
    assert_eq!(followed.ask("GET", "static", "")["goes_back"], true);
    let mut snapshots = followed.snapshots();
    let mut point = |expected: u64| {
        let found = snapshots.find(|it| it["place"]["point"] == expected);
        found.expect("the place")["place"]["last"].clone()
    };
    followed.command("break push if pushed == 3");
    followed.command("run");
    assert_eq!(point(3), 3);
    // The knob of the time line is released.
    let text = followed.command("goto 1");
    assert!(text.contains("write"), "{text}");
    assert_eq!(point(1), 3);
    assert!(followed.command("print pushed").contains("= 1"));
    let text = followed.command("reverse-next");
    assert!(text.contains("push"), "{text}");
    followed.end();
}

#[test]
fn what_a_command_of_the_page_shows_is_what_the_prompt_shows() {
    let (program, property) = transcripts::queue();
    let program = program.to_str().expect("a path that is text");
    let followed = Followed::watching(&repository_directory(), &property, &[program]);
    let mut snapshots = followed.snapshots();
    snapshots
        .find(|it| it["status"] == "stopped")
        .expect("it stops");
    let answers = transcripts::LINES.iter();
    let shown: String = answers
        .map(|line| transcripts::exchange(line, &followed.command(line)))
        .collect();
    let prompt = transcripts::at_the_prompt();
    assert_eq!(transcripts::plain(&shown), transcripts::plain(&prompt));
    assert_eq!(followed.end(), Some(1));
}

#[test]
fn the_prompt_and_the_page_have_blocks_of_their_own() {
    let place = place();
    let mut followed = Followed::new(place.path(), &["./page"]);
    let mut snapshots = followed.snapshots();
    snapshots
        .find(|it| it["status"] == "stopped")
        .expect("it stops");
    let mut typed = followed.input.take().expect("a pipe");
    typed
        .write_all(b"set $opened = 1\nif 1 == 1\n")
        .expect("it is typed");
    let is = |name: &str| followed.command(&format!("output ${name}")).trim() == "1";
    while !is("opened") {}
    assert_eq!(followed.command("output 40 + 2").trim(), "42");
    for line in ["if 1 == 1", "set $mine = 1"] {
        assert_eq!(followed.command(line), "");
    }
    typed
        .write_all(b"set $theirs = 1\nend\n")
        .expect("it is typed");
    // A line of the page is in its open block, so that it cannot be asked before the end.
    followed.command("end");
    assert!(is("mine"));
    while !is("theirs") {}
    drop(typed);
    assert_eq!(followed.end(), Some(1));
}

/// Returns the snapshot in a report.
fn reported(place: &Path, file: &str) -> Value {
    let text = std::fs::read_to_string(place.join(file)).expect("a report");
    let (_, after) = text.split_once("id=\"snapshot\">").expect("a snapshot");
    let (saved, _) = after.split_once("</script>").expect("its end");
    serde_json::from_str(saved).expect("it is JSON")
}

fn run(place: &Path, arguments: &[&str]) -> Option<i32> {
    let output = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(arguments)
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .expect("juror starts");
    output.status.code()
}

#[test]
fn a_report_has_the_last_moment_of_a_run_and_of_a_recording() {
    let place = place();
    let options = ["run", "--batch", "--property", "room.prop"];
    let run_of = |more: &[&str]| run(place.path(), &[&options[..], more, &["./page"]].concat());
    assert_eq!(run_of(&["--web=run.html"]), Some(1));
    let saved = reported(place.path(), "run.html");
    assert_eq!(saved["static"]["program"], "./page");
    let property = &saved["snapshot"]["properties"][0];
    assert_eq!(
        (property["verdict"].as_str(), state(property)),
        (Some("violated"), "full")
    );
    assert_eq!(run_of(&["--trace=run.jsonl", "--keep-going"]), Some(1));
    let check = [
        "check",
        "--web=check.html",
        "--property",
        "room.prop",
        "run.jsonl",
    ];
    assert_eq!(run(place.path(), &check), Some(1));
    let saved = reported(place.path(), "check.html");
    assert_eq!(saved["static"]["mode"], "recorded");
    assert_eq!(state(&saved["snapshot"]["properties"][0]), "full");
    // A file that cannot be written is an error, and is told.
    assert_eq!(run_of(&["--web=none/run.html"]), Some(1));
    let holds = ["run", "--batch", "--web=none/run.html", "/bin/true"];
    assert_eq!(run(place.path(), &holds), Some(2));
}

/// Checks a model with a report. Returns the exit status, and what the report has.
fn model_report(name: &str, model: &str, options: &[&str]) -> (Option<i32>, Value) {
    let place = tempfile::tempdir().expect("a directory");
    std::fs::write(place.path().join(name), model).expect("it is written");
    let check = [&["model", "check", "--web=model.html"], options, &[name]].concat();
    let status = run(place.path(), &check);
    let saved = reported(place.path(), "model.html");
    assert_eq!(saved["static"]["mode"], "model");
    (status, saved["static"].clone())
}

/// Returns the questions of a report with their verdicts.
fn verdicts(fixed: &Value) -> Vec<(&str, &str)> {
    let questions = fixed["questions"].as_array().expect("questions");
    let pairs = questions.iter().map(|it| {
        let word = |key: &str| it[key].as_str();
        word("question")
            .zip(word("verdict"))
            .expect("both are text")
    });
    pairs.collect()
}

#[test]
fn a_report_says_which_question_about_a_model_is_violated_and_why() {
    let model = "byte n;\nltl small { [] (n < 9) }\n\
                 active proctype p() { n = 1; assert(n == 2) }\n";
    let (status, fixed) = model_report("wrong.pml", model, &[]);
    assert_eq!(status, Some(1));
    let expected = [
        ("steps and states", "violated"),
        ("the formula small", "not_checked"),
    ];
    assert_eq!(verdicts(&fixed), expected);
    let told = fixed["questions"][0]["told"].as_str().expect("a text");
    assert!(
        told.contains("wrong.pml:3") && told.contains("n == 2"),
        "{told}"
    );
    assert!(fixed["chart"]["rows"].is_array());
    let model = "ltl big { <> (n > 9) }\nbyte n;\nactive proctype p() { n = 1 }\n";
    let (status, fixed) = model_report("never.pml", model, &[]);
    assert_eq!(status, Some(1));
    let expected = [
        ("steps and states", "holds"),
        ("the formula big", "violated"),
    ];
    assert_eq!(verdicts(&fixed), expected);
    assert_eq!(fixed["questions"][1]["about"], "<> (n > 9)");
    let told = fixed["questions"][1]["told"].as_str().expect("a text");
    assert!(told.contains("this run violates the formula big"), "{told}");
}

#[test]
fn a_report_is_written_of_a_model_that_holds_and_of_a_search_that_is_incomplete() {
    let model = "byte n;\nltl small { [] (n < 9) }\nactive proctype p() { n = 1; n = 2 }\n";
    let (status, fixed) = model_report("right.pml", model, &[]);
    assert_eq!(status, Some(0));
    let expected = [
        ("steps and states", "holds"),
        ("the formula small", "holds"),
    ];
    assert_eq!(verdicts(&fixed), expected);
    assert!(fixed["chart"].is_null());
    let searched = fixed["questions"][0]["searched"].as_str().expect("a text");
    assert!(searched.contains(" states, "), "{searched}");
    let (status, fixed) = model_report("right.pml", model, &["--states", "1", "--no-deadlock"]);
    assert_eq!(status, Some(2));
    let question = &fixed["questions"][0];
    assert_eq!(question["verdict"], "incomplete");
    assert_eq!(question["why"], "there are more than 1 states");
    let about = question["about"].as_str().expect("a text");
    assert!(about.ends_with("no deadlocks"), "{about}");
}

#[test]
fn a_report_of_an_abstract_state_machine_has_its_questions() {
    let model = "controlled n : 0..9 = 0\nmain { n := 1 }\ninvariant low = n < 1\n";
    let (status, fixed) = model_report("wrong.asm", model, &[]);
    assert_eq!(status, Some(1), "{fixed}");
    assert_eq!(verdicts(&fixed), [("steps and states", "violated")]);
    let told = fixed["questions"][0]["told"].as_str().expect("a text");
    assert!(told.contains("the invariant `low` does not hold"), "{told}");
}
