//! Commands about files, directories and other programs.

use crate::command_table::{Command, Completes, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        command: Command::ChangeDirectory,
        name: "cd",
        aliases: &[],
        summary: "change the directory in which juror works",
        examples: &[
            ("cd tests", "for files that are named from then on"),
            ("cd", "the home directory"),
        ],
        details: "The next run of the program starts there, too, unless set cwd has said \
                  otherwise.",
        repeats: false,
        completes: Completes::Files,
    },
    Entry {
        command: Command::Directory,
        name: "pwd",
        aliases: &[],
        summary: "show the directory in which juror works",
        examples: &[("pwd", "info proc cwd shows the program's")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Save,
        name: "save",
        aliases: &[],
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
        repeats: false,
        completes: Completes::Files,
    },
    Entry {
        command: Command::Script,
        name: "source",
        aliases: &["so"],
        summary: "execute the commands of a file",
        examples: &[("source setup.juror", "line by line, as if typed")],
        details: "Empty lines and those that begin with # are passed over. A mistake ends it.",
        repeats: false,
        completes: Completes::Files,
    },
    Entry {
        command: Command::Shell,
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
        repeats: false,
        completes: Completes::Files,
    },
];
