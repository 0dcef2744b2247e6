//! The points at which threads arrive.

use crate::access::{footprint, hash};
use crate::begin::{Arrival, saved};
use crate::calls;
use crate::control::{Control, control};
use crate::memory;
use crate::protocol::*;
use crate::settings::{self, Site};
use crate::threads::{self, R11, RCX, RDX, RSP, Standing, context, current};
use juror_schedule::{Access, Footprint, Input, Point, PointKind, ThreadId};

/// The part of the stack that counts for the state of a thread.
const STACK_BELOW: u64 = 128;
const STACK_LENGTH: u64 = 1_152;

/// The states that are remembered of a thread.
const STATES_MAX: usize = 256;

/// The words of a new thread's argument that are looked at.
const ARGUMENT_WORDS: u64 = 8;

/// The thread that runs has come to a site, from a stub or a trap; its registers are in its frame.
pub extern "C" fn on_site(number: u64) -> ! {
    let control = control();
    let site = settings::site(number);
    let index = current();
    context(index).frame.counter = site.moved;
    if site.kind == SITE_SYSTEM_CALL {
        // As the instruction leaves it.
        let frame = &mut context(index).frame;
        frame.general[RCX] = frame.counter;
        frame.general[R11] = frame.flags;
        calls::on_call(index);
    }
    if matches!(site.kind, SITE_CALL | SITE_MAKES) {
        saved().note(Arrival::Site(number));
    }
    match site.kind {
        SITE_CALL => {
            let object = context(index).frame.general[threads::RDI];
            context(index).call_site = site.address;
            context(index).standing = match site.lock {
                LOCK_NONE => Standing::Ready,
                lock => Standing::LockCall(lock),
            };
            control.reach(PointKind::Synchronisation, site.address, object);
        }
        SITE_MAKES => {
            note_code(index);
            threads::go_on(index)
        }
        SITE_COPIED => threads::go_on(index),
        _ if !control.has_accesses => threads::go_on(index),
        SITE_ACCESS => {
            let footprint = footprint(&site, &context(index).frame);
            control.reach_access(index, &site, footprint);
            note_change(index, &site, footprint);
        }
        _ => control.reach_access(index, &site, Footprint::NONE),
    }
    control.proceed()
}

/// A thread stands before an access: it may be one of two steps.
fn note_change(index: usize, site: &Site, footprint: Footprint) {
    let [_, _, _, size, class, ..] = site.operands;
    if let Some(access) = footprint.accesses().first().filter(|_| class == CLASS_CHANGE) {
        context(index).site_of_access = site.address;
        context(index).standing = Standing::Reads(access.address, size);
    }
}

/// A thread is about to make another one: what that will run.
fn note_code(index: usize) {
    let general = &context(index).frame.general;
    let (function, argument) = (general[RDX], general[RCX]);
    let program = settings::word(PROGRAM_START)..settings::word(PROGRAM_END);
    let mut code = hash(0, function);
    let last = argument.wrapping_add((ARGUMENT_WORDS - 1) * 8);
    let is_whole = memory::is_mapped(argument) && memory::is_mapped(last);
    for number in 0..ARGUMENT_WORDS {
        let address = argument.wrapping_add(number * 8);
        let is_there = is_whole || memory::is_mapped(address);
        let word = is_there.then(|| memory::read_u64(address));
        let word = word.filter(|word| program.contains(word));
        code = hash(code, word.unwrap_or_default());
    }
    context(index).code = code;
}

impl Control {
    /// A thread that has the baton has read what an instruction changes, and is about to write.
    pub fn reach_write(&mut self, index: usize, (address, size): (u64, u8)) {
        let context = context(index);
        let value = memory::read_sized(address, size).unwrap_or_default();
        context.standing = Standing::Writes(address, size, value);
        let point = Point {
            kind: PointKind::Access,
            site: context.site_of_access,
            object: 0,
            state: 0,
            footprint: Footprint::of(Access::write(address, u32::from(size))),
        };
        let thread = ThreadId(context.id);
        self.forget_states(index);
        self.input(Input::Reached { thread, point });
    }

    fn reach_access(&mut self, index: usize, site: &Site, footprint: Footprint) {
        context(index).standing = Standing::Ready;
        let (kind, state) = if footprint.writes() {
            self.forget_states(index);
            (PointKind::Access, 0)
        } else {
            (PointKind::Loop, self.state_number(index, site.address))
        };
        self.reach_point(Point {
            kind,
            site: site.address,
            object: 0,
            state,
            footprint,
        });
    }

    /// The thread that has the baton yields.
    pub fn reach_yield(&mut self, index: usize, site: u64) {
        let state = self.state_number(index, site);
        self.reach_point(Point {
            kind: PointKind::Yield,
            site,
            object: 0,
            state,
            footprint: Footprint::NONE,
        });
    }

    fn forget_states(&mut self, index: usize) {
        if let Some(states) = self.states.get_mut(index) {
            states.clear();
        }
    }

    /// Returns the number of a thread's state at a site.
    fn state_number(&mut self, index: usize, site: u64) -> u64 {
        let state = state_of(index);
        while self.states.len() <= index {
            self.states.push(alloc::vec::Vec::new());
        }
        let states = &mut self.states[index];
        if states.len() == STATES_MAX {
            states.clear();
        }
        let known = states.iter().find(|(key, _)| *key == (site, state));
        match known {
            Some((_, number)) => *number,
            None => {
                self.numbered += 1;
                states.push(((site, state), self.numbered));
                self.numbered
            }
        }
    }
}

/// Returns the hash of a thread's registers and of the top of its stack.
fn state_of(index: usize) -> u64 {
    let context = context(index);
    let general = &context.frame.general;
    let mut state = 0;
    for value in general {
        state = hash(state, *value);
    }
    let begin = general[RSP].wrapping_sub(STACK_BELOW);
    let is_whole = begin.saturating_add(STACK_LENGTH) <= context.stack_end;
    let length = if is_whole { STACK_LENGTH } else { STACK_BELOW };
    for word in 0..length / 8 {
        state = hash(state, memory::read_u64(begin.wrapping_add(word * 8)));
    }
    state
}
