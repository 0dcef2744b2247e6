//! The developer's breakpoints: places as written, bound to addresses.
//!
//! A place in a library that is not loaded yet stays pending and is bound
//! when a module has it. What a hit does is in `hits`, which code has the place
//! in `resolvable` and `location`.
//!
//! Invariant: `index` holds exactly the planted locations, by address.

mod hits;
mod location;
mod numbers;
pub mod passes;
mod places;
mod resolvable;
mod views;

pub use crate::breakpoints::location::{Binding, Change, Found, Location, Locations};
pub use crate::breakpoints::numbers::{Target, targets};
use crate::breakpoints::passes::{Passage, Passes};
pub use crate::breakpoints::places::Places;
pub use crate::breakpoints::resolvable::{Resolvable, Resolved, resolvable};
use crate::point::{Fate, Point, PointOwner};
use juror_debuggee::DebuggeeError;
use juror_instrument::condition::{Check, Condition};
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_values::expression::ExpressionError;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A breakpoint of the developer.
#[derive(Debug)]
pub struct Breakpoint {
    /// What it has like all points.
    pub point: Point,
    /// Its place, as it was written.
    pub text: String,
    /// Where it is.
    pub locations: Locations,
    place: Resolvable,
    /// The line that was taken, when it is one.
    line: Option<u32>,
}

/// A breakpoint that is to be set.
#[derive(Debug)]
pub struct Wanted {
    /// Its place, as it was written.
    pub text: String,
    /// The place.
    pub place: Resolvable,
    /// What must be true there.
    pub condition: Option<Condition>,
    /// The only thread that it is for.
    pub thread: Option<u32>,
    /// What becomes of it when it stops the program.
    pub fate: Fate,
    /// Whose it is.
    pub owner: PointOwner,
}

/// All breakpoints of the developer.
#[derive(Debug, Default)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    last_number: u32,
    /// Breakpoint and location by their positions.
    index: FxHashMap<u64, SmallVec<[(u32, u32); 1]>>,
    /// What a thread does that is at one of the addresses by which calls are told from
    /// one another that were inlined in parts.
    partial: FxHashMap<u64, Vec<Passage>>,
    /// Those calls.
    pub passes: Passes,
    changes: Vec<Change>,
}

