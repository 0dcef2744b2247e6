//! Commands that keep the program as it is and go back.

use crate::command_table::entry::{Entry, Group};
use crate::commands::{checkpoint, dump_restore};
use juror_rules::control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "checkpoint",
        summary: "keep the program and its monitors as they are, to go back there",
        examples: &[
            ("checkpoint", "keep this moment; its number is shown"),
            ("restore 1", "go back to it, as often as you like"),
            ("info checkpoints", "which there are"),
            ("delete checkpoint 1", "give it up"),
        ],
        details: "All threads are kept, with their numbers, locks and interrupted calls; open \
                  files with their offsets and contents, pipes, shared memory, timers. What \
                  cannot be brought back (sockets, child processes, the time of day) is listed. \
                  A checkpoint shares its memory with the program, page by page, until one is \
                  written.",
        group: Group::Checkpoints,
        modes: Modes::Program,
        run: |session, rest, _| checkpoint::checkpoint_command(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "restore",
        aliases: &["restart"],
        summary: "go back to a checkpoint",
        examples: &[
            (
                "restore 2",
                "the program and its monitors are as at checkpoint 2",
            ),
            ("restore", "the last checkpoint"),
            (
                "restore table.bin binary table",
                "the bytes of a file into memory, from table on: as dump wrote them",
            ),
        ],
        details: "The present program ends; that it has ended does not matter. Your breakpoints \
                  stay as they are now; what the monitors watch is as it was then. A trace that is \
                  being recorded is cut to that moment. The checkpoint stays.",
        group: Group::Checkpoints,
        run: |session, rest, observer| match dump_restore::restore_from_file(session, rest) {
            Some(written) => written,
            None => checkpoint::restore_command(session, rest, observer),
        },
        ..Entry::DEFAULT
    },
];
