//! The options of a run that binding and recording need.

use juror_instrument::probes::InlinedPolicy;
use std::ffi::OsString;
use std::path::Path;

/// How a run was started, as far as its monitors and its trace are concerned.
#[derive(Debug, Clone, Copy)]
pub struct BindOptions<'a> {
    /// What happens to events at calls that the compiler inlined.
    pub inlined: InlinedPolicy,
    /// The program; empty if juror attached to a process.
    pub program: &'a Path,
    /// The arguments of the program.
    pub arguments: &'a [OsString],
}
