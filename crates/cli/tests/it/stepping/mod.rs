//! Steps, and what comes in between.

mod linkage_table;
mod restart_frame;
mod signals;
mod thunks;
