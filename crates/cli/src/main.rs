//! The `juror` command: a thin owner of its formats.
//!
//! Command line, terminal text, JSON lines, line editor, demo. Invariant: it
//! holds no logic that another front end would need; all it shows comes as
//! data from the session.

#![forbid(unsafe_code)]
// `driver::start` does not call back yet.

mod arguments;
mod batch;
mod check;
mod checkpoints;
mod code;
mod columns;
mod console;
mod counted;
mod demo;
mod diagnostics;
mod directories;
mod driver;
mod ending;
mod escape;
mod evaluations;
mod exit;
mod generate;
mod inspection;
mod interrupt;
mod json;
mod model_arguments;
mod model_asm;
mod model_command;
mod model_report;
mod model_simulate;
mod model_walk;
mod moments;
mod monitors;
mod outcome;
mod output;
mod page;
mod path;
mod places;
mod prompt;
mod properties;
mod property_arguments;
mod property_command;
mod recorded;
mod report;
mod scenarios;
mod self_check;
mod settings;
mod tables;
mod watched;

use arguments::{Action, CommandLine, Common};
use clap::CommandFactory;
use driver::Options;
use output::Output;
use std::io::IsTerminal;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_panic));
    let result = match arguments::parse().action {
        Action::Run(run) => start(run.options(), &run.common, None),
        Action::Attach(attach) => start(attach.options(), &attach.common, Some(attach.process)),
        Action::Check(check) => check::run(&check),
        Action::Replay(replay) => recorded::run(&replay),
        Action::Property(command) => property_command::run(&command),
        Action::Model(command) => model_command::run(&command),
        Action::Demo(demo) => demo::run(&demo),
        Action::Generate(generate) => generate::run(&generate, CommandLine::command()),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        // Who closed our output does not read an error either.
        Err(error) if is_broken_pipe(&error) => ExitCode::from(exit::USAGE),
        Err(error) => {
            output::write_last_words(&output::error_text(&format!("{error:#}")));
            ExitCode::from(exit::USAGE)
        }
    }
}

/// Does what the command line asks for: with a program, or with a `process`
/// that is to be attached to. Gives the exit status.
fn start(
    options: anyhow::Result<Options>,
    common: &Common,
    process: Option<u32>,
) -> anyhow::Result<u8> {
    let mut output = Output::open(common.messages.color, common.json.as_deref(), !common.batch)?;
    let prepared = options.and_then(|options| Ok((options, prompt::commands(&common.scripts)?)));
    let (options, commands) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            output.show_error(&format!("{error:#}"))?;
            return Ok(exit::USAGE);
        }
    };
    let has_properties = !options.properties.is_empty() || !options.scenarios.is_empty();
    let check = options.self_check.clone();
    let mut console = match console::open(options, output)? {
        Ok(console) => console,
        Err(status) => return Ok(status),
    };
    if let Some(process) = process
        && console.perform(&format!("attach {process}"))?.is_none()
    {
        return Ok(exit::USAGE);
    }
    let status = if common.batch {
        batch::run(&mut console, &commands, common.keep_going)?
    } else if std::io::stdin().is_terminal() {
        let mut lines = prompt::Typed::new(console.driver())?;
        prompt::converse(&mut console, &commands, has_properties, &mut lines)?
    } else {
        let mut lines = prompt::Piped::standard_input()?;
        prompt::converse(&mut console, &commands, has_properties, &mut lines)?
    };
    match check {
        Some(check) => self_check::conclude(&check.report(), console.output(), status),
        None => Ok(status),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// A panic is a bug of ours; its exit status is [`exit::BUG`].
fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic
        .payload_as_str()
        .unwrap_or("a panic without a message");
    let place = match panic.location() {
        Some(location) => format!("{}:{}", location.file(), location.line()),
        None => "an unknown place".to_owned(),
    };
    output::write_last_words(&output::bug_text(&format!("{what}\nat {place}")));
}
