//! The memory of the program: read and written directly, noted at the start and put back after a run.

use crate::kernel::{self, call};
use crate::maps;
use crate::protocol::*;
use crate::runs;
use crate::settings;

/// Where the copies of the writable ranges lie.
const COPIES: u64 = 0x2100_0000_0000;
/// The most bytes of them.
const COPIES_MAX: u64 = 64 << 20;
const PAGE: u64 = 4096;
const MAPS_MAX: usize = 256;
const FILES_MAX: usize = 64;
const PROTECTED_MAX: usize = 16;
/// `MAP_PRIVATE`, `MAP_ANONYMOUS` and `MAP_FIXED_NOREPLACE`.
const NEW_AT: u64 = 0x2 | 0x20 | 0x10_0000;
const DONT_NEED: u64 = 4;

struct Noted {
    /// What the run has mapped.
    maps: [(u64, u64); MAPS_MAX],
    map_count: usize,
    /// What the run has opened, and whether it is a listing of the kernel.
    files: [(u64, bool); FILES_MAX],
    file_count: usize,
    heap_end: u64,
    heap_moved: bool,
    is_noted: bool,
    /// What the run has protected of the noted memory.
    protected: [(u64, u64); PROTECTED_MAX],
    protected_count: usize,
}

static mut NOTED: Noted = Noted {
    maps: [(0, 0); MAPS_MAX],
    map_count: 0,
    files: [(0, false); FILES_MAX],
    file_count: 0,
    heap_end: 0,
    heap_moved: false,
    is_noted: false,
    protected: [(0, 0); PROTECTED_MAX],
    protected_count: 0,
};

fn noted() -> &'static mut Noted {
    // SAFETY: one thread runs the agent.
    unsafe { &mut *(&raw mut NOTED) }
}

fn ranges() -> impl Iterator<Item = (u64, u64)> {
    let range = |number| {
        let at = RANGES + number * 16;
        (settings::word(at), settings::word(at + 8) & !1)
    };
    (0..settings::word(RANGE_COUNT)).map(range)
}

/// Returns whether the memory has been noted.
pub fn is_noted() -> bool {
    noted().is_noted
}

/// Copies the writable memory. Returns false if it cannot be put back.
pub fn note() -> bool {
    let noted = noted();
    // What was opened and mapped before stays.
    (noted.map_count, noted.file_count, noted.heap_moved) = (0, 0, false);
    if !maps::find_ranges() {
        return false;
    }
    let size: u64 = ranges().map(|(_, length)| length).sum();
    if size > COPIES_MAX {
        return false;
    }
    const MMAP: u64 = 9;
    // SAFETY: nothing is mapped there, or the call fails.
    let mapped = unsafe { call(MMAP, [COPIES, size.max(PAGE), 3, NEW_AT, u64::MAX, 0]) };
    if mapped != COPIES as i64 {
        return false;
    }
    // SAFETY: asks for the end of the heap.
    noted.heap_end = unsafe { call(kernel::BRK, [0; 6]) } as u64;
    let mut copy = COPIES;
    for (start, length) in ranges() {
        // SAFETY: both ranges are mapped.
        unsafe { kernel::memcpy(copy as *mut u8, start as *const u8, length as usize) };
        copy += length;
    }
    noted.is_noted = true;
    true
}

/// Makes the process what it was when its memory was noted.
pub fn put_back() {
    let noted = noted();
    if !noted.is_noted {
        return;
    }
    for (start, length) in &noted.maps[..noted.map_count] {
        // SAFETY: the run has mapped it.
        unsafe { call(kernel::MUNMAP, [*start, *length, 0, 0, 0, 0]) };
    }
    noted.map_count = 0;
    for (file, _) in &noted.files[..noted.file_count] {
        // SAFETY: the run has opened it.
        unsafe { call(kernel::CLOSE, [*file, 0, 0, 0, 0, 0]) };
    }
    noted.file_count = 0;
    if core::mem::take(&mut noted.heap_moved) {
        // SAFETY: the heap had not begun.
        unsafe { call(kernel::BRK, [noted.heap_end, 0, 0, 0, 0, 0]) };
    }
    let protected = &noted.protected[..noted.protected_count];
    for (start, length) in protected {
        const MPROTECT: u64 = 10;
        const READ_AND_WRITE: u64 = 3;
        // SAFETY: it was readable and writable when it was noted.
        unsafe { call(MPROTECT, [*start, *length, READ_AND_WRITE, 0, 0, 0]) };
    }
    noted.protected_count = 0;
    empty_new_stack();
    let mut copy = COPIES;
    for (start, length) in ranges() {
        // SAFETY: both ranges are mapped.
        unsafe { kernel::memcpy(start as *mut u8, copy as *const u8, length as usize) };
        copy += length;
    }
}

/// The kernel has made the stack of the first thread longer if it was needed: what is new is empty again.
fn empty_new_stack() {
    let end = settings::word(STACK_START);
    let mut start = end;
    let mut here = 0_u8;
    loop {
        let arguments = [start - PAGE, PAGE, &raw mut here as u64, 0, 0, 0];
        // SAFETY: the kernel writes a byte.
        if unsafe { call(kernel::MINCORE, arguments) } != 0 {
            break;
        }
        start -= PAGE;
    }
    if start != end {
        // SAFETY: no thread uses it.
        unsafe { call(kernel::MADVISE, [start, end - start, DONT_NEED, 0, 0, 0]) };
    }
}

/// Notes that the heap has moved.
pub fn note_heap() {
    noted().heap_moved = true;
}

