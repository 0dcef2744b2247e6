//! The options of a session, from the arguments of `launch` and `attach`.

use super::Server;
use crate::debuggee_output::DebuggeeOutput;
use crate::protocol::arguments::Start;
use crate::protocol::message::Failure;
use crate::terminal;
use juror_monitoring::property_files::PropertySource;
use juror_session::{AutomaticCheckpoints, Options, RecordedRunOptions, Tier};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

impl Server<'_> {
    /// Returns the options of a session. Opens the streams of its program.
    pub(super) fn options_of(&mut self, start: &Start) -> Result<Options, Failure> {
        let below = |file: &String| below(start, file);
        let mut options = Options {
            program: start
                .program
                .as_ref()
                .map(PathBuf::from)
                .unwrap_or_default(),
            arguments: start.args.iter().flatten().map(OsString::from).collect(),
            core: start.core_file.as_ref().map(below),
            environment: environment(start)?,
            directory: start.cwd.as_ref().map(PathBuf::from),
            properties: read(start, &start.properties)?,
            scenarios: read(start, &start.scenarios)?,
            checkpoints: checkpoints(start.checkpoint.as_ref())?,
            tier: tier(start.tier.as_deref())?,
            ..self.host.options()
        };
        self.direct_streams(start, &mut options)?;
        if let Some(file) = &start.stdin {
            options.stdin = Some(below(file));
        }
        Ok(options)
    }

    /// Returns the options of a recorded run.
    pub(super) fn recording_of(&self, start: &Start) -> Result<RecordedRunOptions, Failure> {
        let file = start.recording.as_ref().map(|file| below(start, file));
        Ok(RecordedRunOptions {
            file: file.unwrap_or_default(),
            columns: start.columns.clone().unwrap_or_default(),
            properties: read(start, &start.properties)?,
            ..RecordedRunOptions::default()
        })
    }

    /// Directs the program's streams to pseudoterminals that the client shows.
    fn direct_streams(&mut self, start: &Start, options: &mut Options) -> Result<(), Failure> {
        match start.console.as_deref() {
            None | Some("internalConsole") => {}
            Some("integratedTerminal" | "externalTerminal") => {
                let terminal = terminal::open(&self.adapter, start)?;
                let tty = terminal.path.clone();
                self.terminal = Some(terminal);
                options.stdin = Some(tty.clone());
                options.stdout = Some(tty.clone());
                options.stderr = Some(tty);
                return Ok(());
            }
            Some(other) => {
                return Err(Failure::shown(format!(
                    "`{other}` is no console; there are internalConsole, integratedTerminal and \
                     externalTerminal"
                )));
            }
        }
        if self.adapter.output.is_none() {
            let opened = DebuggeeOutput::open(&self.adapter.outbox);
            let opened = opened
                .map_err(|error| Failure::shown(format!("no terminal can be opened: {error}")))?;
            self.adapter.output = Some(opened);
        }
        if let Some(output) = &self.adapter.output {
            options.stdin = Some(output.output().to_owned());
            options.stdout = Some(output.output().to_owned());
            options.stderr = Some(output.error().to_owned());
        }
        Ok(())
    }
}

/// Returns the path of a file that is relative to the working directory.
pub(super) fn below(start: &Start, file: &String) -> PathBuf {
    match &start.cwd {
        Some(directory) => Path::new(directory).join(file),
        None => PathBuf::from(file),
    }
}

/// Reads files of properties or scenarios; none for a program that runs without.
fn read(start: &Start, files: &Option<Vec<String>>) -> Result<Vec<PropertySource>, Failure> {
    let is_plain = start.no_debug == Some(true);
    let files = files.iter().flatten().filter(|_| !is_plain);
    let read = files.map(|file| PropertySource::read(&below(start, file)));
    read.collect::<Result<_, _>>().map_err(Failure::shown)
}

fn environment(start: &Start) -> Result<Vec<(OsString, Option<OsString>)>, Failure> {
    let given = start.env.iter().flatten();
    let changes = given.map(|(name, value)| {
        let value = match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => {
                return Err(Failure::shown(format!(
                    "the variable {name} of `env` must be a string or null"
                )));
            }
        };
        Ok((OsString::from(name), value.map(OsString::from)))
    });
    changes.collect()
}

fn checkpoints(given: Option<&Value>) -> Result<Option<AutomaticCheckpoints>, Failure> {
    let count = |value: &Value| u32::try_from(value.as_u64()?).ok().filter(|it| *it > 0);
    match given {
        None | Some(Value::Null | Value::Bool(false)) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some(AutomaticCheckpoints::Start)),
        Some(Value::String(word)) if word == "start" => Ok(Some(AutomaticCheckpoints::Start)),
        Some(value) => match count(value) {
            Some(count) => Ok(Some(AutomaticCheckpoints::Every(count))),
            None => Err(Failure::shown(
                "`checkpoint` is \"start\", or a number of events",
            )),
        },
    }
}

fn tier(word: Option<&str>) -> Result<Tier, Failure> {
    match word {
        None | Some("auto") => Ok(Tier::Auto),
        Some("native") => Ok(Tier::Native),
        Some("trap") => Ok(Tier::Trap),
        Some(other) => Err(Failure::shown(format!(
            "`{other}` is no tier; there are auto, native and trap"
        ))),
    }
}
