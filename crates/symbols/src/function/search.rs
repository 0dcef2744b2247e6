//! Functions by the names that users write.

use super::signature;
use crate::dwarf::facts::FunctionRecord;
use crate::names::{self, CloneKind};
use crate::{Function, SymbolFile};

impl SymbolFile {
    /// The functions that a user can mean by this name, by ascending address.
    ///
    /// `name` is a plain or mangled symbol, a qualified name, or the end of
    /// one (`ns::Class::method`, `Class::method`, `method`). Specialised
    /// copies (`name.constprop.0`) are included, moved fragments
    /// (`name.cold`) and outlined parts (`name.part.0`) only under their own
    /// names, PLT stubs only as `name@plt`. Inlined copies are not functions:
    /// see [`SymbolFile::inlined_copies`]. With the types of its parameters
    /// (`area(int)`) one of several overloads is meant.
    pub fn functions_named(&self, name: &str) -> Vec<Function> {
        if let Some((plain, types)) = signature::split(name) {
            let mut found = self.functions_named(plain);
            found.retain(|function| self.takes(function, &types));
            return found;
        }
        let inner = &*self.inner;
        if name.is_empty() {
            return Vec::new();
        }
        if let Some(imported) = name.strip_suffix("@plt") {
            let stubs = inner.plt().iter().filter(|stub| &*stub.name == imported);
            return stubs
                .filter_map(|stub| self.function_with_low_pc(stub.address))
                .collect();
        }
        let mut found: Vec<(u64, Option<String>)> = Vec::new();
        self.add_dwarf_matches(name, &mut found);
        self.add_symbol_matches(name, &mut found);
        found.sort();
        found.dedup_by_key(|(address, _)| *address);
        found
            .into_iter()
            .filter_map(|(address, alias)| {
                let mut function = self.function_with_low_pc(address)?;
                // Among aliases, show the one that was asked for.
                let other = |alias: &String| {
                    function.die.is_none() || !names::matches(&function.name, alias)
                };
                if let Some(alias) = alias.filter(other) {
                    function.name = names::demangle(&alias)
                        .unwrap_or_else(|| alias.clone())
                        .into();
                    function.linkage_name = Some(alias.into());
                }
                Some(function)
            })
            .collect()
    }

    fn add_dwarf_matches(&self, name: &str, found: &mut Vec<(u64, Option<String>)>) {
        let Some(info) = self.inner.debug_info() else {
            return;
        };
        for record in info.functions_with_tail(names::tail(name)) {
            let readable = record.linkage_name.as_deref().and_then(names::demangle);
            let matches = names::matches(&record.name, name)
                || readable.is_some_and(|readable| names::matches(&readable, name));
            if matches && !self.is_outlined(&record) {
                found.push((record.low_pc, None));
            }
        }
    }

    /// Whether gcc split this code off a function (`name.part.0`): it carries
    /// the function's DWARF name but is not called in its place.
    fn is_outlined(&self, record: &FunctionRecord) -> bool {
        let symbols = self.inner.symbols();
        let suffix = symbols
            .preferred_at(record.low_pc)
            .and_then(|symbol| names::split_clone(symbols.text(symbol)).1);
        suffix.is_some_and(|suffix| names::clone_kind(suffix) != CloneKind::Instance)
    }

    fn add_symbol_matches(&self, name: &str, found: &mut Vec<(u64, Option<String>)>) {
        let symbols = self.inner.symbols();
        for symbol in symbols.named(name).filter(|symbol| symbol.is_function()) {
            found.push((symbol.address, Some(name.to_owned())));
        }
        let clones = format!("{name}.");
        for symbol in symbols
            .with_prefix(&clones)
            .filter(|symbol| symbol.is_function())
        {
            let (_, suffix) = names::split_clone(symbols.text(symbol));
            if suffix.is_some_and(|suffix| names::clone_kind(suffix) == CloneKind::Instance) {
                found.push((symbol.address, None));
            }
        }
        // A mangled name holds the identifiers of its components literally,
        // so most symbols are ruled out without demangling them.
        let tail = names::tail(name);
        let literal = tail.trim_start_matches('~');
        let literal = if literal.starts_with("operator") {
            ""
        } else {
            literal
        };
        let mangled = symbols.with_prefix("_Z").chain(symbols.with_prefix("_R"));
        for symbol in mangled.filter(|symbol| symbol.is_function()) {
            let raw = symbols.text(symbol);
            if !raw.contains(literal) {
                continue;
            }
            let (base, suffix) = names::split_clone(raw);
            if suffix.is_some_and(|suffix| names::clone_kind(suffix) != CloneKind::Instance) {
                continue;
            }
            if names::demangle(base).is_some_and(|readable| names::matches(&readable, name)) {
                found.push((symbol.address, None));
            }
        }
    }

    /// Whether it is certain that no function has this word in its name, without an
    /// index of names; stubs aside, which have those of other files. Words of letters, digits and `_` are told of, and files whose
    /// names are not mangled.
    pub fn no_function_has(&self, word: &str) -> bool {
        let is_word = |text: &str| {
            text.bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_')
        };
        if word.is_empty() || !is_word(word) {
            return false;
        }
        let symbols = self.inner.symbols();
        let rules_out = |name: &str| {
            let is_like_mangled = name.starts_with("_Z") || name.starts_with("_R");
            let is_mangled = is_like_mangled && names::demangle(name).is_some();
            !is_mangled && !name.contains(word)
        };
        let mut functions = symbols.functions().iter();
        functions.all(|symbol| rules_out(symbols.text(symbol)))
            && (self.inner.debug_info()).is_none_or(|info| info.lacks_word(word))
    }

    /// The names of all functions, for completion and suggestions; aliases
    /// and inlined functions included, sorted, each once.
    pub fn function_names(&self) -> impl Iterator<Item = String> {
        let symbols = self.inner.symbols();
        let mut found: Vec<String> = symbols
            .functions()
            .iter()
            .map(|symbol| symbols.text(symbol))
            .filter(|raw| !raw.contains('.'))
            .map(|raw| names::demangle(raw).unwrap_or_else(|| raw.to_owned()))
            .collect();
        if let Some(info) = self.inner.debug_info() {
            let index = info.names();
            let functions = (0..index.function_count()).filter_map(|at| index.function_name(at));
            found.extend(functions.map(|(name, _)| name.to_owned()));
            found.extend(index.inlined_names().map(str::to_owned));
        }
        found.sort();
        found.dedup();
        found.retain(|name| !name.is_empty());
        found.into_iter()
    }
}
