//! From a line that was typed to what it does: the one place where commands
//! are dispatched.

use crate::command_line::CommandLine;
use crate::commands::{self, Command, Entry, TABLE, Unclear};
use crate::names::Listed;
use crate::options::{CommandError, Observer};
use crate::points::Fate;
use crate::run::Pause;
use crate::session::Session;
use crate::step::Lines;
use crate::view::{CommandHelp, Outcome, StopReason};
use crate::watchpoints::WatchKind;
use juror_debuggee::Origin;
use juror_instrument::occasions::is_about_memory;

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
        let own = commands::translated(line);
        let line = own.as_deref().unwrap_or(line);
        let (word, rest) = commands::split_line(line);
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
        if result.is_err() {
            self.attached.clear();
        }
        if is_about_points(word) {
            self.renew_points()?;
        }
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
        let own = commands::translated(line);
        let (word, rest) = commands::split_line(own.as_deref().unwrap_or(line));
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
        self.permit(command.modes())?;
        match command {
            Command::Continue => self.choose_evaluation(false)?,
            Command::Advance
            | Command::Finish
            | Command::Next
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
            Command::Clear => self.clear(rest),
            Command::Commands => self.begin_commands(rest),
            Command::CommandGroup => self.group(rest),
            Command::Condition => self.set_condition(rest),
            Command::Ignore => self.ignore(rest),
            Command::ChangeWatch => self.set_watchpoint(rest, WatchKind::Change),
            Command::Continue => self.continue_command(rest, observer),
            Command::Delete => self.delete(rest),
            Command::Detach => self.detach(),
            Command::Disable => self.disable(rest),
            Command::Disassemble => self.disassemble(rest),
            Command::Enable => self.enable(rest),
            Command::Examine => self.examine(rest),
            Command::Up => self.move_frame(rest, 1),
            Command::Down => self.move_frame(rest, -1),
            Command::Frame => {
                let level = number(rest)?.map_or(self.selection.level, |level| level as usize);
                self.select_frame(level)
            }
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
            Command::Next => self.repeat_lines(rest, Lines::Over, observer),
            Command::Step => self.repeat_lines(rest, Lines::Into, observer),
            Command::Until if rest.is_empty() => self.repeat_lines("", Lines::Forward, observer),
            Command::Until => self.advance_to(rest, observer),
            Command::NextInstruction => self.repeat_instructions(rest, true, observer),
            Command::StepInstruction => self.repeat_instructions(rest, false, observer),
            Command::Property => self.property_command(rest),
            Command::Print => self.print(rest, false, observer),
            Command::Process => self.choose_process(rest),
            Command::Quit => self.leave().map(|()| Outcome::Quit),
            Command::ReadWatch => self.set_watchpoint(rest, WatchKind::Read),
            Command::Restore => self.restore_command(rest, observer),
            Command::Run => self.run(rest, observer),
            Command::Scenario => self.scenario_command(rest),
            Command::Set => self.set(rest),
            Command::ShowGraph => self.graphs(rest),
            Command::Start => self.start_command(rest, observer),
            Command::Thread => self.choose_thread(rest),
            Command::Watch => self.set_watchpoint(rest, WatchKind::Write),
        }
    }

    /// `run`: goes on from the start, or starts anew.
    fn run(&mut self, rest: &str, observer: &mut dyn Observer) -> Result<Outcome, CommandError> {
        self.prepare_run(rest)?;
        self.continue_run(observer)
    }

    fn prepare_run(&mut self, rest: &str) -> Result<(), CommandError> {
        let line = match rest {
            "" => None,
            _ => Some(CommandLine::parse(rest)?),
        };
        if self.is_fresh() && line.is_none() {
            return Ok(());
        }
        if self.options.program.as_os_str().is_empty() {
            return Err(CommandError::with_help(
                "no program is named that could be run",
                "start juror with one, juror ./program, or attach to a process: attach 1234",
            ));
        }
        if let Some(program) = &self.program
            && program.debuggee.origin() == Origin::Attached
        {
            return Err(CommandError::with_help(
                "this process was running before juror came",
                "let it go on with detach, or end it with kill; then run starts the program",
            ));
        }
        let redirections = line.as_ref().map(|line| &line.redirections);
        redirections.unwrap_or(&self.redirections).check()?;
        if let Some(line) = line {
            self.options.arguments = line.arguments;
            self.redirections = line.redirections;
        }
        self.kill_processes()?;
        self.forget_program();
        self.watch.restart(self.options.history);
        self.forget_hits();
        self.restart_scenarios()?;
        self.launch()?;
        Ok(())
    }

    /// `start`: runs to `main`.
    fn start_command(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.prepare_run(rest)?;
        let place = self.main_function();
        let program = self.running_mut()?;
        let addresses = place.resolve(&program.modules).addresses;
        if addresses.is_empty() {
            // Without symbols the entry point is the beginning.
            let Some(main) = program.modules.main() else {
                return Err(CommandError::new(
                    "the program has no beginning that is known",
                ));
            };
            let entry = main.to_process(main.symbols.header().entry);
            let pause = self.run_to_any(
                &[crate::run::Temporary {
                    address: entry,
                    thread: None,
                    above: 0,
                }],
                observer,
            )?;
            return self.settle_at(pause);
        }
        let points: Vec<_> = addresses
            .into_iter()
            .map(|address| crate::run::Temporary {
                address,
                thread: None,
                above: 0,
            })
            .collect();
        let pause = self.run_to_any(&points, observer)?;
        self.settle_at(pause)
    }

    fn settle_at(&mut self, pause: Pause) -> Result<Outcome, CommandError> {
        match pause {
            Pause::Temporary(thread) => self.stop(StopReason::Started, thread),
            other => self.settle(other),
        }
    }

    /// `continue N`: the present breakpoint is passed N - 1 times more.
    fn continue_command(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        if let Some(count) = number(rest)?.filter(|&count| count > 1) {
            let frame = self.selected_frame()?;
            self.breakpoints.ignore_at(frame.pc, count - 1);
        }
        self.running()?;
        self.continue_run(observer)
    }

    fn repeat_lines(
        &mut self,
        rest: &str,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let count = number(rest)?.unwrap_or(1).max(1);
        for round in 1..=count {
            let pause = self.step_line(lines, observer)?;
            let (Pause::Stepped(thread) | Pause::Temporary(thread)) = pause else {
                return self.settle(pause);
            };
            // Only the last one is shown.
            if round == count {
                return self.settle(pause);
            }
            if let Some(pause) = self.announce_breakpoint(thread)? {
                return self.settle(pause);
            }
            self.select_thread(thread);
        }
        Ok(Outcome::Done)
    }

    fn repeat_instructions(
        &mut self,
        rest: &str,
        over_calls: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let count = number(rest)?.unwrap_or(1).max(1);
        let thread = self.thread()?;
        for round in 1..=count {
            let pause = if over_calls {
                self.next_instruction(thread, observer)?
            } else {
                self.step_instruction(thread, observer)?
            };
            let done = matches!(pause, Pause::Stepped(_) | Pause::Temporary(_));
            if round == count || !done {
                return self.settle(pause);
            }
        }
        Ok(Outcome::Done)
    }

    fn move_frame(&mut self, rest: &str, direction: i64) -> Result<Outcome, CommandError> {
        let count = i64::try_from(number(rest)?.unwrap_or(1)).unwrap_or(i64::MAX);
        let level = self.selection.level as i64;
        let last = self.frames()?.len() as i64 - 1;
        let wanted = level.saturating_add(direction.saturating_mul(count));
        if wanted < 0 && level == 0 {
            return Err(CommandError::new("this is the innermost frame"));
        }
        if wanted > last && level == last {
            return Err(CommandError::new("this is the outermost frame"));
        }
        self.select_frame(wanted.clamp(0, last.max(0)) as usize)
    }

    fn info(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let word = rest.split_whitespace().next().unwrap_or("");
        if word.is_empty() {
            let subjects = commands::INFO_SUBJECTS;
            let lines: Vec<String> = subjects
                .iter()
                .map(|(name, what)| format!("info {name:<14} {what}"))
                .collect();
            return Ok(Outcome::Message(lines.join("\n")));
        }
        let subject = commands::find_info_subject(word).map_err(|unclear| {
            let names = || commands::INFO_SUBJECTS.iter().map(|(name, _)| *name);
            unclear_error(
                word,
                &unclear,
                "subject of info",
                juror_language::suggest(word, names()),
            )
        })?;
        let argument = rest.strip_prefix(word).unwrap_or("").trim();
        if subject == "line" && !argument.is_empty() {
            return self.line_of_place(argument);
        }
        self.permit(commands::info_modes(subject))?;
        match subject {
            "args" => self.variables(true),
            "locals" => self.variables(false),
            "breakpoints" => Ok(self.points()),
            "checkpoints" => self.checkpoint_views(),
            "evaluations" => self.evaluation_views(),
            "frame" => {
                let level = self.selection.level;
                self.select_frame(level)
            }
            "functions" => self.names(Listed::Functions, argument),
            "line" | "source" => self.line_info(subject == "source"),
            "graph" => self.graphs(argument),
            "monitors" => self.monitors(""),
            "processes" => self.process_views(),
            "registers" => self.registers(),
            "watchpoints" => {
                let mut views = self.watchpoint_views();
                views.extend(self.monitor_points(is_about_memory));
                Ok(Outcome::Points(views))
            }
            "scope" => self.scope(argument),
            "signals" => self.signals(argument),
            "scenarios" => self.scenario_views(argument),
            "sharedlibrary" => self.shared_libraries(),
            "symbol" => self.symbol(argument),
            "types" => self.names(Listed::Types, argument),
            "variables" => self.names(Listed::Variables, argument),
            _ => self.threads(),
        }
    }

    fn kill(&mut self) -> Result<Outcome, CommandError> {
        self.running()?;
        self.kill_processes()?;
        Ok(Outcome::Ended(Box::new(self.end(None))))
    }

    /// What Enter alone does after this line: mostly the line again; after
    /// `list` of a place, the lines that follow.
    pub fn repetition(&self, line: &str) -> Option<String> {
        let (word, _) = commands::split_line(line);
        let entry = commands::find(word).ok().filter(|entry| entry.repeats)?;
        Some(match entry.command {
            Command::List | Command::Examine => entry.name.to_owned(),
            _ => line.to_owned(),
        })
    }

    /// All commands, for help.
    pub fn commands(&self) -> Vec<CommandHelp> {
        TABLE.iter().copied().map(commands::help_of).collect()
    }
}

