//! Commands for processes, signals and system events.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::{catch, handle, process};
use juror_control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "catch",
        summary: "stop at an event: a system call, signal, fork, load or exception",
        examples: &[
            ("catch syscall", "before and after every system call"),
            (
                "catch syscall openat close",
                "only these, by name or number",
            ),
            (
                "catch signal SIGUSR1",
                "when it arrives, whatever handle says",
            ),
            ("catch fork", "when a process is created; also vfork, exec"),
            (
                "catch load libz",
                "when a library is loaded whose path contains this; also unload",
            ),
            (
                "catch throw",
                "when a C++ exception is thrown; also rethrow, catch",
            ),
            (
                "catch panic",
                "when a Rust program panics; at a terminal it is set from the start, as number 0",
            ),
        ],
        details: "Catchpoints are numbered with the breakpoints: delete, disable and enable take \
                  their numbers. Catching system calls that no property names makes every system \
                  call of the program stop twice.",
        completes: Completes::Caught,
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| catch::catch(session, rest, false),
        ..Entry::DEFAULT
    },
    Entry {
        name: "tcatch",
        summary: "set a temporary catchpoint",
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
        summary: "select a process, if several are debugged (set follow both)",
        examples: &[
            ("process 2", "select process 2 for the commands that follow"),
            ("process", "show the selected process"),
        ],
        details: "info processes lists them. When the program runs, all processes run; when one \
                  stops, all stop, and that one is selected. Breakpoints are inserted in all of \
                  them; info breakpoints, info threads and monitor show those of the selected \
                  process.",
        group: Group::Threads,
        modes: Modes::Program,
        run: |session, rest, _| process::choose_process(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "handle",
        summary: "set how a signal is handled",
        examples: &[
            ("handle SIGUSR1 nostop", "print a message, but do not stop"),
            ("handle SIGUSR1 nostop noprint", "deliver it silently"),
            ("handle SIGALRM SIGVTALRM stop", "stop when either arrives"),
            ("handle SIGPIPE nopass", "do not deliver it to the program"),
            ("handle all nostop", "all but SIGINT and SIGTRAP"),
        ],
        details: "Actions: stop, nostop, print, noprint, pass, nopass (also ignore and noignore). \
                  stop implies print. A signal that would kill the program stops it first, unless \
                  you said nostop. Ctrl-C is not passed to the program while SIGINT stops.",
        completes: Completes::Signals,
        group: Group::Running,
        changes_points: true,
        run: |session, rest, _| handle::handle(session, rest),
        ..Entry::DEFAULT
    },
];
