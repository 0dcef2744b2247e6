//! Parameters, local variables by scope, and global variables.

use crate::dwarf::facts::GlobalRecord;
use crate::dwarf::{DebugInfo, Die, DieRef, Visit};
use crate::elf::Binding;
use crate::location::{Location, LocationSource};
use crate::parameters::parameters;
use crate::types::{Type, target};
use crate::{Function, SymbolFile, names};
use std::path::Path;
use std::sync::Arc;

/// A variable or parameter of the program.
#[derive(Debug, Clone)]
pub struct Variable {
    /// The name; qualified for a global variable, empty for an unnamed parameter.
    pub name: Arc<str>,
    /// The type.
    pub r#type: Type,
    /// The location of the value.
    pub location: Location,
    /// Whether it is a parameter.
    pub parameter: bool,
    /// Whether the compiler generated it (`this`).
    pub artificial: bool,
    /// The source line that declares it.
    pub line: Option<u32>,
    /// Whether it is declared behind the source line of the address that it was asked for: in
    /// the language, its name still means something else there.
    pub is_later: bool,
    /// Whether it is static and of some block of the function, which the compiler does not say.
    pub is_of_some_block: bool,
}

impl Variable {
    /// Returns a variable without a value, because another one of its name may be meant.
    pub fn undecided(mut self) -> Variable {
        self.location.source = LocationSource::Undecided;
        self
    }
}

/// A global variable that a name may mean.
#[derive(Debug, Clone)]
pub struct GlobalCandidate {
    /// The qualified name.
    pub name: Box<str>,
    /// Whether other units can name it.
    pub is_external: bool,
    /// The compilation unit that defines it.
    pub unit: u32,
    die: DieRef,
}

/// Returns whether types with this tag have scopes of their own.
pub(crate) fn is_class(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
    )
}

/// The kind of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeKind {
    /// A block of statements.
    Block,
    /// The body of the inlined function with this name.
    Inlined(Arc<str>),
    /// The body of the function itself.
    Function,
}

/// A scope with its variables.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The kind of the scope.
    pub kind: ScopeKind,
    /// The variables, parameters first, in the order of their declarations.
    pub variables: Vec<Variable>,
    /// The enumerators of its enumerations, as constants.
    pub enumerators: Vec<Variable>,
    /// The variables of blocks in it that may contain the place: the compiler does not say where
    /// they are.
    pub unplaced: Vec<Variable>,
    /// The names that its `using` declarations take from other scopes.
    pub declared: Vec<Box<str>>,
    /// The names that it declares for variables of the namespace around the function (`extern int
    /// count;`).
    pub external: Vec<Box<str>>,
}

impl Scope {
    /// Returns a scope without variables.
    pub fn of(kind: ScopeKind) -> Scope {
        Scope {
            kind,
            variables: Vec::new(),
            enumerators: Vec::new(),
            unplaced: Vec::new(),
            declared: Vec::new(),
            external: Vec::new(),
        }
    }
}

impl SymbolFile {
    /// Returns the parameters of a function in order, including generated ones (`this`).
    /// Empty without debug information.
    pub fn parameters(&self, function: &Function) -> Vec<Variable> {
        let (Some(info), Some(die)) = (self.inner.debug_info(), function.die) else {
            return Vec::new();
        };
        parameters(info, die)
    }

    /// Returns the global and file-static variables with this name, external ones first.
    /// `file.c::name` restricts the search to a source file.
    pub fn globals_named(&self, name: &str) -> Vec<Variable> {
        self.globals_where(name, |_, _| true)
    }

    /// Returns the variables of [`SymbolFile::globals_named`] that have external linkage.
    pub fn externals_named(&self, name: &str) -> Vec<Variable> {
        self.globals_where(name, |_, record| record.external)
    }

    /// Returns the global variables with exactly this name in the compilation unit of the
    /// code at a file address.
    pub fn globals_beside(&self, name: &str, address: u64) -> Vec<Variable> {
        let function = |info: &Arc<DebugInfo>| info.function_at(address).map(|it| it.die.unit);
        let Some(unit) = self.inner.debug_info().and_then(function) else {
            return Vec::new();
        };
        self.globals_where(name, |name, record| {
            record.die.unit == unit && *record.name == *name
        })
    }

    /// Returns the global and file-static variables of the compilation unit of the function at
    /// a file address, in the order of their declarations, each once.
    pub fn globals_of_unit_at(&self, address: u64) -> Vec<Variable> {
        let (Some(info), Some(unit)) = (self.inner.debug_info(), self.unit_number_at(address))
        else {
            return Vec::new();
        };
        let mut found: Vec<Variable> = Vec::new();
        for record in info.globals_of_unit(unit) {
            let entry = info.die(record.die);
            let variable = entry.and_then(|entry| variable(info, record.die, &entry, None));
            let Some(mut variable) = variable else {
                continue;
            };
            variable.name = record.name.as_ref().into();
            if !found.iter().any(|it| it.name == variable.name) {
                found.push(variable);
            }
        }
        found
    }

