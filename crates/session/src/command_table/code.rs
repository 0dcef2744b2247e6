//! Commands that show memory and machine code.

use crate::command_table::entry::{Completes, Entry, Group, Names, Repeats};
use crate::commands::{disassemble, examine};
use juror_rules::control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "disassemble",
        aliases: &["disas"],
        summary: "show instructions",
        examples: &[
            (
                "disassemble",
                "of the function where the selected frame stands",
            ),
            ("disassemble queue_push", "of a function"),
            ("disassemble/s", "with the source lines; /r shows the bytes"),
            ("disassemble $rip,+32", "of a range: 32 bytes from here"),
        ],
        details: "In Intel's notation. The bytes are those of the program: juror's traps are \
                  not seen.",
        completes: Completes::Places,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, _| disassemble::disassemble(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "x",
        aliases: &["examine"],
        summary: "show memory as numbers, texts or instructions",
        examples: &[
            ("x/8gx $rsp", "eight words of 8 bytes, in hexadecimal"),
            ("x/s name", "a text; also of a function's result"),
            ("x/ws title", "a text of wide characters; x/hs of char16_t"),
            ("x/5i $rip", "five instructions"),
            ("x", "further on, one more"),
        ],
        details: "Formats: x d u o t c a f s i, as print has them; sizes: b h w g, for 1, 2, 4 \
                  and 8 bytes, 4 at first. What is left out is as before.",
        repeats: Repeats::Name,
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        names: Names::Expression,
        run: examine::examine,
        ..Entry::DEFAULT
    },
];
