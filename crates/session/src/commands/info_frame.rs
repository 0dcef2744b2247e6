//! `info frame`: where the machine keeps a frame, what called it, and where the registers
//! of its caller are.

use crate::session::Session;
use juror_program::stack::frames::{Frame, returns_to};
use juror_symbols::{Registers, register, register_name};
use juror_values::format::Names as _;
use juror_view::Outcome;
use juror_view::error::CommandError;
use std::fmt::Write as _;

/// In the order of the manuals, as `info registers` has them.
const ORDER: [u16; 17] = [0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// `info frame`
pub(crate) fn frame_info(session: &mut Session) -> Result<Outcome, CommandError> {
    let level = session.processes.selection.level;
    let frames = session.frames()?.to_vec();
    let none = || CommandError::new("the thread has no stack");
    let frame = frames.get(level).ok_or_else(none)?;
    let program = session.running()?;
    let named = |address: u64| match program.name_of(address) {
        Some(name) => format!("{address:#x} <{name}>"),
        None => format!("{address:#x}"),
    };
    let place = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => {
            let file = file.file_name().unwrap_or(file.as_os_str());
            format!(" at {}:{line}", file.display())
        }
        _ => String::new(),
    };
    // Writing to a text does not fail.
    let mut text = String::new();
    let _ = writeln!(text, "#{level}  {}{place}", name_of(frame));
    let _ = writeln!(text, "rip is {}", named(frame.pc));
    if let Some(kind) = kind_of(frame) {
        let _ = writeln!(text, "{kind}");
    }
    if let Some(cfa) = frame.cfa {
        let _ = writeln!(
            text,
            "the frame is at {cfa:#x}, which is the stack pointer of its caller"
        );
    }
    let caller = returns_to(&frames, level);
    if let Some(caller) = caller {
        let _ = writeln!(
            text,
            "it returns to {}, in {}",
            named(caller.pc),
            name_of(caller)
        );
    }
    if let Some(inner) = level.checked_sub(1).and_then(|inner| frames.get(inner)) {
        let _ = writeln!(text, "it has called {}", name_of(inner));
    }
    let saved = saved_registers(session, frame);
    let places: Vec<String> = ORDER
        .into_iter()
        .filter_map(|number| {
            let at = saved.as_ref()?.get(number)?;
            Some(format!("{} at {at:#x}", register_name(number)))
        })
        .collect();
    if !places.is_empty() {
        let _ = writeln!(text, "saved registers: {}", places.join(", "));
    }
    Ok(Outcome::Message(text.trim_end().to_owned()))
}

/// Where the registers of the caller have been saved.
fn saved_registers(session: &Session, frame: &Frame) -> Option<Registers> {
    let program = session.processes.program.as_ref()?;
    let module = frame.module.as_ref()?;
    let pc = module.to_file(frame.lookup);
    let unwound = match frame.lookup == frame.pc {
        true => module.symbols.unwind_exact(pc, &frame.registers, program),
        false => module.symbols.unwind(pc, &frame.registers, program),
    };
    // Something stands for registers that are gone with a call that ended in a jump.
    let is_own = frame.registers.get(register::RSP).is_some() && !frame.is_tail_call();
    unwound.ok().filter(|_| is_own).map(|unwound| unwound.saved)
}

fn name_of(frame: &Frame) -> &str {
    frame.name.as_deref().unwrap_or("a function without a name")
}

/// What is special about a frame.
fn kind_of(frame: &Frame) -> Option<&'static str> {
    if frame.is_inlined() {
        return Some("it is an inlined call: the frame in memory is that of its caller");
    }
    if frame.is_tail_call() {
        return Some("it has ended in a jump: nothing of it is in memory");
    }
    if frame.interrupted {
        return Some("a signal has interrupted it");
    }
    if frame.is_cut {
        return Some("its caller cannot be found: the stack is cut here");
    }
    frame
        .guess
        .then_some("it was found without unwind information: a guess")
}
