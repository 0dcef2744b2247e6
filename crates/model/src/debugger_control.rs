//! The model of the debugger's own control, `models/debugger/session.asm`.
//!
//! It is an abstract state machine that is checked by itself and against the machine of the case
//! study. A state of the control is shown as the values of [`FUNCTIONS`]. A check of a session
//! keeps only the set of states that the model can be in, so it is cheap however long the session
//! is.

use crate::asm::{Model, Shadow, load};
use crate::promela::Text;

/// The functions of the model that correspond to the control: the name of its mode, and whether a
/// stop is owed (`true` or `false`).
pub const FUNCTIONS: [&str; 2] = ["mode", "owed"];

/// Loads the model of the control.
///
/// # Errors
/// A message, if the model cannot be loaded.
pub fn model() -> Result<Model, String> {
    let text = |name: &str, text: &str| Text {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let session = include_str!("../../../models/debugger/session.asm");
    let mut reader = |name: &str| match name {
        "control.asm" => Ok(text(
            name,
            include_str!("../../../models/debugger/control.asm"),
        )),
        other => Err(format!("there is no {other}")),
    };
    load(text("session.asm", session), &mut reader).map_err(|rejection| {
        let faults = rejection.faults.iter().map(|fault| fault.message.as_str());
        faults.collect::<Vec<_>>().join("\n")
    })
}

/// Returns a function that follows a control by the model, from the state in which there is no
/// program: it takes the values of [`FUNCTIONS`] for each state that the control passes through.
///
/// # Errors
/// A message, if the model cannot be loaded; the function returns one if no behaviour of the
/// model leads to a state.
pub fn follower() -> Result<impl FnMut([&str; 2]) -> Result<(), String> + use<>, String> {
    let begin = ["Init", "false"].map(str::to_owned).to_vec();
    let shadow: Result<Shadow<Model>, _> = Shadow::new(model()?, &FUNCTIONS, begin);
    let mut shadow = shadow.map_err(|astray| astray.to_string())?;
    Ok(move |shown: [&str; 2]| shadow.show(&shown).map_err(|astray| astray.to_string()))
}
