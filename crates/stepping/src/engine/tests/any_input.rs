//! Inputs that no shell would pass, in any order.

use super::*;
use crate::{FollowSet, StackPart, WayBack};
use proptest::prelude::*;

const ASIDE: WayBack = WayBack::Handler {
    alternate: StackPart {
        start: STACK,
        length: u64::MAX,
    },
};

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
    let step_over = prop::sample::select(vec![SKIP, CALL, COPIED, StepOver::InPlace]);
    (0..36, thread, address, stack, owner, step_over).prop_map(
        |(kind, thread, address, stack, owner, step_over)| match kind {
            0 => Input::Insert {
                address,
                owner,
                step_over,
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
            13 => Input::Suspend { thread },
            14 => Input::Restore {
                thread,
                depth: (stack % 3) as usize,
            },
            15 => Input::Discard {
                thread,
                depth: (stack % 3) as usize,
            },
            16 => Input::FollowSet {
                thread,
                address,
                follow: (stack != 0).then(|| FollowSet::two(A, stack)),
            },
            17 => Input::Signalled { thread, address },
            18 => Input::Attached { thread },
            19 => Input::InsertFailed { address },
            20 => Input::Parked { thread, address },
            21 => Input::Unparked { thread },
            22 => Input::ForkStopped { process: thread },
            23 => Input::ForkFollowed { thread },
            24 => Input::StartedInPlace {
                thread,
                parent: ThreadId(1),
            },
            25 => Input::ForkMade {
                process: thread,
                parent: ThreadId(1),
            },
            26 => Input::Inherited {
                thread,
                address,
                stack,
                notified: owner.into(),
                step_over,
                way_back: match stack {
                    STACK => WayBack::OutOfLine,
                    0 => WayBack::Trap,
                    _ => ASIDE,
                },
            },
            27 => Input::Rewritten { address, step_over },
            28 => Input::HandlerEntered {
                thread,
                address,
                stack,
                alternate: StackPart {
                    start: stack,
                    length: address,
                },
            },
            29 => Input::HandlerReturned {
                thread,
                address,
                stack,
            },
            30 => Input::Called { thread, stack },
            31 => Input::Patch {
                address,
                end: address.saturating_add(if stack == 0 { 2 } else { 5 }),
                jump_end: address.saturating_add(5),
                owner,
                count: 1,
                twin: TWIN,
            },
            32 => Input::Unpatch { address },
            33 => Input::Stray { thread, address },
            34 => Input::Counted {
                thread,
                address,
                stack,
            },
            _ => Input::Executed { thread },
        },
    )
}

proptest! {
    /// For any inputs in any order, traps are inserted and removed in turn, and
    /// only a stopped thread is moved.
    #[test]
    fn no_input_is_too_strange(
        step_by in prop::sample::select(vec![StepBy::TraceFlag, StepBy::FollowSet]),
        inputs in prop::collection::vec(any_input(), 0..200),
    ) {
        let mut engine = Engine::stepping_by(step_by);
        let mut inserted = std::collections::BTreeSet::new();
        let mut operations = Vec::new();
        let mut patched = std::collections::BTreeSet::new();
        for input in inputs {
            engine.handle(input, &mut operations);
            match input {
                Input::Executed { .. } => {
                    inserted.clear();
                    patched.clear();
                }
                Input::ForkFollowed { .. } => {
                    patched.clear();
                    inserted = engine.sites().map(|(address, ..)| address).collect();
                }
                Input::InsertFailed { address } if !engine.expects_trap(address) => {
                    inserted.remove(&address);
                    patched.remove(&address);
                }
                _ => {}
            }
            for operation in operations.drain(..) {
                match operation {
                    InsertTrap { address } => prop_assert!(inserted.insert(address)),
                    RemoveTrap { address } => {
                        prop_assert!(!patched.contains(&address));
                        prop_assert!(inserted.remove(&address))
                    }
                    WritePatch { address } => {
                        prop_assert!(inserted.contains(&address));
                        prop_assert!(patched.insert(address))
                    }
                    RemovePatch { address } => prop_assert!(patched.remove(&address)),
                    _ => {}
                }
            }
            prop_assert!(inserted.iter().all(|address| engine.expects_trap(*address)));
            prop_assert!(patched.iter().all(|address| engine.is_patched(*address)));
            let has_its_trap = |address| {
                inserted.contains(&address)
                    || engine.is_removed_for_step(address)
                    || engine.patch_over(address).is_some_and(|start| start != address)
            };
            prop_assert!(engine.sites().all(|(address, ..)| has_its_trap(address)));
        }
    }
}
