//! Each execution is reported once, however the thread returns.

use super::*;
use crate::StackPart;

#[test]
fn the_new_instruction_is_executed_where_the_old_one_was_not() {
    let rewritten = |step_over| Input::Rewritten {
        address: A,
        step_over,
    };
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(rewritten(SKIP), &[]);
    let go_on = [set(ONE, NEXT), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &go_on);

    // Also if its site is gone.
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(remove(Owner::Monitor), &[RemoveTrap { address: A }]);
    fixture.check(rewritten(SKIP), &[]);
    fixture.check(Input::Resume { thread: ONE }, &go_on);
    // And an instruction that was left by its slot is over.
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
        &[InsertTrap { address: A }, ContinueThread { thread: TWO }],
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
            InsertTrap { address: A },
            ContinueThread { thread: ONE },
            ContinueThread { thread: TWO },
        ],
    );
    // The handler returns to the instruction that has not run.
    fixture.check(trapped(ONE), &[HoldThread { thread: TWO }]);
}

#[test]
fn a_fault_keeps_the_report_until_the_frame_is_gone() {
    for step_over in [COPIED, StepOver::InPlace] {
        let mut fixture = Fixture::new(step_over, &[ONE]);
        let pass = |fixture: &mut Fixture, input| match step_over {
            StepOver::InPlace => fixture.check(input, &begin_step(ONE)),
            _ => fixture.check(input, &[set(ONE, COPY), ContinueThread { thread: ONE }]),
        };
        let fault = |fixture: &mut Fixture| {
            let inserted = [InsertTrap { address: A }];
            let expected = if step_over == StepOver::InPlace {
                &inserted[..]
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
        fixture.check(insert(Owner::Developer, step_over), &[]);
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
    // The handler arrives, too; then it returns into the slot.
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
            step_over: COPIED,
        },
        &[InsertTrap { address: B }],
    );
    fault_in_the_copy(&mut fixture);
    // No handler runs with the stack of the code that it interrupted.
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
        &[InsertTrap { address: A }],
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
    fixture.check(remove(Owner::Monitor), &[RemoveTrap { address: A }]);
    fixture.check(insert(Owner::Monitor, COPIED), &[InsertTrap { address: A }]);
    fixture.check(remove(Owner::Monitor), &[RemoveTrap { address: A }]);
    // It leaves by the slot: inserted at this moment, the trap is not in its
    // way.
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
    fixture.check(remove(Owner::Monitor), &[RemoveTrap { address: A }]);
    fixture.check(trapped(ONE), &[unexplained]);
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    // A trap of the program's own under a breakpoint.
    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    fixture.check(trapped(ONE), &[InsertTrap { address: A }, unexplained]);
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

/// The thread arrives at [`A`], and the displaced instruction faults.
fn fault_in_the_copy(fixture: &mut Fixture) {
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_copy(ONE));
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
}

/// A handler interrupts the thread at [`A`] after a fault of the displaced
/// instruction.
fn interrupt_by_handler(fixture: &mut Fixture, alternate: StackPart) {
    fault_in_the_copy(fixture);
    fixture.check(
        Input::HandlerEntered {
            thread: ONE,
            address: A,
            stack: STACK,
            alternate,
        },
        &[],
    );
    assert!(fixture.engine.awaits_handler(ONE));
}

fn begin_copy(thread: ThreadId) -> [Operation; 2] {
    [set(thread, COPY), ContinueThread { thread }]
}

fn returned(address: u64, stack: u64) -> Input {
    Input::HandlerReturned {
        thread: ONE,
        address,
        stack,
    }
}

#[test]
fn an_arrival_comes_back_by_the_return_of_its_handler_alone() {
    for (returns, comes_back) in [
        (vec![returned(A, STACK)], true),
        // From a handler in the handler, and then from this one.
        (vec![returned(B, STACK - 0x100), returned(A, STACK)], true),
        (vec![], false),
        (vec![returned(A, STACK - 8)], false),
        (vec![returned(B, STACK)], false),
        (vec![returned(B, STACK), returned(A, STACK)], false),
    ] {
        let mut fixture = Fixture::new(COPIED, &[ONE]);
        interrupt_by_handler(&mut fixture, StackPart::default());
        for input in returns {
            fixture.check(input, &[]);
        }
        if comes_back {
            fixture.check(trapped(ONE), &begin_copy(ONE))
        } else {
            fixture.arrive(ONE)
        }
        assert!(!fixture.engine.awaits_handler(ONE));
    }
}

/// A handler that interrupts the thread on another way to the instruction does
/// not return to an arrival that was left.
#[test]
fn a_second_handler_at_the_place_of_one_that_was_left_returns_to_a_new_arrival() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    interrupt_by_handler(&mut fixture, StackPart::default());
    let entered = Input::HandlerEntered {
        thread: ONE,
        address: A,
        stack: STACK,
        alternate: StackPart::default(),
    };
    fixture.check(entered, &[]);
    fixture.check(returned(A, STACK), &[]);
    fixture.arrive(ONE);
}

