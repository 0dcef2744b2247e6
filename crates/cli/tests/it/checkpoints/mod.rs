//! Checkpoints at the prompt.

mod namespaces;
mod restore;
