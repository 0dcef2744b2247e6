//! Requests of upper layers: steps, halts, queries.

use super::*;

#[test]
fn the_ways_past_without_lifting() {
    for (step_over, way) in [
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
        let mut fixture = Fixture::new(step_over, &[ONE, TWO]);
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
    // It stands before the trap now: the arrival takes precedence over the
    // step.
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
    // The jump that leads out of the slot is not reported as a step.
    fixture.check(step, &[StepThread { thread: ONE }]);
    fixture.check(stepped(NEXT), &[StepThread { thread: ONE }]);
    fixture.check(stepped(B), &[done(B)]);

    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE, TWO]);
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
            InsertTrap { address: A },
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
        &[InsertTrap { address: A }, ReportHalted { thread: ONE }],
    );
    // No signal is pending: the step is made again.
    fixture.check(
        Input::Resume { thread: ONE },
        &[RemoveTrap { address: A }, StepThread { thread: ONE }],
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
            InsertTrap { address: A },
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
    assert!(fixture.engine.is_running(ONE));
    assert_eq!(fixture.engine.step_by(), StepBy::TraceFlag);
    fixture.check(trapped(ONE), &[report(ONE, owners)]);
    assert_eq!(
        fixture.engine.thread_state(ONE),
        Some(ThreadState::Reported { address: A })
    );
    assert!(!fixture.engine.is_running(ONE));
    assert_eq!(fixture.engine.thread_state(TWO), None);
}

/// A halt is answered by whatever stops the thread first.
#[test]
fn a_halt_is_answered_by_a_fault_or_a_signal() {
    for stops in [
        Input::Faulted {
            thread: ONE,
            address: B,
            stack: STACK,
        },
        Input::Interrupted {
            thread: ONE,
            address: B,
        },
        Input::Stopped {
            thread: ONE,
            address: B,
        },
    ] {
        let mut fixture = Fixture::new(COPIED, &[ONE]);
        fixture.check(Input::Halt { thread: ONE }, &[HoldThread { thread: ONE }]);
        fixture.check(stops, &[ReportHalted { thread: ONE }]);
    }
}

/// The end of a range is not in it.
#[test]
fn sites_are_found_in_a_range() {
    let mut fixture = Fixture::new(SKIP, &[]);
    let at_b = Input::Insert {
        address: B,
        owner: Owner::Developer,
        step_over: CALL,
    };
    fixture.check(at_b, &[InsertTrap { address: B }]);
    for (range, expected) in [
        (A..B + 1, &[A, B][..]),
        (A..B, &[A]),
        (A + 1..B + 1, &[B]),
        (A + 1..B, &[]),
        (A..A, &[]),
        (Range { start: B, end: A }, &[]),
    ] {
        let found: Vec<u64> = fixture.engine.sites_in(range.clone()).collect();
        assert_eq!(found, expected, "{range:x?}");
    }
}
