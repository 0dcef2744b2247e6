//! Stacks: the frames of a stopped thread, inlined ones included, and what is
//! visible in each.

use crate::modules::{Module, Modules, SourceLocation};
use crate::program::Program;
use crate::stack::callers::TailCall;
use juror_debuggee::ThreadId;
use juror_symbols::{
    Function, Registers, ScopeKind, UnwindError, UnwindMethod, Variable, register,
    unwind_without_file,
};
use std::path::PathBuf;
use std::rc::Rc;

/// The largest number of frames in a stack at which the stack pointer may stay or go anywhere:
/// of signals, of calls from juror, with a return address in a register. Otherwise a damaged
/// stack could lead round in a circle.
const STANDING_FRAMES_MAX: usize = 1_000;

/// A frame of a stack, as it is shown: an inlined call has one of its own.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Where it executes, in the process.
    pub pc: u64,
    /// The address by which names and lines are looked up: inside of the call
    /// instruction for callers.
    pub lookup: u64,
    /// The thread; nothing for a frame that stands for a place alone.
    pub thread: Option<ThreadId>,
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
    /// It is an inlined call that begins with the instruction at which the thread stands:
    /// nothing of it has been executed.
    pub begins: bool,
    /// The source file.
    pub file: Option<PathBuf>,
    /// The line in it.
    pub line: Option<u32>,
    /// A signal interrupted it.
    pub interrupted: bool,
    /// The kernel made it for the handler of a signal, which returns to it.
    pub is_of_signal: bool,
    /// It was found without unwind information.
    pub guess: bool,
    /// It has a caller, which cannot be found.
    pub is_cut: bool,
    /// It is the place from where juror called the frame before it: the number
    /// of what that call is part of. There is no code of the program here.
    pub called_by_juror: Option<u32>,
    /// Its function has ended in a jump to that of the frame before it: there is
    /// nothing of it in memory any more.
    pub tail_call: Option<Rc<TailCall>>,
    /// It is an inlined call that begins here, of which nothing is visible but these
    /// parameters, with the values that they are given.
    pub arguments: Option<Rc<[Variable]>>,
}

/// The variables of a scope, each with whether it is a parameter, and the names that the scope
/// declares for global variables.
type ScopeNames = (Vec<(Variable, bool)>, Vec<Box<str>>);

impl Frame {
    /// One at an address, of which nothing else is known.
    pub(crate) fn bare(pc: u64) -> Frame {
        Frame {
            pc,
            lookup: pc,
            thread: None,
            registers: Registers::default(),
            cfa: None,
            module: None,
            function: None,
            name: None,
            inline_depth: 0,
            inline_count: 0,
            begins: false,
            file: None,
            line: None,
            interrupted: false,
            is_of_signal: false,
            guess: false,
            is_cut: false,
            called_by_juror: None,
            tail_call: None,
            arguments: None,
        }
    }

    /// It stands at the first instruction of its function: its arguments are
    /// still where the caller put them.
    pub fn is_at_entry(&self) -> bool {
        !self.is_inlined()
            && !self.is_tail_call()
            && match (&self.function, &self.module) {
                (Some(function), Some(module)) => module.to_process(function.low_pc) == self.pc,
                _ => false,
            }
    }

    /// Whether a name as written is that of its function, or the end of it.
    pub fn is_called(&self, written: &str) -> bool {
        let name = self.name.as_deref();
        name.is_some_and(|name| match &self.module {
            Some(module) => {
                let address = module.to_file(self.lookup);
                module.symbols.is_named_at(address, name, written)
            }
            None => juror_symbols::is_name_of(written, name),
        })
    }

    /// Whether it is an inlined call.
    pub fn is_inlined(&self) -> bool {
        self.inline_depth < self.inline_count
    }

    /// How many inlined calls it is inside of, itself among them.
    pub fn nesting(&self) -> usize {
        self.inline_count.saturating_sub(self.inline_depth)
    }

    /// Whether its function has ended in a jump to that of the frame before it.
    pub fn is_tail_call(&self) -> bool {
        self.tail_call.is_some()
    }
}

