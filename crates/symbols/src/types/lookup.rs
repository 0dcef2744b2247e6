//! Lookup of types by the names that users write in casts: `struct queue *`, `unsigned
//! long`, `ns::Item`.

use super::{Encoding, Source, Type, TypeKind};
use crate::SymbolFile;
use crate::dwarf::facts::TypeRecord;
use crate::dwarf::{DebugInfo, DieRef};
use crate::names;

/// The maximum number of `*` in a cast.
const POINTER_DEPTH_MAX: usize = 16;

/// An enumerator that a name may mean.
#[derive(Debug, Clone)]
pub struct EnumeratorCandidate {
    /// The qualified names that mean it.
    pub names: Vec<String>,
    /// The number of its compilation unit.
    pub unit: u32,
    /// The enumeration.
    pub r#type: Type,
    /// The value.
    pub value: i128,
}

impl SymbolFile {
    /// Returns the type with this name: of the program, or a base type of C, C++ or Rust.
    /// `*` and `&` make pointers; `const` and `volatile` are ignored. `None` for an unknown
    /// name.
    pub fn type_named(&self, name: &str) -> Option<Type> {
        let (name, pointers) = split_pointers(name)?;
        let mut found = self.plain_type_named(&name)?;
        for _ in 0..pointers {
            found = found.pointer_to();
        }
        Some(found)
    }

    /// Returns the type with exactly this qualified name, written as for
    /// [`SymbolFile::type_named`]; the one that the unit has first.
    pub fn type_exactly_named(&self, name: &str, unit: Option<u32>) -> Option<Type> {
        let (name, pointers) = split_pointers(name)?;
        let (wanted, name) = split_tag(&name);
        let info = self.inner.debug_info()?;
        let is_meant = |record: &TypeRecord| {
            wanted.is_none_or(|wanted| wanted.accepts(record.tag))
                && (*record.name == *name
                    || info.is_wholly_named(record.die.unit, &record.name, name))
        };
        let facts = unit.and_then(|unit| info.facts(unit));
        let own = facts.and_then(|facts| {
            let tail = names::tail(name);
            let plain = tail.split('<').next().unwrap_or(tail);
            let own = facts.types.iter().filter(|it| it.name.contains(plain));
            best(&mut own.filter(|it| is_meant(it)).cloned(), name)
        });
        let die = own.or_else(|| {
            let all = info.types_with_tail(names::tail(name)).into_iter();
            best(&mut all.filter(is_meant), name)
        })?;
        let mut found = Type::from_die(info.clone(), die);
        for _ in 0..pointers {
            found = found.pointer_to();
        }
        Some(found)
    }

    /// Returns the types that are defined with this path, whatever their template arguments; a
    /// few of many.
    pub fn types_with_path(&self, path: &str) -> Vec<Type> {
        const MOST: usize = 8;
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let (wanted, path) = split_tag(path);
        let all = info.types_with_tail(names::tail(path)).into_iter();
        let is_meant = |it: &TypeRecord| {
            !it.declaration
                && wanted.is_none_or(|wanted| wanted.accepts(it.tag))
                && (names::is_whole_name_of(path, &it.name)
                    || info.is_wholly_named(it.die.unit, &it.name, path))
        };
        let found = all.filter(is_meant).take(MOST);
        found
            .map(|it| Type::from_die(info.clone(), it.die))
            .collect()
    }

    fn plain_type_named(&self, name: &str) -> Option<Type> {
        if name == "void" {
            return Some(Type::void());
        }
        let (wanted, name) = split_tag(name);
        let builtin = Type::builtin(name).filter(|_| wanted.is_none());
        // Whether `char` has a sign is an option of the compiler.
        if builtin.is_some() && name != "char" {
            return builtin;
        }
        let Some(info) = self.inner.debug_info() else {
            return builtin;
        };
        let all = info.types_with_tail(names::tail(name)).into_iter();
        let mut named: Vec<TypeRecord> = all
            .filter(|it| wanted.is_none_or(|wanted| wanted.accepts(it.tag)))
            .filter(|it| info.is_named(it.die.unit, &it.name, name))
            .collect();
        // A whole name is preferred to one with more scopes.
        let is_whole = |it: &TypeRecord| info.is_wholly_named(it.die.unit, &it.name, name);
        if named.iter().any(|it| !it.declaration && is_whole(it)) {
            named.retain(is_whole);
        }
        let die = best(&mut named.into_iter(), name);
        let found = die.map(|die| Type::from_die(info.clone(), die));
        found.or(builtin)
    }

