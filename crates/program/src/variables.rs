//! Evaluates variables in a frame, and their locations.

use crate::modules::{Module, Modules};
use crate::program::Program;
use crate::stack::callers::CALLERS_MAX;
use crate::stack::frames::Frame;
use juror_arch::{abi, dwarf};
use juror_debuggee::ThreadId;
use juror_symbols::{
    CallSite, DroppedParameter, EntryLocation, EntryPieceLocation, EntryStep, EvaluationContext,
    FixedLocation, Function, Memory, Piece, Type, ValueLocation, Variable,
};
use juror_values::error::ValueError;
use juror_values::typed::pieces::Pieces;
use juror_values::typed::{Partial, Typed, VALUE_SIZE_MAX};

impl Program {
    /// Returns the value of a variable in a frame.
    pub fn value_of(&self, frame: &Frame, variable: &Variable) -> Typed {
        let Some(module) = &frame.module else {
            return Typed::missing(variable.r#type.clone(), "no debug information");
        };
        if variable.parameter
            && frame.is_at_entry()
            && let Some(function) = &frame.function
        {
            let name = juror_symbols::Parameter::Name(&variable.name);
            if let Ok(value) = module.symbols.entry_value_plan(function, name) {
                let stack = frame
                    .registers
                    .get(dwarf::STACK_POINTER)
                    .map(abi::frame_at_entry);
                return self.at_entry(frame, value.r#type, &value.location, stack);
            }
        }
        if !variable.parameter
            && frame.is_at_entry()
            && let Some(function) = &frame.function
            && variable.is_behind_slot()
        {
            return self.captured_at_entry(frame, module, function, variable);
        }
        if let Some(value) = self.in_entered_coroutine(frame, variable) {
            return value;
        }
        let context = FrameContext {
            program: self,
            frame,
            bias: module.bias,
            depth: 0,
        };
        if frame.is_tail_call() && self.is_given_up(frame, &self.pieces_of(frame, variable)) {
            let why = "it was left when its function ended in a jump";
            return Typed::missing(variable.r#type.clone(), why);
        }
        let file_address = module.to_file(frame.lookup);
        located(variable, file_address, &context)
    }

    /// Returns the global and static variables of the source file of a frame, with their values.
    pub fn statics_of(&self, frame: &Frame) -> Vec<(String, Typed)> {
        let Some(module) = &frame.module else {
            return Vec::new();
        };
        let context = VariableContext {
            program: self,
            thread: frame.thread,
        };
        let address = module.to_file(frame.lookup);
        let found = module.symbols.globals_of_unit_at(address).into_iter();
        found
            .map(|variable| {
                let name = variable.name.to_string();
                (name, static_value(variable, module, context))
            })
            .collect()
    }

    /// Returns whether a piece was in the part of the stack that a function has released by a tail
    /// call, and that other calls use now.
    fn is_given_up(&self, frame: &Frame, pieces: &[Piece]) -> bool {
        let addresses = pieces.iter().filter_map(|piece| match piece.location {
            ValueLocation::Address(address) => Some(address),
            _ => None,
        });
        let Some(stack) = frame.registers.get(dwarf::STACK_POINTER) else {
            return false;
        };
        let mut below = addresses.filter(|&address| address < stack).peekable();
        below.peek().is_some()
            && self
                .mapping_of(stack)
                .is_none_or(|own| below.any(|address| own.contains(&address)))
    }

    /// Returns the address of the result of a frame's call, if the convention passes it at entry
    /// and the frame still has it.
    pub fn result_address(&self, frame: &Frame) -> Option<u64> {
        if frame.is_tail_call() {
            return None;
        }
        let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
        let result = module.symbols.return_value_plan(function)?;
        self.kept_from_entry(frame, result.address_at_entry?)
    }

    /// Returns a variable that is found through the frame, which the first instruction of a
    /// function does not have yet: through the argument that the frame will have there.
    fn captured_at_entry(
        &self,
        frame: &Frame,
        module: &Module,
        function: &Function,
        variable: &Variable,
    ) -> Typed {
        let found = module.symbols.entry_path(function, variable);
        let address = found.and_then(|path| {
            let mut address = match path.argument.location {
                EntryPieceLocation::Register(number) => frame.registers.get(number)?,
                EntryPieceLocation::Stack(offset) => {
                    let stack = frame.registers.get(dwarf::STACK_POINTER)?;
                    self.word_at(abi::frame_at_entry(stack).wrapping_add_signed(offset))?
                }
                _ => return None,
            };
            for step in &path.steps {
                address = match step {
                    EntryStep::Add(distance) => address.wrapping_add_signed(*distance),
                    EntryStep::Load => self.word_at(address)?,
                };
            }
            Some(address)
        });
        let r#type = variable.r#type.clone();
        match address {
            Some(address) => Typed::in_memory(r#type, address),
            None => Typed::missing(
                r#type,
                "it is found through the frame, which the function has not made yet",
            ),
        }
    }

    fn word_at(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        let is_read = self.read(address, &mut word);
        is_read.then(|| u64::from_le_bytes(word))
    }

    /// Returns a value at its location by the calling convention.
    pub fn at_entry(
        &self,
        frame: &Frame,
        r#type: Type,
        location: &EntryLocation,
        cfa: Option<u64>,
    ) -> Typed {
        let size = r#type.size().unwrap_or(8) as usize;
        let mut bytes = vec![0; size];
        // A mask of the parts that are not passed.
        let mut lost = vec![0; size];
        for piece in location {
            let register = |number: u16| {
                if dwarf::is_unwound(number) {
                    frame.registers.get(number).map(wide)
                } else {
                    self.wide_of(frame, number)
                }
            };
            let address = |number: u16| frame.registers.get(number);
            let stack = |offset: &i64| cfa.map(|cfa| cfa.wrapping_add_signed(*offset));
            match &piece.location {
                EntryPieceLocation::PointedByRegister(number) => {
                    return match address(*number) {
                        Some(address) => Typed::in_memory(r#type, address),
                        None => Typed::missing(r#type, "its address is not known"),
                    };
                }
                EntryPieceLocation::PointedByStack(offset) => {
                    let mut word = [0; 8];
                    return match stack(offset).filter(|&at| self.read(at, &mut word)) {
                        Some(_) => Typed::in_memory(r#type, u64::from_le_bytes(word)),
                        None => Typed::missing(r#type, "its address is not known"),
                    };
                }
                EntryPieceLocation::Stack(offset) if location.len() == 1 => {
                    return match stack(offset) {
                        Some(address) => Typed::in_memory(r#type, address),
                        None => Typed::missing(r#type, "its address is not known"),
                    };
                }
                EntryPieceLocation::Unavailable(_) if location.len() > 1 => {
                    let all = vec![u8::MAX; (piece.size as usize).min(size)];
                    put(&mut lost, piece.offset, piece.size, &all);
                }
                EntryPieceLocation::Unavailable(why) => return Typed::missing(r#type, *why),
                EntryPieceLocation::Register(number) => match register(*number) {
                    Some(wide) => put(&mut bytes, piece.offset, piece.size, &wide),
                    None => return Typed::missing(r#type, "its register is not known"),
                },
                EntryPieceLocation::RegisterPart {
                    register,
                    shift_bits,
                } => match address(*register) {
                    Some(word) => put(
                        &mut bytes,
                        piece.offset,
                        piece.size,
                        &(word >> (*shift_bits).min(63)).to_le_bytes(),
                    ),
                    None => return Typed::missing(r#type, "its register is not known"),
                },
                EntryPieceLocation::Stack(offset) => {
                    let mut word = [0; 8];
                    match stack(offset).filter(|&at| self.read(at, &mut word)) {
                        Some(_) => put(&mut bytes, piece.offset, piece.size, &word),
                        None => return Typed::missing(r#type, "its place cannot be read"),
                    }
                }
                EntryPieceLocation::Constant(constant) => {
                    put(&mut bytes, piece.offset, piece.size, constant);
                }
            }
        }
        if lost.iter().all(|byte| *byte == 0) {
            return Typed::of_bytes(r#type, bytes);
        }
        let known = lost.iter().map(|byte| !byte).collect();
        let location = Partial { bytes, known }.into_location(None);
        Typed {
            location,
            ..Typed::of_bytes(r#type, Vec::new())
        }
    }

    /// Returns the low eight bytes of a vector register.
    fn vector_of(&self, frame: &Frame, number: u16) -> Option<u64> {
        let wide = self.wide_of(frame, number)?;
        Some(u128::from_le_bytes(wide) as u64)
    }

    /// Returns the thread whose innermost frame this is, which is the only frame with known vector
    /// registers.
    pub(crate) fn innermost_thread(&self, frame: &Frame) -> Option<ThreadId> {
        // Another thread may be at the same instruction.
        let stack = frame.registers.get(dwarf::STACK_POINTER);
        let is_innermost = |thread: ThreadId| {
            let now = self.debuggee.registers(thread);
            now.is_ok_and(|now| {
                now.instruction_pointer() == frame.pc && Some(now.stack_pointer()) == stack
            })
        };
        let mut threads = self.debuggee.threads();
        let thread = threads.find(|thread| thread.pc == Some(frame.pc) && is_innermost(thread.id));
        Some(thread.filter(|_| !frame.is_tail_call())?.id)
    }

    /// Returns a vector or x87 register.
    pub(crate) fn wide_of(&self, frame: &Frame, number: u16) -> Option<[u8; 16]> {
        let thread = self.innermost_thread(frame)?;
        let vectors = self.debuggee.vector_registers(thread).ok()?;
        vectors.by_dwarf_number(number)
    }

    /// Returns the location of a variable in a frame, in pieces; empty if it is unknown.
    pub fn pieces_of(&self, frame: &Frame, variable: &Variable) -> Vec<Piece> {
        let Some(module) = &frame.module else {
            return Vec::new();
        };
        let context = FrameContext {
            program: self,
            frame,
            bias: module.bias,
            depth: 0,
        };
        let file_address = module.to_file(frame.lookup);
        let pieces = variable.location.evaluate(file_address, &context);
        pieces.unwrap_or_default()
    }
}

/// Extends a word to the size of a vector register.
fn wide(word: u64) -> [u8; 16] {
    u128::from(word).to_le_bytes()
}

fn put(bytes: &mut [u8], offset: u32, size: u32, source: &[u8]) {
    let start = (offset as usize).min(bytes.len());
    let count = (size as usize).min(source.len()).min(bytes.len() - start);
    bytes[start..start + count].copy_from_slice(&source[..count]);
}

/// The context of a frame in which locations are evaluated.
pub(crate) struct FrameContext<'a> {
    pub program: &'a Program,
    pub frame: &'a Frame,
    /// The load bias of its module.
    pub bias: u64,
    /// The number of callers between it and the frame whose value is wanted.
    pub depth: usize,
}

impl Memory for FrameContext<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.program.read(address, buffer)
    }
}

impl EvaluationContext for FrameContext<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        match number {
            _ if dwarf::vector_index(number).is_some() => {
                self.program.vector_of(self.frame, number)
            }
            // A function restores callee-saved registers and the stack before a tail call, which
            // clang's locations of variables ignore.
            _ if self.frame.is_tail_call() => self.passed_on(number),
            _ => self.frame.registers.get(number),
        }
    }
    fn cfa(&self) -> Option<u64> {
        self.frame.cfa
    }
    fn load_bias(&self) -> u64 {
        self.bias
    }
    fn tls_address(&self, offset: u64) -> Option<u64> {
        let module = self.frame.module.as_ref()?;
        self.program
            .thread_local(module, self.frame.thread?, offset)
    }
    fn entry_value(&self, register: u16) -> Option<u64> {
        self.told_by_caller(|site, caller| site.passed(register, caller))
    }
    fn dropped_parameter(&self, parameter: DroppedParameter) -> Option<u64> {
        self.told_by_caller(|site, caller| site.dropped(parameter, caller))
    }
}

impl FrameContext<'_> {
    /// Returns the value that the call site of the frame's function gives, or `None` if the call is
    /// not certain.
    fn told_by_caller(
        &self,
        said: impl Fn(&CallSite, &dyn EvaluationContext) -> Option<u64>,
    ) -> Option<u64> {
        let caller = self.program.certain_caller(self.frame, self.depth)?;
        let context = FrameContext {
            program: self.program,
            frame: &caller.frame,
            bias: caller.bias,
            depth: self.depth + 1,
        };
        said(&caller.site, &context)
    }

    /// Returns the value that a register had at the tail call in which the function ended: argument
    /// registers belong to the next function now, but the call site describes them.
    fn passed_on(&self, register: u16) -> Option<u64> {
        let tail_call = self.frame.tail_call.as_ref()?;
        if self.depth >= CALLERS_MAX {
            return None;
        }
        let context = FrameContext {
            depth: self.depth + 1,
            ..*self
        };
        tail_call.site().passed(register, &context)
    }
}

/// The context of a global variable.
#[derive(Clone, Copy)]
pub struct VariableContext<'a> {
    /// The program.
    pub program: &'a Program,
    /// The thread, if the variable may be thread-local.
    pub thread: Option<ThreadId>,
}

/// The context of a location that depends on no frame.
struct StaticContext<'a> {
    module: &'a Module,
    context: Option<VariableContext<'a>>,
}

impl Memory for StaticContext<'_> {
    /// Reads what a descriptor says; a location itself needs no memory.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.context
            .is_some_and(|context| context.program.read(address, buffer))
    }
}

impl EvaluationContext for StaticContext<'_> {
    fn register(&self, _: u16) -> Option<u64> {
        None
    }
    fn cfa(&self) -> Option<u64> {
        None
    }
    fn load_bias(&self) -> u64 {
        self.module.bias
    }
    fn tls_address(&self, offset: u64) -> Option<u64> {
        let VariableContext { program, thread } = self.context?;
        program.thread_local(self.module, thread?, offset)
    }
}

/// Returns the address of a global variable, or `None` if it is not fixed.
pub fn static_address(variable: &Variable, module: &Module, modules: &Modules) -> Option<u64> {
    let context = StaticContext {
        module,
        context: None,
    };
    match variable.location.evaluate(0, &context).ok()?.as_slice() {
        [
            Piece {
                location: ValueLocation::Address(address),
                ..
            },
        ] => Some(modules.address_of_data(module, module.to_file(*address))),
        _ => None,
    }
}

/// Returns the value of a global variable: in memory, a constant, or the reason why it is missing.
pub(crate) fn static_value(
    variable: Variable,
    module: &Module,
    context: VariableContext<'_>,
) -> Typed {
    let modules = &context.program.modules;
    let context = StaticContext {
        module,
        context: Some(context),
    };
    // Thread-local variables have no address in the file.
    let Some(FixedLocation::AtAddress(address)) = variable.location.fixed_at(0) else {
        return located(&variable, 0, &context);
    };
    let address = modules.address_of_data(module, address);
    match variable.placed_in(0, &context, address) {
        Ok((r#type, address)) => Typed::in_memory(r#type, address),
        Err(why) => Typed::missing(variable.r#type, why),
    }
}

/// Evaluates a location and composes its pieces.
fn located(variable: &Variable, pc: u64, context: &dyn EvaluationContext) -> Typed {
    let pieces = match variable.location.evaluate(pc, context) {
        Ok(pieces) => pieces,
        Err(error) => return Typed::missing(variable.r#type.clone(), error),
    };
    let r#type = variable.type_in(pc, context);
    match pieces.as_slice() {
        [] => return Typed::missing(r#type, ValueError::OptimizedOut),
        [
            Piece {
                location: ValueLocation::Address(address),
                size_bits: None,
                ..
            },
        ] => {
            return match variable.placed_in(pc, context, *address) {
                Ok((r#type, address)) => Typed::in_memory(r#type, address),
                Err(why) => Typed::missing(r#type, why),
            };
        }
        [
            Piece {
                location: ValueLocation::OptimizedOut,
                ..
            },
        ] => {
            return Typed::missing(r#type, ValueError::OptimizedOut);
        }
        _ => {}
    }
    let size = r#type.size().unwrap_or(8);
    if size > VALUE_SIZE_MAX {
        return Typed::missing(r#type, format!("{size} bytes in pieces are too many"));
    }
    let mut value = Pieces::new(size as usize);
    for piece in &pieces {
        value.add(piece, context);
    }
    value.into_typed(r#type)
}
