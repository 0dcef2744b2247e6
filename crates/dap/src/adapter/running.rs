//! Lets the program run: the answer, the commands of breakpoints, and the stop at the end.

use super::{Adapter, Motion, Pending, queries};
use crate::protocol::message::{Failure, Request};
use crate::stops::{self, Told};
use crate::transport::inbox::{Bells, Incoming};
use juror_fault::CommandError;
use juror_session::command_table;
use juror_view::changes::Resume as How;
use juror_view::driver::Driver;
use juror_view::queries::SelectionView;
use juror_view::{Outcome, StopReason, ViolationView};
use serde_json::{Value, json};

/// How the program is resumed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resume {
    /// The thread to select first, at its innermost frame.
    pub(crate) thread: Option<u32>,
    /// Whether only this thread runs.
    pub(crate) is_alone: bool,
    /// The step, or the end of the run.
    pub(crate) how: How,
    /// The body of the answer.
    pub(crate) body: Value,
}

/// A way to let the program run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act<'l> {
    /// A request of the client.
    Resume(How),
    /// A line that a person has typed.
    Line(&'l str),
}

/// The result of a command and of those that followed it.
pub(crate) struct Followed {
    /// The last stop, end or error.
    pub(crate) last: Result<Outcome, CommandError>,
    /// Whether the program is somewhere else.
    pub(crate) has_moved: bool,
}

impl Adapter {
    /// Lets the program run for a request, and tells where it stops.
    pub(crate) fn resume(&mut self, session: &mut dyn Driver, request: &Request, resume: Resume) {
        self.pending = Some(Pending {
            seq: request.seq,
            command: request.command.clone(),
            body: resume.body,
        });
        if let Some(thread) = resume.thread {
            let innermost = SelectionView { thread, level: 0 };
            let selected = queries(session).and_then(|it| Ok(it.select(innermost)?));
            if let Err(failure) = selected {
                self.answer_pending(Some(&failure));
                return;
            }
        }
        self.runs_alone = resume.is_alone;
        self.run(session, resume.how);
        self.runs_alone = false;
    }

    /// Lets the program run, and tells where it stops.
    pub(crate) fn run(&mut self, session: &mut dyn Driver, mut how: How) {
        let before = self.motion;
        loop {
            let followed = self.follow(session, Act::Resume(how), &mut |adapter, outcome| {
                if !has_moved(outcome) {
                    let text = adapter.text_of(outcome);
                    adapter.say(&text);
                }
            });
            let was_paused = self.answer_pauses();
            if !was_paused && let Some(next) = self.resumed_after(how, &followed.last) {
                how = next;
                continue;
            }
            if let Err(error) = &followed.last
                && self.pending.is_some()
            {
                // Nothing has run.
                self.motion = before;
                let failure = Failure {
                    is_shown: true,
                    ..Failure::from(error.clone())
                };
                self.answer_pending(Some(&failure));
                return;
            }
            self.answer_pending(None);
            return stops::tell(self, session, followed.last, Told::No);
        }
    }

    /// Lets the program run, and then executes the commands of the points that stop it. `show`
    /// gets each outcome that is not silent.
    pub(crate) fn follow(
        &mut self,
        session: &mut dyn Driver,
        act: Act<'_>,
        show: &mut dyn FnMut(&mut Adapter, &Outcome),
    ) -> Followed {
        let is_still = match act {
            Act::Line(line) => {
                let (word, _) = command_table::split_line(line);
                command_table::find(word).is_ok_and(|it| it.is_question())
            }
            Act::Resume(_) => false,
        };
        self.begin_run(session, is_still);
        let last = match act {
            Act::Line(line) => self.execute_typed(session, line),
            Act::Resume(how) => match session.changes() {
                Some(changes) => changes.resume(how, self),
                None => Err(CommandError::new("this run cannot be resumed")),
            },
        };
        let mut followed = Followed {
            last,
            has_moved: false,
        };
        followed.note(self, show);
        while followed.last.is_ok()
            && let Some(line) = session.next_queued_command()
        {
            let next = self.execute_typed(session, &line);
            if let Ok(outcome) = &next
                && followed.has_moved
                && !has_moved(outcome)
            {
                show(self, outcome);
                continue;
            }
            // The stop before is passed: what follows takes its place.
            followed.last = next;
            followed.note(self, show);
        }
        self.end_run(session);
        followed
    }

    fn begin_run(&mut self, session: &mut dyn Driver, is_still: bool) {
        self.motion = Motion::Running;
        session.run_alone(self.runs_alone);
        self.inbox.set_bells(Some(Bells {
            call: session.caller(),
            interrupt: session.interrupter(),
            is_still,
        }));
    }

    fn end_run(&mut self, session: &mut dyn Driver) {
        self.inbox.set_bells(None);
        // No command has followed an interruption that came when the last one was over.
        session.forget_interruption();
        self.end_progress();
    }

