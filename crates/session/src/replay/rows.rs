//! The commands over a recording: their help and handlers. The rows of the table of commands refer to
//! them, so that a command has the same names with and without the program.

use crate::command_table::arguments::times;
use crate::command_table::entry::{Completes, Repeats};
use crate::command_table::recorded::Recorded;
use crate::replay::RecordedRun;
use crate::replay::commands;
use crate::replay::moves::Goal;
use crate::replay::stops::Change;
use juror_control::Modes;

pub(crate) const BREAK: Recorded = Recorded {
    summary: "Stop at an event, or at events from a line",
    examples: &[
        ("break push", "at each event before push is called"),
        ("break after pop if ret == 0", "where pop returned 0"),
        ("break main.c:30", "at all events from line 30"),
    ],
    completes: Completes::Caught,
    run: |run, rest, _| run.set_stop(rest, false),
    ..Recorded::DEFAULT
};

pub(crate) const CHECKPOINT: Recorded = Recorded {
    summary: "Save the present position as a checkpoint",
    examples: &[("checkpoint", "restore 1 returns to it")],
    takes_nothing: true,
    run: |run, _, _| Ok(run.checkpoint()),
    ..Recorded::DEFAULT
};

pub(crate) const CONTINUE: Recorded = Recorded {
    summary: "Continue to the next stop or violation, or to the end",
    examples: &[
        ("continue", "to the next stop"),
        (
            "continue 3",
            "to the third breakpoint; violations are not skipped",
        ),
    ],
    repeats: Repeats::Line,
    modes: Modes::Program,
    run: |run, rest, observer| run.go_on(Goal::Never, times(rest)? - 1, observer),
    ..Recorded::DEFAULT
};

pub(crate) const DELETE: Recorded = Recorded {
    summary: "Delete breakpoints or checkpoints",
    examples: &[
        ("delete 2", "breakpoint 2"),
        ("delete", "all breakpoints"),
        ("delete checkpoint 1", "checkpoint 1"),
    ],
    run: |run, rest, _| run.delete(rest),
    ..Recorded::DEFAULT
};

pub(crate) const DISABLE: Recorded = Recorded {
    summary: "Disable breakpoints",
    examples: &[(
        "disable 2",
        "breakpoint 2 does not stop until it is enabled",
    )],
    run: |run, rest, _| run.change_stops(rest, Change::Enable(false)),
    ..Recorded::DEFAULT
};

pub(crate) const ENABLE: Recorded = Recorded {
    summary: "Enable breakpoints",
    examples: &[("enable 2", "breakpoint 2")],
    run: |run, rest, _| run.change_stops(rest, Change::Enable(true)),
    ..Recorded::DEFAULT
};

pub(crate) const GO_TO: Recorded = Recorded {
    summary: "Go to an event by its number in the recording",
    examples: &[
        ("goto 27", "to the 27th event"),
        ("goto start", "before the first"),
        ("goto end", "to the last"),
    ],
    run: RecordedRun::go_to,
    ..Recorded::DEFAULT
};

pub(crate) const HELP: Recorded = Recorded {
    summary: "Show the commands, or the help of one",
    examples: &[("help break", "the help of break")],
    completes: Completes::Commands,
    run: |run, rest, _| run.help(rest),
    ..Recorded::DEFAULT
};

pub(crate) const INFO: Recorded = Recorded {
    summary: "Show the state of something",
    examples: &[
        (
            "info events",
            "the recorded events, and how often each occurred",
        ),
        ("info args", "the values of the event"),
        ("info line", "the source line of the event"),
        (
            "info monitors",
            "the properties with their states and variables",
        ),
        ("info graph", "the states of the properties as a graph"),
        ("info breakpoints", "the breakpoints"),
        ("info checkpoints", "the checkpoints"),
        ("info threads", "the threads, and the last event of each"),
    ],
    run: |run, rest, _| run.info(rest),
    ..Recorded::DEFAULT
};

pub(crate) const LIST: Recorded = Recorded {
    summary: "Show source lines",
    examples: &[
        ("list", "around the event, then onwards"),
        ("list 30", "around line 30"),
    ],
    repeats: Repeats::Name,
    run: |run, rest, _| run.list(rest),
    ..Recorded::DEFAULT
};

pub(crate) const MONITOR: Recorded = Recorded {
    summary: "Show the monitors, or the paths of one",
    examples: &[
        ("monitor", "all"),
        ("monitor queue_bounds", "the paths of its slices"),
    ],
    completes: Completes::Properties,
    run: |run, rest, _| run.monitors(rest),
    ..Recorded::DEFAULT
};

