//! System calls of the agent itself, and the functions that the compiler takes for granted.

use core::arch::asm;

pub const MUNMAP: u64 = 11;
pub const BRK: u64 = 12;
pub const CLOSE: u64 = 3;
pub const RT_SIGACTION: u64 = 13;
pub const RT_SIGPROCMASK: u64 = 14;
pub const MADVISE: u64 = 28;
pub const MINCORE: u64 = 27;
pub const SIGALTSTACK: u64 = 131;
pub const PRCTL: u64 = 157;
pub const FUTEX: u64 = 202;
pub const CLOCK_GETTIME: u64 = 228;
pub const EXIT_GROUP: u64 = 231;
pub const RSEQ: u64 = 334;

/// Makes a system call.
///
/// # Safety
/// What the kernel does to the memory is as the caller wants it.
pub unsafe fn call(number: u64, arguments: [u64; 6]) -> i64 {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    let result;
    // SAFETY: the kernel changes `rcx`, `r11` and `rax`, and what the call asks for.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") first, in("rsi") second, in("rdx") third,
            in("r10") fourth, in("r8") fifth, in("r9") sixth,
            lateout("rcx") _, lateout("r11") _, options(nostack)
        );
    }
    result
}

/// Returns the time of a clock in nanoseconds.
pub fn clock(number: u64) -> u64 {
    let mut time = [0_u64; 2];
    // SAFETY: the kernel writes two words.
    let _ = unsafe {
        call(
            CLOCK_GETTIME,
            [number, time.as_mut_ptr() as u64, 0, 0, 0, 0],
        )
    };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// Copies bytes.
///
/// # Safety
/// As `core::ptr::copy_nonoverlapping`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    to
}

/// Copies bytes that may overlap.
///
/// # Safety
/// As `core::ptr::copy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe {
        if (to as usize).wrapping_sub(from as usize) >= count {
            return memcpy(to, from, count);
        }
        asm!("std", "rep movsb", "cld", inout("rcx") count => _,
            inout("rdi") to.wrapping_add(count).wrapping_sub(1) => _,
            inout("rsi") from.wrapping_add(count).wrapping_sub(1) => _, options(nostack));
    }
    to
}

/// Sets bytes.
///
/// # Safety
/// As `core::ptr::write_bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe {
        asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("al") value as u8,
            options(nostack, preserves_flags));
    }
    to
}

/// Compares bytes.
///
/// # Safety
/// Both have this many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    let mut at = 0;
    while at < count {
        // SAFETY: the caller's.
        let (one, other) = unsafe { (left.add(at).read_volatile(), right.add(at).read_volatile()) };
        if one != other {
            return i32::from(one) - i32::from(other);
        }
        at += 1;
    }
    0
}

/// Compares bytes for equality.
///
/// # Safety
/// Both have this many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    // SAFETY: the caller's.
    unsafe { memcmp(left, right, count) }
}
