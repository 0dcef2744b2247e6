//! Patches at the entries of functions, and the stubs of all sites.

use super::drafts::{DraftKey, Drafts};
use super::property::NativeProperty;
use super::records::{ARMED, PENDING, PENDING_END, journal_offset};
use super::stub::{MonitorStub, StubSection};
use super::{Cluster, Site};
use crate::monitors::Monitors;
use juror_debuggee::{DebuggeeError, Owner, Patch};
use juror_event::{EventId, EventKind};
use juror_instrument::probes::Probe;
use juror_instrument::sites::Heads;
use juror_program::program::Program;
use juror_stub::emit::{Action, Call, Draft, GATE, Region, Section, draft};
use juror_stub::head::{Head, Place};
use juror_stub::punning::{Form, Placement, Request};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::{Bound, Range};
use std::sync::Arc;

/// How often a stub tries to take a lock.
const ATTEMPTS: u32 = 200;

/// The reason why a site has no stub.
const NO_ROOM: &str = "there is no room near it";

/// A site that is to be patched.
pub(super) struct Wanted {
    pub address: u64,
    pub place: Place,
    /// In the order of its sections.
    pub probes: Vec<u32>,
    pub owned: (Owner, u32),
}

/// A stub that has been placed.
struct Placed {
    jump: u64,
    end: u64,
    code: Vec<u8>,
    bytes: Vec<u8>,
    stub: MonitorStub,
}

impl Monitors {
    /// Returns whether an entry or a return site of a native property is not patched
    /// although it could be.
    pub(super) fn has_unpatched(&self, program: &Program) -> bool {
        let sites = self.native.entries.iter();
        let sites = sites.map(|(entry, site)| (*entry, site));
        let returns = self.native.returns.iter();
        let returns = returns.map(|(entry, site)| (*entry, site));
        self.has_native()
            && sites
                .chain(returns)
                .any(|(entry, site)| site.patch.is_ok() && !program.debuggee.is_patched(entry))
    }

    /// Patches the entries of all functions whose events are native, all threads being
    /// stopped.
    pub(super) fn patch_entries(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let mut wanted = Vec::new();
        for (address, probes) in self.native_entries() {
            let owned = (Owner::Monitor, probes.len() as u32);
            let known = self.native.entries.get(&address);
            let same = known.filter(|site| site.probes == probes && site.owned == owned);
            match same.map(|site| site.patch.clone()) {
                Some(Ok(patch)) if !program.debuggee.is_patched(address) => {
                    program.debuggee.patch(patch, owned)?;
                }
                Some(_) => {}
                None => wanted.push(Wanted {
                    address,
                    place: Place::Entry,
                    probes,
                    owned,
                }),
            }
        }
        for (address, site) in self.patch_sites(program, wanted)? {
            self.native.entries.insert(address, site);
        }
        Ok(())
    }

    /// Returns the addresses at which all inserted probes are native, with the probes in
    /// the order of their sections: events before the call come first. The last call that
    /// was begun ends first, so the ends of one call are begun in the reverse order.
    fn native_entries(&self) -> BTreeMap<u64, Vec<u32>> {
        let mut entries: BTreeMap<u64, Option<Vec<u32>>> = BTreeMap::new();
        for (number, probe) in (0u32..).zip(self.probes.iter()) {
            if !probe.is_inserted {
                continue;
            }
            let here = entries
                .entry(probe.address)
                .or_insert_with(|| Some(Vec::new()));
            match here {
                Some(probes) if self.native_of(number).is_some() => probes.push(number),
                _ => *here = None,
            }
        }
        let sorted = entries.into_iter().filter_map(|(address, probes)| {
            let mut probes = probes?;
            probes.sort_by_key(|number| self.probes.get(*number).map(section_order));
            Some((address, probes))
        });
        sorted.collect()
    }

    /// Returns the native property of a probe, if its event can be taken in the program.
    pub(super) fn native_of(&self, number: u32) -> Option<&NativeProperty> {
        let probe = self.probes.get(number)?;
        let property = self.properties.get(usize::from(probe.monitor))?;
        let is_call = matches!(probe.kind, EventKind::BeforeCall | EventKind::AfterCall);
        let native = property.native.get()?;
        (is_call && native.words.contains_key(&number)).then_some(native)
    }

