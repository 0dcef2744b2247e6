//! The report of a stop: the reason, the location, the path of a violation, and what
//! to do next.
//!
//! It fits on one screen: a violation with its path, the source around the stop, the
//! stack, one line of advice.

mod advice;
pub(crate) mod context;

use crate::checkpoints;
use crate::diagnostics;
use crate::escape::safe;
use crate::evaluations;
use crate::event_phrases::{joint, phrase};
use crate::highlighting;
use crate::locations::{
    file_and_line, frame_place, long_location, named_values, short_location, write_frames,
    write_source,
};
use crate::page::{BAD, NAME, OPEN, Page, QUIET, STRONG, styled};
use crate::path;
use crate::standstill;
use crate::tables::write_displays;
use crate::watchpoints;
use juror_view::{
    ContextPart, DeadlineView, Location, PathStep, ProcessName, StackOverflowView, StopReason,
    StopView, VariableView, ViolationView,
};

/// The number of violations shown in full at one stop; the others are counted.
const FULL_VIOLATIONS: usize = 5;

/// The indent of what follows the first line of a place at a terminal.
const PLACE_INDENT: usize = 4;

/// The front end that a report is for.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// A prompt follows: the report suggests commands.
    pub prompt: bool,
}

/// Writes the report of a stop.
pub fn write_stop(page: &mut Page, view: &StopView, context: Context) {
    if let Some(process) = &view.process {
        writeln!(page, "{STRONG}{}{STRONG:#}", process_words(process));
    }
    let with_stack = write_reason(page, view);
    evaluations::write_remark(page, view);
    if !context.prompt && matches!(view.reason, StopReason::Attached { .. }) {
        // In a log, the location where a process was attached says nothing.
        return;
    }
    if let Some(frame) = &view.source_frame {
        let place = frame_place(page, frame);
        let selected = if view.selects_caller() {
            ", which is selected"
        } else {
            ""
        };
        write!(page, "Called from frame {}{selected}: {place}", frame.level);
        page.end_line(PLACE_INDENT);
    }
    if let Some(source) = &view.source
        && !view.has_context(ContextPart::Source)
    {
        write_source(page, source);
    }
    if with_stack {
        if !view.has_context(ContextPart::Backtrace) {
            write_frames(page, &view.backtrace, view.more_frames, 2);
        }
        if context.prompt {
            advice::write_advice(page, view);
        }
    }
    write_displays(page, &view.displays);
    let shown = context::Shown {
        source: view.source.as_ref(),
        frames: &view.backtrace,
        more_frames: view.more_frames,
    };
    context::write_context(page, &view.context, shown, context);
}

/// Returns `Process 2 (4711), one of 3`.
fn process_words(process: &ProcessName) -> String {
    let ProcessName { number, id, count } = process;
    match count {
        0 | 1 => format!("Process {number} ({id})"),
        count => format!("Process {number} ({id}), one of {count}"),
    }
}

