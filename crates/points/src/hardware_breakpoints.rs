//! `hbreak` and `thbreak`: breakpoints in debug registers.

use crate::breakpoints::passes::{Passage, Passes};
use crate::breakpoints::{Found, Resolvable, check};
use crate::point::{Point, PointKind, Stopping};
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_instrument::condition::{Check, Condition};
use juror_program::locations;
use juror_program::modules::Modules;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_values::expression::ExpressionError;
use juror_values::typed::Typed;
use juror_view::{PointLocation, PointView};
use smallvec::SmallVec;

/// A breakpoint in debug registers.
#[derive(Debug)]
pub struct HardwareBreakpoint {
    /// The state that all points have.
    pub point: Point,
    /// Its location spec, as it was written.
    pub text: String,
    /// Its location spec, resolved in each module.
    pub place: Resolvable,
    /// The addresses where it is set now.
    pub sites: Vec<Site>,
}

/// An address at which a debug register traps.
#[derive(Debug)]
pub struct Site {
    address: u64,
    /// The condition, prepared for the address.
    check: Check,
    /// A hit here can stop: it is a location, or the outlined part of calls that do not pass one.
    stops: bool,
    /// It is only such an outlined part.
    is_rest: bool,
    /// The steps of partially inlined calls here.
    passages: SmallVec<[Passage; 1]>,
}

/// All hardware breakpoints, in the order of their numbers.
#[derive(Debug, Default)]
pub struct HardwareBreakpoints {
    /// The breakpoints.
    pub list: Vec<HardwareBreakpoint>,
    /// Addresses of breakpoints that were deleted while another process was current.
    orphans: Vec<u64>,
    /// The state of partially inlined calls.
    pub passes: Passes,
}

/// The addresses in a process that is not current, by number.
#[derive(Debug, Default)]
pub struct HardwarePlaces {
    sites: Vec<(u32, Vec<Site>)>,
    orphans: Vec<u64>,
    passes: Passes,
}

impl Site {
    fn new(address: u64) -> Site {
        Site {
            address,
            check: Check::default(),
            stops: false,
            is_rest: true,
            passages: SmallVec::new(),
        }
    }
}

/// Returns the addresses of a location spec: its locations, the outlined parts that calls reach
/// alone, and the beginnings of the callers whose frames distinguish these calls.
pub fn sites_of(place: &Resolvable, modules: &Modules) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    let mut at = |address: u64, passage: Option<Passage>| {
        let number = sites.iter().position(|site| site.address == address);
        let number = number.unwrap_or_else(|| {
            sites.push(Site::new(address));
            sites.len() - 1
        });
        let site = &mut sites[number];
        site.passages.extend(passage);
        match passage {
            None | Some(Passage::Begins(_)) => (site.stops, site.is_rest) = (true, false),
            Some(Passage::GoesOn(_)) => site.stops = true,
            Some(Passage::Enters(_)) => {}
        }
    };
    for found in place.find_all(modules) {
        let entry = found.address;
        let bias = entry.wrapping_sub(found.file_address);
        let Some(part) = &found.outlined_part else {
            at(entry, None);
            continue;
        };
        at(entry, Some(Passage::Begins(entry)));
        for call in &part.calls {
            at(call.wrapping_add(bias), Some(Passage::GoesOn(entry)));
        }
        let caller = part.caller_entry.wrapping_add(bias);
        at(caller, Some(Passage::Enters(entry)));
    }
    sites
}

impl HardwareBreakpoint {
    /// Sets or removes the debug registers according to its state.
    pub fn settle(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        if !self.point.enabled {
            return self.lift(program);
        }
        for site in sites_of(&self.place, &program.modules) {
            let is_it = |known: &&mut Site| known.address == site.address;
            match self.sites.iter_mut().find(is_it) {
                Some(known) => {
                    (known.stops, known.is_rest) = (site.stops, site.is_rest);
                    known.passages = site.passages;
                }
                None => {
                    program.debuggee.insert_hardware(site.address)?;
                    self.sites.push(site);
                }
            }
        }
        self.prepare(program);
        Ok(())
    }

