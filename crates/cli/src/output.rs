//! The output streams: text, messages, JSON lines.
//!
//! **Invariant**: each write is flushed before the debuggee runs, which may write to the
//! same terminal or file.

mod observing;
mod pager;
mod paging;
mod screen;

use crate::arguments::Color;
use crate::driver::{
    CommandError, Driver, FileDiagnostics, Observer, Options, PropertySource, SessionError,
};
use crate::exit;
use crate::json::{self, DiagnosticLine, ErrorLine, Line, SelfCheckLine, Start};
use crate::web::{self, LivePage};
use anstream::AutoStream;
use juror_text::escape::safe;
use juror_text::page::Page;
use juror_text::stops::Context;
use juror_text::wrapping::fitted;
use juror_text::{diagnostics, messages, outcome};
use juror_view::{Outcome, StopReason, TerminalSettings};
use paging::Paging;
use screen::Screen;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The output streams of a command.
pub struct Output {
    /// Text for the user; absent if JSON is written to the standard output.
    text: Option<Box<dyn Write>>,
    /// The stream of errors, notices and progress.
    messages: Box<dyn Write>,
    json: Option<Box<dyn Write>>,
    shows_progress: bool,
    /// The progress line on the terminal, to be overwritten.
    progress: String,
    /// Files below this directory are shown relative to it.
    directory: Option<PathBuf>,
    prompt: bool,
    /// The first failure of a write that could not be returned.
    failure: Option<io::Error>,
    /// A run whose end was not the outcome of a command has violated a property.
    violated: bool,
    /// A reaction of a scenario failed after the program had ended.
    erred: bool,
    /// The last JSON line was `resume`.
    has_resumed: bool,
    /// The page that follows the session.
    page: Option<LivePage>,
    /// The file of a report that is written at the end.
    report: Option<PathBuf>,
    screen: Screen,
    paging: Paging,
    /// The pager could not be run, which has been told.
    has_no_pager: bool,
}

