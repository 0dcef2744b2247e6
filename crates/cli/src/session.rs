//! `juror run` and `juror attach`: a session at the prompt or in batch mode.

pub mod batch;
pub mod console;
pub mod interrupt;
mod prompt;
pub mod replay;
mod self_check;

use crate::arguments::Common;
use crate::driver::Options;
use crate::exit;
use crate::output::Output;
use crate::web;
use juror_web::Static;

/// Runs a session with the program of the options, or attaches to `process`. Returns
/// the exit status.
pub fn run(
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
    } else {
        prompt::run(&mut console, &commands, has_properties)?
    };
    match check {
        Some(check) => self_check::conclude(&check.report(), console.output(), status),
        None => Ok(status),
    }
}
