//! Commands that let the program run, step it, or end it.

use crate::command_table::entry::{Completes, Entry, Group, Names, OpenEvaluation, Repeats};
use crate::commands::{jump_and_return, running, skip};
use crate::run::attach;
use crate::run::step::Lines;
use juror_rules::control::Modes;
use juror_view::Outcome;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "advance",
        summary: "run until a place is reached",
        examples: &[("advance queue.c:30", "run until line 30 of queue.c")],
        details: "Sets a temporary point at the place and continues. Stops also where the \
                  current function returns.",
        completes: Completes::Places,
        group: Group::Running,
        modes: Modes::Program,
        names: Names::Location,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, rest, observer| session.advance_to(rest, observer),
        ..Entry::DEFAULT
    },
    Entry {
        name: "attach",
        aliases: &["att"],
        summary: "debug a process that runs already",
        examples: &[("attach 1234", "process 1234, as ps shows it")],
        details: "All its threads stop where they are; continue lets them run. quit lets it go on \
                  alone, as detach does.",
        group: Group::Running,
        modes: Modes::Before,
        moves: true,
        run: attach::attach_command,
        ..Entry::DEFAULT
    },
    Entry {
        name: "detach",
        aliases: &["det"],
        summary: "let the program go on alone",
        examples: &[(
            "detach",
            "it runs as if juror had never been there; of several processes, the selected one",
        )],
        details: "Every instruction is as it was, calls that were interrupted go on, signals that \
                  wait are delivered; a process that job control has stopped stays stopped.",
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        run: |session, _, _| attach::detach(session),
        ..Entry::DEFAULT
    },
    Entry {
        name: "continue",
        aliases: &["c", "cont", "fg"],
        summary: "let the program run on",
        examples: &[
            ("continue", "until the next stop"),
            ("continue 3", "pass the next two stops here"),
        ],
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        evaluation: OpenEvaluation::Any,
        run: running::continue_command,
        ..Entry::DEFAULT
    },
    Entry {
        name: "finish",
        aliases: &["fin"],
        summary: "run until the selected function returns, and show what it returns",
        examples: &[("finish", "run to the caller of the selected frame")],
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Begun,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, _, observer| {
            let level = session.processes.selection.level;
            session.finish_frame(level, observer)
        },
        ..Entry::DEFAULT
    },
    Entry {
        name: "jump",
        aliases: &["j"],
        summary: "go on at another place of the function",
        examples: &[
            ("jump 30", "at line 30 of this file"),
            ("jump +1", "at the next line: the present one is left out"),
            ("jump *$rip+5", "at an address"),
        ],
        details: "The stack and the registers stay as they are. The program runs on from there.",
        completes: Completes::Places,
        group: Group::Running,
        modes: Modes::Begun,
        evaluation: OpenEvaluation::Own,
        run: jump_and_return::jump,
        ..Entry::DEFAULT
    },
    Entry {
        name: "kill",
        aliases: &["k"],
        summary: "end the program",
        examples: &[(
            "kill",
            "the program is gone, with all its processes; run starts it again",
        )],
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        run: |session, _, _| running::kill(session),
        ..Entry::DEFAULT
    },
    Entry {
        name: "next",
        aliases: &["n"],
        summary: "run to the next line, over calls",
        examples: &[("next", "one line"), ("next 3", "three lines")],
        details: "Calls that were inlined are passed, too.",
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Begun,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, rest, observer| running::repeat_lines(session, rest, Lines::Over, observer),
        ..Entry::DEFAULT
    },
    Entry {
        name: "nexti",
        aliases: &["ni"],
        summary: "run one instruction, over calls",
        examples: &[("nexti", "one instruction")],
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, rest, observer| running::repeat_instructions(session, rest, true, observer),
        ..Entry::DEFAULT
    },
    Entry {
        name: "quit",
        aliases: &["q", "exit"],
        summary: "end the program, or detach from a process that was attached, and leave",
        examples: &[("quit", "leave juror")],
        group: Group::Running,
        moves: true,
        run: |session, _, _| attach::leave(session).map(|()| Outcome::Quit),
        ..Entry::DEFAULT
    },
    Entry {
        name: "queue-signal",
        summary: "give the selected thread a signal, for when the program runs on",
        examples: &[
            ("queue-signal SIGUSR1", "continue, or a step, delivers it"),
            ("queue-signal 0", "forget the one that stopped it"),
        ],
        details: "It takes the place of the signal that the thread was stopped by. signal does \
                  the same and lets the program run on.",
        completes: Completes::Signals,
        group: Group::Running,
        modes: Modes::Program,
        run: |session, rest, _| jump_and_return::queue_signal(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "return",
        aliases: &["ret"],
        summary: "leave the selected function at once, without the rest of it",
        examples: &[
            ("return", "to its caller"),
            ("return -1", "with a result of -1"),
        ],
        details: "Nothing runs: registers are as the caller keeps them, and what the function \
                  would still have done (unlocking, destructors) is not done.",
        completes: Completes::Expressions,
        group: Group::Running,
        modes: Modes::Begun,
        run: |session, rest, _| jump_and_return::return_from(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "run",
        aliases: &["r"],
        summary: "start the program from its beginning",
        examples: &[
            ("run", "with the arguments it had"),
            ("run a b", "with these arguments"),
            (
                "run a < in > out",
                "reading from one file, writing to another",
            ),
        ],
        details: "A running program is ended first. The monitors begin anew; your breakpoints stay. \
                  Words are split as in a shell, with quotes. The standard streams may be files: \
                  <, >, >> (at the end), 2>, 2>> for errors, &> for both, 2>&1 for errors where \
                  the output goes. What a line does not redirect goes where it went when juror was started; run alone takes the line \
                  before.",
        group: Group::Running,
        moves: true,
        run: running::run,
        ..Entry::DEFAULT
    },
    Entry {
        name: "signal",
        summary: "let the program run on with a signal",
        examples: &[
            ("signal SIGUSR1", "as if somebody had sent it"),
            ("signal 0", "without the one that stopped it"),
        ],
        details: "The selected thread gets it. handle says what is done about signals that come \
                  by themselves.",
        completes: Completes::Signals,
        group: Group::Running,
        modes: Modes::Program,
        evaluation: OpenEvaluation::Own,
        run: jump_and_return::go_on_with_signal,
        ..Entry::DEFAULT
    },
    Entry {
        name: "skip",
        summary: "say which functions and files step does not enter",
        examples: &[
            ("skip function queue_check", "calls of it are passed"),
            ("skip file checks.h", "those of all functions in this file"),
            ("skip -gfi /usr/include/c++/*/*", "in files of such names"),
            ("skip -rfu ^std::", "of functions whose names match"),
            ("skip", "the function of the selected frame"),
            ("skip disable 2", "number 2 not for now; enable, delete"),
        ],
        details: "A function is named as in places, by the end of its name, with its scopes or \
                  without. -fi, -gfi, -fu and -rfu may be combined: both must fit. info skip \
                  shows all. Breakpoints inside stop as ever.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        run: |session, rest, _| skip::skip(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "start",
        aliases: &["sta"],
        summary: "start the program and stop at its main function",
        examples: &[("start", "with the arguments it had")],
        group: Group::Running,
        names: Names::Main,
        moves: true,
        run: running::start_command,
        ..Entry::DEFAULT
    },
    Entry {
        name: "starti",
        summary: "start the program and stop before anything of its own runs",
        examples: &[("starti", "with the arguments it had")],
        details: "The dynamic linker has loaded its libraries by then; their constructors, and \
                  its own, have not run.",
        group: Group::Running,
        moves: true,
        run: running::start_instruction,
        ..Entry::DEFAULT
    },
    Entry {
        name: "step",
        aliases: &["s"],
        summary: "run to the next line, into calls of functions that have lines",
        examples: &[("step", "one line"), ("step 3", "three lines")],
        details: "Calls that were inlined, and begin where the thread stands, are entered one \
                  by one; nothing runs for that.",
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Begun,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, rest, observer| running::repeat_lines(session, rest, Lines::Into, observer),
        ..Entry::DEFAULT
    },
    Entry {
        name: "stepi",
        aliases: &["si"],
        summary: "run one instruction",
        examples: &[("stepi", "one instruction"), ("stepi 10", "ten")],
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, rest, observer| running::repeat_instructions(session, rest, false, observer),
        ..Entry::DEFAULT
    },
    Entry {
        name: "until",
        aliases: &["u"],
        summary: "run to a later line, or to a place, in this function",
        examples: &[
            ("until", "out of the loop"),
            ("until 40", "to line 40 of this file"),
        ],
        repeats: Repeats::Line,
        completes: Completes::Places,
        group: Group::Running,
        modes: Modes::Begun,
        names: Names::Location,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, rest, observer| {
            if rest.is_empty() {
                running::repeat_lines(session, "", Lines::Forward, observer)
            } else {
                session.advance_to(rest, observer)
            }
        },
        ..Entry::DEFAULT
    },
];
