//! Watchpoints of variables that live in registers: the steps tier.
//!
//! No access to a register can be seen, so the thread executes its call one
//! instruction at a time, and the value is compared after each. A variable of
//! optimized code is now in a register, now in memory, now nowhere: where it is
//! nowhere for a while, that is no change. Other threads run as always.
//!
//! Functions that the call calls are run through, up to a point at the return:
//! they keep the registers that hold variables across a call. While the value is
//! in memory they are stepped, too, for they may have its address.
//!
//! Invariant: while its call lasts, the thread of such a watchpoint is stepped,
//! or there is a point where it comes back into the call.

use crate::options::CommandError;
use crate::points::Stopping;
use crate::print::convenience;
use crate::run::Pause;
use crate::session::Session;
use crate::watchpoints::{Home, Watchpoint, bytes_of};
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use juror_instrument::frames::Frame;
use juror_instrument::program::Program;
use juror_instrument::unwinding::JumpTarget;
use juror_instrument::watched::Reading;
use juror_stepping::{Flow, flow_of};
use smallvec::SmallVec;

/// How far up the stack the call is looked for.
const FRAMES_MAX: usize = 512;
/// The longest instruction, in bytes.
const INSTRUCTION_LENGTH_MAX: usize = 15;

/// What the steps tier knows of a watchpoint.
#[derive(Debug, Default)]
pub struct Followed {
    /// Where the thread comes back into the call, while it is in another one.
    back: Option<JumpTarget>,
}

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

impl Followed {
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

/// Whether a thread that is about to execute an instruction calls with it, and
/// where the call comes back then.
fn call_at(program: &Program, thread: ThreadId) -> Option<JumpTarget> {
    let registers = program.registers(thread).ok()?;
    let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
    let is_read = |count: &usize| {
        let part = bytes.get_mut(..*count);
        part.is_some_and(|part| program.debuggee.read(registers.rip, part).is_ok())
    };
    // The instruction may be the last one of what is mapped.
    let count = (1..=INSTRUCTION_LENGTH_MAX).rev().find(is_read)?;
    match flow_of(bytes.get(..count)?, registers.rip) {
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
    fn follow_thread(&mut self, program: &mut Program) -> Result<bool, DebuggeeError> {
        // Whoever is called may write to the value's memory.
        let in_memory = !self.seen.ranges.is_empty();
        if self.is_below(program)? {
            return Ok(in_memory);
        }
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return Ok(false);
        };
        let back = match whereabouts(program, home) {
            Whereabouts::Inside(_) => call_at(program, home.thread),
            Whereabouts::Below(back) => Some(back),
            Whereabouts::Replaced | Whereabouts::Unknown => None,
        };
        followed.set_back(program, back)?;
        Ok(back.is_none() || in_memory)
    }

    /// Compares the value, where its thread has done a step or come back.
    fn compare(&mut self, program: &Program) -> Result<Compared, DebuggeeError> {
        let Some(home) = &self.home else {
            return Ok(Compared::Same);
        };
        if !self.is_below(program)? {
            match whereabouts(program, home) {
                Whereabouts::Inside(frames) if self.expression.follow(program, &frames) => {}
                Whereabouts::Below(_) => {}
                Whereabouts::Replaced => return Ok(Compared::Over),
                // For a while it is nowhere.
                Whereabouts::Inside(_) | Whereabouts::Unknown => return Ok(Compared::Same),
            }
        }
        let now = self.expression.read(program);
        let before = std::mem::replace(&mut self.seen, now);
        let is_known = before.value.is_ok() && self.seen.value.is_ok();
        Ok(
            match is_known && bytes_of(&before) != bytes_of(&self.seen) {
                true => Compared::Changed(before),
                false => Compared::Same,
            },
        )
    }

    /// The call of the watchpoint is not followed any longer.
    pub(crate) fn unfollow(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return Ok(());
        };
        program.debuggee.run_by_steps(home.thread, false);
        followed.set_back(program, None)
    }

