//! Nothing wrong: undisturbed, and with one kind of disturbance at a time.

use super::{NOTHING, check, check_all, check_followed, check_steps, is_asked_for, programs};
use crate::explore::budget::Budget;
use crate::explore::program::Program;

#[test]
fn undisturbed() {
    check(NOTHING);
}

#[test]
fn halts() {
    check(Budget {
        halts: 1,
        ..NOTHING
    });
}

#[test]
fn steps() {
    check_steps(Budget {
        steps: 2,
        ..NOTHING
    });
}

#[test]
fn faults() {
    check(Budget {
        faults: 2,
        ..NOTHING
    });
}

#[test]
fn signals() {
    check(Budget {
        signals: 1,
        ..NOTHING
    });
}

#[test]
fn ends() {
    check(Budget { ends: 1, ..NOTHING });
}

#[test]
fn starts() {
    check_all(programs().map(|program| Program {
        threads: 1,
        later: 1,
        ..program
    }));
}

#[test]
fn toggles() {
    check(Budget {
        toggles: 2,
        ..NOTHING
    });
}

#[test]
fn inserts() {
    check(Budget {
        inserts: 2,
        ..NOTHING
    });
}

#[test]
fn jumps() {
    check(Budget {
        jumps: 1,
        ..NOTHING
    });
}

#[test]
fn losses() {
    check(Budget {
        losses: 1,
        ..NOTHING
    });
}

#[test]
fn execs() {
    check(Budget {
        execs: 1,
        ..NOTHING
    });
}

#[test]
fn forks() {
    check(Budget {
        forks: 1,
        ..NOTHING
    });
}

#[test]
fn followed_forks() {
    check_followed(Budget {
        forks: 1,
        ..NOTHING
    });
}

/// The second one is made by the copy that the first one made, or by the process
/// that is being left.
#[test]
fn two_followed_forks() {
    check_all(programs().map(|program| Program {
        threads: 1,
        follows: true,
        budget: Budget {
            forks: 2,
            ..NOTHING
        },
        ..program
    }));
}

#[test]
fn vforks() {
    check(Budget {
        vforks: 1,
        ..NOTHING
    });
}

#[test]
fn followed_vforks() {
    check_followed(Budget {
        vforks: 1,
        ..NOTHING
    });
}

#[test]
fn evaluations() {
    check(Budget {
        evaluations: 1,
        ..NOTHING
    });
}

#[test]
fn nested_evaluations() {
    check_all(programs().map(|program| Program {
        threads: 1,
        budget: Budget {
            evaluations: 2,
            ..NOTHING
        },
        ..program
    }));
}

/// Three threads: a minute, so only when `JUROR_EXPLORE` is `threads` or `all`.
#[test]
fn three_threads() {
    if is_asked_for(&["threads", "all"]) {
        let explored = check_all(programs().map(|program| Program {
            threads: 3,
            ..program
        }));
        println!("three threads: {explored:?}");
    }
}

/// A third thread that starts: only when `JUROR_EXPLORE` is `all`.
#[test]
fn all_with_a_late_third_thread() {
    if is_asked_for(&["all"]) {
        check_all(programs().map(|program| Program {
            threads: 2,
            later: 1,
            ..program
        }));
    }
}