/// Writes why and where the debuggee stopped. Returns whether the report shows the
/// stack.
fn write_reason(page: &mut Page, view: &StopView) -> bool {
    for error in view.reason.condition_errors() {
        writeln!(page, "{}", safe(error));
    }
    match &view.reason {
        StopReason::Violation { violations } => {
            write_violations(page, violations);
            if view.thread_count > 1 {
                write_limit_of_stores(page, violations);
            }
            page.gap();
            write_violation_place(page, violations, view);
        }
        reason @ (StopReason::MonitorError { .. } | StopReason::ScenarioError { .. }) => {
            write_evaluation_error(page, reason);
            page.gap();
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
        }
        // The observer has shown the message of the scenario.
        StopReason::Scenario { scenario, .. } => {
            let lead = format!("{STRONG}Stopped by scenario {}{STRONG:#}", safe(scenario));
            write_place(page, lead, " in ", view);
            return false;
        }
        StopReason::Breakpoint {
            numbers, temporary, ..
        } => {
            let lead = point_lead("breakpoint", numbers, *temporary);
            write_place(page, lead, " in ", view);
            return false;
        }
        StopReason::Watchpoint { accesses, .. } => {
            watchpoints::write_accesses(page, accesses);
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
            return false;
        }
        StopReason::WatchpointEnded {
            numbers,
            expressions,
            function,
        } => {
            watchpoints::write_ended(page, numbers, expressions, function);
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
            return false;
        }
        StopReason::Caught {
            numbers,
            temporary,
            description,
            ..
        } => {
            let lead = point_lead("catchpoint", numbers, *temporary);
            let lead = format!("{lead} ({})", safe(description));
            write_place(page, lead, " in ", view);
            return false;
        }
        StopReason::Step => {
            write_place(page, String::new(), "", view);
            return false;
        }
        StopReason::Finished { returned, function } => {
            write_returned(page, function, returned.as_ref());
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
            return false;
        }
        StopReason::Signal {
            signal,
            description,
            fault_address,
            stack_overflow,
            fatal,
        } => {
            let about = match fault_address {
                Some(address) => format!(", address {address:#x}"),
                None => String::new(),
            };
            let style = if *fatal { BAD } else { OPEN };
            let end = if *fatal {
                "; it will end the program"
            } else {
                ""
            };
            writeln!(
                page,
                "{style}{}{style:#}  {}{about}{end}",
                safe(signal),
                safe(description)
            );
            if let Some(overflow) = stack_overflow {
                writeln!(page, "{}", overflow_line(overflow));
            }
            page.gap();
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
        }
        StopReason::Standstill {
            standstill: kind,
            waiting,
        } => {
            let (title, rest) = (kind.title(), standstill::explanation(*kind));
            let gap = if rest.is_empty() { "" } else { "  " };
            writeln!(page, "{BAD}{title}{BAD:#}{gap}{rest}");
            for line in standstill::lines(*kind, waiting).lines() {
                writeln!(page, "  {line}");
            }
            page.gap();
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
        }
        StopReason::Interrupted => {
            write_place(page, styled(STRONG, "Interrupted"), " in ", view);
        }
        StopReason::Attached { process } => {
            let lead = format!("{STRONG}Attached to process {process}{STRONG:#}");
            write_place(page, lead, ", in ", view);
        }
        StopReason::CoreFile {
            program,
            pid,
            signal,
            description,
            fault_address,
            stack_overflow,
        } => {
            let core = format!(
                "{STRONG}Core of {}{STRONG:#} (process {pid})",
                safe(program)
            );
            match (signal, description) {
                (Some(signal), Some(description)) => {
                    let about = match fault_address {
                        Some(address) => format!(" at address {address:#x}"),
                        None => String::new(),
                    };
                    let (signal, words) = (safe(signal), safe(description));
                    writeln!(page, "{core}: {BAD}{signal}{BAD:#}{about} ({words})");
                }
                _ => writeln!(page, "{core}"),
            }
            if let Some(overflow) = stack_overflow {
                writeln!(page, "{}", overflow_line(overflow));
            }
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
        }
        StopReason::Restored { checkpoint, losses } => {
            let lead = format!("{STRONG}Back at checkpoint {checkpoint}{STRONG:#}");
            write_place(page, lead, ", in ", view);
            checkpoints::write_losses(page, losses);
            return false;
        }
        StopReason::Started => {
            write_place(page, styled(STRONG, "Started"), " in ", view);
            return false;
        }
        StopReason::Evaluated {
            number,
            expression,
            returned,
        } => {
            evaluations::write_done(page, *number, expression, returned.as_ref());
            write_place(page, styled(STRONG, "Back"), " in ", view);
            return false;
        }
        StopReason::Abandoned { evaluations } => {
            evaluations::write_abandoned(page, evaluations);
            write_place(page, styled(STRONG, "Back"), " in ", view);
            return false;
        }
    }
    true
}

/// Returns `Temporary breakpoint 1, 3`.
pub fn point_lead(word: &str, numbers: &[u32], temporary: bool) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let words = if temporary {
        format!("Temporary {word}")
    } else {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_uppercase())
    };
    format!("{STRONG}{words} {}{STRONG:#}", numbers.join(", "))
}

/// Writes what could not be evaluated in a property or a scenario, and where.
/// Writes nothing for other reasons.
pub fn write_evaluation_error(page: &mut Page, reason: &StopReason) {
    if let Some((file, text, error)) = diagnostics::of_stop(reason) {
        page.push(&diagnostics::render(file, text, &error));
    }
}

/// Writes violations with their paths, the first five in full.
pub fn write_violations(page: &mut Page, violations: &[ViolationView]) {
    for violation in violations.iter().take(FULL_VIOLATIONS) {
        page.gap();
        write_violation(page, violation);
    }
    let hidden = violations.len().saturating_sub(FULL_VIOLATIONS);
    if hidden > 0 {
        page.gap();
        writeln!(
            page,
            "{QUIET}… and {hidden} more at the same event{QUIET:#}"
        );
    }
}

/// Writes what the values of a store may hide from a property of several threads.
pub(crate) fn write_limit_of_stores(page: &mut Page, violations: &[ViolationView]) {
    let is_change = |violation: &ViolationView| {
        let stored = violation.path.last().and_then(|step| step.stored.as_ref());
        stored.is_some_and(|stored| stored.before.is_some())
    };
    if violations.iter().any(is_change) {
        writeln!(
            page,
            "  {OPEN}note{OPEN:#}    a store is seen when it is done: other threads may have stored \
             between the values before and after it"
        );
    }
}

fn write_violation(page: &mut Page, violation: &ViolationView) {
    write!(
        page,
        "{BAD}VIOLATED{BAD:#}  {STRONG}{}{STRONG:#}",
        safe(&violation.property)
    );
    if let Some(description) = &violation.description {
        write!(page, ": {}", safe(description));
    }
    page.push("\n");
    path::write(page, violation);
    if let Some(deadline) = &violation.deadline {
        write_deadline(page, deadline);
    }
    if violation.at_end {
        // The state of a formula is described by what it waits for.
        let state = violation.state.replace('\n', " ");
        match state.split_once(' ') {
            None => writeln!(
                page,
                "  {QUIET}because{QUIET:#} the run ended in state {NAME}{}{NAME:#}",
                safe(&state)
            ),
            Some(_) => writeln!(
                page,
                "  {QUIET}because{QUIET:#} the run ended while it {}",
                safe(&state)
            ),
        }
    }
}

