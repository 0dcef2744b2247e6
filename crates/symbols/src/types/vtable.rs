//! Vtables: those of Rust trait objects and those of C++ classes.
//!
//! rustc describes each vtable as a variable, `<Type as Trait>::{vtable}`, so the address
//! of a vtable gives the type of the object. In C++ the symbol of the vtable does (*Itanium
//! C++ ABI*, 5.1.4.1). The vtable pointer of a C++ object points behind the start of the
//! vtable, and to its end if the class has no virtual functions; the word before it always
//! belongs to the vtable.

use crate::location::FixedLocation;
use crate::{SymbolFile, names};

/// The last part of the name of a Rust vtable variable.
const TABLE: &str = "{vtable}";

/// The size of an entry of a C++ vtable in bytes.
const WORD: u64 = 8;

impl SymbolFile {
    /// Returns the vtables of all trait objects: the file address of each, and the name of
    /// the concrete type.
    pub fn trait_object_vtables(&self) -> Vec<(u64, String)> {
        let tables = self.globals_named(TABLE).into_iter();
        let tables = tables.filter_map(|table| {
            let Some(FixedLocation::AtAddress(address)) = table.location.fixed_at(0) else {
                return None;
            };
            Some((address, names::subject(&table.name)?.to_owned()))
        });
        tables.collect()
    }

    /// Returns the C++ class whose vtable precedes the file address that an object's vtable
    /// pointer holds. While a constructor or destructor of a base class runs, the object
    /// has the vtable of that class.
    pub fn class_of_vtable(&self, address: u64) -> Option<Box<str>> {
        let (symbol, _) = self.symbol_at(address.checked_sub(WORD)?)?;
        class_named(&symbol).map(Into::into)
    }
}

/// Returns the class in the demangled name of a vtable symbol.
fn class_named(symbol: &str) -> Option<&str> {
    if let Some(classes) = symbol.strip_prefix("construction vtable for ") {
        // A construction vtable names the complete class first, and the class under
        // construction last.
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
