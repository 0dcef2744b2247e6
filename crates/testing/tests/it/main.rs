//! Integration tests of the workspace and of what spans several crates: one executable, one module per subject.

mod engine_in_model;
mod fixtures;
mod hot_path;
mod layers;
mod libc_properties;
mod registers;
mod rules;
mod shipped_properties;
mod starting_points;
mod structure;
mod typed_lines;
