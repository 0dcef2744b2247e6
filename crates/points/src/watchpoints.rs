//! The user's watchpoints: expressions whose memory is watched.
//!
//! They share their numbers with breakpoints. A watchpoint on a local variable lasts as long as the
//! variable's call; others are set again in every run.

pub mod views;

use crate::point::{Answer, Point};
use crate::software_watchpoint::Followed;
use juror_arch::dwarf;
use juror_debuggee::{AccessKinds, DebuggeeError, Owner, ThreadId, WatchId, WatchTier};
use juror_instrument::condition::Check;
use juror_instrument::watched::{Reading, WatchedExpression};
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_program::stack::unwinding::{Dropped, JumpTarget, UnwindPoints};
use juror_values::typed::Typed;

/// The accesses that a watchpoint stops for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchKind {
    /// Every store.
    Write,
    /// A store that changes the value.
    Change,
    /// A read.
    Read,
    /// A read or a store.
    Access,
}

/// The call that a watchpoint on a local variable lasts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The thread of the call.
    pub thread: ThreadId,
    /// The canonical frame address: the call has ended when the stack pointer reaches it.
    pub cfa: u64,
    /// The return address, if it is known.
    pub back: Option<u64>,
    /// The function's name.
    pub function: String,
    /// The function's first address in the process.
    pub start: Option<u64>,
    /// Whether a jump or an exception has dropped it, while its thread is on the way to `back`,
    /// where it continues.
    pub is_dropped: bool,
}

impl Home {
    /// Returns whether the call has ended, given that its thread is at an internal point with this
    /// stack pointer.
    fn is_over(&self, thread: ThreadId, stack: u64) -> bool {
        self.thread == thread && stack >= self.cfa
    }

    /// Returns whether a frame at its place on the stack is this call, and not one that replaced it
    /// (a tail call).
    pub fn is_of(&self, frame: &Frame) -> bool {
        self.start == start_of(frame)
    }
}

/// Returns where the thread of an ended call continues, at its caller or further out. `None` while
/// the call lasts, or if the stack does not tell.
///
/// An exception drops frames before any function call reveals it, and the code that catches it may
/// use their memory at once.
fn goes_on(program: &Program, home: &Home) -> Option<JumpTarget> {
    // On another stack than the call's, a thread may have switched stacks.
    let own = program.own_stack(home.thread)?;
    if !own.contains(&home.cfa) {
        return None;
    }
    let mut further_out: Option<JumpTarget> = None;
    let mut is_there = false;
    program.walk(home.thread, |frame| {
        if frame.is_inlined() {
            return true;
        }
        // Another call from the same place has the same frame address.
        is_there |= frame.cfa == Some(home.cfa) && home.is_of(&frame);
        let is_outside = frame
            .cfa
            .is_some_and(|cfa| cfa > home.cfa && own.contains(&cfa));
        if further_out.is_none() && is_outside && !frame.guess {
            let stack = frame.registers.get(dwarf::STACK_POINTER);
            let pc = frame.pc;
            further_out = stack.map(|stack| JumpTarget { pc, stack });
        }
        // The stack of a signal handler may be anywhere: search to the end.
        let is_known = frame.cfa.is_some() && !frame.guess;
        !is_there && (is_known || further_out.is_some())
    });
    further_out.filter(|_| !is_there)
}

/// Returns the first address of a frame's function in the process.
pub fn start_of(frame: &Frame) -> Option<u64> {
    let (module, function) = (frame.module.as_ref()?, frame.function.as_ref()?);
    Some(module.to_process(function.low_pc))
}

/// A watchpoint.
#[derive(Debug)]
pub struct Watchpoint {
    /// The state that all points have.
    pub point: Point,
    /// The expression with its options, as it was written.
    pub text: String,
    /// The accesses that it stops for.
    pub kind: WatchKind,
    /// The call that it lasts for; `None` if it lasts always.
    pub home: Option<Home>,
    /// Whether its memory location was fixed when it was set.
    pub is_place: bool,
    /// The watched expression.
    pub expression: WatchedExpression,
    /// Its last read value.
    pub seen: Reading,
    /// The debuggee's number for it, while it is watched.
    pub id: Option<WatchId>,
    /// The state of its software watchpoint, if it is in registers.
    pub followed: Option<Followed>,
}

/// All watchpoints.
#[derive(Debug, Default)]
pub struct Watchpoints {
    list: Vec<Watchpoint>,
    /// Points where frames are dropped without a return, while some watchpoint lasts for a call.
    unwind_points: UnwindPoints,
}

