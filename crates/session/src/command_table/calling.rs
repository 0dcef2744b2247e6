//! Commands that call functions of the program.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::print;
use juror_control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "abandon",
        summary: "abandon an evaluation that stopped in a function it called",
        examples: &[
            ("abandon", "the innermost evaluation of this thread"),
            (
                "abandon 1",
                "evaluation 1, and the evaluations begun inside it",
            ),
        ],
        details: "The thread returns to where it was before the evaluation. Changes that the \
                  function made to memory remain.",
        group: Group::Data,
        modes: Modes::Program,
        moves: true,
        run: |session, rest, _| session.abandon(rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "call",
        aliases: &["cal"],
        summary: "call a function of the program and show its result",
        examples: &[
            (
                "call queue_push_letter(queue, 'x')",
                "with values of the program as arguments",
            ),
            (
                "call (int)puts(\"hello\")",
                "a function without debug information",
            ),
            (
                "call reset()",
                "a function that returns nothing shows nothing",
            ),
        ],
        details: "Only the current thread runs meanwhile. Breakpoints and signals inside the \
                  function stop as usual: continue or finish lets it return, abandon gives it up. \
                  Like print, call takes a format and any expression.",
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, observer| print::print(session, rest, true, observer),
        ..Entry::DEFAULT
    },
];
