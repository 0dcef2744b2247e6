//! A file and what comes out of it can be used by several threads.

use juror_symbols::{Function, Location, SymbolFile, Type, Variable};

fn shareable<T: Send + Sync + Clone + 'static>() {}

#[test]
fn everything_can_be_shared_between_threads() {
    shareable::<SymbolFile>();
    shareable::<Function>();
    shareable::<Variable>();
    shareable::<Location>();
    shareable::<Type>();
}
