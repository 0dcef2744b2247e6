//! Test helper: compiles small programs in several ways and runs juror on them.
//!
//! - [`Fixture`] is a program in source form; [`Build`] is the way it is compiled.
//!   Executables are cached by content in the target directory.
//! - [`Juror`] runs the debugger without a terminal and returns its [`Output`];
//!   [`Terminal`] runs it in one, and types at its prompt.
//! - [`Debugger`] is juror or another debugger doing a [`Task`].
//! - [`exact`] has programs with known counts, and the situations in which debuggers
//!   miscount.
//!
//! **Invariant:** tests that use this crate run in parallel, wait only for output and
//! exits, and leave no process behind. A failure in a helper panics with a complete report,
//! as an assertion does; each helper has a twin (`try_…`) that returns the error.

#![forbid(unsafe_code)]

mod build;
mod compiler;
mod deadline;
mod debugger;
mod descendants;
pub mod exact;
mod fixture;
mod juror;
mod target;
mod terminal;

pub use build::{Build, Optimization};
pub use compiler::{Compiler, Language};
pub use deadline::{Output, RunError, run_with_deadline};
pub use debugger::{Debugger, Task};
pub use fixture::{BuildError, Fixture};
pub use juror::Juror;
pub use target::{repository_directory, target_directory};
pub use terminal::Terminal;
