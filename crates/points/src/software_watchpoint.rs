//! Watchpoints of variables that live in registers: the steps tier.
//!
//! No trap tells of an access to a register, so the thread executes its call one
//! instruction at a time, and the value is compared after each; but where only
//! changes matter, each instruction is decoded before (`watched_use`): it may read
//! the value, or store the same one. A variable of optimized code
//! is now in a register, now in memory, now nowhere: where it is nowhere for a
//! while, that is no change. Other threads run as always.
//!
//! Functions that the call calls are run through, up to a point at the return:
//! they keep the registers that hold variables across a call. While the value is
//! in memory they are stepped, too, for they may have its address.
//!
//! What is in memory may be stored to by other threads. While there are some, that
//! memory is guarded, too: their accesses are told by the trap, those of the call's own
//! thread by its steps. A value that differs though its thread has not stored to it is
//! left to the trap that tells who has.
//!
//! Invariant: while its call lasts, the thread of such a watchpoint is stepped,
//! or there is a point where it comes back into the call.

use crate::watchpoints::{Home, WatchKind, Watchpoint, bytes_of};
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use juror_instrument::watched::Reading;
use juror_instrument::watched_use::ValueUse;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_program::stack::unwinding::{Dropped, JumpTarget};
use juror_stepping::{Flow, flow_of};
use std::ops::Range;

/// What the steps tier knows of a watchpoint.
#[derive(Debug, Default)]
pub struct Followed {
    /// Where the thread comes back into the call, while it is in another one.
    pub back: Option<JumpTarget>,
    /// What the instruction does that its thread is about to execute. Only
    /// where more than changes matters.
    pub(crate) next: Option<ValueUse>,
    /// The memory that is guarded against other threads.
    pub(crate) guarded: Vec<Range<u64>>,
}

impl Followed {
    /// Whether memory is guarded against other threads.
    pub(crate) fn is_guarded(&self) -> bool {
        !self.guarded.is_empty()
    }

    /// Has the thread come back by another way, or not at all.
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

/// How far up the stack the call is looked for.
const FRAMES_MAX: usize = 512;

/// Where a thread is, as a watchpoint sees it.
enum Whereabouts {
    /// In the call, with its frames: those inlined first.
    Inside(Vec<Frame>),
    /// In a function that the call has called, and which comes back here.
    Below(JumpTarget),
    /// In another function that has taken its place (a tail call).
    Replaced,
    /// The stack does not tell.
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
        } else if is_home && let Some(stack) = frame.registers.get(juror_symbols::register::RSP) {
            found = Whereabouts::Below(JumpTarget {
                pc: frame.pc,
                stack,
            });
        }
        if is_innermost && is_home {
            let is_same = frames.last().is_some_and(|it| home.is_of(it));
            found = match is_same {
                true => Whereabouts::Inside(std::mem::take(&mut frames)),
                false => Whereabouts::Replaced,
            };
        }
        is_innermost &= is_inlined;
        !is_home && count < FRAMES_MAX
    });
    found
}

/// Whether a thread that is about to execute an instruction calls with it, and
/// where the call comes back then.
fn call_at(program: &Program, thread: ThreadId) -> Option<JumpTarget> {
    let registers = program.registers(thread).ok()?;
    let bytes = program.instruction_at(registers.rip)?;
    match flow_of(&bytes, registers.rip) {
        Flow::Call { back } => Some(JumpTarget {
            pc: back,
            stack: registers.rsp,
        }),
        _ => None,
    }
}

impl Watchpoint {
    /// Whether its thread is in a function that the call has called, as far as
    /// the stack pointer tells.
    fn is_below(&self, program: &Program) -> Result<bool, DebuggeeError> {
        let (Some(followed), Some(home)) = (&self.followed, &self.home) else {
            return Ok(false);
        };
        let stack = program.registers(home.thread)?.rsp;
        Ok(followed.back.is_some_and(|back| stack < back.stack))
    }