    /// Answers the requests to pause: the program has stopped. Returns whether there were some.
    fn answer_pauses(&mut self) -> bool {
        let mut were_some = false;
        let is_pause = |incoming: &Incoming| match incoming {
            Incoming::Request(request) => request.command == "pause",
            _ => false,
        };
        while let Some(Incoming::Request(request)) = self.inbox.take_if(is_pause) {
            self.answer(&request, Ok(Value::Null));
            were_some = true;
        }
        were_some
    }

    /// Returns how the program goes on after a stop that the client does not want: at violations
    /// of properties whose filters are off. They are reported.
    fn resumed_after(&mut self, how: How, last: &Result<Outcome, CommandError>) -> Option<How> {
        let (violations, how) = match last {
            Ok(Outcome::Stopped(stop)) => match how {
                How::ReverseContinue => (violations_of(&stop.reason)?, how),
                How::ReverseNext | How::ReverseNextInstruction => return None,
                _ => (violations_of(&stop.reason)?, How::Continue),
            },
            // A step of a recording ends at its event.
            Ok(Outcome::RecordedStop(stop)) => match how {
                How::Run | How::Continue => (violations_of(&stop.why)?, How::Continue),
                How::ReverseContinue => (violations_of(&stop.why)?, how),
                _ => return None,
            },
            _ => return None,
        };
        let mut all = violations.iter();
        let is_passed = all.all(|it| self.passed.contains(&it.property));
        if !is_passed || self.deferred.is_some() {
            return None;
        }
        stops::report_violations(self, violations);
        Some(how)
    }

    /// Forgets what refers to the present stop: the program is about to be elsewhere.
    pub(crate) fn forget_stop(&mut self) {
        self.identifiers.forget();
        self.targets.clear();
        self.calls.clear();
        self.stop = None;
        self.has_returned = false;
        self.has_run = false;
        self.named_frame = None;
    }

    /// Tells that a command of the user has let the program run.
    pub(crate) fn tell_continued(&self, session: &mut dyn Driver) {
        let selection = session.queries().and_then(|it| it.selection());
        let thread = selection.map_or(1, |it| it.thread);
        self.event(
            "continued",
            json!({ "threadId": thread, "allThreadsContinued": true }),
        );
    }
}

impl Followed {
    fn note(&mut self, adapter: &mut Adapter, show: &mut dyn FnMut(&mut Adapter, &Outcome)) {
        let Ok(outcome) = &self.last else { return };
        self.has_moved |= has_moved(outcome);
        let is_silent = match outcome {
            Outcome::Stopped(stop) => stop.reason.is_silent() == Some(true),
            _ => false,
        };
        if !is_silent {
            show(adapter, outcome);
        }
    }
}

/// Returns the violations of a stop, if it is for them.
fn violations_of(reason: &StopReason) -> Option<&[ViolationView]> {
    match reason {
        StopReason::Violation { violations } => Some(violations),
        _ => None,
    }
}

/// Returns whether the program is somewhere else after a command.
fn has_moved(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Stopped(_)
            | Outcome::Ended(_)
            | Outcome::RecordedStop(_)
            | Outcome::RecordedEnd(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::outbox::Outbox;
    use juror_text::recorded::samples;
    use juror_text::stops::samples::violation_stop;
    use juror_view::{RecordedStop, StopView};
    use std::sync::Arc;

    fn violation(property: &str) -> StopReason {
        let mut reason = violation_stop().reason;
        if let StopReason::Violation { violations } = &mut reason {
            for violation in violations {
                violation.property = property.to_owned();
            }
        }
        reason
    }

    fn stop(reason: StopReason) -> Result<Outcome, CommandError> {
        Ok(Outcome::Stopped(Box::new(StopView {
            reason,
            ..violation_stop()
        })))
    }

    fn recorded(why: StopReason) -> Result<Outcome, CommandError> {
        Ok(Outcome::RecordedStop(Box::new(RecordedStop {
            why,
            ..samples::stop()
        })))
    }

    #[test]
    fn the_program_goes_on_after_violations_that_the_client_does_not_want() {
        let passed = || violation("passed");
        for (how, last, expected) in [
            (How::Next, stop(passed()), Some(How::Continue)),
            (How::Run, stop(violation("wanted")), None),
            (How::Continue, stop(StopReason::Step), None),
            (How::Run, recorded(passed()), Some(How::Continue)),
            (
                How::ReverseContinue,
                recorded(passed()),
                Some(How::ReverseContinue),
            ),
            (
                How::ReverseContinue,
                stop(passed()),
                Some(How::ReverseContinue),
            ),
            (How::ReverseNext, stop(passed()), None),
            // A step of a recording ends at its event.
            (How::Step, recorded(passed()), None),
            (How::Continue, Ok(Outcome::Done), None),
            (How::Continue, Err(CommandError::new("no")), None),
        ] {
            let inbox = Arc::new(crate::transport::inbox::Inbox::default());
            let mut adapter = Adapter::new(inbox, Outbox::default());
            adapter.passed.insert("passed".to_owned());
            assert_eq!(adapter.resumed_after(how, &last), expected, "{how:?}");
            // A request that ends the run does not let it go on.
            adapter.deferred = Some(crate::handlers::disconnection());
            assert_eq!(adapter.resumed_after(how, &last), None);
        }
    }
}
