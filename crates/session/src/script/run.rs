//! The blocks that are being executed: a stack of positions.
//!
//! The front end takes the next line, and executes it as if it had been typed. What the line is for
//! ([`Asked`]) is kept until then.

use crate::script::arguments;
use crate::script::block::{Block, Step};
use crate::script::parse::condition_of;
use juror_fault::CommandError;
use std::rc::Rc;

/// The largest number of steps between two lines that are typed or stops of the program.
const STEPS_MAX: u32 = 1_000_000;

/// The largest number of blocks that have begun one another: more begin themselves, directly or
/// not.
pub(crate) const DEPTH_MAX: usize = 1_000;

/// The origin of the lines of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The commands of a point: the rest is dropped when the program runs.
    Point,
    /// A file.
    File(Rc<str>),
    /// A command that the user has defined.
    Defined,
    /// Lines that a command has made, or a block that was typed.
    Lines,
    /// A command whose hooks are executed around it.
    Hooked,
    /// A hook of a command: the commands in it have none.
    Hook,
    /// The hook of stops.
    StopHook,
}

/// A block that is being executed.
#[derive(Debug)]
struct Position {
    block: Rc<Block>,
    at: usize,
    arguments: Vec<String>,
    origin: Origin,
}

/// The purpose of the line that was taken last.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    /// A command, and its file and line.
    Command(Option<(Rc<str>, usize)>),
    /// A command whose hooks are not to be executed again.
    Hooked,
    /// A condition, which decides what follows.
    Condition(String),
    /// Nothing: it cannot be executed.
    Fault(CommandError),
}

/// The blocks that are being executed; the last one is the innermost.
#[derive(Debug, Default)]
pub(crate) struct Runner {
    stack: Vec<Position>,
    steps: u32,
    asked: Option<(String, Asked)>,
}

impl Runner {
    /// Begins a block before all others.
    pub(crate) fn begin(&mut self, block: Rc<Block>, arguments: Vec<String>, origin: Origin) {
        self.stack.push(Position {
            block,
            at: 0,
            arguments,
            origin,
        });
    }

    /// Returns whether another block may begin: those that have begun do not, in all likelihood,
    /// begin themselves for ever.
    pub(crate) fn may_begin(&self) -> bool {
        self.stack.len() < DEPTH_MAX
    }

    /// Returns whether a block from there is being executed.
    pub(crate) fn is_in(&self, origin: &Origin) -> bool {
        self.stack.iter().any(|it| it.origin == *origin)
    }

    /// Returns how many blocks have begun.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Returns the next line to execute.
    pub(crate) fn next(&mut self) -> Option<String> {
        let taken = self.advance();
        if taken.is_none() {
            self.steps = 0;
        }
        self.asked = taken;
        self.asked.as_ref().map(|(line, _)| line.clone())
    }

    fn advance(&mut self) -> Option<(String, Asked)> {
        loop {
            let top = self.stack.last_mut()?;
            let Some((&step, line)) = top.block.steps.get(top.at).zip(top.block.lines.get(top.at))
            else {
                self.stack.pop();
                continue;
            };
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return Some((line.clone(), Asked::Fault(too_many_steps())));
            }
            if let Step::Go(next) = step {
                top.at = next;
                continue;
            }
            let line = match top.origin {
                Origin::Defined => arguments::substitute(line, &top.arguments),
                _ => Ok(line.clone()),
            };
            return Some(match line {
                Err(fault) => (String::new(), Asked::Fault(fault)),
                Ok(line) => top.ask(step, line),
            });
        }
    }

    /// Returns what a line is for, if it is the one that was taken last.
    pub(crate) fn take_asked(&mut self, line: &str) -> Option<Asked> {
        let (taken, asked) = self.asked.take()?;
        (taken == line).then_some(asked)
    }

    /// Goes on after a condition.
    pub(crate) fn decide(&mut self, truth: bool) {
        if let Some(top) = self.stack.last_mut()
            && let Some(Step::Test { otherwise }) = top.block.steps.get(top.at)
        {
            top.at = if truth { top.at + 1 } else { *otherwise };
        }
    }

    /// Notes that the program has stopped: what runs makes progress.
    pub(crate) fn note_stop(&mut self) {
        self.steps = 0;
    }

    /// Drops the commands of points: the program runs.
    pub(crate) fn drop_points(&mut self) {
        self.stack.retain(|it| it.origin != Origin::Point);
    }

    /// Drops the loops, and what they have begun.
    pub(crate) fn drop_loops(&mut self) {
        let first = self.stack.iter().position(|it| it.block.has_loop);
        if let Some(first) = first {
            self.stack.truncate(first);
        }
    }

    /// Drops all blocks.
    pub(crate) fn clear(&mut self) {
        self.stack.clear();
        self.asked = None;
    }

    /// Takes the lines of the blocks that have begun after the first `depth`.
    ///
    /// # Errors
    /// They have conditions.
    pub(crate) fn take_lines(&mut self, depth: usize) -> Result<Vec<String>, CommandError> {
        let taken = self.stack.split_off(depth.min(self.stack.len()));
        let mut lines = Vec::new();
        for position in taken.into_iter().rev() {
            if !position.block.is_plain() {
                return Err(no_conditions());
            }
            lines.extend(position.block.lines.iter().skip(position.at).cloned());
        }
        Ok(lines)
    }
}

