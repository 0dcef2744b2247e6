//! Going back in a run that can be made again: the program is launched once more, and goes the same way
//! to an earlier place.
//!
//! Only one thread runs at a time, as the file of the run says, so the run is a function of the file. The
//! first walk looks for the place at which the user stands, and notes on the way where the answer of
//! the command lies; a second one goes there. Nothing that the program writes on the way is shown, no
//! commands of points are executed, and points count as if the run had come there once.
//!
//! **Invariant**: the present program is kept until another one stands at the goal. If the place is not
//! found again, or the user interrupts, the present one stands where it stood.

mod again;
mod calls;
mod code;
mod finish;
mod here;
mod instructions;
mod last_write;
mod memory;
mod place;
mod statements;
mod trail;
mod walk;
mod way;
mod waypoints;
mod why;

pub(crate) use finish::{reverse_finish, reverse_instructions_over_calls};
pub(crate) use instructions::reverse_instructions;
pub(crate) use last_write::last_write;
pub(crate) use place::go_to;
pub(crate) use statements::{Calls, reverse_statements};
pub(crate) use why::why;

use crate::run::going_back::again::Kept;
use crate::run::going_back::here::{Finder, Here, Kind, Numbers, cannot_be_made_again};
use crate::run::going_back::memory::Difference;
use crate::run::going_back::walk::{Happening, Walk, points_of};
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};

/// The end of the words by which a thread of a walk is lost.
const LOST: &str = " has ended";

/// Where a walk ends, and why the run is shown there.
pub(super) type Arrived = (StopReason, ThreadId);

/// `reverse-continue`
pub(crate) fn reverse_continue(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let here = place_to_leave(session)?;
    let mut is_start = false;
    let outcome = go_back(session, |session, kept| {
        let mut walk = Walk::begin(session, kept, &here, observer)?;
        walk.visit(here.address().into_iter().collect(), here.points);
        let Stops(stops) = find(session, &mut walk, &here, Stops::default())?;
        drop(walk);
        is_start = stops == 0;
        match stops {
            0 => to_start(session, kept, &here, observer),
            stops => to_stop(session, kept, &here, stops, observer),
        }
    })?;
    if is_start {
        observer.notice("there is no earlier stop: this is the start of the run");
    }
    Ok(outcome)
}

/// Returns whether the run stands at its start.
fn is_at_start(session: &Session) -> bool {
    session.is_fresh() || session.processes.stop.is_start
}

/// Returns the place at which the run stands, and from which it can go back.
fn place_to_leave(session: &Session) -> Result<Here, CommandError> {
    let here = place_to_go_from(session)?;
    if is_at_start(session) {
        return Err(CommandError::with_help(
            "this is the start of the run",
            "continue goes on from here, goto 27 to a schedule point",
        ));
    }
    Ok(here)
}

/// Returns the place at which the run stands, and from which it can go to others: the start is one.
fn place_to_go_from(session: &Session) -> Result<Here, CommandError> {
    let Some(file) = &session.options.schedule else {
        return Err(match &session.launch.unrecorded {
            Some(recorded) => CommandError::with_help(
                "this run is being recorded; it goes back when it is made again",
                format!(
                    "when it has ended: juror replay {}",
                    recorded.path.display()
                ),
            ),
            None => cannot_be_made_again(),
        });
    };
    if file.files() == juror_explore::Files::Real && !file.is_recorded() {
        return Err(CommandError::new(
            "this run changes your files, and would change them again on the way back",
        ));
    }
    if session.processes.are_several() {
        return Err(CommandError::new("only a run of one process goes back"));
    }
    if session.processes.monitors.is_recorded() {
        return Err(CommandError::new(
            "the run is being recorded: its trace does not go back",
        ));
    }
    if !session.scenarios.is_idle() {
        return Err(CommandError::with_help(
            "scenarios would act once more on the way back",
            "without them the run goes back",
        ));
    }
    let program = session.processes.program.as_ref();
    if program.is_some_and(|program| program.debuggee.is_branched()) {
        return Err(CommandError::with_help(
            "the run has left the order of its file, so it cannot be made again",
            "run makes the run of the file again from its start",
        ));
    }
    if is_at_start(session) {
        return Ok(Here::start());
    }
    Here::of(session)
}

