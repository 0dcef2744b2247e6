//! The frames that calls find back by, and the code that returns to them.

use super::{Before, ENTRY_COUNT, Entry, Rescue};
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel::process_status;
use crate::state::out_of_line::SLOT_LENGTH;
use juror_arch::Register;

/// The stack pointer that marks an unused entry; 0 ends the table.
const UNUSED: u64 = 1;
/// Length of an entry: the stack pointer, and the address of the frame.
const ENTRY_LENGTH: u64 = 16;
/// Length of the table with its end.
const TABLE_LENGTH: u64 = (ENTRY_COUNT as u64 + 1) * ENTRY_LENGTH;
/// Length of the part of `struct rt_sigframe` that is read: the context with
/// its signal mask, and `siginfo_t` after it (*asm/sigframe.h*).
const CONTEXT_LENGTH: usize = 304 + 128;
/// The code at the return address of calls into an attached process. A process
/// that was forked in a call ends there, which its number tells.
#[rustfmt::skip]
const CODE: [u8; 63] = [
    0xb8, 0x27, 0, 0, 0,       //       mov eax, 39 (getpid)
    0x0f, 0x05,                //       syscall
    0x3d, 0, 0, 0, 0,          //       cmp eax, the process
    0x75, 0x27,                //       jne ends
    0x48, 0x8d, 0x1d, 0, 0, 0, 0, //    lea rbx, [rip + the table]
    0x48, 0x8b, 0x03,          // next: mov rax, [rbx]
    0x48, 0x85, 0xc0,          //       test rax, rax
    0x74, 0x16,                //       je lost
    0x48, 0x39, 0xe0,          //       cmp rax, rsp
    0x74, 0x06,                //       je found
    0x48, 0x83, 0xc3, 0x10,    //       add rbx, 16
    0xeb, 0xed,                //       jmp next
    0x48, 0x8b, 0x63, 0x08,    // found: mov rsp, [rbx + 8]
    0xb8, 0x0f, 0, 0, 0,       //       mov eax, 15 (rt_sigreturn)
    0x0f, 0x05,                //       syscall
    0x0f, 0x0b,                // lost: ud2
    0x31, 0xff,                // ends: xor edi, edi
    0xb8, 0xe7, 0, 0, 0,       //       mov eax, 231 (exit_group)
    0x0f, 0x05,                //       syscall
    0xf4,                      //       hlt
];
/// Why there is no frame or no code.
const NO_MEMORY: &str = "juror has no memory in it for the way back";
/// The offsets in the code of the process and of the distance to the table,
/// and of the instruction after it.
const PROCESS_OFFSET: usize = 8;
const DISTANCE_OFFSET: usize = 17;
const AFTER_DISTANCE: usize = 21;

