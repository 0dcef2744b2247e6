//! The running program with its symbols: the debuggee, its modules, and the state derived from
//! both.

use crate::core_words;
use crate::file_code::is_linked;
use crate::modules::{Bound, Described, Modules};
use crate::symbol_store::SymbolStore;
use juror_arch::Registers;
use juror_debuggee::{Debuggee, DebuggeeError, Mapping, ThreadId, mappings};
use juror_symbols::{Memory, SymbolFile, Type, VtableOwner};
use juror_values::classes::upcast::is_object;
use juror_values::format::ELEMENTS_MAX;
use juror_values::pretty_printers::PrettyPrinters;
use juror_values::read_plan::{ClassNumber, Machine};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The name of the mapping of the vDSO.
const VDSO: &str = "[vdso]";
/// The largest size of the vDSO that is read, in bytes.
const VDSO_SIZE_MAX: usize = 1 << 20;

/// The state of a program at one moment, without its process.
#[derive(Debug, Clone)]
pub struct ProgramState {
    modules: Modules,
    pretty_printers: PrettyPrinters,
    elements_max: u64,
    numbers: FxHashMap<ThreadId, u32>,
    last_number: u32,
    elapsed: Duration,
}

/// A debuggee and the symbols of its modules.
#[derive(Debug)]
pub struct Program {
    /// The process.
    pub debuggee: Debuggee,
    /// The loaded modules.
    pub modules: Modules,
    /// The pretty-printers of library types.
    pub pretty_printers: PrettyPrinters,
    /// The most elements of arrays, and characters of text, that are shown.
    pub elements_max: u64,
    numbers: FxHashMap<ThreadId, u32>,
    last_number: u32,
    /// The names of callers that captures have used, by return address.
    pub(crate) caller_names: RefCell<FxHashMap<u64, Arc<str>>>,
    /// The addresses at which the code is that of the file ([`Program::insert`]).
    pub(crate) known_code: RefCell<FxHashSet<u64>>,
    /// The stacks that threads started with ([`Program::own_stack`]). The main thread's grows.
    own_stacks: RefCell<FxHashMap<ThreadId, Range<u64>>>,
    started: Instant,
    /// The time of the current event, in nanoseconds since the start, if it has been read.
    moment_ns: Cell<Option<u64>>,
    /// While a question of the user is answered: what interrupts it.
    question: Option<Question>,
}

/// A question of the user, whose reads fail once it is interrupted: a walk through a container ends
/// then. Events are read to the end.
#[derive(Debug)]
struct Question {
    interruption: Arc<AtomicBool>,
    /// Whether a read was refused for it: then the answer is not one.
    has_refused: Cell<bool>,
}

