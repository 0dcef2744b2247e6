//! The locations of a breakpoint, by module; pure.
//!
//! Each module is bound separately: loading one adds its locations, unloading one removes its
//! locations and no others. Barnett, Börger, Gurevich, Schulte and Veanes, *Using Abstract State
//! Machines at Microsoft: A Case Study*, on the loading and unloading of modules: they found a
//! debugger that unbound a breakpoint everywhere when one of its modules was unloaded.
//!
//! A location keeps its number, state and count while its module is unloaded.
//!
//! **Invariant**: after [`Locations::settle`], the inserted locations are the wanted ones, and each
//! difference was returned once.

#[cfg(test)]
mod tests;

use crate::breakpoints::passes::Passage;
use juror_instrument::condition::Check;
use juror_symbols::OutlinedPart;
use smallvec::SmallVec;
use std::path::Path;
use std::rc::Rc;

/// A resolved location in the loaded modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The module's file; empty for an address outside of all modules.
    pub module: Rc<Path>,
    /// The address in that file.
    pub file_address: u64,
    /// The address in the process.
    pub address: u64,
    /// The outlined part of an inlined copy in that file: a call may reach it without passing this
    /// address.
    pub outlined_part: Option<Rc<OutlinedPart>>,
}

/// A location of a breakpoint: an inlined copy, an instance of a template, a function of this name
/// in another module.
#[derive(Debug)]
pub struct Location {
    /// The `2` of `1.2`; never reused for another location.
    pub number: u32,
    /// The module's file.
    pub module: Rc<Path>,
    /// The address in that file.
    pub file_address: u64,
    /// The address in the process, while the module is loaded.
    pub address: Option<u64>,
    /// Whether it stops the program, if its breakpoint is enabled.
    pub enabled: bool,
    /// Whether it was disabled because a name of the condition does not exist there.
    pub lacks_names: bool,
    /// The number of hits.
    pub hits: u64,
    /// The breakpoint's condition, prepared for this location.
    pub check: Check,
    /// Where a call can be observed that does not pass the address.
    outlined_part: Option<Rc<OutlinedPart>>,
    /// The addresses of its inserted breakpoints.
    planted: Traps,
}

/// The inserted addresses of a location: its own, and those of calls that do not pass it.
pub type Traps = SmallVec<[u64; 1]>;

/// The binding of a location in one of several processes.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The address, while the module is loaded.
    address: Option<u64>,
    /// The addresses of its inserted breakpoints.
    pub planted: Traps,
    /// The condition, prepared for this location.
    check: Check,
}

/// A change to an inserted breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Insert one at this address.
    Insert(u64),
    /// Remove one.
    Remove(u64),
}

/// The locations of a breakpoint, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Locations {
    list: Vec<Location>,
    last_number: u32,
}

impl Locations {
    /// Returns the highest of their numbers.
    pub fn last_number(&self) -> u32 {
        self.last_number
    }

    /// Iterates over all, including those of unloaded modules.
    pub fn iter(&self) -> impl Iterator<Item = &Location> {
        self.list.iter()
    }

    /// Iterates over all, including those of unloaded modules.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Location> {
        self.list.iter_mut()
    }

    /// Iterates over those of loaded modules.
    pub fn bound(&self) -> impl Iterator<Item = &Location> {
        self.list.iter().filter(|it| it.address.is_some())
    }

    /// Returns a location by its position in [`Locations::iter`].
    pub fn get(&self, position: usize) -> Option<&Location> {
        self.list.get(position)
    }

    /// Returns a location by its position in [`Locations::iter`].
    pub fn get_mut(&mut self, position: usize) -> Option<&mut Location> {
        self.list.get_mut(position)
    }

    /// Returns a location by its number.
    pub fn numbered(&mut self, number: u32) -> Option<&mut Location> {
        self.list.iter_mut().find(|it| it.number == number)
    }

    /// Updates the locations to the resolved ones. `is_loaded` says whether a module is loaded.
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
        // A module that was loaded again without the location was rebuilt.
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

    /// Appends the changes that insert breakpoints at the bound and enabled locations, if the
    /// breakpoint is enabled, and remove the others.
    pub fn settle(&mut self, enabled: bool, changes: &mut Vec<Change>) {
        for location in &mut self.list {
            let wanted = if enabled && location.enabled {
                location.traps()
            } else {
                Traps::new()
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

    /// Notes that the breakpoint at an address could not be inserted.
    pub fn refuse(&mut self, address: u64) {
        for location in &mut self.list {
            location.planted.retain(|at| *at != address);
        }
    }

    /// Iterates over the inserted addresses, with the positions of their locations.
    pub fn planted(&self) -> impl Iterator<Item = (usize, u64)> {
        let all = self.list.iter().enumerate();
        all.flat_map(|(position, it)| it.planted.iter().map(move |&at| (position, at)))
    }

    /// Takes the binding of a location in the current process, which ceases to be current; the
    /// location is unbound then.
    pub fn take_binding(&mut self, number: u32) -> Option<Binding> {
        let location = self.numbered(number)?;
        Some(Binding {
            address: location.address.take(),
            planted: std::mem::take(&mut location.planted),
            check: std::mem::take(&mut location.check),
        })
    }

    /// Sets the binding of a location in the process that becomes current; returns false if the
    /// location no longer exists.
    pub fn put_binding(&mut self, number: u32, binding: Binding) -> bool {
        let Some(location) = self.numbered(number) else {
            return false;
        };
        location.address = binding.address;
        location.planted = binding.planted;
        location.check = binding.check;
        true
    }

    /// Returns the binding of a location in the current process.
    pub fn binding(&self, number: u32) -> Option<Binding> {
        let location = self.list.iter().find(|it| it.number == number)?;
        Some(Binding {
            address: location.address,
            planted: location.planted.clone(),
            check: location.check.clone(),
        })
    }

    /// Forgets the process with all insertions; its next run counts anew.
    pub fn forget_process(&mut self) {
        for location in &mut self.list {
            location.address = None;
            location.planted.clear();
            location.check = Check::default();
        }
    }
}

impl Location {
    /// Returns the addresses to insert while its module is loaded.
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

    /// Returns the step of a partially inlined call at one of its addresses; `None` if all calls
    /// pass its address.
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
    /// Returns whether this is the location, wherever its module is now.
    pub fn is_place_of(&self, location: &Location) -> bool {
        self.module == location.module && self.file_address == location.file_address
    }
}
