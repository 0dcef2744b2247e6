//! Steps over in place: which threads are held, in which order, and what
//! happens meanwhile.

use super::*;

#[test]
fn in_place_alone_holds_nobody() {
    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    assert_eq!(fixture.engine.reported_at(ONE), Some(A));
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[InsertTrap { address: A }, ContinueThread { thread: ONE }],
    );
    assert_eq!(fixture.engine.reported_at(ONE), None);
}

#[test]
fn a_repeated_instruction_runs_all_its_rounds() {
    let mut fixture = Fixture::new(StepOver::InPlaceRepeated, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    let round = Input::Stepped {
        thread: ONE,
        address: A,
    };
    fixture.check(round, &[StepThread { thread: ONE }]);
    fixture.check(round, &[StepThread { thread: ONE }]);
    // A signal between two iterations: its handler returns to the same arrival.
    fixture.check(
        Input::Interrupted {
            thread: ONE,
            address: A,
        },
        &[InsertTrap { address: A }],
    );
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
    fixture.check(trapped(ONE), &begin_step(ONE));
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: NEXT,
        },
        &[InsertTrap { address: A }, ContinueThread { thread: ONE }],
    );
    // The next execution is another event.
    fixture.arrive(ONE);
}

#[test]
fn an_instruction_that_branches_to_itself_arrives_anew() {
    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: A,
        },
        &[InsertTrap { address: A }, ContinueThread { thread: ONE }],
    );
    fixture.arrive(ONE);
}

#[test]
fn in_place_waits_for_every_other_thread() {
    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE, TWO, THREE]);
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
            InsertTrap { address: A },
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
            InsertTrap { address: A },
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
    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE, TWO, THREE]);
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
    let [remove_trap, counter, step] = begin_step(ONE);
    fixture.check(
        Input::Stepped {
            thread: TWO,
            address: NEXT,
        },
        &[InsertTrap { address: A }, remove_trap, counter, step],
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
            InsertTrap { address: A },
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
            InsertTrap { address: A },
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
        &[InsertTrap { address: A }, ContinueThread { thread: ONE }],
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
fn an_owner_that_comes_while_others_are_being_held_is_told_first() {
    let mut fixture = Fixture::pass_in_place_beside_running();
    fixture.check(insert(Owner::Scenario, StepOver::InPlace), &[]);
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
    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE, TWO, THREE]);
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
fn insert_and_remove_during_the_step() {
    let mut fixture = Fixture::step_in_place_beside_held();
    fixture.check(remove(Owner::Monitor), &[]);
    fixture.check(insert(Owner::Developer, StepOver::InPlace), &[]);
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
    fixture.check(trapped(TWO), &[report(TWO, Owners::DEVELOPER)]);
}

#[test]
fn a_thread_with_the_number_of_one_whose_end_was_not_reported() {
    let begins: [fn(ThreadId) -> Input; 3] = [
        |thread| Input::Started { thread },
        |thread| Input::Attached { thread },
        |thread| Input::StartedInPlace {
            thread,
            parent: TWO,
        },
    ];
    for begin in begins {
        let mut fixture = Fixture::step_in_place_beside_held();
        fixture.check(
            begin(ONE),
            &[InsertTrap { address: A }, ContinueThread { thread: TWO }],
        );
        assert!(!fixture.engine.is_removed_for_step(A));
    }
}

#[test]
fn threads_that_start_and_end_during_a_pass() {
    let mut fixture = Fixture::step_in_place_beside_held();
    fixture.check(Input::Started { thread: THREE }, &[]);
    fixture.check(Input::Resume { thread: THREE }, &[]);
    fixture.check(
        Input::Ended { thread: ONE },
        &[
            InsertTrap { address: A },
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
fn a_trap_that_is_lost_with_its_memory_holds_nobody_up() {
    let mut fixture = Fixture::step_in_place_beside_held();
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
    fixture.check(Input::InsertFailed { address: A }, &[]);
    assert!(!fixture.engine.is_site(A));
    fixture.check(remove(Owner::Monitor), &[]);
    fixture.check(
        insert(Owner::Monitor, StepOver::InPlace),
        &[InsertTrap { address: A }],
    );
}

/// The threads that stand at a site are stepped in the order of their requests, whatever
/// their numbers.
#[test]
fn threads_are_stepped_in_the_order_of_their_requests() {
    let all = [ONE, TWO, THREE];
    for order in [
        [ONE, TWO, THREE],
        [ONE, THREE, TWO],
        [TWO, ONE, THREE],
        [TWO, THREE, ONE],
        [THREE, ONE, TWO],
        [THREE, TWO, ONE],
    ] {
        let mut fixture = Fixture::new(StepOver::InPlace, &all);
        for thread in all {
            fixture.arrive(thread);
        }
        let [first, second, third] = order;
        fixture.check(Input::Resume { thread: first }, &begin_step(first));
        fixture.check(Input::Resume { thread: second }, &[]);
        fixture.check(Input::Resume { thread: third }, &[]);
        for (thread, next) in [(first, second), (second, third)] {
            let mut expected = vec![InsertTrap { address: A }];
            expected.extend(begin_step(next));
            let stepped = Input::Stepped {
                thread,
                address: NEXT,
            };
            fixture.check(stepped, &expected);
        }
        let stepped = Input::Stepped {
            thread: third,
            address: NEXT,
        };
        let mut expected = vec![InsertTrap { address: A }];
        expected.extend(all.map(|thread| ContinueThread { thread }));
        fixture.check(stepped, &expected);
    }
}

/// A thread whose request was withdrawn leaves the queue, and is at its end when it asks
/// again.
#[test]
fn a_halted_thread_loses_its_turn() {
    let mut fixture = Fixture::new(StepOver::InPlace, &[ONE, TWO, THREE]);
    for thread in [ONE, TWO, THREE] {
        fixture.arrive(thread);
    }
    fixture.check(Input::Resume { thread: THREE }, &begin_step(THREE));
    fixture.check(Input::Resume { thread: ONE }, &[]);
    fixture.check(Input::Resume { thread: TWO }, &[]);
    fixture.check(Input::Halt { thread: ONE }, &[ReportHalted { thread: ONE }]);
    fixture.check(Input::Resume { thread: ONE }, &[]);
    for (thread, next) in [(THREE, TWO), (TWO, ONE)] {
        let mut expected = vec![InsertTrap { address: A }];
        expected.extend(begin_step(next));
        let stepped = Input::Stepped {
            thread,
            address: NEXT,
        };
        fixture.check(stepped, &expected);
    }
}

/// A thread that is halted while its instruction is being stepped stands at the site
/// again, and is not reported twice there.
#[test]
fn a_halt_between_rounds_leaves_the_thread_at_its_site() {
    let mut fixture = Fixture::new(StepOver::InPlaceRepeated, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(Input::Resume { thread: ONE }, &begin_step(ONE));
    fixture.check(Input::Halt { thread: ONE }, &[HoldThread { thread: ONE }]);
    fixture.check(
        Input::Stepped {
            thread: ONE,
            address: A,
        },
        &[InsertTrap { address: A }, ReportHalted { thread: ONE }],
    );
    assert_eq!(fixture.engine.reported_at(ONE), Some(A));
    // It stands there already.
    let again = [RemoveTrap { address: A }, StepThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &again);
}
