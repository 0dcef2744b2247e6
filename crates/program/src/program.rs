//! The running program with its symbols: the debuggee, its modules, and
//! whatever follows from both.

use crate::core_words;
use crate::modules::{Bound, Described, Modules};
use crate::symbol_store::SymbolStore;
use juror_debuggee::{Debuggee, DebuggeeError, Mapping, Registers, ThreadId, mappings};
use juror_symbols::{Memory, Type, VtableOwner};
use juror_values::classes::upcast::is_object;
use juror_values::format::ELEMENTS_MAX;
use juror_values::pretty_printers::PrettyPrinters;
use juror_values::read_plan::{ClassNumber, Machine};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The mapping of the library that the kernel puts into every process.
const VDSO: &str = "[vdso]";
/// It is never so large, in bytes.
const VDSO_SIZE_MAX: usize = 1 << 20;

/// What is known of a program at one moment, without its process.
#[derive(Debug, Clone)]
pub struct ProgramState {
    modules: Modules,
    pretty_printers: PrettyPrinters,
    elements_max: u64,
    numbers: FxHashMap<ThreadId, u32>,
    last_number: u32,
    elapsed: Duration,
}

/// A debuggee and the symbols of what is loaded in it.
#[derive(Debug)]
pub struct Program {
    /// The process.
    pub debuggee: Debuggee,
    /// What is loaded.
    pub modules: Modules,
    /// How values of library types are shown.
    pub pretty_printers: PrettyPrinters,
    /// How many elements of arrays, and characters of texts, are shown.
    pub elements_max: u64,
    numbers: FxHashMap<ThreadId, u32>,
    last_number: u32,
    /// Names of callers that captures have asked for, by return address.
    pub(crate) caller_names: RefCell<FxHashMap<u64, Arc<str>>>,
    /// See [`Program::own_stack`]. The first thread's grows.
    own_stacks: RefCell<FxHashMap<ThreadId, Range<u64>>>,
    started: Instant,
    /// When what happens now happened, once somebody has asked.
    moment_ns: Cell<Option<u64>>,
}

impl Program {
    /// Takes a debuggee that has just been launched or attached to.
    pub fn new(debuggee: Debuggee, symbols: &SymbolStore) -> Program {
        let threads: Vec<ThreadId> = debuggee.thread_ids().collect();
        let mut program = Program {
            debuggee,
            modules: Modules::new(symbols.clone()),
            pretty_printers: PrettyPrinters::standard().clone(),
            elements_max: ELEMENTS_MAX,
            numbers: FxHashMap::default(),
            last_number: 0,
            caller_names: RefCell::default(),
            own_stacks: RefCell::default(),
            started: Instant::now(),
            moment_ns: Cell::new(None),
        };
        for thread in threads {
            program.number_thread(thread);
        }
        program.update_modules();
        program
    }

    /// Reads the list of modules anew.
    pub fn update_modules(&mut self) {
        let now: Vec<_> = self
            .debuggee
            .modules()
            .iter()
            .filter(|module| !module.in_memory)
            .map(|module| (module.path.clone(), module.bias, module.is_main))
            .collect();
        self.modules.update(now);
        if !self.modules.has_vdso() {
            self.read_vdso();
        }
        self.caller_names.borrow_mut().clear();
    }

    /// Reads the library that the kernel has put into the process.
    fn read_vdso(&mut self) {
        let maps = self.debuggee.memory_map().unwrap_or_default();
        let Some(found) = mappings(&maps).find(|mapping| mapping.name == VDSO) else {
            return;
        };
        let range = found.range;
        let size = usize::try_from(range.end - range.start).unwrap_or(0);
        let mut bytes = vec![0; size.min(VDSO_SIZE_MAX)];
        if self.debuggee.read(range.start, &mut bytes).is_ok() {
            self.modules.set_vdso(VDSO, range.start, bytes);
        }
    }

    /// Gives a thread that has just started its number: counted from 1, never
    /// used again. People speak of threads by it; the kernel's ids differ from
    /// run to run.
    pub fn number_thread(&mut self, thread: ThreadId) -> u32 {
        *self.numbers.entry(thread).or_insert_with(|| {
            self.last_number += 1;
            self.last_number
        })
    }

    /// Numbers a thread that has started, after those that were created before it and whose
    /// start has not been reported yet: the kernel reports starts in any order, and gives ids in
    /// the order of creation.
    pub fn number_started_thread(&mut self, thread: ThreadId) -> u32 {
        let known = self.debuggee.thread_ids();
        let earlier = known.filter(|it| *it < thread && !self.numbers.contains_key(it));
        for earlier in earlier.collect::<Vec<_>>() {
            self.number_thread(earlier);
        }
        self.number_thread(thread)
    }

    /// A thread is gone; the kernel may use its id again, for another one.
    pub fn forget_thread(&mut self, thread: ThreadId) {
        self.numbers.remove(&thread);
        self.own_stacks.borrow_mut().remove(&thread);
    }

    /// The number of a thread; 0 for one that was never announced.
    pub fn thread_number(&self, thread: ThreadId) -> u32 {
        self.numbers.get(&thread).copied().unwrap_or(0)
    }

