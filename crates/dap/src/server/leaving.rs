//! Ends the program, or lets it go on without juror.

use super::launching::driver;
use super::{Origin, Server};
use crate::adapter::Motion;
use crate::handlers::parse;
use crate::protocol::arguments::Disconnect;
use crate::protocol::message::Request;
use crate::stops;
use juror_view::Outcome;
use juror_view::changes::Release;
use serde_json::Value;

impl Server<'_> {
    /// `terminate`
    pub(super) fn terminate(&mut self, request: &Request) {
        self.adapter.answer(request, Ok(Value::Null));
        let has_ended = self.adapter.motion == Motion::Ended;
        self.release(self.origin.farewell());
        if !has_ended {
            stops::tell_gone(&mut self.adapter, None);
        }
    }

    /// `disconnect`, and the end of the connection.
    pub(super) fn disconnect(&mut self, request: &Request) {
        let given: Disconnect = parse(request.arguments.clone()).unwrap_or_default();
        // A core file can only be closed.
        let how = match (&self.origin, given.terminate_debuggee) {
            (Origin::CoreFile(_), _) | (_, None) => self.origin.farewell(),
            (_, Some(true)) => Release::Kill,
            (_, Some(false)) => Release::Detach,
        };
        self.release(how);
        self.adapter.answer(request, Ok(Value::Null));
        self.is_over = true;
    }

    /// Ends the session for a signal to juror.
    pub(super) fn leave_for_signal(&mut self) {
        self.host.leaves();
        self.release(self.origin.farewell());
        stops::tell_gone(&mut self.adapter, None);
    }

    /// Releases all that is debugged.
    pub(super) fn release(&mut self, how: Release) {
        let Some(session) = driver(&mut self.session) else {
            return;
        };
        session.cancel_input();
        // A call releases one of several processes.
        while session.is_alive()
            && let Some(changes) = session.changes()
        {
            match changes.release(how, &mut self.adapter) {
                Ok(outcome) => {
                    if let Outcome::Ended(_) = &outcome {
                        let text = self.adapter.text_of(&outcome);
                        self.adapter.drain_output();
                        self.adapter.say(&text);
                    }
                }
                Err(error) => {
                    self.adapter.say_error(&error);
                    break;
                }
            }
        }
        if let Some(failure) = session.trace_failure() {
            self.adapter
                .say_as("stderr", &juror_text::messages::error(&failure));
        }
    }
}
