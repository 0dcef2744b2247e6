//! The calls in which a thread stands, and the trail of its statements on a walk.

use crate::run::going_back::Notes;
use crate::run::going_back::code::{Code, Inlined, callee_at};
use crate::run::going_back::here::path_of;
use crate::run::going_back::place::Place;
use crate::run::going_back::trail::{Back, Made, Trail, Visit};
use crate::run::going_back::walk::{Happening, Walk, points_of};
use crate::session::Session;
use juror_arch::abi;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_program::modules::Bound;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_schedule::ThreadPath;
use std::rc::Rc;

/// The most frames in which calls are looked for, and the most calls that are followed: each but the
/// innermost has begun a statement, most often.
const FRAMES_MAX: usize = 64;
const CALLS_MAX: usize = 6;

/// A call that a thread is in.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub code: Rc<Code>,
    /// The canonical frame address.
    pub cfa: u64,
    /// The inlined calls in which the thread stands in it.
    path: Vec<u64>,
    /// Whether the thread stands in a function that it has called.
    is_calling: bool,
}

/// The calls that a thread has begun at its place before the line in which it is shown.
#[derive(Debug, Default)]
pub(super) struct Begun {
    /// Whether it has entered the innermost of its calls there.
    pub is_entry: bool,
    pub visits: Vec<Visit>,
}

/// A call by its function's first address and its canonical frame address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Callee {
    pub entry: u64,
    pub cfa: u64,
}

impl Call {
    /// Returns whether it is a call of a function, with this frame address.
    pub(super) fn is(&self, callee: Callee) -> bool {
        self.code.entry == callee.entry && self.cfa == callee.cfa
    }

    /// Returns a call whose end the run has passed.
    pub(super) fn over(code: Code, cfa: u64) -> Call {
        Call {
            code: Rc::new(code),
            cfa,
            path: Vec::new(),
            is_calling: false,
        }
    }
}

/// Returns the calls that a thread is in whose functions have lines of the user, innermost first.
pub(super) fn calls_of(session: &mut Session, thread: ThreadId) -> Result<Vec<Call>, CommandError> {
    let program = session.running()?;
    let (mut frames, _) = program.backtrace(thread, FRAMES_MAX);
    let skipped = session.skipped_frame_count(thread, &frames);
    frames.drain(..skipped.min(frames.len()));
    let mut calls: Vec<Call> = Vec::new();
    let groups = frames.split_inclusive(|frame| !frame.is_inlined());
    for (depth, group) in groups.enumerate() {
        let Some((function, cfa)) = group.last().and_then(|it| Some((it, it.cfa?))) else {
            continue;
        };
        let mut inlined = Inlined::default();
        let mut is_users = false;
        for frame in group.iter().rev() {
            is_users |= inlined.take(session, frame);
        }
        let Some(bound) = bound_of(function).filter(|_| is_users) else {
            continue;
        };
        let known = calls.iter().map(|call| &call.code);
        let known = known.filter(|code| code.entry == bound.address()).cloned();
        let code = match known.into_iter().next() {
            Some(code) => code,
            None => Rc::new(Code::of(session, &bound)?),
        };
        calls.push(Call {
            code,
            cfa,
            path: inlined.path,
            is_calling: depth > 0,
        });
        if calls.len() == CALLS_MAX {
            break;
        }
    }
    Ok(calls)
}

/// Returns the function of a frame.
fn bound_of(frame: &Frame) -> Option<Bound> {
    let (module, function) = frame.module.as_ref().zip(frame.function.as_ref())?;
    Some(Bound {
        module: Rc::clone(module),
        function: function.clone(),
    })
}

/// The trail of a thread's statements, and the last stop of the run.
#[derive(Debug, Clone)]
pub(super) struct Follow {
    path: ThreadPath,
    calls: Rc<Vec<Call>>,
    pub trail: Trail<Place, Callee>,
    /// The number of the last stop, and its order on the trail.
    pub stop: Option<(u64, u64)>,
}

impl Follow {
    pub(super) fn new(path: ThreadPath, calls: &Rc<Vec<Call>>) -> Follow {
        let each = calls.iter().map(|it| (it.path.clone(), it.is_calling));
        Follow {
            path,
            trail: Trail::new(each),
            calls: Rc::clone(calls),
            stop: None,
        }
    }

    /// Returns the addresses at which it follows the thread.
    pub(super) fn sites(&self) -> Vec<u64> {
        let each = self.calls.iter().flat_map(|call| call.code.sites.keys());
        let mut sites: Vec<u64> = each.copied().collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    fn take_site(&mut self, program: &Program, thread: ThreadId, place: Place, address: u64) {
        let calls = Rc::clone(&self.calls);
        let here = program.innermost_frame_address(thread);
        let mut calls = calls.iter().enumerate();
        let found = calls.find_map(|(number, call)| {
            let site = call.code.sites.get(&address)?;
            (Some(call.cfa) == here).then_some((number, call, site))
        });
        let Some((number, call, site)) = found else {
            return;
        };
        if address == call.code.entry {
            self.trail.enter(number);
        }
        self.trail.visit(number, &site.visits, &place);
        if site.is_call {
            self.take_call(program, thread, place, (number, address));
        }
    }

    fn take_call(
        &mut self,
        program: &Program,
        thread: ThreadId,
        place: Place,
        (number, address): (usize, u64),
    ) {
        let Ok(registers) = program.registers(thread) else {
            return;
        };
        let called = callee_at(program, address, registers);
        let is_own = |entry: u64| {
            let own = program.modules.function_at(address);
            let other = program.modules.function_at(entry);
            own.zip(other)
                .is_some_and(|(own, other)| own.address() == other.address())
        };
        let stack = registers.stack_pointer();
        let callee = called.filter(|it| !(it.is_jumped_to && is_own(it.address)));
        let callee = callee.map(|called| Callee {
            entry: called.address,
            cfa: if called.is_jumped_to {
                abi::frame_at_entry(stack)
            } else {
                stack
            },
        });
        // A jump within the function calls nothing.
        if callee.is_none() && called.is_some() {
            return;
        }
        let opening = callee.and_then(|callee| {
            let bound = program.modules.function_at(callee.entry)?;
            bound.module.symbols.opening_line(&bound.function)
        });
        let back = match &opening {
            Some(line) if line.file.exists() => Back::FromStatements,
            _ => Back::FromCall,
        };
        let callee = callee.filter(|_| opening.is_some());
        let made = callee.map(|callee| Made { place, callee });
        self.trail.make(number, made, back);
    }

    /// Takes what the thread has begun at the place from which the run goes back.
    pub(super) fn take_here(&mut self, begun: &Begun) {
        if begun.is_entry {
            self.trail.enter(0);
        }
        self.trail.visit(0, &begun.visits, &Place::HERE);
    }
}

impl Notes for Follow {
    fn note(
        &mut self,
        session: &Session,
        walk: &Walk<'_>,
        happening: &Happening,
    ) -> Result<(), CommandError> {
        // A statement at a stop is as late as the stop.
        if happening.stop.is_some() {
            self.stop = Some((walk.stops, self.trail.next_order()));
        }
        let program = session.running()?;
        let own = happening
            .thread
            .filter(|thread| path_of(&program.debuggee, *thread) == Some(self.path));
        if let Some((thread, site)) = own.zip(happening.arrival) {
            let place = Place {
                points: points_of(&program.debuggee),
                site: Some(site),
                steps: 0,
            };
            self.take_site(program, thread, place, site.0);
        }
        Ok(())
    }
}
