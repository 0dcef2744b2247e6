//! Patched sites.

use super::*;

/// The first address behind the head at [`A`], and one inside it.
const END: u64 = A + 8;
const INSIDE: u64 = A + 2;

const PATCH: Input = Input::Patch {
    address: A,
    end: END,
    jump_end: END,
    owner: Owner::Monitor,
    count: 1,
    twin: TWIN,
};
const ONE_MONITOR: (Owner, u32) = (Owner::Monitor, 1);
const COUNTED: Input = Input::Counted {
    thread: ONE,
    address: A,
    stack: STACK,
};

fn inside(owner: Owner) -> Input {
    Input::Insert {
        address: INSIDE,
        owner,
        step_over: SKIP,
    }
}

fn stopped(thread: ThreadId, address: u64) -> Input {
    Input::Stopped { thread, address }
}

/// An engine with a patch at [`A`] and running threads.
fn patched(threads: &[ThreadId]) -> Fixture {
    let mut fixture = Fixture::new(COPIED, &[]);
    for &thread in threads {
        fixture.check(Input::Started { thread }, &[]);
    }
    fixture.check(PATCH, &[WritePatch { address: A }]);
    for &thread in threads {
        fixture.check(Input::Resume { thread }, &[ContinueThread { thread }]);
    }
    fixture
}

#[test]
fn a_patch_is_granted_while_all_stand() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.check(PATCH, &[]);
    assert!(!fixture.engine.is_patched(A));
    fixture.check(Input::Halt { thread: ONE }, &[HoldThread { thread: ONE }]);
    fixture.check(stopped(ONE, B), &[ReportHalted { thread: ONE }]);
    assert!(fixture.engine.may_be_patched(A..END, END, ONE_MONITOR));
    fixture.check(PATCH, &[WritePatch { address: A }]);
    assert!(fixture.engine.is_patched(A) && !fixture.engine.is_inside_patch(A));
    assert!(fixture.engine.is_inside_patch(INSIDE) && !fixture.engine.is_inside_patch(END));
    fixture.check(PATCH, &[]);
}

#[test]
fn no_patch_beside_other_owners_and_sites() {
    let mut fixture = Fixture::new(COPIED, &[]);
    fixture.check(insert(Owner::Developer, COPIED), &[]);
    fixture.check(PATCH, &[]);
    fixture.check(remove(Owner::Developer), &[]);
    fixture.check(inside(Owner::Monitor), &[InsertTrap { address: INSIDE }]);
    fixture.check(PATCH, &[]);
    assert!(
        fixture
            .engine
            .may_be_patched(A..INSIDE, INSIDE, ONE_MONITOR)
    );
    assert!(!fixture.engine.may_be_patched(A..A, END, ONE_MONITOR));
}

#[test]
fn an_event_left_to_juror_is_passed_by_the_twin() {
    let mut fixture = patched(&[ONE]);
    fixture.arrive(ONE);
    let passed = [set(ONE, TWIN), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &passed);
}

#[test]
fn another_owner_gets_its_trap_when_all_stand() {
    let mut fixture = patched(&[ONE, TWO]);
    let hold = [HoldThread { thread: ONE }, HoldThread { thread: TWO }];
    fixture.check(insert(Owner::Developer, COPIED), &hold);
    fixture.check(stopped(ONE, B), &[]);
    let go = [
        RemovePatch { address: A },
        ContinueThread { thread: ONE },
        ContinueThread { thread: TWO },
    ];
    fixture.check(stopped(TWO, B), &go);
    let owners = Owners::MONITOR | Owners::DEVELOPER;
    fixture.check(trapped(ONE), &[report(ONE, owners)]);
    let passed = [set(ONE, COPY), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &passed);
}

#[test]
fn a_trap_in_the_head_is_inserted_when_all_stand_at_originals() {
    let mut fixture = patched(&[ONE]);
    fixture.check(inside(Owner::Developer), &[HoldThread { thread: ONE }]);
    let go = [
        set(ONE, INSIDE),
        RemovePatch { address: A },
        InsertTrap { address: INSIDE },
        ContinueThread { thread: ONE },
    ];
    fixture.check(stopped(ONE, INSIDE), &go);
}

