//! The places of events of a program that is gone.

use crate::monitors::MonitoredProperty;
use juror_view::Location;
use juror_view::location::{Places, event_location};
use rustc_hash::{FxHashMap, FxHashSet};

/// The way in which an event has a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Way {
    Line,
    Call,
    Instruction,
}

/// The places of remembered transitions, by what they are about and their address.
#[derive(Debug, Default)]
pub(super) struct KeptPlaces(FxHashMap<(Way, Box<str>, u64), Location>);

impl KeptPlaces {
    /// Returns the places of the remembered transitions of all properties.
    pub(super) fn of<P: Places>(shown: &[MonitoredProperty], places: &P) -> KeptPlaces {
        let mut kept = FxHashMap::default();
        for monitored in shown {
            let mut seen = FxHashSet::default();
            for taken in monitored.monitor.transitions_since(0).0 {
                let Some(event) = monitored.property.event(taken.event) else {
                    continue;
                };
                if !seen.insert((taken.event, taken.address)) {
                    continue;
                }
                let (way, subject) = match event.kind {
                    juror_event::EventKind::Line => (Way::Line, &*event.subject),
                    kind if kind.is_call() => (Way::Call, &*event.subject),
                    _ => (Way::Instruction, ""),
                };
                let location = event_location(Some(event), Some(places), taken.address);
                kept.insert((way, subject.into(), taken.address), location);
            }
        }
        KeptPlaces(kept)
    }

    fn get(&self, way: Way, subject: &str, address: u64) -> Location {
        let known = self.0.get(&(way, subject.into(), address)).cloned();
        known.unwrap_or_else(|| self.call(address))
    }
}

impl Places for KeptPlaces {
    fn call(&self, caller: u64) -> Location {
        Location {
            address: caller,
            ..Location::default()
        }
    }

    fn instruction(&self, address: u64) -> Location {
        self.get(Way::Instruction, "", address)
    }

    fn line(&self, address: u64, line: &str) -> Location {
        self.get(Way::Line, line, address)
    }

    fn call_of(&self, address: u64, function: &str) -> Location {
        self.get(Way::Call, function, address)
    }
}
