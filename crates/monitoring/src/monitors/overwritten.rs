//! Code that the program has written over, where events are seen.

use crate::monitors::Monitors;
use juror_instrument::probes::Probe;

/// The reason why a site that the program has written over is not patched again: its stub would
/// execute what was there before.
const OTHER_CODE: &str = "the program has changed its code there";

impl Monitors {
    /// Notes that the program has written over the code at an address where events are seen: some
    /// may have been missed. Where no function begins, calls return, and any may have.
    pub fn note_overwritten(&mut self, address: u64) {
        let here = self.probes.numbers_at(address);
        let probes = self.probes.iter().zip(0u32..);
        let is_meant = |(probe, number): &(&Probe, u32)| match here {
            [] => probe.kind.is_end_of_call(),
            here => here.contains(number),
        };
        for (probe, _) in probes.filter(is_meant) {
            let monitored = self.properties.get_mut(usize::from(probe.monitor));
            let event = usize::from(probe.event.0);
            if let Some(is_overwritten) = monitored.and_then(|it| it.overwritten.get_mut(event)) {
                *is_overwritten = true;
            }
        }
        let native = &mut self.native;
        for sites in [&mut native.entries, &mut native.returns] {
            if let Some(site) = sites.get_mut(&address) {
                site.patch = Err(OTHER_CODE.to_owned());
            }
        }
    }
}
