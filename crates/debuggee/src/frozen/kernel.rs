//! Requests about a task that is to be made again, and about its descriptors.
//!
//! Invariant: as in `crate::kernel`, nothing here interprets what it carries.

use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use libc::{c_long, siginfo_t};
use nix::errno::Errno;

use crate::kernel::{self, Outcome};

pub(super) use crate::kernel::process_descriptors::{descriptor_of, open_process};

/// The area that a thread has registered for its restartable sequences.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RestartableSequences {
    pub(super) area: u64,
    pub(super) length: u32,
    pub(super) signature: u32,
    flags: u32,
    padding: u32,
}

/// Returns the restartable-sequences area of a stopped thread, if it has one.
pub(super) fn restartable_sequences(thread: u32) -> Option<RestartableSequences> {
    /// `PTRACE_GET_RSEQ_CONFIGURATION`, which libc does not name.
    const GET_CONFIGURATION: u32 = 0x420f;
    let length = size_of::<RestartableSequences>();
    let found: RestartableSequences = kernel::fetch(GET_CONFIGURATION, thread, length).ok()?;
    (found.area != 0).then_some(found)
}

/// Returns the head of the list of a thread's robust mutexes; 0 for none.
pub(super) fn robust_list(thread: u32) -> u64 {
    let (mut head, mut length) = (0_u64, 0_usize);
    // SAFETY: the kernel stores an address and a length at the two pointers,
    // which are those of live integers of these sizes.
    let result = unsafe {
        libc::syscall(
            libc::SYS_get_robust_list,
            c_long::from(thread),
            &raw mut head,
            &raw mut length,
        )
    };
    match Errno::result(result) {
        Ok(_) => head,
        Err(_) => 0,
    }
}

/// Returns the signals pending for a stopped thread; with `of_process`, those
/// pending for any thread of its process.
pub(super) fn waiting_signals(thread: u32, of_process: bool) -> Vec<siginfo_t> {
    const AT_ONCE: usize = 16;
    let mut found = Vec::new();
    loop {
        let arguments = libc::ptrace_peeksiginfo_args {
            off: found.len() as u64,
            flags: u32::from(of_process),
            nr: AT_ONCE as i32,
        };
        // SAFETY: all zeroes is a `siginfo_t`.
        let mut some: [siginfo_t; AT_ONCE] = unsafe { mem::zeroed() };
        let count = kernel::request(
            libc::PTRACE_PEEKSIGINFO,
            thread,
            ptr::from_ref(&arguments).expose_provenance(),
            some.as_mut_ptr().expose_provenance(),
        );
        let count = count.unwrap_or(0).max(0) as usize;
        found.extend(some.into_iter().take(count));
        if count < AT_ONCE {
            return found;
        }
    }
}

/// Returns the bytes of a signal's information, to pass to the kernel again.
pub(crate) fn bytes_of(information: &siginfo_t) -> Vec<u8> {
    let start = ptr::from_ref(information).cast::<u8>();
    // SAFETY: `siginfo_t` is a plain C structure of which every byte has been
    // set: it was zeroed before the kernel filled it in.
    unsafe { std::slice::from_raw_parts(start, size_of::<siginfo_t>()) }.to_vec()
}

/// Returns the bytes in a pipe, which stay there.
pub(super) fn peek_pipe(pipe: &OwnedFd) -> Outcome<Vec<u8>> {
    let mut ends = [0; 2];
    // SAFETY: the kernel stores two descriptors into the live array.
    Errno::result(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) })?;
    // SAFETY: the kernel has just made these descriptors for us alone.
    let [reading, writing] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    // SAFETY: requests about open descriptors, on plain numbers.
    let copied = unsafe {
        let length = Errno::result(libc::fcntl(pipe.as_raw_fd(), libc::F_GETPIPE_SZ))?;
        Errno::result(libc::fcntl(writing.as_raw_fd(), libc::F_SETPIPE_SZ, length))?;
        let (from, to) = (pipe.as_raw_fd(), writing.as_raw_fd());
        Errno::result(libc::tee(
            from,
            to,
            length as usize,
            libc::SPLICE_F_NONBLOCK,
        ))
    };
    match copied {
        Ok(_) => {}
        Err(Errno::EAGAIN) => return Ok(Vec::new()),
        Err(errno) => return Err(errno),
    }
    drop(writing);
    let mut bytes = Vec::new();
    let read = std::io::Read::read_to_end(&mut std::fs::File::from(reading), &mut bytes);
    let failed = |error: std::io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO));
    read.map_err(failed)?;
    Ok(bytes)
}

/// Sets a timer that is a descriptor: seconds and nanoseconds of its interval
/// and of its next expiry, with the flags of `timerfd_settime`.
pub(super) fn set_timer(descriptor: &OwnedFd, flags: i32, times: [i64; 4]) -> Outcome<()> {
    let [interval_s, interval_ns, value_s, value_ns] = times;
    let time = |tv_sec, tv_nsec| libc::timespec { tv_sec, tv_nsec };
    let new = libc::itimerspec {
        it_interval: time(interval_s, interval_ns),
        it_value: time(value_s, value_ns),
    };
    // SAFETY: `new` is a live structure that the call only reads.
    let result = unsafe {
        libc::timerfd_settime(
            descriptor.as_raw_fd(),
            flags,
            &raw const new,
            ptr::null_mut(),
        )
    };
    Errno::result(result).map(drop)
}

/// The argument of `PAGEMAP_SCAN`, which also returns results.
#[repr(C)]
struct Scan {
    length: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    region_count: u64,
    pages_max: u64,
    category_inverted: u64,
    category_mask: u64,
    category_any: u64,
    return_mask: u64,
}

/// Returns true if a range of a process, by its `pagemap`, has a page that is
/// neither that of a file nor the zero page.
pub(super) fn has_own_page(pagemap: &std::fs::File, range: &std::ops::Range<u64>) -> Outcome<bool> {
    /// `_IOWR('f', 16, struct pm_scan_arg)`, which libc does not name.
    const SCAN: libc::c_ulong = 0xc060_6610;
    const OF_FILE: u64 = 1 << 2;
    const PRESENT: u64 = 1 << 3;
    const SWAPPED: u64 = 1 << 4;
    const ZERO: u64 = 1 << 5;
    // Start, end and categories.
    let mut region = [0_u64; 3];
    let mut scan = Scan {
        length: size_of::<Scan>() as u64,
        flags: 0,
        start: range.start,
        end: range.end,
        walk_end: 0,
        regions: region.as_mut_ptr().expose_provenance() as u64,
        region_count: 1,
        pages_max: 1,
        category_inverted: OF_FILE | ZERO,
        category_mask: OF_FILE | ZERO,
        category_any: PRESENT | SWAPPED,
        return_mask: PRESENT,
    };
    // SAFETY: the kernel reads and writes the live structure, whose length it is
    // told, and stores at most one region of three words in the live array.
    let count = unsafe { libc::ioctl(pagemap.as_raw_fd(), SCAN, &raw mut scan) };
    Errno::result(count).map(|count| count > 0)
}
