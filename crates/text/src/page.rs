//! The text of one result, built before it is shown.
//!
//! Styles are escape sequences within the text; the stream that shows it removes
//! them if they are not wanted. A page for a terminal has a width, to which lines are
//! wrapped; others have none, and their lines are as long as they are.
//!
//! **Invariant**: all other text on a page has passed through [`crate::escape`].

use crate::wrapping::{fitted, wrapped};
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// The style of violations and errors.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// The style of what holds.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// The style of what is undecided, and of warnings.
pub const OPEN: Style = AnsiColor::Yellow.on_default().bold();
/// The style of names: functions, states, variables, commands.
pub const NAME: Style = AnsiColor::Cyan.on_default();
/// The style of addresses in values.
pub const ADDRESS: Style = AnsiColor::Blue.on_default();
/// The style of strings and characters, in values and in source.
pub const STRING: Style = AnsiColor::Green.on_default();
/// The style of what a reader looks for first.
pub const STRONG: Style = Style::new().bold();
/// The style of secondary text.
pub const QUIET: Style = Style::new().dimmed();
/// No style.
pub const PLAIN: Style = Style::new();

/// A text that is being written.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    directory: Option<PathBuf>,
    width: Option<usize>,
}

impl Page {
    /// Creates an empty page. Files below `directory` are shown relative to it.
    pub fn new(directory: Option<PathBuf>) -> Page {
        Page {
            text: String::new(),
            directory,
            width: None,
        }
    }

    /// Returns the directory below which files are shown relative to it.
    pub fn directory(&self) -> Option<PathBuf> {
        self.directory.clone()
    }

    /// Sets the number of columns of the terminal that shows the page.
    pub fn with_width(self, width: Option<usize>) -> Page {
        Page { width, ..self }
    }

    /// Returns the number of columns of the terminal that shows the page, if there is one.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Makes `write!` and `writeln!` work on a page. There is no error to handle:
    /// only memory is written.
    pub fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) {
        let _ = fmt::Write::write_fmt(&mut self.text, arguments);
    }

    /// Appends text unchanged.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Ends a line. What does not fit the width of the page goes on in further lines, which are
    /// indented.
    pub fn end_line(&mut self, indent: usize) {
        if let Some(width) = self.width {
            let start = self.text.rfind('\n').map_or(0, |at| at + 1);
            let lines = self.text.get(start..);
            if let Some(lines) = lines.and_then(|line| wrapped(line, width, indent)) {
                self.text.truncate(start);
                self.text.push_str(&lines);
            }
        }
        self.text.push('\n');
    }

    /// Appends an empty line, unless the page is empty or ends with one.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Returns the path of a file as it is shown: relative to the directory if it is below.
    pub fn shown_file<'f>(&self, file: &'f str) -> &'f str {
        self.directory
            .as_deref()
            .and_then(|directory| Path::new(file).strip_prefix(directory).ok())
            .and_then(Path::to_str)
            .filter(|shortened| !shortened.is_empty())
            .unwrap_or(file)
    }

    /// Leaves all lines as long as they are: they are another's.
    pub fn keep_lines(&mut self) {
        self.width = None;
    }

    /// Returns the text with its styles, wrapped to the width of the page.
    pub fn into_text(self) -> String {
        let shown = match fitted(&self.text, self.width) {
            Cow::Owned(shown) => Some(shown),
            Cow::Borrowed(_) => None,
        };
        shown.unwrap_or(self.text)
    }
}

/// Returns the text in a style.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Renders on an empty page of this width. Returns the text without styles.
#[cfg(test)]
pub fn plain_at(width: usize, render: impl FnOnce(&mut Page)) -> String {
    let mut page = Page::new(Some("/home/user".into())).with_width(Some(width));
    render(&mut page);
    anstream::adapter::strip_str(&page.into_text()).to_string()
}

/// Renders on an empty page. Returns the text without styles.
#[cfg(test)]
pub fn plain(render: impl FnOnce(&mut Page)) -> String {
    let mut page = Page::new(Some("/home/user".into()));
    render(&mut page);
    anstream::adapter::strip_str(&page.into_text()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_the_directory_are_shortened() {
        let page = Page::new(Some("/home/user".into()));
        for (file, expected) in [
            ("/home/user/src/queue.c", "src/queue.c"),
            ("/usr/include/stdio.h", "/usr/include/stdio.h"),
            ("queue.c", "queue.c"),
            ("/home/user", "/home/user"),
        ] {
            assert_eq!(page.shown_file(file), expected);
        }
    }

    #[test]
    fn gaps_are_one_line_high() {
        let text = plain(|page| {
            page.gap();
            page.push("a\n");
            page.gap();
            page.gap();
            page.push("b\n");
        });
        assert_eq!(text, "a\n\nb\n");
    }
}
