//! Serves requests of a front end while the program runs.
//!
//! The program is halted in the middle of a command, as for a reaction of a scenario, and the
//! command goes on afterwards with its goal: a breakpoint that is set during `next` does not end
//! the step.
//!
//! **Invariant**: what is served changes neither the selection nor the goal of the command.

use crate::command_table;
use crate::command_table::arguments;
use crate::command_table::words::find;
use crate::run::pause::Goal;
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_view::Outcome;
use juror_view::changes::Changes;
use juror_view::driver::{Driver, FrontEnd};
use juror_view::live::{PictureView, RunPlace, SampleView, SampleWanted, SlicesView, SlicesWanted};
use juror_view::observer::{Observer, SilentObserver};
use juror_view::queries::Queries;

/// Serves the requests of the observer, and lets the program go on. The thread has stopped for
/// them.
pub(crate) fn serve(
    session: &mut Session,
    thread: ThreadId,
    goal: Goal<'_>,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    // In a call of a function for juror, the requests wait until something has stopped it.
    if session.is_calling() || !observer.has_requests() {
        return session.go_on(thread, goal);
    }
    let ran = session.running_threads();
    session.halt_processes()?;
    let selection = std::mem::take(&mut session.processes.selection);
    session.select_thread(thread);
    let is_lent = session.control.state.lend();
    session.control.serves = true;
    observer.serve(&mut Served(session));
    session.control.serves = false;
    session.control.state.give_back(is_lent);
    session.processes.selection = selection;
    session.processes.selection.frames = None;
    if session.processes.are_several() {
        return session.resume_processes();
    }
    session.go_on(thread, goal)?;
    for other in ran {
        session.running_mut()?.debuggee.resume(other)?;
    }
    Ok(())
}

/// Checks whether functions of the program may be called now.
///
/// # Errors
/// Another command lets the program run, and its goal would be lost in the call.
pub(crate) fn permit_calls(session: &Session) -> Result<(), CommandError> {
    if session.control.serves {
        Err(CommandError::with_help(
            "this calls a function of the program, which runs",
            "interrupt the program first",
        ))
    } else {
        Ok(())
    }
}

/// A session whose program is halted in the middle of a command.
struct Served<'s>(&'s mut Session);

impl Driver for Served<'_> {
    fn execute(
        &mut self,
        line: &str,
        _observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let own = command_table::translated(line);
        let (word, _) = arguments::split_line(own.as_deref().unwrap_or(line));
        if word.is_empty() || word.starts_with('#') {
            return Ok(Outcome::Done);
        }
        find(word)?.permit_while_running(word)?;
        self.0.perform_line(line, &mut SilentObserver)
    }
    fn speak_for(&mut self, front_end: FrontEnd) -> FrontEnd {
        Driver::speak_for(self.0, front_end)
    }
    fn stop_at_signals(&mut self, stops: bool) {
        Driver::stop_at_signals(self.0, stops);
    }
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        self.0.complete(line, position)
    }
    fn repetition(&self, line: &str) -> Option<String> {
        self.0.repetition(line)
    }
    fn is_alive(&self) -> bool {
        self.0.is_alive()
    }
    fn goes_back(&self) -> bool {
        self.0.goes_back()
    }
    fn run_place(&mut self) -> Option<RunPlace> {
        self.0.run_place()
    }
    fn is_attached(&self) -> bool {
        self.0.is_attached()
    }
    fn pictures(&mut self) -> Vec<PictureView> {
        Driver::pictures(self.0)
    }
    fn sample(&mut self, wanted: &SampleWanted) -> SampleView {
        Driver::sample(self.0, wanted)
    }
    fn slices(&mut self, wanted: &SlicesWanted) -> Result<SlicesView, CommandError> {
        Driver::slices(self.0, wanted)
    }
    fn queries(&mut self) -> Option<&mut dyn Queries> {
        Some(self.0)
    }
    fn changes(&mut self) -> Option<&mut dyn Changes> {
        Some(self.0)
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(self.0.interrupter())
    }
    fn ender(&self) -> Box<dyn Fn() + Send> {
        Box::new(self.0.ender())
    }
}
