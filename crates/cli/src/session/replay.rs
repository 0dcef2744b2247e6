//! `juror replay`: a recorded run at the prompt.

use crate::arguments::Replay;
use crate::exit;
use crate::output::Output;
use crate::session::console::Console;
use crate::session::interrupt::{self, Running};
use crate::session::{prompt, scripts};
use juror_session::{RecordedRun, RecordedRunOptions};
use std::path::Path;

/// Runs `juror replay`. Returns the exit status.
pub fn run(replay: &Replay) -> anyhow::Result<u8> {
    let mut output = Output::open(replay.messages.color, replay.json.as_deref(), true)?;
    let prepared = options(replay).and_then(|it| Ok((it, scripts::read(&replay.scripts)?)));
    let (options, commands) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            output.show_error(&format!("{error:#}"))?;
            return Ok(exit::USAGE);
        }
    };
    let name = options.file.display().to_string();
    output.begin_check(&options.properties, &[name])?;
    let driver = match RecordedRun::open(&options, &mut output) {
        Ok(driver) => driver,
        Err(error) => return Ok(output.show_session_error(&error)?),
    };
    let running = Running::default();
    interrupt::install(&running, &driver)?;
    let mut console = Console::new(Box::new(driver), output, running);
    let has_properties = !options.properties.is_empty();
    Ok(prompt::run(&mut console, &commands, has_properties)?)
}

fn options(replay: &Replay) -> anyhow::Result<RecordedRunOptions> {
    if replay.recording == Path::new("-") {
        anyhow::bail!("standard input is for commands: give the file of the recording");
    }
    Ok(RecordedRunOptions {
        file: replay.recording.clone(),
        form: replay.trace_format.form(),
        columns: replay.columns.clone(),
        properties: replay.sources()?,
        history: replay.history.unwrap_or_default(),
    })
}
