//! The `juror` command: a thin owner of its formats.
//!
//! Command line, terminal text, JSON lines, line editor, demo. Invariant: it
//! holds no logic that another front end would need; all it shows comes as
//! data from the session.

#![forbid(unsafe_code)]

mod arguments;
mod columns;
mod diagnostics;
mod driver;
mod ending;
mod escape;
mod json;
mod monitors;
mod outcome;
mod page;
mod path;
mod places;
mod report;
mod tables;

fn main() {}
