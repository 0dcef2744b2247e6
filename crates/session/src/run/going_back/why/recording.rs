//! The instructions of a thread before a place, one by one.

use crate::run::going_back::another_way;
use crate::run::going_back::here::{Here, Standing, path_of, thread_of};
use crate::run::going_back::place::{Place, step};
use crate::run::going_back::walk::{LastAccess, Walk, points_of};
use crate::session::Session;
use juror_arch::Registers;
use juror_debuggee::{Debuggee, ThreadId};
use juror_fault::CommandError;
use juror_origin::{Executed, Flow, INSTRUCTION_SIZE_MAX, Window, reads};
use juror_program::program::Program;
use juror_schedule::ThreadPath;
use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges of memory with their bytes, by the number of the instruction that has read them.
type Reads = BTreeMap<usize, Vec<(Range<u64>, Vec<u8>)>>;

/// The callers that are known at the first instruction.
const CALLERS_MAX: usize = 16;

/// The most bytes that are kept of what an instruction reads.
const READ_MAX: usize = 64;

/// The end of a recording.
#[derive(Debug, Clone)]
pub(super) enum Until<'a> {
    /// A write to memory.
    Write(Range<u64>, LastAccess),
    /// The place of the user.
    Here(&'a Here, &'a Standing),
}

impl Until<'_> {
    pub(super) fn points(&self) -> u64 {
        match self {
            Until::Write(_, write) => write.points,
            Until::Here(here, _) => here.points,
        }
    }

    pub(super) fn path(&self) -> ThreadPath {
        match self {
            Until::Write(_, write) => write.path,
            Until::Here(_, standing) => standing.path,
        }
    }
}

/// A moment before an instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// The place by its arrivals, if it can be known so, and by instructions from the start of the
    /// recording.
    pub place: Option<Place>,
    pub counted: Place,
    /// The registers of the thread there.
    pub registers: Registers,
    /// The hash of what was seen at the schedule points, before the instruction and behind it: the thread
    /// may have waited for its turn.
    hashes: (u64, u64),
}

/// Instructions of a thread, the last of which is that at whose end the run stands now.
pub(super) struct Recording {
    pub window: Window,
    pub thread: ThreadId,
    start: Place,
    /// The number of schedule points before each instruction, and behind it.
    points: Vec<(u64, u64)>,
    /// The hashes of what was seen at them.
    hashes: Vec<(u64, u64)>,
    /// The memory that instructions have read.
    memory: Reads,
    /// The calls of the recorded run that instructions have made.
    pub calls: BTreeMap<usize, (u32, usize)>,
    /// The addresses of the calls around the first instruction, outermost first.
    callers: Vec<u64>,
    /// The way on behind each instruction.
    flows: Vec<Flow>,
}

/// The outcome of a recording.
pub(super) enum Recorded {
    Reached(Box<Recording>),
    /// The start is behind the end, or the thread does not go on from there.
    TooLate,
    /// The end is not reached with so many instructions.
    TooLong,
}

/// Leads a run to the start, and through the instructions of a thread to the end.
pub(super) fn record(
    session: &mut Session,
    walk: &mut Walk<'_>,
    (start, count): (Place, usize),
    until: &Until<'_>,
) -> Result<Recorded, CommandError> {
    if let Until::Write(range, _) = until {
        walk.watch_memory(range.clone());
    }
    if start == Place::START {
        walk.arm(session)?;
    }
    start.seek(session, walk)?;
    let path = until.path();
    let Some(first) = thread_with(session, path) else {
        return Ok(Recorded::TooLate);
    };
    let mut recorder = Recorder::default();
    let callers = callers_of(session.running()?, first);
    loop {
        let Some(thread) = thread_with(session, path) else {
            return Ok(Recorded::TooLate);
        };
        if has_come(session, walk, until, thread)? {
            if recorder.steps.is_empty() {
                return Ok(Recorded::TooLate);
            }
            let end = *session.running()?.registers(thread)?;
            let recording = recorder.finish(start, callers, thread, end);
            return Ok(Recorded::Reached(Box::new(recording)));
        }
        if points_of(&session.running()?.debuggee) > until.points() {
            return Ok(Recorded::TooLate);
        }
        if recorder.steps.len() >= count {
            return Ok(Recorded::TooLong);
        }
        recorder.begin(session.running()?, thread)?;
        if step(session, walk, path)?.is_none() {
            return Ok(Recorded::TooLate);
        }
        recorder.end(session.running()?, thread);
    }
}

