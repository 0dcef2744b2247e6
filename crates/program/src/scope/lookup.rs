//! The meaning of a name that is no local variable, at a place: by the rules of the language
//! first, then by what a person may mean.
//!
//! The language has the scopes around the place, innermost first: classes with their bases,
//! namespaces with what `using` adds to them, the global scope. In each the place's own
//! compilation unit comes first, then the other units of its module. Only then are the
//! program, what libraries export, and at last everything else asked.
//!
//! **Invariant:** of several variables that a name may equally mean none is chosen.

use crate::modules::{Module, Modules};
use crate::stack::frames::Frame;
use crate::variables::{VariableContext, static_address, static_value};
use juror_symbols::{
    ClassName, EnumeratorCandidate, Function, GlobalCandidate, Imports, Level, SymbolFile, Type,
    Variable, demangle, enclosing_scopes, is_whole_name_of, omits_template_arguments,
    scope_and_name,
};
use juror_values::error::ValueError;
use juror_values::typed::Typed;
use std::rc::Rc;

/// A place whose names are looked up.
pub struct Place<'a> {
    modules: &'a Modules,
    /// The module of the place.
    own: Option<Rc<Module>>,
    /// The compilation unit of the place.
    unit: Option<u32>,
    /// The scopes around it, innermost first, each with its `::`.
    scopes: Vec<String>,
    imports: Imports,
}

/// What a name means.
#[derive(Debug, Clone)]
pub struct Meaning {
    /// The module that has it.
    pub module: Rc<Module>,
    /// What it is.
    pub entity: Entity,
    /// Whether neither the place's own module nor the program has it.
    pub is_elsewhere: bool,
    /// Whether it is one of a library's that the library lets no other module see.
    pub is_private: bool,
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Entity {
    /// A global or static variable.
    Variable(Variable),
    /// A function.
    Function(Function),
    /// An enumerator.
    Enumerator(Type, i128),
    /// A data symbol without debug information: file address and type.
    Symbol(u64, Type),
    /// A symbol of a thread-local variable: offset in the module's block and type.
    ThreadLocalSymbol(u64, Type),
}

/// Which definitions of a module are meant.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// Those of one compilation unit.
    Unit(u32),
    /// Those that other units can name.
    External,
    /// All.
    Any,
}

/// The outcome of one step of a search: nothing, one meaning, or several of which none is
/// preferred.
type Step = Result<Option<Entity>, ValueError>;

