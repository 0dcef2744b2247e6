//! `juror record`: an ordinary run, whose inputs are kept.

use crate::arguments::Record;
use crate::output::Output;
use crate::session;
use anyhow::{Context, anyhow};
use juror_explore::RunFile;
use juror_session::free_name;

/// Runs `juror record`. Returns the exit status.
pub fn run(record: &Record) -> anyhow::Result<u8> {
    let path = match &record.output {
        Some(path) => path.clone(),
        None => free_name(record.program()).map_err(|error| anyhow!(error.message))?,
    };
    let run = record.run()?;
    let options = run
        .options()
        .map(|options| options.recording_run(path.clone()));
    let status = session::run(options, &run.common, None)?;
    let file = match RunFile::read(&path) {
        Ok(file) => file,
        // The program could not be started, which has been said.
        Err(_) if !path.exists() => return Ok(status),
        Err(error) => return Err(error).context("the run was not recorded"),
    };
    let mut output = Output::open(record.messages.color, None, false)?;
    let what = file.recorded_words();
    output.say(&format!("recorded in {}{what}\n", path.display()))?;
    Ok(status)
}
