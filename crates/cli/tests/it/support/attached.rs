//! Programs that run by themselves, and juror attached to them.

use super::program;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest wait for something that must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A directory with a property file.
pub fn written(property: &str) -> (TempDir, PathBuf) {
    let directory = TempDir::with_prefix("juror-attached-").expect("a directory");
    let path = directory.path().join("attached.prop");
    std::fs::write(&path, property).expect("a file");
    (directory, path)
}

/// A program that runs by itself.
pub struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
    /// Its first line.
    first: String,
}

impl Running {
    #[track_caller]
    pub fn start(program: &Path, arguments: &[&str]) -> Running {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut first = String::new();
        output.read_line(&mut first).expect("its first line");
        Running {
            child,
            output,
            first,
        }
    }

    pub fn process(&self) -> String {
        self.child.id().to_string()
    }

    pub fn tell(&mut self, bytes: &[u8]) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(bytes).expect("it reads");
    }

    /// Ends its input; what it says then, and how it ends.
    pub fn finish(mut self) -> (String, ExitStatus) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output");
        (rest, self.child.wait().expect("its end"))
    }

    /// The code of the function whose address is the second word of the first line.
    pub fn text(&self) -> Text {
        let address = self.first.split_whitespace().nth(1).expect("an address");
        let address = u64::from_str_radix(address, 16).expect("a number");
        let memory = File::open(format!("/proc/{}/mem", self.child.id())).expect("its memory");
        let mut text = Text {
            memory,
            address,
            original: Vec::new(),
        };
        text.original = text.now();
        text
    }

    /// The memory that the kernel has allocated for it.
    pub fn resident_mebibytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().next());
        let kibibytes: u64 = kibibytes.and_then(|it| it.parse().ok()).expect("a number");
        kibibytes / 1024
    }

    pub fn mappings(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/maps", self.child.id())).expect("its mappings")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The code of a function.
pub struct Text {
    memory: File,
    address: u64,
    original: Vec<u8>,
}

impl Text {
    /// Nothing of a process that is gone.
    pub fn now(&self) -> Vec<u8> {
        let mut bytes = vec![0; 32];
        let count = self.memory.read_at(&mut bytes, self.address).unwrap_or(0);
        bytes.truncate(count);
        bytes
    }

    pub fn is_original(&self) -> bool {
        self.now() == self.original
    }

    /// Whether a jump is at the start, or behind a landing instruction.
    pub fn has_jump(&self) -> bool {
        const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
        let now = self.now();
        let rest = now.strip_prefix(&LANDING).unwrap_or(&now);
        let prefixes = [0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x66, 0x67, 0x40, 0x48];
        let opcode = rest.iter().find(|byte| !prefixes.contains(*byte));
        now != self.original && opcode == Some(&0xe9)
    }
}

/// juror, attached to a process, with a property.
pub struct Attached {
    juror: Child,
    _directory: TempDir,
}

impl Attached {
    pub fn start(running: &Running, property: &str, is_batch: bool) -> Attached {
        Attached::start_with(running, property, |command| {
            if is_batch {
                command.arg("--batch");
            }
        })
    }

    pub fn start_with(
        running: &Running,
        property: &str,
        prepare: impl FnOnce(&mut Command),
    ) -> Attached {
        let (directory, file) = written(property);
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command.args(["attach", "--color=never", "--property"]);
        command.arg(&file);
        prepare(&mut command);
        let juror = command
            .arg(running.process())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("juror starts");
        Attached {
            juror,
            _directory: directory,
        }
    }

    pub fn tell(&mut self, line: &str) {
        let input = self.juror.stdin.as_mut().expect("a pipe");
        input.write_all(line.as_bytes()).expect("it reads");
    }

    pub fn signal(&mut self, signal: Signal) {
        kill(Pid::from_raw(self.juror.id() as i32), signal).expect("it is there");
    }

    pub fn end(mut self, signal: Signal) {
        self.signal(signal);
        self.juror.wait().expect("its end");
    }

    pub fn await_end(mut self) {
        self.juror.wait().expect("its end");
    }

    /// The process that restores the program's text.
    pub fn watchdog(&self) -> Option<i32> {
        let children = format!("/proc/{0}/task/{0}/children", self.juror.id());
        let children = std::fs::read_to_string(children).ok()?;
        let mut numbers = children.split_whitespace();
        let is_meant = |number: &&str| {
            let name = std::fs::read_to_string(format!("/proc/{number}/comm"));
            name.is_ok_and(|name| name.trim_end() == "juror-watchdog")
        };
        numbers.find(is_meant)?.parse().ok()
    }
}

/// Slices, whose stripes are locked, and both kinds of events.
pub const BUSY: &str = "property busy
slice on key
event taken = before take(key: int = arg 1)
event given = after give(key: int = arg 1) returns r: int
var n = 0
state init accepting {
    on taken { n = n + 1 } -> held
    on given when r == key + 1 -> init else -> wrong
}
state held accepting {
    on taken -> held
    on given when r == key + 1 -> init else -> wrong
}
state wrong non-accepting
";

pub fn busy(pause_us: &str) -> Running {
    let executable = program("attached_busy.c")
        .argument("-pthread")
        .compile_plain();
    Running::start(&executable, &[pause_us])
}

#[track_caller]
pub fn assert_sound(running: Running) {
    let (said, status) = running.finish();
    assert_eq!(said, "damage 0, lost children 0, interrupted 0\n");
    assert!(status.success(), "{status}");
}
