//! The session as front ends drive it.

use crate::commands::{completion, info_graph, jump_and_return, source_script};
use crate::inspect::{nodes, queries, statements};
use crate::run::catchpoints;
use crate::run::step::calls;
use crate::session::Session;
use juror_fault::CommandError;
use juror_monitoring::live;
use juror_values::format::Radix;
use juror_view::driver::{Driver, FrontEnd};
use juror_view::live::{PictureView, SampleView, SampleWanted, SlicesView, SlicesWanted};
use juror_view::nodes::{Group, Node, NodeId, PartFilter};
use juror_view::observer::Observer;
use juror_view::queries::{
    FramesView, LineCallView, Queries, SelectionView, SourcePathView, StatementView,
};
use juror_view::{Outcome, TerminalSettings};
use std::ops::Range;
use std::path::Path;

impl Driver for Session {
    fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        Session::execute(self, line, observer)
    }
    fn speak_for(&mut self, front_end: FrontEnd) -> FrontEnd {
        std::mem::replace(&mut self.points.commands.front_end, front_end)
    }
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        completion::complete(self, line, position)
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
    fn check_file(&mut self, text: &str) -> Result<(), (usize, CommandError)> {
        source_script::read_blocks(self, text).map(|_| ())
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
    fn terminal_settings(&self) -> TerminalSettings {
        self.user.presentation.terminal
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
    fn queries(&mut self) -> Option<&mut dyn Queries> {
        Some(self)
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(Session::interrupter(self))
    }
    fn forget_interruption(&mut self) {
        for program in self.processes.programs_mut() {
            self.control.forget_interruption(&mut program.debuggee);
        }
        self.control.set_interruption_aside();
    }
    fn keep_terminal(&mut self, keeps: bool) {
        self.launch.keeps_terminal = keeps;
        for program in self.processes.programs_mut() {
            program.debuggee.keep_terminal(keeps);
        }
    }
    fn run_alone(&mut self, is_alone: bool) {
        self.user.settings.is_alone = is_alone;
    }
    fn stop_at_signals(&mut self, stops: bool) {
        self.user.signals.stops = stops;
        catchpoints::renew_catchpoints(self);
    }
    fn caller(&self) -> Box<dyn Fn() + Send> {
        Box::new(self.control.call())
    }
    fn ender(&self) -> Box<dyn Fn() + Send> {
        Box::new(Session::ender(self))
    }
}

impl Queries for Session {
    fn selection(&self) -> Option<SelectionView> {
        queries::selection(self)
    }

    fn select(&mut self, selection: SelectionView) -> Result<(), CommandError> {
        queries::select(self, selection)
    }

    fn thread_numbers(&mut self) -> Vec<u32> {
        let programs = self.processes.programs_mut();
        programs
            .flat_map(|it| {
                it.debuggee
                    .thread_ids()
                    .map(|thread| it.thread_number(thread))
            })
            .collect()
    }

    fn frames(&mut self, thread: u32, first: u64, count: u64) -> Result<FramesView, CommandError> {
        queries::frames(self, thread, first, count)
    }

    fn read_memory(&mut self, address: u64, count: usize) -> Result<Vec<u8>, CommandError> {
        let mut bytes = vec![0; count];
        let read = self.running()?.debuggee.read_up_to(address, &mut bytes);
        bytes.truncate(read);
        Ok(bytes)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), CommandError> {
        self.running_mut()?.debuggee.write(address, bytes)?;
        self.processes.nodes.note_written(address, bytes.len());
        // The shown frames may have changed.
        self.processes.selection.frames = None;
        Ok(())
    }

    fn source_paths(&mut self) -> Result<Vec<SourcePathView>, CommandError> {
        queries::source_paths(self)
    }

    fn source_text(&mut self, path: &str) -> Result<String, CommandError> {
        self.user.sources.whole(Path::new(path))
    }

    fn statements(
        &mut self,
        path: &str,
        first: u32,
        last: u32,
    ) -> Result<Vec<StatementView>, CommandError> {
        Ok(statements::statements(self, path, first, last))
    }

    fn calls_of_line(&mut self, frame: SelectionView) -> Result<Vec<LineCallView>, CommandError> {
        calls::calls_of_line(self, frame)
    }

    fn check_target(&mut self, thread: u32, address: u64) -> Result<(), CommandError> {
        jump_and_return::check_target(self, thread, address)
    }

    fn scope_nodes(
        &mut self,
        frame: SelectionView,
        group: Group,
        is_hex: bool,
    ) -> Result<Vec<Node>, CommandError> {
        let radix = radix(is_hex).unwrap_or_default();
        nodes::scope_nodes(self, frame.thread, frame.level as usize, group, radix)
    }

    fn part_nodes(
        &mut self,
        node: NodeId,
        filter: PartFilter,
        first: u64,
        count: u64,
        is_hex: bool,
    ) -> Result<Vec<Node>, CommandError> {
        let range = first..first.saturating_add(count);
        nodes::part_nodes(self, node, filter, range, radix(is_hex))
    }

    fn evaluate_node(
        &mut self,
        frame: SelectionView,
        expression: &str,
        is_hex: bool,
    ) -> Result<Node, CommandError> {
        let level = frame.level as usize;
        Session::evaluate_node(self, frame.thread, level, expression, radix(is_hex), false)
    }

    fn whole_value(
        &mut self,
        frame: SelectionView,
        expression: &str,
        is_hex: bool,
    ) -> Result<String, CommandError> {
        let radix = radix(is_hex).unwrap_or_default();
        nodes::whole_value(self, frame.thread, frame.level as usize, expression, radix)
    }

    fn take_written(&mut self) -> Vec<Range<u64>> {
        self.processes.nodes.take_written()
    }

    fn assign_node(
        &mut self,
        parent: NodeId,
        name: &str,
        value: &str,
        is_hex: bool,
    ) -> Result<Node, CommandError> {
        nodes::assign_node(self, parent, name, value, radix(is_hex))
    }

    fn assign_expression(
        &mut self,
        frame: SelectionView,
        place: &str,
        value: &str,
        is_hex: bool,
    ) -> Result<Node, CommandError> {
        let level = frame.level as usize;
        nodes::assign_expression(self, frame.thread, level, place, value, radix(is_hex))
    }
}

/// Returns the format that a client has asked for.
fn radix(is_hex: bool) -> Option<Radix> {
    is_hex.then_some(Radix::Hexadecimal)
}
