//! `reverse-step`, `reverse-next`: back to the start of the statement that a thread began last.
//!
//! A walk follows the thread through the functions in which it stands, and finds the last statement
//! that one of these calls began. The statements of a function that was called since are later:
//! another walk follows the thread through that one, and so on inwards.

use crate::run::going_back::again::Kept;
use crate::run::going_back::calls::{Begun, Call, Callee, Follow, calls_of};
use crate::run::going_back::code::{Code, visits_at};
use crate::run::going_back::here::{Here, Kind};
use crate::run::going_back::instructions::{Traveller, ended};
use crate::run::going_back::place::Place;
use crate::run::going_back::trail::{Found, Made};
use crate::run::going_back::walk::Walk;
use crate::run::going_back::{Arrived, find, go_back, place_to_leave, to_stop};
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};
use std::rc::Rc;

/// Whether a step back enters functions that were called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// From their ends, if they have lines.
    Enter,
    /// It goes back over them.
    PassOver,
}

/// The numbers of schedule points before the place from which on a thread is followed, in turn: most
/// often its last statement is near.
const POINTS_BEFORE: [u64; 2] = [0, 64];

/// The end of a step back.
#[derive(Debug)]
enum Target {
    /// To a stop with a number, which is on the way.
    Stop(u64),
    Statement(Found<Place>),
}

/// `reverse-step`, `reverse-next`
pub(crate) fn reverse_statements(
    session: &mut Session,
    count: u64,
    calls: Calls,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let mut outcome = Outcome::Done;
    for turn in 0..count {
        match reverse_statement(session, calls, observer) {
            Ok(gone) => outcome = gone,
            // A point that was gone stays gone.
            Err(error) if turn > 0 && error.message == no_more_history().message => {
                observer.notice(&error.message);
                break;
            }
            Err(error) => return Err(error),
        }
        if !is_step(&outcome) {
            break;
        }
    }
    Ok(outcome)
}

/// Returns whether a step has ended as steps do.
pub(super) fn is_step(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Stopped(stop) => matches!(stop.reason, StopReason::Step),
        _ => false,
    }
}

fn reverse_statement(
    session: &mut Session,
    calls: Calls,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let here = place_to_leave(session)?;
    let traveller = match here.kind {
        Kind::End => return Err(ended()),
        _ => Traveller::selected(session)?,
    };
    let thread = session.thread()?;
    let around = Rc::new(calls_of(session, thread)?);
    let begun = begun_here(session, thread, &around)?;
    let mut is_here = None;
    let gone = go_back(session, |session, kept| {
        let way = Way {
            kept,
            here: &here,
            traveller: &traveller,
        };
        let target = way.target(session, (&around, &begun), calls, observer)?;
        match target {
            Target::Stop(number) => to_stop(session, kept, &here, number, observer),
            Target::Statement(found) if found.place == Place::HERE => {
                is_here = Some(found.skipped);
                Err(no_more_history())
            }
            Target::Statement(found) => arrive(&way, session, &found, observer),
        }
    });
    match is_here {
        Some(skipped) => {
            // Nothing is undone: the thread stands before the inlined calls that begin here.
            stand(session, thread, skipped)?;
            session.control.state.restore(false);
            session.stop(StopReason::Step, thread)
        }
        None => gone,
    }
}

/// Returns the error of a thread that has begun no statement before.
fn no_more_history() -> CommandError {
    CommandError::with_help(
        "no more history: the thread has begun no statement before this one",
        "reverse-stepi goes back by one instruction, goto start to the start of the run",
    )
}

/// Returns what a thread has begun at its place before the line in which it is shown.
fn begun_here(
    session: &mut Session,
    thread: ThreadId,
    around: &[Call],
) -> Result<Begun, CommandError> {
    let program = session.running()?;
    let counter = program.registers(thread)?.instruction_pointer();
    let chain = program.inlined_chain(thread);
    let skipped = session.skipped_frame_count(thread, &chain);
    let Some(call) = around
        .first()
        .filter(|it| it.code.sites.contains_key(&counter))
    else {
        return Ok(Begun::default());
    };
    let is_entry = call.code.entry == counter;
    let mut visits = visits_at(session, counter)?;
    visits.retain(|visit| visit.skipped > skipped);
    Ok(Begun { is_entry, visits })
}

