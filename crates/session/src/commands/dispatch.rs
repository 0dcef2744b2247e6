//! From a line that was typed to what it does: the one place where commands
//! are dispatched.

use crate::command_table;
use crate::command_table::words::{find, number};
use crate::command_table::{Command, TABLE};
use crate::commands::checkpoint;
use crate::commands::environment::working_directory;
use crate::commands::info;
use crate::commands::jump_and_return;
use crate::commands::process;
use crate::commands::running;
use crate::commands::scenario;
use crate::commands::set::shown;
use crate::commands::shell::shell;
use crate::commands::{
    backtrace, breakpoint, breakpoint_command_lists, catch, condition, convenience, disassemble,
    display, dprintf, dump_restore, environment, examine, find, frame_apply, handle, hbreak, list,
    monitor, points_edit, print, printf, property, ptype, save, set, skip, source_script, thread,
    views, watch,
};
use crate::inspect::frames;
use crate::run::attach;
use crate::run::dynamic_print;
use crate::run::processes::leaving;
use crate::run::scenarios::waiting;
use crate::run::self_modified_code;
use crate::run::step::Lines;
use crate::run::symbol_reading;
use crate::session::Session;
use juror_points::point::Fate;
use juror_points::watchpoints::WatchKind;
use juror_program::stack::frames::{Frame, users_frames};
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{CommandHelp, Outcome};

