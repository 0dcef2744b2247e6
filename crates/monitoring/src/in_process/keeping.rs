//! Properties become native, are brought up to date, and return to traps.

use super::memory::TableMemory;
use super::property::{Candidate, NativeProperty, whole};
use super::records::{
    FIRST_WORDS, PROPERTIES_MAX, RECORD_BYTES, RECORDS, journal, journal_offset,
    words as record_words,
};
use super::{ASKED, CIRCUMSTANCE, Circumstances, NativeTier, Tier};
use crate::monitors::{MonitoredProperty, Monitors};
use juror_debuggee::{DebuggeeError, Follow, ThreadId};
use juror_fault::{SessionError, wrong};
use juror_language::Diagnostic;
use juror_monitor::lowering::{JournalWord, NotNative, WordMonitor};
use juror_program::program::Program;
use std::sync::{Arc, PoisonError};

/// The size of a table in bytes; a part that is not used takes no room.
const TABLE_BYTES: u64 = 1 << 33;

/// The reason for a property whose table has no room in the address space of the program.
const NO_ROOM: &str = "has no room in the program";

impl Monitors {
    /// Makes properties native where that is possible, and returns them to traps where it
    /// is not any more. Threads that run are stopped for a moment.
    pub fn arrange_native(
        &mut self,
        program: &mut Program,
        circumstances: Circumstances,
    ) -> Result<(), DebuggeeError> {
        let obstacle = self.obstacle(program, circumstances);
        if let Some(why) = obstacle {
            if self.has_native() {
                self.with_all_stopped(program, Monitors::leave_native_stopped)?;
            }
            self.native.refusals.clear();
            if circumstances.tier != Tier::Trap {
                self.refuse_all(why);
            }
            return Ok(());
        }
        if self.has_new_probes() {
            self.leave_native(program)?;
        }
        if !self.has_candidate() && !self.has_unpatched(program) {
            return Ok(());
        }
        self.with_all_stopped(program, |monitors, program| {
            monitors.make_native(program)?;
            monitors.patch_entries(program)?;
            monitors.patch_returns_again(program)
        })
    }

