//! Commands about breakpoints and other points.

use crate::command_table::entry::{Completes, Entry, Group, Names};
use crate::commands::{breakpoint, breakpoint_command_lists, condition, dprintf, points_edit};
use juror_points::point::Fate;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "break",
        aliases: &["b", "br"],
        summary: "stop at a place",
        examples: &[
            ("break queue_push", "where the body of the function begins"),
            ("break queue.c:23", "at a line"),
            (
                "break area(int)",
                "one of the functions of this name; break area is at all of them",
            ),
            ("break queue.c:push", "the function push of queue.c"),
            ("break /^queue_/", "all functions whose names match"),
            ("break *0x401136", "at an address"),
            (
                "break queue_push if c == 'x'",
                "only when the condition is true",
            ),
            ("break queue_push thread 2", "only in thread 2"),
        ],
        details: "A place in a library that is not loaded yet is kept and set when the library \
                  comes. Without an argument: where the selected frame stands. A place that is \
                  several (inlined copies, templates, a name in several libraries) has a location \
                  for each, 1.1, 1.2 and so on. Other threads do not stop where the condition is \
                  false; one that cannot be evaluated stops, and says why.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        names: Names::Location,
        changes_points: true,
        run: |session, rest, _| breakpoint::set_breakpoint(session, rest, Fate::Keep),
        ..Entry::DEFAULT
    },
    Entry {
        name: "clear",
        aliases: &["cl"],
        summary: "delete the breakpoints at a place",
        examples: &[
            ("clear queue_push", "those at the function"),
            ("clear queue.c:23", "those at the line"),
            ("clear", "those at the line of the selected frame"),
        ],
        details: "What has no place goes by its number, with delete.",
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
        summary: "say what is done when a point has stopped the program",
        examples: &[
            ("commands 2", "of breakpoint 2; the lines follow, up to end"),
            ("commands", "of the last point"),
        ],
        details: "The lines are executed after the stop. With silent as the first one the stop \
                  is not shown; continue as the last one lets the program run on. What follows \
                  a line that lets the program run, or one with a mistake, is dropped. end \
                  alone takes the commands away.",
        group: Group::Breakpoints,
        run: |session, rest, _| breakpoint_command_lists::begin_commands(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "condition",
        aliases: &["cond"],
        summary: "change what must be true at a point",
        examples: &[
            ("condition 2 count > 3", "breakpoint 2 stops only then"),
            ("condition 2", "it always stops"),
        ],
        details: "For breakpoints, watchpoints and catchpoints alike. Only conditions of \
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
        summary: "remove points",
        examples: &[
            ("delete 2", "breakpoint 2"),
            ("delete 1-3 5", "several, of any kind"),
            ("delete", "all of yours; monitors keep theirs"),
        ],
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| points_edit::delete(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "disable",
        aliases: &["dis"],
        summary: "keep a point but do not stop at it",
        examples: &[
            ("disable 2", "breakpoint 2"),
            ("disable 1.2", "one of its locations"),
            ("disable", "all of yours"),
        ],
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| points_edit::disable(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "dprintf",
        aliases: &["dp"],
        summary: "print at a place and go on",
        examples: &[
            (
                "dprintf queue.c:23,\"%d of %s\\n\", count, name",
                "whenever the program comes to that line",
            ),
            ("dprintf queue_push,\"pushed\\n\"", "without values"),
            ("condition 2 count > 3", "then only, if it has number 2"),
        ],
        details: "A breakpoint that does not stop: conditions, ignore, enable once and delete \
                  are as for others, and info breakpoints counts its hits. The format is that \
                  of printf. The program stops, and juror says why, where a value cannot be \
                  shown. The values call no functions of the program.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        changes_points: true,
        run: |session, rest, _| dprintf::set_dynamic_print(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "enable",
        aliases: &["en"],
        summary: "stop at a disabled point again",
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
        ..Entry::DEFAULT
    },
    Entry {
        name: "ignore",
        aliases: &["ign"],
        summary: "pass the next hits of a point",
        examples: &[
            ("ignore 2 100", "the hundred and first stops again"),
            ("ignore 2 0", "the next one stops"),
        ],
        details: "Only hits whose condition is true count. The count of hits begins anew with \
                  run: to come to a place just before a crash, ignore a million, see in info \
                  breakpoints how many there were, and run again.",
        group: Group::Breakpoints,
        run: |session, rest, _| points_edit::ignore(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "rbreak",
        aliases: &["rb"],
        summary: "stop at all functions whose names match a regular expression",
        examples: &[
            ("rbreak ^queue_", "one breakpoint, with a location for each"),
            ("rbreak queue.c:.", "all functions of queue.c"),
        ],
        details: "Only functions with debug information count, and of those only what was not \
                  inlined. break /REGEX/ is the same.",
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
        summary: "stop at a place once",
        examples: &[("tbreak queue.c:23", "at that line, the next time only")],
        completes: Completes::Places,
        group: Group::Breakpoints,
        names: Names::Location,
        changes_points: true,
        run: |session, rest, _| breakpoint::set_breakpoint(session, rest, Fate::Delete),
        ..Entry::DEFAULT
    },
];
