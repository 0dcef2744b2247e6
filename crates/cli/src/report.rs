//! The report of a stop: why, where, how it came there, what to do next.
//!
//! Made to fit one screen: a violation with its path, the source around the
//! stop, the stack, one line of advice.

use crate::checkpoints;
use crate::diagnostics;
use crate::escape::safe;
use crate::evaluations;
use crate::moments::{joint, moment};
use crate::page::{BAD, NAME, OPEN, Page, QUIET, STRONG, styled};
use crate::path;
use crate::places::{
    file_and_line, frame_place, long_location, short_location, write_frames, write_source,
};
use crate::tables::write_displays;
use crate::watched;
use juror_session::view::{
    Location, PathStep, ProcessName, StopReason, StopView, VariableView, ViolationView,
};

/// Violations shown in full at one stop; the others are counted.
const FULL_VIOLATIONS: usize = 5;

/// What a report is written for.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// A prompt follows: say what can be typed there.
    pub prompt: bool,
}

/// Writes the whole report of a stop.
pub fn write_stop(page: &mut Page, view: &StopView, context: Context) {
    if let Some(process) = &view.process {
        writeln!(page, "{STRONG}{}{STRONG:#}", process_words(process));
    }
    let with_stack = write_reason(page, view);
    evaluations::write_remark(page, view);
    if !context.prompt && matches!(view.reason, StopReason::Attached { .. }) {
        // Where a process happened to be is no news to a log.
        return;
    }
    if let Some(frame) = &view.source_frame {
        let place = frame_place(page, frame);
        writeln!(page, "Called from frame {}: {place}", frame.level);
    }
    if let Some(source) = &view.source {
        write_source(page, source);
    }
    if with_stack {
        write_frames(page, &view.backtrace, view.more_frames, 2);
        if context.prompt {
            advice::write_advice(page, view);
        }
    }
    write_displays(page, &view.displays);
}

/// `Process 2 (4711), one of 3`
fn process_words(process: &ProcessName) -> String {
    let ProcessName { number, id, count } = process;
    match count {
        0 | 1 => format!("Process {number} ({id})"),
        count => format!("Process {number} ({id}), one of {count}"),
    }
}

/// Writes why and where the debuggee stopped; true when a reader will want
/// the stack too.
fn write_reason(page: &mut Page, view: &StopView) -> bool {
    for error in view.reason.condition_errors() {
        writeln!(page, "{}", safe(error));
    }
    match &view.reason {
        StopReason::Violation { violations } => {
            write_violations(page, violations);
            page.gap();
            write_violation_place(page, violations, view);
        }
        reason @ StopReason::MonitorError { .. } => {
            write_monitor_error(page, reason);
            page.gap();
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
        }
        reason @ StopReason::ScenarioError { .. } => {
            write_scenario_error(page, reason);
            page.gap();
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
        }
        // Why it does has been said already.
        StopReason::Scenario { scenario, .. } => {
            let lead = format!("{STRONG}Scenario {}{STRONG:#} stops", safe(scenario));
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
            watched::write_accesses(page, accesses);
            write_place(page, styled(STRONG, "Stopped"), " in ", view);
            return false;
        }
        StopReason::WatchpointEnded {
            numbers,
            expressions,
            function,
        } => {
            watched::write_ended(page, numbers, expressions, function);
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
            write_place(page, styled(STRONG, "Again"), " in ", view);
            return false;
        }
        StopReason::Abandoned { evaluations } => {
            evaluations::write_abandoned(page, evaluations);
            write_place(page, styled(STRONG, "Again"), " in ", view);
            return false;
        }
    }
    true
}

/// `Temporary breakpoint 1, 3`
pub fn point_lead(word: &str, numbers: &[u32], temporary: bool) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let words = match temporary {
        true => format!("Temporary {word}"),
        false => {
            let (first, rest) = word.split_at(1);
            format!("{}{rest}", first.to_uppercase())
        }
    };
    format!("{STRONG}{words} {}{STRONG:#}", numbers.join(", "))
}

/// Writes what could not be evaluated in a property, and where; nothing for
/// other reasons.
pub fn write_monitor_error(page: &mut Page, reason: &StopReason) {
    if let StopReason::MonitorError {
        property,
        message,
        start,
        end,
        file,
        text,
    } = reason
    {
        let error = diagnostics::at(&format!("{property}: {message}"), *start..*end);
        page.push(&diagnostics::render(file, text, &error));
    }
}