    /// Returns why no property can be native now.
    fn obstacle(&self, program: &Program, circumstances: Circumstances) -> Option<&'static str> {
        let debuggee = &program.debuggee;
        if circumstances.tier == Tier::Trap {
            return Some(ASKED);
        }
        if let Some(why) = circumstances.watched {
            return Some(why);
        }
        if self.is_recorded() {
            return Some("is recorded event by event");
        }
        if !self.subscriptions.is_silent() {
            return Some("has a scenario that listens");
        }
        if debuggee.is_left_over() {
            return Some("is of a process in which a juror was killed");
        }
        if debuggee.filters_system_calls() {
            return Some("is of a program that filters its system calls");
        }
        if debuggee.follow() != Follow::Parent || self.process.is_some() {
            return Some("follows forked processes");
        }
        let mut threads = debuggee.thread_ids();
        let uses_gs = threads.any(|thread| debuggee.uses_gs(thread));
        uses_gs.then_some("is of a program that uses gs")
    }

    /// Returns the reasons why properties are not native, as an error in the file of the
    /// first of them.
    pub fn native_error(&self) -> Option<SessionError> {
        let numbers = 0..self.shown().len();
        let mut refused = numbers.filter_map(|number| {
            let (why, _) = self.native.refusals.get(&number)?;
            Some((self.properties.get(number)?, why))
        });
        let (monitored, why) = refused.next()?;
        let mut diagnostic = Diagnostic::error("not-native", why.span.clone(), why.to_string());
        diagnostic.help =
            Some("`--tier native` needs it in the program; `--tier auto` takes it by traps".into());
        Some(wrong(monitored.file(), &monitored.text, vec![diagnostic]))
    }

    /// Returns whether any property is native.
    pub fn has_native(&self) -> bool {
        self.properties.iter().any(|it| it.native.is_some())
    }

    /// Returns whether a native property has probes that it did not have when it was
    /// lowered.
    fn has_new_probes(&self) -> bool {
        let count = self.probes.iter().count();
        let mut natives = self.properties.iter().filter_map(|it| it.native.get());
        natives.any(|native| native.probes != count)
    }

    /// Returns whether a property may become native that is not.
    fn has_candidate(&self) -> bool {
        let probes = self.probes.iter().count();
        (0..self.properties.len()).any(|number| self.is_candidate(number, probes))
    }

    fn is_candidate(&self, number: usize, probes: usize) -> bool {
        let Some(monitored) = self.properties.get(number) else {
            return false;
        };
        let refusal = self.native.refusals.get(&number);
        monitored.native.is_none()
            && monitored.is_enabled
            && refusal.is_none_or(|(_, known)| *known != probes)
            && self
                .probes
                .iter()
                .any(|probe| usize::from(probe.monitor) == number)
    }

    fn refuse_all(&mut self, why: &str) {
        for number in 0..self.properties.len() {
            if let Some(monitored) = self.properties.get(number) {
                let why = whole(monitored, why);
                // It is looked at again as soon as that has changed.
                self.native.refusals.insert(number, (why, CIRCUMSTANCE));
            }
        }
    }

    /// Does something while all threads are stopped.
    pub(crate) fn with_all_stopped<T>(
        &mut self,
        program: &mut Program,
        action: impl FnOnce(&mut Monitors, &mut Program) -> Result<T, DebuggeeError>,
    ) -> Result<T, DebuggeeError> {
        let moving = program.debuggee.moving_threads();
        if moving.is_empty() {
            return action(self, program);
        }
        let halted = program.debuggee.halt_all();
        let done = halted.and_then(|()| action(self, program));
        // Threads that stand stay so for ever if the action has failed.
        let resumed = program.debuggee.resume_halted(moving);
        let done = done?;
        resumed?;
        Ok(done)
    }

    fn make_native(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let probes = self.probes.iter().count();
        let mut is_any_new = false;
        for number in 0..self.properties.len() {
            if !self.is_candidate(number, probes) {
                continue;
            }
            match self.begin_native(program, number)? {
                Ok(()) => is_any_new = true,
                Err(why) => {
                    self.native.refusals.insert(number, (why, probes));
                }
            }
        }
        if is_any_new {
            for number in 0..self.properties.len() {
                self.apply_needs(program, number)?;
            }
            let first = program.debuggee.thread_ids().next();
            if let Some(thread) = first {
                self.newly_awaited
                    .retain(|&number| !self.probes.is_quiet(number));
                self.await_calls_on_stacks(program, thread, None)?;
            }
        }
        Ok(())
    }

    /// Makes a property native, without patches.
    fn begin_native(
        &mut self,
        program: &mut Program,
        number: usize,
    ) -> Result<Result<(), NotNative>, DebuggeeError> {
        let Some(monitored) = self.properties.get(number) else {
            return Ok(Ok(()));
        };
        if monitored.monitor.uses_time() {
            return Ok(Err(whole(monitored, "uses the time")));
        }
        let candidate = match Candidate::of(monitored, number, &self.probes) {
            Ok(candidate) => candidate,
            Err(why) => return Ok(Err(why)),
        };
        if !self.native.prepare_records(program)? {
            return Ok(Err(whole(monitored, NO_ROOM)));
        }
        let index = self.native.journal_count();
        let table = if index < PROPERTIES_MAX {
            program.debuggee.share_memory(TABLE_BYTES)?
        } else {
            None
        };
        let Some(table) = table else {
            return Ok(Err(whole(monitored, NO_ROOM)));
        };
        let probes = self.probes.iter().count();
        let native = NativeProperty::of(candidate, monitored, table, (index, probes));
        let Some(native) = native else {
            return Ok(Err(whole(monitored, NO_ROOM)));
        };
        if !program.debuggee.lengthen_memory(&native.table)? {
            program.debuggee.unshare_memory(&native.table)?;
            return Ok(Err(whole(monitored, NO_ROOM)));
        }
        self.native.add_journals(program, &native)?;
        if !program.debuggee.arm_threads()? {
            return Ok(Err(whole(monitored, "has too many threads")));
        }
        let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
        if let Some(monitored) = self.properties.get_mut(number) {
            monitored.native.set(native);
        }
        self.native.refusals.remove(&number);
        for thread in threads {
            self.number_thread(program, thread);
        }
        Ok(Ok(()))
    }

    /// Writes the number of a thread where its events find it.
    pub fn number_thread(&mut self, program: &Program, thread: ThreadId) {
        let Some(record) = program.debuggee.thread_record(thread) else {
            return;
        };
        let number = program.thread_number(thread);
        for native in self.properties.iter().filter_map(|it| it.native.get()) {
            let journal = native.program.layout.journal(record.number);
            let at = journal + u64::from(JournalWord::Thread.offset());
            native.table.store(at, number.into());
        }
    }

    /// Brings the monitors of native properties up to date. All threads are stopped, or
    /// have ended.
    pub fn update_from_tables(&mut self) {
        for monitored in &mut self.properties {
            monitored.update_from_table();
        }
    }

    /// Returns the number of events so far, of all properties. Threads that run are stopped for a
    /// moment.
    pub fn count_events(&mut self, program: &mut Program) -> Result<u64, DebuggeeError> {
        self.with_all_stopped(program, |monitors, _| {
            monitors.update_from_tables();
            let counts = monitors.properties.iter().flat_map(|it| &it.occurrences);
            Ok(counts.sum())
        })
    }

    /// Returns all properties to their monitors and to traps, all threads being stopped.
    pub fn leave_native(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        if self.has_native() {
            self.with_all_stopped(program, Monitors::leave_native_stopped)
        } else {
            Ok(())
        }
    }

    fn leave_native_stopped(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
        for thread in threads {
            self.take_over_pending(program, thread)?;
        }
        program.debuggee.unpatch_all()?;
        self.release_return_sites(program)?;
        program.debuggee.disarm_threads()?;
        self.native.has_records = false;
        for native in self.properties.iter().filter_map(|it| it.native.get()) {
            program.debuggee.unshare_memory(&native.table)?;
        }
        self.forget_tables();
        for number in 0..self.properties.len() {
            self.apply_needs(program, number)?;
        }
        Ok(())
    }

    /// Gives the program what the table of a property has grown by, all threads being stopped.
    /// If there is no room for it, all properties return to traps, and this one stays there.
    pub(super) fn lengthen_table(
        &mut self,
        program: &mut Program,
        number: usize,
    ) -> Result<(), DebuggeeError> {
        let native = self.properties.get(number).and_then(|it| it.native.get());
        let Some(native) = native else {
            return Ok(());
        };
        if program.debuggee.lengthen_memory(&native.table)? {
            return Ok(());
        }
        self.leave_native_stopped(program)?;
        if let Some(monitored) = self.properties.get(number) {
            let why = whole(monitored, NO_ROOM);
            let probes = self.probes.iter().count();
            self.native.refusals.insert(number, (why, probes));
        }
        Ok(())
    }

    /// Continues with the monitors; the program is gone, or runs another one.
    pub(crate) fn forget_tables(&mut self) {
        for monitored in &mut self.properties {
            if let Some(native) = monitored.native.get_mut() {
                // A thread that was killed in a step has left it half done.
                native.word.recover();
            }
            monitored.update_counts();
            if let Some(native) = monitored.native.take() {
                monitored.monitor.continue_from(native.word);
            }
        }
        self.native.forget_places();
    }
}

