//! The operations of the engine pass; others are found.

use super::*;
use crate::engine::Rule;
use crate::explore::walk;
use crate::{Owner, Owners, StepOver, ThreadId};

const A: u64 = 0x1000;
const ONE: ThreadId = ThreadId(1);
const TWO: ThreadId = ThreadId(2);

/// Returns the log of an engine with these inputs.
fn log(inputs: &[Input]) -> Vec<String> {
    let mut engine = Engine::new();
    let mut lines = vec![begin_line(1, StepBy::TraceFlag)];
    for input in inputs {
        let mut operations = Vec::new();
        engine.handle(*input, &mut operations);
        lines.push(input_line(1, input, &operations));
    }
    lines
}

/// Two threads; the first is stepped over a site in place.
fn pass_in_place() -> Vec<String> {
    let mut inputs: Vec<Input> = [ONE, TWO]
        .into_iter()
        .flat_map(|thread| [Input::Started { thread }, Input::Resume { thread }])
        .collect();
    inputs.extend([
        Input::Insert {
            address: A,
            owner: Owner::Monitor,
            step_over: StepOver::InPlace,
        },
        Input::Trapped {
            thread: ONE,
            address: A,
            stack: 0,
        },
        Input::Resume { thread: ONE },
        Input::Stopped {
            thread: TWO,
            address: 0,
        },
        Input::Stepped {
            thread: ONE,
            address: A + 1,
        },
    ]);
    log(&inputs)
}

fn check(lines: &[String]) -> Result<u64, LogError> {
    check_log(lines.iter().map(String::as_str))
}

#[test]
fn a_log_is_a_path() {
    assert_eq!(check(&pass_in_place()), Ok(9));
    assert_eq!(check(&[]), Ok(0));
}

#[test]
fn damage_is_found_where_it_is() {
    #[track_caller]
    fn damaged(line: usize, change: impl FnOnce(&mut Vec<String>), reason: &str) {
        let mut lines = pass_in_place();
        change(&mut lines);
        let error = check(&lines).unwrap_err();
        assert!(error.reason.contains(reason), "{error}");
        assert_eq!(error.line, line, "{error}");
    }
    let without = |line: usize, part: &'static str| {
        move |lines: &mut Vec<String>| {
            assert!(lines[line - 1].contains(part), "{}", lines[line - 1]);
            lines[line - 1] = lines[line - 1].replace(part, "");
        }
    };
    let insert_trap = r#"{"plant":{"address":4096}},"#;
    damaged(10, without(10, insert_trap), "another thread may run");
    damaged(7, |lines| drop(lines.remove(6)), "the engine orders");
    damaged(9, |lines| drop(lines.remove(8)), "a second trap");
    damaged(
        8,
        |lines| lines.insert(7, lines[6].clone()),
        "the engine orders",
    );
    let report = r#"{"report":{"thread":1,"address":4096,"owners":"MONITOR"}}"#;
    let twice = |lines: &mut Vec<String>| {
        lines[6] = lines[6].replace(report, &format!("{report},{report}"));
    };
    damaged(7, twice, "reported twice to Owners(MONITOR)");
    damaged(4, |lines| lines[3].truncate(20), "EOF");
    damaged(1, |lines| drop(lines.remove(0)), "has not begun");
    damaged(2, |lines| lines.insert(1, lines[0].clone()), "begins twice");
}

/// The referee knows each of these rules by itself, without a second engine.
#[test]
fn the_referee_finds_each_damage() {
    let report = |address: u64, owners: Owners| Operation::Report {
        thread: ONE,
        address,
        owners,
    };
    let started = Input::Started { thread: ONE };
    let resumed = Input::Resume { thread: ONE };
    let insert = |owner: Owner| Input::Insert {
        address: A,
        owner,
        step_over: StepOver::InPlace,
    };
    let trapped = Input::Trapped {
        thread: ONE,
        address: A,
        stack: 0,
    };
    let trap = [Operation::InsertTrap { address: A }];
    let go = [Operation::ContinueThread { thread: ONE }];
    let arrived = |owner: Owner, reports: &[Operation]| {
        let mut referee = Referee::default();
        referee.follow(&started, &[])?;
        referee.follow(&resumed, &go)?;
        referee.follow(&insert(owner), &trap)?;
        referee.follow(&trapped, reports)
    };
    let monitor = report(A, Owners::MONITOR);
    let check = |found: Result<(), String>, expected: &str| match found {
        Ok(()) => assert_eq!("", expected),
        Err(found) => {
            assert!(!expected.is_empty() && found.contains(expected), "{found}");
        }
    };
    check(arrived(Owner::Monitor, &[monitor]), "");
    check(arrived(Owner::Monitor, &[]), "");
    let elsewhere = report(A + 1, Owners::MONITOR);
    check(arrived(Owner::Monitor, &[elsewhere]), "stands elsewhere");
    check(
        arrived(Owner::Developer, &[monitor]),
        "which have no point there",
    );
    let both = report(A, Owners::MONITOR | Owners::DEVELOPER);
    check(
        arrived(Owner::Monitor, &[both]),
        "which have no point there",
    );
    check(
        arrived(Owner::Monitor, &[monitor, monitor]),
        "is reported twice to",
    );
    check(
        arrived(Owner::Monitor, &[go[0], monitor]),
        "is reported while it is not stopped",
    );
    check(
        arrived(Owner::Monitor, &[go[0], go[0]]),
        "is resumed while it is not stopped",
    );
    check(arrived(Owner::Monitor, &trap), "a second trap");
    let hold = [Operation::HoldThread { thread: ONE }];
    check(arrived(Owner::Monitor, &hold), "is held, and does not run");
    let step = Operation::ReportStep {
        thread: ONE,
        address: A,
    };
    check(arrived(Owner::Monitor, &[go[0], step]), "is reported while");
    let remove = Operation::RemoveTrap { address: A };
    check(arrived(Owner::Monitor, &[remove, remove]), "where none is");
    check(
        arrived(Owner::Monitor, &[go[0], remove]),
        "while a thread may run into it",
    );
}

