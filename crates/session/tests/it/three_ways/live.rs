//! A live process under the rules, an instruction of the processor at a time.
//!
//! A trap is a trap of the processor: where a breakpoint instruction is reached,
//! the process executes it. It is the engine of breakpoints that steps over one,
//! so the rule that lifts the instruction and the engine must agree.

use super::built::Built;
use juror_arch::{Register, Registers};
use juror_debuggee::{Debuggee as Process, Launch, Owner, Redirection, StopEvent, ThreadId};
use juror_oracle::abstract_machine::VARIABLES;
use juror_oracle::{Access, AccessMode, Debuggee, Executed, Fault};
use juror_stepping::{AccessState, accesses_of};
use std::collections::{BTreeMap, BTreeSet};

/// As much of the stack as the programs use, in bytes.
const STACK_BYTES: usize = 512;
/// The longest instruction, in bytes.
const INSTRUCTION_BYTES: usize = 15;

pub struct Live {
    process: Process,
    thread: ThreadId,
    symbols: BTreeMap<String, u64>,
    planted: BTreeSet<u64>,
    /// The trap here has been executed, and the instruction was not.
    trapped_at: Option<u64>,
}

/// What a process of these programs consists of.
#[derive(Debug, Clone)]
pub struct Kept {
    registers: Registers,
    variables: Vec<u8>,
    stack: Vec<u8>,
}

fn fault(error: impl std::fmt::Display) -> Fault {
    Fault::Process(error.to_string())
}

impl Live {
    /// Starts the program; it stands at its first instruction.
    pub fn start(built: &Built) -> Live {
        let launch = Launch {
            input: Redirection::File("/dev/null".into()),
            ..Launch::new(&built.path)
        };
        let process = Process::launch(&launch).unwrap();
        Live {
            thread: ThreadId(process.pid()),
            process,
            symbols: built.symbols.clone(),
            planted: BTreeSet::new(),
            trapped_at: None,
        }
    }

    fn registers(&self) -> Result<&Registers, Fault> {
        self.process.registers(self.thread).map_err(fault)
    }

    fn jump(&mut self, address: u64) -> Result<(), Fault> {
        let mut registers = *self.registers()?;
        registers.set_instruction_pointer(address);
        let set = self.process.set_registers(self.thread, &registers);
        set.map_err(fault)
    }

    fn symbol(&self, name: &str) -> Result<u64, Fault> {
        self.address_of(name)
            .ok_or_else(|| Fault::NoSymbol(name.to_owned()))
    }

    fn bytes(&self, address: u64, length: usize) -> Result<Vec<u8>, Fault> {
        let mut bytes = vec![0; length];
        self.process.read(address, &mut bytes).map_err(fault)?;
        Ok(bytes)
    }

    /// What happens next; only this thread runs.
    fn step(&mut self) -> Result<StopEvent, Fault> {
        self.process.step(self.thread).map_err(fault)?;
        self.process.wait().map_err(fault)
    }
}

fn state(registers: &Registers) -> AccessState {
    AccessState {
        general: registers.encoded(),
        fs_base: registers.get(Register::FsBase),
        gs_base: registers.get(Register::GsBase),
    }
}

/// What a store of a register will store: `mov REGISTER, MEMORY` of 8 bytes.
fn stored(bytes: &[u8], state: &AccessState) -> Option<i64> {
    match bytes {
        [0x48, 0x89, modes, ..] => {
            let register = usize::from(modes >> 3 & 7);
            Some(state.general[register] as i64)
        }
        _ => None,
    }
}

impl Debuggee for Live {
    type Checkpoint = Kept;

    fn program_counter(&self) -> Result<u64, Fault> {
        Ok(self.registers()?.instruction_pointer())
    }

    fn set_program_counter(&mut self, address: u64) -> Result<(), Fault> {
        self.trapped_at = None;
        self.jump(address)
    }

    fn read(&self, address: u64) -> Result<i64, Fault> {
        Ok(self.process.read_u64(address).map_err(fault)? as i64)
    }

    fn write(&mut self, address: u64, value: i64) -> Result<(), Fault> {
        let written = self.process.write(address, &value.to_le_bytes());
        written.map_err(fault)
    }

