//! Who has the control, in the session.
//!
//! The machine is [`juror_rules::control`], where it is explored. Each of its
//! transitions is made at one place: a program is loaded or taken over
//! (`launch`, `attach`), begins (`begin`), runs and tells (`pump`), is shown
//! (`stop`), is gone (`forget_program`); and a command is over (`execute`).
//!
//! Under a self-check the control is followed against its model while the session
//! goes on (`follow_control`).
//!
//! Invariant: nothing runs while a stop is owed to the person.

#[cfg(test)]
mod tests;

use crate::run::pause::Pause;
use crate::session::Session;
use juror_rules::control::{ControlCheck, Mode, Modes};
use juror_rules::decision::Notification;
use juror_view::error::{CommandError, SessionError, not_running};

impl Session {
    /// Loaded and bound, but nothing of the program itself has run.
    pub(crate) fn is_fresh(&self) -> bool {
        self.control.state.mode() == Mode::Loaded
    }

    /// Whether the program has begun, and stands or runs.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self.control.state.mode(), Mode::Init | Mode::Loaded)
    }

    /// Under a self-check the control is followed from the beginning.
    ///
    /// # Errors
    /// The model of the control is none.
    pub(crate) fn begin_control_check(&mut self) -> Result<(), SessionError> {
        if self.options.self_check.is_some() {
            let check = ControlCheck::new().map_err(SessionError::Internal)?;
            self.control.state = std::mem::take(&mut self.control.state).with_history();
            self.control.check = Some(Box::new(check));
        }
        Ok(())
    }

    /// Holds what the control has passed through to its model.
    #[inline]
    pub(crate) fn follow_control(&mut self) {
        if let Some(check) = &mut self.control.check
            && let Err(words) = check.follow(&mut self.control.state)
            && let Some(self_check) = &self.options.self_check
        {
            self_check.record_violation(words);
        }
    }

    /// For what is possible in some modes only.
    ///
    /// # Errors
    /// It is not possible now; what is to be done about that.
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
    /// Whether the person must see it before anything runs on.
    pub(crate) fn is_owed(&self) -> bool {
        matches!(self, Pause::Reason(..) | Pause::Ended(_))
    }

    /// What it is to those who decide what follows.
    pub(crate) fn told(&self) -> Notification {
        match self {
            Pause::Reason(reason, _) => Notification::Stop {
                may_be_passed: reason.may_be_passed(),
            },
            Pause::Temporary(_) | Pause::Stepped(_) | Pause::CallEnded(..) => Notification::Goal,
            Pause::Heard(_) | Pause::Moves(_) => Notification::ScenariosOnly,
            Pause::Ended(_) => Notification::End,
        }
    }
}
