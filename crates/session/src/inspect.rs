//! Views that commands and stops share: frames, source lines, values, locations.

pub(crate) mod assembly;
pub(crate) mod assignment;
pub(crate) mod constants;
pub(crate) mod displays;
pub(crate) mod escapes;
pub(crate) mod expressions;
pub(crate) mod frames;
pub(crate) mod guards;
pub(crate) mod location_messages;
pub(crate) mod locations;
pub(crate) mod nodes;
pub(crate) mod queries;
pub(crate) mod questions;
pub(crate) mod siginfo;
pub(crate) mod source;
pub(crate) mod statements;
pub(crate) mod waits;