/// Walks in the run that is made again, if need be once more from its start.
fn walked<T>(
    session: &mut Session,
    kept: &Kept,
    go: &mut impl FnMut(&mut Session, &Kept) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let mut gone = go(session, kept);
    if kept.has_used_checkpoints.get() && gone.as_ref().is_err_and(has_gone_astray) {
        // It is not certain without the way from the start.
        let waypoints = std::mem::take(&mut session.checkpoints.waypoints);
        kept.starts_anew.set(true);
        gone = go(session, kept);
        if gone.is_err() {
            session.checkpoints.waypoints = waypoints;
        }
    }
    gone
}

/// Goes back: `go` walks to the goal. The present run is kept until it has come there.
fn go_back(
    session: &mut Session,
    mut go: impl FnMut(&mut Session, &Kept) -> Result<Arrived, CommandError>,
) -> Result<Outcome, CommandError> {
    session.control.permit_run()?;
    let kept = Kept::take(session);
    let gone = walked(session, &kept, &mut go);
    match gone {
        Ok((reason, thread)) => {
            kept.leave(session)?;
            session.stop(reason, thread)
        }
        Err(error) => {
            kept.come_back(session)?;
            Err(error)
        }
    }
}

/// What is noted on the way to a place.
trait Notes: Clone {
    /// Notes that the place is not the start of the run.
    fn begin(&mut self) {}

    /// Returns whether what was noted depends on what was before the walk set out: then it sets out
    /// earlier.
    fn needs_earlier(&self, _: &Walk<'_>) -> bool {
        true
    }

    /// Whether notes of two ways, one after the other, can be joined ([`Notes::followed_by`]): then a walk
    /// that sets out earlier ends where the last one has set out.
    const ARE_JOINED: bool = false;

    /// Returns the notes of a way on which nothing was found before `later`, and of the one before it.
    #[must_use]
    fn followed_by(self, _later: &Self) -> Self {
        self
    }

    /// Notes what happens before the place, and after all that was noted before.
    fn note(
        &mut self,
        session: &Session,
        walk: &Walk<'_>,
        happening: &Happening,
    ) -> Result<(), CommandError>;
}

/// The number of stops.
#[derive(Debug, Clone, Default)]
struct Stops(u64);

impl Notes for Stops {
    fn note(&mut self, _: &Session, walk: &Walk<'_>, _: &Happening) -> Result<(), CommandError> {
        self.0 = walk.stops;
        Ok(())
    }

    fn needs_earlier(&self, _: &Walk<'_>) -> bool {
        self.0 == 0
    }

    const ARE_JOINED: bool = true;
}

/// Walks until the place at which the run stands. Returns what was noted before.
fn find<N: Notes>(
    session: &mut Session,
    walk: &mut Walk<'_>,
    here: &Here,
    notes: N,
) -> Result<N, CommandError> {
    let plan = walk.plan();
    let mut later: Option<(u64, N)> = None;
    loop {
        let found = match &later {
            Some((points, later)) => {
                note_until(session, walk, *points, notes.clone())?.followed_by(later)
            }
            None => find_on_way(session, walk, here, notes.clone())?,
        };
        if walk.is_from_start() || !found.needs_earlier(walk) {
            walk.kept.origin.set(walk.origin());
            return Ok(found);
        }
        later = N::ARE_JOINED.then(|| (walk.origin_points(), found));
        walk.set_out_earlier(session, &plan)?;
    }
}

/// Walks until a thread goes on after so many schedule points. Returns what was noted before.
fn note_until<N: Notes>(
    session: &mut Session,
    walk: &mut Walk<'_>,
    points: u64,
    mut notes: N,
) -> Result<N, CommandError> {
    walk.tell_no_later_than(points);
    let mut next = walk.start(session)?;
    notes.begin();
    loop {
        let happening = match next.take() {
            Some(happening) => happening,
            None => walk.next(session)?,
        };
        if happening.is_end || is_standstill(&happening) {
            return Err(another_way());
        }
        if points_of(&session.running()?.debuggee) >= points {
            return Ok(notes);
        }
        notes.note(session, walk, &happening)?;
        walk.go_on(session, &happening)?;
    }
}

