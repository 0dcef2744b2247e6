//! Preparing an image that has just been mapped, or has run for a while, and
//! following its dynamic linker.

use juror_arch::Register;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use juror_stepping::{Owner, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::{AttachError, DebuggeeError};
use crate::image::modules::{self, Auxiliary};
use crate::kernel::mapping::{DELETED, Mapping, PAGE_LENGTH, mappings};
use crate::kernel::process_status;
use crate::state::out_of_line::{self, REGION_LENGTH};
use crate::state::stop_event::StopEvent;
use crate::state::thread::{State, Thread};

/// The code segment of 64-bit programs.
const CODE_SEGMENT_64: u64 = 0x33;

impl Debuggee {
    /// Prepares the image right after `exec`, with the only thread stopped
    /// before its first instruction: finds the modules, maps room for
    /// out-of-line slots, inserts the trap that follows the dynamic linker.
    pub(crate) fn prepare_image(&mut self) -> Result<(), DebuggeeError> {
        let thread = ThreadId(self.process);
        self.image.forget();
        if self.stop_registers(thread)?.shown.get(Register::Cs) != CODE_SEGMENT_64 {
            // A 32-bit program runs without any of it.
            return Ok(());
        }
        self.image.auxiliary =
            Auxiliary::read(&self.file_of("auxv")).map_err(|source| DebuggeeError::System {
                what: "read the program's auxiliary vector",
                source,
            })?;
        self.image.modules =
            modules::at_start(&self.memory, &self.image.auxiliary, self.program_name());
        let entry = self.image.auxiliary.entry;
        self.map_first_region(thread, entry)?;
        self.map_regions_for_modules(thread)?;
        self.image.rendezvous_address =
            modules::find_rendezvous_at_start(&self.memory, &self.image.auxiliary);
        match self.image.rendezvous_address {
            Some(address) => self.insert(address, Owner::Internal),
            None if self.image.auxiliary.linker != 0 => {
                self.image.entry_point = Some(entry);
                self.insert(entry, Owner::Internal)
            }
            None => Ok(()),
        }
    }

    /// Prepares the image of a program that has run for a while, with every
    /// thread stopped anywhere: the mapped libraries are found in the dynamic
    /// linker's list.
    pub(crate) fn prepare_running_image(&mut self) -> Result<(), AttachError> {
        self.image.forget();
        let Some(thread) = self.callable_thread()? else {
            return Err(AttachError::HasEnded(self.process));
        };
        if self.stop_registers(thread)?.shown.get(Register::Cs) != CODE_SEGMENT_64 {
            return Err(AttachError::Narrow(self.process));
        }
        self.remove_left_over()?;
        self.image.auxiliary =
            Auxiliary::read(&self.file_of("auxv")).map_err(|source| AttachError::System {
                process: self.process,
                what: "read its auxiliary vector",
                source,
            })?;
        self.image.modules =
            modules::at_start(&self.memory, &self.image.auxiliary, self.program_name());
        let rendezvous = modules::read_rendezvous(&self.memory, &self.image.modules);
        self.image.rendezvous_address = rendezvous
            .as_ref()
            .map(|rendezvous| rendezvous.address)
            .filter(|&address| address != 0)
            .or_else(|| modules::find_rendezvous_at_start(&self.memory, &self.image.auxiliary));
        // A list that is being changed is reported when the change is done.
        if let Some(rendezvous) = rendezvous.filter(|rendezvous| rendezvous.is_consistent) {
            self.image.modules = rendezvous.modules;
        }
        self.map_first_region_of_running(thread)?;
        self.map_regions_for_modules(thread)?;
        if let Some(address) = self.image.rendezvous_address {
            self.insert(address, Owner::Internal)?;
        }
        Ok(())
    }

    /// Maps room for out-of-line slots and for system calls, without a change
    /// to any code. If the process has a seccomp filter, a call may kill it:
    /// nothing is mapped then, and every site is stepped over in place.
    fn map_first_region_of_running(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if self.is_seccomp_filtered_now() {
            return Ok(());
        }
        let Some(instruction) = self.syscall_instruction() else {
            return Ok(());
        };
        let mappings = self.mappings();
        for place in out_of_line::region_candidates_near(self.image.auxiliary.entry, &mappings) {
            let call = mapping_call(place);
            if self.step_system_call(thread, instruction, libc::SYS_mmap, call)? == place {
                return self.take_region(place);
            }
        }
        Ok(())
    }

    /// Unmaps the out-of-line slots, so that nothing of juror's is left; every
    /// thread stands in the program itself. They stay if a signal was ever
    /// delivered to a thread in a slot: a handler may still return there.
    pub(crate) fn unmap_regions(&mut self) -> Result<(), DebuggeeError> {
        if self.image.out_of_line.is_interrupted || self.is_seccomp_filtered_now() {
            return Ok(());
        }
        let found = self.callable_thread()?.zip(self.syscall_instruction());
        let Some((thread, instruction)) = found else {
            return Ok(());
        };
        for start in self.image.out_of_line.region_starts() {
            let range = [start, REGION_LENGTH, 0, 0, 0, 0];
            self.step_system_call(thread, instruction, libc::SYS_munmap, range)?;
        }
        if let Some(page) = self.image.out_of_line.data() {
            let range = [page, PAGE_LENGTH, 0, 0, 0, 0];
            self.step_system_call(thread, instruction, libc::SYS_munmap, range)?;
        }
        Ok(())
    }

    /// Returns true if the system calls of any thread are filtered by now: the
    /// program may be killed for a call that juror injects.
    pub(crate) fn is_seccomp_filtered_now(&mut self) -> bool {
        let process = self.process;
        let own = u32::from(self.system_calls.filter().is_some());
        let is_filtered = |thread: &u32| {
            let status = process_status::ProcessStatus::of_thread(process, *thread);
            status.is_some_and(|status| status.seccomp_filters > own)
        };
        self.image.is_seccomp_filtered =
            self.image.is_seccomp_filtered || self.threads.keys().any(is_filtered);
        self.image.is_seccomp_filtered
    }

    /// Returns true if system calls of the program are known to be filtered, so that
    /// juror makes none in it.
    pub fn filters_system_calls(&self) -> bool {
        self.image.is_seccomp_filtered
    }

    /// Returns a stopped thread that can make system calls for juror.
    pub(crate) fn callable_thread(&mut self) -> Result<Option<ThreadId>, DebuggeeError> {
        let stopped = |thread: &&Thread| thread.state == State::Stopped && !thread.is_vfork_child;
        // A thread in the middle of a system call has to leave it first. One that is about to get
        // a signal cannot make calls from which it finds back by itself.
        let best = self.threads.values().filter(stopped).min_by_key(|thread| {
            (
                thread.inside_kernel || thread.at_entry,
                thread.pending.is_some(),
            )
        });
        let Some(thread) = best.map(|thread| thread.id) else {
            return Ok(None);
        };
        self.leave_kernel(thread)?;
        Ok(Some(thread))
    }

    /// Returns a file of the process in `/proc`, by way of a living thread.
    pub(crate) fn file_of(&self, name: &str) -> PathBuf {
        process_status::file_of(self.process, self.living_thread(), name)
    }

    /// Returns the number of a living thread, the first one if it lives.
    pub(crate) fn living_thread(&self) -> u32 {
        if self.threads.contains_key(&self.process) {
            self.process
        } else {
            self.threads.keys().copied().next().unwrap_or(self.process)
        }
    }

    /// Returns the path that the program's file has, or had.
    fn program_name(&self) -> PathBuf {
        let path = std::fs::read_link(self.file_of("exe")).unwrap_or_default();
        let text = path.to_str().and_then(|it| it.strip_suffix(DELETED));
        text.map_or_else(|| path.clone(), PathBuf::from)
    }

    /// Returns the program's file: the path that the kernel names, or, if
    /// another file is there now (the program was replaced, or has its own file
    /// system), the kernel's own link to it.
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

    /// Returns every insert of upper layers that has not been removed: the
    /// site, the owner and the count.
    pub fn points(&self) -> Vec<(u64, Owner, u32)> {
        let points = self
            .driver
            .engine
            .inserts()
            .map(|(address, owner, count, _)| {
                let is_own = owner == Owner::Internal && self.image.is_own_point(address);
                (address, owner, count - u32::from(is_own && count > 0))
            });
        points.filter(|(_, _, count)| *count > 0).collect()
    }

    /// Inserts the traps that follow the dynamic linker, in a process that has
    /// the image and no points.
    pub(crate) fn insert_own_points(&mut self) -> Result<(), DebuggeeError> {
        for address in self.image.own_points() {
            self.insert(address, Owner::Internal)?;
        }
        Ok(())
    }

    /// Handles a hit of a trap that follows the dynamic linker; returns true if
    /// it was reported.
    pub(crate) fn follow_linker(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<bool, DebuggeeError> {
        if self.image.entry_point == Some(address) {
            self.image.entry_point = None;
            self.remove(address, Owner::Internal)?;
        }
        let Some(rendezvous) = modules::read_rendezvous(&self.memory, &self.image.modules) else {
            return Ok(false);
        };
        if self.image.rendezvous_address.is_none() && rendezvous.address != 0 {
            self.image.rendezvous_address = Some(rendezvous.address);
            self.insert(rendezvous.address, Owner::Internal)?;
        }
        if !rendezvous.is_consistent || rendezvous.modules == self.image.modules {
            return Ok(false);
        }
        self.image.modules = rendezvous.modules;
        self.image.out_of_line.set_immutable_code(Vec::new());
        self.map_regions_for_modules(thread)?;
        self.queue_event(StopEvent::ModulesChanged { thread });
        Ok(true)
    }

    /// Reads the list of modules of a process whose linker is at work: what is mapped by now.
    /// Nothing is mapped near them, so sites there are stepped over in place.
    pub fn read_unfinished_modules(&mut self) {
        let rendezvous = modules::read_rendezvous(&self.memory, &self.image.modules);
        if let Some(rendezvous) = rendezvous.filter(|it| !it.modules.is_empty()) {
            self.image.modules = rendezvous.modules;
            self.image.out_of_line.set_immutable_code(Vec::new());
        }
    }

    /// Maps room for slots near every module, while a thread is stopped that
    /// can make the system calls.
    fn map_regions_for_modules(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let addresses: Vec<u64> = self
            .image
            .modules
            .iter()
            .map(|module| module.dynamic_address.max(module.bias))
            .collect();
        for address in addresses {
            self.ensure_region_near(thread, address)?;
        }
        Ok(())
    }

    /// Maps room for slots near an address, if there is none.
    pub(crate) fn ensure_region_near(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        let Some(gadget) = self.image.out_of_line.gadget() else {
            return Ok(());
        };
        if self.image.out_of_line.has_region_near(address) || self.is_seccomp_filtered_now() {
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

    /// Maps one region by a system call in the debuggee; returns false if the
    /// kernel refuses the address.
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

    /// Returns a writable page for the arguments and results of injected system
    /// calls; none if the kernel refuses every address.
    pub(crate) fn data_page(
        &mut self,
        thread: ThreadId,
        gadget: u64,
    ) -> Result<Option<u64>, DebuggeeError> {
        if let Some(page) = self.image.out_of_line.data() {
            return Ok(Some(page));
        }
        let mappings = self.mappings();
        for place in out_of_line::region_candidates_near(self.image.auxiliary.entry, &mappings) {
            let [place, _, _, flags, file, offset] = mapping_call(place);
            let allowed = (libc::PROT_READ | libc::PROT_WRITE) as u64;
            let call = [place, PAGE_LENGTH, allowed, flags, file, offset];
            if self.call_system(thread, gadget, libc::SYS_mmap, call)? == place {
                self.image.out_of_line.set_data(place);
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Makes a mapped region usable.
    fn take_region(&mut self, place: u64) -> Result<(), DebuggeeError> {
        let code = out_of_line::first_slot();
        self.memory.write_raw(place, &code)?;
        self.image.out_of_line.add_region(place);
        Ok(())
    }

    /// Returns the list of mappings, as in `/proc/PID/maps`.
    pub fn memory_map(&self) -> Option<String> {
        if let Some(core) = &self.core {
            return Some(core.maps().to_owned());
        }
        std::fs::read_to_string(self.file_of("maps")).ok()
    }

    /// Returns the mapped address ranges, in order.
    pub(crate) fn mappings(&self) -> Vec<Range<u64>> {
        self.mappings_where(|_| true)
    }

    /// Returns the executable address ranges.
    pub(crate) fn executable_memory(&self) -> Vec<Range<u64>> {
        self.mappings_where(|mapping| mapping.is_executable())
    }

    /// Returns the address ranges that hold the code of files and to which the
    /// program cannot write.
    pub(crate) fn immutable_code(&self) -> Vec<Range<u64>> {
        self.mappings_where(|mapping| {
            mapping.permissions == "r-xp"
                && (mapping.name.contains('/') || mapping.name == "[vdso]")
        })
    }

    /// Returns the address ranges of the mappings that `is_wanted` accepts.
    fn mappings_where(&self, is_wanted: impl Fn(&Mapping<'_>) -> bool) -> Vec<Range<u64>> {
        let maps = self.memory_map().unwrap_or_default();
        let wanted = mappings(&maps).filter(is_wanted);
        wanted.map(|mapping| mapping.range).collect()
    }
}

/// Returns the arguments of the system call that maps a region at an address.
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
