//! The adapter: what it knows of the client and of the program, and how commands run.

mod observing;
mod running;
mod threads;

pub(crate) use running::{Act, Resume};

use crate::debuggee_output::DebuggeeOutput;
use crate::handlers::{PROPERTY, ShownMemory, VIOLATIONS};
use crate::identifiers::Identifiers;
use crate::points::Points;
use crate::protocol::arguments::Initialize;
use crate::protocol::message::{Failure, Request, refusal, response};
use crate::transport::inbox::Inbox;
use crate::transport::outbox::Outbox;
use juror_fault::CommandError;
use juror_text::page::Page;
use juror_text::{messages, outcome, stops};
use juror_view::changes::Changes;
use juror_view::driver::Driver;
use juror_view::queries::{Queries, SelectionView};
use juror_view::{Outcome, StopView};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// An answer that waits until the program resumes.
struct Pending {
    seq: i64,
    command: String,
    body: Value,
}

/// The state of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Motion {
    /// There is none, or it has not begun.
    #[default]
    Unbegun,
    /// It runs; requests are served in between.
    Running,
    /// It is stopped, and the client knows.
    Stopped,
    /// It has ended.
    Ended,
}

/// The adapter of one client.
pub(crate) struct Adapter {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) outbox: Outbox,
    pub(crate) client: Initialize,
    pub(crate) motion: Motion,
    pub(crate) points: Points,
    pub(crate) identifiers: Identifiers,
    /// The last stop, for `exceptionInfo`.
    pub(crate) stop: Option<Box<StopView>>,
    /// Whether the program has stopped because a function has returned.
    pub(crate) has_returned: bool,
    /// The frame that the client named last: one that it names again is no new choice.
    pub(crate) named_frame: Option<SelectionView>,
    /// The targets of `goto`, by their numbers.
    pub(crate) targets: Vec<(i64, u64)>,
    /// The calls of `stepInTargets`, by their numbers.
    pub(crate) calls: Vec<(i64, u64)>,
    /// The memory that the client has shown by references.
    pub(crate) shown_memory: Vec<ShownMemory>,
    /// Whether the program has run since the client was told of its memory: a call of a function
    /// may have changed any of it.
    pub(crate) has_run: bool,
    /// The properties whose violations do not stop.
    pub(crate) passed: HashSet<String>,
    /// Whether each change of a state is an event.
    pub(crate) tells_changes: bool,
    /// Whether the run is recorded.
    pub(crate) is_recorded: bool,
    /// Whether the request that lets the program run is about one thread alone.
    runs_alone: bool,
    /// The next stop is that of a program which begins.
    pub(crate) is_entry: bool,
    /// The request that cannot be served while the program runs, and makes it stop.
    pub(crate) deferred: Option<Request>,
    /// The events that follow the next answer.
    pub(crate) later: Vec<(&'static str, Value)>,
    /// The properties of the session.
    pub(crate) properties: Vec<String>,
    /// Whether the client has chosen single properties.
    chooses_properties: bool,
    /// The filters that are on; nothing if the client has not said so.
    pub(crate) filters: Option<HashSet<String>>,
    /// The request that was answered last.
    last_answered: i64,
    /// The threads that the client has been told of.
    pub(crate) threads: BTreeSet<u32>,
    /// The program's output.
    pub(crate) output: Option<DebuggeeOutput>,
    pending: Option<Pending>,
    progress: observing::Progress,
    directory: Option<PathBuf>,
}

impl Adapter {
    /// Creates the adapter of a connection.
    pub(crate) fn new(inbox: Arc<Inbox>, outbox: Outbox) -> Adapter {
        Adapter {
            inbox,
            outbox,
            client: Initialize::default(),
            motion: Motion::default(),
            points: Points::default(),
            identifiers: Identifiers::default(),
            stop: None,
            has_returned: false,
            named_frame: None,
            targets: Vec::new(),
            calls: Vec::new(),
            shown_memory: Vec::new(),
            has_run: false,
            passed: HashSet::new(),
            tells_changes: false,
            is_recorded: false,
            runs_alone: false,
            is_entry: false,
            deferred: None,
            later: Vec::new(),
            properties: Vec::new(),
            chooses_properties: false,
            filters: None,
            last_answered: 0,
            threads: BTreeSet::new(),
            output: None,
            pending: None,
            progress: observing::Progress::default(),
            directory: std::env::current_dir().ok(),
        }
    }

    /// Answers a request.
    pub(crate) fn answer(&mut self, request: &Request, answer: Result<Value, Failure>) {
        let (seq, command) = (request.seq, &*request.command);
        // The end of the connection has no number.
        if seq != 0 {
            self.last_answered = seq;
            self.outbox.send(match answer {
                Ok(body) => response(seq, command, body),
                Err(failure) => refusal(seq, command, &failure),
            });
        }
        for (event, body) in std::mem::take(&mut self.later) {
            self.event(event, body);
        }
    }

