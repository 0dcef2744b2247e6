//! A stub that steps monitors, as the debuggee's layer knows stubs.

use super::memory::TableMemory;
use super::records::{PENDING, RECORD_OF_CALL_BYTES};
use juror_debuggee::{LedOut, LedTo, SharedMemory, Stub, StubRegisters};
use juror_monitor::lowering::{MonitorProgram, Phase};
use juror_stub::lead_out::{Registers, Resume};
use juror_stub::stub_map::{StubMap, StubPhase};
use std::ops::Range;
use std::sync::Arc;

/// A section of a stub: the step of one property.
#[derive(Debug, Clone)]
pub(crate) struct StubSection {
    /// The operations of the property.
    pub program: Arc<MonitorProgram>,
    /// Which of its events.
    pub event: u16,
    /// Its table.
    pub table: SharedMemory,
}

/// A stub of the monitors.
#[derive(Debug)]
pub(crate) struct MonitorStub {
    pub map: StubMap,
    /// In the order of the sections of the map.
    pub sections: Vec<StubSection>,
    /// The addresses of the prefixes of its atomic instructions.
    pub lock_prefixes: Vec<u64>,
}

impl MonitorStub {
    /// Runs the rest of a committed step.
    fn finish(&self, mut finish: juror_stub::lead_out::Finish) -> Option<()> {
        let section = self.sections.get(finish.section)?;
        let program = section.program.steps.get(usize::from(section.event))?;
        let mut memory = TableMemory(section.table.clone());
        let ended = finish
            .running
            .lead_out(program, Phase::Committed, &mut memory);
        ended.map(drop)
    }

    /// Releases a lock, which is in one of the tables.
    fn release(&self, address: u64) {
        for section in &self.sections {
            let offset = address.wrapping_sub(section.table.address());
            if offset < section.table.used() {
                section.table.store(offset, 0);
                return;
            }
        }
    }
}

impl Stub for MonitorStub {
    fn range(&self) -> Range<u64> {
        self.map.at..self.map.at + self.map.size
    }

    fn lead_out(
        &self,
        registers: &StubRegisters,
        record: u64,
        read: &dyn Fn(u64) -> Option<u64>,
    ) -> Option<LedOut> {
        let out = self.map.lead_out(&to_native(registers), read)?;
        let mut writes = Vec::new();
        if out.ends_call {
            let pending = record + u64::from(PENDING);
            writes.push((pending, read(pending)?.wrapping_sub(RECORD_OF_CALL_BYTES)));
        }
        for lock in &out.release {
            self.release(*lock);
        }
        if let Some(finish) = out.finish {
            self.finish(finish)?;
        }
        let to = match out.resume {
            Resume::Entry => LedTo::Entry { done: 0 },
            Resume::Section(done) => LedTo::Entry { done },
            Resume::Twin { original } => LedTo::Twin { original },
        };
        Some(LedOut {
            registers: from_native(&out.registers),
            writes,
            to,
        })
    }

    fn before_gate(&self, registers: &StubRegisters) -> StubRegisters {
        from_native(&to_native(registers).before_gate())
    }

    fn twin_of(&self, original: u64) -> Option<u64> {
        self.map.twin_of(original)
    }

    fn lock_prefixes(&self) -> &[u64] {
        &self.lock_prefixes
    }

    fn original_of(&self, counter: u64) -> Option<u64> {
        match self.map.phase(counter)? {
            StubPhase::Twin { original } => Some(original),
            _ => None,
        }
    }
}

fn to_native(registers: &StubRegisters) -> Registers {
    Registers {
        general: registers.general,
        counter: registers.counter,
        flags: registers.flags,
    }
}

fn from_native(registers: &Registers) -> StubRegisters {
    StubRegisters {
        general: registers.general,
        counter: registers.counter,
        flags: registers.flags,
    }
}