    /// Its thread jumps, or has been caught: it may come back in another place.
    pub(crate) fn redirect(
        &mut self,
        program: &mut Program,
        landing: JumpTarget,
    ) -> Result<(), DebuggeeError> {
        /// The return address, which the called function's frame begins with.
        const SLOT_SIZE: u64 = 8;
        let (Some(followed), Some(home)) = (&mut self.followed, &self.home) else {
            return Ok(());
        };
        let is_home = followed.back.is_some_and(|back| {
            landing.stack < home.cfa && landing.stack > back.stack.wrapping_sub(SLOT_SIZE)
        });
        match is_home {
            true => followed.set_back(program, Some(landing)),
            false => Ok(()),
        }
    }
}

/// What became of a value in a step.
enum Compared {
    Same,
    /// It differs from this one.
    Changed(Reading),
    /// There is no call any more that it belongs to.
    Over,
}

impl Session {
    /// Before threads run: those of watched registers do it by steps.
    pub(crate) fn prepare_followed(&mut self) -> Result<(), DebuggeeError> {
        let Some(program) = &mut self.program else {
            return Ok(());
        };
        let mut stepped: SmallVec<[ThreadId; 2]> = SmallVec::new();
        for watchpoint in self.watchpoints.followed() {
            let Some(thread) = watchpoint.home.as_ref().map(|home| home.thread) else {
                continue;
            };
            if !program.debuggee.is_waiting(thread) {
                continue;
            }
            if watchpoint.follow_thread(program)? {
                stepped.push(thread);
            }
            let is_stepped = stepped.contains(&thread);
            program.debuggee.run_by_steps(thread, is_stepped);
        }
        Ok(())
    }

    /// A thread has done a step, or come back into a call: compares what is
    /// watched in its registers. Gives what the user must see, if anything.
    pub(crate) fn compare_followed(
        &mut self,
        thread: ThreadId,
    ) -> Result<Option<Pause>, CommandError> {
        let Some(program) = &self.program else {
            return Ok(None);
        };
        let mut accesses = Vec::new();
        let mut over = Vec::new();
        let mut stopping = None;
        let values = |name: &str| convenience(&self.values, name);
        let is_own = |it: &&mut Watchpoint| it.home.as_ref().is_some_and(|it| it.thread == thread);
        for watchpoint in self.watchpoints.followed().filter(is_own) {
            let before = match watchpoint.compare(program)? {
                Compared::Same => continue,
                Compared::Over => {
                    over.push(watchpoint.point.number);
                    continue;
                }
                Compared::Changed(before) => before,
            };
            let answer = watchpoint.ask(program, thread, &values);
            let stops_before = count_of(&stopping);
            watchpoint.point.take_hit(answer, &mut stopping);
            if count_of(&stopping) > stops_before {
                let by = program.previous_instruction(thread);
                accesses.push(watchpoint.access_view(program, thread, Some(&before), by)?);
            }
        }
        if let Some(stopping) = stopping {
            let reason = self.watchpoint_reason(accesses, &stopping)?;
            return Ok(Some(Pause::Reason(reason, thread)));
        }
        if !over.is_empty() {
            let reason = self.end_watchpoints(&over)?;
            return Ok(Some(Pause::Reason(reason, thread)));
        }
        self.prepare_followed()?;
        Ok(None)
    }

    /// A thread is at an internal point: it may be back in a call whose
    /// registers are watched, or on another way there.
    pub(crate) fn on_way_back(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<Pause>, CommandError> {
        let Some(program) = &mut self.program else {
            return Ok(None);
        };
        if self.watchpoints.followed().next().is_none() {
            return Ok(None);
        }
        let stack = program.registers(thread)?.rsp;
        let landing = self.watchpoints.landing(program, thread, address)?;
        let mut is_back = false;
        for watchpoint in self.watchpoints.followed() {
            if watchpoint
                .home
                .as_ref()
                .is_none_or(|it| it.thread != thread)
            {
                continue;
            }
            if let Some(landing) = landing {
                watchpoint.redirect(program, landing)?;
            }
            let back = watchpoint.followed.as_ref().and_then(|it| it.back);
            is_back |= back.is_some_and(|back| back.pc == address && stack >= back.stack);
        }
        match is_back {
            true => self.compare_followed(thread),
            false => Ok(None),
        }
    }
}

fn count_of(stopping: &Option<Stopping>) -> usize {
    stopping.as_ref().map_or(0, |it| it.numbers.len())
}
