//! Checks the control of a running session against a model of it.
//!
//! The model is not known here: it is a function that is told each state that the control passes
//! through, and that refuses a state to which no behaviour of the model leads. A front end that
//! has the model checker hands it in. The tests compare everything that a user and a program can
//! do to the control with the model; a session is followed while it runs.

use super::{Control, ControlState};
use std::fmt;

/// A model that is told a state, and explains why no behaviour leads to it.
type Model = dyn FnMut(ControlState) -> Result<(), String>;

/// Follows a control by its model.
pub struct ControlCheck {
    /// `None` once control and model have diverged.
    model: Option<Box<Model>>,
}

impl fmt::Debug for ControlCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlCheck").finish_non_exhaustive()
    }
}

impl ControlCheck {
    /// Creates the check for a session that begins. The model is told each state that follows
    /// the first one, in which there is no program and no stop is owed.
    pub fn new(model: impl FnMut(ControlState) -> Result<(), String> + 'static) -> ControlCheck {
        ControlCheck {
            model: Some(Box::new(model)),
        }
    }

    /// Follows the states that the control has passed through since the last call.
    ///
    /// # Errors
    /// A message, returned once, if the model has no such behaviour.
    pub fn follow(&mut self, control: &mut Control) -> Result<(), String> {
        let Some(model) = &mut self.model else {
            return Ok(());
        };
        let mut history = control.take_history();
        let followed = history.try_for_each(model);
        drop(history);
        followed.map_err(|astray| {
            self.model = None;
            format!("the control diverges from its model\n{astray}")
        })
    }
}

/// Creates the check of a session that begins, or says why the model cannot be loaded.
#[derive(Debug, Clone, Copy)]
pub struct ControlCheckMaker(pub fn() -> Result<ControlCheck, String>);

impl PartialEq for ControlCheckMaker {
    fn eq(&self, other: &ControlCheckMaker) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::shadowed;
    use super::super::{Control, Mode};

    /// Applies actions to a control and checks whether the model follows.
    fn check(acts: &[fn(&mut Control)], follows: bool) {
        let mut control = Control::default().with_history();
        let mut check = shadowed();
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
