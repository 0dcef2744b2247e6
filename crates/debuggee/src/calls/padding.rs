//! System calls of an attached process in which nothing of juror's is mapped.
//!
//! The `syscall` and the way back from it are written into the padding behind the code of a
//! module, and taken out after the call. If juror is killed meanwhile, the thread finds back by
//! itself, as in the calls of `rescued`, and the bytes stay in the padding.
//!
//! Invariant: the frame and the code are whole before the thread has other registers than its own.

use juror_stepping::ThreadId;
use libc::c_long;

use super::rescue::frame_at;
use super::rescued::Saved;
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::image::modules;
use crate::kernel::injected_call::call_registers;

/// The alignment of the extended state in a frame.
const ALIGNMENT: u64 = 64;
/// The code: the call, and the return to the frame whose address is in it.
#[rustfmt::skip]
const CODE: [u8; 21] = [
    0x0f, 0x05,                         // syscall
    0x48, 0xbc, 0, 0, 0, 0, 0, 0, 0, 0, // movabs rsp, the context in the frame
    0xb8, 0x0f, 0, 0, 0,                // mov eax, 15 (rt_sigreturn)
    0x0f, 0x05,                         // syscall
    0x0f, 0x0b,                         // ud2
];
/// The offset of the address in the code.
const FRAME_OFFSET: usize = 4;

/// The frame and the code at the address for which they were made.
struct WayBack {
    start: u64,
    bytes: Vec<u8>,
    /// The address of the `syscall`.
    gadget: u64,
}

impl WayBack {
    fn at(start: u64, saved: &Saved) -> WayBack {
        let (mut bytes, offset) = frame_at(start, &saved.before());
        let gadget = start + bytes.len() as u64;
        let mut code = CODE;
        if let Some(place) = code.get_mut(FRAME_OFFSET..FRAME_OFFSET + 8) {
            place.copy_from_slice(&(start + offset).to_le_bytes());
        }
        bytes.extend(code);
        WayBack {
            start,
            bytes,
            gadget,
        }
    }
}

impl Debuggee {
    /// Makes a stopped thread of an attached process execute a system call; returns its result.
    /// Returns none, and does nothing, if the thread would not find back by itself, or if no
    /// module has enough padding. All threads are stopped.
    pub(super) fn call_from_padding(
        &mut self,
        thread: ThreadId,
        number: c_long,
        arguments: [u64; 6],
    ) -> Result<Option<u64>, DebuggeeError> {
        let Some(saved) = self.save_for_rescue(thread)? else {
            return Ok(None);
        };
        let Some(way_back) = self.way_back(&saved) else {
            return Ok(None);
        };
        let mut original = vec![0; way_back.bytes.len()];
        self.memory.read_raw(way_back.start, &mut original)?;
        self.memory.write_raw(way_back.start, &way_back.bytes)?;
        let call = call_registers(saved.registers, way_back.gadget, number, arguments);
        let result = self.call_and_come_back(thread, call, &saved)?;
        self.memory.write_raw(way_back.start, &original)?;
        self.return_to_group_stop(thread)?;
        Ok(Some(result))
    }

    /// Returns the way back in the first padding that has room for it.
    fn way_back(&self, saved: &Saved) -> Option<WayBack> {
        let code = self.immutable_code();
        let padding = modules::padding_of_code(&self.memory, &self.image.auxiliary);
        padding.into_iter().find_map(|padding| {
            let start = padding.start.next_multiple_of(ALIGNMENT);
            let way_back = WayBack::at(start, saved);
            let end = start.checked_add(way_back.bytes.len() as u64)?;
            let is_mapped = code
                .iter()
                .any(|it| it.start <= start && padding.end <= it.end);
            (is_mapped && end <= padding.end).then_some(way_back)
        })
    }
}
