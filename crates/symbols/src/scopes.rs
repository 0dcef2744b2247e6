//! The names that a name written in a scope may stand for: those of the scopes around it,
//! of the namespaces that `using` makes visible there, and of namespaces under another name
//! (C++ standard, 6.5.3 and 9.9).
//!
//! Names are qualified; which of them exists, and in which module, is decided elsewhere.

use crate::SymbolFile;
use crate::dwarf::facts::{ImportKind, ImportRecord};
use crate::dwarf::{DebugInfo, DieRef, Visit};
use crate::locals::has_lines_of_imports;
use crate::names;
use std::sync::Arc;

/// The maximum number of namespaces that one scope makes visible; `using` directives may
/// form cycles.
const NAMESPACES_MAX: usize = 256;

/// What `using` makes visible at an address.
#[derive(Debug, Default, Clone)]
pub struct Imports {
    /// Imports of the blocks around the address, innermost first.
    local: Vec<Import>,
    /// Imports of namespaces and of the unit.
    of_scopes: Vec<Import>,
}

#[derive(Debug, Clone)]
struct Import {
    /// The scope that has it, with `::`; empty for the unit and for blocks.
    scope: String,
    kind: ImportKind,
    /// The qualified name of the entity.
    target: String,
}

impl Imports {
    /// Returns those of namespaces and of the unit.
    pub fn outside_of_blocks(self) -> Imports {
        Imports {
            local: Vec::new(),
            ..self
        }
    }
}

impl SymbolFile {
    /// Returns what `using` makes visible at a file address, in the inlined call with
    /// `inline_depth` others in it. Reads the unit of the address.
    pub fn imports_at(&self, address: u64, inline_depth: usize) -> Imports {
        let Some(info) = self.inner.debug_info() else {
            return Imports::default();
        };
        let Some(function) = info.function_at(address).map(|it| it.die) else {
            return Imports::default();
        };
        let facts = info.facts(function.unit);
        let records = facts.map_or(&[][..], |facts| &facts.imports);
        let of_scopes = records.iter().filter_map(|it| import(info, it));
        Imports {
            local: self.local_imports(info, function, address, inline_depth),
            of_scopes: of_scopes.collect(),
        }
    }

    /// Returns the imports of the blocks around an address, innermost first. Those behind the
    /// line of the address are not made yet.
    fn local_imports(
        &self,
        info: &Arc<DebugInfo>,
        function: DieRef,
        address: u64,
        inline_depth: usize,
    ) -> Vec<Import> {
        let (homes, line) = self.homes_of_call(info, function, address, inline_depth);
        let mut outermost_first = Vec::new();
        for home in &homes {
            let origin = info.die(*home);
            let origin = origin.and_then(|entry| info.origin(home.unit, &entry));
            for home in origin.into_iter().chain([*home]) {
                add_local(info, home, line, &mut outermost_first);
            }
        }
        outermost_first.reverse();
        outermost_first
    }
}

fn import(info: &DebugInfo, record: &ImportRecord) -> Option<Import> {
    Some(Import {
        scope: with_separator(&record.scope),
        kind: record.kind.clone(),
        target: info.entity_name(record.of)?,
    })
}

/// Adds the imports of one block up to a line.
fn add_local(info: &DebugInfo, home: DieRef, line: Option<u32>, found: &mut Vec<Import>) {
    info.walk(home, |depth, die, entry| {
        let tag = entry.tag();
        if depth == 0 {
            return Visit::Descend;
        }
        if !matches!(
            tag,
            gimli::DW_TAG_imported_module | gimli::DW_TAG_imported_declaration
        ) {
            return Visit::Skip;
        }
        let line = line.filter(|_| has_lines_of_imports(info, die));
        let declared = info.inherited_unsigned(die, gimli::DW_AT_decl_line);
        let is_behind = line.is_some_and(|line| declared.is_some_and(|it| it > u64::from(line)));
        let of = info.reference(die.unit, entry.attr_value(gimli::DW_AT_import));
        let name = info.text(die.unit, entry.attr_value(gimli::DW_AT_name));
        let kind = match name {
            _ if tag == gimli::DW_TAG_imported_module => ImportKind::Directive,
            Some(name) => ImportKind::Alias(name),
            None => ImportKind::Declaration,
        };
        if let Some(target) = of.and_then(|of| info.entity_name(of))
            && !is_behind
        {
            found.push(Import {
                scope: String::new(),
                kind,
                target,
            });
        }
        Visit::Skip
    });
}

