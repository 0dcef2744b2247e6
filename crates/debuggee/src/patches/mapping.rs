//! Memory that juror maps in the debuggee for patches.

use std::fs::OpenOptions;
use std::ops::Range;

use juror_stepping::ThreadId;
use libc::c_long;

use super::records::Records;
use super::{FirstWords, RecordWords, SharedMemory};
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::kernel::mapping::{page_end, page_of};
use crate::memory::listed::LIST_LENGTH;
use crate::memory::watchdog::NotedRecords;

/// The least result of an injected call that is an error number.
const ERRORS: u64 = -4095_i64 as u64;
/// No file.
const NO_FILE: u64 = u64::MAX;
/// The longest name of a shared memory, with its end.
const NAME: &[u8] = b"juror\0";
/// The first address of the windows for memory that grows. Nothing is there that the kernel,
/// a heap or a sanitizer has put there.
const WINDOWS: u64 = 0x2a00_0000_0000;
/// The distance between two windows.
const WINDOW_LENGTH: u64 = 1 << 34;
/// The number of windows that are tried.
const WINDOWS_MAX: u64 = 64;
/// The size of the memory that is mapped at once for code, a power of two; pages that are
/// not written take no room.
const AROUND: u64 = 1 << 16;

impl Debuggee {
    /// Makes a system call in a stopped thread; none if none can be made.
    fn call(&mut self, number: c_long, arguments: [u64; 6]) -> Result<Option<u64>, DebuggeeError> {
        let Some((thread, gadget)) = self.caller()? else {
            return Ok(None);
        };
        let result = self.call_system(thread, gadget, number, arguments)?;
        Ok((result < ERRORS).then_some(result))
    }

    fn caller(&mut self) -> Result<Option<(ThreadId, u64)>, DebuggeeError> {
        if self.is_seccomp_filtered_now() {
            return Ok(None);
        }
        let gadget = self.image.out_of_line.gadget();
        Ok(self.callable_thread()?.zip(gadget))
    }

    /// Maps memory that may grow where it is, with this many bytes at first: mappings count for
    /// the limits that a program sets itself (setrlimit(2)), whether they are used or not.
    fn map_growing(
        &mut self,
        bytes: u64,
        [access, flags, descriptor]: [u64; 3],
    ) -> Result<Option<u64>, DebuggeeError> {
        let taken = self.mappings();
        let mut windows = (0..WINDOWS_MAX).map(|number| WINDOWS + number * WINDOW_LENGTH);
        let is_free = |start: &u64| {
            let end = start + WINDOW_LENGTH;
            !taken.iter().any(|it| it.start < end && *start < it.end)
        };
        // Without a window it cannot grow.
        let start = windows.find(is_free).unwrap_or(0);
        self.call(libc::SYS_mmap, [start, bytes, access, flags, descriptor, 0])
    }

    /// Makes a mapping longer where it is. Returns false if its neighbour, the kernel or the
    /// program's limits refuse it.
    fn lengthen(&mut self, start: u64, (from, to): (u64, u64)) -> Result<bool, DebuggeeError> {
        let call = [start, from, to, 0, 0, 0];
        Ok(self.call(libc::SYS_mremap, call)? == Some(start))
    }

