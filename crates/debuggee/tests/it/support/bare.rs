//! A program that runs by itself, without juror, to be attached to.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::{Program, file_address};
use juror_debuggee::{Attach, Debuggee};

/// It is told by its input and tells by its output; it ends with this value.
///
/// A shell is its parent: whoever traces a child of its own takes its end from
/// the parent, so a test could not see both.
pub struct Bare {
    shell: Child,
    process: u32,
    output: BufReader<ChildStdout>,
}

impl Bare {
    /// Starts the program and waits for its first line, which is `ready`.
    #[track_caller]
    pub fn start(program: &Program, arguments: &[&str]) -> Bare {
        // The number comes before whatever the program writes.
        let script = r#"exec 3<&0
            sh -c 'echo $$; exec "$@"' sh "$@" <&3 3<&- &
            exec <&- 3<&-; wait $!; echo "status $?""#;
        let mut shell = Command::new("/bin/sh")
            .args(["-c", script, "sh"])
            .arg(&program.path)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(shell.stdout.take().unwrap());
        let mut bare = Bare {
            shell,
            process: 0,
            output,
        };
        bare.process = bare.line().parse().unwrap();
        assert_eq!(bare.line(), "ready");
        bare
    }

    pub fn process(&self) -> u32 {
        self.process
    }

    #[track_caller]
    pub fn attach(&self) -> Debuggee {
        Debuggee::attach(&Attach::new(self.process())).unwrap()
    }

    /// Its next line.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Sends it a line.
    #[track_caller]
    pub fn tell(&mut self) {
        self.shell.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// Closes its input: it is to end.
    pub fn close(&mut self) {
        drop(self.shell.stdin.take());
    }

    /// Closes its input and waits for its end: the rest of its output, and a
    /// line with its status as a shell has it.
    #[track_caller]
    pub fn finish(mut self) -> String {
        self.close();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        rest
    }

    #[track_caller]
    pub fn send(&self, signal: i32) {
        // SAFETY: a system call on plain numbers.
        assert_eq!(unsafe { libc::kill(self.process as i32, signal) }, 0);
    }

    /// Waits until its state is this one.
    pub fn await_state(&self, state: char) {
        while self.state() != state {
            std::thread::yield_now();
        }
    }

    /// The character of its state, as `ps` shows it.
    #[track_caller]
    pub fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process())).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        fields.chars().next().unwrap()
    }

    /// The bytes at a symbol of the program, as they really are in memory.
    #[track_caller]
    pub fn bytes_at(&self, program: &Program, symbol: &str) -> [u8; 16] {
        self.try_bytes_at(program, symbol).unwrap()
    }

    /// The same for a program that may end meanwhile.
    pub fn try_bytes_at(&self, program: &Program, symbol: &str) -> Option<[u8; 16]> {
        use std::os::unix::fs::FileExt;
        let task = self.living_task()?;
        // The tests' programs are position-independent.
        let path = program.path.canonicalize().unwrap();
        let maps = std::fs::read_to_string(task.join("maps")).ok()?;
        let line = maps
            .lines()
            .find(|line| line.ends_with(path.to_str().unwrap()))?;
        let base = u64::from_str_radix(line.split('-').next()?, 16).unwrap();
        let mut bytes = [0; 16];
        let memory = std::fs::File::open(task.join("mem")).ok()?;
        let address = base + file_address(&program.path, symbol);
        memory.read_exact_at(&mut bytes, address).ok()?;
        Some(bytes)
    }

    /// The lines of its memory map.
    #[track_caller]
    pub fn mappings(&self) -> Vec<String> {
        let maps = std::fs::read_to_string(self.living_task().unwrap().join("maps")).unwrap();
        maps.lines().map(str::to_owned).collect()
    }

    /// The directory of a thread that has memory: the first may have ended.
    fn living_task(&self) -> Option<std::path::PathBuf> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process())).ok()?;
        tasks
            .flatten()
            .map(|task| task.path())
            .find(|task| std::fs::read_to_string(task.join("maps")).is_ok_and(|it| !it.is_empty()))
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // Its number may be used again only when the shell has taken note.
        if self.shell.try_wait().is_ok_and(|ended| ended.is_none()) && self.process != 0 {
            // SAFETY: a system call on plain numbers.
            unsafe { libc::kill(self.process as i32, libc::SIGKILL) };
        }
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
