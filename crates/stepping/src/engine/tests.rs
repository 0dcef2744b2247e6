//! What the engine orders, input by input.

use super::*;
use Operation::{
    ContinueThread, EmulateCall, HoldThread, Lift, Plant, Report, ReportHalted, ReportStep,
};
use Operation::{SetCounter, StepThread, Unexplained};
use proptest::prelude::*;

const A: u64 = 0x1000;
const B: u64 = 0x2000;
const NEXT: u64 = 0x1004;
const COPY: u64 = 0x9000;
const STACK: u64 = 0x7fff_0000;
const ONE: ThreadId = ThreadId(1);
const TWO: ThreadId = ThreadId(2);
const THREE: ThreadId = ThreadId(3);

const SKIP: Passage = Passage::Skip { to: NEXT };
const CALL: Passage = Passage::Call { to: B, back: NEXT };
const COPIED: Passage = Passage::Copy { at: COPY };

/// An engine with a monitor's site at [`A`] and running threads.
struct Fixture {
    engine: Engine,
}

impl Fixture {
    fn new(passage: Passage, threads: &[ThreadId]) -> Fixture {
        let mut fixture = Fixture {
            engine: Engine::new(),
        };
        for &thread in threads {
            fixture.check(Input::Started { thread }, &[]);
            fixture.check(Input::Resume { thread }, &[ContinueThread { thread }]);
        }
        fixture.check(insert(Owner::Monitor, passage), &[Plant { address: A }]);
        fixture
    }

    #[track_caller]
    fn check(&mut self, input: Input, expected: &[Operation]) {
        let mut operations = Vec::new();
        self.engine.handle(input, &mut operations);
        assert_eq!(operations, expected, "on {input:?}");
    }

    /// The thread arrives at [`A`], and the monitor is told.
    #[track_caller]
    fn arrive(&mut self, thread: ThreadId) {
        self.check(trapped(thread), &[report(thread, Owners::MONITOR)]);
        assert_eq!(self.engine.reported_at(thread), Some(A));
    }

    /// Both threads stand at [`A`]; the first begins its pass in place.
    #[track_caller]
    fn pass_in_place_beside_running() -> Fixture {
        let mut fixture = Fixture::new(Passage::InPlace, &[ONE, TWO]);
        fixture.arrive(ONE);
        fixture.check(Input::Resume { thread: ONE }, &[HoldThread { thread: TWO }]);
        fixture
    }

    /// The same, the second thread being held and the first in its step.
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

fn insert(owner: Owner, passage: Passage) -> Input {
    Input::Insert {
        address: A,
        owner,
        passage,
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
    [Lift { address: A }, set(thread, A), StepThread { thread }]
}

#[test]
fn the_ways_past_without_lifting() {
    for (passage, way) in [
        (SKIP, set(ONE, NEXT)),
        (
            CALL,
            EmulateCall {
                thread: ONE,
                to: B,
                back: NEXT,
            },
        ),
        (COPIED, set(ONE, COPY)),
    ] {
        let mut fixture = Fixture::new(passage, &[ONE, TWO]);
        for _ in 0..3 {
            fixture.arrive(ONE);
            fixture.check(
                Input::Resume { thread: ONE },
                &[way, ContinueThread { thread: ONE }],
            );
            assert_eq!(fixture.engine.reported_at(ONE), None);
        }
    }
}

#[test]
fn in_place_alone_holds_nobody() {
    let mut fixture = Fixture::new(Passage::InPlace, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    assert_eq!(fixture.engine.reported_at(ONE), Some(A));
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[Plant { address: A }, ContinueThread { thread: ONE }],
    );
    assert_eq!(fixture.engine.reported_at(ONE), None);
}

#[test]
fn in_place_waits_for_every_other_thread() {
    let mut fixture = Fixture::new(Passage::InPlace, &[ONE, TWO, THREE]);
    fixture.arrive(ONE);
    fixture.check(
        Input::Resume { thread: ONE },
        &[HoldThread { thread: TWO }, HoldThread { thread: THREE }],
    );
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[],
    );
    assert_eq!(fixture.engine.thread_state(TWO), Some(ThreadState::Held));
    fixture.check(Input::Ended { thread: THREE }, &begin_step(ONE));
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[
            Plant { address: A },
            ContinueThread { thread: ONE },
            ContinueThread { thread: TWO },
        ],
    );
}

