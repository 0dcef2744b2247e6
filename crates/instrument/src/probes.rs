//! Probes: the symbolic events of monitors, bound to addresses of this run.
//!
//! A probe is one event of one monitor at one definition of its function, or at one address of its
//! line. It is inserted while the monitor needs the event. A hit costs a lookup by address and the
//! reads of its plans; nothing is allocated.

mod binding;
mod doubts;
mod inlined;
mod reading;
mod source_calls;

pub use binding::{
    BindError, BoundCall, BoundCalls, bind_event, bind_inlined_calls, parameter_names,
};
pub use doubts::{CallDoubt, DoubtReason};
pub use inlined::{AtInlined, InlinedCallSite, InlinedEntry, InlinedPolicy, InlinedTotal};

use crate::capture_plan::CapturePlan;
use juror_arch::abi;
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use juror_event::{EventId, EventKind, Unavailability};
use juror_program::program::Program;
use juror_program::stack::pending_returns::{PendingReturn, PendingReturns};
use juror_program::stack::unwinding::Dropped;
use juror_symbols::Order;
use juror_values::read_plan::Begun;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// One event of one monitor at one definition of its function.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The monitor.
    pub monitor: u16,
    /// The event of the monitor.
    pub event: EventId,
    /// The kind: before the call, at its end, or at the line.
    pub kind: EventKind,
    /// The address of the function's or line's first instruction.
    pub address: u64,
    /// The function's name.
    pub function: Arc<str>,
    /// The plans of the captures, by slot.
    pub captures: Vec<CapturePlan>,
    /// The start of the inlined call that it is at, if it is at one.
    pub inlined: Option<InlinedEntry>,
    /// Whether a loop of the function also jumps to the address: such an arrival is no call.
    pub is_loop_head: bool,
    /// Whether its trap is inserted.
    pub is_inserted: bool,
}

/// A hit of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The number of the probe.
    pub probe: u32,
    /// The return address of the call.
    pub caller: u64,
}

/// A call that was found on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveCall {
    /// Its return address.
    pub address: u64,
    /// The canonical frame address: the stack pointer after the return.
    pub frame: u64,
    /// Whether its thread is at its first instruction.
    pub at_entry: bool,
}

/// The monitor number of probes whose monitor is gone.
const NO_MONITOR: u16 = u16::MAX;

impl Probe {
    /// Returns the order of its inlined call among those that begin at its address, or `None` for
    /// the function or line itself.
    fn order(&self) -> Option<Order> {
        self.inlined.as_ref().map(|entry| entry.order)
    }

    /// Returns whether its event is that of a call that enters its function.
    pub fn is_of_call(&self) -> bool {
        self.kind.is_call() && self.inlined.is_none()
    }

    /// Returns whether the return of a call that was entered is awaited: for an event, or to tell
    /// the rounds of a loop from calls.
    fn awaits_return(&self) -> bool {
        self.kind.is_end_of_call() || self.is_loop_head
    }

    /// Returns whether it is at the end of a call and has arguments, which only the entry knows.
    fn keeps_arguments(&self) -> bool {
        self.kind.is_end_of_call() && self.captures.iter().any(CapturePlan::is_of_entry)
    }
}

/// All probes of a run.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    probes: Vec<Probe>,
    by_address: FxHashMap<u64, SmallVec<[u32; 2]>>,
    pending: PendingReturns,
    calls: u64,
    dropped: Vec<u64>,
    /// Functions without active calls, by the addresses of their first instructions: their returns
    /// were watched until none was left, and a later entry would have been seen. They spare the
    /// walk over the stacks.
    quiet: FxHashSet<u64>,
}

impl Probes {
    /// Returns all probes.
    pub fn iter(&self) -> impl Iterator<Item = &Probe> {
        self.probes.iter()
    }

    /// Returns the probe with a number.
    pub fn get(&self, probe: u32) -> Option<&Probe> {
        self.probes.get(probe as usize)
    }

    /// Returns whether a probe of this event is at this address. A probe whose code was unloaded is
    /// not, since the address may have other code now.
    pub fn has(&self, monitor: u16, event: EventId, address: u64) -> bool {
        self.has_with_order(monitor, event, address, None)
    }

    /// Returns whether a probe is at one of several inlined calls that begin at an address.
    pub fn has_with_order(
        &self,
        monitor: u16,
        event: EventId,
        address: u64,
        order: Option<Order>,
    ) -> bool {
        let here = self.by_address.get(&address).map_or(&[][..], |here| here);
        here.iter().any(|&number| {
            self.get(number)
                .is_some_and(|it| it.monitor == monitor && it.event == event && it.order() == order)
        })
    }

    /// Adds a probe that is not inserted yet.
    pub fn add(&mut self, probe: Probe) {
        let number = self.probes.len() as u32;
        let here = self.by_address.entry(probe.address).or_default();
        here.push(number);
        self.probes.push(probe);
        // The order of execution, then of monitors, then of the declaration of events.
        let probes = &self.probes;
        here.sort_by_key(|&number| {
            probes
                .get(number as usize)
                .map(|probe| (probe.order(), probe.monitor, probe.event))
        });
    }