#[test]
fn a_counted_event_is_not_reported_when_the_patch_goes() {
    let mut fixture = patched(&[ONE]);
    fixture.check(Input::Unpatch { address: A }, &[HoldThread { thread: ONE }]);
    fixture.check(COUNTED, &[]);
    let go = [
        RemovePatch { address: A },
        set(ONE, COPY),
        ContinueThread { thread: ONE },
    ];
    fixture.check(stopped(ONE, A), &go);
}

#[test]
fn an_insert_that_is_withdrawn_leaves_no_trap() {
    let mut fixture = patched(&[ONE]);
    fixture.check(inside(Owner::Developer), &[HoldThread { thread: ONE }]);
    fixture.check(
        Input::Remove {
            address: INSIDE,
            owner: Owner::Developer,
        },
        &[],
    );
    let go = [RemovePatch { address: A }, ContinueThread { thread: ONE }];
    fixture.check(stopped(ONE, B), &go);
}

#[test]
fn without_owners_the_trap_goes_too() {
    let mut fixture = patched(&[ONE]);
    fixture.check(remove(Owner::Monitor), &[HoldThread { thread: ONE }]);
    assert!(fixture.engine.expects_trap(A));
    let go = [
        RemovePatch { address: A },
        RemoveTrap { address: A },
        ContinueThread { thread: ONE },
    ];
    fixture.check(stopped(ONE, B), &go);
}

#[test]
fn a_stray_goes_to_its_twin() {
    let mut fixture = patched(&[ONE]);
    let (thread, address) = (ONE, INSIDE);
    let moved = MoveToTwin { thread, address };
    fixture.check(
        Input::Stray { thread, address },
        &[moved, ContinueThread { thread }],
    );
    fixture.check(Input::Halt { thread }, &[HoldThread { thread }]);
    fixture.check(
        Input::Stray { thread, address },
        &[moved, ReportHalted { thread }],
    );
    fixture.check(Input::Step { thread }, &[StepThread { thread }]);
    fixture.check(
        Input::Stray { thread, address },
        &[moved, StepThread { thread }],
    );
}

#[test]
fn a_step_before_a_patch_is_an_arrival() {
    let mut fixture = patched(&[ONE]);
    let (thread, address) = (ONE, A);
    fixture.check(Input::Halt { thread }, &[HoldThread { thread }]);
    fixture.check(stopped(ONE, A), &[ReportHalted { thread }]);
    fixture.check(Input::Step { thread }, &[Arrive { thread, address }]);
    fixture.arrive(ONE);
    fixture.check(
        Input::Step { thread },
        &[set(ONE, TWIN), StepThread { thread }],
    );
    fixture.check(COUNTED, &[]);
    fixture.check(Input::Interrupted { thread, address: A }, &[]);
    fixture.check(Input::Step { thread }, &[StepThread { thread }]);
}

#[test]
fn a_fault_in_the_first_twin_brings_the_trap_back() {
    let mut fixture = patched(&[ONE]);
    let (thread, address, stack) = (ONE, A, STACK);
    fixture.check(COUNTED, &[]);
    fixture.check(
        Input::Faulted {
            thread,
            address,
            stack,
        },
        &[RemovePatch { address }],
    );
    assert!(fixture.engine.has_arrival(ONE, A, STACK));
    assert!(!fixture.engine.may_be_patched(A..END, END, ONE_MONITOR));
    let go = [set(ONE, A), ContinueThread { thread }];
    fixture.check(Input::Resume { thread }, &go);
    // The signal had no handler: the same execution again.
    fixture.check(trapped(ONE), &[set(ONE, COPY), ContinueThread { thread }]);
}

