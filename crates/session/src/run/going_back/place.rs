//! A place that is known by a count, and how a run is led there.

use crate::run::going_back::again::Kept;
use crate::run::going_back::here::{Here, path_of};
use crate::run::going_back::walk::{Happening, Walk, points_of};
use crate::run::going_back::{
    Arrived, another_way, go_back, is_standstill, place_to_go_from, shown,
};
use crate::run::pause::Pause;
use crate::session::Session;
use juror_arch::Register;
use juror_arch::instruction::SYSTEM_CALL_LENGTH;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_schedule::ThreadPath;
use juror_view::observer::{Observer, SilentObserver};
use juror_view::{Outcome, StopReason};

pub(super) use crate::state::run_place::Place;

impl Place {
    /// Stands for the place from which the run goes back.
    pub(super) const HERE: Place = Place {
        points: u64::MAX,
        site: None,
        steps: 0,
    };

    /// Leads a run there. Returns the thread that stands there, and why the run stops there, if it
    /// does.
    pub(super) fn seek(
        self,
        session: &mut Session,
        walk: &mut Walk<'_>,
    ) -> Result<(ThreadId, Option<StopReason>), CommandError> {
        walk.set_out_no_later_than(session, self.points)?;
        if self == Place::START {
            let thread = session.thread()?;
            walk.visit(Vec::new(), 0);
            session.begin(&mut SilentObserver)?;
            return Ok((thread, None));
        }
        match (self.points, self.site) {
            (points, Some((address, _))) => walk.visit(vec![address], points),
            // Its thread has not begun.
            (0, None) => walk.visit(Vec::new(), 0),
            (points, None) => {
                walk.visit(Vec::new(), 0);
                walk.tell_at(points);
            }
        }
        let (mut thread, mut stop) = if self.points == 0 && self.site.is_none() {
            let thread = session.thread()?;
            session.begin(&mut SilentObserver)?;
            (thread, None)
        } else {
            self.walk(session, walk)?
        };
        walk.visit_no_more(session)?;
        let path = path_of(&session.running()?.debuggee, thread);
        let path = path.ok_or_else(another_way)?;
        for _ in 0..self.steps {
            let happening = step(session, walk, path)?.ok_or_else(another_way)?;
            thread = happening.thread.ok_or_else(another_way)?;
            stop = happening.stop;
        }
        Ok((thread, stop))
    }

    /// Walks to the point or the arrival.
    fn walk(
        self,
        session: &mut Session,
        walk: &mut Walk<'_>,
    ) -> Result<(ThreadId, Option<StopReason>), CommandError> {
        let mut next = walk.start(session)?;
        loop {
            let happening = match next.take() {
                Some(happening) => happening,
                None => walk.next(session)?,
            };
            let is_there = match self.site {
                Some(site) => happening.arrival == Some(site),
                None => happening.is_at_point,
            };
            if happening.is_end || is_standstill(&happening) {
                return Err(another_way());
            }
            let points = points_of(&session.running()?.debuggee);
            if let Some(thread) = happening
                .thread
                .filter(|_| is_there && points >= self.points)
            {
                return Ok((thread, happening.stop));
            }
            if self.site.is_some() && points > self.points {
                return Err(another_way());
            }
            walk.go_on(session, &happening)?;
        }
    }

    /// Goes there, and shows it.
    pub(super) fn arrive(
        self,
        session: &mut Session,
        kept: &Kept,
        here: &Here,
        observer: &mut dyn Observer,
    ) -> Result<Arrived, CommandError> {
        let mut walk = Walk::begin_before(session, kept, (here, self.points), observer)?;
        let (thread, stop) = self.seek(session, &mut walk)?;
        drop(walk);
        if self == Place::START {
            return Ok((StopReason::Started, thread));
        }
        if let Some(reason) = stop {
            return Ok((shown(reason), thread));
        }
        session.halt_processes()?;
        match session.announce_breakpoint(thread)? {
            Some(Pause::Reason(reason, _)) => Ok((shown(reason), thread)),
            _ => Ok((StopReason::Step, thread)),
        }
    }
}

/// Lets the thread with a path make one instruction, whatever the others do meanwhile. Returns what
/// happens then; nothing if the run ends or stands before that.
pub(super) fn step(
    session: &mut Session,
    walk: &mut Walk<'_>,
    path: ThreadPath,
) -> Result<Option<Happening>, CommandError> {
    let program = session.running_mut()?;
    let scheduler = program.debuggee.scheduler().ok_or_else(another_way)?;
    let Some(thread) = super::here::thread_of(scheduler, path) else {
        return Ok(None);
    };
    let before = program.registers(thread)?.instruction_pointer();
    // The others go on when it is their turn.
    let others: Vec<ThreadId> = program.debuggee.thread_ids().collect();
    for other in others.into_iter().filter(|other| *other != thread) {
        program.debuggee.resume(other)?;
    }
    let mut happening = walk.step(session, thread)?;
    loop {
        if happening.is_end || is_standstill(&happening) {
            return Ok(None);
        }
        let is_own = happening.thread == Some(thread);
        let now = session.running()?.registers(thread);
        let has_moved = now.is_ok_and(|now| now.instruction_pointer() != before);
        if is_own && (happening.is_stepped || has_moved) {
            hide_step(session, thread, before)?;
            return Ok(Some(happening));
        }
        if let Some(other) = happening.thread.filter(|_| !is_own) {
            session.running_mut()?.debuggee.resume(other)?;
        }
        happening = walk.step(session, thread)?;
    }
}

/// Hides that a system call was made by a step: its instruction keeps the flags in a register, with
/// that of the step.
fn hide_step(session: &mut Session, thread: ThreadId, before: u64) -> Result<(), CommandError> {
    const STEP: u64 = 0x100;
    let debuggee = &mut session.running_mut()?.debuggee;
    let mut registers = *debuggee.registers(thread)?;
    let behind = registers.instruction_pointer();
    let flags = registers.get(Register::R11);
    let is_call = behind == before.wrapping_add(SYSTEM_CALL_LENGTH)
        && registers.get(Register::Rcx) == behind
        && flags & STEP != 0;
    if is_call {
        registers.set(Register::R11, flags & !STEP);
        debuggee.set_registers(thread, &registers)?;
    }
    Ok(())
}

/// `goto N`, `goto start`
pub(crate) fn go_to(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let points = match rest {
        "start" | "begin" => 0,
        _ => rest.parse().map_err(|_| {
            CommandError::with_help(
                "`goto` needs the number of a schedule point",
                "goto 27, goto start; schedule shows how many points there have been",
            )
        })?,
    };
    let here = place_to_go_from(session)?;
    let place = Place {
        points,
        site: None,
        steps: 0,
    };
    go_back(session, |session, kept| {
        let arrived = place.arrive(session, kept, &here, observer);
        arrived.map_err(|error| {
            if error.message == another_way().message {
                CommandError::new(format!("the run has no schedule point {points}"))
            } else {
                error
            }
        })
    })
}
