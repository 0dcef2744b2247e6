//! A terminal that runs a command, for tests of the prompt.

use rexpect::process::{Signal, WaitStatus};
use rexpect::session::{Options, PtySession, spawn_with_options};
use rustix::termios::{Winsize, tcsetwinsize};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A terminal of 120 columns and 40 lines that runs a command. The command is killed when
/// the terminal is dropped.
///
/// Escape sequences are removed from the output. The terminal does not echo what is typed,
/// unless the command does.
pub struct Terminal {
    session: PtySession,
    ended: bool,
    /// Removed when the terminal is dropped.
    _state: Option<TempDir>,
}

impl Terminal {
    /// Starts a command in a new terminal. Each wait for its output panics after
    /// `deadline`.
    #[track_caller]
    pub(crate) fn start(command: Command, deadline: Duration, state: Option<TempDir>) -> Terminal {
        let milliseconds = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
        let options = Options::new()
            .timeout_ms(Some(milliseconds))
            .strip_ansi_escape_codes(true);
        let session = match spawn_with_options(command, options) {
            Ok(session) => session,
            Err(error) => panic!("the command does not start in a terminal: {error}"),
        };
        let terminal = Terminal {
            session,
            ended: false,
            _state: state,
        };
        terminal.resize(120, 40);
        terminal
    }

    /// Sets the numbers of columns and lines. A terminal without a size works too, with shorter
    /// lines.
    pub fn resize(&self, columns: u16, lines: u16) {
        if let Ok(terminal) = self.session.process().get_file_handle() {
            let size = Winsize {
                ws_row: lines,
                ws_col: columns,
                ws_xpixel: 0,
                ws_ypixel: 0,
            };
            let _ = tcsetwinsize(terminal, size);
        }
    }

    /// Waits until the command has written this text; returns everything before it.
    ///
    /// # Panics
    ///
    /// The command ended, or the deadline passed; the message includes the output so far.
    #[track_caller]
    pub fn expect(&mut self, text: &str) -> String {
        match self.session.exp_string(text) {
            Ok(before) => before,
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits until the output matches this regular expression; returns the text before the
    /// match, and the match.
    ///
    /// # Panics
    ///
    /// As [`Terminal::expect`].
    #[track_caller]
    pub fn expect_match(&mut self, expression: &str) -> (String, String) {
        match self.session.exp_regex(expression) {
            Ok(found) => found,
            Err(error) => panic!("{error}"),
        }
    }

    /// Types a line.
    ///
    /// # Panics
    ///
    /// The terminal is closed.
    #[track_caller]
    pub fn type_line(&mut self, line: &str) {
        if let Err(error) = self.session.send_line(line) {
            panic!("`{line}` cannot be typed: {error}");
        }
    }

    /// Types characters without an end of line, as for a completion (`"\t"`).
    ///
    /// # Panics
    ///
    /// The terminal is closed.
    #[track_caller]
    pub fn type_keys(&mut self, keys: &str) {
        let sent = self.session.send(keys);
        if let Err(error) = sent.and_then(|_| self.session.flush()) {
            panic!("`{}` cannot be typed: {error}", keys.escape_debug());
        }
    }

    /// Types Ctrl and this letter: `'c'` interrupts, `'d'` ends the input.
    ///
    /// # Panics
    ///
    /// The terminal is closed.
    #[track_caller]
    pub fn type_control(&mut self, letter: char) {
        if let Err(error) = self.session.send_control(letter) {
            panic!("Ctrl-{letter} cannot be typed: {error}");
        }
    }

    /// Waits for the end of the command; returns the rest of its output and its exit
    /// status, which is 128 + n after a signal n.
    ///
    /// # Panics
    ///
    /// The command does not end before the deadline.
    #[track_caller]
    pub fn finish(mut self) -> (String, i32) {
        let rest = match self.session.exp_eof() {
            Ok(rest) => rest,
            Err(error) => panic!("{error}"),
        };
        let status = self.session.process().wait();
        self.ended = true;
        match status {
            Ok(WaitStatus::Exited(_, code)) => (rest, code),
            Ok(WaitStatus::Signaled(_, signal, _)) => (rest, 128 + signal as i32),
            other => panic!("the command did not end: {other:?}"),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.session.process_mut().kill(Signal::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Juror;

    #[test]
    fn lines_are_typed_and_answers_read() {
        let script = "printf 'name? '; read name; echo \"hello $name\"; exit 5";
        let mut terminal = Juror::new("/bin/sh").args(["-c", script]).terminal();
        terminal.expect("name? ");
        terminal.type_line("Ada");
        terminal.expect("hello Ada");
        let (_, code) = terminal.finish();
        assert_eq!(code, 5);
    }

    #[test]
    fn control_c_interrupts() {
        // If the tests run in the background, SIGINT is ignored, and programs inherit that.
        let script = "echo ready; exec env --default-signal=INT tail -f /dev/null";
        let mut terminal = Juror::new("/bin/sh").args(["-c", script]).terminal();
        terminal.expect("ready");
        terminal.type_control('c');
        let (_, code) = terminal.finish();
        assert_eq!(code, 128 + 2);
    }

    #[test]
    fn the_terminal_has_a_size() {
        // The size is set after the command has started, so it polls until then.
        let script = "until stty size | grep -q '40 120'; do :; done; echo sized";
        let mut terminal = Juror::new("/bin/sh").args(["-c", script]).terminal();
        terminal.expect("sized");
    }
}
