//! Commands that search memory and write it to files.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::{dump_restore, find};
use juror_rules::control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "dump",
        summary: "write memory of the program to a file",
        examples: &[
            (
                "dump memory table.bin table &table[8]",
                "from the first address, up to the second and without it",
            ),
            ("dump value table.bin table", "the bytes of a value"),
        ],
        details: "The bytes are written as they are. What was in the file is gone.",
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
            ("find &text[0], &text[999], \"word\"", "for a text"),
            ("find/1w table, +400, 7", "the first one only"),
        ],
        details: "The end of the range is its last byte; +N is N bytes. Several values are \
                  searched for one behind the other. $_ is the last place that was found, \
                  $numfound how many there were.",
        completes: Completes::Expressions,
        group: Group::Data,
        modes: Modes::Program,
        run: |session, rest, _| find::find_in_memory(session, rest),
        ..Entry::DEFAULT
    },
];
