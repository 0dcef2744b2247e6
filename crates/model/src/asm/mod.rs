//! Abstract state machines.

mod lexer;
mod parse;
mod syntax;
