//! Output of a typed line that is longer than the screen goes through a pager.
//!
//! The output is shown at once while it fits the screen. If it does not fit, the pager gets all of
//! it from its beginning, and then the rest. **Invariant**: no pager runs while the
//! program, or another program of the user, has the terminal.

use super::Output;
use super::pager::{Ending, Pager};
use juror_text::wrapping::rows;
use std::io;

/// The destination of the output of the present line.
#[derive(Default)]
pub enum Paging {
    /// To the screen: nobody has typed the line.
    #[default]
    Off,
    /// To the screen while the program runs; then again to a pager.
    Suspended,
    /// To the screen: it has fitted so far.
    Fits {
        /// The output.
        text: String,
        /// The lines of the screen that it takes.
        rows: usize,
    },
    /// To a pager.
    Pager(Pager),
    /// Nowhere: the user has left the pager.
    Left,
}

impl Output {
    /// Begins a line that somebody has typed.
    pub fn begin_paging(&mut self) {
        if self.text.is_some() && self.page.is_none() && self.screen.page().is_some() {
            self.resume_paging(true);
        }
    }

    /// Ends the line. Returns when the user has left the pager.
    pub fn end_paging(&mut self) -> io::Result<()> {
        self.finish_pager()?;
        self.paging = Paging::Off;
        Ok(())
    }

    /// Returns whether the user has left the pager before the end of the output.
    pub fn has_left_pager(&self) -> bool {
        matches!(self.paging, Paging::Left)
    }

    /// The program runs, or another one gets the terminal.
    pub(super) fn suspend_paging(&mut self) {
        let result = self.finish_pager();
        self.keep_failure(result);
        if matches!(self.paging, Paging::Fits { .. }) {
            self.paging = Paging::Suspended;
        }
    }

    /// juror has the terminal again.
    pub(super) fn resume_paging(&mut self, is_new: bool) {
        if is_new || matches!(self.paging, Paging::Suspended) {
            self.paging = Paging::Fits {
                text: String::new(),
                rows: 0,
            };
        }
    }

    /// Shows a stop or an end: at once, since a pager would take the lines that were typed ahead.
    pub(super) fn show_unpaged(
        &mut self,
        show: impl FnOnce(&mut Output) -> io::Result<()>,
    ) -> io::Result<()> {
        self.finish_pager()?;
        if !matches!(self.paging, Paging::Fits { .. } | Paging::Suspended) {
            return show(self);
        }
        self.paging = Paging::Off;
        let shown = show(self);
        self.resume_paging(true);
        shown
    }

    /// Writes text, which has its final form, to the screen or to the pager.
    pub(super) fn write_paged(&mut self, shown: &str) -> io::Result<()> {
        let (columns, page) = self.screen.page().unwrap_or((None, usize::MAX));
        let (text, is_long) = match &mut self.paging {
            Paging::Left => return Ok(()),
            Paging::Pager(pager) => {
                if !pager.write(&self.screen.colored(shown)) {
                    self.leave_pager()?;
                }
                return Ok(());
            }
            Paging::Fits { text, rows: taken } => {
                text.push_str(shown);
                *taken += rows(shown, columns);
                (std::mem::take(text), *taken > page)
            }
            Paging::Off | Paging::Suspended => return self.write_text(shown),
        };
        if is_long && self.start_pager(&text)? {
            return Ok(());
        }
        if let Paging::Fits { text: kept, .. } = &mut self.paging {
            *kept = text;
        }
        self.write_text(shown)
    }

    /// Starts the pager with this text. Returns false if there is none.
    fn start_pager(&mut self, text: &str) -> io::Result<bool> {
        let Some(wanted) = Pager::wanted().filter(|_| !self.has_no_pager) else {
            self.paging = Paging::Off;
            return Ok(false);
        };
        match Pager::start(&wanted) {
            Ok(mut pager) => {
                let takes_more = pager.write(&self.screen.colored(text));
                self.paging = Paging::Pager(pager);
                if !takes_more {
                    self.leave_pager()?;
                }
                Ok(true)
            }
            Err(error) => {
                self.paging = Paging::Off;
                self.give_up_paging(&error.to_string())?;
                Ok(false)
            }
        }
    }

    /// Notes that the pager takes no more.
    fn leave_pager(&mut self) -> io::Result<()> {
        self.finish_pager()?;
        if matches!(self.paging, Paging::Fits { .. }) {
            self.paging = Paging::Left;
        }
        Ok(())
    }

    /// Waits for the end of the pager. Its text is written to the screen if it could not be run.
    pub(super) fn finish_pager(&mut self) -> io::Result<()> {
        if !matches!(self.paging, Paging::Pager(_)) {
            return Ok(());
        }
        if let Paging::Pager(pager) = std::mem::take(&mut self.paging) {
            match pager.finish() {
                Ending::Seen => self.resume_paging(true),
                Ending::Unread { text, why } => {
                    if let Some(why) = why {
                        self.give_up_paging(&why)?;
                    }
                    // The rest of this line is written, too.
                    self.write_text(&text)?;
                }
            }
        }
        Ok(())
    }

    /// Tells once that there is no pager.
    fn give_up_paging(&mut self, why: &str) -> io::Result<()> {
        self.has_no_pager = true;
        let wanted = Pager::wanted().unwrap_or_default();
        let text = format!("the pager {} cannot be run: {why}", wanted.display());
        self.warn(&juror_text::messages::notice(&text))
    }
}
