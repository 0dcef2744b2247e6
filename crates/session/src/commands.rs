//! The one table of commands: names, abbreviations, help.
//!
//! Names and abbreviations are gdb's where gdb has the command. A unique
//! prefix stands for its command; where several commands share a prefix, the
//! aliases decide (`s` is `step`, as in gdb).

use crate::view::CommandHelp;

/// What a command does; the session dispatches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // each variant is the command of its name in the table below
pub enum Command {
    Advance,
    Backtrace,
    Break,
    Continue,
    Delete,
    Disable,
    Down,
    Enable,
    Finish,
    Frame,
    Help,
    Info,
    Kill,
    List,
    Monitor,
    Next,
    NextInstruction,
    Print,
    Quit,
    Run,
    Start,
    Step,
    StepInstruction,
    TemporaryBreak,
    Thread,
    Until,
    Up,
}

/// What completes an argument of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Nothing to complete.
    Nothing,
    /// Functions and source files.
    Places,
    /// Variables in scope, globals, functions.
    Expressions,
    /// The subjects of `info`.
    InfoSubjects,
    /// Names of commands.
    Commands,
    /// Names of properties.
    Properties,
}

/// A row of the table.
#[derive(Debug)]
pub struct Entry {
    /// What it does.
    pub command: Command,
    /// Its full name.
    pub name: &'static str,
    /// Its other names; they win over prefixes.
    pub aliases: &'static [&'static str],
    /// What it does, in a line.
    pub summary: &'static str,
    /// What is typed, and what that does.
    pub examples: &'static [(&'static str, &'static str)],
    /// More words.
    pub details: &'static str,
    /// Enter alone does it again.
    pub repeats: bool,
    /// What completes its argument.
    pub completes: Completes,
}

/// The subjects of `info`, with what each shows.
pub const INFO_SUBJECTS: &[(&str, &str)] = &[
    ("args", "the arguments of the selected frame"),
    (
        "breakpoints",
        "all points: yours, and those the monitors need now",
    ),
    ("frame", "the selected frame"),
    ("line", "where the selected frame stands in the source"),
    ("locals", "the local variables of the selected frame"),
    (
        "monitors",
        "the monitors with their slices, states and variables",
    ),
    ("registers", "the registers of the current thread"),
    ("sharedlibrary", "the modules that are loaded"),
    ("source", "the source file of the selected frame"),
    ("threads", "the threads and where they stand"),
];

