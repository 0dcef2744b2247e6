//! What the rules need of a program: Jakse, Falcone and Méhaut, definition 5.7.
//!
//! A program has a symbol table, an instruction set that makes a configuration
//! of another, and the list of accesses that an instruction will make. What is
//! replaced by a breakpoint instruction is kept by the program, not by the
//! debugger (`oi` in the paper): a live process has an engine for that.

use std::fmt::Debug;

/// Whether an access reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessMode {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// One access of an instruction to a place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The place.
    pub address: u64,
    /// Whether it is read or written.
    pub mode: AccessMode,
    /// What is there before.
    pub old: i64,
    /// What is there afterwards.
    pub new: i64,
}

/// What executing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Executed {
    /// One instruction has been executed.
    Instruction,
    /// There is a breakpoint instruction: nothing has changed.
    Trap,
    /// The program is at its end: nothing has changed.
    End,
}

/// Why something cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is no value at an address.
    #[error("there is no value at {0:#x}")]
    NoValue(u64),
    /// There is no instruction at an address.
    #[error("there is no instruction at {0:#x}")]
    NoInstruction(u64),
    /// No variable or function has this name.
    #[error("the program has no `{0}`")]
    NoSymbol(String),
    /// There is no checkpoint of this number.
    #[error("there is no checkpoint {0}")]
    NoCheckpoint(usize),
    /// What has been recorded cannot be changed.
    #[error("a recorded run cannot be changed")]
    Recorded,
    /// The debugger is in the other mode.
    #[error("this is not possible while the program {0}")]
    Mode(&'static str),
    /// Who has the control cannot change like this.
    #[error("{0}")]
    Control(#[from] crate::control::Refusal),
    /// A scenario never comes to an end of its commands.
    #[error("a scenario gave {0} commands at one moment")]
    Endless(usize),
    /// The same instruction is triggered again and again.
    #[error("it never comes to the next instruction")]
    Stuck,
    /// A property cannot be evaluated.
    #[error("{0}")]
    Property(String),
    /// A live process could not do it.
    #[error("{0}")]
    Process(String),
}

/// A program that stands between two instructions.
pub trait Debuggee {
    /// The program at a moment, without breakpoint instructions.
    type Checkpoint: Clone + Debug;

    /// Which instruction is next.
    ///
    /// # Errors
    /// The program cannot be read.
    fn program_counter(&self) -> Result<u64, Fault>;

    /// Makes another instruction the next one.
    ///
    /// # Errors
    /// There is none at this address.
    fn set_program_counter(&mut self, address: u64) -> Result<(), Fault>;

    /// The value at an address.
    ///
    /// # Errors
    /// There is none.
    fn read(&self, address: u64) -> Result<i64, Fault>;

    /// Changes the value at an address.
    ///
    /// # Errors
    /// There is none, or it cannot be changed.
    fn write(&mut self, address: u64, value: i64) -> Result<(), Fault>;

    /// Where a variable or function is (`Sym`).
    fn address_of(&self, symbol: &str) -> Option<u64>;

    /// Where a function returns (`retPts`).
    fn returns_of(&self, function: &str) -> Vec<u64>;

    /// An argument of the present call, counted from 1.
    ///
    /// # Errors
    /// There is none.
    fn argument(&self, position: u8) -> Result<i64, Fault>;

    /// What the present call returns.
    ///
    /// # Errors
    /// The program cannot be read.
    fn result(&self) -> Result<i64, Fault>;

    /// Puts a breakpoint instruction at an address. Where there is one already,
    /// nothing changes.
    ///
    /// # Errors
    /// There is no instruction.
    fn plant(&mut self, address: u64) -> Result<(), Fault>;

    /// Puts the original instruction back. Where it is already there, nothing
    /// changes.
    ///
    /// # Errors
    /// There is no instruction.
    fn lift(&mut self, address: u64) -> Result<(), Fault>;

    /// What the next instruction will access, in order (`getAccesses`); nothing
    /// where that is a breakpoint instruction.
    ///
    /// # Errors
    /// The program cannot be read.
    fn accesses(&self) -> Result<Vec<Access>, Fault>;

    /// Rules NORMALEXEC and BPHIT of the program: executes the next instruction
    /// (`runInstr`), unless that is a breakpoint instruction or the end.
    ///
    /// # Errors
    /// The program cannot go on.
    fn execute(&mut self) -> Result<Executed, Fault>;

    /// The program as it is, without breakpoint instructions.
    ///
    /// # Errors
    /// It cannot be kept.
    fn checkpoint(&mut self) -> Result<Self::Checkpoint, Fault>;

    /// Makes the program what it was; it has no breakpoint instructions then.
    ///
    /// # Errors
    /// It cannot be brought back.
    fn restore(&mut self, checkpoint: &Self::Checkpoint) -> Result<(), Fault>;
}
