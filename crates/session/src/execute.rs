//! From a line that was typed to what it does: the one place where commands
//! are dispatched.

use crate::breakpoints::Resolvable;
use crate::commands::{self, Command, Completes, Entry, TABLE, Unclear};
use crate::options::{CommandError, Observer};
use crate::place;
use crate::run::Pause;
use crate::session::Session;
use crate::step::Lines;
use crate::view::{CommandHelp, Outcome, StopReason};
use juror_instrument::scope::FrameScope;
use std::ffi::OsString;

/// Candidates that a completion gives at the most.
const CANDIDATES_MAX: usize = 500;

impl Session {
    /// Executes a line. An empty line does nothing; what Enter repeats is the
    /// front end's business ([`Session::repeats`]).
    ///
    /// # Errors
    /// The line is not a command, or the command cannot be done; the session
    /// goes on.
    pub fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let (word, rest) = commands::split_line(line);
        if word.is_empty() || word.starts_with('#') {
            return Ok(Outcome::Done);
        }
        let entry = find(word)?;
        let result = self.dispatch(entry.command, rest, observer);
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

    fn dispatch(
        &mut self,
        command: Command,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        // Before its beginning the program stands in the dynamic linker, which
        // nobody asked about.
        if let Command::Backtrace
        | Command::Frame
        | Command::Up
        | Command::Down
        | Command::Finish
        | Command::Next
        | Command::Step
        | Command::Until = command
        {
            self.begun()?;
        }
        match command {
            Command::Advance => self.advance_to(rest, observer),
            Command::Backtrace => self.backtrace(rest),
            Command::Break => self.set_breakpoint(rest, false),
            Command::TemporaryBreak => self.set_breakpoint(rest, true),
            Command::Continue => self.continue_command(rest, observer),
            Command::Delete => self.delete(rest),
            Command::Disable => self.enable(rest, false),
            Command::Enable => self.enable(rest, true),
            Command::Up => self.move_frame(rest, 1),
            Command::Down => self.move_frame(rest, -1),
            Command::Frame => {
                let level = number(rest)?.map_or(self.selection.level, |level| level as usize);
                self.select_frame(level)
            }
            Command::Finish => {
                let level = self.selection.level;
                self.finish_frame(level, observer, true)
            }
            Command::Help => help(rest),
            Command::Info => self.info(rest),
            Command::Kill => self.kill(),
            Command::List => self.list(rest),
            Command::Monitor => self.monitors(rest),
            Command::Next => self.repeat_lines(rest, Lines::Over, observer),
            Command::Step => self.repeat_lines(rest, Lines::Into, observer),
            Command::Until if rest.is_empty() => self.repeat_lines("", Lines::Forward, observer),
            Command::Until => self.advance_to(rest, observer),
            Command::NextInstruction => self.repeat_instructions(rest, true, observer),
            Command::StepInstruction => self.repeat_instructions(rest, false, observer),
            Command::Print => self.print(rest),
            Command::Quit => {
                if let Some(program) = &mut self.program {
                    let _ = program.debuggee.kill();
                }
                self.forget_program();
                Ok(Outcome::Quit)
            }
            Command::Run => self.run(rest, observer),
            Command::Start => self.start_command(rest, observer),
            Command::Thread => self.choose_thread(rest),
        }
    }

    /// `run`: goes on from the start, or starts anew.
    fn run(&mut self, rest: &str, observer: &mut dyn Observer) -> Result<Outcome, CommandError> {
        self.prepare_run(rest)?;
        self.continue_run(observer)
    }