impl WatchKind {
    /// Returns the accesses to watch.
    pub fn accesses(self) -> AccessKinds {
        match self {
            WatchKind::Write | WatchKind::Change => AccessKinds::WRITE,
            WatchKind::Read => AccessKinds::READ,
            WatchKind::Access => AccessKinds::READ | AccessKinds::WRITE,
        }
    }

    /// Returns the command name.
    pub fn word(self) -> &'static str {
        match self {
            WatchKind::Write => "watch",
            WatchKind::Change => "change",
            WatchKind::Read => "rwatch",
            WatchKind::Access => "awatch",
        }
    }
}

impl Watchpoint {
    pub(crate) fn arm(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let is_dropped = self.home.as_ref().is_some_and(|home| home.is_dropped);
        let is_meant = self.followed.as_ref().is_none_or(Followed::is_guarded);
        let is_memory = is_meant && !is_dropped;
        if is_memory && self.point.enabled && self.id.is_none() && !self.seen.ranges.is_empty() {
            let kinds = self.kind.accesses();
            let debuggee = &mut program.debuggee;
            let ranges = &self.seen.ranges;
            let id = debuggee.watch(
                ranges,
                kinds,
                self.point.owner.of_engine(),
                WatchTier::Hardware,
            )?;
            self.id = Some(id);
        }
        Ok(())
    }

    pub(crate) fn disarm(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        match self.id.take() {
            Some(id) => program.debuggee.unwatch(id),
            None => Ok(()),
        }
    }

    /// Returns the same, in a run that is made again, where it is not watched yet. It belongs to no
    /// call there.
    #[must_use]
    pub fn again(&self) -> Watchpoint {
        Watchpoint {
            point: self.point.clone(),
            text: self.text.clone(),
            kind: self.kind,
            home: None,
            is_place: self.is_place,
            expression: self.expression.clone(),
            seen: self.seen.clone(),
            id: None,
            followed: None,
        }
    }

    /// Returns the expression without options.
    pub fn bare_expression(&self) -> &str {
        let mut bare = self.text.as_str();
        for option in ["-location ", "-call "] {
            bare = bare.strip_prefix(option).unwrap_or(bare);
        }
        bare
    }

    /// Returns the command that sets it.
    pub fn words(&self) -> String {
        format!("{} {}", self.kind.word(), self.text)
    }

    /// Evaluates its condition for a thread that has made an access: in the call that the
    /// watchpoint lasts for, if any; otherwise where the access was made.
    pub fn ask(
        &self,
        program: &Program,
        thread: ThreadId,
        values: &dyn Fn(&str) -> Option<Typed>,
    ) -> Answer {
        let Some(condition) = &self.point.condition else {
            return Ok(true);
        };
        match &self.home {
            Some(home) if home.thread == thread => {
                condition.holds_in_call(program, thread, home.cfa, values)
            }
            _ => condition.holds(&Check::default(), program, thread, values),
        }
    }

    /// Reads the value again; the bytes to watch may change then.
    pub fn look(&mut self, program: &mut Program) -> Result<Reading, DebuggeeError> {
        let now = self.expression.read(program);
        let before = std::mem::replace(&mut self.seen, now);
        if before.ranges != self.seen.ranges {
            self.disarm(program)?;
            self.arm(program)?;
        }
        Ok(before)
    }
}

