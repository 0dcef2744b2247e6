//! Memory that juror and the debuggee share.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

/// Memory of 64-bit words that is mapped here and in the debuggee. Clones share
/// it; it stays when the debuggee has ended.
///
/// It is a file that is shorter than its mapping here, and grows. So the kernel allocates
/// no more than what is used, also if the program locks its memory (mlockall(2)). The
/// mapping in the debuggee is made longer when the file has grown, so that it does not
/// count for the program's limits (setrlimit(2)).
///
/// Invariant: no word behind the end of the file is read or written, which would be
/// `SIGBUS`.
#[derive(Debug, Clone)]
pub struct SharedMemory {
    mapping: Arc<Mapping>,
    /// Its address in the debuggee.
    address: u64,
}

#[derive(Debug)]
struct Mapping {
    file: File,
    start: NonNull<AtomicU64>,
    /// The size of the mapping here in bytes.
    mapped: NonZeroUsize,
    /// The number of words in the file.
    words: AtomicUsize,
}

// SAFETY: the words are atomic, and the mapping lives as long as the value.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl SharedMemory {
    /// Maps an empty file, which can grow to this many bytes. The debuggee has the start of it
    /// mapped at `address`.
    pub(super) fn map(file: File, bytes: u64, address: u64) -> io::Result<SharedMemory> {
        let length = usize::try_from(bytes).ok().and_then(NonZeroUsize::new);
        let length = length.ok_or(io::ErrorKind::InvalidInput)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_NORESERVE;
        // SAFETY: a new mapping, at an address that the kernel chooses, of a file that
        // no other code of this process maps.
        let start = unsafe { mmap(None, length, access, flags, file.as_fd(), 0) }?;
        Ok(SharedMemory {
            mapping: Arc::new(Mapping {
                file,
                start: start.cast(),
                mapped: length,
                words: AtomicUsize::new(0),
            }),
            address,
        })
    }

    /// Makes room for this many bytes in all; new words are 0. Returns false if they are
    /// more than the mapping has, or the kernel refuses them. The debuggee has them when its
    /// mapping has been made longer ([`crate::Debuggee::lengthen_memory`]).
    pub fn reserve(&self, bytes: u64) -> bool {
        /// The file grows by multiples of it.
        const STEP: usize = 1 << 16;
        let Ok(bytes) = usize::try_from(bytes) else {
            return false;
        };
        if bytes <= self.mapping.words.load(Ordering::Acquire) * 8 {
            return true;
        }
        let mapped = self.mapping.mapped.get();
        let length = bytes.checked_next_multiple_of(STEP).unwrap_or(mapped);
        let length = length.min(mapped);
        if bytes > length || self.mapping.file.set_len(length as u64).is_err() {
            return false;
        }
        self.mapping.words.store(length / 8, Ordering::Release);
        true
    }

    /// Returns the address in the debuggee.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the number of bytes that there are.
    pub fn used(&self) -> u64 {
        self.mapping.words.load(Ordering::Acquire) as u64 * 8
    }

    /// Returns the word at an offset in bytes; none beyond the end.
    #[inline]
    pub fn word(&self, offset: u64) -> Option<&AtomicU64> {
        let index = usize::try_from(offset / 8).ok()?;
        if index >= self.mapping.words.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the index is within the mapping, which lives as long as `self`, and within
        // the file, which never shrinks; its start is page-aligned, and all access is atomic.
        Some(unsafe { self.mapping.start.add(index).as_ref() })
    }

    /// Returns the contents of a word; 0 beyond the end.
    #[inline]
    pub fn load(&self, offset: u64) -> u64 {
        self.word(offset)
            .map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// Waits until the lower half of a word is no longer `present`, or the time is over, or for no
    /// reason.
    pub fn wait(&self, offset: u64, present: u32, time: Duration) {
        let Some(word) = self.word(offset) else {
            return;
        };
        let time = libc::timespec {
            tv_sec: time.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(time.subsec_nanos()),
        };
        // SAFETY: the kernel reads the word and the time, which live.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT,
                present,
                &raw const time,
            );
        }
    }

    /// Wakes who waits for a word.
    pub fn wake(&self, offset: u64) {
        if let Some(word) = self.word(offset) {
            // SAFETY: the kernel uses the address of a live word.
            unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
        }
    }

    /// Sets a word, if it exists.
    #[inline]
    pub fn store(&self, offset: u64, contents: u64) {
        if let Some(word) = self.word(offset) {
            word.store(contents, Ordering::Release);
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `SharedMemory::map`, and no reference into it
        // outlives the value.
        let _ = unsafe { munmap(self.start.cast(), self.mapped.get()) };
    }
}
