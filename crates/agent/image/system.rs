//! System calls that are no points: made, or answered, if what they do can be put back.

use crate::kernel::{self, call};
use crate::memory;
use crate::protocol::*;
use crate::runs;
use crate::signals;
use crate::threads::{self, RAX, RSP, context};

/// `CLONE_VM` and `CLONE_THREAD`.
const OF_THREAD: u64 = 0x100 | 0x1_0000;
const SET_BASE: u64 = 0x8_0000;
const SET_PARENT_WORD: u64 = 0x10_0000;
const CLEARS_WORD: u64 = 0x20_0000;
const SET_CHILD_WORD: u64 = 0x100_0000;
const CLONE: u64 = 56;

const READ: u64 = 0;
const WRITE: u64 = 1;
const POLL: u64 = 7;
const WRITEV: u64 = 20;

/// The calls that may wait, as the shell by ptrace has them.
const WAITING: [u64; 31] = [
    0, 7, 19, 23, 34, 42, 43, 45, 47, 61, 70, 73, 128, 130, 65, 232, 220, 247, 270, 271, 281, 288,
    299, 1, 20, 44, 46, 69, 242, 243, 441,
];

/// Calls that change nothing but what they are given: `fstat`, `lseek`, `uname`, `getcwd`,
/// `gettimeofday`, `getrusage`, `sysinfo`, `times`, `getuid`, `getgid`, `geteuid`, `getegid`, `getppid`,
/// `time`, `clock_gettime`, `clock_getres`, `getcpu`, `getrandom`, `getpid`, `stat`,
/// `access`, `readlink`, `newfstatat`, `readlinkat`, `faccessat`, `statx`.
const HARMLESS: [u64; 26] = [
    5, 8, 63, 79, 96, 98, 99, 100, 102, 104, 107, 108, 110, 201, 228, 229, 309, 318, 39, 4, 21, 89,
    262, 267, 269, 332,
];

/// Returns whether a call may wait for something.
pub fn may_wait(number: u64) -> bool {
    WAITING.contains(&number)
}

/// Returns whether it is known that a call does not wait, and what it does can be put back: it writes to
/// the standard streams, which lead nowhere, or reads what the run has opened.
pub fn does_not_wait(number: u64, [first, _, third, ..]: [u64; 6]) -> bool {
    match number {
        WRITE | WRITEV => first == 1 || first == 2,
        READ => first == 0 || memory::has_opened(first),
        POLL => third as i32 == 0,
        _ => false,
    }
}

/// Returns whether a call reads what the kernel lists of the process, which is no point.
pub fn reads_listing(number: u64, file: u64) -> bool {
    number == READ && memory::is_listing(file)
}

/// Returns whether a path begins with these bytes.
fn begins_with(path: u64, expected: &[u8]) -> bool {
    // The end of a shorter path differs, and nothing behind it is read.
    let mut expected = expected.iter().enumerate();
    expected
        .all(|(number, byte)| memory::read_sized(path + number as u64, 1) == Some(u64::from(*byte)))
}

/// Opens a file, if it is only read. What the kernel tells of the process and its threads is not what it
/// would be by ptrace, but for the mappings of the program.
fn open(arguments: [u64; 6]) -> i64 {
    const OPENAT: u64 = 257;
    /// `O_ACCMODE`, `O_CREAT`, `O_TRUNC`, `O_DIRECTORY` and `O_PATH`.
    const CHANGES: u64 = 0o3 | 0o100 | 0o1000 | 0o200_000 | 0o10_000_000;
    let [_, path, flags, ..] = arguments;
    let is_listing = begins_with(path, b"/proc/");
    let is_of_process = begins_with(path, b"/proc/self")
        || begins_with(path, b"/proc/thread-self")
        || is_listing && memory::read_sized(path + 6, 1).is_some_and(|it| it < u64::from(b'A'));
    if flags & CHANGES != 0 || is_of_process && !begins_with(path, b"/proc/self/maps\0") {
        runs::give_up(REASON_CALL + OPENAT);
    }
    let result = pass(OPENAT, arguments);
    if result >= 0 {
        memory::note_file(result as u64, is_listing);
    }
    result
}

struct Clone {
    flags: u64,
    child_word: u64,
    parent_word: u64,
    stack: u64,
    base: u64,
}

fn clone_of(index: usize) -> Clone {
    let context = context(index);
    let [first, second, third, fourth, fifth, _] = context.arguments;
    if context.number == CLONE {
        return Clone {
            flags: first,
            child_word: fourth,
            parent_word: third,
            stack: second,
            base: fifth,
        };
    }
    let field = |offset| memory::read_u64(first + offset);
    Clone {
        flags: field(0),
        child_word: field(16),
        parent_word: field(24),
        stack: field(40) + field(48),
        base: field(56),
    }
}

/// Returns whether the call at which a thread stands makes a thread.
pub fn makes_thread(index: usize) -> bool {
    clone_of(index).flags & OF_THREAD == OF_THREAD
}

/// Makes the thread for which another one asks. Returns its index, and the word that is cleared when it
/// ends.
pub fn clone_thread(index: usize) -> (usize, u64) {
    let clone = clone_of(index);
    let child = threads::make();
    let parent = context(index);
    let new = context(child);
    // The parent is not loaded if another one has run since.
    if threads::current() == index {
        threads::save_rest(parent);
        parent.base = threads::base();
        parent.other_base = threads::other_base();
    }
    new.frame = parent.frame;
    new.rest = parent.rest;
    new.mask = parent.mask;
    new.other_base = parent.other_base;
    new.frame.general[RAX] = 0;
    if clone.stack != 0 {
        new.frame.general[RSP] = clone.stack;
    }
    new.base = match clone.flags & SET_BASE {
        0 => parent.base,
        _ => clone.base,
    };
    if clone.flags & SET_PARENT_WORD != 0 {
        memory::write_u32(clone.parent_word, new.id);
    }
    if clone.flags & SET_CHILD_WORD != 0 {
        memory::write_u32(clone.child_word, new.id);
    }
    crate::orders::finish(index, i64::from(new.id));
    let clears = clone.flags & CLEARS_WORD != 0;
    (child, if clears { clone.child_word } else { 0 })
}

