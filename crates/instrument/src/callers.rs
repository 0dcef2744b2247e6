//! The call that a frame is in, as its caller has it.
//!
//! Invariant: a caller is given only where nothing about it is a guess. The
//! frame was found by unwind rules, its caller stands behind a call that the
//! debug information describes, and the frame's function cannot have come to
//! its beginning again by a jump.

use crate::frames::Frame;
use crate::program::Program;
use juror_symbols::{CallSite, UnwindMethod, register};

/// How many calls are followed for the value that a function was called with.
const CALLERS_MAX: usize = 16;

/// The frame that made a call, and the call.
pub(crate) struct Caller {
    /// The caller's own frame, with no names.
    pub frame: Frame,
    /// What is added to addresses of its file.
    pub bias: u64,
    /// The call.
    pub site: CallSite,
}

impl Program {
    /// Who called a frame's function, where that is certain; `depth` callers lie
    /// between it and the frame that it is about.
    pub(crate) fn certain_caller(&self, frame: &Frame, depth: usize) -> Option<Caller> {
        if depth >= CALLERS_MAX || frame.guess || frame.called_by_juror.is_some() {
            return None;
        }
        let module = frame.module.as_ref()?;
        let place = module.to_file(frame.lookup);
        let symbols = &module.symbols;
        let unwound = match frame.lookup == frame.pc {
            true => symbols.unwind_exact(place, &frame.registers, self),
            false => symbols.unwind(place, &frame.registers, self),
        };
        let unwound = unwound.ok()?;
        if unwound.method != UnwindMethod::Rules || unwound.signal_frame {
            return None;
        }
        let function = frame.function.as_ref()?;
        let pc = unwound.registers.get(register::RIP)?;
        let lookup = pc.checked_sub(1)?;
        let module = self.modules.find(lookup)?.clone();
        let site = module.symbols.call_returning_to(module.to_file(pc))?;
        if !symbols.is_entered_by_calls(function) {
            return None;
        }
        let bias = module.bias;
        let mut caller = Frame {
            pc,
            lookup,
            registers: unwound.registers,
            cfa: None,
            function: module.symbols.function_at(module.to_file(lookup)),
            module: Some(module),
            ..frame.clone()
        };
        caller.cfa = self.frame_address(&caller);
        Some(Caller {
            frame: caller,
            bias,
            site,
        })
    }

    /// The canonical frame address of a caller's frame.
    fn frame_address(&self, caller: &Frame) -> Option<u64> {
        let module = caller.module.as_ref()?;
        let place = module.to_file(caller.lookup);
        let unwound = module.symbols.unwind(place, &caller.registers, self);
        unwound.ok().map(|unwound| unwound.cfa)
    }
}