#[test]
fn a_copy_gets_its_bytes_back() {
    let mut fixture = patched(&[ONE]);
    let process = TWO;
    let address = A;
    fixture.check(
        Input::ForkStopped { process },
        &[
            Operation::RestorePatchInFork { process, address },
            Operation::RestoreInFork { process, address },
            Operation::ReleaseFork { process },
        ],
    );
    fixture.check(
        Input::ForkFollowed { thread: TWO },
        &[
            Operation::RestorePatchInFork { process, address },
            Operation::InsertInFork { process, address },
        ],
    );
    assert!(!fixture.engine.is_patched(A));
    fixture.check(
        Input::Resume { thread: TWO },
        &[ContinueThread { thread: TWO }],
    );
    fixture.arrive(TWO);
    let passed = [set(TWO, COPY), ContinueThread { thread: TWO }];
    fixture.check(Input::Resume { thread: TWO }, &passed);
}

#[test]
fn a_patch_counts_for_the_inserts_with_which_it_was_made() {
    let mut fixture = Fixture::new(COPIED, &[]);
    assert!(
        !fixture
            .engine
            .may_be_patched(A..END, END, (Owner::Monitor, 2))
    );
    assert!(
        !fixture
            .engine
            .may_be_patched(A..END, END, (Owner::Return, 1))
    );
    fixture.check(insert(Owner::Monitor, COPIED), &[]);
    assert!(!fixture.engine.may_be_patched(A..END, END, ONE_MONITOR));
    let two = Input::Patch {
        address: A,
        end: END,
        jump_end: END,
        owner: Owner::Monitor,
        count: 2,
        twin: TWIN,
    };
    let (write, remove_patch) = (WritePatch { address: A }, RemovePatch { address: A });
    fixture.check(two, &[write]);
    fixture.check(remove(Owner::Monitor), &[remove_patch]);
    fixture.check(PATCH, &[write]);
    fixture.check(insert(Owner::Monitor, COPIED), &[remove_patch]);
    fixture.check(two, &[write]);
    fixture.check(insert(Owner::Return, COPIED), &[remove_patch]);
}

#[test]
fn another_owner_is_reported_to_a_thread_that_has_been_counted() {
    let mut fixture = patched(&[ONE]);
    fixture.check(insert(Owner::Return, COPIED), &[HoldThread { thread: ONE }]);
    fixture.check(COUNTED, &[]);
    let reported = [RemovePatch { address: A }, report(ONE, Owners::RETURN)];
    fixture.check(stopped(ONE, A), &reported);
    let passed = [set(ONE, COPY), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &passed);
}

/// A patch whose head ends before its jump does: at [`INSIDE`].
const SHORT: Input = Input::Patch {
    address: A,
    end: INSIDE,
    jump_end: END,
    owner: Owner::Monitor,
    count: 1,
    twin: TWIN,
};

#[test]
fn a_thread_behind_a_short_head_is_not_moved() {
    let mut fixture = Fixture::new(COPIED, &[ONE]);
    fixture.check(Input::Halt { thread: ONE }, &[HoldThread { thread: ONE }]);
    fixture.check(stopped(ONE, INSIDE), &[ReportHalted { thread: ONE }]);
    fixture.check(SHORT, &[WritePatch { address: A }]);
    assert!(!fixture.engine.is_inside_patch(INSIDE));
    assert_eq!(fixture.engine.patch_over(INSIDE), Some(A));
    assert_eq!(fixture.engine.patch_over(END), None);
    fixture.check(
        Input::Resume { thread: ONE },
        &[ContinueThread { thread: ONE }],
    );
}

#[test]
fn a_trap_in_a_jump_behind_its_head_removes_it() {
    let mut fixture = Fixture::new(COPIED, &[]);
    let (write, removed) = (WritePatch { address: A }, RemovePatch { address: A });
    fixture.check(inside(Owner::Monitor), &[InsertTrap { address: INSIDE }]);
    fixture.check(SHORT, &[]);
    let gone = Input::Remove {
        address: INSIDE,
        owner: Owner::Monitor,
    };
    fixture.check(gone, &[RemoveTrap { address: INSIDE }]);
    fixture.check(SHORT, &[write]);
    let inserted = [removed, InsertTrap { address: INSIDE }];
    fixture.check(inside(Owner::Developer), &inserted);
}

