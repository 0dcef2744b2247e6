//! The commands of breakpoints and other points, the commands that the user has defined, and the
//! lines of command files.

use crate::script::arguments;
use crate::script::block::Block;
use crate::script::parse::{Parser, Taken, Words};
use crate::script::run::{Asked, Origin, Runner, no_conditions};
use juror_fault::CommandError;
use juror_points::point::Stopping;
use juror_view::driver::FrontEnd;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// As the first command: the stop is not shown.
pub(crate) const SILENT: &str = "silent";

/// The name of the hook of every stop.
const HOOK_OF_STOPS: &str = "hook-stop";

/// Command lines that are being entered, and lines that are to be executed.
#[derive(Debug, Default)]
pub(crate) struct BreakpointCommands {
    /// The lines that are being entered, by front end.
    given: BTreeMap<FrontEnd, Given>,
    /// The front end that the lines come from.
    pub(crate) front_end: FrontEnd,
    pub(crate) runner: Runner,
    /// The points that have stopped the program.
    pub(crate) stopped_by: Vec<u32>,
    /// The commands that the user has defined.
    pub(crate) defined: BTreeMap<String, Defined>,
    /// The names of commands that files define further down.
    pub(crate) promised: BTreeSet<String>,
    /// The meaning of the words of their lines.
    pub(crate) words: Words,
}

/// A command that the user has defined.
#[derive(Debug, Default)]
pub(crate) struct Defined {
    pub(crate) block: Rc<Block>,
    /// The text of `document`.
    pub(crate) text: Vec<String>,
}

/// Lines that are being entered.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) purpose: Purpose,
    pub(crate) parser: Parser,
}

/// The purpose of entered lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The commands of points.
    Points(Vec<u32>),
    /// A command that is defined.
    Define(String),
    /// The help of a command that is defined.
    Document(String),
    /// They are executed at their end.
    Execute,
}

