//! Reading the definitions of a unit.
//!
//! One pass reads the attributes of DIEs with names that users search for and skips the
//! rest. Functions nested in functions (lambdas, closures) count, so the whole tree is
//! visited, once per unit.

use super::attributes::{Attributes, Borrowed, is_import, is_indexed};
use super::simple_names;
use super::{
    EnumeratorRecord, Facts, FunctionRecord, GlobalRecord, ImportKind, ImportRecord,
    PendingFunction, PendingGlobal, TypeRecord,
};
use crate::dwarf::borrowed::with_borrowed;
use crate::dwarf::words::UNNAMED_NAMESPACE;
use crate::dwarf::{DebugInfo, DieRef, Language};
use gimli::DwTag;
use std::borrow::Cow;
use std::sync::Arc;

/// The scope of what is in a function whose name is not known.
const NAMELESS: &str = "{function}";

struct Pass<'a> {
    info: &'a DebugInfo,
    number: u32,
    entries: Borrowed<'a>,
    /// The depths and qualified names of the enclosing namespaces, types and functions.
    scopes: Vec<(isize, Box<str>)>,
    /// The depths and names of the enclosing functions that are named elsewhere, which are scopes of
    /// their types.
    nameless: Vec<(isize, Box<str>)>,
    /// The depths of the enclosing functions with code.
    enclosing: Vec<isize>,
    /// The depths and offsets of all enclosing functions.
    functions: Vec<(isize, usize)>,
    /// The depths of the enclosing functions without code, and whether the linker discarded
    /// the code; otherwise it is an abstract instance.
    bodies: Vec<(isize, bool)>,
    /// The depth and DIE of the enclosing enumeration, and the scope of its enumerators.
    enumeration: Option<(isize, DieRef, Arc<str>)>,
    /// The template arguments that names lack.
    arguments: simple_names::Arguments,
    facts: Facts,
}

/// Reads the definitions of a unit. In a damaged unit, those before the damage are
/// returned.
pub(in crate::dwarf) fn read(info: &DebugInfo, number: u32) -> Facts {
    let is_clang = info
        .unit(number)
        .is_some_and(|unit| unit.by_llvm && unit.language == Language::Cpp);
    let facts = with_borrowed(info, number, |dwarf, unit| {
        let entries = Borrowed { info, dwarf, unit };
        let arguments = if is_clang {
            simple_names::arguments(entries)
        } else {
            simple_names::Arguments::default()
        };
        let mut pass = Pass {
            arguments,
            info,
            number,
            entries,
            scopes: Vec::new(),
            nameless: Vec::new(),
            enclosing: Vec::new(),
            functions: Vec::new(),
            bodies: Vec::new(),
            enumeration: None,
            facts: Facts::default(),
        };
        let _ = pass.walk();
        let mut facts = pass.facts;
        facts.finish();
        facts
    });
    facts.unwrap_or_default()
}

