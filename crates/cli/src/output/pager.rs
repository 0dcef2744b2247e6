//! The program through which long output goes.

use crate::driver::Foreground;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::Command;

/// The pager, and its options: it ends by itself if the screen shows all, keeps colours, and leaves
/// the text on the screen.
const USUAL: &str = "less -FRX";

/// Characters that only a shell understands.
const SHELL_CHARACTERS: &str = "|&;<>()$`\\\"'*?[]#~=%{}\n";

/// A shell ends with one of these if it cannot run a command.
const NOT_RUN: [i32; 2] = [126, 127];

/// The bytes that a pipe holds at most: what took more has read some.
const PIPE_BYTES: usize = 1 << 16;

/// A running pager.
pub struct Pager {
    process: Foreground,
    /// The text so far, while it is not certain that the pager reads it.
    written: Option<String>,
}

/// The end of a pager.
pub enum Ending {
    /// The user has left it, or has seen the end.
    Seen,
    /// It has read nothing: the text was not seen. The reason, if it has failed.
    Unread { text: String, why: Option<String> },
}

impl Pager {
    /// Returns the pager that the user wants, if any: `$JUROR_PAGER`, `$PAGER`, or `less`. An empty
    /// one, and `cat`, mean none. A terminal that can only show lines, such as that of an editor,
    /// has none that is not named.
    pub fn wanted() -> Option<OsString> {
        let named = ["JUROR_PAGER", "PAGER"];
        let named = named.iter().find_map(env::var_os);
        let is_dumb = env::var_os("TERM").is_none_or(|it| it == "dumb");
        let usual = || (!is_dumb).then(|| USUAL.into());
        let pager = named.or_else(usual)?;
        let words = pager.to_string_lossy();
        (!matches!(words.trim(), "" | "cat")).then_some(pager)
    }

    /// Starts a pager in the foreground of the terminal.
    pub fn start(pager: &OsStr) -> io::Result<Pager> {
        let words = pager.to_string_lossy();
        let needs_shell = words.contains(|it| SHELL_CHARACTERS.contains(it));
        let mut command = if needs_shell {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(pager);
            command
        } else {
            let mut words = words.split_whitespace();
            let mut command = Command::new(words.next().unwrap_or_default());
            command.args(words);
            command
        };
        if env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        let process = Foreground::start_reading(&mut command)?;
        Ok(Pager {
            process,
            written: Some(String::new()),
        })
    }

    /// Gives it text. Returns whether it takes more.
    pub fn write(&mut self, text: &str) -> bool {
        if let Some(written) = &mut self.written {
            written.push_str(text);
        }
        let takes_more = self.process.write_all(text.as_bytes()).is_ok();
        if takes_more
            && self
                .written
                .as_ref()
                .is_some_and(|it| it.len() > PIPE_BYTES)
        {
            self.written = None;
        }
        takes_more
    }

    /// Waits until the user leaves it. One that Ctrl-C ends has been left.
    pub fn finish(self) -> Ending {
        let Ok((status, has_read)) = self.process.finish_reading() else {
            return Ending::Seen;
        };
        let why = match status.code() {
            _ if has_read => return Ending::Seen,
            None => return Ending::Seen,
            Some(0) => None,
            Some(code) if NOT_RUN.contains(&code) => Some("no such command".to_owned()),
            Some(code) => Some(format!("it ended with status {code}")),
        };
        match self.written {
            Some(text) => Ending::Unread { text, why },
            None => Ending::Seen,
        }
    }
}