    /// Gives up a request whose handler has failed. A program that was to run for it is stopped,
    /// as far as anybody knows.
    pub(crate) fn abandon(&mut self, request: &Request, failure: &Failure) {
        let is_told = self.last_answered == request.seq;
        if self.pending.is_some() {
            self.answer_pending(Some(failure));
        } else {
            self.answer_if_open(request, failure);
        }
        self.inbox.set_bells(None);
        self.runs_alone = false;
        if self.motion != Motion::Running {
            return;
        }
        self.motion = Motion::Stopped;
        if is_told {
            self.say_as("stderr", &format!("{}\n", failure.message));
            let body = json!({
                "reason": "pause",
                "description": failure.message,
                "allThreadsStopped": true,
            });
            self.event("stopped", body);
        }
    }

    /// Refuses a request unless it was answered.
    pub(crate) fn answer_if_open(&mut self, request: &Request, failure: &Failure) {
        if self.last_answered != request.seq {
            self.answer(request, Err(failure.clone()));
        }
    }

    /// Chooses the properties whose violations stop, by the filters that are on.
    pub(crate) fn choose_properties<'f>(&mut self, filters: impl Iterator<Item = &'f str>) {
        let filters: HashSet<&str> = filters.collect();
        let chosen = |filter: &&str| filter.starts_with(PROPERTY);
        // A client that knows no single ones wants all.
        self.chooses_properties |= filters.iter().any(chosen);
        let stops_all = filters.contains(VIOLATIONS) && !self.chooses_properties;
        let is_passed = |name: &&String| {
            let is_on = filters.contains(&*format!("{PROPERTY}{name}"));
            !stops_all && !is_on
        };
        self.passed = self.properties.iter().filter(is_passed).cloned().collect();
        self.filters = Some(filters.into_iter().map(str::to_owned).collect());
    }

    /// Waits until all output of a program that has ended is in events.
    pub(crate) fn drain_output(&mut self) {
        if let Some(output) = &mut self.output {
            output.drain();
        }
    }

    /// Returns whether the program ends in order to begin again.
    pub(crate) fn is_restarting(&self) -> bool {
        let deferred = self.deferred.as_ref();
        deferred.is_some_and(|request| request.command == "restart")
    }

    /// Answers the request whose program is about to run. Returns whether there was one.
    fn answer_pending(&mut self, failure: Option<&Failure>) -> bool {
        let Some(pending) = self.pending.take() else {
            return false;
        };
        self.last_answered = pending.seq;
        self.outbox.send(match failure {
            None => response(pending.seq, &pending.command, pending.body),
            Some(failure) => refusal(pending.seq, &pending.command, failure),
        });
        true
    }

    /// Sends an event.
    pub(crate) fn event(&self, event: &str, body: Value) {
        self.outbox.event(event, body);
    }

    /// Shows text of juror's own.
    pub(crate) fn say(&self, text: &str) {
        self.say_as("console", text);
    }

    /// Shows text in a category.
    pub(crate) fn say_as(&self, category: &str, text: &str) {
        if !text.is_empty() {
            self.outbox.output(category, &self.styled(text));
        }
    }

    /// Returns text with its styles, if the client shows them.
    pub(crate) fn styled(&self, text: &str) -> String {
        match self.client.supports_ansi_styling {
            Some(true) => text.to_owned(),
            _ => anstream::adapter::strip_str(text).to_string(),
        }
    }

    /// Returns a page as text.
    pub(crate) fn page(&self, write: impl FnOnce(&mut Page)) -> String {
        let mut page = Page::new(self.directory.clone());
        write(&mut page);
        page.into_text()
    }

    /// Returns an outcome as the prompt shows it.
    pub(crate) fn text_of(&self, outcome: &Outcome) -> String {
        let context = stops::Context { prompt: true };
        self.page(|page| outcome::write(page, outcome, context))
    }

    /// Executes a command line that a person has written; nothing else is one.
    pub(crate) fn execute_typed(
        &mut self,
        session: &mut dyn Driver,
        line: &str,
    ) -> Result<Outcome, CommandError> {
        session.execute(line, self)
    }

    /// Shows the error of a command.
    pub(crate) fn say_error(&self, error: &CommandError) {
        self.say_as("stderr", &messages::command_error(error));
    }

    /// Selects a frame, does something there, and selects what was selected before.
    pub(crate) fn at<T>(
        &mut self,
        session: &mut dyn Driver,
        frame: Option<SelectionView>,
        act: impl FnOnce(&mut Adapter, &mut dyn Driver) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(frame) = frame else {
            return act(self, session);
        };
        let before = queries(session)?.selection();
        if before != Some(frame) {
            queries(session)?.select(frame)?;
        }
        let done = act(self, session);
        if before != Some(frame)
            && let Some(before) = before
            && let Some(queries) = session.queries()
        {
            // The request may have ended the thread.
            let _ = queries.select(before);
        }
        done
    }

    /// Tells that values may have changed.
    pub(crate) fn invalidate(&self, areas: &[&str]) {
        if self.client.supports_invalidated_event == Some(true) {
            self.event("invalidated", json!({ "areas": areas }));
        }
    }

    /// Returns a line as the client counts it.
    pub(crate) fn line_out(&self, line: u32) -> i64 {
        match self.client.lines_start_at1 {
            Some(false) => i64::from(line) - 1,
            _ => i64::from(line),
        }
    }

    /// Returns a column, from 1, as the client counts it.
    pub(crate) fn column_out(&self, column: u32) -> i64 {
        match self.client.columns_start_at1 {
            Some(false) => i64::from(column) - 1,
            _ => i64::from(column),
        }
    }

    /// Returns a column of the client, from 1.
    pub(crate) fn column_in(&self, column: i64) -> u32 {
        let column = match self.client.columns_start_at1 {
            Some(false) => column.saturating_add(1),
            _ => column,
        };
        u32::try_from(column).unwrap_or(0).max(1)
    }

    /// Returns a line of the client, from 1.
    pub(crate) fn line_in(&self, line: i64) -> u32 {
        let line = match self.client.lines_start_at1 {
            Some(false) => line.saturating_add(1),
            _ => line,
        };
        u32::try_from(line).unwrap_or(0)
    }
}

