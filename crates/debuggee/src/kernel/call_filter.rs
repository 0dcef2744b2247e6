//! The filter by which only some system calls of a launched program stop.
//!
//! A seccomp filter is installed in the new process before it executes the program, and every
//! process that it makes inherits it. It returns `SECCOMP_RET_TRACE` for the named calls, which
//! then stop for the tracer; without a tracer they would fail with `ENOSYS`, so a process with the
//! filter is never released to run alone (`processes::keeper`). The kernel finds out which calls the filter
//! always allows, and does not run it for them.
//!
//! Pure, but for the look at juror's own process. Invariant: a call whose numbers are not those of
//! 64-bit programs is allowed, and so is one that the kernel emulates on its own page (`vsyscall`),
//! which has no exit.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use libc::{sock_filter, sock_fprog};
use nix::errno::Errno;

use crate::kernel;
use crate::kernel::process_status::ProcessStatus;

/// How many calls a filter may name: the kernel takes 4096 instructions.
const CALLS_MAX: usize = 500;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const COUNTER_LOW: u32 = 8;
const COUNTER_HIGH: u32 = 12;
const FIRST_ARGUMENT: u32 = 16;

/// The upper half of the addresses of the kernel's page.
const KERNEL_PAGE_HIGH: u32 = u32::MAX;
/// The calls that the kernel emulates there.
const EMULATED: [u64; 3] = [
    libc::SYS_gettimeofday as u64,
    libc::SYS_time as u64,
    libc::SYS_getcpu as u64,
];

/// Which system calls of a launched program stop, if none is requested otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CallStops {
    /// Every call, while any is requested; the reason, for the user.
    #[default]
    Unfiltered,
    /// As before, for this reason.
    Every(String),
    /// Only the calls of a filter, if it can be installed.
    Filter(BTreeSet<u64>),
    /// Only the calls of a filter; the launch fails if it cannot be installed.
    FilterOnly(BTreeSet<u64>),
    /// As before, but for those of one instruction of juror's: the address behind it.
    FilterBut {
        /// The calls of the filter.
        calls: BTreeSet<u64>,
        /// The address behind the instruction whose calls never stop.
        passing: u64,
    },
}

impl CallStops {
    /// Returns the calls of the filter that is to be installed.
    pub(crate) fn filtered(&self) -> Option<&BTreeSet<u64>> {
        match self {
            CallStops::Filter(calls)
            | CallStops::FilterOnly(calls)
            | CallStops::FilterBut { calls, .. } => Some(calls),
            CallStops::Unfiltered | CallStops::Every(_) => None,
        }
    }

    /// Returns true if there must be a filter.
    pub(crate) fn is_required(&self) -> bool {
        matches!(self, CallStops::FilterOnly(_) | CallStops::FilterBut { .. })
    }

    /// Returns the address behind the instruction whose calls never stop.
    pub(crate) fn passing(&self) -> Option<u64> {
        match self {
            CallStops::FilterBut { passing, .. } => Some(*passing),
            _ => None,
        }
    }
}

/// A filter that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallFilter {
    /// The calls that it names.
    pub(crate) calls: BTreeSet<u64>,
    /// Whether the process had to give up further privileges for it.
    pub(crate) costs_privileges: bool,
}

/// Returns why no filter can be installed, or not all calls of the program would be seen with it.
pub(crate) fn obstacle(calls: &BTreeSet<u64>) -> Option<&'static str> {
    let own = ProcessStatus::of_process(std::process::id());
    if calls.len() > CALLS_MAX {
        return Some("too many system calls are named");
    }
    if own.is_some_and(|own| own.seccomp_filters > 0) {
        return Some("juror itself runs under a seccomp filter, as in a container");
    }
    if !counts_filters() {
        return Some("this kernel does not count the filters of a process");
    }
    None
}

/// Returns true if the kernel says how many filters a process has.
fn counts_filters() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.contains("\nSeccomp_filters:")
}