/// The count is of the stop that comes next.
#[test]
fn a_count_is_forgotten_after_another_input() {
    let mut fixture = patched(&[ONE, TWO]);
    fixture.check(COUNTED, &[]);
    let hold = [HoldThread { thread: ONE }, HoldThread { thread: TWO }];
    fixture.check(Input::Unpatch { address: A }, &hold);
    fixture.check(stopped(ONE, A), &[]);
    let go = [
        RemovePatch { address: A },
        ContinueThread { thread: ONE },
        ContinueThread { thread: TWO },
    ];
    fixture.check(stopped(TWO, B), &go);
}

#[test]
fn a_signal_after_the_twin_was_left_is_not_that_of_the_instruction() {
    let mut fixture = patched(&[ONE]);
    fixture.arrive(ONE);
    let passed = [set(ONE, TWIN), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &passed);
    let (thread, address, stack) = (ONE, A, STACK);
    fixture.check(Input::Interrupted { thread, address }, &[]);
    fixture.check(Input::Resume { thread }, &[ContinueThread { thread }]);
    let faulted = Input::Faulted {
        thread,
        address,
        stack,
    };
    fixture.check(faulted, &[RemovePatch { address }]);
    assert!(!fixture.engine.has_arrival(ONE, A, STACK));
    let go = [set(ONE, A), ContinueThread { thread }];
    fixture.check(Input::Resume { thread }, &go);
    fixture.arrive(ONE);
}

#[test]
fn an_event_of_another_frame_is_not_that_of_the_last_departure() {
    let mut fixture = patched(&[ONE]);
    fixture.arrive(ONE);
    let passed = [set(ONE, TWIN), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &passed);
    let (thread, address, stack) = (ONE, A, STACK - 0x100);
    let counted = Input::Counted {
        thread,
        address,
        stack,
    };
    fixture.check(counted, &[]);
    let faulted = Input::Faulted {
        thread,
        address,
        stack,
    };
    fixture.check(faulted, &[RemovePatch { address }]);
    assert!(fixture.engine.has_arrival(ONE, A, stack));
    assert!(!fixture.engine.has_arrival(ONE, A, STACK));
}

/// A patch is removed during an evaluation of a thread that stood in its twins.
#[test]
fn a_thread_comes_back_from_an_evaluation_to_the_originals() {
    let go_on = ContinueThread { thread: ONE };
    for (address, is_counted, expected) in [
        (A, true, vec![set(ONE, COPY), go_on]),
        (INSIDE, false, vec![set(ONE, INSIDE), go_on]),
        (END, false, vec![go_on]),
        (B, false, vec![go_on]),
    ] {
        let mut fixture = patched(&[ONE]);
        if is_counted {
            fixture.check(COUNTED, &[]);
        }
        let thread = ONE;
        fixture.check(Input::Interrupted { thread, address }, &[]);
        fixture.check(Input::Suspend { thread }, &[]);
        fixture.check(Input::Unpatch { address: A }, &[RemovePatch { address: A }]);
        fixture.check(Input::Restore { thread, depth: 0 }, &[]);
        fixture.check(Input::Resume { thread }, &expected);
    }
}

#[test]
fn a_parked_thread_is_not_moved_when_a_patch_goes() {
    let mut fixture = patched(&[ONE]);
    let parked = Input::Parked {
        thread: ONE,
        address: INSIDE,
    };
    fixture.check(parked, &[]);
    fixture.check(Input::Unpatch { address: A }, &[RemovePatch { address: A }]);
}

