//! The model that `--self-check` compares the control with, and the result.

#[cfg(feature = "models")]
use crate::driver::ControlCheck;
use crate::driver::{ControlCheckMaker, SelfCheckReport};
use crate::exit;
use crate::output::Output;

/// Returns what creates the check of a session's control by its model, if juror has models.
pub fn control_check() -> Option<ControlCheckMaker> {
    #[cfg(feature = "models")]
    let maker = Some(ControlCheckMaker(|| {
        let mut follow = juror_model::debugger_control::follower()?;
        Ok(ControlCheck::new(move |state| follow(state.shown())))
    }));
    #[cfg(not(feature = "models"))]
    let maker = None;
    maker
}

/// Shows the result. Returns the exit status: that of the run if nothing is wrong.
pub fn conclude(report: &SelfCheckReport, output: &mut Output, status: u8) -> anyhow::Result<u8> {
    if let Some(violation) = &report.violation {
        output.show_bug(&format!(
            "the breakpoint engine deviates from its model\n{violation}"
        ))?;
        return Ok(exit::BUG);
    }
    if let Some(error) = &report.log_error {
        output.show_error(&format!(
            "the log of the self-check is incomplete: {error}\n\
             help: the check itself found nothing wrong; free some space, or omit the file"
        ))?;
        return Ok(exit::USAGE);
    }
    let inputs = grouped(report.inputs);
    let mut sentence =
        format!("self-check: {inputs} inputs, the engine's log is a path of its model");
    if cfg!(not(feature = "models")) {
        sentence.push_str("; the control was not compared: this juror was built without models");
    }
    output.show_self_check(report.inputs, &sentence)?;
    Ok(status)
}

/// Returns a number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::testing::*;

    fn report() -> SelfCheckReport {
        SelfCheckReport {
            inputs: 12_345,
            violation: None,
            log_error: None,
        }
    }

    #[track_caller]
    fn check(report: &SelfCheckReport, status: u8, said: &str) {
        let (mut output, streams) = output();
        let given = conclude(report, &mut output, exit::VIOLATED).expect("memory takes it");
        assert_eq!(given, status);
        assert!(streams.messages().contains(said), "{}", streams.messages());
    }

    #[test]
    fn the_result_is_shown() {
        check(&report(), exit::VIOLATED, "self-check: 12 345 inputs");
        let broken = SelfCheckReport {
            violation: Some("input 7: wrong".to_owned()),
            ..report()
        };
        check(&broken, exit::BUG, "This is a bug in juror");
        check(&broken, exit::BUG, "input 7: wrong");
        let full = SelfCheckReport {
            log_error: Some("no space".to_owned()),
            ..report()
        };
        check(&full, exit::USAGE, "incomplete: no space");
    }

    #[test]
    fn digits_are_grouped() {
        let shown = [0, 12, 123, 1234, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "12", "123", "1 234", "1 234 567"]);
    }
}