    /// Has its thread stepped, or sets a point where it comes back. Tells
    /// whether it must be stepped.
    pub fn follow_thread(&mut self, program: &mut Program) -> Result<bool, DebuggeeError> {
        // Whoever is called may access the value's memory.
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

    /// Looks at the instruction that its thread is about to execute, if more than
    /// changes matters. In a call that the thread is not in, registers say nothing.
    fn expect(&mut self, program: &Program, frames: &[Frame]) {
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return;
        };
        // Who has changed memory that others share must be known.
        if self.kind == WatchKind::Change && followed.guarded.is_empty() {
            return;
        }
        let before = followed.next.take();
        let expression = &self.expression;
        let mut next = expression.next_use(program, home.thread, &self.seen, frames);
        if let (Some(next), Some(before)) = (&mut next, before)
            && next.address == before.address
        {
            // A repeated instruction is one, all rounds together.
            next.reads |= before.reads;
        }
        followed.next = next;
    }

    /// What the instruction did that its thread has just executed.
    fn take_use(&mut self, program: &Program) -> Result<Option<ValueUse>, DebuggeeError> {
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return Ok(None);
        };
        let counter = program.registers(home.thread)?.rip;
        Ok(followed.next.take_if(|next| next.has_run(counter)))
    }

    /// Guards the memory that it reads against other threads, while there are some.
    pub fn guard(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let Some(followed) = &mut self.followed else {
            return Ok(());
        };
        let has_others = program.debuggee.thread_ids().nth(1).is_some();
        let wanted: &[Range<u64>] = match has_others {
            true => &self.seen.ranges,
            false => &[],
        };
        if followed.guarded == wanted {
            return Ok(());
        }
        followed.guarded = wanted.to_vec();
        // Watching something else stops every thread.
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

    /// Compares the value, where its thread has done a step or come back.
    pub fn compare(&mut self, program: &Program) -> Result<Compared, DebuggeeError> {
        let is_guarded = self.id.is_some();
        let is_known = self.followed.as_ref().is_some_and(|it| it.next.is_some());
        let used = self.take_use(program)?;
        let stores = !is_known || used.is_some_and(|used| used.writes_memory());
        // What led to it, where others may have stored to it.
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
                // For a while it is nowhere.
                Whereabouts::Inside(_) | Whereabouts::Unknown => return Ok(read_by(used)),
            }
        }
        let now = self.expression.read(program);
        if led.is_some_and(|led| led == self.expression.moving_values())
            && bytes_of(&now) != bytes_of(&self.seen)
        {
            // Another thread has stored it, or the kernel has.
            return Ok(read_by(used));
        }
        let before = std::mem::replace(&mut self.seen, now);
        let is_known = before.value.is_ok() && self.seen.value.is_ok();
        let is_changed = is_known && bytes_of(&before) != bytes_of(&self.seen);
        let held = self.expression.registers(program, &self.seen, &here);
        let is_written = is_changed || used.is_some_and(|used| used.has_written(held));
        Ok(match self.kind {
            WatchKind::Read if is_written => Compared::Same,
            WatchKind::Read => read_by(used),
            WatchKind::Write | WatchKind::Access if is_written => Compared::Written(before),
            WatchKind::Change if is_changed => Compared::Written(before),
            WatchKind::Access => read_by(used),
            WatchKind::Write | WatchKind::Change => Compared::Same,
        })
    }

    /// The call of the watchpoint is not followed any longer.
    pub(crate) fn unfollow(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return Ok(());
        };
        program.debuggee.set_single_stepping(home.thread, false);
        followed.guarded.clear();
        followed.set_back(program, None)
    }

    /// Its thread jumps, or has been caught: it may come back in another place.
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

/// What became of a value in a step.
pub enum Compared {
    /// Nothing that the watchpoint reports.
    Same,
    /// It was written over this one, and differs where only that can be seen.
    Written(Reading),
    /// The instruction at this address has read it.
    Read(u64),
    /// There is no call any more that it belongs to.
    Over,
}

/// What an instruction did that has not written the value.
fn read_by(used: Option<ValueUse>) -> Compared {
    match used.filter(|used| used.reads) {
        Some(used) => Compared::Read(used.address),
        None => Compared::Same,
    }
}
