//! Tells the edited code which of its edits is made.
//!
//! All edits of a crate are compiled in at once, each behind [`is_made`]. The environment
//! says which one is made in this process (`JUROR_EDIT`, a number), or that the edits that
//! are reached are recorded in a file (`JUROR_EDITS_REACHED`, a path; one byte an edit).

#![deny(missing_docs)]
#![forbid(unsafe_code)]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// The environment was not read yet.
const UNREAD: u32 = u32::MAX;
/// The edits that are reached are recorded.
const RECORDING: u32 = u32::MAX - 1;
/// No edit is made.
const NONE: u32 = u32::MAX - 2;

/// As many edits as can be recorded.
const EDITS_MAX: usize = 1 << 16;

static MADE: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: [AtomicU8; EDITS_MAX] = [const { AtomicU8::new(0) }; EDITS_MAX];
static FILE: OnceLock<Option<File>> = OnceLock::new();

/// Returns whether the edit of this number is made in this process.
#[inline]
pub fn is_made(edit: u32) -> bool {
    let made = MADE.load(Ordering::Relaxed);
    if made < NONE {
        made == edit
    } else {
        made != NONE && outside(edit)
    }
}

/// Reads the environment at the first edit, and records each edit that is reached.
#[cold]
fn outside(edit: u32) -> bool {
    if MADE.load(Ordering::Relaxed) == UNREAD {
        let number = std::env::var("JUROR_EDIT").ok().and_then(|text| text.parse().ok());
        let is_recorded = std::env::var_os("JUROR_EDITS_REACHED").is_some();
        let made = number.unwrap_or(if is_recorded { RECORDING } else { NONE });
        MADE.store(made, Ordering::Relaxed);
        return is_made(edit);
    }
    let Some(reached) = REACHED.get(edit as usize) else { return false };
    // Most are reached often: a load is much cheaper than an exchange.
    if reached.load(Ordering::Relaxed) == 0 && reached.swap(1, Ordering::Relaxed) == 0 {
        let file = FILE.get_or_init(|| {
            let path = std::env::var_os("JUROR_EDITS_REACHED")?;
            File::options().write(true).create(true).truncate(false).open(path).ok()
        });
        if let Some(file) = file {
            let _ = file.write_at(&[1], u64::from(edit));
        }
    }
    false
}