/// The names that a written name may stand for at one level of scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The scope, with `::`; empty for the global one.
    pub scope: String,
    /// The qualified name in the scope itself, if the level is a scope and not a block.
    pub own: Option<String>,
    /// The qualified names that `using` and namespace aliases add.
    pub imported: Vec<String>,
}

impl Level {
    /// Iterates over the names of the level, its own first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.own.iter().chain(&self.imported);
        all.map(String::as_str)
    }
}

impl Imports {
    /// Returns the qualified names that a written name may stand for, innermost level
    /// first. `scopes` are those around the place, innermost first, each with its `::`,
    /// without the global one.
    pub fn meanings(&self, scopes: &[String], written: &str) -> Vec<Level> {
        if let Some(global) = written.strip_prefix("::") {
            return vec![self.level("", global, &[])];
        }
        let mut levels = Vec::new();
        let imported = self.of_blocks(written);
        if !imported.is_empty() {
            levels.push(Level {
                scope: scopes.first().cloned().unwrap_or_default(),
                own: None,
                imported,
            });
        }
        for scope in scopes.iter().map(String::as_str).chain([""]) {
            levels.push(self.level(scope, written, scopes));
        }
        levels
    }

    /// Returns the names that declarations and aliases of blocks give a written name.
    fn of_blocks(&self, written: &str) -> Vec<String> {
        let (first, rest) = names::split_component(written);
        let meant = self.local.iter().filter_map(|import| match &import.kind {
            ImportKind::Declaration if rest.is_empty() => {
                (names::tail(&import.target) == first).then(|| vec![import.target.clone()])
            }
            ImportKind::Alias(name) if **name == *first && !rest.is_empty() => {
                let mut prefixes = vec![with_separator(&import.target)];
                self.close(&mut prefixes);
                Some(self.qualified(prefixes, rest))
            }
            _ => None,
        });
        // The innermost declaration hides the others.
        let mut meant = meant;
        meant.next().unwrap_or_default()
    }

    fn level(&self, scope: &str, written: &str, scopes: &[String]) -> Level {
        let mut prefixes = vec![scope.to_owned()];
        // A directive makes names visible as if they were in the nearest namespace that
        // has both the directive and its target.
        let is_around = |it: &str| it.is_empty() || scopes.iter().any(|scope| scope == it);
        let active = self.of_scopes.iter().filter(|it| is_around(&it.scope));
        let innermost = scopes.first().map_or("", String::as_str);
        let local = self.local.iter().map(|it| (innermost, it));
        let active = active.map(|it| (&*it.scope, it)).chain(local);
        for (from, import) in active.filter(|(_, it)| it.kind == ImportKind::Directive) {
            let target = with_separator(&import.target);
            if common(from, &target) == scope && !prefixes.contains(&target) {
                prefixes.push(target);
            }
        }
        self.close(&mut prefixes);
        let mut found = self.qualified(prefixes, written);
        let own = format!("{scope}{written}");
        found.retain(|name| *name != own);
        Level {
            scope: scope.to_owned(),
            own: Some(own),
            imported: found,
        }
    }

    /// Returns the names of a path in these scopes.
    fn qualified(&self, mut prefixes: Vec<String>, path: &str) -> Vec<String> {
        let mut rest = path;
        loop {
            let (component, behind) = names::split_component(rest);
            if behind.is_empty() {
                break;
            }
            let mut inner: Vec<String> = Vec::new();
            for prefix in &prefixes {
                inner.push(format!("{prefix}{component}::"));
                let aliases = self.of_scopes.iter().filter(|it| it.scope == *prefix);
                inner.extend(aliases.filter_map(|it| match &it.kind {
                    ImportKind::Alias(name) if **name == *component => {
                        Some(with_separator(&it.target))
                    }
                    ImportKind::Declaration if names::tail(&it.target) == component => {
                        Some(with_separator(&it.target))
                    }
                    _ => None,
                }));
            }
            inner.dedup();
            inner.truncate(NAMESPACES_MAX);
            self.close(&mut inner);
            prefixes = inner;
            rest = behind;
        }
        let mut found: Vec<String> = Vec::new();
        for prefix in &prefixes {
            found.push(format!("{prefix}{rest}"));
            let declared = self.of_scopes.iter().filter(|it| {
                it.scope == *prefix
                    && it.kind == ImportKind::Declaration
                    && names::tail(&it.target) == rest
            });
            found.extend(declared.map(|it| it.target.clone()));
        }
        found
    }

