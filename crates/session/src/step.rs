//! Stepping: by line, by instruction, out of a function, to a place.
//!
//! Calls are passed by a temporary point at their return, with all threads
//! running; only what lies between calls is stepped by instruction, with the
//! other threads standing still.

use crate::options::{CommandError, Observer};
use crate::place;
use crate::run::{Goal, Pause, Temporary};
use crate::session::Session;
use crate::view::{Outcome, StopReason, VariableView};
use juror_debuggee::{Owner, ThreadId};
use juror_instrument::format::{Radix, format};
use juror_instrument::frames::Frame;
use juror_instrument::modules::Module;
use juror_instrument::program::Program;
use juror_instrument::unwinding::{Drops, frame_dropping_functions, jump_target};
use juror_stepping::{Flow, LineStops, flow_of};
use juror_symbols::TypeKind;
use std::ops::Range;
use std::rc::Rc;

/// The longest instruction of the machine, in bytes.
const INSTRUCTION_LENGTH_MAX: usize = 15;

/// How a line is stepped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Into functions that have lines.
    Into,
    /// Over all calls.
    Over,
    /// Over all calls, and never back to an earlier line of the function.
    Forward,
}

/// The line that a step by line is leaving.
struct Leaving {
    thread: ThreadId,
    /// The code of the line, in the process.
    ranges: Vec<Range<u64>>,
    line: Option<u32>,
    cfa: Option<u64>,
    /// Where its function begins.
    function: Option<u64>,
    /// How many calls were inlined where it is.
    inlined: usize,
    /// The step began in code that is not the user's: any line will do.
    foreign: bool,
    /// Where a thread that runs through it must be stopped, once asked for;
    /// nothing inside where it is to be stepped.
    stops: Option<Option<Rc<LineStops>>>,
}

impl Leaving {
    fn from(frame: &Frame, thread: ThreadId, foreign: bool) -> Leaving {
        Leaving {
            thread,
            ranges: line_ranges(frame),
            line: frame.line,
            cfa: frame.cfa,
            function: function_start(frame),
            inlined: frame.inline_count,
            foreign,
            stops: None,
        }
    }

    fn has(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// A tail call has the frame address of its caller.
    fn is_same_call(&self, frame: &Frame) -> bool {
        self.cfa == frame.cfa && self.function == function_start(frame)
    }

    fn holds(&self, frame: &Frame) -> bool {
        self.is_same_call(frame) && self.has(frame.pc)
    }
}

impl Session {
    /// Runs to the next line.
    pub(crate) fn step_line(
        &mut self,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        if let Some(pause) = self.begin(observer)? {
            return Ok(pause);
        }
        let thread = self.thread()?;
        let frame = self.innermost()?;
        let foreign = !self.is_users(&frame);
        let mut leaving = Leaving::from(&frame, thread, foreign);
        if leaving.ranges.is_empty() {
            // Nothing to step by here: go back to where there is.
            let (_, pause) = self.leave_frame(0, observer)?;
            return Ok(match pause {
                Pause::Temporary(thread) => Pause::Stepped(thread),
                other => other,
            });
        }
        loop {
            if let Some(pause) = self.advance_within_line(&mut leaving, lines, observer)? {
                return Ok(pause);
            }
        }
    }

    /// One move of a step by line. Gives a pause when the step is done, or
    /// something else ended it.
    fn advance_within_line(
        &mut self,
        leaving: &mut Leaving,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let thread = leaving.thread;
        let registers = *self.running()?.registers(thread)?;
        let flow = self.flow_at(registers.rip)?;
        if let (Flow::Call { back }, false) = (flow, lines == Lines::Into) {
            let pause = self.run_over_call(back, thread, registers.rsp, observer)?;
            if !matches!(pause, Pause::Temporary(_)) {
                return Ok(Some(pause));
            }
            return self.is_line_done(leaving, lines, observer);
        }
        let stops = match flow {
            Flow::Other => self.stops_around(leaving, registers.rip),
            Flow::Call { .. } | Flow::Return => None,
        };
        let stops = stops.filter(|stops| !stops.addresses.contains(&registers.rip));
        let pause = match stops {
            Some(stops) => self.run_within_line(thread, &stops, observer)?,
            None => self.step_instruction(thread, observer)?,
        };
        if !matches!(pause, Pause::Stepped(_) | Pause::Temporary(_)) {
            return Ok(Some(pause));
        }
        if self.has_entered_handler(thread, registers.rip)? {
            // Nobody asked for it: it comes back to the same instruction.
            let above = registers.rsp.wrapping_sub(1);
            let pause = self.run_to(registers.rip, thread, above, observer)?;
            return Ok((!matches!(pause, Pause::Temporary(_))).then_some(pause));
        }
        if let Flow::Call { back } = flow {
            return self.enter_call(leaving, back, registers.rsp, observer);
        }
        // Only a return leads into another call of the same code.
        let now = self.running()?.registers(thread)?.rip;
        if flow == Flow::Other && leaving.has(now) {
            return Ok(None);
        }
        self.is_line_done(leaving, lines, observer)
    }