    /// Writes the stubs and patches of sites, all threads being stopped.
    pub(super) fn patch_sites(
        &mut self,
        program: &mut Program,
        wanted: Vec<Wanted>,
    ) -> Result<Vec<(u64, Site)>, DebuggeeError> {
        // A head ends before the next site, whatever that is.
        let (entries, returns) = (&self.native.entries, &self.native.returns);
        let next_other = |address: u64| {
            let behind = (Bound::Excluded(address), Bound::Unbounded);
            let entry = entries.range(behind).next().map(|(entry, _)| *entry);
            let site = returns.range(behind).next().map(|(site, _)| *site);
            entry.into_iter().chain(site).min()
        };
        let places: Vec<(u64, Place)> = wanted.iter().map(|it| (it.address, it.place)).collect();
        let heads = self.native.texts.heads(program, &places, next_other);
        let mut placed = Vec::with_capacity(wanted.len());
        for (wanted, head) in wanted.iter().zip(heads) {
            placed.push(match head {
                Ok(heads) => self.place_best(program, wanted, &heads)?,
                Err(why) => Err(why.to_string()),
            });
        }
        let mut sites = Vec::with_capacity(wanted.len());
        for (wanted, placed) in wanted.into_iter().zip(placed) {
            let patch = match placed {
                Ok(placed) => Ok(write_stub(program, &wanted, placed)?),
                Err(why) => Err(why),
            };
            if let Ok(patch) = &patch {
                program.debuggee.patch(patch.clone(), wanted.owned)?;
            }
            let site = Site {
                probes: wanted.probes,
                owned: wanted.owned,
                patch,
            };
            sites.push((wanted.address, site));
        }
        Ok(sites)
    }

    /// Makes the stub of a site with the first of its heads for which there is a place, and
    /// maps its pages.
    fn place_best(
        &mut self,
        program: &mut Program,
        wanted: &Wanted,
        heads: &Heads,
    ) -> Result<Result<Placed, String>, DebuggeeError> {
        let mut found = Err(NO_ROOM.to_owned());
        for head in &heads.possible {
            for form in Form::of(head) {
                found = self.place_mapped(program, wanted, head, form)?;
                if found.is_ok() {
                    return Ok(found);
                }
            }
        }
        Ok(match &heads.refused {
            Some(why) => Err(why.to_string()),
            None => found,
        })
    }

    /// Makes the stub of a site and maps its pages. If the program has mapped something
    /// where there was room (libraries are loaded below those that were there), another
    /// place is taken.
    fn place_mapped(
        &mut self,
        program: &mut Program,
        wanted: &Wanted,
        head: &Head,
        form: Form,
    ) -> Result<Result<Placed, String>, DebuggeeError> {
        for is_last in [false, true] {
            let placed = self.place_stub(program, wanted, head, form)?;
            let Ok(found) = &placed else {
                return Ok(placed);
            };
            let range = juror_debuggee::Stub::range(&found.stub);
            if program.debuggee.map_code(&[range])? {
                return Ok(placed);
            }
            if !is_last {
                self.native.forget_occupied(program);
            }
        }
        Ok(Err(NO_ROOM.to_owned()))
    }

