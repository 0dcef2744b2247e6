//! The loaded modules of a process with their symbols: addresses to names and lines, and names to
//! addresses.
//!
//! Invariant: the addresses in the interface are those of the process; file addresses are internal.

mod opening;

use crate::modules::opening::LeftOut;
use crate::symbol_store::SymbolStore;
use juror_debuggee::ModuleFile;
use juror_event::Reach;
use juror_symbols::{
    Binding, Function, InlinedCall, InlinedCopy, InlinedFrame, Line, SymbolFile, Type,
    is_whole_name_of,
};
use juror_values::read_plan::ClassNumber;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

/// The most virtual tables whose classes are cached.
const OBJECTS_MAX: usize = 4_096;

/// A loaded program or library.
#[derive(Debug)]
pub struct Module {
    /// The path of its file in the program.
    pub path: PathBuf,
    /// The device and the inode of what is mapped; nothing if they are not known.
    mapped: Option<(String, u64)>,
    /// The load bias: the difference between process addresses and file addresses.
    pub bias: u64,
    /// Whether it is the executable.
    pub is_main: bool,
    /// Whether it was loaded by `dlopen` after the start: its exported names are reached through
    /// its handle, whatever other modules export.
    pub is_late: bool,
    /// Its symbols.
    pub symbols: SymbolFile,
    /// The modification time of the file.
    pub built: Option<SystemTime>,
    /// The types of trait objects by the file addresses of their tables, computed at the first use.
    tables: OnceCell<FxHashMap<u64, Box<str>>>,
}

impl Module {
    /// Converts a file address to an address in the process.
    pub fn to_process(&self, file_address: u64) -> u64 {
        file_address.wrapping_add(self.bias)
    }

    /// Converts an address in the process to a file address.
    pub fn to_file(&self, address: u64) -> u64 {
        address.wrapping_sub(self.bias)
    }

    /// Returns whether it is this file, mapped at the same place.
    fn is_from(&self, file: &ModuleFile) -> bool {
        // What is mapped is not known once the process is gone.
        let is_same = file.mapped.is_none() || file.mapped == self.mapped;
        is_same && self.bias == file.module.bias && self.path == file.module.path
    }

    /// Returns whether one of its segments contains an address.
    pub fn contains(&self, address: u64) -> bool {
        let address = self.to_file(address);
        self.symbols
            .header()
            .segments
            .iter()
            .any(|segment| segment.contains(address))
    }

    /// Returns whether an event with this reach includes the module.
    pub fn is_reached(&self, reach: &Reach) -> bool {
        match reach {
            Reach::Anywhere | Reach::Library => true,
            Reach::Module(prefix) => self.name().starts_with(&**prefix),
        }
    }

    /// Returns whether a name is its file name, with or without the suffix after a dot: `libc` and
    /// `libc.so` name `libc.so.6`, and not `libcrypt.so.1`.
    pub fn is_named(&self, name: &str) -> bool {
        let own = self.name();
        let rest = own.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Returns the concrete type of the trait objects whose table is at a file address.
    fn type_of_table(&self, file_address: u64) -> Option<Type> {
        let found = || {
            let tables = self.symbols.trait_object_vtables().into_iter();
            tables.map(|(at, name)| (at, name.into())).collect()
        };
        let name = self.tables.get_or_init(found).get(&file_address)?;
        self.symbols.type_named(name)
    }

    /// Returns its file name without directories.
    pub fn name(&self) -> String {
        file_name(&self.path)
    }
}

/// The source location of an address.
#[derive(Debug)]
pub struct SourceLocation {
    /// The function with a frame.
    pub function: Option<Function>,
    /// The inlined calls around the address, innermost first.
    pub inlined: Vec<InlinedFrame>,
    /// The number of inlined calls that begin there and are left out.
    pub left_out: usize,
    /// The source line.
    pub line: Option<Line>,
}

impl Module {
    /// Returns the source location of a file address. The first instruction of a function belongs
    /// to the function itself, even if the optimizer let the code of an inlined call begin there.
    pub fn source_location(&self, address: u64) -> SourceLocation {
        let function = self.symbols.function_at(address);
        let inlined = self.symbols.inlined_frames(address);
        let is_entry = function.as_ref().is_some_and(|f| f.low_pc == address);
        match &function {
            Some(entered) if is_entry && !inlined.is_empty() => SourceLocation {
                line: self.symbols.opening_line(entered),
                left_out: inlined.len(),
                inlined: Vec::new(),
                function,
            },
            _ => SourceLocation {
                line: self.line_within(address, &inlined),
                left_out: 0,
                inlined,
                function,
            },
        }
    }

