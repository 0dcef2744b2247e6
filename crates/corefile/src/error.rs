//! The reasons why a file is no core file that juror can use.

/// The reason why a file cannot be used as a core file; a clause that follows its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoreError {
    /// No ELF file.
    #[error("this is not a core file (no ELF header)")]
    NotElf,
    /// An ELF file of another kind.
    #[error("this is {0}, not a core file")]
    NotCore(&'static str),
    /// Of a 32-bit program.
    #[error("this is the core of a 32-bit program; juror works on 64-bit x86-64 programs")]
    Narrow,
    /// Of another machine.
    #[error("this is the core of a program for {0}; juror works on x86-64 programs")]
    ForeignMachine(String),
    /// The headers or the notes lie behind the end of the file.
    #[error("this core file is truncated: {0} is missing")]
    Truncated(&'static str),
    /// The headers contradict each other.
    #[error("this core file is damaged: {0}")]
    Damaged(&'static str),
}