fn pass(number: u64, arguments: [u64; 6]) -> i64 {
    // SAFETY: the program asks for it, and what it does can be put back.
    unsafe { call(number, arguments) }
}

/// Makes or answers a call.
pub fn execute(index: usize, number: u64, arguments: [u64; 6]) -> i64 {
    const MMAP: u64 = 9;
    const MPROTECT: u64 = 10;
    const IOCTL: u64 = 16;
    const MREMAP: u64 = 25;
    const FCNTL: u64 = 72;
    const ARCH_PRCTL: u64 = 158;
    const GETTID: u64 = 186;
    const SET_TID_ADDRESS: u64 = 218;
    const OPENAT: u64 = 257;
    const SET_ROBUST_LIST: u64 = 273;
    const SCHED_GETPARAM: u64 = 143;
    const SCHED_GETSCHEDULER: u64 = 145;
    const SCHED_GETAFFINITY: u64 = 204;
    const PRLIMIT: u64 = 302;
    const MEMBARRIER: u64 = 324;
    const PREAD: u64 = 17;
    let [first, second, third, fourth, ..] = arguments;
    let refuse = || -> ! { runs::give_up(REASON_CALL + number) };
    match number {
        WRITE | WRITEV | READ | POLL => pass(number, arguments),
        PREAD if memory::has_opened(first) => pass(number, arguments),
        MMAP => map(arguments),
        kernel::MUNMAP if memory::is_new(first, second) => {
            memory::forget_map(first, second);
            pass(number, arguments)
        }
        MPROTECT if memory::may_protect(first, second) => pass(number, arguments),
        kernel::MADVISE if memory::is_new(first, second) => pass(number, arguments),
        MREMAP if memory::is_new(first, second) && fourth & !1 == 0 => {
            let result = pass(number, arguments);
            if result > 0 {
                memory::forget_map(first, second);
                memory::note_map(result as u64, third);
            }
            result
        }
        kernel::BRK => {
            memory::note_heap();
            pass(number, arguments)
        }
        kernel::RT_SIGACTION => signals::act(first, second, third),
        kernel::RT_SIGPROCMASK => mask(index, arguments),
        kernel::SIGALTSTACK => signal_stack(index, first, second),
        SET_ROBUST_LIST => {
            context(index).robust_list = first;
            0
        }
        kernel::RSEQ | MEMBARRIER => 0,
        kernel::PRCTL if first == 15 => 0,
        ARCH_PRCTL if first == 0x1002 => {
            threads::set_base(second);
            0
        }
        GETTID | SET_TID_ADDRESS => i64::from(context(index).id),
        OPENAT => open(arguments),
        kernel::CLOSE if memory::has_opened(first) => {
            memory::forget_file(first);
            pass(number, arguments)
        }
        // `TCGETS`, `F_GETFD` and `F_GETFL`.
        IOCTL if second == 0x5401 => pass(number, arguments),
        FCNTL if second == 1 || second == 3 => pass(number, arguments),
        PRLIMIT if third == 0 => pass(number, arguments),
        SCHED_GETPARAM | SCHED_GETSCHEDULER | SCHED_GETAFFINITY => {
            // The kernel knows one thread only.
            let is_own =
                (0..threads::count()).any(|it| u64::from(threads::context(it).id) == first);
            let first = if is_own { 0 } else { first };
            pass(number, [first, second, third, fourth, 0, 0])
        }
        number if HARMLESS.contains(&number) => pass(number, arguments),
        _ => refuse(),
    }
}

fn map(arguments: [u64; 6]) -> i64 {
    const MMAP: u64 = 9;
    const SHARED: u64 = 1;
    const FIXED: u64 = 0x10;
    let [first, second, third, fourth, file, _] = arguments;
    let is_fixed = fourth & FIXED != 0;
    let is_refused = is_fixed && !memory::is_new(first, second)
        || fourth & SHARED != 0 && file as i32 >= 0 && third & 2 != 0;
    if is_refused {
        runs::give_up(REASON_CALL + MMAP);
    }
    let result = pass(MMAP, arguments);
    if result > 0 {
        memory::forget_map(result as u64, second);
        memory::note_map(result as u64, second);
    }
    result
}

/// The mask of blocked signals of a thread (rt_sigprocmask(2)).
fn mask(index: usize, [way, new, old, ..]: [u64; 6]) -> i64 {
    const INVALID: i64 = -22;
    let context = context(index);
    let before = context.mask;
    if new != 0 {
        let new = memory::read_u64(new);
        context.mask = match way {
            0 => before | new,
            1 => before & !new,
            2 => new,
            _ => return INVALID,
        };
    }
    if old != 0 {
        // SAFETY: the program has given the address.
        unsafe { (old as *mut u64).write_unaligned(before) };
    }
    0
}

fn signal_stack(index: usize, new: u64, old: u64) -> i64 {
    let context = context(index);
    let before = context.signal_stack;
    if new != 0 {
        for (number, word) in context.signal_stack.iter_mut().enumerate() {
            *word = memory::read_u64(new + number as u64 * 8);
        }
    }
    if old != 0 {
        for (number, word) in before.iter().enumerate() {
            // SAFETY: the program has given the address.
            unsafe { ((old + number as u64 * 8) as *mut u64).write_unaligned(*word) };
        }
    }
    0
}
