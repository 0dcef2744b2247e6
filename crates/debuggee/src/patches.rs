//! Instructions that juror has replaced by jumps to code of its own.
//!
//! A *patch* is a jump of five bytes at a site, in place of its trap. It leads to
//! a *stub* in memory that juror has mapped in the debuggee, which does what the
//! owner of the site would do at a stop, executes the replaced instructions at
//! their *twins*, and returns to the program. What a stub means is the
//! [`Stub`]'s own: this module writes and removes the jumps (`text`), maps the
//! memory (`mapping`), gives each thread a record that stubs find through `gs`
//! (`records`), and leads stopped threads out of stubs (`leading`).
//!
//! Invariant: neither the engine nor an upper layer ever sees a thread in a
//! stub. A thread that stops there is moved, before anything else is done about
//! the stop, to the entry of the patch or to a twin, which is shown as its
//! original instruction.
//!
//! To the engine, a patched address is a site whose step-over is the first twin.

mod leading;
mod mapping;
mod records;
mod shared_memory;
pub(crate) mod text;

pub use records::{FirstWords, RecordWords, ThreadRecord};
pub use shared_memory::SharedMemory;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use juror_stepping::{Engine, Input, Owner, StepOver};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::thread::State;
use records::Records;
use text::TextPatch;

/// The number of threads that trap in the bytes of a jump after which it is given up.
/// Loops that are entered behind the return of a call trap once.
const STRAYS_MAX: u32 = 256;

/// The length of the jump of a patch, in bytes.
pub(crate) const JUMP_LENGTH: usize = 5;

/// The registers of a thread that a stub may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StubRegisters {
    /// The general registers by their numbers in instructions.
    pub general: [u64; 16],
    /// The program counter.
    pub counter: u64,
    /// The flags.
    pub flags: u64,
}

/// The place in the program of a thread that has been led out of a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedTo {
    /// It is about to execute the patched instruction; this many of the stub's
    /// sections have been done for it.
    Entry {
        /// The number of sections.
        done: usize,
    },
    /// All is done, and the replaced instruction with this address comes next,
    /// at its twin.
    Twin {
        /// The address.
        original: u64,
    },
}

/// The way out of a stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedOut {
    /// The registers to set.
    pub registers: StubRegisters,
    /// Words to write to the debuggee's memory: addresses and contents.
    pub writes: Vec<(u64, u64)>,
    /// The place of the thread.
    pub to: LedTo,
}

/// Code of juror's in the debuggee to which a patch leads.
pub trait Stub: fmt::Debug + Send + Sync {
    /// Returns the addresses of the code, with the twins.
    fn range(&self) -> Range<u64>;
    /// Finishes or undoes what a thread is doing in the stub, and returns its way
    /// out; none if it is not in the stub or its stack cannot be read. `record`
    /// is the address of its thread record; `read` returns the word at an
    /// address.
    fn lead_out(
        &self,
        registers: &StubRegisters,
        record: u64,
        read: &dyn Fn(u64) -> Option<u64>,
    ) -> Option<LedOut>;
    /// Returns the registers, at the place in the stub from which it came, of a
    /// thread at the gate.
    fn before_gate(&self, registers: &StubRegisters) -> StubRegisters;
    /// Returns true if an instruction of the stub may fault without a fault of the
    /// program.
    fn may_fault(&self, counter: u64) -> bool;
    /// Returns the twin of a replaced instruction; the first twin for the entry.
    fn twin_of(&self, original: u64) -> Option<u64>;
    /// Returns the addresses of the bytes that are to be lock prefixes as soon as the
    /// program has a second thread; until then they have no effect.
    fn lock_prefixes(&self) -> &[u64];
    /// Returns the instruction of the program whose twin is at `counter`; the end
    /// of the replaced instructions for the jump back.
    fn original_of(&self, counter: u64) -> Option<u64>;
}

/// A patch that is to be written.
#[derive(Debug, Clone)]
pub struct Patch {
    /// The address of the site.
    pub entry: u64,
    /// The address of the jump: `entry`, or behind a landing instruction there.
    pub jump: u64,
    /// The first address behind the replaced instructions.
    pub end: u64,
    /// The jump.
    pub code: [u8; JUMP_LENGTH],
    /// Its stub, the code of which has been written.
    pub stub: Arc<dyn Stub>,
}

