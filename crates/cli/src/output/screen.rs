//! The screen: how wide it is, how much it shows, and whether it has colours.

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use juror_view::TerminalSettings;
use std::borrow::Cow;
use std::io::{self, IsTerminal};

/// The screen of the standard output.
#[derive(Debug, Default)]
pub struct Screen {
    /// The standard output is a terminal, with somebody at the prompt.
    is_terminal: bool,
    /// The standard input is a terminal, too.
    has_keys: bool,
    /// The messages are shown at the terminal, too.
    has_messages: bool,
    has_colors: bool,
    settings: TerminalSettings,
}

impl Screen {
    /// Looks at the standard streams. Without a prompt nobody looks at the screen.
    pub fn of_standard_streams(choice: ColorChoice, prompt: bool) -> Screen {
        let has_colors = match choice {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        };
        Screen {
            is_terminal: prompt && io::stdout().is_terminal(),
            has_keys: io::stdin().is_terminal(),
            has_messages: io::stderr().is_terminal(),
            has_colors,
            settings: TerminalSettings::default(),
        }
    }

    /// Sets the user's settings.
    pub fn set(&mut self, settings: TerminalSettings) {
        self.settings = settings;
    }

    /// Returns text as the user wants it: with its styles, or without.
    pub fn styled<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.settings.has_styles {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(strip_str(text).to_string())
        }
    }

    /// Returns text for another program that writes to the terminal.
    pub fn colored<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.has_colors {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(strip_str(text).to_string())
        }
    }

    /// Returns the columns to which lines are wrapped; none if they are as long as they are.
    pub fn width(&self) -> Option<usize> {
        self.settings
            .width
            .limit(self.size().map(|it| it.0))
            .filter(|_| self.is_terminal)
    }

    /// Returns the columns and the lines of output that the screen shows above a prompt, if what is
    /// longer goes through a pager.
    pub fn page(&self) -> Option<(Option<usize>, usize)> {
        if !self.is_terminal || !self.has_keys || !self.settings.paginates {
            return None;
        }
        let size = self.size();
        let height = self.settings.height.limit(size.map(|it| it.1))?;
        Some((size.map(|it| it.0), height.saturating_sub(1).max(1)))
    }

    /// Returns whether the messages are shown at the terminal, too.
    pub fn has_messages(&self) -> bool {
        self.has_messages
    }

    /// Returns the columns and lines of the terminal now.
    fn size(&self) -> Option<(usize, usize)> {
        if !self.is_terminal {
            return None;
        }
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        let (columns, lines) = (usize::from(size.ws_col), usize::from(size.ws_row));
        (columns > 0 && lines > 0).then_some((columns, lines))
    }
}
