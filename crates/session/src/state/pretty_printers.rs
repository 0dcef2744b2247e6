//! The user's pretty-printers.

use juror_instrument::program::Program;
use juror_instrument::views::Views;
use juror_view::error::CommandError;

/// The rules that are in force.
#[derive(Debug)]
pub(crate) struct UserViews {
    /// Each file with its text and how many rules it has.
    pub(crate) files: Vec<(String, String, usize)>,
    pub(crate) views: Views,
}

impl Default for UserViews {
    fn default() -> UserViews {
        UserViews {
            files: Vec::new(),
            views: Views::standard().clone(),
        }
    }
}

impl UserViews {
    /// The values of this program are shown by them.
    pub(crate) fn apply(&self, program: &mut Program) {
        program.views = self.views.clone();
    }

    /// Takes a file, or takes it anew; gives how many rules it has. Nothing is
    /// changed where it is wrong.
    pub(crate) fn take(&mut self, file: &str, text: String) -> Result<usize, CommandError> {
        let mut files = self.files.clone();
        files.retain(|(known, ..)| known != file);
        files.push((file.to_owned(), text, 0));
        let mut views = Views::standard().clone();
        for (file, text, count) in &mut files {
            let added = views.add(file, text);
            *count = added.map_err(|error| CommandError::new(error.to_string()))?;
        }
        let count = files.last().map_or(0, |(_, _, count)| *count);
        (self.files, self.views) = (files, views);
        Ok(count)
    }
}
