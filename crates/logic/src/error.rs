//! Why no machine is made of a formula or an expression, or why it cannot go
//! on.

/// What keeps a machine from being made or from going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LogicError {
    /// The formula measures time, which a [`Machine`](crate::Machine) does not
    /// know.
    #[error(
        "the formula has bounds in time; it needs a machine that is told the time of each step"
    )]
    Timed,
    /// A past operator of a formula with bounds in time looks at a future one.
    #[error(
        "a past operator is about a future one, in a formula with bounds in time; write the \
         future operator outside of the past one, or bound it in steps"
    )]
    PastOfFuture,
    /// The automaton has more states than allowed.
    #[error(
        "the automaton has more than {limit} states; lower the numbers of its bounds and \
         repetitions, or write several smaller properties"
    )]
    TooManyStates {
        /// How many are allowed.
        limit: usize,
    },
    /// One step can happen in too many ways.
    #[error(
        "one step of the formula can happen in more than {limit} ways; write several smaller \
         properties"
    )]
    TooManyWays {
        /// How many are allowed.
        limit: usize,
    },
    /// It takes too long to find out what may follow.
    #[error(
        "the formula or expression is too intricate: what may follow a step is not known after \
         {limit} units of work; count less under `not`, `and` and other counts, bring the two \
         ends of bounds closer together, or write several smaller properties"
    )]
    TooMuchWork {
        /// How many are allowed.
        limit: u64,
    },
    /// It is written too large.
    #[error("the formula or expression has more than {limit} parts")]
    TooLarge {
        /// How many are allowed.
        limit: usize,
    },
    /// It is nested too deeply.
    #[error("the formula or expression is nested more than {limit} levels deep")]
    TooDeep {
        /// How many are allowed.
        limit: usize,
    },
    /// It has too many past operators.
    #[error("the formula has more than {limit} different operators about the past")]
    TooManyPastOperators {
        /// How many are allowed.
        limit: usize,
    },
    /// It has too many unbounded `until`.
    #[error("the formula has more than {limit} different `until` and `eventually` without a bound")]
    TooManyUntils {
        /// How many are allowed.
        limit: usize,
    },
    /// A proposition beyond the last bit of a letter.
    #[error("proposition {proposition} does not exist; there are 64, from 0 to 63")]
    NoSuchProposition {
        /// Its number.
        proposition: u8,
    },
    /// The state belongs to another machine.
    #[error("state {state} is not one of this machine")]
    NoSuchState {
        /// Its number.
        state: u32,
    },
}
