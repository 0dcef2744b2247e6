//! `views`: rules of the user for how values are shown.
//!
//! Files are kept in the order in which they were taken; the rules of a later
//! one are asked first, those of the standard libraries last.

use crate::options::CommandError;
use crate::session::Session;
use crate::view::Outcome;
use juror_program::program::Program;
use juror_values::pretty_printers::Views;

/// The rules that are in force.
#[derive(Debug)]
pub(crate) struct UserViews {
    /// Each file with its text and how many rules it has.
    files: Vec<(String, String, usize)>,
    views: Views,
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
    fn take(&mut self, file: &str, text: String) -> Result<usize, CommandError> {
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

impl Session {
    /// `views`, `views FILE`
    pub(crate) fn views_command(&mut self, file: &str) -> Result<Outcome, CommandError> {
        if file.is_empty() {
            let files = self.user_views.files.iter();
            let mut lines: Vec<String> = files
                .map(|(file, _, count)| format!("{file}: {}", rules(*count)))
                .collect();
            if lines.is_empty() {
                lines.push("only those of the standard libraries of C++ and Rust".to_owned());
            }
            return Ok(Outcome::Message(lines.join("\n")));
        }
        let text = std::fs::read_to_string(file)
            .map_err(|error| CommandError::new(format!("{file} cannot be read: {error}")))?;
        let count = self.user_views.take(file, text)?;
        let programs = self
            .program
            .iter_mut()
            .chain(self.processes.other_programs_mut());
        programs.for_each(|program| self.user_views.apply(program));
        Ok(Outcome::Message(format!("{} from {file}", rules(count))))
    }
}

fn rules(count: usize) -> String {
    match count {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    }
}