/// How many of the innermost frames are inlined calls of which nothing has been executed:
/// the thread stands where each of them begins, and so also where it would be made.
pub fn beginning_calls(frames: &[Frame]) -> usize {
    let inner = frames.iter();
    inner.take_while(|frame| frame.begins).count()
}

/// In which of these frames a thread stands of which nobody has said more than where: 0 is
/// the innermost. At the first instruction of a function it is in the function, whatever
/// inlined calls begin there.
pub fn usual_level(frames: &[Frame]) -> usize {
    let beginning = beginning_calls(frames);
    let is_entry = frames.get(beginning).is_some_and(Frame::is_at_entry);
    if is_entry { beginning } else { 0 }
}

/// Which of these frames stands in a line: 0 is the innermost, the others are those that
/// inlined calls lie in. Nothing where none does. Where a closure is called in the line
/// that it is written in, and both begin, the line is that of the statement.
pub fn level_of_line(frames: &[Frame], file: &str, line: u32) -> Option<usize> {
    let is_in_line = |frame: &Frame| {
        let path = frame.file.as_ref();
        frame.line == Some(line) && path.is_some_and(|path| path.ends_with(file))
    };
    let mut beginning = frames.iter().take(beginning_calls(frames) + 1);
    let statement = beginning.rposition(is_in_line);
    statement.or_else(|| frames.iter().position(is_in_line))
}

/// The frame that a frame of a stack returns to: neither calls that were inlined nor
/// those that ended in a jump are returned to.
pub fn returns_to(frames: &[Frame], level: usize) -> Option<&Frame> {
    let inner = frames.iter().skip(level);
    let mut further_out = inner.skip_while(|inner| inner.is_inlined()).skip(1);
    further_out.find(|frame| !frame.is_tail_call())
}

impl Modules {
    /// The frames that a thread would have at an address, inlined calls first, as far as
    /// the address tells: no registers.
    pub fn frames_at(&self, address: u64) -> Vec<Frame> {
        with_inlined(Frame {
            module: self.find(address).cloned(),
            ..Frame::bare(address)
        })
    }

    /// The frame that a thread would be in at an address ([`usual_level`]).
    pub fn frame_at(&self, address: u64) -> Option<Frame> {
        let mut frames = self.frames_at(address);
        let level = usual_level(&frames);
        (level < frames.len()).then(|| frames.swap_remove(level))
    }

    /// The level of that frame.
    pub fn level_at(&self, address: u64) -> usize {
        usual_level(&self.frames_at(address))
    }
}

impl Program {
    /// The stack of a stopped thread, innermost first, at most `count` frames;
    /// and whether there are more.
    pub fn backtrace(&self, thread: ThreadId, count: usize) -> (Vec<Frame>, bool) {
        let mut frames: Vec<Frame> = Vec::new();
        let more = self.walk(thread, |frame| {
            let called = frames.last().filter(|inner| !inner.is_inlined());
            let jumped = called.map(|called| self.tail_frames(called, &frame));
            let jumped = jumped.into_iter().flatten().flat_map(with_inlined);
            for frame in jumped.chain([frame]).collect::<Vec<_>>() {
                if frames.len() >= count {
                    return false;
                }
                frames.push(frame);
            }
            true
        });
        (frames, more)
    }

    /// The innermost function of a stopped thread and, before it, the inlined calls that
    /// the thread is in.
    pub fn inlined_chain(&self, thread: ThreadId) -> Vec<Frame> {
        let mut frames = Vec::new();
        self.walk(thread, |frame| {
            let more = frame.is_inlined();
            frames.push(frame);
            more
        });
        frames
    }

    /// The canonical frame address of the innermost function of a stopped thread.
    pub fn innermost_frame_address(&self, thread: ThreadId) -> Option<u64> {
        let registers = self.registers_to_unwind(thread)?;
        let pc = registers.get(register::RIP)?;
        let module = self.modules.find(pc)?;
        let file_address = module.to_file(pc);
        let unwound = module.symbols.unwind_exact(file_address, &registers, self);
        unwound.ok().map(|unwound| unwound.cfa)
    }

