//! Stacks: the frames of a stopped thread, inlined ones included, and what is
//! visible in each.

use crate::modules::{Module, SourcePlace};
use crate::program::Program;
use crate::typed::{Place, Typed};
use juror_debuggee::ThreadId;
use juror_symbols::{
    EntryLocation, EntryPlace, EvaluationContext, Function, Location, Memory, Piece,
    Place as PiecePlace, Registers, ScopeKind, Type, UnwindMethod, Variable, register,
};
use std::path::PathBuf;
use std::rc::Rc;

/// Frames that are walked at the most.
const FRAMES_MAX: usize = 10_000;

/// A frame of a stack, as it is shown: an inlined call has one of its own.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Where it executes, in the process.
    pub pc: u64,
    /// The address by which names and lines are looked up: inside of the call
    /// instruction for callers.
    pub lookup: u64,
    /// Its registers, as far as they are known.
    pub registers: Registers,
    /// The canonical frame address.
    pub cfa: Option<u64>,
    /// The module that holds it.
    pub module: Option<Rc<Module>>,
    /// The function with a frame in memory.
    pub function: Option<Function>,
    /// The name that is shown: of the inlined function where it is one.
    pub name: Option<String>,
    /// How many inlined calls lie between it and the function.
    pub inline_depth: usize,
    /// How many inlined calls the place lies in, in all.
    pub inline_count: usize,
    /// The source file.
    pub file: Option<PathBuf>,
    /// The line in it.
    pub line: Option<u32>,
    /// A signal interrupted it.
    pub interrupted: bool,
    /// It was found without unwind information.
    pub guess: bool,
    /// It is the place from where juror called the frame before it: the number
    /// of what that call is part of. There is no code of the program here.
    pub called_by_juror: Option<u32>,
}

impl Frame {
    /// It stands at the first instruction of its function: its arguments are
    /// still where the caller put them.
    pub fn is_at_entry(&self) -> bool {
        !self.is_inlined()
            && match (&self.function, &self.module) {
                (Some(function), Some(module)) => module.to_process(function.low_pc) == self.pc,
                _ => false,
            }
    }

    /// Whether it is an inlined call.
    pub fn is_inlined(&self) -> bool {
        self.inline_depth < self.inline_count
    }
}

impl Program {
    /// The stack of a stopped thread, innermost first, at most `count` frames;
    /// and whether there are more.
    pub fn backtrace(&self, thread: ThreadId, count: usize) -> (Vec<Frame>, bool) {
        let mut frames = Vec::new();
        let more = self.walk(thread, |frame| {
            if frames.len() >= count {
                return false;
            }
            frames.push(frame);
            true
        });
        (frames, more)
    }

    /// Walks the stack until `visit` says no; tells whether it was cut short.
    pub fn walk(&self, thread: ThreadId, mut visit: impl FnMut(Frame) -> bool) -> bool {
        let Ok(now) = self.debuggee.registers(thread) else {
            return false;
        };
        let mut registers = Registers::default();
        for number in 0..=16 {
            registers.set(number, now.by_dwarf_number(number));
        }
        let mut exact = true;
        let mut interrupted = false;
        let mut guess = false;
        for _ in 0..FRAMES_MAX {
            let Some(pc) = registers.get(register::RIP).filter(|&pc| pc != 0) else {
                return false;
            };
            if let Some((frame, below)) = self.frame_of_call(thread, pc, &registers) {
                if !visit(frame) {
                    return true;
                }
                registers = below;
                (exact, interrupted, guess) = (true, false, false);
                continue;
            }
            let lookup = if exact { pc } else { pc.wrapping_sub(1) };
            let module = self.modules.find(lookup).cloned();
            let unwound = match &module {
                Some(module) => module
                    .symbols
                    .unwind(module.to_file(lookup), &registers, self)
                    .ok(),
                None => None,
            };
            let base = Frame {
                pc,
                lookup,
                registers,
                cfa: unwound.as_ref().map(|unwound| unwound.cfa),
                module,
                function: None,
                name: None,
                inline_depth: 0,
                inline_count: 0,
                file: None,
                line: None,
                interrupted,
                guess,
                called_by_juror: None,
            };
            for frame in with_inlined(base) {
                if !visit(frame) {
                    return true;
                }
            }
            let Some(unwound) = unwound else { return false };
            let stack = registers.get(register::RSP);
            let next = unwound.registers.get(register::RSP);
            // The stack only ever shrinks towards the callers, but for a
            // signal handler on a stack of its own.
            if !unwound.signal_frame && next <= stack {
                return false;
            }
            exact = unwound.signal_frame;
            interrupted = unwound.signal_frame;
            guess = matches!(unwound.method, UnwindMethod::FramePointer);
            registers = unwound.registers;
        }
        true
    }

    /// The frame that a thread would have at an address, as far as the address
    /// tells: no registers.
    pub fn frame_at(&self, address: u64) -> Option<Frame> {
        let base = Frame {
            pc: address,
            lookup: address,
            registers: Registers::default(),
            cfa: None,
            module: self.modules.find(address).cloned(),
            function: None,
            name: None,
            inline_depth: 0,
            inline_count: 0,
            file: None,
            line: None,
            interrupted: false,
            guess: false,
            called_by_juror: None,
        };
        with_inlined(base).into_iter().next()
    }

