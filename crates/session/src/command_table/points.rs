//! Commands about breakpoints and other points.

use crate::command_table::{Command, Completes, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        command: Command::Break,
        name: "break",
        aliases: &["b", "br"],
        summary: "stop at a place",
        examples: &[
            ("break queue_push", "where the body of the function begins"),
            ("break queue.c:23", "at a line"),
            (
                "break area(int)",
                "one of the functions of this name; break area is at all of them",
            ),
            ("break queue.c:push", "the function push of queue.c"),
            ("break /^queue_/", "all functions whose names match"),
            ("break *0x401136", "at an address"),
            (
                "break queue_push if c == 'x'",
                "only when the condition is true",
            ),
            ("break queue_push thread 2", "only in thread 2"),
        ],
        details: "A place in a library that is not loaded yet is kept and set when the library \
                  comes. Without an argument: where the selected frame stands. A place that is \
                  several (inlined copies, templates, a name in several libraries) has a location \
                  for each, 1.1, 1.2 and so on. Other threads do not stop where the condition is \
                  false; one that cannot be evaluated stops, and says why.",
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Clear,
        name: "clear",
        aliases: &["cl"],
        summary: "delete the breakpoints at a place",
        examples: &[
            ("clear queue_push", "those at the function"),
            ("clear queue.c:23", "those at the line"),
            ("clear", "those at the line of the selected frame"),
        ],
        details: "What has no place goes by its number, with delete.",
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Commands,
        name: "commands",
        aliases: &["comm"],
        summary: "say what is done when a point has stopped the program",
        examples: &[
            ("commands 2", "of breakpoint 2; the lines follow, up to end"),
            ("commands", "of the last point"),
        ],
        details: "The lines are executed after the stop. With silent as the first one the stop \
                  is not shown; continue as the last one lets the program run on. What follows \
                  a line that lets the program run, or one with a mistake, is dropped. end \
                  alone takes the commands away.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Condition,
        name: "condition",
        aliases: &["cond"],
        summary: "change what must be true at a point",
        examples: &[
            ("condition 2 count > 3", "breakpoint 2 stops only then"),
            ("condition 2", "it always stops"),
        ],
        details: "For breakpoints, watchpoints and catchpoints alike. Only conditions of \
                  breakpoints can call functions of the program.",
        repeats: false,
        completes: Completes::Expressions,
    },
    Entry {
        command: Command::Delete,
        name: "delete",
        aliases: &["d"],
        summary: "remove points",
        examples: &[
            ("delete 2", "breakpoint 2"),
            ("delete 1-3 5", "several, of any kind"),
            ("delete", "all of yours; monitors keep theirs"),
        ],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Disable,
        name: "disable",
        aliases: &["dis"],
        summary: "keep a point but do not stop at it",
        examples: &[
            ("disable 2", "breakpoint 2"),
            ("disable 1.2", "one of its locations"),
            ("disable", "all of yours"),
        ],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::DynamicPrint,
        name: "dprintf",
        aliases: &["dp"],
        summary: "print at a place and go on",
        examples: &[
            (
                "dprintf queue.c:23,\"%d of %s\\n\", count, name",
                "whenever the program comes to that line",
            ),
            ("dprintf queue_push,\"pushed\\n\"", "without values"),
            ("condition 2 count > 3", "then only, if it has number 2"),
        ],
        details: "A breakpoint that does not stop: conditions, ignore, enable once and delete \
                  are as for others, and info breakpoints counts its hits. The format is that \
                  of printf. The program stops, and juror says why, where a value cannot be \
                  shown. The values call no functions of the program.",
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Enable,
        name: "enable",
        aliases: &["en"],
        summary: "stop at a disabled point again",
        examples: &[
            ("enable 2", "breakpoint 2"),
            ("enable 1.2", "one of its locations"),
            ("enable once 2", "for one stop"),
            ("enable count 3 2", "for three stops"),
            ("enable delete 2", "for one stop; then it is deleted"),
            ("enable", "all of yours"),
        ],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Ignore,
        name: "ignore",
        aliases: &["ign"],
        summary: "pass the next hits of a point",
        examples: &[
            ("ignore 2 100", "the hundred and first stops again"),
            ("ignore 2 0", "the next one stops"),
        ],
        details: "Only hits whose condition is true count. The count of hits begins anew with \
                  run: to come to a place just before a crash, ignore a million, see in info \
                  breakpoints how many there were, and run again.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::RegexBreak,
        name: "rbreak",
        aliases: &["rb"],
        summary: "stop at all functions whose names match a regular expression",
        examples: &[
            ("rbreak ^queue_", "one breakpoint, with a location for each"),
            ("rbreak queue.c:.", "all functions of queue.c"),
        ],
        details: "Only functions with debug information count, and of those only what was not \
                  inlined. break /REGEX/ is the same.",
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::TemporaryBreak,
        name: "tbreak",
        aliases: &["tb", "tbr"],
        summary: "stop at a place once",
        examples: &[("tbreak queue.c:23", "at that line, the next time only")],
        details: "",
        repeats: false,
        completes: Completes::Places,
    },
];
