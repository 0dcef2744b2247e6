//! The paper's abstract machine with a small instruction set.
//!
//! Memory has two parts: instructions from address 0, and values from [`DATA`]. Every
//! program is total: pointers are taken modulo the number of variables, code addresses
//! modulo the number of instructions, the stack is circular, and arithmetic wraps. So
//! every random program is valid.

use crate::{Access, AccessMode, Debuggee, Executed, Fault};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The address of the first variable.
pub const DATA: u64 = 0x1000;
/// The number of variables of a program. The last ones are the arguments and the result
/// of calls.
pub const VARIABLES: u64 = 8;
/// The number of calls that the circular stack holds.
pub const STACK: u64 = 8;

const FIRST_ARGUMENT: u8 = (VARIABLES - 3) as u8;
const RESULT: u8 = (VARIABLES - 1) as u8;

/// A binary operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Their sum.
    Add,
    /// Their difference.
    Subtract,
    /// Their product.
    Multiply,
}

/// An instruction. Variables are operands by number, code by address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the fields are the operands of the notation beside them
pub enum Instruction {
    /// `to := value`
    Set { to: u8, value: i64 },
    /// `to := left OPERATION right`
    Compute {
        operation: Operation,
        to: u8,
        left: u8,
        right: u8,
    },
    /// `to := *pointer`
    Load { to: u8, pointer: u8 },
    /// `*pointer := from`
    Store { pointer: u8, from: u8 },
    /// Jumps to an address.
    Jump { to: u64 },
    /// Jumps to an address unless the variable is 0.
    JumpIf { variable: u8, to: u64 },
    /// Calls the function at an address.
    Call { to: u64 },
    /// Returns from the innermost call.
    Return,
    /// The end of the program.
    Stop,
    /// The breakpoint instruction. Programs contain none.
    Break,
}

/// A program: its code and the addresses of its functions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Program {
    /// The instructions; the program begins with the first, at address 0.
    pub code: Vec<Instruction>,
    /// Functions by name. Each extends to the beginning of the next one.
    pub functions: BTreeMap<String, u64>,
}

impl Program {
    /// Returns the function that contains an instruction.
    pub fn function_at(&self, address: u64) -> Option<&str> {
        let begun = self.functions.iter().filter(|(_, at)| **at <= address);
        let last = begun.max_by_key(|(_, at)| **at);
        last.map(|(name, _)| name.as_str())
    }
}

/// Returns the name of a variable.
pub fn variable_name(number: u8) -> String {
    match number {
        RESULT => "result".to_owned(),
        FIRST_ARGUMENT.. => format!("argument{}", number - FIRST_ARGUMENT + 1),
        _ => format!("v{number}"),
    }
}

/// A running program: a configuration of the paper's definition 5.9.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AbstractMachine {
    program: Arc<Program>,
    /// The current code, with breakpoint instructions.
    code: Vec<Instruction>,
    data: Vec<i64>,
    /// The number of open calls.
    depth: u64,
    program_counter: u64,
    /// The number of executed instructions.
    executed: u64,
}

impl AbstractMachine {
    /// Creates a program at its beginning. All variables are 0.
    pub fn new(program: Arc<Program>) -> AbstractMachine {
        AbstractMachine {
            code: program.code.clone(),
            data: vec![0; (VARIABLES + STACK) as usize],
            depth: 0,
            program_counter: 0,
            executed: 0,
            program,
        }
    }

    /// Returns the program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns all values, the variables first.
    pub fn data(&self) -> &[i64] {
        &self.data
    }

    /// Returns the number of executed instructions.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Returns the current code.
    pub fn code(&self) -> &[Instruction] {
        &self.code
    }

    fn next(&self) -> Result<Instruction, Fault> {
        let found = self.code.get(self.program_counter as usize).copied();
        found.ok_or(Fault::NoInstruction(self.program_counter))
    }

    fn code_address(&self, to: u64) -> u64 {
        to % (self.code.len() as u64).max(1)
    }

    fn value(&self, address: u64) -> i64 {
        let position = address.wrapping_sub(DATA) as usize;
        self.data.get(position).copied().unwrap_or(0)
    }

    fn pointed_at(&self, pointer: u8) -> u64 {
        let value = self.value(variable(pointer));
        DATA + value.rem_euclid(VARIABLES as i64) as u64
    }

    /// Returns the address of the return address of the call at depth `calls`.
    fn stack_cell(calls: u64) -> u64 {
        DATA + VARIABLES + calls % STACK
    }

    fn computed(&self, operation: Operation, left: u8, right: u8) -> i64 {
        let (left, right) = (self.value(variable(left)), self.value(variable(right)));
        match operation {
            Operation::Add => left.wrapping_add(right),
            Operation::Subtract => left.wrapping_sub(right),
            Operation::Multiply => left.wrapping_mul(right),
        }
    }

    fn reads(&self, address: u64) -> Access {
        let old = self.value(address);
        Access {
            address,
            mode: AccessMode::Read,
            old,
            new: old,
        }
    }

    fn writes(&self, address: u64, new: i64) -> Access {
        Access {
            mode: AccessMode::Write,
            new,
            ..self.reads(address)
        }
    }

