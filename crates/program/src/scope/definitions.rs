//! Looks up the definitions of one module that a name may denote.

use super::meaning::Entity;
use crate::modules::Module;
use juror_symbols::{
    ClassName, EnumeratorCandidate, Function, GlobalCandidate, Level, SymbolFile, Type, Variable,
    is_whole_name_of, omits_template_arguments, scope_and_name,
};
use juror_values::error::ValueError;

/// The definitions of a module that a search includes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// The definitions of one compilation unit.
    Unit(u32),
    /// The definitions that other units can name.
    External,
    /// All definitions.
    Any,
}

/// The outcome of one step of a search: nothing, one meaning, or several of which none is
/// preferred.
pub(super) type Step = Result<Option<Entity>, ValueError>;

/// The definitions of a module that a name may denote. Each kind is read on first use.
pub(super) struct Source<'a> {
    symbols: &'a SymbolFile,
    name: &'a str,
    /// The source line of the place.
    line: Option<u32>,
    variables: Option<Vec<GlobalCandidate>>,
    functions: Option<Vec<Function>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(module: &'a Module, name: &'a str) -> Source<'a> {
        Source {
            symbols: &module.symbols,
            name,
            line: None,
            variables: None,
            functions: None,
        }
    }

    /// Sets the source line of the place, at which what is declared behind it is not meant.
    pub(super) fn at_line(self, line: Option<u32>) -> Source<'a> {
        Source { line, ..self }
    }

    /// Returns the name that is sought.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    fn variables(&mut self) -> &[GlobalCandidate] {
        let (symbols, name) = (self.symbols, self.name);
        self.variables
            .get_or_insert_with(|| symbols.global_candidates(name))
    }

    pub(super) fn functions(&mut self) -> &[Function] {
        let (symbols, name) = (self.symbols, self.name);
        self.functions.get_or_insert_with(|| {
            let mut found = symbols.functions_named(name);
            found.retain(|function| !function.plt && !function.fragment);
            found
        })
    }

    /// Returns the meaning at a level of scopes: the scope itself first; what `using` adds must agree.
    pub(super) fn at(&mut self, level: &Level, reach: Reach, unit: Option<u32>) -> Step {
        if let Some(own) = &level.own
            && let Some(found) = self.named(own, reach, unit)?
        {
            return Ok(Some(found));
        }
        let mut found: Option<(&String, Entity)> = None;
        for full in &level.imported {
            let Some(entity) = self.named(full, reach, unit)? else {
                continue;
            };
            match &found {
                Some((first, known)) if !is_same(known, &entity) => {
                    return Err(ambiguous(self.name, [first.as_str(), full]));
                }
                Some(_) => {}
                None => found = Some((full, entity)),
            }
        }
        Ok(found.map(|(_, entity)| entity))
    }

    /// Returns the entity with exactly this qualified name.
    pub(super) fn named(&mut self, full: &str, reach: Reach, unit: Option<u32>) -> Step {
        if !self.has_sought(full) {
            // The name goes through a namespace alias.
            let mut aliased = Source {
                symbols: self.symbols,
                name: full,
                line: self.line,
                variables: None,
                functions: None,
            };
            return aliased.named(full, reach, unit);
        }
        let symbols = self.symbols;
        let meant = |it: &&GlobalCandidate| {
            let is_reached = match reach {
                Reach::Unit(unit) => it.unit == unit,
                Reach::External => it.is_external,
                Reach::Any => true,
            };
            is_reached && symbols.is_wholly_named(Some(it.unit), &it.name, full)
        };
        let meant: Vec<GlobalCandidate> = self.variables().iter().filter(meant).cloned().collect();
        if let Some(variable) = self.one_of(&meant)? {
            // An alias of another variable has its address only in the symbol table.
            let is_alias = variable.location.is_nowhere() && meant.iter().any(|it| it.is_external);
            let symbol = || {
                let exported = self.symbols.exported_data(full);
                exported.or_else(|| self.symbols.data_symbol(full))
            };
            return Ok(Some(match is_alias.then(symbol).flatten() {
                Some((address, _)) => Entity::Symbol(address, variable.r#type),
                None => Entity::Variable(variable),
            }));
        }
        let scoped = scope_and_name(full);
        if let Some((scope, last)) = scoped
            && let Some(class) = self.symbols.class_named(scope, unit)
            && let Some(found) = self.of_class(&class, last, false)?
        {
            return Ok(Some(found));
        }
        let in_unit = match reach {
            Reach::Unit(unit) => Some(unit),
            _ => None,
        };
        // Other units cannot name an enumerator of the global scope.
        let enumerators = match (reach, scoped) {
            (Reach::External, None) => Vec::new(),
            _ => self.symbols.enumerator_candidates(full, in_unit),
        };
        let is_meant = |it: &EnumeratorCandidate| {
            let mut names = it.names.iter();
            names.any(|name| symbols.is_wholly_named(Some(it.unit), name, full))
        };
        let mut enumerators = enumerators.into_iter().filter(is_meant);
        if let Some(found) = enumerators.next() {
            if let Some(other) = enumerators.find(|it| it.value != found.value) {
                let names = [&found, &other].map(|it| it.names.first().map_or("", |it| it));
                return Err(ambiguous(self.name, names));
            }
            return Ok(Some(Entity::Enumerator(found.r#type, found.value)));
        }
        if in_unit.is_some() {
            return Ok(None);
        }
        if scoped.is_some() {
            let mut statics = self.symbols.statics_named(full);
            // In a lambda, those of the function around it that are declared before.
            let line = self.line.filter(|_| scope_and_name(self.name).is_none());
            statics.retain(|it| line.is_none_or(|line| it.line.is_none_or(|at| at <= line)));
            if let Some(variable) = first_there(statics) {
                return Ok(Some(Entity::Variable(variable)));
            }
        }
        let is_meant = |it: &&Function| {
            symbols.is_whole_name_of_function(it, full) && !omits_template_arguments(full, &it.name)
        };
        if let Some(found) = self.functions().iter().find(is_meant) {
            return Ok(Some(Entity::Function(found.clone())));
        }
        if scoped.is_none() {
            let symbol = match reach {
                Reach::External => self.symbols.exported_data(full),
                _ => self.symbols.data_symbol(full),
            };
            if let Some((address, size)) = symbol {
                let untyped = Type::of_symbol(full, size);
                return Ok(Some(Entity::Symbol(address, untyped)));
            }
            if reach == Reach::Any
                && let Some((offset, size)) = self.symbols.thread_local_symbol(full)
            {
                let untyped = Type::of_symbol(full, size);
                return Ok(Some(Entity::ThreadLocalSymbol(offset, untyped)));
            }
        }
        Ok(None)
    }

    /// Returns whether the search by the name as written finds this qualified name.
    fn has_sought(&self, full: &str) -> bool {
        let before = full.strip_suffix(self.name);
        before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
    }

    /// Returns the single variable that these candidates define; one that was optimized out if none
    /// is kept.
    fn one_of(&self, meant: &[GlobalCandidate]) -> Result<Option<Variable>, ValueError> {
        let mut known: Option<(&GlobalCandidate, Variable)> = None;
        let mut removed = None;
        for candidate in meant {
            let Some(variable) = self.symbols.global_of(candidate) else {
                continue;
            };
            if variable.location.is_nowhere() {
                removed.get_or_insert(variable);
                continue;
            }
            match &known {
                // Several units repeat the definition of an external variable.
                Some((first, other)) => {
                    let is_same = (first.is_external
                        && candidate.is_external
                        && first.name == candidate.name)
                        || other.location.fixed_at(0) == variable.location.fixed_at(0);
                    if !is_same {
                        let file = |it: &GlobalCandidate| {
                            let file = self.symbols.file_of(it).unwrap_or_default();
                            let file = file.rsplit('/').next().unwrap_or("").to_owned();
                            format!("{file}::{}", it.name)
                        };
                        let files = [file(first), file(candidate)];
                        return Err(ambiguous(self.name, [&*files[0], &*files[1]]));
                    }
                }
                None => known = Some((candidate, variable)),
            }
        }
        Ok(known.map(|(_, variable)| variable).or(removed))
    }

    /// Returns a static member or enumerator of a class or of its bases. If `is_defined` is set,
    /// one without a definition or value in the module is left out.
    pub(super) fn of_class(&mut self, class: &Type, name: &str, is_defined: bool) -> Step {
        let found = class.class_names(name);
        let mut meant: Vec<(String, Entity)> = Vec::new();
        for of in found {
            meant.push(match of {
                ClassName::Enumerator(r#type, value) => {
                    (r#type.name(), Entity::Enumerator(r#type, value))
                }
                ClassName::Variable(declared) => {
                    let qualified = declared.name.to_string();
                    let candidates = self.symbols.global_candidates(&qualified);
                    let is_meant = |it: &&GlobalCandidate| is_whole_name_of(&qualified, &it.name);
                    let defined: Vec<_> = candidates.iter().filter(is_meant).cloned().collect();
                    let definition = self.one_of(&defined)?;
                    let definition = definition.filter(|it| !it.location.is_nowhere());
                    let has_value = !declared.location.is_nowhere();
                    match definition {
                        Some(found) => (qualified, Entity::Variable(found)),
                        None if is_defined && !has_value => continue,
                        None => (qualified, Entity::Variable(declared)),
                    }
                }
            });
        }
        let Some((first, entity)) = meant.first().cloned() else {
            return Ok(None);
        };
        match meant.iter().find(|(it, _)| *it != first) {
            Some((other, _)) => Err(ambiguous(name, [first.as_str(), other])),
            None => Ok(Some(entity)),
        }
    }

    /// Returns the functions of a level: those of its scope, and those that `using` adds.
    pub(super) fn functions_at(&mut self, level: &Level) -> Vec<Function> {
        let symbols = self.symbols;
        let is_meant = |it: &&Function| {
            let mut names = level.names();
            names.any(|full| symbols.is_whole_name_of_function(it, full))
        };
        let found = self.functions().iter().filter(is_meant);
        let mut found: Vec<Function> = found.cloned().collect();
        for full in level.names().filter(|full| !self.has_sought(full)) {
            let mut aliased = self.symbols.functions_named(full);
            aliased.retain(|it| {
                !it.plt && !it.fragment && symbols.is_whole_name_of_function(it, full)
            });
            found.extend(aliased);
        }
        found
    }

    /// Returns the entity that any unit of the module has in the scopes or, unless the global
    /// scope is meant, in any other scope.
    pub(super) fn anywhere(&mut self, levels: &[Level], name: &str, is_global: bool) -> Step {
        for level in levels {
            for reach in [Reach::External, Reach::Any] {
                if let Some(found) = self.at(level, reach, None)? {
                    return Ok(Some(found));
                }
            }
        }
        if is_global {
            return Ok(None);
        }
        let meant: Vec<GlobalCandidate> = self.variables().to_vec();
        if let Some(variable) = self.one_of_names(&meant)? {
            return Ok(Some(Entity::Variable(variable)));
        }
        let mut enumerators = self.symbols.enumerator_candidates(name, None).into_iter();
        enumerators = match scope_and_name(name) {
            Some(_) => {
                let found = self.symbols.enumerator_named(name);
                return Ok(found.map(|(of, value)| Entity::Enumerator(of, value)));
            }
            None => enumerators,
        };
        let Some(found) = enumerators.next() else {
            return Ok(None);
        };
        match enumerators.find(|it| it.names != found.names) {
            Some(other) => {
                let names = [&found, &other].map(|it| it.names.first().map_or("", |it| it));
                Err(ambiguous(self.name, names))
            }
            None => Ok(Some(Entity::Enumerator(found.r#type, found.value))),
        }
    }

    /// Returns the single variable that these candidates define, in any scope.
    fn one_of_names(&self, meant: &[GlobalCandidate]) -> Result<Option<Variable>, ValueError> {
        let is_kept = |it: &&GlobalCandidate| {
            let variable = self.symbols.global_of(it);
            variable.is_some_and(|it| !it.location.is_nowhere())
        };
        let kept: Vec<GlobalCandidate> = meant.iter().filter(is_kept).cloned().collect();
        let meant = if kept.is_empty() { meant } else { &kept };
        let Some(first) = meant.first() else {
            return Ok(None);
        };
        match meant.iter().find(|it| it.name != first.name) {
            Some(other) => Err(ambiguous(self.name, [&*first.name, &*other.name])),
            None => self.one_of(meant),
        }
    }

    /// Returns the entity that a source file of the module has.
    pub(super) fn in_file(&mut self, file: &str, name: &str) -> Step {
        let found = self.symbols.globals_named(&format!("{file}::{name}"));
        let exact = |it: &&Variable| is_whole_name_of(name, &it.name);
        let meant = found.iter().find(exact).or(found.first());
        if let Some(variable) = meant {
            return Ok(Some(Entity::Variable(variable.clone())));
        }
        let statics = self.symbols.statics_named(&format!("{file}::{name}"));
        Ok(first_there(statics).map(Entity::Variable))
    }
}

fn first_there(variables: Vec<Variable>) -> Option<Variable> {
    let there = variables.iter().find(|it| !it.location.is_nowhere());
    there.or(variables.first()).cloned()
}

fn is_same(one: &Entity, other: &Entity) -> bool {
    match (one, other) {
        (Entity::Variable(one), Entity::Variable(other)) => one.location == other.location,
        (Entity::Function(one), Entity::Function(other)) => one.low_pc == other.low_pc,
        (Entity::Enumerator(one, a), Entity::Enumerator(other, b)) => one == other && a == b,
        (Entity::Symbol(one, _), Entity::Symbol(other, _)) => one == other,
        _ => false,
    }
}

pub(super) fn ambiguous(name: &str, meanings: [&str; 2]) -> ValueError {
    let [one, other] = meanings;
    if one == other {
        format!("`{name}` is ambiguous: there are several `{one}`").into()
    } else {
        format!("`{name}` is ambiguous: it is `{one}` or `{other}`; say which").into()
    }
}
