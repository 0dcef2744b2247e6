//! Loops that only spin: a thread comes to a point again in the same state, and has changed nothing
//! since. It goes on when others have.

use super::copying::Numbers;
use super::{Control, End};
use crate::access::{changed, footprint};
use crate::error::ExploreError;
use crate::threads::Standing;
use iced_x86::{Decoder, DecoderOptions, Instruction};
use juror_debuggee::{Debuggee, Owner, ThreadId};
use juror_program::program::Program;
use juror_schedule::{Footprint, Input, Point, PointKind};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// The part of the stack that counts for the state of a thread: that of its function, mostly.
const STACK_BELOW: u64 = 128;
const STACK_LENGTH: usize = 1_152;

/// The states that are remembered of a thread; the scheduler remembers fewer.
const STATES_MAX: usize = 256;

/// The turns of a loop without a point in which its state must come again.
const PROBE_TURNS: usize = 6;

/// The number of times that threads that all spin may look again: a loop may count where it is not
/// seen.
const LOOKS_MAX: u32 = 1_000;

/// The frames in which a loop is looked for, and the largest function.
const FRAMES_MAX: usize = 6;
const FUNCTION_SIZE_MAX: u64 = 1 << 20;

/// The states in which threads were at their points.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spins {
    /// By thread: the number of each state at a site. A number says only which states are equal, so
    /// it is the same in each run.
    states: FxHashMap<ThreadId, FxHashMap<(u64, u64), u64>>,
    numbered: u64,
    /// The number of times that all threads that did not wait were found to spin.
    looks: u32,
    /// A loop without a point that may spin.
    probe: Option<Probe>,
    /// Whether the last thread that computed for long was looked at.
    is_probing: bool,
    /// Loops without a point that compute.
    computing: Vec<u64>,
    /// A loop without a point that spins: it must have one.
    pub(crate) learned: Option<u64>,
}

/// A loop that is looked at.
#[derive(Debug, Clone)]
struct Probe {
    thread: ThreadId,
    head: u64,
    states: Vec<u64>,
}

impl Spins {
    /// The threads have other numbers.
    pub(super) fn renumber(&mut self, numbers: Numbers<'_>) {
        numbers.keys(&mut self.states);
        self.probe = self.probe.take().and_then(|probe| {
            let thread = numbers.of(probe.thread)?;
            Some(Probe { thread, ..probe })
        });
    }
}

impl Control {
    /// A thread that has the baton stands at an instruction that accesses memory, or where a loop
    /// begins.
    pub(super) fn reach_access(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        (site, instruction): (u64, Option<&Instruction>),
    ) -> Result<(), ExploreError> {
        let footprint = match instruction {
            Some(instruction) => {
                let read = |address, size: usize| {
                    let mut bytes = [0; 8];
                    debuggee.read(address, bytes.get_mut(..size)?).ok()?;
                    Some(u64::from_le_bytes(bytes))
                };
                footprint(instruction, debuggee.registers(thread)?, read)
            }
            None => Footprint::NONE,
        };
        let (kind, state) = if footprint.writes() {
            self.forget_states(thread);
            (PointKind::Access, 0)
        } else {
            (PointKind::Loop, self.state_number(debuggee, thread, site)?)
        };
        let point = Point {
            kind,
            site,
            object: 0,
            state,
            footprint,
        };
        let size = instruction.and_then(changed);
        let access = footprint.accesses().first();
        let standing = match access.zip(size) {
            Some((access, size)) => Standing::Reads(access.address, size),
            None => Standing::Ready,
        };
        self.reach_point(debuggee, thread, standing, point)
    }

    /// A thread writes: it may do otherwise in the same state.
    pub(super) fn forget_states(&mut self, thread: ThreadId) {
        self.spins.states.remove(&thread);
    }

    /// A thread that has the baton yields.
    pub(super) fn reach_yield(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        site: u64,
    ) -> Result<(), ExploreError> {
        let point = Point {
            kind: PointKind::Yield,
            site,
            object: 0,
            state: self.state_number(debuggee, thread, site)?,
            footprint: Footprint::NONE,
        };
        self.reach_point(debuggee, thread, Standing::Ready, point)
    }

    /// Returns the number of a thread's state at a site.
    fn state_number(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        site: u64,
    ) -> Result<u64, ExploreError> {
        let state = state_of(debuggee, thread)?;
        let states = self.spins.states.entry(thread).or_default();
        if states.len() == STATES_MAX {
            states.clear();
        }
        let numbered = &mut self.spins.numbered;
        let number = states.entry((site, state)).or_insert_with(|| {
            *numbered += 1;
            *numbered
        });
        Ok(*number)
    }

    /// All threads that do not wait spin. Returns whether they may look again.
    pub(super) fn look_again(&mut self) -> Result<bool, ExploreError> {
        self.spins.looks += 1;
        let looks = self.spins.looks;
        if looks > LOOKS_MAX && !self.may_see_timer(looks) {
            return Ok(false);
        }
        self.input(Input::LookAgain)?;
        Ok(true)
    }

