//! Tests of the reports of stops.

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
fn a_core_file_is_not_told_to_continue() {
    let view = stop(StopReason::CoreFile {
        program: "/tmp/crash".into(),
        pid: 815,
        signal: None,
        description: None,
        fault_address: None,
        stack_overflow: None,
    });
    let text = plain(|page| {
        super::advice::write_advice(page, &view);
    });
    let advice = "Type up to see the caller, print *queue, info threads, help.\n";
    assert!(text.ends_with(advice), "{text}");
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
                stack_overflow: None,
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
                stack_overflow: None,
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
            StopReason::CoreFile {
                program: "/tmp/crash".into(),
                pid: 815,
                signal: Some("SIGSEGV".into()),
                description: Some("invalid memory reference".into()),
                fault_address: Some(8),
                stack_overflow: None,
            },
            "Core of /tmp/crash (process 815): SIGSEGV at address 0x8 (invalid memory reference)\n\
                 Stopped in queue_push at src/queue.c:23, thread 4711\n",
        ),
        (
            StopReason::CoreFile {
                program: "/tmp/crash".into(),
                pid: 815,
                signal: None,
                description: None,
                fault_address: None,
                stack_overflow: None,
            },
            "Core of /tmp/crash (process 815)\n\
                 Stopped in queue_push at src/queue.c:23, thread 4711\n",
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
fn a_log_has_one_line_for_an_attachment() {
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
fn the_source_of_a_caller_is_marked_as_such() {
    let signal = StopReason::Signal {
        signal: "SIGABRT".into(),
        description: "aborted".into(),
        fault_address: None,
        stack_overflow: None,
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
Called from frame 2, which is selected: main () at src/main.c:31
      22   void queue_push(struct queue *queue, char c)
  →   23   {
      24           queue->data[queue->pos++] = c;
  #0  abort () at src/abort.c:79
  #1  fill (n=9) at src/main.c:17
  …   more frames

Type frame 0 for the innermost frame, continue, help.
",
    );
}

#[test]
fn a_location_is_shown_with_the_arguments_of_the_call() {
    let mut view = stop(StopReason::Started);
    view.source = None;
    let expected = "Started in queue_push (queue=0x4052a0, c=110) at src/queue.c:23, thread 4711\n";
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
