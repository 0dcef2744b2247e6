//! Commands that go back in a run that can be made again.

use crate::command_table::arguments::times;
use crate::command_table::entry::{Completes, Entry, Group, Names, Repeats};
use crate::replay::rows;
use crate::run::going_back::{self, Calls};
use crate::run::recording;

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
        name: "record",
        aliases: &["rec"],
        summary: "record the next run, so that it can be made again and goes back",
        examples: &[
            ("record", "in PROGRAM.1.run, or the next number"),
            ("record bad.run", "in this file"),
            ("record stop", "the next run is not recorded after all"),
        ],
        details: "run starts it; juror replay FILE.run makes it again, and goes back in it. What the \
                  program reads, the time and the order of its threads are kept. The threads run \
                  one at a time, and a system call that may wait costs about 15 µs.",
        completes: Completes::Files,
        group: Group::Running,
        run: |session, rest, _| recording::record(session, rest),
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
        name: "reverse-finish",
        summary: "go back to the call of the selected function",
        examples: &[("reverse-finish", "to the instruction that called it")],
        details: DETAILS,
        repeats: Repeats::Line,
        group: Group::Running,
        moves: true,
        takes_nothing: true,
        run: |session, _, observer| going_back::reverse_finish(session, observer),
        ..Entry::DEFAULT
    },
    Entry {
        name: "reverse-next",
        aliases: &["rn"],
        summary: "step back to the start of the previous line, over calls",
        examples: &[
            (
                "reverse-next",
                "to the line that the function executed last",
            ),
            ("reverse-next 5", "five lines"),
        ],
        details: DETAILS,
        repeats: Repeats::Line,
        group: Group::Running,
        moves: true,
        run: |session, rest, observer| {
            going_back::reverse_statements(session, times(rest)?, Calls::PassOver, observer)
        },
        recorded: Some(&rows::REVERSE_NEXT),
        ..Entry::DEFAULT
    },
    Entry {
        name: "reverse-nexti",
        aliases: &["rni"],
        summary: "step back one instruction, over calls",
        examples: &[
            ("reverse-nexti", "behind a call, to its instruction"),
            ("reverse-nexti 10", "ten instructions"),
        ],
        details: DETAILS,
        repeats: Repeats::Line,
        group: Group::Running,
        moves: true,
        run: |session, rest, observer| {
            going_back::reverse_instructions_over_calls(session, times(rest)?, observer)
        },
        ..Entry::DEFAULT
    },
    Entry {
        name: "reverse-step",
        aliases: &["rs"],
        summary: "step back to the start of the previous line, into calls from their ends",
        examples: &[
            ("reverse-step", "to the line that the thread executed last"),
            ("reverse-step 3", "three lines"),
        ],
        details: DETAILS,
        repeats: Repeats::Line,
        group: Group::Running,
        moves: true,
        run: |session, rest, observer| {
            going_back::reverse_statements(session, times(rest)?, Calls::Enter, observer)
        },
        recorded: Some(&rows::REVERSE_STEP),
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
