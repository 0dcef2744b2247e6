//! Commands about breakpoints and other points.

use super::{Command, Completes, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        command: Command::Break,
        name: "break",
        aliases: &["b", "br"],
        summary: "stop at a place",
        examples: &[
            ("break queue_push", "where the body of the function begins"),
            ("break queue.c:23", "at a line"),
            ("break *0x401136", "at an address"),
            (
                "break queue_push if c == 'x'",
                "only when the condition is true",
            ),
        ],
        details: "A place in a library that is not loaded yet is kept and set when the library \
                  comes. Without an argument: where the selected frame stands.",
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Delete,
        name: "delete",
        aliases: &["d"],
        summary: "remove breakpoints",
        examples: &[
            ("delete 2", "breakpoint 2"),
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
        summary: "keep a breakpoint but do not stop at it",
        examples: &[("disable 2", "breakpoint 2"), ("disable", "all of yours")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Enable,
        name: "enable",
        aliases: &["en"],
        summary: "stop at a disabled breakpoint again",
        examples: &[("enable 2", "breakpoint 2"), ("enable", "all of yours")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
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