    /// Adds the namespaces whose names these make visible as their own.
    fn close(&self, prefixes: &mut Vec<String>) {
        let mut at = 0;
        while let Some(prefix) = prefixes.get(at).cloned() {
            at += 1;
            // The global scope is closed by the level itself.
            if prefix.is_empty() {
                continue;
            }
            let directives = self.of_scopes.iter().filter(|it| it.scope == prefix);
            for import in directives.filter(|it| it.kind == ImportKind::Directive) {
                let target = with_separator(&import.target);
                if prefixes.len() < NAMESPACES_MAX && !prefixes.contains(&target) {
                    prefixes.push(target);
                }
            }
        }
    }
}

fn with_separator(scope: &str) -> String {
    match scope {
        "" => String::new(),
        _ => format!("{scope}::"),
    }
}

/// Returns the nearest scope around both.
fn common<'a>(one: &'a str, other: &str) -> &'a str {
    let ends = one.match_indices("::").map(|(at, _)| at + 2);
    let shared = ends.filter(|end| one.get(..*end).is_some_and(|it| other.starts_with(it)));
    one.get(..shared.last().unwrap_or(0)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(scope: &str, kind: ImportKind, target: &str) -> Import {
        Import {
            scope: with_separator(scope),
            kind,
            target: target.to_owned(),
        }
    }

    fn names(imports: &Imports, scopes: &[&str], written: &str) -> Vec<String> {
        let scopes: Vec<String> = scopes.iter().map(|it| with_separator(it)).collect();
        let levels = imports.meanings(&scopes, written).into_iter();
        levels
            .flat_map(|it| it.own.into_iter().chain(it.imported))
            .collect()
    }

    #[test]
    fn scopes_are_searched_from_the_inside() {
        let none = Imports::default();
        assert_eq!(names(&none, &["n::c", "n"], "v"), ["n::c::v", "n::v", "v"]);
        assert_eq!(names(&none, &["n::c", "n"], "::v"), ["v"]);
        assert_eq!(names(&none, &["n"], "a::v"), ["n::a::v", "a::v"]);
    }

    #[test]
    fn what_using_makes_visible_follows_the_scope() {
        use ImportKind::{Alias, Declaration, Directive};
        let imports = Imports {
            local: vec![
                import("", Declaration, "lib::once"),
                import("", Alias("l".into()), "lib"),
                import("", Directive, "n::other"),
            ],
            of_scopes: vec![
                import("", Directive, "lib"),
                import("lib", Directive, "lib::v2"),
                import("", Alias("al".into()), "lib::in"),
                import("n", Declaration, "lib::own"),
                // A cycle.
                import("lib::v2", Directive, "lib"),
            ],
        };
        for (scopes, written, expected) in [
            (
                &["n"][..],
                "v",
                &["n::v", "n::other::v", "v", "lib::v", "lib::v2::v"][..],
            ),
            (
                &[],
                "once",
                &[
                    "lib::once",
                    "once",
                    "lib::once",
                    "lib::v2::once",
                    "n::other::once",
                ],
            ),
            (
                &[],
                "al::deep",
                &[
                    "al::deep",
                    "lib::in::deep",
                    "lib::al::deep",
                    "lib::v2::al::deep",
                    "n::other::al::deep",
                ],
            ),
            (
                &["n"],
                "own",
                &[
                    "n::own",
                    "lib::own",
                    "n::other::own",
                    "own",
                    "lib::own",
                    "lib::v2::own",
                ],
            ),
        ] {
            let mut found = names(&imports, scopes, written);
            let mut expected: Vec<&str> = expected.to_vec();
            found.sort();
            found.dedup();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(found, expected, "{written} in {scopes:?}");
        }
        assert_eq!(names(&imports, &[], "l::x")[..2], ["lib::x", "lib::v2::x"]);
    }

    #[test]
    fn the_nearest_scope_around_two_is_found() {
        for (one, other, expected) in [
            ("a::b::", "a::c::", "a::"),
            ("a::", "b::", ""),
            ("a::b::", "a::b::c::", "a::b::"),
            ("", "a::", ""),
        ] {
            assert_eq!(common(one, other), expected);
        }
    }
}
