//! Expressions and command lines.
//!
//! In the `repl`, a line does and shows what it does and shows at the prompt. Elsewhere an
//! expression is only read: no function of the program is called.

use super::variables::{asks_hex, container_of, counted};
use super::{Answer, body, interruptible, memory, parse};
use crate::adapter::{Act, Adapter, Motion, has_run, queries};
use crate::filters;
use crate::points;
use crate::protocol::arguments::{Completions, Evaluate};
use crate::protocol::bodies::{CompletionItem, Evaluated};
use crate::protocol::message::{Failure, Request};
use crate::stops::{self, Told};
use juror_fault::CommandError;
use juror_session::command_table;
use juror_text::messages;
use juror_view::driver::{Driver, FrontEnd};
use juror_view::queries::SelectionView;
use juror_view::{Location, Outcome};
use serde_json::{Value, json};

/// `evaluate` while no command runs.
pub(super) fn evaluate(adapter: &mut Adapter, session: &mut dyn Driver, request: &Request) {
    let given: Evaluate = match parse(request.arguments.clone()) {
        Ok(given) => given,
        Err(failure) => return adapter.answer(request, Err(failure)),
    };
    let frame = match frame_of(adapter, &given) {
        Ok(frame) => frame,
        Err(failure) => return adapter.answer(request, Err(failure)),
    };
    if !is_repl(&given) {
        let answer = interruptible(adapter, session, request, |adapter, session| {
            value(adapter, session, frame, &given)
        });
        return adapter.answer(request, answer);
    }
    if let Err(failure) = choose_frame(adapter, session, frame) {
        return adapter.answer(request, Err(failure));
    }
    let mut shown = Shown::default();
    let before = frames_told(session);
    for line in given.expression.split('\n') {
        let speaks = session.speak_for(FrontEnd::Editor);
        perform(adapter, session, line.trim(), &mut shown);
        session.speak_for(speaks);
    }
    let text = adapter.styled(&ended(&shown.text));
    let answer = if shown.has_failed {
        Err(Failure::quiet(
            anstream::adapter::strip_str(&text).to_string().trim_end(),
        ))
    } else {
        body(Evaluated {
            result: text,
            ..Evaluated::default()
        })
    };
    adapter.answer(request, answer);
    match shown.last {
        Some(last) => stops::tell(adapter, session, last, Told::Yes),
        None => {
            points::renew(adapter, session);
            if shown.has_changed {
                filters::renew(adapter, session);
                // A client that is to read the stack again shows its first frame, and what is
                // typed next goes there.
                let areas = if frames_told(session) == before {
                    "variables"
                } else {
                    "all"
                };
                adapter.invalidate(&[areas]);
            }
            memory::tell_written(adapter, session);
        }
    }
}

/// The most frames of a stack that are compared.
const FRAMES_MAX: u64 = 64;

/// Returns the places in the selected thread's stack.
fn frames_told(session: &mut dyn Driver) -> Option<(u32, Vec<Location>)> {
    let questions = session.queries()?;
    let thread = questions.selection()?.thread;
    let frames = questions.frames(thread, 0, FRAMES_MAX).ok()?.frames;
    let places = frames.into_iter().map(|placed| placed.frame.location);
    Some((thread, places.collect()))
}

/// The output and the effects of command lines.
#[derive(Default)]
struct Shown {
    text: String,
    has_failed: bool,
    /// Whether values or frames may be others.
    has_changed: bool,
    /// The stop of the program, if it ran.
    last: Option<Result<Outcome, CommandError>>,
}

/// Executes a line as the prompt does.
fn perform(adapter: &mut Adapter, session: &mut dyn Driver, line: &str, shown: &mut Shown) {
    let is_open = session.input_depth() > 0;
    if line.is_empty() && !is_open || shown.has_failed {
        return;
    }
    let (word, _) = command_table::split_line(line);
    let moves = !is_open && command_table::find(word).is_ok_and(|entry| entry.moves);
    if moves && adapter.motion == Motion::Stopped {
        adapter.tell_continued(session);
    }
    let before = adapter.motion;
    let text = &mut shown.text;
    let followed = adapter.follow(session, Act::Line(line), &mut |adapter, outcome| {
        text.push_str(&adapter.text_of(outcome));
    });
    if let Err(error) = &followed.last {
        shown.text.push_str(&messages::command_error(error));
        shown.has_failed = true;
    }
    // The lines of a block are executed at its end.
    shown.has_changed |= is_open || command_table::may_change(line);
    // The commands of a recording are other ones.
    if followed.has_moved && !moves && before == Motion::Stopped {
        adapter.tell_continued(session);
    }
    let is_gone = !has_run(session) && before != Motion::Ended;
    let has_failed = moves && followed.last.is_err() && before == Motion::Stopped;
    if followed.has_moved || is_gone || has_failed {
        shown.last = Some(followed.last);
    } else {
        adapter.motion = before;
    }
}

