//! The exit statuses of juror.

/// Each property holds, or there is none.
pub const HOLDS: u8 = 0;
/// A property is violated, or a scenario has ended the run.
pub const VIOLATED: u8 = 1;
/// A usage error (arguments, a property, a program that cannot be run), or a property
/// that could not be evaluated during the run.
pub const USAGE: u8 = 2;
/// A signal ended the program, and `--fail-on-crash` was given.
pub const CRASHED: u8 = 3;
/// The time of `--timeout` was over; the status of timeout(1).
pub const TIMED_OUT: u8 = 124;
/// The program has no exit status that could be returned; the status of gdb.
pub const NO_CHILD_RESULT: u8 = 255;
/// A bug in juror; also the status of a panic.
pub const BUG: u8 = 101;
/// Ctrl-C ended a batch run; the status that shells use.
pub const INTERRUPTED: u8 = 130;