pub(crate) const NEXT: Recorded = Recorded {
    summary: "Step to the next event of the same thread",
    examples: &[("next", "one event"), ("next 5", "five")],
    repeats: Repeats::Line,
    modes: Modes::Program,
    run: |run, rest, observer| run.go_on(run.events_of_thread(rest)?, 0, observer),
    ..Recorded::DEFAULT
};

pub(crate) const PRINT: Recorded = Recorded {
    summary: "Show a value of the event",
    examples: &[("print job", "the value that was recorded as job")],
    run: |run, rest, _| run.print(rest),
    ..Recorded::DEFAULT
};

pub(crate) const PROPERTY: Recorded = Recorded {
    summary: "List, add or remove properties",
    examples: &[
        ("property", "all"),
        (
            "property add queue.prop",
            "the properties of a file, from the beginning",
        ),
        ("property remove queue_bounds", "stop monitoring it"),
    ],
    completes: Completes::Properties,
    run: |run, rest, _| run.property(rest),
    ..Recorded::DEFAULT
};

pub(crate) const QUIT: Recorded = Recorded {
    summary: "Leave",
    examples: &[
        ("quit", "leave"),
        (
            "quit 3",
            "and end with the exit status 3, whatever was found",
        ),
    ],
    run: |_, rest, _| commands::quit(rest),
    ..Recorded::DEFAULT
};

pub(crate) const RESTORE: Recorded = Recorded {
    summary: "Go back to a checkpoint",
    examples: &[("restore 1", "to checkpoint 1")],
    run: RecordedRun::restore,
    ..Recorded::DEFAULT
};

pub(crate) const REVERSE_CONTINUE: Recorded = Recorded {
    summary: "Go back to the previous stop or violation, or to the beginning",
    examples: &[("reverse-continue", "to the previous stop")],
    repeats: Repeats::Line,
    takes_nothing: true,
    run: |run, _, observer| run.go_back(Goal::Never, observer),
    ..Recorded::DEFAULT
};

pub(crate) const REVERSE_NEXT: Recorded = Recorded {
    summary: "Step back to the previous event of the same thread",
    examples: &[("reverse-next", "one event"), ("reverse-next 5", "five")],
    repeats: Repeats::Line,
    run: |run, rest, observer| run.go_back(run.events_of_thread(rest)?, observer),
    ..Recorded::DEFAULT
};

pub(crate) const REVERSE_STEP: Recorded = Recorded {
    summary: "Step back to the previous event",
    examples: &[("reverse-step", "one event"), ("reverse-step 5", "five")],
    repeats: Repeats::Line,
    run: |run, rest, observer| run.go_back(run.events_of_all(rest)?, observer),
    ..Recorded::DEFAULT
};

pub(crate) const RUN: Recorded = Recorded {
    summary: "Run from the beginning to the first stop or violation",
    examples: &[("run", "from the beginning")],
    takes_nothing: true,
    run: |run, _, observer| run.run_anew(observer),
    ..Recorded::DEFAULT
};

pub(crate) const SET: Recorded = Recorded {
    summary: "Set where source files are, what each stop shows, or what the terminal shows",
    examples: &[
        (
            "set substitute-path /build /home/me",
            "files of /build are in /home/me",
        ),
        (
            "set context source locals",
            "show these parts at each stop: source, locals, monitors",
        ),
        ("set pagination off", "long output goes through no pager"),
        ("set width 100", "the columns of the terminal"),
    ],
    run: |run, rest, _| run.set(rest),
    ..Recorded::DEFAULT
};

pub(crate) const START: Recorded = Recorded {
    summary: "Go to the beginning",
    examples: &[("start", "before the first event")],
    takes_nothing: true,
    run: |run, _, observer| run.go_to("start", observer),
    ..Recorded::DEFAULT
};

pub(crate) const STEP: Recorded = Recorded {
    summary: "Step to the next event",
    examples: &[("step", "one event"), ("step 5", "five")],
    repeats: Repeats::Line,
    modes: Modes::Program,
    run: |run, rest, observer| run.go_on(run.events_of_all(rest)?, 0, observer),
    ..Recorded::DEFAULT
};

pub(crate) const TEMPORARY_BREAK: Recorded = Recorded {
    summary: "Set a temporary breakpoint",
    examples: &[("tbreak push", "at the next push only")],
    completes: Completes::Caught,
    run: |run, rest, _| run.set_stop(rest, true),
    ..Recorded::DEFAULT
};