/// `evaluate` while the program runs: commands that let it run are refused by the session.
pub(super) fn evaluate_running(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: Evaluate = parse(arguments)?;
    if !is_repl(&given) {
        return value(adapter, session, None, &given);
    }
    let mut text = String::new();
    for line in given
        .expression
        .split('\n')
        .filter(|it| !it.trim().is_empty())
    {
        let outcome = adapter.execute_typed(session, line.trim());
        match outcome {
            Ok(outcome) => {
                text.push_str(&adapter.text_of(&outcome));
                filters::renew(adapter, session);
            }
            Err(error) => {
                let words = messages::command_error(&error);
                text.push_str(&words);
                let text = anstream::adapter::strip_str(&text).to_string();
                return Err(Failure::quiet(text.trim_end()));
            }
        }
    }
    body(Evaluated {
        result: adapter.styled(&ended(&text)),
        ..Evaluated::default()
    })
}

/// Returns a text with one line end: some clients show what the program writes next behind it.
fn ended(text: &str) -> String {
    match text.trim_end_matches('\n') {
        "" => String::new(),
        text => format!("{text}\n"),
    }
}

/// Without a context, an expression is a command line, as in gdb's adapter.
fn is_repl(given: &Evaluate) -> bool {
    matches!(given.context.as_deref(), None | Some("repl"))
}

fn frame_of(adapter: &Adapter, given: &Evaluate) -> Result<Option<SelectionView>, Failure> {
    match given.frame_id.filter(|&number| number > 0) {
        Some(number) => Ok(Some(adapter.identifiers.frame_of(number)?)),
        None => Ok(None),
    }
}

/// Selects the frame that the user has chosen in the client. One that it names again is no new
/// choice: `up` in the repl has chosen another since.
fn choose_frame(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    frame: Option<SelectionView>,
) -> Result<(), Failure> {
    let Some(frame) = frame else { return Ok(()) };
    if adapter.named_frame != Some(frame) {
        adapter.named_frame = Some(frame);
        queries(session)?.select(frame)?;
    }
    Ok(())
}

/// Returns the value of an expression.
fn value(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    frame: Option<SelectionView>,
    given: &Evaluate,
) -> Answer {
    let is_hex = asks_hex(given.format.as_ref());
    let questions = queries(session)?;
    let frame = frame.or_else(|| questions.selection());
    let frame = frame.ok_or_else(|| Failure::quiet("there is no frame"))?;
    let expression = given.expression.trim();
    let mut node = questions.evaluate_node(frame, expression, is_hex)?;
    if given.context.as_deref() == Some("clipboard") {
        node.summary = questions.whole_value(frame, expression, is_hex)?;
    }
    body(Evaluated {
        variables_reference: container_of(adapter, frame, &node),
        named_variables: counted(node.named),
        indexed_variables: counted(node.indexed),
        memory_reference: node.memory.map(|at| format!("{at:#x}")),
        result: node.summary,
        type_name: node.type_name.filter(|name| !name.is_empty()),
    })
}

/// `completions`
pub(super) fn completions(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: Completions = parse(arguments)?;
    let first = match adapter.client.lines_start_at1 {
        Some(false) => 0,
        _ => 1,
    };
    let line = usize::try_from(given.line.unwrap_or(first) - first).unwrap_or(0);
    let text = given.text.split('\n').nth(line).unwrap_or_default();
    let first_column = match adapter.client.columns_start_at1 {
        Some(false) => 0,
        _ => 1,
    };
    let column = usize::try_from(given.column - first_column).unwrap_or(0);
    let position = byte_at(text, column);
    let frame = match given.frame_id.filter(|&number| number > 0) {
        Some(number) => adapter.identifiers.frame_of(number).ok(),
        None => None,
    };
    adapter.at(session, frame, |_, session| {
        let (begin, words) = session.complete(text, position);
        let units = |range: &str| range.encode_utf16().count() as i64;
        let start = units(text.get(..begin).unwrap_or_default()) + first_column;
        let length = units(text.get(begin..position).unwrap_or_default());
        let items = words.into_iter().map(|label| CompletionItem {
            label,
            start,
            length,
        });
        body(json!({ "targets": items.collect::<Vec<_>>() }))
    })
}

/// Returns the byte of a column in UTF-16 units.
fn byte_at(text: &str, column: usize) -> usize {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        if units >= column {
            return at;
        }
        units += c.len_utf16();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_utf_16_units() {
        let text = "a€𝄞b";
        for (column, expected) in [(0, 0), (1, 1), (2, 4), (4, 8), (5, 9), (9, 9)] {
            assert_eq!(byte_at(text, column), expected, "{column}");
        }
    }
}