impl NativeProperty {
    /// Fills a table from a monitor; none if it has no room.
    fn of(
        candidate: Candidate,
        monitored: &MonitoredProperty,
        table: juror_debuggee::SharedMemory,
        (index, probes): (usize, usize),
    ) -> Option<NativeProperty> {
        let program = Arc::clone(candidate.lowered.program());
        let memory = TableMemory(table.clone());
        let mut word = WordMonitor::new(candidate.lowered, memory)?;
        if !word.take_over(&monitored.monitor) {
            return None;
        }
        Some(NativeProperty {
            word,
            program,
            table,
            index,
            probes,
            words: candidate.words,
            refusals: candidate.refusals,
            occurrences: monitored.occurrences.clone(),
        })
    }
}

impl MonitoredProperty {
    /// Brings the monitor up to date if the property is native.
    pub(crate) fn update_from_table(&mut self) {
        let Some(native) = self.native.get() else {
            return;
        };
        if native.word.is_behind(&self.monitor) {
            native.word.write_back(&mut self.monitor);
        }
        self.update_counts();
    }

    /// Brings the numbers of occurrences up to date if the property is native.
    fn update_counts(&mut self) {
        let Some(native) = self.native.get() else {
            return;
        };
        let counts = native.word.event_counts();
        let before = native.occurrences.iter().zip(counts);
        for (total, (before, count)) in self.occurrences.iter_mut().zip(before) {
            *total = before + count;
        }
    }
}