    /// A thread computes without a point. Returns whether a loop of it may be looked at, once in two
    /// times: one that does not spin lets others go first then.
    pub(super) fn may_probe(&mut self, debuggee: &mut Debuggee) -> Result<bool, ExploreError> {
        let was_probed = self.spins.probe.is_some();
        self.end_probe(debuggee)?;
        self.spins.is_probing = !self.spins.is_probing && !was_probed;
        Ok(self.spins.is_probing)
    }

    /// Looks whether a loop of a thread spins.
    pub(crate) fn begin_probe(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        head: u64,
    ) -> Result<(), ExploreError> {
        let is_known = self.sites.by_address.contains_key(&head) || self.returns.contains(&head);
        if is_known || self.spins.computing.contains(&head) {
            return Ok(());
        }
        debuggee.insert(head, Owner::Schedule)?;
        self.spins.probe = Some(Probe {
            thread,
            head,
            states: Vec::new(),
        });
        Ok(())
    }

    /// A thread stands where a loop begins that is looked at. Returns false if it is no such place.
    pub(super) fn probe(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        address: u64,
    ) -> Result<bool, ExploreError> {
        let state = state_of(debuggee, thread)?;
        let Some(probe) = &mut self.spins.probe else {
            return Ok(false);
        };
        if probe.head != address {
            return Ok(false);
        }
        if probe.thread == thread {
            let is_again = probe.states.contains(&state);
            probe.states.push(state);
            if is_again {
                // The run is made again.
                self.spins.learned = Some(address);
                self.stands = self.stands.or(Some(End::Endless));
            } else if probe.states.len() > PROBE_TURNS {
                self.spins.computing.push(address);
                self.end_probe(debuggee)?;
            }
        }
        Ok(true)
    }

    fn end_probe(&mut self, debuggee: &mut Debuggee) -> Result<(), ExploreError> {
        if let Some(probe) = self.spins.probe.take() {
            debuggee.remove(probe.head, Owner::Schedule)?;
        }
        Ok(())
    }
}

/// Returns the hash of a thread's registers and of the top of its stack.
fn state_of(debuggee: &Debuggee, thread: ThreadId) -> Result<u64, ExploreError> {
    let registers = debuggee.registers(thread)?;
    let mut hasher = FxHasher::default();
    for value in registers.encoded() {
        hasher.write_u64(value);
    }
    let mut stack = [0; STACK_LENGTH];
    let begin = registers.stack_pointer().wrapping_sub(STACK_BELOW);
    // At the very top of the stack less can be read.
    if debuggee.read(begin, &mut stack).is_err()
        && let Some(below) = stack.get_mut(..STACK_BELOW as usize)
    {
        let _ = debuggee.read(begin, below);
    }
    hasher.write(&stack);
    Ok(hasher.finish())
}

/// Returns where the innermost loop begins that a thread is in.
pub(crate) fn loop_head(program: &Program, thread: ThreadId) -> Option<u64> {
    let (frames, _) = program.backtrace(thread, FRAMES_MAX);
    frames.iter().find_map(|frame| {
        let module = frame.module.as_ref()?;
        let at = module.to_file(frame.lookup);
        let mut functions = module.symbols.functions();
        let named = functions.find_map(|function| {
            let mut ranges = function.ranges.iter();
            ranges.find(|range| range.contains(&at)).cloned()
        });
        // A program may have been stripped of its symbols.
        let range = named.or_else(|| module.symbols.unwind_range_at(at))?;
        let size = range.end.saturating_sub(range.start).min(FUNCTION_SIZE_MAX);
        let mut code = vec![0; usize::try_from(size).ok()?];
        let begin = module.to_process(range.start);
        program.debuggee.read(begin, &mut code).ok()?;
        innermost_loop(&code, begin, frame.lookup)
    })
}

/// Returns the target of the shortest jump back over an address.
fn innermost_loop(code: &[u8], begin: u64, address: u64) -> Option<u64> {
    let mut decoder = Decoder::with_ip(64, code, begin, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut found: Option<(u64, u64)> = None;
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            break;
        }
        let is_jump = instruction.is_jcc_short_or_near() || instruction.is_jmp_short_or_near();
        let (from, to) = (instruction.ip(), instruction.near_branch_target());
        if is_jump && (to..=from).contains(&address) && to >= begin {
            let length = from - to;
            if found.is_none_or(|(shortest, _)| length < shortest) {
                found = Some((length, to));
            }
        }
    }
    found.map(|(_, head)| head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_loop_is_found() {
        // 0: nop; 1: pause; 3: jmp 1; 5: jne 0; 7: ret
        let code = [0x90, 0xf3, 0x90, 0xeb, 0xfc, 0x75, 0xf9, 0xc3];
        assert_eq!(innermost_loop(&code, 0x100, 0x101), Some(0x101));
        assert_eq!(innermost_loop(&code, 0x100, 0x103), Some(0x101));
        assert_eq!(innermost_loop(&code, 0x100, 0x100), Some(0x100));
        assert_eq!(innermost_loop(&code, 0x100, 0x105), Some(0x100));
        assert_eq!(innermost_loop(&code, 0x100, 0x107), None);
        assert_eq!(innermost_loop(&[0x06], 0x100, 0x100), None);
    }
}