    /// Removes it from the debug registers.
    ///
    /// # Errors
    /// The debug registers cannot be written.
    pub fn lift(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        for site in std::mem::take(&mut self.sites) {
            program.debuggee.remove_hardware(site.address)?;
        }
        Ok(())
    }

    /// Prepares the condition for each address. If that fails, it is evaluated at the hit, which
    /// reports the error.
    fn prepare(&mut self, program: &Program) {
        let line = self.place.line_taken(&program.modules);
        for site in &mut self.sites {
            let condition = self.point.condition.as_ref().filter(|_| !site.is_rest);
            let prepared = condition.map(|it| {
                let level = self.place.level_at(&program.modules, site.address, line);
                let check = it.at(program, site.address, level);
                check.unwrap_or_else(|_| Check::unprepared(level))
            });
            site.check = prepared.unwrap_or_default();
        }
    }

    /// Returns its locations.
    fn places(&self) -> impl Iterator<Item = &Site> {
        self.sites.iter().filter(|site| !site.is_rest)
    }
}

impl HardwareBreakpoints {
    /// Iterates over all, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &HardwareBreakpoint> {
        self.list.iter()
    }

    /// Makes another process current.
    pub fn exchange(&mut self, places: &mut HardwarePlaces) {
        let before = std::mem::take(places);
        for breakpoint in &mut self.list {
            let sites = std::mem::take(&mut breakpoint.sites);
            places.sites.push((breakpoint.point.number, sites));
        }
        places.orphans = std::mem::replace(&mut self.orphans, before.orphans);
        places.passes = std::mem::replace(&mut self.passes, before.passes);
        for (number, sites) in before.sites {
            match self.list.iter_mut().find(|it| it.point.number == number) {
                Some(breakpoint) => breakpoint.sites = sites,
                None => self.orphans.extend(sites.iter().map(|site| site.address)),
            }
        }
    }

    /// Iterates over all, in the order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut HardwareBreakpoint> {
        self.list.iter_mut()
    }

    /// Returns the names of the functions in the location specs.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter_map(|it| it.place.function())
    }

    /// Sets the enabled ones at their locations in the loaded modules, and removes the others.
    pub fn settle(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        for address in std::mem::take(&mut self.orphans) {
            program.debuggee.remove_hardware(address)?;
        }
        let mut list = self.list.iter_mut();
        list.try_for_each(|breakpoint| breakpoint.settle(program))
    }

    /// Forgets the process; the location specs stay.
    pub fn forget_locations(&mut self) {
        self.orphans.clear();
        self.passes = Passes::default();
        for breakpoint in &mut self.list {
            breakpoint.sites.clear();
        }
    }

    /// Deletes hardware breakpoints by number.
    pub fn delete(
        &mut self,
        mut program: Option<&mut Program>,
        numbers: &[u32],
    ) -> Result<(), DebuggeeError> {
        let is_meant = |it: &mut HardwareBreakpoint| numbers.contains(&it.point.number);
        let mut result = Ok(());
        for mut gone in self.list.extract_if(.., is_meant) {
            if let Some(program) = program.as_deref_mut() {
                result = result.and(gone.lift(program));
            }
        }
        result
    }

    /// Returns the numbers of those at one of these locations.
    pub fn numbers_at(&self, places: &[Found]) -> Vec<u32> {
        let is_there = |it: &&HardwareBreakpoint| {
            let mut sites = it.places();
            sites.any(|site| places.iter().any(|place| place.address == site.address))
        };
        let there = self.list.iter().filter(is_there);
        there.map(|it| it.point.number).collect()
    }

    /// Sets or clears the condition of one.
    ///
    /// # Errors
    /// It cannot be evaluated at any of its locations.
    pub fn set_condition(
        &mut self,
        program: Option<&Program>,
        number: u32,
        condition: Option<Condition>,
    ) -> Result<(), ExpressionError> {
        let mut list = self.list.iter_mut();
        let Some(breakpoint) = list.find(|it| it.point.number == number) else {
            return Ok(());
        };
        if let (Some(condition), Some(program)) = (&condition, program) {
            let addresses = breakpoint.places().map(|site| site.address);
            check(condition, program, &breakpoint.place, addresses)?;
        }
        breakpoint.point.condition = condition;
        if let Some(program) = program {
            breakpoint.prepare(program);
        }
        Ok(())
    }

    /// Notes that a thread has reached an address, before breakpoints are checked there.
    fn arrive(&mut self, program: &Program, thread: ThreadId, address: u64) {
        let sites = self.list.iter().flat_map(|it| &it.sites);
        let here = sites.filter(|site| site.address == address);
        let mut passages: SmallVec<[Passage; 1]> = SmallVec::new();
        for passage in here.flat_map(|site| &site.passages) {
            if !passages.contains(passage) {
                passages.push(*passage);
            }
        }
        if !passages.is_empty() {
            let frame = program.innermost_frame_address(thread);
            self.passes.arrive(thread, address, frame, &passages);
        }
    }

    /// Processes a thread that has reached an address. `values` are those of `$1` and so on.
    pub fn hit(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
        values: &dyn Fn(&str) -> Option<Typed>,
    ) -> Option<Stopping> {
        let mut stopping = None;
        self.arrive(program, thread, address);
        for breakpoint in &mut self.list {
            let mut sites = breakpoint.sites.iter();
            let Some(site) = sites.find(|site| site.stops && site.address == address) else {
                continue;
            };
            let was_seen = site.is_rest && self.passes.has_begun(thread, address);
            if was_seen || !breakpoint.point.is_for(program, thread) {
                continue;
            }
            let answer = match &breakpoint.point.condition {
                Some(condition) => condition.holds(&site.check, program, thread, values),
                None => Ok(true),
            };
            breakpoint.point.take_hit(answer, &mut stopping);
        }
        stopping
    }

    /// Returns the frame level of a stop by these breakpoints: the innermost frame that their
    /// location specs mean.
    pub fn level_of(&self, program: &Program, numbers: &[u32], frames: &[Frame]) -> Option<usize> {
        let stopping = self.list.iter();
        let stopping = stopping.filter(|it| numbers.contains(&it.point.number));
        let levels = stopping.filter_map(|it| {
            let line = it.place.line_taken(&program.modules);
            it.place.level_in(frames, line)
        });
        levels.min()
    }

    /// Returns the views for `info breakpoints`.
    pub fn views(&self, program: Option<&Program>) -> Vec<PointView> {
        let place = |it: &HardwareBreakpoint, address, number| PointLocation {
            place: program.map_or_else(Default::default, |it| locations::location(it, address)),
            number,
            enabled: it.point.enabled,
            hits: it.point.hits,
            passage: Some("hardware".to_owned()),
        };
        let view = |it: &HardwareBreakpoint| PointView {
            locations: it
                .places()
                .zip(1..)
                .map(|(site, number)| place(it, site.address, number))
                .collect(),
            passage: Some("hardware".to_owned()),
            ..it.point.view(PointKind::HardwareBreakpoint, &it.text)
        };
        self.list.iter().map(view).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Fate;

    fn breakpoint(number: u32, address: u64) -> HardwareBreakpoint {
        HardwareBreakpoint {
            point: Point::new(number, None, Fate::Keep),
            text: format!("*{address:#x}"),
            place: Resolvable::Address(address),
            sites: sites_of(&Resolvable::Address(address), &Modules::default()),
        }
    }

    #[test]
    fn a_site_of_a_plain_location_stops() {
        let sites = sites_of(&Resolvable::Address(8), &Modules::default());
        let [site] = sites.as_slice() else {
            panic!("{sites:?}");
        };
        assert!(site.address == 8 && site.stops && !site.is_rest);
        assert!(site.passages.is_empty());
    }

    #[test]
    fn a_breakpoint_that_was_deleted_meanwhile_leaves_its_address_to_be_removed() {
        let mut all = HardwareBreakpoints::default();
        all.list.extend([breakpoint(1, 8), breakpoint(2, 16)]);
        let mut of_other = HardwarePlaces::default();
        all.exchange(&mut of_other);
        assert!(all.iter().all(|it| it.sites.is_empty()));
        all.delete(None, &[2]).expect("no program");
        let mut of_this = of_other;
        all.exchange(&mut of_this);
        assert_eq!(all.list[0].sites[0].address, 8);
        assert_eq!(all.orphans, [16]);
        all.forget_locations();
        assert!(all.orphans.is_empty() && all.list[0].sites.is_empty());
    }
}
