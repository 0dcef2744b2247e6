//! Return sites: patches where the calls of monitored functions return to, and the calls
//! that are pending in the program.

use super::Site;
use super::patching::Wanted;
use super::records::{
    PendingCall, PendingRecords, add_pending_calls, has_pending_calls, set_pending_calls,
};
use crate::monitors::Monitors;
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use juror_event::Unavailability;
use juror_instrument::capture_plan::CapturePlan;
use juror_program::program::Program;
use juror_program::stack::pending_returns::PendingReturn;
use juror_stub::head::Place;
use juror_values::read_plan::Begun;

impl Monitors {
    /// Takes the pending calls of a thread out of the program; their returns are awaited
    /// by traps.
    pub(crate) fn take_over_pending(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
    ) -> Result<(), DebuggeeError> {
        self.take_over_where(program, thread, None)
    }

    /// Takes over the calls that return now.
    pub(crate) fn take_over_returned(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        if !self.has_native() {
            return Ok(());
        }
        let stack = program.registers(thread)?.stack_pointer();
        self.take_over_where(program, thread, Some((stack, address)))
    }

    /// Takes over the pending calls with this frame and return address, or all.
    fn take_over_where(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        returning: Option<(u64, u64)>,
    ) -> Result<(), DebuggeeError> {
        let Some(record) = has_pending_calls(program, thread) else {
            return Ok(());
        };
        let records = PendingRecords::read(program, record);
        if returning.is_some_and(|(frame, address)| !records.has(frame, address)) {
            return Ok(());
        }
        let is_meant = |call: &PendingCall| match returning {
            Some(returning) => returning == (call.frame, call.address),
            None => true,
        };
        let calls = records.calls().into_iter();
        let (taken, kept): (Vec<PendingCall>, Vec<PendingCall>) = calls.partition(is_meant);
        set_pending_calls(program, record, &kept)?;
        for mut call in self.pending_returns(&taken) {
            self.probes.arrive();
            // What was begun last ends first; by traps it is the first of its call.
            while let Some(mut pending) = call.pop() {
                pending.call = self.probes.arrivals();
                self.probes.await_begun(program, thread, pending)?;
            }
        }
        Ok(())
    }

    /// Returns pending calls in the form that traps use, outermost first: for each call the
    /// probes that wait for its end.
    fn pending_returns(&self, calls: &[PendingCall]) -> Vec<Vec<PendingReturn>> {
        let function = |number| self.probes.get(number).map(|probe| probe.address);
        let mut made: Vec<Vec<PendingReturn>> = Vec::new();
        for pending in calls.iter().filter_map(|call| self.pending_return(call)) {
            let same = made.last_mut().filter(|same| {
                same.iter().all(|other| {
                    other.frame == pending.frame
                        && other.probe != pending.probe
                        && function(other.probe) == function(pending.probe)
                })
            });
            match same {
                Some(same) => same.push(pending),
                None => made.push(vec![pending]),
            }
        }
        made
    }

    /// Returns a pending call in the form that traps use.
    fn pending_return(&self, call: &PendingCall) -> Option<PendingReturn> {
        let probe = self.probes.get(call.event)?;
        let words = self.native_of(call.event)?.words.get(&call.event)?;
        let mut values = call.values.iter();
        let mut begun = smallvec::SmallVec::new();
        for (slot, plan) in (0u32..).zip(&probe.captures) {
            let is_begun = words.begun >> slot & 1 == 1;
            let value = if is_begun { values.next() } else { None };
            begun.push(match (plan, value) {
                (CapturePlan::Entry(_), Some(word)) if call.absent >> slot & 1 == 0 => {
                    Begun::Word(*word)
                }
                _ => Begun::Unavailable(Unavailability::NotCaptured),
            });
        }
        Some(PendingReturn {
            address: call.address,
            frame: call.frame,
            call: 0,
            probe: call.event,
            at_entry: false,
            begun,
            entry: Vec::new(),
        })
    }

    /// Lets the program take the ends of a call that a thread has just entered, for all of
    /// these probes: patches the site to which it will return, and adds the call to those
    /// that are pending in the program. Returns whether that was possible; else the return
    /// is to be awaited by a trap.
    pub(crate) fn await_in_program(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        probes: &[u32],
    ) -> Result<bool, DebuggeeError> {
        let Some(record) = program.debuggee.thread_record(thread) else {
            return Ok(false);
        };
        let Some(begun) = self.begin_in_program(program, thread, probes)? else {
            return Ok(false);
        };
        let Some(address) = begun.first().map(|call| call.address) else {
            return Ok(false);
        };
        self.patch_return(program, address, probes)?;
        let site = self.native.returns.get(&address);
        let has_sections = site.is_some_and(|site| {
            let mut probes = probes.iter();
            site.patch.is_ok() && probes.all(|number| site.probes.contains(number))
        });
        let calls: Option<Vec<PendingCall>> =
            begun.iter().map(|call| self.pending_call(call)).collect();
        let Some(mut calls) = calls.filter(|_| has_sections) else {
            return Ok(false);
        };
        // What is begun last ends first; by traps it is the first of its call.
        calls.reverse();
        let is_added =
            program.debuggee.is_patched(address) && add_pending_calls(program, record, &calls)?;
        if is_added {
            for call in &begun {
                self.probes.take_noted_entry(program, thread, call)?;
            }
        }
        Ok(is_added)
    }

