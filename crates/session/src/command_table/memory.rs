//! Commands that search memory and write it to files.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::{dump_restore, find};
use juror_control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "dump",
        summary: "write memory of the program to a file",
        examples: &[
            (
                "dump memory table.bin table &table[8]",
                "from the first address up to the second, exclusive",
            ),
            ("dump value table.bin table", "the bytes of a value"),
        ],
        details: "The raw bytes are written. An existing file is overwritten.",
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, _| dump_restore::dump(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "find",
        summary: "search memory for values",
        examples: &[
            (
                "find table, +sizeof(table), 42",
                "in a range, for a number of its type",
            ),
            ("find/b $sp, +4096, 0x7f, 0x45", "for bytes; also /h /w /g"),
            ("find &text[0], &text[999], \"word\"", "for a string"),
            ("find/1w table, +400, 7", "the first match only"),
        ],
        details: "The end of the range is inclusive; +N means N bytes. Several values are matched \
                  one after the other. $_ is the last match, $numfound the number of matches.",
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, _| find::find_in_memory(session, rest),
        ..Entry::DEFAULT
    },
];