    /// The living thread of a number.
    pub fn thread_of_number(&self, number: u32) -> Option<ThreadId> {
        let found = self.numbers.iter().find(|(_, known)| **known == number);
        found.map(|(thread, _)| *thread)
    }

    /// The process is another, a copy of the one before with this one thread.
    pub fn follow(&mut self, thread: ThreadId) {
        self.numbers.clear();
        self.own_stacks.borrow_mut().clear();
        self.number_thread(thread);
    }

    /// The same for a forked copy of the process. Its one thread goes on as
    /// `parent`, which made it, and keeps its number.
    pub fn forked(&self, debuggee: Debuggee, thread: ThreadId, parent: ThreadId) -> Program {
        let number = self.thread_number(parent);
        Program {
            debuggee,
            modules: self.modules.clone(),
            pretty_printers: self.pretty_printers.clone(),
            elements_max: self.elements_max,
            numbers: FxHashMap::from_iter([(thread, number)]),
            last_number: self.last_number,
            caller_names: self.caller_names.clone(),
            own_stacks: RefCell::default(),
            started: self.started,
            moment_ns: Cell::new(None),
        }
    }

    /// What is known now, for a process that is brought back to this moment.
    pub fn state(&self) -> ProgramState {
        ProgramState {
            modules: self.modules.clone(),
            pretty_printers: self.pretty_printers.clone(),
            elements_max: self.elements_max,
            numbers: self.numbers.clone(),
            last_number: self.last_number,
            elapsed: self.started.elapsed(),
        }
    }

    /// A process that has been brought back to a moment: the threads have their
    /// numbers of then, and as much time has passed. `number` gives the kernel's
    /// number of a thread now.
    pub fn restored(
        state: &ProgramState,
        debuggee: Debuggee,
        number: impl Fn(ThreadId) -> ThreadId,
    ) -> Program {
        let numbers = state.numbers.iter();
        let now = Instant::now();
        let mut program = Program {
            debuggee,
            modules: state.modules.clone(),
            pretty_printers: state.pretty_printers.clone(),
            elements_max: state.elements_max,
            numbers: numbers.map(|(&id, &own)| (number(id), own)).collect(),
            last_number: state.last_number,
            caller_names: RefCell::default(),
            own_stacks: RefCell::default(),
            started: now.checked_sub(state.elapsed).unwrap_or(now),
            moment_ns: Cell::new(None),
        };
        program.update_modules();
        program
    }

    /// The process runs another program: one thread is left, and nothing that
    /// was loaded.
    pub fn restart(&mut self, thread: ThreadId) {
        self.modules = Modules::new(self.modules.store().clone());
        self.numbers.clear();
        self.last_number = 0;
        self.number_thread(thread);
        self.update_modules();
    }

    /// The function that stands behind an indirect one, found by asking its
    /// resolver: `thread` waits where the dynamic linker has relocated
    /// everything, or, in a program that relocates itself, where it `has_begun`.
    /// Nothing when it cannot be asked.
    pub fn resolve_indirect(
        &mut self,
        bound: &Bound,
        thread: ThreadId,
        has_begun: bool,
    ) -> Option<Bound> {
        let resolver = bound.address();
        let main = self.modules.main();
        let has_linker = main.is_some_and(|main| main.symbols.header().interpreter.is_some());
        if !self.modules.is_asked(resolver) && (has_linker || has_begun) {
            let answer = self.debuggee.resolve_indirect(thread, resolver).ok();
            self.modules.note_chosen(resolver, answer);
        }
        self.modules.chosen(bound)
    }

    /// Asks the resolvers of all indirect functions of a name, so that
    /// [`Modules::chosen`] knows them; as [`Program::resolve_indirect`].
    pub fn resolve_functions(&mut self, name: &str, thread: ThreadId, has_begun: bool) {
        for bound in self.modules.definitions(name, |_| true) {
            if bound.function.indirect {
                self.resolve_indirect(&bound, thread, has_begun);
            }
        }
    }

    /// Whether the memory at an address may be executed; nothing where there is
    /// none.
    pub fn is_executable(&self, address: u64) -> Option<bool> {
        let maps = self.debuggee.memory_map()?;
        mapping_at(&maps, address).map(|mapping| mapping.is_executable())
    }

    /// The mapping that holds an address: its first and last-plus-one byte.
    /// Reads the list of mappings, so it is not for the common path.
    pub fn mapping_of(&self, address: u64) -> Option<Range<u64>> {
        let maps = self.debuggee.memory_map()?;
        mapping_at(&maps, address).map(|mapping| mapping.range)
    }

    /// The stack that a thread began with, which no other stack shares; nothing where that
    /// is not known. Another one that it may use is of the program's making.
    pub fn own_stack(&self, thread: ThreadId) -> Option<Range<u64>> {
        let registers = self.registers(thread).ok()?;
        let known = self.own_stacks.borrow().get(&thread).cloned();
        if let Some(known) = known.filter(|known| known.contains(&registers.rsp)) {
            return Some(known);
        }
        let maps = self.debuggee.memory_map()?;
        let own = if thread.0 == self.debuggee.pid() {
            mappings(&maps).find(|it| it.name == "[stack]")?.range
        } else {
            // Thread libraries keep what is a thread's own above its stack, and a page
            // that nobody may touch below.
            let holding = mapping_at(&maps, registers.fs_base)?;
            (holding.name != "[heap]").then_some(holding.range.start..registers.fs_base)?
        };
        self.own_stacks.borrow_mut().insert(thread, own.clone());
        Some(own)
    }

