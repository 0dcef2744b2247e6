//! `reverse-finish`, back to the call of a function, and `reverse-nexti`, over calls to the instruction
//! before.

use crate::run::going_back::calls::calls_of;
use crate::run::going_back::code::{branches_of, call_returning_to};
use crate::run::going_back::here::{Here, Kind, path_of};
use crate::run::going_back::instructions::{Traveller, ended, reverse_instructions};
use crate::run::going_back::place::Place;
use crate::run::going_back::statements::{Way, arrive, is_step};
use crate::run::going_back::walk::{Happening, Walk, points_of};
use crate::run::going_back::{Notes, another_way, find, go_back, place_to_leave, to_stop};
use crate::run::step::nowhere_to_return;
use crate::session::Session;
use juror_arch::abi;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_program::program::Program;
use juror_program::stack::frames::{Frame, returns_to};
use juror_schedule::ThreadPath;
use juror_stepping::{Branches, Flow, flow_of};
use juror_view::Outcome;
use juror_view::observer::Observer;
use std::rc::Rc;

/// A call of a thread, by what its registers say at an address.
#[derive(Debug, Clone, Copy)]
enum Within {
    /// The stack pointer.
    Stack(u64),
    /// The canonical frame address.
    Frame(u64),
}

impl Within {
    fn is_at(self, program: &Program, thread: ThreadId) -> bool {
        match self {
            Within::Stack(stack) => {
                let registers = program.registers(thread);
                registers.is_ok_and(|it| it.stack_pointer() == stack)
            }
            Within::Frame(cfa) => program.innermost_frame_address(thread) == Some(cfa),
        }
    }
}

/// The last arrival of a thread at one of some addresses, within a call.
#[derive(Debug, Clone)]
struct LastAt {
    path: ThreadPath,
    addresses: Vec<u64>,
    within: Within,
    place: Option<Place>,
    /// The number of a stop since then.
    stop: Option<u64>,
}

impl Notes for LastAt {
    fn note(
        &mut self,
        session: &Session,
        walk: &Walk<'_>,
        happening: &Happening,
    ) -> Result<(), CommandError> {
        if happening.stop.is_some() {
            self.stop = Some(walk.stops);
        }
        let program = session.running()?;
        let Some((thread, site)) = happening.thread.zip(happening.arrival) else {
            return Ok(());
        };
        if self.addresses.contains(&site.0)
            && path_of(&program.debuggee, thread) == Some(self.path)
            && self.within.is_at(program, thread)
        {
            self.stop = None;
            self.place = Some(Place {
                points: points_of(&program.debuggee),
                site: Some(site),
                steps: 0,
            });
        }
        Ok(())
    }
}

impl Way<'_> {
    /// Returns the last arrival of the thread at one of some addresses.
    fn last_at(
        &self,
        session: &mut Session,
        (addresses, within): (&[u64], Within),
        observer: &mut dyn Observer,
    ) -> Result<LastAt, CommandError> {
        let mut last = LastAt {
            path: self.traveller.path,
            addresses: addresses.to_vec(),
            within,
            place: None,
            stop: None,
        };
        for from in self.windows() {
            let mut walk = Walk::begin(session, self.kept, self.here, observer)?;
            let mut sites = addresses.to_vec();
            sites.extend(self.here.address());
            sites.sort_unstable();
            sites.dedup();
            walk.visit(sites, from);
            last = find(session, &mut walk, self.here, last)?;
            if last.place.is_some() {
                break;
            }
        }
        Ok(last)
    }
}

/// Returns the place that is left, and the thread that goes back.
fn leave(session: &Session) -> Result<(Here, Traveller), CommandError> {
    let here = place_to_leave(session)?;
    match here.kind {
        Kind::End => Err(ended()),
        _ => Ok((here, Traveller::selected(session)?)),
    }
}

/// `reverse-finish`
pub(crate) fn reverse_finish(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let (here, traveller) = leave(session)?;
    let level = session.processes.selection.level;
    let frames = session.frames()?.to_vec();
    let frame = frames.get(level).cloned();
    let frame = frame.ok_or_else(|| CommandError::new("the thread has no stack"))?;
    if frame.is_inlined() {
        return leave_inlined(session, (&here, &traveller), (&frames, level), observer);
    }
    let caller = returns_to(&frames, level);
    let (Some(caller), Some(cfa)) = (caller, frame.cfa) else {
        return Err(nowhere_to_return(&frame));
    };
    let program = session.running()?;
    let is_called = caller.lookup < caller.pc;
    let call = Some(caller.pc).filter(|_| is_called);
    let call = call.and_then(|back| call_returning_to(program, back));
    let entry = entry_of(&frame);
    let (address, stack) = match (call, entry) {
        (Some(call), _) => (call, cfa),
        // A signal handler.
        (None, Some(entry)) => (entry, cfa.wrapping_sub(abi::RETURN_ADDRESS_BYTES)),
        (None, None) => return Err(nowhere_to_return(&frame)),
    };
    let mut is_stop = false;
    let outcome = go_back(session, |session, kept| {
        let way = Way {
            kept,
            here: &here,
            traveller: &traveller,
        };
        let last = way.last_at(session, (&[address], Within::Stack(stack)), observer)?;
        let place = last.place.ok_or_else(another_way)?;
        if let Some(stop) = last.stop {
            is_stop = true;
            return to_stop(session, kept, &here, stop, observer);
        }
        place.arrive(session, kept, &here, observer)
    })?;
    match call {
        None if !is_stop && is_step(&outcome) => reverse_instructions(session, 1, observer),
        _ => Ok(outcome),
    }
}

