//! Reports the observations of a running command as events.

use super::{Adapter, Motion};
use crate::handlers;
use juror_text::{diagnostics, ending, messages, scenarios};
use juror_view::driver::Driver;
use juror_view::observer::Observer;
use juror_view::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};
use serde_json::json;
use std::time::{Duration, Instant};

/// The time after which a long operation is shown.
const SHOWN_AFTER: Duration = Duration::from_millis(500);

/// The long operation under way.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    what: String,
    begun: Option<Instant>,
    /// Its number, once it is shown.
    shown: Option<i64>,
    percent: u64,
}

impl Observer for Adapter {
    fn state_change(&mut self, change: &StateChange) {
        if let Ok(body) = serde_json::to_value(change) {
            self.outbox.passing_event("juror/monitor", body);
        }
    }

    fn wants_state_changes(&self) -> bool {
        self.tells_changes
    }

    fn resumes(&mut self) {
        self.has_run = true;
        if self.answer_pending(None) {
            self.forget_stop();
        }
    }

    fn takes_output(&self) -> bool {
        true
    }

    fn output(&mut self, text: &str) {
        self.say(text);
    }

    fn thread_started(&mut self, number: u32) {
        self.tell_started(number);
    }

    fn thread_ended(&mut self, number: u32) {
        self.tell_exited(number);
    }

    fn process_ended(&mut self, end: &ProcessEnd) {
        if end.violations.is_empty() {
            return self.notice(&ending::process_end(end));
        }
        let text = self.page(|page| ending::write_process_end(page, end));
        self.say(&text);
    }

    fn notice(&mut self, text: &str) {
        self.say(&messages::notice(text));
    }

    fn printed(&mut self, _: u32, text: &str) {
        let shown = self.text_of(&Outcome::Message(text.to_owned()));
        self.say(&shown);
    }

    fn scenario_line(&mut self, line: &ScenarioLine) {
        self.say(&scenarios::line(line));
    }

    fn scenario_outcome(&mut self, _: &str, _: &str, outcome: &Outcome) {
        let text = self.text_of(outcome);
        self.say(&text);
    }

    fn scenario_error(&mut self, reason: &StopReason) {
        if let Some((file, text, error)) = diagnostics::of_stop(reason) {
            self.say_as("stderr", &diagnostics::render(file, text, &error));
        }
    }

    fn progress(&mut self, what: &str, done: u64, of: u64) {
        if self.client.supports_progress_reporting == Some(true) {
            self.show_progress(what, done, of);
        }
    }

    fn has_requests(&mut self) -> bool {
        self.inbox.has_waiting()
    }

    fn serve(&mut self, session: &mut dyn Driver) {
        if self.motion == Motion::Running {
            handlers::serve(self, session);
        }
    }
}

impl Adapter {
    fn show_progress(&mut self, what: &str, done: u64, of: u64) {
        if self.progress.what != what {
            self.end_progress();
            self.progress.what = what.to_owned();
            self.progress.begun = Some(Instant::now());
        }
        if done >= of {
            return self.end_progress();
        }
        let percent = u64::try_from(u128::from(done) * 100 / u128::from(of)).unwrap_or(0);
        let Some(number) = self.progress.shown else {
            let waited = self.progress.begun.map(|begun| begun.elapsed());
            if waited.is_some_and(|waited| waited >= SHOWN_AFTER) {
                let number = self.identifiers.next();
                self.progress.shown = Some(number);
                self.progress.percent = percent;
                let body = json!({
                    "progressId": number.to_string(),
                    "title": what,
                    "cancellable": false,
                    "percentage": percent,
                });
                self.event("progressStart", body);
            }
            return;
        };
        if percent != self.progress.percent {
            self.progress.percent = percent;
            let body = json!({ "progressId": number.to_string(), "percentage": percent });
            self.event("progressUpdate", body);
        }
    }

    /// Ends what is shown of a long operation.
    pub(crate) fn end_progress(&mut self) {
        let progress = std::mem::take(&mut self.progress);
        if let Some(number) = progress.shown {
            let body = json!({ "progressId": number.to_string() });
            self.event("progressEnd", body);
        }
    }
}