    /// Returns the enumeration that has an enumerator with this name, and its value. The
    /// name may be qualified with the scopes of the enumeration, with or without the
    /// enumeration's own name.
    pub fn enumerator_named(&self, name: &str) -> Option<(Type, i128)> {
        let info = self.inner.debug_info()?;
        let wanted = names::tail(name);
        let scope = name.strip_suffix(wanted).unwrap_or_default();
        let scope = scope.trim_end_matches("::");
        let mut found = info.enumerations_with(wanted).into_iter();
        let in_scope = |die: &DieRef, is_exact: bool| {
            let path = path_of_enumerators(info, *die, is_exact);
            path.is_some_and(|path| info.is_named(die.unit, &path, scope))
        };
        let die = match scope {
            "" => found.next(),
            _ => {
                let found: Vec<DieRef> = found.collect();
                let first = |is_exact| found.iter().find(|die| in_scope(die, is_exact));
                first(true).or_else(|| first(false)).copied()
            }
        }?;
        let enumeration = Type::from_die(info.clone(), die);
        let TypeKind::Enumeration { enumerators, .. } = enumeration.kind() else {
            return None;
        };
        let found = enumerators.iter().find(|one| &*one.name == wanted)?;
        Some((enumeration, found.value))
    }

    /// Returns the enumerators with the last component of a name, of one unit or of all,
    /// in the order of their enumerations.
    pub fn enumerator_candidates(
        &self,
        written: &str,
        unit: Option<u32>,
    ) -> Vec<EnumeratorCandidate> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let wanted = names::tail(written);
        let dies = match unit {
            Some(unit) => {
                let facts = info.facts(unit).into_iter();
                let all = facts.flat_map(|facts| &facts.enumerators);
                all.filter(|it| &*it.name == wanted)
                    .map(|it| it.of)
                    .collect()
            }
            None => info.enumerations_with(wanted),
        };
        let candidate = |die: DieRef| {
            let enumeration = Type::from_die(info.clone(), die);
            let TypeKind::Enumeration { enumerators, .. } = enumeration.kind() else {
                return None;
            };
            let value = enumerators.iter().find(|one| &*one.name == wanted)?.value;
            let within = |scope: String| match &*scope {
                "" => wanted.to_owned(),
                _ => format!("{scope}::{wanted}"),
            };
            let paths = [true, false].map(|is_exact| path_of_enumerators(info, die, is_exact));
            let entry = info.die(die)?;
            let is_scoped = crate::dwarf::DebugInfo::is_set(&entry, gimli::DW_AT_enum_class);
            let mut known: Vec<String> = paths.into_iter().flatten().map(within).collect();
            known.dedup();
            if is_scoped {
                known.truncate(1);
            }
            Some(EnumeratorCandidate {
                names: known,
                unit: die.unit,
                r#type: enumeration,
                value,
            })
        };
        dies.into_iter().filter_map(candidate).collect()
    }

    /// Returns the names of the program's types for suggestions, sorted and without
    /// duplicates.
    pub fn type_names(&self) -> Vec<String> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let mut found: Vec<String> = info.names().type_names().map(str::to_owned).collect();
        found.sort();
        found.dedup();
        found
    }
}

/// Returns the DIE of the type that is meant: a definition rather than a declaration, and a
/// type of exactly this name rather than another one. `None` if the name may as well mean a
/// type of another inline namespace.
fn best(records: &mut dyn Iterator<Item = TypeRecord>, name: &str) -> Option<DieRef> {
    let rank = |it: &TypeRecord| (it.declaration, *it.name != *name, it.die);
    let records: Vec<TypeRecord> = records.collect();
    let found = records.iter().min_by_key(|it| rank(it))?;
    let is_written = |it: &TypeRecord| names::matches(&it.name, name);
    let is_other = |it: &&TypeRecord| {
        it.declaration == found.declaration && it.name != found.name && !is_written(it)
    };
    let is_ambiguous = !is_written(found) && records.iter().any(|it| is_other(&it));
    (!is_ambiguous).then_some(found.die)
}

/// Returns the scope of an enumeration's enumerators: the enumeration if it has a name
/// (`is_exact`), otherwise its enclosing scope.
fn path_of_enumerators(info: &DebugInfo, die: DieRef, is_exact: bool) -> Option<String> {
    let facts = info.facts(die.unit)?;
    let record = facts.enumerators.iter().find(|record| record.of == die)?;
    let scope = &*record.scope;
    if is_exact || facts.type_at(die).is_none() {
        Some(scope.to_owned())
    } else {
        let around = scope.strip_suffix(names::tail(scope))?;
        Some(around.strip_suffix("::").unwrap_or(around).to_owned())
    }
}

impl Type {
    /// Returns whether a path, in which inline namespaces and template arguments may be left
    /// out, is the whole name of this type.
    pub fn is_called(&self, path: &str) -> bool {
        let stripped = self.strip();
        let named = stripped.die().and_then(|(info, die)| {
            let name = stripped.own_name()?;
            Some(info.is_wholly_named(die.unit, &name, path))
        });
        named.unwrap_or(false)
    }