    fn registers_to_unwind(&self, thread: ThreadId) -> Option<Registers> {
        let now = self.debuggee.registers(thread).ok()?;
        let mut registers = Registers::default();
        for number in 0..=16 {
            registers.set(number, now.by_dwarf_number(number));
        }
        Some(registers)
    }

    /// Walks the frames that are in memory until `visit` says no, with the calls inlined
    /// into them; tells whether it was cut short.
    pub fn walk(&self, thread: ThreadId, visit: impl FnMut(Frame) -> bool) -> bool {
        self.walk_described(thread, with_inlined, visit)
    }

    /// As [`Program::walk`], without inlined calls, names and lines: for calls whose functions
    /// alone matter, which costs a fraction.
    pub fn walk_functions(&self, thread: ThreadId, visit: impl FnMut(Frame) -> bool) -> bool {
        let with_function = |base: Frame| {
            let module = base.module.as_ref();
            let function = module.and_then(|it| it.symbols.function_at(it.to_file(base.lookup)));
            vec![Frame { function, ..base }]
        };
        self.walk_described(thread, with_function, visit)
    }

    fn walk_described(
        &self,
        thread: ThreadId,
        describe: impl Fn(Frame) -> Vec<Frame>,
        mut visit: impl FnMut(Frame) -> bool,
    ) -> bool {
        let Some(mut registers) = self.registers_to_unwind(thread) else {
            return false;
        };
        let mut exact = true;
        let mut interrupted = false;
        let mut guess = false;
        let mut is_innermost = true;
        let mut standing_frames = 0;
        loop {
            // A return address of zero ends the stack; a thread that is at zero has called a null
            // pointer.
            let Some(pc) = registers.get(register::RIP).filter(|&pc| pc != 0 || exact) else {
                return false;
            };
            if let Some((frame, below)) = self.frame_of_call(thread, pc, &registers) {
                if !visit(frame) {
                    return true;
                }
                registers = below;
                standing_frames += 1;
                if standing_frames > STANDING_FRAMES_MAX {
                    return true;
                }
                (exact, interrupted, guess) = (true, false, false);
                is_innermost = false;
                continue;
            }
            let lookup = if exact { pc } else { pc.wrapping_sub(1) };
            let module = self.modules.find(lookup).cloned();
            let unwound = match &module {
                Some(module) => {
                    let (symbols, pc) = (&module.symbols, module.to_file(lookup));
                    if exact {
                        symbols.unwind_exact(pc, &registers, self)
                    } else {
                        symbols.unwind(pc, &registers, self)
                    }
                }
                None => unwind_without_file(lookup, &registers, self, exact),
            };
            let is_cut = unwound
                .as_ref()
                .is_err_and(|error| !matches!(error, UnwindError::Outermost));
            let unwound = unwound.ok();
            let base = Frame {
                lookup,
                thread: Some(thread),
                registers,
                cfa: unwound.as_ref().map(|unwound| unwound.cfa),
                module,
                interrupted,
                is_of_signal: unwound.as_ref().is_some_and(|it| it.signal_frame),
                guess,
                is_cut,
                ..Frame::bare(pc)
            };
            let mut frames = describe(base);
            if !is_innermost {
                frames.drain(..usual_level(&frames));
            }
            is_innermost = false;
            for frame in frames {
                if !visit(frame) {
                    return true;
                }
            }
            let Some(unwound) = unwound else { return false };
            let stack = registers.get(register::RSP);
            let next = unwound.registers.get(register::RSP);
            // The stack only ever shrinks towards the callers, but for a
            // signal handler on a stack of its own. It is the same if the return address is
            // in a register (`vfork`).
            if !unwound.signal_frame && next < stack {
                return false;
            }
            standing_frames += usize::from(unwound.signal_frame || next == stack);
            if standing_frames > STANDING_FRAMES_MAX {
                return true;
            }
            exact = unwound.signal_frame;
            interrupted = unwound.signal_frame;
            guess = matches!(
                unwound.method,
                UnwindMethod::FramePointer | UnwindMethod::StackTop
            );
            registers = unwound.registers;
        }
    }

    /// The frame that a thread would be in at an address ([`usual_level`]).
    pub fn frame_at(&self, address: u64) -> Option<Frame> {
        self.modules.frame_at(address)
    }