/// Writes `because 100 ms had passed since ask(id = 2), main.c:4, thread 1, at 1.5 s`.
fn write_deadline(page: &mut Page, deadline: &DeadlineView) {
    let at = duration(deadline.time_ns);
    write!(page, "  {QUIET}because{QUIET:#} ");
    let asked = deadline.asked.as_ref().zip(deadline.asked_ns);
    let Some((asked, asked_ns)) = asked else {
        writeln!(page, "time had passed, {at} after the start");
        return;
    };
    let waited = duration(deadline.time_ns.saturating_sub(asked_ns));
    let values = named_values(&asked.values);
    write!(
        page,
        "{waited} had passed since {NAME}{}{NAME:#}({values})",
        safe(&asked.event)
    );
    if asked.location != Location::default() {
        write!(page, ", {}", short_location(&asked.location));
    }
    if asked.thread != 0 {
        write!(page, ", thread {}", asked.thread);
    }
    writeln!(page, ": at {at} after the start");
}

/// Returns a duration in the largest unit that is not greater, with up to three digits behind
/// the point.
fn duration(ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| ns >= *unit) else {
        return format!("{ns} ns");
    };
    let thousandths = ns % unit / (unit / 1_000);
    let number = format!("{}.{thousandths:03}", ns / unit);
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number} {name}")
}

/// Writes `Stopped before queue_push (queue.c:23), called from main.c:17, thread 4711`.
fn write_violation_place(page: &mut Page, violations: &[ViolationView], view: &StopView) {
    let is_due = |one: &&ViolationView| one.deadline.is_some();
    let step = violations
        .iter()
        .find(|one| !is_due(one) && !one.path.is_empty());
    let step = step.and_then(|one| one.path.last());
    match step {
        None if violations.iter().any(|one| is_due(&one)) => {
            write_place(
                page,
                styled(STRONG, "Stopped after that time"),
                " in ",
                view,
            );
        }
        Some(step) if step.what.starts_with("before ") => {
            let place = match file_and_line(page, &view.location) {
                Some(place) => format!(" ({place})"),
                None => String::new(),
            };
            let caller = short_location(&step.location);
            let called = if step.location == Location::default() {
                String::new()
            } else {
                format!(", called from {caller}")
            };
            let lead = styled(STRONG, &format!("Stopped {}", safe(&step.what)));
            write!(page, "{lead}{place}{called}, {}", threads(view));
            page.end_line(PLACE_INDENT);
        }
        Some(PathStep { what, .. }) => {
            let lead = format!("Stopped {}", safe(&phrase(what)));
            write_place(page, styled(STRONG, &lead), joint(what), view);
        }
        None => write_place(page, styled(STRONG, "Stopped"), " in ", view),
    }
}

fn write_place(page: &mut Page, lead: String, between: &str, view: &StopView) {
    let place = match view.backtrace.first() {
        Some(frame) => frame_place(page, frame),
        None => long_location(page, &view.location),
    };
    write!(page, "{lead}{between}{place}, {}", threads(view));
    page.end_line(PLACE_INDENT);
}

/// Returns `thread 4711`, with the number of threads if there are others.
fn threads(view: &StopView) -> String {
    match view.thread_count {
        0 | 1 => format!("thread {}", view.thread),
        count => format!("thread {}, one of {count}", view.thread),
    }
}

fn write_returned(page: &mut Page, function: &str, returned: Option<&VariableView>) {
    let function = safe(function);
    match returned {
        Some(value) if value.type_name.is_empty() => {
            write!(page, "{function} returned {}", styled_value(value));
            page.end_line(PLACE_INDENT);
        }
        Some(value) => {
            let (kind, shown) = (safe(&value.type_name), styled_value(value));
            write!(page, "{function} returned ({kind}) {shown}");
            page.end_line(PLACE_INDENT);
        }
        None => writeln!(page, "{function} returned"),
    }
}

fn styled_value(variable: &VariableView) -> String {
    highlighting::value(&safe(&variable.value), false)
}

/// Returns `stack overflow: 34940 frames, a cycle of 2 functions: even, odd`.
fn overflow_line(overflow: &StackOverflowView) -> String {
    let StackOverflowView { frame_count, cycle } = overflow;
    let functions = match &cycle[..] {
        [] => return format!("stack overflow: {frame_count} frames"),
        [function] => format!("a recursion of {}", safe(function)),
        cycle => {
            let names: Vec<_> = cycle.iter().map(|it| safe(it)).collect();
            format!("a cycle of {} functions: {}", cycle.len(), names.join(", "))
        }
    };
    format!("stack overflow: {frame_count} frames, {functions}")
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples;

#[cfg(test)]
mod tests;
