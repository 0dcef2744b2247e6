//! The interactively verified program: debuggee, debugger and monitors as one
//! machine, with the commands that a person drives it by.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019),
//! section 6. Invariant: nothing is printed and no argument vector is parsed
//! here; what a command gives is data ([`view`]) that a front end formats.

#![forbid(unsafe_code)]

pub mod commands;
pub mod place;
mod source;
pub mod view;