/// Returns the address at which the function of a frame begins.
fn entry_of(frame: &Frame) -> Option<u64> {
    let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
    Some(module.to_process(function.low_pc))
}

/// Goes back to where an inlined call begins, and stands before it.
fn leave_inlined(
    session: &mut Session,
    (here, traveller): (&Here, &Traveller),
    (frames, level): (&[Frame], usize),
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let thread = session.thread()?;
    let calls = calls_of(session, thread)?;
    let frame = frames.get(level).ok_or_else(another_way)?;
    let function = frames.iter().skip(level).find(|it| !it.is_inlined());
    let cfa = function.and_then(|function| function.cfa);
    let mut calls = calls.into_iter().filter(|call| Some(call.cfa) == cfa);
    let call = Rc::new(vec![calls.next().ok_or_else(another_way)?]);
    let depth = frame.nesting();
    go_back(session, |session, kept| {
        let way = Way {
            kept,
            here,
            traveller,
        };
        for from in way.windows() {
            let follow = way.follow(session, &call, from, observer)?;
            let Some(found) = follow.trail.entered(depth).cloned() else {
                continue;
            };
            return match follow.stop.filter(|(_, order)| *order > found.order) {
                Some((number, _)) => to_stop(session, kept, here, number, observer),
                None => arrive(&way, session, &found, observer),
            };
        }
        Err(another_way())
    })
}

/// `reverse-nexti`
pub(crate) fn reverse_instructions_over_calls(
    session: &mut Session,
    count: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let mut outcome = Outcome::Done;
    for _ in 0..count {
        outcome = match before_call(session, observer)? {
            Some(outcome) => outcome,
            None => reverse_instructions(session, 1, observer)?,
        };
        if !is_step(&outcome) {
            break;
        }
    }
    Ok(outcome)
}

/// Goes back to the call that has returned to the present place, or has jumped there; nothing if none
/// has.
fn before_call(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<Option<Outcome>, CommandError> {
    let (here, traveller) = leave(session)?;
    let counter = traveller.registers.instruction_pointer();
    let thread = session.thread()?;
    let program = session.running()?;
    let bound = program.modules.function_at(counter);
    let call = call_returning_to(program, counter);
    let cfa = program.innermost_frame_address(thread);
    let Some(((bound, cfa), _)) = bound.zip(cfa).zip(call) else {
        return Ok(None);
    };
    // All calls, since another one may have jumped there, and the jumps.
    let Branches { jumps, calls } = branches_of(program, &bound);
    let (calls, indirect): (Vec<u64>, Vec<u64>) = calls
        .into_iter()
        .partition(|address| is_call(program, *address));
    let jumps = jumps.iter().filter(|(_, to)| *to == counter);
    let others = jumps.map(|(from, _)| *from).chain(indirect);
    let addresses: Vec<u64> = others.chain(calls.iter().copied()).collect();
    let mut is_jump = false;
    let gone = go_back(session, |session, kept| {
        let way = Way {
            kept,
            here: &here,
            traveller: &traveller,
        };
        let last = way.last_at(session, (&addresses, Within::Frame(cfa)), observer)?;
        let at = last.place.and_then(|place| place.site);
        let is_call = at.is_some_and(|(address, _)| calls.contains(&address));
        match (last.place, last.stop) {
            (_, Some(stop)) if is_call => to_stop(session, kept, &here, stop, observer),
            (Some(place), _) if is_call => place.arrive(session, kept, &here, observer),
            _ => {
                is_jump = true;
                Err(another_way())
            }
        }
    });
    if is_jump {
        return Ok(None);
    }
    gone.map(Some)
}

fn is_call(program: &Program, address: u64) -> bool {
    let bytes = program.instruction_at(address);
    bytes.is_some_and(|bytes| matches!(flow_of(&bytes, address), Flow::Call { .. }))
}
