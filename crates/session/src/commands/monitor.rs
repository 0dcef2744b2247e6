//! `monitor`: shows, selects and changes monitors.
//!
//! After the commands `set-current`, `get-current` and `exec` of Verde (Jakse, Falcone and Méhaut,
//! table 2). The property continues from the changed state; the change is reported, and the verdict
//! is then no longer that of the events alone.

use crate::commands::info_graph::no_property;
use crate::commands::{info_graph, info_views};
use crate::session::Session;
use juror_event::Value;
use juror_fault::CommandError;
use juror_language::{StateId, suggest};
use juror_monitor::{Edit, SliceId};
use juror_monitoring::monitors::MonitoredProperty;
use juror_view::Outcome;

/// The help of syntax errors.
const HELP: &str = "for example: monitor set count = 3, monitor set queue_bounds state = ready, \
                    monitor set queue_bounds[queue = 0x4052a0] count = 3";

/// `monitor`, `monitor NAME`, `monitor choose NAME`, `monitor set ...`
pub(crate) fn monitor_command(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let (action, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_property = info_graph::property_named(session, action).is_ok();
    match action {
        "choose" if !is_property => choose_monitor(session, words.trim()),
        "set" if !is_property => set_monitor(session, words.trim()),
        _ => info_views::session_monitors(session, rest),
    }
}

fn choose_monitor(session: &mut Session, name: &str) -> Result<Outcome, CommandError> {
    if name.is_empty() {
        let chosen = chosen_monitor(session)?;
        return Ok(Outcome::Message(format!(
            "{chosen} is the default property"
        )));
    }
    info_graph::property_named(session, name)?;
    session.user.current_property = Some(name.to_owned());
    Ok(Outcome::Message(format!(
        "{name} is now the default property"
    )))
}

/// Returns the default property of commands: the chosen one, or the only one.
fn chosen_monitor(session: &Session) -> Result<String, CommandError> {
    let shown = session.processes.monitors.shown();
    let chosen = session.user.current_property.as_ref();
    let known = chosen.filter(|name| info_graph::property_named(session, name).is_ok());
    match (known, shown) {
        (Some(name), _) => Ok(name.clone()),
        (None, []) => Err(no_property()),
        (None, [one]) => Ok(one.property.name.to_string()),
        (None, _) => Err(CommandError::with_help(
            "several properties are monitored, and none is chosen",
            "monitor choose NAME",
        )),
    }
}

/// `monitor set [PROPERTY[SLICE]] VARIABLE = VALUE`
fn set_monitor(session: &mut Session, words: &str) -> Result<Outcome, CommandError> {
    let (target, value) = last_assignment(words)
        .ok_or_else(|| CommandError::with_help("`monitor set` needs a name and a value", HELP))?;
    let (place, variable) = match target.rsplit_once(|c: char| c.is_whitespace() || c == ']') {
        Some((place, variable)) => {
            let end = target.len() - variable.len();
            let is_slice = target.get(..end).is_some_and(|it| it.ends_with(']'));
            let place = place.trim();
            (
                if is_slice {
                    format!("{place}]")
                } else {
                    place.to_owned()
                },
                variable,
            )
        }
        None => (String::new(), target),
    };
    let (name, slice) = match place.strip_suffix(']').and_then(|it| it.split_once('[')) {
        Some((name, slice)) => (name.trim().to_owned(), Some(slice.to_owned())),
        None => (place.trim_end_matches(']').trim().to_owned(), None),
    };
    let name = match name.as_str() {
        "" => chosen_monitor(session)?,
        name => name.to_owned(),
    };
    let slice = slice.as_deref().map(parameters);
    set_value(
        session,
        &name,
        slice.as_deref(),
        variable.trim(),
        value.trim(),
    )?;
    let words = format!("{name}: {} = {}", variable.trim(), value.trim());
    Ok(Outcome::Message(format!("{words}, set by hand")))
}

/// Sets the state or a variable of a slice of a property; without parameters, of its only slice.
pub(crate) fn set_value(
    session: &mut Session,
    name: &str,
    slice: Option<&[(String, String)]>,
    variable: &str,
    value: &str,
) -> Result<(), CommandError> {
    let named = info_graph::property_named(session, name)?;
    let mut shown = session.processes.monitors.shown().iter();
    let position = shown.position(|it| std::ptr::eq(it, named));
    let position = position.ok_or_else(no_property)?;
    let slice = slice_to_set(session, position, slice)?;
    let edit = edit(named, variable, value)?;
    let edited = named.monitor.edited(slice, &edit);
    let edited = edited.map_err(|error| CommandError::new(error.to_string()))?;
    let thread = session.processes.selection.thread;
    let process = &mut *session.processes;
    let program = process.program.as_mut();
    Ok(process
        .monitors
        .replace_monitor(position, edited, program.zip(thread))?)
}

/// Returns a slice by its parameters, or the only one.
fn slice_to_set(
    session: &Session,
    position: usize,
    wanted: Option<&[(String, String)]>,
) -> Result<SliceId, CommandError> {
    let monitored = session
        .processes
        .monitors
        .shown()
        .get(position)
        .ok_or_else(no_property)?;
    let is_sliced = !monitored.property.slice.is_empty();
    let slices = monitored.monitor.slices();
    let of_objects = |it: &juror_monitor::SliceView<'_>| {
        !it.ended && (!is_sliced || it.binding.iter().any(Option::is_some))
    };
    let all: Vec<_> = slices.filter(of_objects).collect();
    let fits = |slice: &&juror_monitor::SliceView<'_>| {
        wanted.is_none_or(|wanted| is_bound(monitored, &slice.binding, wanted))
    };
    let found: Vec<_> = all.iter().filter(fits).collect();
    match found.as_slice() {
        [one] => Ok(one.id),
        [] => Err(CommandError::with_help(
            "no slice has these parameters",
            "monitor lists the slices with their parameters",
        )),
        _ => Err(CommandError::with_help(
            format!("{} slices match", found.len()),
            HELP,
        )),
    }
}

