//! `last-write`: back to the last write to an object.
//!
//! Its memory is watched from the start of the run, or from where it is mapped. If it is of a call,
//! the writes before the call began are others'.

use crate::commands::watch::home_of_memory;
use crate::inspect::expressions;
use crate::run::going_back::again::Kept;
use crate::run::going_back::here::{Here, Kind, path_of};
use crate::run::going_back::instructions::ended;
use crate::run::going_back::walk::{Happening, Walk};
use crate::run::going_back::{
    Arrived, Notes, another_way, find, go_back, is_standstill, place_to_leave,
};
use crate::session::Session;
use crate::state::values::convenience;
use juror_debuggee::{AccessKinds, MemoryAccess, Owner, ThreadId, WatchId, WatchTier};
use juror_fault::CommandError;
use juror_instrument::watched::{Extent, Reading, WatchedExpression};
use juror_points::point::{Fate, Point};
use juror_points::system_call_names::system_call_name;
use juror_points::watchpoints::{WatchKind, Watchpoint};
use juror_program::scope::FrameScope;
use juror_schedule::ThreadPath;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};
use std::ops::Range;

/// The size of a return address.
const RETURN_ADDRESS_SIZE: u64 = 8;

/// An object that is watched on a walk.
pub(super) struct Watched {
    ranges: Vec<Range<u64>>,
    /// Its value is read if it was named.
    watchpoint: Option<Watchpoint>,
    /// The debuggee's number, once it is watched.
    pub id: Option<WatchId>,
    /// The number of writes so far.
    pub writes: u64,
    /// What it was before the last write.
    before: Option<Reading>,
}

impl Watched {
    pub(super) fn new(watchpoint: Watchpoint) -> Watched {
        let ranges = watchpoint.seen.ranges.clone();
        Watched {
            watchpoint: Some(watchpoint),
            ..Watched::of_memory(ranges)
        }
    }

    /// Returns memory that is watched, and has no name.
    pub(super) fn of_memory(ranges: Vec<Range<u64>>) -> Watched {
        Watched {
            ranges,
            watchpoint: None,
            id: None,
            writes: 0,
            before: None,
        }
    }

    /// Returns the same, which is not watched yet.
    pub(super) fn again(&self) -> Watched {
        Watched {
            watchpoint: self.watchpoint.as_ref().map(Watchpoint::again),
            ..Watched::of_memory(self.ranges.clone())
        }
    }

    /// Takes a write.
    pub(super) fn take(&mut self, session: &mut Session) -> Result<(), CommandError> {
        self.writes += 1;
        if let Some(watchpoint) = &mut self.watchpoint {
            self.before = Some(watchpoint.look(session.running_mut()?)?);
        }
        Ok(())
    }

    /// Watches the memory if it is there. All threads are stopped then.
    pub(super) fn arm(&mut self, session: &mut Session) -> Result<(), CommandError> {
        let program = session.running_mut()?;
        let debuggee = &mut program.debuggee;
        let ranges = &self.ranges;
        let is_mapped = ranges.iter().all(|range| {
            let mut byte = [0];
            let last = range.end.saturating_sub(1);
            debuggee.read(range.start, &mut byte).is_ok() && debuggee.read(last, &mut byte).is_ok()
        });
        if self.id.is_none() && is_mapped {
            let (kinds, least) = (AccessKinds::WRITE, WatchTier::Hardware);
            self.id = Some(debuggee.watch(ranges, kinds, Owner::Step, least)?);
            if let Some(watchpoint) = &mut self.watchpoint {
                watchpoint.look(program)?;
            }
        }
        Ok(())
    }
}

/// The call that an object belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub path: ThreadPath,
    /// The first address of its function.
    pub start: u64,
    /// The stack pointer there.
    pub stack: u64,
}

impl Call {
    /// Returns whether it begins with a happening.
    pub(super) fn begins(
        &self,
        session: &Session,
        happening: &Happening,
        thread: ThreadId,
    ) -> Result<bool, CommandError> {
        let program = session.running()?;
        Ok(happening.arrival.is_some_and(|(at, _)| at == self.start)
            && path_of(&program.debuggee, thread) == Some(self.path)
            && program.registers(thread)?.stack_pointer() == self.stack)
    }
}

/// The last write.
#[derive(Debug, Clone)]
struct LastWrite {
    call: Option<Call>,
    /// Its number, counted from where the walk has set out.
    number: Option<u64>,
    /// Whether the call has begun since.
    has_begun: bool,
}

impl Notes for LastWrite {
    fn note(
        &mut self,
        session: &Session,
        walk: &Walk<'_>,
        happening: &Happening,
    ) -> Result<(), CommandError> {
        if !happening.accesses.is_empty() {
            self.number = Some(walk.writes());
        }
        let Some((call, thread)) = self.call.zip(happening.thread) else {
            return Ok(());
        };
        if call.begins(session, happening, thread)? {
            self.number = None;
            self.has_begun = true;
        }
        Ok(())
    }

    fn needs_earlier(&self, _: &Walk<'_>) -> bool {
        self.number.is_none() && !self.has_begun
    }

    const ARE_JOINED: bool = true;
}

