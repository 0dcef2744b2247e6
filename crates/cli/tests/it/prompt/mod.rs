//! The prompt: transcripts of sessions, keys, output, scripts.

mod commands_of_gdb;
mod redirections;
mod screen;
mod scripts;
mod sessions;
mod terminal;
mod whole_lines;
