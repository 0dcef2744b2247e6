//! What is said about mistakes, and where.

mod dead_code;
mod meaning;
mod syntax;

use crate::common::check_found;
use juror_language::load;

/// A property around one mistake.
const HEAD: &str = "property p\nevent push = before push(queue, size: int)\n\
                    var count = 0\nvar open = false\n";

#[track_caller]
fn check_source(source: &str, code: &str, underlined: &str, help: &str) {
    let (_, diagnostics) = load(source);
    check_found(source, &diagnostics, code, underlined, help);
}

/// The first of this kind that is said about the property with `rest`.
#[track_caller]
fn check(rest: &str, code: &str, underlined: &str, help: &str) {
    check_source(&format!("{HEAD}{rest}"), code, underlined, help);
}