/// Returns the filter that names these calls, and those by which the program installs its own. Calls of
/// the instruction before `passing` are allowed.
///
/// The numbers are compared by ranges: each call of the program runs the filter.
pub(crate) fn program(calls: &BTreeSet<u64>, passing: Option<u64>) -> Vec<sock_filter> {
    let mut code = vec![
        load(ARCHITECTURE),
        unless_equal(kernel::AUDIT_ARCH_X86_64, 1),
        jump(1),
        allow(),
    ];
    if let Some(address) = passing {
        code.extend([
            load(COUNTER_LOW),
            unless_equal(address as u32, 3),
            load(COUNTER_HIGH),
            unless_equal((address >> 32) as u32, 1),
            allow(),
        ]);
    }
    code.push(load(NUMBER));
    let numbers = calls.iter().filter_map(|it| u32::try_from(*it).ok());
    for range in ranges(numbers.clone().filter(|it| !is_emulated(*it))) {
        let (first, last) = (*range.start(), *range.end());
        if first == last {
            code.extend([unless_equal(first, 1), trace()]);
        } else {
            code.extend([unless_at_least(first, 2), if_above(last, 1), trace()]);
        }
    }
    for number in numbers.filter(|it| is_emulated(*it)) {
        code.extend([
            unless_equal(number, 4),
            load(COUNTER_HIGH),
            unless_equal(KERNEL_PAGE_HIGH, 1),
            allow(),
            trace(),
        ]);
    }
    let installs = libc::SYS_prctl as u64;
    if !calls.contains(&installs) {
        code.extend([
            unless_equal(installs as u32, 4),
            load(FIRST_ARGUMENT),
            unless_equal(libc::PR_SET_SECCOMP as u32, 1),
            trace(),
            allow(),
        ]);
    }
    code.extend([unless_equal(libc::SYS_seccomp as u32, 1), trace(), allow()]);
    code
}

fn is_emulated(number: u32) -> bool {
    EMULATED.contains(&number.into())
}

/// Returns the longest ranges of ascending numbers.
fn ranges(numbers: impl Iterator<Item = u32>) -> Vec<RangeInclusive<u32>> {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(number) => {
                *last = *last.start()..=number;
            }
            _ => ranges.push(number..=number),
        }
    }
    ranges
}

fn statement(code: u32, value: u32) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k: value,
    }
}

fn load(offset: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn jump(count: u32) -> sock_filter {
    statement(libc::BPF_JMP | libc::BPF_JA, count)
}

/// Skips `count` instructions unless the loaded word is this one.
fn unless_equal(word: u32, count: u8) -> sock_filter {
    sock_filter {
        jf: count,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, word)
    }
}

/// Skips `count` instructions unless the loaded word is this one or above.
fn unless_at_least(word: u32, count: u8) -> sock_filter {
    sock_filter {
        jf: count,
        ..statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, word)
    }
}

/// Skips `count` instructions if the loaded word is above this one.
fn if_above(word: u32, count: u8) -> sock_filter {
    sock_filter {
        jt: count,
        ..statement(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, word)
    }
}

fn allow() -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW)
}

fn trace() -> sock_filter {
    statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_TRACE | u32::from(MARK),
    )
}

/// The data of the filter's stops, which tells them from those of a filter of the program's own.
pub(crate) const MARK: u16 = 0x6a75;

