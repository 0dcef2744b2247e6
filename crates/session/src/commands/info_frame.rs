//! `info frame`: the addresses of a frame, its caller, and the saved registers.

use crate::session::Session;
use juror_arch::dwarf;
use juror_fault::CommandError;
use juror_program::stack::frames::{Frame, returns_to};
use juror_symbols::Registers;
use juror_values::format::Names as _;
use juror_view::{FrameCodeView, FrameInfoView, FrameKind, Outcome, SavedRegisterView};

/// In the order of the manuals, as in `info registers`.
const ORDER: [u16; 17] = [0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// `info frame`
pub(crate) fn frame_info(session: &mut Session) -> Result<Outcome, CommandError> {
    let level = session.processes.selection.level;
    let frames = session.frames()?.to_vec();
    let none = || CommandError::new("the thread has no stack");
    let frame = frames.get(level).ok_or_else(none)?;
    let program = session.running()?;
    let code_of = |frame: &Frame| FrameCodeView {
        function: frame.name.as_deref().map(str::to_owned),
        address: frame.pc,
        name: program.name_of(frame.pc),
    };
    let saved = saved_registers(session, frame);
    let saved = ORDER.into_iter().filter_map(|number| {
        Some(SavedRegisterView {
            register: dwarf::name(number),
            address: saved.as_ref()?.get(number)?,
        })
    });
    let callee = level.checked_sub(1).and_then(|inner| frames.get(inner));
    Ok(Outcome::FrameInfo(Box::new(FrameInfoView {
        level,
        code: code_of(frame),
        file: frame.file.as_ref().map(|file| file.display().to_string()),
        line: frame.line,
        kind: kind_of(frame),
        canonical_frame_address: frame.cfa,
        caller: returns_to(&frames, level).map(code_of),
        callee: callee.map(code_of),
        saved_registers: saved.collect(),
    })))
}

/// Returns the addresses at which a frame saves the registers of its caller.
pub(crate) fn saved_registers(session: &Session, frame: &Frame) -> Option<Registers> {
    let program = session.processes.program.as_ref()?;
    let module = frame.module.as_ref()?;
    let pc = module.to_file(frame.lookup);
    let unwound = if frame.lookup == frame.pc {
        module.symbols.unwind_exact(pc, &frame.registers, program)
    } else {
        module.symbols.unwind(pc, &frame.registers, program)
    };
    // A placeholder represents registers of a call that ended in a jump.
    let is_own = frame.registers.get(dwarf::STACK_POINTER).is_some() && !frame.is_tail_call();
    unwound.ok().filter(|_| is_own).map(|unwound| unwound.saved)
}

/// Returns the kind of a special frame.
fn kind_of(frame: &Frame) -> Option<FrameKind> {
    if frame.is_inlined() {
        return Some(FrameKind::Inlined);
    }
    if frame.is_tail_call() {
        return Some(FrameKind::TailCall);
    }
    if frame.interrupted {
        return Some(FrameKind::Interrupted);
    }
    if frame.is_cut {
        return Some(FrameKind::Cut);
    }
    frame.guess.then_some(FrameKind::Guess)
}
