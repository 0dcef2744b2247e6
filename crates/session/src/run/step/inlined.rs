//! Calls that were inlined, and whether a thread has entered them.
//!
//! Where inlined calls begin at the instruction at which a thread stands, it stands at
//! several places of the source at once: in front of the call, at the first line of what is
//! called, and so on inwards. A person means one of them: that of a breakpoint, or the line
//! to which a step has come. The calls within it count as not entered: their frames are not
//! shown, and `step` enters them one by one while the thread stays where it is.
//!
//! Invariant: what counts as not entered begins where the thread stands.

use crate::run::step::{Leaving, in_process};
use crate::session::Session;
use crate::state::inline_frames::Unentered;
use juror_debuggee::ThreadId;
use juror_instrument::frames::{Frame, beginning_calls, usual_level};
use juror_view::error::CommandError;

/// Where a thread has come to.
pub(super) struct Arrival {
    /// The inlined calls that it is in, and their function.
    chain: Vec<Frame>,
    /// How many of them begin here.
    beginning: usize,
    /// The one that it stands in when it enters nothing that begins here; or the first
    /// that is the user's.
    level: usize,
}

impl Arrival {
    /// The frame that it stands in.
    pub fn frame(&self) -> Option<&Frame> {
        self.chain.get(self.level)
    }

    /// Whether it stands in front of an inlined call.
    pub fn is_before_call(&self) -> bool {
        self.unentered() > 0
    }

    /// Whether what is executed was inlined into the frame that it stands in.
    pub fn is_outside(&self) -> bool {
        self.level > 0
    }

    fn unentered(&self) -> usize {
        self.level.min(self.beginning)
    }
}

impl Session {
    /// Where a thread stands.
    pub(super) fn arrival(&mut self, thread: ThreadId) -> Result<Arrival, CommandError> {
        let chain = self.running()?.inlined_chain(thread);
        if chain.is_empty() {
            return Err(CommandError::new("the thread has no stack"));
        }
        let beginning = beginning_calls(&chain);
        let outside = beginning..chain.len();
        // A library's function may begin with what is the user's.
        let mut candidates = outside.chain((0..beginning).rev());
        let level = candidates.find(|&level| {
            let frame = chain.get(level);
            frame.is_some_and(|frame| self.is_users(frame))
        });
        Ok(Arrival {
            level: level.unwrap_or(0),
            chain,
            beginning,
        })
    }

    /// The user is shown where a thread has come to.
    pub(super) fn stand_at(&mut self, thread: ThreadId, arrival: &Arrival) {
        self.stand_at_level(thread, Some(arrival.unentered()), &arrival.chain);
    }

    /// A thread that has come to a place is shown in front of the inlined calls that begin
    /// there.
    pub(super) fn stand_before_calls(&mut self, thread: ThreadId) -> Result<(), CommandError> {
        let arrival = self.arrival(thread)?;
        self.stand_at(thread, &arrival);
        Ok(())
    }

    /// The user is shown one of the frames of a thread's innermost function, if what is in
    /// it begins where the thread stands.
    pub(crate) fn stand_at_level(
        &mut self,
        thread: ThreadId,
        level: Option<usize>,
        chain: &[Frame],
    ) {
        let Some((level, first)) = level.zip(chain.first()) else {
            return;
        };
        let is_beginning = level <= beginning_calls(chain);
        self.unentered = is_beginning.then_some(Unentered {
            thread,
            pc: first.pc,
            count: level,
        });
    }

    /// The user is shown the inlined call at whose beginning a monitor has spoken, if the
    /// thread still stands there.
    pub(crate) fn stand_at_begun(
        &mut self,
        begun: Unentered,
        thread: ThreadId,
    ) -> Result<bool, CommandError> {
        let chain = self.running()?.inlined_chain(thread);
        let here = chain.first().map(|frame| frame.pc);
        let is_here = begun.thread == thread && here == Some(begun.pc);
        if is_here {
            self.stand_at_level(thread, Some(begun.count), &chain);
        }
        Ok(is_here)
    }

    /// Enters an inlined call in front of which a thread stands, if there is one that the
    /// user wants to step into: nothing runs.
    pub(super) fn enter_inlined(&mut self, thread: ThreadId) -> Result<bool, CommandError> {
        let chain = self.running()?.inlined_chain(thread);
        let count = self.unentered_count(thread, &chain);
        let level = self.level_to_enter(chain.get(..count).unwrap_or(&[]));
        self.stand_at_level(thread, level, &chain);
        Ok(level.is_some())
    }

    /// The same for a thread that has come to a place in the line that a step leaves.
    pub(super) fn enter_from(&mut self, thread: ThreadId, arrival: &Arrival) -> bool {
        let inner = arrival.chain.get(..arrival.unentered()).unwrap_or(&[]);
        let level = self.level_to_enter(inner);
        self.stand_at_level(thread, level, &arrival.chain);
        level.is_some()
    }

    /// Which of the calls that are not entered is the next to step into. What is skipped is
    /// skipped with all that it calls.
    fn level_to_enter(&mut self, unentered: &[Frame]) -> Option<usize> {
        for (level, frame) in unentered.iter().enumerate().rev() {
            if self.is_skipped(frame) {
                return None;
            }
            if self.is_users(frame) {
                return Some(level);
            }
        }
        None
    }

    /// How many of a thread's frames are not shown.
    fn unentered_count(&self, thread: ThreadId, frames: &[Frame]) -> usize {
        let here = frames.first().map(|frame| frame.pc);
        let said = self.unentered;
        let said = said.filter(|it| it.thread == thread && Some(it.pc) == here);
        match said {
            Some(it) => it.count.min(beginning_calls(frames)),
            None => usual_level(frames),
        }
    }

    /// The frames of a thread that are shown: without the calls that it has not entered,
    /// and without what was inlined from elsewhere.
    pub(crate) fn shown_frames(&mut self, thread: ThreadId, mut frames: Vec<Frame>) -> Vec<Frame> {
        frames.drain(..self.unentered_count(thread, &frames));
        self.without_foreign_inlined(frames)
    }

    /// Leaves out what was inlined from elsewhere (a library's header, Rust's
    /// own library) and has no source to show: one is in the function that it
    /// was inlined into.
    fn without_foreign_inlined(&mut self, mut frames: Vec<Frame>) -> Vec<Frame> {
        let call = frames.iter().position(|frame| !frame.is_inlined());
        let chain = frames.get(..=call.unwrap_or(0)).unwrap_or(&[]).to_vec();
        let own = chain.iter().position(|frame| self.is_users(frame));
        frames.drain(..own.unwrap_or(0));
        frames
    }
}

impl Leaving {
    /// A call that was inlined into what is left is passed: its code counts to the line.
    /// So a loop in it costs nothing, either.
    pub fn pass_inlined(&mut self, frame: &Frame) {
        let Some(module) = &frame.module else {
            return;
        };
        let address = module.to_file(frame.pc);
        let code = module.symbols.inlined_ranges(address, self.nesting + 1);
        let code = in_process(module, code);
        if !code.is_empty() && !code.iter().any(|range| self.ranges.contains(range)) {
            self.ranges.extend(code);
            self.stops = None;
        }
    }

    /// Whether a frame stands in the line that is left: the same line of the same call,
    /// inlined as deep.
    pub fn is_line_of(&self, frame: &Frame) -> bool {
        self.is_same_call(frame)
            && self.nesting == frame.nesting()
            && self.line.is_some()
            && self.line == frame.line
            && self.file == frame.file
    }
}
