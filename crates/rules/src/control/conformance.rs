//! Checks the control of a running session against its model.
//!
//! The model is `models/debugger/session.asm`, an abstract state machine that is
//! checked by itself and against the machine of the case study. The tests compare
//! everything a [`Conversation`](super::Conversation) can do with it; a session is
//! followed while it runs. The check keeps only the set of states that the model can be
//! in, so it is cheap however long the session is.

use super::{Control, ControlState, Mode};
use juror_model::asm::{Model, Shadow, load};
use juror_model::promela::Text;

/// The functions of the model that correspond to fields of the control.
pub(super) const FUNCTIONS: [&str; 2] = ["mode", "owed"];

/// Follows a control by its model.
#[derive(Debug)]
pub struct ControlCheck {
    /// `None` once control and model have diverged.
    shadow: Option<Shadow<Model>>,
}

/// Returns the values of [`FUNCTIONS`] for a state of the control.
pub(super) fn shown(state: ControlState) -> [&'static str; 2] {
    [state.mode.name(), if state.owed { "true" } else { "false" }]
}

/// Loads the model of the control.
///
/// # Errors
/// A message, if the model cannot be loaded.
pub(super) fn session_model() -> Result<Model, String> {
    let text = |name: &str, text: &str| Text {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let session = include_str!("../../../../models/debugger/session.asm");
    let mut reader = |name: &str| match name {
        "control.asm" => Ok(text(
            name,
            include_str!("../../../../models/debugger/control.asm"),
        )),
        other => Err(format!("there is no {other}")),
    };
    load(text("session.asm", session), &mut reader).map_err(|rejection| {
        let faults = rejection.faults.iter().map(|fault| fault.message.as_str());
        faults.collect::<Vec<_>>().join("\n")
    })
}

impl ControlCheck {
    /// Creates the check for a session that begins.
    ///
    /// # Errors
    /// A message, if the model cannot be loaded.
    pub fn new() -> Result<ControlCheck, String> {
        let begin = ControlState {
            mode: Mode::Init,
            owed: false,
        };
        let begin = shown(begin).map(str::to_owned).to_vec();
        let shadow = Shadow::new(session_model()?, &FUNCTIONS, begin);
        Ok(ControlCheck {
            shadow: Some(shadow.map_err(|astray| astray.to_string())?),
        })
    }

    /// Follows the states that the control has passed through since the last call.
    ///
    /// # Errors
    /// A message, returned once, if the model has no such behaviour.
    pub fn follow(&mut self, control: &mut Control) -> Result<(), String> {
        let Some(shadow) = &mut self.shadow else {
            return Ok(());
        };
        let mut history = control.take_history();
        let followed = history.try_for_each(|state| shadow.show(&shown(state)));
        drop(history);
        followed.map_err(|astray| {
            self.shadow = None;
            format!("the control diverges from its model\n{astray}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies actions to a control and checks whether the model follows.
    fn check(acts: &[fn(&mut Control)], follows: bool) {
        let mut control = Control::default().with_history();
        let mut check = ControlCheck::new().unwrap();
        let mut result = Ok(());
        for act in acts {
            act(&mut control);
            result = result.and_then(|()| check.follow(&mut control));
        }
        assert_eq!(result.is_ok(), follows, "{result:?}");
    }

    fn load(control: &mut Control) {
        control.load().unwrap();
    }

    fn begin(control: &mut Control) {
        control.begin().unwrap();
    }

    fn run(control: &mut Control) {
        control.run().unwrap();
    }

    fn owe_stop(control: &mut Control) {
        control.owe_stop().unwrap();
    }

    fn settle(control: &mut Control) {
        control.settle().unwrap();
    }

    #[test]
    fn a_session_is_followed() {
        check(
            &[
                load,
                begin,
                run,
                Control::notify,
                run,
                owe_stop,
                settle,
                Control::finish,
            ],
            true,
        );
        check(
            &[load, begin, owe_stop, settle, run, Control::notify, settle],
            true,
        );
        check(
            &[load, begin, run, Control::notify, |control| {
                let is_lent = control.lend();
                control.give_back(is_lent);
            }],
            true,
        );
        check(
            &[load, begin, run, |control| {
                control.end();
            }],
            true,
        );
        check(
            &[
                load,
                begin,
                run,
                owe_stop,
                Control::withdraw_stop,
                run,
                Control::finish,
            ],
            true,
        );
        check(&[load, |control| control.restore(true), begin], true);
    }

    #[test]
    fn what_the_model_does_not_do_is_told() {
        let forget: fn(&mut Control) = |control| control.enter(Mode::Run, true);
        check(&[load, begin, run, owe_stop, forget], false);
        check(&[load, |control| control.enter(Mode::Run, false)], false);
        let skip: fn(&mut Control) = |control| control.enter(Mode::Break, false);
        check(&[load, begin, run, skip], false);
    }
}