    /// Whether a step from an address has led to the first instruction of a
    /// signal handler instead.
    fn has_entered_handler(&self, thread: ThreadId, from: u64) -> Result<bool, CommandError> {
        let program = self.running()?;
        let now = program.registers(thread)?.rip;
        let entered = program.modules.function_at(now);
        if entered.is_some_and(|bound| bound.address() != now) {
            return Ok(false);
        }
        let mut physical = 0;
        let mut is_interrupted = false;
        program.walk(thread, |frame| {
            is_interrupted = physical == 1 && frame.interrupted && frame.pc == from;
            physical += usize::from(!frame.is_inlined());
            physical < 2
        });
        Ok(is_interrupted)
    }

    /// Where a thread at an address must be stopped next: in its line, or in
    /// code that is passed on the way out of it.
    fn stops_around(&self, leaving: &mut Leaving, address: u64) -> Option<Rc<LineStops>> {
        if leaving.has(address) {
            let found = || self.stops_of_line(&leaving.ranges).map(Rc::new);
            return leaving.stops.get_or_insert_with(found).clone();
        }
        let module = self.program.as_ref()?.modules.find(address)?;
        let ranges = ranges_at(module, address);
        let is_inside = ranges.iter().any(|range| range.contains(&address));
        is_inside.then(|| self.stops_of_line(&ranges).map(Rc::new))?
    }

    fn flow_at(&self, address: u64) -> Result<Flow, CommandError> {
        let program = self.running()?;
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        // The instruction may be the last one of what is mapped.
        let count = (1..=INSTRUCTION_LENGTH_MAX)
            .rev()
            .find(|&count| program.debuggee.read(address, &mut bytes[..count]).is_ok());
        let bytes = bytes.get(..count.unwrap_or(0)).unwrap_or(&[]);
        Ok(flow_of(bytes, address))
    }

    /// Whether a person who steps wants to stop there: the place has a line
    /// and a source that can be shown. Where the program's own source is gone,
    /// everything in the program will do.
    fn is_users(&mut self, frame: &Frame) -> bool {
        let (Some(module), Some(file), Some(_)) = (&frame.module, &frame.file, frame.line) else {
            return false;
        };
        self.sources.line_count(file).is_some() || (module.is_main && !self.has_main_source())
    }

    fn has_main_source(&mut self) -> bool {
        match self.main_line() {
            Some((file, _)) => self.sources.line_count(&file).is_some(),
            None => false,
        }
    }

    /// A call has been stepped into: stays in a function that is the user's,
    /// runs over another one.
    fn enter_call(
        &mut self,
        leaving: &mut Leaving,
        back: u64,
        stack: u64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let frame = self.innermost()?;
        match self.body_to_enter(&frame, leaving.foreign)? {
            Some(body) if body == frame.pc => Ok(Some(Pause::Stepped(leaving.thread))),
            Some(body) => {
                // A function of a library may be another one than it seemed:
                // then the call is over at its return.
                let point = |address, above| Temporary {
                    address,
                    thread: Some(leaving.thread),
                    above,
                };
                let points = [point(body, 0), point(back, stack.wrapping_sub(1))];
                let pause = self.run_to_any(&points, observer)?;
                if matches!(pause, Pause::Temporary(_)) && self.innermost()?.pc == back {
                    return self.is_line_done(leaving, Lines::Into, observer);
                }
                Ok(Some(pause))
            }
            None => {
                let pause = self.run_over_call(back, leaving.thread, stack, observer)?;
                if matches!(pause, Pause::Temporary(_)) {
                    return self.is_line_done(leaving, Lines::Into, observer);
                }
                Ok(Some(pause))
            }
        }
    }

