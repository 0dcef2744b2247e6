//! Commands about processes, about signals and about what the program asks of
//! the kernel.

use crate::command_table::{Command, Completes, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        command: Command::Catch,
        name: "catch",
        aliases: &[],
        summary: "stop when something happens, wherever it is",
        examples: &[
            ("catch syscall", "before and after every system call"),
            (
                "catch syscall openat close",
                "these only, by name or number",
            ),
            (
                "catch signal SIGUSR1",
                "when it comes, whatever handle says",
            ),
            ("catch fork", "when a process is made; also vfork, exec"),
            (
                "catch load libz",
                "when a library comes whose path has this in it; also unload",
            ),
            (
                "catch throw",
                "when a C++ exception is thrown; also rethrow, catch",
            ),
        ],
        details: "Catchpoints have the numbers of breakpoints: delete, disable and enable take \
              them. Tracing system calls costs every call of the program two stops.",
        repeats: false,
        completes: Completes::Caught,
    },
    Entry {
        command: Command::TemporaryCatch,
        name: "tcatch",
        aliases: &[],
        summary: "stop once when something happens",
        examples: &[("tcatch syscall write", "the next write only")],
        details: "",
        repeats: false,
        completes: Completes::Caught,
    },
    Entry {
        command: Command::Process,
        name: "process",
        aliases: &["inferior"],
        summary: "select a process, when several are debugged (set follow both)",
        examples: &[
            ("process 2", "commands speak of process 2"),
            ("process", "which one is selected"),
        ],
        details: "info processes lists them. All run when the program runs, and all stop when one \
                  does; that one is selected then. Breakpoints are in all of them; info \
                  breakpoints, info threads and monitor show the selected one's.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Handle,
        name: "handle",
        aliases: &[],
        summary: "say what is done about a signal",
        examples: &[
            (
                "handle SIGUSR1 nostop",
                "tell when it comes, but let the program run on",
            ),
            (
                "handle SIGUSR1 nostop noprint",
                "the program gets it without a word",
            ),
            ("handle SIGALRM SIGVTALRM stop", "stop when one comes"),
            ("handle SIGPIPE nopass", "the program never sees it"),
            ("handle all nostop", "all but SIGINT and SIGTRAP"),
        ],
        details: "Actions: stop, nostop, print, noprint, pass, nopass (also ignore and noignore). \
              To stop means to print. A signal that will end the program stops it unless you \
              said nostop. Ctrl-C is not passed to the program while SIGINT stops.",
        repeats: false,
        completes: Completes::Signals,
    },
];
