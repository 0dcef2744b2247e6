//! Software watchpoints: watchpoints on variables in registers, by single-stepping.
//!
//! No trap reports accesses to a register, so the thread executes its call one instruction at a
//! time, and the value is compared after each. If not only changes matter, each instruction is
//! decoded first (`watched_use`): it may read the value, or store the same one. A variable of
//! optimized code moves between registers and memory, and may be nowhere for a while, which is not
//! a change. Other threads run as always.
//!
//! Functions that the call calls run freely, up to a point at the return: they preserve the
//! registers that hold variables across a call. While the value is in memory they are stepped too,
//! for they may have its address.
//!
//! A value in memory may be stored to by other threads. While there are some, the memory is also
//! guarded: their accesses are reported by the trap, those of the call's own thread by its steps.
//! If a value differs though its thread has not stored to it, the trap reports the thread that has.
//!
//! **Invariant**: while its call lasts, the thread of such a watchpoint is stepped, or there is a
//! point where it returns into the call.

use crate::watchpoints::{Home, WatchKind, Watchpoint, bytes_of};
use juror_arch::dwarf;
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use juror_instrument::watched::Reading;
use juror_instrument::watched_use::ValueUse;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_program::stack::unwinding::{Dropped, JumpTarget};
use juror_stepping::{Flow, flow_of};
use std::ops::Range;

/// The state of a software watchpoint.
#[derive(Debug, Default)]
pub struct Followed {
    /// Where the thread returns into the call, while it is in another one.
    pub back: Option<JumpTarget>,
    /// The effect of the next instruction of its thread. Only if not only changes matter.
    pub(crate) next: Option<ValueUse>,
    /// The memory that is guarded against other threads.
    pub(crate) guarded: Vec<Range<u64>>,
}

impl Followed {
    /// Returns whether memory is guarded against other threads.
    pub(crate) fn is_guarded(&self) -> bool {
        !self.guarded.is_empty()
    }

    /// Sets another return target of the thread, or none.
    pub(crate) fn set_back(
        &mut self,
        program: &mut Program,
        back: Option<JumpTarget>,
    ) -> Result<(), DebuggeeError> {
        if self.back == back {
            return Ok(());
        }
        if let Some(new) = back {
            program.debuggee.insert(new.pc, Owner::Internal)?;
        }
        match std::mem::replace(&mut self.back, back) {
            Some(old) => program.debuggee.remove(old.pc, Owner::Internal),
            None => Ok(()),
        }
    }
}

/// The limit of frames that are searched for the call.
const FRAMES_MAX: usize = 512;

/// The position of a thread relative to the watchpoint's call.
enum Whereabouts {
    /// In the call, with its frames, inlined ones first.
    Inside(Vec<Frame>),
    /// In a function that the call has called, which returns here.
    Below(JumpTarget),
    /// In another function that has replaced it (a tail call).
    Replaced,
    /// Unknown from the stack.
    Unknown,
}

fn whereabouts(program: &Program, home: &Home) -> Whereabouts {
    let mut frames: Vec<Frame> = Vec::new();
    let mut is_innermost = true;
    let mut found = Whereabouts::Unknown;
    let mut count = 0;
    program.walk(home.thread, |frame| {
        count += 1;
        let is_inlined = frame.is_inlined();
        let is_home = !is_inlined && frame.cfa == Some(home.cfa);
        if is_innermost {
            frames.push(frame);
        } else if is_home && let Some(stack) = frame.registers.get(dwarf::STACK_POINTER) {
            found = Whereabouts::Below(JumpTarget {
                pc: frame.pc,
                stack,
            });
        }
        if is_innermost && is_home {
            let is_same = frames.last().is_some_and(|it| home.is_of(it));
            found = if is_same {
                Whereabouts::Inside(std::mem::take(&mut frames))
            } else {
                Whereabouts::Replaced
            };
        }
        is_innermost &= is_inlined;
        !is_home && count < FRAMES_MAX
    });
    found
}

/// Returns the return target of the call that a thread is about to make, if its next instruction is
/// a call.
fn call_at(program: &Program, thread: ThreadId) -> Option<JumpTarget> {
    let registers = program.registers(thread).ok()?;
    let bytes = program.instruction_at(registers.instruction_pointer())?;
    match flow_of(&bytes, registers.instruction_pointer()) {
        Flow::Call { back } => Some(JumpTarget {
            pc: back,
            stack: registers.stack_pointer(),
        }),
        _ => None,
    }
}

