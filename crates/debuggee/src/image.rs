//! Making a program ready that has just been mapped, or that has run for a
//! while, and following its dynamic linker.

use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use juror_stepping::{Owner, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::{AttachError, DebuggeeError};
use crate::mapping::{Mapping, mappings};
use crate::modules::{self, Auxiliary};
use crate::out_of_line::{self, GADGET, OutOfLineSlots, REGION_LENGTH};
use crate::pages::PAGE_LENGTH;
use crate::process_status;
use crate::stop_event::StopEvent;
use crate::thread::{State, Thread};

/// The code segment of 64-bit programs.
const CODE_SEGMENT_64: u64 = 0x33;

impl Debuggee {
    /// Right after `exec`, the only thread stopped before its first
    /// instruction: finds the modules, makes room for copies, plants the point
    /// that tells of libraries.
    pub(crate) fn prepare_image(&mut self) -> Result<(), DebuggeeError> {
        let thread = ThreadId(self.process);
        self.forget_image();
        if self.stop_registers(thread)?.shown.cs != CODE_SEGMENT_64 {
            // A program that juror cannot watch runs as it is.
            return Ok(());
        }
        self.auxiliary =
            Auxiliary::read(&self.file_of("auxv")).map_err(|source| DebuggeeError::System {
                what: "read the program's start values",
                source,
            })?;
        self.modules = modules::at_start(&self.memory, &self.auxiliary, self.program_path());
        let entry = self.auxiliary.entry;
        self.map_first_region(thread, entry)?;
        self.map_regions_for_modules(thread)?;
        self.rendezvous_address = modules::find_rendezvous_at_start(&self.memory, &self.auxiliary);
        match self.rendezvous_address {
            Some(address) => self.insert(address, Owner::Internal),
            None if self.auxiliary.linker != 0 => {
                self.entry_point = Some(entry);
                self.insert(entry, Owner::Internal)
            }
            None => Ok(()),
        }
    }

    fn forget_image(&mut self) {
        self.out_of_line = OutOfLineSlots::default();
        self.rendezvous_address = None;
        self.entry_point = None;
        self.modules.clear();
    }

    /// The same for a program that has run for a while, every thread stopped
    /// wherever it was: the libraries that are there are found in the dynamic
    /// linker's list.
    pub(crate) fn prepare_running_image(&mut self) -> Result<(), AttachError> {
        self.forget_image();
        let Some(thread) = self.callable_thread()? else {
            return Err(AttachError::HasEnded(self.process));
        };
        if self.stop_registers(thread)?.shown.cs != CODE_SEGMENT_64 {
            return Err(AttachError::Narrow(self.process));
        }
        self.auxiliary =
            Auxiliary::read(&self.file_of("auxv")).map_err(|source| AttachError::System {
                process: self.process,
                what: "read its start values",
                source,
            })?;
        self.modules = modules::at_start(&self.memory, &self.auxiliary, self.program_path());
        let rendezvous = modules::read_rendezvous(&self.memory, &self.modules);
        self.rendezvous_address = rendezvous
            .as_ref()
            .map(|rendezvous| rendezvous.address)
            .filter(|&address| address != 0)
            .or_else(|| modules::find_rendezvous_at_start(&self.memory, &self.auxiliary));
        // A list that is being changed is told of when the change is done.
        if let Some(rendezvous) = rendezvous.filter(|rendezvous| rendezvous.is_consistent) {
            self.modules = rendezvous.modules;
        }
        self.map_first_region_of_running(thread)?;
        self.map_regions_for_modules(thread)?;
        if let Some(address) = self.rendezvous_address {
            self.insert(address, Owner::Internal)?;
        }
        Ok(())
    }

    /// A place for copies and for system calls, made without a change to any
    /// code. Where the process is confined, a call may kill it: there is none
    /// then, and every site is passed in place.
    fn map_first_region_of_running(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if self.is_seccomp_filtered_now() {
            return Ok(());
        }
        let Some(instruction) = self.syscall_instruction() else {
            return Ok(());
        };
        let mappings = self.mappings();
        for place in out_of_line::region_candidates_near(self.auxiliary.entry, &mappings) {
            let call = mapping_call(place);
            if self.step_system_call(thread, instruction, libc::SYS_mmap, call)? == place {
                return self.take_region(place);
            }
        }
        Ok(())
    }

    /// Gives the memory for copies back, so that nothing of juror's is left;
    /// every thread stands in the program itself. It stays when a signal once
    /// found a thread in a copy: a handler may return there still.
    pub(crate) fn unmap_regions(&mut self) -> Result<(), DebuggeeError> {
        if self.out_of_line.is_interrupted || self.is_seccomp_filtered_now() {
            return Ok(());
        }
        let found = self.callable_thread()?.zip(self.syscall_instruction());
        let Some((thread, instruction)) = found else {
            return Ok(());
        };
        for start in self.out_of_line.region_starts() {
            let range = [start, REGION_LENGTH, 0, 0, 0, 0];
            self.step_system_call(thread, instruction, libc::SYS_munmap, range)?;
        }
        if let Some(page) = self.out_of_line.data() {
            let range = [page, PAGE_LENGTH, 0, 0, 0, 0];
            self.step_system_call(thread, instruction, libc::SYS_munmap, range)?;
        }
        Ok(())
    }

    /// Whether the program's system calls are filtered by now, of any thread: it
    /// may be ended for one that juror makes in its name.
    pub(crate) fn is_seccomp_filtered_now(&mut self) -> bool {
        let process = self.process;
        let is_filtered = |thread: &u32| {
            let status = process_status::ProcessStatus::of_thread(process, *thread);
            status.is_some_and(|status| status.is_seccomp_filtered)
        };
        self.is_seccomp_filtered = self.is_seccomp_filtered || self.threads.keys().any(is_filtered);
        self.is_seccomp_filtered
    }

    /// A stopped thread that can make system calls for juror.
    fn callable_thread(&mut self) -> Result<Option<ThreadId>, DebuggeeError> {
        let stopped = |thread: &&Thread| thread.state == State::Stopped && !thread.is_vfork_child;
        // One that is in the middle of a system call has to leave it first.
        let best = self
            .threads
            .values()
            .filter(stopped)
            .min_by_key(|thread| thread.inside_kernel || thread.at_entry);
        let Some(thread) = best.map(|thread| thread.id) else {
            return Ok(None);
        };
        self.leave_kernel(thread)?;
        Ok(Some(thread))
    }

    /// A file of the process in `/proc`, by way of a thread that lives.
    pub(crate) fn file_of(&self, name: &str) -> PathBuf {
        let thread = match self.threads.contains_key(&self.process) {
            true => self.process,
            false => self.threads.keys().copied().next().unwrap_or(self.process),
        };
        process_status::file_of(self.process, thread, name)
    }

    /// The program's file: where the kernel says it is, or, when another file
    /// is there now (the program was replaced, or has its own file system),
    /// the kernel's own link to it.
    pub(crate) fn program_path(&self) -> PathBuf {
        let link = self.file_of("exe");
        let Ok(path) = std::fs::read_link(&link) else {
            return PathBuf::new();
        };
        match (std::fs::metadata(&path), std::fs::metadata(&link)) {
            (Ok(named), Ok(run)) if (named.dev(), named.ino()) == (run.dev(), run.ino()) => path,
            (_, Ok(_)) => link,
            (_, Err(_)) => path,
        }
    }

    /// Every insert of upper floors that has not been taken back: the site,
    /// whose, and how many.
    pub fn points(&self) -> Vec<(u64, Owner, u32)> {
        let points = self.engine.inserts().map(|(address, owner, count, _)| {
            let is_own = owner == Owner::Internal && self.is_own_point(address);
            (address, owner, count - u32::from(is_own && count > 0))
        });
        points.filter(|(_, _, count)| *count > 0).collect()
    }

    /// Plants the points of this room's own, in a process that has the image
    /// and no points.
    pub(crate) fn insert_own_points(&mut self) -> Result<(), DebuggeeError> {
        for address in [self.rendezvous_address, self.entry_point]
            .into_iter()
            .flatten()
        {
            self.insert(address, Owner::Internal)?;
        }
        Ok(())
    }

    /// Whether a point of juror's own is here that this room planted.
    pub(crate) fn is_own_point(&self, address: u64) -> bool {
        self.rendezvous_address == Some(address) || self.entry_point == Some(address)
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
        let Some(rendezvous) = modules::read_rendezvous(&self.memory, &self.modules) else {
            return Ok(false);
        };
        if self.rendezvous_address.is_none() && rendezvous.address != 0 {
            self.rendezvous_address = Some(rendezvous.address);
            self.insert(rendezvous.address, Owner::Internal)?;
        }
        if !rendezvous.is_consistent || rendezvous.modules == self.modules {
            return Ok(false);
        }
        self.modules = rendezvous.modules;
        self.out_of_line.set_immutable_code(Vec::new());
        self.map_regions_for_modules(thread)?;
        self.queue_event(StopEvent::ModulesChanged { thread });
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
        let Some(gadget) = self.out_of_line.gadget() else {
            return Ok(());
        };
        if self.out_of_line.has_region_near(address) || self.is_seccomp_filtered_now() {
            return Ok(());
        }
        let mappings = self.mappings();
        for place in out_of_line::region_candidates_near(address, &mappings) {
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
        let call = mapping_call(place);
        if self.call_system(thread, gadget, libc::SYS_mmap, call)? != place {
            return Ok(false);
        }
        self.take_region(place).map(|()| true)
    }

    /// A page that the process may write, for what its system calls for juror
    /// are given and give back; none where the kernel refuses every place.
    pub(crate) fn data_page(
        &mut self,
        thread: ThreadId,
        gadget: u64,
    ) -> Result<Option<u64>, DebuggeeError> {
        if let Some(page) = self.out_of_line.data() {
            return Ok(Some(page));
        }
        let mappings = self.mappings();
        for place in out_of_line::region_candidates_near(self.auxiliary.entry, &mappings) {
            let [place, _, _, flags, file, offset] = mapping_call(place);
            let allowed = (libc::PROT_READ | libc::PROT_WRITE) as u64;
            let call = [place, PAGE_LENGTH, allowed, flags, file, offset];
            if self.call_system(thread, gadget, libc::SYS_mmap, call)? == place {
                self.out_of_line.set_data(place);
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Makes a region that has just been mapped usable.
    fn take_region(&mut self, place: u64) -> Result<(), DebuggeeError> {
        let code: Vec<u8> = GADGET.into_iter().chain(out_of_line::CALLS).collect();
        self.memory.write_raw(place, &code)?;
        self.out_of_line.add_region(place);
        Ok(())
    }

    /// The list of mappings, as the kernel writes it to `/proc/PID/maps`.
    pub fn memory_map(&self) -> Option<String> {
        std::fs::read_to_string(self.file_of("maps")).ok()
    }

    /// The address ranges that are mapped, in order.
    pub(crate) fn mappings(&self) -> Vec<Range<u64>> {
        self.mappings_where(|_| true)
    }

    /// Those that the program may execute.
    pub(crate) fn executable_memory(&self) -> Vec<Range<u64>> {
        self.mappings_where(|mapping| mapping.is_executable())
    }

    /// Those that hold the code of files and that the program cannot write to.
    pub(crate) fn immutable_code(&self) -> Vec<Range<u64>> {
        self.mappings_where(|mapping| {
            mapping.permissions == "r-xp"
                && (mapping.name.contains('/') || mapping.name == "[vdso]")
        })
    }

    /// The address ranges of some mappings.
    fn mappings_where(&self, is_wanted: impl Fn(&Mapping<'_>) -> bool) -> Vec<Range<u64>> {
        let maps = self.memory_map().unwrap_or_default();
        let wanted = mappings(&maps).filter(is_wanted);
        wanted.map(|mapping| mapping.range).collect()
    }
}

/// The arguments of the system call that maps a region at a place.
fn mapping_call(place: u64) -> [u64; 6] {
    let protection = libc::PROT_READ | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let no_file = u64::MAX;
    [
        place,
        REGION_LENGTH,
        protection as u64,
        flags as u64,
        no_file,
        0,
    ]
}