/// Returns what the referee says of the first step that breaks a rule.
fn judged(steps: &[(Input, &[Operation])]) -> String {
    let mut referee = Referee::default();
    let mut steps = steps.iter();
    let broken = steps.find_map(|(input, operations)| referee.follow(input, operations).err());
    broken.unwrap_or_default()
}

#[test]
fn the_referee_knows_where_threads_and_patches_are() {
    let (thread, address) = (ONE, A);
    let insert = |address| Input::Insert {
        address,
        owner: Owner::Monitor,
        step_over: StepOver::InPlace,
    };
    let trap = |address| [Operation::InsertTrap { address }];
    let (here, end) = (trap(A), trap(A + 8));
    let remove = [Operation::RemoveTrap { address }];
    let attached = Input::Attached { thread };
    let found = judged(&[(attached, &[]), (insert(A), &here), (insert(A), &remove)]);
    assert!(found.contains("while a thread may run into it"), "{found}");

    // A thread that is held before it has moved has been notified already.
    let report = [Operation::Report {
        thread,
        address,
        owners: Owners::MONITOR,
    }];
    let trapped = Input::Trapped {
        thread,
        address,
        stack: 0,
    };
    let go = [Operation::ContinueThread { thread }];
    let resumed = Input::Resume { thread };
    let arrived = [
        (insert(A), &here[..]),
        (Input::Started { thread }, &[]),
        (trapped, &report),
        (resumed, &go),
    ];
    for (address, expected) in [(A, "is reported twice"), (A + 1, "stands elsewhere")] {
        let stopped = [(Input::Stopped { thread, address }, &report[..])];
        let found = judged(&[&arrived[..], &stopped].concat());
        assert!(found.contains(expected), "{found}");
    }

    let asked = Input::Patch {
        address,
        end: A + 8,
        jump_end: A + 5,
        owner: Owner::Monitor,
        count: 1,
        twin: 0,
    };
    let write = [Operation::WritePatch { address }];
    let inside = trap(A + 2);
    for (steps, expected) in [
        (&[(insert(A), &here[..]), (asked, &write)][..], ""),
        (&[(insert(A), &[]), (asked, &write)], "replaces no trap"),
        (
            &[(insert(A), &here), (asked, &write), (asked, &write)],
            "replaces no trap",
        ),
        (
            &[(insert(A), &here), (asked, &write), (insert(A + 8), &end)],
            "",
        ),
        (
            &[
                (insert(A), &here),
                (asked, &write),
                (insert(A + 2), &inside),
            ],
            "in a patch",
        ),
        (
            &[
                (insert(A), &here),
                (insert(A + 2), &inside),
                (asked, &write),
            ],
            "written over the site",
        ),
    ] {
        let found = judged(steps);
        let is_expected = match expected {
            "" => found.is_empty(),
            _ => found.contains(expected),
        };
        assert!(is_expected, "{found}, not: {expected}");
    }
}

/// The referee accepts what the explored machine does, in walks of all kinds.
#[test]
fn random_walks_pass() {
    let mut inputs = 0;
    for walk in walk::all(8) {
        let mut checker = Checker::new(walk.step_by);
        for (input, operations) in &walk.steps {
            if let Err(violation) = checker.follow(input, operations) {
                panic!("{:?}\n{violation}", walk.program);
            }
        }
        inputs += checker.inputs();
    }
    assert!(inputs > 10_000, "{inputs}");
}

/// The referee finds a dropped rule without an engine.
#[test]
fn the_referee_finds_a_wrong_algorithm() {
    for rule in [
        Rule::HoldBeforeRemoval,
        Rule::InsertBeforeRelease,
        Rule::HoldOthers,
        Rule::CountTraps,
        Rule::HoldForRemoval,
        Rule::UnpatchForSite,
        Rule::RestorePatchInFork,
    ] {
        let found = walk::without(rule, 20).any(|walk| {
            let mut referee = Referee::default();
            let mut steps = walk.steps.iter();
            steps.any(|(input, operations)| referee.follow(input, operations).is_err())
        });
        assert!(found, "{rule:?}");
    }
}
