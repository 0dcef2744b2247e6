//! Feeding the engine.

use std::mem;

use juror_stepping::Input;

use super::Exchange;
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

impl Debuggee {
    /// Passes an input to the engine and carries out the operations that it
    /// orders, until both queues are empty.
    pub(crate) fn feed(&mut self, input: Input) -> Result<(), DebuggeeError> {
        self.driver.inputs.push_back(input);
        let Some(mut after) = self.driver.begin() else {
            return Ok(());
        };
        let mut operations = mem::take(&mut self.driver.operations);
        let mut result = Ok(());
        while let Some(input) = self.driver.inputs.pop_front() {
            operations.clear();
            self.driver.engine.handle(input, &mut operations);
            if let Some(engine_check) = &mut self.driver.self_check {
                engine_check.take(&input, &operations);
            }
            let carried = self.carry_out(&operations);
            // A thread that is gone is no failure.
            if carried.as_ref().is_err_and(|error| !error.is_end()) {
                after = Exchange::Failed;
            }
            result = result.and(carried);
        }
        self.driver.operations = operations;
        self.driver.exchange = after;
        result
    }
}
