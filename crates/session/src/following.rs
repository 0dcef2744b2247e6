//! Which process stays the debuggee when it makes another.

use crate::options::{CommandError, Observer};
use crate::run::{Goal, Pause};
use crate::session::Session;
use crate::view::Outcome;
use juror_debuggee::{Follow, ThreadId};

/// The names of the setting; gdb's is the longest.
const NAMES: [&str; 3] = ["follow", "follow-fork", "follow-fork-mode"];

/// What can be said.
const HELP: &str = "set PLACE = VALUE gives a variable of the program a value; set follow parent, \
                    child or both; set checkpoint-files on or off; set \
                    checkpoint-namespace on, off or auto; set substitute-path FROM TO; \
                    set debug-file-directory DIRECTORY";

impl Session {
    /// `set follow child`, `set var count = 3`.
    pub(crate) fn set(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let mut words = rest.split_whitespace();
        let name = words.next().unwrap_or("");
        if name == "checkpoint-files" {
            return self.set_checkpoint_files(words.next().unwrap_or(""));
        }
        if name == "checkpoint-namespace" {
            return self.set_checkpoint_namespace(words.next().unwrap_or(""));
        }
        let (_, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match name {
            "debug-file-directory" => return self.set_debug_directories(after),
            "substitute-path" => return self.set_substitution(after),
            _ => {}
        }
        if let "var" | "variable" = name {
            return self.assign(after);
        }
        if crate::assignment::split(rest).is_some() && !NAMES.contains(&name) {
            return self.assign(rest);
        }
        if !NAMES.contains(&name) {
            return Err(CommandError::with_help(
                match name {
                    "" => "what is to be set?".to_owned(),
                    name => format!("there is no setting `{name}`"),
                },
                HELP,
            ));
        }
        let follow = match words.next() {
            Some("parent") => Follow::Parent,
            Some("child") => Follow::Child,
            Some("both") => Follow::Both,
            _ => {
                return Err(CommandError::with_help(
                    "which process is to be followed?",
                    HELP,
                ));
            }
        };
        self.options.follow = follow;
        if let Some(program) = &mut self.program {
            program.debuggee.set_follow(follow);
        }
        for program in self.processes.other_programs_mut() {
            program.debuggee.set_follow(follow);
        }
        Ok(Outcome::Done)
    }

    /// A forked child is the debuggee now: its thread goes on in the calls
    /// that the thread was in which made it.
    pub(crate) fn on_followed(
        &mut self,
        thread: ThreadId,
        parent: ThreadId,
        observer: &mut dyn Observer,
        goal: Goal<'_>,
    ) -> Result<Option<Pause>, CommandError> {
        self.take_over(thread, parent, observer)?;
        // The step of a thread that is gone is over.
        let is_step =
            goal.stepping.is_some() || goal.temporaries.iter().any(|point| point.thread.is_some());
        if is_step {
            return Ok(Some(Pause::Stepped(thread)));
        }
        self.running_mut()?.debuggee.resume(thread)?;
        Ok(None)
    }

    /// The same, and its thread stands.
    pub(crate) fn take_over(
        &mut self,
        thread: ThreadId,
        parent: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let program = self.running_mut()?;
        let process = program.debuggee.pid();
        observer.notice(&format!("following process {process}, which it has forked"));
        program.follow(thread);
        if let Some(program) = &mut self.program {
            self.watch.follow(program, thread, parent)?;
        }
        self.watchpoints.follow(thread, parent);
        self.selection.thread = Some(thread);
        Ok(())
    }
}
