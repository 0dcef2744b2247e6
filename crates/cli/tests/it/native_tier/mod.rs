//! Events that the program steps itself, beside the same events by traps.

mod checkpoints;
mod code_layouts;
mod disturbances;
mod points_in_patched_code;
mod random;
mod same_results;
mod undisturbed_programs;
