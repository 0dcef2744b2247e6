//! A session and a recorded run as front ends drive them.

use crate::commands::info_graph;
use crate::replay::RecordedRun;
use crate::session::Session;
use juror_monitoring::live;
use juror_view::Outcome;
use juror_view::driver::Driver;
use juror_view::error::CommandError;
use juror_view::live::{PictureView, SampleView, SampleWanted, SlicesView, SlicesWanted};
use juror_view::observer::Observer;

impl Driver for Session {
    fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        Session::execute(self, line, observer)
    }
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        Session::complete(self, line, position)
    }
    fn repetition(&self, line: &str) -> Option<String> {
        Session::repetition(self, line)
    }
    fn next_queued_command(&mut self) -> Option<String> {
        Session::next_queued_command(self)
    }
    fn input_depth(&self) -> usize {
        Session::input_depth(self)
    }
    fn loses_program(&self, line: &str) -> bool {
        Session::loses_program(self, line)
    }
    fn cancel_input(&mut self) {
        Session::cancel_input(self);
    }
    fn is_alive(&self) -> bool {
        Session::is_alive(self)
    }
    fn is_attached(&self) -> bool {
        Session::is_attached(self)
    }
    fn trace_failure(&self) -> Option<String> {
        Session::trace_failure(self).map(|failure| failure.to_owned())
    }
    fn pictures(&mut self) -> Vec<PictureView> {
        self.processes
            .monitors
            .shown()
            .iter()
            .map(live::picture)
            .collect()
    }
    fn sample(&mut self, wanted: &SampleWanted) -> SampleView {
        let program = self.processes.program.as_ref();
        let shown = self.processes.monitors.shown();
        self.user.pictures.sample(shown, wanted, program)
    }
    fn slices(&mut self, wanted: &SlicesWanted) -> Result<SlicesView, CommandError> {
        let monitored = info_graph::named(self.processes.monitors.shown(), &wanted.property)?;
        Ok(live::slices(monitored, wanted))
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(Session::interrupter(self))
    }
    fn keep_terminal(&mut self, keeps: bool) {
        self.launch.keeps_terminal = keeps;
        for program in self.processes.programs_mut() {
            program.debuggee.keep_terminal(keeps);
        }
    }
    fn caller(&self) -> Box<dyn Fn() + Send> {
        Box::new(self.control.call())
    }
    fn ender(&self) -> Box<dyn Fn() + Send> {
        Box::new(Session::ender(self))
    }
}

impl Driver for RecordedRun {
    fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        RecordedRun::execute(self, line, observer)
    }
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        RecordedRun::complete(self, line, position)
    }
    fn repetition(&self, line: &str) -> Option<String> {
        RecordedRun::repetition(self, line)
    }
    fn is_alive(&self) -> bool {
        false
    }
    fn pictures(&mut self) -> Vec<PictureView> {
        self.shown_properties().iter().map(live::picture).collect()
    }
    fn sample(&mut self, wanted: &SampleWanted) -> SampleView {
        self.sample_properties(wanted)
    }
    fn slices(&mut self, wanted: &SlicesWanted) -> Result<SlicesView, CommandError> {
        let monitored = info_graph::named(self.shown_properties(), &wanted.property)?;
        Ok(live::slices(monitored, wanted))
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(RecordedRun::interrupter(self))
    }
}
