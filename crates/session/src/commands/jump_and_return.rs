//! `jump`, `return`, `signal`: change how the program continues.

use crate::inspect::{expressions, frames, location_messages, locations, queries};
use crate::run::step::nowhere_to_return;
use crate::session::Session;
use juror_arch::{abi, dwarf};
use juror_fault::CommandError;
use juror_program::assignment::{assignment_target, bytes_for};
use juror_program::stack::frames::{Frame, returns_to};
use juror_program::stack::unwinding::{Dropped, JumpTarget};
use juror_symbols::{EntryPieceLocation, EntryUnavailable, Type, TypeKind};
use juror_view::Outcome;
use juror_view::observer::Observer;

/// `jump PLACE`: the thread continues there, with its stack unchanged.
pub(crate) fn jump(
    session: &mut Session,
    text: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    if text.is_empty() {
        return Err(CommandError::with_help(
            "`jump` needs a location",
            "for example: jump queue.c:30, jump +1, jump *$rip+2",
        ));
    }
    let placed = locations::parsed_alone(text)?;
    let place = locations::resolvable(session, &placed.place)?;
    let addresses = place.resolve(session.modules()).addresses;
    let address = match addresses.as_slice() {
        [] => {
            location_messages::check_names(session, &place)?;
            return Err(CommandError::new(format!("there is no code at `{text}`")));
        }
        [address] => *address,
        several => nearest_in_function(session, several, text)?,
    };
    locations::check_address(session, address)?;
    let thread = session.thread()?;
    let program = session.running_mut()?;
    let mut registers = *program.debuggee.registers(thread)?;
    let start = |at| program.modules.function_at(at).map(|bound| bound.address());
    if start(registers.instruction_pointer()) != start(address) {
        observer.notice("the location is in another function: the stack frame belongs to this one");
    }
    registers.set_instruction_pointer(address);
    program.debuggee.set_registers(thread, &registers)?;
    session.processes.selection.frames = None;
    session.continue_run(observer)
}

/// Checks that an address is in the function that a thread is in.
///
/// # Errors
/// It is in another function, or in none that is known.
pub(crate) fn check_target(
    session: &mut Session,
    thread: u32,
    address: u64,
) -> Result<(), CommandError> {
    let stands = queries::at_innermost(session, thread, |session| {
        let thread = session.thread()?;
        Ok(session
            .running()?
            .debuggee
            .registers(thread)?
            .instruction_pointer())
    })?;
    let modules = session.modules();
    let start = |at| modules.function_at(at).map(|bound| bound.address());
    if start(stands).is_some() && start(stands) == start(address) {
        return Ok(());
    }
    let name = |at| match modules.function_at(at) {
        Some(bound) => format!("`{}`", bound.function.name),
        None => "code without a name".to_owned(),
    };
    Err(CommandError::new(format!(
        "the target is in {}, and the frame is in {}",
        name(address),
        name(stands)
    )))
}

/// Returns the location in the thread's function, of several.
fn nearest_in_function(
    session: &mut Session,
    places: &[u64],
    text: &str,
) -> Result<u64, CommandError> {
    let frame = frames::selected_frame(session)?;
    let function = frame.function.as_ref().zip(frame.module.as_ref());
    let is_here = |address: &&u64| {
        let inside = |(function, module): (&juror_symbols::Function, &std::rc::Rc<_>)| {
            let module: &juror_program::modules::Module = module;
            function.contains(module.to_file(**address))
        };
        function.is_some_and(inside)
    };
    let mut here = places.iter().filter(is_here);
    match (here.next(), here.next()) {
        (Some(&address), None) => Ok(address),
        _ => Err(CommandError::with_help(
            format!("`{text}` has {} locations", places.len()),
            "jump to one by its address: jump *ADDRESS; info line lists them",
        )),
    }
}

