//! Each execution is reported once, whatever brings the thread back.

use super::*;

#[test]
fn the_new_instruction_is_executed_where_the_old_one_was_not() {
    let rewritten = |passage| Input::Rewritten {
        address: A,
        passage,
    };
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(rewritten(SKIP), &[]);
    let go_on = [set(ONE, NEXT), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &go_on);

    // Where its site is gone, too.
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(remove(Owner::Monitor), &[Lift { address: A }]);
    fixture.check(rewritten(SKIP), &[]);
    fixture.check(Input::Resume { thread: ONE }, &go_on);
    // And an instruction that was left by its copy is over.
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    let copied = [set(ONE, COPY), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &copied);
    fixture.check(rewritten(SKIP), &[]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &go_on);
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