    /// Maps memory that juror shares. It is empty, and can grow to this many bytes; if the
    /// address space of the program is limited, to a sixteenth of that at most. The program
    /// has the start of it only, until [`Debuggee::lengthen_memory`]. Returns none if the
    /// kernel or the program's limits refuse it. A forked child does not have it.
    pub fn share_memory(&mut self, most: u64) -> Result<Option<SharedMemory>, DebuggeeError> {
        /// The part of a limited address space that the program does not miss.
        const PART: u64 = 16;
        /// The bytes that are mapped at first.
        const FIRST: u64 = 1 << 16;
        let bytes = match kernel::address_space_limit(self.process) {
            Some(limit) => most.min(page_of(limit / PART)),
            None => most,
        };
        let Some((thread, gadget)) = self.caller()? else {
            return Ok(None);
        };
        let Some(name) = self.data_page(thread, gadget)? else {
            return Ok(None);
        };
        self.memory.write_raw(name, NAME)?;
        let flags = u64::from(libc::MFD_CLOEXEC);
        let Some(descriptor) = self.call(libc::SYS_memfd_create, [name, flags, 0, 0, 0, 0])? else {
            return Ok(None);
        };
        let path = self.file_of(&format!("fd/{descriptor}"));
        let file = OpenOptions::new().read(true).write(true).open(path);
        let access = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let flags = (libc::MAP_SHARED | libc::MAP_NORESERVE) as u64;
        let first = FIRST.min(bytes);
        let mapped = match &file {
            Ok(_) => self.map_growing(first, [access, flags, descriptor])?,
            Err(_) => None,
        };
        self.call(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0])?;
        let (Some(address), Ok(file)) = (mapped, file) else {
            return Ok(None);
        };
        for advice in [libc::MADV_DONTDUMP, libc::MADV_DONTFORK] {
            let advice = advice as u64;
            self.call(libc::SYS_madvise, [address, first, advice, 0, 0, 0])?;
        }
        match SharedMemory::map(file, bytes, address) {
            Ok(memory) => {
                self.image.patches.shared.insert(address, first);
                Ok(Some(memory))
            }
            Err(_) => {
                self.call(libc::SYS_munmap, [address, first, 0, 0, 0, 0])?;
                Ok(None)
            }
        }
    }

    /// Gives the program all words of shared memory that there are; before that it must not
    /// reach those that were added. Returns false if the kernel or the program's limits
    /// refuse it.
    pub fn lengthen_memory(&mut self, memory: &SharedMemory) -> Result<bool, DebuggeeError> {
        let start = memory.address();
        let wanted = page_end(memory.used());
        match self.image.patches.shared.get(&start) {
            Some(&length) if length < wanted => {
                if !self.lengthen(start, (length, wanted))? {
                    return Ok(false);
                }
                self.image.patches.shared.insert(start, wanted);
                Ok(true)
            }
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    /// Unmaps memory that was shared in the debuggee; here it stays.
    pub fn unshare_memory(&mut self, memory: &SharedMemory) -> Result<(), DebuggeeError> {
        let shared = &mut self.image.patches.shared;
        let Some(length) = shared.remove(&memory.address()) else {
            return Ok(());
        };
        let range = [memory.address(), length, 0, 0, 0, 0];
        self.call(libc::SYS_munmap, range).map(drop)
    }

    /// Maps records of `length` bytes, at most `most` of which will be needed, the first words
    /// of which are given by `words`. Returns false if the kernel refuses it.
    pub fn map_thread_records(
        &mut self,
        most: u32,
        length: u64,
        (first, words): (FirstWords, RecordWords),
    ) -> Result<bool, DebuggeeError> {
        /// The number of records that are mapped at first.
        const FIRST: u32 = 16;
        let count = FIRST.min(most);
        let bytes = page_end(u64::from(count) * length);
        let access = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as u64;
        let Some(start) = self.map_growing(bytes, [access, flags, NO_FILE])? else {
            return Ok(false);
        };
        for advice in [libc::MADV_WIPEONFORK, libc::MADV_DONTDUMP] {
            let advice = advice as u64;
            if self
                .call(libc::SYS_madvise, [start, bytes, advice, 0, 0, 0])?
                .is_none()
            {
                return Ok(false);
            }
        }
        self.memory.write_raw(start, &first.muted.to_le_bytes())?;
        if let Some(watchdog) = self.memory.watchdog_mut() {
            watchdog.note_records(Some(NotedRecords {
                start,
                length,
                armed: first.armed,
                muted: first.muted,
            }));
        }
        let counts = (count, most);
        self.image.patches.records = Some(Records::new((start, length), counts, (first, words)));
        Ok(true)
    }

    /// Maps as many thread records again as there are. Returns false if there are as many as
    /// are ever needed, or the kernel or the program's limits refuse it.
    pub(super) fn add_thread_records(&mut self) -> Result<bool, DebuggeeError> {
        let Some(records) = &self.image.patches.records else {
            return Ok(false);
        };
        let Some((count, longer)) = records.doubled() else {
            return Ok(false);
        };
        let range = records.range();
        let lengths = (range.end - range.start, longer);
        if !self.lengthen(range.start, lengths)? {
            return Ok(false);
        }
        if let Some(records) = &mut self.image.patches.records {
            records.set_count(count);
        }
        Ok(true)
    }

    /// Unmaps the thread records.
    pub(super) fn unmap_thread_records(&mut self) -> Result<(), DebuggeeError> {
        let Some(records) = self.image.patches.records.take() else {
            return Ok(());
        };
        if let Some(watchdog) = self.memory.watchdog_mut() {
            watchdog.note_records(None);
        }
        let range = records.range();
        let call = [range.start, range.end - range.start, 0, 0, 0, 0];
        self.call(libc::SYS_munmap, call).map(drop)
    }

    /// Returns the gate near an address: `code`, whose first byte is replaced by
    /// a trap. None if no room is near.
    pub fn gate_near(&mut self, address: u64, code: &[u8]) -> Result<Option<u64>, DebuggeeError> {
        /// A region for slots is 1 GiB away, if it can be.
        const NEAR: u64 = 3 << 29;
        let known = self.image.patches.gates.iter();
        if let Some(gate) = known.copied().find(|gate| gate.abs_diff(address) <= NEAR) {
            return Ok(Some(gate));
        }
        let Some((thread, _)) = self.caller()? else {
            return Ok(None);
        };
        self.ensure_region_near(thread, address)?;
        let Some(gate) = self.image.out_of_line.take_slot_near(address) else {
            return Ok(None);
        };
        self.memory.write_raw(gate, code)?;
        let original = code.first().copied().unwrap_or_default();
        if let Some(watchdog) = self.memory.watchdog_mut()
            && !watchdog.note_gate(gate, original)
        {
            return Ok(None);
        }
        self.memory.insert_trap(gate)?;
        self.image.patches.gates.push(gate);
        Ok(Some(gate))
    }

    /// Maps memory for code and its data at an address, and writes its first bytes. Returns false if
    /// something is there, or the kernel refuses it.
    pub fn map_program(
        &mut self,
        (address, size): (u64, u64),
        bytes: &[u8],
    ) -> Result<bool, DebuggeeError> {
        let access = (libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC) as u64;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let flags = (kind | libc::MAP_FIXED_NOREPLACE) as u64;
        let arguments = [address, page_end(size), access, flags, NO_FILE, 0];
        if self.call(libc::SYS_mmap, arguments)? != Some(address) {
            return Ok(false);
        }
        self.memory.write_raw(address, bytes)?;
        Ok(true)
    }

    /// Returns the parts of the address space near an address in which nothing is
    /// mapped and nothing is likely to be, and from which a gate is in reach. The
    /// caller keeps account of what it takes.
    pub fn free_ranges_near(&self, address: u64, gate: u64) -> Vec<Range<u64>> {
        /// The reach of a jump, less the longest stub.
        const REACH: u64 = (1 << 31) - (1 << 20);
        const LOWEST: u64 = 1 << 20;
        let (first, last) = (address.min(gate), address.max(gate));
        let start = last.saturating_sub(REACH).max(LOWEST);
        let end = first.saturating_add(REACH);
        let mut free = Vec::new();
        let mut from = start;
        for occupied in self.occupied_ranges() {
            let before = occupied.start.min(end);
            if from < before {
                free.push(from..before);
            }
            from = from.max(occupied.end);
        }
        if from < end {
            free.push(from..end);
        }
        free
    }

    /// Returns the parts of the address space in which something is mapped that is no code
    /// for patches, or is likely to be, in ascending order.
    pub fn occupied_ranges(&self) -> Vec<Range<u64>> {
        /// Left free on both sides of a mapping, for a heap or stack that grows.
        const DISTANCE: u64 = 1 << 24;
        let code = &self.image.patches.code;
        let is_code = |mapping: &Range<u64>| {
            let before = code.range(..=mapping.start).next_back();
            before.is_some_and(|(_, end)| *end > mapping.start)
        };
        let mappings = self.mappings().into_iter();
        let occupied = mappings.filter(|mapping| !is_code(mapping)).map(|mapping| {
            let start = mapping.start.saturating_sub(DISTANCE);
            start..mapping.end.saturating_add(DISTANCE)
        });
        let mut occupied: Vec<Range<u64>> = occupied.chain(self.heap_room()).collect();
        occupied.sort_by_key(|range| range.start);
        occupied
    }

    /// Returns the addresses over which the heap may grow (brk(2)). It begins behind the data
    /// of the program, and stops growing at the first mapping: that of a program at a fixed
    /// address would meet the stubs.
    fn heap_room(&self) -> Option<Range<u64>> {
        /// Leaves the farthest windows to stubs: a jump reaches 2 GiB.
        const SIZE: u64 = 1 << 30;
        let start = self.image.patches.heap_start.get_or_init(|| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process));
            stat.ok().and_then(|stat| heap_start(&stat))
        });
        start.map(|start| start..start.saturating_add(SIZE))
    }

    /// Maps the pages of code that is to be written at these ranges. Returns false
    /// if the kernel refuses one.
    pub fn map_code(&mut self, ranges: &[Range<u64>]) -> Result<bool, DebuggeeError> {
        let mut pages: Vec<Range<u64>> = Vec::new();
        let mut sorted: Vec<Range<u64>> = ranges
            .iter()
            .map(|range| page_of(range.start)..page_end(range.end))
            .collect();
        sorted.sort_by_key(|range| range.start);
        for range in sorted {
            match pages.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => pages.push(range),
            }
        }
        for range in pages {
            for part in self.unmapped_parts(range) {
                if !self.map_around(&part)? && !self.map_pages(&part)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Maps the pages of a range, and those around it that may soon be wanted: stubs are
    /// placed side by side, and each mapping is a system call of the program. Returns false
    /// if that cannot be.
    fn map_around(&mut self, part: &Range<u64>) -> Result<bool, DebuggeeError> {
        let start = part.start & !(AROUND - 1);
        let end = part.end.checked_next_multiple_of(AROUND);
        let around = self.unmapped_parts(start..end.unwrap_or(part.end));
        let around = around
            .into_iter()
            .find(|it| it.start <= part.start && part.end <= it.end);
        match around {
            Some(around) => self.map_pages(&around),
            None => Ok(false),
        }
    }

    fn map_pages(&mut self, part: &Range<u64>) -> Result<bool, DebuggeeError> {
        let access = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let length = part.end - part.start;
        let call = [part.start, length, access, flags as u64, NO_FILE, 0];
        let is_mapped = self.call(libc::SYS_mmap, call)? == Some(part.start);
        if is_mapped {
            self.image.patches.code.insert(part.start, part.end);
        }
        Ok(is_mapped)
    }

    /// Returns the parts of a range of pages that are not mapped for code.
    fn unmapped_parts(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut parts = Vec::new();
        let mut from = range.start;
        for (&start, &end) in self.image.patches.code.range(..range.end) {
            if end <= from {
                continue;
            }
            if from < start {
                parts.push(from..start);
            }
            from = from.max(end);
        }
        if from < range.end {
            parts.push(from..range.end);
        }
        parts
    }

    /// Returns true unless the process outlives juror and has no list of its jumps; makes one
    /// if there is none yet.
    pub(super) fn has_list_if_needed(&mut self) -> Result<bool, DebuggeeError> {
        if !self.life.is_attached() || self.memory.list_address().is_some() {
            return Ok(true);
        }
        if self.memory.watchdog_mut().is_none() {
            return Ok(false);
        }
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as u64;
        let access = libc::PROT_READ as u64;
        let call = [0, LIST_LENGTH, access, flags, NO_FILE, 0];
        let Some(start) = self.call(libc::SYS_mmap, call)? else {
            return Ok(false);
        };
        let advice = libc::MADV_DONTDUMP as u64;
        self.call(libc::SYS_madvise, [start, LIST_LENGTH, advice, 0, 0, 0])?;
        self.memory.begin_list(start).map(|()| true)
    }

    /// Unmaps the code, the tables and the list of jumps. No jump is in the text, and no
    /// thread is in a stub.
    pub(crate) fn unmap_patches(&mut self) -> Result<(), DebuggeeError> {
        let code = std::mem::take(&mut self.image.patches.code).into_iter();
        let code = code.map(|(start, end)| (start, end - start));
        let shared = std::mem::take(&mut self.image.patches.shared);
        let list = self.memory.end_list().map(|start| (start, LIST_LENGTH));
        let ranges: Vec<(u64, u64)> = code.chain(shared).chain(list).collect();
        for (start, length) in ranges {
            self.call(libc::SYS_munmap, [start, length, 0, 0, 0, 0])?;
        }
        Ok(())
    }

    /// Writes code to memory that was mapped for it.
    pub fn write_code(&mut self, address: u64, code: &[u8]) -> Result<(), DebuggeeError> {
        self.memory.write_raw(address, code)
    }

    /// Writes words of the debuggee's memory that is juror's own, by one system call.
    pub fn write_own_words(&mut self, address: u64, words: &[u64]) -> Result<(), DebuggeeError> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.memory.write_raw(address, &bytes)
    }
}

/// Returns the start of the heap from the text of `/proc/PID/stat` (proc(5), `start_brk`); `None`
/// if the kernel does not tell.
fn heap_start(stat: &str) -> Option<u64> {
    /// Its number among the fields behind the name, which may contain blanks.
    const FIELD: usize = 47 - 3;
    let (_, fields) = stat.rsplit_once(')')?;
    let start = fields.split_whitespace().nth(FIELD)?.parse().ok()?;
    (start > 0).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::heap_start;

    #[test]
    fn the_heap_start_is_a_field_behind_the_name() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("17 (a ) b) {}\n", fields.join(" "));
        assert_eq!(heap_start(&stat), Some(47));
        assert_eq!(heap_start(&stat.replace(" 47 ", " 0 ")), None);
        assert_eq!(heap_start("17 (short) S 1"), None);
    }
}
