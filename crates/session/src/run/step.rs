//! Steps by line. `moves` has the parts; `out` runs out of a function, and to a location.
//!
//! Calls are stepped over by a temporary point at their return, with all threads running; only the
//! code between calls is single-stepped, with the other threads stopped.

pub(crate) mod calls;
pub(crate) mod inlined;
mod linkage;
pub(crate) mod moves;
pub(crate) mod out;

use crate::inspect::source;
use crate::run::pause::{Pause, Temporary};
pub(crate) use crate::run::step::out::nowhere_to_return;
use crate::session::Session;
use juror_arch::abi;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_program::modules::{Bound, Module};
use juror_program::stack::frames::Frame;
use juror_stepping::{Flow, LineStops};
use juror_view::observer::Observer;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

/// The kind of a step by line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Into functions that have lines.
    Into,
    /// Over all calls.
    Over,
    /// Over all calls, and never back to an earlier line of the function, nor to earlier code of
    /// it.
    Forward,
}

/// The line that a step by line is leaving.
struct Leaving {
    thread: ThreadId,
    /// The address where the step began.
    pc: u64,
    /// The address ranges of the line, in the process.
    ranges: Vec<Range<u64>>,
    file: Option<PathBuf>,
    line: Option<u32>,
    cfa: Option<u64>,
    /// The beginning of its function.
    function: Option<u64>,
    /// The depth of inlined calls.
    nesting: usize,
    /// The address from which it was executed last; `None` after the return from a call.
    walked_from: Option<u64>,
    /// Whether the step began in code that is not the user's: any line will do.
    foreign: bool,
    /// The address of the call that is stepped into, if one was chosen: the others are stepped over.
    call: Option<u64>,
    /// Whether that call has been entered.
    has_entered: bool,
    /// Where a thread that runs through it must be stopped, once computed; `Some(None)` if it must
    /// be single-stepped.
    stops: Option<Option<Rc<LineStops>>>,
}

impl Leaving {
    fn from(frame: &Frame, thread: ThreadId, foreign: bool) -> Leaving {
        Leaving {
            thread,
            pc: frame.pc,
            ranges: shown_ranges(frame),
            file: frame.file.clone(),
            line: frame.line,
            cfa: frame.cfa,
            function: function_start(frame),
            nesting: frame.nesting(),
            walked_from: None,
            foreign,
            call: None,
            has_entered: false,
            stops: None,
        }
    }

    /// Goes on with the thread that a run ended with: that of a forked child, if it is
    /// followed.
    fn continue_with(&mut self, pause: &Pause) {
        if let Pause::Stepped(thread) | Pause::Temporary(thread) = pause {
            self.thread = *thread;
        }
    }