    /// Returns the source location including the inlined calls at the start of a function. An
    /// inlined call that begins elsewhere is left out, since only its instruction was moved.
    pub fn source_location_within(&self, address: u64) -> SourceLocation {
        let mut location = self.source_location(address);
        if location.left_out == 0 {
            return location;
        }
        let mut inlined = self.symbols.inlined_frames(address);
        let beginning = inlined.iter().rev();
        let beginning = beginning.take_while(|call| call.entry == address).count();
        let moved: Vec<InlinedFrame> = inlined.drain(..inlined.len() - beginning).collect();
        if inlined.is_empty() {
            return location;
        }
        location.line = match moved.last() {
            Some(call) => line_of_call(call).or(location.line),
            None => self.line_within(address, &inlined),
        };
        location.left_out = moved.len();
        location.inlined = inlined;
        location
    }

    /// Returns the line of an address within these inlined calls.
    fn line_within(&self, address: u64, inlined: &[InlinedFrame]) -> Option<Line> {
        match inlined.first() {
            Some(call) if call.entry == address => {
                let entered = self.symbols.line_entered_at(address);
                entered.or_else(|| self.symbols.statement_line_at(address))
            }
            _ => self.symbols.line_at(address),
        }
    }
}

/// Returns the call site of an inlined call.
fn line_of_call(call: &InlinedFrame) -> Option<Line> {
    Some(Line {
        file: call.call_file.as_deref()?.into(),
        line: call.call_line?,
        column: None,
        is_stmt: true,
        range: call.entry..call.entry,
    })
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// A function in the process.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Its module.
    pub module: Rc<Module>,
    /// The function.
    pub function: Function,
}

impl Bound {
    /// Returns the address of its first instruction in the process.
    pub fn address(&self) -> u64 {
        self.module.to_process(self.function.low_pc)
    }
}

/// A symbolic description of an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// The innermost function, inlined ones included.
    pub function: Option<String>,
    /// The offset from the start of the function that has a frame, in bytes.
    pub offset: u64,
    /// The source file.
    pub file: Option<PathBuf>,
    /// The source line.
    pub line: Option<u32>,
    /// For code without a line: the line before it in the function.
    pub near: Option<(PathBuf, u32)>,
    /// The module's file name.
    pub module: Option<String>,
}

/// All modules, in link-map order: the executable first.
#[derive(Debug, Clone, Default)]
pub struct Modules {
    loaded: Vec<Rc<Module>>,
    /// The source of the symbols.
    store: SymbolStore,
    is_started: bool,
    /// The results of resolvers of indirect functions, by the resolver's address; `None` if one
    /// could not be run.
    indirect: FxHashMap<u64, Option<u64>>,
    /// The classes that plans refer to, indexed by their numbers. Copies share them, so that plans
    /// are valid for all.
    classes: Rc<RefCell<Vec<Type>>>,
    /// Whether objects with a virtual table are of a class.
    objects: RefCell<FxHashMap<(u64, ClassNumber), bool>>,
    /// The addresses at which inlined calls have events.
    inlined_call_addresses: FxHashSet<u64>,
    /// The vDSO. It is found by address only: its functions are those that the C library calls,
    /// under other names.
    vdso: Option<Rc<Module>>,
    /// The modules whose symbols are not used.
    left_out: Vec<LeftOut>,
}

impl Modules {
    /// Returns an empty list.
    pub fn new(store: SymbolStore) -> Modules {
        Modules {
            store,
            ..Modules::default()
        }
    }

    /// Returns the source of the symbols.
    pub fn store(&self) -> &SymbolStore {
        &self.store
    }

    /// Marks the initial libraries as loaded: later ones are late.
    pub fn note_started(&mut self) {
        self.is_started = true;
    }

    /// Returns whether the initial libraries are loaded.
    pub fn have_started(&self) -> bool {
        self.is_started
    }

    /// Returns the modules in link-map order.
    pub fn iter(&self) -> impl Iterator<Item = &Rc<Module>> {
        self.loaded.iter()
    }

