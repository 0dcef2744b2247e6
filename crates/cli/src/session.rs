//! `juror run` and `juror attach`: a session at the prompt or in batch mode.

pub mod batch;
pub mod console;
pub mod init;
pub mod interrupt;
mod prompt;
pub mod replay;
pub mod scripts;
pub mod self_check;
pub mod time_limit;
pub mod trust;

use crate::arguments::Common;
use crate::driver::{Observer as _, Options};
use crate::exit;
use crate::output::Output;
use crate::web::{self, Static};
use juror_view::Ending;
use std::io::IsTerminal as _;
use time_limit::TimeLimit;

/// Runs a session with the program or the core file of the options, or attaches to `process`. Returns
/// the exit status.
pub fn run(
    options: anyhow::Result<Options>,
    common: &Common,
    process: Option<u32>,
) -> anyhow::Result<u8> {
    let mut output = Output::open(common.messages.color, common.json.as_deref(), !common.batch)?;
    let prepared = options.and_then(|options| {
        let options = Options {
            catch_panics: !common.batch && std::io::stdin().is_terminal(),
            is_interactive: !common.batch && std::io::stdin().is_terminal(),
            ..options
        };
        Ok((options, scripts::read(&common.scripts)?))
    });
    let (options, commands) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            output.show_error(&format!("{error:#}"))?;
            return Ok(exit::USAGE);
        }
    };
    let commands = if common.no_init {
        commands
    } else {
        [init::read(&mut |why| output.notice(why)), commands].concat()
    };
    let options = Options {
        views: commands.iter().flat_map(scripts::Commands::views).collect(),
        ..options
    };
    let fixed = Static {
        program: options.program.display().to_string(),
        arguments: options
            .arguments
            .iter()
            .map(|it| it.to_string_lossy().into_owned())
            .collect(),
        ..Static::default()
    };
    if let Err(error) = web::begin(common.web.as_ref(), fixed, &mut output) {
        output.show_error(&format!("{error:#}"))?;
        return Ok(exit::USAGE);
    }
    let has_properties = !options.properties.is_empty()
        || !options.scenarios.is_empty()
        || options.schedule.is_some();
    let check = options.self_check.clone();
    let has_core = options.core.is_some();
    let has_program = has_core || process.is_some() || !options.program.as_os_str().is_empty();
    let mut console = match console::open(options, output)? {
        Ok(console) => console,
        Err(status) => return Ok(status),
    };
    if let Some(process) = process
        && console.perform(&format!("attach {process}"))?.is_none()
    {
        return Ok(exit::USAGE);
    }
    if has_core && console.perform("core-file")?.is_none() {
        return Ok(exit::USAGE);
    }
    let status = if common.batch {
        let limit = match common.timeout {
            Some(time) => TimeLimit::start(time, console.driver().borrow().as_ref())?,
            None => TimeLimit::default(),
        };
        if !has_program {
            console.expect_no_run();
        }
        batch::run(&mut console, &commands, common.keep_going, &limit)?
    } else {
        prompt::run(&mut console, &commands, has_properties)?
    };
    let status = match console.asked_status() {
        Some(asked) => asked,
        None => with_ending(status, console.ending(), console.has_crashed(), common),
    };
    match check {
        Some(check) => self_check::conclude(&check.report(), console.output(), status),
        None => Ok(status),
    }
}

/// Returns the exit status with that of the program, if it was asked for and each property holds.
fn with_ending(status: u8, ending: Option<Ending>, has_crashed: bool, common: &Common) -> u8 {
    if status != exit::HOLDS {
        return status;
    }
    match ending {
        _ if common.fail_on_crash && has_crashed => exit::CRASHED,
        _ if !common.return_child_result => status,
        Some(Ending::Exited { status }) => u8::try_from(status & 0xff).unwrap_or(exit::BUG),
        // As a shell tells it.
        Some(Ending::Killed { signal }) => u8::try_from(128 + (signal & 0x7f)).unwrap_or(exit::BUG),
        _ => exit::NO_CHILD_RESULT,
    }
}
