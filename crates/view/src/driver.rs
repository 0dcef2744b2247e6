//! The interface by which a front end drives a session or a recorded run.
//!
//! **Invariant**: all that a front end does goes through [`Driver`]: what a person types as command
//! lines, everything else as questions ([`Queries`]) and changes ([`Changes`]) with values. It
//! comes back as views. Nothing here depends on a terminal or on text.
//!
//! Tests implement the trait to play a script without a process.

use crate::changes::Changes;
use crate::live::{PictureView, RunPlace, SampleView, SampleWanted, SlicesView, SlicesWanted};
use crate::observer::Observer;
use crate::queries::Queries;
use crate::{Outcome, TerminalSettings};
use juror_fault::CommandError;

/// The front end that a line comes from: each has its own open block of `if`, `while`, `commands`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrontEnd {
    /// The prompt, and command files.
    #[default]
    Prompt,
    /// The page of the run.
    Page,
    /// The debug console of an editor.
    Editor,
}

/// A session, or what is driven like one.
pub trait Driver {
    /// Sets which front end the lines that follow come from. Returns the one before.
    fn speak_for(&mut self, front_end: FrontEnd) -> FrontEnd {
        front_end
    }
    /// Executes a command line that a person has typed.
    fn execute(&mut self, line: &str, observer: &mut dyn Observer)
    -> Result<Outcome, CommandError>;
    /// Returns where the word at `position` begins, and its possible completions.
    /// Positions are in bytes.
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>);
    /// Returns the line that an empty line repeats after `line`, if any.
    fn repetition(&self, line: &str) -> Option<String>;
    /// Returns the next command of the breakpoints that stopped the program, or of a
    /// script.
    fn next_queued_command(&mut self) -> Option<String> {
        None
    }
    /// Checks the blocks of a file of commands before any of it is executed.
    ///
    /// # Errors
    /// The number of the line that is wrong, and why.
    fn check_file(&mut self, _text: &str) -> Result<(), (usize, CommandError)> {
        Ok(())
    }
    /// Returns how many `commands` are open, to which the next line belongs; 0 if it is
    /// executed.
    fn input_depth(&self) -> usize {
        0
    }
    /// Whether the user is asked before this line is executed: the program would be lost.
    fn loses_program(&self, _line: &str) -> bool {
        false
    }
    /// Discards the lines after `commands`.
    fn cancel_input(&mut self) {}
    /// Whether there is a debuggee.
    fn is_alive(&self) -> bool;
    /// Whether the run is recorded: it has no debuggee, and commands go back in it.
    fn is_recorded(&self) -> bool {
        false
    }
    /// Whether the run goes back: it is recorded, or can be made again.
    fn goes_back(&self) -> bool {
        self.is_recorded()
    }
    /// Returns the place of a run that can be made again.
    fn run_place(&mut self) -> Option<RunPlace> {
        None
    }
    /// Whether the debuggee was attached: leaving detaches it instead of killing it.
    fn is_attached(&self) -> bool {
        false
    }
    /// Returns why the trace that is written is not whole, if it is not.
    fn trace_failure(&self) -> Option<String> {
        None
    }
    /// Returns what the terminal that shows the results is asked for.
    fn terminal_settings(&self) -> TerminalSettings {
        TerminalSettings::default()
    }
    /// Returns the pictures of the properties.
    fn pictures(&mut self) -> Vec<PictureView> {
        Vec::new()
    }
    /// Returns the properties at this moment.
    fn sample(&mut self, wanted: &SampleWanted) -> SampleView {
        let _ = wanted;
        SampleView::default()
    }
    /// Returns a page of the slices of a property.
    fn slices(&mut self, wanted: &SlicesWanted) -> Result<SlicesView, CommandError> {
        let _ = wanted;
        Err(CommandError::new("there are no properties"))
    }
    /// Returns the session as what answers questions; nothing if it cannot.
    fn queries(&mut self) -> Option<&mut dyn Queries> {
        None
    }
    /// Returns the session as what a front end changes by calls; nothing if it cannot.
    fn changes(&mut self) -> Option<&mut dyn Changes> {
        None
    }
    /// Returns a function that makes a running `execute` return.
    fn interrupter(&self) -> Box<dyn Fn() + Send>;
    /// Drops an interruption that no command has followed: the next one is not meant.
    fn forget_interruption(&mut self) {}
    /// Sets whether juror keeps the terminal while the program runs: for a command that was not
    /// typed at the prompt, which still waits for a line.
    fn keep_terminal(&mut self, keeps: bool) {
        let _ = keeps;
    }
    /// Sets whether only the selected thread runs in the commands that follow, whatever `set
    /// scheduler-locking` says.
    fn run_alone(&mut self, is_alone: bool) {
        let _ = is_alone;
    }
    /// Sets whether signals stop the program as `handle` says, or only those that would end it and
    /// those that the user has asked for.
    fn stop_at_signals(&mut self, stops: bool) {
        let _ = stops;
    }
    /// Returns a function that makes a running command serve the requests of its observer
    /// ([`Observer::serve`]) and then go on; it may be called from any thread.
    fn caller(&self) -> Box<dyn Fn() + Send> {
        Box::new(|| {})
    }
    /// Returns a function after which no command lets the program run: juror is to end.
    fn ender(&self) -> Box<dyn Fn() + Send> {
        Box::new(|| {})
    }
}
