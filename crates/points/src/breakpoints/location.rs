//! Which locations a breakpoint has, in which modules; pure.
//!
//! Every module is bound by itself: one that appears brings its locations, one
//! that goes takes its own with it and no others, whatever else the place is
//! in. Barnett, Börger, Gurevich, Schulte and Veanes, *Using Abstract State
//! Machines at Microsoft: A Case Study*, on the loading and unloading of
//! modules: they found a debugger that unbound a breakpoint everywhere when one
//! of its modules went.
//!
//! A location keeps its number, its state and its count while its module is
//! away. Invariant: after [`Locations::settle`], what is planted is what is
//! wanted, and each difference was given once.

#[cfg(test)]
mod tests;

use crate::breakpoints::passes::Passage;
use juror_instrument::condition::Check;
use juror_symbols::OutlinedPart;
use smallvec::SmallVec;
use std::path::Path;
use std::rc::Rc;

/// Where a place is in what is loaded now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The module's file; empty for an address outside of all modules.
    pub module: Rc<Path>,
    /// The address in that file.
    pub file_address: u64,
    /// The address in the process.
    pub address: u64,
    /// Where an inlined copy goes on elsewhere, in that file: a call may come to it without
    /// this address.
    pub outlined_part: Option<Rc<OutlinedPart>>,
}

/// One place of a breakpoint: an inlined copy, an instance of a template, a
/// function of this name in another module.
#[derive(Debug)]
pub struct Location {
    /// `2` in `1.2`; never used again for another one.
    pub number: u32,
    /// The module's file.
    pub module: Rc<Path>,
    /// The address in that file.
    pub file_address: u64,
    /// The address in the process, while the module is loaded.
    pub address: Option<u64>,
    /// It stops the program, if its breakpoint does.
    pub enabled: bool,
    /// Whether it was switched off because the condition speaks of what is not there.
    pub lacks_names: bool,
    /// How often it was hit.
    pub hits: u64,
    /// The breakpoint's condition, prepared for this place.
    pub check: Check,
    /// Where a call may be seen that does not come by the place itself.
    outlined_part: Option<Rc<OutlinedPart>>,
    /// Where its traps are.
    planted: Traps,
}

/// Where the traps of a location are: one at its address, others where calls are seen
/// that do not come by it.
pub type Traps = SmallVec<[u64; 1]>;

/// Where a location is in one of several processes.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The address, while the module is loaded.
    address: Option<u64>,
    /// Where its traps are.
    pub planted: Traps,
    /// The condition, prepared for this place.
    check: Check,
}

/// What is to be done with a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Plant one more here.
    Insert(u64),
    /// Take one away.
    Remove(u64),
}

/// The locations of a breakpoint, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Locations {
    list: Vec<Location>,
    last_number: u32,
}

impl Locations {
    /// The highest number of them.
    pub fn last_number(&self) -> u32 {
        self.last_number
    }

    /// All of them, also those whose modules are away.
    pub fn iter(&self) -> impl Iterator<Item = &Location> {
        self.list.iter()
    }

