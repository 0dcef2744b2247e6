//! Commands that call functions of the program.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::print;
use juror_rules::control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "abandon",
        summary: "give up an evaluation that was stopped in a function it called",
        examples: &[
            ("abandon", "the innermost of this thread"),
            ("abandon 1", "evaluation 1, and what was begun inside it"),
        ],
        details: "The thread stands again where it stood before. What the function has changed in \
                  memory stays changed.",
        group: Group::Data,
        modes: Modes::Program,
        moves: true,
        run: |session, rest, _| session.abandon(rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "call",
        aliases: &["cal"],
        summary: "call a function of the program, and show what it returns",
        examples: &[
            (
                "call queue_push_letter(queue, 'x')",
                "with values of the program",
            ),
            (
                "call (int)puts(\"hello\")",
                "a function without debug information",
            ),
            ("call reset()", "one that returns nothing shows nothing"),
        ],
        details: "Only the current thread runs meanwhile. A breakpoint or signal inside stops as ever: \
                  continue or finish lets the function return, abandon gives it up. Like print, it \
                  takes a format and any expression.",
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, observer| print::print(session, rest, true, observer),
        ..Entry::DEFAULT
    },
];
