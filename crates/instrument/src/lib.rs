//! Placeholder of a room that is being built.