/// `return`, `return EXPRESSION`: leaves the selected function at once, with this result; the rest
/// of it is not executed.
pub(crate) fn return_from(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let level = session.processes.selection.level;
    let frames = session.frames()?;
    let frame = frames
        .get(level)
        .cloned()
        .ok_or_else(|| CommandError::new("the thread has no stack"))?;
    if frame.called_by_juror.is_some() {
        return Err(CommandError::with_help(
            "this is the frame of a call that juror made",
            "abandon ends the call",
        ));
    }
    if frame.is_inlined() {
        return Err(CommandError::with_help(
            "the call is inlined: it has no frame to return from",
            "jump to a location after it",
        ));
    }
    let is_barrier = |inner: &Frame| inner.called_by_juror.is_some();
    if frames.iter().take(level).any(is_barrier) {
        return Err(CommandError::with_help(
            "a call that juror made is between this frame and the innermost one",
            "abandon ends it",
        ));
    }
    let caller = returns_to(frames, level)
        .cloned()
        .ok_or_else(|| nowhere_to_return(&frame))?;
    let value = match text {
        "" => None,
        text => Some(result_bytes(session, &frame, text)?),
    };
    let target = JumpTarget {
        pc: caller.pc,
        stack: caller.registers.get(dwarf::STACK_POINTER).unwrap_or(0),
    };
    leave_to(session, &caller, target, value.unwrap_or_default())?;
    frames::select_frame(session, 0)
}

/// Gives the thread the callee-saved registers of a caller, these values, and another place. The
/// calls below that place are no more.
pub(crate) fn leave_to(
    session: &mut Session,
    caller: &Frame,
    target: JumpTarget,
    value: RegisterValues,
) -> Result<(), CommandError> {
    let thread = session.thread()?;
    let debuggee = &mut session.running_mut()?.debuggee;
    let mut registers = *debuggee.registers(thread)?;
    for number in 0..dwarf::UNWOUND_COUNT as u16 {
        // Caller-saved registers have no value in a caller; they stay.
        if let Some(word) = caller.registers.get(number) {
            registers.set_by_dwarf_number(number, word);
        }
    }
    registers.set_instruction_pointer(target.pc);
    registers.set_stack_pointer(target.stack);
    for (number, word) in value.words {
        registers.set_by_dwarf_number(number, word);
    }
    if !value.vectors.is_empty() || !value.x87.is_empty() {
        let mut vectors = debuggee.vector_registers(thread)?;
        for (number, bytes) in value.vectors {
            if let Some(vector) = vectors.vectors.get_mut(number) {
                *vector = bytes;
            }
        }
        if !value.x87.is_empty() {
            vectors.leave_on_x87(&value.x87);
        }
        debuggee.set_vector_registers(thread, &vectors)?;
    }
    debuggee.set_registers(thread, &registers)?;
    // A call that begins anew has ended, too.
    let landing = JumpTarget {
        stack: caller
            .registers
            .get(dwarf::STACK_POINTER)
            .unwrap_or(target.stack),
        ..target
    };
    session.processes.selection.frames = None;
    let process = &mut *session.processes;
    if let Some(program) = &mut process.program
        && let Some(dropped) = Dropped::below(program, thread, landing)
    {
        process.monitors.drop_calls(program, thread, &dropped)?;
        process.watchpoints.drop_frames(program, thread, &dropped)?;
    }
    Ok(())
}

