//! The user's breakpoints: location specs, bound to addresses.
//!
//! A location spec in a library that is not loaded yet stays pending and is bound when a module has
//! it. Hits are processed in `hits`; `resolvable` and `location` find the code of a location spec.
//!
//! **Invariant**: `index` holds exactly the inserted locations, by address.

mod hits;
mod location;
mod numbers;
pub mod passes;
mod places;
mod resolvable;
mod views;

pub use crate::breakpoints::location::{Binding, Change, Found, Location, Locations};
pub use crate::breakpoints::numbers::{Target, targets};
use crate::breakpoints::passes::Passage;
pub use crate::breakpoints::passes::Passes;
pub use crate::breakpoints::places::Places;
pub use crate::breakpoints::resolvable::{Resolvable, Resolved, resolvable};
use crate::point::{Fate, Point, PointOwner};
use juror_debuggee::DebuggeeError;
use juror_instrument::condition::{Check, Condition};
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_values::expression::ExpressionError;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A breakpoint of the user or of a scenario.
#[derive(Debug)]
pub struct Breakpoint {
    /// The state that all points have.
    pub point: Point,
    /// Its location spec, as it was written.
    pub text: String,
    /// Its locations.
    pub locations: Locations,
    place: Resolvable,
    /// The resolved line, if the location spec is a line.
    line: Option<u32>,
}

/// A breakpoint that is to be set.
#[derive(Debug)]
pub struct Wanted {
    /// Its location spec, as it was written.
    pub text: String,
    /// The location spec.
    pub place: Resolvable,
    /// The condition.
    pub condition: Option<Condition>,
    /// The only thread that it is for.
    pub thread: Option<u32>,
    /// What happens to it when it stops the program.
    pub fate: Fate,
    /// The owner.
    pub owner: PointOwner,
}

/// All breakpoints.
#[derive(Debug, Default)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    last_number: u32,
    /// Positions of breakpoint and location, by address.
    index: FxHashMap<u64, SmallVec<[(u32, u32); 1]>>,
    /// The steps of partially inlined calls, by the addresses that distinguish them.
    partial: FxHashMap<u64, Vec<Passage>>,
    /// The state of these calls.
    pub passes: Passes,
    changes: Vec<Change>,
}