/// Returns whether the run stands at the end of the recording.
fn has_come(
    session: &Session,
    walk: &Walk<'_>,
    until: &Until<'_>,
    thread: ThreadId,
) -> Result<bool, CommandError> {
    Ok(match until {
        Until::Write(_, write) => walk.writes() >= write.number,
        Until::Here(here, standing) => {
            points_of(&session.running()?.debuggee) == here.points
                && walk.stands_as(session, thread, standing)?
        }
    })
}

fn thread_with(session: &Session, path: ThreadPath) -> Option<ThreadId> {
    let program = session.processes.program.as_ref()?;
    thread_of(program.debuggee.scheduler()?, path)
}

fn callers_of(program: &Program, thread: ThreadId) -> Vec<u64> {
    let (frames, _) = program.backtrace(thread, CALLERS_MAX);
    let callers = frames.iter().skip(1).rev();
    callers
        .filter(|it| !it.is_inlined())
        .map(|it| it.lookup)
        .collect()
}

#[derive(Default)]
struct Recorder {
    steps: Vec<Executed>,
    points: Vec<(u64, u64)>,
    hashes: Vec<(u64, u64)>,
    memory: Reads,
    calls: BTreeMap<usize, (u32, usize)>,
    made: usize,
    stretch: u64,
}

impl Recorder {
    /// Takes the instruction at which the thread stands.
    fn begin(&mut self, program: &Program, thread: ThreadId) -> Result<(), CommandError> {
        let registers = *program.registers(thread)?;
        let mut bytes = [0; INSTRUCTION_SIZE_MAX];
        program
            .debuggee
            .read_up_to(registers.instruction_pointer(), &mut bytes);
        let points = points_of(&program.debuggee);
        // Others may have gone on since the last instruction.
        if self
            .points
            .last()
            .is_some_and(|(_, behind)| *behind != points)
        {
            self.stretch += 1;
        }
        self.made = program
            .debuggee
            .calls_made(thread)
            .map_or(0, |(_, made)| made);
        let executed = Executed {
            bytes,
            registers,
            stretch: self.stretch,
        };
        let read = |range: Range<u64>| {
            let size = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
            let mut bytes = vec![0; size.min(READ_MAX)];
            program.debuggee.read(range.start, &mut bytes).ok()?;
            Some((range, bytes))
        };
        let memory: Vec<_> = reads(&executed).into_iter().filter_map(read).collect();
        if !memory.is_empty() {
            self.memory.insert(self.steps.len(), memory);
        }
        self.steps.push(executed);
        self.points.push((points, points));
        let hash = hash_of(&program.debuggee);
        self.hashes.push((hash, hash));
        Ok(())
    }

    /// Takes what has happened with it.
    fn end(&mut self, program: &Program, thread: ThreadId) {
        let points = points_of(&program.debuggee);
        if let Some(last) = self.points.last_mut()
            && last.1 != points
        {
            // Others may have gone on before it, or behind it.
            last.1 = points;
            self.stretch += 1;
            if let Some(step) = self.steps.last_mut() {
                step.stretch = self.stretch;
            }
            self.stretch += 1;
        }
        if let Some(last) = self.hashes.last_mut() {
            last.1 = hash_of(&program.debuggee);
        }
        if let Some((number, made)) = program.debuggee.calls_made(thread)
            && made > self.made
        {
            self.calls.insert(self.steps.len() - 1, (number, made - 1));
        }
    }

    fn finish(
        self,
        start: Place,
        callers: Vec<u64>,
        thread: ThreadId,
        end: Registers,
    ) -> Recording {
        let window = Window::new(self.steps, end);
        let flows = (0..window.steps().len()).map(|index| window.flow(index));
        Recording {
            flows: flows.collect(),
            window,
            thread,
            start,
            points: self.points,
            hashes: self.hashes,
            memory: self.memory,
            calls: self.calls,
            callers,
        }
    }
}

