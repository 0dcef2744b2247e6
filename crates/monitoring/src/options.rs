//! The options of a run that binding and recording need.

use juror_instrument::probes::InlinedPolicy;
use std::ffi::OsString;
use std::path::Path;

/// The options of a run that concern its monitors and its trace.
#[derive(Debug, Clone, Copy)]
pub struct BindOptions<'a> {
    /// The policy for events at inlined calls.
    pub inlined: InlinedPolicy,
    /// The program; empty if juror attached to a process.
    pub program: &'a Path,
    /// The arguments of the program.
    pub arguments: &'a [OsString],
}