/// Returns whether there is a run to ask about and to move in: a debuggee, or a recording.
pub(crate) fn has_run(session: &dyn Driver) -> bool {
    session.is_alive() || session.is_recorded()
}

/// Returns what is changed by calls.
pub(crate) fn changes(session: &mut dyn Driver) -> Result<&mut dyn Changes, Failure> {
    let missing = || Failure::quiet("this run cannot be changed");
    session.changes().ok_or_else(missing)
}

/// Returns what answers questions.
pub(crate) fn queries(session: &mut dyn Driver) -> Result<&mut dyn Queries, Failure> {
    let missing = || Failure::quiet("this run cannot answer that");
    session.queries().ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter() -> Adapter {
        Adapter::new(Arc::new(Inbox::default()), Outbox::default())
    }

    #[test]
    fn lines_and_columns_are_counted_as_the_client_counts() {
        for (starts_at_one, out, back) in [(None, 7, 7), (Some(true), 7, 7), (Some(false), 6, 8)] {
            let mut adapter = adapter();
            adapter.client.lines_start_at1 = starts_at_one;
            adapter.client.columns_start_at1 = starts_at_one;
            assert_eq!((adapter.line_out(7), adapter.line_in(7)), (out, back));
            assert_eq!((adapter.column_out(7), adapter.column_in(7)), (out, back));
        }
    }

    #[test]
    fn a_line_or_a_column_that_is_none_is_the_first_or_no_line() {
        let adapter = adapter();
        assert_eq!((adapter.line_in(-3), adapter.line_in(i64::MAX)), (0, 0));
        assert_eq!((adapter.column_in(-3), adapter.column_in(0)), (1, 1));
    }

    #[test]
    fn properties_stop_by_their_filters() {
        let names = ["queue", "locks"];
        for (filters, passed) in [
            (&[][..], &["locks", "queue"][..]),
            (&["violations"], &[]),
            (&["property:queue"], &["locks"]),
            (&["property:queue", "property:locks"], &[]),
            // A client that knows single ones means them.
            (&["violations", "property:locks"], &["queue"]),
            (&["throw"], &["locks", "queue"]),
        ] {
            let mut adapter = adapter();
            adapter.properties = names.map(str::to_owned).to_vec();
            adapter.choose_properties(filters.iter().copied());
            let mut found: Vec<&str> = adapter.passed.iter().map(String::as_str).collect();
            found.sort_unstable();
            assert_eq!(found, passed, "{filters:?}");
        }
    }

    #[test]
    fn an_answer_is_given_once() {
        let mut adapter = adapter();
        let request = Request {
            seq: 4,
            command: "threads".to_owned(),
            arguments: Value::Null,
        };
        adapter.answer(&request, Ok(Value::Null));
        adapter.answer_if_open(&request, &Failure::quiet("too late"));
        adapter.outbox.close(std::time::Duration::ZERO);
        let mut sent = Vec::new();
        adapter.outbox.drain(&mut sent);
        let sent = String::from_utf8_lossy(&sent);
        assert_eq!(sent.matches("request_seq").count(), 1, "{sent}");
    }
}