/// Whether a command may change what is to be planted, in every process.
fn is_about_points(word: &str) -> bool {
    let found = commands::find(word).map(|entry| entry.command);
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
            | Command::Enable
            | Command::Handle
            | Command::Property
            | Command::Scenario)
    )
}

fn find(word: &str) -> Result<&'static Entry, CommandError> {
    if word == "end" {
        return Err(CommandError::with_help(
            "`end` ends the commands of a breakpoint, and none are being given",
            "begin with: commands N",
        ));
    }
    commands::find(word).map_err(|unclear| {
        let names = TABLE.iter().map(|entry| entry.name);
        unclear_error(
            word,
            &unclear,
            "command",
            juror_language::suggest(word, names),
        )
    })
}

fn unclear_error(word: &str, unclear: &Unclear, what: &str, near: Option<String>) -> CommandError {
    match unclear {
        Unclear::Unknown => CommandError::with_help(
            format!("there is no {what} `{word}`"),
            match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "type `help` to see all".to_owned(),
            },
        ),
        Unclear::Ambiguous(names) => {
            CommandError::new(format!("`{word}` may be {}", names.join(", ")))
        }
    }
}

fn help(rest: &str) -> Result<Outcome, CommandError> {
    if rest.is_empty() {
        return Ok(Outcome::HelpIndex(
            TABLE.iter().copied().map(commands::help_of).collect(),
        ));
    }
    find(rest).map(|entry| Outcome::Help(commands::help_of(entry)))
}

pub(crate) fn number(text: &str) -> Result<Option<u64>, CommandError> {
    match text.trim() {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|_| CommandError::new(format!("`{text}` is not a number"))),
    }
}
