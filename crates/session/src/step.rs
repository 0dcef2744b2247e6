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
use juror_stepping::{Flow, flow_of};
use juror_symbols::TypeKind;
use std::ops::Range;

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

/// Where a step by line began.
struct Start {
    thread: ThreadId,
    /// The code of the line, in the process.
    ranges: Vec<Range<u64>>,
    line: Option<u32>,
    cfa: Option<u64>,
}

impl Session {
    /// Runs to the next line.
    pub(crate) fn step_line(
        &mut self,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.is_fresh = false;
        let thread = self.thread()?;
        let frame = self.innermost()?;
        let start = Start {
            thread,
            ranges: line_ranges(&frame),
            line: frame.line,
            cfa: frame.cfa,
        };
        if start.ranges.is_empty() {
            // Nothing to step by here: go back to where there is.
            return self.finish_frame(0, observer, false);
        }
        loop {
            if let Some(pause) = self.advance_within_line(&start, lines, observer)? {
                return self.settle(pause);
            }
        }
    }

    /// One move of a step by line. Gives a pause when the step is done, or
    /// something else ended it.
    fn advance_within_line(
        &mut self,
        start: &Start,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let thread = start.thread;
        let program = self.running()?;
        let registers = *program.registers(thread)?;
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        let count = (1..=INSTRUCTION_LENGTH_MAX).rev().find(|&count| {
            program
                .debuggee
                .read(registers.rip, &mut bytes[..count])
                .is_ok()
        });
        let flow = flow_of(
            bytes.get(..count.unwrap_or(0)).unwrap_or(&[]),
            registers.rip,
        );
        if let (Flow::Call { back }, false) = (flow, lines == Lines::Into) {
            let pause = self.run_to(back, thread, registers.rsp.wrapping_sub(1), observer)?;
            if !matches!(pause, Pause::Temporary(_)) {
                return Ok(Some(pause));
            }
            return self.is_line_done(start, lines, observer);
        }
        let pause = self.step_instruction(thread, observer)?;
        if !matches!(pause, Pause::Stepped(_)) {
            return Ok(Some(pause));
        }
        if let Flow::Call { back } = flow {
            return self.enter_call(start, back, registers.rsp, observer);
        }
        self.is_line_done(start, lines, observer)
    }

    /// A call has been stepped into: stays in a function that has lines, runs
    /// over one that has none.
    fn enter_call(
        &mut self,
        start: &Start,
        back: u64,
        stack: u64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let frame = self.innermost()?;
        let body =
            frame
                .module
                .as_ref()
                .zip(frame.function.as_ref())
                .and_then(|(module, function)| {
                    let body = module.symbols.prologue_end(function);
                    let has_lines = module.symbols.line_at(body).is_some() && !function.plt;
                    has_lines.then(|| module.to_process(body))
                });
        let pause = match body {
            Some(body) if body == frame.pc => return Ok(Some(Pause::Stepped(start.thread))),
            Some(body) => self.run_to(body, start.thread, 0, observer)?,
            None => {
                let pause = self.run_to(back, start.thread, stack.wrapping_sub(1), observer)?;
                if matches!(pause, Pause::Temporary(_)) {
                    return self.is_line_done(start, Lines::Into, observer);
                }
                pause
            }
        };
        Ok(Some(pause))
    }

    /// Whether the thread has left the line where the step began.
    fn is_line_done(
        &mut self,
        start: &Start,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let frame = self.innermost()?;
        if start.ranges.iter().any(|range| range.contains(&frame.pc)) && frame.cfa == start.cfa {
            return Ok(None);
        }
        let done = Ok(Some(Pause::Stepped(start.thread)));
        let Some(line) = frame.line else {
            // Code without lines: a stub, or the caller of `main`.
            return self.leave_lineless(&frame, start, observer);
        };
        // Back in the caller: shown in the middle of its line, as gdb does.
        if frame.cfa > start.cfa {
            return done;
        }
        let begins = frame.module.as_ref().is_some_and(|module| {
            let row = module.symbols.line_at(module.to_file(frame.pc));
            row.is_some_and(|row| row.is_stmt && module.to_process(row.range.start) == frame.pc)
        });
        let other = Some(line) != start.line || frame.cfa != start.cfa;
        let backwards =
            lines == Lines::Forward && frame.cfa == start.cfa && Some(line) < start.line;
        if begins && other && !backwards {
            done
        } else {
            Ok(None)
        }
    }