/// The table, sorted by name.
pub const TABLE: &[Entry] = &[
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
        command: Command::Backtrace,
        name: "backtrace",
        aliases: &["bt", "where"],
        summary: "show the stack of the current thread",
        examples: &[
            ("backtrace", "the frames down to main, innermost first"),
            ("backtrace 5", "the innermost five"),
            ("backtrace all", "also what started main"),
        ],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Break,
        name: "break",
        aliases: &["b", "br"],
        summary: "stop at a place",
        examples: &[
            ("break queue_push", "where the body of the function begins"),
            ("break queue.c:23", "at a line"),
            ("break *0x401136", "at an address"),
            (
                "break queue_push if c == 'x'",
                "only when the condition is true",
            ),
        ],
        details: "A place in a library that is not loaded yet is kept and set when the library \
                  comes. Without an argument: where the selected frame stands.",
        repeats: false,
        completes: Completes::Places,
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
        command: Command::Delete,
        name: "delete",
        aliases: &["d"],
        summary: "remove breakpoints",
        examples: &[
            ("delete 2", "breakpoint 2"),
            ("delete", "all of yours; monitors keep theirs"),
        ],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Disable,
        name: "disable",
        aliases: &["dis"],
        summary: "keep a breakpoint but do not stop at it",
        examples: &[("disable 2", "breakpoint 2"), ("disable", "all of yours")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Down,
        name: "down",
        aliases: &["dow"],
        summary: "select the frame that the selected one called",
        examples: &[
            ("down", "one frame inwards"),
            ("down 2", "two frames inwards"),
        ],
        details: "",
        repeats: true,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Enable,
        name: "enable",
        aliases: &["en"],
        summary: "stop at a disabled breakpoint again",
        examples: &[("enable 2", "breakpoint 2"), ("enable", "all of yours")],
        details: "",
        repeats: false,
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
        command: Command::Frame,
        name: "frame",
        aliases: &["f"],
        summary: "show or select a frame of the stack",
        examples: &[
            ("frame", "show the selected one"),
            ("frame 2", "select number 2"),
        ],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Help,
        name: "help",
        aliases: &["h"],
        summary: "say what a command does",
        examples: &[("help", "all commands"), ("help break", "one of them")],
        details: "",
        repeats: false,
        completes: Completes::Commands,
    },
    Entry {
        command: Command::Info,
        name: "info",
        aliases: &["i", "inf"],
        summary: "show what there is: breakpoints, threads, locals, monitors, ...",
        examples: &[
            (
                "info breakpoints",
                "all points: yours, and those the monitors need now",
            ),
            ("info threads", "the threads and where they stand"),
            (
                "info monitors",
                "the monitors with their slices, states and variables",
            ),
        ],
        details: "Subjects: args, breakpoints, frame, line, locals, monitors, registers, \
                  sharedlibrary, source, threads.",
        repeats: false,
        completes: Completes::InfoSubjects,
    },
    Entry {
        command: Command::Kill,
        name: "kill",
        aliases: &["k"],
        summary: "end the program",
        examples: &[("kill", "the program is gone; run starts it again")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::List,
        name: "list",
        aliases: &["l"],
        summary: "show source lines",
        examples: &[
            ("list", "around the selected frame, or further on"),
            ("list queue.c:40", "around a line"),
            ("list queue_push", "around a function"),
        ],
        details: "",
        repeats: true,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Monitor,
        name: "monitor",
        aliases: &["m", "mon"],
        summary: "show the monitors: states, slices, variables, paths",
        examples: &[
            ("monitor", "all monitors, with their slices"),
            (
                "monitor queue_bounds",
                "one property: every slice with the path that led to its state",
            ),
        ],
        details: "",
        repeats: false,
        completes: Completes::Properties,
    },
    Entry {
        command: Command::Next,
        name: "next",
        aliases: &["n"],
        summary: "run to the next line, over calls",
        examples: &[("next", "one line"), ("next 3", "three lines")],
        details: "",
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
        command: Command::Print,
        name: "print",
        aliases: &["p", "inspect"],
        summary: "show the value of an expression",
        examples: &[
            ("print count", "a variable"),
            ("print *queue", "what a pointer points to, with its fields"),
            ("print queue->count + 1", "arithmetic, as in C"),
            ("print/x flags", "in hexadecimal"),
            ("print $rip", "a register"),
        ],
        details: "Formats: /x hexadecimal, /d decimal, /u unsigned, /o octal, /t binary, \
                  /c character, /a address, /s text.",
        repeats: false,
        completes: Completes::Expressions,
    },
    Entry {
        command: Command::Quit,
        name: "quit",
        aliases: &["q", "exit"],
        summary: "end the program and leave",
        examples: &[("quit", "leave juror")],
        details: "",
        repeats: false,
        completes: Completes::Nothing,
    },
    Entry {
        command: Command::Run,
        name: "run",
        aliases: &["r"],
        summary: "start the program from its beginning",
        examples: &[
            ("run", "with the arguments it had"),
            ("run a b", "with these arguments"),
        ],
        details: "A running program is ended first. The monitors begin anew; your breakpoints stay.",
        repeats: false,
        completes: Completes::Nothing,
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
        command: Command::Step,
        name: "step",
        aliases: &["s"],
        summary: "run to the next line, into calls of functions that have lines",
        examples: &[("step", "one line"), ("step 3", "three lines")],
        details: "",
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
        command: Command::TemporaryBreak,
        name: "tbreak",
        aliases: &["tb", "tbr"],
        summary: "stop at a place once",
        examples: &[("tbreak queue.c:23", "at that line, the next time only")],
        details: "",
        repeats: false,
        completes: Completes::Places,
    },
    Entry {
        command: Command::Thread,
        name: "thread",
        aliases: &["t"],
        summary: "show or choose the thread that commands speak of",
        examples: &[
            ("thread", "which one it is"),
            ("thread 2", "choose number 2"),
        ],
        details: "",
        repeats: false,
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
    Entry {
        command: Command::Up,
        name: "up",
        aliases: &[],
        summary: "select the frame that called the selected one",
        examples: &[
            ("up", "one frame outwards"),
            ("up 2", "two frames outwards"),
        ],
        details: "",
        repeats: true,
        completes: Completes::Nothing,
    },
];

/// Why a word is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unclear {
    /// No command begins so.
    Unknown,
    /// Several do.
    Ambiguous(Vec<&'static str>),
}

/// Finds the command that a word stands for: a name, an alias, or a prefix
/// that only one name has.
pub fn find(word: &str) -> Result<&'static Entry, Unclear> {
    if let Some(entry) = TABLE
        .iter()
        .find(|entry| entry.name == word || entry.aliases.contains(&word))
    {
        return Ok(entry);
    }
    let candidates: Vec<_> = TABLE
        .iter()
        .filter(|entry| !word.is_empty() && entry.name.starts_with(word))
        .collect();
    match candidates.as_slice() {
        [entry] => Ok(entry),
        [] => Err(Unclear::Unknown),
        several => Err(Unclear::Ambiguous(
            several.iter().map(|entry| entry.name).collect(),
        )),
    }
}

/// Finds the subject of `info` that a word stands for.
pub fn find_info_subject(word: &str) -> Result<&'static str, Unclear> {
    if word == "b" {
        return Ok("breakpoints");
    }
    if let Some((name, _)) = INFO_SUBJECTS.iter().find(|(name, _)| *name == word) {
        return Ok(name);
    }
    let candidates: Vec<_> = INFO_SUBJECTS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !word.is_empty() && name.starts_with(word))
        .collect();
    match candidates.as_slice() {
        [name] => Ok(name),
        [] => Err(Unclear::Unknown),
        several => Err(Unclear::Ambiguous(several.to_vec())),
    }
}

