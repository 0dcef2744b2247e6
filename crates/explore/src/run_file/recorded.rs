//! Files of runs that are recorded while they are made.

use super::{PropertyText, RECORDED, RunFile};
use crate::error::ExploreError;
use crate::input::history::{self, CallSource};
use crate::input::{Ending, Entry, Inputs, Recorder, Tally, blocks};
use crate::modules::{ModuleId, identity};
use crate::outcome::Signature;
use crate::own_calls::OwnCalls;
use crate::points::PointSet;
use juror_debuggee::ThreadId;
use juror_monitoring::property_files::PropertySource;
use juror_program::program::Program;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// The run that is to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The file.
    pub path: PathBuf,
    /// The program, its arguments and the working directory.
    pub program: String,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The working directory.
    pub directory: String,
    /// The environment.
    pub environment: Vec<(String, String)>,
    /// The properties that are monitored.
    pub properties: Vec<PropertySource>,
    /// Whether each call stops, also those that the program could note itself.
    pub by_stops: bool,
    /// The number of entries that are recorded.
    pub tally: Arc<Tally>,
}

impl RunFile {
    /// Begins to record a run of a program, of which nothing has run but its dynamic linker.
    ///
    /// # Errors
    /// The file cannot be written, or the program cannot be controlled.
    pub fn record(
        recorded: &Recorded,
        program: &mut Program,
        main: ThreadId,
    ) -> Result<(), ExploreError> {
        let modules: Vec<ModuleId> = program.modules.iter().map(|it| identity(it)).collect();
        let properties = recorded.properties.iter().map(|source| PropertyText {
            file: source.file.clone(),
            text: source.text.clone(),
        });
        let header = RunFile {
            juror_run: RECORDED,
            program: recorded.program.clone(),
            arguments: recorded.arguments.clone(),
            directory: recorded.directory.clone(),
            real_files: true,
            modules,
            points: PointSet::Calls,
            spurious: 0,
            limit: u64::MAX,
            loops: Vec::new(),
            deviations: Vec::new(),
            properties: properties.collect(),
            environment: Some(recorded.environment.clone()),
            inputs: None,
            signature: Signature::Endless,
            hash: 0,
            seed: 0,
            run: 0,
            check: String::new(),
        };
        let failed = |reason| ExploreError::Recording {
            path: recorded.path.display().to_string(),
            reason,
        };
        let text = header.text().map_err(|error| failed(error.into()))?;
        let mut file = File::create(&recorded.path).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        let recorder = Recorder::new(file, Arc::clone(&recorded.tally));
        let inputs = Inputs::Recorded(Box::new(recorder));
        let own_calls = if recorded.by_stops {
            None
        } else {
            OwnCalls::install(program)?
        };
        header.put_under(program, main, (inputs, own_calls))
    }

    /// Returns what is in the file of a recorded run, to follow its name.
    #[cfg(test)]
    pub(super) fn recorded_words(&self) -> String {
        let tally = Tally::default();
        for entry in self.inputs.iter().flat_map(|entries| entries.iter()) {
            tally.count(entry);
        }
        tally.words().unwrap_or_default()
    }

    /// Returns what is known of the call with a number that a thread has made, of a recorded run.
    /// Threads and calls are counted from 0. `arguments` are those with which it was made, and
    /// `address` is in the memory that it has written, if that is meant.
    pub fn call_of(
        &self,
        (thread, call): (u32, usize),
        arguments: [u64; 6],
        address: Option<u64>,
    ) -> Option<CallSource> {
        history::source_of(self.inputs.as_deref()?, (thread, call), arguments, address)
    }

    /// Returns whether the run was recorded, with its inputs.
    pub fn is_recorded(&self) -> bool {
        self.inputs.is_some()
    }

    /// Returns the environment of a recorded run.
    pub fn environment(&self) -> Option<&[(String, String)]> {
        self.environment.as_deref()
    }

    /// Returns the run with the inputs of its blocks. Those of a file that was cut off lead up to where it
    /// was.
    pub(super) fn with_inputs(mut self, blocks: &[u8]) -> RunFile {
        let (mut entries, is_whole) = blocks::read(blocks);
        match entries.last() {
            Some(Entry::End { ending, hash }) => {
                self.signature = match *ending {
                    Ending::Exited(status) => Signature::Exit { status },
                    Ending::Killed(signal) => Signature::Signal {
                        signal,
                        place: None,
                    },
                };
                self.hash = *hash;
            }
            Some(Entry::Stops { .. }) => {}
            _ => {
                let reason = if is_whole {
                    "juror ended before the program, or was killed"
                } else {
                    "the file is damaged, or was cut off"
                };
                let reason = reason.to_owned();
                entries.push(Entry::Stops { reason });
            }
        }
        self.inputs = Some(Arc::new(entries));
        self
    }
}
