//! Commands that save and restore the state of the program.

use crate::command_table::entry::{Entry, Group};
use crate::commands::{checkpoint, dump_restore};
use crate::replay::rows;
use juror_control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "checkpoint",
        summary: "save the state of the program and its monitors, to restore it later",
        examples: &[
            ("checkpoint", "save the present state and show its number"),
            ("restore 1", "go back to it, as often as you like"),
            ("info checkpoints", "list the checkpoints"),
            ("delete checkpoint 1", "delete it"),
        ],
        details: "A checkpoint holds all threads with their numbers, locks and interrupted calls, \
                  open files with their offsets and contents, pipes, shared memory and timers. \
                  State that cannot be restored (sockets, child processes, the time of day) is \
                  listed. A checkpoint shares memory with the program, page by page, until a page \
                  is written.",
        group: Group::Checkpoints,
        modes: Modes::Program,
        run: |session, rest, _| checkpoint::checkpoint_command(session, rest),
        recorded: Some(&rows::CHECKPOINT),
        ..Entry::DEFAULT
    },
    Entry {
        name: "restore",
        aliases: &["restart"],
        summary: "go back to a checkpoint",
        examples: &[
            (
                "restore 2",
                "the program and its monitors as at checkpoint 2",
            ),
            ("restore", "the last checkpoint"),
            (
                "restore table.bin binary table",
                "the bytes of a file that dump wrote, into memory from table on",
            ),
        ],
        details: "The present program is replaced, whether it still runs or has ended. Breakpoints \
                  stay as they are now; monitors watch what they watched then. A trace that is \
                  being recorded is truncated to that moment. The checkpoint stays.",
        group: Group::Checkpoints,
        run: |session, rest, observer| match dump_restore::restore_from_file(session, rest) {
            Some(written) => written,
            None => checkpoint::restore_command(session, rest, observer),
        },
        recorded: Some(&rows::RESTORE),
        ..Entry::DEFAULT
    },
];
