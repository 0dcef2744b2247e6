//! Output that goes nowhere: that of a run which is made once more to find a place in it.
//!
//! The descriptors are those that the program always has: what it asks of them it learns, and they can
//! write again at any time. The calls that write to its first standard output and error are not made;
//! they return what they would if all was written.

use super::Control;
use crate::blocking::libc_numbers as calls;
use crate::error::ExploreError;
use juror_debuggee::{Debuggee, ThreadId};
use std::os::unix::fs::MetadataExt;

/// The size of a `struct iovec`, and the most of them in a call (`IOV_MAX`).
const VECTOR_SIZE: u64 = 16;
const VECTORS_MAX: u64 = 1_024;

/// The most bytes that a call writes (write(2)).
const COUNT_MAX: u64 = 0x7fff_f000;

/// The files that are silent.
#[derive(Debug, Clone)]
pub(super) struct Silence {
    files: Vec<Identity>,
}

/// The device and the number of a file, and the device that it is itself.
type Identity = (u64, u64, u64);

impl Silence {
    /// Returns the silence of the present standard output and error.
    pub(super) fn of(debuggee: &Debuggee) -> Silence {
        let process = debuggee.pid();
        Silence {
            files: [1, 2]
                .into_iter()
                .filter_map(|it| identity(process, it))
                .collect(),
        }
    }
}

fn identity(process: u32, descriptor: u64) -> Option<Identity> {
    let file = std::fs::metadata(format!("/proc/{process}/fd/{descriptor}")).ok()?;
    Some((file.dev(), file.ino(), file.rdev()))
}

impl Control {
    /// Returns the result of the call before which a thread stands, if it writes where nothing is to
    /// be written.
    fn silent_result(&self, debuggee: &Debuggee, thread: ThreadId, number: u64) -> Option<i64> {
        let silence = self.silence.as_ref()?;
        if !matches!(number, calls::WRITE | calls::WRITEV) {
            return None;
        }
        let [descriptor, second, third, ..] =
            debuggee.registers(thread).ok()?.system_call_arguments();
        let file = identity(debuggee.pid(), descriptor)?;
        if !silence.files.contains(&file) {
            return None;
        }
        let count = match number {
            calls::WRITE => third,
            _ => vectors_length(debuggee, second, third)?,
        };
        i64::try_from(count.min(COUNT_MAX)).ok()
    }

    /// Finishes the call before which a thread stands without making it, if it writes where nothing
    /// is to be written. Returns whether it does.
    pub(super) fn write_nothing(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        number: u64,
    ) -> Result<bool, ExploreError> {
        let Some(result) = self.silent_result(debuggee, thread, number) else {
            return Ok(false);
        };
        self.finish_call(debuggee, thread, result)?;
        Ok(true)
    }
}

/// Returns the sum of the lengths of vectors.
fn vectors_length(debuggee: &Debuggee, vectors: u64, count: u64) -> Option<u64> {
    let lengths = (0..count.min(VECTORS_MAX)).map(|number| {
        let vector = vectors.wrapping_add(number * VECTOR_SIZE);
        debuggee.read_u64(vector.wrapping_add(8)).ok()
    });
    lengths.sum()
}
