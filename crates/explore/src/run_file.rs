//! The file of a run: what was chosen, and by what the run is known again.
//!
//! A JSON document (RFC 8259). `juror_run` is the version, which is 1. A run is the usual one (each
//! thread goes on until it waits, then the next one in the order of creation) but for its
//! *deviations*: `{"thread": "main/1", "point": 3, "part": 0, "choice": "run", "goes": "main/2"}` says
//! that at the third point of the first thread that main made, main's second thread goes on. `part`
//! counts the decisions at one point; other choices than `run` are `deliver` (a signal), `timeout`,
//! `spurious` (a wait ends for no reason) and `wake` (of those who wait for a word).
//! A *recorded* run (version 2) is the usual one in all its choices. Its document is the first line of the
//! file; blocks of inputs follow (`input::blocks`), the last of which has its end.
//!
//! `check` is a checksum (FNV-1a, 64 bits) of this document with an empty one.

mod deviations;
mod recorded;

pub use recorded::Recorded;

use crate::control::Control;
use crate::error::ExploreError;
use crate::input::{Entry, Feeder, Inputs};
use crate::modules::{ModuleId, check_modules, fingerprint, identity};
use crate::outcome::Signature;
use crate::own_calls::OwnCalls;
use crate::points::{KnownSites, PointSet};
use crate::runner::{Ended, Limits, Plan, Runner, Streams};
use crate::world::{Files, Worlds};
use deviations::Written;
use juror_debuggee::{ThreadControl, ThreadId, World};
use juror_monitoring::property_files::PropertySource;
use juror_program::program::Program;
use juror_schedule::{Deviation, Options, Replay, Strategy};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The version of the files that are written.
const VERSION: u32 = 1;

/// The longest time of a run that is made again: the number of its points is its limit.
const TIME_MAX: Duration = Duration::from_secs(120);

/// The version of those that are recorded.
const RECORDED: u32 = 2;

/// The largest file that is read.
const SIZE_MAX: u64 = 64 << 20;
const RECORDED_SIZE_MAX: u64 = 4 << 30;

/// Why a file is no run.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// It cannot be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: std::io::Error,
    },
    /// It is not what a run's file is.
    #[error("{}: this is not the file of a run, or it is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A later juror wrote it.
    #[error("{}: version {version} of the file of a run is not known here", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// The schedule of a run, beside its choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) points: PointSet,
    pub(crate) spurious: u32,
    /// The number of points after which the run is taken not to end.
    pub(crate) limit: u64,
}

impl Schedule {
    pub(crate) fn options(self) -> Options {
        Options {
            spurious: self.spurious,
            ..Options::default()
        }
    }
}

/// Returns whether a file is that of a run, and no recording of events.
pub fn is_run_file(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "run") || begins_like_run(path)
}

fn begins_like_run(path: &Path) -> bool {
    const BEGIN: &[u8] = b"{\"juror_run\"";
    let mut begin = [0; BEGIN.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == BEGIN
}

/// A run that can be made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    juror_run: u32,
    program: String,
    arguments: Vec<String>,
    /// The working directory.
    directory: String,
    /// Whether the run changed the files of its user.
    #[serde(default)]
    real_files: bool,
    /// The program and its libraries: their paths and build ids.
    modules: Vec<ModuleId>,
    points: PointSet,
    spurious: u32,
    /// The number of points after which the run is taken not to end.
    limit: u64,
    /// The loops that have a point: the number of the module, and the address in its file.
    #[serde(default)]
    loops: Vec<(usize, u64)>,
    deviations: Vec<Written>,
    /// The properties that were monitored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    properties: Vec<PropertyText>,
    /// The environment, of a recorded run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    environment: Option<Vec<(String, String)>>,
    /// The inputs of a recorded run.
    #[serde(skip)]
    inputs: Option<Arc<Vec<Entry>>>,
    /// The end of the run.
    pub signature: Signature,
    /// The hash of what was seen at the points.
    hash: u64,
    /// The seed of the search.
    pub(crate) seed: u64,
    /// The number of the run in the search.
    pub(crate) run: u32,
    /// The checksum of all else.
    check: String,
}

/// Why a text is no run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Flaw {
    Damaged(String),
    Version(u32),
}

/// A file of properties.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PropertyText {
    file: String,
    text: String,
}