impl<'a> Place<'a> {
    /// The place of code in a module, in a function of this qualified name.
    pub fn new(
        modules: &'a Modules,
        own: Option<Rc<Module>>,
        file_address: u64,
        function: &str,
    ) -> Place<'a> {
        let symbols = own.as_ref().map(|module| &module.symbols);
        let imports = symbols.map(|symbols| symbols.imports_at(file_address));
        let unit = symbols.and_then(|symbols| symbols.unit_number_at(file_address));
        let mut scopes = enclosing_scopes(function);
        // In Rust a function is a scope of its static variables.
        let is_cpp = symbols.is_some_and(|symbols| symbols.is_cpp_at(file_address));
        if !is_cpp && !scopes.is_empty() {
            scopes.insert(0, format!("{function}::"));
        }
        Place {
            modules,
            own,
            unit,
            scopes,
            imports: imports.unwrap_or_default(),
        }
    }

    /// The place of a frame.
    pub fn of_frame(modules: &'a Modules, frame: Option<&Frame>) -> Place<'a> {
        let own = frame.and_then(|frame| frame.module.clone());
        let address = frame.map_or(0, |frame| frame.lookup);
        let file_address = own.as_ref().map_or(0, |module| module.to_file(address));
        let name = frame.and_then(|frame| frame.name.as_deref()).unwrap_or("");
        // The name of a lambda's code has no scopes; the mangled one has those around it.
        let function = frame.filter(|frame| !frame.is_inlined() && !name.contains("::"));
        let linkage_name = function.and_then(|frame| frame.function.as_ref()?.linkage_name.clone());
        let mangled = linkage_name.and_then(|linkage_name| demangle(&linkage_name));
        Place::new(
            modules,
            own,
            file_address,
            mangled.as_deref().unwrap_or(name),
        )
    }

    fn levels(&self, name: &str) -> Vec<Level> {
        self.imports.meanings(&self.scopes, name)
    }

    /// What a name means.
    ///
    /// # Errors
    /// It may mean several things.
    pub fn find(&self, written: &str) -> Result<Option<Meaning>, ValueError> {
        self.find_in(written, &|_| true)
    }

    /// What a name means in the modules that are reached.
    ///
    /// # Errors
    /// It may mean several things.
    pub fn find_in(
        &self,
        written: &str,
        is_reached: &dyn Fn(&Module) -> bool,
    ) -> Result<Option<Meaning>, ValueError> {
        let (file, name) = split_file(written);
        if let Some(file) = file {
            return self.find_in_file(file, name);
        }
        let levels = self.levels(name);
        let is_global = name.starts_with("::");
        let name = name.trim_start_matches("::");
        let meaning = |module: &Rc<Module>, entity, is_elsewhere| {
            Some(Meaning {
                module: Rc::clone(module),
                entity,
                is_elsewhere,
                is_private: false,
            })
        };
        let main = self.modules.main().filter(|main| is_reached(main));
        let own = self.own.as_ref();
        // The language: the place's own module, scope by scope.
        if let Some(own) = own {
            let mut source = Source::new(own, name);
            let unit = self.unit.map(Reach::Unit);
            for level in &levels {
                for reach in unit.into_iter().chain([Reach::External]) {
                    if let Some(entity) = source.at(level, reach, self.unit)? {
                        return Ok(meaning(own, entity, false));
                    }
                }
                if let Some(found) = self.declared(level, name)? {
                    return Ok(Some(found));
                }
            }
            if own.is_main
                && let Some(entity) = source.anywhere(&levels, name, is_global)?
            {
                return Ok(meaning(own, entity, false));
            }
        }
        // The program in whose name a library works.
        if let Some(main) = main.filter(|main| own.is_none_or(|own| !Rc::ptr_eq(own, main))) {
            let mut source = Source::new(main, name);
            if let Some(entity) = source.anywhere(&levels, name, is_global)? {
                return Ok(meaning(main, entity, false));
            }
        }
        let others = || {
            let is_other = |module: &&Rc<Module>| {
                !module.is_main
                    && own.is_none_or(|own| !Rc::ptr_eq(own, module))
                    && is_reached(module)
            };
            self.modules.iter().filter(is_other)
        };
        for module in others() {
            let mut source = Source::new(module, name);
            for level in &levels {
                if let Some(entity) = source.at(level, Reach::External, None)?
                    && is_there(&entity)
                {
                    return Ok(meaning(module, entity, true));
                }
            }
        }
        if let Some(own) = own.filter(|own| !own.is_main) {
            let mut source = Source::new(own, name);
            if let Some(entity) = source.anywhere(&levels, name, is_global)? {
                return Ok(meaning(own, entity, false));
            }
        }
        for module in others() {
            let mut source = Source::new(module, name);
            // A variable that the compiler removed from a library is not meant.
            if let Some(entity) = source.anywhere(&levels, name, is_global)?
                && is_there(&entity)
            {
                let found = meaning(module, entity, true);
                return Ok(found.map(|it| Meaning {
                    is_private: true,
                    ..it
                }));
            }
        }
        Ok(None)
    }

    /// The variable that the place's unit declares at a level and another module defines.
    fn declared(&self, level: &Level, name: &str) -> Result<Option<Meaning>, ValueError> {
        let (Some(own), Some(unit)) = (&self.own, self.unit) else {
            return Ok(None);
        };
        for full in level.names() {
            let Some(r#type) = own.symbols.declared_global(unit, full) else {
                continue;
            };
            for module in self.modules.iter() {
                let found = Source::new(module, name).named(full, Reach::External, None)?;
                let entity = match found {
                    Some(Entity::Symbol(address, _)) => Entity::Symbol(address, r#type.clone()),
                    Some(entity) if is_there(&entity) => entity,
                    _ => continue,
                };
                return Ok(Some(Meaning {
                    module: Rc::clone(module),
                    entity,
                    is_elsewhere: false,
                    is_private: false,
                }));
            }
        }
        Ok(None)
    }

    /// What a name of a source file, or of a module, means: `file.c::name`,
    /// `libm.so.6::name`.
    fn find_in_file(&self, file: &str, name: &str) -> Result<Option<Meaning>, ValueError> {
        let levels = Imports::default().meanings(&[], name);
        let own = self.own.iter();
        let mut seen: Vec<&Rc<Module>> = Vec::new();
        for module in own.chain(self.modules.iter()) {
            if seen.iter().any(|known| Rc::ptr_eq(known, module)) {
                continue;
            }
            seen.push(module);
            let mut source = Source::new(module, name);
            let entity = match is_called(module, file) {
                true => source.anywhere(&levels, name, false)?,
                false => source.in_file(file, name)?,
            };
            if let Some(entity) = entity {
                return Ok(Some(Meaning {
                    module: Rc::clone(module),
                    entity,
                    is_elsewhere: false,
                    is_private: false,
                }));
            }
        }
        Ok(None)
    }

    /// The functions that a name means: those of the innermost scope that has any.
    pub fn functions(&self, written: &str) -> Vec<(Rc<Module>, Function)> {
        let levels = self.levels(written);
        let name = written.trim_start_matches("::");
        let own = self.own.iter();
        let mut seen: Vec<&Rc<Module>> = Vec::new();
        for module in own.chain(self.modules.iter()) {
            if seen.iter().any(|known| Rc::ptr_eq(known, module)) {
                continue;
            }
            seen.push(module);
            let mut source = Source::new(module, name);
            for level in &levels {
                let found = source.functions_at(level);
                if !found.is_empty() {
                    let of = found.into_iter().map(|it| (Rc::clone(module), it));
                    return of.collect();
                }
            }
            // A mangled name, or one with its parameters.
            let exact = source
                .functions()
                .iter()
                .filter(|it| &*it.name == name || it.linkage_name.as_deref() == Some(name));
            let exact: Vec<_> = exact.map(|it| (Rc::clone(module), it.clone())).collect();
            if !exact.is_empty() {
                return exact;
            }
        }
        Vec::new()
    }

    /// The functions of this name in a namespace, in all modules.
    pub fn functions_in(&self, scope: &str, name: &str) -> Vec<(Rc<Module>, Function)> {
        let level = Imports::default().meanings(&[], &format!("::{scope}::{name}"));
        let modules = self.modules.iter();
        let found = modules.flat_map(|module| {
            let mut source = Source::new(module, name);
            let found = level
                .iter()
                .flat_map(|it| source.functions_at(it))
                .collect();
            let found: Vec<Function> = found;
            found.into_iter().map(|it| (Rc::clone(module), it))
        });
        found.collect()
    }

    /// The type that a name means, by the scopes around the place.
    pub fn type_named(&self, written: &str) -> Option<Type> {
        let own = self.own.as_ref()?;
        let (tag, name) = match written.split_once(' ') {
            Some((tag @ ("struct" | "class" | "union" | "enum"), name)) => (Some(tag), name),
            _ => (None, written),
        };
        let end = name.find(['*', '&']).unwrap_or(name.len());
        let (plain, derived) = name.split_at(end);
        let plain = plain.trim();
        if plain.is_empty() || plain.contains(char::is_whitespace) {
            return None;
        }
        let exactly = |full: &String| {
            let tag = tag.map_or_else(String::new, |tag| format!("{tag} "));
            let whole = format!("{tag}{full}{derived}");
            own.symbols.type_exactly_named(&whole, self.unit)
        };
        for level in self.levels(plain) {
            let mut found = level.own.iter().filter_map(exactly);
            if let Some(found) = found.next() {
                return Some(found);
            }
            // What `using` and inline namespaces add must agree.
            let mut imported = level.imported.iter().filter_map(exactly);
            if let Some(first) = imported.next() {
                let name = first.name();
                return imported.all(|it| it.name() == name).then_some(first);
            }
        }
        None
    }

    /// The static member or enumerator of a class as its objects have it.
    ///
    /// # Errors
    /// It is ambiguous.
    pub fn class_name(&self, class: &Type, name: &str) -> Result<Option<Meaning>, ValueError> {
        let own = self.own.iter();
        for module in own.chain(self.modules.iter()) {
            let mut source = Source::new(module, name);
            let found = source.of_class(class, name, true)?;
            if let Some(entity) = found.filter(is_there) {
                return Ok(Some(Meaning {
                    module: Rc::clone(module),
                    entity,
                    is_elsewhere: false,
                    is_private: false,
                }));
            }
        }
        let Some(module) = self.own.as_ref().or_else(|| self.modules.main()) else {
            return Ok(None);
        };
        let found = Source::new(module, name).of_class(class, name, false)?;
        Ok(found.map(|entity| Meaning {
            module: Rc::clone(module),
            entity,
            is_elsewhere: false,
            is_private: false,
        }))
    }
}

impl Meaning {
    /// Its value.
    pub fn value(self, context: VariableContext<'_>) -> Option<Typed> {
        let Meaning { module, entity, .. } = self;
        Some(match entity {
            Entity::Variable(variable) => static_value(variable, &module, context),
            Entity::Function(function) => super::function_value(&module, &function),
            Entity::Enumerator(r#type, value) => {
                let size = r#type.size().unwrap_or(4).min(16) as usize;
                let bytes = value.to_le_bytes().get(..size)?.to_vec();
                Typed::of_bytes(r#type, bytes)
            }
            Entity::Symbol(address, r#type) => {
                let modules = &context.program.modules;
                Typed::in_memory(r#type, modules.address_of_data(&module, address))
            }
            Entity::ThreadLocalSymbol(offset, r#type) => {
                let VariableContext { program, thread } = context;
                let address =
                    thread.and_then(|thread| program.thread_local(&module, thread, offset));
                match address {
                    Some(address) => Typed::in_memory(r#type, address),
                    None => Typed::missing(r#type, "the thread has no copy of it"),
                }
            }
        })
    }

    /// Its address and type, if it is a variable whose address never changes.
    pub fn address(self, modules: &Modules) -> Option<(u64, Type)> {
        match self.entity {
            Entity::Variable(variable) => {
                let address = static_address(&variable, &self.module, modules)?;
                Some((address, variable.r#type))
            }
            Entity::Symbol(address, r#type) => {
                Some((modules.address_of_data(&self.module, address), r#type))
            }
            _ => None,
        }
    }

    /// Whether it is a variable that a library lets no other module see.
    pub fn is_private(&self) -> bool {
        self.is_private && !matches!(self.entity, Entity::Function(_))
    }

    /// Whether it is a variable of another module than the place's and the program, which
    /// only a person means.
    pub fn is_variable_elsewhere(&self) -> bool {
        self.is_elsewhere && !matches!(self.entity, Entity::Function(_))
    }
}

/// Whether the compiler has kept it.
fn is_there(entity: &Entity) -> bool {
    !matches!(entity, Entity::Variable(variable) if variable.location.is_nowhere())
}

/// Splits `file.c::name` and `libm.so.6::name` into file and name.
fn split_file(written: &str) -> (Option<&str>, &str) {
    match written.split_once("::") {
        Some((file, rest)) if file.contains('.') && !rest.is_empty() => (Some(file), rest),
        _ => (None, written),
    }
}

/// Whether a module is called so: by its whole name, or without its version.
fn is_called(module: &Module, file: &str) -> bool {
    let name = module.name();
    let behind = name.strip_prefix(file);
    behind.is_some_and(|behind| {
        behind.is_empty() || (file.contains(".so") && behind.starts_with('.'))
    })
}

/// The definitions of a module that a name may mean; each kind is read when it is first
/// asked for.
struct Source<'a> {
    symbols: &'a SymbolFile,
    name: &'a str,
    variables: Option<Vec<GlobalCandidate>>,
    functions: Option<Vec<Function>>,
}

impl<'a> Source<'a> {
    fn new(module: &'a Module, name: &'a str) -> Source<'a> {
        Source {
            symbols: &module.symbols,
            name,
            variables: None,
            functions: None,
        }
    }

    fn variables(&mut self) -> &[GlobalCandidate] {
        let (symbols, name) = (self.symbols, self.name);
        self.variables
            .get_or_insert_with(|| symbols.global_candidates(name))
    }

    fn functions(&mut self) -> &[Function] {
        let (symbols, name) = (self.symbols, self.name);
        self.functions.get_or_insert_with(|| {
            let mut found = symbols.functions_named(name);
            found.retain(|function| !function.plt && !function.fragment);
            found
        })
    }

    /// Returns the meaning at a level of scopes: the scope itself first; what `using` adds must agree.
    fn at(&mut self, level: &Level, reach: Reach, unit: Option<u32>) -> Step {
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

    /// What has exactly this qualified name.
    fn named(&mut self, full: &str, reach: Reach, unit: Option<u32>) -> Step {
        if !self.has_sought(full) {
            // A namespace under another name.
            let mut aliased = Source {
                symbols: self.symbols,
                name: full,
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
            // An alias of another variable has its place in the symbol table alone.
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
            let statics = self.symbols.statics_named(full);
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
                return Ok(word(size).map(|word| Entity::Symbol(address, word)));
            }
            if reach == Reach::Any
                && let Some((offset, size)) = self.symbols.thread_local_symbol(full)
            {
                return Ok(word(size).map(|word| Entity::ThreadLocalSymbol(offset, word)));
            }
        }
        Ok(None)
    }

    /// Whether the search by the name as written finds this qualified name.
    fn has_sought(&self, full: &str) -> bool {
        let before = full.strip_suffix(self.name);
        before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
    }

    /// The one variable that these are; one that the compiler removed if it kept none.
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
                // Units repeat what other units can name, too.
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

    /// A static member or an enumerator of a class or of its bases; `is_defined` leaves out
    /// what has no definition in the module.
    fn of_class(&mut self, class: &Type, name: &str, is_defined: bool) -> Step {
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

    /// The functions of a level: of its scope, and of what `using` adds to it.
    fn functions_at(&mut self, level: &Level) -> Vec<Function> {
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

    /// What any unit of the module has, in the scopes or, unless the global scope is meant,
    /// in any other scope.
    fn anywhere(&mut self, levels: &[Level], name: &str, is_global: bool) -> Step {
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

    /// The one variable that these are, whatever their scopes.
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

    /// What a source file of the module has.
    fn in_file(&mut self, file: &str, name: &str) -> Step {
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

fn ambiguous(name: &str, meanings: [&str; 2]) -> ValueError {
    let [one, other] = meanings;
    match one == other {
        true => format!("`{name}` is ambiguous: there are several `{one}`").into(),
        false => format!("`{name}` is ambiguous: it is `{one}` or `{other}`; say which").into(),
    }
}

/// The type of a symbol that no debug information describes.
fn word(size: u64) -> Option<Type> {
    Type::builtin(match size {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        _ => "u64",
    })
}
