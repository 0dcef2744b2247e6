//! Commands that resume, step or end the program.

use crate::command_table::entry::{Completes, Entry, Group, Names, OpenEvaluation, Repeats};
use crate::commands::{jump_and_return, restart_frame, running, skip};
use crate::replay::rows;
use crate::run::attach;
use crate::run::step::Lines;
use juror_control::Modes;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "advance",
        summary: "run until a location is reached",
        examples: &[("advance queue.c:30", "run until line 30 of queue.c")],
        details: "Sets a temporary breakpoint at the location and continues. Also stops when the \
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
        summary: "debug a running process",
        examples: &[("attach 1234", "process 1234, as ps shows it")],
        details: "All its threads are stopped; continue resumes them. quit detaches from the \
                  process.",
        group: Group::Running,
        modes: Modes::Before,
        moves: true,
        run: attach::attach_command,
        ..Entry::DEFAULT
    },
    Entry {
        name: "detach",
        aliases: &["det"],
        summary: "detach from the program and let it run",
        examples: &[(
            "detach",
            "it continues without juror; with several processes, only the selected one",
        )],
        details: "All breakpoints are removed, interrupted system calls resume, pending signals \
                  are delivered; a process stopped by job control stays stopped.",
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        takes_nothing: true,
        run: |session, _, _| attach::detach(session),
        ..Entry::DEFAULT
    },
    Entry {
        name: "continue",
        aliases: &["c", "cont", "fg"],
        summary: "resume the program",
        examples: &[
            ("continue", "until the next stop"),
            ("continue 3", "skip the next two stops here"),
        ],
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        evaluation: OpenEvaluation::Any,
        run: running::continue_command,
        recorded: Some(&rows::CONTINUE),
        ..Entry::DEFAULT
    },
    Entry {
        name: "finish",
        aliases: &["fin"],
        summary: "run until the selected function returns, and show its result",
        examples: &[("finish", "run to the caller of the selected frame")],
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Begun,
        moves: true,
        evaluation: OpenEvaluation::Own,
        takes_nothing: true,
        run: |session, _, observer| {
            let level = session.processes.selection.level;
            session.finish_frame(level, observer)
        },
        ..Entry::DEFAULT
    },
    Entry {
        name: "jump",
        aliases: &["j"],
        summary: "continue at another location of the function",
        examples: &[
            ("jump 30", "at line 30 of this file"),
            ("jump +1", "at the next line, skipping the present one"),
            ("jump *$rip+5", "at an address"),
        ],
        details: "The stack and the registers are unchanged. The program continues from the new \
                  location.",
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
        summary: "kill the program",
        examples: &[("kill", "with all its processes; run starts it again")],
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        takes_nothing: true,
        run: |session, _, _| running::kill(session),
        ..Entry::DEFAULT
    },
    Entry {
        name: "next",
        aliases: &["n"],
        summary: "step one line, over calls",
        examples: &[("next", "one line"), ("next 3", "three lines")],
        details: "Inlined calls are stepped over too.",
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Begun,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, rest, observer| running::repeat_lines(session, rest, Lines::Over, observer),
        recorded: Some(&rows::NEXT),
        ..Entry::DEFAULT
    },
    Entry {
        name: "nexti",
        aliases: &["ni"],
        summary: "step one instruction, over calls",
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
        summary: "leave juror: kill the program, or detach from an attached process",
        examples: &[
            ("quit", "leave juror"),
            (
                "quit 3",
                "and end with the exit status 3, whatever was found",
            ),
        ],
        group: Group::Running,
        moves: true,
        names: Names::Expression,
        run: |session, rest, _| running::quit(session, rest),
        recorded: Some(&rows::QUIT),
        ..Entry::DEFAULT
    },
    Entry {
        name: "queue-signal",
        summary: "queue a signal for the selected thread",
        examples: &[
            (
                "queue-signal SIGUSR1",
                "delivered by the next continue or step",
            ),
            ("queue-signal 0", "discard the signal that stopped it"),
        ],
        details: "The signal replaces the one that stopped the thread. The command signal also \
                  resumes the program.",
        completes: Completes::Signals,
        group: Group::Running,
        modes: Modes::Program,
        run: |session, rest, _| jump_and_return::queue_signal(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "restart-frame",
        summary: "go back to the beginning of the selected frame's call",
        examples: &[
            ("restart-frame", "the call of the selected frame"),
            (
                "restart-frame 2",
                "that of frame 2; the frames below it are left",
            ),
        ],
        details: "The thread stands before the first instruction of the function, with the \
                  arguments and callee-saved registers of the call; nothing of the function is \
                  executed. An argument whose value at the entry is not kept has the present value \
                  of its parameter, and is named. What the frames have done to memory, files and locks stays; a \
                  checkpoint takes it back. Refused if an argument is not known, for a variadic \
                  function, and for an inlined call.",
        group: Group::Running,
        modes: Modes::Begun,
        run: restart_frame::restart_frame,
        ..Entry::DEFAULT
    },
    Entry {
        name: "return",
        aliases: &["ret"],
        summary: "return from the selected function at once",
        examples: &[
            ("return", "to its caller"),
            ("return -1", "with a result of -1"),
        ],
        details: "The rest of the function is not executed, neither unlocking nor destructors. \
                  Callee-saved registers are restored.",
        completes: Completes::Expressions,
        group: Group::Running,
        modes: Modes::Begun,
        run: |session, rest, _| jump_and_return::return_from(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "run",
        aliases: &["r"],
        summary: "start the program",
        examples: &[
            ("run", "with the same arguments as before"),
            ("run a b", "with these arguments"),
            (
                "run a < in > out",
                "reading from one file, writing to another",
            ),
        ],
        details: "A running program is killed first. The monitors start anew; your breakpoints \
                  stay. Words are split as in a shell, with quotes. Redirections: <, >, >> \
                  (append), 2>, 2>> for standard error, &> for both, 2>&1 for standard error to \
                  where the output goes. A stream that is not redirected is that of juror; run \
                  alone repeats the last arguments and redirections.",
        group: Group::Running,
        moves: true,
        run: running::run,
        recorded: Some(&rows::RUN),
        ..Entry::DEFAULT
    },
    Entry {
        name: "signal",
        summary: "resume the program with a signal",
        examples: &[
            ("signal SIGUSR1", "as if another process had sent it"),
            ("signal 0", "without the signal that stopped it"),
        ],
        details: "The selected thread receives it. handle sets how other signals are handled.",
        completes: Completes::Signals,
        group: Group::Running,
        modes: Modes::Program,
        evaluation: OpenEvaluation::Own,
        run: jump_and_return::go_on_with_signal,
        ..Entry::DEFAULT
    },
    Entry {
        name: "skip",
        summary: "set which functions and files step skips",
        examples: &[
            ("skip function queue_check", "step over calls of it"),
            ("skip file checks.h", "all functions in this file"),
            ("skip -gfi /usr/include/c++/*/*", "files that match a glob"),
            (
                "skip -rfu ^std::",
                "functions that match a regular expression",
            ),
            ("skip", "the function of the selected frame"),
            ("skip disable 2", "disable skip 2; also enable, delete"),
        ],
        details: "A function is named as in locations, by the end of its name, with or without \
                  scopes. -fi, -gfi, -fu and -rfu can be combined: both must match. info skip \
                  lists the skips. Breakpoints in skipped functions still stop.",
        completes: Completes::Places,
        group: Group::Breakpoints,
        run: |session, rest, _| skip::skip(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "start",
        aliases: &["sta"],
        summary: "start the program and stop at its main function",
        examples: &[("start", "with the same arguments as before")],
        group: Group::Running,
        names: Names::Main,
        moves: true,
        run: running::start_command,
        recorded: Some(&rows::START),
        ..Entry::DEFAULT
    },
    Entry {
        name: "starti",
        summary: "start the program and stop before its first instruction",
        examples: &[("starti", "with the same arguments as before")],
        details: "The dynamic linker has loaded the libraries; no constructor has run.",
        group: Group::Running,
        moves: true,
        run: running::start_instruction,
        ..Entry::DEFAULT
    },
    Entry {
        name: "step",
        aliases: &["s"],
        summary: "step one line, into functions with line information",
        examples: &[
            ("step", "one line"),
            ("step 3", "three lines"),
            (
                "step queue_push",
                "into this call of the line, over the others",
            ),
        ],
        details: "Inlined calls at the present address are entered one by one; nothing is executed \
                  for that. A call of the line is named by its function, of which the first call \
                  counts, or by the address of its instruction: step *ADDRESS. If the line ends \
                  without that call, a notice says so.",
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Begun,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: running::step,
        recorded: Some(&rows::STEP),
        ..Entry::DEFAULT
    },
    Entry {
        name: "stepi",
        aliases: &["si"],
        summary: "step one instruction",
        examples: &[("stepi", "one instruction"), ("stepi 10", "ten")],
        repeats: Repeats::Line,
        group: Group::Running,
        modes: Modes::Program,
        moves: true,
        evaluation: OpenEvaluation::Own,
        run: |session, rest, observer| running::repeat_instructions(session, rest, false, observer),
        recorded: Some(&rows::STEP),
        ..Entry::DEFAULT
    },
    Entry {
        name: "until",
        aliases: &["u"],
        summary: "run to a later line, or to a location, in this function",
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