impl Output {
    /// Opens the standard streams, and the file `json` (`-`: the standard output).
    pub fn open(color: Color, json: Option<&Path>, prompt: bool) -> anyhow::Result<Output> {
        let choice = match color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::AlwaysAnsi,
            Color::Never => anstream::ColorChoice::Never,
        };
        let text: Box<dyn Write> = Box::new(AutoStream::new(io::stdout(), choice));
        let messages = Box::new(AutoStream::new(io::stderr(), choice));
        let (text, json): (_, Option<Box<dyn Write>>) = match json {
            None => (Some(text), None),
            Some(file) if file == Path::new("-") => (None, Some(Box::new(io::stdout()))),
            Some(file) => {
                let opened = std::fs::File::create(file).map_err(|error| {
                    anyhow::anyhow!(
                        "the JSON file {} cannot be written: {error}",
                        file.display()
                    )
                })?;
                (Some(text), Some(Box::new(opened)))
            }
        };
        Ok(Output {
            text,
            messages,
            json,
            shows_progress: io::stderr().is_terminal(),
            progress: String::new(),
            directory: std::env::current_dir().ok(),
            prompt,
            failure: None,
            violated: false,
            erred: false,
            has_resumed: false,
            page: None,
            report: None,
            screen: Screen::of_standard_streams(choice, prompt),
            paging: Paging::default(),
            has_no_pager: false,
        })
    }

    /// Sets what the user asks of the terminal.
    pub fn set_terminal(&mut self, settings: TerminalSettings) {
        self.screen.set(settings);
    }

    /// Returns an empty page of the width of the screen.
    fn new_page(&self) -> Page {
        Page::new(self.directory.clone()).with_width(self.screen.width())
    }

    /// Lets a page follow the session; `report` is the file to write at its end.
    #[cfg(feature = "web")]
    pub fn follow(&mut self, page: LivePage, report: Option<PathBuf>) {
        self.page = Some(page);
        self.report = report;
    }

    /// Returns the page that follows the session.
    pub fn page(&mut self) -> Option<&mut LivePage> {
        self.page.as_mut()
    }

    /// Writes the report, if one is wanted.
    pub fn write_report(&mut self, session: &mut dyn Driver) -> Result<(), String> {
        match (&mut self.page, self.report.take()) {
            (Some(page), Some(file)) => web::write_report(&file, &page.report(session)),
            _ => Ok(()),
        }
    }

    /// Writes a line for the user to the messages, whatever the standard output is for.
    #[cfg(feature = "web")]
    pub fn say_always(&mut self, text: &str) -> io::Result<()> {
        self.warn(&format!("{text}\n"))
    }

    /// Whether a run that ended during a command has violated a property.
    pub fn has_violated(&self) -> bool {
        self.violated
    }

    /// Whether there was an error that is in no outcome.
    pub fn has_erred(&self) -> bool {
        self.erred
    }

    /// Writes the JSON line of the start of a session.
    pub fn begin(&mut self, options: &Options) -> io::Result<()> {
        let start = Start {
            version: env!("CARGO_PKG_VERSION"),
            program: options.program.to_string_lossy().into_owned(),
            arguments: options
                .arguments
                .iter()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            properties: options
                .properties
                .iter()
                .map(|property| property.file.as_str())
                .collect(),
        };
        self.write_json(&Line::Start(start))
    }

    /// Writes the JSON line of the start of a check of traces.
    pub fn begin_check(&mut self, sources: &[PropertySource], traces: &[String]) -> io::Result<()> {
        let properties = sources.iter().map(|source| source.file.as_str());
        let line = json::Check {
            version: env!("CARGO_PKG_VERSION"),
            traces: traces.iter().map(String::as_str).collect(),
            properties: properties.collect(),
        };
        self.write_json(&Line::Check(line))
    }

    /// Writes a JSON line, and its text by `write`.
    pub fn show_line(&mut self, line: &Line<'_>, write: impl FnOnce(&mut Page)) -> io::Result<()> {
        self.write_json(line)?;
        let mut page = self.new_page();
        write(&mut page);
        self.say(&page.into_text())
    }

    /// Shows an error in a trace. `rendered` is its text.
    pub fn show_fault(&mut self, message: &str, help: &str, rendered: &str) -> io::Result<()> {
        self.write_json(&Line::Error(ErrorLine {
            fault: "user",
            command: None,
            message: message.to_owned(),
            help: Some(help),
            diagnostics: Vec::new(),
        }))?;
        self.warn(rendered)
    }

    /// Shows the outcome of a command.
    pub fn show(&mut self, command: &str, outcome: &Outcome) -> io::Result<()> {
        self.resume_paging(false);
        self.record(command, outcome)?;
        match outcome {
            Outcome::Stopped(_)
            | Outcome::RecordedStop(_)
            | Outcome::Ended(_)
            | Outcome::RecordedEnd(_) => self.show_unpaged(|output| output.show_text(outcome)),
            _ => self.show_text(outcome),
        }
    }

    fn show_text(&mut self, outcome: &Outcome) -> io::Result<()> {
        let mut page = self.new_page();
        let context = Context {
            prompt: self.prompt,
        };
        outcome::write(&mut page, outcome, context);
        self.say(&page.into_text())
    }

    /// Writes the outcome of a command as JSON only.
    pub fn record(&mut self, command: &str, outcome: &Outcome) -> io::Result<()> {
        self.has_resumed = false;
        self.record_on(command, outcome)
    }

    /// As [`Output::record`], for an outcome during which the program keeps running.
    fn record_on(&mut self, command: &str, outcome: &Outcome) -> io::Result<()> {
        match self.json {
            Some(_) => self.write_json(&Line::of(command, outcome)?),
            None => Ok(()),
        }
    }

    /// Shows the error of a command.
    pub fn show_command_error(&mut self, command: &str, error: &CommandError) -> io::Result<()> {
        self.has_resumed = false;
        self.resume_paging(false);
        self.write_json(&Line::Error(ErrorLine {
            fault: "user",
            command: Some(command),
            message: error.message.clone(),
            help: error.help.as_deref(),
            diagnostics: diagnostic_lines(&error.found),
        }))?;
        let text = messages::command_error_in(command, error);
        let text = fitted(&text, self.screen.width());
        // At the prompt, an error is shown like a result.
        match self.text {
            Some(_) => self.say(&text),
            None => self.warn(&text),
        }
    }

    /// Shows why a session could not start. Returns the exit status.
    pub fn show_session_error(&mut self, error: &SessionError) -> io::Result<u8> {
        let message = error.to_string();
        let mut line = ErrorLine {
            fault: "user",
            command: None,
            message: message.clone(),
            help: None,
            diagnostics: Vec::new(),
        };
        let (text, status) = match error {
            SessionError::Property { found, .. } | SessionError::Scenario { found, .. } => {
                line.diagnostics = diagnostic_lines(found);
                let shown = messages::files(found);
                (shown + &messages::error(&message), exit::USAGE)
            }
            SessionError::Internal(_) => {
                line.fault = "juror";
                (messages::bug(&message), exit::BUG)
            }
            _ => (messages::error(&message), exit::USAGE),
        };
        self.write_json(&Line::Error(line))?;
        self.warn(&text)?;
        Ok(status)
    }

    /// Shows the error of a reaction after the program has ended.
    fn show_scenario_error(&mut self, reason: &StopReason) -> io::Result<()> {
        let Some((file, text, error)) = diagnostics::of_stop(reason) else {
            return Ok(());
        };
        self.write_json(&Line::Error(ErrorLine {
            fault: "user",
            command: None,
            message: error.message.clone(),
            help: error.help.as_deref(),
            diagnostics: vec![DiagnosticLine::new(file, text, &error)],
        }))?;
        self.warn(&diagnostics::render(file, text, &error))
    }

    /// Shows an error of the user.
    pub fn show_error(&mut self, message: &str) -> io::Result<()> {
        self.write_json(&Line::Error(ErrorLine {
            fault: "user",
            command: None,
            message: message.to_owned(),
            help: None,
            diagnostics: Vec::new(),
        }))?;
        self.warn(&messages::error(message))
    }

    /// Shows the diagnostics of a file.
    pub fn show_diagnostics(&mut self, said: &FileDiagnostics) -> io::Result<()> {
        if said.diagnostics.is_empty() {
            return Ok(());
        }
        let said = std::slice::from_ref(said);
        let file = &said[0].file;
        self.write_json(&Line::Error(ErrorLine {
            fault: "user",
            command: None,
            message: format!("{file} has diagnostics"),
            help: None,
            diagnostics: diagnostic_lines(said),
        }))?;
        self.warn(&messages::files(said))
    }

    /// Shows a bug in juror that did not end the run.
    pub fn show_bug(&mut self, message: &str) -> io::Result<()> {
        self.write_json(&Line::Error(ErrorLine {
            fault: "juror",
            command: None,
            message: message.to_owned(),
            help: None,
            diagnostics: Vec::new(),
        }))?;
        self.warn(&messages::bug(message))
    }

    /// Shows that the self-check found nothing wrong.
    pub fn show_self_check(&mut self, inputs: u64, sentence: &str) -> io::Result<()> {
        self.write_json(&Line::SelfCheck(SelfCheckLine { inputs }))?;
        self.notice(sentence);
        self.failure()
    }

    /// Writes text, unless the standard output is for JSON.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        self.clear_progress()?;
        if self.text.is_some() && !text.is_empty() {
            self.write_paged(&self.screen.styled(text))
        } else {
            Ok(())
        }
    }

    /// Writes text to the screen.
    fn write_text(&mut self, text: &str) -> io::Result<()> {
        match &mut self.text {
            Some(output) => {
                output.write_all(text.as_bytes())?;
                output.flush()
            }
            None => Ok(()),
        }
    }

    /// Returns the first failure of a write by an observer method.
    pub fn failure(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn warn(&mut self, text: &str) -> io::Result<()> {
        self.clear_progress()?;
        let text = self.screen.styled(text);
        if matches!(self.paging, Paging::Pager(_)) && self.screen.has_messages() {
            return self.write_paged(&text);
        }
        self.messages.write_all(text.as_bytes())?;
        self.messages.flush()
    }

    fn write_json(&mut self, line: &Line<'_>) -> io::Result<()> {
        match &mut self.json {
            Some(output) => json::write(output.as_mut(), line),
            None => Ok(()),
        }
    }

    fn clear_progress(&mut self) -> io::Result<()> {
        if self.progress.is_empty() {
            return Ok(());
        }
        let columns = self.progress.chars().count();
        self.progress.clear();
        write!(self.messages, "\r{:columns$}\r", "")?;
        self.messages.flush()
    }

    fn show_progress(&mut self, what: &str, done: u64, of: u64) -> io::Result<()> {
        if !self.shows_progress || matches!(self.paging, Paging::Pager(_)) {
            return Ok(());
        }
        if done >= of {
            return self.clear_progress();
        }
        let percent = u128::from(done) * 100 / u128::from(of);
        let line = format!("{} {percent} %", safe(what));
        if line != self.progress {
            self.clear_progress()?;
            write!(self.messages, "{line}")?;
            self.messages.flush()?;
            self.progress = line;
        }
        Ok(())
    }

    fn keep_failure(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}

/// Returns the diagnostics of files, for JSON.
fn diagnostic_lines(found: &[FileDiagnostics]) -> Vec<DiagnosticLine<'_>> {
    let lines = found.iter().flat_map(|it| {
        let diagnostics = it.diagnostics.iter();
        diagnostics.map(|said| DiagnosticLine::new(&it.file, &it.text, said))
    });
    lines.collect()
}

/// Writes to the standard error without an [`Output`]. A failure cannot be reported.
pub fn write_last_words(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
pub mod testing;

#[cfg(test)]
mod tests;