impl Recording {
    pub(super) fn len(&self) -> usize {
        self.window.steps().len()
    }

    /// Returns the bytes that an instruction has read from a range of memory, if they were kept.
    pub(super) fn read(&self, index: usize, range: &Range<u64>) -> Option<Vec<u8>> {
        self.memory.get(&index)?.iter().find_map(|(of, bytes)| {
            let start = usize::try_from(range.start.checked_sub(of.start)?).ok()?;
            let size = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
            Some(bytes.get(start..start.checked_add(size)?)?.to_vec())
        })
    }

    /// Returns the moment before an instruction.
    pub(super) fn moment(&self, index: usize) -> Option<Moment> {
        let executed = self.window.steps().get(index)?;
        let (_, points) = *self.points.get(index)?;
        let address = executed.registers.instruction_pointer();
        let counted = Place {
            steps: self.start.steps + index as u64,
            ..self.start
        };
        // Arrivals since the last point, if that is in the window.
        let stretch = self.points.iter().position(|(_, it)| *it == points)?;
        let is_whole = stretch > 0 || self.start.site.is_none() && self.start.steps == 0;
        let mut arrivals = 0;
        let mut before = 0;
        for step in self.window.steps().get(stretch..=index)? {
            let at = step.registers.instruction_pointer();
            // A repeated instruction arrives once.
            arrivals += u64::from(at == address && before != at);
            before = at;
        }
        let place = Place {
            points,
            site: Some((address, arrivals)),
            steps: 0,
        };
        Some(Moment {
            place: is_whole.then_some(place),
            counted,
            registers: executed.registers,
            hashes: *self.hashes.get(index)?,
        })
    }

    /// Returns the addresses of an instruction and of the calls around it, innermost first.
    pub(super) fn calls_around(&self, index: usize) -> Vec<u64> {
        let mut calls = self.callers.clone();
        let steps = self.window.steps();
        for (step, flow) in steps.iter().zip(&self.flows).take(index) {
            match flow {
                Flow::Call => calls.push(step.registers.instruction_pointer()),
                Flow::Return => {
                    calls.pop();
                }
                Flow::Other => {}
            }
        }
        calls.extend(
            steps
                .get(index)
                .map(|it| it.registers.instruction_pointer()),
        );
        calls.reverse();
        calls
    }
}

impl Moment {
    /// Leads a run there. Returns the thread.
    pub(super) fn seek(
        place: Place,
        session: &mut Session,
        walk: &mut Walk<'_>,
    ) -> Result<ThreadId, CommandError> {
        if place.points == 0 && place.site.is_none() {
            walk.arm(session)?;
        }
        Ok(place.seek(session, walk)?.0)
    }

    /// Returns whether a thread stands there.
    pub(super) fn is_there(
        &self,
        session: &Session,
        thread: ThreadId,
    ) -> Result<bool, CommandError> {
        let program = session.running()?;
        let hash = hash_of(&program.debuggee);
        if hash != self.hashes.0 && hash != self.hashes.1 {
            return Ok(false);
        }
        let now = program.registers(thread)?;
        let general = juror_arch::Register::ENCODED;
        Ok(
            now.instruction_pointer() == self.registers.instruction_pointer()
                && general
                    .iter()
                    .all(|it| now.get(*it) == self.registers.get(*it)),
        )
    }

    /// Returns the place to which the user goes. Steps from a schedule point are those of the thread
    /// that has reached it, which may be another one.
    pub(super) fn place(&self) -> Place {
        self.place.unwrap_or(self.counted)
    }
}

/// Returns the hash of what was seen at the schedule points so far.
fn hash_of(debuggee: &Debuggee) -> u64 {
    debuggee.scheduler().map_or(0, |it| it.hash().value())
}

/// Returns the path of a thread that stands.
pub(super) fn path_in(session: &Session, thread: ThreadId) -> Result<ThreadPath, CommandError> {
    path_of(&session.running()?.debuggee, thread).ok_or_else(another_way)
}