impl RunFile {
    pub(crate) fn new(runner: &Runner, schedule: Schedule, ended: &Ended) -> RunFile {
        RunFile {
            juror_run: VERSION,
            // Found in PATH, or from the directory: that of the main module is the same everywhere.
            program: match ended.modules.first() {
                Some((path, _)) => path.clone(),
                None => runner.program.clone(),
            },
            arguments: runner.arguments.clone(),
            directory: runner.directory.clone(),
            real_files: runner.worlds.files() == Files::Real,
            modules: ended.modules.clone(),
            points: schedule.points,
            spurious: schedule.spurious,
            limit: schedule.limit,
            loops: ended.loops.clone(),
            deviations: ended.deviations.iter().map(Written::of).collect(),
            properties: {
                let sources = runner.properties.sources().iter();
                let text = |source: &PropertySource| PropertyText {
                    file: source.file.clone(),
                    text: source.text.clone(),
                };
                sources.map(text).collect()
            },
            environment: None,
            inputs: None,
            signature: ended.outcome.signature(),
            hash: ended.hash,
            seed: 0,
            run: 0,
            check: String::new(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is no run.
    pub fn read(path: &Path) -> Result<RunFile, RunFileError> {
        let file = |reason| RunFileError::File {
            path: path.to_owned(),
            reason,
        };
        let damaged = |reason: String| RunFileError::Damaged {
            path: path.to_owned(),
            reason,
        };
        let metadata = std::fs::metadata(path).map_err(file)?;
        let size = metadata.len();
        if !metadata.is_file() {
            return Err(damaged(
                "it is no file, but a device, a pipe or a directory".to_owned(),
            ));
        }
        if size > RECORDED_SIZE_MAX {
            return Err(damaged("it is too large".to_owned()));
        }
        let text = std::fs::read(path).map_err(file)?;
        RunFile::parse(&text).map_err(|flaw| match flaw {
            Flaw::Damaged(reason) => damaged(reason),
            Flaw::Version(version) => RunFileError::Version {
                path: path.to_owned(),
                version,
            },
        })
    }

    fn parse(text: &[u8]) -> Result<RunFile, Flaw> {
        let damaged = |error: serde_json::Error| Flaw::Damaged(error.to_string());
        let end = text.iter().position(|byte| *byte == b'\n');
        let (text, rest) = text.split_at(end.map_or(text.len(), |end| end + 1));
        let value: serde_json::Value = serde_json::from_slice(text).map_err(damaged)?;
        let version = value.get("juror_run").and_then(serde_json::Value::as_u64);
        let is_recorded = match version.map(|it| u32::try_from(it).unwrap_or(u32::MAX)) {
            Some(VERSION) => false,
            Some(RECORDED) => true,
            Some(version) => return Err(Flaw::Version(version)),
            None => return Err(Flaw::Damaged("juror_run is missing".to_owned())),
        };
        if !is_recorded && (!rest.is_empty() || text.len() as u64 > SIZE_MAX) {
            return Err(Flaw::Damaged("something follows its first line".to_owned()));
        }
        let run: RunFile = serde_json::from_value(value).map_err(damaged)?;
        for written in &run.deviations {
            if written.deviation().is_none() {
                let reason = format!("{} or {} is no thread", written.thread, written.goes);
                return Err(Flaw::Damaged(reason));
            }
        }
        if run.check != run.checksum().map_err(damaged)? {
            return Err(Flaw::Damaged("its checksum is another one".to_owned()));
        }
        if is_recorded {
            return Ok(run.with_inputs(rest));
        }
        Ok(run)
    }

    /// Returns the checksum of all but itself.
    fn checksum(&self) -> Result<String, serde_json::Error> {
        let unchecked = RunFile {
            check: String::new(),
            ..self.clone()
        };
        let text = serde_json::to_vec(&unchecked)?;
        Ok(format!("{:016x}", fingerprint(&text)))
    }

    /// Returns the text of the file.
    fn text(&self) -> Result<String, serde_json::Error> {
        let checked = RunFile {
            check: self.checksum()?,
            ..self.clone()
        };
        Ok(serde_json::to_string(&checked)? + "\n")
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), RunFileError> {
        let failed = |reason| RunFileError::File {
            path: path.to_owned(),
            reason,
        };
        let text = self.text().map_err(|error| failed(error.into()))?;
        write_whole(path, &text).map_err(failed)
    }

    /// Returns the program, its arguments and the working directory.
    pub fn command(&self) -> (String, Vec<String>, String) {
        let RunFile {
            program,
            arguments,
            directory,
            ..
        } = self.clone();
        (program, arguments, directory)
    }

    /// Returns the properties that were monitored.
    pub fn properties(&self) -> Vec<PropertySource> {
        let files = self.properties.iter().cloned();
        let source = |it: PropertyText| PropertySource::with_used(it.file, it.text);
        files.map(source).collect()
    }

    /// Returns what the run did to files.
    pub fn files(&self) -> Files {
        if self.real_files {
            Files::Real
        } else {
            Files::Kept
        }
    }

    /// Returns the same run, which changes files.
    #[must_use]
    pub fn with_real_files(self) -> RunFile {
        RunFile {
            real_files: true,
            ..self
        }
    }

    /// Returns the world in which the run is made again; none if it changes files.
    ///
    /// # Errors
    /// There can be none.
    pub fn world(&self) -> Result<Option<Arc<World>>, ExploreError> {
        if self.is_recorded() {
            return Ok(None);
        }
        Worlds::new(self.files(), &self.program, &self.directory).take()
    }

    /// Returns the set of points.
    pub fn points(&self) -> PointSet {
        self.points
    }

    /// Returns the number of deviations from the usual order.
    pub fn deviation_count(&self) -> usize {
        self.deviations.len()
    }

    /// Returns the options of the scheduler.
    pub fn options(&self) -> Options {
        let schedule = Schedule {
            points: self.points,
            spurious: self.spurious,
            limit: self.limit,
        };
        schedule.options()
    }

    /// Returns the deviations.
    pub fn schedule_deviations(&self) -> Vec<Deviation> {
        let written = self.deviations.iter();
        written.filter_map(Written::deviation).collect()
    }

    /// Makes the run again.
    ///
    /// # Errors
    /// The program cannot be started or controlled, or was changed.
    pub fn replay(
        &self,
        runner: &Runner,
        streams: Streams,
        explains: bool,
    ) -> Result<Ended, ExploreError> {
        let plan = Plan {
            points: self.points,
            streams,
            options: self.options(),
            expected: Some(&self.modules),
            explains,
            predicts: false,
            limits: Limits {
                points: self.limit,
                time: TIME_MAX,
            },
        };
        runner.sites.begin_with(&self.loops);
        let strategy = Strategy::Replay(Replay::new(&self.schedule_deviations()));
        runner.run(plan, strategy)
    }

    /// Puts a program, of which nothing has run but its dynamic linker, under the schedule of this
    /// run.
    ///
    /// # Errors
    /// The program was changed, or cannot be controlled.
    pub fn take_control(&self, program: &mut Program, main: ThreadId) -> Result<(), ExploreError> {
        let modules: Vec<ModuleId> = program.modules.iter().map(|it| identity(it)).collect();
        check_modules(&self.modules, &modules)?;
        let inputs = match &self.inputs {
            Some(entries) => Inputs::Fed(Box::new(Feeder::new(entries))),
            None => Inputs::Own,
        };
        self.put_under(program, main, (inputs, None))
    }

    /// Puts a program under the schedule of this run, with these inputs.
    fn put_under(
        &self,
        program: &mut Program,
        main: ThreadId,
        (inputs, own_calls): (Inputs, Option<OwnCalls>),
    ) -> Result<(), ExploreError> {
        let sites = KnownSites::default().find(program, &self.modules, self.points);
        let options = Options {
            points_max: self.limit,
            is_time_virtual: !inputs.are_kept(),
            ..self.options()
        };
        let strategy = Strategy::Replay(Replay::new(&self.schedule_deviations()));
        let control = Control::new(sites, options, strategy).with_inputs(inputs);
        let mut control = control.with_own_calls(own_calls);
        control.note_communication();
        if self.files() != Files::Real {
            control.note_own_world();
        }
        control.start(&mut program.debuggee, main)?;
        let control: Box<dyn ThreadControl> = Box::new(control);
        program.debuggee.set_thread_control(Some(control));
        Ok(())
    }

    /// Returns whether a run ended as this one did, having been the same at all points.
    pub fn is_same(&self, ended: &Ended) -> bool {
        self.signature == ended.outcome.signature() && self.hash == ended.hash
    }
}

/// Writes a file of which there is all or nothing: under another name, until it is whole.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = Path::new(&name);
    let written = (|| {
        let mut file = std::fs::File::create(part)?;
        file.write_all(text.as_bytes())?;
        // Some file systems say only now that they are full.
        file.sync_all()?;
        std::fs::rename(part, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(part);
    }
    written
}

#[cfg(test)]
mod tests;
