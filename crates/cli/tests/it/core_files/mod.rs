//! Core files.

mod contents;
mod interrupted_writing;
