//! The `juror` command: command line, prompt, JSON lines, and the commands that need no
//! session.
//!
//! **Invariant**: nothing here is logic that another front end would need. All that is
//! shown comes as data from the session, and its text from `juror_text`.

#![forbid(unsafe_code)]

mod arguments;
mod check;
mod dap;
mod demo;
mod directories;
mod driver;
mod exit;
mod explore;
mod generate;
mod inevitable;
mod json;
#[cfg(feature = "models")]
mod model;
#[cfg(not(feature = "models"))]
#[path = "model_absent.rs"]
mod model;
mod output;
mod property;
mod record;
mod session;
mod token;
mod web;

use arguments::{Action, CommandLine};
use clap::CommandFactory;
use juror_text::messages;
use std::process::ExitCode;

/// The size of the stack, also if that of new programs is limited to less (setrlimit(2)).
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_panic));
    if has_room() {
        return run();
    }
    // The program is traced by the thread that starts it, which ends with juror.
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    match thread.spawn(run).map(std::thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        Ok(Err(_)) => ExitCode::from(exit::BUG),
        Err(_) => run(),
    }
}

/// Returns whether the stack of this thread can grow to the usual size.
fn has_room() -> bool {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max stack size"));
    let soft = limit.and_then(|limit| limit.split_whitespace().next());
    soft.and_then(|soft| soft.parse::<usize>().ok())
        .is_none_or(|soft| soft >= STACK_BYTES)
}

fn run() -> ExitCode {
    let result = match arguments::parse().action {
        Action::Run(run) => session::run(run.options(), &run.common, None),
        Action::Attach(attach) => {
            session::run(attach.options(), &attach.common, Some(attach.process))
        }
        Action::Check(check) => check::run(&check),
        Action::Replay(replay) if juror_explore::is_run_file(&replay.recording) => {
            explore::replay(replay.as_ref())
        }
        Action::Replay(replay) => session::replay::run(&replay),
        Action::Record(arguments) => record::run(&arguments),
        Action::Explore(arguments) => explore::run(&arguments),
        Action::Inevitable(arguments) => inevitable::run(&arguments),
        Action::Dap(dap) => dap::run(&dap),
        Action::Property(command) => property::run(&command),
        Action::Model(command) => model::run(&command),
        Action::Trust(command) => session::trust::run(&command),
        Action::Demo(demo) => demo::run(&demo),
        Action::Generate(generate) => generate::run(&generate, CommandLine::command()),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        // The reader of the output has gone, and would not see an error.
        Err(error) if is_broken_pipe(&error) => ExitCode::from(exit::USAGE),
        Err(error) => {
            output::write_last_words(&messages::error(&format!("{error:#}")));
            ExitCode::from(exit::USAGE)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Reports a panic as a bug in juror. The exit status is [`exit::BUG`].
fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic
        .payload_as_str()
        .unwrap_or("a panic without a message");
    let location = match panic.location() {
        Some(location) => format!("{}:{}", location.file(), location.line()),
        None => "an unknown location".to_owned(),
    };
    output::write_last_words(&messages::bug(&format!("{what}\nat {location}")));
}
