//! Commands that let the program run, step it, or end it.

use crate::command_table::{Command, Completes, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        command: Command::Advance,
        name: "advance",
        aliases: &[],
        summary: "run until a place is reached",
        examples: &[("advance queue.c:30", "run until line 30 of queue.c")],
        details: "Sets a temporary point at the place and continues. Stops also where the \
                  current function returns.",
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Attach,
        name: "attach",
        aliases: &["att"],
        summary: "debug a process that runs already",
        examples: &[("attach 1234", "process 1234, as ps shows it")],
        details: "All its threads stop where they are; continue lets them run. quit lets it go on \
                  alone, as detach does.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Detach,
        name: "detach",
        aliases: &["det"],
        summary: "let the program go on alone",
        examples: &[(
            "detach",
            "it runs as if juror had never been there; of several processes, the selected one",
        )],
        details: "Every instruction is as it was, calls that were interrupted go on, signals that \
                  wait are delivered; a process that job control has stopped stays stopped.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Continue,
        name: "continue",
        aliases: &["c", "cont", "fg"],
        summary: "let the program run on",
        examples: &[
            ("continue", "until the next stop"),
            ("continue 3", "pass the next two stops here"),
        ],
        details: "",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Finish,
        name: "finish",
        aliases: &["fin"],
        summary: "run until the selected function returns, and show what it returns",
        examples: &[("finish", "run to the caller of the selected frame")],
        details: "",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Jump,
        name: "jump",
        aliases: &["j"],
        summary: "go on at another place of the function",
        examples: &[
            ("jump 30", "at line 30 of this file"),
            ("jump +1", "at the next line: the present one is left out"),
            ("jump *$rip+5", "at an address"),
        ],
        details: "The stack and the registers stay as they are. The program runs on from there.",
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Kill,
        name: "kill",
        aliases: &["k"],
        summary: "end the program",
        examples: &[(
            "kill",
            "the program is gone, with all its processes; run starts it again",
        )],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Next,
        name: "next",
        aliases: &["n"],
        summary: "run to the next line, over calls",
        examples: &[("next", "one line"), ("next 3", "three lines")],
        details: "Calls that were inlined are passed, too.",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::NextInstruction,
        name: "nexti",
        aliases: &["ni"],
        summary: "run one instruction, over calls",
        examples: &[("nexti", "one instruction")],
        details: "",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Quit,
        name: "quit",
        aliases: &["q", "exit"],
        summary: "end the program, or detach from a process that was attached, and leave",
        examples: &[("quit", "leave juror")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::QueueSignal,
        name: "queue-signal",
        aliases: &[],
        summary: "give the selected thread a signal, for when the program runs on",
        examples: &[
            ("queue-signal SIGUSR1", "continue, or a step, delivers it"),
            ("queue-signal 0", "forget the one that stopped it"),
        ],
        details: "It takes the place of the signal that the thread was stopped by. signal does \
                  the same and lets the program run on.",
        repeats: false,
        completes: Completes::Signals,
    },
    Entry {
        command: Command::Return,
        name: "return",
        aliases: &["ret"],
        summary: "leave the selected function at once, without the rest of it",
        examples: &[
            ("return", "to its caller"),
            ("return -1", "with a result of -1"),
        ],
        details: "Nothing runs: registers are as the caller keeps them, and what the function \
                  would still have done (unlocking, destructors) is not done.",
        repeats: false,
        completes: Completes::Expressions,
    },
    Entry {
        command: Command::Run,
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
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Signal,
        name: "signal",
        aliases: &[],
        summary: "let the program run on with a signal",
        examples: &[
            ("signal SIGUSR1", "as if somebody had sent it"),
            ("signal 0", "without the one that stopped it"),
        ],
        details: "The selected thread gets it. handle says what is done about signals that come \
                  by themselves.",
        repeats: false,
        completes: Completes::Signals,
    },
    Entry {
        command: Command::Skip,
        name: "skip",
        aliases: &[],
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
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Start,
        name: "start",
        aliases: &["sta"],
        summary: "start the program and stop at its main function",
        examples: &[("start", "with the arguments it had")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::StartInstruction,
        name: "starti",
        aliases: &[],
        summary: "start the program and stop before anything of its own runs",
        examples: &[("starti", "with the arguments it had")],
        details: "The dynamic linker has loaded its libraries by then; their constructors, and \
                  its own, have not run.",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Step,
        name: "step",
        aliases: &["s"],
        summary: "run to the next line, into calls of functions that have lines",
        examples: &[("step", "one line"), ("step 3", "three lines")],
        details: "Calls that were inlined, and begin where the thread stands, are entered one \
                  by one; nothing runs for that.",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::StepInstruction,
        name: "stepi",
        aliases: &["si"],
        summary: "run one instruction",
        examples: &[("stepi", "one instruction"), ("stepi 10", "ten")],
        details: "",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Until,
        name: "until",
        aliases: &["u"],
        summary: "run to a later line, or to a place, in this function",
        examples: &[
            ("until", "out of the loop"),
            ("until 40", "to line 40 of this file"),
        ],
        details: "",
        repeats: true,
        completes: Completes::Places,
    },
];