impl Session {
    /// Executes a line. An empty line does nothing; what Enter repeats is the
    /// front end's business ([`Session::repetition`]).
    ///
    /// # Errors
    /// The line is not a command, or the command cannot be done; the session
    /// goes on.
    pub fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        if self.points.commands.is_being_given() {
            return Ok(breakpoint_command_lists::take_given(self, line));
        }
        let own = command_table::translated(line);
        let line = own.as_deref().unwrap_or(line);
        let (word, rest) = command_table::split_line(line);
        if word.is_empty() || word.starts_with('#') {
            return Ok(Outcome::Done);
        }
        if self.points.commands.begin_group(line.trim()) {
            return Ok(Outcome::Done);
        }
        let mut result = find(word).and_then(|it| self.dispatch(it.command, rest, observer));
        while let Some((thread, end)) = self.processes.stop.ended_call.take() {
            result = self.resume_evaluation(thread, end, observer);
        }
        self.control.state.finish();
        self.follow_control();
        result = waiting::move_for_scenarios(self, line, result, observer);
        self.control.state.finish();
        self.follow_control();
        if matches!(result, Err(_) | Ok(Outcome::Quit)) {
            self.points.commands.give_up();
        }
        if is_about_points(word) {
            self.renew_points()?;
        }
        self_modified_code::reinsert_overwritten(self, observer)?;
        // However it ended, a person types next, and nobody knows what
        // becomes of juror until then.
        if let Some(program) = &mut self.processes.program {
            program.debuggee.take_terminal();
            program.debuggee.quiesce()?;
        }
        if self.processes.are_several() {
            for program in self.processes.other_programs_mut() {
                program.debuggee.quiesce()?;
            }
            leaving::retire_ended(self);
        }
        self.tell_ends(observer);
        dynamic_print::tell_printed(self, observer);
        // A debuggee that vanished under a command is gone for good.
        if let Some(program) = &self.processes.program
            && !program.debuggee.is_alive()
            && !matches!(result, Ok(Outcome::Ended(_)))
        {
            let end = self.end(None);
            return Ok(Outcome::Ended(Box::new(end)));
        }
        result
    }

    /// Does what a line says in the middle of another command.
    pub(crate) fn perform_line(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let own = command_table::translated(line);
        let (word, rest) = command_table::split_line(own.as_deref().unwrap_or(line));
        let mut result = find(word).and_then(|it| self.dispatch(it.command, rest, observer));
        while let Some((thread, end)) = self.processes.stop.ended_call.take() {
            result = self.resume_evaluation(thread, end, observer);
        }
        self.control.state.finish();
        if is_about_points(word) {
            self.renew_points()?;
        }
        result
    }

    fn dispatch(
        &mut self,
        command: Command,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        if let (Command::Print, Some(value)) = (command, print::kept_without_program(self, rest)) {
            return Ok(print::shown_kept(self, value));
        }
        self.permit(command.modes())?;
        convenience::note_conveniences(self);
        symbol_reading::prepare_names(self, command, rest, observer)?;
        match command {
            Command::Continue => self.choose_evaluation(false)?,
            Command::Advance
            | Command::Finish
            | Command::Jump
            | Command::Next
            | Command::Signal
            | Command::NextInstruction
            | Command::Step
            | Command::StepInstruction
            | Command::Until => self.choose_evaluation(true)?,
            _ => {}
        }
        match command {
            Command::Abandon => self.abandon(rest),
            Command::AccessWatch => watch::set_watchpoint(self, rest, WatchKind::Access),
            Command::Advance => self.advance_to(rest, observer),
            Command::Attach => attach::attach_command(self, rest, observer),
            Command::Backtrace => backtrace::backtrace(self, rest),
            Command::Break => breakpoint::set_breakpoint(self, rest, Fate::Keep),
            Command::TemporaryBreak => breakpoint::set_breakpoint(self, rest, Fate::Delete),
            Command::Call => print::print(self, rest, true, observer),
            Command::Catch => catch::catch(self, rest, false),
            Command::TemporaryCatch => catch::catch(self, rest, true),
            Command::Checkpoint => checkpoint::checkpoint_command(self, rest),
            Command::ChangeDirectory => environment::change_directory(self, rest),
            Command::Clear => points_edit::clear(self, rest),
            Command::Commands => breakpoint_command_lists::begin_commands(self, rest),
            Command::CommandGroup => breakpoint_command_lists::group(self, rest),
            Command::Condition => condition::set_condition(self, rest),
            Command::Ignore => points_edit::ignore(self, rest),
            Command::ChangeWatch => watch::set_watchpoint(self, rest, WatchKind::Change),
            Command::Continue => running::continue_command(self, rest, observer),
            Command::DefineType => ptype::define_type(self, rest),
            Command::Delete => points_edit::delete(self, rest),
            Command::Detach => attach::detach(self),
            Command::Directory => working_directory(),
            Command::Disable => points_edit::disable(self, rest),
            Command::Disassemble => disassemble::disassemble(self, rest),
            Command::Display => display::display(self, rest),
            Command::Dump => dump_restore::dump(self, rest),
            Command::DynamicPrint => dprintf::set_dynamic_print(self, rest),
            Command::Enable => points_edit::enable(self, rest),
            Command::Examine => examine::examine(self, rest, observer),
            Command::Find => find::find_in_memory(self, rest),
            Command::Up => self.move_frame(rest, 1),
            Command::Echo => Ok(printf::echo(self, rest)),
            Command::Jump => jump_and_return::jump(self, rest, observer),
            Command::PrintFormatted => printf::printf(self, rest),
            Command::Return => jump_and_return::return_from(self, rest),
            Command::Script => source_script::read_script(self, rest),
            Command::Signal => jump_and_return::go_on_with_signal(self, rest, observer),
            Command::Down => self.move_frame(rest, -1),
            Command::Frame => self.choose_frame(rest),
            Command::SelectFrame => self.choose_frame(rest).map(|_| Outcome::Done),
            Command::FramesApply => frame_apply::apply_to_frames(self, &format!("all -s {rest}")),
            Command::Finish => {
                let level = self.processes.selection.level;
                self.finish_frame(level, observer)
            }
            Command::Handle => handle::handle(self, rest),
            Command::HardwareBreak => hbreak::set_hardware_breakpoint(self, rest, false),
            Command::TemporaryHardwareBreak => hbreak::set_hardware_breakpoint(self, rest, true),
            Command::Help => help(rest),
            Command::Info => info::info(self, rest),
            Command::Kill => running::kill(self),
            Command::List => list::list(self, rest),
            Command::Monitor => monitor::monitor_command(self, rest),
            Command::NameType => ptype::name_type(self, rest),
            Command::Next => running::repeat_lines(self, rest, Lines::Over, observer),
            Command::Step => running::repeat_lines(self, rest, Lines::Into, observer),
            Command::Until if rest.is_empty() => {
                running::repeat_lines(self, "", Lines::Forward, observer)
            }
            Command::Until => self.advance_to(rest, observer),
            Command::NextInstruction => running::repeat_instructions(self, rest, true, observer),
            Command::StepInstruction => running::repeat_instructions(self, rest, false, observer),
            Command::Output => print::output(self, rest),
            Command::Property => property::property_command(self, rest, observer),
            Command::QueueSignal => jump_and_return::queue_signal(self, rest),
            Command::Print => print::print(self, rest, false, observer),
            Command::Process => process::choose_process(self, rest),
            Command::Quit => attach::leave(self).map(|()| Outcome::Quit),
            Command::RegexBreak => breakpoint::break_at_matching(self, rest),
            Command::ReadWatch => watch::set_watchpoint(self, rest, WatchKind::Read),
            Command::Restore => match dump_restore::restore_from_file(self, rest) {
                Some(written) => written,
                None => checkpoint::restore_command(self, rest, observer),
            },
            Command::Run => running::run(self, rest, observer),
            Command::Save => save::save(self, rest),
            Command::Scenario => scenario::scenario_command(self, rest),
            Command::Set => set::set(self, rest),
            Command::Shell => shell(rest, observer),
            Command::Show => shown::show(self, rest),
            Command::ShowGraph => {
                crate::commands::info_graph::graphs(self.processes.monitors.shown(), rest)
            }
            Command::Skip => skip::skip(self, rest),
            Command::Start => running::start_command(self, rest, observer),
            Command::StartInstruction => running::start_instruction(self, rest, observer),
            Command::Thread => thread::choose_thread(self, rest),
            Command::ThreadsApply => backtrace::apply_to_threads(self, &format!("all {rest}")),
            Command::Undisplay => display::undisplay(self, rest),
            Command::Unset => set::unset(self, rest),
            Command::Views => views::views_command(self, rest),
            Command::Watch => watch::set_watchpoint(self, rest, WatchKind::Write),
        }
    }

    /// `frame`, `frame N`, `frame level N`, `frame function NAME`
    fn choose_frame(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let (word, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let level = match (word, name.trim()) {
            ("function", "") => {
                return Err(CommandError::with_help(
                    "the frame of which function?",
                    "for example: frame function main",
                ));
            }
            ("function", name) => {
                // From the selected one outwards, then from the innermost.
                let here = self.processes.selection.level;
                let frames = self.frames()?;
                let is_meant = |frame: &Frame| {
                    let function = frame.name.as_deref();
                    function.is_some_and(|function| juror_symbols::is_name_of(name, function))
                };
                let outer = frames.iter().skip(here).position(is_meant);
                let found = outer
                    .map(|level| level + here)
                    .or_else(|| frames.iter().position(is_meant));
                found.ok_or_else(|| {
                    let message = format!("no frame of this stack is one of `{name}`");
                    CommandError::with_help(message, "see: backtrace")
                })?
            }
            ("apply", which) => return frame_apply::apply_to_frames(self, which),
            ("line", level) => {
                let level = number(level)?.map_or(self.processes.selection.level, |it| it as usize);
                let shown = frames::select_frame(self, level)?;
                return Ok(match shown {
                    Outcome::Frame(view, _) => Outcome::Frame(view, None),
                    other => other,
                });
            }
            ("level", level) => {
                number(level)?.map_or(self.processes.selection.level, |it| it as usize)
            }
            _ => number(rest)?.map_or(self.processes.selection.level, |level| level as usize),
        };
        frames::select_frame(self, level)
    }

    fn move_frame(&mut self, rest: &str, direction: i64) -> Result<Outcome, CommandError> {
        let count = i64::try_from(number(rest)?.unwrap_or(1)).unwrap_or(i64::MAX);
        let level = self.processes.selection.level as i64;
        // What started `main` is nobody's caller, unless one stands in it.
        let frames = self.frames()?;
        let shown = users_frames(frames).unwrap_or(frames.len());
        let last = match shown as i64 - 1 {
            last if level <= last => last,
            _ => frames.len() as i64 - 1,
        };
        let wanted = level.saturating_add(direction.saturating_mul(count));
        if wanted < 0 && level == 0 {
            return Err(CommandError::new("this is the innermost frame"));
        }
        if wanted > last && level == last {
            let is_cut = frames.get(last as usize).is_some_and(|frame| frame.is_cut);
            return Err(CommandError::new(match is_cut {
                true => "the stack is cut here: the caller of this frame cannot be found",
                false => "this is the outermost frame",
            }));
        }
        frames::select_frame(self, wanted.clamp(0, last.max(0)) as usize)
    }

    /// What Enter alone does after this line: mostly the line again; after
    /// `list` of a place, the lines that follow.
    pub fn repetition(&self, line: &str) -> Option<String> {
        let (word, _) = command_table::split_line(line);
        let entry = command_table::find(word)
            .ok()
            .filter(|entry| entry.repeats)?;
        Some(match entry.command {
            Command::List if line.ends_with(" -") => line.to_owned(),
            Command::List | Command::Examine => entry.name.to_owned(),
            _ => line.to_owned(),
        })
    }

    /// All commands, for help.
    pub fn commands(&self) -> Vec<CommandHelp> {
        TABLE.iter().copied().map(command_table::help_of).collect()
    }
}