/// The command in words, for help.
pub fn help_of(entry: &Entry) -> CommandHelp {
    CommandHelp {
        name: entry.name.to_owned(),
        aliases: entry
            .aliases
            .iter()
            .map(|&alias| alias.to_owned())
            .collect(),
        summary: entry.summary.to_owned(),
        examples: entry
            .examples
            .iter()
            .map(|&(typed, effect)| (typed.to_owned(), effect.to_owned()))
            .collect(),
        details: entry.details.to_owned(),
    }
}

/// Splits a line into its command word and the rest. `print/x n` and
/// `p/x n` give the word, and the rest with its format: `/x n`.
pub fn split_line(line: &str) -> (&str, &str) {
    let line = line.trim();
    let end = line
        .find(|c: char| c.is_whitespace() || c == '/')
        .unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    (word, rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_no_name_stands_twice() {
        let names: Vec<_> = TABLE.iter().map(|entry| entry.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(names, sorted);
        let mut all: Vec<_> = TABLE
            .iter()
            .flat_map(|entry| entry.aliases.iter().copied().chain([entry.name]))
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn words_stand_for_commands_as_in_gdb() {
        for (word, expected) in [
            ("b", "break"),
            ("bt", "backtrace"),
            ("c", "continue"),
            ("n", "next"),
            ("ni", "nexti"),
            ("s", "step"),
            ("si", "stepi"),
            ("p", "print"),
            ("i", "info"),
            ("l", "list"),
            ("u", "until"),
            ("up", "up"),
            ("unt", "until"),
            ("adv", "advance"),
            ("tbreak", "tbreak"),
            ("f", "frame"),
            ("fin", "finish"),
            ("conti", "continue"),
            ("q", "quit"),
        ] {
            assert_eq!(find(word).map(|entry| entry.name), Ok(expected), "{word}");
        }
        assert_eq!(find("frob").map(|entry| entry.name), Err(Unclear::Unknown));
        assert_eq!(
            find("st").map(|entry| entry.name),
            Err(Unclear::Ambiguous(vec!["start", "step", "stepi"]))
        );
        assert_eq!(find("").map(|entry| entry.name), Err(Unclear::Unknown));
    }

    #[test]
    fn a_line_splits_into_word_and_rest() {
        for (line, expected) in [
            ("print/x a + b", ("print", "/x a + b")),
            ("  b  queue.c:3 ", ("b", "queue.c:3")),
            ("c", ("c", "")),
            ("", ("", "")),
        ] {
            assert_eq!(split_line(line), expected, "{line:?}");
        }
    }
}