    fn globals_where(
        &self,
        name: &str,
        is_wanted: impl Fn(&str, &GlobalRecord) -> bool,
    ) -> Vec<Variable> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let (file, name) = match name.split_once("::") {
            Some((file, rest)) if file.contains('.') => (Some(file), rest),
            _ => (None, name),
        };
        let mut found: Vec<_> = info
            .globals_like(name)
            .into_iter()
            .filter(|record| info.is_named(record.die.unit, &record.name, name))
            .filter(|record| is_wanted(name, record))
            .filter(|record| file.is_none_or(|file| unit_is(info, record.die.unit, file)))
            .collect();
        found.sort_by_key(|record| (*record.name != *name, !record.external, record.die));
        found
            .into_iter()
            .filter_map(|record| {
                let entry = info.die(record.die)?;
                let mut found = variable(info, record.die, &entry, None)?;
                found.name = record.name.as_ref().into();
                Some(found)
            })
            .collect()
    }

    /// Returns the global variables, and the declarations of such, whose name ends like the
    /// name as written.
    pub fn global_candidates(&self, written: &str) -> Vec<GlobalCandidate> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let mut found: Vec<GlobalCandidate> = info
            .globals_like(written)
            .into_iter()
            .filter(|record| info.is_named(record.die.unit, &record.name, written))
            .map(|record| GlobalCandidate {
                name: record.name,
                is_external: record.external,
                unit: record.die.unit,
                die: record.die,
            })
            .collect();
        found.sort_by_key(|candidate| candidate.die);
        found
    }

    /// Returns a variable of [`SymbolFile::global_candidates`].
    pub fn global_of(&self, candidate: &GlobalCandidate) -> Option<Variable> {
        let info = self.inner.debug_info()?;
        let entry = info.die(candidate.die)?;
        let mut found = variable(info, candidate.die, &entry, None)?;
        found.name = candidate.name.as_ref().into();
        Some(found)
    }

    /// Returns the name of the source file of a candidate's unit, as the compiler was given
    /// it.
    pub fn file_of(&self, candidate: &GlobalCandidate) -> Option<String> {
        let unit = self.inner.debug_info()?.unit(candidate.unit)?;
        let name = unit.unit.name.as_ref()?;
        Some(String::from_utf8_lossy(name.bytes()).into_owned())
    }

    /// Returns the number of the compilation unit of the code at a file address.
    pub fn unit_number_at(&self, address: u64) -> Option<u32> {
        let info = self.inner.debug_info()?;
        info.function_at(address).map(|it| it.die.unit)
    }

    /// Returns the type of a global variable that a compilation unit declares, defined in
    /// the unit or elsewhere; `name` is the qualified name.
    pub fn declared_global(&self, unit: u32, name: &str) -> Option<Type> {
        let info = self.inner.debug_info()?;
        let die = info.facts(unit)?.declared_global(unit, name)?;
        let entry = info.die(die)?;
        Some(target(info, die, &entry))
    }

    /// Returns the type of a global variable that some unit declares; `None` if none does, or
    /// if the units do not agree.
    pub fn declared_anywhere(&self, name: &str) -> Option<Type> {
        let info = self.inner.debug_info()?;
        let mut found: Option<Type> = None;
        for unit in info.units_with(name) {
            let Some(declared) = self.declared_global(unit, name) else {
                continue;
            };
            match &found {
                Some(known) if known.normalized_name() != declared.normalized_name() => {
                    return None;
                }
                // The declaration of another unit may say the length of an array.
                Some(known) if known.size().is_some() => {}
                _ => found = Some(declared),
            }
        }
        found
    }

    /// Returns the type of a C++ class with exactly this qualified name, the one that the
    /// unit has first.
    pub fn class_named(&self, name: &str, unit: Option<u32>) -> Option<Type> {
        let info = self.inner.debug_info()?;
        if let Some(unit) = unit
            && let Some(die) = info.facts(unit).and_then(|facts| facts.class_named(name))
        {
            return Some(Type::from_die(info.clone(), die));
        }
        let records = info.types_with_tail(names::tail(name)).into_iter();
        let mut records = records
            .filter(|it| is_class(it.tag) && info.is_wholly_named(it.die.unit, &it.name, name));
        let found = records.clone().find(|it| !it.declaration);
        let found = found.or_else(|| records.next())?;
        Some(Type::from_die(info.clone(), found.die))
    }

    /// Returns the names of all global variables for completion, sorted and without
    /// duplicates.
    pub fn global_names(&self) -> Vec<String> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let mut found: Vec<String> = info.names().global_names().map(str::to_owned).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Returns whether some function has a local variable or parameter with this name.
    /// Reads the functions one by one until one has.
    pub fn has_local_named(&self, name: &str) -> bool {
        let Some(info) = self.inner.debug_info() else {
            return false;
        };
        let is_variable = |entry: &Die| {
            matches!(
                entry.tag(),
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter
            )
        };
        let facts = info.unit_numbers().filter_map(|unit| info.facts(unit));
        let mut functions = facts.flat_map(|facts| facts.function_dies());
        functions.any(|function| {
            let mut found = false;
            info.walk(function, |_, die, entry| {
                found |= is_variable(entry)
                    && info.inherited_text(die, gimli::DW_AT_name).as_deref() == Some(name);
                if found { Visit::Skip } else { Visit::Descend }
            });
            found
        })
    }

    /// Returns the offset of a thread-local variable in the module's TLS block, and its
    /// size in bytes, from the symbol table.
    pub fn thread_local_symbol(&self, name: &str) -> Option<(u64, u64)> {
        let symbol = self.inner.symbols().thread_locals_named(name).next()?;
        Some((symbol.address, symbol.size))
    }

    /// Returns the names of the exported data symbols that begin at a file address and that
    /// definitions of other modules may replace.
    pub fn replaceable_data_at(&self, address: u64) -> Vec<String> {
        if self.header().is_symbolic {
            return Vec::new();
        }
        let symbols = self.inner.symbols();
        let found = symbols.replaceable_objects_at(address);
        found
            .map(|symbol| symbols.text(symbol).to_owned())
            .collect()
    }

    /// Returns the file address and the size in bytes of an exported data symbol.
    pub fn exported_data(&self, name: &str) -> Option<(u64, u64)> {
        let symbols = self.inner.symbols();
        let mut found = symbols.objects_named(name);
        let symbol = found.find(|symbol| symbol.binding == Binding::Exported)?;
        Some((symbol.address, symbol.size))
    }

    /// Returns the file address and the size in bytes of a data symbol. Needs no debug
    /// information.
    pub fn data_symbol(&self, name: &str) -> Option<(u64, u64)> {
        let symbol = self.inner.symbols().objects_named(name).next()?;
        Some((symbol.address, symbol.size))
    }
}

