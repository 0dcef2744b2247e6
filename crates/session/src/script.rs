//! Blocks of commands: `if`, `while`, and the lists that `commands`, `define` and `document` take.
//!
//! [`parse`] reads lines one by one and refuses what is malformed at its line; the result is a flat
//! [`block::Block`], whose steps lead to one another, so that nothing recurses over what a user
//! writes. [`run`] executes blocks as a stack of positions.
//!
//! **Invariant**: nothing here knows the session: lines and conditions are executed by others.

pub(crate) mod arguments;
pub(crate) mod block;
pub(crate) mod parse;
pub(crate) mod run;
