//! The tables of virtual functions: those behind Rust's trait objects, and those of
//! classes of C++.
//!
//! rustc describes each table as a variable, `<Type as Trait>::{vtable}`: so the
//! address of a table tells the type of the object. In C++ the symbol of the table says
//! it (*Itanium C++ ABI*, 5.1.4.1). What an object points to there is behind the
//! table's start, and where a class has no virtual functions it is the table's end; the
//! word before it always is in the table.

use crate::location::FixedPlace;
use crate::{SymbolFile, names};

/// What the variable of a table is called.
const TABLE: &str = "{vtable}";

/// The size of an entry of a table of C++, in bytes.
const WORD: u64 = 8;

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

    /// The class of C++ whose table of virtual functions is before a file address that
    /// an object points to. While a constructor or a destructor of a base class runs,
    /// the object has a table of that class.
    pub fn class_of_table(&self, address: u64) -> Option<Box<str>> {
        let (symbol, _) = self.symbol_at(address.checked_sub(WORD)?)?;
        class_named(&symbol).map(Into::into)
    }
}

/// The class in the readable name of the symbol of a table.
fn class_named(symbol: &str) -> Option<&str> {
    if let Some(classes) = symbol.strip_prefix("construction vtable for ") {
        // The whole class comes first, and the one that is being constructed last.
        return classes.rsplit_once("-in-").map(|(_, class)| class);
    }
    let class = symbol.strip_prefix("vtable for ");
    class.or_else(|| symbol.strip_prefix("{vtable(")?.strip_suffix(")}"))
}

#[cfg(test)]
mod tests {
    use super::class_named;
    use crate::names::demangle;

    #[test]
    fn the_symbol_of_a_table_names_its_class() {
        for (symbol, class) in [
            ("_ZTV1D", Some("D")),
            ("_ZTVN2ns1DE", Some("ns::D")),
            ("_ZTV1TIiE", Some("T<int>")),
            ("_ZTC1D0_1B", Some("B")),
            ("_ZTC1D16_N2ns1CE", Some("ns::C")),
            ("_ZTI1D", None),
            ("_ZTT1D", None),
            ("_ZN1D1fEv", None),
        ] {
            let readable = demangle(symbol).unwrap();
            assert_eq!(class_named(&readable), class, "{readable}");
        }
    }
}
