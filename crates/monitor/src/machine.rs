//! The machine of a formula or an expression, as small as can be.
//!
//! What the machine of a formula has not read yet is not always brought into
//! the form that it gets by reading, so two of its states may mean the same.
//! Where the whole automaton is small, its minimal table takes the machine's
//! place: instances that cannot be told apart are in one state, and more of
//! them are dropped. Otherwise states are made while the run goes on.

use juror_event::Verdict;
use juror_language::Demand;
use juror_logic::{Letter, LogicError, Machine, MachineState, Table};

/// A machine with more states than this gets no table.
const TABLE_STATES_MAX: usize = 400;

/// Letters in, verdicts out.
#[derive(Debug, Clone)]
pub(crate) struct LetterMachine {
    machine: Machine,
    table: Option<Table>,
}

impl LetterMachine {
    pub(crate) fn new(demand: &Demand) -> Result<LetterMachine, LogicError> {
        let machine = match demand {
            Demand::Formula(formula) => Machine::of_formula(formula)?,
            Demand::Expression {
                expression,
                meaning,
            } => Machine::of_expression(expression, *meaning)?,
        };
        let mut explored = machine.clone();
        Ok(match explored.to_table(TABLE_STATES_MAX) {
            Ok(table) => LetterMachine {
                machine: explored,
                table: Some(table),
            },
            Err(_) => LetterMachine {
                machine,
                table: None,
            },
        })
    }

    /// True when no state is found out while the run goes on.
    pub(crate) fn is_whole(&self) -> bool {
        self.table.is_some()
    }

    /// Where it starts.
    pub(crate) fn initial(&self) -> MachineState {
        match &self.table {
            Some(table) => table.initial(),
            None => self.machine.initial(),
        }
    }

    /// The state after a step.
    pub(crate) fn step(
        &mut self,
        state: MachineState,
        letter: Letter,
    ) -> Result<MachineState, LogicError> {
        match &self.table {
            Some(table) => Ok(table.step(state, letter)),
            None => self.machine.step(state, letter),
        }
    }

    pub(crate) fn verdict(&self, state: MachineState) -> Verdict {
        match &self.table {
            Some(table) => table.verdict(state),
            None => self.machine.verdict(state),
        }
    }

    /// The propositions that any step from this state on asks about; all of
    /// them when there is too much to look through.
    pub(crate) fn propositions_ahead(&mut self, state: MachineState) -> u64 {
        match &self.table {
            Some(table) => table.propositions_ahead(state),
            None => self.machine.propositions_ahead(state),
        }
    }

    /// What a state waits for, in words.
    pub(crate) fn explain(&self, state: MachineState, name: &dyn Fn(u8) -> String) -> String {
        let state = match &self.table {
            Some(table) => table.origin(state),
            None => state,
        };
        self.machine.explain(state).describe(name)
    }
}