#[test]
fn a_late_trap_is_reported_after_the_release() {
    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(trapped(TWO), &begin_step(ONE));
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[
            Plant { address: A },
            ContinueThread { thread: ONE },
            report(TWO, Owners::MONITOR),
        ],
    );
    fixture.check(Input::Resume { thread: TWO }, &[HoldThread { thread: ONE }]);
}

#[test]
fn a_late_trap_whose_site_is_gone_runs_the_original() {
    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(trapped(TWO), &begin_step(ONE));
    fixture.check(remove(Owner::Monitor), &[]);
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[
            ContinueThread { thread: ONE },
            set(TWO, A),
            ContinueThread { thread: TWO },
        ],
    );
}

#[test]
fn two_passes_in_place_follow_each_other() {
    let mut fixture = Fixture::new(Passage::InPlace, &[ONE, TWO, THREE]);
    fixture.arrive(TWO);
    fixture.arrive(ONE);
    fixture.check(
        Input::Resume { thread: TWO },
        &[HoldThread { thread: THREE }],
    );
    fixture.check(Input::Resume { thread: ONE }, &[]);
    fixture.check(
        Input::Stopped {
            thread: THREE,
            address: B,
        },
        &begin_step(TWO),
    );
    let [lift, counter, step] = begin_step(ONE);
    fixture.check(
        Input::Stepped {
            thread: TWO,
            address: NEXT,
        },
        &[Plant { address: A }, lift, counter, step],
    );
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[
            Plant { address: A },
            ContinueThread { thread: ONE },
            ContinueThread { thread: TWO },
            ContinueThread { thread: THREE },
        ],
    );
}

#[test]
fn the_stop_of_an_answered_hold_is_not_the_users() {
    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(trapped(TWO), &begin_step(ONE));
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[
            Plant { address: A },
            ContinueThread { thread: ONE },
            report(TWO, Owners::MONITOR),
        ],
    );
    fixture.check(
        Input::Stopped {
            thread: ONE,
            address: B,
        },
        &[],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    fixture.check(Input::Resume { thread: TWO }, &[HoldThread { thread: ONE }]);
    fixture.check(
        Input::Stopped {
            thread: ONE,
            address: B,
        },
        &begin_step(TWO),
    );
    // The hold that its trap answered first comes now.
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: A,
        },
        &[StepThread { thread: TWO }],
    );
    fixture.check(
        Input::Stepped {
            thread: TWO,
            address: NEXT,
        },
        &[
            Plant { address: A },
            ContinueThread { thread: ONE },
            ContinueThread { thread: TWO },
        ],
    );
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[],
    );
}

#[test]
fn an_interruption_answers_a_hold_and_waits() {
    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(
        Input::Interrupted {
            thread: TWO,
            address: B,
        },
        &begin_step(ONE),
    );
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[Plant { address: A }, ContinueThread { thread: ONE }],
    );
    fixture.check(
        Input::Resume { thread: TWO },
        &[ContinueThread { thread: TWO }],
    );
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[ContinueThread { thread: TWO }],
    );
}

#[test]
fn a_signal_before_the_instruction_does_not_repeat_the_report() {
    let mut fixture = Fixture::step_in_place_beside_held();
    fixture.check(
        Input::Interrupted {
            thread: ONE,
            address: A,
        },
        &[Plant { address: A }, ContinueThread { thread: TWO }],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    // The handler calls the same function; its own arrival is a new one.
    let inner = STACK - 0x400;
    fixture.check(
        Input::Trapped {
            thread: ONE,
            address: A,
            stack: inner,
        },
        &[report(ONE, Owners::MONITOR)],
    );
    fixture.check(Input::Resume { thread: ONE }, &[HoldThread { thread: TWO }]);
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &begin_step(ONE),
    );
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[
            Plant { address: A },
            ContinueThread { thread: ONE },
            ContinueThread { thread: TWO },
        ],
    );
    // The handler returns to the instruction that has not run.
    fixture.check(trapped(ONE), &[HoldThread { thread: TWO }]);
}