    /// Returns the executable.
    pub fn main(&self) -> Option<&Rc<Module>> {
        self.loaded.iter().find(|module| module.is_main)
    }

    /// Returns the module that contains an address.
    pub fn find(&self, address: u64) -> Option<&Rc<Module>> {
        let mut all = self.loaded.iter().chain(&self.vdso);
        all.find(|module| module.contains(address))
    }

    /// Returns whether an address is in a stub of a procedure linkage table.
    pub fn is_linkage_stub(&self, address: u64) -> bool {
        let module = self.find(address);
        module.is_some_and(|it| it.symbols.is_linkage_stub(it.to_file(address)))
    }

    /// Returns whether an address is in code that leads from a call to the function of
    /// another module: a stub of a procedure linkage table, or the dynamic linker, which
    /// binds the function at its first call.
    pub fn is_linkage(&self, address: u64) -> bool {
        let Some(module) = self.find(address) else {
            return false;
        };
        self.is_dynamic_linker(module) || module.symbols.is_linkage_stub(module.to_file(address))
    }

    /// Returns whether an address is in a function of the compiler that leads a call on to
    /// another one: a thunk of a virtual function, or one for an indirect call.
    pub fn is_in_thunk(&self, address: u64) -> bool {
        let bound = self.function_at(address);
        bound.is_some_and(|it| it.module.symbols.leads_on(&it.function))
    }

    /// Returns whether a module is the dynamic linker of the program.
    pub fn is_dynamic_linker(&self, module: &Module) -> bool {
        let linker = self
            .main()
            .and_then(|it| it.symbols.header().interpreter.as_deref());
        linker.is_some_and(|path| module.path.as_os_str() == path)
    }

    /// Returns whether the vDSO is known.
    pub fn has_vdso(&self) -> bool {
        self.vdso.is_some()
    }

    /// Sets the vDSO, which starts at `start`. If its symbols cannot be read, it is left out.
    pub fn set_vdso(&mut self, name: &str, start: u64, bytes: Vec<u8>) {
        let settings = Arc::new(self.store.settings());
        let Ok(symbols) = SymbolFile::in_memory(name, bytes.into(), settings) else {
            return;
        };
        let segments = symbols.header().segments.iter();
        let lowest = segments.map(|segment| segment.address).min();
        self.vdso = Some(Rc::new(Module {
            path: name.into(),
            mapped: None,
            bias: start.wrapping_sub(lowest.unwrap_or(0)),
            is_main: false,
            is_late: false,
            symbols,
            built: None,
            tables: OnceCell::new(),
        }));
    }

    /// Records the result of the resolver of an indirect function.
    pub fn note_chosen(&mut self, resolver: u64, answer: Option<u64>) {
        self.indirect.insert(resolver, answer);
    }

    /// Returns whether the resolver of an indirect function has been run.
    pub fn is_asked(&self, resolver: u64) -> bool {
        self.indirect.contains_key(&resolver)
    }

    /// Returns the function that an indirect function resolves to, or `None` if its resolver has
    /// not been run or failed.
    pub fn chosen(&self, indirect: &Bound) -> Option<Bound> {
        let answer = (*self.indirect.get(&indirect.address())?)?;
        let module = Rc::clone(self.find(answer)?);
        let low_pc = module.to_file(answer);
        let known = module.symbols.function_with_low_pc(low_pc);
        let name = || Arc::clone(&indirect.function.name);
        let function = known.unwrap_or_else(|| Function::unnamed(name(), low_pc));
        Some(Bound { module, function })
    }

    /// Returns the concrete type of Rust trait objects whose table of methods is at an address.
    pub fn type_of_table(&self, address: u64) -> Option<Type> {
        let module = self.find(address)?;
        module.type_of_table(module.to_file(address))
    }

