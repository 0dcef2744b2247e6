//! Evaluations: expressions that wait for the functions they call.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::page::{NAME, OPEN, Page, QUIET, STRONG};
use juror_view::{EvaluationView, StopReason, StopView, VariableView};

/// Writes that a stop is within a function that juror called, and what to do.
pub fn write_remark(page: &mut Page, view: &StopView) {
    let Some(number) = view.evaluation else {
        return;
    };
    write!(
        page,
        "The program is in a function called from juror ({OPEN}evaluation {number}{OPEN:#}): type \
         {NAME}continue{NAME:#} or {NAME}abandon{NAME:#}."
    );
    if view.reason == StopReason::Interrupted && view.thread_count > 1 {
        page.push(" The other threads are stopped until then.");
    }
    page.push("\n");
}

/// Writes the value of an evaluation that was stopped before.
pub fn write_done(page: &mut Page, number: u32, expression: &str, returned: Option<&VariableView>) {
    let expression = safe(expression);
    writeln!(
        page,
        "{STRONG}Evaluation {number}{STRONG:#} is done: {expression}"
    );
    if let Some(value) = returned {
        writeln!(page, "{} = {}", safe(&value.name), safe(&value.value));
    }
}

/// Writes that evaluations were abandoned.
pub fn write_abandoned(page: &mut Page, numbers: &[u32]) {
    let list: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let (word, verb) = match numbers {
        [_] => ("Evaluation", "is"),
        _ => ("Evaluations", "are"),
    };
    writeln!(
        page,
        "{STRONG}{word} {}{STRONG:#} {verb} abandoned.",
        list.join(", ")
    );
}

/// Writes the open evaluations, the oldest first.
pub fn write(page: &mut Page, evaluations: &[EvaluationView]) {
    if evaluations.is_empty() {
        return page.push("No evaluation is open.\n");
    }
    let rows: Vec<Vec<Cell>> = evaluations
        .iter()
        .map(|one| {
            vec![
                one.number.to_string().as_str().into(),
                one.thread.to_string().as_str().into(),
                Cell::new(safe(&one.function), NAME),
                safe(&one.expression).as_ref().into(),
            ]
        })
        .collect();
    columns::write(page, 0, &["#", "thread", "in", "expression"], &rows);
}

/// Writes the line of a backtrace for a call that juror made.
pub fn write_frame(page: &mut Page, number: u32) {
    writeln!(
        page,
        "{QUIET}<called from juror, evaluation {number}>{QUIET:#}"
    );
}
