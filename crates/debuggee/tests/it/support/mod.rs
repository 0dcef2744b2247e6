//! Small C programs, compiled into a directory that goes away, and a loop that
//! runs them to their end.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod bare;
pub mod doomed;
pub mod family;
pub mod text;
pub mod watching;
pub mod workers;

use std::fs;
use std::path::PathBuf;

use juror_debuggee::{Debuggee, Launch, Owner, Redirection, StopEvent};
use juror_testing::compile_c;
use object::{Object, ObjectSymbol};
use tempfile::TempDir;

pub struct Program {
    pub directory: TempDir,
    pub path: PathBuf,
}

/// Compiles a C program; `flags` such as `-O2`.
#[track_caller]
pub fn compile(source: &str, flags: &[&str]) -> Program {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("program");
    compile_c(&path, source, flags);
    Program { directory, path }
}

impl Program {
    pub fn output_path(&self) -> PathBuf {
        self.directory.path().join("output")
    }

    /// A launch whose output goes to a file.
    pub fn launch(&self) -> Launch {
        Launch {
            input: Redirection::File("/dev/null".into()),
            output: Redirection::File(self.output_path()),
            ..Launch::new(&self.path)
        }
    }

    #[track_caller]
    pub fn start(&self) -> Debuggee {
        Debuggee::launch(&self.launch()).unwrap()
    }

    pub fn output(&self) -> String {
        fs::read_to_string(self.output_path()).unwrap()
    }

    /// The address of a symbol in memory.
    #[track_caller]
    pub fn address(&self, debuggee: &Debuggee, symbol: &str) -> u64 {
        let main = debuggee.modules().iter().find(|it| it.is_main).unwrap();
        main.bias + file_address(&self.path, symbol)
    }
}

/// The address of a symbol in its file.
#[track_caller]
pub fn file_address(path: &std::path::Path, symbol: &str) -> u64 {
    let data = fs::read(path).unwrap();
    let file = object::File::parse(&*data).unwrap();
    file.symbols()
        .chain(file.dynamic_symbols())
        .find(|it| it.name() == Ok(symbol) && it.address() != 0)
        .unwrap_or_else(|| panic!("no symbol {symbol}"))
        .address()
}

/// How a run ended, and what was told on the way.
#[derive(Debug, Default)]
pub struct Run {
    pub hits: usize,
    pub events: Vec<StopEvent>,
    /// The last stop event.
    pub end: Option<StopEvent>,
}

impl Run {
    #[track_caller]
    pub fn assert_exited(&self, status: i32) {
        assert_eq!(self.end, Some(StopEvent::Exited { status }));
    }
}

/// Runs to the end, resuming at once what waits.
#[track_caller]
pub fn run(debuggee: &mut Debuggee) -> Run {
    run_with(debuggee, |_, _| {})
}

/// Runs to the end; `look` sees each stop event before its thread is resumed.
#[track_caller]
pub fn run_with(debuggee: &mut Debuggee, mut look: impl FnMut(&mut Debuggee, &StopEvent)) -> Run {
    let mut run = Run::default();
    debuggee.resume_all().unwrap();
    loop {
        let event = debuggee.wait().unwrap();
        look(debuggee, &event);
        if let StopEvent::Exited { .. } | StopEvent::Killed { .. } = event {
            run.end = Some(event);
            return run;
        }
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
        match event {
            StopEvent::Hit { .. } => run.hits += 1,
            event => run.events.push(event),
        }
    }
}

/// Starts the program with points at these functions.
#[track_caller]
pub fn start_with_points(program: &Program, symbols: &[&str]) -> Debuggee {
    let mut debuggee = program.start();
    for symbol in symbols {
        let address = program.address(&debuggee, symbol);
        debuggee.insert(address, Owner::Monitor).unwrap();
    }
    debuggee
}

/// Returns whether a process runs without a tracer: neither stopped nor traced.
pub fn is_free(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let is_traced = !status.contains("TracerPid:\t0\n");
    let is_stopped = ["State:\tt", "State:\tT", "State:\tZ"];
    !is_traced && !is_stopped.iter().any(|state| status.contains(state))
}

/// Waits until a process has stopped for its tracer.
pub fn await_stop(process: u32) {
    let stat = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    while !stat().contains(") t ") {
        std::thread::yield_now();
    }
}

/// Whether the process still exists (a zombie does not).
pub fn is_running(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
