//! `juror replay`: a recorded run at the prompt.

use crate::arguments::Replay;
use crate::exit;
use crate::output::Output;
use crate::session::console::Console;
use crate::session::interrupt::{self, Running};
use crate::session::scripts::Commands;
use crate::session::{prompt, scripts};
use crate::web::{self, Mode, Static};
use juror_session::{RecordedRun, RecordedRunOptions};
use std::path::Path;

/// Runs `juror replay`. Returns the exit status.
pub fn run(replay: &Replay) -> anyhow::Result<u8> {
    open(replay, true)?.map_or_else(Ok, |mut opened| {
        let (commands, runs) = (&opened.commands, opened.has_properties);
        Ok(prompt::run(&mut opened.console, commands, runs)?)
    })
}

/// Goes to the first violation of a recorded run, or to its end, and writes a report. Returns the
/// exit status.
pub fn report(replay: &Replay) -> anyhow::Result<u8> {
    open(replay, false)?.map_or_else(Ok, |opened| {
        let mut console = opened.console;
        console.perform(console.first_command())?;
        Ok(console.leave()?)
    })
}

/// A recorded run that is to be replayed.
struct Opened {
    console: Console,
    /// The commands to execute first.
    commands: Vec<Commands>,
    has_properties: bool,
}

/// Opens a recorded run. If it fails, shows why and returns the exit status as the error.
fn open(replay: &Replay, has_prompt: bool) -> anyhow::Result<Result<Opened, u8>> {
    let mut output = Output::open(replay.messages.color, replay.json.as_deref(), has_prompt)?;
    let prepared = options(replay).and_then(|it| Ok((it, scripts::read(&replay.scripts)?)));
    let (options, commands) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            output.show_error(&format!("{error:#}"))?;
            return Ok(Err(exit::USAGE));
        }
    };
    let name = options.file.display().to_string();
    let fixed = Static {
        mode: Mode::Recorded,
        program: name.clone(),
        ..Static::default()
    };
    if let Err(error) = web::begin(replay.web.as_ref(), fixed, &mut output) {
        output.show_error(&format!("{error:#}"))?;
        return Ok(Err(exit::USAGE));
    }
    output.begin_check(&options.properties, &[name])?;
    let driver = match RecordedRun::open(&options, &mut output) {
        Ok(driver) => driver,
        Err(error) => return Ok(Err(output.show_session_error(&error)?)),
    };
    let running = Running::default();
    interrupt::install(&running, &driver)?;
    if let Some(page) = output.page() {
        page.connect(&driver);
    }
    let has_properties = !options.properties.is_empty();
    let console = Console::new(Box::new(driver), output, running);
    Ok(Ok(Opened {
        console,
        commands,
        has_properties,
    }))
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
