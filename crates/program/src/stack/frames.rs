//! The frames of a stopped thread, including inlined calls, and their visible variables.

use crate::modules::{Module, Modules, SourceLocation};
use crate::program::Program;
use crate::stack::callers::TailCall;
use juror_arch::dwarf;
use juror_debuggee::ThreadId;
use juror_symbols::{
    Function, Registers, Scope, ScopeKind, UnwindError, UnwindMethod, Variable, is_path_of,
    unwind_without_file,
};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The most frames in a stack at which the stack pointer need not grow: signal frames, calls made
/// by juror, a return address in a register. Otherwise a damaged stack could cause an endless walk.
const STANDING_FRAMES_MAX: usize = 1_000;

/// A frame of a stack as it is shown. An inlined call has a frame of its own.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The program counter, in the process.
    pub pc: u64,
    /// The address for the lookup of names and lines: inside the call instruction for callers.
    pub lookup: u64,
    /// The thread; `None` for a frame that only represents an address.
    pub thread: Option<ThreadId>,
    /// The registers, as far as they are known.
    pub registers: Registers,
    /// The canonical frame address.
    pub cfa: Option<u64>,
    /// The module that contains the address.
    pub module: Option<Rc<Module>>,
    /// The function that has a frame in memory.
    pub function: Option<Function>,
    /// The displayed name: that of the inlined function for an inlined call.
    pub name: Option<String>,
    /// The number of inlined calls inside of this frame.
    pub inline_depth: usize,
    /// The number of inlined calls at the address.
    pub inline_count: usize,
    /// Whether it is an inlined call whose first instruction is the current one, so that none of it
    /// has been executed.
    pub begins: bool,
    /// The source file.
    pub file: Option<PathBuf>,
    /// The source line.
    pub line: Option<u32>,
    /// Whether a signal interrupted it.
    pub interrupted: bool,
    /// Whether the kernel created it for a signal handler to return to.
    pub is_of_signal: bool,
    /// Whether it was found without unwind information.
    pub guess: bool,
    /// Whether it has a caller that cannot be found.
    pub is_cut: bool,
    /// The number of the call, for the frame that marks a call made by juror. It has no code of the
    /// program.
    pub called_by_juror: Option<u32>,
    /// The tail call in which the function ended, for a frame that is no longer in memory.
    pub tail_call: Option<Rc<TailCall>>,
    /// The parameters of an inlined call that begins here, with their values. Nothing else is
    /// visible in it.
    pub arguments: Option<Rc<[Variable]>>,
    /// Whether the program has not begun, and only its loader has: names mean those of the program.
    pub is_launching: bool,
}

impl Frame {
    /// Returns a frame at an address without any other information.
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
            is_launching: false,
        }
    }

    /// Returns whether it is at the first instruction of its function, so that the arguments are
    /// still where the caller put them.
    pub fn is_at_entry(&self) -> bool {
        !self.is_inlined()
            && !self.is_tail_call()
            && match (&self.function, &self.module) {
                (Some(function), Some(module)) => module.to_process(function.low_pc) == self.pc,
                _ => false,
            }
    }

    /// Returns whether a name as written denotes its function, completely or by the last
    /// components.
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

    /// Returns whether it is an inlined call.
    pub fn is_inlined(&self) -> bool {
        self.inline_depth < self.inline_count
    }

    /// Returns the number of inlined calls around its place, including itself.
    pub fn nesting(&self) -> usize {
        self.inline_count.saturating_sub(self.inline_depth)
    }

    /// Returns whether its function ended in a tail call.
    pub fn is_tail_call(&self) -> bool {
        self.tail_call.is_some()
    }
}

/// Returns the number of innermost frames that are inlined calls at their first instruction: the
/// thread is both at their start and at the call site.
pub fn beginning_calls(frames: &[Frame]) -> usize {
    let inner = frames.iter();
    inner.take_while(|frame| frame.begins).count()
}

/// Returns the level of the frame that is selected for a stopped thread by default, 0 for the
/// innermost. At the first instruction of a function it is the function, whatever inlined calls
/// begin there.
pub fn usual_level(frames: &[Frame]) -> usize {
    let beginning = beginning_calls(frames);
    let is_entry = frames.get(beginning).is_some_and(Frame::is_at_entry);
    if is_entry { beginning } else { 0 }
}

/// Returns the level of the frame with a source line, 0 for the innermost, or `None` if none has
/// it. If a closure is called in the line that defines it, and both begin, the statement is
/// selected.
pub fn level_of_line(frames: &[Frame], file: &str, line: u32) -> Option<usize> {
    let is_in_line = |frame: &Frame| {
        let is_meant = |path: &Path| match &frame.module {
            Some(module) => module.symbols.is_source(Path::new(file), path),
            None => is_path_of(Path::new(file), path),
        };
        frame.line == Some(line) && frame.file.as_deref().is_some_and(is_meant)
    };
    let mut beginning = frames.iter().take(beginning_calls(frames) + 1);
    let statement = beginning.rposition(is_in_line);
    statement.or_else(|| frames.iter().position(is_in_line))
}

/// Returns the frame that a frame returns to, skipping inlined calls and tail calls.
pub fn returns_to(frames: &[Frame], level: usize) -> Option<&Frame> {
    let inner = frames.iter().skip(level);
    let mut further_out = inner.skip_while(|inner| inner.is_inlined()).skip(1);
    further_out.find(|frame| !frame.is_tail_call())
}

