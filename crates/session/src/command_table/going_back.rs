//! Commands that go back in a run that can be made again.

use crate::command_table::arguments::times;
use crate::command_table::entry::{Completes, Entry, Group, Names, Repeats};
use crate::replay::rows;
use crate::run::going_back;

/// The details that the commands share.
const DETAILS: &str = "In a run that can be made again: juror record keeps one, juror explore finds one \
                       that fails, and juror replay FILE.run makes it. The program is launched once more and goes the same \
                       way to the earlier place. What it writes meanwhile is not shown, and no \
                       commands of points are executed; points count as if the run had come there \
                       once. Ctrl-C leaves the run where it stands.";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "goto",
        summary: "go to a schedule point of the run, back or onwards",
        examples: &[
            ("goto 1204", "where a thread goes on after the 1204th point"),
            ("goto start", "to the start of the run"),
        ],
        details: "schedule shows how many points there have been. Nothing stops the run on the way. \
                  Needs a run that can be made again: juror replay FILE.run.",
        group: Group::Running,
        moves: true,
        run: going_back::go_to,
        recorded: Some(&rows::GO_TO),
        ..Entry::DEFAULT
    },
    Entry {
        name: "last-write",
        summary: "go back to the last write to an object",
        examples: &[
            (
                "last-write balance",
                "behind the instruction that wrote it last",
            ),
            ("last-write *(long *)0x4050", "or memory"),
        ],
        details: "Shows the values before and after. Once more, it goes to the write before that one. \
                  Writes by the kernel in system calls count too. Needs a run that can be made again: \
                  juror replay FILE.run.",
        completes: Completes::Expressions,
        group: Group::Running,
        names: Names::Expression,
        moves: true,
        run: going_back::last_write,
        ..Entry::DEFAULT
    },
    Entry {
        name: "reverse-continue",
        aliases: &["rc"],
        summary: "go back to the previous stop, or to the start of the run",
        examples: &[(
            "reverse-continue",
            "to the previous breakpoint, watchpoint or violation",
        )],
        details: DETAILS,
        repeats: Repeats::Line,
        group: Group::Running,
        moves: true,
        takes_nothing: true,
        run: |session, _, observer| going_back::reverse_continue(session, observer),
        recorded: Some(&rows::REVERSE_CONTINUE),
        ..Entry::DEFAULT
    },
    Entry {
        name: "reverse-stepi",
        aliases: &["rsi"],
        summary: "step back one instruction",
        examples: &[
            (
                "reverse-stepi",
                "to the instruction that the thread executed last",
            ),
            ("reverse-stepi 10", "ten instructions"),
        ],
        details: DETAILS,
        repeats: Repeats::Line,
        group: Group::Running,
        moves: true,
        run: |session, rest, observer| {
            going_back::reverse_instructions(session, times(rest)?, observer)
        },
        ..Entry::DEFAULT
    },
    Entry {
        name: "why",
        summary: "list the origins of a value",
        examples: &[
            (
                "why balance",
                "the last write, and what it was computed from",
            ),
            ("why *(long *)0x4050", "of memory"),
            ("why 3", "go to the third step of the list"),
        ],
        details: "The steps lead from the last write back to constants, arguments, system calls with the \
                  file and the place in it, and initial data, through copies in registers and \
                  memory and through other threads. A value that is computed from several has them \
                  below it, indented. why NUMBER goes to where the step is about to happen. The run \
                  stands where it stood after the list. Needs a run that can be made again: \
                  juror replay FILE.run.",
        completes: Completes::Expressions,
        group: Group::Running,
        names: Names::Expression,
        moves: true,
        run: going_back::why,
        ..Entry::DEFAULT
    },
];