impl Position {
    fn ask(&mut self, step: Step, line: String) -> (String, Asked) {
        if let Step::Test { .. } = step {
            let condition = condition_of(&line).to_owned();
            return (line, Asked::Condition(condition));
        }
        let number = self.block.numbers.get(self.at).copied();
        self.at += 1;
        let asked = match &self.origin {
            Origin::Hooked => Asked::Hooked,
            Origin::File(name) => Asked::Command(number.map(|it| (Rc::clone(name), it))),
            _ => Asked::Command(None),
        };
        (line, asked)
    }
}

/// Returns the error of a block that a scenario cannot execute.
pub(crate) fn no_conditions() -> CommandError {
    CommandError::with_help(
        "a reaction of a scenario cannot execute commands with `if` or `while`",
        "use the conditions of scenarios",
    )
}

fn too_many_steps() -> CommandError {
    CommandError::with_help(
        format!("{STEPS_MAX} lines were executed without a stop of the program"),
        "a loop may have no end",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::parse::{Words, parse_file};

    /// Executes a text: `count N` conditions are true N times. Returns the lines and the fault.
    fn executed(text: &str, truths: &[bool], limit: usize) -> (Vec<String>, Option<String>) {
        let mut runner = Runner::default();
        let block = parse_file(text, Words::default()).expect("a block");
        runner.begin(block, vec!["7".to_owned()], Origin::Defined);
        let mut truths = truths.iter().copied();
        let mut lines = Vec::new();
        while lines.len() < limit
            && let Some(line) = runner.next()
        {
            match runner.take_asked(&line) {
                Some(Asked::Condition(_)) => runner.decide(truths.next().unwrap_or(true)),
                Some(Asked::Fault(error)) => return (lines, Some(error.message)),
                _ => lines.push(line),
            }
        }
        (lines, None)
    }

    #[track_caller]
    fn check(text: &str, truths: &[bool], expected: &[&str]) {
        let (lines, fault) = executed(text, truths, usize::MAX);
        assert_eq!(lines, expected, "{text}");
        assert_eq!(fault, None, "{text}");
    }

    #[test]
    fn conditions_decide() {
        check("if x\na\nelse\nb\nend\nc", &[true], &["a", "c"]);
        check("if x\na\nelse\nb\nend\nc", &[false], &["b", "c"]);
        check("if x\nend", &[true], &[]);
        check(
            "while x\na $arg0\nend\nb",
            &[true, true, false],
            &["a 7", "a 7", "b"],
        );
        check("while x\na\nloop_break\nb\nend\nc", &[true], &["a", "c"]);
        let text = "while x\nif y\nloop_continue\nend\na\nend";
        check(text, &[true, true, true, false, false], &["a"]);
    }

    #[test]
    fn a_loop_without_end_is_ended() {
        let (lines, fault) = executed("while 1\na\nend", &[], usize::MAX);
        assert!(lines.len() > 300_000, "{}", lines.len());
        assert!(fault.is_some_and(|it| it.contains("without a stop")));
        let (_, fault) = executed("while 1\nloop_continue\nend", &[], usize::MAX);
        assert!(fault.is_some());
        let (lines, fault) = executed("a\nb $arg1", &[], usize::MAX);
        assert_eq!(
            (lines.len(), fault.as_deref()),
            (1, Some("`$arg1` is missing"))
        );
    }

    #[test]
    fn the_program_runs_without_the_commands_of_points() {
        let mut runner = Runner::default();
        let lines = |line: &str| Block::of_lines(vec![line.to_owned()]);
        runner.begin(lines("file"), Vec::new(), Origin::Lines);
        runner.begin(lines("point"), Vec::new(), Origin::Point);
        runner.begin(lines("defined"), Vec::new(), Origin::Defined);
        runner.drop_points();
        assert_eq!(runner.next().as_deref(), Some("defined"));
        assert_eq!(runner.next().as_deref(), Some("file"));
        assert_eq!(runner.next(), None);
    }
}
