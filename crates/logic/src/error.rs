//! Errors of creating and running a machine.

/// The reason that a machine cannot be created or cannot continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LogicError {
    /// The formula has time bounds, which a [`Machine`](crate::Machine) does not support.
    #[error("the formula has time bounds, which need a timed machine")]
    Timed,
    /// A past operator of a formula with time bounds contains a future operator.
    #[error(
        "a past operator contains a future operator, in a formula with time bounds; move the \
         future operator out of the past operator, or bound it in steps"
    )]
    PastOfFuture,
    /// The automaton has more states than allowed.
    #[error(
        "the automaton has more than {limit} states; use smaller bounds and repetition counts, \
         or write several smaller properties"
    )]
    TooManyStates {
        /// The limit.
        limit: usize,
    },
    /// One step has too many alternatives.
    #[error(
        "one step of the formula has more than {limit} alternatives; write several smaller \
         properties"
    )]
    TooManyWays {
        /// The limit.
        limit: usize,
    },
    /// Computing the possible continuations takes too much work.
    #[error(
        "the formula or expression is too complex: a step takes more than {limit} units of work; \
         use smaller counts under `not`, `and` and other counts, bring the two ends of bounds \
         closer together, or write several smaller properties"
    )]
    TooMuchWork {
        /// The limit in units of work.
        limit: u64,
    },
    /// The formula or expression has too many parts.
    #[error("the formula or expression has more than {limit} parts")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The formula or expression is nested too deeply.
    #[error("the formula or expression is nested more than {limit} levels deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The formula has too many past operators.
    #[error("the formula has more than {limit} different past operators")]
    TooManyPastOperators {
        /// The limit.
        limit: usize,
    },
    /// The formula has too many unbounded `until`.
    #[error("the formula has more than {limit} different unbounded `until` and `eventually`")]
    TooManyUntils {
        /// The limit.
        limit: usize,
    },
    /// The proposition is beyond the last bit of a letter.
    #[error("proposition {proposition} does not exist; propositions have the numbers 0 to 63")]
    NoSuchProposition {
        /// Number of the proposition.
        proposition: u8,
    },
    /// The state belongs to another machine.
    #[error("state {state} does not belong to this machine")]
    NoSuchState {
        /// Number of the state.
        state: u32,
    },
}