#[test]
fn a_handler_is_left_where_the_stack_pointer_is_above_and_not_of_its_own_stack() {
    let above = StackPart {
        start: STACK + 0x100,
        length: 0x1000,
    };
    let called = |stack| Input::Called { thread: ONE, stack };
    for (alternate, stack, awaits) in [
        (StackPart::default(), STACK - 0x100, true),
        (StackPart::default(), STACK + 0x200, false),
        (StackPart::default(), STACK + (1 << 24), true),
        (above, STACK + 0x200, true),
        (above, STACK + 0x2000, false),
    ] {
        let mut fixture = Fixture::new(COPIED, &[ONE]);
        interrupt_by_handler(&mut fixture, alternate);
        fixture.check(called(stack), &[]);
        assert_eq!(fixture.engine.awaits_handler(ONE), awaits, "{alternate:?}");
        // A trap there has the same effect.
        let mut fixture = Fixture::new(COPIED, &[ONE]);
        interrupt_by_handler(&mut fixture, alternate);
        let trap = Input::Trapped {
            thread: ONE,
            address: A,
            stack,
        };
        fixture.check(trap, &[report(ONE, Owners::MONITOR)]);
        assert_eq!(fixture.engine.awaits_handler(ONE), awaits, "{alternate:?}");
    }
}

/// An arrival whose instruction was being executed out of line, when a signal came, is none
/// at which a handler interrupts the thread.
#[test]
fn a_handler_interrupts_only_an_arrival_that_was_not_begun() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    assert!(!fixture.engine.has_arrival(ONE, A, STACK));
    fixture.arrive(ONE);
    assert!(fixture.engine.has_arrival(ONE, A, STACK));
    assert!(!fixture.engine.has_arrival(ONE, A, STACK - 8));
    assert!(!fixture.engine.has_arrival(ONE, B, STACK));
    assert!(!fixture.engine.has_arrival(TWO, A, STACK));
    fixture.check(Input::Resume { thread: ONE }, &begin_copy(ONE));
    assert!(!fixture.engine.has_arrival(ONE, A, STACK));
    fixture.check(
        Input::Interrupted {
            thread: ONE,
            address: A,
        },
        &[],
    );
    assert!(!fixture.engine.has_arrival(ONE, A, STACK));
}

/// Another engine is given the arrivals to which a thread returns, but not the one at which
/// it stands.
#[test]
fn the_arrival_at_which_a_thread_stands_is_not_given_on() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    let given = |fixture: &Fixture| -> Vec<(u64, u64)> {
        let inputs = fixture.engine.arrivals_further_out(ONE);
        let inputs = inputs.filter_map(|input| match input {
            Input::Inherited {
                thread: ONE,
                address,
                stack,
                ..
            } => Some((address, stack)),
            _ => None,
        });
        inputs.collect()
    };
    assert_eq!(given(&fixture), []);
    fixture.arrive(ONE);
    assert_eq!(given(&fixture), []);
    fixture.check(Input::Resume { thread: ONE }, &begin_copy(ONE));
    fixture.check(
        Input::Interrupted {
            thread: ONE,
            address: A,
        },
        &[],
    );
    assert_eq!(given(&fixture), [(A, STACK)]);
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    let inner = Input::Trapped {
        thread: ONE,
        address: A,
        stack: STACK - 0x400,
    };
    fixture.check(inner, &[report(ONE, Owners::MONITOR)]);
    assert_eq!(given(&fixture), [(A, STACK)]);
}

