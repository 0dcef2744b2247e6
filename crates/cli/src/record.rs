//! `juror record`: an ordinary run, whose inputs are kept.

use crate::arguments::Record;
use crate::output::Output;
use crate::session;
use anyhow::anyhow;
use juror_explore::Tally;
use juror_session::free_name;
use std::sync::Arc;

/// Runs `juror record`. Returns the exit status.
pub fn run(record: &Record) -> anyhow::Result<u8> {
    let path = match &record.output {
        Some(path) => path.clone(),
        None => free_name(record.program()).map_err(|error| anyhow!(error.message))?,
    };
    let run = record.run()?;
    let tally = Arc::new(Tally::default());
    let options = run
        .options()
        .map(|options| options.recording_run(path.clone(), record.by_stops, Arc::clone(&tally)));
    let status = session::run(options, &run.common, None)?;
    let Some(what) = tally.words() else {
        // The program could not be started, which has been said.
        return Ok(status);
    };
    let mut output = Output::open(record.messages.color, None, false)?;
    output.say(&format!("recorded in {}{what}\n", path.display()))?;
    Ok(status)
}
