//! Commands that show things and choose what is shown.

use crate::command_table::entry::{Completes, Entry, Group, Names, Repeats};
use crate::commands::{
    backtrace, display, frame, frame_apply, help, info, list, monitor, print, printf, property,
    ptype, thread, views,
};
use juror_rules::control::Modes;
use juror_view::Outcome;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "apropos",
        summary: "search the help of all commands",
        examples: &[
            ("apropos watch", "the commands whose help has the word"),
            ("apropos debug register", "those that have both"),
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
            ("backtrace", "the frames down to main, innermost first"),
            ("backtrace 5", "the innermost five"),
            ("backtrace -3", "the outermost three"),
            ("backtrace full", "with the local variables of each"),
            ("backtrace all", "also what started main"),
        ],
        details: "A frame marked as a guess was found where the code before it has no \
                  rules that lead to its caller. Where nothing can be guessed, either, the \
                  stack is cut.",
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
            ("display count", "now, and whenever the program stops"),
            ("display/x flags", "in a format, as print has them"),
            ("display/3i $pc", "instructions"),
            ("display", "all of them, in the selected frame"),
            ("undisplay 2", "number 2 no more"),
        ],
        details: "At a stop it is evaluated in the innermost frame. Where it has no value it says \
                  why. It calls no functions.",
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
                "select the next one of main, outwards",
            ),
            (
                "frame apply all info locals",
                "a command in each frame, one after the other",
            ),
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
        summary: "execute a command in every frame of the stack",
        examples: &[(
            "faas print i",
            "where it has no value, the frame is left out",
        )],
        details: "frame apply all says why where a command fails.",
        completes: Completes::Commands,
        group: Group::Stack,
        modes: Modes::Begun,
        run: |session, rest, _| frame_apply::apply_to_frames(session, &format!("all -s {rest}")),
        ..Entry::DEFAULT
    },
    Entry {
        name: "help",
        aliases: &["h"],
        summary: "say what a command does",
        examples: &[("help", "all commands"), ("help break", "one of them")],
        completes: Completes::Commands,
        group: Group::Settings,
        run: |_, rest, _| help::help(rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "info",
        aliases: &["i", "inf"],
        summary: "show what there is: breakpoints, threads, locals, monitors, ...",
        examples: &[
            (
                "info breakpoints",
                "all points: yours, and those the monitors need now",
            ),
            ("info threads", "the threads and where they stand"),
            (
                "info monitors",
                "the monitors with their slices, states and variables",
            ),
        ],
        details: "info alone lists all subjects.",
        completes: Completes::InfoSubjects,
        group: Group::Settings,
        names: Names::InfoSubject,
        run: |session, rest, _| info::info(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "list",
        aliases: &["l"],
        summary: "show source lines",
        examples: &[
            ("list", "around the selected frame, or further on"),
            ("list queue.c:40", "around a line"),
            ("list queue_push", "around a function"),
            ("list 10,20", "from line 10 to line 20"),
            ("list -", "what is before the lines shown last"),
        ],
        repeats: Repeats::Onwards,
        completes: Completes::Places,
        group: Group::Files,
        names: Names::Lines,
        run: |session, rest, _| list::list(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "monitor",
        aliases: &["m", "mon"],
        summary: "show the monitors and change them: states, slices, variables, paths",
        examples: &[
            ("monitor", "all monitors, with their slices"),
            (
                "monitor queue_bounds",
                "one property: every slice with the path that led to its state",
            ),
            (
                "monitor choose queue_bounds",
                "monitor set is about this one, if it names none",
            ),
            (
                "monitor set count = 3",
                "a variable of the slice, where there is one slice",
            ),
            (
                "monitor set queue_bounds[queue = 0x4052a0] count = 3",
                "of this slice; state = ready puts it into a state",
            ),
        ],
        completes: Completes::Properties,
        group: Group::Properties,
        run: |session, rest, _| monitor::monitor_command(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "output",
        summary: "show the value of an expression alone",
        examples: &[
            ("output count", "without $1 = before it; it is not kept"),
            ("output/x flags", "in a format, as print has them"),
        ],
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, _| print::output(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "property",
        aliases: &["prop"],
        summary: "add, remove and list properties while the program is there",
        examples: &[
            ("property", "which are watched, and from when on"),
            (
                "property add queue.prop",
                "evaluated from now on; before run, from the start",
            ),
            (
                "property add queue.prop --from-start",
                "from the start, where the run is recorded (--trace)",
            ),
            (
                "property disable queue_bounds",
                "it sees nothing until it is enabled",
            ),
            ("property enable queue_bounds", "it goes on as it was left"),
            ("property remove queue_bounds", "it is gone"),
        ],
        details: "With a trace, what has been recorded is given to the property first; the \
                  events that it is about must be among it. A trace goes on as it was begun; \
                  the next run records the events of all properties.",
        completes: Completes::PropertyActions,
        group: Group::Properties,
        changes_points: true,
        run: property::property_command,
        ..Entry::DEFAULT
    },
    Entry {
        name: "print",
        aliases: &["p", "pri", "prin", "inspect"],
        summary: "show the value of an expression",
        examples: &[
            ("print count", "a variable"),
            ("print *queue", "what a pointer points to, with its fields"),
            ("print queue->count + 1", "arithmetic, as in C"),
            ("print/x flags", "in hexadecimal"),
            ("print -pretty *queue", "each field on a line of its own"),
            ("print -elements 20 -- table", "so many elements"),
            (
                "print count = 3",
                "give it a value and show that; += and ++, too",
            ),
            (
                "print $_exitcode",
                "values that juror keeps: show convenience",
            ),
            ("print $rip", "a register"),
            ("print f(x) + 1", "what a function of the program returns"),
        ],
        details: "Formats: /x hexadecimal, /z the same with all zeros, /d decimal, /u unsigned, \
                  /o octal, /t binary, /c character, /a address, /f the bits as a fraction, /s text. \
                  Of fractions, /x /z /d /u /o /t show the bits. A value stays in $1 as it was \
                  printed; what pointers in it lead to is as it is now.",
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        names: Names::Expression,
        run: |session, rest, observer| print::print(session, rest, false, observer),
        ..Entry::DEFAULT
    },
    Entry {
        name: "ptype",
        summary: "show the definition of a type",
        examples: &[
            ("ptype struct queue", "its fields"),
            ("ptype queue", "of the type of a value"),
            (
                "ptype/o struct queue",
                "with offsets, sizes and holes, in bytes",
            ),
        ],
        details: "Names that stand for other types are looked through.",
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
            "number 2; for the commands of points, and files",
        )],
        completes: Completes::Words(&["function", "level"]),
        group: Group::Stack,
        modes: Modes::Begun,
        run: |session, rest, _| frame::choose_frame(session, rest).map(|_| Outcome::Done),
        ..Entry::DEFAULT
    },
    Entry {
        name: "show-graph",
        summary: "show the states of a property, and where it stands",
        examples: &[
            ("show-graph", "of all properties"),
            ("show-graph queue_bounds", "of one"),
            (
                "show-graph queue_bounds queue.svg",
                "as a picture in a file; also .dot, .mmd",
            ),
        ],
        details: "As info graph. A star is at the states in which slices stand, with how many. \
                  Of a formula they are those of its smallest automaton.",
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
        summary: "show or choose the thread that commands speak of",
        examples: &[
            ("thread", "which one it is"),
            ("thread 2", "choose number 2"),
            (
                "thread name reader",
                "call it so from then on; without a name as the program does",
            ),
            ("thread find ^read", "those whose names match"),
            ("thread apply all backtrace", "the stacks of all threads"),
            (
                "thread apply 1 2 print count",
                "any command, for one thread after the other",
            ),
        ],
        completes: Completes::Words(&["apply", "find", "name"]),
        group: Group::Threads,
        modes: Modes::Program,
        run: |session, rest, _| thread::choose_thread(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "taas",
        summary: "execute a command for every thread",
        examples: &[("taas backtrace 3", "as thread apply all backtrace 3")],
        completes: Completes::Commands,
        group: Group::Threads,
        modes: Modes::Program,
        run: |session, rest, _| backtrace::apply_to_threads(session, &format!("all {rest}")),
        ..Entry::DEFAULT
    },
    Entry {
        name: "printf",
        summary: "show values in a text of one's own",
        examples: &[
            (
                "printf \"%d of %s\\n\", count, name",
                "the conversions of C",
            ),
            (
                "printf \"%#x %5.2f\", flags, ratio",
                "with flags and widths",
            ),
        ],
        details: "%s takes any value, and shows it as print does. What is shown ends with a \
                  line's end in any case.",
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, _| printf::printf(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "echo",
        summary: "show a text",
        examples: &[("echo here it is\\n", "escapes are those of C")],
        details: "For the commands of points, and for files of commands.",
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
        summary: "show an expression no more at every stop",
        examples: &[("undisplay 2", "number 2"), ("undisplay", "none at all")],
        group: Group::Data,
        run: |session, rest, _| display::undisplay(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "views",
        summary: "take rules for how values of your own types are shown",
        examples: &[
            ("views game.views", "the rules of a file, before all others"),
            ("views", "which files have been taken"),
            ("print/r board", "a value by its fields, without rules"),
        ],
        details: "A rule names types and says in a few lines what is shown of their fields; \
                  elements that it shows can be used in expressions. A file that is taken again \
                  is read anew.",
        group: Group::Settings,
        run: |session, rest, _| views::views_command(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "whatis",
        aliases: &["what"],
        summary: "show the type of an expression",
        examples: &[
            ("whatis size_t", "what a name of a type stands for"),
            ("whatis queue->count", "of a value"),
            ("whatis queue_push", "of a function"),
        ],
        completes: Completes::Expressions,
        group: Group::Data,
        run: |session, rest, _| ptype::name_type(session, rest),
        ..Entry::DEFAULT
    },
];
