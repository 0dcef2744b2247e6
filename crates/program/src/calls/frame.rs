//! The frame on a stack that marks a call made by juror.

use crate::program::Program;
use crate::stack::frames::Frame;
use juror_arch::dwarf;
use juror_debuggee::ThreadId;
use juror_symbols::Registers;

impl Program {
    /// Returns the frame that marks a call made by juror, if `pc` is the return address of such a
    /// call, and the registers of the frame below it.
    pub(crate) fn frame_of_call(
        &self,
        thread: ThreadId,
        pc: u64,
        registers: &Registers,
    ) -> Option<(Frame, Registers)> {
        if self.debuggee.call_return_address() != Some(pc) {
            return None;
        }
        let stack = registers.get(dwarf::STACK_POINTER);
        let mut calls = self.debuggee.open_calls();
        let call = calls.find(|call| call.thread == thread && Some(call.frame) == stack)?;
        let mut below = Registers::default();
        for number in 0..dwarf::UNWOUND_COUNT as u16 {
            below.set(number, call.registers().by_dwarf_number(number));
        }
        let frame = Frame {
            thread: Some(thread),
            registers: *registers,
            called_by_juror: Some(call.number),
            ..Frame::bare(pc)
        };
        Some((frame, below))
    }
}
