//! Shows what happens while a command runs.

use super::{Driver, Observer, Output};
use crate::json::Line;
use juror_text::wrapping::fitted;
use juror_text::{ending, messages, scenarios};
use juror_view::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};

impl Observer for Output {
    fn state_change(&mut self, change: &StateChange) {
        let result = self.write_json(&Line::StateChange(change));
        self.keep_failure(result);
    }

    fn wants_state_changes(&self) -> bool {
        self.json.is_some()
    }

    fn resumes(&mut self) {
        self.suspend_paging();
        if let Some(page) = &mut self.page {
            page.resumes();
        }
        if !std::mem::replace(&mut self.has_resumed, true) {
            let result = self.write_json(&Line::Resume {});
            self.keep_failure(result);
        }
    }

    fn gives_terminal(&mut self) {
        self.suspend_paging();
    }

    fn process_ended(&mut self, end: &ProcessEnd) {
        let written = self.write_json(&Line::ProcessEnd(end));
        self.keep_failure(written);
        if end.violations.is_empty() {
            return self.notice(&ending::process_end(end));
        }
        let mut page = self.new_page();
        ending::write_process_end(&mut page, end);
        let said = self.say(&page.into_text());
        self.keep_failure(said);
    }

    fn notice(&mut self, text: &str) {
        let text = messages::notice(text);
        let result = self.warn(&fitted(&text, self.screen.width()));
        self.keep_failure(result);
    }

    fn printed(&mut self, point: u32, text: &str) {
        let shown = Outcome::Message(text.to_owned());
        let written = self.record_on(&format!("dprintf {point}"), &shown);
        self.keep_failure(written);
        let said = self.show_text(&shown);
        self.keep_failure(said);
    }

    fn owns_standard_output(&self) -> bool {
        self.text.is_none()
    }

    fn scenario_line(&mut self, line: &ScenarioLine) {
        let written = self.write_json(&Line::Scenario(line));
        self.keep_failure(written);
        let said = self.say(&scenarios::line(line));
        self.keep_failure(said);
    }

    fn scenario_outcome(&mut self, _: &str, command: &str, outcome: &Outcome) {
        self.violated |= matches!(outcome, Outcome::Ended(end) if end.is_violated());
        let shown = self.record_on(command, outcome);
        self.keep_failure(shown);
        let shown = self.show_text(outcome);
        self.keep_failure(shown);
    }

    fn scenario_error(&mut self, reason: &StopReason) {
        self.erred = true;
        let shown = self.show_scenario_error(reason);
        self.keep_failure(shown);
    }

    fn has_requests(&mut self) -> bool {
        self.page.as_ref().is_some_and(|page| page.has_requests())
    }

    fn serve(&mut self, session: &mut dyn Driver) {
        if let Some(page) = &mut self.page {
            page.serve(session);
        }
    }

    fn progress(&mut self, what: &str, done: u64, of: u64) {
        let result = self.show_progress(what, done, of);
        self.keep_failure(result);
    }
}