    /// All of them, also those whose modules are away.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Location> {
        self.list.iter_mut()
    }

    /// Those whose modules are loaded.
    pub fn bound(&self) -> impl Iterator<Item = &Location> {
        self.list.iter().filter(|it| it.address.is_some())
    }

    /// One by its position in [`Locations::iter`].
    pub fn get(&self, position: usize) -> Option<&Location> {
        self.list.get(position)
    }

    /// One by its position in [`Locations::iter`].
    pub fn get_mut(&mut self, position: usize) -> Option<&mut Location> {
        self.list.get_mut(position)
    }

    /// One by its number.
    pub fn numbered(&mut self, number: u32) -> Option<&mut Location> {
        self.list.iter_mut().find(|it| it.number == number)
    }

    /// Takes what is there now. `is_loaded` tells whether a module is.
    pub fn rebind(&mut self, found: &[Found], is_loaded: impl Fn(&Path) -> bool) {
        for location in &mut self.list {
            let stays = found
                .iter()
                .any(|it| it.is_place_of(location) && Some(it.address) == location.address);
            if !stays {
                location.address = None;
                location.check = Check::default();
            }
        }
        for it in found {
            let is_known = |known: &&mut Location| it.is_place_of(known);
            let mut same = self.list.iter_mut().filter(is_known);
            if same.any(|known| known.address == Some(it.address)) {
                continue;
            }
            let mut same = self.list.iter_mut().filter(is_known);
            match same.find(|known| known.address.is_none()) {
                Some(returned) => {
                    returned.address = Some(it.address);
                    returned.outlined_part.clone_from(&it.outlined_part);
                }
                None => self.add(it),
            }
        }
        // A module that came back without the place was built anew.
        self.list
            .retain(|it| it.address.is_some() || !it.planted.is_empty() || !is_loaded(&it.module));
    }

    fn add(&mut self, found: &Found) {
        self.last_number += 1;
        self.list.push(Location {
            number: self.last_number,
            module: Rc::clone(&found.module),
            file_address: found.file_address,
            address: Some(found.address),
            enabled: true,
            lacks_names: false,
            hits: 0,
            check: Check::default(),
            outlined_part: found.outlined_part.clone(),
            planted: Traps::new(),
        });
    }

    /// What is to be done so that traps are where they are wanted: at the bound
    /// locations that are enabled, if the breakpoint is.
    pub fn settle(&mut self, enabled: bool, changes: &mut Vec<Change>) {
        for location in &mut self.list {
            let wanted = match enabled && location.enabled {
                true => location.traps(),
                false => Traps::new(),
            };
            if wanted == location.planted {
                continue;
            }
            let gone = location.planted.iter().filter(|at| !wanted.contains(at));
            changes.extend(gone.copied().map(Change::Remove));
            let new = wanted.iter().filter(|at| !location.planted.contains(at));
            changes.extend(new.copied().map(Change::Insert));
            location.planted = wanted;
        }
    }

    /// The trap there could not be planted.
    pub fn refuse(&mut self, address: u64) {
        for location in &mut self.list {
            location.planted.retain(|at| *at != address);
        }
    }

    /// Where traps are, by the position of their locations.
    pub fn planted(&self) -> impl Iterator<Item = (usize, u64)> {
        let all = self.list.iter().enumerate();
        all.flat_map(|(position, it)| it.planted.iter().map(move |&at| (position, at)))
    }

    /// Where a location is in the process that is looked at, which is looked at
    /// no more; it is as if it were nowhere then.
    pub fn take_binding(&mut self, number: u32) -> Option<Binding> {
        let location = self.numbered(number)?;
        Some(Binding {
            address: location.address.take(),
            planted: std::mem::take(&mut location.planted),
            check: std::mem::take(&mut location.check),
        })
    }

    /// Where a location is in the process that is looked at from now on; false
    /// when there is no such location any more.
    pub fn put_binding(&mut self, number: u32, binding: Binding) -> bool {
        let Some(location) = self.numbered(number) else {
            return false;
        };
        location.address = binding.address;
        location.planted = binding.planted;
        location.check = binding.check;
        true
    }

    /// Where a location is in the process that is looked at.
    pub fn binding(&self, number: u32) -> Option<Binding> {
        let location = self.list.iter().find(|it| it.number == number)?;
        Some(Binding {
            address: location.address,
            planted: location.planted.clone(),
            check: location.check.clone(),
        })
    }

    /// The process is gone with all its traps; its next run counts anew.
    pub fn forget_process(&mut self) {
        for location in &mut self.list {
            location.address = None;
            location.planted.clear();
            location.check = Check::default();
        }
    }
}

impl Location {
    /// Where its traps are wanted, while its module is loaded.
    fn traps(&self) -> Traps {
        let Some(address) = self.address else {
            return Traps::new();
        };
        let part = self.outlined_part.as_deref();
        let others = part.into_iter().flat_map(|part| {
            let calls = part.calls.iter().copied();
            calls.chain([part.caller_entry])
        });
        let others = others.map(|at| self.to_process(at, address));
        std::iter::once(address).chain(others).collect()
    }

    /// What a thread does that is at one of its traps; nothing is to be told of that when
    /// all calls come by its address.
    pub fn passage(&self, trap: u64) -> Option<Passage> {
        let (part, entry) = self.outlined_part.as_deref().zip(self.address)?;
        Some(match trap {
            at if at == entry => Passage::Begins(entry),
            at if at == self.to_process(part.caller_entry, entry) => Passage::Enters(entry),
            _ => Passage::GoesOn(entry),
        })
    }

    fn to_process(&self, file_address: u64, address: u64) -> u64 {
        let bias = address.wrapping_sub(self.file_address);
        file_address.wrapping_add(bias)
    }
}

impl Found {
    /// Whether the location is this place, wherever its module is now.
    pub fn is_place_of(&self, location: &Location) -> bool {
        self.module == location.module && self.file_address == location.file_address
    }
}