/// The patches of a debuggee.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patches {
    /// Every patch that was ever made, by its entry.
    list: BTreeMap<u64, Patch>,
    /// The stubs, by the start of their code. They stay: a thread may return to a
    /// twin long after its patch was removed.
    stubs: BTreeMap<u64, Arc<dyn Stub>>,
    gates: Vec<u64>,
    records: Option<Records>,
    /// By entry: how often a thread has trapped in the jump's bytes.
    strays: BTreeMap<u64, u32>,
    /// By the start of a stub's code: the entry of its patch.
    entries: BTreeMap<u64, u64>,
    /// The program has had a second thread.
    has_threads: bool,
    /// The memory that is mapped for stubs: starts and ends.
    code: BTreeMap<u64, u64>,
    /// A signal was delivered to a thread between two sections of a stub.
    pub(crate) is_interrupted: bool,
}

impl Patches {
    /// Returns true if a thread may be in a stub.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        !self.stubs.is_empty()
    }

    pub(crate) fn gates(&self) -> impl Iterator<Item = u64> {
        self.gates.iter().copied()
    }

    /// Forgets the gates and the thread records: this is the image of a copy of the
    /// process, which has no traps of juror's and nothing written.
    pub(crate) fn forget_gates(&mut self) {
        self.gates.clear();
        self.records = None;
    }

    pub(crate) fn is_gate(&self, address: u64) -> bool {
        self.gates.contains(&address)
    }

    /// Returns the stub that contains an address.
    pub(crate) fn stub_at(&self, address: u64) -> Option<&Arc<dyn Stub>> {
        let (_, stub) = self.stubs.range(..=address).next_back()?;
        stub.range().contains(&address).then_some(stub)
    }

    /// Returns the patch whose replaced instructions contain an address.
    pub(crate) fn covering(&self, address: u64) -> Option<&Patch> {
        let (_, patch) = self.list.range(..=address).next_back()?;
        (address < patch.end).then_some(patch)
    }

    /// Returns true if a counter is at a twin, and not at the jump back behind the
    /// twins.
    pub(crate) fn is_twin_inside(&self, counter: u64) -> bool {
        let Some(stub) = self.stub_at(counter) else {
            return false;
        };
        let entry = self.entries.get(&stub.range().start);
        let patch = entry.and_then(|entry| self.list.get(entry));
        let original = stub.original_of(counter);
        original
            .zip(patch)
            .is_some_and(|(at, patch)| at < patch.end)
    }

    /// Returns true if a patch that was ever made covers one of these addresses.
    pub(crate) fn is_near(&self, range: Range<u64>) -> bool {
        !self.list.is_empty()
            && (self.covering(range.start).is_some() || self.list.range(range).next().is_some())
    }

    /// Returns the original address of a counter at a twin, and whether that is the
    /// first of its stub, whose original is the entry.
    pub(crate) fn original_of(&self, counter: u64) -> Option<(u64, bool)> {
        let stub = self.stub_at(counter)?;
        let original = stub.original_of(counter)?;
        let entry = self.entries.get(&stub.range().start)?;
        let is_first = stub.twin_of(*entry) == Some(counter);
        Some((if is_first { *entry } else { original }, is_first))
    }
}

impl Debuggee {
    /// Returns true if a patch is written at a site.
    pub fn is_patched(&self, entry: u64) -> bool {
        self.memory.has_patch(entry)
    }

    /// Returns true if nothing but `count` inserts of `owner` is at `entry`, and
    /// nothing in the other replaced instructions, so that a patch may be written.
    pub fn may_be_patched(&self, entry: u64, end: u64, (owner, count): (Owner, u32)) -> bool {
        let engine = &self.driver.engine;
        let is_alone = is_only(engine, entry, (owner, count)) && !self.has_many_strays(entry);
        is_alone
            && engine.sites_in(entry + 1..end).next().is_none()
            && (entry + 1..end).all(|address| !engine.expects_trap(address))
    }

