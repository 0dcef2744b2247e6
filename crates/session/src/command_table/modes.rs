//! In which modes each command is possible: a column of the table.
//!
//! The session asks it before it does anything, and help shows it.

use crate::command_table::Command;
use juror_rules::control::Modes;

impl Command {
    /// The modes in which the command is possible. What it is given may ask for
    /// more: a call of a function needs a program that has begun.
    pub fn modes(self) -> Modes {
        match self {
            Command::Break
            | Command::Catch
            | Command::ChangeDirectory
            | Command::Clear
            | Command::CommandGroup
            | Command::Commands
            | Command::Condition
            | Command::DefineType
            | Command::Delete
            | Command::Directory
            | Command::Disable
            | Command::Display
            | Command::DynamicPrint
            | Command::Echo
            | Command::Enable
            | Command::Handle
            | Command::HardwareBreak
            | Command::Help
            | Command::Ignore
            | Command::Info
            | Command::List
            | Command::Monitor
            | Command::NameType
            | Command::Property
            | Command::Quit
            | Command::RegexBreak
            | Command::Restore
            | Command::Run
            | Command::Save
            | Command::Scenario
            | Command::Script
            | Command::Set
            | Command::Shell
            | Command::Show
            | Command::ShowGraph
            | Command::Skip
            | Command::Start
            | Command::StartInstruction
            | Command::TemporaryBreak
            | Command::TemporaryCatch
            | Command::TemporaryHardwareBreak
            | Command::Undisplay
            | Command::Unset
            | Command::Views => Modes::Always,
            Command::Attach => Modes::Before,
            Command::Abandon
            | Command::AccessWatch
            | Command::Advance
            | Command::Call
            | Command::ChangeWatch
            | Command::Checkpoint
            | Command::Continue
            | Command::Detach
            | Command::Disassemble
            | Command::Dump
            | Command::Examine
            | Command::Find
            | Command::Kill
            | Command::NextInstruction
            | Command::Output
            | Command::Print
            | Command::PrintFormatted
            | Command::Process
            | Command::QueueSignal
            | Command::ReadWatch
            | Command::Signal
            | Command::StepInstruction
            | Command::Thread
            | Command::ThreadsApply
            | Command::Watch => Modes::Program,
            // Before its beginning the program stands in the dynamic linker,
            // which nobody asked about.
            Command::Backtrace
            | Command::Down
            | Command::Finish
            | Command::Frame
            | Command::FramesApply
            | Command::Jump
            | Command::Return
            | Command::SelectFrame
            | Command::Next
            | Command::Step
            | Command::Until
            | Command::Up => Modes::Begun,
        }
    }
}

/// The modes in which a subject of `info` can be shown.
pub fn info_modes(subject: &str) -> Modes {
    match subject {
        "args" | "frame" | "line" | "locals" | "source" | "stack" => Modes::Begun,
        "address" | "auxv" | "evaluations" | "proc" | "processes" | "program" | "registers"
        | "sharedlibrary" | "symbol" | "threads" => Modes::Program,
        _ => Modes::Always,
    }
}
