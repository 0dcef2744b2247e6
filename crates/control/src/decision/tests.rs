//! The decisions as a table, and what must hold for all of them.

use super::*;

#[track_caller]
fn check(said: &[(Owner, &'static str)], expected: &str) {
    let mut moment = Moment::default();
    for &(owner, reason) in said {
        moment.stop(owner, reason);
    }
    moment.reach("goal");
    assert_eq!(moment.has_stop(), !said.is_empty());
    assert_eq!(
        moment.meaning(),
        match said {
            [] => Meaning::Goal(expected),
            _ => Meaning::Stop(expected),
        }
    );
}

#[test]
fn the_weightiest_reason_is_shown_and_of_equal_ones_the_first() {
    use Owner::{Developer, Monitor, Scenario};
    check(&[], "goal");
    check(&[(Developer, "yours")], "yours");
    check(&[(Developer, "yours"), (Monitor, "verdict")], "verdict");
    check(&[(Monitor, "verdict"), (Developer, "yours")], "verdict");
    check(&[(Scenario, "its"), (Developer, "yours")], "yours");
    check(&[(Developer, "first"), (Developer, "second")], "first");
}

#[test]
fn a_goal_outweighs_a_notification() {
    let mut moment = Moment::<&str>::default();
    assert_eq!(moment.clone().meaning(), Meaning::Nothing);
    moment.notify_scenarios();
    assert_eq!(moment.clone().meaning(), Meaning::ScenariosOnly);
    moment.reach("goal");
    assert_eq!(moment.meaning(), Meaning::Goal("goal"));
}

const NOTIFICATIONS: [Notification; 5] = [
    Notification::Stop {
        may_be_passed: true,
    },
    Notification::Stop {
        may_be_passed: false,
    },
    Notification::Goal,
    Notification::ScenariosOnly,
    Notification::End,
];

fn all() -> impl Iterator<Item = (Notification, Wishes)> {
    let wishes = (0..32).map(|bits| Wishes {
        has_failed: bits & 1 != 0,
        stops: bits & 2 != 0,
        continues: bits & 4 != 0,
        moves: bits & 8 != 0,
        is_restored: bits & 16 != 0,
    });
    wishes.flat_map(|wishes| NOTIFICATIONS.map(|notification| (notification, wishes)))
}

fn is_seen(next: Next) -> bool {
    matches!(next, Next::ShowError | Next::Show | Next::ShowScenario)
}

#[test]
fn nothing_that_must_be_seen_is_lost() {
    for (notification, wishes) in all() {
        let next = next(notification, wishes);
        let words = format!("{notification:?} {wishes:?}: {next:?}");
        // An error is always shown, and so is a scenario that stops the program.
        assert!(!wishes.has_failed || next == Next::ShowError, "{words}");
        if wishes.stops {
            assert!(is_seen(next), "{words}");
        }
        let must = Notification::Stop {
            may_be_passed: false,
        };
        if notification == must && !wishes.is_restored {
            assert!(is_seen(next), "{words}");
        }
        // A stop that no reaction passes is shown, then or before.
        if matches!(notification, Notification::Stop { .. })
            && !wishes.is_restored
            && !wishes.continues
        {
            assert!(
                is_seen(next) || next == Next::Move { shows: true },
                "{words}"
            );
        }
        // The user is never shown something that a restoration has undone.
        let is_shown = matches!(next, Next::Show | Next::Move { shows: true });
        assert!(!(wishes.is_restored && is_shown), "{words}");
    }
}

#[test]
fn without_wishes_a_run_is_as_without_scenarios() {
    for notification in NOTIFICATIONS {
        let expected = match notification {
            Notification::ScenariosOnly => Next::GoOn,
            _ => Next::Show,
        };
        assert_eq!(
            next(notification, Wishes::default()),
            expected,
            "{notification:?}"
        );
    }
}

#[test]
fn a_wish_to_run_on_changes_only_what_may_be_passed() {
    let continues = Wishes {
        continues: true,
        ..Wishes::default()
    };
    let moves = Wishes {
        moves: true,
        ..Wishes::default()
    };
    let table = [
        (NOTIFICATIONS[0], Next::GoOn, Next::Move { shows: true }),
        (NOTIFICATIONS[1], Next::Show, Next::Show),
        (Notification::Goal, Next::Show, Next::Move { shows: false }),
        (
            Notification::ScenariosOnly,
            Next::GoOn,
            Next::Move { shows: false },
        ),
        (Notification::End, Next::Show, Next::Move { shows: true }),
    ];
    for (notification, if_continues, if_moves) in table {
        assert_eq!(
            next(notification, continues),
            if_continues,
            "{notification:?}"
        );
        assert_eq!(next(notification, moves), if_moves, "{notification:?}");
    }
}

#[test]
fn a_step_that_has_not_been_made_is_made_again() {
    assert_eq!(go_on(1, Some(1)), GoOn::StepAgain);
    assert_eq!(go_on(1, Some(2)), GoOn::Run);
    assert_eq!(go_on(1, None), GoOn::Run);
}
