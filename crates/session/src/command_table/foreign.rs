//! Commands of gdb that juror does not have, with their replacements.
//!
//! Names and abbreviations are gdb's. Each answer is one line: what to type, or why there is
//! nothing.

/// Synonyms, and their replacement.
type Row = (&'static [&'static str], &'static str);

/// Commands.
const COMMANDS: &[Row] = &[
    (
        &[
            "python",
            "py",
            "python-interactive",
            "pi",
            "guile",
            "gu",
            "compile",
            "expression",
        ],
        "scenarios react to events, views define how values are shown; print and call run \
         functions of the program",
    ),
    (
        &[
            "tui",
            "layout",
            "lay",
            "focus",
            "fs",
            "winheight",
            "refresh",
        ],
        "every stop shows its source; list shows more of it, disassemble the instructions, display \
         a value at every stop",
    ),
    (
        &["file", "exec-file", "add-inferior", "clone-inferior"],
        "start juror with the program: juror run ./program; or attach to a running one: attach \
         1234",
    ),
    (
        &["symbol-file", "add-symbol-file", "sharedlibrary", "share"],
        "symbols are read automatically; for separate debug files: set debug-file-directory \
         DIRECTORY",
    ),
    (
        &["target", "remote", "load", "disconnect"],
        "juror debugs processes of this machine: attach 1234",
    ),
    (
        &["directory", "dir"],
        "for sources that have moved: set substitute-path /build /home/me",
    ),
    (&["path"], "set environment PATH VALUE, for the next run"),
    (
        &["tty", "inferior-tty"],
        "the program's streams may be another terminal: run < /dev/pts/3 > /dev/pts/3",
    ),
    (
        &["macro"],
        "the compiler has expanded macros: type their expansion",
    ),
    (
        &["alias"],
        "define NAME, then the commands up to end, defines a command; any unambiguous prefix of a \
         command is an abbreviation",
    ),
    (&["complete"], "Tab completes a line"),
    (
        &["explore"],
        "print -pretty VALUE shows each field on a line of its own; print *value->next follows a \
         pointer",
    ),
    (&["pipe", "|"], "shell runs other programs"),
    (&["make"], "shell make; the next run starts the new program"),
    (
        &["edit", "ed"],
        "shell $EDITOR FILE; changed sources are read again",
    ),
    (
        &["search", "forward-search", "fo", "reverse-search", "rev"],
        "shell grep -n WORD FILE; then list FILE:LINE",
    ),
    (
        &[
            "trace", "tp", "ftrace", "strace", "actions", "collect", "tstart", "tstop", "tfind",
        ],
        "dprintf LOCATION,\"FORMAT\",VALUES prints and continues; juror run --trace FILE records \
         events",
    ),
    (
        &["interrupt", "stop"],
        "Ctrl-C stops the program with all its threads",
    ),
    (
        &["maintenance", "mt"],
        "juror run --self-check checks juror itself",
    ),
    (&["append"], "dump memory FILE FIRST END writes a new file"),
];

/// Subjects of `info`.
const SUBJECTS: &[Row] = &[
    (
        &["macro", "macros"],
        "the compiler has expanded macros: type their expansion",
    ),
    (
        &["vtbl"],
        "print -pretty *object shows the dynamic type of an object, ptype its methods",
    ),
    (
        &["record"],
        "juror replay FILE walks through a recording, juror run --trace FILE makes one",
    ),
    (&["tasks"], "info threads shows the threads"),
    (
        &["os"],
        "info proc shows the process; shell ps, shell ipcs the machine",
    ),
    (
        &["common", "selectors", "exceptions"],
        "print shows values, catch throw stops at exceptions",
    ),
    (
        &["tracepoints", "tp", "tvariables"],
        "info breakpoints shows all points",
    ),
    (
        &["copying", "warranty"],
        "the license is in the file LICENSE",
    ),
    (
        &["win", "tui"],
        "list shows the source, disassemble the instructions",
    ),
    (
        &[
            "extensions",
            "auto-load",
            "pretty-printer",
            "type-printers",
            "unwinder",
            "xmethod",
        ],
        "info views lists the pretty-printer files",
    ),
    (
        &["static-tracepoint-markers", "probes"],
        "break takes functions, lines and addresses",
    ),
    (
        &["float", "vector"],
        "info registers shows the general-purpose registers; print shows variables that are in \
         others",
    ),
];

fn answer(rows: &[Row], word: &str) -> Option<&'static str> {
    let row = rows.iter().find(|(words, _)| words.contains(&word));
    row.map(|(_, answer)| *answer)
}

/// Returns the replacement of a command of gdb.
pub fn instead(word: &str) -> Option<&'static str> {
    answer(COMMANDS, word)
}

/// Returns the replacement of a subject of gdb's `info`.
pub fn subject_instead(word: &str) -> Option<&'static str> {
    answer(SUBJECTS, word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_table::{find, find_info_subject};

    #[test]
    fn what_there_is_needs_no_other_answer() {
        for word in COMMANDS.iter().flat_map(|(words, _)| *words) {
            let known = find(word).map(|entry| entry.name);
            assert!(known.is_err(), "`{word}` is {known:?}");
        }
        for word in SUBJECTS.iter().flat_map(|(words, _)| *words) {
            let known = find_info_subject(word);
            assert!(known.is_err(), "info {word} is {known:?}");
        }
    }

    #[test]
    fn no_word_has_two_answers() {
        for rows in [COMMANDS, SUBJECTS] {
            let mut words: Vec<_> = rows.iter().flat_map(|(words, _)| *words).collect();
            let count = words.len();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), count);
        }
        assert!(instead("layout").is_some_and(|it| it.contains("list")));
        assert_eq!(instead("frobnicate"), None);
    }
}
