//! `juror check --follow`: a trace is checked while it is being recorded.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// `juror check --follow` over a file that grows.
struct Following {
    process: std::process::Child,
    output: BufReader<std::process::ChildStdout>,
    trace: File,
    _directory: TempDir,
}

impl Following {
    fn new(text: &str) -> Following {
        let directory = TempDir::new().expect("a directory");
        let property = directory.path().join("p.prop");
        let source = "property p\nevent e = before f()\nstate s accepting { on e -> t }\n\
                      state t non-accepting\n";
        fs::write(&property, source).expect("a file");
        let path = directory.path().join("run.jsonl");
        fs::write(&path, text).expect("a file");
        let mut process = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args([
                "check",
                "--follow",
                "--keep-going",
                "--color=never",
                "--property",
            ])
            .args([&property, &path])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("juror starts");
        let output = BufReader::new(process.stdout.take().expect("its output"));
        let trace = OpenOptions::new()
            .append(true)
            .open(&path)
            .expect("the trace");
        Following {
            process,
            output,
            trace,
            _directory: directory,
        }
    }

    fn append(&mut self, text: &str) {
        self.trace
            .write_all(text.as_bytes())
            .expect("the trace grows");
    }

    /// Waits for a line that begins so.
    fn wait_for(&mut self, begin: &str) {
        let mut line = String::new();
        while !line.starts_with(begin) {
            line.clear();
            let count = self.output.read_line(&mut line).expect("text");
            assert!(count > 0, "no line begins with `{begin}`");
        }
    }

    /// Waits for the end; gives the exit status and the rest of the output.
    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        let status = self.process.wait().expect("it ends");
        (status.code(), rest)
    }
}

#[test]
fn a_growing_trace_is_followed_to_its_end() {
    let mut following = Following::new("{\"trace\":1}\n{\"event\":\"before f\"}\n{\"eve");
    following.wait_for("At event");
    following.append("nt\":\"before g\"}\n");
    following.append("{\"end\":{\"exited\":3},\"events\":2}\n");
    let (status, rest) = following.end();
    assert_eq!(status, Some(1), "{rest}");
    assert!(
        rest.contains("The program exited with status 3.\n"),
        "{rest}"
    );
}

#[test]
fn following_is_ended_by_ctrl_c() {
    let mut following = Following::new("{\"trace\":1}\n{\"event\":\"before f\"}\n");
    following.wait_for("At event");
    let process = following.process.id().to_string();
    let sent = Command::new("kill").args(["-INT", &process]).status();
    assert!(sent.expect("kill runs").success());
    let (status, rest) = following.end();
    assert_eq!(status, Some(1), "{rest}");
    assert!(rest.contains("Interrupted after 1 event.\n"), "{rest}");
}