    /// The stack of a thread that an address is on, as far as mappings tell.
    pub(crate) fn stack_at(&self, thread: ThreadId, address: u64) -> Option<Range<u64>> {
        let own = self.own_stack(thread);
        let own = own.filter(|own| own.contains(&address));
        own.or_else(|| self.mapping_of(address))
    }

    /// Something else happens now; see [`Program::elapsed_ns`].
    pub fn begin_moment(&self) {
        self.moment_ns.set(None);
    }

    /// Nanoseconds since the program was launched or attached to, of what
    /// happens just now: all who ask in one moment are told the same.
    pub fn elapsed_ns(&self) -> u64 {
        if let Some(known) = self.moment_ns.get() {
            return known;
        }
        let elapsed = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.moment_ns.set(Some(elapsed));
        elapsed
    }

    /// The moment that is this many nanoseconds after the start, or the attach.
    pub fn moment_of(&self, elapsed_ns: u64) -> Option<Instant> {
        self.started.checked_add(Duration::from_nanos(elapsed_ns))
    }

    /// An address in words.
    pub fn describe(&self, address: u64) -> Described {
        self.modules.describe(address)
    }

    /// The registers of a stopped thread.
    pub fn registers(&self, thread: ThreadId) -> Result<&Registers, DebuggeeError> {
        self.debuggee.registers(thread)
    }

    /// A stopped thread, for read plans.
    pub fn machine(&self, thread: ThreadId) -> Result<StoppedThread<'_>, DebuggeeError> {
        let registers = self.debuggee.registers(thread)?;
        Ok(StoppedThread {
            program: self,
            registers,
            thread,
            vectors: OnceCell::new(),
        })
    }
}

impl Program {
    /// Whether an object that points to this table is one of a class.
    pub fn has_class(&self, table: u64, class: ClassNumber) -> bool {
        let ask = |class: &Type| is_object(table, class, self);
        self.modules.is_object(table, class, ask)
    }
}

/// The mapping that holds an address.
fn mapping_at(maps: &str, address: u64) -> Option<Mapping<'_>> {
    mappings(maps).find(|mapping| mapping.range.contains(&address))
}

impl Memory for Program {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.debuggee.read(address, buffer).is_ok()
    }

    fn vtable_owner(&self, address: u64) -> Option<VtableOwner> {
        let name = self.modules.class_of_vtable(address)?;
        let r#type = juror_values::format::Names::type_named(self, &name);
        Some(VtableOwner { name, r#type })
    }
}

impl juror_values::format::Names for Program {
    fn name_of(&self, address: u64) -> Option<String> {
        let module = self.modules.find(address)?;
        let (name, offset) = module.symbols.symbol_at(module.to_file(address))?;
        Some(if offset == 0 {
            name.to_string()
        } else {
            format!("{name}+{offset}")
        })
    }

    fn type_named(&self, name: &str) -> Option<juror_symbols::Type> {
        let mut modules = self.modules.iter();
        modules.find_map(|module| module.symbols.type_named(name))
    }

    fn type_of_table(&self, address: u64) -> Option<Type> {
        self.modules.type_of_table(address)
    }

    fn pretty_printers(&self) -> &PrettyPrinters {
        &self.pretty_printers
    }

    fn elements_max(&self) -> u64 {
        self.elements_max
    }

    fn worded(&self, why: String) -> String {
        core_words::worded(&self.debuggee, why)
    }
}

/// A stopped thread, as read plans see it. Vector registers cost a system
/// call, so they are fetched only when asked for.
pub struct StoppedThread<'a> {
    program: &'a Program,
    registers: &'a Registers,
    thread: ThreadId,
    vectors: OnceCell<Option<[u64; 16]>>,
}

impl StoppedThread<'_> {
    /// Its registers.
    pub fn registers(&self) -> &Registers {
        self.registers
    }
}

impl Machine for StoppedThread<'_> {
    fn register(&self, number: u8) -> u64 {
        self.registers
            .by_dwarf_number(u16::from(number))
            .unwrap_or(0)
    }

    fn vector(&self, number: u8) -> Option<u64> {
        let vectors = self.vectors.get_or_init(|| {
            let registers = self.program.debuggee.vector_registers(self.thread).ok()?;
            Some(registers.xmm.map(|xmm| {
                let mut low = [0; 8];
                low.copy_from_slice(&xmm[..8]);
                u64::from_le_bytes(low)
            }))
        });
        vectors.as_ref()?.get(usize::from(number)).copied()
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.program.debuggee.read(address, buffer).is_ok()
    }

    fn has_class(&self, table: u64, class: ClassNumber) -> bool {
        self.program.has_class(table, class)
    }
}