    /// Returns all accesses of an instruction to values.
    fn accesses_of(&self, instruction: Instruction) -> Vec<Access> {
        match instruction {
            Instruction::Set { to, value } => vec![self.writes(variable(to), value)],
            Instruction::Compute {
                operation,
                to,
                left,
                right,
            } => vec![
                self.reads(variable(left)),
                self.reads(variable(right)),
                self.writes(variable(to), self.computed(operation, left, right)),
            ],
            Instruction::Load { to, pointer } => {
                let place = self.pointed_at(pointer);
                vec![
                    self.reads(variable(pointer)),
                    self.reads(place),
                    self.writes(variable(to), self.value(place)),
                ]
            }
            Instruction::Store { pointer, from } => vec![
                self.reads(variable(pointer)),
                self.reads(variable(from)),
                self.writes(self.pointed_at(pointer), self.value(variable(from))),
            ],
            Instruction::JumpIf { variable: cell, .. } => vec![self.reads(variable(cell))],
            Instruction::Call { .. } => {
                let back = self.code_address(self.program_counter + 1) as i64;
                vec![self.writes(AbstractMachine::stack_cell(self.depth), back)]
            }
            Instruction::Return if self.depth > 0 => {
                vec![self.reads(AbstractMachine::stack_cell(self.depth - 1))]
            }
            Instruction::Return
            | Instruction::Jump { .. }
            | Instruction::Stop
            | Instruction::Break => Vec::new(),
        }
    }
}

/// Returns the address of a variable.
pub fn variable(number: u8) -> u64 {
    DATA + u64::from(number) % VARIABLES
}

impl Debuggee for AbstractMachine {
    type Checkpoint = AbstractMachine;

    fn program_counter(&self) -> Result<u64, Fault> {
        Ok(self.program_counter)
    }

    fn set_program_counter(&mut self, address: u64) -> Result<(), Fault> {
        if address >= self.code.len() as u64 {
            return Err(Fault::NoInstruction(address));
        }
        self.program_counter = address;
        Ok(())
    }

    fn read(&self, address: u64) -> Result<i64, Fault> {
        let position = address.checked_sub(DATA).ok_or(Fault::NoValue(address))?;
        let value = self.data.get(position as usize).copied();
        value.ok_or(Fault::NoValue(address))
    }

    fn write(&mut self, address: u64, value: i64) -> Result<(), Fault> {
        let position = address.checked_sub(DATA).ok_or(Fault::NoValue(address))?;
        let cell = self.data.get_mut(position as usize);
        *cell.ok_or(Fault::NoValue(address))? = value;
        Ok(())
    }

    fn address_of(&self, symbol: &str) -> Option<u64> {
        let function = self.program.functions.get(symbol).copied();
        let mut numbers = 0..VARIABLES as u8;
        function.or_else(|| {
            let number = numbers.find(|&number| variable_name(number) == symbol);
            number.map(variable)
        })
    }

    fn returns_of(&self, function: &str) -> Vec<u64> {
        let code = self.program.code.iter().zip(0..);
        let returns = code.filter(|(it, _)| matches!(it, Instruction::Return));
        returns
            .map(|(_, at)| at)
            .filter(|&at| self.program.function_at(at) == Some(function))
            .collect()
    }

    fn argument(&self, position: u8) -> Result<i64, Fault> {
        match position {
            1 | 2 => Ok(self.value(variable(FIRST_ARGUMENT + position - 1))),
            _ => Err(Fault::NoSymbol(format!("arg {position}"))),
        }
    }

    fn result(&self) -> Result<i64, Fault> {
        Ok(self.value(variable(RESULT)))
    }

    fn insert_breakpoint(&mut self, address: u64) -> Result<(), Fault> {
        let place = self.code.get_mut(address as usize);
        *place.ok_or(Fault::NoInstruction(address))? = Instruction::Break;
        Ok(())
    }

    fn remove_breakpoint(&mut self, address: u64) -> Result<(), Fault> {
        let original = self.program.code.get(address as usize);
        let original = *original.ok_or(Fault::NoInstruction(address))?;
        let place = self.code.get_mut(address as usize);
        *place.ok_or(Fault::NoInstruction(address))? = original;
        Ok(())
    }

    fn accesses(&self) -> Result<Vec<Access>, Fault> {
        Ok(self.accesses_of(self.next()?))
    }

    fn execute(&mut self) -> Result<Executed, Fault> {
        let instruction = self.next()?;
        let mut next = self.code_address(self.program_counter + 1);
        match instruction {
            Instruction::Break => return Ok(Executed::Trap),
            Instruction::Stop => return Ok(Executed::End),
            // A return without a call ends the program, too: it stays there.
            Instruction::Return if self.depth == 0 => return Ok(Executed::End),
            Instruction::Jump { to } => next = self.code_address(to),
            Instruction::JumpIf { variable: cell, to } if self.value(variable(cell)) != 0 => {
                next = self.code_address(to);
            }
            Instruction::Call { to } => next = self.code_address(to),
            Instruction::Return => {
                let back = self.value(AbstractMachine::stack_cell(self.depth - 1));
                next = back.rem_euclid(self.code.len() as i64) as u64;
            }
            _ => {}
        }
        for access in self.accesses_of(instruction) {
            if access.mode == AccessMode::Write {
                self.write(access.address, access.new)?;
            }
        }
        match instruction {
            Instruction::Call { .. } => self.depth += 1,
            Instruction::Return => self.depth -= 1,
            _ => {}
        }
        self.program_counter = next;
        self.executed += 1;
        Ok(Executed::Instruction)
    }

    fn checkpoint(&mut self) -> Result<AbstractMachine, Fault> {
        Ok(AbstractMachine {
            code: self.program.code.clone(),
            ..self.clone()
        })
    }

    fn restore(&mut self, checkpoint: &AbstractMachine) -> Result<(), Fault> {
        self.clone_from(checkpoint);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
