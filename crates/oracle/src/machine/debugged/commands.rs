//! Commands of the debugged program: points, checkpoints, continue and interrupt, reads
//! and writes. Each rule is a function with its name.

#[cfg(test)]
use super::Dropped;
use super::{Checkpoint, Debugged};
use crate::machine::monitors::Monitors;
use crate::machine::points::{Owner, Place, Point};
use crate::{Debuggee, Fault};

impl<D: Debuggee> Debugged<D> {
    /// SETBREAK and SETWATCH.
    ///
    /// # Errors
    /// If there is no instruction at the address of a breakpoint.
    pub fn set_point(&mut self, point: Point) -> Result<(), Fault> {
        if let Place::Instruction(address) = point.place {
            self.debuggee.insert_breakpoint(address)?;
        }
        self.points.insert(point);
        Ok(())
    }

    /// RMBREAK and RMWATCH. A point that does not exist is no error.
    ///
    /// # Errors
    /// If there is no instruction at the address of a breakpoint.
    pub fn remove_point(&mut self, point: Point) -> Result<(), Fault> {
        let was_there = self.points.remove(&point);
        match point.place {
            Place::Instruction(address) if was_there && !self.is_breakpoint(address) => {
                self.debuggee.remove_breakpoint(address)
            }
            _ => Ok(()),
        }
    }

    /// CHECKPOINT. The checkpoint includes the points triggered at the current
    /// instruction: in the paper a checkpoint that is taken at an event repeats that
    /// event when it is restored.
    ///
    /// # Errors
    /// If the snapshot fails.
    pub(in crate::machine) fn checkpoint(&mut self) -> Result<usize, Fault> {
        let mut events: Vec<_> = self.events.values().flatten().copied().collect();
        events.sort_unstable();
        events.dedup();
        self.checkpoints.push(Checkpoint {
            program: self.debuggee.checkpoint()?,
            events,
            handled: self.handled.clone(),
            accesses_passed: self.accesses_passed,
            scenario: self.points_of(Owner::Scenario).collect(),
        });
        Ok(self.checkpoints.len() - 1)
    }

    /// RESTORE: the monitors' points are restored, the developer's stay as they are
    /// now. Points of the scenario that were set since the checkpoint are removed. The
    /// paper drops the scenario's breakpoints and keeps its watchpoints, whenever they
    /// were set.
    ///
    /// # Errors
    /// If there is no such checkpoint, or the program cannot be restored.
    pub(in crate::machine) fn restore(
        &mut self,
        number: usize,
        monitors: &Monitors,
    ) -> Result<(), Fault> {
        let kept = self.checkpoints.get(number);
        let kept = kept.cloned().ok_or(Fault::NoCheckpoint(number))?;
        self.debuggee.restore(&kept.program)?;
        self.control.restore(false);
        self.points
            .retain(|it| it.owner != Owner::Scenario || kept.scenario.contains(it));
        for point in &self.points {
            if let Place::Instruction(address) = point.place {
                self.debuggee.insert_breakpoint(address)?;
            }
        }
        self.handled = kept.handled;
        self.accesses_passed = kept.accesses_passed;
        #[cfg(test)]
        if self.drops(Dropped::KeptHandled) {
            self.handled.clear();
            self.accesses_passed = 0;
        }
        #[cfg(test)]
        if self.drops(Dropped::RestoredEvents) {
            return Ok(());
        }
        self.instrument(&kept.events, monitors)
    }

    /// INT: shows the developer a stop.
    pub(in crate::machine) fn int(&mut self) -> Result<(), Fault> {
        self.control.owe_stop()?;
        self.control.settle()?;
        Ok(())
    }

    /// CONT.
    pub(in crate::machine) fn cont(&mut self) -> Result<(), Fault> {
        if self.control.mode() != juror_control::Mode::Run {
            self.control.run()?;
        }
        Ok(())
    }

    /// GETADDR.
    pub(in crate::machine) fn get_address(&self, address: u64) -> Result<i64, Fault> {
        self.debuggee.read(address)
    }

    /// SETADDR.
    pub(in crate::machine) fn set_address(
        &mut self,
        address: u64,
        value: i64,
    ) -> Result<(), Fault> {
        self.debuggee.write(address, value)
    }

    /// GETSYM.
    pub(in crate::machine) fn get_symbol(&self, symbol: &str) -> Result<i64, Fault> {
        self.debuggee.read(self.address_of(symbol)?)
    }

    /// SETSYM.
    pub(in crate::machine) fn set_symbol(&mut self, symbol: &str, value: i64) -> Result<(), Fault> {
        let address = self.address_of(symbol)?;
        self.debuggee.write(address, value)
    }

    fn address_of(&self, symbol: &str) -> Result<u64, Fault> {
        let address = self.debuggee.address_of(symbol);
        address.ok_or_else(|| Fault::NoSymbol(symbol.to_owned()))
    }

    /// GETPC.
    pub(in crate::machine) fn get_program_counter(&self) -> Result<u64, Fault> {
        self.debuggee.program_counter()
    }

    /// SETPC. The program arrives anew, so no point there counts as triggered.
    pub(in crate::machine) fn set_program_counter(&mut self, address: u64) -> Result<(), Fault> {
        self.restore_breakpoint()?;
        self.debuggee.set_program_counter(address)?;
        self.handled.clear();
        self.accesses_passed = 0;
        Ok(())
    }
}
