//! Whether a line may change values, frames or monitors that front ends show.

use super::entry::Group;
use super::{find, split_line};
use juror_points::expressions::read_with_types;

/// Commands that change none, beside those of breakpoints.
const READING: &[&str] = &[
    "apropos",
    "backtrace",
    "cd",
    "checkpoint",
    "disassemble",
    "document",
    "down",
    "dump",
    "echo",
    "find",
    "frame",
    "generate-core-file",
    "help",
    "info",
    "list",
    "ptype",
    "pwd",
    "select-frame",
    "shell",
    "show",
    "show-graph",
    "thread",
    "undisplay",
    "up",
    "whatis",
];

/// Commands that change what their expressions change.
const EVALUATING: &[&str] = &["call", "display", "output", "print", "printf", "x"];

/// Returns whether a line may change values, frames or monitors. The names of types are not known
/// here: what cannot be parsed without them is judged by its signs.
pub fn may_change(line: &str) -> bool {
    let (word, rest) = split_line(line);
    let Ok(entry) = find(word) else {
        return true;
    };
    if entry.group == Group::Breakpoints || READING.contains(&entry.name) {
        return false;
    }
    if !EVALUATING.contains(&entry.name) {
        return true;
    }
    let rest = rest.trim();
    let expression = match rest.strip_prefix('/') {
        Some(format) => format.split_once(char::is_whitespace).map_or("", |it| it.1),
        // Behind the text of `printf`, which has no commas as a rule.
        None if rest.starts_with('"') && entry.name == "printf" => {
            rest.split_once("\",").map_or("", |it| it.1)
        }
        None => rest,
    };
    if expression.trim().is_empty() {
        return false;
    }
    match read_with_types(expression, &[]) {
        Ok(expression) => expression.has_effects(),
        Err(_) => {
            expression.contains(['(', '=']) || ["++", "--"].iter().any(|it| expression.contains(it))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_change_what_their_expressions_change() {
        for line in [
            "print x",
            "p/x *p->next",
            "p (1 + 2) * y",
            "print $rax == 3",
            "print",
            "x/4bx &buffer",
            "output x",
            "bt 3",
            "i locals",
            "break main.c:3",
            "tbreak f",
            "delete",
            "up",
            "printf \"%d\\n\", x",
            "printf \"(done)\\n\"",
        ] {
            assert!(!may_change(line), "{line}");
        }
        for line in [
            "print x = 3",
            "p/x x++",
            "p f(3)",
            "call f(3)",
            "p $rip = 4",
            "p (point *)f(3)",
            "set var x = 3",
            "set print pretty on",
            "printf \"%d\\n\", f(3)",
            "return",
            "restore 1",
            "nonsense",
        ] {
            assert!(may_change(line), "{line}");
        }
    }
}
