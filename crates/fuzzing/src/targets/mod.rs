//! The targets: each takes an input of bytes, and panics if something is wrong.

pub mod asm;
pub mod command;
pub mod core_file;
pub mod expression;
pub mod highlight;
pub mod location;
pub mod logic;
pub mod program;
pub mod promela;
pub mod property;
pub mod step_over;
pub mod trace;
pub mod unwinding;

/// A target, and the longest inputs that are made for it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// The maximum length of an input in bytes.
    pub length_max: usize,
    /// Runs the target with an input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("asm", 4096, asm::fuzz),
    target("command", 4096, command::fuzz),
    target("core_file", 4096, core_file::fuzz),
    target("expression", 4096, expression::fuzz),
    target("highlight", 4096, highlight::fuzz),
    target("location", 4096, location::fuzz),
    target("logic", 4096, logic::fuzz),
    target("program", 40_000, program::fuzz),
    target("promela", 4096, promela::fuzz),
    target("property", 4096, property::fuzz),
    target("step_over", 31, step_over::fuzz),
    target("trace", 4096, trace::fuzz),
    target("unwinding", 4096, unwinding::fuzz),
];

const fn target(name: &'static str, length_max: usize, run: fn(&[u8])) -> Target {
    Target {
        name,
        length_max,
        run,
    }
}
