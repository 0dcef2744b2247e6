//! Commands for core files.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::run::core_file;
use juror_control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "core-file",
        aliases: &["core"],
        summary: "debug a core file: a process that is no more",
        examples: &[
            ("core-file core.1234", "its threads, where they were"),
            ("core-file", "close it"),
        ],
        details: "The program is the one that juror was started with, or the one that the core \
                  file names. Commands that look at a stopped program work as ever; those that \
                  need it to run are refused. Memory that the core file lacks is read from the \
                  mapped files if they are the same builds. run starts the program anew.",
        completes: Completes::Files,
        group: Group::Files,
        modes: Modes::Before,
        moves: true,
        run: core_file::core_file,
        ..Entry::DEFAULT
    },
    Entry {
        name: "generate-core-file",
        aliases: &["gcore"],
        summary: "write a core file of the program",
        examples: &[
            ("gcore", "to core.PID, for the number of the process"),
            ("gcore before.core", "to this file"),
        ],
        details: "juror and gdb read it. It is what the kernel would write of the program without \
                  a debugger: without breakpoints, and by the rules of its coredump_filter. Pages \
                  of zeros take no room.",
        completes: Completes::Files,
        group: Group::Files,
        modes: Modes::Program,
        run: |session, rest, _| core_file::write_core(session, rest),
        ..Entry::DEFAULT
    },
];
