//! Exception filters: C++ exceptions, panics, signals, and the properties.

use super::breakpoints::{filled, replaced};
use super::{Answer, MaybeSession, body, parse};
use crate::adapter::Adapter;
use crate::points::{Origin, Wanted};
use crate::protocol::message::Failure;
use crate::protocol::point_arguments::{FilterOptions, SetExceptionBreakpoints};
use crate::stops;
use juror_view::driver::Driver;
use juror_view::{StopReason, StopView};
use serde_json::{Value, json};

/// The filter of all properties.
pub(crate) const VIOLATIONS: &str = "violations";

/// The prefix of the filter of a property.
pub(crate) const PROPERTY: &str = "property:";

/// The filter of signals that do not end the program.
pub(crate) const SIGNALS: &str = "signals";

/// The commands of the filters.
const COMMANDS: [(&str, &str); 4] = [
    ("throw", "catch throw"),
    ("catch", "catch catch"),
    ("panic", "break rust_panic"),
    ("abort", "break abort"),
];

/// The exception of a core file of a process that no signal has ended.
const CORE_FILE: &str = "core file";

/// The only kind that a filter of a property can be limited to.
const VIOLATED: &str = "violated";

/// `setExceptionBreakpoints`
pub(super) fn set(
    adapter: &mut Adapter,
    mut session: MaybeSession<'_, '_>,
    arguments: Value,
) -> Answer {
    let given: SetExceptionBreakpoints = parse(arguments)?;
    let plain = given.filters.unwrap_or_default().into_iter();
    let plain = plain.map(|filter_id| FilterOptions {
        filter_id,
        condition: None,
    });
    let asked: Vec<FilterOptions> = plain
        .chain(given.filter_options.unwrap_or_default())
        .collect();
    adapter.choose_properties(asked.iter().map(|it| it.filter_id.as_str()));
    if let Some(session) = session.as_deref_mut() {
        choose_signals(adapter, session);
    }
    let wanted = asked.into_iter().map(wanted).collect();
    replaced(adapter, session, &Origin::Exceptions, wanted)
}

/// Chooses the signals that stop, by the filters that are on.
pub(crate) fn choose_signals(adapter: &Adapter, session: &mut dyn Driver) {
    let filters = adapter.filters.as_ref();
    session.stop_at_signals(filters.is_some_and(|filters| filters.contains(SIGNALS)));
}

fn wanted(filter: FilterOptions) -> Wanted {
    let condition = filled(filter.condition);
    let of_properties = filter.filter_id == VIOLATIONS || filter.filter_id.starts_with(PROPERTY);
    let has_point = !of_properties && filter.filter_id != SIGNALS;
    let id = &*filter.filter_id;
    let known = COMMANDS.iter().find(|(known, _)| *known == id);
    let error = match (known, condition.as_deref()) {
        (Some(_), _) => None,
        (None, None) if !has_point => None,
        (None, Some(VIOLATED)) if of_properties => None,
        (None, Some(_)) if id == SIGNALS => Some("this filter takes no condition".to_owned()),
        (None, Some(kind)) if of_properties => Some(format!(
            "`{kind}` is no reason to stop; the program stops when a property is {VIOLATED}"
        )),
        (None, _) => Some(format!("there is no filter `{id}`")),
    };
    let command = known.map_or(id, |(_, command)| *command);
    Wanted {
        has_point,
        condition: condition.filter(|_| has_point),
        error,
        ..Wanted::of(command.to_owned())
    }
}

/// `exceptionInfo`
pub(super) fn info(adapter: &mut Adapter, _: &mut dyn Driver, _: Value) -> Answer {
    let Some(stop) = adapter.stop.take() else {
        return Err(no_exception());
    };
    let answer = info_of(adapter, &stop);
    adapter.stop = Some(stop);
    answer
}

fn info_of(adapter: &Adapter, stop: &StopView) -> Answer {
    let report = stops::report_of(adapter, stop);
    let mut report = anstream::adapter::strip_str(&report).to_string();
    if let StopReason::CoreFile { .. } = &stop.reason {
        report.push_str(&format!("thread {}\n", stop.thread));
    }
    let headline = report.lines().find(|line| !line.trim().is_empty());
    let headline = headline.unwrap_or_default().trim().to_owned();
    let (id, type_name) = match &stop.reason {
        StopReason::Violation { violations } => {
            let first = violations.first();
            let name = first.map_or_else(String::new, |it| it.property.clone());
            (format!("{PROPERTY}{name}"), name)
        }
        StopReason::MonitorError { property, .. } => {
            (format!("{PROPERTY}{property}"), property.clone())
        }
        StopReason::ScenarioError { scenario, .. } => (scenario.to_string(), scenario.to_string()),
        StopReason::Signal { signal, .. }
        | StopReason::CoreFile {
            signal: Some(signal),
            ..
        } => (signal.clone(), signal.clone()),
        StopReason::CoreFile { signal: None, .. } => (CORE_FILE.to_owned(), CORE_FILE.to_owned()),
        reason => {
            let numbers = stops::numbers(reason);
            let command = adapter.points.command_of_filter(&numbers);
            let mut known = COMMANDS.iter();
            let known = known.find(|(_, known)| Some(*known) == command);
            let (filter, _) = known.ok_or_else(no_exception)?;
            ((*filter).to_owned(), (*filter).to_owned())
        }
    };
    body(json!({
        "exceptionId": id,
        "description": headline,
        "breakMode": "always",
        "details": {
            "message": report,
            "typeName": type_name,
        },
    }))
}

fn no_exception() -> Failure {
    Failure::quiet("the program has not stopped at an exception")
}