impl Breakpoints {
    /// Iterates over all, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.list.iter()
    }

    /// Iterates over all, in the order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Breakpoint> {
        self.list.iter_mut()
    }

    /// Returns a breakpoint by its number.
    pub fn numbered(&mut self, number: u32) -> Option<&mut Breakpoint> {
        let position = self.position_of(number)?;
        self.list.get_mut(position)
    }

    /// Returns the position of a breakpoint in the list, which is in the order of the numbers.
    fn position_of(&self, number: u32) -> Option<usize> {
        let found = self
            .list
            .binary_search_by_key(&number, |it| it.point.number);
        found.ok()
    }

    /// Allocates a number for a point that shares the numbers of breakpoints.
    pub fn take_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }

    /// Returns the last allocated number.
    pub fn last_number(&self) -> u32 {
        self.last_number
    }

    /// Sets a breakpoint; returns its number. Without a program it is bound when one starts.
    ///
    /// # Errors
    /// A breakpoint cannot be inserted; nothing is set then.
    pub fn add(
        &mut self,
        mut program: Option<&mut Program>,
        wanted: Wanted,
    ) -> Result<u32, DebuggeeError> {
        let number = self.last_number + 1;
        let mut breakpoint = Breakpoint {
            point: Point {
                thread: wanted.thread,
                owner: wanted.owner,
                ..Point::new(number, wanted.condition, wanted.fate)
            },
            text: wanted.text,
            locations: Locations::default(),
            place: wanted.place,
            line: None,
        };
        if let Some(program) = program.as_deref_mut() {
            breakpoint.bind(program);
        }
        self.list.push(breakpoint);
        let position = self.list.len() - 1;
        let settled = self.settle_one(position, program.as_deref_mut());
        self.add_to_index(position);
        if let Err(error) = settled {
            self.delete(program, &[number]);
            return Err(error);
        }
        self.last_number = number;
        Ok(number)
    }

    /// Returns the names of the functions in the location specs.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter_map(|it| it.place.function())
    }

    /// Binds the breakpoints to the loaded modules. A location that cannot be written to stays
    /// uninserted, and is shown so.
    pub fn bind(&mut self, program: &mut Program) {
        for breakpoint in &mut self.list {
            breakpoint.bind(program);
        }
        let _ = self.settle(Some(program));
    }

    /// Forgets the process; the location specs stay.
    pub fn forget_process(&mut self) {
        for breakpoint in &mut self.list {
            breakpoint.locations.forget_process();
            breakpoint.line = None;
        }
        self.index.clear();
        self.partial.clear();
        self.passes = Passes::default();
    }

    /// Resets the hit counts of breakpoints and locations, for a new run.
    pub fn forget_hits(&mut self) {
        for breakpoint in &mut self.list {
            for location in breakpoint.locations.iter_mut() {
                location.hits = 0;
            }
        }
    }

    /// Returns whether a breakpoint of the user stops the program at this address.
    pub fn is_at(&self, address: u64) -> bool {
        let here = self.index.get(&address).into_iter().flatten();
        here.filter_map(|&(position, _)| self.list.get(position as usize))
            .any(|breakpoint| breakpoint.point.owner == PointOwner::Developer)
    }

    /// Returns the numbers of the breakpoints inserted at this address.
    pub fn planted_at(&self, address: u64) -> Vec<u32> {
        let here = self.index.get(&address).into_iter().flatten();
        let here = here.filter_map(|&(position, _)| self.list.get(position as usize));
        let mut numbers: Vec<u32> = here.map(|it| it.point.number).collect();
        numbers.dedup();
        numbers
    }

    /// Returns the frame level of a stop by these breakpoints at an address: the innermost frame
    /// that their location specs mean.
    pub fn level_of(&self, address: u64, numbers: &[u32], frames: &[Frame]) -> Option<usize> {
        let here = self.index.get(&address).into_iter().flatten();
        let here = here.filter_map(|&(position, _)| self.list.get(position as usize));
        let stopping = here.filter(|it| numbers.contains(&it.point.number));
        let levels = stopping.filter_map(|it| it.place.level_in(frames, it.line));
        levels.min()
    }

    /// Sets the ignore count of the breakpoints at an address; returns whether there are any.
    pub fn ignore_at(&mut self, address: u64, count: u64) -> bool {
        let here = self.index.get(&address);
        for &(position, _) in here.into_iter().flatten() {
            if let Some(breakpoint) = self.list.get_mut(position as usize) {
                breakpoint.point.ignore = count;
            }
        }
        here.is_some_and(|here| !here.is_empty())
    }

    /// Returns the numbers of the breakpoints at one of these locations, now or when there was a
    /// process.
    pub fn numbers_at(&self, places: &[Found]) -> Vec<u32> {
        let is_there = |it: &&Breakpoint| {
            let mut locations = it.locations.iter();
            locations.any(|location| places.iter().any(|place| place.is_place_of(location)))
        };
        self.list
            .iter()
            .filter(is_there)
            .map(|it| it.point.number)
            .collect()
    }

    /// Deletes breakpoints by number.
    pub fn delete(&mut self, program: Option<&mut Program>, numbers: &[u32]) {
        if !numbers.iter().any(|&it| self.position_of(it).is_some()) {
            return;
        }
        let numbers: FxHashSet<u32> = numbers.iter().copied().collect();
        let is_meant = |it: &Breakpoint| numbers.contains(&it.point.number);
        for breakpoint in self.list.iter_mut().filter(|it| is_meant(it)) {
            breakpoint.point.enabled = false;
        }
        // Unmapped code needs no repair.
        let _ = self.settle(program);
        self.list.retain(|it| !is_meant(it));
        self.reindex();
    }

    /// Sets or clears the condition of a breakpoint.
    ///
    /// # Errors
    /// It cannot be evaluated at any of its locations.
    pub fn set_condition(
        &mut self,
        program: Option<&Program>,
        number: u32,
        condition: Option<Condition>,
    ) -> Result<(), ExpressionError> {
        let Some(breakpoint) = self.numbered(number) else {
            return Ok(());
        };
        if let (Some(condition), Some(program)) = (&condition, program) {
            let bound = breakpoint.locations.bound();
            let addresses = bound.filter_map(|it| it.address);
            check(condition, program, &breakpoint.place, addresses)?;
        }
        breakpoint.point.condition = condition;
        for location in breakpoint.locations.iter_mut() {
            location.check = Default::default();
        }
        if let Some(program) = program {
            breakpoint.prepare(program);
        }
        Ok(())
    }

    /// Inserts and removes breakpoints according to their state. Returns the first that could not
    /// be inserted.
    pub fn settle(&mut self, mut program: Option<&mut Program>) -> Result<(), DebuggeeError> {
        let mut result = Ok(());
        for position in 0..self.list.len() {
            result = result.and(self.settle_one(position, program.as_deref_mut()));
        }
        self.reindex();
        result
    }

    /// Inserts and removes the breakpoints of one location spec; the index is not updated.
    fn settle_one(
        &mut self,
        position: usize,
        program: Option<&mut Program>,
    ) -> Result<(), DebuggeeError> {
        let Some(breakpoint) = self.list.get_mut(position) else {
            return Ok(());
        };
        let owner = breakpoint.point.owner.of_engine();
        let locations = &mut breakpoint.locations;
        self.changes.clear();
        locations.settle(breakpoint.point.enabled, &mut self.changes);
        let Some(program) = program else {
            return Ok(());
        };
        let mut result = Ok(());
        for &change in &self.changes {
            let done = match change {
                Change::Insert(address) => {
                    let inserted = program.insert(address, owner);
                    if inserted.is_err() {
                        locations.refuse(address);
                    }
                    inserted
                }
                Change::Remove(address) => program.debuggee.remove(address, owner),
            };
            result = result.and(done);
        }
        result
    }

    fn reindex(&mut self) {
        self.index.clear();
        self.partial.clear();
        for position in 0..self.list.len() {
            self.add_to_index(position);
        }
    }

    fn add_to_index(&mut self, position: usize) {
        let Some(breakpoint) = self.list.get(position) else {
            return;
        };
        for (number, address) in breakpoint.locations.planted() {
            let location = breakpoint.locations.get(number);
            let passage = location.and_then(|it| it.passage(address));
            if !matches!(passage, Some(Passage::Enters(_))) {
                let here = self.index.entry(address).or_default();
                here.push((position as u32, number as u32));
            }
            if let Some(passage) = passage {
                let here = self.partial.entry(address).or_default();
                here.push(passage);
            }
        }
    }
}

