//! A recorded run as a debuggee.
//!
//! **Invariant:** it takes the states of the recording and no others, so operations
//! that would change the program are refused.

use crate::{Access, Debuggee, Executed, Fault};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The state of the program between two instructions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Moment {
    program_counter: u64,
    accesses: Vec<Access>,
    /// Values by address.
    values: BTreeMap<u64, i64>,
    arguments: [i64; 2],
    result: i64,
}

/// Addresses of symbols.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Symbols {
    addresses: BTreeMap<String, u64>,
    returns: BTreeMap<String, Vec<u64>>,
}

/// A recorded run, at one of its states.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Recorded {
    moments: Arc<Vec<Moment>>,
    symbols: Arc<Symbols>,
    /// True if the last state is the end of the program.
    is_whole: bool,
    position: usize,
    planted: BTreeSet<u64>,
}

impl Recorded {
    /// Runs a program to its end, or for at most a number of instructions, and records
    /// its states and the addresses of these functions and variables.
    ///
    /// # Errors
    /// If the program cannot be read, or lacks one of these names.
    pub fn record<D: Debuggee>(
        debuggee: &mut D,
        functions: &[&str],
        variables: &[&str],
        instructions_max: usize,
    ) -> Result<Recorded, Fault> {
        let mut symbols = Symbols::default();
        let missing = |name: &str| Fault::NoSymbol(name.to_owned());
        for &name in functions.iter().chain(variables) {
            let address = debuggee.address_of(name).ok_or_else(|| missing(name))?;
            symbols.addresses.insert(name.to_owned(), address);
        }
        for &name in functions {
            let returns = debuggee.returns_of(name);
            symbols.returns.insert(name.to_owned(), returns);
        }
        let places: Vec<u64> = variables
            .iter()
            .filter_map(|&name| symbols.addresses.get(name).copied())
            .collect();
        let mut moments = vec![moment(debuggee, &places)?];
        let mut is_whole = false;
        while moments.len() <= instructions_max && !is_whole {
            match debuggee.execute()? {
                Executed::End => is_whole = true,
                _ => moments.push(moment(debuggee, &places)?),
            }
        }
        Ok(Recorded {
            moments: Arc::new(moments),
            symbols: Arc::new(symbols),
            is_whole,
            position: 0,
            planted: BTreeSet::new(),
        })
    }

    fn now(&self) -> Result<&Moment, Fault> {
        let moment = self.moments.get(self.position);
        moment.ok_or(Fault::NoInstruction(self.position as u64))
    }

    /// Returns true if the recording includes the end of the program.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

fn moment<D: Debuggee>(debuggee: &D, places: &[u64]) -> Result<Moment, Fault> {
    let mut values = BTreeMap::new();
    for &place in places {
        values.insert(place, debuggee.read(place)?);
    }
    Ok(Moment {
        program_counter: debuggee.program_counter()?,
        accesses: debuggee.accesses()?,
        values,
        arguments: [debuggee.argument(1)?, debuggee.argument(2)?],
        result: debuggee.result()?,
    })
}

impl Debuggee for Recorded {
    type Checkpoint = usize;

    fn program_counter(&self) -> Result<u64, Fault> {
        Ok(self.now()?.program_counter)
    }

    fn set_program_counter(&mut self, _address: u64) -> Result<(), Fault> {
        Err(Fault::Recorded)
    }

    fn read(&self, address: u64) -> Result<i64, Fault> {
        let value = self.now()?.values.get(&address).copied();
        value.ok_or(Fault::NoValue(address))
    }

    fn write(&mut self, _address: u64, _value: i64) -> Result<(), Fault> {
        Err(Fault::Recorded)
    }

    fn address_of(&self, symbol: &str) -> Option<u64> {
        self.symbols.addresses.get(symbol).copied()
    }

    fn returns_of(&self, function: &str) -> Vec<u64> {
        let returns = self.symbols.returns.get(function);
        returns.cloned().unwrap_or_default()
    }

    fn argument(&self, position: u8) -> Result<i64, Fault> {
        let slot = usize::from(position).checked_sub(1);
        let value = slot.and_then(|slot| self.now().ok()?.arguments.get(slot).copied());
        value.ok_or_else(|| Fault::NoSymbol(format!("arg {position}")))
    }

    fn result(&self) -> Result<i64, Fault> {
        Ok(self.now()?.result)
    }

    fn insert_breakpoint(&mut self, address: u64) -> Result<(), Fault> {
        self.planted.insert(address);
        Ok(())
    }

    fn remove_breakpoint(&mut self, address: u64) -> Result<(), Fault> {
        self.planted.remove(&address);
        Ok(())
    }

    fn accesses(&self) -> Result<Vec<Access>, Fault> {
        let now = self.now()?;
        Ok(if self.planted.contains(&now.program_counter) {
            Vec::new()
        } else {
            now.accesses.clone()
        })
    }

    fn execute(&mut self) -> Result<Executed, Fault> {
        if self.planted.contains(&self.now()?.program_counter) {
            return Ok(Executed::Trap);
        }
        if self.position + 1 == self.moments.len() {
            return Ok(Executed::End);
        }
        self.position += 1;
        Ok(Executed::Instruction)
    }

    fn checkpoint(&mut self) -> Result<usize, Fault> {
        Ok(self.position)
    }

    fn restore(&mut self, &checkpoint: &usize) -> Result<(), Fault> {
        self.position = checkpoint;
        self.planted.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