/// Writes what went wrong with a reaction, and where; nothing for other
/// reasons.
pub fn write_scenario_error(page: &mut Page, reason: &StopReason) {
    if let StopReason::ScenarioError {
        scenario,
        message,
        help,
        start,
        end,
        file,
        text,
    } = reason
    {
        let mut error = diagnostics::at(&format!("{scenario}: {message}"), *start..*end);
        error.help = help.as_deref().map(str::to_owned);
        page.push(&diagnostics::render(file, text, &error));
    }
}

/// Whether all of it has been reported of another slice already.
pub fn is_repetition(violations: &[ViolationView]) -> bool {
    violations.iter().all(|violation| violation.repeated)
}

/// Writes each violation with its path, the first few in full.
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
    if violation.at_end {
        // A formula has no names for its states, but says what they wait for.
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

/// `Stopped before queue_push (queue.c:23), called from main.c:17, thread 4711`
fn write_violation_place(page: &mut Page, violations: &[ViolationView], view: &StopView) {
    let step = violations.iter().find_map(|one| one.path.last());
    match step {
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
            writeln!(page, "{lead}{place}{called}, {}", threads(view));
        }
        Some(PathStep { what, .. }) => {
            let lead = format!("Stopped {}", safe(&moment(what)));
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
    writeln!(page, "{lead}{between}{place}, {}", threads(view));
}

/// `thread 4711`, and how many there are when there are others.
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
            writeln!(page, "{function} returned {}", safe(&value.value));
        }
        Some(value) => {
            let (kind, value) = (safe(&value.type_name), safe(&value.value));
            writeln!(page, "{function} returned ({kind}) {value}");
        }
        None => writeln!(page, "{function} returned"),
    }
}

mod advice;

#[cfg(test)]
pub mod samples;

#[cfg(test)]
mod tests {
    use super::samples::{frame, location, stop, violation, violation_stop};
    use super::*;
    use crate::page::plain;

    fn check(view: &StopView, prompt: bool, expected: &str) {
        let context = Context { prompt };
        let text = plain(|page| write_stop(page, view, context));
        assert_eq!(text, expected);
    }