impl Watchpoint {
    /// Returns whether its thread is in a function that the call has called, according to the stack
    /// pointer.
    fn is_below(&self, program: &Program) -> Result<bool, DebuggeeError> {
        let (Some(followed), Some(home)) = (&self.followed, &self.home) else {
            return Ok(false);
        };
        let stack = program.registers(home.thread)?.stack_pointer();
        Ok(followed.back.is_some_and(|back| stack < back.stack))
    }

    /// Steps its thread, or sets a point where it returns. Returns whether it must be stepped.
    pub fn follow_thread(&mut self, program: &mut Program) -> Result<bool, DebuggeeError> {
        // A called function may access the value's memory.
        let in_memory = !self.seen.ranges.is_empty();
        if self.is_below(program)? {
            self.expect(program, &[]);
            return Ok(in_memory);
        }
        let Some(home) = &self.home else {
            return Ok(false);
        };
        let (thread, place) = (home.thread, whereabouts(program, home));
        let back = match &place {
            Whereabouts::Inside(_) => call_at(program, thread),
            Whereabouts::Below(back) => Some(*back),
            Whereabouts::Replaced | Whereabouts::Unknown => None,
        };
        match &place {
            Whereabouts::Inside(frames) => self.expect(program, frames),
            _ => self.expect(program, &[]),
        }
        if let Some(followed) = &mut self.followed {
            followed.set_back(program, back)?;
        }
        Ok(back.is_none() || in_memory)
    }

    /// Decodes the next instruction of its thread, if not only changes matter. In a call that the
    /// thread is not in, registers are unknown.
    fn expect(&mut self, program: &Program, frames: &[Frame]) {
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return;
        };
        // The thread that changes shared memory must be known.
        if self.kind == WatchKind::Change && followed.guarded.is_empty() {
            return;
        }
        let before = followed.next.take();
        let expression = &self.expression;
        let mut next = expression.next_use(program, home.thread, &self.seen, frames);
        if let (Some(next), Some(before)) = (&mut next, before)
            && next.address == before.address
        {
            // A repeated instruction counts as one, with all its iterations.
            next.reads |= before.reads;
        }
        followed.next = next;
    }

    /// Returns the effect of the instruction that its thread has just executed.
    fn take_use(&mut self, program: &Program) -> Result<Option<ValueUse>, DebuggeeError> {
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return Ok(None);
        };
        let counter = program.registers(home.thread)?.instruction_pointer();
        Ok(followed.next.take_if(|next| next.has_run(counter)))
    }

    /// Guards the memory that it reads against other threads, while there are some.
    pub fn guard(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let Some(followed) = &mut self.followed else {
            return Ok(());
        };
        let has_others = program.debuggee.thread_ids().nth(1).is_some();
        let wanted: &[Range<u64>] = if has_others { &self.seen.ranges } else { &[] };
        if followed.guarded == wanted {
            return Ok(());
        }
        followed.guarded = wanted.to_vec();
        // Changing the watched memory stops every thread.
        let debuggee = &program.debuggee;
        let ids = debuggee.thread_ids();
        let ran: Vec<ThreadId> = ids.filter(|&id| !debuggee.is_waiting(id)).collect();
        self.disarm(program)?;
        self.arm(program)?;
        for thread in ran {
            program.debuggee.resume(thread)?;
        }
        Ok(())
    }

    /// Compares the value after a step or return of its thread.
    pub fn compare(&mut self, program: &Program) -> Result<Compared, DebuggeeError> {
        let is_guarded = self.id.is_some();
        let is_known = self.followed.as_ref().is_some_and(|it| it.next.is_some());
        let used = self.take_use(program)?;
        let stores = !is_known || used.is_some_and(|used| used.writes_memory());
        // The pointers that lead to it, if other threads may have stored to them.
        let led = (is_guarded && !stores).then(|| self.expression.moving_values());
        let Some(home) = &self.home else {
            return Ok(Compared::Same);
        };
        let mut here = Vec::new();
        if !self.is_below(program)? {
            match whereabouts(program, home) {
                Whereabouts::Inside(frames) if self.expression.follow(program, &frames) => {
                    here = frames;
                }
                Whereabouts::Below(_) => {}
                Whereabouts::Replaced => return Ok(Compared::Over),
                // It is nowhere for a while.
                Whereabouts::Inside(_) | Whereabouts::Unknown => {
                    return Ok(not_written(self.kind, used));
                }
            }
        }
        let now = self.expression.read(program);
        if led.is_some_and(|led| led == self.expression.moving_values())
            && bytes_of(&now) != bytes_of(&self.seen)
        {
            // Another thread has stored it, or the kernel has.
            return Ok(not_written(self.kind, used));
        }
        let before = std::mem::replace(&mut self.seen, now);
        let is_known = before.value.is_ok() && self.seen.value.is_ok();
        let is_changed = is_known && bytes_of(&before) != bytes_of(&self.seen);
        let held = self.expression.registers(program, &self.seen, &here);
        let is_written = is_changed || used.is_some_and(|used| used.has_written(held));
        Ok(
            match reported(self.kind, is_written, is_changed, read_at(used)) {
                Effect::Nothing => Compared::Same,
                Effect::Written => Compared::Written(before),
                Effect::Read(address) => Compared::Read(address),
            },
        )
    }

    /// Stops following the call of the watchpoint.
    pub(crate) fn unfollow(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return Ok(());
        };
        program.debuggee.set_single_stepping(home.thread, false);
        followed.guarded.clear();
        followed.set_back(program, None)
    }

    /// Handles a jump of its thread, or an exception: it may return elsewhere.
    pub fn redirect(
        &mut self,
        program: &mut Program,
        dropped: &Dropped,
    ) -> Result<(), DebuggeeError> {
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return Ok(());
        };
        let landing = followed.back.and_then(|back| dropped.resumes_at(back));
        match landing.filter(|landing| landing.stack < home.cfa) {
            Some(landing) => followed.set_back(program, Some(landing)),
            None => Ok(()),
        }
    }
}