    /// Out of code that has no lines: a tail call into a library, a signal
    /// handler's trampoline.
    fn leave_lineless(
        &mut self,
        frame: &Frame,
        start: &Start,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        let Some(cfa) = frame.cfa else {
            return Ok(Some(Pause::Stepped(start.thread)));
        };
        let back = self.running()?.debuggee.read_u64(cfa.wrapping_sub(8));
        let Ok(back) = back else {
            return Ok(Some(Pause::Stepped(start.thread)));
        };
        let pause = self.run_to(back, start.thread, cfa.wrapping_sub(1), observer)?;
        Ok(match pause {
            Pause::Temporary(thread) => {
                let frame = self.innermost()?;
                let inside = start.ranges.iter().any(|range| range.contains(&frame.pc));
                (!inside).then_some(Pause::Stepped(thread))
            }
            other => Some(other),
        })
    }

    /// One instruction of a thread; the others stand still.
    pub(crate) fn step_instruction(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        self.is_fresh = false;
        self.running_mut()?.debuggee.step(thread)?;
        self.pump(
            observer,
            Goal {
                stepping: Some(thread),
                ..Goal::default()
            },
        )
    }

    /// One instruction, and over it when it is a call.
    pub(crate) fn next_instruction(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let program = self.running()?;
        let registers = *program.registers(thread)?;
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        let _ = program.debuggee.read(registers.rip, &mut bytes);
        match flow_of(&bytes, registers.rip) {
            Flow::Call { back } => {
                self.run_to(back, thread, registers.rsp.wrapping_sub(1), observer)
            }
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
        self.is_fresh = false;
        let program = self.running_mut()?;
        for point in points {
            program.debuggee.insert(point.address, Owner::Step)?;
        }
        program.debuggee.resume_all()?;
        let pause = self.pump(
            observer,
            Goal {
                temporaries: points,
                stepping: None,
            },
        );
        if let Some(program) = &mut self.program
            && program.debuggee.is_alive()
        {
            program.debuggee.halt_all()?;
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
        show_value: bool,
    ) -> Result<Outcome, CommandError> {
        let thread = self.thread()?;
        let frames = self.frames()?;
        let frame = frames
            .get(level)
            .cloned()
            .ok_or_else(|| CommandError::new("there is no such frame"))?;
        let caller = frames
            .iter()
            .skip(level)
            .find(|caller| caller.pc != frame.pc);
        let (Some(back), Some(cfa)) = (caller.map(|caller| caller.pc), frame.cfa) else {
            return Err(CommandError::new(
                "the outermost frame has nothing to return to",
            ));
        };
        let pause = self.run_to(back, thread, cfa.wrapping_sub(1), observer)?;
        let Pause::Temporary(thread) = pause else {
            return self.settle(pause);
        };
        let function = frame.name.clone().unwrap_or_else(|| "??".to_owned());
        if !show_value {
            return self.stop(StopReason::Step, thread);
        }
        let returned = self.returned_value(&frame, thread);
        self.stop(StopReason::Finished { returned, function }, thread)
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
        let addresses = place.resolve(self.running()?).addresses;
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
        let (mut frames, _) = self.running()?.backtrace(thread, 1);
        if frames.is_empty() {
            return Err(CommandError::new("the thread has no stack"));
        }
        Ok(frames.swap_remove(0))
    }
}

/// The code of the line that a frame stands in.
fn line_ranges(frame: &Frame) -> Vec<Range<u64>> {
    let Some(module) = &frame.module else {
        return Vec::new();
    };
    let ranges = module.symbols.step_ranges(module.to_file(frame.pc));
    ranges
        .into_iter()
        .map(|range| module.to_process(range.start)..module.to_process(range.end))
        .collect()
}