impl Breakpoint {
    fn bind(&mut self, program: &Program) {
        let modules = &program.modules;
        self.line = self.line.or_else(|| self.place.line_taken(modules));
        let found = self.place.find(modules, self.line);
        let is_loaded = |path: &std::path::Path| modules.iter().any(|it| it.path == path);
        self.locations.rebind(&found, is_loaded);
        self.prepare(program);
    }

    /// Prepares the condition for each location. A location that lacks a name of the condition
    /// which another location has is switched off. If no location has it, the condition is
    /// evaluated at the hit, which reports the error.
    fn prepare(&mut self, program: &Program) {
        let Some(condition) = &self.point.condition else {
            return;
        };
        let mut lacking: Vec<u64> = Vec::new();
        let mut has_one = false;
        for location in self.locations.iter_mut() {
            if let Some(address) = location.address {
                let level = self.place.level_at(&program.modules, address, self.line);
                let check = condition.at(program, address, level);
                match check {
                    Ok(_) => has_one = true,
                    Err(_) => lacking.push(address),
                }
                location.check = check.unwrap_or_else(|_| Check::unprepared(level));
            }
        }
        for location in self.locations.iter_mut() {
            let lacks = location.address.is_some_and(|it| lacking.contains(&it)) && has_one;
            match (lacks, location.lacks_names) {
                (true, false) => location.enabled = false,
                (false, true) => location.enabled = true,
                _ => {}
            }
            location.lacks_names = lacks;
        }
    }
}

/// Checks that a condition can be evaluated in at least one of the locations.
///
/// # Errors
/// The condition can be evaluated in none of them; the error of the first location.
pub fn check(
    condition: &Condition,
    program: &Program,
    place: &Resolvable,
    addresses: impl IntoIterator<Item = u64>,
) -> Result<(), ExpressionError> {
    let mut first = Ok(());
    let line = place.line_taken(&program.modules);
    for address in addresses {
        let level = place.level_at(&program.modules, address, line);
        match condition.at(program, address, level) {
            Ok(_) => return Ok(()),
            Err(error) => first = first.and(Err(error)),
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(function: &str) -> Wanted {
        Wanted {
            text: function.to_owned(),
            place: Resolvable::Function(function.to_owned()),
            condition: None,
            thread: None,
            fate: Fate::Keep,
            owner: PointOwner::Developer,
        }
    }

    #[test]
    fn a_number_is_given_once() {
        let mut all = Breakpoints::default();
        let add = |all: &mut Breakpoints| all.add(None, wanted("f")).expect("no program");
        assert_eq!([add(&mut all), add(&mut all)], [1, 2]);
        // Other points share the numbers.
        assert_eq!(all.take_number(), 3);
        all.delete(None, &[2]);
        assert_eq!(add(&mut all), 4);
        let numbers: Vec<u32> = all.iter().map(|it| it.point.number).collect();
        assert_eq!((numbers, all.last_number()), (vec![1, 4], 4));
        assert_eq!(all.functions().collect::<Vec<_>>(), ["f", "f"]);
    }

    #[test]
    fn a_breakpoint_of_no_process_is_nowhere() {
        let mut all = Breakpoints::default();
        all.add(None, wanted("f")).expect("no program");
        assert!(!all.is_at(0x1000) && !all.ignore_at(0x1000, 3));
        assert!(all.planted_at(0x1000).is_empty());
        assert_eq!(all.views(None)[0].locations.len(), 0);
        assert_eq!(all.numbered(1).map(|it| it.point.ignore), Some(0));
    }
}
