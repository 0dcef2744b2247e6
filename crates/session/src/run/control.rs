//! The control of a session: user or program.
//!
//! The state machine is [`juror_control`], where it is explored. Each of its transitions is
//! made at one place: a program is loaded or attached (`launch`, `attach`), begins (`begin`), runs
//! and reports (`pump`), is shown (`stop`), ends (`forget_program`); and a command ends
//! (`execute`).
//!
//! Under a self-check the control is compared with its model during the session (`follow_control`).
//!
//! **Invariant**: nothing runs while a stop is still to be shown to the user.

#[cfg(test)]
pub(crate) mod tests;

use crate::run::pause::Pause;
use crate::session::Session;
use crate::state::control::not_running;
use juror_control::decision::Notification;
use juror_control::{Mode, Modes};
use juror_fault::{CommandError, SessionError};

impl Session {
    /// Returns whether the program is loaded and bound, but has not executed any code of its own.
    pub(crate) fn is_fresh(&self) -> bool {
        self.control.state.mode() == Mode::Loaded
    }

    /// Returns whether the program has begun, stopped or running.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self.control.state.mode(), Mode::Init | Mode::Loaded)
    }

    /// Under a self-check, starts to compare the control with its model, if there is the model.
    ///
    /// # Errors
    /// The model of the control is invalid.
    pub(crate) fn begin_control_check(&mut self) -> Result<(), SessionError> {
        if self.options.self_check.is_some()
            && let Some(maker) = self.options.control_check
        {
            let check = (maker.0)().map_err(SessionError::Internal)?;
            self.control.state = std::mem::take(&mut self.control.state).with_history();
            self.control.check = Some(Box::new(check));
        }
        Ok(())
    }

    /// Compares the transitions of the control with its model.
    #[inline]
    pub(crate) fn follow_control(&mut self) {
        if let Some(check) = &mut self.control.check
            && let Err(words) = check.follow(&mut self.control.state)
            && let Some(self_check) = &self.options.self_check
        {
            self_check.record_violation(words);
        }
    }

    /// Checks that an action is possible in the present mode.
    ///
    /// # Errors
    /// It is not; with the command that makes it possible.
    pub(crate) fn permit(&self, modes: Modes) -> Result<(), CommandError> {
        self.control.state.permit(modes).map_err(|_| match modes {
            Modes::Before => CommandError::with_help(
                "a program is already being debugged",
                "end it with kill, or release it with detach",
            ),
            Modes::Always | Modes::Program | Modes::Begun => not_running(),
        })
    }
}

impl Pause {
    /// Returns whether it must be shown to the user before anything resumes.
    pub(crate) fn is_owed(&self) -> bool {
        matches!(self, Pause::Reason(..) | Pause::Ended(_))
    }

    /// Returns the notification for the decision rules.
    pub(crate) fn notification(&self) -> Notification {
        match self {
            Pause::Reason(reason, _) => Notification::Stop {
                may_be_passed: reason.may_be_passed(),
            },
            Pause::Temporary(_) | Pause::Stepped(_) | Pause::CallEnded(..) => Notification::Goal,
            Pause::ScenariosNotified(_) | Pause::Moves(_) => Notification::ScenariosOnly,
            Pause::Ended(_) => Notification::End,
        }
    }
}
