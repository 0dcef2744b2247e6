//! Making a program ready that has just been mapped, and following its
//! dynamic linker.

use std::ops::Range;
use std::path::PathBuf;

use juror_stepping::{Owner, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::modules::{self, Auxiliary};
use crate::notice::Notice;
use crate::scratch::{self, GADGET, REGION_LENGTH, Scratch};

/// The code segment of 64-bit programs.
const CODE_SEGMENT_64: u64 = 0x33;

impl Debuggee {
    /// Right after `exec`, the only thread stopped before its first
    /// instruction: finds the modules, makes room for copies, plants the point
    /// that tells of libraries.
    pub(crate) fn prepare_image(&mut self) -> Result<(), DebuggeeError> {
        let thread = ThreadId(self.process);
        self.scratch = Scratch::default();
        self.announcement = None;
        self.entry_point = None;
        self.modules.clear();
        if self.stop_registers(thread)?.shown.cs != CODE_SEGMENT_64 {
            // A program that juror cannot watch runs as it is.
            return Ok(());
        }
        self.auxiliary =
            Auxiliary::read(self.process).map_err(|source| DebuggeeError::System {
                what: "read the program's start values",
                source,
            })?;
        self.modules = modules::at_start(&self.memory, &self.auxiliary, self.program_path());
        let entry = self.auxiliary.entry;
        self.map_first_region(thread, entry)?;
        self.map_regions_for_modules(thread)?;
        self.announcement = modules::announcement_at_start(&self.memory, &self.auxiliary);
        match self.announcement {
            Some(address) => self.insert(address, Owner::Internal),
            None if self.auxiliary.linker != 0 => {
                self.entry_point = Some(entry);
                self.insert(entry, Owner::Internal)
            }
            None => Ok(()),
        }
    }

    pub(crate) fn program_path(&self) -> PathBuf {
        std::fs::read_link(format!("/proc/{}/exe", self.process)).unwrap_or_default()
    }

    /// Whether a point of juror's own is here that this room planted.
    pub(crate) fn is_own_point(&self, address: u64) -> bool {
        self.announcement == Some(address) || self.entry_point == Some(address)
    }

    /// A thread has reached a point of juror's own; true when it told upper
    /// floors of it.
    pub(crate) fn follow_linker(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<bool, DebuggeeError> {
        if self.entry_point == Some(address) {
            self.entry_point = None;
            self.remove(address, Owner::Internal)?;
        }
        let Some(announced) = modules::announced(&self.memory, &self.modules) else {
            return Ok(false);
        };
        if self.announcement.is_none() && announced.address != 0 {
            self.announcement = Some(announced.address);
            self.insert(announced.address, Owner::Internal)?;
        }
        if !announced.is_consistent || announced.modules == self.modules {
            return Ok(false);
        }
        self.modules = announced.modules;
        self.map_regions_for_modules(thread)?;
        self.announce(Notice::ModulesChanged { thread });
        Ok(true)
    }

    /// Makes room for copies near every module, while a thread is stopped that
    /// can make the system calls.
    fn map_regions_for_modules(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let addresses: Vec<u64> = self
            .modules
            .iter()
            .map(|module| module.dynamic_address.max(module.bias))
            .collect();
        for address in addresses {
            self.ensure_region_near(thread, address)?;
        }
        Ok(())
    }

    /// Makes room for copies near an address, if there is none.
    pub(crate) fn ensure_region_near(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        let Some(gadget) = self.scratch.gadget() else {
            return Ok(());
        };
        if self.scratch.has_region_near(address) {
            return Ok(());
        }
        let mappings = self.mappings();
        for place in scratch::places_near(address, &mappings) {
            if self.map_region(thread, gadget, place)? {
                break;
            }
        }
        Ok(())
    }

    /// Maps one region by a system call in the debuggee; false when the kernel
    /// refuses the place.
    pub(crate) fn map_region(
        &mut self,
        thread: ThreadId,
        gadget: u64,
        place: u64,
    ) -> Result<bool, DebuggeeError> {
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let result = self.call_system(
            thread,
            gadget,
            libc::SYS_mmap,
            [
                place,
                REGION_LENGTH,
                protection as u64,
                flags as u64,
                u64::MAX,
                0,
            ],
        )?;
        if result != place {
            return Ok(false);
        }
        self.memory.write_raw(place, &GADGET)?;
        self.scratch.add_region(place);
        Ok(true)
    }

    /// The address ranges that are mapped, in order.
    pub(crate) fn mappings(&self) -> Vec<Range<u64>> {
        let maps =
            std::fs::read_to_string(format!("/proc/{}/maps", self.process)).unwrap_or_default();
        maps.lines()
            .filter_map(|line| {
                let (start, rest) = line.split_once('-')?;
                let end = rest.split(' ').next()?;
                Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
            })
            .collect()
    }
}
