//! Saving and restoring shared memory.

use crate::chunks::{Chunks, LENGTH};
use crate::loss::Loss;
use crate::mapping::{self, Shared};
use juror_debuggee::Debuggee;

/// The number of bytes of shared memory that are written at once.
const AT_ONCE: usize = LENGTH;

/// The saved contents of one shared mapping.
#[derive(Debug)]
pub(crate) struct SavedMemory {
    shared: Shared,
    chunks: Chunks,
}

/// Copies the shared memory of a stopped process, up to `limit` bytes of it.
pub(crate) fn save(
    debuggee: &Debuggee,
    limit: u64,
    before: &[SavedMemory],
    losses: &mut Vec<Loss>,
) -> Vec<SavedMemory> {
    let mut saved = Vec::new();
    let mut total = 0;
    for shared in mapping::shared(&debuggee.memory_map().unwrap_or_default()) {
        let known = before.iter().find(|it| it.shared == shared);
        total += shared.length();
        let chunks = if shared.is_plain && total <= limit {
            copy(debuggee, &shared, known.map(|known| &known.chunks))
        } else {
            None
        };
        match chunks {
            Some(chunks) => saved.push(SavedMemory { shared, chunks }),
            None => losses.push(Loss::SharedMemory {
                length: shared.length(),
                name: shared.name,
            }),
        }
    }
    saved
}

fn copy(debuggee: &Debuggee, shared: &Shared, before: Option<&Chunks>) -> Option<Chunks> {
    let mut chunks = Chunks::default();
    let mut buffer = vec![0; AT_ONCE];
    let mut from = shared.range.start;
    while from < shared.range.end {
        let length = (shared.range.end - from).min(AT_ONCE as u64);
        let bytes = buffer.get_mut(..length as usize)?;
        debuggee.read(from, bytes).ok()?;
        chunks.push(bytes, before);
        from += length;
    }
    Some(chunks)
}

/// Restores shared memory; equal parts are not written.
pub(crate) fn restore(debuggee: &mut Debuggee, saved: &[SavedMemory], losses: &mut Vec<Loss>) {
    for memory in saved {
        let mut failure = None;
        for (offset, bytes) in memory.chunks.iter() {
            let address = memory.shared.range.start + offset as u64;
            let mut present = vec![0; bytes.len()];
            let is_same = debuggee.read(address, &mut present).is_ok() && *present == *bytes;
            if !is_same && let Err(error) = debuggee.write(address, &bytes) {
                failure = Some(error);
            }
        }
        if let Some(error) = failure {
            losses.push(Loss::Failure {
                what: format!("shared memory ({})", memory.shared.name),
                why: error.to_string(),
            });
        }
    }
}
