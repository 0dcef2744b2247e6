//! The user's pretty-printers.

use juror_program::program::Program;
use juror_values::pretty_printers::PrettyPrinters;
use juror_view::error::CommandError;

/// The rules that are in force.
#[derive(Debug)]
pub(crate) struct UserPrettyPrinters {
    /// Each file with its text and how many rules it has.
    pub(crate) files: Vec<(String, String, usize)>,
    pub(crate) printers: PrettyPrinters,
}

impl Default for UserPrettyPrinters {
    fn default() -> UserPrettyPrinters {
        UserPrettyPrinters {
            files: Vec::new(),
            printers: PrettyPrinters::standard().clone(),
        }
    }
}

impl UserPrettyPrinters {
    /// The values of this program are shown by them.
    pub(crate) fn apply(&self, program: &mut Program) {
        program.pretty_printers = self.printers.clone();
    }

    /// Takes a file, or takes it anew; gives how many rules it has. Nothing is
    /// changed where it is wrong.
    pub(crate) fn take(&mut self, file: &str, text: String) -> Result<usize, CommandError> {
        let mut files = self.files.clone();
        files.retain(|(known, ..)| known != file);
        files.push((file.to_owned(), text, 0));
        let mut printers = PrettyPrinters::standard().clone();
        for (file, text, count) in &mut files {
            let added = printers.add(file, text);
            *count = added.map_err(|error| CommandError::new(error.to_string()))?;
        }
        let count = files.last().map_or(0, |(_, _, count)| *count);
        (self.files, self.printers) = (files, printers);
        Ok(count)
    }
}
