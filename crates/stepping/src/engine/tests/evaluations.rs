//! Code of the debuggee that the user runs on a stopped thread.

use super::*;

/// The start of the evaluation, and its stack.
const CALLED: u64 = 0x5000;
const INNER: u64 = STACK - 0x200;

impl Fixture {
    /// An evaluation begins on a stopped thread, and runs.
    #[track_caller]
    fn evaluate(&mut self, thread: ThreadId) {
        self.check(Input::Suspend { thread }, &[]);
        let address = CALLED;
        self.check(Input::Jumped { thread, address }, &[]);
        self.check(Input::Resume { thread }, &[ContinueThread { thread }]);
    }

    /// The thread stops for upper layers.
    #[track_caller]
    fn interrupt(&mut self, thread: ThreadId) {
        let address = CALLED;
        self.check(Input::Interrupted { thread, address }, &[]);
    }
}

fn trapped_inside(depth: u64) -> Input {
    Input::Trapped {
        thread: ONE,
        address: A,
        stack: INNER - 0x100 * depth,
    }
}

fn restore(depth: usize) -> Input {
    Input::Restore { thread: ONE, depth }
}

const RESUME: Input = Input::Resume { thread: ONE };

/// The operations that take the thread past the site once it is alone and
/// reported.
fn leave(step_over: StepOver) -> Vec<Operation> {
    let go_on = ContinueThread { thread: ONE };
    match step_over {
        StepOver::Skip { to } => vec![set(ONE, to), go_on],
        StepOver::Call { to, back } => {
            let thread = ONE;
            vec![EmulateCall { thread, to, back }, go_on]
        }
        StepOver::OutOfLine { at } => vec![set(ONE, at), go_on],
        StepOver::InPlace | StepOver::InPlaceRepeated => begin_step(ONE).to_vec(),
    }
}

const STEP_OVERS: [StepOver; 4] = [SKIP, CALL, COPIED, StepOver::InPlace];

#[test]
fn an_evaluation_is_reported_at_the_site_at_which_the_program_stands() {
    for step_over in STEP_OVERS {
        let mut fixture = Fixture::new(step_over, &[ONE]);
        fixture.arrive(ONE);
        fixture.evaluate(ONE);
        assert_eq!(fixture.engine.suspended(ONE), 1);
        fixture.check(trapped_inside(0), &[report(ONE, Owners::MONITOR)]);
        fixture.check(RESUME, &leave(step_over));
        if step_over == StepOver::InPlace {
            let done = Input::Stepped {
                thread: ONE,
                address: NEXT,
            };
            let inserted = [InsertTrap { address: A }, ContinueThread { thread: ONE }];
            fixture.check(done, &inserted);
        }
        fixture.interrupt(ONE);
        assert_eq!(fixture.engine.reported_at(ONE), None);
        fixture.check(restore(0), &[]);
        // The program's own arrival has been reported, and is not again.
        assert_eq!(fixture.engine.reported_at(ONE), Some(A));
        assert_eq!(fixture.engine.suspended(ONE), 0);
        fixture.check(RESUME, &leave(step_over));
    }
}

#[test]
fn evaluations_nest_and_an_outer_one_drops_the_inner_ones() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    for depth in 0..3 {
        fixture.evaluate(ONE);
        fixture.check(trapped_inside(depth), &[report(ONE, Owners::MONITOR)]);
    }
    assert_eq!(fixture.engine.suspended(ONE), 3);
    // There is no such place.
    fixture.check(restore(3), &[]);
    assert_eq!(fixture.engine.suspended(ONE), 3);
    // Into the second evaluation, then in one step into the program.
    fixture.check(restore(2), &[]);
    assert_eq!(fixture.engine.reported_at(ONE), Some(A));
    fixture.check(restore(0), &[]);
    assert_eq!(fixture.engine.suspended(ONE), 0);
    fixture.check(RESUME, &leave(COPIED));
    fixture.check(restore(0), &[]);
    fixture.arrive(ONE);
}

#[test]
fn owners_that_come_during_an_evaluation_are_told() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.evaluate(ONE);
    fixture.check(insert(Owner::Scenario, COPIED), &[]);
    let both = Owners::MONITOR | Owners::SCENARIO;
    fixture.check(trapped_inside(0), &[report(ONE, both)]);
    fixture.check(restore(0), &[]);
    fixture.check(RESUME, &[report(ONE, Owners::SCENARIO)]);
    fixture.check(RESUME, &leave(COPIED));
}

#[test]
fn a_site_removed_and_set_again_during_an_evaluation() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.evaluate(ONE);
    fixture.interrupt(ONE);
    fixture.check(remove(Owner::Monitor), &[RemoveTrap { address: A }]);
    fixture.check(insert(Owner::Monitor, COPIED), &[InsertTrap { address: A }]);
    fixture.check(remove(Owner::Monitor), &[RemoveTrap { address: A }]);
    fixture.check(restore(0), &[]);
    fixture.check(RESUME, &leave(COPIED));
}