/// Walks from where the walk sets out.
fn find_on_way<N: Notes>(
    session: &mut Session,
    walk: &mut Walk<'_>,
    here: &Here,
    mut notes: N,
) -> Result<N, CommandError> {
    let mut finder = Finder::new();
    if here.points != u64::MAX && here.points != 0 {
        walk.tell_no_later_than(here.points);
    }
    let mut next = walk.start(session)?;
    let beginning = Happening {
        thread: session.processes.selection.thread,
        ..Happening::default()
    };
    if next.is_none()
        && let Some(difference) = difference_at(session, walk, here, &beginning)?
        && let Some(found) = finder.take(difference, notes.clone())
    {
        return Ok(found);
    }
    notes.begin();
    loop {
        let happening = match next.take() {
            Some(happening) => happening,
            None => walk.next(session)?,
        };
        if happening.is_end && matches!(here.kind, Kind::End) {
            return Ok(notes);
        }
        let difference = difference_at(session, walk, here, &happening)?;
        if here.is_included {
            notes.note(session, walk, &happening)?;
        }
        if let Some(difference) = difference
            && let Some(found) = finder.take(difference, notes.clone())
        {
            return Ok(found);
        }
        let points = session.processes.program.as_ref();
        let points = points.map_or(u64::MAX, |program| points_of(&program.debuggee));
        if happening.is_end || points > here.points || is_standstill(&happening) {
            return finder.found();
        }
        if !here.is_included {
            notes.note(session, walk, &happening)?;
        }
        walk.go_on(session, &happening)?;
    }
}

/// Returns how the memory differs if the run stands at the place, as far as its registers tell.
fn difference_at(
    session: &Session,
    walk: &Walk<'_>,
    here: &Here,
    happening: &Happening,
) -> Result<Option<Difference>, CommandError> {
    let is_there = match &here.kind {
        Kind::End => false,
        Kind::Standstill => is_standstill(happening),
        Kind::Signal(_) => matches!(happening.stop, Some(StopReason::Signal { .. })),
        // Also where a watchpoint or a violation stops it.
        Kind::Stands(_) => true,
    };
    let program = session.running()?;
    let scheduler = program.debuggee.scheduler();
    if !is_there || !scheduler.is_some_and(|scheduler| here.is_same_run(scheduler)) {
        return Ok(None);
    }
    let Some(then) = walk.kept.program() else {
        return Ok(None);
    };
    if let Some(standing) = here.standing() {
        let stands = match happening.thread {
            Some(thread) => walk.stands_as(session, thread, standing)?,
            None => false,
        };
        if !stands {
            return Ok(None);
        }
    }
    let numbers = Numbers::of(&then.debuggee, &program.debuggee);
    let (then, now) = (&then.debuggee, &program.debuggee);
    Ok(Some(Difference::between(then, now, &numbers)))
}

fn is_standstill(happening: &Happening) -> bool {
    matches!(happening.stop, Some(StopReason::Standstill { .. }))
}

/// Goes to the start of the run.
fn to_start(
    session: &mut Session,
    kept: &Kept,
    here: &Here,
    observer: &mut dyn Observer,
) -> Result<Arrived, CommandError> {
    let mut walk = Walk::begin_before(session, kept, (here, 0), observer)?;
    walk.visit(Vec::new(), 0);
    let thread = session.thread()?;
    session.begin(&mut juror_view::observer::SilentObserver)?;
    Ok((StopReason::Started, thread))
}

/// Goes to the stop with a number, counted from the start of the run.
fn to_stop(
    session: &mut Session,
    kept: &Kept,
    here: &Here,
    stops: u64,
    observer: &mut dyn Observer,
) -> Result<Arrived, CommandError> {
    let mut walk = Walk::begin_as_before(session, kept, here, observer)?;
    let mut next = walk.start(session)?;
    loop {
        let mut happening = match next.take() {
            Some(happening) => happening,
            None => walk.next(session)?,
        };
        if walk.stops == stops
            && let (Some(reason), Some(thread)) = (happening.stop.take(), happening.thread)
        {
            return Ok((shown(reason), thread));
        }
        if happening.is_end || is_standstill(&happening) {
            return Err(another_way());
        }
        walk.go_on(session, &happening)?;
    }
}

/// Returns a reason as it is shown: the commands of its points, which say whether it is, are not
/// executed.
fn shown(mut reason: StopReason) -> StopReason {
    if let StopReason::Breakpoint { silent, .. }
    | StopReason::Caught { silent, .. }
    | StopReason::Watchpoint { silent, .. } = &mut reason
    {
        *silent = false;
    }
    reason
}

/// Returns whether an error may be that of a run which was not the same from a checkpoint on.
fn has_gone_astray(error: &CommandError) -> bool {
    let message = &error.message;
    message.starts_with("the run ") || message == waypoints::GONE || message.ends_with(LOST)
}

/// Returns the error of a run that does not go the same way twice.
fn another_way() -> CommandError {
    CommandError::with_help(
        "the run that was made again has gone another way",
        "the program depends on more than the order of its threads: on the time, on other programs, \
         on chance",
    )
}