fn stand(session: &mut Session, thread: ThreadId, skipped: usize) -> Result<(), CommandError> {
    let chain = session.running()?.inlined_chain(thread);
    session.stand_at_level(thread, Some(skipped), &chain);
    Ok(())
}

/// Goes to a statement, and stands before the inlined calls that are not entered there.
pub(super) fn arrive(
    way: &Way<'_>,
    session: &mut Session,
    found: &Found<Place>,
    observer: &mut dyn Observer,
) -> Result<Arrived, CommandError> {
    let (reason, thread) = found.place.arrive(session, way.kept, way.here, observer)?;
    if matches!(reason, StopReason::Step) {
        stand(session, thread, found.skipped)?;
    }
    Ok((reason, thread))
}

/// The way back of a thread.
pub(super) struct Way<'a> {
    pub kept: &'a Kept,
    pub here: &'a Here,
    pub traveller: &'a Traveller,
}

impl Way<'_> {
    /// Walks to the place once more, and follows the thread through calls from a number of schedule
    /// points on.
    pub(super) fn follow(
        &self,
        session: &mut Session,
        calls: &Rc<Vec<Call>>,
        from: u64,
        observer: &mut dyn Observer,
    ) -> Result<Follow, CommandError> {
        let mut walk = Walk::begin(session, self.kept, self.here, observer)?;
        let follow = Follow::new(self.traveller.path, calls);
        let mut sites = follow.sites();
        sites.extend(self.here.address());
        sites.sort_unstable();
        sites.dedup();
        walk.visit(sites, from);
        find(session, &mut walk, self.here, follow)
    }

    /// Returns the numbers of points from which on the thread is followed, in turn.
    pub(super) fn windows(&self) -> Vec<u64> {
        let near = POINTS_BEFORE.iter();
        let near = near.map(|before| self.here.points.saturating_sub(*before));
        let mut windows: Vec<u64> = near.chain([0]).collect();
        windows.dedup();
        windows
    }

    fn target(
        &self,
        session: &mut Session,
        (around, begun): (&Rc<Vec<Call>>, &Begun),
        calls: Calls,
        observer: &mut dyn Observer,
    ) -> Result<Target, CommandError> {
        for from in self.windows() {
            let mut follow = self.follow(session, around, from, observer)?;
            follow.take_here(begun);
            let (found, made) = match calls {
                Calls::PassOver => (follow.trail.last_over_calls().cloned(), Vec::new()),
                Calls::Enter => match follow.trail.last() {
                    Some((found, made)) => (Some(found.clone()), made.to_vec()),
                    None => (None, Vec::new()),
                },
            };
            let Some(found) = found else { continue };
            let stop = follow.stop;
            // The entry of a call at the place itself is no step on the way there.
            let entered = around.get(usize::from(begun.is_entry)..).unwrap_or(&[]);
            return match self.inside(session, (entered, made), observer)? {
                Some(target) => Ok(target),
                None => Ok(later_of(found, stop)),
            };
        }
        Err(no_more_history())
    }

    /// Returns the last statement inside the last of some calls whose function is one to step into.
    fn inside(
        &self,
        session: &mut Session,
        (entered, mut calls): (&[Call], Vec<Made<Place, Callee>>),
        observer: &mut dyn Observer,
    ) -> Result<Option<Target>, CommandError> {
        let mut target = None;
        while let Some(made) = calls.pop() {
            let bound = session.running()?.modules.function_at(made.callee.entry);
            let Some(bound) = bound else { continue };
            if session.body_of(&bound, false)?.is_none() {
                continue;
            }
            let code = Code::of(session, &bound)?;
            let call = Rc::new(vec![Call::over(code, made.callee.cfa)]);
            let mut follow = self.follow(session, &call, made.place.points, observer)?;
            if entered.iter().any(|call| call.is(made.callee)) {
                // The thread has called it once more since, and stands in it.
                follow.trail.take_back_entry();
            }
            let Some((found, made)) = follow.trail.last() else {
                continue;
            };
            calls = made.to_vec();
            target = Some(later_of(found.clone(), follow.stop));
        }
        Ok(target)
    }
}

/// Returns a stop if it is later than a statement.
fn later_of(found: Found<Place>, stop: Option<(u64, u64)>) -> Target {
    match stop.filter(|(_, order)| *order > found.order) {
        Some((number, _)) => Target::Stop(number),
        None => Target::Statement(found),
    }
}
