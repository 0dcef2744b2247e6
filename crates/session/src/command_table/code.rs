//! Commands that show memory and machine code.

use crate::command_table::entry::{Completes, Entry, Group, Names, Repeats};
use crate::commands::{disassemble, examine};
use juror_control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "disassemble",
        aliases: &["disas"],
        summary: "show instructions",
        examples: &[
            ("disassemble", "of the selected frame's function"),
            ("disassemble queue_push", "of a function"),
            ("disassemble/s", "with source lines; /r shows the bytes"),
            ("disassemble $rip,+32", "of a range: 32 bytes from here"),
        ],
        details: "In Intel syntax. The bytes are the program's own: inserted breakpoints are not \
                  shown.",
        completes: Completes::Places,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, _| disassemble::disassemble(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "x",
        aliases: &["examine"],
        summary: "show memory as numbers, strings or instructions",
        examples: &[
            ("x/8gx $rsp", "eight 8-byte words in hexadecimal"),
            ("x/s name", "a string; also of a function's result"),
            ("x/ws title", "a string of wchar_t; x/hs of char16_t"),
            ("x/5i $rip", "five instructions"),
            ("x", "one more, after the last one shown"),
        ],
        details: "Formats: x d u o t c a f s i, as for print. Sizes: b h w g, for 1, 2, 4 and 8 \
                  bytes; 4 at first. An omitted format, size or address is taken from the last x.",
        repeats: Repeats::Name,
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        names: Names::Expression,
        run: examine::examine,
        ..Entry::DEFAULT
    },
];