    fn address_of(&self, symbol: &str) -> Option<u64> {
        self.symbols.get(symbol).copied()
    }

    fn returns_of(&self, function: &str) -> Vec<u64> {
        let prefix = format!("return_{function}_");
        let symbols = self.symbols.iter();
        let returns = symbols.filter(|(name, _)| name.starts_with(&prefix));
        returns.map(|(_, address)| *address).collect()
    }

    fn argument(&self, position: u8) -> Result<i64, Fault> {
        self.read(self.symbol(&format!("argument{position}"))?)
    }

    fn result(&self) -> Result<i64, Fault> {
        self.read(self.symbol("result")?)
    }

    fn insert_breakpoint(&mut self, address: u64) -> Result<(), Fault> {
        if self.planted.insert(address) {
            let planted = self.process.insert(address, Owner::Developer);
            planted.map_err(fault)?;
        }
        Ok(())
    }

    fn remove_breakpoint(&mut self, address: u64) -> Result<(), Fault> {
        if self.planted.remove(&address) {
            let lifted = self.process.remove(address, Owner::Developer);
            lifted.map_err(fault)?;
        }
        Ok(())
    }

    fn accesses(&self) -> Result<Vec<Access>, Fault> {
        let registers = self.registers()?;
        if self.planted.contains(&registers.instruction_pointer()) {
            return Ok(Vec::new());
        }
        let bytes = self.bytes(registers.instruction_pointer(), INSTRUCTION_BYTES)?;
        let state = state(registers);
        let mut accesses = Vec::new();
        for found in accesses_of(&bytes, registers.instruction_pointer(), &state) {
            let old = self.read(found.address)?;
            let access = |mode, new| Access {
                address: found.address,
                mode,
                old,
                new,
            };
            if found.reads {
                accesses.push(access(AccessMode::Read, old));
            }
            if found.writes {
                let new = stored(&bytes, &state).unwrap_or(old);
                accesses.push(access(AccessMode::Write, new));
            }
        }
        Ok(accesses)
    }

    fn execute(&mut self) -> Result<Executed, Fault> {
        let here = self.registers()?.instruction_pointer();
        if self.planted.contains(&here) && self.trapped_at == Some(here) {
            return Ok(Executed::Trap);
        }
        // The instruction at the end leaves the process; it is not executed.
        let is_end = here == self.symbol("stop")?;
        if is_end && !self.planted.contains(&here) {
            return Ok(Executed::End);
        }
        match (self.step()?, self.planted.contains(&here)) {
            (StopEvent::Hit { address, .. }, true) if address == here => {
                self.trapped_at = Some(here);
                Ok(Executed::Trap)
            }
            (StopEvent::Stepped { .. }, false) => {
                self.trapped_at = None;
                Ok(Executed::Instruction)
            }
            (other, planted) => Err(fault(format!("{other:?} at {here:#x}, {planted}"))),
        }
    }

    fn checkpoint(&mut self) -> Result<Kept, Fault> {
        let registers = *self.registers()?;
        let first = self.symbol("v0")?;
        // The stack of these programs ends where it was at the start.
        let bottom = registers
            .stack_pointer()
            .saturating_sub(STACK_BYTES as u64 / 2);
        Ok(Kept {
            variables: self.bytes(first, VARIABLES as usize * 8)?,
            stack: self.bytes(bottom, STACK_BYTES)?,
            registers,
        })
    }

    fn restore(&mut self, kept: &Kept) -> Result<(), Fault> {
        for address in self.planted.clone() {
            self.remove_breakpoint(address)?;
        }
        self.trapped_at = None;
        // Away and back: it arrives there anew, whatever it was about to do.
        self.jump(self.symbol("stop")?)?;
        let set = self.process.set_registers(self.thread, &kept.registers);
        set.map_err(fault)?;
        let first = self.symbol("v0")?;
        self.process.write(first, &kept.variables).map_err(fault)?;
        let bottom = kept
            .registers
            .stack_pointer()
            .saturating_sub(STACK_BYTES as u64 / 2);
        self.process.write(bottom, &kept.stack).map_err(fault)
    }
}