#[test]
fn a_fault_keeps_the_report_until_the_frame_is_gone() {
    for passage in [COPIED, Passage::InPlace] {
        let mut fixture = Fixture::new(passage, &[ONE]);
        let pass = |fixture: &mut Fixture, input| match passage {
            Passage::InPlace => fixture.check(input, &begin_step(ONE)),
            _ => fixture.check(input, &[set(ONE, COPY), ContinueThread { thread: ONE }]),
        };
        let fault = |fixture: &mut Fixture| {
            let planted = [Plant { address: A }];
            let expected = if passage == Passage::InPlace {
                &planted[..]
            } else {
                &[]
            };
            fixture.check(
                Input::Faulted {
                    thread: ONE,
                    address: A,
                    stack: STACK,
                },
                expected,
            );
            fixture.check(
                Input::Resume { thread: ONE },
                &[set(ONE, A), ContinueThread { thread: ONE }],
            );
        };
        fixture.arrive(ONE);
        pass(&mut fixture, Input::Resume { thread: ONE });
        fault(&mut fixture);
        pass(&mut fixture, trapped(ONE));
        fault(&mut fixture);
        // A handler that leaves by longjmp: the frame below is gone.
        fixture.check(insert(Owner::Developer, passage), &[]);
        fixture.check(
            Input::Trapped {
                thread: ONE,
                address: A,
                stack: STACK + 8,
            },
            &[report(ONE, Owners::MONITOR | Owners::DEVELOPER)],
        );
        assert_eq!(
            fixture
                .engine
                .threads
                .get(&ONE)
                .map(|thread| thread.arrivals.len()),
            Some(1)
        );
    }
}

#[test]
fn a_signal_in_the_copy_and_then_a_fault_do_not_repeat_the_report() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    let leave = [set(ONE, COPY), ContinueThread { thread: ONE }];
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &leave);
    fixture.check(
        Input::Interrupted {
            thread: ONE,
            address: A,
        },
        &[],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    // The handler arrives too; then it returns into the copy.
    let inner = Input::Trapped {
        thread: ONE,
        address: A,
        stack: STACK - 0x400,
    };
    fixture.check(inner, &[report(ONE, Owners::MONITOR)]);
    fixture.check(Input::Resume { thread: ONE }, &leave);
    fixture.check(
        Input::Faulted {
            thread: ONE,
            address: A,
            stack: STACK,
        },
        &[],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[set(ONE, A), ContinueThread { thread: ONE }],
    );
    fixture.check(trapped(ONE), &leave);
}

#[test]
fn an_arrival_that_a_handler_jumped_out_of_is_forgotten() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.check(
        Input::Insert {
            address: B,
            owner: Owner::Monitor,
            passage: COPIED,
        },
        &[Plant { address: B }],
    );
    fixture.arrive(ONE);
    fixture.check(
        Input::Resume { thread: ONE },
        &[set(ONE, COPY), ContinueThread { thread: ONE }],
    );
    fixture.check(
        Input::Faulted {
            thread: ONE,
            address: A,
            stack: STACK,
        },
        &[],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[set(ONE, A), ContinueThread { thread: ONE }],
    );
    // No handler runs with the stack of what it interrupted.
    fixture.check(
        Input::Trapped {
            thread: ONE,
            address: B,
            stack: STACK,
        },
        &[Report {
            thread: ONE,
            address: B,
            owners: Owners::MONITOR,
        }],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[set(ONE, COPY), ContinueThread { thread: ONE }],
    );
    fixture.arrive(ONE);
}

#[test]
fn an_owner_that_comes_while_others_are_being_held_is_told_first() {
    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(insert(Owner::Scenario, Passage::InPlace), &[]);
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[
            report(ONE, Owners::SCENARIO),
            ContinueThread { thread: TWO },
        ],
    );
    fixture.check(Input::Resume { thread: ONE }, &[HoldThread { thread: TWO }]);
}