/// The instruction may be executed unseen while no trap is there, so the arrival to which
/// the thread returns does not count for the next one.
#[test]
fn an_outer_arrival_is_reported_again_if_its_site_was_gone_during_a_step() {
    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    let faulted = Input::Faulted {
        thread: ONE,
        address: A,
        stack: STACK,
    };
    fixture.check(faulted, &[InsertTrap { address: A }]);
    let go_on = [set(ONE, A), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &go_on);
    // In its handler.
    let inner = Input::Trapped {
        thread: ONE,
        address: A,
        stack: STACK - 0x400,
    };
    fixture.check(inner, &[report(ONE, Owners::MONITOR)]);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    fixture.check(remove(Owner::Monitor), &[]);
    fixture.check(insert(Owner::Monitor, StepOver::InPlace), &[]);
    let stepped = Input::Stepped {
        thread: ONE,
        address: NEXT,
    };
    let inserted = [InsertTrap { address: A }, ContinueThread { thread: ONE }];
    fixture.check(stepped, &inserted);
    fixture.arrive(ONE);
}

#[test]
fn an_outer_arrival_is_reported_again_if_its_site_was_gone_during_an_evaluation() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fault_in_the_copy(&mut fixture);
    let interrupted = Input::Interrupted {
        thread: ONE,
        address: B,
    };
    fixture.check(interrupted, &[]);
    fixture.check(Input::Suspend { thread: ONE }, &[]);
    fixture.check(remove(Owner::Monitor), &[RemoveTrap { address: A }]);
    fixture.check(insert(Owner::Monitor, COPIED), &[InsertTrap { address: A }]);
    let restore = Input::Restore {
        thread: ONE,
        depth: 0,
    };
    fixture.check(restore, &[]);
    let go_on = [ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &go_on);
    fixture.arrive(ONE);
}

#[test]
fn handlers_in_each_other_return_each_to_its_own_arrival() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    interrupt_by_handler(&mut fixture, StackPart::default());
    let inner = STACK - 0x400;
    let trapped_inside = Input::Trapped {
        thread: ONE,
        address: A,
        stack: inner,
    };
    fixture.check(trapped_inside, &[report(ONE, Owners::MONITOR)]);
    fixture.check(Input::Resume { thread: ONE }, &begin_copy(ONE));
    let faulted = Input::Faulted {
        thread: ONE,
        address: A,
        stack: inner,
    };
    fixture.check(faulted, &[]);
    let go_on = [set(ONE, A), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &go_on);
    let entered = Input::HandlerEntered {
        thread: ONE,
        address: A,
        stack: inner,
        alternate: StackPart::default(),
    };
    fixture.check(entered, &[]);
    fixture.check(returned(A, inner), &[]);
    fixture.check(trapped_inside, &begin_copy(ONE));
    fixture.check(returned(A, STACK), &[]);
    assert!(fixture.engine.is_reported(ONE, A, STACK));
    assert!(!fixture.engine.is_reported(ONE, A, STACK - 8));
    assert!(!fixture.engine.is_reported(TWO, A, STACK));
    fixture.check(trapped(ONE), &begin_copy(ONE));
}

/// A stack pointer that is farther above belongs to another stack.
#[test]
fn a_frame_is_gone_if_the_stack_pointer_is_a_little_above_it() {
    let reach = 1 << 20;
    for (stack, arrivals) in [(STACK + reach, 1), (STACK + reach + 1, 2)] {
        let mut fixture = Fixture::new(COPIED, &[ONE]);
        fault_in_the_copy(&mut fixture);
        let again = Input::Trapped {
            thread: ONE,
            address: A,
            stack,
        };
        fixture.check(again, &[report(ONE, Owners::MONITOR)]);
        let thread = fixture.engine.threads.get(&ONE);
        let found = thread.map(|thread| thread.arrivals.len());
        assert_eq!(found, Some(arrivals), "{stack:#x}");
    }
}
