//! Events that are no calls, bound to what is loaded now; and where each event
//! is watched.

use super::occasions::{Occasion, Subject};
use super::places::PlaceWatch;
use super::{Watch, is_needed_by};
use juror_debuggee::WatchTier;
use juror_event::{EventId, EventKind, SymbolicEvent};
use juror_instrument::occasions::is_about_memory;
use juror_instrument::places::EventPlace;
use juror_instrument::probes::{BindError, Probe};
use juror_instrument::program::Program;

/// Where an event of a monitor is watched.
pub(crate) struct Planted {
    /// In the debuggee; none for what the kernel tells.
    pub addresses: Vec<u64>,
    /// How, where that is no trap.
    pub tier: Option<&'static str>,
    /// The present states need it, and it is somewhere.
    pub is_watched: bool,
}

impl Watch {
    /// Binds an event that is no call. What is bound already stays, unless it
    /// has moved.
    pub(super) fn bind_other(
        &mut self,
        program: &mut Program,
        monitor: u16,
        event: EventId,
        symbolic: &SymbolicEvent,
    ) -> Result<(), BindError> {
        if symbolic.kind == EventKind::Line {
            for site in program.bind_line(symbolic)? {
                if !self.probes.has(monitor, event, site.address) {
                    self.probes.add(Probe {
                        monitor,
                        event,
                        kind: symbolic.kind,
                        address: site.address,
                        function: site.function.into(),
                        captures: site.captures,
                        planted: false,
                    });
                }
            }
            return Ok(());
        }
        if is_about_memory(symbolic.kind) {
            return self.bind_place(program, monitor, event, symbolic);
        }
        if !self.occasions.has(monitor, event) {
            self.occasions.add(Occasion {
                monitor,
                event,
                kind: symbolic.kind,
                subject: Subject::of(symbolic)?,
                captures: program.bind_captures(symbolic)?.into(),
            });
        }
        Ok(())
    }

    fn bind_place(
        &mut self,
        program: &mut Program,
        monitor: u16,
        event: EventId,
        symbolic: &SymbolicEvent,
    ) -> Result<(), BindError> {
        let place = EventPlace::parse(&symbolic.subject, symbolic.reach.clone())?;
        let known = self.places.of(monitor, event, || {
            PlaceWatch::new(monitor, event, symbolic.kind, place)
        });
        let sight = program.bind_place(symbolic, &known.place);
        let sight = match sight {
            Ok(sight) => {
                known.captures = program.bind_captures(symbolic)?.into();
                Ok(Some(sight))
            }
            // Its module was unloaded, or is still to come.
            Err(error @ BindError::Subject { .. }) => Err(error),
            Err(error) => return Err(error),
        };
        let (sight, result) = match sight {
            Ok(sight) => (sight, Ok(())),
            Err(error) => (None, Err(error)),
        };
        let moved = self.places.rebind(program, monitor, event, sight);
        moved.map_err(|error| BindError::Subject {
            message: format!("it cannot be watched: {error}"),
            help: None,
            is_absent: false,
        })?;
        result
    }

    /// Where an event is watched now, and how.
    pub(crate) fn planted(
        &self,
        program: Option<&Program>,
        monitor: usize,
        event: usize,
    ) -> Planted {
        let is_meant =
            |owner: u16, id: EventId| usize::from(owner) == monitor && usize::from(id.0) == event;
        let probes = self.probes.iter().filter(|it| it.planted);
        let probes = probes.filter(|it| is_meant(it.monitor, it.event));
        let mut addresses: Vec<u64> = probes.map(|probe| probe.address).collect();
        let mut places = self.places.iter();
        if let Some(place) = places.find(|it| is_meant(it.monitor, it.event)) {
            addresses = place.addresses();
            let tier = program.and_then(|program| place.tier(program));
            return Planted {
                is_watched: tier.is_some(),
                addresses,
                tier: tier.map(tier_name),
            };
        }
        let is_occasion = self.occasions.has(monitor as u16, EventId(event as u16));
        let is_needed = is_needed_by(&self.watched, monitor as u16, EventId(event as u16));
        Planted {
            is_watched: !addresses.is_empty() || program.is_some() && is_occasion && is_needed,
            addresses,
            tier: is_occasion.then_some("kernel"),
        }
    }
}

fn tier_name(tier: WatchTier) -> &'static str {
    match tier {
        WatchTier::Hardware => "hardware",
        WatchTier::Page => "page",
        WatchTier::Stepping => "stepping",
    }
}
