//! Commands that show values, frames, threads and monitors, and select them.

use crate::command_table::entry::{Completes, Entry, Group, Names, Repeats};
use crate::commands::{
    backtrace, display, frame, frame_apply, help, info, list, monitor, print, printf, property,
    ptype, thread, views,
};
use crate::replay::rows;
use crate::run::scheduling;
use juror_control::Modes;
use juror_view::Outcome;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "apropos",
        summary: "search the help of all commands",
        examples: &[
            ("apropos watch", "the commands whose help contains the word"),
            (
                "apropos debug register",
                "the commands whose help contains both words",
            ),
        ],
        group: Group::Settings,
        run: |_, rest, _| help::apropos(rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "backtrace",
        aliases: &["bt", "where"],
        summary: "show the stack of the current thread",
        examples: &[
            ("backtrace", "the frames out to main, innermost first"),
            ("backtrace 5", "the innermost five"),
            ("backtrace -3", "the outermost three"),
            ("backtrace full", "with the local variables of each"),
            ("backtrace all", "also the frames that called main"),
        ],
        details: "A frame marked as a guess was found without unwind information. If no caller can \
                  be guessed either, the backtrace ends.",
        group: Group::Stack,
        modes: Modes::Begun,
        run: |session, rest, _| backtrace::backtrace(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "display",
        aliases: &["disp"],
        summary: "show the value of an expression at every stop",
        examples: &[
            ("display count", "now, and at every stop"),
            ("display/x flags", "in a format, as for print"),
            ("display/3i $pc", "instructions"),
            ("display", "show all displays in the selected frame"),
            ("undisplay 2", "delete display 2"),
        ],
        details: "At a stop, the expression is evaluated in the innermost frame; if it has no \
                  value, the reason is shown. It cannot call functions.",
        completes: Completes::Expressions,
        group: Group::Data,
        names: Names::Expression,
        run: |session, rest, _| display::display(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "down",
        aliases: &["dow"],
        summary: "select the frame that the selected one called",
        examples: &[
            ("down", "one frame inwards"),
            ("down 2", "two frames inwards"),
        ],
        repeats: Repeats::Line,
        group: Group::Stack,
        modes: Modes::Begun,
        run: |session, rest, _| frame::move_frame(session, rest, -1),
        ..Entry::DEFAULT
    },
    Entry {
        name: "frame",
        aliases: &["f"],
        summary: "show or select a frame of the stack",
        examples: &[
            ("frame", "show the selected one"),
            ("frame 2", "select number 2"),
            ("frame line 2", "the same, without its source"),
            (
                "frame function main",
                "select the next frame of main, outwards",
            ),
            ("frame apply all info locals", "run a command in each frame"),
            (
                "frame apply 3 print $pc",
                "in the innermost three; -3 the outermost",
            ),
        ],
        completes: Completes::Words(&["apply", "function", "level", "line"]),
        group: Group::Stack,
        modes: Modes::Begun,
        run: |session, rest, _| frame::choose_frame(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "faas",
        summary: "run a command in every frame of the stack",
        examples: &[("faas print i", "frames in which it fails are left out")],
        details: "frame apply all shows the error of each frame where a command fails.",
        completes: Completes::Commands,
        group: Group::Stack,
        modes: Modes::Begun,
        run: |session, rest, _| frame_apply::apply_to_frames(session, &format!("all -s {rest}")),
        ..Entry::DEFAULT
    },
    Entry {
        name: "help",
        aliases: &["h"],
        summary: "show the help of a command",
        examples: &[("help", "all commands"), ("help break", "one command")],
        completes: Completes::Commands,
        group: Group::Settings,
        run: |session, rest, _| help::help(session, rest),
        recorded: Some(&rows::HELP),
        ..Entry::DEFAULT
    },
    Entry {
        name: "info",
        aliases: &["i", "inf"],
        summary: "show the state of something: breakpoints, threads, locals, monitors, ...",
        examples: &[
            (
                "info breakpoints",
                "all points: yours, and the monitors' current ones",
            ),
            ("info threads", "the threads, and where they are stopped"),
            (
                "info monitors",
                "the monitors with their slices, states and variables",
            ),
        ],
        details: "info alone lists its subjects.",
        completes: Completes::InfoSubjects,
        group: Group::Settings,
        names: Names::InfoSubject,
        run: |session, rest, _| info::info(session, rest),
        recorded: Some(&rows::INFO),
        ..Entry::DEFAULT
    },
    Entry {
        name: "list",
        aliases: &["l"],
        summary: "show source lines",
        examples: &[
            ("list", "around the selected frame, then onwards"),
            ("list queue.c:40", "around a line"),
            ("list queue_push", "around a function"),
            ("list 10,20", "from line 10 to line 20"),
            ("list -", "the lines before those shown last"),
        ],
        repeats: Repeats::Onwards,
        completes: Completes::Places,
        group: Group::Files,
        names: Names::Lines,
        run: |session, rest, _| list::list(session, rest),
        recorded: Some(&rows::LIST),
        ..Entry::DEFAULT
    },
    Entry {
        name: "monitor",
        aliases: &["m", "mon"],
        summary: "show or change the monitors: states, slices, variables, paths",
        examples: &[
            ("monitor", "all monitors, with their slices"),
            (
                "monitor queue_bounds",
                "one property: every slice with the path that led to its state",
            ),
            (
                "monitor choose queue_bounds",
                "the default property of monitor set",
            ),
            (
                "monitor set count = 3",
                "a variable of the slice, if there is only one slice",
            ),
            (
                "monitor set queue_bounds[queue = 0x4052a0] count = 3",
                "of this slice; state = ready changes its state",
            ),
        ],
        completes: Completes::Properties,
        group: Group::Properties,
        run: |session, rest, _| monitor::monitor_command(session, rest),
        recorded: Some(&rows::MONITOR),
        ..Entry::DEFAULT
    },
    Entry {
        name: "output",
        summary: "show only the value of an expression",
        examples: &[
            (
                "output count",
                "without $1 = before it; it does not enter the value history",
            ),
            ("output/x flags", "in a format, as for print"),
        ],
        completes: Completes::Expressions,
        group: Group::Data,
        run: |session, rest, _| print::output(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "property",
        aliases: &["prop"],
        summary: "add, remove and list properties while the program runs",
        examples: &[
            (
                "property",
                "list the monitored properties, and since when each is monitored",
            ),
            (
                "property add queue.prop",
                "evaluated from now on; before run, from the start",
            ),
            (
                "property add queue.prop --from-start",
                "from the start, if the run is recorded (--trace)",
            ),
            (
                "property disable queue_bounds",
                "it receives no events until it is enabled",
            ),
            (
                "property enable queue_bounds",
                "it continues in the state it had",
            ),
            ("property remove queue_bounds", "stop monitoring it"),
        ],
        details: "With --trace, the property first processes the recorded events, if they include \
                  the events it needs. A trace keeps its set of events; the next run records the \
                  events of all properties.",
        completes: Completes::PropertyActions,
        group: Group::Properties,
        changes_points: true,
        run: property::property_command,
        recorded: Some(&rows::PROPERTY),
        ..Entry::DEFAULT
    },
    Entry {
        name: "print",
        aliases: &["p", "pri", "prin", "inspect"],
        summary: "show the value of an expression",
        examples: &[
            ("print count", "a variable"),
            ("print *queue", "the target of a pointer, with its fields"),
            ("print queue->count + 1", "arithmetic, as in C"),
            ("print/x flags", "in hexadecimal"),
            ("print -pretty *queue", "each field on a line of its own"),
            ("print -elements 20 -- table", "at most 20 elements"),
            (
                "print count = 3",
                "assign a value and show it; also +=, <<= and ++",
            ),
            (
                "print *p++ = (n = 7) + 1",
                "assignments are parts of expressions, as in C",
            ),
            (
                "print $_exitcode",
                "a convenience variable: show convenience lists them",
            ),
            ("print $rip", "a register"),
            ("print f(x) + 1", "call a function of the program"),
        ],
        details: "Formats: /x hexadecimal, /z the same with leading zeros, /d decimal, /u \
                  unsigned, /o octal, /t binary, /c character, /a address, /f floating point, /s \
                  string. For floating-point numbers, /x /z /d /u /o /t show the bits. The value \
                  history ($1, ...) keeps a value as it was printed; memory that its pointers \
                  lead to is read anew. Without a program, numbers and convenience variables have \
                  values.",
        completes: Completes::Expressions,
        group: Group::Data,
        names: Names::Expression,
        run: |session, rest, observer| print::print(session, rest, false, observer),
        recorded: Some(&rows::PRINT),
        ..Entry::DEFAULT
    },
    Entry {
        name: "ptype",
        summary: "show the definition of a type",
        examples: &[
            ("ptype struct queue", "its fields"),
            ("ptype queue", "the type of a value"),
            (
                "ptype/o struct queue",
                "with offsets, sizes and holes, in bytes",
            ),
        ],
        details: "Typedefs are resolved.",
        completes: Completes::Expressions,
        group: Group::Data,
        run: |session, rest, _| ptype::define_type(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "select-frame",
        summary: "select a frame without showing it",
        examples: &[(
            "select-frame 2",
            "number 2; for breakpoint commands and command files",
        )],
        completes: Completes::Words(&["function", "level"]),
        group: Group::Stack,
        modes: Modes::Begun,
        run: |session, rest, _| frame::choose_frame(session, rest).map(|_| Outcome::Done),
        ..Entry::DEFAULT
    },
    Entry {
        name: "show-graph",
        summary: "show the states of a property and the current ones",
        examples: &[
            ("show-graph", "of all properties"),
            ("show-graph queue_bounds", "of one"),
            (
                "show-graph queue_bounds queue.svg",
                "as a picture in a file; also .dot, .mmd",
            ),
        ],
        details: "The same as info graph. A star marks the states that slices are in, with the \
                  number of slices. A formula is shown as its minimal automaton.",
        completes: Completes::Properties,
        group: Group::Properties,
        run: |session, rest, _| {
            crate::commands::info_graph::graphs(session.processes.monitors.shown(), rest)
        },
        ..Entry::DEFAULT
    },
    Entry {
        name: "thread",
        aliases: &["t"],
        summary: "show or select the current thread",
        examples: &[
            ("thread", "show the current thread"),
            ("thread 2", "select thread 2"),
            (
                "thread name reader",
                "name the thread; without a name, restore its own",
            ),
            ("thread find ^read", "list the threads whose names match"),
            ("thread apply all backtrace", "the stacks of all threads"),
            (
                "thread apply 1 2 print count",
                "any command, in one thread after the other",
            ),
        ],
        completes: Completes::Words(&["apply", "find", "name"]),
        group: Group::Threads,
        modes: Modes::Program,
        run: |session, rest, _| thread::choose_thread(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "schedule",
        summary: "show the threads of a run that is made again, or let one go on",
        examples: &[
            (
                "schedule",
                "which threads could go on, and what each would do next",
            ),
            (
                "schedule 3",
                "let thread 3 go on in place of the one that runs",
            ),
        ],
        details: "For a run of juror explore that juror replay makes again: one thread goes on at a \
                  time, and the file says which. From a thread that you choose, it is another run, \
                  in which each thread goes on until it waits; run makes the old one again.",
        group: Group::Threads,
        modes: Modes::Program,
        run: |session, rest, _| scheduling::schedule_command(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "taas",
        summary: "run a command in every thread",
        examples: &[(
            "taas backtrace 3",
            "the same as thread apply all backtrace 3",
        )],
        completes: Completes::Commands,
        group: Group::Threads,
        modes: Modes::Program,
        run: |session, rest, _| backtrace::apply_to_threads(session, &format!("all {rest}")),
        ..Entry::DEFAULT
    },
    Entry {
        name: "printf",
        summary: "print values with a format string",
        examples: &[
            (
                "printf \"%d of %s\\n\", count, name",
                "with the conversions of C",
            ),
            (
                "printf \"%#x %5.2f\", flags, ratio",
                "with flags and widths",
            ),
        ],
        details: "%s takes any value and shows it as print does. A newline is added if the output \
                  does not end with one.",
        completes: Completes::Expressions,
        group: Group::Data,
        run: |session, rest, _| printf::printf(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "echo",
        summary: "print text",
        examples: &[("echo here it is\\n", "with the escapes of C")],
        details: "For breakpoint commands and command files.",
        group: Group::Settings,
        run: |session, rest, _| Ok(printf::echo(session, rest)),
        ..Entry::DEFAULT
    },
    Entry {
        name: "up",
        summary: "select the frame that called the selected one",
        examples: &[
            ("up", "one frame outwards"),
            ("up 2", "two frames outwards"),
        ],
        repeats: Repeats::Line,
        group: Group::Stack,
        modes: Modes::Begun,
        run: |session, rest, _| frame::move_frame(session, rest, 1),
        ..Entry::DEFAULT
    },
    Entry {
        name: "undisplay",
        summary: "stop displaying an expression",
        examples: &[
            ("undisplay 2", "number 2"),
            ("undisplay", "all expressions"),
        ],
        group: Group::Data,
        run: |session, rest, _| display::undisplay(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "views",
        summary: "load pretty-printers for your own types",
        examples: &[
            (
                "views game.views",
                "load a file; its rules come before all others",
            ),
            ("views", "list the loaded files"),
            (
                "print/r board",
                "a value by its fields, without pretty-printers",
            ),
        ],
        details: "A rule matches types and says in a few lines how their fields are shown; \
                  elements that it shows can be used in expressions. Loading a file again \
                  replaces it.",
        group: Group::Settings,
        run: |session, rest, _| views::views_command(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "whatis",
        aliases: &["what"],
        summary: "show the type of an expression",
        examples: &[
            ("whatis size_t", "the type that a typedef names"),
            ("whatis queue->count", "the type of a value"),
            ("whatis queue_push", "the type of a function"),
        ],
        completes: Completes::Expressions,
        group: Group::Data,
        run: |session, rest, _| ptype::name_type(session, rest),
        ..Entry::DEFAULT
    },
];