/// Whether a command may change what is to be planted, in every process.
fn is_about_points(word: &str) -> bool {
    let found = command_table::find(word).map(|entry| entry.command);
    matches!(
        found,
        Ok(Command::Break
            | Command::TemporaryBreak
            | Command::HardwareBreak
            | Command::TemporaryHardwareBreak
            | Command::Catch
            | Command::TemporaryCatch
            | Command::Clear
            | Command::Condition
            | Command::Delete
            | Command::Disable
            | Command::DynamicPrint
            | Command::Enable
            | Command::Handle
            | Command::Property
            | Command::RegexBreak
            | Command::Scenario)
    )
}

fn help(rest: &str) -> Result<Outcome, CommandError> {
    if rest.is_empty() {
        return Ok(Outcome::HelpIndex(
            TABLE.iter().copied().map(command_table::help_of).collect(),
        ));
    }
    let (word, more) = command_table::split_line(rest);
    let entry = find(word)?;
    if let (Command::Info, Ok(subject)) = (entry.command, command_table::find_info_subject(more)) {
        let known = command_table::INFO_SUBJECTS
            .iter()
            .find(|it| it.0 == subject);
        let what = known.map_or("", |it| it.1);
        return Ok(Outcome::Message(format!("info {subject}: {what}")));
    }
    Ok(Outcome::Help(command_table::help_of(entry)))
}
