//! `reverse-stepi`: back to the instruction that a thread executed last.
//!
//! The last statement that the thread began before is found by its address and a count; from there it
//! makes single instructions, and they are counted.

use crate::run::going_back::again::Kept;
use crate::run::going_back::here::{Here, Kind, Numbers, path_of};
use crate::run::going_back::place::{Place, step};
use crate::run::going_back::walk::{Happening, Walk, points_of};
use crate::run::going_back::{Notes, another_way, find, go_back, place_to_leave};
use crate::session::Session;
use juror_arch::Registers;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_schedule::ThreadPath;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};

/// The most instructions that are counted.
const STEPS_MAX: u64 = 20_000_000;

/// The frames in whose functions known places are looked for.
const FRAMES_MAX: usize = 4;

/// A thread that goes back, and its registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traveller {
    pub path: ThreadPath,
    pub registers: Registers,
}

impl Traveller {
    /// Returns the selected thread.
    pub(super) fn selected(session: &Session) -> Result<Traveller, CommandError> {
        let thread = session.thread()?;
        let program = session.running()?;
        let path = path_of(&program.debuggee, thread).ok_or_else(another_way)?;
        Ok(Traveller {
            path,
            registers: *program.registers(thread)?,
        })
    }

    /// Returns whether a thread of another run stands as it does.
    fn is_like(&self, walk: &Walk<'_>, session: &Session, thread: ThreadId) -> bool {
        let (Some(then), Ok(now)) = (walk.kept.program(), session.running()) else {
            return false;
        };
        let numbers = Numbers::of(&then.debuggee, &now.debuggee);
        let registers = now.registers(thread);
        registers.is_ok_and(|now| numbers.have_same_registers(&self.registers, now))
    }
}

/// The last known place before another one, and what has happened since.
#[derive(Debug, Clone)]
struct LastKnown {
    traveller: Traveller,
    place: Option<Place>,
    /// How often the thread has stood since as it stands at the other place.
    alike: u64,
    /// Whether the run has begun before the other place.
    has_begun: bool,
}

impl Notes for LastKnown {
    fn begin(&mut self) {
        self.has_begun = true;
    }

    fn note(
        &mut self,
        session: &Session,
        walk: &Walk<'_>,
        happening: &Happening,
    ) -> Result<(), CommandError> {
        let Some(thread) = happening.thread else {
            return Ok(());
        };
        let debuggee = &session.running()?.debuggee;
        let site = happening
            .arrival
            .filter(|(address, _)| *address != self.traveller.registers.instruction_pointer());
        let is_own = path_of(debuggee, thread) == Some(self.traveller.path);
        if !is_own {
            return Ok(());
        }
        if site.is_some() || happening.is_at_point && happening.arrival.is_none() {
            self.alike = 0;
            self.place = Some(Place {
                points: points_of(debuggee),
                site,
                steps: 0,
            });
        } else if self.traveller.is_like(walk, session, thread) {
            self.alike += 1;
        }
        Ok(())
    }

    fn needs_earlier(&self, walk: &Walk<'_>) -> bool {
        self.place.is_none() && walk.visits_from_origin()
    }

    const ARE_JOINED: bool = true;

    fn followed_by(self, later: &LastKnown) -> LastKnown {
        // If there is a place now, it is the last one.
        LastKnown {
            alike: self.alike + later.alike,
            ..self
        }
    }
}

/// `reverse-stepi`
pub(crate) fn reverse_instructions(
    session: &mut Session,
    count: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let mut outcome = Outcome::Done;
    for _ in 0..count {
        let here = place_to_leave(session)?;
        let traveller = match here.kind {
            Kind::End => return Err(ended()),
            _ => Traveller::selected(session)?,
        };
        let sites = sites_around(session, &traveller)?;
        outcome = go_back(session, |session, kept| {
            let place = instruction_before(session, kept, &here, &traveller, &sites, observer)?;
            place.arrive(session, kept, &here, observer)
        })?;
    }
    Ok(outcome)
}