    /// Where the body of a function begins that is being entered at `frame`,
    /// when it is one to step into; also through a stub of the linkage table.
    fn body_to_enter(&mut self, frame: &Frame, foreign: bool) -> Result<Option<u64>, CommandError> {
        let (Some(module), Some(function)) = (&frame.module, &frame.function) else {
            return Ok(None);
        };
        let bodies: Vec<u64> = if function.plt {
            let program = self.running()?;
            let reached = program
                .modules
                .reached_definitions(&function.name, |_| true);
            let bodies = reached.iter().filter(|bound| !bound.function.indirect);
            bodies
                .map(|bound| {
                    let symbols = &bound.module.symbols;
                    bound
                        .module
                        .to_process(symbols.prologue_end(&bound.function))
                })
                .collect()
        } else {
            vec![module.to_process(module.symbols.prologue_end(function))]
        };
        let [body] = bodies.as_slice() else {
            return Ok(None);
        };
        let described = self.running()?.describe(*body);
        let (Some(file), Some(_)) = (described.file, described.line) else {
            return Ok(None);
        };
        let is_main = |session: &Session| {
            let found = session.program.as_ref()?.modules.find(*body)?;
            Some(found.is_main)
        };
        let wanted = foreign
            || self.sources.line_count(&file).is_some()
            || (is_main(self) == Some(true) && !self.has_main_source());
        Ok(wanted.then_some(*body))
    }

    /// Whether the thread has left the line. In the middle of another one, that
    /// one is to be left, too: a step ends where a statement begins.
    fn is_line_done(
        &mut self,
        leaving: &mut Leaving,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let frame = self.innermost()?;
        if leaving.holds(&frame) {
            return Ok(None);
        }
        let same_frame = leaving.is_same_call(&frame);
        if frame.line.is_none() || !(leaving.foreign || self.is_users(&frame)) {
            if same_frame {
                return Ok(None);
            }
            // A stub, the caller of `main`, a tail call into a library.
            return self.leave_foreign(&frame, leaving, observer);
        }
        // A call that was inlined is passed like any other.
        if same_frame && lines != Lines::Into && frame.inline_count > leaving.inlined {
            return Ok(None);
        }
        // Code that begins no statement counts to the line before it.
        let begins = line_ranges(&frame)
            .iter()
            .any(|range| range.start == frame.pc);
        if begins {
            let backwards = lines == Lines::Forward && same_frame && frame.line < leaving.line;
            return Ok((!backwards).then_some(Pause::Stepped(leaving.thread)));
        }
        if lines != Lines::Forward || !same_frame {
            *leaving = Leaving::from(&frame, leaving.thread, leaving.foreign);
        }
        Ok(None)
    }

    /// Out of code that is not the user's: runs to its return.
    fn leave_foreign(
        &mut self,
        frame: &Frame,
        leaving: &mut Leaving,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let thread = leaving.thread;
        let Some(cfa) = frame.cfa else {
            return Ok(Some(Pause::Stepped(thread)));
        };
        let Ok(back) = self.running()?.debuggee.read_u64(cfa.wrapping_sub(8)) else {
            return Ok(Some(Pause::Stepped(thread)));
        };
        let pause = self.run_over_call(back, thread, cfa, observer)?;
        if !matches!(pause, Pause::Temporary(_)) {
            return Ok(Some(pause));
        }
        let frame = self.innermost()?;
        if !leaving.holds(&frame) && self.is_users(&frame) {
            *leaving = Leaving::from(&frame, thread, leaving.foreign);
        }
        Ok(None)
    }

