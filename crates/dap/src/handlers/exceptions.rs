//! Exception filters: C++ exceptions, panics, signals, and the properties.

use super::breakpoints::{filled, replaced};
use super::{Answer, MaybeSession, body, parse};
use crate::adapter::Adapter;
use crate::points::{Origin, Wanted};
use crate::protocol::message::Failure;
use crate::protocol::point_arguments::{FilterOptions, SetExceptionBreakpoints};
use crate::stops;
use juror_view::changes::{ExceptionEvent, PointPlace};
use juror_view::driver::Driver;
use juror_view::{StopReason, StopView};
use serde_json::{Value, json};

/// The filter of all properties.
pub(crate) const VIOLATIONS: &str = "violations";

/// The prefix of the filter of a property.
pub(crate) const PROPERTY: &str = "property:";

/// The filter of signals that do not end the program.
pub(crate) const SIGNALS: &str = "signals";

/// The filters that points stand for.
const OF_POINTS: [&str; 4] = ["throw", "catch", "panic", "abort"];

/// Returns the point that stands for a filter.
fn place_of(filter: &str) -> Option<PointPlace> {
    Some(match filter {
        "throw" => PointPlace::Exception(ExceptionEvent::Throw),
        "catch" => PointPlace::Exception(ExceptionEvent::Catch),
        "panic" => PointPlace::Written("rust_panic".to_owned()),
        "abort" => PointPlace::Written("abort".to_owned()),
        _ => return None,
    })
}

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
    let id = &*filter.filter_id;
    let is_known = of_properties || id == SIGNALS;
    let place = place_of(id);
    let error = match (&place, condition.as_deref()) {
        (Some(_), _) => None,
        (None, None) if is_known => None,
        (None, Some(VIOLATED)) if of_properties => None,
        (None, Some(_)) if id == SIGNALS => Some("this filter takes no condition".to_owned()),
        (None, Some(kind)) if of_properties => Some(format!(
            "`{kind}` is no reason to stop; the program stops when a property is {VIOLATED}"
        )),
        (None, _) => Some(format!("there is no filter `{id}`")),
    };
    Wanted {
        filter: OF_POINTS.into_iter().find(|known| *known == id),
        condition: condition.filter(|_| place.is_some()),
        place,
        error,
        ..Wanted::nothing()
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
            let filter = adapter.points.filter_of(&numbers);
            let filter = filter.ok_or_else(no_exception)?;
            (filter.to_owned(), filter.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(id: &str, condition: Option<&str>) -> Wanted {
        wanted(FilterOptions {
            filter_id: id.to_owned(),
            condition: condition.map(str::to_owned),
        })
    }

    #[test]
    fn a_filter_stands_for_a_point_or_for_a_choice_of_the_adapter() {
        for (id, has_point) in [
            ("throw", true),
            ("catch", true),
            ("panic", true),
            ("abort", true),
            ("violations", false),
            ("property:queue", false),
            ("signals", false),
        ] {
            let wanted = asked(id, None);
            assert_eq!(wanted.place.is_some(), has_point, "{id}");
            assert_eq!(wanted.filter.is_some(), has_point, "{id}");
            assert_eq!(wanted.error, None, "{id}");
        }
    }

    #[test]
    fn a_filter_that_takes_no_condition_says_so() {
        for (id, condition, expected) in [
            ("throw", "x > 3", None),
            ("violations", "violated", None),
            ("property:queue", " violated ", None),
            (
                "violations",
                "satisfied",
                Some(
                    "`satisfied` is no reason to stop; the program stops when a property is violated",
                ),
            ),
            ("signals", "x", Some("this filter takes no condition")),
            ("uncaught", "x", Some("there is no filter `uncaught`")),
        ] {
            let wanted = asked(id, Some(condition));
            assert_eq!(wanted.error.as_deref(), expected, "{id}");
            assert_eq!(wanted.condition.is_some(), id == "throw", "{id}");
        }
        let unknown = asked("uncaught", None).error;
        assert_eq!(unknown.as_deref(), Some("there is no filter `uncaught`"));
    }
}