/// Returns the error of a command for a thread, after the end of the program.
pub(super) fn ended() -> CommandError {
    CommandError::with_help(
        "the program has ended, so there is no thread",
        "reverse-continue goes back to the last stop, goto N to a schedule point",
    )
}

/// Returns the addresses at which lines of the thread's function and its callers begin.
fn sites_around(session: &Session, traveller: &Traveller) -> Result<Vec<u64>, CommandError> {
    let program = session.running()?;
    let pc = traveller.registers.instruction_pointer();
    let mut sites = vec![pc];
    let thread = session.thread()?;
    let (frames, _) = program.backtrace(thread, FRAMES_MAX);
    for bound in frames
        .iter()
        .filter_map(|frame| program.modules.function_at(frame.lookup))
    {
        let module = &bound.module;
        let lines = module.symbols.line_ranges(&bound.function);
        sites.extend(lines.iter().map(|line| module.to_process(line.range.start)));
        sites.push(bound.address());
    }
    sites.sort_unstable();
    sites.dedup();
    Ok(sites)
}

/// Returns the place of the instruction that the thread executed last.
pub(super) fn instruction_before(
    session: &mut Session,
    kept: &Kept,
    here: &Here,
    traveller: &Traveller,
    sites: &[u64],
    observer: &mut dyn Observer,
) -> Result<Place, CommandError> {
    let mut found = None;
    // The last points first: most often it is there.
    for from in [here.points, 0] {
        let mut walk = Walk::begin(session, kept, here, observer)?;
        walk.visit(sites.to_vec(), from);
        walk.tell_each_from(from.saturating_sub(1));
        let notes = LastKnown {
            traveller: *traveller,
            place: None,
            alike: 0,
            has_begun: false,
        };
        let notes = find(session, &mut walk, here, notes)?;
        if notes.place.is_some() || from == 0 {
            found = Some(notes);
            break;
        }
    }
    let notes = found.ok_or_else(another_way)?;
    let is_main = traveller.path == ThreadPath::MAIN;
    let place = match notes.place {
        Some(place) => place,
        None if is_main && notes.has_begun => Place::START,
        None => return Err(CommandError::new("the thread has executed nothing before")),
    };
    let mut walk = Walk::begin_before(session, kept, (here, place.points), observer)?;
    let steps = count_steps(session, &mut walk, here, (place, &notes))?;
    Ok(Place { steps, ..place })
}

/// Counts the instructions of the thread from the known place to the one before the other place.
fn count_steps(
    session: &mut Session,
    walk: &mut Walk<'_>,
    here: &Here,
    (place, notes): (Place, &LastKnown),
) -> Result<u64, CommandError> {
    let traveller = &notes.traveller;
    place.seek(session, walk)?;
    let bears = here.standing().is_some_and(|it| it.path == traveller.path);
    let mut alike = 0;
    let mut is_alike = false;
    for steps in 1..=STEPS_MAX {
        let happening = step(session, walk, traveller.path)?;
        let debuggee = session.processes.program.as_ref().map(|it| &it.debuggee);
        let is_past = debuggee.is_none_or(|it| points_of(it) > here.points);
        let is_signal = |it: &Happening| matches!(it.stop, Some(StopReason::Signal { .. }));
        let is_there =
            matches!(here.kind, Kind::Signal(_)) && happening.as_ref().is_some_and(is_signal);
        let thread = happening.and_then(|it| it.thread);
        let Some(thread) = thread.filter(|_| !is_past && !is_there) else {
            if bears && is_past && matches!(here.kind, Kind::Stands(_)) {
                return Err(CommandError::with_help(
                    "the instruction before cannot be found: a system call lies there",
                    "reverse-continue goes back to a breakpoint before it",
                ));
            }
            // The step does not come to its end before the other place.
            return Ok(steps - 1 - u64::from(is_alike && bears));
        };
        is_alike = traveller.is_like(walk, session, thread);
        if is_alike && bears && matches!(here.kind, Kind::Stands(_)) {
            if alike == notes.alike {
                return Ok(steps - 1);
            }
            alike += 1;
        }
    }
    Err(CommandError::with_help(
        "the instruction before is too far from the last known place",
        "reverse-continue to a breakpoint nearby, then step",
    ))
}