/// Returns whether a DIE only declares a variable that is defined elsewhere. An inlined copy
/// has the declaration as its origin.
pub(crate) fn is_declaration(info: &DebugInfo, die: DieRef, entry: &Die) -> bool {
    if DebugInfo::is_set(entry, gimli::DW_AT_declaration) {
        return true;
    }
    let has_place = [gimli::DW_AT_location, gimli::DW_AT_const_value];
    if has_place
        .iter()
        .any(|name| entry.attr_value(*name).is_some())
    {
        return false;
    }
    let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
    let origin = info.reference(die.unit, origin).and_then(|at| info.die(at));
    origin.is_some_and(|origin| DebugInfo::is_set(&origin, gimli::DW_AT_declaration))
}

pub(crate) fn unit_is(info: &DebugInfo, unit: u32, file: &str) -> bool {
    let name = info.unit(unit).and_then(|unit| unit.unit.name.as_ref());
    name.is_some_and(|name| {
        let name = String::from_utf8_lossy(name.bytes());
        crate::line::is_path_of(Path::new(file), Path::new(&*name))
    })
}

/// Returns a static member as its class declares it.
pub(crate) fn variable_of_class(
    info: &Arc<DebugInfo>,
    die: DieRef,
    entry: &Die,
    qualified: &str,
) -> Variable {
    Variable {
        name: qualified.into(),
        r#type: target(info, die, entry),
        location: Location::of_die(info, die, None),
        parameter: false,
        artificial: false,
        line: info
            .inherited_unsigned(die, gimli::DW_AT_decl_line)
            .and_then(|line| u32::try_from(line).ok()),
        is_later: false,
        is_of_some_block: false,
    }
}

pub(crate) fn variable(
    info: &Arc<DebugInfo>,
    die: DieRef,
    entry: &Die,
    function: Option<DieRef>,
) -> Option<Variable> {
    // A declaration inside a function refers to a global variable.
    if is_declaration(info, die, entry) {
        return None;
    }
    let parameter = entry.tag() == gimli::DW_TAG_formal_parameter;
    let name = match info.inherited_text(die, gimli::DW_AT_name) {
        Some(name) => name,
        // An unnamed parameter is passed like any other.
        None if parameter => "".into(),
        None => return None,
    };
    let r#type = info
        .inherited(die, |info, at, entry| {
            entry.attr_value(gimli::DW_AT_type)?;
            Some((at, info.die(at)?))
        })
        .map_or_else(Type::void, |(at, entry)| target(info, at, &entry));
    let artificial = info
        .inherited(die, |_, _, entry| {
            DebugInfo::is_set(entry, gimli::DW_AT_artificial).then_some(())
        })
        .is_some();
    Some(Variable {
        name: name.as_ref().into(),
        r#type,
        location: Location::of_die(info, die, function),
        parameter,
        artificial,
        line: info
            .inherited_unsigned(die, gimli::DW_AT_decl_line)
            .and_then(|line| u32::try_from(line).ok()),
        is_later: false,
        is_of_some_block: false,
    })
}
