//! From a line that was typed to what it does: the one place where commands
//! are dispatched.

mod info;
mod running;

use crate::command_table;
use crate::command_table::words::{find, number};
use crate::command_table::{Command, TABLE};
use crate::commands::environment::working_directory;
use crate::commands::shell::shell;
use crate::run::step::Lines;
use crate::session::Session;
use juror_instrument::frames::{Frame, users_frames};
use juror_points::point::Fate;
use juror_points::watchpoints::WatchKind;
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
        if self.attached.is_being_given() {
            return Ok(self.take_given(line));
        }
        let own = command_table::translated(line);
        let line = own.as_deref().unwrap_or(line);
        let (word, rest) = command_table::split_line(line);
        if word.is_empty() || word.starts_with('#') {
            return Ok(Outcome::Done);
        }
        if self.attached.begin_group(line.trim()) {
            return Ok(Outcome::Done);
        }
        let mut result = find(word).and_then(|it| self.dispatch(it.command, rest, observer));
        while let Some((thread, end)) = self.ended_call.take() {
            result = self.resume_evaluation(thread, end, observer);
        }
        self.control.finish();
        self.follow_control();
        result = self.move_for_scenarios(line, result, observer);
        self.control.finish();
        self.follow_control();
        if matches!(result, Err(_) | Ok(Outcome::Quit)) {
            self.attached.give_up();
        }
        if is_about_points(word) {
            self.renew_points()?;
        }
        self.renew_overwritten(observer)?;
        // However it ended, a person types next, and nobody knows what
        // becomes of juror until then.
        if let Some(program) = &mut self.program {
            program.debuggee.take_terminal();
            program.debuggee.rest()?;
        }
        if self.processes.are_several() {
            for program in self.processes.other_programs_mut() {
                program.debuggee.rest()?;
            }
            self.retire_ended();
        }
        self.tell_ends(observer);
        self.tell_printed(observer);
        // A debuggee that vanished under a command is gone for good.
        if let Some(program) = &self.program
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
        while let Some((thread, end)) = self.ended_call.take() {
            result = self.resume_evaluation(thread, end, observer);
        }
        self.control.finish();
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
        if let (Command::Print, Some(value)) = (command, self.kept_without_program(rest)) {
            return Ok(self.shown_kept(value));
        }
        self.permit(command.modes())?;
        self.note_conveniences();
        self.prepare_names(command, rest, observer)?;
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
            Command::AccessWatch => self.set_watchpoint(rest, WatchKind::Access),
            Command::Advance => self.advance_to(rest, observer),
            Command::Attach => self.attach_command(rest, observer),
            Command::Backtrace => self.backtrace(rest),
            Command::Break => self.set_breakpoint(rest, Fate::Keep),
            Command::TemporaryBreak => self.set_breakpoint(rest, Fate::Delete),
            Command::Call => self.print(rest, true, observer),
            Command::Catch => self.catch(rest, false),
            Command::TemporaryCatch => self.catch(rest, true),
            Command::Checkpoint => self.checkpoint_command(rest),
            Command::ChangeDirectory => self.change_directory(rest),
            Command::Clear => self.clear(rest),
            Command::Commands => self.begin_commands(rest),
            Command::CommandGroup => self.group(rest),
            Command::Condition => self.set_condition(rest),
            Command::Ignore => self.ignore(rest),
            Command::ChangeWatch => self.set_watchpoint(rest, WatchKind::Change),
            Command::Continue => self.continue_command(rest, observer),
            Command::DefineType => self.define_type(rest),
            Command::Delete => self.delete(rest),
            Command::Detach => self.detach(),
            Command::Directory => working_directory(),
            Command::Disable => self.disable(rest),
            Command::Disassemble => self.disassemble(rest),
            Command::Display => self.display(rest),
            Command::Dump => self.dump(rest),
            Command::DynamicPrint => self.set_dynamic_print(rest),
            Command::Enable => self.enable(rest),
            Command::Examine => self.examine(rest, observer),
            Command::Find => self.find_in_memory(rest),
            Command::Up => self.move_frame(rest, 1),
            Command::Echo => Ok(self.echo(rest)),
            Command::Jump => self.jump(rest, observer),
            Command::PrintFormatted => self.printf(rest),
            Command::Return => self.return_from(rest),
            Command::Script => self.read_script(rest),
            Command::Signal => self.go_on_with_signal(rest, observer),
            Command::Down => self.move_frame(rest, -1),
            Command::Frame => self.choose_frame(rest),
            Command::SelectFrame => self.choose_frame(rest).map(|_| Outcome::Done),
            Command::FramesApply => self.apply_to_frames(&format!("all -s {rest}")),
            Command::Finish => {
                let level = self.selection.level;
                self.finish_frame(level, observer)
            }
            Command::Handle => self.handle(rest),
            Command::HardwareBreak => self.set_hardware_breakpoint(rest, false),
            Command::TemporaryHardwareBreak => self.set_hardware_breakpoint(rest, true),
            Command::Help => help(rest),
            Command::Info => self.info(rest),
            Command::Kill => self.kill(),
            Command::List => self.list(rest),
            Command::Monitor => self.monitor_command(rest),
            Command::NameType => self.name_type(rest),
            Command::Next => self.repeat_lines(rest, Lines::Over, observer),
            Command::Step => self.repeat_lines(rest, Lines::Into, observer),
            Command::Until if rest.is_empty() => self.repeat_lines("", Lines::Forward, observer),
            Command::Until => self.advance_to(rest, observer),
            Command::NextInstruction => self.repeat_instructions(rest, true, observer),
            Command::StepInstruction => self.repeat_instructions(rest, false, observer),
            Command::Output => self.output(rest),
            Command::Property => self.property_command(rest, observer),
            Command::QueueSignal => self.queue_signal(rest),
            Command::Print => self.print(rest, false, observer),
            Command::Process => self.choose_process(rest),
            Command::Quit => self.leave().map(|()| Outcome::Quit),
            Command::RegexBreak => self.break_at_matching(rest),
            Command::ReadWatch => self.set_watchpoint(rest, WatchKind::Read),
            Command::Restore => match self.restore_from_file(rest) {
                Some(written) => written,
                None => self.restore_command(rest, observer),
            },
            Command::Run => self.run(rest, observer),
            Command::Save => self.save(rest),
            Command::Scenario => self.scenario_command(rest),
            Command::Set => self.set(rest),
            Command::Shell => shell(rest, observer),
            Command::Show => self.show(rest),
            Command::ShowGraph => crate::commands::info_graph::graphs(self.watch.shown(), rest),
            Command::Skip => self.skip(rest),
            Command::Start => self.start_command(rest, observer),
            Command::StartInstruction => self.start_instruction(rest, observer),
            Command::Thread => self.choose_thread(rest),
            Command::ThreadsApply => self.apply_to_threads(&format!("all {rest}")),
            Command::Undisplay => self.undisplay(rest),
            Command::Unset => self.unset(rest),
            Command::Views => self.views_command(rest),
            Command::Watch => self.set_watchpoint(rest, WatchKind::Write),
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
                let here = self.selection.level;
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
            ("apply", which) => return self.apply_to_frames(which),
            ("line", level) => {
                let level = number(level)?.map_or(self.selection.level, |it| it as usize);
                let shown = self.select_frame(level)?;
                return Ok(match shown {
                    Outcome::Frame(view, _) => Outcome::Frame(view, None),
                    other => other,
                });
            }
            ("level", level) => number(level)?.map_or(self.selection.level, |it| it as usize),
            _ => number(rest)?.map_or(self.selection.level, |level| level as usize),
        };
        self.select_frame(level)
    }

    fn move_frame(&mut self, rest: &str, direction: i64) -> Result<Outcome, CommandError> {
        let count = i64::try_from(number(rest)?.unwrap_or(1)).unwrap_or(i64::MAX);
        let level = self.selection.level as i64;
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
        self.select_frame(wanted.clamp(0, last.max(0)) as usize)
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
