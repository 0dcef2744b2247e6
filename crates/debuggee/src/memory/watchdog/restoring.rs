//! The work of the watchdog process once juror has died.
//!
//! | step | afterwards |
//! | --- | --- |
//! | the gates are `nop` again | a stub that would have called juror leaves, and releases its locks |
//! | a jump that was being written is whole, or is not there | the text means something everywhere |
//! | the thread records are muted | stubs that begin do nothing |
//! | the original bytes of the traps are back | the program meets no trap |
//! | the threads stand, and the jumps are out of the text | the text is the program's own |
//!
//! Invariant: no step makes something unsafe that the ones before have left; the
//! first four are done while the kernel still holds the threads that had stopped, if
//! the processor is given to the watchdog in time. The last one waits for the end of
//! tracing. If it fails, the jumps stay, and lead to stubs that do nothing.
//!
//! The process has been forked from one that may have had other threads: nothing
//! here allocates memory.

use std::ffi::CStr;
use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use libc::c_uint;

use super::standstill::Standstill;
use super::{RecordsTable, Table};
use crate::kernel::traps::TRAP;
use crate::memory::listed::{ENTRY_LENGTH, HEADER_LENGTH, Listed, TextState, count_in};

/// Runs the watchdog; `tasks` is the directory of the program's threads.
pub(super) fn run_watchdog(table: NonNull<Table>, memory: RawFd, tasks: &CStr) -> ! {
    // SAFETY: system calls on plain numbers; the table is mapped here as in
    // the parent, and what both touch of it is atomic or the mutex.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"juror-watchdog".as_ptr());
        // No key and no hang-up of a terminal ends it before juror.
        libc::setsid();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let memory_number = memory as c_uint;
        libc::syscall(libc::SYS_close_range, memory_number + 1, c_uint::MAX, 0);
        if memory_number > 0 {
            libc::syscall(libc::SYS_close_range, 0, memory_number - 1, 0);
        }
        // If permitted, it runs before other processes of its CPU.
        let urgent = libc::sched_param { sched_priority: 1 };
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const urgent);
        let table = table.as_ref();
        libc::pthread_mutex_lock(table.mutex.get());
        if !table.is_dismissed.load(Ordering::Acquire) {
            restore_all(table, Program(memory), tasks);
        }
        libc::_exit(0)
    }
}

fn restore_all(table: &Table, program: Program, tasks: &CStr) {
    for gate in &table.gates {
        program.restore_trap(gate.load(Ordering::Acquire));
    }
    let list = table.list.load(Ordering::Acquire);
    let changing = table.changing.load(Ordering::Acquire);
    if list != 0 && changing != 0 {
        program.complete(list, changing - 1);
    }
    program.mute(&table.records);
    let used = table.used.load(Ordering::Acquire) as usize;
    for entry in table.entries.iter().take(used) {
        program.restore_trap(entry.load(Ordering::Acquire));
    }
    if list != 0 && program.has_jumps(list) {
        Standstill::of(tasks, || program.remove_jumps(list));
    }
}

/// The memory of the program.
#[derive(Clone, Copy)]
struct Program(RawFd);

impl Program {
    fn read(self, address: u64, bytes: &mut [u8]) -> bool {
        let at = address as libc::off_t;
        // SAFETY: the descriptor is open, and the kernel writes to live bytes.
        let count = unsafe { libc::pread(self.0, bytes.as_mut_ptr().cast(), bytes.len(), at) };
        usize::try_from(count) == Ok(bytes.len())
    }

    fn write(self, address: u64, bytes: &[u8]) {
        let at = address as libc::off_t;
        // SAFETY: the descriptor is open, and the kernel reads live bytes.
        unsafe { libc::pwrite(self.0, bytes.as_ptr().cast(), bytes.len(), at) };
    }

    /// Writes one original byte back, if the trap is still there.
    fn restore_trap(self, entry: u64) {
        let address = entry >> 8;
        let mut present = [0];
        if entry != 0 && self.read(address, &mut present) && present == [TRAP] {
            self.write(address, &[(entry & 0xff) as u8]);
        }
    }

    /// Mutes the thread records that are armed.
    fn mute(self, records: &RecordsTable) {
        let start = records.start.load(Ordering::Acquire);
        if start == 0 {
            return;
        }
        let length = records.length.load(Ordering::Acquire);
        let armed = records.armed.load(Ordering::Acquire).to_le_bytes();
        let muted = records.muted.load(Ordering::Acquire).to_le_bytes();
        for number in 0..records.used.load(Ordering::Acquire) {
            let address = start + number * length;
            let mut present = [0; 8];
            if self.read(address, &mut present) && present == armed {
                self.write(address, &muted);
            }
        }
    }

