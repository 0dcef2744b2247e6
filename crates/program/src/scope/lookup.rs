//! Looks up a name that is not a local variable, at a place: by the rules of the language first,
//! then in the wider scopes that a user may mean.
//!
//! The language searches the scopes around the place, innermost first: classes with their bases,
//! namespaces with the names that `using` adds, the global scope. In each, the place's own
//! compilation unit precedes the other units of its module. After that come the program, the
//! exports of libraries, and at last all other definitions.
//!
//! **Invariant:** among several variables that a name may equally denote, none is chosen.

use super::definitions::{Reach, Source};
use super::meaning::{Entity, Meaning};
use crate::modules::{Module, Modules};
use crate::stack::frames::Frame;
use juror_symbols::{
    Function, Imports, Level, LocalType, Type, demangle, enclosing_scopes, is_base_type,
};
use juror_values::error::ValueError;
use std::rc::Rc;

/// The most pointers that are written behind the name of a type.
const POINTERS_MAX: usize = 16;

/// The most base classes whose types are searched.
const BASES_MAX: usize = 256;

/// A place whose names are looked up.
pub struct Place<'a> {
    modules: &'a Modules,
    /// The module of the place.
    own: Option<Rc<Module>>,
    /// The compilation unit of the place.
    unit: Option<u32>,
    /// The scopes around the place, innermost first, each with its `::`.
    scopes: Vec<String>,
    imports: Imports,
    /// The file address of the code, and the number of inlined calls within.
    at: (u64, usize),
}