impl Modules {
    /// Returns the frames of a thread at an address, inlined calls first, without registers.
    pub fn frames_at(&self, address: u64) -> Vec<Frame> {
        with_inlined(Frame {
            module: self.find(address).cloned(),
            ..Frame::bare(address)
        })
    }

    /// Returns the frame that is selected for a thread at an address ([`usual_level`]).
    pub fn frame_at(&self, address: u64) -> Option<Frame> {
        let mut frames = self.frames_at(address);
        let level = usual_level(&frames);
        (level < frames.len()).then(|| frames.swap_remove(level))
    }

    /// Returns the level of the frame that is selected at an address.
    pub fn level_at(&self, address: u64) -> usize {
        usual_level(&self.frames_at(address))
    }
}

impl Program {
    /// Returns the stack of a stopped thread, innermost first, at most `count` frames, and whether
    /// there are more.
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

    /// Returns the inlined calls that a stopped thread is in, innermost first, and the function
    /// around them.
    pub fn inlined_chain(&self, thread: ThreadId) -> Vec<Frame> {
        let mut frames = Vec::new();
        self.walk(thread, |frame| {
            let more = frame.is_inlined();
            frames.push(frame);
            more
        });
        frames
    }

    /// Returns the canonical frame address of the innermost function of a stopped thread.
    pub fn innermost_frame_address(&self, thread: ThreadId) -> Option<u64> {
        let registers = self.registers_to_unwind(thread)?;
        let pc = registers.get(dwarf::INSTRUCTION_POINTER)?;
        let module = self.modules.find(pc)?;
        let file_address = module.to_file(pc);
        let unwound = module.symbols.unwind_exact(file_address, &registers, self);
        unwound.ok().map(|unwound| unwound.cfa)
    }

    fn registers_to_unwind(&self, thread: ThreadId) -> Option<Registers> {
        let now = self.debuggee.registers(thread).ok()?;
        let mut registers = Registers::default();
        for number in 0..dwarf::UNWOUND_COUNT as u16 {
            registers.set(number, now.by_dwarf_number(number));
        }
        Some(registers)
    }

    /// Walks the frames in memory, with their inlined calls, until `visit` returns false. Returns
    /// whether the walk was cut short.
    pub fn walk(&self, thread: ThreadId, visit: impl FnMut(Frame) -> bool) -> bool {
        self.walk_described(thread, with_inlined, visit)
    }

    /// Walks the frames like [`Program::walk`], without inlined calls, names and lines, which is
    /// several times faster.
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
            // A return address of zero ends the stack. A program counter of zero means that a null
            // pointer was called.
            let Some(pc) = registers
                .get(dwarf::INSTRUCTION_POINTER)
                .filter(|&pc| pc != 0 || exact)
            else {
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
            let stack = registers.get(dwarf::STACK_POINTER);
            let next = unwound.registers.get(dwarf::STACK_POINTER);
            // The stack pointer only grows towards the callers, except from a signal handler on an
            // alternate stack. It stays the same if the return address is in a register (`vfork`).
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

    /// Returns the frame that is selected for a thread at an address ([`usual_level`]).
    pub fn frame_at(&self, address: u64) -> Option<Frame> {
        self.modules.frame_at(address)
    }

    /// Returns the frames of a thread at an address ([`Modules::frames_at`]).
    pub fn frames_at(&self, address: u64) -> Vec<Frame> {
        self.modules.frames_at(address)
    }

    /// Returns the named variables visible in a frame, innermost scope first, each with whether it
    /// is a parameter.
    pub fn variables(&self, frame: &Frame) -> Vec<(Variable, bool)> {
        let found = self.scopes_of(frame).into_iter();
        let found = found.flat_map(|scope| scope.variables);
        found
            .map(|variable| {
                let parameter = variable.parameter;
                (variable, parameter)
            })
            .collect()
    }

    /// Returns the scopes of a frame with their named variables, innermost first.
    pub(crate) fn scopes_of(&self, frame: &Frame) -> Vec<Scope> {
        if let Some(arguments) = &frame.arguments {
            let named = arguments.iter().filter(|it| !it.name.is_empty());
            let mut scope = Scope::of(ScopeKind::Function);
            scope.variables.extend(named.cloned());
            return vec![scope];
        }
        let Some(module) = &frame.module else {
            return Vec::new();
        };
        let mut seen_inlined = 0;
        let mut found = Vec::new();
        for mut scope in module.symbols.locals_at(module.to_file(frame.lookup)) {
            let here = seen_inlined == frame.inline_depth;
            let ends = !matches!(scope.kind, ScopeKind::Block);
            if here {
                scope.variables.retain(|variable| !variable.name.is_empty());
                found.push(scope);
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

    /// Returns the address of the innermost call that the executable itself has made in a stopped
    /// thread.
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

/// Returns a frame, preceded by the frames of its inlined calls.
fn with_inlined(base: Frame) -> Vec<Frame> {
    let Some(module) = base.module.clone() else {
        return vec![base];
    };
    let address = module.to_file(base.lookup);
    // A caller is behind its call, whatever begins at the return address.
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
    // A thread at the start of a statement is in the statement's line, even if the optimizer moved
    // an instruction of another line there. At the start of a function or inlined call it is in the
    // line of that.
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

/// Returns the number of innermost frames that belong to the user's code. The frames below `main`,
/// or below the function with which Rust's library marks the start of a program or thread, are the
/// same in every program. Returns `None` if the stack has no such frame.
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
