//! Settings of gdb that juror does not have: those that are not needed, and those with a
//! replacement.

/// A setting that is not needed: its name, the values by which juror always goes, and what it does.
type Needless = (&'static str, &'static [&'static str], &'static str);

/// Settings that are not needed, by name.
const NEEDLESS: &[Needless] = &[
    (
        "auto-load",
        &[
            "off",
            "gdb-scripts off",
            "local-gdbinit off",
            "python-scripts off",
            "libthread-db off",
        ],
        "juror loads no files automatically",
    ),
    (
        "auto-solib-add",
        &["on"],
        "symbols of libraries are read when they are needed",
    ),
    (
        "breakpoint",
        &[
            "pending on",
            "pending auto",
            "always-inserted off",
            "always-inserted auto",
            "auto-hw off",
            "condition-evaluation auto",
            "condition-evaluation host",
        ],
        "unknown locations always stay pending",
    ),
    (
        "can-use-hw-watchpoints",
        &["on", "2"],
        "debug registers are used while they suffice; info watchpoints shows the method of each",
    ),
    (
        "debuginfod",
        &["enabled off", "urls"],
        "juror uses no debuginfod server",
    ),
    (
        "disassembly-flavor",
        &["intel"],
        "instructions are shown in Intel syntax",
    ),
    ("editing", &["on"], "lines can be edited at a terminal"),
    (
        "history",
        &[
            "save on",
            "save",
            "expansion off",
            "size unlimited",
            "remove-duplicates unlimited",
        ],
        "the history is kept in ~/.local/state/juror/history",
    ),
    (
        "language",
        &["auto", "local", "c", "c++", "unknown"],
        "expressions are in C, with the names of the program's language",
    ),
    (
        "multiple-symbols",
        &["all"],
        "a name matches all functions that it fits; see break",
    ),
    (
        "osabi",
        &["auto", "default", "GNU/Linux"],
        "juror debugs programs of this system",
    ),
    (
        "print array-indexes",
        &["off"],
        "array elements are shown in order, without indexes",
    ),
    ("print asm-demangle", &["on"], "names are always demangled"),
    ("print demangle", &["on"], "names are always demangled"),
    (
        "print entry-values",
        &["off", "default"],
        "info args shows the current values of arguments",
    ),
    (
        "print frame-arguments",
        &["all", "scalars"],
        "frames are shown with their arguments",
    ),
    (
        "print inferior-events",
        &["on"],
        "new and exited processes are always reported",
    ),
    (
        "print null-stop",
        &["on"],
        "strings end at their first zero",
    ),
    (
        "print object",
        &["on"],
        "an object is shown with its dynamic type",
    ),
    (
        "print sevenbit-strings",
        &["on"],
        "non-printable characters are always escaped",
    ),
    (
        "print static-members",
        &["off"],
        "static members are shown by their names: print Class::member",
    ),
    (
        "print symbol",
        &["on"],
        "addresses are shown with their symbols",
    ),
    (
        "print thread-events",
        &["on"],
        "new and exited threads are always reported",
    ),
    ("print union", &["on"], "the members of a union are shown"),
    ("print vtbl", &["off"], "ptype shows the methods of a class"),
    (
        "startup-with-shell",
        &["off"],
        "juror starts the program without a shell",
    ),
    (
        "verbose",
        &["on", "off"],
        "slow operations are always reported",
    ),
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

/// What is to be said of a setting of gdb that is not needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// It is always as it is wanted.
    Needless(&'static str),
    /// It is always otherwise.
    Opposite(&'static str),
}

/// Returns what is to be said of a setting of gdb that is not needed, for a value.
pub(super) fn absent(name: &str, value: &str) -> Option<Absent> {
    if name.starts_with("style ") {
        let why = "the colours are fixed; set style enabled off shows none";
        return Some(Absent::Opposite(why));
    }
    if let Some((_, values, why)) = NEEDLESS.iter().find(|(known, ..)| *known == name) {
        let value = plain(value);
        let is_so = values.iter().any(|it| plain(it) == value);
        return Some(match is_so {
            true => Absent::Needless(why),
            false => Absent::Opposite(why),
        });
    }
    let holds =
        |(known, own, _): &&(&str, &str, &str)| *known == name && !own.is_empty() && *own == value;
    let found = INSTEAD.iter().find(holds);
    found.map(|_| Absent::Needless("it is always so"))
}

/// Returns whether a setting of gdb that is not needed has parts with names, of which this is one:
/// `breakpoint pending`.
pub(super) fn has_subject(name: &str, subject: &str) -> bool {
    let row = NEEDLESS.iter().find(|(known, ..)| *known == name);
    let parts = row.map_or(&[][..], |(_, values, _)| *values).iter();
    let mut parts = parts.filter_map(|value| value.split_once(' '));
    parts.any(|(part, _)| part == subject)
}

/// Returns a value with one word for each switch, which may be left out.
fn plain(value: &str) -> String {
    let words = value.split_whitespace().map(|word| match word {
        "1" | "yes" | "enable" => "on",
        "0" | "no" | "disable" => "off",
        word => word,
    });
    let words: Vec<&str> = words.collect();
    match words.as_slice() {
        [] => "on".to_owned(),
        words => words.join(" "),
    }
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
        let is_needless = |name, value| matches!(absent(name, value), Some(Absent::Needless(_)));
        let is_opposite = |name, value| matches!(absent(name, value), Some(Absent::Opposite(_)));
        assert!(is_needless("non-stop", "off"));
        assert_eq!(absent("non-stop", "on"), None);
        assert_eq!(absent("sysroot", ""), None);
        for (name, values, _) in NEEDLESS {
            assert!(
                values.iter().all(|value| is_needless(*name, *value)),
                "{name}"
            );
            assert!(is_opposite(*name, "junk"), "{name}");
        }
        for (name, value) in [
            ("breakpoint", "pending off"),
            ("print union", "off"),
            ("print object", "0"),
            ("print union", "on junk"),
            ("print static-members", ""),
        ] {
            assert!(is_opposite(name, value), "{name} {value}");
        }
        assert!(is_needless("print union", "") && is_needless("print union", "yes"));
        assert!(NEEDLESS.is_sorted_by_key(|it| it.0));
        assert!(INSTEAD.is_sorted_by_key(|it| it.0));
        for (name, ..) in NEEDLESS {
            assert_eq!(instead(name), None, "{name}");
        }
    }
}