impl Debuggee {
    /// Returns the number by which the code of an attached process knows that it is not a
    /// fork's, and makes the table of the frames.
    ///
    /// # Errors
    /// A call would not find back, for the reason.
    pub(crate) fn prepare_rescue(&mut self) -> Result<Result<u32, &'static str>, DebuggeeError> {
        let Some(process) = process_status::own_pid(self.process, self.process) else {
            return Ok(Err("juror cannot read its status in /proc"));
        };
        let table = self.rescue_table()?;
        Ok(table.map(|_| process).ok_or(NO_MEMORY))
    }

    /// Writes the code for calls to return to, once that is prepared; false if it would be too
    /// far from the table.
    pub(crate) fn write_rescue(&self, code_at: u64, process: u32) -> Result<bool, DebuggeeError> {
        let Some(rescue) = &self.calls.rescue else {
            return Ok(false);
        };
        let distance = rescue.table.wrapping_sub(code_at + AFTER_DISTANCE as u64) as i64;
        let Ok(distance) = i32::try_from(distance) else {
            return Ok(false);
        };
        let mut code = CODE;
        put(&mut code, PROCESS_OFFSET, &process.to_le_bytes());
        put(&mut code, DISTANCE_OFFSET, &distance.to_le_bytes());
        self.memory.write_raw(code_at, &code)?;
        Ok(true)
    }

    /// Returns the address of the table, which is made if there is none; none if there is no
    /// memory for it.
    fn rescue_table(&mut self) -> Result<Option<u64>, DebuggeeError> {
        if let Some(rescue) = &self.calls.rescue {
            return Ok(Some(rescue.table));
        }
        let slots = TABLE_LENGTH.div_ceil(SLOT_LENGTH);
        let Some(table) = self.image.out_of_line.take_slots(slots) else {
            return Ok(None);
        };
        let mut entries = Vec::new();
        for _ in 0..ENTRY_COUNT {
            entries.extend(UNUSED.to_le_bytes());
            entries.extend(0_u64.to_le_bytes());
        }
        entries.resize(TABLE_LENGTH as usize, 0);
        self.memory.write_raw(table, &entries)?;
        self.calls.rescue = Some(Rescue {
            table,
            gadget: None,
            entries: [Entry::default(); ENTRY_COUNT],
        });
        Ok(Some(table))
    }

    /// Makes a call that returns with this stack pointer find back. Returns false, and does
    /// nothing, if too many calls are open, or one with the same stack pointer.
    pub(crate) fn add_rescue(
        &mut self,
        stack: u64,
        before: &Before<'_>,
    ) -> Result<bool, DebuggeeError> {
        let Some(rescue) = &mut self.calls.rescue else {
            return Ok(false);
        };
        let table = rescue.table;
        if rescue.entries.iter().any(|it| it.stack == Some(stack)) {
            return Ok(false);
        }
        let mut entries = rescue.entries.iter_mut().enumerate();
        let Some((index, entry)) = entries.find(|(_, it)| it.stack.is_none()) else {
            return Ok(false);
        };
        let length = before.extended.for_signal_frame().len() + CONTEXT_LENGTH;
        if entry.area.is_none_or(|(_, room)| room < length) {
            let slots = (length as u64).div_ceil(SLOT_LENGTH);
            let Some(area) = self.image.out_of_line.take_slots(slots) else {
                return Ok(false);
            };
            entry.area = Some((area, length));
        }
        let Some((area, _)) = entry.area else {
            return Ok(false);
        };
        entry.stack = Some(stack);
        let (frame, offset) = frame_at(area, before);
        self.memory.write_raw(area, &frame)?;
        let mut words = stack.to_le_bytes().to_vec();
        words.extend((area + offset).to_le_bytes());
        self.memory
            .write_raw(table + index as u64 * ENTRY_LENGTH, &words)?;
        Ok(true)
    }

    /// Returns why a call that returns with this stack pointer does not find back.
    pub(crate) fn rescue_obstacle(&self, stack: u64) -> &'static str {
        let entries = self.calls.rescue.as_ref().map(|it| &it.entries);
        let has = |is_so: fn(&Entry, u64) -> bool| {
            entries.is_some_and(|all| all.iter().any(|it| is_so(it, stack)))
        };
        if has(|it, stack| it.stack == Some(stack)) {
            "another call is open at the same place of the stack: finish or abandon it"
        } else if has(|it, _| it.stack.is_none()) {
            NO_MEMORY
        } else {
            "too many calls are open in it: finish or abandon one"
        }
    }

    /// Takes the frame of a call from the table: juror has moved the thread
    /// back, or it has ended.
    pub(crate) fn remove_rescue(&mut self, stack: u64) {
        let Some(rescue) = &mut self.calls.rescue else {
            return;
        };
        let mut entries = rescue.entries.iter_mut().enumerate();
        let Some((index, entry)) = entries.find(|(_, it)| it.stack == Some(stack)) else {
            return;
        };
        entry.stack = None;
        let at = rescue.table + index as u64 * ENTRY_LENGTH;
        // Without a process nothing is to be done.
        let _ = self.memory.write_raw(at, &UNUSED.to_le_bytes());
    }
}

/// Returns the bytes of a frame at `area`, a multiple of the alignment of the extended state, and
/// the offset of the context in them, at which `rt_sigreturn` finds the frame.
pub(crate) fn frame_at(area: u64, before: &Before<'_>) -> (Vec<u8>, u64) {
    let mut frame = before.extended.for_signal_frame();
    let offset = frame.len() as u64;
    frame.extend(context_of(before, area));
    (frame, offset)
}

fn put(code: &mut [u8], offset: usize, bytes: &[u8; 4]) {
    if let Some(place) = code.get_mut(offset..offset + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Returns `struct ucontext` and an empty `siginfo_t` (*asm/ucontext.h*,
/// *asm/sigcontext.h*). The kernel leaves the alternate signal stack as it is,
/// since the flags of that are none that it knows.
fn context_of(before: &Before<'_>, extended_at: u64) -> Vec<u8> {
    /// `UC_FP_XSTATE`, `UC_SIGCONTEXT_SS` and `UC_STRICT_RESTORE_SS`.
    const FLAGS: u64 = 7;
    /// No mode of a signal stack.
    const NO_STACK_MODE: u64 = 0x7fff;
    let now = &before.registers;
    let selectors = now.get(Register::Cs) & 0xffff | (now.get(Register::Ss) & 0xffff) << 48;
    let mut words = vec![FLAGS, 0, 0, NO_STACK_MODE, 0];
    words.extend(now.signal_context());
    words.extend([selectors, 0, 0, 0, 0, extended_at]);
    words.extend([0; 8]);
    words.push(before.signal_mask);
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    bytes.resize(CONTEXT_LENGTH, 0);
    bytes
}
