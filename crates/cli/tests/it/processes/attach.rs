//! Attaches to running processes, at the prompt and in batch mode.

use crate::support::{juror, program};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// No more than three requests.
const FEW: &str = "\
property few
event serve = before serve(request)
var count = 0
state init accepting {
    on serve when count < 3 { count += 1 } -> init else -> many
}
state many non-accepting
";

/// `serves.c`, running by itself.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Server {
    #[track_caller]
    fn start() -> Server {
        let mut child = Command::new(program("serves.c").compile_plain())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("its first line");
        assert_eq!(line, "ready\n");
        Server { child, output }
    }

    fn process(&self) -> String {
        self.child.id().to_string()
    }

    fn ask(&mut self, requests: &str) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(requests.as_bytes()).expect("it reads");
    }

    /// Ends its input; what it says then, and its exit status.
    fn finish(mut self) -> (String, Option<i32>) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output");
        (rest, self.child.wait().expect("its end").code())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_process_is_looked_at_and_let_go() {
    let mut server = Server::start();
    server.ask("ab");
    let process = server.process();
    // Its input may have been read or not; it comes to the breakpoint for more.
    server.ask("cccc");
    let output = juror(&["-p", &process])
        .input("break serve\nrun\ninfo threads\ndetach\ncontinue\nquit\n")
        .run();
    output.assert_code(0);
    let text = &output.stdout;
    assert!(
        text.starts_with(&format!("Attached to process {process}, in ")),
        "{text}"
    );
    for part in [
        "breakpoint 1 at ",
        "no program to run",
        "serves",
        &format!("Process {process} continues without juror."),
        "the program is not running",
    ] {
        assert!(text.contains(part), "{part}:\n{text}\n{}", output.stderr);
    }
    assert_eq!(server.finish(), ("served 6\n".to_owned(), Some(3)));
}

#[test]
fn quitting_lets_an_attached_process_go() {
    let mut server = Server::start();
    let process = server.process();
    server.ask("xyz");
    for input in ["break serve\nquit\n", "break serve\n"] {
        juror(&["attach", &process])
            .input(input)
            .run()
            .assert_code(0);
    }
    assert_eq!(server.finish(), ("served 3\n".to_owned(), Some(3)));
}

#[test]
fn an_attached_process_can_be_checked() {
    let mut server = Server::start();
    let process = server.process();
    server.ask("xyz");
    let output = juror(&["attach", "--self-check", &process])
        .input("break serve\nquit\n")
        .run();
    output.assert_code(0);
    assert!(output.stderr.contains("[self-check: "), "{}", output.stderr);
    assert_eq!(server.finish(), ("served 3\n".to_owned(), Some(3)));
}

#[test]
fn a_property_is_watched_from_the_attachment_on() {
    let mut server = Server::start();
    let process = server.process();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("few.prop");
    std::fs::write(&file, FEW).expect("a file");
    server.ask("before");
    let ended = AtomicBool::new(false);
    let (output, asked) = std::thread::scope(|scope| {
        // It is asked until juror has seen enough: what comes before the
        // attachment does not count.
        let asker = scope.spawn(|| {
            let mut asked = "before".len();
            while !ended.load(Ordering::SeqCst) {
                server.ask("x");
                asked += 1;
            }
            asked
        });
        let arguments = ["attach", "--batch", "--color=never", "--property"];
        let output = juror(&arguments)
            .args([file.as_path()])
            .args([&process])
            .run();
        ended.store(true, Ordering::SeqCst);
        (output, asker.join().expect("the asker"))
    });
    output.assert_code(1);
    let text = &output.stdout;
    for part in [
        format!("Attached to process {process}, in "),
        "VIOLATED  few".to_owned(),
        "serve(request = 120)".to_owned(),
        format!("Process {process} continues without juror."),
    ] {
        assert!(text.contains(&part), "{part}:\n{text}{}", output.stderr);
    }
    // A log is not told where the process happened to be.
    let second = text.lines().nth(1).unwrap_or_default();
    assert!(second.starts_with("VIOLATED"), "{text}");
    assert_eq!(server.finish(), (format!("served {asked}\n"), Some(3)));
}

#[test]
fn what_cannot_be_attached_to_ends_juror() {
    for (process, expected) in [
        ("2", "a thread of the kernel"),
        ("2147483632", "no process"),
    ] {
        let output = juror(&["attach", "--batch", process]).run();
        output.assert_code(2);
        assert!(output.stdout.contains(expected), "{}", output.stdout);
    }
    let output = juror(&["attach", "faulty"]).run();
    output.assert_code(2);
}

#[test]
fn the_child_can_be_followed() {
    for (follow, expected) in [
        ("parent", "was created by fork; it runs without juror"),
        ("child", "following process"),
    ] {
        let forks = program("forks.c").compile_plain();
        let forks = forks.to_str().expect("UTF-8");
        let output = juror(&["run", "--batch", "--follow", follow, forks]).run();
        assert!(
            output.stderr.contains(expected) || output.stdout.contains(expected),
            "{}{}",
            output.stdout,
            output.stderr
        );
    }
}