    /// Returns what is kept of a call until its return, by probe; `None` if one of the
    /// probes is not native.
    fn begin_in_program(
        &self,
        program: &Program,
        thread: ThreadId,
        probes: &[u32],
    ) -> Result<Option<Vec<PendingReturn>>, DebuggeeError> {
        let mut begun = Vec::with_capacity(probes.len());
        for &number in probes {
            let is_native = self.native_of(number).is_some();
            let call = if is_native {
                self.probes.begin_return(program, thread, number)?
            } else {
                None
            };
            let Some(call) = call else {
                return Ok(None);
            };
            begun.push(call);
        }
        Ok(Some(begun))
    }

    /// Returns a pending call in the form that the program uses; the inverse of
    /// `pending_return`.
    fn pending_call(&self, call: &PendingReturn) -> Option<PendingCall> {
        let words = self.native_of(call.probe)?.words.get(&call.probe)?;
        let mut made = PendingCall {
            frame: call.frame,
            address: call.address,
            event: call.probe,
            absent: 0,
            values: Default::default(),
        };
        let mut values = made.values.iter_mut();
        for (slot, value) in (0u32..).zip(&call.begun) {
            if words.begun >> slot & 1 == 0 {
                continue;
            }
            let place = values.next()?;
            match value {
                Begun::Word(word) => *place = *word,
                Begun::Unavailable(_) => made.absent |= 1 << slot,
                _ => return None,
            }
        }
        call.entry.is_empty().then_some(made)
    }

    /// Patches the site to which monitored calls return, so that the next return there
    /// does not stop the program. `probes` are those that wait. In a large module the first
    /// returns are awaited by traps: its sites may be few.
    pub(crate) fn patch_return(
        &mut self,
        program: &mut Program,
        address: u64,
        probes: &[u32],
    ) -> Result<(), DebuggeeError> {
        let known = self.native.returns.get(&address);
        let mut wanted: Vec<u32> = known.map_or(Vec::new(), |site| site.probes.clone());
        let is_refused = known.is_some_and(|site| site.patch.is_err());
        let mut is_new = known.is_none();
        for number in probes {
            for of_function in self.ends_of_function(*number) {
                if !wanted.contains(&of_function) {
                    wanted.push(of_function);
                    is_new = true;
                }
            }
        }
        if wanted.is_empty() || is_refused {
            return Ok(());
        }
        if !is_new {
            return self.patch_return_again(program, address);
        }
        let is_first = known.is_none();
        if is_first && self.native.texts.puts_off_return(program, address) {
            return Ok(());
        }
        if is_first {
            program.debuggee.insert(address, Owner::Return)?;
        }
        self.with_all_stopped(program, |monitors, program| {
            let wanted = Wanted {
                address,
                place: Place::ReturnSite,
                probes: wanted,
                owned: (Owner::Return, 1),
            };
            for (address, site) in monitors.patch_sites(program, vec![wanted])? {
                if site.patch.is_err() {
                    // Each return there is awaited by a trap of its own.
                    program.debuggee.remove(address, Owner::Return)?;
                }
                monitors.native.returns.insert(address, site);
            }
            Ok(())
        })
    }

    /// Returns the native probes for the ends of the calls of a probe's function.
    fn ends_of_function(&self, number: u32) -> Vec<u32> {
        let Some(address) = self.probes.get(number).map(|probe| probe.address) else {
            return Vec::new();
        };
        let here = self.probes.numbers_at(address);
        let ends = here.iter().copied().filter(|number| {
            let is_end = self.probes.get(*number);
            is_end.is_some_and(|it| it.kind.is_end_of_call()) && self.native_of(*number).is_some()
        });
        ends.collect()
    }

    fn patch_return_again(
        &mut self,
        program: &mut Program,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        let Some(Site {
            patch: Ok(patch),
            owned,
            ..
        }) = self.native.returns.get(&address).cloned()
        else {
            return Ok(());
        };
        if program.debuggee.is_patched(address) || !program.debuggee.may_be_patched(&patch, owned) {
            return Ok(());
        }
        self.with_all_stopped(program, |_, program| {
            program.debuggee.patch(patch, owned).map(drop)
        })
    }

    /// Patches all return sites again that may be, all threads being stopped.
    pub(super) fn patch_returns_again(
        &mut self,
        program: &mut Program,
    ) -> Result<(), DebuggeeError> {
        let addresses: Vec<u64> = self.native.returns.keys().copied().collect();
        for address in addresses {
            self.patch_return_again(program, address)?;
        }
        Ok(())
    }

    /// Forgets the sites whose code was unloaded.
    pub(crate) fn forget_unloaded_sites(
        &mut self,
        program: &mut Program,
    ) -> Result<(), DebuggeeError> {
        let is_loaded = |address: u64| program.modules.find(address).is_some();
        self.native.entries.retain(|address, _| is_loaded(*address));
        let gone = |(address, _): &(&u64, &Site)| !is_loaded(**address);
        let gone: Vec<u64> = self
            .native
            .returns
            .iter()
            .filter(gone)
            .map(|it| *it.0)
            .collect();
        for address in gone {
            let site = self.native.returns.remove(&address);
            if site.is_some_and(|site| site.patch.is_ok()) {
                program.debuggee.remove(address, Owner::Return)?;
            }
        }
        Ok(())
    }

    /// Removes the sites of the patches at return sites.
    pub(super) fn release_return_sites(
        &mut self,
        program: &mut Program,
    ) -> Result<(), DebuggeeError> {
        let sites = std::mem::take(&mut self.native.returns);
        for (address, site) in sites {
            if site.patch.is_ok() {
                program.debuggee.remove(address, Owner::Return)?;
            }
        }
        Ok(())
    }
}