#[test]
fn a_halted_pass_releases_those_that_it_held() {
    let mut fixture = Fixture::new(Passage::InPlace, &[ONE, TWO, THREE]);
    fixture.arrive(ONE);
    fixture.check(
        Input::Resume { thread: ONE },
        &[HoldThread { thread: TWO }, HoldThread { thread: THREE }],
    );
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[],
    );
    fixture.check(
        Input::Halt { thread: ONE },
        &[ReportHalted { thread: ONE }, ContinueThread { thread: TWO }],
    );
    fixture.check(
        Input::Stopped {
            thread: THREE,
            address: B,
        },
        &[ContinueThread { thread: THREE }],
    );
}

#[test]
fn a_push_that_faults_is_left_to_the_processor() {
    let mut fixture = Fixture::new(CALL, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(
        Input::Resume { thread: ONE },
        &[
            EmulateCall {
                thread: ONE,
                to: B,
                back: NEXT,
            },
            ContinueThread { thread: ONE },
        ],
    );
    fixture.check(
        Input::Faulted {
            thread: ONE,
            address: A,
            stack: STACK,
        },
        &begin_step(ONE),
    );
    fixture.check(
        Input::Faulted {
            thread: ONE,
            address: A,
            stack: STACK,
        },
        &[Plant { address: A }],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[set(ONE, A), ContinueThread { thread: ONE }],
    );
    fixture.check(trapped(ONE), &begin_step(ONE));
}

#[test]
fn owners_that_come_while_a_thread_stands_at_the_site() {
    let mut fixture = Fixture::new(SKIP, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(insert(Owner::Developer, SKIP), &[]);
    fixture.check(insert(Owner::Scenario, SKIP), &[]);
    fixture.check(
        Input::Resume { thread: ONE },
        &[report(ONE, Owners::SCENARIO)],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[set(ONE, NEXT), ContinueThread { thread: ONE }],
    );
    fixture.check(
        trapped(ONE),
        &[report(
            ONE,
            Owners::MONITOR | Owners::SCENARIO | Owners::DEVELOPER,
        )],
    );
}

#[test]
fn a_site_removed_and_set_again_under_a_reported_thread() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(remove(Owner::Monitor), &[Lift { address: A }]);
    fixture.check(insert(Owner::Monitor, COPIED), &[Plant { address: A }]);
    fixture.check(remove(Owner::Monitor), &[Lift { address: A }]);
    // It leaves by the copy: set at this moment, the trap is not in its way.
    fixture.check(
        Input::Resume { thread: ONE },
        &[set(ONE, COPY), ContinueThread { thread: ONE }],
    );
}

#[test]
fn insert_and_remove_during_the_step() {
    let mut fixture = Fixture::step_in_place_beside_held();
    fixture.check(remove(Owner::Monitor), &[]);
    fixture.check(insert(Owner::Developer, Passage::InPlace), &[]);
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[
            Plant { address: A },
            ContinueThread { thread: ONE },
            ContinueThread { thread: TWO },
        ],
    );
    fixture.check(trapped(TWO), &[report(TWO, Owners::DEVELOPER)]);
}

#[test]
fn a_step_past_a_site() {
    let step = Input::Step { thread: ONE };
    let done = |address| ReportStep {
        thread: ONE,
        address,
    };
    let mut fixture = Fixture::new(SKIP, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(step, &[set(ONE, NEXT), done(NEXT)]);
    fixture.check(step, &[StepThread { thread: ONE }]);
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: A,
        },
        &[done(A)],
    );
    // It stands before the trap now: the step gives way to the arrival.
    fixture.check(step, &[StepThread { thread: ONE }]);
    fixture.arrive(ONE);

    let mut fixture = Fixture::new(CALL, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(
        step,
        &[
            EmulateCall {
                thread: ONE,
                to: B,
                back: NEXT,
            },
            done(B),
        ],
    );

    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(step, &[set(ONE, COPY), StepThread { thread: ONE }]);
    let stepped = |address| Input::Stepped {
        thread: ONE,
        address,
    };
    fixture.check(stepped(NEXT), &[done(NEXT)]);
    // The jump that leads out of the copy is no step to anybody.
    fixture.check(step, &[StepThread { thread: ONE }]);
    fixture.check(stepped(NEXT), &[StepThread { thread: ONE }]);
    fixture.check(stepped(B), &[done(B)]);

    let mut fixture = Fixture::new(Passage::InPlace, &[ONE, TWO]);
    fixture.arrive(ONE);
    fixture.check(step, &[HoldThread { thread: TWO }]);
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &begin_step(ONE),
    );
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[
            Plant { address: A },
            done(NEXT),
            ContinueThread { thread: TWO },
        ],
    );
}

