//! The beginning: the state to which each run returns.

use crate::memory;
use crate::protocol::*;
use crate::runs;
use crate::settings::{self, word};
use crate::signals;
use crate::threads::{self, Context};

/// Where the first thread stands at the beginning of a run.
#[derive(Clone, Copy)]
pub enum Arrival {
    /// It has executed nothing.
    Start,
    /// At a site.
    Site(u64),
    /// At a system call.
    Call,
}

/// The state of the first thread.
pub struct Saved {
    context: Context,
    arrival: Arrival,
}

static mut SAVED: Saved = Saved {
    context: threads::NONE,
    arrival: Arrival::Start,
};

/// Returns the state of the first thread.
pub fn saved() -> &'static mut Saved {
    // SAFETY: one thread runs the agent.
    unsafe { &mut *(&raw mut SAVED) }
}

impl Saved {
    /// Makes the first thread what it was; it is the only one. Returns where it stands.
    pub fn load(&self) -> Arrival {
        let first: &mut Context = runs::first_thread();
        *first = self.context;
        threads::load_rest(first);
        threads::set_base(first.base);
        threads::set_other_base(first.other_base);
        self.arrival
    }

    /// The first thread stands where the scheduler is needed for the first time: from here on all runs
    /// differ, so all of them begin here.
    pub fn note(&mut self, arrival: Arrival) {
        if memory::is_noted() {
            return;
        }
        let first = threads::context(0);
        threads::save_rest(first);
        first.base = threads::base();
        first.other_base = threads::other_base();
        (self.context, self.arrival) = (*first, arrival);
        signals::note_actions();
        if !memory::note() {
            runs::give_up(REASON_MEMORY);
        }
        settings::set_word(IS_NOTED, 1);
    }
}

/// The agent begins: the address of the shared words is its argument.
pub extern "C" fn begin(shared: u64) -> ! {
    settings::begin(shared);
    const GETPID: u64 = 39;
    // SAFETY: asks for a number, which another PID namespace may know by another one.
    settings::set_word(PROCESS, unsafe { crate::kernel::call(GETPID, [0; 6]) }
        as u64);
    let first = runs::first_thread();
    for (number, register) in first.frame.general.iter_mut().enumerate() {
        *register = word(REGISTERS + number as u64 * 8);
    }
    first.frame.counter = word(REGISTERS + 16 * 8);
    first.frame.flags = word(REGISTERS + 17 * 8);
    first.robust_list = word(ROBUST_LIST);
    first.stack_end = word(STACK_END);
    first.base = threads::base();
    first.other_base = threads::other_base();
    threads::save_rest(first);
    saved().context = *first;
    if !signals::begin() {
        runs::give_up(REASON_MEMORY);
    }
    runs::next()
}