    /// Returns the number that [`Modules::is_object`] takes for a class.
    pub fn number_of(&self, class: &Type) -> ClassNumber {
        let mut classes = self.classes.borrow_mut();
        let known = classes.iter().position(|known| known == class);
        let number = known.unwrap_or(classes.len());
        if known.is_none() {
            classes.push(class.clone());
        }
        ClassNumber(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Returns whether objects with this virtual table are of a class or of one derived from it.
    /// `ask` determines it, once for each table.
    pub fn is_object(
        &self,
        table: u64,
        class: ClassNumber,
        ask: impl FnOnce(&Type) -> bool,
    ) -> bool {
        if let Some(known) = self.objects.borrow().get(&(table, class)) {
            return *known;
        }
        let found = self.classes.borrow().get(class.0 as usize).cloned();
        let is_object = found.is_some_and(|class| ask(&class));
        let mut objects = self.objects.borrow_mut();
        if objects.len() >= OBJECTS_MAX {
            // Objects that are not valid may point anywhere.
            objects.clear();
        }
        objects.insert((table, class), is_object);
        is_object
    }

    /// Returns the C++ class whose virtual table ends or lies before an address.
    pub fn class_of_vtable(&self, address: u64) -> Option<Box<str>> {
        let module = self.find(address.checked_sub(1)?)?;
        module.symbols.class_of_vtable(module.to_file(address))
    }

    /// Returns the function that contains an address.
    pub fn function_at(&self, address: u64) -> Option<Bound> {
        let module = self.find(address)?;
        let function = module.symbols.function_at(module.to_file(address))?;
        Some(Bound {
            module: Rc::clone(module),
            function,
        })
    }

    /// Describes an address symbolically.
    pub fn describe(&self, address: u64) -> Described {
        let Some(module) = self.find(address) else {
            return Described::default();
        };
        let file_address = module.to_file(address);
        let SourceLocation {
            function,
            inlined,
            line,
            ..
        } = module.source_location(file_address);
        let offset = function
            .as_ref()
            .map_or(0, |f| file_address.saturating_sub(f.low_pc));
        let inlined = inlined.into_iter().next();
        let near = match line {
            None => module.symbols.line_before(file_address),
            Some(_) => None,
        };
        Described {
            near: near.map(|near| (near.file.to_path_buf(), near.line)),
            function: inlined
                .map(|frame| frame.name.to_string())
                .or_else(|| function.map(|f| f.name.to_string())),
            offset,
            file: line.as_ref().map(|line| line.file.to_path_buf()),
            line: line.map(|line| line.line).filter(|&line| line != 0),
            module: Some(module.name()),
        }
    }

    /// Searches all modules for functions of these names in parallel, so that later calls of
    /// [`Modules::definitions`] are answered from the cache.
    pub fn search_ahead(&self, names: &[&str]) {
        let files = self.loaded.iter().map(|module| module.symbols.clone());
        SymbolFile::search_all(&files.collect::<Vec<_>>(), names);
    }

    /// Returns the definitions of a function in the modules that `wanted` accepts, without PLT
    /// stubs and split-off cold parts.
    pub fn definitions(&self, name: &str, wanted: impl Fn(&Module) -> bool) -> Vec<Bound> {
        self.loaded
            .iter()
            .filter(|module| wanted(module))
            .flat_map(|module| {
                module
                    .symbols
                    .functions_named(name)
                    .into_iter()
                    .filter(|function| !function.plt && !function.fragment)
                    .map(|function| Bound {
                        module: Rc::clone(module),
                        function,
                    })
            })
            .collect()
    }

    /// Returns the definitions that calls of this name reach: of the exported definitions in
    /// initial modules the first in link-map order, which interposes the others, and all
    /// definitions that are not exported or were loaded later.
    pub fn reached_definitions(&self, name: &str, wanted: impl Fn(&Module) -> bool) -> Vec<Bound> {
        let mut interposed: Option<Rc<Module>> = None;
        let mut reached = self.definitions(name, wanted);
        // `push` also finds `Queue::push`, for the user at the prompt; a function with exactly this
        // name takes precedence.
        let is_exact = |bound: &Bound| {
            let Bound { module, function } = bound;
            &*function.name == name
                || function.linkage_name.as_deref() == Some(name)
                // An inline namespace counts as absent.
                || !is_whole_name_of(name, &function.name)
                    && module.symbols.is_whole_name_of_function(function, name)
        };
        if reached.iter().any(is_exact) {
            reached.retain(is_exact);
        }
        reached.retain(|bound| {
            if bound.function.binding != Binding::Exported || bound.module.is_late {
                return true;
            }
            let first = interposed.get_or_insert_with(|| Rc::clone(&bound.module));
            Rc::ptr_eq(first, &bound.module)
        });
        // Aliases of one function have one address.
        let mut seen = Vec::new();
        reached.retain(|bound| {
            let address = bound.address();
            let new = !seen.contains(&address);
            seen.push(address);
            new
        });
        reached
    }

    /// Returns the process address of a variable that a module defines, or of the definition in
    /// another module that the dynamic linker prefers.
    pub fn address_of_data(&self, module: &Module, file_address: u64) -> u64 {
        let own = module.to_process(file_address);
        if module.is_main {
            return own;
        }
        let names = module.symbols.replaceable_data_at(file_address);
        // A late module is searched last, and only for itself.
        let global = self.loaded.iter().filter(|it| !it.is_late);
        let mut definitions = global.filter_map(|it| {
            let mut found = names.iter().map(|name| it.symbols.exported_data(name));
            let (address, _) = found.find_map(|found| found)?;
            Some(it.to_process(address))
        });
        definitions.next().unwrap_or(own)
    }

    /// Returns the names of the program's own functions that a name fits, too, where calls of the
    /// name reach another module's function: `Door::close` besides the C library's `close`.
    pub fn namesakes(&self, name: &str) -> Vec<Arc<str>> {
        let reached = self.reached_definitions(name, |_| true);
        if reached.is_empty() || reached.iter().any(|bound| bound.module.is_main) {
            return Vec::new();
        }
        let own = self.definitions(name, |module| module.is_main);
        let own = own.iter().filter(|bound| bound.function.has_debug_info());
        let mut names: Vec<Arc<str>> = own.map(|bound| Arc::clone(&bound.function.name)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the inlined copies of a function.
    pub fn inlined_copies(
        &self,
        name: &str,
        wanted: impl Fn(&Module) -> bool,
    ) -> Vec<(Rc<Module>, InlinedCopy)> {
        self.loaded
            .iter()
            .filter(|module| wanted(module))
            .flat_map(|module| {
                module
                    .symbols
                    .inlined_copies(name)
                    .into_iter()
                    .map(|copy| (Rc::clone(module), copy))
            })
            .collect()
    }
}

impl Modules {
    /// Returns the inlined calls of a function, with their entry addresses.
    pub fn inlined_calls(
        &self,
        name: &str,
        wanted: impl Fn(&Module) -> bool,
    ) -> Vec<(Rc<Module>, InlinedCall)> {
        let meant = self.loaded.iter().filter(|module| wanted(module));
        meant
            .flat_map(|module| {
                let calls = module.symbols.inlined_calls(name).into_iter();
                calls.map(|call| (Rc::clone(module), call))
            })
            .collect()
    }

    /// Records that inlined calls have events at an address.
    pub fn note_inlined_call_events(&mut self, address: u64) {
        self.inlined_call_addresses.insert(address);
    }

    /// Returns whether inlined calls have events at an address.
    pub fn has_inlined_call_events(&self, address: u64) -> bool {
        self.inlined_call_addresses.contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn has_code_of_its_own(number: u32) -> u32 {
        std::hint::black_box(number)
    }

    #[test]
    fn the_test_program_itself_has_names_and_lines() {
        assert_eq!(has_code_of_its_own(3), 3);
        let path = std::env::current_exe().unwrap();
        let file = |path: &Path, bias, is_main| ModuleFile {
            module: juror_debuggee::Module {
                path: path.to_owned(),
                bias,
                dynamic_address: 0,
                link_map: 0,
                is_main,
                in_memory: false,
            },
            mapped: None,
            opened: Ok(path.to_owned()),
        };
        let mut modules = Modules::default();
        let nowhere = file(Path::new("/nowhere"), 0, false);
        modules.update([file(&path, 0x1000, true), nowhere.clone()], |_, _| true);
        assert_eq!(modules.take_left_out().len(), 1);
        modules.update([file(&path, 0x1000, true), nowhere], |_, _| true);
        assert!(modules.take_left_out().is_empty());
        assert_eq!(modules.iter().count(), 1);
        let name = "has_code_of_its_own";
        let bound = modules.definitions(name, |_| true);
        assert!(!bound.is_empty());
        let described = modules.describe(bound[0].address());
        assert!(described.function.unwrap().contains(name));
        assert!(described.file.unwrap().ends_with("modules.rs"));
        modules.update([file(&path, 0x1000, true)], |_, _| true);
        assert!(modules.main().is_some());
        assert!(modules.find(0).is_none());
    }
}
