//! The calls that a program records itself: they never wait for another thread or the world, do the same
//! whether they stop or not, and it is known what the kernel writes for them.
//!
//! Each is also one of those that stop, so that it is fed when the run is made again.

use super::layout::{
    CLOSES, IS_RECORDED, NEEDS_ANONYMOUS, NEEDS_COMMAND, NEEDS_FILE, NEEDS_QUESTION, NUMBERS,
};

/// The memory that the kernel writes for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    None,
    /// To this argument (from 0) so many bytes.
    Fixed(u8, u16),
    /// To each of these two.
    Two((u8, u16), (u8, u16)),
    /// To this argument as many bytes as the result says, at most as the other one.
    Counted(u8, u8),
}

use Output::{Counted, Fixed, None, Two};

/// Numbers, what they need, what is written.
const CALLS: &[(&[u64], u64, Output)] = &[
    // lseek, munmap, brk, access, getpid, getuid, getgid, geteuid, getegid, getppid, getpgrp, getpgid,
    // getsid, gettid, fadvise64, faccessat, faccessat2.
    (
        &[
            8, 11, 12, 21, 39, 102, 104, 107, 108, 110, 111, 121, 124, 186, 221, 269, 439,
        ],
        0,
        None,
    ),
    // read, pread64, getdents64.
    (&[0, 17, 217], NEEDS_FILE, Counted(1, 2)),
    // write, pwrite64, writev.
    (&[1, 18, 20], NEEDS_FILE, None),
    // stat, fstat, lstat; newfstatat; statx; statfs, fstatfs.
    (&[4, 5, 6], 0, Fixed(1, 144)),
    (&[262], 0, Fixed(2, 144)),
    (&[332], 0, Fixed(4, 256)),
    (&[137, 138], 0, Fixed(1, 120)),
    // readlink; readlinkat; getcwd, getrandom.
    (&[89], 0, Counted(1, 2)),
    (&[267], 0, Counted(2, 3)),
    (&[79, 318], 0, Counted(0, 1)),
    // clock_gettime, clock_getres, getrlimit; gettimeofday; time; times.
    (&[228, 229, 97], 0, Fixed(1, 16)),
    (&[96], 0, Two((0, 16), (1, 8))),
    (&[201], 0, Fixed(0, 8)),
    (&[100], 0, Fixed(0, 32)),
    // uname; sysinfo; getrusage; prlimit64; getcpu.
    (&[63], 0, Fixed(0, 390)),
    (&[99], 0, Fixed(0, 112)),
    (&[98], 0, Fixed(1, 144)),
    (&[302], 0, Fixed(3, 16)),
    (&[309], 0, Two((0, 4), (1, 4))),
    (&[72], NEEDS_COMMAND, None),
    (&[9], NEEDS_ANONYMOUS, None),
    // rename, mkdir, rmdir, unlink, chmod, umask, mkdirat, unlinkat.
    (&[82, 83, 84, 87, 90, 95, 258, 263], 0, None),
    // fsync, fdatasync, ftruncate, fchmod, fchown.
    (&[74, 75, 77, 91, 93], NEEDS_FILE, None),
    // ioctl, close.
    (&[16], NEEDS_FILE | NEEDS_QUESTION, None),
    (&[3], NEEDS_FILE | CLOSES, None),
];

/// The word of a call that is not recorded.
pub const REFUSED: u64 = 0;

/// Returns whether the program records a call itself, in some cases at least.
pub fn is_recorded(number: u64) -> bool {
    CALLS.iter().any(|(numbers, ..)| numbers.contains(&number))
}

/// Returns the table as the image reads it.
pub fn table() -> Vec<u64> {
    let word = |number| {
        let mut calls = CALLS.iter();
        let call = calls.find(|(numbers, ..)| numbers.contains(&number));
        call.map_or(REFUSED, |(_, needs, output)| word(*needs, *output))
    };
    (0..NUMBERS).map(word).collect()
}

fn word(needs: u64, output: Output) -> u64 {
    let argument = |number: u8, at: u32| u64::from(number + 1) << at;
    let written = match output {
        None => 0,
        Fixed(first, length) => argument(first, 8) | u64::from(length) << 32,
        Two((first, length), (second, other)) => {
            let lengths = u64::from(length) << 32 | u64::from(other) << 48;
            argument(first, 8) | argument(second, 16) | lengths
        }
        Counted(first, count) => argument(first, 8) | argument(count, 24),
    };
    IS_RECORDED | needs | written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_what_is_written() {
        let table = table();
        assert_eq!(table.len() as u64, NUMBERS);
        assert_eq!(table[39], IS_RECORDED);
        assert_eq!(table[0], IS_RECORDED | NEEDS_FILE | 2 << 8 | 3 << 24);
        assert_eq!(table[228], IS_RECORDED | 2 << 8 | 16 << 32);
        let two = 1 << 8 | 2 << 16 | 16 << 32 | 8 << 48;
        assert_eq!(table[96], IS_RECORDED | two);
        // futex and openat.
        assert_eq!((table[202], table[257]), (REFUSED, REFUSED));
    }

    #[test]
    fn each_call_is_listed_once_and_fits_an_entry() {
        let mut all: Vec<u64> = Vec::new();
        for (numbers, _, output) in CALLS {
            all.extend(*numbers);
            let most = match output {
                None | Counted(..) => 0,
                Fixed(_, length) => *length,
                Two((_, first), (_, second)) => first + second,
            };
            assert!(u64::from(most) + 80 + 16 < crate::recording::layout::ENTRY_MOST);
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
