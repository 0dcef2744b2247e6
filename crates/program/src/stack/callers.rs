//! Finds the call that a frame is in, with its caller.
//!
//! Invariant: a caller is given only if it is certain. The frame was found by unwind rules, the
//! return address follows a call that the debug information describes, and the frame's function was
//! entered by that call. A function that may have been re-entered by a jump has no caller, and one
//! that was entered by a tail call has the function that jumped.

mod jumps;
mod tail_calls;

use juror_arch::dwarf;
pub use tail_calls::TailCall;

use crate::program::Program;
use crate::stack::frames::Frame;
use juror_symbols::{CallSite, UnwindMethod};
use tail_calls::Entered;

/// The most calls that are followed for the value of an argument.
pub(crate) const CALLERS_MAX: usize = 16;

/// The frame that made a call, or ended in a tail call, and the call site.
pub(crate) struct Caller {
    /// The frame of the caller, without names.
    pub frame: Frame,
    /// The load bias of its module.
    pub bias: u64,
    /// The call site.
    pub site: CallSite,
}

impl Program {
    /// Returns the caller of a frame's function, or `None` if it is not certain. `depth` is the
    /// number of callers between it and the frame that the question is about.
    pub(crate) fn certain_caller(&self, frame: &Frame, depth: usize) -> Option<Caller> {
        if depth >= CALLERS_MAX || frame.guess || frame.called_by_juror.is_some() {
            return None;
        }
        match frame.tail_call.as_deref().map(TailCall::entered) {
            None | Some(Entered::ByCall) => {}
            Some(Entered::ByJump(before)) => {
                return Some(before.as_caller(frame, &frame.registers, frame.cfa?));
            }
            Some(Entered::Unknown) => return None,
        }
        let module = frame.module.as_ref()?;
        let file_address = module.to_file(frame.lookup);
        let symbols = &module.symbols;
        let unwound = if frame.lookup == frame.pc {
            symbols.unwind_exact(file_address, &frame.registers, self)
        } else {
            symbols.unwind(file_address, &frame.registers, self)
        };
        let unwound = unwound.ok()?;
        if unwound.method != UnwindMethod::Rules || unwound.signal_frame {
            return None;
        }
        let pc = unwound.registers.get(dwarf::INSTRUCTION_POINTER)?;
        let lookup = pc.checked_sub(1)?;
        let module = self.modules.find(lookup)?.clone();
        let site = module.symbols.call_returning_to(module.to_file(pc))?;
        let bias = module.bias;
        let mut caller = Frame {
            pc,
            lookup,
            registers: unwound.registers,
            cfa: None,
            function: module.symbols.function_at(module.to_file(lookup)),
            module: Some(module),
            tail_call: None,
            ..frame.clone()
        };
        caller.cfa = self.frame_address(&caller);
        let entered = if frame.is_tail_call() {
            Entered::ByCall
        } else {
            self.entered(frame, &caller, &site, depth)
        };
        match entered {
            Entered::ByCall => {}
            Entered::ByJump(by) => {
                return Some(by.as_caller(frame, &caller.registers, unwound.cfa));
            }
            Entered::Unknown => return None,
        }
        Some(Caller {
            frame: caller,
            bias,
            site,
        })
    }

    /// Returns the canonical frame address of a caller's frame.
    fn frame_address(&self, caller: &Frame) -> Option<u64> {
        let module = caller.module.as_ref()?;
        let file_address = module.to_file(caller.lookup);
        let unwound = module.symbols.unwind(file_address, &caller.registers, self);
        unwound.ok().map(|unwound| unwound.cfa)
    }
}