    /// Renumbers the monitors. The probes of a monitor without a number, none of which is inserted,
    /// are dropped.
    pub fn renumber(&mut self, number: impl Fn(u16) -> Option<u16>) {
        let of_monitors = self.probes.iter_mut().enumerate();
        for (position, probe) in of_monitors.filter(|(_, probe)| probe.monitor != NO_MONITOR) {
            match number(probe.monitor) {
                Some(other) => probe.monitor = other,
                None => {
                    let here = self.by_address.get_mut(&probe.address);
                    if let Some(here) = here {
                        here.retain(|known| *known != position as u32);
                    }
                    // Its entry in the list stays, since other probes are identified by their
                    // positions.
                    probe.monitor = NO_MONITOR;
                }
            }
        }
    }

    /// Forgets everything after the process has executed another program.
    pub fn clear(&mut self) {
        *self = Probes::default();
    }

    /// Forgets the probes whose code was unloaded.
    pub fn forget_unloaded(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        for number in 0..self.probes.len() {
            let address = self.probes[number].address;
            if program.modules.find(address).is_some() {
                continue;
            }
            self.by_address.remove(&address);
            self.quiet.remove(&address);
            if std::mem::take(&mut self.probes[number].is_inserted) {
                program.debuggee.remove(address, Owner::Monitor)?;
            }
        }
        Ok(())
    }

    /// Inserts the probes whose events a monitor needs, then removes its others; in this order, so
    /// that a trap that both share stays in place. Probes at the end of a call that are inserted
    /// now are added to `awaited`. While a monitor needs any event, calls with known arguments stay
    /// awaited, since their ends may be needed again.
    pub fn set_needed(
        &mut self,
        program: &mut Program,
        monitor: u16,
        is_needed: impl Fn(EventId) -> bool,
        awaited: &mut Vec<u32>,
    ) -> Result<(), DebuggeeError> {
        for (number, probe) in self.probes.iter_mut().enumerate() {
            let is_wanted = probe.monitor == monitor && is_needed(probe.event);
            // The code of other probes was unloaded.
            let here = self.by_address.get(&probe.address);
            let is_loaded = here.is_some_and(|here| here.contains(&(number as u32)));
            if probe.is_inserted || !is_wanted || !is_loaded {
                continue;
            }
            probe.is_inserted = true;
            program.insert(probe.address, Owner::Monitor)?;
            if probe.awaits_return() {
                awaited.push(number as u32);
            }
        }
        let mut has_removed = false;
        for (number, probe) in self.probes.iter_mut().enumerate() {
            if !probe.is_inserted || probe.monitor != monitor || is_needed(probe.event) {
                continue;
            }
            probe.is_inserted = false;
            has_removed = true;
            if probe.awaits_return() {
                if self.pending.waits_for(number as u32) {
                    self.quiet.remove(&probe.address);
                } else {
                    self.quiet.insert(probe.address);
                }
            }
            program.debuggee.remove(probe.address, Owner::Monitor)?;
        }
        if !has_removed {
            return Ok(());
        }
        let probes = &self.probes;
        // Without an inserted probe, entries are no longer seen.
        let is_planted = |number: &u32| probes.get(*number as usize).is_some_and(|p| p.is_inserted);
        self.quiet.retain(|address| {
            let here = self.by_address.get(address);
            here.is_some_and(|here| here.iter().any(is_planted))
        });
        let needs_any = probes
            .iter()
            .any(|it| it.monitor == monitor && it.is_inserted);
        let is_gone = |probe: &Probe| {
            let is_kept = needs_any && probe.keeps_arguments();
            probe.monitor == monitor && !probe.is_inserted && !is_kept
        };
        self.pending.end_probes(
            |number| probes.get(number as usize).is_some_and(is_gone),
            &mut self.dropped,
        );
        self.release(program)
    }

    /// Returns whether it is certain that no call of a probe's function is active.
    pub fn is_quiet(&self, number: u32) -> bool {
        self.get(number)
            .is_some_and(|probe| self.quiet.contains(&probe.address))
    }

    /// Records that a call of the function at this address is active.
    pub fn note_entry(&mut self, address: u64) {
        self.quiet.remove(&address);
    }

    /// Counts the arrival of a thread at an address.
    pub fn arrive(&mut self) {
        self.calls += 1;
    }

    /// Returns the number of arrivals.
    pub fn arrivals(&self) -> u64 {
        self.calls
    }

    /// Returns the numbers of the probes at an address, in their order.
    pub fn numbers_at(&self, address: u64) -> &[u32] {
        self.by_address.get(&address).map_or(&[], |here| here)
    }

    /// Awaits the return of a call that was entered without a stop.
    pub fn await_begun(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        pending: PendingReturn,
    ) -> Result<(), DebuggeeError> {
        let address = pending.address;
        self.pending.push(thread, pending);
        program.debuggee.insert(address, Owner::Return)
    }