    /// Makes the stub of a site and finds a place for it.
    fn place_stub(
        &mut self,
        program: &mut Program,
        wanted: &Wanted,
        head: &Head,
        form: Form,
    ) -> Result<Result<Placed, String>, DebuggeeError> {
        let Some(cluster) = self.native.cluster_near(program, wanted.address)? else {
            return Ok(Err(NO_ROOM.to_owned()));
        };
        let gate = cluster.gate;
        let mut drafts = std::mem::take(&mut self.native.drafts);
        let drafted = self.draft(&mut drafts, wanted, head, gate);
        self.native.drafts = drafts;
        let (drafted, stub_sections) = match drafted {
            Ok(drafted) => drafted,
            Err(why) => return Ok(Err(why)),
        };
        let at = self.native.take_place(gate, (head, form), &drafted);
        let Some(at) = at else {
            return Ok(Err(NO_ROOM.to_owned()));
        };
        let stub = match drafted.place(head, at) {
            Ok(stub) => stub,
            Err(why) => return Ok(Err(why.to_string())),
        };
        let Some(code) = form.code(head.jump, at) else {
            return Ok(Err(NO_ROOM.to_owned()));
        };
        Ok(Ok(Placed {
            jump: head.jump,
            end: head.end(),
            code,
            bytes: stub.bytes,
            stub: MonitorStub {
                map: stub.map,
                sections: stub_sections,
                lock_prefixes: stub.lock_prefixes,
            },
        }))
    }

    /// Returns the stub of a site without an address, and its sections.
    fn draft(
        &self,
        drafts: &mut Drafts,
        wanted: &Wanted,
        head: &Head,
        gate: u64,
    ) -> Result<(Arc<Draft>, Vec<StubSection>), String> {
        let sections = self.sections(wanted);
        let (sections, stub_sections) = sections
            .zip(self.stub_sections(&wanted.probes))
            .ok_or("its event is not native")?;
        let of_sections = sections.iter().zip(&stub_sections);
        let of_sections = of_sections.map(|(section, of)| (section, &of.program, of.event));
        let key = DraftKey::new((wanted.place, gate), of_sections);
        let make = || draft(head, wanted.place, &sections, region(gate));
        let drafted = drafts.get_or_make(key, head, make);
        match drafted {
            Ok(drafted) => Ok((drafted, stub_sections)),
            Err(why) => Err(why.to_string()),
        }
    }

    /// Returns the sections of a site's stub.
    fn sections(&self, wanted: &Wanted) -> Option<Vec<Section<'_>>> {
        let section = |number: &u32| {
            let native = self.native_of(*number)?;
            let probe = self.probes.get(*number)?;
            let words = native.words.get(number)?;
            let step = native.program.steps.get(usize::from(probe.event.0))?;
            let call = Call {
                event: *number,
                begun: words.begun,
            };
            let action = match (wanted.place, probe.kind.is_end_of_call()) {
                (Place::ReturnSite, _) => Action::Return(call),
                (Place::Entry, true) => Action::Begin(call),
                (Place::Entry, false) => Action::Step,
            };
            Some(Section {
                program: step,
                words: match action {
                    Action::Begin(_) => &words.kept,
                    Action::Step | Action::Return(_) => &words.words,
                },
                table: native.table.address(),
                journal: journal_offset(native.index),
                action,
            })
        };
        wanted.probes.iter().map(section).collect()
    }

    /// Returns what leads threads out of the sections.
    fn stub_sections(&self, probes: &[u32]) -> Option<Vec<StubSection>> {
        let section = |number: &u32| {
            let native = self.native_of(*number)?;
            Some(StubSection {
                program: Arc::clone(&native.program),
                event: self.probes.get(*number)?.event.0,
                table: native.table.clone(),
            })
        };
        probes.iter().map(section).collect()
    }
}

/// The place of a probe's section among those of its address.
type SectionOrder = (Option<Reverse<(u16, EventId)>>, (u16, EventId));

/// Returns the order of the sections of a site: events before the call as they are declared, then
/// the ends of the call in the reverse order, as what is begun last ends first.
fn section_order(probe: &Probe) -> SectionOrder {
    let order = (probe.monitor, probe.event);
    let is_end = probe.kind.is_end_of_call();
    (is_end.then_some(Reverse(order)), order)
}

fn region(gate: u64) -> Region {
    Region {
        gate,
        armed: ARMED,
        pending: PENDING,
        pending_end: PENDING_END,
        attempts: ATTEMPTS,
    }
}

/// Writes the code of a stub; returns the patch that leads to it.
fn write_stub(
    program: &mut Program,
    wanted: &Wanted,
    placed: Placed,
) -> Result<Patch, DebuggeeError> {
    let at = placed.stub.map.at;
    program.debuggee.write_code(at, &placed.bytes)?;
    Ok(Patch {
        entry: wanted.address,
        jump: placed.jump,
        end: placed.end,
        code: placed.code,
        stub: Arc::new(placed.stub),
    })
}