/// Installs a filter in this process. Without privileges it needs `no_new_privs`, which changes
/// what programs with a set-user-id bit do.
///
/// # Safety
/// Only between `fork` and `exec`.
pub(crate) unsafe fn install(code: &[sock_filter]) -> Result<(), Errno> {
    let described = sock_fprog {
        len: code.len() as u16,
        filter: code.as_ptr().cast_mut(),
    };
    // SAFETY: system calls on plain numbers and on a live description of a live slice, which
    // they only read.
    unsafe {
        let set = || {
            let set = libc::c_long::from(libc::SECCOMP_SET_MODE_FILTER);
            Errno::result(libc::syscall(
                libc::SYS_seccomp,
                set,
                0,
                &raw const described,
            ))
        };
        if set().is_ok() {
            return Ok(());
        }
        Errno::result(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        set().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the filter for a call, and returns its result: the kernel's interpreter, as far as
    /// the filter needs it.
    fn answer(code: &[sock_filter], words: &[(u32, u32)]) -> u32 {
        let (mut at, mut word) = (0, 0);
        loop {
            let it = code[at];
            at += 1;
            match u32::from(it.code) {
                code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                    let found = words.iter().find(|(offset, _)| *offset == it.k);
                    word = found.map_or(0, |(_, word)| *word);
                }
                code if code == libc::BPF_JMP | libc::BPF_JA => at += it.k as usize,
                code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => {
                    at += usize::from(if word == it.k { it.jt } else { it.jf });
                }
                code if code == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K => {
                    at += usize::from(if word >= it.k { it.jt } else { it.jf });
                }
                code if code == libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K => {
                    at += usize::from(if word > it.k { it.jt } else { it.jf });
                }
                _ => return it.k,
            }
        }
    }

    #[test]
    fn exactly_the_named_calls_stop() {
        let calls: BTreeSet<u64> = [0, 1, 2, 7, 8, 39, 200, 201, 202, u64::MAX].into();
        let code = program(&calls, None);
        let traced = libc::SECCOMP_RET_TRACE | u32::from(MARK);
        let wide = kernel::AUDIT_ARCH_X86_64;
        for number in 0..1000 {
            let is_named = calls.contains(&u64::from(number)) || number == 317;
            let words = [(NUMBER, number), (ARCHITECTURE, wide)];
            let expected = if is_named {
                traced
            } else {
                libc::SECCOMP_RET_ALLOW
            };
            assert_eq!(answer(&code, &words), expected, "{number}");
            // Programs of 32 bits, and the x32 calls.
            let narrow = [(NUMBER, number), (ARCHITECTURE, 0x4000_0003)];
            assert_eq!(answer(&code, &narrow), libc::SECCOMP_RET_ALLOW);
            let x32 = [(NUMBER, number | 0x4000_0000), (ARCHITECTURE, wide)];
            assert_eq!(answer(&code, &x32), libc::SECCOMP_RET_ALLOW);
        }
    }

    #[test]
    fn emulated_calls_and_other_options_of_prctl_pass() {
        let wide = (ARCHITECTURE, kernel::AUDIT_ARCH_X86_64);
        let traced = libc::SECCOMP_RET_TRACE | u32::from(MARK);
        let code = program(&[201].into(), None);
        let on_page = [(NUMBER, 201), wide, (COUNTER_HIGH, KERNEL_PAGE_HIGH)];
        assert_eq!(answer(&code, &on_page), libc::SECCOMP_RET_ALLOW);
        let elsewhere = [(NUMBER, 201), wide, (COUNTER_HIGH, 0x7fff)];
        assert_eq!(answer(&code, &elsewhere), traced);
        let sets = |option| [(NUMBER, 157), wide, (FIRST_ARGUMENT, option)];
        assert_eq!(answer(&code, &sets(22)), traced);
        assert_eq!(answer(&code, &sets(15)), libc::SECCOMP_RET_ALLOW);
        let named = program(&[157].into(), None);
        assert_eq!(answer(&named, &sets(15)), traced);
    }

    #[test]
    fn a_filter_with_all_calls_has_room() {
        let all: BTreeSet<u64> = (0..CALLS_MAX as u64).collect();
        assert!(program(&all, None).len() < 4096);
        let apart: BTreeSet<u64> = (0..CALLS_MAX as u64).map(|it| it * 2).collect();
        assert!(program(&apart, Some(1 << 45)).len() < 4096);
    }

    #[test]
    fn the_calls_of_one_instruction_pass() {
        let wide = (ARCHITECTURE, kernel::AUDIT_ARCH_X86_64);
        let traced = libc::SECCOMP_RET_TRACE | u32::from(MARK);
        let code = program(&[0, 201].into(), Some(0x2100_0000_1012));
        for number in [0, 201] {
            for (low, high, expected) in [
                (0x1012, 0x2100, libc::SECCOMP_RET_ALLOW),
                (0x1012, 0x2101, traced),
                (0x1010, 0x2100, traced),
            ] {
                let words = [
                    (NUMBER, number),
                    wide,
                    (COUNTER_LOW, low),
                    (COUNTER_HIGH, high),
                ];
                assert_eq!(answer(&code, &words), expected, "{number} {low:x} {high:x}");
            }
        }
    }
}