#[test]
fn a_thread_that_stands_at_a_site_with_its_report_does_not_return_to_it() {
    // Here, and at another site.
    for address in [A, B] {
        let mut fixture = Fixture::new(COPIED, &[ONE]);
        let insert = Input::Insert {
            address: B,
            owner: Owner::Monitor,
            step_over: COPIED,
        };
        fixture.check(insert, &[InsertTrap { address: B }]);
        let trapped = Input::Trapped {
            thread: ONE,
            address,
            stack: STACK,
        };
        let reported = Report {
            thread: ONE,
            address,
            owners: Owners::MONITOR,
        };
        fixture.check(trapped, &[reported]);
        fixture.check(PATCH, &[WritePatch { address: A }]);
    }
}

#[test]
fn a_patch_may_begin_where_another_ends() {
    let mut fixture = patched(&[]);
    let at_end = Input::Insert {
        address: END,
        owner: Owner::Monitor,
        step_over: COPIED,
    };
    fixture.check(at_end, &[InsertTrap { address: END }]);
    let text = END..END + 8;
    assert!(fixture.engine.has_room_for_patch(text, ONE_MONITOR));
}

#[test]
fn a_thread_that_is_stepped_in_place_is_not_held_for_the_removal_of_a_patch() {
    let mut fixture = patched(&[ONE]);
    let at_b = Input::Insert {
        address: B,
        owner: Owner::Monitor,
        step_over: StepOver::InPlace,
    };
    fixture.check(at_b, &[InsertTrap { address: B }]);
    let trapped = Input::Trapped {
        thread: ONE,
        address: B,
        stack: STACK,
    };
    let reported = Report {
        thread: ONE,
        address: B,
        owners: Owners::MONITOR,
    };
    fixture.check(trapped, &[reported]);
    let step = [
        RemoveTrap { address: B },
        set(ONE, B),
        StepThread { thread: ONE },
    ];
    fixture.check(Input::Resume { thread: ONE }, &step);
    fixture.check(Input::Unpatch { address: A }, &[]);
    let stepped = Input::Stepped {
        thread: ONE,
        address: B + 4,
    };
    let ended = [
        InsertTrap { address: B },
        RemovePatch { address: A },
        ContinueThread { thread: ONE },
    ];
    fixture.check(stepped, &ended);
}

#[test]
fn a_patch_is_lost_with_its_memory() {
    let mut fixture = patched(&[]);
    fixture.check(Input::InsertFailed { address: A }, &[]);
    assert!(!fixture.engine.is_patched(A) && !fixture.engine.is_site(A));
}

#[test]
fn a_patch_goes_when_its_instructions_are_others() {
    let go_on = ContinueThread { thread: ONE };
    for (address, way) in [(A, NEXT), (INSIDE, COPY)] {
        let mut fixture = patched(&[ONE]);
        let rewritten = Input::Rewritten {
            address,
            step_over: SKIP,
        };
        fixture.check(rewritten, &[HoldThread { thread: ONE }]);
        fixture.check(stopped(ONE, B), &[RemovePatch { address: A }, go_on]);
        fixture.arrive(ONE);
        fixture.check(Input::Resume { thread: ONE }, &[set(ONE, way), go_on]);
    }
}

#[test]
fn another_engine_gets_the_way_past_without_a_patch() {
    let mut fixture = patched(&[ONE, TWO]);
    fixture.arrive(ONE);
    let passed = [set(ONE, TWIN), ContinueThread { thread: ONE }];
    fixture.check(Input::Resume { thread: ONE }, &passed);
    let faulted = Input::Faulted {
        thread: ONE,
        address: A,
        stack: STACK,
    };
    fixture.check(faulted, &[HoldThread { thread: TWO }]);
    assert!(fixture.engine.is_patched(A));
    let given: Vec<Input> = fixture.engine.arrivals_further_out(ONE).collect();
    let expected = Input::Inherited {
        thread: ONE,
        address: A,
        stack: STACK,
        notified: Owners::MONITOR,
        step_over: COPIED,
        way_back: crate::WayBack::Trap,
    };
    assert_eq!(given, [expected]);
}