    /// Collects in `hit` the probes at an address that come first there, or directly after `after`,
    /// inserted or not, since an event may make the next one needed. Returns their order, or `None`
    /// if none is left.
    pub fn hit(
        &self,
        address: u64,
        after: Option<Option<Order>>,
        hit: &mut Vec<u32>,
    ) -> Option<Option<Order>> {
        hit.clear();
        let here = self.by_address.get(&address)?;
        let mut order = None;
        for &number in here {
            let Some(probe) = self.get(number) else {
                continue;
            };
            let own = probe.order();
            if after.is_some_and(|after| own <= after) {
                continue;
            }
            if *order.get_or_insert(own) != own {
                break;
            }
            hit.push(number);
        }
        order
    }

    /// Returns whether a thread at an address has jumped there in a call that it has entered
    /// before, and not been called: the return address is where it was.
    pub fn is_in_loop(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<bool, DebuggeeError> {
        if !self.is_loop_head(address) {
            return Ok(false);
        }
        let stack = program.registers(thread)?.stack_pointer();
        let Ok(caller) = program.debuggee.read_u64(stack) else {
            return Ok(false);
        };
        let is_entered = |call: &PendingReturn| {
            let function = self.get(call.probe).map(|probe| probe.address);
            !call.at_entry && call.address == caller && function == Some(address)
        };
        let frame = abi::frame_at_entry(stack);
        Ok(self.pending.of_frame(thread, frame).iter().any(is_entered))
    }

    /// Returns whether an inserted probe is at the head of a loop that its function begins with.
    pub fn is_loop_head(&self, address: u64) -> bool {
        let mut here = self.numbers_at(address).iter();
        here.any(|&number| {
            self.get(number)
                .is_some_and(|probe| probe.is_loop_head && probe.is_inserted)
        })
    }

    /// Collects in `hit` the probes at an address whose event is the end of the call: those that
    /// are inserted, and those of the same monitors with arguments, since their events may become
    /// needed before the call returns.
    pub fn awaited_at(&self, address: u64, hit: &mut Vec<u32>) {
        hit.clear();
        let numbers = self.numbers_at(address).iter().copied();
        let here = || {
            self.numbers_at(address)
                .iter()
                .filter_map(|&it| self.get(it))
        };
        hit.extend(numbers.filter(|&number| {
            let Some(probe) = self.get(number).filter(|it| it.awaits_return()) else {
                return false;
            };
            let is_seen = || here().any(|it| it.is_inserted && it.monitor == probe.monitor);
            probe.is_inserted || probe.keeps_arguments() && is_seen()
        }));
    }

    /// Returns the frame of the outermost awaited call of a thread.
    pub fn outermost(&self, thread: ThreadId) -> Option<u64> {
        self.pending.outermost(thread)
    }

    /// Removes and returns the awaited calls of a thread that were dropped without a return,
    /// innermost first.
    pub fn take_dropped(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        dropped: &Dropped,
    ) -> Result<Vec<PendingReturn>, DebuggeeError> {
        let gone = self
            .pending
            .take_gone(thread, |call| call.is_among(dropped));
        for call in &gone {
            program.debuggee.remove(call.address, Owner::Return)?;
        }
        Ok(gone)
    }

    /// Removes the awaited calls of a thread that has ended.
    pub fn end_thread(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
    ) -> Result<(), DebuggeeError> {
        self.pending.end_thread(thread, &mut self.dropped);
        self.release(program)
    }

    /// Assigns the awaited calls of `parent` to `thread`, the only thread that is left.
    pub fn follow(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        parent: ThreadId,
    ) -> Result<(), DebuggeeError> {
        self.pending.follow(thread, parent, &mut self.dropped);
        self.release(program)
    }

    /// Renumbers the threads.
    pub fn renumber_threads(&mut self, number: impl Fn(ThreadId) -> ThreadId) {
        self.pending.renumber_threads(number);
    }

    /// Awaits the returns of calls that are already active, outermost first, for probes whose
    /// events have become needed. Calls that are awaited already are skipped.
    pub fn await_active(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        calls: &[(u32, ActiveCall)],
    ) -> Result<(), DebuggeeError> {
        for &(number, call) in calls {
            let captures = self.get(number).map_or(0, |probe| probe.captures.len());
            // Its arguments were not read at its entry, and their registers have other values now.
            let begun = Begun::Unavailable(Unavailability::NotCaptured);
            let found = PendingReturn {
                address: call.address,
                frame: call.frame,
                // The number is lower than that of any later entry.
                call: 0,
                probe: number,
                at_entry: call.at_entry,
                begun: std::iter::repeat_n(begun, captures).collect(),
                entry: Vec::new(),
            };
            let probes = &self.probes;
            let rank = |number: u32| {
                let probe = probes.get(number as usize);
                let of = |probe: &Probe| (probe.monitor, probe.event);
                (probe.map_or(0, |probe| probe.address), probe.map(of))
            };
            if self.pending.add_found(thread, found, rank) {
                program.debuggee.insert(call.address, Owner::Return)?;
            }
        }
        Ok(())
    }

    fn release(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        while let Some(address) = self.dropped.pop() {
            program.debuggee.remove(address, Owner::Return)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
