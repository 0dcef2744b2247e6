//! The monitor of a property, which a table may be ahead of.
//!
//! To bring a monitor up to date costs a microsecond for each slice. After the end of a program
//! few runs need that: the verdict, the counts and the number of slices are in the table. So a
//! table is kept when its program has ended, and the monitor is written when it is looked at.

use super::memory::TableMemory;
use juror_event::{EventId, Verdict};
use juror_monitor::lowering::WordMonitor;
use juror_monitor::{EventNeed, Monitor, ViolationGroup};
use std::cell::OnceCell;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A monitor that is written from the last table of its property when it is first looked at.
pub struct CurrentMonitor {
    monitor: Monitor,
    last: Option<Box<LastTable>>,
}

/// A table that no program steps any more.
struct LastTable {
    word: WordMonitor<TableMemory>,
    written: OnceCell<Monitor>,
}

impl CurrentMonitor {
    pub(crate) fn new(monitor: Monitor) -> CurrentMonitor {
        CurrentMonitor {
            monitor,
            last: None,
        }
    }

    /// Returns the monitor itself.
    pub(crate) fn into_monitor(mut self) -> Monitor {
        self.write();
        self.monitor
    }

    /// Writes the monitor from the table, which is not needed any more.
    fn write(&mut self) {
        let Some(last) = self.last.take() else {
            return;
        };
        let LastTable { word, written } = *last;
        match written.into_inner() {
            Some(written) => self.monitor = written,
            None => word.write_back(&mut self.monitor),
        }
    }

    /// Continues from a table that no program steps any more.
    pub(crate) fn continue_from(&mut self, word: WordMonitor<TableMemory>) {
        if word.is_behind(self) {
            let written = OnceCell::new();
            self.last = Some(Box::new(LastTable { word, written }));
        }
    }

    /// Returns the table that the monitor has not been written from.
    fn unread(&self) -> Option<&WordMonitor<TableMemory>> {
        let last = self.last.as_ref()?;
        last.written.get().is_none().then_some(&last.word)
    }

    /// Ends the run if that violates no slice; returns false, and does nothing, if it may.
    pub(crate) fn finish_quietly(&mut self) -> bool {
        let last = self.last.as_mut().filter(|it| it.written.get().is_none());
        last.is_some_and(|last| last.word.finish_quietly())
    }

    /// Returns the worst verdict of all slices ([`Monitor::verdict`]).
    pub fn verdict(&self) -> Verdict {
        match self.unread() {
            Some(word) => word.verdict(),
            None => Monitor::verdict(self),
        }
    }

    /// Returns whether a present state needs an event ([`Monitor::needs`]).
    pub fn is_needed(&self, event: EventId) -> bool {
        let is_needed = |needs: &[EventNeed]| {
            let need = needs.get(usize::from(event.0));
            need.is_some_and(|need| need.needed)
        };
        match self.unread() {
            Some(word) => is_needed(&word.needs()),
            None => is_needed(self.needs()),
        }
    }

    /// Returns the violations by events so far ([`Monitor::violations`]).
    pub fn violations(&self) -> &[ViolationGroup] {
        match self.unread() {
            Some(word) => word.violations(),
            None => Monitor::violations(self),
        }
    }

    /// Returns the number of slices for objects that the property was evaluated for, including
    /// those that have ended.
    pub fn object_count(&self) -> u64 {
        let (count, ended) = match self.unread() {
            Some(word) => (word.slice_count(), word.ended_count()),
            None => (Monitor::slice_count(self) as u64, self.ended_count()),
        };
        // The base slice stands for no object.
        count.saturating_sub(1) + ended
    }
}

impl Deref for CurrentMonitor {
    type Target = Monitor;

    fn deref(&self) -> &Monitor {
        match &self.last {
            Some(last) => last.written.get_or_init(|| {
                let mut monitor = self.monitor.clone();
                last.word.write_back(&mut monitor);
                monitor
            }),
            None => &self.monitor,
        }
    }
}

impl DerefMut for CurrentMonitor {
    fn deref_mut(&mut self) -> &mut Monitor {
        self.write();
        &mut self.monitor
    }
}

impl Clone for CurrentMonitor {
    fn clone(&self) -> CurrentMonitor {
        CurrentMonitor::new(Monitor::clone(self))
    }
}

impl fmt::Debug for CurrentMonitor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Monitor::fmt(self, formatter)
    }
}
