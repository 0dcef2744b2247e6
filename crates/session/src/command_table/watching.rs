//! Commands about watched memory and the processor's debug registers.

use crate::command_table::entry::{Completes, Entry, Group, Names};
use crate::commands::{hbreak, watch};
use juror_points::watchpoints::WatchKind;
use juror_rules::control::Modes;

/// What `watch` and its kin have in common.
const WATCH_DETAILS: &str = "A debug register watches where there is one, then page protection, \
                             then single steps of every instruction; info watchpoints shows which. \
                             What the kernel writes for a system call counts too.";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "awatch",
        aliases: &["aw"],
        summary: "stop after a variable is read or written",
        examples: &[("awatch queue.count", "whenever it is used")],
        details: WATCH_DETAILS,
        completes: Completes::Expressions,
        group: Group::Breakpoints,
        modes: Modes::Program,
        names: Names::Expression,
        run: |session, rest, _| watch::set_watchpoint(session, rest, WatchKind::Access),
        ..Entry::DEFAULT
    },
    Entry {
        name: "change",
        summary: "stop after an expression gets another value",
        examples: &[
            ("change queue.count", "when a store makes it differ"),
            ("change a + b", "when the sum differs"),
            ("change errno_seen if $1 > 3", "with a condition"),
        ],
        details: "As watch -change, and as watch of gdb.",
        completes: Completes::Expressions,
        group: Group::Breakpoints,
        modes: Modes::Program,
        names: Names::Expression,
        run: |session, rest, _| watch::set_watchpoint(session, rest, WatchKind::Change),
        ..Entry::DEFAULT
    },
    Entry {
        name: "hbreak",
        aliases: &["hb"],
        summary: "stop at a place without changing the program's text",
        examples: &[
            ("hbreak queue_push", "where the body of the function begins"),
            ("hbreak *0x401136", "at an address"),
            ("hbreak queue_push if c == 'x'", "with a condition"),
        ],
        details: "Takes one of the four debug registers, and leaves the fewer to watchpoints. \
                  Its condition cannot call functions of the program.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        names: Names::Location,
        changes_points: true,
        run: |session, rest, _| hbreak::set_hardware_breakpoint(session, rest, false),
        ..Entry::DEFAULT
    },
    Entry {
        name: "rwatch",
        aliases: &["rw"],
        summary: "stop after a variable is read",
        examples: &[("rwatch queue.count", "whenever it is read")],
        details: "An instruction that reads and writes, as count++ may be one, counts as a write.",
        completes: Completes::Expressions,
        group: Group::Breakpoints,
        modes: Modes::Program,
        names: Names::Expression,
        run: |session, rest, _| watch::set_watchpoint(session, rest, WatchKind::Read),
        ..Entry::DEFAULT
    },
    Entry {
        name: "thbreak",
        aliases: &["thb"],
        summary: "as hbreak, once",
        examples: &[("thbreak queue.c:23", "at that line, the next time only")],
        completes: Completes::Places,
        group: Group::Breakpoints,
        names: Names::Location,
        changes_points: true,
        run: |session, rest, _| hbreak::set_hardware_breakpoint(session, rest, true),
        ..Entry::DEFAULT
    },
    Entry {
        name: "watch",
        aliases: &["wa"],
        summary: "stop after a variable is written, whatever the value",
        examples: &[
            ("watch queue.count", "after every store"),
            ("watch -change queue.count", "only when the value differs"),
            (
                "watch -location node->next",
                "this very place, wherever node points later",
            ),
            ("watch table[2..5]", "elements 2 to 4"),
            ("watch a + b if a > b", "after stores to either"),
        ],
        details: "A debug register watches where there is one, then page protection, then single \
                  steps of every instruction; info watchpoints shows which. What the kernel \
                  writes for a system call counts too. A local variable is watched until its \
                  call returns. One that is in a register is followed by steps of its call, \
                  each of which is decoded.",
        completes: Completes::Expressions,
        group: Group::Breakpoints,
        modes: Modes::Program,
        names: Names::Expression,
        run: |session, rest, _| watch::set_watchpoint(session, rest, WatchKind::Write),
        ..Entry::DEFAULT
    },
];