impl Breakpoints {
    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.list.iter()
    }

    /// All of them, in the order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Breakpoint> {
        self.list.iter_mut()
    }

    /// One by its number.
    pub fn numbered(&mut self, number: u32) -> Option<&mut Breakpoint> {
        self.list.iter_mut().find(|it| it.point.number == number)
    }

    /// A number for something that shares the numbers of breakpoints.
    pub fn take_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }

    /// The last number that was given.
    pub fn last_number(&self) -> u32 {
        self.last_number
    }

    /// Sets a breakpoint; gives its number. Without a program it is bound when
    /// one starts.
    ///
    /// # Errors
    /// A trap cannot be planted; nothing is set then.
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
        if let Err(error) = self.settle(program.as_deref_mut()) {
            self.delete(program, &[number]);
            return Err(error);
        }
        self.last_number = number;
        Ok(number)
    }

    /// The names of the functions that they are at.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter_map(|it| it.place.function())
    }

    /// Binds them to what is loaded now. A place that cannot be written to
    /// stays unplanted, and is shown so.
    pub fn bind(&mut self, program: &mut Program) {
        for breakpoint in &mut self.list {
            breakpoint.bind(program);
        }
        let _ = self.settle(Some(program));
    }

    /// The process is gone; the places stay.
    pub fn forget_process(&mut self) {
        for breakpoint in &mut self.list {
            breakpoint.locations.forget_process();
            breakpoint.line = None;
        }
        self.index.clear();
        self.partial.clear();
        self.passes = Passes::default();
    }

    /// The program begins anew: hits are counted from nothing, at each place
    /// too.
    pub fn forget_hits(&mut self) {
        for breakpoint in &mut self.list {
            for location in breakpoint.locations.iter_mut() {
                location.hits = 0;
            }
        }
    }

    /// Some breakpoint of the developer stops the program at this address.
    pub fn is_at(&self, address: u64) -> bool {
        let here = self.index.get(&address).into_iter().flatten();
        here.filter_map(|&(position, _)| self.list.get(position as usize))
            .any(|breakpoint| breakpoint.point.owner == PointOwner::Developer)
    }

    /// The numbers of the breakpoints whose traps are at this address.
    pub fn planted_at(&self, address: u64) -> Vec<u32> {
        let here = self.index.get(&address).into_iter().flatten();
        let here = here.filter_map(|&(position, _)| self.list.get(position as usize));
        let mut numbers: Vec<u32> = here.map(|it| it.point.number).collect();
        numbers.dedup();
        numbers
    }

    /// In which of the frames of a thread it is that stands at an address where these
    /// breakpoints have stopped it: the innermost of those that their places mean.
    pub fn level_of(&self, address: u64, numbers: &[u32], frames: &[Frame]) -> Option<usize> {
        let here = self.index.get(&address).into_iter().flatten();
        let here = here.filter_map(|&(position, _)| self.list.get(position as usize));
        let stopping = here.filter(|it| numbers.contains(&it.point.number));
        let levels = stopping.filter_map(|it| it.place.level_in(frames, it.line));
        levels.min()
    }

    /// Passes the next so many hits of the breakpoints at an address; whether there are any.
    pub fn ignore_at(&mut self, address: u64, count: u64) -> bool {
        let here = self.index.get(&address);
        for &(position, _) in here.into_iter().flatten() {
            if let Some(breakpoint) = self.list.get_mut(position as usize) {
                breakpoint.point.ignore = count;
            }
        }
        here.is_some_and(|here| !here.is_empty())
    }

    /// The numbers of the breakpoints that are in one of these places, or were
    /// when there was a process.
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

    /// Removes breakpoints by their numbers.
    pub fn delete(&mut self, program: Option<&mut Program>, numbers: &[u32]) {
        let is_meant = |it: &Breakpoint| numbers.contains(&it.point.number);
        for breakpoint in self.list.iter_mut().filter(|it| is_meant(it)) {
            breakpoint.point.enabled = false;
        }
        // Code that was unmapped needs no repair.
        let _ = self.settle(program);
        self.list.retain(|it| !is_meant(it));
        self.reindex();
    }

    /// Gives a breakpoint another condition, or none.
    ///
    /// # Errors
    /// It could be asked at none of its places.
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

    /// Carries out what the state of the breakpoints wants: traps where they
    /// are enabled. Tells of the first that could not be planted.
    pub fn settle(&mut self, mut program: Option<&mut Program>) -> Result<(), DebuggeeError> {
        let mut result = Ok(());
        for breakpoint in &mut self.list {
            let owner = breakpoint.point.owner.of_engine();
            let locations = &mut breakpoint.locations;
            self.changes.clear();
            locations.settle(breakpoint.point.enabled, &mut self.changes);
            let Some(program) = program.as_deref_mut() else {
                continue;
            };
            for &change in &self.changes {
                let done = match change {
                    Change::Insert(address) => {
                        let inserted = program.debuggee.insert(address, owner);
                        if inserted.is_err() {
                            locations.refuse(address);
                        }
                        inserted
                    }
                    Change::Remove(address) => program.debuggee.remove(address, owner),
                };
                result = result.and(done);
            }
        }
        self.reindex();
        result
    }

    fn reindex(&mut self) {
        self.index.clear();
        self.partial.clear();
        for (position, breakpoint) in self.list.iter().enumerate() {
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

    /// Prepares the condition for each place. A place that lacks what it speaks of, which
    /// another place has, is switched off. Where no place has it, it is evaluated at the hit,
    /// which says why.
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

/// Whether a condition can be asked at some of these places at least.
///
/// # Errors
/// It cannot be, at any of them; what is wrong at the first.
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
