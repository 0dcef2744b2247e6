//! `juror record`: an ordinary run, whose inputs are kept.

use crate::arguments::Record;
use crate::output::Output;
use crate::session;
use anyhow::bail;
use juror_explore::Tally;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most files of runs of one program in a directory.
const NUMBERS_MAX: u32 = 100_000;

/// Runs `juror record`. Returns the exit status.
pub fn run(record: &Record) -> anyhow::Result<u8> {
    let path = match &record.output {
        Some(path) => path.clone(),
        None => free_name(record.program())?,
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

/// Returns the name of the next file of a run of a program, in this directory.
fn free_name(program: &Path) -> anyhow::Result<PathBuf> {
    let name = program.file_name().unwrap_or(OsStr::new("program"));
    for number in 1..NUMBERS_MAX {
        let mut name: OsString = name.to_owned();
        name.push(format!(".{number}.run"));
        let path = PathBuf::from(name);
        if !path.exists() {
            return Ok(path);
        }
    }
    bail!("too many files of runs are in this directory: remove some, or name one with -o");
}