/// `last-write EXPRESSION`
pub(crate) fn last_write(
    session: &mut Session,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let mut here = place_to_leave(session)?;
    if matches!(here.kind, Kind::End) {
        return Err(ended());
    }
    if rest.is_empty() {
        return Err(CommandError::with_help(
            "`last-write` needs an expression",
            "for example: last-write count, last-write *(long *)0x4050",
        ));
    }
    let (watchpoint, call) = object(session, rest)?;
    let ranges = watchpoint.seen.ranges.clone();
    // Once more, and the write before it is meant.
    here.is_included = session.processes.stop.at_write.as_ref() != Some(&ranges);
    let outcome = go_back(session, |session, kept| {
        let mut walk = Walk::begin(session, kept, &here, observer)?;
        let mut sites: Vec<u64> = here.address().into_iter().collect();
        sites.extend(call.map(|call| call.start));
        sites.dedup();
        walk.visit(sites, 0);
        walk.watch(watchpoint.again());
        let notes = LastWrite {
            call,
            number: None,
            has_begun: false,
        };
        let LastWrite { number, .. } = find(session, &mut walk, &here, notes)?;
        let was_watched = walk.is_watching();
        drop(walk);
        match number {
            Some(number) => to_write(session, kept, &here, (&watchpoint, number), observer),
            None if was_watched => Err(CommandError::new(match call {
                Some(_) => format!("`{rest}` has not been written since its call began"),
                None => format!("`{rest}` has not been written since the start of the run"),
            })),
            None => Err(CommandError::new(format!(
                "the memory of `{rest}` cannot be watched from where it is mapped"
            ))),
        }
    })?;
    session.processes.stop.at_write = Some(ranges);
    Ok(outcome)
}

/// Reads the object that an expression names, as a watchpoint on its memory, and the call that it
/// belongs to.
pub(super) fn object(
    session: &mut Session,
    text: &str,
) -> Result<(Watchpoint, Option<Call>), CommandError> {
    let expression = expressions::read(session, text)?;
    let frames = session.frames()?.to_vec();
    let level = session.processes.selection.level;
    let values = |name: &str| convenience(&session.user.values, name);
    let scope = FrameScope {
        program: session.running()?,
        frames: &frames,
        level,
        convenience: &values,
    };
    let (expression, seen, _) = WatchedExpression::new(expression, scope, Extent::Location);
    if let Err(message) = &seen.value {
        return Err(CommandError::new(message.clone()));
    }
    let Some(first) = seen
        .ranges
        .first()
        .filter(|_| seen.is_value_location)
        .cloned()
    else {
        return Err(CommandError::with_help(
            format!("`{text}` is not in memory, so its writes cannot be seen"),
            "reverse-step goes back line by line",
        ));
    };
    let home = home_of_memory(session, &frames, first.start)?;
    let call = home.and_then(|home| {
        let debuggee = &session.processes.program.as_ref()?.debuggee;
        Some(Call {
            path: path_of(debuggee, home.thread)?,
            start: home.start?,
            stack: home.cfa.wrapping_sub(RETURN_ADDRESS_SIZE),
        })
    });
    let watchpoint = Watchpoint {
        point: Point::new(0, None, Fate::Keep),
        text: text.to_owned(),
        kind: WatchKind::Write,
        home: None,
        is_place: true,
        expression,
        seen,
        id: None,
        followed: None,
    };
    Ok((watchpoint, call))
}

/// Goes to the write with a number, and shows the value before it and after it.
fn to_write(
    session: &mut Session,
    kept: &Kept,
    here: &Here,
    (watchpoint, number): (&Watchpoint, u64),
    observer: &mut dyn Observer,
) -> Result<Arrived, CommandError> {
    let mut walk = Walk::begin_as_before(session, kept, here, observer)?;
    walk.visit(Vec::new(), 0);
    walk.watch(watchpoint.again());
    let mut next = walk.start(session)?;
    loop {
        let happening = match next.take() {
            Some(happening) => happening,
            None => walk.next(session)?,
        };
        if let (Some(thread), Some(access)) = (happening.thread, happening.accesses.first())
            && walk.writes() == number
        {
            let watched = walk.unwatch(session)?.ok_or_else(another_way)?;
            return view(session, thread, &watched, access);
        }
        if happening.is_end || is_standstill(&happening) {
            return Err(another_way());
        }
        walk.go_on(session, &happening)?;
    }
}

fn view(
    session: &Session,
    thread: ThreadId,
    watched: &Watched,
    access: &MemoryAccess,
) -> Result<Arrived, CommandError> {
    let program = session.running()?;
    let instruction = access.instruction;
    let instruction = instruction.or_else(|| program.previous_instruction(thread));
    let instruction = match access.system_call {
        Some(_) => program.innermost_own_call(thread).or(instruction),
        None => instruction,
    };
    let before = watched.before.as_ref();
    let watchpoint = watched.watchpoint.as_ref().ok_or_else(another_way)?;
    let mut view = watchpoint.access_view(program, thread, before, instruction)?;
    view.system_call = access.system_call.map(system_call_name);
    let reason = StopReason::Watchpoint {
        accesses: vec![view],
        errors: Vec::new(),
        silent: false,
    };
    Ok((reason, thread))
}
