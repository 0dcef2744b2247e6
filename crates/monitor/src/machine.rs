//! The machine of a formula or an expression, minimal if it is small.
//!
//! The remainder of a formula after some letters is not always in the normal form that
//! further letters would give it, so two states of its machine may be equivalent. If
//! the whole automaton is small, its minimal table replaces the machine: instances that
//! cannot be distinguished are in one state, and more of them are dropped. Otherwise
//! states are created during the run.

use juror_event::Verdict;
use juror_language::Demand;
use juror_logic::{Letter, LogicError, Machine, MachineState, Table};

/// The maximum number of states of a machine that is replaced by a table.
const TABLE_STATES_MAX: usize = 400;

/// A machine that reads letters and gives verdicts.
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

    /// Returns true if no state is created during the run.
    pub(crate) fn is_whole(&self) -> bool {
        self.table.is_some()
    }

    /// Returns the initial state.
    pub(crate) fn initial(&self) -> MachineState {
        match &self.table {
            Some(table) => table.initial(),
            None => self.machine.initial(),
        }
    }

    /// Returns the state after a step.
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

    /// Returns the propositions that any step from this state on depends on; all of
    /// them if there are too many states to search.
    pub(crate) fn propositions_ahead(&mut self, state: MachineState) -> u64 {
        match &self.table {
            Some(table) => table.propositions_ahead(state),
            None => self.machine.propositions_ahead(state),
        }
    }

    /// Describes what a state waits for.
    pub(crate) fn explain(&self, state: MachineState, name: &dyn Fn(u8) -> String) -> String {
        let state = match &self.table {
            Some(table) => table.origin(state),
            None => state,
        };
        self.machine.explain(state).describe(name)
    }
}
