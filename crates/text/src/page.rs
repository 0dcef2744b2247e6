//! The text of one answer, built before it is shown.
//!
//! Styles are written into the text as escape sequences; the stream that
//! shows it removes them where they are not wanted. Everything else that is
//! written must have passed through [`crate::escape`].

use anstyle::{AnsiColor, Style};
use std::fmt;
use std::path::{Path, PathBuf};

/// Something is wrong: a violation, an error.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Something holds.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Not decided.
pub const OPEN: Style = AnsiColor::Yellow.on_default().bold();
/// The names of functions and states.
pub const NAME: Style = AnsiColor::Cyan.on_default();
/// What a reader looks for first.
pub const STRONG: Style = Style::new().bold();
/// What a reader may pass over.
pub const QUIET: Style = Style::new().dimmed();
/// No style.
pub const PLAIN: Style = Style::new();

/// A text being written.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    directory: Option<PathBuf>,
}

impl Page {
    /// An empty page. Files below `directory` are shown relative to it.
    pub fn new(directory: Option<PathBuf>) -> Page {
        Page {
            text: String::new(),
            directory,
        }
    }

    /// Makes `write!` and `writeln!` work on a page, without an error to
    /// handle: memory is all that is written to.
    pub fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) {
        let _ = fmt::Write::write_fmt(&mut self.text, arguments);
    }

    /// Appends text as it is.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// An empty line, unless the page is empty or ends with one.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// The file as a user would write it here.
    pub fn shown_file<'f>(&self, file: &'f str) -> &'f str {
        self.directory
            .as_deref()
            .and_then(|directory| Path::new(file).strip_prefix(directory).ok())
            .and_then(Path::to_str)
            .filter(|shortened| !shortened.is_empty())
            .unwrap_or(file)
    }

    /// The text with its styles.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// The text in a style.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Renders on an empty page and gives the text without styles.
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