    /// Lets all threads run until a call of one thread has returned to `back`,
    /// or is gone because something jumped over it: `longjmp`, an exception.
    /// `stack` is the stack pointer before the call.
    fn run_over_call(
        &mut self,
        back: u64,
        thread: ThreadId,
        stack: u64,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let point = |address, above| Temporary {
            address,
            thread: Some(thread),
            above,
        };
        let exits = frame_dropping_functions(self.running()?);
        let mut points = vec![point(back, stack.wrapping_sub(1))];
        points.extend(exits.iter().map(|exit| match exit.drops {
            // Called by the frame that has caught.
            Drops::Caught => point(exit.address, stack.wrapping_sub(9)),
            Drops::Jump => point(exit.address, 0),
        }));
        loop {
            let pause = self.run_to_any(&points, observer)?;
            if !matches!(pause, Pause::Temporary(_)) {
                return Ok(pause);
            }
            let program = self.running()?;
            let registers = *program.registers(thread)?;
            let exit = exits.iter().find(|exit| exit.address == registers.rip);
            match exit.map(|exit| exit.drops) {
                None => return Ok(pause),
                Some(Drops::Caught) => {
                    let after = program.debuggee.read_u64(registers.rsp)?;
                    return self.run_to(after, thread, registers.rsp, observer);
                }
                Some(Drops::Jump) => {
                    if let Some(target) = jump_target(program, thread)?
                        && target.stack >= stack
                    {
                        return self.run_to(target.pc, thread, target.stack - 1, observer);
                    }
                    // A jump inside of the call: past its point.
                    let pause = self.step_instruction(thread, observer)?;
                    if !matches!(pause, Pause::Stepped(_)) {
                        return Ok(pause);
                    }
                }
            }
        }
    }

    /// One instruction of a thread. The others stand still, unless it may wait
    /// for them: in a system call.
    pub(crate) fn step_instruction(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        if let Some(pause) = self.begin(observer)? {
            return Ok(pause);
        }
        self.prepare_all_followed()?;
        let program = self.running_mut()?;
        let may_wait = is_at_system_call(program, thread)?;
        program.debuggee.step(thread)?;
        if may_wait {
            self.resume_processes()?;
        }
        let goal = Goal {
            stepping: Some(thread),
            ..Goal::default()
        };
        let pause = self.pump(observer, goal);
        if may_wait {
            self.halt_processes()?;
        }
        pause
    }

    /// One instruction, and over it when it is a call.
    pub(crate) fn next_instruction(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let registers = *self.running()?.registers(thread)?;
        match self.flow_at(registers.rip)? {
            Flow::Call { back } => self.run_over_call(back, thread, registers.rsp, observer),
            _ => self.step_instruction(thread, observer),
        }
    }

    /// Lets all threads run until one thread is at an address with its stack
    /// pointer above a limit.
    fn run_to(
        &mut self,
        address: u64,
        thread: ThreadId,
        above: u64,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        self.run_to_any(
            &[Temporary {
                address,
                thread: Some(thread),
                above,
            }],
            observer,
        )
    }

    /// Lets all threads run until one of these points is reached.
    pub(crate) fn run_to_any(
        &mut self,
        points: &[Temporary],
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        if let Some(pause) = self.begin(observer)? {
            return Ok(pause);
        }
        self.prepare_all_followed()?;
        let process = self.processes.current();
        let program = self.running_mut()?;
        for point in points {
            program.debuggee.insert(point.address, Owner::Step)?;
        }
        self.resume_processes()?;
        let pause = self.pump(
            observer,
            Goal {
                temporaries: points,
                stepping: None,
            },
        );
        self.halt_processes()?;
        if let Some(program) = self.program_of(process)
            && program.debuggee.is_alive()
        {
            for point in points {
                program.debuggee.remove(point.address, Owner::Step)?;
            }
        }
        pause
    }

    /// `finish`: runs until a frame returns.
    pub(crate) fn finish_frame(
        &mut self,
        level: usize,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let (frame, pause) = self.leave_frame(level, observer)?;
        let Pause::Temporary(thread) = pause else {
            return self.settle(pause);
        };
        let function = frame.name.clone().unwrap_or_else(|| "??".to_owned());
        let returned = self.returned_value(&frame, thread);
        self.stop(StopReason::Finished { returned, function }, thread)
    }

    /// Runs until a frame returns: `Temporary` then. Where it is left by a jump
    /// or an exception, nothing was returned, and that is a step.
    fn leave_frame(
        &mut self,
        level: usize,
        observer: &mut dyn Observer,
    ) -> Result<(Frame, Pause), CommandError> {
        let thread = self.thread()?;
        let frames = self.frames()?;
        let frame = frames
            .get(level)
            .cloned()
            .ok_or_else(|| CommandError::new("there is no such frame"))?;
        if frame.called_by_juror.is_some() {
            let pause = self.continue_until_pause(observer)?;
            return Ok((frame, pause));
        }
        // Calls that were inlined have no return of their own.
        let caller = frames
            .iter()
            .skip(level)
            .skip_while(|inner| inner.is_inlined())
            .nth(1);
        let (Some(back), Some(cfa)) = (caller.map(|caller| caller.pc), frame.cfa) else {
            return Err(CommandError::new(
                "the outermost frame has nothing to return to",
            ));
        };
        let pause = match self.run_over_call(back, thread, cfa, observer)? {
            Pause::Temporary(thread) if self.running()?.registers(thread)?.rip != back => {
                Pause::Stepped(thread)
            }
            pause => pause,
        };
        Ok((frame, pause))
    }

