//! Events of native properties that stop the program.

use crate::monitors::{EventOutcome, MonitoredProperty, Monitors};
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_event::EventId;
use juror_monitor::Occurrence;
use juror_monitor::lowering::Why;
use juror_program::program::Program;
use smallvec::SmallVec;

impl Monitors {
    /// Takes an event of a native property on its table. An event that operations do not
    /// take needs all threads stopped.
    pub(crate) fn step_in_table(
        &mut self,
        program: &mut Program,
        number: usize,
        event: EventId,
        occurrence: &Occurrence<'_>,
        outcome: &mut EventOutcome,
    ) -> Result<(), DebuggeeError> {
        let Some(monitored) = self.properties.get_mut(number) else {
            return Ok(());
        };
        let Some(native) = monitored.native.get_mut() else {
            return Ok(());
        };
        // A step that violates the property is none of operations.
        let Err(why) = native.word.try_step(event, occurrence) else {
            return Ok(());
        };
        self.with_all_stopped(program, |monitors, program| {
            if let Some(monitored) = monitors.properties.get_mut(number) {
                monitored.step_generally(number, event, occurrence, why, outcome);
            }
            // The program takes events on the table when it continues.
            monitors.lengthen_table(program, number)
        })
    }

    /// Returns whether an event that has stopped the program is to be taken: an event that
    /// no state of a native property needs has no trap in the other tier.
    pub(crate) fn is_needed_in_table(&self, number: usize, event: EventId) -> bool {
        let monitored = self.properties.get(number);
        let Some(native) = monitored.and_then(|it| it.native.get()) else {
            return true;
        };
        let needs = native.word.needs();
        needs
            .get(usize::from(event.0))
            .is_some_and(|need| need.needed)
    }

    /// Returns the probes at an entry whose sections the stub has done for the thread that
    /// stands there.
    pub(crate) fn done_in_program(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> SmallVec<[u32; 4]> {
        let done = program.debuggee.sections_done(thread);
        let site = self.native.entries.get(&address).filter(|_| done > 0);
        site.map_or(SmallVec::new(), |site| {
            site.probes.iter().copied().take(done).collect()
        })
    }
}

impl MonitoredProperty {
    /// Takes an event on the table, and counts its violations before other threads take
    /// events: the changes are those of the last event alone. All threads are stopped.
    fn step_generally(
        &mut self,
        number: usize,
        event: EventId,
        occurrence: &Occurrence<'_>,
        why: Why,
        outcome: &mut EventOutcome,
    ) {
        let Some(native) = self.native.get_mut() else {
            return;
        };
        match native.word.step_generally(event, occurrence, why) {
            Ok(step) if step.violated.is_none() => return,
            Ok(_) => {}
            Err(error) => {
                self.note_error(number, error, outcome);
            }
        }
        self.update_from_table();
        self.count_violations(number, occurrence.address, outcome);
    }
}