    /// The frames that a thread would have at an address ([`Modules::frames_at`]).
    pub fn frames_at(&self, address: u64) -> Vec<Frame> {
        self.modules.frames_at(address)
    }

    /// The visible variables of a frame that have names, innermost scope first: name and
    /// value. Parameters are marked.
    pub fn variables(&self, frame: &Frame) -> Vec<(Variable, bool)> {
        let found = self.scopes_of(frame).into_iter();
        found.flat_map(|(variables, _)| variables).collect()
    }

    /// The visible variable or parameter of a frame with this name; nothing where a
    /// declaration of a global variable hides it.
    pub fn local_variable(&self, frame: &Frame, name: &str) -> Option<Variable> {
        for (variables, declared) in self.scopes_of(frame) {
            let mut variables = variables.into_iter();
            let found = variables.find(|(variable, _)| &*variable.name == name);
            if let Some((variable, _)) = found {
                return Some(variable);
            }
            if declared.iter().any(|known| **known == *name) {
                return None;
            }
        }
        None
    }

    /// Whether a block around the frame's place declares that a name means a global variable
    /// (`extern int count;`), and none within it has another variable of the name.
    pub fn declares_global(&self, frame: &Frame, name: &str) -> bool {
        for (variables, declared) in self.scopes_of(frame) {
            if variables
                .iter()
                .any(|(variable, _)| &*variable.name == name)
            {
                return false;
            }
            if declared.iter().any(|known| **known == *name) {
                return true;
            }
        }
        false
    }

    /// The variables of each scope of a frame, and the names that it declares for global
    /// ones, innermost first.
    fn scopes_of(&self, frame: &Frame) -> Vec<ScopeNames> {
        if let Some(arguments) = &frame.arguments {
            let named = arguments.iter().filter(|it| !it.name.is_empty());
            let named = named.map(|variable| (variable.clone(), true));
            return vec![(named.collect(), Vec::new())];
        }
        let Some(module) = &frame.module else {
            return Vec::new();
        };
        let mut seen_inlined = 0;
        let mut found = Vec::new();
        for scope in module.symbols.locals_at(module.to_file(frame.lookup)) {
            let here = seen_inlined == frame.inline_depth;
            let ends = !matches!(scope.kind, ScopeKind::Block);
            if here {
                let named = scope.variables.into_iter();
                let named = named.filter(|variable| !variable.name.is_empty());
                let named = named.map(|variable| {
                    let parameter = variable.parameter;
                    (variable, parameter)
                });
                found.push((named.collect(), scope.declared));
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

    /// Where a stopped thread is in the main program: the innermost call that
    /// the main program itself has made.
    pub fn innermost_own_call(&self, thread: ThreadId) -> Option<u64> {
        let mut found = None;
        self.walk_functions(thread, |frame| {
            let is_own = frame.module.as_ref().is_some_and(|module| module.is_main);
            found = is_own.then_some(frame.lookup);
            !is_own
        });
        found
    }
}

/// The frame itself and, before it, those of the calls inlined into it.
fn with_inlined(base: Frame) -> Vec<Frame> {
    let Some(module) = base.module.clone() else {
        return vec![base];
    };
    let address = module.to_file(base.lookup);
    // A caller stands behind its call, whatever begins there.
    let is_there = base.lookup == base.pc;
    let SourceLocation {
        function,
        inlined,
        left_out,
        line,
    } = if is_there {
        module.source_location_within(address)
    } else {
        module.source_location(address)
    };
    // Where a statement begins, a thread that stands there is at the statement, also if the
    // optimizer has put an instruction of another line there. At the beginning of a function
    // it is at that of the function, or of the inlined call.
    let begins = function.as_ref().map(|function| function.low_pc);
    let is_entered = begins
        .into_iter()
        .chain(inlined.first().map(|call| call.entry));
    let is_entered = is_entered.into_iter().any(|entry| entry == address);
    let begun = (is_there && !is_entered).then(|| module.symbols.line_begun_at(address));
    let line = begun.flatten().or(line);
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
            begins: is_there && call.entry == address,
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