impl<'a> Place<'a> {
    /// Returns the place of code at a file address of a module, in a function with this qualified
    /// name.
    pub fn new(
        modules: &'a Modules,
        own: Option<Rc<Module>>,
        file_address: u64,
        function: &str,
    ) -> Place<'a> {
        Place::inside(modules, own, (file_address, 0), function)
    }

    /// Returns the place in an inlined call, given the number of other calls in it.
    fn inside(
        modules: &'a Modules,
        own: Option<Rc<Module>>,
        (file_address, inline_depth): (u64, usize),
        function: &str,
    ) -> Place<'a> {
        let symbols = own.as_ref().map(|module| &module.symbols);
        let imports = symbols.map(|symbols| symbols.imports_at(file_address, inline_depth));
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
            at: (file_address, inline_depth),
        }
    }

    /// Returns the place of a frame.
    pub fn of_frame(modules: &'a Modules, frame: Option<&Frame>) -> Place<'a> {
        let own = frame.and_then(|frame| frame.module.clone());
        // Before the program runs, its loader has not begun: names are the program's.
        if frame.is_some_and(|frame| frame.is_launching) {
            return Place::new(modules, modules.main().cloned(), 0, "");
        }
        let address = frame.map_or(0, |frame| frame.lookup);
        let file_address = own.as_ref().map_or(0, |module| module.to_file(address));
        let name = frame.and_then(|frame| frame.name.as_deref()).unwrap_or("");
        // The name of a lambda's code has no scopes; the function around it has them, and so has the
        // mangled name.
        let inline_depth = frame.map_or(0, |frame| frame.inline_depth);
        let around = own.as_ref().and_then(|own| {
            let symbols = &own.symbols;
            symbols.function_around_lambda(file_address, inline_depth)
        });
        let mangled = || {
            let frame = frame.filter(|frame| !frame.is_inlined() && !name.contains("::"))?;
            demangle(frame.function.as_ref()?.linkage_name.as_ref()?)
        };
        let function = around.or_else(mangled);
        Place::inside(
            modules,
            own,
            (file_address, inline_depth),
            function.as_deref().unwrap_or(name),
        )
    }

    /// Returns the place without what `using` makes visible in the blocks around it: `extern int
    /// count;` in a block means the variable of the namespace around the function.
    pub(super) fn outside_of_blocks(mut self) -> Place<'a> {
        self.imports = self.imports.outside_of_blocks();
        self
    }

    /// Returns the place without the classes around it, as declarations of blocks see it.
    pub(super) fn outside_of_classes(mut self) -> Place<'a> {
        if let Some(own) = &self.own {
            let is_class = |scope: &String| {
                let name = scope.strip_suffix("::").unwrap_or(scope);
                own.symbols.class_named(name, self.unit).is_some()
            };
            self.scopes.retain(|scope| !is_class(scope));
        }
        self
    }

    /// Returns the source line of the place, if it is C or C++.
    fn line(&self) -> Option<u32> {
        let symbols = &self.own.as_ref()?.symbols;
        let (address, _) = self.at;
        let line = symbols.line_at(address).map(|line| line.line);
        line.filter(|_| symbols.is_cpp_at(address))
    }

    fn levels(&self, name: &str) -> Vec<Level> {
        self.imports.meanings(&self.scopes, name)
    }

    /// Looks up a name.
    ///
    /// # Errors
    /// The name is ambiguous.
    pub fn find(&self, written: &str) -> Result<Option<Meaning>, ValueError> {
        self.find_in(written, &|_| true)
    }

    /// Looks up a name in the modules that `is_reached` accepts.
    ///
    /// # Errors
    /// The name is ambiguous.
    pub fn find_in(
        &self,
        written: &str,
        is_reached: &dyn Fn(&Module) -> bool,
    ) -> Result<Option<Meaning>, ValueError> {
        let found = self.untyped_in(written, is_reached)?;
        Ok(found.map(|meaning| self.with_declared_type(meaning)))
    }

    /// Gives a variable that only the symbol table has the type with which a unit declares it.
    fn with_declared_type(&self, mut meaning: Meaning) -> Meaning {
        let (Entity::Symbol(_, r#type) | Entity::ThreadLocalSymbol(_, r#type)) =
            &mut meaning.entity
        else {
            return meaning;
        };
        let Some((name, size)) = r#type.untyped_symbol() else {
            return meaning;
        };
        let of_unit = || {
            let own = self.own.as_ref()?;
            own.symbols.declared_global(self.unit?, name)
        };
        let of_module = || {
            let mut modules = self.own.iter().chain(self.modules.iter());
            modules.find_map(|module| module.symbols.declared_anywhere(name))
        };
        let declared = of_unit().or_else(of_module);
        // Of all variables that no header declares, C says the type of this one.
        let declared = declared.or_else(|| Type::builtin("int").filter(|_| name == "errno"));
        if let Some(declared) = declared {
            *r#type = declared.of_symbol_size(size);
        }
        meaning
    }

    fn untyped_in(
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
        if let Some(own) = own {
            let mut source = Source::new(own, name).at_line(self.line());
            if let Some(found) = self.by_language(own, &mut source, &levels)? {
                return Ok(Some(found));
            }
            if own.is_main
                && let Some(entity) = source.anywhere(&levels, name, is_global)?
            {
                return Ok(meaning(own, entity, false));
            }
        }
        // The program that called the library.
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
                    && entity.is_there()
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
            // A variable of a library that was optimized out is not chosen.
            if let Some(entity) = source.anywhere(&levels, name, is_global)?
                && entity.is_there()
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

    /// Looks up a name by the rules of the language: in the place's own module, scope by scope.
    fn by_language(
        &self,
        own: &Rc<Module>,
        source: &mut Source<'_>,
        levels: &[Level],
    ) -> Result<Option<Meaning>, ValueError> {
        let unit = self.unit.map(Reach::Unit);
        for level in levels {
            for reach in unit.into_iter().chain([Reach::External]) {
                if let Some(entity) = source.at(level, reach, self.unit)? {
                    return Ok(Some(Meaning {
                        module: Rc::clone(own),
                        entity,
                        is_elsewhere: false,
                        is_private: false,
                    }));
                }
            }
            if let Some(found) = self.declared(level, source.name())? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns whether a name means something by the rules of the language, however many.
    pub(crate) fn has_by_language(&self, name: &str) -> bool {
        let Some(own) = &self.own else {
            return false;
        };
        let mut source = Source::new(own, name).at_line(self.line());
        let found = self.by_language(own, &mut source, &self.levels(name));
        !matches!(found, Ok(None))
    }

    /// Returns the place's own module.
    pub(super) fn own(&self) -> Option<&Rc<Module>> {
        self.own.as_ref()
    }

    /// Returns the variable that the place's unit declares at a level and another module defines.
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
                    Some(Entity::Symbol(address, of)) => {
                        let size = of.untyped_symbol().map_or(0, |(_, size)| size);
                        Entity::Symbol(address, r#type.of_symbol_size(size))
                    }
                    Some(entity) if entity.is_there() => entity,
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

    /// Looks up a name in a source file or a module: `file.c::name`, `libm.so.6::name`.
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
            let entity = if is_called(module, file) {
                source.anywhere(&levels, name, false)?
            } else {
                source.in_file(file, name)?
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

    /// Returns the functions that a name may denote: those of the innermost scope that has any.
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
            // The name may be mangled, or have its parameters.
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

    /// Returns the functions of this name in a namespace, from all modules.
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

    /// Looks up a type in the blocks and scopes around the place.
    ///
    /// # Errors
    /// The name is that of a type in some block of the function, and of another one outside: which
    /// is meant is not known.
    pub fn type_named(&self, written: &str) -> Result<Option<Type>, ValueError> {
        let end = written.find(['*', '&']).unwrap_or(written.len());
        let (plain, derived) = written.split_at(end);
        let local = self.own.as_ref().and_then(|own| {
            let (address, inline_depth) = self.at;
            own.symbols.local_type(address, inline_depth, plain.trim())
        });
        let ambiguous =
            || Err(format!("`{}` is the name of several types here", plain.trim()).into());
        let outside = || self.type_outside(written);
        Ok(match local {
            None => outside(),
            Some(LocalType::Found(found)) => Some(derived_as(found, derived)),
            Some(LocalType::Several) => return ambiguous(),
            Some(LocalType::InSomeBlock(_)) if outside().is_some() => return ambiguous(),
            Some(LocalType::InSomeBlock(found)) => Some(derived_as(found, derived)),
        })
    }

    /// Looks up a type in the scopes around the place, outside of its function.
    fn type_outside(&self, written: &str) -> Option<Type> {
        let own = self.own.as_ref()?;
        let (tag, name) = match written.split_once(' ') {
            Some((tag @ ("struct" | "class" | "union" | "enum"), name)) => (Some(tag), name),
            _ => (None, written),
        };
        let end = name.find(['*', '&']).unwrap_or(name.len());
        let (plain, derived) = name.split_at(end);
        let plain = plain.trim();
        // No scope has a type called `long`; whether `char` has a sign is known to the unit.
        let is_of_language = is_base_type(plain) && plain != "char";
        if plain.is_empty() || plain.contains(char::is_whitespace) || is_of_language {
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
            let inherited = self.names_of_bases(&level.scope);
            let mut inherited = inherited.iter().map(|base| format!("{base}::{plain}"));
            if let Some(found) = inherited.find_map(|full| exactly(&full)) {
                return Some(found);
            }
            // The types that `using` and inline namespaces add must agree.
            let mut imported = level.imported.iter().filter_map(exactly);
            if let Some(first) = imported.next() {
                let name = first.name();
                return imported.all(|it| it.name() == name).then_some(first);
            }
        }
        None
    }

    /// Returns the names of the base classes of a scope, nearest first; none if it is no class.
    fn names_of_bases(&self, scope: &str) -> Vec<String> {
        let class = scope.strip_suffix("::").zip(self.own.as_ref());
        let class = class.and_then(|(name, own)| own.symbols.class_named(name, self.unit));
        let mut found: Vec<String> = Vec::new();
        let mut level: Vec<Type> = class.into_iter().collect();
        while let Some(class) = level.pop() {
            let composite = class.composite();
            for base in composite.iter().flat_map(|it| &it.bases) {
                let name = base.r#type.strip().name();
                if found.len() < BASES_MAX && !found.contains(&name) {
                    found.push(name);
                    level.insert(0, base.r#type.clone());
                }
            }
        }
        found
    }

    /// Returns the static member or enumerator of a class.
    ///
    /// # Errors
    /// The name is ambiguous.
    pub fn class_name(&self, class: &Type, name: &str) -> Result<Option<Meaning>, ValueError> {
        let own = self.own.iter();
        for module in own.chain(self.modules.iter()) {
            let mut source = Source::new(module, name);
            let found = source.of_class(class, name, true)?;
            if let Some(entity) = found.filter(Entity::is_there) {
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

/// Returns a type with the pointers that are written behind its name.
fn derived_as(of: Type, stars: &str) -> Type {
    let stars = stars.chars().filter(|it| matches!(it, '*' | '&')).count();
    (0..stars.min(POINTERS_MAX)).fold(of, |of, _| of.pointer_to())
}

/// Splits `file.c::name` and `libm.so.6::name` into file and name.
fn split_file(written: &str) -> (Option<&str>, &str) {
    match written.split_once("::") {
        Some((file, rest)) if file.contains('.') && !rest.is_empty() => (Some(file), rest),
        _ => (None, written),
    }
}

/// Returns whether a module has this name, complete or without its version.
fn is_called(module: &Module, file: &str) -> bool {
    let name = module.name();
    let behind = name.strip_prefix(file);
    behind.is_some_and(|behind| {
        behind.is_empty() || (file.contains(".so") && behind.starts_with('.'))
    })
}
