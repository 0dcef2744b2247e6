//! Search for functions by the names that users write.

use super::signature;
use crate::dwarf::facts::FunctionRecord;
use crate::dwarf::processors::on_all_processors;
use crate::names::{self, CloneKind};
use crate::{Binding, Function, SymbolFile};
use memchr::memmem;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns a label of assembly as a function of one address.
fn label_as_function(name: &str, address: u64) -> Function {
    Function {
        name: name.into(),
        linkage_name: Some(name.into()),
        low_pc: address,
        ranges: std::iter::once(address..address.saturating_add(1)).collect(),
        binding: Binding::Local,
        indirect: false,
        plt: false,
        fragment: false,
        die: None,
    }
}

impl SymbolFile {
    /// Searches files for the functions of these names, on all processors.
    /// [`SymbolFile::functions_named`] gives them at once afterwards.
    pub fn search_all(files: &[SymbolFile], names: &[&str]) {
        let is_known = |file: &SymbolFile| {
            let mut names = names.iter();
            names.all(|name| file.inner.found_functions.has(*name))
        };
        let new: Vec<&SymbolFile> = files.iter().filter(|file| !is_known(file)).collect();
        if new.len() < 2 {
            return;
        }
        let next = AtomicUsize::new(0);
        on_all_processors(|| {
            while let Some(file) = new.get(next.fetch_add(1, Ordering::Relaxed)) {
                for name in names {
                    file.functions_named(name);
                }
            }
        });
    }

