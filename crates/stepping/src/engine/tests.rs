//! The operations that the engine orders, input by input.

mod any_input;
mod arrivals;
mod commands;
mod evaluations;
mod follow_set;
mod in_place;
mod patches;

use super::*;
use Operation::{Arrive, MoveToTwin, RemovePatch, WritePatch};
use Operation::{
    ContinueThread, EmulateCall, HoldThread, InsertTrap, RemoveTrap, Report, ReportHalted,
    ReportStep,
};
use Operation::{SetCounter, StepThread, Unexplained};

const A: u64 = 0x1000;
const B: u64 = 0x2000;
const NEXT: u64 = 0x1004;
const COPY: u64 = 0x9000;
const TWIN: u64 = 0xa000;
const STACK: u64 = 0x7fff_0000;
const ONE: ThreadId = ThreadId(1);
const TWO: ThreadId = ThreadId(2);
const THREE: ThreadId = ThreadId(3);

const SKIP: StepOver = StepOver::Skip { to: NEXT };
const CALL: StepOver = StepOver::Call { to: B, back: NEXT };
const COPIED: StepOver = StepOver::OutOfLine { at: COPY };

/// An engine with a monitor's site at [`A`] and running threads.
struct Fixture {
    engine: Engine,
}

impl Fixture {
    fn new(step_over: StepOver, threads: &[ThreadId]) -> Fixture {
        let mut fixture = Fixture {
            engine: Engine::new(),
        };
        for &thread in threads {
            fixture.check(Input::Started { thread }, &[]);
            fixture.check(Input::Resume { thread }, &[ContinueThread { thread }]);
        }
        fixture.check(
            insert(Owner::Monitor, step_over),
            &[InsertTrap { address: A }],
        );
        fixture
    }

    #[track_caller]
    fn check(&mut self, input: Input, expected: &[Operation]) {
        let mut operations = Vec::new();
        self.engine.handle(input, &mut operations);
        assert_eq!(operations, expected, "on {input:?}");
    }

    /// The thread arrives at [`A`], and the monitor is notified.
    #[track_caller]
    fn arrive(&mut self, thread: ThreadId) {
        self.check(trapped(thread), &[report(thread, Owners::MONITOR)]);
        assert_eq!(self.engine.reported_at(thread), Some(A));
    }

    /// Both threads stand at [`A`]; the first begins its step-over in place.
    #[track_caller]
    fn pass_in_place_beside_running() -> Fixture {
        let mut fixture = Fixture::new(StepOver::InPlace, &[ONE, TWO]);
        fixture.arrive(ONE);
        fixture.check(Input::Resume { thread: ONE }, &[HoldThread { thread: TWO }]);
        fixture
    }

    /// As [`pass_in_place_beside_running`], with the second thread held and the
    /// first in its step.
    #[track_caller]
    fn step_in_place_beside_held() -> Fixture {
        let mut fixture = Fixture::pass_in_place_beside_running();
        fixture.check(
            Input::Stopped {
                thread: TWO,
                address: B,
            },
            &begin_step(ONE),
        );
        fixture
    }
}

fn insert(owner: Owner, step_over: StepOver) -> Input {
    Input::Insert {
        address: A,
        owner,
        step_over,
    }
}

fn remove(owner: Owner) -> Input {
    Input::Remove { address: A, owner }
}

fn trapped(thread: ThreadId) -> Input {
    Input::Trapped {
        thread,
        address: A,
        stack: STACK,
    }
}

fn report(thread: ThreadId, owners: Owners) -> Operation {
    Report {
        thread,
        address: A,
        owners,
    }
}

fn set(thread: ThreadId, address: u64) -> Operation {
    SetCounter { thread, address }
}

fn begin_step(thread: ThreadId) -> [Operation; 3] {
    [
        RemoveTrap { address: A },
        set(thread, A),
        StepThread { thread },
    ]
}
