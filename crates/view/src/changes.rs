//! Changes that a front end makes by calls with values.
//!
//! **Invariant**: hooks, aliases and open blocks belong to the lines that a person types
//! ([`crate::driver::Driver::execute`]); they take no part in a call.

use crate::observer::Observer;
use crate::queries::SelectionView;
use crate::{Outcome, SetPointView};
use juror_fault::CommandError;

/// A point to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointRequest {
    /// The place or the event.
    pub place: PointPlace,
    /// The condition.
    pub condition: Option<String>,
    /// The format and the values that a hit prints instead of a stop, as `dprintf` takes them.
    pub prints: Option<String>,
    /// The frame in which its expressions are evaluated; the selected one if absent.
    pub frame: Option<SelectionView>,
}

/// The place or the event of a point.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PointPlace {
    /// A line of a source file.
    Line {
        /// The path of the file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The column of a statement, from 1, in bytes.
        column: Option<u32>,
    },
    /// A location spec that a person has written.
    Written(String),
    /// The address of an instruction.
    Address(u64),
    /// An exception of C++.
    Exception(ExceptionEvent),
    /// Accesses to memory.
    Watched {
        /// The expression.
        expression: String,
        /// The accesses that stop.
        access: Access,
        /// How long the memory is watched.
        extent: WatchExtent,
    },
}

/// An event of a C++ exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExceptionEvent {
    /// It is thrown.
    Throw,
    /// It is caught.
    Catch,
}

/// The accesses that a watchpoint stops at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Writes.
    Write,
    /// Reads.
    Read,
    /// Both.
    ReadWrite,
}

/// What a watchpoint watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WatchExtent {
    /// Everything that the value of the expression depends on.
    Expression,
    /// The memory that the expression denotes now.
    Location,
    /// The same, until the call returns whose frame has the memory.
    LocationOfCall,
}

/// A change of a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointChange {
    /// Sets the condition, or clears it.
    Condition(Option<String>),
    /// Sets the number of hits that are ignored from now on.
    Ignore(u64),
    /// Enables the point.
    Enable,
    /// Enables the point until it has stopped the program once.
    EnableOnce,
}

/// How the program is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// From its beginning.
    Run,
    /// From its beginning to its main function.
    Start,
    /// Until something stops it.
    Continue,
    /// By one line, into calls.
    Step,
    /// By one line, into the call that an instruction of the line makes.
    StepIntoCall(u64),
    /// By one line, over calls.
    Next,
    /// By one instruction, into calls.
    StepInstruction,
    /// By one instruction, over calls.
    NextInstruction,
    /// Until the selected function returns.
    Finish,
    /// Back by one line, over calls; in a recording to the previous event.
    ReverseNext,
    /// Back by one instruction, over calls; in a recording to the previous event.
    ReverseNextInstruction,
    /// Back to the previous stop.
    ReverseContinue,
}

/// How the debuggee is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// It is killed.
    Kill,
    /// It goes on without juror.
    Detach,
}

/// The place of a state or of a variable in a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorPlace {
    /// The name of the property.
    pub property: String,
    /// The values of the slice's parameters, by their names; empty without parameters.
    pub slice: Vec<(String, String)>,
    /// The name of the variable, or `state`.
    pub variable: String,
}

/// A session that a front end changes.
pub trait Changes {
    /// Sets points. Returns for each the point, or the reason why it is not set.
    fn set_points(
        &mut self,
        wanted: &[PointRequest],
        observer: &mut dyn Observer,
    ) -> Vec<Result<SetPointView, CommandError>>;
    /// Changes a point.
    ///
    /// # Errors
    /// There is no such point, or it does not take the change.
    fn change_point(&mut self, number: u32, change: &PointChange) -> Result<(), CommandError>;
    /// Deletes points; numbers of points that are gone do nothing.
    ///
    /// # Errors
    /// The memory or the debug registers of the program cannot be written.
    fn delete_points(&mut self, numbers: &[u32]) -> Result<(), CommandError>;
    /// Resumes the program until it stops or ends.
    ///
    /// # Errors
    /// The program cannot be resumed.
    fn resume(&mut self, how: Resume, observer: &mut dyn Observer)
    -> Result<Outcome, CommandError>;
    /// Attaches to a process. Returns its stop.
    ///
    /// # Errors
    /// There is a program, or the process cannot be attached to.
    fn attach(
        &mut self,
        process: u32,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let _ = (process, observer);
        Err(needs_program())
    }
    /// Opens the core file of the options. Returns its stop.
    ///
    /// # Errors
    /// There is a program, or the file cannot be read.
    fn open_core_file(&mut self, observer: &mut dyn Observer) -> Result<Outcome, CommandError> {
        let _ = observer;
        Err(needs_program())
    }
    /// Kills the debuggee or lets it go; one of several processes at a time. Returns its end.
    ///
    /// # Errors
    /// There is none.
    fn release(
        &mut self,
        how: Release,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let _ = (how, observer);
        Err(needs_program())
    }
    /// Moves a thread to an instruction; nothing is executed.
    ///
    /// # Errors
    /// There is no such thread.
    fn move_to(
        &mut self,
        thread: u32,
        address: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let _ = (thread, address, observer);
        Err(needs_program())
    }
    /// Moves a thread to the beginning of the call of a frame.
    ///
    /// # Errors
    /// The arguments of the call are not known, or there is no such frame.
    fn restart_frame(
        &mut self,
        frame: SelectionView,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let _ = (frame, observer);
        Err(needs_program())
    }
    /// Sets the state or a variable of a monitor; the value is written as in a property.
    ///
    /// # Errors
    /// There is no such place, or it does not take the value.
    fn set_monitor(&mut self, place: &MonitorPlace, value: &str) -> Result<(), CommandError> {
        let _ = (place, value);
        Err(needs_program())
    }
}

/// Returns the error for a change of a program where there is none.
fn needs_program() -> CommandError {
    CommandError::new("this needs the program, and this is a recording")
}
