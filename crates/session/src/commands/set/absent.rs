//! Settings of gdb that juror does not have: those that need no setting here,
//! and those for which there is something else.

/// What holds in any case, by name.
const NEEDLESS: &[(&str, &str)] = &[
    (
        "auto-load",
        "juror executes no files but those that are named",
    ),
    (
        "auto-solib-add",
        "symbols of libraries are read when they are needed",
    ),
    ("breakpoint", "a place that is not loaded yet is waited for"),
    (
        "can-use-hw-watchpoints",
        "info watchpoints shows how each is carried out",
    ),
    ("confirm", "juror never asks back"),
    ("debuginfod", "juror asks no server for symbols"),
    (
        "disassembly-flavor",
        "instructions are shown as Intel writes them",
    ),
    (
        "editing",
        "lines are edited at a terminal, and nowhere else",
    ),
    ("height", "juror does not page"),
    (
        "history",
        "the history is kept in ~/.local/state/juror/history",
    ),
    (
        "language",
        "expressions are C's, and names those of the program's language",
    ),
    (
        "multiple-symbols",
        "a name means all functions that it fits; see break",
    ),
    ("osabi", "juror debugs programs of this system"),
    ("pagination", "juror does not page"),
    (
        "print array-indexes",
        "the elements of an array are shown in their order",
    ),
    ("print asm-demangle", "names are demangled"),
    ("print demangle", "names are demangled"),
    (
        "print entry-values",
        "info args shows the values that arguments have now",
    ),
    (
        "print frame-arguments",
        "frames are shown with their arguments",
    ),
    (
        "print inferior-events",
        "of a process that comes or goes is told",
    ),
    ("print null-stop", "zeros at the end of a text are left out"),
    ("print object", "an object is shown by the type that it has"),
    ("print sevenbit-strings", "what cannot be shown is escaped"),
    (
        "print static-members",
        "static members are shown by their names: print Class::member",
    ),
    ("print symbol", "addresses are shown with their symbols"),
    (
        "print thread-events",
        "of a thread that comes or goes is told",
    ),
    ("print union", "the members of a union are shown"),
    ("print vtbl", "ptype shows the methods of a class"),
    (
        "startup-with-shell",
        "juror starts the program itself, without a shell",
    ),
    (
        "style",
        "colours are shown at a terminal, unless NO_COLOR is set",
    ),
    ("verbose", "what takes long is told"),
    ("width", "lines are as wide as they are"),
];

/// What else there is: by name, with the value that juror has in any case.
const INSTEAD: &[(&str, &str, &str)] = &[
    (
        "backtrace",
        "",
        "backtrace 20 shows so many frames, backtrace all also what started main",
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
    (
        "max-value-size",
        "",
        "set print elements says how much is shown",
    ),
    ("non-stop", "off", "threads run together and stop together"),
    ("print", "", "set print elements 500, set print pretty on"),
    (
        "print address",
        "on",
        "printf shows values in a text of one's own",
    ),
    (
        "print array",
        "off",
        "print -pretty ARRAY shows each element on a line of its own",
    ),
    (
        "print max-depth",
        "",
        "print the inner value by itself: print outer.inner",
    ),
    (
        "print repeats",
        "10",
        "print array[0..50] shows what is in a part",
    ),
    (
        "schedule-multiple",
        "off",
        "set follow both: all processes run when one does",
    ),
    (
        "scheduler-locking",
        "off",
        "threads run together; break PLACE thread N stops for one of them alone",
    ),
    (
        "solib-search-path",
        "",
        "set debug-file-directory DIRECTORY",
    ),
    ("step-mode", "off", "stepi enters functions without lines"),
    (
        "stop-on-solib-events",
        "0",
        "catch load stops when a library comes",
    ),
    (
        "sysroot",
        "/",
        "set debug-file-directory DIRECTORY, set substitute-path FROM TO",
    ),
    (
        "unwindonsignal",
        "off",
        "a function that is stopped in a call: abandon gives it up",
    ),
];

/// Why a setting of gdb needs none here, or not this value.
pub(super) fn needless(name: &str, value: &str) -> Option<&'static str> {
    let row = NEEDLESS.iter().find(|(known, _)| *known == name);
    let words = row.map(|(_, words)| *words);
    let holds =
        |(known, own, _): &&(&str, &str, &str)| *known == name && !own.is_empty() && *own == value;
    words.or_else(|| INSTEAD.iter().find(holds).map(|_| "it is so in any case"))
}

/// What there is in place of a setting of gdb.
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
