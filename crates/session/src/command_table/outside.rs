//! Commands for files, directories and other programs.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::{environment, save, shell, source_script};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "cd",
        summary: "change juror's working directory",
        examples: &[
            ("cd tests", "for files named from then on"),
            ("cd", "the home directory"),
        ],
        details: "The next run of the program starts there too, unless set cwd names another \
                  directory.",
        completes: Completes::Files,
        group: Group::Files,
        run: |session, rest, _| environment::change_directory(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "pwd",
        summary: "show juror's working directory",
        examples: &[("pwd", "info proc cwd shows the program's")],
        group: Group::Files,
        takes_nothing: true,
        run: |_, _, _| environment::working_directory(),
        ..Entry::DEFAULT
    },
    Entry {
        name: "save",
        summary: "write the breakpoints to a file of commands",
        examples: &[
            (
                "save breakpoints points.juror",
                "with their conditions, counts and commands",
            ),
            ("source points.juror", "sets them again"),
            ("save", "for the program's state, use checkpoint"),
        ],
        details: "Includes watchpoints and catchpoints. The file holds one command per line. \
                  Points specific to a thread or to one call of a function are written as \
                  comments, since another run does not have these.",
        completes: Completes::Files,
        group: Group::Breakpoints,
        run: |session, rest, _| save::save(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "source",
        aliases: &["so"],
        summary: "run the commands of a file",
        examples: &[("source setup.juror", "line by line, as if typed")],
        details: "Empty lines and lines that begin with # are skipped. Blocks of if, while, \
                  commands, define and document end with end; nothing of a file with a malformed \
                  block is executed. An error ends the file.",
        completes: Completes::Files,
        group: Group::Files,
        run: |session, rest, _| source_script::read_script(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "shell",
        aliases: &["!"],
        summary: "run a shell command",
        examples: &[
            ("shell make", "the command has the terminal until it ends"),
            ("!ls -l", "the same in short"),
            ("shell", "an interactive shell; exit returns"),
        ],
        details: "$SHELL runs it, or /bin/sh. Ctrl-C ends the command, not juror. Scenarios may \
                  run it only if juror was started with --allow-programs.",
        completes: Completes::Files,
        group: Group::Files,
        run: shell::shell,
        ..Entry::DEFAULT
    },
];
