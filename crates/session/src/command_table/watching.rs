//! Commands for watchpoints and hardware breakpoints.

use crate::command_table::entry::{Completes, Entry, Group, Names};
use crate::commands::{hbreak, watch};
use juror_control::Modes;
use juror_points::watchpoints::WatchKind;

/// The details that `watch` and the related commands share.
const WATCH_DETAILS: &str = "Uses a debug register if one is free, then page protection, then \
                             single-stepping; info watchpoints shows which. Writes by the kernel \
                             in system calls count too.";

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
        summary: "stop after the value of an expression changes",
        examples: &[
            ("change queue.count", "when a store changes its value"),
            ("change a + b", "when the sum changes"),
            ("change errno_seen if $1 > 3", "with a condition"),
        ],
        details: "The same as watch -change, and as gdb's watch.",
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
        summary: "set a hardware breakpoint",
        examples: &[
            (
                "hbreak queue_push",
                "at the first line of the function's body",
            ),
            ("hbreak *0x401136", "at an address"),
            ("hbreak queue_push if c == 'x'", "with a condition"),
        ],
        details: "Uses one of the four debug registers, which watchpoints also need. Its condition \
                  cannot call functions of the program.",
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
        details: "An instruction that both reads and writes, such as count++, counts as a write.",
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
        summary: "set a temporary hardware breakpoint",
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
        summary: "stop after a variable is written, even with the same value",
        examples: &[
            ("watch queue.count", "after every store"),
            ("watch -change queue.count", "only when the value differs"),
            (
                "watch -location node->next",
                "this memory location, wherever node points later",
            ),
            (
                "watch -location -call *result",
                "the same, until the call whose frame has the memory returns",
            ),
            ("watch table[2..5]", "elements 2 to 4"),
            ("watch a + b if a > b", "after stores to either"),
        ],
        details: "Uses a debug register if one is free, then page protection, then \
                  single-stepping; info watchpoints shows which. Writes by the kernel in system \
                  calls count too. A watchpoint on a local variable is deleted when its call \
                  returns. A variable in a register is watched by single-stepping its function \
                  and decoding each instruction.",
        completes: Completes::Expressions,
        group: Group::Breakpoints,
        modes: Modes::Program,
        names: Names::Expression,
        run: |session, rest, _| watch::set_watchpoint(session, rest, WatchKind::Write),
        ..Entry::DEFAULT
    },
];
