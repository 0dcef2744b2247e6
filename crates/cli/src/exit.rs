//! What juror's own exit status says.

/// Every property holds, or there was none.
pub const HOLDS: u8 = 0;
/// A property is violated, or a scenario has ended the run.
pub const VIOLATED: u8 = 1;
/// An error of use: arguments, a property, a program that cannot be run; or a
/// property that could not be evaluated during the run.
pub const USAGE: u8 = 2;
/// A bug in juror; the status of a panic too.
pub const BUG: u8 = 101;
/// Ctrl-C ended a batch run; what shells use for it.
pub const INTERRUPTED: u8 = 130;
