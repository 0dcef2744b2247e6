//! Test helper: compiles small programs in several ways and runs juror on them.
//!
//! - [`Fixture`] is a program in source form; [`Build`] is the way it is compiled.
//!   Executables are cached by content in the target directory.
//! - [`Juror`] runs the debugger without a terminal and returns its [`Output`];
//!   [`Terminal`] runs it in one, and types at its prompt.
//! - [`Debugger`] is juror or a peer of it, made to do a [`Task`].
//! - [`Expected`] is what a file says that a test gives; `JUROR_UPDATE=1` writes it anew.
//! - [`JsonSchema`] validates the JSON output against its schema.
//! - [`Numbers`], [`any_property`] and `formulas` (a feature) give inputs at random.
//! - [`measure`] is for benchmarks.
//! - [`CountingAllocator`] counts allocations.
//! - [`exact`] has programs with known counts, the truth about them, and why
//!   debuggers fail there.
//!
//! **Invariant:** tests that use this crate run in parallel, wait only for output and
//! exits, and leave no process behind. A failure in a helper panics with a complete report,
//! as an assertion does; each helper has a twin (`try_…`) that returns the error.

#![deny(unsafe_code)]

mod allocations;
mod build;
mod compiler;
mod deadline;
mod debugger;
mod descendants;
pub mod exact;
mod expected;
mod fixture;
#[cfg(feature = "formulas")]
pub mod formulas;
mod json_schema;
mod juror;
pub mod measure;
mod numbers;
mod privileges;
mod properties;
mod target;
mod terminal;
mod tools;

pub use allocations::CountingAllocator;
pub use build::{Build, Optimization};
pub use compiler::{Compiler, Language};
pub use deadline::{Output, RunError, run_with_deadline};
pub use debugger::{Debugger, Task};
pub use expected::{Expected, is_update, updated_lines};
pub use fixture::{BuildError, Fixture};
pub use json_schema::JsonSchema;
pub use juror::Juror;
pub use numbers::Numbers;
pub use privileges::may_choose_thread_numbers;
pub use properties::{any_properties, any_property, with_cases};
pub use target::{repository_directory, target_directory};
pub use terminal::Terminal;
pub use tools::{compile_c, copy_executable, find_program, is_installed};