/// The result of a comparison after a step.
pub enum Compared {
    /// Nothing to report.
    Same,
    /// It was written over this value, and differs if only that can be detected.
    Written(Reading),
    /// The instruction at this address has read it.
    Read(u64),
    /// Its call has ended.
    Over,
}

/// The effect of an instruction that a watchpoint reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    Written,
    /// The instruction at this address has read the value.
    Read(u64),
}

/// Returns the effect that is reported of an instruction that has written or changed the value, or
/// has read it at `read_at`. A store that a kind reports hides a read of the same instruction.
fn reported(kind: WatchKind, is_written: bool, is_changed: bool, read_at: Option<u64>) -> Effect {
    match kind {
        WatchKind::Read if is_written => Effect::Nothing,
        WatchKind::Write | WatchKind::Access if is_written => Effect::Written,
        WatchKind::Change if is_changed => Effect::Written,
        WatchKind::Read | WatchKind::Access => read_at.map_or(Effect::Nothing, Effect::Read),
        WatchKind::Write | WatchKind::Change => Effect::Nothing,
    }
}

/// Returns the address of an instruction that has read the value.
fn read_at(used: Option<ValueUse>) -> Option<u64> {
    used.filter(|used| used.reads).map(|used| used.address)
}

/// Returns the result for an instruction that has not written the value.
fn not_written(kind: WatchKind, used: Option<ValueUse>) -> Compared {
    match reported(kind, false, false, read_at(used)) {
        Effect::Read(address) => Compared::Read(address),
        Effect::Nothing | Effect::Written => Compared::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_watchpoint_reports_its_accesses() {
        use Effect::{Nothing, Read, Written};
        // Whether the value was written, whether it differs, and whether it was read.
        let accesses = [
            (false, false, None),
            (false, false, Some(8)),
            (true, false, None),
            (true, true, None),
            (true, true, Some(8)),
        ];
        for (kind, expected) in [
            (
                WatchKind::Write,
                [Nothing, Nothing, Written, Written, Written],
            ),
            (
                WatchKind::Change,
                [Nothing, Nothing, Nothing, Written, Written],
            ),
            (
                WatchKind::Read,
                [Nothing, Read(8), Nothing, Nothing, Nothing],
            ),
            (
                WatchKind::Access,
                [Nothing, Read(8), Written, Written, Written],
            ),
        ] {
            let of = |(written, changed, read)| reported(kind, written, changed, read);
            assert_eq!(accesses.map(of), expected, "{kind:?}");
        }
    }
}