impl Watchpoints {
    /// Iterates over all, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Watchpoint> {
        self.list.iter()
    }

    /// Iterates over all, in the order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Watchpoint> {
        self.list.iter_mut()
    }

    /// Iterates over the enabled ones that are in registers.
    pub fn followed(&mut self) -> impl Iterator<Item = &mut Watchpoint> {
        let is_followed = |it: &&mut Watchpoint| {
            let is_dropped = it.home.as_ref().is_some_and(|home| home.is_dropped);
            it.point.enabled && it.followed.is_some() && !is_dropped
        };
        self.list.iter_mut().filter(is_followed)
    }

    /// Returns the calls that a thread leaves without returning, given that it is at an internal
    /// point.
    pub fn dropped(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<Dropped>, DebuggeeError> {
        let homes = self.list.iter().filter_map(|it| it.home.as_ref());
        let frames = homes.filter(|it| it.thread == thread).map(|it| it.cfa);
        let Some(outermost) = frames.max() else {
            return Ok(None);
        };
        let points = &mut self.unwind_points;
        points.dropped(program, thread, address, outermost)
    }

    /// Returns a watchpoint by the debuggee's number.
    pub fn watched_as(&mut self, id: WatchId) -> Option<&mut Watchpoint> {
        self.list.iter_mut().find(|it| it.id == Some(id))
    }

    /// Adds a watchpoint and watches its memory.
    pub fn add(
        &mut self,
        program: &mut Program,
        mut watchpoint: Watchpoint,
    ) -> Result<(), DebuggeeError> {
        watchpoint.arm(program)?;
        if let Some(home) = &watchpoint.home {
            if let Some(back) = home.back {
                program.debuggee.insert(back, Owner::Internal)?;
            }
            self.unwind_points.insert(program)?;
        }
        self.list.push(watchpoint);
        Ok(())
    }

    /// Deletes watchpoints by number.
    pub fn delete(
        &mut self,
        mut program: Option<&mut Program>,
        numbers: &[u32],
    ) -> Result<(), DebuggeeError> {
        let is_meant = |it: &mut Watchpoint| numbers.contains(&it.point.number);
        let mut result = Ok(());
        for mut gone in self.list.extract_if(.., is_meant) {
            let Some(program) = program.as_deref_mut() else {
                continue;
            };
            if let Some(back) = gone.home.as_ref().and_then(|home| home.back) {
                result = result.and(program.debuggee.remove(back, Owner::Internal));
            }
            result = result.and(gone.disarm(program));
            result = result.and(gone.unfollow(program));
        }
        result
    }

    /// Watches the memory of the enabled ones, also in a program that has just been loaded, and
    /// nothing else.
    pub fn settle(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        for watchpoint in &mut self.list {
            if !watchpoint.point.enabled {
                watchpoint.disarm(program)?;
                watchpoint.unfollow(program)?;
            } else if watchpoint.id.is_none() && watchpoint.followed.is_none() {
                watchpoint.look(program)?;
                watchpoint.arm(program)?;
            }
        }
        Ok(())
    }

    /// Forgets the process, which has ended or runs another program: nothing is watched. Returns
    /// the removed watchpoints, which have become meaningless.
    pub fn forget_program(&mut self, is_other: bool) -> Vec<Watchpoint> {
        self.unwind_points.clear();
        for watchpoint in &mut self.list {
            watchpoint.id = None;
        }
        let loses = |it: &mut Watchpoint| is_other || it.home.is_some() || it.is_place;
        self.list.extract_if(.., loses).collect()
    }

    /// Returns these watchpoints for the same run, made again from its start; nothing is watched yet.
    /// Those that last for a call are left out.
    #[must_use]
    pub fn again(&self) -> Watchpoints {
        let lasting = self.list.iter().filter(|it| it.home.is_none());
        Watchpoints {
            list: lasting.map(Watchpoint::again).collect(),
            unwind_points: UnwindPoints::default(),
        }
    }

    /// Takes over the watchpoints of a process that has ended.
    pub fn adopt(&mut self, mut gone: Watchpoints) {
        self.list.append(&mut gone.list);
        self.list.sort_by_key(|it| it.point.number);
    }

    /// Returns whether no memory of this process is watched.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Removes from a forked copy of the process, in which nothing is watched, the points that
    /// detect the ends of calls.
    pub fn leave_fork(&self, fork: &mut Program) -> Result<(), DebuggeeError> {
        let homes = self.list.iter().filter_map(|it| it.home.as_ref());
        for back in homes.filter_map(|home| home.back) {
            fork.debuggee.remove(back, Owner::Internal)?;
        }
        Ok(())
    }

    /// Returns the watchpoints of ended calls, given that a thread is at an internal point or has
    /// jumped; `stack` is its stack pointer.
    pub fn ended(&self, thread: ThreadId, stack: u64) -> Vec<u32> {
        let is_over = |home: &Home| home.is_over(thread, stack);
        let over = self
            .list
            .iter()
            .filter(|it| it.home.as_ref().is_some_and(is_over));
        over.map(|it| it.point.number).collect()
    }

    /// Follows the forked child: `thread` is in the calls that `parent` was in.
    pub fn follow(&mut self, thread: ThreadId, parent: ThreadId) {
        let homes = self.list.iter_mut().filter_map(|it| it.home.as_mut());
        for home in homes.filter(|home| home.thread == parent) {
            home.thread = thread;
        }
    }

    /// Returns the watchpoints of a thread that has ended.
    pub fn of_thread(&self, thread: ThreadId) -> Vec<u32> {
        let of = |home: &Home| home.thread == thread;
        let of_thread = self
            .list
            .iter()
            .filter(|it| it.home.as_ref().is_some_and(of));
        of_thread.map(|it| it.point.number).collect()
    }

    /// Handles a thread that drops the frames below a place and continues there: their calls end
    /// there. Other code uses their memory from now on.
    ///
    /// # Errors
    /// The point there cannot be set.
    pub fn drop_frames(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        dropped: &Dropped,
    ) -> Result<(), DebuggeeError> {
        for watchpoint in &mut self.list {
            let Some(home) = &mut watchpoint.home else {
                continue;
            };
            if home.thread != thread || home.is_dropped {
                continue;
            }
            let landing = match home.back {
                Some(pc) => dropped.resumes_at(JumpTarget {
                    pc,
                    stack: home.cfa,
                }),
                None => goes_on(program, home),
            };
            let Some(landing) = landing else {
                continue;
            };
            home.is_dropped = true;
            program.debuggee.insert(landing.pc, Owner::Internal)?;
            if let Some(back) = home.back.replace(landing.pc) {
                program.debuggee.remove(back, Owner::Internal)?;
            }
            watchpoint.disarm(program)?;
            watchpoint.unfollow(program)?;
        }
        Ok(())
    }

    /// Handles a thread's access to the memory of a local variable whose call may have ended.
    /// Returns whether it has: then the watchpoint ends where the thread continues.
    pub fn is_of_dropped_call(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        id: WatchId,
    ) -> Result<bool, DebuggeeError> {
        let watchpoint = self.list.iter().find(|it| it.id == Some(id));
        let home = watchpoint.and_then(|it| it.home.as_ref());
        let Some(home) = home.filter(|home| home.thread == thread) else {
            return Ok(false);
        };
        match goes_on(program, home) {
            Some(landing) => {
                if let Some(dropped) = Dropped::below(program, thread, landing) {
                    self.drop_frames(program, thread, &dropped)?;
                }
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Returns the watchpoints of threads other than these, each given with its stack pointer.
    pub fn of_other_threads(&self, standing: &[(ThreadId, u64)]) -> Vec<u32> {
        let is_there = |thread| standing.iter().any(|(other, _)| *other == thread);
        let homes = self.list.iter().filter_map(|it| {
            let home = it.home.as_ref()?;
            (!is_there(home.thread)).then_some(it.point.number)
        });
        homes.collect()
    }

    /// Reads all values again after the program was restored to another moment.
    pub fn look_again(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        for watchpoint in &mut self.list {
            if watchpoint.id.is_some() {
                watchpoint.look(program)?;
            }
        }
        Ok(())
    }

    /// Returns the stack pointer of a thread at a point where a call returns.
    pub fn stack_at_end(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<u64>, DebuggeeError> {
        let homes = self.list.iter().filter_map(|it| it.home.as_ref());
        if homes.clone().next().is_none() {
            return Ok(None);
        }
        let mut homes = homes.filter(|home| home.thread == thread);
        if homes.any(|home| home.back == Some(address)) {
            Ok(Some(program.registers(thread)?.stack_pointer()))
        } else {
            Ok(None)
        }
    }
}

/// Returns the bytes of a value, for comparison.
pub fn bytes_of(reading: &Reading) -> Option<&juror_values::typed::Location> {
    reading.value.as_ref().ok().map(|value| &value.location)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_over_once_its_thread_has_left_its_frame() {
        let home = Home {
            thread: ThreadId(3),
            cfa: 0x1000,
            back: None,
            function: "f".to_owned(),
            start: Some(0x400),
            is_dropped: false,
        };
        assert!(!home.is_over(ThreadId(3), 0xff8));
        assert!(home.is_over(ThreadId(3), 0x1000));
        assert!(home.is_over(ThreadId(3), 0x1008));
        assert!(!home.is_over(ThreadId(4), 0x1008));
    }

    #[test]
    fn a_kind_watches_the_accesses_that_it_needs() {
        for (kind, accesses, word) in [
            (WatchKind::Write, AccessKinds::WRITE, "watch"),
            // A change is a store, compared with the value before.
            (WatchKind::Change, AccessKinds::WRITE, "change"),
            (WatchKind::Read, AccessKinds::READ, "rwatch"),
            (
                WatchKind::Access,
                AccessKinds::READ | AccessKinds::WRITE,
                "awatch",
            ),
        ] {
            assert_eq!((kind.accesses(), kind.word()), (accesses, word));
        }
    }
}