/// Splits at the assignment after the slice, whose brackets contain others.
fn last_assignment(words: &str) -> Option<(&str, &str)> {
    let start = words.rfind(']').map_or(0, |at| at + 1);
    let (variable, value) = split(words.get(start..)?)?;
    let end = start + words.get(start..)?.find('=')?;
    let is_whole = !variable.is_empty() && !value.is_empty();
    is_whole.then_some((words.get(..end)?.trim(), value))
}

/// Splits `PLACE = VALUE` at the sign that is not part of another operator.
fn split(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut quote = None;
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        match (quote, byte) {
            (Some(_), b'\\') => position += 1,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'=') => {
                let before = position.checked_sub(1).and_then(|at| bytes.get(at));
                let is_part = matches!(before, Some(b'=' | b'!' | b'<' | b'>'));
                let is_comparison = bytes.get(position + 1) == Some(&b'=');
                if !is_part && !is_comparison {
                    let (place, value) = (text.get(..position)?, text.get(position + 1..)?);
                    return Some((place.trim(), value.trim()));
                }
                position += usize::from(is_comparison);
            }
            (None, _) => {}
        }
        position += 1;
    }
    None
}

/// Splits `queue = 0x4052a0, thread = 1` into names and values; a value alone has no name.
fn parameters(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or(("", part));
        (name.trim().to_owned(), value.trim().to_owned())
    };
    text.split(',').map(pair).collect()
}

/// Returns whether a slice has these values; one without a name may be of any parameter.
fn is_bound(
    monitored: &MonitoredProperty,
    binding: &[Option<Value>],
    wanted: &[(String, String)],
) -> bool {
    wanted.iter().all(|(name, value)| {
        let slots = monitored.property.slice.iter().zip(binding);
        let mut bound = slots.filter(|(known, _)| name.is_empty() || ***known == **name);
        bound.any(|(_, known)| known.as_ref().is_some_and(|it| it.to_string() == *value))
    })
}

/// Parses the change.
fn edit(monitored: &MonitoredProperty, variable: &str, value: &str) -> Result<Edit, CommandError> {
    let property = &monitored.property;
    let variables = || property.variables.iter().map(|it| &*it.name);
    if let Some((slot, known)) = (0_u16..)
        .zip(&property.variables)
        .find(|(_, it)| *it.name == *variable)
    {
        let value = constant(value)?;
        let (wanted, given) = (known.initial.type_name(), value.type_name());
        if wanted != given {
            return Err(CommandError::new(format!(
                "`{variable}` is of type {wanted}, and the value is {given}"
            )));
        }
        return Ok(Edit::Variable(slot, value));
    }
    if variable != "state" {
        let known = variables().chain(["state"]);
        return Err(CommandError::advised(
            format!("`{}` has no variable `{variable}`", property.name),
            suggest(variable, known).map(|near| format!("did you mean `{near}`?")),
        ));
    }
    let states = || property.states().iter().map(|it| &*it.name);
    match states().position(|it| it == value) {
        Some(number) => Ok(Edit::State(StateId(
            u32::try_from(number).unwrap_or(u32::MAX),
        ))),
        None => Err(CommandError::advised(
            format!("`{}` has no state `{value}`", property.name),
            suggest(value, states()).map(|near| format!("did you mean `{near}`?")),
        )),
    }
}

/// Parses a value as in properties.
fn constant(text: &str) -> Result<Value, CommandError> {
    let source = format!("scenario s var v = {text}\non start {{ print v }}");
    let loaded = juror_language::load_with("", &source, &mut |_| Err(String::new()));
    let found = loaded.scenarios.first().and_then(|it| it.variables.first());
    found.map(|it| it.initial.clone()).ok_or_else(|| {
        let first = loaded.diagnostics.iter().find(|it| it.is_error());
        CommandError::new(
            first.map_or_else(|| "this is not a value".to_owned(), |it| it.message.clone()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        assert_eq!(split(text), expected, "{text}");
    }

    #[test]
    fn an_assignment_is_split_at_its_sign() {
        check("x = 1", Some(("x", "1")));
        check("x=y==z", Some(("x", "y==z")));
        check("a[i == 2] = 3", Some(("a[i == 2]", "3")));
        check("a[i <= 2] = b >= 3", Some(("a[i <= 2]", "b >= 3")));
        check("c = '='", Some(("c", "'='")));
        check("m['='] = 1", Some(("m['=']", "1")));
        check("a == b", None);
        check("a != b", None);
        check("", None);
    }
}
