//! The `juror` command.

fn main() {}