    /// Returns a base type of C, C++ or Rust on this machine by any of its spellings. Needs
    /// no debug information.
    pub fn builtin(name: &str) -> Option<Type> {
        let make = |name, encoding, size| {
            Some(Type {
                source: Source::Builtin {
                    name,
                    encoding,
                    size,
                },
            })
        };
        let fixed = match name {
            "bool" | "_Bool" => make("bool", Encoding::Boolean, 1),
            "float" | "f32" => make("float", Encoding::Float, 4),
            "f64" => make("double", Encoding::Float, 8),
            "i8" | "int8_t" => make("int8_t", Encoding::Signed, 1),
            "i16" | "int16_t" => make("int16_t", Encoding::Signed, 2),
            "i32" | "int32_t" => make("int32_t", Encoding::Signed, 4),
            "i64" | "int64_t" => make("int64_t", Encoding::Signed, 8),
            "i128" => make("__int128", Encoding::Signed, 16),
            "u8" | "uint8_t" => make("uint8_t", Encoding::Unsigned, 1),
            "u16" | "uint16_t" => make("uint16_t", Encoding::Unsigned, 2),
            "u32" | "uint32_t" => make("uint32_t", Encoding::Unsigned, 4),
            "u64" | "uint64_t" => make("uint64_t", Encoding::Unsigned, 8),
            "u128" => make("unsigned __int128", Encoding::Unsigned, 16),
            "size_t" | "usize" => make("size_t", Encoding::Unsigned, 8),
            "ssize_t" | "isize" => make("ssize_t", Encoding::Signed, 8),
            "intptr_t" => make("intptr_t", Encoding::Signed, 8),
            "uintptr_t" => make("uintptr_t", Encoding::Unsigned, 8),
            _ => None,
        };
        fixed.or_else(|| super::words::builtin_of_words(name))
    }
}

/// Returns the C spelling of the type that a standard header name stands for on this
/// machine; `None` for other names.
pub fn standard_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "int8_t" => "signed char",
        "int16_t" => "short",
        "int32_t" => "int",
        "int64_t" | "ssize_t" | "intptr_t" => "long",
        "uint8_t" => "unsigned char",
        "uint16_t" => "unsigned short",
        "uint32_t" => "unsigned int",
        "uint64_t" | "size_t" | "uintptr_t" => "unsigned long",
        _ => return None,
    })
}

/// Strips trailing `*` and drops qualifiers.
fn split_pointers(name: &str) -> Option<(String, usize)> {
    let mut rest = name.trim();
    let mut pointers = 0;
    loop {
        if let Some(inner) = rest.strip_suffix('*').or_else(|| rest.strip_suffix('&')) {
            pointers += 1;
            rest = inner.trim_end();
        } else if let Some(inner) = rest
            .strip_suffix(" const")
            .or_else(|| rest.strip_suffix("*const"))
        {
            if rest.ends_with("*const") {
                pointers += 1;
            }
            rest = inner.trim_end();
        } else {
            break;
        }
        if pointers > POINTER_DEPTH_MAX {
            return None;
        }
    }
    let words: Vec<&str> = rest
        .split_whitespace()
        .filter(|word| !matches!(*word, "const" | "volatile"))
        .collect();
    if words.is_empty() {
        None
    } else {
        Some((words.join(" "), pointers))
    }
}

/// The keyword before the name of the type.
#[derive(Clone, Copy)]
pub(crate) enum Tag {
    Composite,
    Union,
    Enumeration,
}

impl Tag {
    pub(crate) fn accepts(self, tag: gimli::DwTag) -> bool {
        match self {
            // In C++ `struct` and `class` are interchangeable.
            Tag::Composite => {
                matches!(tag, gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type)
            }
            Tag::Union => tag == gimli::DW_TAG_union_type,
            Tag::Enumeration => tag == gimli::DW_TAG_enumeration_type,
        }
    }
}

pub(crate) fn split_tag(name: &str) -> (Option<Tag>, &str) {
    let tags = [
        ("struct ", Tag::Composite),
        ("class ", Tag::Composite),
        ("union ", Tag::Union),
        ("enum ", Tag::Enumeration),
    ];
    for (word, tag) in tags {
        if let Some(rest) = name.strip_prefix(word) {
            return (Some(tag), rest.trim_start());
        }
    }
    (None, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_types_are_known_by_all_their_spellings() {
        for (spelling, expected) in [
            ("unsigned long", Some(("unsigned long", 8))),
            ("long unsigned int", Some(("unsigned long", 8))),
            ("long", Some(("long", 8))),
            ("long long int", Some(("long long", 8))),
            ("unsigned", Some(("unsigned int", 4))),
            ("short", Some(("short", 2))),
            ("char", Some(("char", 1))),
            ("unsigned char", Some(("unsigned char", 1))),
            ("u64", Some(("uint64_t", 8))),
            ("double", Some(("double", 8))),
            ("short char", None),
            ("queue", None),
            ("", None),
        ] {
            let found = Type::builtin(spelling).map(|found| (found.name(), found.size()));
            let expected = expected.map(|(name, size)| (name.to_owned(), Some(size)));
            assert_eq!(found, expected, "{spelling}");
        }
    }

    #[test]
    fn stars_and_qualifiers_are_split_off() {
        for (text, expected) in [
            ("struct queue *", Some(("struct queue", 1))),
            ("const char **", Some(("char", 2))),
            ("char *const", Some(("char", 1))),
            ("char * const *", Some(("char", 2))),
            ("int", Some(("int", 0))),
            ("*", None),
            ("", None),
        ] {
            let expected = expected.map(|(name, pointers)| (name.to_owned(), pointers));
            assert_eq!(split_pointers(text), expected, "{text}");
        }
    }
}
