//! `thread`: which one is selected, names of the person's own, and what is searched for
//! among names.

use crate::command_table::split_line;
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_view::error::CommandError;
use juror_view::{Outcome, ThreadView};
use regex::Regex;

/// How `thread` is written.
const HELP: &str = "for example: thread 2, thread name reader, thread find read, \
                    thread apply all backtrace";

impl Session {
    /// `thread`, `thread N`, `thread name NAME`, `thread find REGEX`, `thread apply …`
    pub(crate) fn choose_thread(&mut self, text: &str) -> Result<Outcome, CommandError> {
        match split_line(text) {
            ("", _) => {
                let thread = self.thread()?;
                let number = self.running()?.thread_number(thread);
                Ok(Outcome::Message(format!(
                    "thread {number} (kernel id {})",
                    thread.0
                )))
            }
            ("apply", rest) => self.apply_to_threads(rest),
            ("name", name) => self.name_thread(name),
            ("find", pattern) => self.find_thread(pattern),
            ("line", number) => self.thread_line(number),
            ("back", rest) => self.back_to_thread(rest),
            (number, _) => {
                let thread = self.thread_numbered(number)?;
                self.select_thread(thread);
                self.select_frame(0)
            }
        }
    }

    fn thread_numbered(&self, text: &str) -> Result<ThreadId, CommandError> {
        let number: u32 = text.trim().parse().map_err(|_| {
            CommandError::with_help(format!("`{text}` is not a thread's number"), HELP)
        })?;
        let program = self.running()?;
        let known = program.thread_of_number(number);
        let is_alive = |thread: &ThreadId| program.debuggee.thread_ids().any(|it| it == *thread);
        known.filter(is_alive).ok_or_else(|| {
            CommandError::with_help(format!("there is no thread {number}"), "see: info threads")
        })
    }

    /// `thread name NAME`: juror calls the selected thread so; without a name, as the
    /// program does.
    fn name_thread(&mut self, name: &str) -> Result<Outcome, CommandError> {
        let thread = self.thread()?;
        match name.trim() {
            "" => self.thread_names.0.remove(&thread),
            name => self.thread_names.0.insert(thread, name.to_owned()),
        };
        Ok(Outcome::Done)
    }

    /// `thread find REGEX`: the threads whose names, or whose numbers of the kernel, match.
    fn find_thread(&mut self, pattern: &str) -> Result<Outcome, CommandError> {
        if pattern.is_empty() {
            return Err(CommandError::with_help("find which thread?", HELP));
        }
        let pattern = Regex::new(pattern).map_err(|error| {
            CommandError::new(format!("this is no regular expression: {error}"))
        })?;
        let Outcome::Threads(threads) = self.threads()? else {
            return Err(CommandError::new("there are no threads"));
        };
        let is_meant = |thread: &ThreadView| {
            pattern.is_match(&thread.name) || pattern.is_match(&thread.id.to_string())
        };
        let found: Vec<ThreadView> = threads.into_iter().filter(is_meant).collect();
        match found.is_empty() {
            true => Ok(Outcome::Message("no thread has such a name".to_owned())),
            false => Ok(Outcome::Threads(found)),
        }
    }

    /// What `thread apply` shows before the answer of each thread.
    fn thread_line(&mut self, number: &str) -> Result<Outcome, CommandError> {
        let thread = self.thread_numbered(number)?;
        self.select_thread(thread);
        let Outcome::Threads(threads) = self.threads()? else {
            return Ok(Outcome::Done);
        };
        let view = threads.into_iter().find(|view| view.current);
        Ok(view.map_or(Outcome::Done, |view| {
            Outcome::Message(format!("Thread {} ({}):", view.number, view.name))
        }))
    }

    /// The end of `thread apply`: a thread and the level of a frame are selected again.
    fn back_to_thread(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let (number, level) = split_line(text);
        let Ok(thread) = self.thread_numbered(number) else {
            // It has ended meanwhile.
            return Ok(Outcome::Done);
        };
        if self.thread()? != thread {
            self.select_thread(thread);
        }
        self.selection.level = level.trim().parse().unwrap_or(0);
        Ok(Outcome::Done)
    }
}
