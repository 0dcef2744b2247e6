//! The control of the threads in a run: the scheduler, and what its shell knows.

use crate::protocol;
use crate::runs;
use crate::threads::{context, current};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use juror_schedule::{
    Footprint, Input, LockOrder, Options, Order, Point, PointKind, Scheduler, Strategy, ThreadId,
};

/// Why nobody goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Deadlock,
    Endless,
}

/// The states of a thread at its points, numbered in the order in which they are seen.
pub type States = Vec<((u64, u64), u64)>;

/// A run.
pub struct Control {
    pub scheduler: Scheduler,
    pub orders: VecDeque<Order>,
    pub has_accesses: bool,
    pub lock_order: Option<LockOrder>,
    pub last_spurious: usize,
    pub stands: Option<End>,
    /// Whether some threads waited for one another.
    pub has_circle: bool,
    /// The thread that is let go when all orders are carried out.
    pub goes: Option<usize>,
    pub states: Vec<States>,
    pub numbered: u64,
    pub looks: u32,
    pub last_words: (u64, Option<u64>),
    pub thread_count: u64,
}

static mut CONTROL: MaybeUninit<Control> = MaybeUninit::uninit();

/// Returns the run.
pub fn control() -> &'static mut Control {
    // SAFETY: one thread runs the agent, and a run has begun.
    unsafe { (*(&raw mut CONTROL)).assume_init_mut() }
}

/// Begins a run; the one before is forgotten, with its memory.
pub fn begin(options: Options, strategy: Strategy, predicts: bool) {
    let control = Control {
        scheduler: Scheduler::new(options, strategy),
        orders: VecDeque::new(),
        has_accesses: false,
        lock_order: predicts.then(LockOrder::new),
        last_spurious: 0,
        stands: None,
        has_circle: false,
        goes: None,
        states: Vec::new(),
        numbered: 0,
        looks: 0,
        last_words: (0, None),
        thread_count: 1,
    };
    // SAFETY: one thread runs the agent; the value before needs no drop.
    unsafe { (*(&raw mut CONTROL)).write(control) };
}

impl Control {
    /// Tells the scheduler something.
    pub fn input(&mut self, input: Input) {
        let mut orders = Vec::new();
        if self.scheduler.handle(input, &mut orders).is_err() {
            runs::give_up(protocol::REASON_REFUSED);
        }
        self.orders.extend(orders);
    }

    /// The thread that has the baton stands at a point, of which it is not known what follows.
    pub fn reach(&mut self, kind: PointKind, site: u64, object: u64) {
        self.reach_point(Point {
            kind,
            site,
            object,
            state: 0,
            footprint: Footprint::UNKNOWN,
        });
    }

    /// The thread that has the baton stands at a point.
    pub fn reach_point(&mut self, point: Point) {
        self.note_lock();
        let progress = protocol::PROGRESS;
        crate::settings::set_word(progress, crate::settings::word(progress).wrapping_add(1));
        self.input(Input::Reached {
            thread: ThreadId(context(current()).id),
            point,
        });
    }
}
