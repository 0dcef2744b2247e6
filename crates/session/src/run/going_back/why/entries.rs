//! The beginnings of the calls in which a place lies: a thread is followed from there if the last schedule
//! point is too far away.

use super::recording::Until;
use super::search::Search;
use crate::run::going_back::here::path_of;
use crate::run::going_back::place::Place;
use crate::run::going_back::walk::{Happening, Walk, points_of};
use crate::run::going_back::{Notes, another_way, find, is_standstill};
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_program::program::Program;
use juror_schedule::ThreadPath;

/// The calls whose beginnings are looked for, innermost first.
const CALLS_MAX: usize = 6;

/// The size of a return address.
const RETURN_ADDRESS_SIZE: u64 = 8;

/// A call, and the place where it begins.
#[derive(Debug, Clone)]
struct Begun {
    entry: u64,
    /// The stack pointer there.
    stack: u64,
    place: Option<Place>,
}

/// The calls of a thread.
#[derive(Debug, Clone)]
struct Beginnings {
    path: ThreadPath,
    calls: Vec<Begun>,
}

impl Notes for Beginnings {
    fn note(
        &mut self,
        session: &Session,
        _: &Walk<'_>,
        happening: &Happening,
    ) -> Result<(), CommandError> {
        let (Some(thread), Some(site)) = (happening.thread, happening.arrival) else {
            return Ok(());
        };
        let program = session.running()?;
        if path_of(&program.debuggee, thread) != Some(self.path) {
            return Ok(());
        }
        let stack = program.registers(thread)?.stack_pointer();
        let points = points_of(&program.debuggee);
        let mut calls = self.calls.iter_mut();
        if let Some(call) = calls.find(|call| call.entry == site.0 && call.stack == stack) {
            call.place = Some(Place {
                points,
                site: Some(site),
                steps: 0,
            });
        }
        Ok(())
    }
}

impl Beginnings {
    /// Returns the calls of a thread that stands.
    fn of(program: &Program, thread: ThreadId, path: ThreadPath) -> Beginnings {
        let (frames, _) = program.backtrace(thread, CALLS_MAX);
        let begun = frames
            .iter()
            .filter(|frame| !frame.is_inlined() && !frame.is_tail_call());
        let begun = begun.filter_map(|frame| {
            Some(Begun {
                entry: program.modules.function_at(frame.lookup)?.address(),
                stack: frame.cfa?.wrapping_sub(RETURN_ADDRESS_SIZE),
                place: None,
            })
        });
        Beginnings {
            path,
            calls: begun.collect(),
        }
    }

    fn sites(&self) -> Vec<u64> {
        let mut sites: Vec<u64> = self.calls.iter().map(|call| call.entry).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }
}

impl Search<'_> {
    /// Returns the places where the calls begin in which the end of a recording lies, innermost first.
    pub(super) fn entries(
        &mut self,
        session: &mut Session,
        until: &Until<'_>,
    ) -> Result<Vec<Place>, CommandError> {
        let path = until.path();
        let beginnings = match until {
            Until::Write(range, write) => {
                let thread = self.lead_to_write(session, range, *write)?;
                let beginnings = Beginnings::of(session.running()?, thread, path);
                let mut walk = self.walk(session)?;
                walk.visit(beginnings.sites(), 0);
                walk.watch_memory(range.clone());
                before_write(session, &mut walk, beginnings, write.number)?
            }
            Until::Here(here, _) => {
                let then = self.kept.program().ok_or_else(another_way)?;
                let scheduler = then.debuggee.scheduler().ok_or_else(another_way)?;
                let thread = crate::run::going_back::here::thread_of(scheduler, path);
                let beginnings = Beginnings::of(then, thread.ok_or_else(another_way)?, path);
                let mut walk = self.walk(session)?;
                let mut sites = beginnings.sites();
                sites.extend(here.address());
                sites.dedup();
                walk.visit(sites, 0);
                find(session, &mut walk, here, beginnings)?
            }
        };
        let places = beginnings.calls.into_iter();
        Ok(places.filter_map(|call| call.place).collect())
    }
}

/// Walks to a write, and notes the calls before it.
fn before_write(
    session: &mut Session,
    walk: &mut Walk<'_>,
    mut beginnings: Beginnings,
    number: u64,
) -> Result<Beginnings, CommandError> {
    let mut next = walk.start(session)?;
    loop {
        let happening = match next.take() {
            Some(happening) => happening,
            None => walk.next(session)?,
        };
        if walk.writes() >= number {
            return Ok(beginnings);
        }
        if happening.is_end || is_standstill(&happening) {
            return Err(another_way());
        }
        beginnings.note(session, walk, &happening)?;
        walk.go_on(session, &happening)?;
    }
}
