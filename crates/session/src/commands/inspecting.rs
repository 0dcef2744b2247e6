//! Commands that show things and choose what is shown.

use super::{Command, Completes, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        command: Command::Backtrace,
        name: "backtrace",
        aliases: &["bt", "where"],
        summary: "show the stack of the current thread",
        examples: &[
            ("backtrace", "the frames down to main, innermost first"),
            ("backtrace 5", "the innermost five"),
            ("backtrace full", "with the local variables of each"),
            ("backtrace all", "also what started main"),
        ],
        details: "A frame marked as a guess was found where the code before it has no \
                  rules that lead to its caller.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Display,
        name: "display",
        aliases: &["disp"],
        summary: "show the value of an expression at every stop",
        examples: &[
            ("display count", "now, and whenever the program stops"),
            ("display/x flags", "in a format, as print has them"),
            ("display", "all of them, in the selected frame"),
            ("undisplay 2", "number 2 no more"),
        ],
        details: "At a stop it is evaluated in the innermost frame. Where it has no value it says \
                  why. It calls no functions.",
        repeats: false,
        completes: Completes::Expressions,
    },
    Entry {
        command: Command::Down,
        name: "down",
        aliases: &["dow"],
        summary: "select the frame that the selected one called",
        examples: &[
            ("down", "one frame inwards"),
            ("down 2", "two frames inwards"),
        ],
        details: "",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Frame,
        name: "frame",
        aliases: &["f"],
        summary: "show or select a frame of the stack",
        examples: &[
            ("frame", "show the selected one"),
            ("frame 2", "select number 2"),
            (
                "frame function main",
                "select the next one of main, outwards",
            ),
        ],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Help,
        name: "help",
        aliases: &["h"],
        summary: "say what a command does",
        examples: &[("help", "all commands"), ("help break", "one of them")],
        details: "",
        repeats: false,
        completes: Completes::Commands,
    },
    Entry {
        command: Command::Info,
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
        details: "Subjects: args, breakpoints, evaluations, frame, graph, line, locals, monitors, registers, \
                  sharedlibrary, signals, source, threads.",
        repeats: false,
        completes: Completes::InfoSubjects,
    },
    Entry {
        command: Command::List,
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
        details: "",
        repeats: true,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Monitor,
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
        details: "",
        repeats: false,
        completes: Completes::Properties,
    },
    Entry {
        command: Command::Property,
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
        repeats: false,
        completes: Completes::PropertyActions,
    },
    Entry {
        command: Command::Print,
        name: "print",
        aliases: &["p", "pri", "prin", "inspect"],
        summary: "show the value of an expression",
        examples: &[
            ("print count", "a variable"),
            ("print *queue", "what a pointer points to, with its fields"),
            ("print queue->count + 1", "arithmetic, as in C"),
            ("print/x flags", "in hexadecimal"),
            ("print -pretty *queue", "each field on a line of its own"),
            ("print $rip", "a register"),
            ("print f(x) + 1", "what a function of the program returns"),
        ],
        details: "Formats: /x hexadecimal, /d decimal, /u unsigned, /o octal, /t binary, \
                  /c character, /a address, /s text.",
        repeats: false,
        completes: Completes::Expressions,
    },
    Entry {
        command: Command::DefineType,
        name: "ptype",
        aliases: &[],
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
        repeats: false,
        completes: Completes::Expressions,
    },
    Entry {
        command: Command::ShowGraph,
        name: "show-graph",
        aliases: &[],
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
        repeats: false,
        completes: Completes::Properties,
    },
    Entry {
        command: Command::Thread,
        name: "thread",
        aliases: &["t"],
        summary: "show or choose the thread that commands speak of",
        examples: &[
            ("thread", "which one it is"),
            ("thread 2", "choose number 2"),
            ("thread apply all backtrace", "the stacks of all threads"),
            (
                "thread apply 1 2 print count",
                "any command, for one thread after the other",
            ),
        ],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::PrintFormatted,
        name: "printf",
        aliases: &[],
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
        repeats: false,
        completes: Completes::Expressions,
    },
    Entry {
        command: Command::Echo,
        name: "echo",
        aliases: &[],
        summary: "show a text",
        examples: &[("echo here it is\\n", "escapes are those of C")],
        details: "For the commands of points, and for files of commands.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Script,
        name: "source",
        aliases: &["so"],
        summary: "execute the commands of a file",
        examples: &[("source setup.juror", "line by line, as if typed")],
        details: "Empty lines and those that begin with # are passed over. A mistake ends it.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Up,
        name: "up",
        aliases: &[],
        summary: "select the frame that called the selected one",
        examples: &[
            ("up", "one frame outwards"),
            ("up 2", "two frames outwards"),
        ],
        details: "",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Undisplay,
        name: "undisplay",
        aliases: &[],
        summary: "show an expression no more at every stop",
        examples: &[("undisplay 2", "number 2"), ("undisplay", "none at all")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Views,
        name: "views",
        aliases: &[],
        summary: "take rules for how values of your own types are shown",
        examples: &[
            ("views game.views", "the rules of a file, before all others"),
            ("views", "which files have been taken"),
            ("print/r board", "a value by its fields, without rules"),
        ],
        details: "A rule names types and says in a few lines what is shown of their fields; \
                  elements that it shows can be used in expressions. A file that is taken again \
                  is read anew.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::NameType,
        name: "whatis",
        aliases: &["what"],
        summary: "show the type of an expression",
        examples: &[
            ("whatis size_t", "what a name of a type stands for"),
            ("whatis queue->count", "of a value"),
            ("whatis queue_push", "of a function"),
        ],
        details: "",
        repeats: false,
        completes: Completes::Expressions,
    },
];