    fn returned_value(&mut self, frame: &Frame, thread: ThreadId) -> Option<VariableView> {
        let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
        let value = module.symbols.return_value_plan(function)?;
        if matches!(value.r#type.strip().kind(), TypeKind::Void) {
            return None;
        }
        let program = self.program.as_ref()?;
        let (frames, _) = program.backtrace(thread, 1);
        let now = frames.first()?;
        let typed = program.at_entry(now, value.r#type.clone(), &value.location, None);
        let text = format(&typed, program, program, Radix::Natural);
        let number = self.keep(typed);
        Some(VariableView {
            name: format!("${number}"),
            type_name: value.r#type.name(),
            value: text,
        })
    }

    /// `advance PLACE`, `until PLACE`: runs to a place, or to the return of
    /// the current function.
    pub(crate) fn advance_to(
        &mut self,
        text: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let thread = self.thread()?;
        let placed = place::parse(text).map_err(CommandError::new)?;
        let place = self.resolvable(&placed.place)?;
        let addresses = place.resolve(&self.running()?.modules).addresses;
        if addresses.is_empty() {
            return Err(CommandError::new(format!("there is no code at `{text}`")));
        }
        let mut points: Vec<Temporary> = addresses
            .into_iter()
            .map(|address| Temporary {
                address,
                thread: Some(thread),
                above: 0,
            })
            .collect();
        let frames = self.frames()?;
        if let (Some(first), Some(caller)) = (frames.first(), frames.get(1))
            && let Some(cfa) = first.cfa
        {
            let above = cfa.wrapping_sub(1);
            points.push(Temporary {
                address: caller.pc,
                thread: Some(thread),
                above,
            });
        }
        let pause = self.run_to_any(&points, observer)?;
        self.settle(pause)
    }

    /// The innermost frame of the selected thread, as it is now.
    fn innermost(&mut self) -> Result<Frame, CommandError> {
        let thread = self.thread()?;
        let mut frames = Vec::new();
        self.running()?.walk(thread, |frame| {
            let more = frame.is_inlined();
            frames.push(frame);
            more
        });
        let mut frames = self.without_foreign_inlined(frames);
        if frames.is_empty() {
            return Err(CommandError::new("the thread has no stack"));
        }
        Ok(frames.swap_remove(0))
    }

    /// Leaves out what was inlined from elsewhere (a library's header, Rust's
    /// own library) and has no source to show: one is in the function that it
    /// was inlined into.
    pub(crate) fn without_foreign_inlined(&mut self, mut frames: Vec<Frame>) -> Vec<Frame> {
        let call = frames.iter().position(|frame| !frame.is_inlined());
        let chain = frames.get(..=call.unwrap_or(0)).unwrap_or(&[]).to_vec();
        let own = chain.iter().position(|frame| self.is_users(frame));
        frames.drain(..own.unwrap_or(0));
        frames
    }
}

/// Whether the thread is about to make a system call, or was stopped in one
/// that goes on when it runs.
fn is_at_system_call(program: &Program, thread: ThreadId) -> Result<bool, CommandError> {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    let pc = program.registers(thread)?.rip;
    let is_call = |address| {
        let mut bytes = [0; 2];
        program.debuggee.read(address, &mut bytes).is_ok() && bytes == SYSCALL
    };
    Ok(is_call(pc) || is_call(pc.wrapping_sub(2)))
}

fn function_start(frame: &Frame) -> Option<u64> {
    let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
    Some(module.to_process(function.low_pc))
}

/// The code of the line that a frame stands in.
fn line_ranges(frame: &Frame) -> Vec<Range<u64>> {
    match &frame.module {
        Some(module) => ranges_at(module, frame.pc),
        None => Vec::new(),
    }
}

/// The code of the line at an address.
fn ranges_at(module: &Module, address: u64) -> Vec<Range<u64>> {
    let ranges = module.symbols.step_ranges(module.to_file(address));
    ranges
        .into_iter()
        .map(|range| module.to_process(range.start)..module.to_process(range.end))
        .collect()
}
