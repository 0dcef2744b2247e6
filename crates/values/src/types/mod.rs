//! Types as a user writes them, and their definitions as they are shown.

pub mod definition;
pub mod written;