    /// Returns the jump with a number in the list, and what is in the text in its place.
    fn listed(self, list: u64, number: u32) -> Option<(Listed, TextState)> {
        let mut bytes = [0; ENTRY_LENGTH];
        let at = list + HEADER_LENGTH + u64::from(number) * ENTRY_LENGTH as u64;
        if !self.read(at, &mut bytes) {
            return None;
        }
        let listed = Listed::decode(&bytes)?;
        let mut present = [0; Listed::LONGEST];
        let present = present.get_mut(..listed.length())?;
        let is_read = self.read(listed.jump, present);
        is_read.then(|| (listed, listed.state_of(present)))
    }

    /// Puts the original bytes back if a jump is in the text in part.
    fn complete(self, list: u64, number: u32) {
        if let Some((listed, TextState::Mixed)) = self.listed(list, number) {
            self.write(listed.jump, listed.original());
        }
    }

    /// Returns the number of jumps that the list has room for so far.
    fn count(self, list: u64) -> u32 {
        let mut header = [0; HEADER_LENGTH as usize];
        if self.read(list, &mut header) {
            count_in(&header).unwrap_or(0)
        } else {
            0
        }
    }

    fn has_jumps(self, list: u64) -> bool {
        (0..self.count(list)).any(|number| {
            self.listed(list, number)
                .is_some_and(|(_, state)| state == TextState::Jump)
        })
    }

    /// Writes the original bytes in place of all jumps, while no thread runs.
    fn remove_jumps(self, list: u64) {
        for number in 0..self.count(list) {
            if let Some((listed, TextState::Jump)) = self.listed(list, number) {
                self.write(listed.jump, listed.original());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::memory::text::TextPatch;
    use std::fs::{File, OpenOptions};
    use std::os::fd::AsRawFd;
    use std::path::Path;
    use std::sync::atomic::AtomicU64;

    const CODE: [u8; 5] = [0xe9, 0xf4, 0xcc, 3, 4];

    /// A process can open its own memory: everything is in buffers of the test.
    fn own() -> File {
        let path = Path::new("/proc/self/mem");
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap()
    }

    /// Returns the contents of a buffer that has been written through the file.
    fn present(program: Program, buffer: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; buffer.len()];
        assert!(program.read(buffer.as_ptr() as u64, &mut bytes));
        bytes
    }

    #[test]
    fn records_in_use_that_are_armed_are_muted() {
        let (file, length) = (own(), 16);
        let program = Program(file.as_raw_fd());
        let words: Box<[u64]> = vec![7, 1, 5, 1, 9, 1, 5, 1].into();
        let start = words.as_ptr() as u64;
        let records = RecordsTable {
            start: AtomicU64::new(start),
            length: AtomicU64::new(length),
            used: AtomicU64::new(3),
            armed: AtomicU64::new(5),
            muted: AtomicU64::new(7),
        };
        program.mute(&records);
        let mut now = [0; 64];
        assert!(program.read(start, &mut now));
        let now: Vec<u8> = now.iter().step_by(8).copied().collect();
        // The fourth has never been used.
        assert_eq!(now, [7, 1, 7, 1, 9, 1, 5, 1]);
        records.start.store(0, Ordering::Release);
        program.mute(&records);
    }

    #[test]
    fn jumps_are_completed_and_removed() {
        let file = own();
        let program = Program(file.as_raw_fd());
        let area: Box<[u8]> = vec![0; 256].into();
        let list = area.as_ptr() as u64;
        let text: Box<[u8]> = (0..24).collect();
        let (base, original) = (text.as_ptr() as u64, text.to_vec());
        let mut memory = Memory::open(Path::new("/proc/self/mem")).unwrap();
        memory.begin_list(list).unwrap();
        for at in [2, 12] {
            memory.insert_trap(base + at).unwrap();
            let patch = TextPatch {
                jump: base + at,
                code: CODE.to_vec(),
                shared: 0,
            };
            assert!(memory.write_patch(base + at, patch).unwrap());
        }
        assert_eq!(program.count(list), 2);
        assert!(program.has_jumps(list));
        // As if juror had died while it removed the second.
        program.write(base + 12, &[TRAP]);
        program.complete(list, 0);
        program.complete(list, 1);
        let mut expected = original.clone();
        expected[2..7].copy_from_slice(&CODE);
        assert_eq!(present(program, &text), expected);
        // The program has written there since.
        program.write(base + 13, &[0x77]);
        program.complete(list, 1);
        program.remove_jumps(list);
        let mut expected = original;
        expected[13] = 0x77;
        assert_eq!(present(program, &text), expected);
        assert!(!program.has_jumps(list));
    }

    #[test]
    fn only_a_trap_is_replaced() {
        let file = own();
        let program = Program(file.as_raw_fd());
        let text: Box<[u8]> = vec![TRAP, 1].into();
        let base = text.as_ptr() as u64;
        for at in 0..2 {
            program.restore_trap(super::super::packed(base + at, 0x90));
        }
        program.restore_trap(0);
        assert_eq!(present(program, &text), [0x90, 1]);
    }
}
