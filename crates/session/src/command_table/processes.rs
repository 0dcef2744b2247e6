//! Commands about processes, about signals and about what the program asks of
//! the kernel.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::{catch, handle, process};
use juror_rules::control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "catch",
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
        completes: Completes::Caught,
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| catch::catch(session, rest, false),
        ..Entry::DEFAULT
    },
    Entry {
        name: "tcatch",
        summary: "stop once when something happens",
        examples: &[("tcatch syscall write", "the next write only")],
        completes: Completes::Caught,
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| catch::catch(session, rest, true),
        ..Entry::DEFAULT
    },
    Entry {
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
        group: Group::Threads,
        modes: Modes::Program,
        run: |session, rest, _| process::choose_process(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "handle",
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
        completes: Completes::Signals,
        group: Group::Running,
        changes_points: true,
        run: |session, rest, _| handle::handle(session, rest),
        ..Entry::DEFAULT
    },
];