impl NativeTier {
    fn journal_count(&self) -> usize {
        let journals = self.journals.lock();
        journals.unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Maps the thread records.
    fn prepare_records(&mut self, program: &mut Program) -> Result<bool, DebuggeeError> {
        if !self.has_records {
            let words = record_words(&self.journals);
            let mapped =
                program
                    .debuggee
                    .map_thread_records(RECORDS, RECORD_BYTES, (FIRST_WORDS, words));
            self.has_records = mapped?;
        }
        Ok(self.has_records)
    }

    /// Gives each thread record a journal of a property.
    fn add_journals(
        &mut self,
        program: &mut Program,
        native: &NativeProperty,
    ) -> Result<(), DebuggeeError> {
        let layout = &native.program.layout;
        let first = native.table.address() + layout.journal(0);
        let table = (first, layout.journal(1) - layout.journal(0));
        let journals = self.journals.lock();
        journals.unwrap_or_else(PoisonError::into_inner).push(table);
        let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
        for thread in threads {
            if let Some(record) = program.debuggee.thread_record(thread) {
                let at = record.address + u64::from(journal_offset(native.index));
                let journal = journal(table, record.number);
                program.debuggee.write_own_words(at, &[journal])?;
            }
        }
        Ok(())
    }

    /// Forgets where the program was patched.
    fn forget_places(&mut self) {
        self.has_records = false;
        let journals = self.journals.lock();
        journals.unwrap_or_else(PoisonError::into_inner).clear();
        self.entries.clear();
        self.returns.clear();
        self.refusals.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::monitors;
    use juror_event::{EventId, EventKind};
    use juror_instrument::probes::Probe;

    fn probe(monitor: u16) -> Probe {
        Probe {
            monitor,
            event: EventId(0),
            kind: EventKind::BeforeCall,
            address: 0x1000,
            function: "a".into(),
            captures: Vec::new(),
            inlined: None,
            is_loop_head: false,
            is_inserted: false,
        }
    }

    /// Two properties, of which the first has a probe.
    fn two() -> Monitors {
        let property = |name| {
            format!("property {name} event a = before a() state s accepting {{ on a -> s }}\n")
        };
        let mut monitors = monitors(&["x", "y"].map(property).concat());
        monitors.probes.add(probe(0));
        monitors
    }

    #[test]
    fn a_property_is_a_candidate_while_it_is_enabled_and_has_a_probe() {
        let mut monitors = two();
        assert!(monitors.is_candidate(0, 1));
        assert!(!monitors.is_candidate(1, 1) && !monitors.is_candidate(7, 1));
        assert!(monitors.has_candidate());
        monitors.properties[0].is_enabled = false;
        assert!(!monitors.has_candidate());
    }

    #[test]
    fn a_refused_property_is_asked_again_when_there_are_other_probes() {
        let mut monitors = two();
        let why = whole(&monitors.properties[0], "is too large");
        monitors.native.refusals.insert(0, (why, 1));
        assert!(!monitors.has_candidate());
        monitors.probes.add(probe(1));
        assert!(monitors.has_candidate() && monitors.is_candidate(0, 2));
    }

    #[test]
    fn circumstances_refuse_all_properties_for_a_time() {
        let mut monitors = two();
        assert!(monitors.native_error().is_none());
        monitors.refuse_all("is taken by traps as asked");
        assert_eq!(monitors.native.refusals.len(), 2);
        // Another circumstance is looked at, whatever the probes are.
        assert!(monitors.is_candidate(0, 1));
        let Some(SessionError::Property { file, found }) = monitors.native_error() else {
            panic!("both are refused");
        };
        let diagnostic = &found[0].diagnostics[0];
        assert_eq!((file.as_str(), diagnostic.code), ("p.prop", "not-native"));
        assert!(
            diagnostic.message.contains("is taken by traps as asked"),
            "{diagnostic:?}"
        );
    }
}