    fn has(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// A tail call has the frame address of its caller.
    fn is_same_call(&self, frame: &Frame) -> bool {
        self.cfa == frame.cfa && self.function == function_start(frame)
    }

    /// Returns whether a step may end in a frame: a statement begins there. The code after a call
    /// often has a row of the line table, in the middle of its statement; and if a row of another
    /// function begins there, the line may be the same as before.
    fn is_done_at(&self, frame: &Frame) -> bool {
        let begins_own = begins_own_statement(frame);
        let ranges = line_ranges(frame);
        let has = |pc: u64| ranges.iter().any(|range| range.contains(&pc));
        if ranges.iter().any(|range| range.start == frame.pc) {
            begins_own || !self.is_line_of(frame)
        } else {
            // A thread that came into the middle of the line, say by a jump out of a handler, runs
            // through the rest of it.
            begins_own && self.walked_from.is_some_and(|from| !has(from))
        }
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
        if lines == Lines::Into && self.enter_inlined(thread)? {
            return Ok(Pause::Stepped(thread));
        }
        let frame = self.innermost()?;
        let foreign = !self.is_users(&frame);
        let mut leaving = Leaving::from(&frame, thread, foreign);
        if line_ranges(&frame).is_empty() {
            // There is no line here: go back to where there is one.
            let (_, pause) = self.leave_frame(0, observer)?;
            let Pause::Temporary(thread) = pause else {
                return Ok(pause);
            };
            self.stand_before_calls(thread)?;
            return Ok(Pause::Stepped(thread));
        }
        loop {
            if let Some(pause) = self.advance_within_line(&mut leaving, lines, observer)? {
                return Ok(pause);
            }
        }
    }

    /// Runs to the next line of the function that a call was inlined into; `frame` is that of the
    /// call, in the innermost function.
    fn step_out_of_inlined(
        &mut self,
        frame: &Frame,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let thread = self.thread()?;
        let now = self.innermost()?;
        let outside = frame.nesting().saturating_sub(1);
        let mut leaving = Leaving {
            nesting: outside,
            // Its caller continues with any line.
            line: None,
            ..Leaving::from(&now, thread, false)
        };
        if !leaving.is_same_call(frame) || now.nesting() <= outside {
            return Ok(Pause::Stepped(thread));
        }
        loop {
            if let Some(pause) = self.advance_within_line(&mut leaving, Lines::Over, observer)? {
                return Ok(pause);
            }
        }
    }

    /// Makes one move of a step by line. Returns a pause if the step is done, or something else
    /// ended it.
    fn advance_within_line(
        &mut self,
        leaving: &mut Leaving,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let thread = leaving.thread;
        let registers = *self.running()?.registers(thread)?;
        let flow = self.flow_at(registers.instruction_pointer())?;
        leaving.walked_from = (flow == Flow::Other).then_some(registers.instruction_pointer());
        let is_entered = match leaving.call {
            Some(call) => registers.instruction_pointer() == call,
            None => lines == Lines::Into && !self.is_in_skipped_call(leaving),
        };
        if let (Flow::Call { back }, false) = (flow, is_entered) {
            let pause = self.run_over_call(back, thread, registers.stack_pointer(), observer)?;
            if !matches!(pause, Pause::Temporary(_)) {
                return Ok(Some(pause));
            }
            leaving.continue_with(&pause);
            return self.is_line_done(leaving, lines, observer);
        }
        let stops = match flow {
            Flow::Other => self.stops_around(leaving, registers.instruction_pointer()),
            Flow::Call { .. } | Flow::Return => None,
        };
        let stops =
            stops.filter(|stops| !stops.addresses.contains(&registers.instruction_pointer()));
        let pause = match &stops {
            Some(stops) => self.run_within_line(thread, stops, observer)?,
            None => self.step_instruction(thread, observer)?,
        };
        if !matches!(pause, Pause::Stepped(_) | Pause::Temporary(_)) {
            return Ok(Some(pause));
        }
        leaving.continue_with(&pause);
        let thread = leaving.thread;
        if self.has_entered_handler(thread, registers.instruction_pointer())? {
            // It was not requested: the handler returns to the same instruction, or jumps out.
            leaving.walked_from = None;
            let pause = self.run_over_call(
                registers.instruction_pointer(),
                thread,
                registers.stack_pointer(),
                observer,
            )?;
            if !matches!(pause, Pause::Temporary(_)) {
                return Ok(Some(pause));
            }
            let now = self.running()?.registers(thread)?.instruction_pointer();
            return if now == registers.instruction_pointer() {
                Ok(None)
            } else {
                self.is_line_done(leaving, lines, observer)
            };
        }
        if let Flow::Call { back } = flow {
            return self.enter_call(leaving, lines, (back, registers.stack_pointer()), observer);
        }
        // Only a return leads into another call of the same code.
        let now = self.running()?.registers(thread)?.instruction_pointer();
        if stops.is_some_and(|stops| !stops.addresses.contains(&now)) {
            // A handler ran meanwhile, and jumped out.
            leaving.walked_from = None;
        }
        if flow == Flow::Other && leaving.has(now) {
            return Ok(None);
        }
        self.is_line_done(leaving, lines, observer)
    }

    /// Returns whether a step from an address has led to the first instruction of a signal handler
    /// instead.
    pub(super) fn has_entered_handler(
        &self,
        thread: ThreadId,
        from: u64,
    ) -> Result<bool, CommandError> {
        let program = self.running()?;
        let now = program.registers(thread)?.instruction_pointer();
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

    /// Returns where a thread at an address must be stopped next: in its line, or in code that is
    /// passed on the way out of it.
    fn stops_around(&self, leaving: &mut Leaving, address: u64) -> Option<Rc<LineStops>> {
        if leaving.has(address) {
            let found = || self.stops_of_line(&leaving.ranges).map(Rc::new);
            return leaving.stops.get_or_insert_with(found).clone();
        }
        let module = self.processes.program.as_ref()?.modules.find(address)?;
        let ranges = ranges_at(module, address);
        let is_inside = ranges.iter().any(|range| range.contains(&address));
        is_inside.then(|| self.stops_of_line(&ranges).map(Rc::new))?
    }

    /// Returns whether a step may stop in a frame: it has a line and a source that can be shown. If
    /// the program's own source is missing, any line in the program will do.
    pub(crate) fn is_users(&mut self, frame: &Frame) -> bool {
        let (Some(module), Some(file), Some(_)) = (&frame.module, &frame.file, frame.line) else {
            return false;
        };
        self.user.sources.line_count(file).is_some() || (module.is_main && !self.has_main_source())
    }

    fn has_main_source(&mut self) -> bool {
        match source::main_file(self) {
            Some(file) => self.user.sources.line_count(&file).is_some(),
            None => false,
        }
    }

    /// Handles a step into a call, which returns to `back` with a stack pointer: stays in a
    /// function that is the user's, and steps over any other.
    fn enter_call(
        &mut self,
        leaving: &mut Leaving,
        lines: Lines,
        (back, stack): (u64, u64),
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        if let Some(pause) = linkage::pass_linkage(self, leaving.thread, back, observer)? {
            return Ok(Some(pause));
        }
        let frame = self.innermost()?;
        if frame.pc == back {
            return self.is_line_done(leaving, lines, observer);
        }
        match self.body_to_enter(&frame, leaving.foreign)? {
            Some(body) if body == frame.pc => {
                leaving.has_entered = true;
                Ok(Some(Pause::Stepped(leaving.thread)))
            }
            Some(body) => {
                // A library's function may be another one than it seemed: then the call ends at its
                // return.
                let thread = leaving.thread;
                let points = [
                    Temporary::anywhere(body, thread),
                    Temporary::back(back, thread, stack),
                ];
                let pause = self.run_to_any(&points, observer)?;
                leaving.continue_with(&pause);
                if matches!(pause, Pause::Temporary(_)) {
                    if self.innermost()?.pc == back {
                        return self.is_line_done(leaving, lines, observer);
                    }
                    leaving.has_entered = true;
                    self.stand_before_calls(leaving.thread)?;
                }
                Ok(Some(pause))
            }
            None => {
                let pause = self.run_over_call(back, leaving.thread, stack, observer)?;
                leaving.continue_with(&pause);
                if matches!(pause, Pause::Temporary(_)) {
                    return self.is_line_done(leaving, lines, observer);
                }
                Ok(Some(pause))
            }
        }
    }

    /// Returns the beginning of the body of the function entered at `frame`, if it is one to step
    /// into.
    fn body_to_enter(&mut self, frame: &Frame, foreign: bool) -> Result<Option<u64>, CommandError> {
        match (&frame.module, &frame.function) {
            (Some(module), Some(function)) => {
                let bound = Bound {
                    module: Rc::clone(module),
                    function: function.clone(),
                };
                self.body_of(&bound, foreign)
            }
            _ => Ok(None),
        }
    }

    /// Returns the beginning of the body of a function, if it is one to step into.
    pub(crate) fn body_of(
        &mut self,
        bound: &Bound,
        foreign: bool,
    ) -> Result<Option<u64>, CommandError> {
        let Bound { module, function } = bound;
        if function.plt {
            return Ok(None);
        }
        let body = module.to_process(module.symbols.prologue_end(function));
        if self.is_skipped_at(body) {
            return Ok(None);
        }
        let described = self.running()?.describe(body);
        let (Some(file), Some(_)) = (described.file, described.line) else {
            return Ok(None);
        };
        let is_main = |session: &Session| {
            let found = session.processes.program.as_ref()?.modules.find(body)?;
            Some(found.is_main)
        };
        let wanted = foreign
            || self.user.sources.line_count(&file).is_some()
            || (is_main(self) == Some(true) && !self.has_main_source());
        Ok(wanted.then_some(body))
    }

    /// Returns whether the function of a frame is skipped.
    pub(crate) fn is_skipped(&self, frame: &Frame) -> bool {
        self.user
            .skips
            .has(frame.name.as_deref(), frame.file.as_deref())
    }

    /// Returns whether the thread is in a call that was inlined into the line and is to be
    /// skipped: the functions that it calls are skipped with it.
    fn is_in_skipped_call(&self, leaving: &Leaving) -> bool {
        if self.user.skips.is_empty() {
            return false;
        }
        let Some(program) = &self.processes.program else {
            return false;
        };
        let chain = program.inlined_chain(leaving.thread);
        let mut inner = chain.iter().filter(|it| it.nesting() > leaving.nesting);
        inner.any(|it| self.is_skipped(it))
    }

    /// Returns whether the function at an address is skipped.
    fn is_skipped_at(&self, address: u64) -> bool {
        let bound = self.modules().function_at(address);
        bound.is_some_and(|bound| {
            let function = &bound.function;
            let line = bound.module.symbols.opening_line(function);
            let file = line.as_ref().map(|line| &*line.file);
            self.user.skips.has(Some(&function.name), file)
        })
    }

    /// Returns whether the thread has left the line. If it is in the middle of another one, that
    /// one is to be left too: a step ends where a statement begins.
    fn is_line_done(
        &mut self,
        leaving: &mut Leaving,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let thread = leaving.thread;
        let arrival = self.arrival(thread)?;
        let Some(frame) = arrival.frame().cloned() else {
            return Ok(None);
        };
        if !arrival.is_before_call() && leaving.holds(&frame) {
            return Ok(None);
        }
        let same_frame = leaving.is_same_call(&frame);
        if frame.line.is_none() || !(leaving.foreign || self.is_users(&frame)) {
            if same_frame {
                return Ok(None);
            }
            // A stub, the caller of `main`, a tail call into a library.
            if lines == Lines::Into && self.modules().is_linkage_stub(frame.pc) {
                let stack = self.running()?.registers(thread)?.stack_pointer();
                let back = self.running()?.debuggee.read_u64(stack)?;
                return self.enter_call(
                    leaving,
                    lines,
                    (back, abi::frame_at_entry(stack)),
                    observer,
                );
            }
            return self.leave_foreign(&frame, leaving, observer);
        }
        if arrival.is_outside() && leaving.is_line_of(&frame) {
            if lines != Lines::Into {
                leaving.pass_inlined(&frame);
                return Ok(None);
            }
            let enters = self.enter_from(thread, &arrival);
            return Ok(enters.then_some(Pause::Stepped(thread)));
        }
        // An inlined call is stepped over like any other.
        let is_call = same_frame && frame.nesting() > leaving.nesting;
        if is_call && (lines != Lines::Into || self.is_skipped(&frame)) {
            leaving.pass_inlined(&frame);
            return Ok(None);
        }
        // Code that begins no statement belongs to the preceding line.
        if arrival.is_before_call() || leaving.is_done_at(&frame) {
            let is_back = frame.line < leaving.line || frame.pc < leaving.pc;
            if lines == Lines::Forward && same_frame && is_back {
                return Ok(None);
            }
            self.stand_at(thread, &arrival);
            return Ok(Some(Pause::Stepped(thread)));
        }
        if lines != Lines::Forward || !same_frame {
            *leaving = Leaving::from(&frame, leaving.thread, leaving.foreign);
        }
        Ok(None)
    }

    /// Leaves code that is not the user's: runs to its return.
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
        let Pause::Temporary(thread) = pause else {
            return Ok(Some(pause));
        };
        leaving.continue_with(&pause);
        let frame = self.innermost()?;
        if !leaving.holds(&frame) && self.is_users(&frame) {
            *leaving = Leaving::from(&frame, thread, leaving.foreign);
        }
        Ok(None)
    }

    /// Returns the innermost shown frame of the selected thread.
    pub(crate) fn innermost(&mut self) -> Result<Frame, CommandError> {
        let thread = self.thread()?;
        let chain = self.running()?.inlined_chain(thread);
        let mut frames = self.shown_frames(thread, chain);
        if frames.is_empty() {
            return Err(CommandError::new("the thread has no stack"));
        }
        Ok(frames.swap_remove(0))
    }
}

fn function_start(frame: &Frame) -> Option<u64> {
    let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
    Some(module.to_process(function.low_pc))
}

/// Returns the code of a frame's line.
pub(crate) fn line_ranges(frame: &Frame) -> Vec<Range<u64>> {
    match &frame.module {
        Some(module) => ranges_at(module, frame.pc),
        None => Vec::new(),
    }
}

/// Returns whether a statement of its line begins at a frame's address.
pub(crate) fn begins_own_statement(frame: &Frame) -> bool {
    let row = frame
        .module
        .as_ref()
        .zip(frame.file.as_ref().zip(frame.line));
    row.is_some_and(|(module, (file, line))| {
        let address = module.to_file(frame.pc);
        module.symbols.begins_statement(address, file, line)
    })
}

/// Returns the code of the line that a frame is shown in: that of the call, if it is an inlined
/// one.
pub(crate) fn shown_ranges(frame: &Frame) -> Vec<Range<u64>> {
    match (&frame.module, &frame.file, frame.line) {
        (Some(module), Some(file), Some(line)) if frame.inline_depth > 0 => {
            let address = module.to_file(frame.pc);
            let ranges = module.symbols.step_ranges_of(address, file, line);
            in_process(module, ranges)
        }
        _ => line_ranges(frame),
    }
}

/// Returns the code of the line at an address.
fn ranges_at(module: &Module, address: u64) -> Vec<Range<u64>> {
    let ranges = module.symbols.step_ranges(module.to_file(address));
    in_process(module, ranges)
}

fn in_process(module: &Module, ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges
        .into_iter()
        .map(|range| module.to_process(range.start)..module.to_process(range.end))
        .collect()
}
