//! Settings of gdb that juror does not have: those that are not needed, and those with a
//! replacement.

/// Settings that are not needed, with the reason, by name.
const NEEDLESS: &[(&str, &str)] = &[
    ("auto-load", "juror loads no files automatically"),
    (
        "auto-solib-add",
        "symbols of libraries are read when they are needed",
    ),
    ("breakpoint", "unknown locations stay pending"),
    (
        "can-use-hw-watchpoints",
        "info watchpoints shows the method of each",
    ),
    ("debuginfod", "juror uses no debuginfod server"),
    (
        "disassembly-flavor",
        "instructions are shown in Intel syntax",
    ),
    ("editing", "lines can be edited only at a terminal"),
    (
        "history",
        "the history is kept in ~/.local/state/juror/history",
    ),
    (
        "language",
        "expressions are in C, with the names of the program's language",
    ),
    (
        "multiple-symbols",
        "a name matches all functions that it fits; see break",
    ),
    ("osabi", "juror debugs programs of this system"),
    ("print array-indexes", "array elements are shown in order"),
    ("print asm-demangle", "names are demangled"),
    ("print demangle", "names are demangled"),
    (
        "print entry-values",
        "info args shows the current values of arguments",
    ),
    (
        "print frame-arguments",
        "frames are shown with their arguments",
    ),
    (
        "print inferior-events",
        "new and exited processes are always reported",
    ),
    ("print null-stop", "strings end at their first zero"),
    ("print object", "an object is shown with its dynamic type"),
    (
        "print sevenbit-strings",
        "non-printable characters are always escaped",
    ),
    (
        "print static-members",
        "static members are shown by their names: print Class::member",
    ),
    ("print symbol", "addresses are shown with their symbols"),
    (
        "print thread-events",
        "new and exited threads are always reported",
    ),
    ("print union", "the members of a union are shown"),
    ("print vtbl", "ptype shows the methods of a class"),
    (
        "startup-with-shell",
        "juror starts the program without a shell",
    ),
    ("verbose", "slow operations are always reported"),
];

/// Replacements, by name, with the value that juror always has.
const INSTEAD: &[(&str, &str, &str)] = &[
    (
        "backtrace",
        "",
        "backtrace 20 shows at most 20 frames, backtrace all also the callers of main",
    ),
    (
        "detach-on-fork",
        "on",
        "set follow both debugs both processes",
    ),
    ("inferior-tty", "", "run < /dev/pts/3 > /dev/pts/3"),
    (
        "logging",
        "off",
        "juror run --json=FILE writes all results; or juror run ./program | tee FILE",
    ),
    ("max-value-size", "", "set print elements limits the output"),
    ("non-stop", "off", "all threads run and stop together"),
    ("print", "", "set print elements 500, set print pretty on"),
    (
        "print address",
        "on",
        "printf prints values with a format string",
    ),
    (
        "print array",
        "off",
        "print -pretty ARRAY shows each element on a line of its own",
    ),
    (
        "print max-depth",
        "",
        "print the inner value: print outer.inner",
    ),
    ("print repeats", "10", "print array[0..50] shows a part"),
    (
        "schedule-multiple",
        "off",
        "set follow both: all processes run and stop together",
    ),
    (
        "solib-search-path",
        "",
        "set debug-file-directory DIRECTORY",
    ),
    (
        "step-mode",
        "off",
        "stepi enters functions without line information",
    ),
    (
        "stop-on-solib-events",
        "0",
        "catch load stops when a library is loaded",
    ),
    (
        "style",
        "",
        "set style enabled on or off, set style sources on or off",
    ),
    (
        "sysroot",
        "/",
        "set debug-file-directory DIRECTORY, set substitute-path FROM TO",
    ),
    (
        "unwindonsignal",
        "off",
        "abandon ends a call that stopped inside a function",
    ),
];

/// Returns why a setting of gdb, or this value of it, is not needed.
pub(super) fn needless(name: &str, value: &str) -> Option<&'static str> {
    if name.starts_with("style ") {
        return Some("the colours are fixed; set style enabled off shows none");
    }
    let row = NEEDLESS.iter().find(|(known, _)| *known == name);
    let words = row.map(|(_, words)| *words);
    let holds =
        |(known, own, _): &&(&str, &str, &str)| *known == name && !own.is_empty() && *own == value;
    words.or_else(|| INSTEAD.iter().find(holds).map(|_| "it is always so"))
}

/// Returns the replacement of a setting of gdb.
pub(super) fn instead(name: &str) -> Option<&'static str> {
    let row = INSTEAD.iter().find(|(known, ..)| *known == name);
    row.map(|(.., words)| *words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::set::setting;

    #[test]
    fn what_can_be_set_is_not_absent() {
        let names = NEEDLESS.iter().map(|it| it.0);
        for name in names.chain(INSTEAD.iter().map(|it| it.0)) {
            assert_eq!(setting(name), None, "{name}");
        }
        assert!(needless("non-stop", "off").is_some());
        assert_eq!(needless("non-stop", "on"), None);
        assert_eq!(needless("sysroot", ""), None);
        assert!(NEEDLESS.is_sorted_by_key(|it| it.0));
        assert!(INSTEAD.is_sorted_by_key(|it| it.0));
        for (name, _) in NEEDLESS {
            assert_eq!(instead(name), None, "{name}");
        }
    }
}
