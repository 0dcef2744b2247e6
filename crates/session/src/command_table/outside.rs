//! Commands about files, directories and other programs.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::{environment, save, shell, source_script};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "cd",
        summary: "change the directory in which juror works",
        examples: &[
            ("cd tests", "for files that are named from then on"),
            ("cd", "the home directory"),
        ],
        details: "The next run of the program starts there, too, unless set cwd has said \
                  otherwise.",
        completes: Completes::Files,
        group: Group::Files,
        run: |session, rest, _| environment::change_directory(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "pwd",
        summary: "show the directory in which juror works",
        examples: &[("pwd", "info proc cwd shows the program's")],
        group: Group::Files,
        run: |_, _, _| environment::working_directory(),
        ..Entry::DEFAULT
    },
    Entry {
        name: "save",
        summary: "write the breakpoints to a file, for source to set them again",
        examples: &[
            (
                "save breakpoints points.juror",
                "with their conditions, counts and commands",
            ),
            ("source points.juror", "sets them again"),
            ("save", "keep the program as it is: checkpoint"),
        ],
        details: "Watchpoints and catchpoints are among them. The file holds commands, one a \
                  line. What is for a thread or for one call of a function, which another run \
                  does not have, is written as a remark.",
        completes: Completes::Files,
        group: Group::Breakpoints,
        run: |session, rest, _| save::save(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "source",
        aliases: &["so"],
        summary: "execute the commands of a file",
        examples: &[("source setup.juror", "line by line, as if typed")],
        details: "Empty lines and those that begin with # are passed over. A mistake ends it.",
        completes: Completes::Files,
        group: Group::Files,
        run: |session, rest, _| source_script::read_script(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "shell",
        aliases: &["!"],
        summary: "run a command of the shell",
        examples: &[
            ("shell make", "it has the terminal until it ends"),
            ("!ls -l", "the same in short"),
            ("shell", "a shell; exit comes back"),
        ],
        details: "$SHELL runs it, or /bin/sh. Ctrl-C ends the command, not juror. Scenarios may \
                  do it only where juror was started with --allow-programs.",
        completes: Completes::Files,
        group: Group::Files,
        run: |_, rest, observer| shell::shell(rest, observer),
        ..Entry::DEFAULT
    },
];