impl BreakpointCommands {
    /// Takes the next command to execute.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.runner.next()
    }

    /// Returns the nesting depth of the lines that are being entered.
    pub(crate) fn input_depth(&self) -> usize {
        self.given().map_or(0, |given| given.parser.depth())
    }

    /// Returns the lines that the front end is entering.
    pub(crate) fn given(&self) -> Option<&Given> {
        self.given.get(&self.front_end)
    }

    /// Drops the lines that the front end is entering.
    pub(crate) fn drop_given(&mut self) {
        self.given.remove(&self.front_end);
    }

    /// Drops the lines entered so far, and all queued commands.
    pub(crate) fn cancel(&mut self) {
        self.drop_given();
        self.give_up();
    }

    /// Begins to take lines.
    pub(crate) fn begin_input(&mut self, purpose: Purpose) {
        let parser = match purpose {
            Purpose::Execute => Parser::new(self.words),
            Purpose::Document(_) => Parser::of_text(self.words),
            Purpose::Points(_) | Purpose::Define(_) => Parser::of_list(self.words),
        };
        self.given.insert(self.front_end, Given { purpose, parser });
    }

    /// Takes a line of those that are being entered, and whether it can succeed. Returns what they
    /// are for and the block, if this was the last one.
    ///
    /// # Errors
    /// The line has no place there or cannot succeed, or it ends a block with such a line.
    pub(crate) fn take_line(
        &mut self,
        line: &str,
        checked: Result<(), CommandError>,
    ) -> Result<Option<(Purpose, Rc<Block>)>, CommandError> {
        let Some(given) = self.given.get_mut(&self.front_end) else {
            return Ok(None);
        };
        given.parser.is_malformed |= checked.is_err();
        let taken = given.parser.take(line);
        let taken = checked.and(taken).map_err(|error| {
            let help = "the lines up to the last `end` are dropped; Ctrl-C drops them now";
            match error.help {
                Some(_) => error,
                None => CommandError::with_help(error.message, help),
            }
        })?;
        if taken == Taken::More {
            return Ok(None);
        }
        let Some(given) = self.given.remove(&self.front_end) else {
            return Ok(None);
        };
        if given.parser.is_malformed {
            Err(CommandError::new(
                "the lines are dropped, since one of them had no place there",
            ))
        } else {
            Ok(Some((given.purpose, given.parser.finish())))
        }
    }

    /// Queues the commands of the points that stop the program. Returns whether they suppress the
    /// display of the stop.
    pub(crate) fn prepare(&mut self, stopping: &Stopping) -> bool {
        self.clear();
        self.stopped_by = stopping.numbers.to_vec();
        let mut is_silent = stopping.errors.is_empty() && stopping.unprinted.is_empty();
        let mut blocks = Vec::new();
        for commands in &stopping.commands {
            let asks = commands.first().is_some_and(|it| it == SILENT);
            is_silent &= asks;
            // They were read when they were entered; what scenarios give is not a block.
            blocks.push(self.block_of(&commands[usize::from(asks)..]));
        }
        for block in blocks.into_iter().rev() {
            self.runner.begin(block, Vec::new(), Origin::Point);
        }
        is_silent
    }

    /// Returns the block of lines that were read before.
    fn block_of(&self, lines: &[String]) -> Rc<Block> {
        let mut parser = Parser::of_list(self.words);
        if lines.iter().all(|line| parser.take(line).is_ok()) {
            parser.finish()
        } else {
            Block::of_lines(lines.to_vec())
        }
    }

    /// Drops the remaining commands of the points that have stopped the program.
    pub(crate) fn clear(&mut self) {
        self.runner.note_stop();
        self.runner.drop_points();
        self.stopped_by.clear();
    }

    /// Queues the hook of stops before all other commands, unless it made the program stop itself.
    pub(crate) fn begin_hook_of_stop(&mut self) {
        let hook = self.defined.get(HOOK_OF_STOPS);
        if let Some(hook) = hook.filter(|_| !self.runner.is_in(&Origin::StopHook)) {
            let block = Rc::clone(&hook.block);
            self.runner.begin(block, Vec::new(), Origin::StopHook);
        }
    }

    /// Returns the numbers of the points that have stopped the program.
    pub(crate) fn stopped_by(&self) -> &[u32] {
        &self.stopped_by
    }

    /// Drops all queued commands.
    pub(crate) fn give_up(&mut self) {
        self.runner.clear();
    }

    /// Returns the number of blocks that have begun.
    pub(crate) fn waiting(&self) -> usize {
        self.runner.depth()
    }

    /// Queues lines before all others.
    pub(crate) fn begin_script(&mut self, lines: Vec<String>) {
        let block = Block::of_lines(lines);
        self.runner.begin(block, Vec::new(), Origin::Lines);
    }

    /// Takes the lines that a command has queued before the `waited` earlier blocks.
    ///
    /// # Errors
    /// They have conditions.
    pub(crate) fn take_script_but(&mut self, waited: usize) -> Result<Vec<String>, CommandError> {
        self.runner.take_lines(waited)
    }

    /// Returns the name of the defined command that a line begins with: it is the word, or begins
    /// with it where no other does and the word means nothing else.
    pub(crate) fn name_in(&self, line: &str) -> Option<&str> {
        let word = line.split_whitespace().next()?;
        if let Some((name, _)) = self.defined.get_key_value(word) {
            return Some(name.as_str());
        }
        if (self.words.is_command)(word) {
            return None;
        }
        let mut candidates = self.defined.keys().filter(|name| name.starts_with(word));
        let found = candidates.next()?;
        candidates.next().is_none().then_some(found.as_str())
    }

    /// Returns the lines of the defined command that a line begins with, with its arguments.
    ///
    /// # Errors
    /// It has conditions, or an argument is missing.
    pub(crate) fn lines_of(&self, line: &str) -> Option<Result<Vec<String>, CommandError>> {
        let defined = self.defined.get(self.name_in(line)?)?;
        if !defined.block.is_plain() {
            return Some(Err(no_conditions()));
        }
        let given = arguments_in(line);
        let lines = defined.block.lines.iter();
        Some(lines.map(|it| arguments::substitute(it, &given)).collect())
    }

    /// Queues the commands of a defined command, if a line begins with its name. Returns whether it
    /// does.
    ///
    /// # Errors
    /// The command begins itself.
    pub(crate) fn begin_defined(&mut self, line: &str) -> Result<bool, CommandError> {
        let Some(name) = self.name_in(line).map(str::to_owned) else {
            return Ok(false);
        };
        if !self.runner.may_begin() {
            return Err(CommandError::with_help(
                format!("`{name}` begins itself without end"),
                "one of its commands, or of those that it begins, is its own name",
            ));
        }
        if let Some(defined) = self.defined.get(&name) {
            let block = Rc::clone(&defined.block);
            self.runner
                .begin(block, arguments_in(line), Origin::Defined);
        }
        Ok(true)
    }

    /// Queues a line with the hooks of its command around it. Returns whether there are any.
    pub(crate) fn begin_hooked(&mut self, name: &str, line: &str) -> bool {
        let before = self.defined.get(&format!("hook-{name}"));
        let after = self.defined.get(&format!("hookpost-{name}"));
        let is_hooked = before.is_some() || after.is_some();
        if !is_hooked || self.runner.is_in(&Origin::Hook) || !self.runner.may_begin() {
            return false;
        }
        let blocks = [before, after].map(|it| it.map(|it| Rc::clone(&it.block)));
        let [before, after] = blocks;
        if let Some(after) = after {
            self.runner.begin(after, Vec::new(), Origin::Hook);
        }
        let line = Block::of_lines(vec![line.to_owned()]);
        self.runner.begin(line, Vec::new(), Origin::Hooked);
        if let Some(before) = before {
            self.runner.begin(before, Vec::new(), Origin::Hook);
        }
        true
    }

    /// Returns what a line is for that [`BreakpointCommands::next`] has returned.
    pub(crate) fn take_asked(&mut self, line: &str) -> Option<Asked> {
        self.runner.take_asked(line)
    }

    /// Returns whether commands are being entered: lines are stored, not executed.
    pub(crate) fn is_being_given(&self) -> bool {
        self.given().is_some()
    }
}

