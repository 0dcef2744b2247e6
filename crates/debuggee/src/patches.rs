//! Instructions that juror has replaced by jumps to code of its own.
//!
//! A *patch* is a jump of five to seven bytes at a site, in place of its trap. Its last
//! bytes may be those of the instructions behind the replaced ones. It leads to
//! a *stub* in memory that juror has mapped in the debuggee, which does what the
//! owner of the site would do at a stop, executes the replaced instructions at
//! their *twins*, and returns to the program. What a stub means is the
//! [`Stub`]'s own. Where a jump may be, when it is written and removed, and what
//! that means for threads, the engine decides (`juror_stepping`); this module
//! carries that out (`orders`): it has the bytes of the jumps (`text`), maps the
//! memory (`mapping`), gives each thread a record that stubs find through `gs`
//! (`records`), and leads stopped threads out of stubs (`leading`).
//!
//! Invariant: neither the engine nor an upper layer ever sees a thread in a
//! stub. A thread that stops there is moved, before anything else is done about
//! the stop, to the entry of the patch or to a twin, which is shown as its
//! original instruction. A thread before the first twin is shown at the entry,
//! and the engine is told that its event has been counted
//! ([`Input::Counted`](juror_stepping::Input::Counted)).

mod leading;
mod left_over;
mod mapping;
mod orders;
mod records;
mod shared_memory;
mod stack_top;
mod writing;

pub use records::{FirstWords, RecordWords, ThreadRecord};
pub use shared_memory::SharedMemory;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use records::Records;

/// The number of threads that trap in the bytes of a jump, since it was written, after
/// which it is given up. Loops that are entered behind the return of a call trap once.
const STRAYS_MAX: u32 = 256;

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
    /// The jump. Its bytes from `end` on, if it is longer than those instructions, are
    /// what the program has there.
    pub code: Vec<u8>,
    /// Its stub, the code of which has been written.
    pub stub: Arc<dyn Stub>,
}

impl Patch {
    /// Returns the first address behind the jump.
    pub fn jump_end(&self) -> u64 {
        self.jump.wrapping_add(self.code.len() as u64)
    }

    /// Returns the number of bytes at the end of the jump that are the program's.
    fn shared(&self) -> usize {
        let shared = self.jump_end().saturating_sub(self.end);
        usize::try_from(shared).unwrap_or(0)
    }
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
    /// By entry: how often a thread has trapped in the jump's bytes since it was written.
    strays: BTreeMap<u64, u32>,
    /// By the start of a stub's code: the entry of its patch.
    entries: BTreeMap<u64, u64>,
    /// The program has had a second thread.
    has_threads: bool,
    /// The memory that is mapped for stubs: starts and ends.
    code: BTreeMap<u64, u64>,
    /// The memory that the program shares with juror: starts and lengths.
    shared: BTreeMap<u64, u64>,
    /// The start of the heap, which only an `exec` changes; `None` inside if it is not known.
    heap_start: OnceCell<Option<u64>>,
}

impl Patches {
    /// Returns true if a thread may be in a stub.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        !self.stubs.is_empty()
    }

    /// Returns the memory that is mapped for stubs and records.
    pub(crate) fn own_mappings(&self) -> impl Iterator<Item = Range<u64>> {
        let code = self.code.iter().map(|(&start, &end)| start..end);
        code.chain(self.records.as_ref().map(Records::range))
    }

    /// Returns true if a base of `gs` is that of a thread record.
    pub(crate) fn is_record(&self, base: u64) -> bool {
        let records = self.records.as_ref();
        records.is_some_and(|records| records.range().contains(&base))
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

    /// Returns the patch at whose stub a counter is, with the original address of
    /// its twin, unless it is at the jump back behind the twins, or at another one
    /// that leaves them.
    fn twin_at(&self, counter: u64) -> Option<(&Patch, u64)> {
        let stub = self.stub_at(counter)?;
        let patch = self.list.get(self.entries.get(&stub.range().start)?)?;
        let original = stub.original_of(counter)?;
        let is_inside = patch.entry <= original && original < patch.end;
        is_inside.then_some((patch, original))
    }

    /// Returns true if a counter is at a twin.
    pub(crate) fn is_twin_inside(&self, counter: u64) -> bool {
        self.twin_at(counter).is_some()
    }

    /// Returns true if a counter is in the middle of a twin, which pushes a return
    /// address by several instructions.
    fn is_middle_of_twin(&self, counter: u64) -> bool {
        self.twin_at(counter)
            .is_some_and(|(patch, original)| patch.stub.twin_of(original) != Some(counter))
    }

    /// Returns the entry and the jump of the patch at whose first twin a counter is.
    pub(crate) fn at_first_twin(&self, counter: u64) -> Option<(u64, u64)> {
        let (patch, _) = self.twin_at(counter)?;
        let is_first = patch.stub.twin_of(patch.entry) == Some(counter);
        is_first.then_some((patch.entry, patch.jump))
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
