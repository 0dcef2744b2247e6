//! The self-check of live runs: the inputs and operations of the engine are
//! checked by [`Checker`], and written to a log if requested, which is read
//! again at the end.
//!
//! Invariant: without it, the cost is one branch per input.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use juror_stepping::{Checker, Input, Operation, StepBy, begin_line, check_log, input_line};

/// A self-check, shared by everything that starts a process under it.
#[derive(Debug, Clone)]
pub struct SelfCheck(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    log: Option<BufWriter<File>>,
    path: PathBuf,
    engines: u32,
    inputs: u64,
    violation: Option<String>,
    write_error: Option<std::io::Error>,
}

/// The results of a self-check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfCheckReport {
    /// The number of inputs that were checked.
    pub inputs: u64,
    /// The first violation, which is a bug in juror.
    pub violation: Option<String>,
    /// The reason why the log is incomplete, if it is.
    pub log_error: Option<String>,
}

/// The self-check of one debuggee.
#[derive(Debug)]
pub(crate) struct EngineCheck {
    check: SelfCheck,
    engine: u32,
    checker: Checker,
}

impl SelfCheck {
    /// Returns a self-check without a log.
    pub fn new() -> SelfCheck {
        SelfCheck(Arc::default())
    }

    /// Returns a self-check that writes a log, in which a violation can be
    /// looked up.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn with_log(path: &Path) -> std::io::Result<SelfCheck> {
        let log = Some(BufWriter::new(File::create(path)?));
        let state = State {
            log,
            path: path.to_owned(),
            ..State::default()
        };
        Ok(SelfCheck(Arc::new(Mutex::new(state))))
    }

    /// Returns the results so far; the log is complete up to here, and has been
    /// read again.
    pub fn report(&self) -> SelfCheckReport {
        self.with(|state| {
            if let Some(log) = &mut state.log
                && let Err(error) = log.flush().and_then(|()| state.read_again())
            {
                state.write_error.get_or_insert(error);
            }
            SelfCheckReport {
                inputs: state.inputs,
                violation: state.violation.clone(),
                log_error: state.write_error.as_ref().map(ToString::to_string),
            }
        })
    }

    /// Records a violation that another check of juror has found; the first of
    /// all is kept.
    pub fn record_violation(&self, words: String) {
        self.with(|state| {
            state.violation.get_or_insert(words);
        });
    }

    /// Begins to check one more engine.
    pub(crate) fn start_engine_check(&self, step_by: StepBy) -> Box<EngineCheck> {
        let engine = self.with(|state| {
            state.engines += 1;
            let engine = state.engines;
            state.write(|| begin_line(engine, step_by));
            engine
        });
        Box::new(EngineCheck {
            check: self.clone(),
            engine,
            checker: Checker::new(step_by),
        })
    }

    fn with<T>(&self, action: impl FnOnce(&mut State) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for SelfCheck {
    fn default() -> SelfCheck {
        SelfCheck::new()
    }
}

/// Compares identities: whether it is the same self-check, not one with the
/// same results.
impl PartialEq for SelfCheck {
    fn eq(&self, other: &SelfCheck) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl State {
    fn read_again(&mut self) -> std::io::Result<()> {
        let mut failed = None;
        let lines = BufReader::new(File::open(&self.path)?).lines();
        let lines = lines.map_while(|line| line.map_err(|error| failed = Some(error)).ok());
        let checked = check_log(lines);
        if let Some(error) = failed {
            return Err(error);
        }
        let place = self.path.display();
        let wrong = match checked {
            Ok(inputs) if inputs == self.inputs => return Ok(()),
            Ok(inputs) => format!("{place} has {inputs} of {} inputs", self.inputs),
            Err(error) => format!("{place}, {error}"),
        };
        self.violation.get_or_insert(wrong);
        Ok(())
    }

    fn write(&mut self, line: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log
            && let Err(error) = writeln!(log, "{}", line())
        {
            self.write_error.get_or_insert(error);
        }
    }
}

impl EngineCheck {
    /// Returns the self-check to which this one belongs.
    pub(crate) fn check(&self) -> &SelfCheck {
        &self.check
    }

    pub(crate) fn take(&mut self, input: &Input, ordered: &[Operation]) {
        let followed = self.checker.follow(input, ordered);
        let engine = self.engine;
        self.check.with(|state| {
            state.inputs += 1;
            state.write(|| input_line(engine, input, ordered));
            if let Err(violation) = followed
                && state.violation.is_none()
            {
                let number = state.inputs;
                state.violation = Some(format!("input {number}, engine {engine}: {violation}"));
            }
        });
    }
}
