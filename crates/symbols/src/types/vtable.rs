//! The tables of methods behind Rust's trait objects.
//!
//! rustc describes each table as a variable, `<Type as Trait>::{vtable}`: so the
//! address of a table tells the type of the object.

use crate::location::FixedPlace;
use crate::{SymbolFile, names};

/// What the variable of a table is called.
const TABLE: &str = "{vtable}";

impl SymbolFile {
    /// The tables of all trait objects: where each is, as a file address, and
    /// the name of the type that it is for.
    pub fn trait_object_tables(&self) -> Vec<(u64, String)> {
        let tables = self.globals_named(TABLE).into_iter();
        let tables = tables.filter_map(|table| {
            let Some(FixedPlace::AtAddress(address)) = table.location.fixed_at(0) else {
                return None;
            };
            Some((address, names::subject(&table.name)?.to_owned()))
        });
        tables.collect()
    }
}
