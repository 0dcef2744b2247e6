//! How the events of properties are taken, for the summary and the list of points.

use super::{ASKED, CIRCUMSTANCE};
use crate::monitors::Monitors;
use juror_instrument::probes::Probe;
use juror_program::program::Program;

impl Monitors {
    /// Returns how an event is taken at the addresses of its probes, in their order.
    pub(crate) fn ways(
        &self,
        program: &Program,
        monitor: usize,
        event: usize,
    ) -> Vec<Option<String>> {
        let is_meant = |probe: &&Probe| {
            probe.is_inserted
                && usize::from(probe.monitor) == monitor
                && usize::from(probe.event.0) == event
        };
        let probes = self.probes.iter().filter(is_meant);
        probes
            .map(|probe| self.way(program, monitor, event, probe.address))
            .collect()
    }

    /// Notes how the events of calls and system calls are taken, for the summary.
    pub(crate) fn note_tiers(&mut self, program: &Program) {
        let tier = |monitor: usize, event: usize| {
            if let Some(stops) = self.call_stops(program, monitor, event) {
                return Some(stops);
            }
            let refusal = self.native.refusals.get(&monitor);
            if refusal.is_some_and(|(why, known)| *known == CIRCUMSTANCE && &*why.why == ASKED) {
                return None;
            }
            let way = joint_way(&self.ways(program, monitor, event))?;
            Some(match self.stopping(monitor, event) {
                Some(why) if !way.starts_with("trap") => format!("{way}, but most stop: {why}"),
                _ => way,
            })
        };
        let numbers = 0..self.properties.len();
        let all: Vec<Vec<Option<String>>> = numbers
            .map(|monitor| {
                let events = self.properties.get(monitor).map_or(0, |it| it.stops.len());
                (0..events).map(|event| tier(monitor, event)).collect()
            })
            .collect();
        for (monitored, tiers) in self.properties.iter_mut().zip(all) {
            monitored.tiers = tiers;
            monitored.unwinding_stops = self.unwinding_stops;
        }
    }

    /// Returns why the program stops for most occurrences of an event that is taken in it.
    fn stopping(&self, monitor: usize, event: usize) -> Option<&'static str> {
        /// Fewer stops cost nothing.
        const FEW: u64 = 1_000;
        let monitored = self.properties.get(monitor)?;
        let native = monitored.native.get()?;
        let stops = *monitored.stops.get(event)?;
        // Those in the program are counted there.
        let counted = native.word.event_counts().into_iter().nth(event)?;
        let occurrences = native.occurrences.get(event)?.saturating_add(counted);
        if stops < FEW || stops.saturating_mul(2) < occurrences {
            return None;
        }
        let gates = native.word.gates().iter();
        let (why, _) = gates.max_by_key(|(_, count)| **count)?;
        Some(why.words())
    }

    fn way(&self, program: &Program, monitor: usize, event: usize, address: u64) -> Option<String> {
        let trap = |why: &dyn std::fmt::Display| Some(format!("trap: {why}"));
        let Some(native) = self.properties.get(monitor)?.native.get() else {
            let (why, _) = self.native.refusals.get(&monitor)?;
            return trap(why);
        };
        if program.debuggee.is_patched(address) {
            return Some("native".to_owned());
        }
        if let Some(why) = native.refusals.get(event)? {
            return trap(why);
        }
        match self.native.entries.get(&address).map(|site| &site.patch) {
            Some(Err(why)) => trap(why),
            Some(Ok(_)) => trap(&"something else is in the first instructions"),
            None => trap(&"another event there is not native"),
        }
    }
}

/// Returns how an event is taken that is taken in these ways, by address.
fn joint_way(ways: &[Option<String>]) -> Option<String> {
    let is_native = |way: &Option<String>| way.as_deref() == Some("native");
    if ways.iter().any(is_native) && !ways.iter().all(is_native) {
        return Some("native in part".to_owned());
    }
    ways.first().cloned().flatten()
}

#[cfg(test)]
mod tests {
    use super::joint_way;

    #[test]
    fn an_event_is_native_in_part_if_some_of_its_addresses_are() {
        let native = || Some("native".to_owned());
        let trap = || Some("trap: it is short".to_owned());
        for (ways, expected) in [
            (vec![], None),
            (vec![native(), native()], native()),
            (vec![trap(), trap()], trap()),
            (vec![None, trap()], None),
            (vec![native(), trap()], Some("native in part".to_owned())),
            (vec![None, native()], Some("native in part".to_owned())),
        ] {
            assert_eq!(joint_way(&ways), expected, "{ways:?}");
        }
    }
}