    /// Writes a patch at a site of so many inserts of one owner, while all threads
    /// are stopped. Returns false, and changes nothing, if something else is
    /// there.
    pub fn patch(&mut self, patch: Patch, owned: (Owner, u32)) -> Result<bool, DebuggeeError> {
        let moves = |state: State| !matches!(state, State::Stopped | State::InVfork);
        if self.threads.values().any(|thread| moves(thread.state))
            || !self.may_be_patched(patch.entry, patch.end, owned)
        {
            return Ok(false);
        }
        let (entry, jump) = (patch.entry, patch.jump);
        let Some(twin) = patch.stub.twin_of(entry) else {
            return Ok(false);
        };
        let text = TextPatch {
            jump,
            code: patch.code,
        };
        if !self.memory.write_patch(entry, text)? {
            return Ok(false);
        }
        if self.image.patches.has_threads || self.threads.len() > 1 {
            self.image.patches.has_threads = true;
            self.lock(&patch.stub)?;
        }
        let start = patch.stub.range().start;
        self.image
            .patches
            .stubs
            .insert(start, Arc::clone(&patch.stub));
        self.image.patches.entries.insert(start, entry);
        self.image.patches.list.insert(entry, patch);
        self.feed(Input::Rewritten {
            address: entry,
            step_over: StepOver::OutOfLine { at: twin },
        })?;
        Ok(true)
    }

    /// Returns true if so many branches have led into the jump that a trap at the entry
    /// costs less.
    pub fn has_many_strays(&self, entry: u64) -> bool {
        let strays = self.image.patches.strays.get(&entry);
        strays.is_some_and(|count| *count >= STRAYS_MAX)
    }

    /// Replaces a patch by the trap of its site. Works while threads run.
    pub fn unpatch(&mut self, entry: u64) -> Result<(), DebuggeeError> {
        if !self.memory.has_patch(entry) {
            return Ok(());
        }
        self.memory.remove_patch(entry)?;
        let Some(patch) = self.image.patches.list.get(&entry).cloned() else {
            return Ok(());
        };
        // Code that has been unmapped has no plan, and will not be executed.
        if self.driver.engine.is_site(entry)
            && let Ok(step_over) = self.plan(entry)
        {
            self.memory.note(None);
            self.feed(Input::Rewritten {
                address: entry,
                step_over,
            })?;
        }
        self.return_from_twins(&patch)
    }

    /// Has the atomic instructions of all stubs lock the memory, before a second thread
    /// runs. No thread is in the middle of one: the first is making the second.
    pub(crate) fn lock_stubs(&mut self) -> Result<(), DebuggeeError> {
        if self.image.patches.has_threads || !self.image.patches.is_any() {
            return Ok(());
        }
        self.image.patches.has_threads = true;
        let stubs: Vec<Arc<dyn Stub>> = self.image.patches.stubs.values().cloned().collect();
        stubs.iter().try_for_each(|stub| self.lock(stub))
    }

    fn lock(&self, stub: &Arc<dyn Stub>) -> Result<(), DebuggeeError> {
        /// The prefix `lock`.
        const LOCK: u8 = 0xf0;
        let mut prefixes = stub.lock_prefixes().iter();
        prefixes.try_for_each(|&prefix| self.memory.write_raw(prefix, &[LOCK]))
    }

    /// Replaces every patch that covers an address, since something else is to be
    /// there.
    pub(crate) fn unpatch_around(&mut self, address: u64) -> Result<(), DebuggeeError> {
        match self.image.patches.covering(address).map(|it| it.entry) {
            Some(entry) => self.unpatch(entry),
            None => Ok(()),
        }
    }

    /// Replaces all patches by traps, and mutes all threads.
    pub fn unpatch_all(&mut self) -> Result<(), DebuggeeError> {
        let entries: Vec<u64> = self.image.patches.list.keys().copied().collect();
        for entry in entries {
            self.unpatch(entry)?;
        }
        Ok(())
    }
}

/// Returns true if `count` inserts of `owner` are all that is at an address.
fn is_only(engine: &Engine, address: u64, (owner, count): (Owner, u32)) -> bool {
    let inserts = engine.inserts();
    let mut here = inserts.filter(|(at, ..)| *at == address);
    let first = here.next();
    let is_meant = first.is_some_and(|(_, of, number, _)| of == owner && number == count);
    is_meant && here.next().is_none()
}
