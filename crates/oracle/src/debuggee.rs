//! The interface of a program that the rules need: Jakse, Falcone and Méhaut,
//! definition 5.7.
//!
//! A program has a symbol table, an instruction set that maps a configuration to the
//! next, and the list of accesses that an instruction will make. The instructions
//! replaced by breakpoint instructions are kept by the program, not by the debugger
//! (`oi` in the paper), since a live process has an engine for that.

use std::fmt::Debug;

/// The mode of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessMode {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// One access of an instruction to a memory location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The address of the location.
    pub address: u64,
    /// The mode of the access.
    pub mode: AccessMode,
    /// The value before the access.
    pub old: i64,
    /// The value after the access.
    pub new: i64,
}

/// The result of an execution step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Executed {
    /// One instruction has been executed.
    Instruction,
    /// There is a breakpoint instruction: nothing has changed.
    Trap,
    /// The program has ended: nothing has changed.
    End,
}

/// The reason why an operation is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is no value at this address.
    #[error("there is no value at {0:#x}")]
    NoValue(u64),
    /// There is no instruction at this address.
    #[error("there is no instruction at {0:#x}")]
    NoInstruction(u64),
    /// No variable or function has this name.
    #[error("the program has no `{0}`")]
    NoSymbol(String),
    /// There is no checkpoint with this number.
    #[error("there is no checkpoint {0}")]
    NoCheckpoint(usize),
    /// A recorded run cannot be changed.
    #[error("a recorded run cannot be changed")]
    Recorded,
    /// The debugger is in the other mode.
    #[error("this is not possible while the program {0}")]
    Mode(&'static str),
    /// The control does not permit this.
    #[error("{0}")]
    Control(#[from] juror_control::Refusal),
    /// A scenario does not finish its commands.
    #[error("a scenario gave {0} commands at one moment")]
    Endless(usize),
    /// The same instruction is triggered without end.
    #[error("it never comes to the next instruction")]
    Stuck,
    /// A property cannot be evaluated.
    #[error("{0}")]
    Property(String),
    /// An operation on a live process failed.
    #[error("{0}")]
    Process(String),
}

/// A program between two instructions.
pub trait Debuggee {
    /// A snapshot of the program, without breakpoint instructions.
    type Checkpoint: Clone + Debug;

    /// Returns the address of the next instruction.
    ///
    /// # Errors
    /// If the program cannot be read.
    fn program_counter(&self) -> Result<u64, Fault>;

    /// Sets the address of the next instruction.
    ///
    /// # Errors
    /// If there is no instruction at this address.
    fn set_program_counter(&mut self, address: u64) -> Result<(), Fault>;

    /// Returns the value at an address.
    ///
    /// # Errors
    /// If there is no value.
    fn read(&self, address: u64) -> Result<i64, Fault>;

    /// Changes the value at an address.
    ///
    /// # Errors
    /// If there is no value, or it cannot be changed.
    fn write(&mut self, address: u64, value: i64) -> Result<(), Fault>;

    /// Returns the address of a variable or function (`Sym`).
    fn address_of(&self, symbol: &str) -> Option<u64>;

    /// Returns the addresses of a function's return instructions (`retPts`).
    fn returns_of(&self, function: &str) -> Vec<u64>;

    /// Returns an argument of the current call, counted from 1.
    ///
    /// # Errors
    /// If there is no such argument.
    fn argument(&self, position: u8) -> Result<i64, Fault>;

    /// Returns the result of the current call.
    ///
    /// # Errors
    /// If the program cannot be read.
    fn result(&self) -> Result<i64, Fault>;

    /// Inserts a breakpoint instruction at an address, unless there already is one.
    ///
    /// # Errors
    /// If there is no instruction.
    fn insert_breakpoint(&mut self, address: u64) -> Result<(), Fault>;

    /// Restores the original instruction, unless it is already there.
    ///
    /// # Errors
    /// If there is no instruction.
    fn remove_breakpoint(&mut self, address: u64) -> Result<(), Fault>;

    /// Returns the accesses of the next instruction, in order (`getAccesses`); none if
    /// that is a breakpoint instruction.
    ///
    /// # Errors
    /// If the program cannot be read.
    fn accesses(&self) -> Result<Vec<Access>, Fault>;

    /// Executes the next instruction (`runInstr`), unless that is a breakpoint
    /// instruction or the end: the program's rules NORMALEXEC and BPHIT.
    ///
    /// # Errors
    /// If the program cannot go on.
    fn execute(&mut self) -> Result<Executed, Fault>;

    /// Creates a snapshot of the program, without breakpoint instructions.
    ///
    /// # Errors
    /// If the snapshot fails.
    fn checkpoint(&mut self) -> Result<Self::Checkpoint, Fault>;

    /// Restores the program from a snapshot; it has no breakpoint instructions then.
    ///
    /// # Errors
    /// If the restoration fails.
    fn restore(&mut self, checkpoint: &Self::Checkpoint) -> Result<(), Fault>;
}
