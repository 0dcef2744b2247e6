//! Small programs, and a loop that runs them to a number of hits.

use juror_checkpoint::Checkpoint;
use juror_debuggee::{Debuggee, Launch, Owner, PidNamespace, Redirection, StopEvent};
use juror_testing::compile_c;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub struct Program {
    pub directory: TempDir,
    pub path: PathBuf,
}

/// Compiles a C program.
#[track_caller]
pub fn compile(source: &str) -> Program {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program");
    compile_c(&path, source, &["-O1"]);
    Program { directory, path }
}

impl Program {
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts it with a file and further arguments; what it says goes to
    /// `output`.
    #[track_caller]
    pub fn start(&self, arguments: &[&str]) -> Debuggee {
        self.start_in(PidNamespace::Shared, arguments)
    }

    #[track_caller]
    fn start_in(&self, namespace: PidNamespace, arguments: &[&str]) -> Debuggee {
        let mut launch = Launch::new(&self.path);
        launch.arguments = vec![self.file("lines").into()];
        launch.arguments.extend(arguments.iter().map(Into::into));
        launch.input = Redirection::File("/dev/null".into());
        launch.output = Redirection::File(self.file("output"));
        launch.pid_namespace = namespace;
        Debuggee::launch(&launch).unwrap()
    }

    /// The same, with a point at a function.
    #[track_caller]
    pub fn start_at(&self, function: &str, arguments: &[&str]) -> Debuggee {
        self.with_point(self.start(arguments), function)
    }

    /// The same, where threads can get their old numbers: in a PID namespace if this user may
    /// not choose numbers otherwise. None, with a line on standard error, if the system forbids
    /// such a namespace.
    #[track_caller]
    pub fn start_keeping_numbers_at(&self, function: &str, arguments: &[&str]) -> Option<Debuggee> {
        let debuggee = self.start_in(PidNamespace::NewIfNeeded, arguments);
        if let Some(refusal) = debuggee.namespace_refusal() {
            eprintln!("skipped: {refusal}");
            return None;
        }
        Some(self.with_point(debuggee, function))
    }

    #[track_caller]
    fn with_point(&self, mut debuggee: Debuggee, function: &str) -> Debuggee {
        let address = symbol(&self.path, function) + debuggee.modules()[0].bias;
        debuggee.insert(address, Owner::Monitor).unwrap();
        debuggee
    }

    pub fn output(&self) -> String {
        std::fs::read_to_string(self.file("output")).unwrap()
    }
}

/// Runs until so many hits have come, and then stops all threads; to the end
/// where the program ends before, or for 0 hits.
#[track_caller]
pub fn run_hits(debuggee: &mut Debuggee, count: u64) -> Option<StopEvent> {
    let mut hits = 0;
    debuggee.resume_all().unwrap();
    loop {
        let event = debuggee.wait().unwrap();
        match event {
            StopEvent::Exited { .. } | StopEvent::Killed { .. } => return Some(event),
            StopEvent::Hit { .. } => hits += 1,
            _ => {}
        }
        if hits == count && count > 0 {
            debuggee.halt_all().unwrap();
            return None;
        }
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
}

/// Brings a process back with all points that it had.
#[track_caller]
pub fn restore(checkpoint: &Checkpoint, debuggee: &mut Debuggee) {
    let points = checkpoint.process().points().to_vec();
    let restored = checkpoint.restore(Some(debuggee), &points).unwrap();
    assert_eq!(restored.losses, checkpoint.losses());
    *debuggee = restored.thawed.debuggee;
}

/// The address of a function in its file, by `nm`.
pub fn symbol(program: &Path, name: &str) -> u64 {
    let output = Command::new("nm").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(name));
    u64::from_str_radix(line.unwrap().split(' ').next().unwrap(), 16).unwrap()
}
