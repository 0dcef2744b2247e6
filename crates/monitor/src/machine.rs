//! What a monitor asks of the machine of a formula or an expression.

use crate::error::MonitorError;
use juror_event::Verdict;
use juror_language::{Demand, Property};
use juror_logic::Letter;
use std::fmt::Debug;

/// A Moore machine over letters, built as far as it is asked: equal states are
/// equal numbers.
pub(crate) trait LetterMachine: Debug + Send + Sync {
    /// The state before any letter.
    fn initial(&self) -> u32;

    /// The state after a letter.
    ///
    /// # Errors
    /// When it has more states than are kept; says so.
    fn step(&mut self, state: u32, letter: Letter) -> Result<u32, String>;

    /// The verdict in a state.
    fn verdict(&self, state: u32) -> Verdict;

    /// What a state still waits for, with these names of the propositions.
    fn waits_for(&self, state: u32, name: &dyn Fn(u8) -> String) -> String;

    /// A copy.
    fn boxed(&self) -> Box<dyn LetterMachine>;
}

impl Clone for Box<dyn LetterMachine> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// The machine of what a property demands.
///
/// # Errors
/// When there is none.
pub(crate) fn of_demand(
    demand: &Demand,
    property: &Property,
) -> Result<Box<dyn LetterMachine>, MonitorError> {
    let what = match demand {
        Demand::Formula(_) => "formulas",
        Demand::Expression { .. } => "expressions",
    };
    Err(MonitorError {
        span: property.span.clone(),
        message: format!("{what} cannot be evaluated"),
    })
}
