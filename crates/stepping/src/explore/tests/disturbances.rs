//! The disturbances of a program, one kind at a time.

use crate::explore::budget::Budget;

pub(super) const NOTHING: Budget = Budget {
    halts: 0,
    steps: 0,
    faults: 0,
    signals: 0,
    leaps: 0,
    ends: 0,
    toggles: 0,
    inserts: 0,
    evaluations: 0,
    jumps: 0,
    losses: 0,
    execs: 0,
    forks: 0,
    vforks: 0,
    patches: 0,
    inner: 0,
};

pub(super) const HALT: Budget = Budget {
    halts: 1,
    ..NOTHING
};

pub(super) const STEP: Budget = Budget {
    steps: 1,
    ..NOTHING
};

pub(super) const FAULT: Budget = Budget {
    faults: 1,
    ..NOTHING
};

pub(super) const SIGNAL: Budget = Budget {
    signals: 1,
    ..NOTHING
};

/// A leap of a handler, so there has to be a signal or a fault.
pub(super) const LEAP: Budget = Budget {
    leaps: 1,
    ..NOTHING
};

pub(super) const END: Budget = Budget { ends: 1, ..NOTHING };

pub(super) const TOGGLE: Budget = Budget {
    toggles: 1,
    ..NOTHING
};

pub(super) const INSERT: Budget = Budget {
    inserts: 1,
    ..NOTHING
};

pub(super) const EVALUATION: Budget = Budget {
    evaluations: 1,
    ..NOTHING
};

pub(super) const JUMP: Budget = Budget {
    jumps: 1,
    ..NOTHING
};

pub(super) const LOSS: Budget = Budget {
    losses: 1,
    ..NOTHING
};

pub(super) const EXEC: Budget = Budget {
    execs: 1,
    ..NOTHING
};

pub(super) const FORK: Budget = Budget {
    forks: 1,
    ..NOTHING
};

pub(super) const VFORK: Budget = Budget {
    vforks: 1,
    ..NOTHING
};

pub(super) const PATCH: Budget = Budget {
    patches: 1,
    ..NOTHING
};

pub(super) const INNER: Budget = Budget {
    inner: 1,
    ..NOTHING
};

/// All of them but those of a patch. A point that is removed is inserted again, too.
pub(super) fn disturbances() -> [Budget; 13] {
    [
        HALT,
        STEP,
        FAULT,
        SIGNAL,
        END,
        TOGGLE.plus(TOGGLE),
        INSERT,
        EVALUATION,
        JUMP,
        LOSS,
        EXEC,
        FORK,
        VFORK,
    ]
}
