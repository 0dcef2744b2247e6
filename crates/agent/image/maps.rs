//! The writable memory of the process, as the kernel lists it (proc_pid_maps(5)).

use crate::kernel::{self, call};
use crate::protocol::*;
use crate::settings::{set_word, word};

const TEXT_MAX: usize = 1 << 16;
/// The addresses of the agent itself, and of what it shares.
const OWN: core::ops::Range<u64> = 0x2000_0000_0000..0x3000_0000_0000;

static mut TEXT: [u8; TEXT_MAX] = [0; TEXT_MAX];

/// Reads the list. Returns nothing if it cannot be read, or is too long.
fn text() -> Option<&'static [u8]> {
    const OPEN: u64 = 2;
    const READ: u64 = 0;
    const CLOSE_ON_EXEC: u64 = 0o2_000_000;
    let path = c"/proc/self/maps";
    // SAFETY: one thread runs the agent; the kernel reads the path, and writes into the buffer.
    unsafe {
        let text = &mut *(&raw mut TEXT);
        let file = call(OPEN, [path.as_ptr() as u64, CLOSE_ON_EXEC, 0, 0, 0, 0]);
        if file < 0 {
            return None;
        }
        let mut length = 0;
        loop {
            let rest = &mut text[length..];
            let arguments = [
                file as u64,
                rest.as_mut_ptr() as u64,
                rest.len() as u64,
                0,
                0,
                0,
            ];
            let count = call(READ, arguments);
            if count <= 0 || rest.is_empty() {
                break;
            }
            length += count as usize;
        }
        call(kernel::CLOSE, [file as u64, 0, 0, 0, 0, 0]);
        (length < TEXT_MAX).then(|| &text[..length])
    }
}

/// Writes the writable ranges into the shared words, and the bounds of the stack. Returns false if some
/// memory is shared with others, or they are too many.
pub fn find_ranges() -> bool {
    let Some(text) = text() else {
        return false;
    };
    let mut count = 0;
    for line in text.split(|byte| *byte == b'\n') {
        let Some((start, rest)) = number(line, b'-') else {
            continue;
        };
        let Some((end, rest)) = number(rest, b' ') else {
            continue;
        };
        if line.ends_with(b"[stack]") {
            set_word(STACK_START, start);
        }
        let is_writable = rest.get(1) == Some(&b'w');
        if !is_writable || OWN.contains(&start) || is_of_juror(start) {
            continue;
        }
        if rest.get(3) != Some(&b'p') || count == RANGES_MAX {
            return false;
        }
        set_word(RANGES + count * 16, start);
        // The length is one of whole pages.
        let is_executable = u64::from(rest.get(2) == Some(&b'x'));
        set_word(RANGES + count * 16 + 8, end - start + is_executable);
        count += 1;
    }
    set_word(RANGE_COUNT, count);
    true
}

/// Returns whether juror has mapped code at an address.
fn is_of_juror(address: u64) -> bool {
    let mut areas = (0..word(AREA_COUNT)).map(|number| AREAS + number * 16);
    areas.any(|at| (word(at)..word(at + 8)).contains(&address))
}

/// Returns the number at the beginning of a line, and what follows behind the byte that ends it.
fn number(line: &[u8], end: u8) -> Option<(u64, &[u8])> {
    let length = line.iter().position(|byte| *byte == end)?;
    let (digits, rest) = line.split_at(length);
    let digits = core::str::from_utf8(digits).ok()?;
    Some((u64::from_str_radix(digits, 16).ok()?, &rest[1..]))
}
