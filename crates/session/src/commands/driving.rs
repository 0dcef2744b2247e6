//! The session as front ends drive it.

use crate::commands::{
    changes, checkpoint, completion, disassemble, info_graph, info_proc, info_symbols, info_views,
    jump_and_return, running, source_script,
};
use crate::inspect::questions::asked_by_front_end;
use crate::inspect::{nodes, queries, statements};
use crate::run::step::calls;
use crate::run::{attach, catchpoints, core_file};
use crate::session::Session;
use juror_fault::CommandError;
use juror_monitoring::live;
use juror_points::location_spec::LocationSpec;
use juror_values::format::Radix;
use juror_view::changes::{Changes, MonitorPlace, PointChange, PointRequest, Release, Resume};
use juror_view::driver::{Driver, FrontEnd};
use juror_view::live::{PictureView, RunPlace, SampleView, SampleWanted, SlicesView, SlicesWanted};
use juror_view::nodes::{Group, Node, NodeId, PartFilter};
use juror_view::observer::Observer;
use juror_view::queries::{
    CheckpointsView, FramesView, LineCallView, Queries, SelectionView, SourcePathView,
    StatementView,
};
use juror_view::{
    AssemblyLine, LineView, ModuleView, Outcome, PointView, ProgramView, SetPointView,
    TerminalSettings, ThreadView,
};
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
    fn goes_back(&self) -> bool {
        self.options.schedule.is_some()
    }
    fn run_place(&mut self) -> Option<RunPlace> {
        self.options.schedule.as_ref()?;
        let program = self.processes.program.as_ref();
        let now = program.and_then(|program| program.debuggee.scheduler());
        let seen = now.map(|scheduler| scheduler.points());
        let last = self.launch.last_point.max(seen.unwrap_or(0));
        self.launch.last_point = last;
        let point = seen.unwrap_or(last);
        Some(RunPlace { point, last })
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
    fn changes(&mut self) -> Option<&mut dyn Changes> {
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
    fn points(&mut self) -> Vec<PointView> {
        info_views::point_views(self)
    }

    fn threads(&mut self) -> Result<Vec<ThreadView>, CommandError> {
        info_views::thread_views(self)
    }

    fn checkpoints(&mut self) -> Result<CheckpointsView, CommandError> {
        checkpoint::views(self).map(CheckpointsView::Live)
    }

    fn program(&mut self) -> Result<ProgramView, CommandError> {
        info_proc::program_view(self)
    }

    fn loaded_modules(&mut self) -> Result<Vec<ModuleView>, CommandError> {
        info_views::module_views(self)
    }

    fn addresses_of_line(&mut self, path: &str, line: u32) -> Result<Vec<LineView>, CommandError> {
        let place = LocationSpec::Line {
            file: Some(path.to_owned()),
            line,
            column: None,
        };
        info_symbols::lines_at(self, &place)
    }

    fn instructions(&mut self, range: Range<u64>) -> Result<Vec<AssemblyLine>, CommandError> {
        disassemble::instructions(self, range)
    }

    fn function_start(&mut self, address: u64) -> Option<u64> {
        let module = self.modules().find(address)?;
        let (_, offset) = module.symbols.symbol_at(module.to_file(address))?;
        Some(address.wrapping_sub(offset))
    }

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
        asked_by_front_end(self, |session| {
            queries::frames(session, thread, first, count)
        })
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
        asked_by_front_end(self, |session| {
            nodes::scope_nodes(session, frame.thread, frame.level as usize, group, radix)
        })
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
        asked_by_front_end(self, |session| {
            nodes::part_nodes(session, node, filter, range, radix(is_hex))
        })
    }

    fn evaluate_node(
        &mut self,
        frame: SelectionView,
        expression: &str,
        is_hex: bool,
    ) -> Result<Node, CommandError> {
        let level = frame.level as usize;
        asked_by_front_end(self, |session| {
            session.evaluate_node(frame.thread, level, expression, radix(is_hex), false)
        })
    }

    fn whole_value(
        &mut self,
        frame: SelectionView,
        expression: &str,
        is_hex: bool,
    ) -> Result<String, CommandError> {
        let radix = radix(is_hex).unwrap_or_default();
        asked_by_front_end(self, |session| {
            nodes::whole_value(
                session,
                frame.thread,
                frame.level as usize,
                expression,
                radix,
            )
        })
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

impl Changes for Session {
    fn set_points(
        &mut self,
        wanted: &[PointRequest],
        observer: &mut dyn Observer,
    ) -> Vec<Result<SetPointView, CommandError>> {
        changes::set_points(self, wanted, observer)
    }

    fn change_point(&mut self, number: u32, change: &PointChange) -> Result<(), CommandError> {
        changes::change_point(self, number, change)
    }

    fn delete_points(&mut self, numbers: &[u32]) -> Result<(), CommandError> {
        changes::delete(self, numbers)
    }

    fn resume(
        &mut self,
        how: Resume,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        changes::resume(self, how, observer)
    }

    fn attach(
        &mut self,
        process: u32,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.call("attach", "", observer, |session, observer| {
            attach::attach_to(session, process, observer)
        })
    }

    fn open_core_file(&mut self, observer: &mut dyn Observer) -> Result<Outcome, CommandError> {
        self.call("core-file", "", observer, |session, observer| {
            core_file::core_file(session, "", observer)
        })
    }

    fn release(
        &mut self,
        how: Release,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        match how {
            Release::Kill => self.call("kill", "", observer, |session, _| running::kill(session)),
            Release::Detach => {
                self.call("detach", "", observer, |session, _| attach::detach(session))
            }
        }
    }

    fn move_to(
        &mut self,
        thread: u32,
        address: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        changes::move_to(self, thread, address, observer)
    }

    fn restart_frame(
        &mut self,
        frame: SelectionView,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        changes::restart(self, frame, observer)
    }

    fn set_monitor(&mut self, place: &MonitorPlace, value: &str) -> Result<(), CommandError> {
        changes::set_monitor(self, place, value)
    }
}

/// Returns the format that a client has asked for.
fn radix(is_hex: bool) -> Option<Radix> {
    is_hex.then_some(Radix::Hexadecimal)
}