/// Returns ranges without the parts that are in others.
fn without(ranges: Vec<Range<u64>>, others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = ranges;
    for other in others {
        let pieces = left.into_iter().flat_map(|range| {
            let before = range.start..range.end.min(other.start);
            let behind = range.start.max(other.end)..range.end;
            [before, behind]
        });
        left = pieces.filter(|range| !range.is_empty()).collect();
    }
    left
}

impl super::NativeTier {
    /// Returns the part of the program that contains an address.
    fn cluster_near(
        &mut self,
        program: &mut Program,
        address: u64,
    ) -> Result<Option<&Cluster>, DebuggeeError> {
        let Some(gate) = program.debuggee.gate_near(address, &GATE)? else {
            return Ok(None);
        };
        if !self.clusters.iter().any(|known| known.gate == gate) {
            let mut free = program.debuggee.free_ranges_near(address, gate);
            for cluster in &self.clusters {
                free = without(free, &cluster.free);
            }
            self.clusters.push(Cluster {
                gate,
                placement: Placement::new(&free),
                free,
            });
        }
        Ok(self.clusters.iter().find(|known| known.gate == gate))
    }

    /// Takes out of the room for code what the program has mapped since.
    fn forget_occupied(&mut self, program: &Program) {
        let occupied = program.debuggee.occupied_ranges();
        for cluster in &mut self.clusters {
            for range in &occupied {
                cluster.placement.exclude(range);
            }
        }
    }

    /// Takes an address for a stub.
    fn take_place(
        &mut self,
        gate: u64,
        (head, form): (&Head, Form),
        drafted: &Draft,
    ) -> Option<u64> {
        let cluster = self.clusters.iter_mut().find(|it| it.gate == gate)?;
        let size = drafted.size();
        cluster.placement.place(&Request {
            jump: form.opcode(head.jump),
            constraint: form.constraint,
            size,
            reach: head.reach(size),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ranges_are_left_without_those_of_others() {
        let ranges = |of: &[(u64, u64)]| -> Vec<Range<u64>> {
            of.iter().map(|(start, end)| *start..*end).collect()
        };
        let check = |others: &[(u64, u64)], expected: &[(u64, u64)]| {
            let left = without(ranges(&[(10, 20), (30, 40)]), &ranges(others));
            assert_eq!(left, ranges(expected), "{others:?}");
        };
        check(&[], &[(10, 20), (30, 40)]);
        check(&[(0, 5), (20, 30), (40, 50)], &[(10, 20), (30, 40)]);
        check(&[(12, 14)], &[(10, 12), (14, 20), (30, 40)]);
        check(&[(5, 12), (38, 50)], &[(12, 20), (30, 38)]);
        check(&[(15, 35)], &[(10, 15), (35, 40)]);
        check(&[(10, 20)], &[(30, 40)]);
        check(&[(0, 50)], &[]);
    }

    #[test]
    fn the_ends_of_a_call_are_begun_in_the_reverse_order() {
        let probe = |monitor, event, kind| Probe {
            monitor,
            event: EventId(event),
            kind,
            address: 0x1000,
            function: "f".into(),
            captures: Vec::new(),
            inlined: None,
            is_loop_head: false,
            is_inserted: true,
        };
        let (before, after) = (EventKind::BeforeCall, EventKind::AfterCall);
        let mut probes = [
            probe(1, 0, after),
            probe(0, 1, after),
            probe(1, 1, before),
            probe(0, 0, after),
            probe(0, 2, before),
        ];
        probes.sort_by_key(section_order);
        let order = probes.map(|it| (it.kind == before, it.monitor, it.event.0));
        let expected = [
            (true, 0, 2),
            (true, 1, 1),
            (false, 1, 0),
            (false, 0, 1),
            (false, 0, 0),
        ];
        assert_eq!(order, expected);
    }
}