/// Notes that the run has mapped a range.
pub fn note_map(start: u64, length: u64) {
    let noted = noted();
    if !noted.is_noted {
        return;
    }
    if noted.map_count == MAPS_MAX {
        runs::give_up(REASON_MEMORY);
    }
    noted.maps[noted.map_count] = (start, page_end(length));
    noted.map_count += 1;
}

/// Forgets a range that the run unmaps.
pub fn forget_map(start: u64, length: u64) {
    let noted = noted();
    let end = start + page_end(length);
    let mut number = 0;
    while number < noted.map_count {
        let (first, size) = noted.maps[number];
        let last = first + size;
        if end <= first || last <= start {
            number += 1;
            continue;
        }
        noted.map_count -= 1;
        noted.maps[number] = noted.maps[noted.map_count];
        if first < start {
            note_map(first, start - first);
        }
        if end < last {
            note_map(end, last - end);
        }
    }
}

/// Returns whether the run has mapped all of a range.
pub fn is_new(start: u64, length: u64) -> bool {
    let noted = noted();
    if !noted.is_noted {
        return true;
    }
    let maps = &noted.maps[..noted.map_count];
    let end = start.saturating_add(page_end(length));
    let mut at = start;
    while at < end {
        let within = maps
            .iter()
            .find(|(first, size)| (*first..first + size).contains(&at));
        let Some((first, size)) = within else {
            return false;
        };
        at = first + size;
    }
    true
}

/// Returns whether a range can be protected: it is new, or noted, and then made writable again.
pub fn may_protect(start: u64, length: u64) -> bool {
    if is_new(start, length) {
        return true;
    }
    let noted = noted();
    let end = start.saturating_add(page_end(length));
    let is_plain = (0..settings::word(RANGE_COUNT)).any(|number| {
        let at = RANGES + number * 16;
        let (first, size) = (settings::word(at), settings::word(at + 8));
        size & 1 == 0 && first <= start && end <= first + size
    });
    if !is_plain || noted.protected_count == PROTECTED_MAX {
        return false;
    }
    noted.protected[noted.protected_count] = (start, length);
    noted.protected_count += 1;
    true
}

/// Notes that the run has opened a file.
pub fn note_file(file: u64, is_listing: bool) {
    let noted = noted();
    if noted.file_count == FILES_MAX {
        runs::give_up(REASON_MEMORY);
    }
    noted.files[noted.file_count] = (file, is_listing);
    noted.file_count += 1;
}

/// Returns whether the run has opened a file.
pub fn has_opened(file: u64) -> bool {
    let noted = noted();
    noted.files[..noted.file_count]
        .iter()
        .any(|it| it.0 == file)
}

/// Returns whether the run has opened a listing of the kernel.
pub fn is_listing(file: u64) -> bool {
    let noted = noted();
    noted.files[..noted.file_count].contains(&(file, true))
}

/// Forgets a file that the run closes.
pub fn forget_file(file: u64) {
    let noted = noted();
    let place = noted.files[..noted.file_count]
        .iter()
        .position(|it| it.0 == file);
    if let Some(place) = place {
        noted.file_count -= 1;
        noted.files[place] = noted.files[noted.file_count];
    }
}

fn page_end(length: u64) -> u64 {
    length.saturating_add(PAGE - 1) & !(PAGE - 1)
}

/// Reads a word of the program. Where none is, the run is given up.
pub fn read_u64(address: u64) -> u64 {
    // SAFETY: a fault is taken by the handler, which gives the run up.
    unsafe { (address as *const u64).read_volatile_unaligned() }
}

/// Reads a half word.
pub fn read_u32(address: u64) -> u32 {
    // SAFETY: as above.
    unsafe { (address as *const u32).read_volatile_unaligned() }
}

/// Reads up to eight bytes.
pub fn read_sized(address: u64, size: u8) -> Option<u64> {
    let mut bytes = [0_u8; 8];
    for (number, byte) in bytes.iter_mut().enumerate().take(usize::from(size)) {
        // SAFETY: as above.
        *byte = unsafe { ((address as usize + number) as *const u8).read_volatile() };
    }
    Some(u64::from_le_bytes(bytes))
}

/// Writes up to eight bytes, if others are there.
pub fn write_sized(address: u64, size: u8, value: u64) {
    if read_sized(address, size) == Some(value) {
        return;
    }
    for (number, byte) in value.to_le_bytes().iter().enumerate().take(usize::from(size)) {
        // SAFETY: the program is about to write there.
        unsafe { ((address as usize + number) as *mut u8).write_volatile(*byte) };
    }
}

/// Returns whether there is a word at an address.
pub fn is_mapped(address: u64) -> bool {
    /// It is no way to change the mask: the kernel reads the mask, and refuses.
    const NO_WAY: u64 = 99;
    const NO_MEMORY: i64 = -14;
    if address < PAGE {
        return false;
    }
    // SAFETY: the kernel reads a word.
    let result = unsafe { call(kernel::RT_SIGPROCMASK, [NO_WAY, address, 0, 8, 0, 0]) };
    result != NO_MEMORY
}

/// Writes a half word of the program.
pub fn write_u32(address: u64, word: u32) {
    // SAFETY: as for reading.
    unsafe { (address as *mut u32).write_unaligned(word) }
}

trait Unaligned<T> {
    unsafe fn read_volatile_unaligned(self) -> T;
}

impl<T> Unaligned<T> for *const T {
    unsafe fn read_volatile_unaligned(self) -> T {
        // SAFETY: the caller's.
        unsafe { self.read_unaligned() }
    }
}