    /// Returns the functions that match a name, by ascending address.
    ///
    /// `name` is a plain or mangled symbol, a qualified name, or the end of one
    /// (`ns::Class::method`, `Class::method`, `method`), optionally with parameter types
    /// (`area(int)`) to select an overload. Clones (`name.constprop.0`) are included; cold
    /// parts (`name.cold`) and outlined parts (`name.part.0`) only under their own names,
    /// PLT stubs only as `name@plt`. For inlined copies, which are not functions, see
    /// [`SymbolFile::inlined_copies`].
    pub fn functions_named(&self, name: &str) -> Vec<Function> {
        if let Some((plain, types)) = signature::split(name) {
            let mut found = self.functions_named(plain);
            found.retain(|function| self.takes(function, &types));
            signature::keep_qualified(&mut found, name);
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
        inner
            .found_functions
            .get_or_search(name, || self.search_functions(name))
    }

    /// Searches all functions for a name without parameter types.
    fn search_functions(&self, name: &str) -> Vec<Function> {
        let inner = &*self.inner;
        let mut found: Vec<(u64, Option<String>)> = Vec::new();
        self.add_dwarf_matches(name, &mut found);
        let literal = literal_of(name);
        let has_symbols = inner.may_have_symbol(&[literal, name]);
        if has_symbols {
            self.add_symbol_matches((name, literal), &mut found);
        }
        if found.is_empty() && !has_symbols {
            return Vec::new();
        }
        if found.is_empty() {
            let labels = inner.symbols().labels_named(name);
            return labels
                .map(|label| label_as_function(name, label.address))
                .collect();
        }
        found.sort();
        found.dedup_by_key(|(address, _)| *address);
        found
            .into_iter()
            .filter_map(|(address, alias)| {
                let mut function = self.function_with_low_pc(address)?;
                // Among aliases, prefer the name that was asked for.
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
        for record in info.functions_like(name) {
            let readable = record.linkage_name.as_deref().and_then(names::demangle);
            let matches = info.is_named(record.die.unit, &record.name, name)
                || readable.is_some_and(|readable| names::matches(&readable, name));
            if matches && !self.is_outlined(&record) {
                found.push((record.low_pc, None));
            }
        }
    }

    /// Returns whether the code is an outlined part of a function (`name.part.0`): it has
    /// the function's DWARF name but is not called in its place.
    fn is_outlined(&self, record: &FunctionRecord) -> bool {
        let symbols = self.inner.symbols();
        let suffix = symbols
            .preferred_at(record.low_pc)
            .and_then(|symbol| names::split_clone(symbols.text(symbol)).1);
        suffix.is_some_and(|suffix| names::clone_kind(suffix) != CloneKind::Instance)
    }

    fn add_symbol_matches(
        &self,
        (name, literal): (&str, &str),
        found: &mut Vec<(u64, Option<String>)>,
    ) {
        let symbols = self.inner.symbols();
        let literal = memmem::Finder::new(literal);
        let scopes = names::literal_scopes(name).into_iter();
        let scopes: Vec<_> = scopes.map(memmem::Finder::new).collect();
        let has_scopes = |raw: &str| scopes.iter().all(|it| it.find(raw.as_bytes()).is_some());
        let is_instance = |suffix| names::clone_kind(suffix) == CloneKind::Instance;
        let is_meant = |readable: &str| {
            // What else is inline, the debug information says.
            names::matches(readable, name)
                || names::matches_without_inline(readable, name, false, &|_| false)
        };
        for symbol in symbols.functions_and_clones(name) {
            let raw = symbols.text(symbol);
            if raw == name {
                found.push((symbol.address, Some(name.to_owned())));
            }
            let suffix = names::split_clone(raw).1;
            let behind = raw.strip_prefix(name).unwrap_or("");
            if behind.starts_with('.') && suffix.is_some_and(is_instance) {
                found.push((symbol.address, None));
            }
        }
        for symbol in symbols.mangled_functions() {
            if literal.find(symbols.raw(symbol)).is_none() {
                continue;
            }
            let raw = symbols.text(symbol);
            let (base, suffix) = names::split_clone(raw);
            if suffix.is_none_or(is_instance)
                && has_scopes(raw)
                && names::demangle(base).is_some_and(|readable| is_meant(&readable))
            {
                found.push((symbol.address, None));
            }
        }
    }

    /// Returns whether [`SymbolFile::functions_with`] can search for these words.
    pub fn finds_functions_with(&self, words: &[impl AsRef<str>]) -> bool {
        let info = self.inner.debug_info();
        let is_found = |word: &str| {
            is_word(word) && info.is_none_or(|info| info.functions_with_word(word).is_some())
        };
        words.iter().all(|word| is_found(word.as_ref()))
    }

    /// Returns the functions whose names contain one of these words, by ascending address,
    /// without the index of names; PLT stubs are excluded. `None` if the search needs the
    /// index: for characters other than letters, digits and `_`, and for debug information
    /// that stores names in other ways.
    pub fn functions_with(&self, words: &[impl AsRef<str>]) -> Option<Vec<Function>> {
        let mut addresses = Vec::new();
        for word in words.iter().map(AsRef::as_ref) {
            if !is_word(word) {
                return None;
            }
            if let Some(info) = self.inner.debug_info() {
                addresses.extend(info.functions_with_word(word)?);
            }
            let symbols = self.inner.symbols();
            let word = names::Word::new(word);
            let named = symbols.functions().iter();
            let named = named.filter(|symbol| word.is_in(symbols.text(symbol)));
            addresses.extend(named.map(|symbol| symbol.address));
        }
        addresses.sort_unstable();
        addresses.dedup();
        let is_named = |it: &Function| words.iter().any(|word| it.name.contains(word.as_ref()));
        let found = addresses.into_iter();
        let found = found.filter_map(|low_pc| self.function_with_low_pc(low_pc));
        Some(found.filter(|it| !it.plt && is_named(it)).collect())
    }

    /// Returns the names of all functions, including aliases and inlined functions, for
    /// completion and suggestions; sorted and without duplicates.
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

/// Returns what the mangled name of a function with this name contains literally: a mangled
/// name contains the identifiers of its components, so most symbols are rejected without
/// demangling.
fn literal_of(name: &str) -> &str {
    let literal = names::tail(name).trim_start_matches('~');
    match literal {
        // Written with escapes.
        names::CLOSURE => "closure",
        // Their parameters are mangled, and so are operators.
        _ if literal.starts_with("operator") => "",
        _ if literal.starts_with("{lambda(") => "Ul",
        _ => literal,
    }
}

/// Returns whether a string consists of letters, digits and `_`.
fn is_word(text: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    !text.is_empty() && text.bytes().all(is_part)
}
