//! The user's pretty-printers.

use juror_fault::CommandError;
use juror_program::program::Program;
use juror_values::pretty_printers::PrettyPrinters;

/// The loaded rules.
#[derive(Debug)]
pub(crate) struct UserPrettyPrinters {
    /// Each file with its text and the number of its rules.
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
    /// Makes a program show its values with them.
    pub(crate) fn apply(&self, program: &mut Program) {
        program.pretty_printers = self.printers.clone();
    }

    /// Loads a file, or loads it again; returns the number of its rules. Nothing changes if it is
    /// wrong.
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
