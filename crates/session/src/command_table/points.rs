//! Commands for breakpoints and other points.

use crate::command_table::entry::{Completes, Entry, Group, Names};
use crate::commands::{breakpoint, breakpoint_command_lists, condition, dprintf, points_edit};
use crate::replay::rows;
use juror_points::point::Fate;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "break",
        aliases: &["b", "br"],
        summary: "set a breakpoint at a location",
        examples: &[
            (
                "break queue_push",
                "at the first line of the function's body",
            ),
            ("break queue.c:23", "at a line"),
            (
                "break queue.c:23:9",
                "at a column, if the line has several statements",
            ),
            (
                "break area(int)",
                "one overload; break area stops at all of them",
            ),
            ("break queue.c:push", "the function push of queue.c"),
            ("break /^queue_/", "all functions whose names match"),
            ("break *0x401136", "at an address"),
            (
                "break -source queue.c -line 23",
                "in gdb's words; also -function NAME",
            ),
            (
                "break queue_push if c == 'x'",
                "only when the condition is true",
            ),
            ("break queue_push thread 2", "only in thread 2"),
        ],
        details: "A location in a library that is not loaded yet stays pending and is set when the \
                  library is loaded. Without an argument, the breakpoint is set where the \
                  selected frame is stopped. If a location has several addresses (inlined copies, \
                  templates, a name in several libraries), each is numbered: 1.1, 1.2 and so on. \
                  A false condition does not stop the other threads; if a condition cannot be \
                  evaluated, the program stops and the reason is shown.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        names: Names::Location,
        changes_points: true,
        run: |session, rest, _| breakpoint::set_breakpoint(session, rest, Fate::Keep),
        recorded: Some(&rows::BREAK),
        ..Entry::DEFAULT
    },
    Entry {
        name: "clear",
        aliases: &["cl"],
        summary: "delete the breakpoints at a location",
        examples: &[
            ("clear queue_push", "the breakpoints at the function"),
            ("clear queue.c:23", "the breakpoints at the line"),
            ("clear", "the breakpoints at the line of the selected frame"),
        ],
        details: "Use delete for points without a location.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        names: Names::Location,
        changes_points: true,
        run: |session, rest, _| points_edit::clear(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "commands",
        aliases: &["comm"],
        summary: "set the commands that run when a point stops the program",
        examples: &[
            (
                "commands 2",
                "for breakpoint 2; the lines follow, up to end",
            ),
            ("commands", "for the last point"),
        ],
        details: "The commands run after the stop. If the first is silent, the stop is not shown; \
                  if the last is continue, the program continues. Commands after one that resumes \
                  the program, or after an error, are dropped. end alone deletes the commands.",
        group: Group::Breakpoints,
        run: |session, rest, _| breakpoint_command_lists::begin_commands(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "condition",
        aliases: &["cond"],
        summary: "set or clear a breakpoint's condition",
        examples: &[
            (
                "condition 2 count > 3",
                "breakpoint 2 stops only if count > 3",
            ),
            ("condition 2", "clear the condition"),
        ],
        details: "Works for breakpoints, watchpoints and catchpoints. Only conditions of \
                  breakpoints can call functions of the program.",
        completes: Completes::Expressions,
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| condition::set_condition(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "delete",
        aliases: &["d"],
        summary: "delete points",
        examples: &[
            ("delete 2", "breakpoint 2"),
            ("delete 1-3 5", "several, of any kind"),
            ("delete", "all of yours; the monitors' points stay"),
            ("delete breakpoints 2", "the same as delete 2"),
        ],
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| points_edit::delete(session, rest),
        recorded: Some(&rows::DELETE),
        ..Entry::DEFAULT
    },
    Entry {
        name: "disable",
        aliases: &["dis"],
        summary: "disable points without deleting them",
        examples: &[
            ("disable 2", "breakpoint 2"),
            ("disable 1.2", "one of its locations"),
            ("disable", "all of yours"),
        ],
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| points_edit::disable(session, rest),
        recorded: Some(&rows::DISABLE),
        ..Entry::DEFAULT
    },
    Entry {
        name: "dprintf",
        aliases: &["dp"],
        summary: "print at a location without stopping",
        examples: &[
            (
                "dprintf queue.c:23,\"%d of %s\\n\", count, name",
                "whenever the program reaches that line",
            ),
            ("dprintf queue_push,\"pushed\\n\"", "without values"),
            (
                "condition 2 count > 3",
                "print only if count > 3, if this is point 2",
            ),
        ],
        details: "A breakpoint that does not stop: conditions, ignore, enable once and delete work \
                  as for breakpoints, and info breakpoints counts its hits. The format is that of \
                  printf. If a value cannot be shown, the program stops and the reason is shown. \
                  The values cannot call functions of the program.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| dprintf::set_dynamic_print(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "enable",
        aliases: &["en"],
        summary: "enable disabled points",
        examples: &[
            ("enable 2", "breakpoint 2"),
            ("enable 1.2", "one of its locations"),
            ("enable once 2", "for one stop"),
            ("enable count 3 2", "for three stops"),
            ("enable delete 2", "for one stop; then it is deleted"),
            ("enable", "all of yours"),
        ],
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| points_edit::enable(session, rest),
        recorded: Some(&rows::ENABLE),
        ..Entry::DEFAULT
    },
    Entry {
        name: "ignore",
        aliases: &["ign"],
        summary: "skip the next hits of a point",
        examples: &[
            ("ignore 2 100", "stop at the 101st hit"),
            ("ignore 2 0", "stop at the next hit"),
        ],
        details: "Only hits whose condition is true count. The hit count is reset by run: to stop \
                  just before a crash, ignore 1000000 hits, see the count in info breakpoints, \
                  ignore one less and run again.",
        group: Group::Breakpoints,
        run: |session, rest, _| points_edit::ignore(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "rbreak",
        aliases: &["rb"],
        summary: "stop at all functions whose names match a regular expression",
        examples: &[
            (
                "rbreak ^queue_",
                "one breakpoint, with a location for each function",
            ),
            ("rbreak queue.c:.", "all functions of queue.c"),
        ],
        details: "Only functions with debug information match, and inlined calls are not included. \
                  break /REGEX/ is the same.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        names: Names::Matching,
        changes_points: true,
        run: |session, rest, _| breakpoint::break_at_matching(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "tbreak",
        aliases: &["tb", "tbr"],
        summary: "set a temporary breakpoint",
        examples: &[("tbreak queue.c:23", "at that line, the next time only")],
        completes: Completes::Places,
        group: Group::Breakpoints,
        names: Names::Location,
        changes_points: true,
        run: |session, rest, _| breakpoint::set_breakpoint(session, rest, Fate::Delete),
        recorded: Some(&rows::TEMPORARY_BREAK),
        ..Entry::DEFAULT
    },
];
