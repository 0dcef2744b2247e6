//! The symbols of the debugged programs.

use juror_program::symbol_store::SymbolStore;
use rustc_hash::FxHashSet;
use std::path::PathBuf;

/// The symbols of a session, which outlive its programs.
pub(crate) struct SymbolState {
    /// The symbols that were read.
    pub store: SymbolStore,
    /// The files whose missing symbols were reported.
    pub missing_reported: FxHashSet<PathBuf>,
}