    fn prepare_run(&mut self, rest: &str) -> Result<(), CommandError> {
        if !rest.is_empty() {
            self.set_arguments(split_words(rest)?);
        }
        if self.is_fresh && rest.is_empty() {
            return Ok(());
        }
        if let Some(program) = &mut self.program {
            program.debuggee.kill()?;
        }
        self.forget_program();
        self.watch.restart(self.options.history);
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
            for position in self.breakpoints.at(frame.pc) {
                if let Some(breakpoint) = self.breakpoints.get_mut(position) {
                    breakpoint.ignore = count - 1;
                }
            }
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
            let outcome = self.step_line(lines, observer)?;
            let stepped =
                matches!(&outcome, Outcome::Stopped(view) if view.reason == StopReason::Step);
            if round == count || !stepped {
                return Ok(outcome);
            }
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

    fn set_breakpoint(&mut self, rest: &str, temporary: bool) -> Result<Outcome, CommandError> {
        let placed = place::parse(rest).map_err(CommandError::new)?;
        let condition = match &placed.condition {
            None => None,
            Some(text) => {
                let (expression, diagnostics) = juror_language::parse_expression(text);
                if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
                    return Err(CommandError {
                        message: format!("in the condition: {}", error.message),
                        help: error.help.clone(),
                    });
                }
                expression
            }
        };
        let place = self.resolvable(&placed.place)?;
        let resolved = place.resolve(self.modules());
        if resolved.addresses.is_empty()
            && let Resolvable::Function(name) = &place
        {
            self.check_function_name(name)?;
        }
        if resolved.addresses.is_empty()
            && let Resolvable::Line(file, line) = &place
            && self.is_source_file(file)
        {
            return Err(CommandError::new(format!(
                "there is no code at line {line} of {file}, nor after it"
            )));
        }
        let text = if rest.is_empty() { "here" } else { rest };
        let program = self.program.as_mut();
        let number = self
            .breakpoints
            .add(program, text, place, condition, temporary)?;
        let kind = if temporary {
            "temporary breakpoint"
        } else {
            "breakpoint"
        };
        let mut message = match resolved.addresses.as_slice() {
            [] => format!(
                "{kind} {number} at {text}: no loaded module has it; it waits for one that does"
            ),
            [address] => format!("{kind} {number} at {}", self.place_words(*address)),
            several => format!("{kind} {number} at {text} ({} places)", several.len()),
        };
        if let Some(line) = resolved.moved_to_line {
            message.push_str(&format!(
                " (the line has no code; line {line} is the next that has)"
            ));
        }
        Ok(Outcome::Message(message))
    }

    fn place_words(&self, address: u64) -> String {
        let described = self.modules().describe(address);
        match (described.function, described.file, described.line) {
            (Some(function), Some(file), Some(line)) => {
                let file = file
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                format!(
                    "{address:#x}: {function}, {}:{line}",
                    file.unwrap_or_default()
                )
            }
            (Some(function), ..) => format!("{address:#x}: {function}"),
            _ => format!("{address:#x}"),
        }
    }

    /// A name that nothing has is a slip when something near has one;
    /// otherwise it may belong to a library to come.
    fn check_function_name(&self, name: &str) -> Result<(), CommandError> {
        let mut names: Vec<String> = Vec::new();
        for module in self.modules().iter() {
            names.extend(module.symbols.function_names());
        }
        match juror_language::suggest(name, names.iter().map(String::as_str)) {
            Some(near) => Err(CommandError::with_help(
                format!("there is no function `{name}`"),
                format!("did you mean `{near}`?"),
            )),
            None => Ok(()),
        }
    }

    fn is_source_file(&self, file: &str) -> bool {
        let is_meant = |known: &std::path::Path| known.ends_with(file);
        self.modules().iter().any(|module| {
            module
                .symbols
                .source_files()
                .iter()
                .any(|known| is_meant(known))
        })
    }

    fn delete(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let numbers = numbers(rest)?;
        let unknown = self.breakpoints.delete(self.program.as_mut(), &numbers)?;
        no_breakpoint(unknown)
    }

    fn enable(&mut self, rest: &str, enabled: bool) -> Result<Outcome, CommandError> {
        let numbers = numbers(rest)?;
        let unknown = self
            .breakpoints
            .enable(self.program.as_mut(), &numbers, enabled)?;
        no_breakpoint(unknown)
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
        if let "args" | "locals" | "frame" | "line" | "source" = subject {
            self.begun()?;
        }
        match subject {
            "args" => self.variables(true),
            "locals" => self.variables(false),
            "breakpoints" => Ok(self.points()),
            "frame" => {
                let level = self.selection.level;
                self.select_frame(level)
            }
            "line" | "source" => self.line_info(),
            "monitors" => self.monitors(""),
            "registers" => self.registers(),
            "sharedlibrary" => self.shared_libraries(),
            _ => self.threads(),
        }
    }

    fn kill(&mut self) -> Result<Outcome, CommandError> {
        self.running_mut()?.debuggee.kill()?;
        Ok(Outcome::Ended(Box::new(self.end(None))))
    }