#[test]
fn halts() {
    let halt = |thread| Input::Halt { thread };
    let mut fixture = Fixture::new(COPIED, &[ONE, TWO]);
    fixture.check(halt(ONE), &[HoldThread { thread: ONE }]);
    fixture.check(trapped(ONE), &[ReportHalted { thread: ONE }]);
    fixture.check(halt(ONE), &[ReportHalted { thread: ONE }]);
    fixture.check(
        Input::Resume { thread: ONE },
        &[report(ONE, Owners::MONITOR)],
    );
    fixture.check(halt(ONE), &[ReportHalted { thread: ONE }]);
    fixture.check(
        Input::Resume { thread: ONE },
        &[set(ONE, COPY), ContinueThread { thread: ONE }],
    );
    // The hold that the trap answered first.
    fixture.check(
        Input::Stopped {
            thread: ONE,
            address: A,
        },
        &[ContinueThread { thread: ONE }],
    );

    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(halt(ONE), &[ReportHalted { thread: ONE }]);
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[ContinueThread { thread: TWO }],
    );

    let mut fixture = Fixture::step_in_place_beside_held();
    fixture.check(halt(TWO), &[ReportHalted { thread: TWO }]);
    fixture.check(halt(ONE), &[HoldThread { thread: ONE }]);
    fixture.check(
        Input::Stopped {
            thread: ONE,
            address: A,
        },
        &[Plant { address: A }, ReportHalted { thread: ONE }],
    );
    // No signal stands in the way: the step is made again.
    fixture.check(
        Input::Resume { thread: ONE },
        &[Lift { address: A }, StepThread { thread: ONE }],
    );
}

#[test]
fn a_step_cut_short_after_its_instruction_is_not_taken_for_the_next() {
    let mut fixture = Fixture::step_in_place_beside_held();
    fixture.check(Input::Halt { thread: ONE }, &[HoldThread { thread: ONE }]);
    fixture.check(
        Input::Stopped {
            thread: ONE,
            address: NEXT,
        },
        &[
            Plant { address: A },
            ReportHalted { thread: ONE },
            ContinueThread { thread: TWO },
        ],
    );
    fixture.check(Input::Step { thread: ONE }, &[StepThread { thread: ONE }]);
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[StepThread { thread: ONE }],
    );
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: B,
        },
        &[ReportStep {
            thread: ONE,
            address: B,
        }],
    );
}

#[test]
fn threads_that_start_and_end_during_a_pass() {
    let mut fixture = Fixture::step_in_place_beside_held();
    fixture.check(Input::Started { thread: THREE }, &[]);
    fixture.check(Input::Resume { thread: THREE }, &[]);
    fixture.check(
        Input::Ended { thread: ONE },
        &[
            Plant { address: A },
            ContinueThread { thread: TWO },
            ContinueThread { thread: THREE },
        ],
    );
    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(Input::Ended { thread: ONE }, &[]);
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[ContinueThread { thread: TWO }],
    );
}

#[test]
fn a_new_program_has_no_sites() {
    let mut fixture = Fixture::step_in_place_beside_held();
    fixture.check(Input::Executed { thread: ONE }, &[]);
    assert!(!fixture.engine.is_site(A));
    assert_eq!(fixture.engine.thread_state(TWO), None);
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
}