    /// The visible variables of a frame, innermost scope first: name and
    /// value. Parameters are marked.
    pub fn variables(&self, frame: &Frame) -> Vec<(Variable, bool)> {
        let Some(module) = &frame.module else {
            return Vec::new();
        };
        let mut seen_inlined = 0;
        let mut found = Vec::new();
        for scope in module.symbols.locals_at(module.to_file(frame.lookup)) {
            let here = seen_inlined == frame.inline_depth;
            let ends = !matches!(scope.kind, ScopeKind::Block);
            if here {
                found.extend(scope.variables.into_iter().map(|variable| {
                    let parameter = variable.parameter;
                    (variable, parameter)
                }));
            }
            if ends {
                if here {
                    break;
                }
                seen_inlined += 1;
            }
        }
        found
    }

    /// The value of a variable in a frame.
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
                    .get(register::RSP)
                    .map(|stack| stack.wrapping_add(8));
                return self.at_entry(frame, value.r#type, &value.location, stack);
            }
        }
        let context = FrameContext {
            program: self,
            frame,
            bias: module.bias,
        };
        located(
            &variable.location,
            module.to_file(frame.lookup),
            variable.r#type.clone(),
            &context,
        )
    }

    /// A value at its place by the calling convention.
    pub fn at_entry(
        &self,
        frame: &Frame,
        r#type: Type,
        location: &EntryLocation,
        cfa: Option<u64>,
    ) -> Typed {
        let size = r#type.size().unwrap_or(8) as usize;
        let mut bytes = vec![0; size];
        for piece in location {
            let register = |number: u16| match number {
                register::XMM0..=32 => self.vector_of(frame, number),
                _ => frame.registers.get(number),
            };
            let stack = |offset: &i64| cfa.map(|cfa| cfa.wrapping_add_signed(*offset));
            match &piece.place {
                EntryPlace::PointedByRegister(number) => {
                    return match register(*number) {
                        Some(address) => Typed::in_memory(r#type, address),
                        None => Typed::missing(r#type, "its address is not known"),
                    };
                }
                EntryPlace::PointedByStack(offset) => {
                    let mut word = [0; 8];
                    return match stack(offset).filter(|&at| self.read(at, &mut word)) {
                        Some(_) => Typed::in_memory(r#type, u64::from_le_bytes(word)),
                        None => Typed::missing(r#type, "its address is not known"),
                    };
                }
                EntryPlace::Stack(offset) if location.len() == 1 => {
                    return match stack(offset) {
                        Some(address) => Typed::in_memory(r#type, address),
                        None => Typed::missing(r#type, "its address is not known"),
                    };
                }
                EntryPlace::Unavailable(why) => return Typed::missing(r#type, why.to_string()),
                EntryPlace::Register(number) => match register(*number) {
                    Some(word) => put(&mut bytes, piece.offset, piece.size, &word.to_le_bytes()),
                    None => return Typed::missing(r#type, "its register is not known"),
                },
                EntryPlace::Stack(offset) => {
                    let mut word = [0; 8];
                    match stack(offset).filter(|&at| self.read(at, &mut word)) {
                        Some(_) => put(&mut bytes, piece.offset, piece.size, &word),
                        None => return Typed::missing(r#type, "its place cannot be read"),
                    }
                }
                EntryPlace::Constant(constant) => {
                    put(&mut bytes, piece.offset, piece.size, constant);
                }
            }
        }
        Typed::of_bytes(r#type, bytes)
    }

    fn vector_of(&self, frame: &Frame, number: u16) -> Option<u64> {
        // Only the innermost frame's vector registers are known.
        let thread = self
            .debuggee
            .threads()
            .find(|thread| thread.pc == Some(frame.pc))?
            .id;
        let vectors = self.debuggee.vector_registers(thread).ok()?;
        let xmm = vectors.xmm.get(usize::from(number - register::XMM0))?;
        let mut low = [0; 8];
        low.copy_from_slice(xmm.get(..8)?);
        Some(u64::from_le_bytes(low))
    }
}

fn put(bytes: &mut [u8], offset: u32, size: u32, source: &[u8]) {
    let start = (offset as usize).min(bytes.len());
    let count = (size as usize).min(source.len()).min(bytes.len() - start);
    bytes[start..start + count].copy_from_slice(&source[..count]);
}

/// The frame itself and, before it, those of the calls inlined into it.
fn with_inlined(base: Frame) -> Vec<Frame> {
    let Some(module) = base.module.clone() else {
        return vec![base];
    };
    let address = module.to_file(base.lookup);
    let SourcePlace {
        function,
        inlined,
        left_out,
        line,
    } = module.source_place(address);
    let mut file = line.as_ref().map(|line| line.file.to_path_buf());
    let mut number = line.map(|line| line.line).filter(|&line| line != 0);
    let count = inlined.len() + left_out;
    let mut frames = Vec::with_capacity(count + 1);
    for (depth, call) in inlined.into_iter().enumerate() {
        frames.push(Frame {
            function: function.clone(),
            name: Some(call.name.to_string()),
            inline_depth: depth,
            inline_count: count,
            file: std::mem::replace(&mut file, call.call_file),
            line: std::mem::replace(&mut number, call.call_line),
            ..base.clone()
        });
    }
    frames.push(Frame {
        name: function.as_ref().map(|function| function.name.to_string()),
        function,
        inline_depth: count,
        inline_count: count,
        file,
        line: number,
        ..base
    });
    frames
}

/// How many frames of a stack are the user's: what lies below `main`, or below
/// the function that Rust's library marks as where a program or thread begins,
/// starts every program alike. Nothing when the stack has no such frame.
pub fn users_frames(frames: &[Frame]) -> Option<usize> {
    let name = |frame: &Frame| frame.name.clone().unwrap_or_default();
    for (level, frame) in frames.iter().enumerate() {
        let is_main = frame.module.as_ref().is_some_and(|module| module.is_main);
        if !is_main {
            continue;
        }
        let called = name(frame);
        if called.contains("__rust_begin_short_backtrace") {
            let own = frames[..level].iter();
            let glue = own
                .rev()
                .take_while(|inner| name(inner).contains("core::ops::function::FnOnce"));
            return Some(level - glue.count()).filter(|&count| count > 0);
        }
        if called == "main" && !frame.is_inlined() {
            return Some(level + 1);
        }
    }
    None
}

/// What evaluating a location sees of a frame.
struct FrameContext<'a> {
    program: &'a Program,
    frame: &'a Frame,
    bias: u64,
}

impl Memory for FrameContext<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.program.read(address, buffer)
    }
}

impl EvaluationContext for FrameContext<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        match number {
            register::XMM0..=32 => self.program.vector_of(self.frame, number),
            _ => self.frame.registers.get(number),
        }
    }
    fn cfa(&self) -> Option<u64> {
        self.frame.cfa
    }
    fn load_bias(&self) -> u64 {
        self.bias
    }
}

/// A place that needs no frame: a global variable.
struct StaticContext {
    bias: u64,
}

impl Memory for StaticContext {
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }
}

impl EvaluationContext for StaticContext {
    fn register(&self, _: u16) -> Option<u64> {
        None
    }
    fn cfa(&self) -> Option<u64> {
        None
    }
    fn load_bias(&self) -> u64 {
        self.bias
    }
}

/// The address of a global variable, when it has one that never changes.
pub fn static_address(variable: &Variable, module: &Module) -> Option<u64> {
    let context = StaticContext { bias: module.bias };
    match variable.location.evaluate(0, &context).ok()?.as_slice() {
        [
            Piece {
                place: PiecePlace::Address(address),
                ..
            },
        ] => Some(*address),
        _ => None,
    }
}

/// Evaluates a location and gathers its pieces.
fn located(location: &Location, pc: u64, r#type: Type, context: &dyn EvaluationContext) -> Typed {
    let pieces = match location.evaluate(pc, context) {
        Ok(pieces) => pieces,
        Err(error) => return Typed::missing(r#type, error.to_string()),
    };
    match pieces.as_slice() {
        [] => return Typed::missing(r#type, "optimized out"),
        [
            Piece {
                place: PiecePlace::Address(address),
                size_bits: None,
                ..
            },
        ] => {
            return Typed::in_memory(r#type, *address);
        }
        [
            Piece {
                place: PiecePlace::OptimizedOut,
                ..
            },
        ] => {
            return Typed::missing(r#type, "optimized out");
        }
        _ => {}
    }
    let size = r#type.size().unwrap_or(8) as usize;
    let mut bytes = Vec::with_capacity(size);
    for piece in &pieces {
        let wanted = piece
            .size_bits
            .map_or(size - bytes.len().min(size), |bits| (bits / 8) as usize);
        let mut part = vec![0; wanted.min(size)];
        let offset = (piece.offset_bits / 8) as usize;
        match &piece.place {
            PiecePlace::Register(number) => {
                let Some(word) = context.register(*number) else {
                    return Typed::missing(r#type, "its register is not known in this frame");
                };
                let word = word.to_le_bytes();
                put(
                    &mut part,
                    0,
                    wanted as u32,
                    word.get(offset.min(8)..).unwrap_or(&[]),
                );
            }
            PiecePlace::Address(address) => {
                if !context.read(address.wrapping_add(offset as u64), &mut part) {
                    return Typed::missing(
                        r#type,
                        format!("memory at {address:#x} cannot be read"),
                    );
                }
            }
            PiecePlace::Value(number) => {
                put(&mut part, 0, wanted as u32, &number.to_le_bytes());
            }
            PiecePlace::Bytes(known) => {
                put(
                    &mut part,
                    0,
                    wanted as u32,
                    known.get(offset..).unwrap_or(&[]),
                );
            }
            _ => return Typed::missing(r#type, "partly optimized out"),
        }
        bytes.extend(part);
    }
    bytes.resize(size, 0);
    Typed {
        r#type,
        place: Place::Bytes(bytes),
        bits: None,
    }
}