impl Program {
    /// Takes over a debuggee that has just been launched or attached to.
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
            known_code: RefCell::default(),
            own_stacks: RefCell::default(),
            started: Instant::now(),
            moment_ns: Cell::new(None),
            question: None,
        };
        for thread in threads {
            program.number_thread(thread);
        }
        program.update_modules();
        program
    }

    /// Lets reads of values fail as soon as a question is interrupted.
    pub fn begin_question(&mut self, interruption: &Arc<AtomicBool>) {
        self.question = Some(Question {
            interruption: Arc::clone(interruption),
            has_refused: Cell::new(false),
        });
    }

    /// Ends the question, if one is asked. Returns whether it was interrupted.
    pub fn end_question(&mut self) -> bool {
        let question = self.question.take();
        question.is_some_and(|it| it.has_refused.get())
    }

    /// Reads the list of modules again.
    pub fn update_modules(&mut self) {
        let debuggee = &self.debuggee;
        let is_linked = |symbols: &SymbolFile, bias| is_linked(debuggee, symbols, bias);
        if self.modules.update(debuggee.module_files(), is_linked) {
            self.known_code.borrow_mut().clear();
        }
        if !self.modules.has_vdso() {
            self.read_vdso();
        }
        self.caller_names.borrow_mut().clear();
    }

    /// Reads the vDSO from the process.
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

    /// Assigns a number to a thread that has just started: counted from 1, never reused. Users
    /// refer to threads by it, since the kernel's ids differ between runs.
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

    /// Forgets a thread that has ended, since the kernel may reuse its id.
    pub fn forget_thread(&mut self, thread: ThreadId) {
        self.numbers.remove(&thread);
        self.own_stacks.borrow_mut().remove(&thread);
    }

    /// Returns the number of a thread, 0 for an unknown one.
    pub fn thread_number(&self, thread: ThreadId) -> u32 {
        self.numbers.get(&thread).copied().unwrap_or(0)
    }

    /// Returns the living thread with a number.
    pub fn thread_of_number(&self, number: u32) -> Option<ThreadId> {
        let found = self.numbers.iter().find(|(_, known)| **known == number);
        found.map(|(thread, _)| *thread)
    }

    /// Switches to another process, a copy of the current one with this single thread.
    pub fn follow(&mut self, thread: ThreadId) {
        self.numbers.clear();
        self.own_stacks.borrow_mut().clear();
        self.number_thread(thread);
    }

    /// Returns the program for a forked copy of the process. Its only thread continues `parent`,
    /// and keeps that thread's number.
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
            known_code: RefCell::default(),
            own_stacks: RefCell::default(),
            started: self.started,
            moment_ns: Cell::new(None),
            question: None,
        }
    }

    /// Returns the state for a later restoration.
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

    /// Returns the program for a process that was restored to a moment: its threads get their
    /// numbers of then, and the elapsed time is that of then. `number` maps the thread ids of then
    /// to the present ones.
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
            known_code: RefCell::default(),
            own_stacks: RefCell::default(),
            started: now.checked_sub(state.elapsed).unwrap_or(now),
            moment_ns: Cell::new(None),
            question: None,
        };
        program.update_modules();
        program
    }

    /// Resets the state after `exec`: one thread is left, and no module of before.
    pub fn restart(&mut self, thread: ThreadId) {
        self.modules = Modules::new(self.modules.store().clone());
        self.numbers.clear();
        self.last_number = 0;
        self.number_thread(thread);
        self.update_modules();
    }

    /// Resolves an indirect function by running its resolver in `thread`. That is possible after
    /// the dynamic linker has relocated everything, or, in a static program, once it `has_begun`.
    /// Returns `None` if the resolver cannot be run.
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

    /// Runs the resolvers of all indirect functions of a name, so that [`Modules::chosen`] has
    /// their results. The conditions are those of [`Program::resolve_indirect`].
    pub fn resolve_functions(&mut self, name: &str, thread: ThreadId, has_begun: bool) {
        for bound in self.modules.definitions(name, |_| true) {
            if bound.function.indirect {
                self.resolve_indirect(&bound, thread, has_begun);
            }
        }
    }

    /// Returns whether the memory at an address is executable, or `None` if it is not mapped.
    pub fn is_executable(&self, address: u64) -> Option<bool> {
        let maps = self.debuggee.memory_map()?;
        mapping_at(&maps, address).map(|mapping| mapping.is_executable())
    }

    /// Returns the address range of the mapping that contains an address. Reads the list of
    /// mappings, so it is not for the common path.
    pub fn mapping_of(&self, address: u64) -> Option<Range<u64>> {
        let maps = self.debuggee.memory_map()?;
        mapping_at(&maps, address).map(|mapping| mapping.range)
    }

    /// Returns the stack that a thread started with, which no other stack shares, or `None` if it
    /// is unknown. Any other stack was allocated by the program.
    pub fn own_stack(&self, thread: ThreadId) -> Option<Range<u64>> {
        let registers = self.registers(thread).ok()?;
        let known = self.own_stacks.borrow().get(&thread).cloned();
        if let Some(known) = known.filter(|known| known.contains(&registers.stack_pointer())) {
            return Some(known);
        }
        let maps = self.debuggee.memory_map()?;
        let own = if thread.0 == self.debuggee.pid() {
            mappings(&maps).find(|it| it.name == "[stack]")?.range
        } else {
            // Thread libraries store the thread's control block above its stack, and a guard page
            // below.
            let holding = mapping_at(&maps, registers.thread_base())?;
            (holding.name != "[heap]").then_some(holding.range.start..registers.thread_base())?
        };
        self.own_stacks.borrow_mut().insert(thread, own.clone());
        Some(own)
    }

    /// Returns the stack of a thread that contains an address, or else the mapping.
    pub(crate) fn stack_at(&self, thread: ThreadId, address: u64) -> Option<Range<u64>> {
        let own = self.own_stack(thread);
        let own = own.filter(|own| own.contains(&address));
        own.or_else(|| self.mapping_of(address))
    }

    /// Begins another event, for [`Program::elapsed_ns`].
    pub fn begin_moment(&self) {
        self.moment_ns.set(None);
    }

    /// Returns the nanoseconds between the launch or attach and the current event. All calls during
    /// one event return the same number.
    pub fn elapsed_ns(&self) -> u64 {
        if let Some(known) = self.moment_ns.get() {
            return known;
        }
        let elapsed = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.moment_ns.set(Some(elapsed));
        elapsed
    }

    /// Returns the moment at a number of nanoseconds after the launch or attach.
    pub fn moment_of(&self, elapsed_ns: u64) -> Option<Instant> {
        self.started.checked_add(Duration::from_nanos(elapsed_ns))
    }

    /// Describes an address symbolically.
    pub fn describe(&self, address: u64) -> Described {
        self.modules.describe(address)
    }

    /// Returns the registers of a stopped thread.
    pub fn registers(&self, thread: ThreadId) -> Result<&Registers, DebuggeeError> {
        self.debuggee.registers(thread)
    }

    /// Returns a stopped thread as read plans access it.
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
    /// Returns whether objects with a virtual table are of a class.
    pub fn has_class(&self, table: u64, class: ClassNumber) -> bool {
        let ask = |class: &Type| is_object(table, class, self);
        self.modules.is_object(table, class, ask)
    }
}

/// Returns the mapping that contains an address.
fn mapping_at(maps: &str, address: u64) -> Option<Mapping<'_>> {
    mappings(maps).find(|mapping| mapping.range.contains(&address))
}

impl Memory for Program {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        if let Some(question) = &self.question
            && question.interruption.load(Ordering::Relaxed)
        {
            question.has_refused.set(true);
            return false;
        }
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

/// A stopped thread as read plans access it. Vector registers take a system call, so they are read
/// on first use.
pub struct StoppedThread<'a> {
    program: &'a Program,
    registers: &'a Registers,
    thread: ThreadId,
    vectors: OnceCell<Option<[u64; 16]>>,
}

impl StoppedThread<'_> {
    /// Returns its registers.
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
            Some(registers.vectors.map(|vector| {
                let mut low = [0; 8];
                low.copy_from_slice(&vector[..8]);
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