#[test]
fn traps_that_no_site_explains() {
    let unexplained = Unexplained {
        thread: ONE,
        address: A,
    };
    // Trapped before the site was removed.
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.check(remove(Owner::Monitor), &[Lift { address: A }]);
    fixture.check(trapped(ONE), &[unexplained]);
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    // A trap of the program's own under a breakpoint.
    let mut fixture = Fixture::new(Passage::InPlace, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    fixture.check(trapped(ONE), &[Plant { address: A }, unexplained]);
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    fixture.arrive(ONE);
}

#[test]
fn a_jump_forgets_the_arrival() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(
        Input::Jumped {
            thread: ONE,
            address: A,
        },
        &[],
    );
    assert_eq!(fixture.engine.reported_at(ONE), None);
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    fixture.arrive(ONE);
}

#[test]
fn queries() {
    let mut fixture = Fixture::new(SKIP, &[ONE]);
    fixture.check(insert(Owner::Developer, COPIED), &[]);
    let owners = Owners::MONITOR | Owners::DEVELOPER;
    assert_eq!(fixture.engine.owners_at(A), owners);
    assert_eq!(fixture.engine.owners_at(B), Owners::empty());
    assert_eq!(
        fixture.engine.sites().collect::<Vec<_>>(),
        [(A, owners, SKIP)]
    );
    assert_eq!(fixture.engine.thread_state(ONE), Some(ThreadState::Running));
    fixture.check(trapped(ONE), &[report(ONE, owners)]);
    assert_eq!(
        fixture.engine.thread_state(ONE),
        Some(ThreadState::Reported { address: A })
    );
    assert!(!fixture.engine.is_running(ONE));
    assert_eq!(fixture.engine.thread_state(TWO), None);
}

fn any_input() -> impl Strategy<Value = Input> {
    let thread = (0u32..4).prop_map(|number| {
        if number == 3 {
            ThreadId(u32::MAX)
        } else {
            ThreadId(number)
        }
    });
    let address = prop::sample::select(vec![0, A, NEXT, B, u64::MAX]);
    let stack = prop::sample::select(vec![0, STACK - 8, STACK, u64::MAX]);
    let owner = prop::sample::select(vec![Owner::Developer, Owner::Monitor, Owner::Return]);
    let passage = prop::sample::select(vec![SKIP, CALL, COPIED, Passage::InPlace]);
    (0..14, thread, address, stack, owner, passage).prop_map(
        |(kind, thread, address, stack, owner, passage)| match kind {
            0 => Input::Insert {
                address,
                owner,
                passage,
            },
            1 => Input::Remove { address, owner },
            2 => Input::Started { thread },
            3 => Input::Ended { thread },
            4 => Input::Trapped {
                thread,
                address,
                stack,
            },
            5 => Input::Stepped { thread, address },
            6 => Input::Stopped { thread, address },
            7 => Input::Interrupted { thread, address },
            8 => Input::Faulted {
                thread,
                address,
                stack,
            },
            9 => Input::Resume { thread },
            10 => Input::Step { thread },
            11 => Input::Halt { thread },
            12 => Input::Jumped { thread, address },
            _ => Input::Executed { thread },
        },
    )
}

proptest! {
    /// Whatever a shell says, in whatever order: traps are planted and lifted
    /// in turn, and a thread is only moved that stands still.
    #[test]
    fn no_input_is_too_strange(inputs in prop::collection::vec(any_input(), 0..200)) {
        let mut engine = Engine::new();
        let mut planted = std::collections::BTreeSet::new();
        let mut operations = Vec::new();
        for input in inputs {
            if matches!(input, Input::Executed { .. }) {
                planted.clear();
            }
            engine.handle(input, &mut operations);
            for operation in operations.drain(..) {
                match operation {
                    Plant { address } => prop_assert!(planted.insert(address)),
                    Lift { address } => prop_assert!(planted.remove(&address)),
                    _ => {}
                }
            }
            let lifted = |address: &u64| engine.is_site(*address) && !engine.is_lifted(*address);
            prop_assert!(planted.iter().all(lifted));
        }
    }
}
