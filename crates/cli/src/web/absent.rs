//! Takes the place of the page in a juror that is built without it.

use crate::arguments::{NO_PAGE, Web};
use crate::driver::{CommandError, Driver};
use crate::output::Output;
use juror_view::Outcome;
use std::path::Path;

/// The subject of a page.
#[derive(Default)]
pub enum Mode {
    /// A program.
    #[default]
    Live,
    /// A recorded run.
    Recorded,
}

/// The settings that stay the same in a session.
#[derive(Default)]
#[expect(dead_code, reason = "no page shows it")]
pub struct Static {
    /// The subject.
    pub mode: Mode,
    /// The program or the recording.
    pub program: String,
    /// The program's arguments.
    pub arguments: Vec<String>,
}

/// The result of a command that the browser asked for.
pub struct Performed {
    /// The text that the prompt shows.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
}

impl Performed {
    /// Returns the result of a command, which no page shows.
    pub fn of(result: &Result<Outcome, CommandError>) -> Performed {
        Performed {
            text: String::new(),
            failed: result.is_err(),
        }
    }
}

/// The page of a session: there is none.
pub enum LivePage {}

/// The receiver of the answer to a command: there is none.
pub enum Reply {}

impl LivePage {
    /// Connects the session; there is no page.
    pub fn connect(&self, _: &dyn Driver) {
        match *self {}
    }

    /// Sets what wakes the session; there is no page.
    pub fn set_waker(&self, _: Box<dyn Fn() + Send>) {
        match *self {}
    }

    /// Notes that a command begins; there is no page.
    pub fn begin(&mut self) {
        match *self {}
    }

    /// Notes that the program runs; there is no page.
    pub fn resumes(&mut self) {
        match *self {}
    }

    /// Notes the outcome of a command; there is no page.
    pub fn end(&mut self, _: &mut dyn Driver, _: &Result<Outcome, CommandError>) {
        match *self {}
    }

    /// Returns whether requests wait; there is no page.
    pub fn has_requests(&self) -> bool {
        match *self {}
    }

    /// Serves requests; there is no page.
    pub fn serve(&mut self, _: &mut dyn Driver) {
        match *self {}
    }

    /// Returns the next command; there is no page.
    pub fn next_command(&mut self, _: &mut dyn Driver) -> Option<(String, Reply)> {
        match *self {}
    }

    /// Answers a command; there is no page.
    pub fn reply(&self, _: Reply, _: &Performed) {
        match *self {}
    }

    /// Returns the report; there is no page.
    pub fn report(&mut self, _: &mut dyn Driver) -> String {
        match *self {}
    }
}

/// Begins nothing.
///
/// # Errors
/// A page is asked for.
pub fn begin(web: Option<&Web>, _: Static, _: &mut Output) -> anyhow::Result<()> {
    if web.is_some() {
        anyhow::bail!("{NO_PAGE}");
    }
    Ok(())
}

/// Refuses to write a report.
pub fn write_report(_: &Path, _: &str) -> Result<(), String> {
    Err(NO_PAGE.to_owned())
}

/// The answers of a check of a model, which no page shows.
#[cfg(feature = "models")]
pub mod chart {
    use super::{NO_PAGE, Output, Web};
    use crate::model::Questions;

    /// Refuses to show the answers.
    pub fn show(_: &Web, _: &str, _: Questions, _: &mut Output) -> anyhow::Result<()> {
        anyhow::bail!("{NO_PAGE}")
    }
}
