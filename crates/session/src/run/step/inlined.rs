//! Inlined calls, and whether a thread has entered them.
//!
//! If inlined calls begin at the address of a thread, it is at several places of the source at
//! once: before the call, at the first line of the callee, and so on inwards. The user means one of
//! them: that of a breakpoint, or the line that a step has reached. The calls within it are skipped
//! inline frames: they are not shown, and `step` enters them one by one while the thread stays
//! where it is.
//!
//! **Invariant**: skipped inline frames begin at the address of the thread.

use crate::run::step::{Leaving, in_process};
use crate::session::Session;
use crate::state::inline_frames::SkippedFrames;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_program::stack::frames::{Frame, beginning_calls, usual_level};

/// The position that a thread has reached.
pub(super) struct Arrival {
    /// The inlined calls that it is in, and their function.
    chain: Vec<Frame>,
    /// The number of these that begin here.
    beginning: usize,
    /// The level of its frame if it enters nothing that begins here, or of the first frame that is
    /// the user's.
    level: usize,
}

impl Arrival {
    /// Returns its frame.
    pub fn frame(&self) -> Option<&Frame> {
        self.chain.get(self.level)
    }

    /// Returns whether it is before an inlined call.
    pub fn is_before_call(&self) -> bool {
        self.skipped_frames() > 0
    }

    /// Returns whether the executed code was inlined into its frame.
    pub fn is_outside(&self) -> bool {
        self.level > 0
    }

    fn skipped_frames(&self) -> usize {
        self.level.min(self.beginning)
    }
}

impl Session {
    /// Returns the position of a thread.
    pub(super) fn arrival(&mut self, thread: ThreadId) -> Result<Arrival, CommandError> {
        let chain = self.running()?.inlined_chain(thread);
        if chain.is_empty() {
            return Err(CommandError::new("the thread has no stack"));
        }
        let beginning = beginning_calls(&chain);
        let outside = beginning..chain.len();
        // A library's function may begin with inlined code of the user.
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

    /// Sets the shown frame of a thread to its position.
    pub(super) fn stand_at(&mut self, thread: ThreadId, arrival: &Arrival) {
        self.stand_at_level(thread, Some(arrival.skipped_frames()), &arrival.chain);
    }

    /// Shows a thread that has reached a location before the inlined calls that begin there.
    pub(super) fn stand_before_calls(&mut self, thread: ThreadId) -> Result<(), CommandError> {
        let arrival = self.arrival(thread)?;
        self.stand_at(thread, &arrival);
        Ok(())
    }

    /// Shows one of the frames of a thread's innermost function, if the frames in it begin at the
    /// thread's address.
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
        self.processes.stop.skipped_frames = is_beginning.then_some(SkippedFrames {
            thread,
            pc: first.pc,
            count: level,
        });
    }

    /// Shows the inlined call at whose beginning a monitor has reported, if the thread is still
    /// there.
    pub(crate) fn stand_at_begun(
        &mut self,
        begun: SkippedFrames,
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

    /// Enters an inlined call that begins at a thread's address, if there is one to step into:
    /// nothing runs.
    pub(super) fn enter_inlined(&mut self, thread: ThreadId) -> Result<bool, CommandError> {
        let chain = self.running()?.inlined_chain(thread);
        let count = self.skipped_frame_count(thread, &chain);
        let level = self.level_to_enter(chain.get(..count).unwrap_or(&[]));
        self.stand_at_level(thread, level, &chain);
        Ok(level.is_some())
    }

    /// Does the same for a thread that has reached a position in the line that a step leaves.
    pub(super) fn enter_from(&mut self, thread: ThreadId, arrival: &Arrival) -> bool {
        let inner = arrival.chain.get(..arrival.skipped_frames()).unwrap_or(&[]);
        let level = self.level_to_enter(inner);
        self.stand_at_level(thread, level, &arrival.chain);
        level.is_some()
    }

    /// Returns which of the skipped inline frames is the next to step into. A skipped function is
    /// skipped with all its calls.
    fn level_to_enter(&mut self, skipped_frames: &[Frame]) -> Option<usize> {
        for (level, frame) in skipped_frames.iter().enumerate().rev() {
            if self.is_skipped(frame) {
                return None;
            }
            if self.is_users(frame) {
                return Some(level);
            }
        }
        None
    }

    /// Returns the number of a thread's skipped inline frames.
    pub(crate) fn skipped_frame_count(&self, thread: ThreadId, frames: &[Frame]) -> usize {
        let here = frames.first().map(|frame| frame.pc);
        let said = self.processes.stop.skipped_frames;
        let said = said.filter(|it| it.thread == thread && Some(it.pc) == here);
        match said {
            Some(it) => it.count.min(beginning_calls(frames)),
            None => usual_level(frames),
        }
    }

    /// Returns the shown frames of a thread: without skipped inline frames and foreign inlined
    /// code.
    pub(crate) fn shown_frames(&mut self, thread: ThreadId, mut frames: Vec<Frame>) -> Vec<Frame> {
        frames.drain(..self.skipped_frame_count(thread, &frames));
        self.without_foreign_inlined(frames)
    }

    /// Removes frames of code that was inlined from elsewhere (a library's header, Rust's own
    /// library) without a source to show: the thread is in the function that it was inlined into.
    fn without_foreign_inlined(&mut self, mut frames: Vec<Frame>) -> Vec<Frame> {
        let call = frames.iter().position(|frame| !frame.is_inlined());
        let chain = frames.get(..=call.unwrap_or(0)).unwrap_or(&[]).to_vec();
        let own = chain.iter().position(|frame| self.is_users(frame));
        frames.drain(..own.unwrap_or(0));
        frames
    }
}

impl Leaving {
    /// Steps over a call that was inlined into the line: its code belongs to the line. So a loop in
    /// it costs nothing either.
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

    /// Returns whether a frame is in the line that is left: the same line of the same call, at the
    /// same depth of inlining.
    pub fn is_line_of(&self, frame: &Frame) -> bool {
        self.is_same_call(frame)
            && self.nesting == frame.nesting()
            && self.line.is_some()
            && self.line == frame.line
            && self.file == frame.file
    }
}
