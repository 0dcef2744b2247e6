//! Steps by traps at the follow set.

use super::*;
use crate::FollowSet;

const RESUME: Input = Input::Resume { thread: ONE };
const STEP: Input = Input::Step { thread: ONE };
const FIND: Operation = Operation::FindFollowSet {
    thread: ONE,
    address: A,
};
const RUN: Operation = Operation::RunToFollowSet { thread: ONE };

fn follow(follow: Option<FollowSet>) -> Input {
    Input::FollowSet {
        thread: ONE,
        address: A,
        follow,
    }
}

fn trapped_at(address: u64) -> Input {
    Input::Trapped {
        thread: ONE,
        address,
        stack: STACK,
    }
}

fn fixture(step_over: StepOver, threads: &[ThreadId]) -> Fixture {
    let mut fixture = Fixture {
        engine: Engine::stepping_by(StepBy::FollowSet),
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

#[test]
fn a_pass_in_place() {
    let mut fixture = fixture(StepOver::InPlace, &[ONE, TWO]);
    fixture.arrive(ONE);
    fixture.check(RESUME, &[HoldThread { thread: TWO }]);
    fixture.check(
        Input::Stopped {
            thread: TWO,
            address: B,
        },
        &[FIND],
    );
    assert_eq!(fixture.engine.step_by(), StepBy::FollowSet);
    // No one asked for that of another thread.
    let of_other = Input::FollowSet {
        thread: TWO,
        address: A,
        follow: Some(FollowSet::one(B)),
    };
    fixture.check(of_other, &[]);
    let both = FollowSet::two(NEXT, B);
    let inserted = [InsertTrap { address: NEXT }, InsertTrap { address: B }];
    let mut begin = vec![RemoveTrap { address: A }];
    begin.extend(inserted);
    begin.extend([set(ONE, A), RUN]);
    fixture.check(follow(Some(both)), &begin);
    // It was asked for once.
    fixture.check(follow(Some(both)), &[]);
    assert!(fixture.engine.expects_trap(NEXT) && fixture.engine.expects_trap(B));
    assert!(!fixture.engine.is_site(B));
    fixture.check(
        trapped_at(B),
        &[
            RemoveTrap { address: NEXT },
            RemoveTrap { address: B },
            InsertTrap { address: A },
            set(ONE, B),
            ContinueThread { thread: ONE },
            ContinueThread { thread: TWO },
        ],
    );
}

#[test]
fn a_trap_of_a_site_ends_the_step_and_is_an_arrival() {
    let mut fixture = fixture(StepOver::InPlace, &[ONE]);
    let at_next = |owner| Input::Insert {
        address: NEXT,
        owner,
        step_over: SKIP,
    };
    fixture.arrive(ONE);
    fixture.check(STEP, &[FIND]);
    fixture.check(
        follow(Some(FollowSet::one(NEXT))),
        &[
            RemoveTrap { address: A },
            InsertTrap { address: NEXT },
            set(ONE, A),
            RUN,
        ],
    );
    // The byte is there already; it stays for the remaining owner.
    fixture.check(at_next(Owner::Monitor), &[]);
    fixture.check(at_next(Owner::Developer), &[]);
    fixture.check(
        Input::Remove {
            address: NEXT,
            owner: Owner::Monitor,
        },
        &[],
    );
    let address = NEXT;
    fixture.check(
        trapped_at(NEXT),
        &[
            InsertTrap { address: A },
            ReportStep {
                thread: ONE,
                address,
            },
        ],
    );
    fixture.check(
        STEP,
        &[Report {
            thread: ONE,
            address,
            owners: Owners::DEVELOPER,
        }],
    );
}

#[test]
fn an_instruction_that_may_follow_itself_is_stepped_by_the_trace_flag() {
    for answer in [Some(FollowSet::two(NEXT, A)), None] {
        let mut fixture = fixture(StepOver::InPlace, &[ONE]);
        fixture.arrive(ONE);
        fixture.check(RESUME, &[FIND]);
        fixture.check(follow(answer), &begin_step(ONE));
    }
    let mut fixture = fixture(COPIED, &[ONE]);
    fixture.arrive(ONE);
    fixture.check(STEP, &[FIND]);
    fixture.check(follow(None), &[set(ONE, COPY), StepThread { thread: ONE }]);
}

#[test]
fn a_step_from_where_no_site_is() {
    let mut fixture = fixture(COPIED, &[ONE]);
    let interrupted = |address| Input::Interrupted {
        thread: ONE,
        address,
    };
    fixture.check(interrupted(B), &[]);
    let find = Operation::FindFollowSet {
        thread: ONE,
        address: B,
    };
    fixture.check(STEP, &[find]);
    let answer = Input::FollowSet {
        thread: ONE,
        address: B,
        follow: Some(FollowSet::one(NEXT)),
    };
    // A set for another instruction is too late.
    fixture.check(follow(Some(FollowSet::one(NEXT))), &[]);
    fixture.check(answer, &[InsertTrap { address: NEXT }, RUN]);
    // A signal ends the step.
    fixture.check(interrupted(B), &[RemoveTrap { address: NEXT }]);
    fixture.check(RESUME, &[ContinueThread { thread: ONE }]);
}

/// A handler that arrives elsewhere returns to the instruction, which has not run.
#[test]
fn a_trap_that_does_not_end_the_step_keeps_the_arrival() {
    const OTHER: u64 = 0x3000;
    let mut fixture = fixture(StepOver::InPlace, &[ONE]);
    let insert_other = Input::Insert {
        address: OTHER,
        owner: Owner::Monitor,
        step_over: SKIP,
    };
    fixture.check(insert_other, &[InsertTrap { address: OTHER }]);
    fixture.arrive(ONE);
    fixture.check(RESUME, &[FIND]);
    let begin = [
        RemoveTrap { address: A },
        InsertTrap { address: NEXT },
        set(ONE, A),
        RUN,
    ];
    fixture.check(follow(Some(FollowSet::one(NEXT))), &begin);
    let in_handler = Input::Trapped {
        thread: ONE,
        address: OTHER,
        stack: STACK - 0x400,
    };
    let arrived = Report {
        thread: ONE,
        address: OTHER,
        owners: Owners::MONITOR,
    };
    let ended = [
        RemoveTrap { address: NEXT },
        InsertTrap { address: A },
        arrived,
    ];
    fixture.check(in_handler, &ended);
    let go_on = [set(ONE, NEXT), ContinueThread { thread: ONE }];
    fixture.check(RESUME, &go_on);
    fixture.check(trapped(ONE), &[FIND]);
}
