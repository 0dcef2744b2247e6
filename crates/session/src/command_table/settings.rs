//! Commands that change how juror behaves, and show it.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::set;
use crate::commands::set::shown;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "set",
        summary: "give something in the program another value, or change how juror behaves",
        examples: &[
            (
                "set var count = 3",
                "a variable of the program; var may be left out",
            ),
            ("set queue->items[2] = count + 1", "a field or an element"),
            ("set *(int *)0x601040 = 0", "memory"),
            ("set $rax = 1", "a register of the innermost frame"),
            ("set args a b", "what run gives to the program from then on"),
            (
                "set environment NAME value",
                "a variable of its environment, from the next run on",
            ),
            ("set cwd /tmp", "where it starts, from the next run on"),
            (
                "set print elements 20",
                "how much is shown of arrays, texts and containers; 0 for all",
            ),
            (
                "set print pretty on",
                "print, display and info locals show each field on a line",
            ),
            ("set listsize 20", "how many lines list shows"),
            ("set $n = 3", "a value of your own, for expressions"),
            (
                "set follow child",
                "debug the process that the program makes, from then on",
            ),
            (
                "set follow both",
                "debug both, and all that they make: see process",
            ),
            ("set follow parent", "stay with the program, as at first"),
            (
                "set checkpoint-namespace on",
                "process numbers of its own, for checkpoints of threads (from the next run on)",
            ),
            (
                "set at-inlined marked",
                "before f happens at inlined calls, too: where they are marked (or likely); off",
            ),
            (
                "set ignore-inlined on",
                "accept that inlined calls are not seen",
            ),
            (
                "set substitute-path /build /home/me",
                "source files that were compiled in /build are in /home/me",
            ),
            (
                "set debug-file-directory /usr/lib/debug:/opt/debug",
                "look there for separate debug files",
            ),
        ],
        details: "show tells what is set. A number that the type does not hold is refused. The process that is not followed runs on without juror. A child made by vfork \
                  is followed when it runs its program. follow-fork-mode, as in gdb, is the same.",
        completes: Completes::Settings,
        group: Group::Settings,
        run: |session, rest, _| set::set(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "show",
        aliases: &["sho"],
        summary: "show what has been set, and values of your own",
        examples: &[
            ("show", "all settings"),
            ("show args", "what run gives to the program"),
            ("show environment HOME", "a variable of its environment"),
            (
                "show convenience",
                "the values of your own, and $_exitcode, $bpnum",
            ),
            ("show values", "the values that were printed"),
        ],
        completes: Completes::Settings,
        group: Group::Settings,
        run: |session, rest, _| shown::show(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "unset",
        summary: "take something back that set has said",
        examples: &[
            (
                "unset environment NAME",
                "the program has no such variable, from the next run on",
            ),
            ("unset environment", "it has none at all"),
            (
                "unset substitute-path",
                "sources are where the compiler saw them",
            ),
            ("unset cwd", "the program starts where juror works"),
        ],
        completes: Completes::Settings,
        group: Group::Settings,
        run: |session, rest, _| set::unset(session, rest),
        ..Entry::DEFAULT
    },
];