impl<'a> Pass<'a> {
    fn walk(&mut self) -> gimli::Result<()> {
        let mut raw = self.entries.unit.entries_raw(None)?;
        while !raw.is_empty() {
            let depth = raw.next_depth();
            let offset = raw.next_offset().0;
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            while self.scopes.last().is_some_and(|(at, _)| *at >= depth) {
                self.scopes.pop();
            }
            while self.nameless.last().is_some_and(|(at, _)| *at >= depth) {
                self.nameless.pop();
            }
            while self.enclosing.last().is_some_and(|at| *at >= depth) {
                self.enclosing.pop();
            }
            while self.functions.last().is_some_and(|(at, _)| *at >= depth) {
                self.functions.pop();
            }
            while self.bodies.last().is_some_and(|(at, _)| *at >= depth) {
                self.bodies.pop();
            }
            let tag = abbreviation.tag();
            // Most variables are local; users do not search for them by name.
            let is_local = tag == gimli::DW_TAG_variable && self.is_local(abbreviation);
            // Those of functions are read with the function's blocks.
            let is_import = is_import(tag) && self.enclosing.is_empty() && self.bodies.is_empty();
            if is_local || !is_indexed(tag) && !is_import {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let attributes = Attributes::read(&mut raw, abbreviation)?;
            let die = DieRef {
                unit: self.number,
                offset,
            };
            self.record(depth, die, tag, attributes);
        }
        Ok(())
    }

    /// Returns whether a variable may be local. gcc writes the location of a static one in
    /// the abstract instance.
    fn is_local(&self, abbreviation: &gimli::Abbreviation) -> bool {
        let mut attributes = abbreviation.attributes().iter();
        match self.bodies.last() {
            _ if !self.enclosing.is_empty() => true,
            Some((_, is_removed)) => {
                *is_removed || attributes.all(|it| it.name() != gimli::DW_AT_location)
            }
            None => false,
        }
    }

    fn record(&mut self, depth: isize, die: DieRef, tag: DwTag, attributes: Attributes<'a>) {
        match tag {
            gimli::DW_TAG_subprogram => self.subprogram(depth, die, attributes),
            gimli::DW_TAG_inlined_subroutine => {
                let origin = attributes.origin;
                let origin = origin.and_then(|it| self.info.referred(self.number, it));
                if let (Some(origin), false) = (origin, self.enclosing.is_empty()) {
                    self.facts.inlined.insert(origin);
                }
            }
            gimli::DW_TAG_variable => self.variable(die, attributes),
            gimli::DW_TAG_enumerator => {
                let name = self.entries.text(attributes.name);
                if let (Some((at, of, scope)), Some(name)) = (&self.enumeration, name)
                    && *at + 1 == depth
                {
                    self.facts.enumerators.push(EnumeratorRecord {
                        name: name.into(),
                        of: *of,
                        scope: Arc::clone(scope),
                    });
                }
            }
            gimli::DW_TAG_namespace => {
                let name = self.entries.text(attributes.name);
                let name = name.as_deref().unwrap_or(UNNAMED_NAMESPACE);
                let name = self.qualified(name);
                if attributes.exports {
                    self.import(ImportKind::Directive, die);
                }
                self.facts.namespaces.insert(die.offset, name.clone());
                self.scopes.push((depth, name));
            }
            _ if is_import(tag) => {
                let of = attributes.import;
                let of = of.and_then(|it| self.info.referred(self.number, it));
                let name = self.entries.text(attributes.name);
                let kind = match name {
                    _ if tag == gimli::DW_TAG_imported_module => ImportKind::Directive,
                    Some(name) => ImportKind::Alias(name.into()),
                    None => ImportKind::Declaration,
                };
                if let Some(of) = of {
                    self.import(kind, of);
                }
            }
            _ => {
                let name = self.entries.text(attributes.name);
                // The definition of a type that is declared in its scope, as in a type unit,
                // has no scope of its own.
                let declared = attributes.origin;
                let declared = declared.and_then(|it| self.info.referred(self.number, it));
                let declared = declared.filter(|it| it.unit == self.number);
                let declared = declared.and_then(|it| self.facts.type_at(it));
                let name = match declared {
                    Some(record) => Some(record.name.clone()),
                    None => name.map(|name| self.qualified_type(&self.with_arguments(die, &name))),
                };
                if tag == gimli::DW_TAG_enumeration_type && !attributes.declaration {
                    let around = self.scopes.last().map(|(_, scope)| scope);
                    let scope = name.as_ref().or(around).map_or("", |scope| scope);
                    self.enumeration = Some((depth, die, scope.into()));
                }
                let Some(name) = name else {
                    return;
                };
                let defined = attributes.signature;
                let defined = defined.and_then(|it| self.info.referred(self.number, it));
                if let (Some(of), true) = (defined, self.scopes.is_empty()) {
                    self.facts.skeletons.push((die.offset, name.clone(), of));
                }
                self.scopes.push((depth, name.clone()));
                let declaration = attributes.declaration;
                self.facts.types.push(TypeRecord {
                    die,
                    tag,
                    name,
                    declaration,
                });
            }
        }
    }

    fn import(&mut self, kind: ImportKind, of: DieRef) {
        let scope = self.scopes.last().map(|(_, scope)| scope.clone());
        let scope = scope.unwrap_or_default();
        let record = ImportRecord { scope, kind, of };
        self.facts.imports.push(record);
    }

    /// Returns the name of an instance of a template with its arguments.
    fn with_arguments<'n>(&self, die: DieRef, name: &'n str) -> Cow<'n, str> {
        match self.arguments.get(&die.offset) {
            Some(arguments) => format!("{name}{arguments}").into(),
            None => name.into(),
        }
    }

    fn qualified(&self, name: &str) -> Box<str> {
        match self.scopes.last() {
            Some((_, scope)) => format!("{scope}::{name}").into(),
            None => name.into(),
        }
    }

    /// Returns the name of a type. Closures are not in the scope of a function that is named
    /// elsewhere.
    fn qualified_type(&self, name: &str) -> Box<str> {
        let inner = self.scopes.last().map_or(-1, |(depth, _)| *depth);
        match self.nameless.last() {
            Some((depth, function)) if *depth > inner && !name.starts_with('<') => {
                format!("{function}::{name}").into()
            }
            _ => self.qualified(name),
        }
    }

    fn subprogram(&mut self, depth: isize, die: DieRef, attributes: Attributes<'a>) {
        if let Some((_, outer)) = self.functions.last() {
            self.facts.outer_functions.insert(die.offset, *outer);
        }
        self.functions.push((depth, die.offset));
        let name = self.entries.text(attributes.name);
        let linkage_name = self.entries.text(attributes.linkage_name).map(Box::from);
        let origin = attributes.origin;
        let origin = origin.and_then(|it| self.info.referred(self.number, it));
        let full = name.map(|name| self.qualified(&self.with_arguments(die, &name)));
        if let Some(origin) = origin {
            self.facts.origins.insert(die.offset, origin);
            if full.is_none() {
                let known = self.facts.abstract_names.get(&origin.offset);
                let known = known.filter(|_| origin.unit == self.number);
                let name = known.map_or(NAMELESS, |name| name);
                self.nameless.push((depth, name.into()));
            }
        }
        let ranges = self.entries.ranges(&attributes);
        let Some(low_pc) = self.entries.entry_address(&attributes, &ranges) else {
            if let Some(linkage_name) = linkage_name {
                self.facts.linkage_names.insert(die.offset, linkage_name);
            }
            if !attributes.declaration {
                self.facts.without_own_code.push(die.offset);
            }
            self.bodies.push((depth, attributes.had_code()));
            if full.is_none() && origin.is_none() {
                self.facts.nameless_functions.push(die.offset);
                self.scopes.push((depth, NAMELESS.into()));
            }
            if let Some(full) = full {
                self.scopes.push((depth, full.clone()));
                self.facts.abstract_names.insert(die.offset, full);
            }
            return;
        };
        self.enclosing.push(depth);
        if let Some(full) = &full {
            self.scopes.push((depth, full.clone()));
        }
        self.facts.functions.push(PendingFunction {
            origin,
            record: FunctionRecord {
                die,
                low_pc,
                ranges,
                name: full.unwrap_or_default(),
                linkage_name,
                external: attributes.external,
            },
        });
    }

    fn variable(&mut self, die: DieRef, attributes: Attributes<'a>) {
        let name = self
            .entries
            .text(attributes.name)
            .map(|name| self.qualified(&name));
        let origin = attributes.origin;
        let origin = origin.and_then(|it| self.info.referred(self.number, it));
        if let Some(name) = &name {
            let known = (name.clone(), attributes.external);
            self.facts.global_names.insert(die.offset, known);
        }
        // A variable without a location was removed by the compiler.
        if !attributes.declaration {
            let readable = self
                .entries
                .text(attributes.linkage_name)
                .and_then(|raw| crate::names::demangle(&raw));
            self.facts.globals.push(PendingGlobal {
                record: GlobalRecord {
                    die,
                    name: name.unwrap_or_default(),
                    external: attributes.external,
                },
                origin,
                readable,
            });
        }
    }
}