/// Returns the result of a function, by the registers that hold it.
fn result_bytes(
    session: &mut Session,
    frame: &Frame,
    text: &str,
) -> Result<RegisterValues, CommandError> {
    let value = expressions::evaluate(session, text)?;
    let unknown = || {
        CommandError::with_help(
            "the return type of this function is unknown",
            "return without a value, and set $rax",
        )
    };
    let (module, function) = frame
        .module
        .as_ref()
        .zip(frame.function.as_ref())
        .ok_or_else(unknown)?;
    let plan = module
        .symbols
        .return_value_plan(function)
        .ok_or_else(unknown)?;
    let shape = juror_values::typed::Typed::missing(plan.r#type.clone(), "");
    // A function that returns a reference returns an address.
    let is_reference = matches!(plan.r#type.strip().kind(), TypeKind::Reference(_));
    let value = if is_reference {
        value
    } else {
        assignment_target(&value, session.running()?).map_err(CommandError::new)?
    };
    let bytes = bytes_for(&shape, &value, session.running()?).map_err(CommandError::new)?;
    let mut found = RegisterValues::default();
    for piece in &plan.location {
        let part = bytes
            .get(piece.offset as usize..)
            .and_then(|rest| rest.get(..piece.size as usize))
            .ok_or_else(no_register)?;
        let mut wide = [0; 16];
        wide.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
        match piece.location {
            EntryPieceLocation::Register(number) if dwarf::is_unwound(number) => {
                // A general-purpose register has the low half.
                let word = u128::from_le_bytes(wide) as u64;
                found.words.push((number, word));
            }
            EntryPieceLocation::Register(number) if abi::X87_RESULTS.contains(&number) => {
                found.x87.push(wide);
            }
            EntryPieceLocation::Register(number) => {
                let vector = dwarf::vector_index(number).ok_or_else(no_register)?;
                found.vectors.push((vector, wide));
            }
            EntryPieceLocation::PointedByRegister(_)
            | EntryPieceLocation::Unavailable(EntryUnavailable::AddressLost) => {
                return Err(in_memory(&plan.r#type));
            }
            _ => return Err(no_register()),
        }
    }
    if plan.location.is_empty() {
        Err(CommandError::new("the function returns no value"))
    } else {
        Ok(found)
    }
}

/// `signal SIGNAL`, `signal 0`: resumes the program with this signal, or without the one that
/// stopped it.
pub(crate) fn go_on_with_signal(
    session: &mut Session,
    text: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    inject_signal(session, text)?;
    session.continue_run(observer)
}

/// `queue-signal SIGNAL`: does the same, and the program stays stopped.
pub(crate) fn queue_signal(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let number = inject_signal(session, text)?;
    let thread = session.thread()?;
    let thread = session.running()?.thread_number(thread);
    let (name, _) = juror_points::signal_names::describe(number);
    Ok(Outcome::Message(match number {
        0 => format!("thread {thread} continues without a signal"),
        _ => format!("thread {thread} receives {name} when it continues"),
    }))
}

fn inject_signal(session: &mut Session, text: &str) -> Result<i32, CommandError> {
    let number = match text {
        "0" => 0,
        text => juror_points::signal_names::number(text).ok_or_else(|| {
            CommandError::with_help(
                match text {
                    "" => "`signal` needs a signal".to_owned(),
                    text => format!("there is no signal `{text}`"),
                },
                "for example: signal SIGUSR1; signal 0 continues without a signal",
            )
        })?,
    };
    let thread = session.thread()?;
    session
        .running_mut()?
        .debuggee
        .inject_signal(thread, number)?;
    Ok(number)
}

/// The registers that hold the result of a function, or its arguments.
#[derive(Debug, Default)]
pub(crate) struct RegisterValues {
    /// General-purpose registers, by their DWARF numbers.
    pub words: Vec<(u16, u64)>,
    /// Vector registers, 0 for `xmm0`.
    pub vectors: Vec<(usize, [u8; 16])>,
    /// The x87 stack, the top first.
    pub x87: Vec<[u8; 16]>,
}

/// Returns the error for a result in memory, at an address that only the function may still know.
fn in_memory(of: &Type) -> CommandError {
    CommandError::with_help(
        format!(
            "a `{}` is returned in memory of the caller, whose address only the function knows",
            of.name()
        ),
        "return without a value, and set the caller's variable",
    )
}

fn no_register() -> CommandError {
    CommandError::with_help(
        "the result of this function is in registers that cannot be set",
        "return without a value, and set the caller's variable",
    )
}