/// Returns the arguments in a line.
fn arguments_in(line: &str) -> Vec<String> {
    let line = line.trim();
    let rest = line.split_once(char::is_whitespace).map_or("", |it| it.1);
    arguments::split(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes the queued lines, at most `limit`. Returns how many lines there were, and the error.
    fn perform(commands: &mut BreakpointCommands, limit: usize) -> (usize, Option<CommandError>) {
        let mut count = 0;
        while count < limit
            && let Some(line) = commands.next()
        {
            count += 1;
            if let Some(Asked::Fault(error)) = commands.take_asked(&line) {
                return (count, Some(error));
            }
            if let Err(error) = commands.begin_defined(&line) {
                return (count, Some(error));
            }
        }
        (count, None)
    }

    fn commands(defined: &[(&str, &[&str])]) -> BreakpointCommands {
        let defined = defined.iter().map(|(name, lines)| {
            let lines = lines.iter().map(|line| (*line).to_owned()).collect();
            let block = Block::of_lines(lines);
            let text = Vec::new();
            ((*name).to_owned(), Defined { block, text })
        });
        BreakpointCommands {
            defined: defined.collect(),
            ..BreakpointCommands::default()
        }
    }

    #[test]
    fn a_command_that_begins_itself_ends() {
        let itself = commands(&[("a", &["next", "a"])]);
        let each_other = commands(&[("a", &["b"]), ("b", &["next", "a"])]);
        let before = commands(&[("a", &["a", "next"])]);
        for mut commands in [itself, each_other, before] {
            commands.begin_script(vec!["a".to_owned()]);
            let (_, error) = perform(&mut commands, 1_000_000);
            assert!(error.is_some_and(|it| it.message.contains("without end")));
        }
    }

    #[test]
    fn commands_that_end_begin_as_often_as_they_are_typed() {
        let mut commands = commands(&[("a", &["next"])]);
        for _ in 0..2 * crate::script::run::DEPTH_MAX {
            commands.begin_script(vec!["a".to_owned()]);
            assert_eq!(perform(&mut commands, 1_000_000), (2, None));
        }
    }

    #[test]
    fn a_hooked_line_stands_between_its_hooks() {
        let mut commands = commands(&[
            ("hook-next", &["before"]),
            ("hookpost-next", &["after"]),
            ("hookpost-step", &["after"]),
        ]);
        assert!(!commands.begin_hooked("continue", "c 2"));
        assert!(commands.begin_hooked("next", "n 3"));
        // The commands of a hook have no hooks.
        assert!(!commands.begin_hooked("step", "s"));
        let mut lines = Vec::new();
        while let Some(line) = commands.next() {
            let is_hooked = commands.take_asked(&line) == Some(Asked::Hooked);
            lines.push((line, is_hooked));
        }
        let expected = [("before", false), ("n 3", true), ("after", false)];
        assert_eq!(lines, expected.map(|(line, is)| (line.to_owned(), is)));
    }

    #[test]
    fn a_malformed_block_is_dropped_at_its_end() {
        let mut commands = BreakpointCommands::default();
        commands.begin_input(Purpose::Execute);
        assert_eq!(commands.take_line("if x", Ok(())), Ok(None));
        assert!(commands.take_line("loop_break", Ok(())).is_err());
        assert_eq!(commands.take_line("print x", Ok(())), Ok(None));
        assert_eq!(commands.input_depth(), 1);
        let error = commands
            .take_line("end", Ok(()))
            .expect_err("it is malformed");
        assert!(error.message.contains("are dropped"));
        assert!(!commands.is_being_given());
    }

    #[test]
    fn each_front_end_has_its_own_block() {
        let mut commands = BreakpointCommands::default();
        commands.begin_input(Purpose::Execute);
        assert_eq!(commands.take_line("if x", Ok(())), Ok(None));
        commands.front_end = FrontEnd::Page;
        assert!(!commands.is_being_given());
        assert_eq!(commands.input_depth(), 0);
        commands.begin_input(Purpose::Execute);
        assert_eq!(commands.take_line("while y", Ok(())), Ok(None));
        commands.cancel();
        commands.front_end = FrontEnd::Prompt;
        assert_eq!(commands.input_depth(), 1);
        let taken = commands
            .take_line("end", Ok(()))
            .expect("it is well formed");
        assert_eq!(taken.map(|(purpose, _)| purpose), Some(Purpose::Execute));
    }

    #[test]
    fn a_name_may_be_abbreviated_where_it_means_nothing_else() {
        let mut commands = commands(&[("looking", &[]), ("zoom-in", &[]), ("zoom-out", &[])]);
        commands.words.is_command = |word| "list".starts_with(word);
        for (line, expected) in [
            ("looking 1", Some("looking")),
            ("look", Some("looking")),
            // `list` begins with it.
            ("l", None),
            ("zoom", None),
            ("zoom-o x", Some("zoom-out")),
        ] {
            assert_eq!(commands.name_in(line), expected, "{line}");
        }
    }
}
