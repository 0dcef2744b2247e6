//! Diagnostics of inlined calls.

use juror_event::{EventKind, SymbolicEvent};
use juror_instrument::probes::InlinedCallSite;
use juror_language::Diagnostic;
use juror_symbols::without_parameters;

/// The limit of named inlined places.
const PLACES_MAX: usize = 5;
/// The limit of named functions.
const NAMES_MAX: usize = 3;

/// Returns the diagnostic of an event that would miss inlined calls.
pub(super) fn diagnostic(
    event: &SymbolicEvent,
    places: &[InlinedCallSite],
    only: bool,
    elsewhere: Option<&str>,
) -> Diagnostic {
    let is_asked_for = places.iter().any(|it| it.why.is_some());
    let function = &event.subject;
    let message = match (is_asked_for, only) {
        (true, _) => {
            format!("inlined calls of `{function}` may begin elsewhere than their code suggests")
        }
        (false, true) => format!("`{function}` exists only inlined into its callers"),
        (false, false) => format!(
            "some calls of `{function}` were inlined, and cannot be \
                                   monitored"
        ),
    };
    let shown: Vec<String> = places.iter().take(PLACES_MAX).map(words).collect();
    let shown = shown.join(", ");
    let more = match places.len().saturating_sub(PLACES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let first = match event.kind {
        EventKind::BeforeCall if !is_asked_for => "monitor them with --at-inlined, ",
        EventKind::BeforeCall if places.iter().any(|it| it.is_likely) => {
            "use the beginning of their code with --at-inlined=likely, "
        }
        EventKind::BeforeCall => "",
        _ => "inlined calls have no return; ",
    };
    let mut diagnostic = Diagnostic::error("inlined-function", event.subject_span.clone(), message);
    let elsewhere = elsewhere.map(|module| {
        format!("; if the function of {module} is meant, write `in \"{module}\"` after the event")
    });
    diagnostic.help = Some(format!(
        "at {shown}{more}; {first}build with -fno-inline, mark the function noinline, or accept \
         the gap with --ignore-inlined{}{}",
        elsewhere.unwrap_or_default(),
        others(function, places)
    ));
    diagnostic
}

/// Lists the other functions of this name, if the name is not the full name of the inlined
/// function.
fn others(function: &str, places: &[InlinedCallSite]) -> String {
    let asked = without_parameters(function);
    let mut names: Vec<&str> = places.iter().map(|it| &*it.function).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| without_parameters(name) != asked);
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names
        .iter()
        .take(NAMES_MAX)
        .map(|it| format!("`{it}`"))
        .collect();
    let more = match names.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "; these are calls of {}{more}: if another function is meant, write its qualified name",
        shown.join(", ")
    )
}

fn words(it: &InlinedCallSite) -> String {
    match &it.why {
        Some(why) => format!("{}: {why}", it.location),
        None => it.location.clone(),
    }
}