    /// Whether Enter alone does this line again.
    pub fn repeats(&self, line: &str) -> bool {
        let (word, _) = commands::split_line(line);
        commands::find(word).is_ok_and(|entry| entry.repeats)
    }

    /// Where the word at `position` begins, and what it may become.
    pub fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        let before = line.get(..position).unwrap_or(line);
        let trimmed = before.trim_start();
        let word_end = trimmed.find(|c: char| c.is_whitespace() || c == '/');
        let Some(word_end) = word_end else {
            let names = TABLE.iter().map(|entry| entry.name.to_owned());
            return (before.len() - trimmed.len(), matching(names, trimmed));
        };
        let Ok(entry) = commands::find(&trimmed[..word_end]) else {
            return (position, Vec::new());
        };
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '/' | '$');
        let start = before.rfind(|c: char| !is_part(c)).map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
        let prefix = &before[start..];
        let candidates = match entry.completes {
            Completes::Nothing => Vec::new(),
            Completes::Commands => TABLE.iter().map(|entry| entry.name.to_owned()).collect(),
            Completes::InfoSubjects => commands::INFO_SUBJECTS
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            Completes::Properties => self
                .watch
                .watched
                .iter()
                .map(|watched| watched.property.name.to_string())
                .collect(),
            Completes::Places => self.place_names(),
            Completes::Expressions => self.expression_names(),
        };
        (start, matching(candidates.into_iter(), prefix))
    }

    fn place_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for module in self.modules().iter().filter(|module| module.is_main) {
            names.extend(module.symbols.function_names());
            let files = module.symbols.source_files();
            names.extend(
                files
                    .iter()
                    .filter_map(|f| Some(format!("{}:", f.file_name()?.to_string_lossy()))),
            );
        }
        names
    }

    fn expression_names(&mut self) -> Vec<String> {
        let Ok(frames) = self.frames().map(<[_]>::to_vec) else {
            return Vec::new();
        };
        let Some(program) = &self.program else {
            return Vec::new();
        };
        let level = self.selection.level;
        FrameScope {
            program,
            frames: &frames,
            level,
            convenience: &|_| None,
        }
        .names()
    }

    /// All commands, for help.
    pub fn commands(&self) -> Vec<CommandHelp> {
        TABLE.iter().map(commands::help_of).collect()
    }
}

fn matching(names: impl Iterator<Item = String>, prefix: &str) -> Vec<String> {
    let mut found: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    found.sort();
    found.dedup();
    found.truncate(CANDIDATES_MAX);
    found
}

fn find(word: &str) -> Result<&'static Entry, CommandError> {
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
            TABLE.iter().map(commands::help_of).collect(),
        ));
    }
    find(rest).map(|entry| Outcome::Help(commands::help_of(entry)))
}

fn no_breakpoint(unknown: Option<u32>) -> Result<Outcome, CommandError> {
    match unknown {
        None => Ok(Outcome::Done),
        Some(number) => Err(CommandError::with_help(
            format!("there is no breakpoint {number}"),
            "see: info breakpoints",
        )),
    }
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

fn numbers(text: &str) -> Result<Vec<u32>, CommandError> {
    text.split_whitespace()
        .map(|word| {
            word.parse()
                .map_err(|_| CommandError::new(format!("`{word}` is not a number")))
        })
        .collect()
}

/// Splits arguments as a shell does: quotes and backslashes, nothing else.
fn split_words(text: &str) -> Result<Vec<OsString>, CommandError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => {
                word.get_or_insert_default()
                    .push(characters.next().unwrap_or('\\'));
            }
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(CommandError::new("a quote is not closed"));
    }
    words.extend(word);
    Ok(words.into_iter().map(OsString::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_as_a_shell_does() {
        for (text, expected) in [
            ("a b", &["a", "b"][..]),
            ("  'a b'  c", &["a b", "c"]),
            (r#""a \" b" c\ d"#, &["a \" b", "c d"]),
            ("''", &[""]),
            ("", &[]),
        ] {
            let words = split_words(text).unwrap();
            assert_eq!(
                words,
                expected.iter().map(OsString::from).collect::<Vec<_>>(),
                "{text}"
            );
        }
        assert!(split_words("'a").is_err());
    }
}