#[test]
fn an_arrival_that_is_not_reported_yet_is_taken_up_after_the_evaluation() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.check(Input::Halt { thread: ONE }, &[HoldThread { thread: ONE }]);
    fixture.check(trapped(ONE), &[ReportHalted { thread: ONE }]);
    fixture.evaluate(ONE);
    // The hold that the trap answered first.
    fixture.check(
        Input::Stopped {
            thread: ONE,
            address: CALLED,
        },
        &[ContinueThread { thread: ONE }],
    );
    fixture.interrupt(ONE);
    fixture.check(restore(0), &[]);
    assert_eq!(fixture.engine.reported_at(ONE), None);
    fixture.check(RESUME, &[report(ONE, Owners::MONITOR)]);
    fixture.check(RESUME, &leave(COPIED));
}

#[test]
fn a_handler_that_was_interrupted_still_returns_into_the_copy() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(RESUME, &leave(COPIED));
    // A signal before the displaced instruction ran, and a call there.
    fixture.check(
        Input::Interrupted {
            thread: ONE,
            address: A,
        },
        &[],
    );
    fixture.evaluate(ONE);
    fixture.check(trapped_inside(0), &[report(ONE, Owners::MONITOR)]);
    fixture.check(restore(0), &[]);
    fixture.check(RESUME, &[ContinueThread { thread: ONE }]);
    fixture.check(
        Input::Faulted {
            thread: ONE,
            address: A,
            stack: STACK,
        },
        &[],
    );
    fixture.check(RESUME, &[set(ONE, A), ContinueThread { thread: ONE }]);
    fixture.check(trapped(ONE), &leave(COPIED));
}

#[test]
fn an_evaluation_begins_while_the_pass_waits_for_others() {
    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(Input::Suspend { thread: ONE }, &[]);
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[ContinueThread { thread: TWO }],
    );
    fixture.check(restore(0), &[]);
    fixture.check(RESUME, &[HoldThread { thread: TWO }]);
}

#[test]
fn an_evaluation_that_leaves_for_good_becomes_the_program() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    // A signal handler interrupts the program at the site...
    fixture.arrive(ONE);
    fixture.check(RESUME, &leave(COPIED));
    let faulted = |stack| Input::Faulted {
        thread: ONE,
        address: A,
        stack,
    };
    fixture.check(faulted(STACK), &[]);
    fixture.check(RESUME, &[set(ONE, A), ContinueThread { thread: ONE }]);
    // ...arrives there, too, and an evaluation jumps out into it.
    let handler = STACK - 0x100;
    let in_handler = Input::Trapped {
        thread: ONE,
        address: A,
        stack: handler,
    };
    fixture.check(in_handler, &[report(ONE, Owners::MONITOR)]);
    fixture.evaluate(ONE);
    fixture.check(
        Input::Discard {
            thread: ONE,
            depth: 0,
        },
        &[],
    );
    assert_eq!(fixture.engine.suspended(ONE), 0);
    // The handler arrives again; the arrival that it interrupted has been
    // reported.
    fixture.check(in_handler, &[report(ONE, Owners::MONITOR)]);
    fixture.check(RESUME, &leave(COPIED));
    fixture.check(trapped(ONE), &leave(COPIED));
}

#[test]
fn a_thread_takes_its_suspended_places_along_when_it_ends() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.evaluate(ONE);
    fixture.check(Input::Ended { thread: ONE }, &[]);
    assert_eq!(fixture.engine.suspended(ONE), 0);
    fixture.check(Input::Started { thread: ONE }, &[]);
    fixture.check(restore(0), &[]);
    fixture.check(RESUME, &[ContinueThread { thread: ONE }]);
}

#[test]
fn a_running_thread_is_not_suspended() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.check(Input::Suspend { thread: ONE }, &[]);
    assert_eq!(fixture.engine.suspended(ONE), 0);
}

/// A thread that waits in the kernel cannot be taken elsewhere.
#[test]
fn a_parked_thread_is_not_restored() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.evaluate(ONE);
    assert!(!fixture.engine.is_parked(ONE));
    let parked = Input::Parked {
        thread: ONE,
        address: CALLED,
    };
    fixture.check(parked, &[]);
    assert!(fixture.engine.is_parked(ONE) && !fixture.engine.is_parked(TWO));
    fixture.check(restore(0), &[]);
    assert!(fixture.engine.is_parked(ONE));
    assert_eq!(fixture.engine.suspended(ONE), 1);
    fixture.check(
        Input::Unparked { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
}