    #[test]
    fn a_violation_fits_one_screen() {
        check(
            &violation_stop(),
            true,
            "\
VIOLATED  queue_bounds: a queue never holds more than it was made for
  slice   queue = 0x4052a0
  path    init   --new(size = 8, queue = 0x4052a0)-->  ready     main.c:12  thread 4711
          ready  --push(queue = 0x4052a0)-->           ready     main.c:17  thread 4711  × 8
          ready  --push(queue = 0x4052a0)-->           overflow  main.c:17  thread 4711
  where   capacity = 8, count = 8

Stopped before queue_push (src/queue.c:23), called from main.c:17, thread 4711
      22   void queue_push(struct queue *queue, char c)
  →   23   {
      24           queue->data[queue->pos++] = c;
  #0  queue_push (queue=0x4052a0, c=110) at src/queue.c:23
  #1  fill (n=9) at src/main.c:17
  #2  main () at src/main.c:31

Type up to see the caller, print *queue, monitor to see the monitor, continue, help.
",
        );
    }

    #[test]
    fn other_stops_say_why_and_where() {
        let reasons = [
            (
                StopReason::Breakpoint {
                    numbers: vec![1, 3],
                    temporary: false,
                    errors: vec![],
                    silent: false,
                },
                "Breakpoint 1, 3 in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Breakpoint {
                    numbers: vec![2],
                    temporary: true,
                    errors: vec!["no `x`".into()],
                    silent: false,
                },
                "no `x`\nTemporary breakpoint 2 in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Step,
                "queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Finished {
                    returned: Some(VariableView {
                        name: "$1".into(),
                        type_name: "int".into(),
                        value: "7".into(),
                    }),
                    function: "pop".into(),
                },
                "pop returned (int) 7\nStopped in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Finished {
                    returned: None,
                    function: "fill".into(),
                },
                "fill returned\nStopped in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Signal {
                    signal: "SIGSEGV".into(),
                    description: "invalid memory reference".into(),
                    fault_address: Some(8),
                    fatal: true,
                },
                "SIGSEGV  invalid memory reference, address 0x8; it will end the program\n\n\
                 Stopped in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Signal {
                    signal: "SIGUSR1".into(),
                    description: "user signal 1".into(),
                    fault_address: None,
                    fatal: false,
                },
                "SIGUSR1  user signal 1\n\nStopped in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Interrupted,
                "Interrupted in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Attached { process: 815 },
                "Attached to process 815, in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Restored {
                    checkpoint: 2,
                    losses: Vec::new(),
                },
                "Back at checkpoint 2, in queue_push at src/queue.c:23, thread 4711\n",
            ),
            (
                StopReason::Started,
                "Started in queue_push at src/queue.c:23, thread 4711\n",
            ),
        ];
        for (reason, expected) in reasons {
            let mut view = stop(reason);
            view.source = None;
            view.backtrace.clear();
            check(&view, false, expected);
        }
    }

    #[test]
    fn the_first_line_says_in_which_of_several_processes() {
        for (count, expected) in [
            (3, "Process 2 (4711), one of 3\nStarted in"),
            (1, "Process 2 (4711)\nStarted in"),
        ] {
            let mut view = stop(StopReason::Started);
            view.process = Some(ProcessName {
                number: 2,
                id: 4711,
                count,
            });
            let context = Context { prompt: false };
            let text = plain(|page| write_stop(page, &view, context));
            assert!(text.starts_with(expected), "{text}");
        }
    }

    #[test]
    fn a_log_has_one_line_of_an_attachment() {
        let view = stop(StopReason::Attached { process: 815 });
        let lines = |prompt| {
            let context = Context { prompt };
            let text = plain(|page| write_stop(page, &view, context));
            text.lines().count()
        };
        assert_eq!(lines(false), 1);
        assert!(lines(true) > 3);
    }

    #[test]
    fn the_end_violates_a_formula_by_what_it_waits_for() {
        for (state, expected) in [
            ("open", "because the run ended in state open\n"),
            (
                "waits for `p`\nor needs `q`",
                "because the run ended while it waits for `p` or needs `q`\n",
            ),
        ] {
            let mut violation = violation();
            violation.at_end = true;
            violation.state = state.into();
            let text = plain(|page| write_violation(page, &violation));
            assert!(text.ends_with(expected), "{text}");
        }
    }

    #[test]
    fn the_source_of_a_caller_is_said_to_be_one() {
        let signal = StopReason::Signal {
            signal: "SIGABRT".into(),
            description: "aborted".into(),
            fault_address: None,
            fatal: true,
        };
        let mut view = stop(signal);
        view.backtrace[0] = frame(0, location("abort", "abort.c", 79), vec![]);
        view.source_frame = view.backtrace.pop();
        view.more_frames = true;
        check(
            &view,
            true,
            "\
SIGABRT  aborted; it will end the program

Stopped in abort () at src/abort.c:79, thread 4711
Called from frame 2: main () at src/main.c:31
      22   void queue_push(struct queue *queue, char c)
  →   23   {
      24           queue->data[queue->pos++] = c;
  #0  abort () at src/abort.c:79
  #1  fill (n=9) at src/main.c:17
  …   more frames

Type frame 2 to go there, continue, help.
",
        );
    }

    #[test]
    fn a_place_is_shown_with_the_arguments_of_the_call() {
        let mut view = stop(StopReason::Started);
        view.source = None;
        let expected =
            "Started in queue_push (queue=0x4052a0, c=110) at src/queue.c:23, thread 4711\n";
        check(&view, false, expected);
    }

    #[test]
    fn an_error_in_a_guard_is_shown_in_its_file() {
        let mut view = stop(StopReason::MonitorError {
            property: "queue_bounds".into(),
            message: "queue cannot be read: memory at 0x8".into(),
            start: 24,
            end: 40,
            file: "queue.prop".into(),
            text: "state ready {\n  on push when queue->count > 0\n}\n".into(),
        });
        view.source = None;
        view.backtrace.clear();
        view.thread_count = 3;
        check(
            &view,
            false,
            "error: queue_bounds: queue cannot be read: memory at 0x8
 --> queue.prop:2:11
  |
2 |   on push when queue->count > 0
  |           ^^^^^^^^^^^^^^^^

Stopped in queue_push at src/queue.c:23, thread 4711, one of 3
",
        );
    }

    #[test]
    fn an_event_after_a_call_says_so() {
        let mut wrong = violation();
        wrong.path.truncate(1);
        wrong.path[0].what = "after queue_new".into();
        let mut view = stop(StopReason::Violation {
            violations: vec![wrong],
        });
        view.source = None;
        view.backtrace.clear();
        let context = Context { prompt: true };
        let text = plain(|page| write_stop(page, &view, context));
        assert!(
            text.contains("\nStopped after queue_new in queue_push at src/queue.c:23,"),
            "{text}"
        );
        assert!(text.ends_with("Type monitor to see the monitor, continue, help.\n"));
    }

    #[test]
    fn many_violations_are_counted() {
        let text = plain(|page| write_violations(page, &vec![violation(); 9]));
        assert_eq!(text.matches("VIOLATED").count(), 5);
        assert!(text.ends_with("… and 4 more at the same event\n"));
    }
}
