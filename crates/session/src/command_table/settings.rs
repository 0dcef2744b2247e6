//! Commands that change settings and show them.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::set;
use crate::commands::set::shown;
use crate::replay::rows;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "set",
        summary: "assign to a variable of the program, or change a setting",
        examples: &[
            (
                "set var count = 3",
                "a variable of the program; var can be left out",
            ),
            ("set queue->items[2] = count + 1", "a field or an element"),
            ("set *(int *)0x601040 = 0", "memory"),
            ("set var i++, n <<= 2", "any expression that assigns"),
            ("set $rax = 1", "a register of the innermost frame"),
            (
                "set args a b",
                "the arguments of the program, from the next run on",
            ),
            (
                "set environment NAME value",
                "an environment variable of the program, from the next run on",
            ),
            (
                "set cwd /tmp",
                "the directory in which it starts, from the next run on",
            ),
            (
                "set print elements 20",
                "limit of array, string and container elements; 0 for no limit",
            ),
            (
                "set print pretty on",
                "print, display and info locals show each field on a line",
            ),
            ("set listsize 20", "the number of lines that list shows"),
            (
                "set confirm off",
                "do not ask before run and quit end a program, at a terminal",
            ),
            (
                "set context locals registers",
                "show these parts at each stop, too: source, locals, backtrace, registers, monitors",
            ),
            (
                "set pagination off",
                "long output goes through no pager, at a terminal",
            ),
            (
                "set height 20",
                "the lines of the screen; 0 for no pager, auto for the terminal's",
            ),
            (
                "set width 100",
                "the columns of the screen; 0 for no wrapped lines, auto for the terminal's",
            ),
            ("set style enabled off", "no colours"),
            ("set style sources off", "no colours in source lines"),
            ("set $n = 3", "a convenience variable"),
            ("set follow child", "debug the child after the next fork"),
            (
                "set follow both",
                "debug both and all their children: see process",
            ),
            ("set follow parent", "debug the parent, the default"),
            (
                "set scheduler-locking step",
                "other threads stay stopped during step and next; on: always, off: never",
            ),
            (
                "set checkpoint-namespace on",
                "a PID namespace for the next run, for checkpoints of threads",
            ),
            (
                "set at-inlined marked",
                "monitor inlined calls in before f: marked, likely or off",
            ),
            (
                "set allow-unbound on",
                "let a property hold although no module had a function of its events",
            ),
            (
                "set ignore-inlined on",
                "accept that inlined calls are not monitored",
            ),
            (
                "set substitute-path /build /home/me",
                "sources compiled in /build are in /home/me",
            ),
            (
                "set debug-file-directory /usr/lib/debug:/opt/debug",
                "search these for separate debug files",
            ),
        ],
        details: "show prints the settings. A number that does not fit into the type is refused. A \
                  process that is not followed runs on without juror. A child of vfork is \
                  followed when it executes its program. follow-fork-mode is an alias, as in gdb.",
        completes: Completes::Settings,
        group: Group::Settings,
        run: set::set,
        recorded: Some(&rows::SET),
        ..Entry::DEFAULT
    },
    Entry {
        name: "show",
        aliases: &["sho"],
        summary: "show settings and convenience variables",
        examples: &[
            ("show", "all settings"),
            ("show args", "the arguments of the program"),
            (
                "show environment HOME",
                "an environment variable of the program",
            ),
            (
                "show convenience",
                "the convenience variables, and $_exitcode, $bpnum",
            ),
            ("show values", "the value history"),
        ],
        completes: Completes::Settings,
        group: Group::Settings,
        run: |session, rest, _| shown::show(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "unset",
        summary: "reset a setting",
        examples: &[
            (
                "unset environment NAME",
                "remove the variable, from the next run on",
            ),
            ("unset environment", "remove all variables"),
            ("unset substitute-path", "use source paths as compiled"),
            ("unset cwd", "start the program in juror's directory"),
            ("unset context", "show no more at a stop than usual"),
        ],
        completes: Completes::Settings,
        group: Group::Settings,
        run: |session, rest, _| set::unset(session, rest),
        ..Entry::DEFAULT
    },
];
