//! Reading the names of a program before a command needs them, where the person
//! sees how far it has come and may give it up; and where symbols and sources
//! are looked for.

use crate::commands::Command;
use crate::options::{CommandError, Observer};
use crate::session::Session;
use crate::view::Outcome;
use juror_instrument::modules::Module;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Work that takes no longer than this is not spoken of.
const SILENT: Duration = Duration::from_secs(1);

/// So many files that are missing are named.
const NAMED_MAX: usize = 3;

impl Command {
    /// Whether it finds something by name, so that all names have to be known.
    fn needs_names(self, rest: &str) -> bool {
        let place = rest.split_whitespace().next().unwrap_or("");
        match self {
            Command::Break
            | Command::TemporaryBreak
            | Command::RegexBreak
            | Command::HardwareBreak
            | Command::TemporaryHardwareBreak
            | Command::Advance
            | Command::Until
            | Command::Clear
            | Command::List => !place.is_empty() && !place.starts_with(['*', '+', '-']),
            Command::Start => true,
            Command::Info => {
                let subject = crate::commands::find_info_subject(place);
                let by_name = ["functions", "types", "variables", "line", "scope"];
                subject.is_ok_and(|subject| by_name.contains(&subject))
            }
            _ => false,
        }
    }
}

impl Session {
    /// Reads the names of all modules if a command is going to need them.
    ///
    /// # Errors
    /// It was given up.
    pub(crate) fn prepare_names(
        &mut self,
        command: Command,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        if !command.needs_names(rest) {
            return Ok(());
        }
        let modules = self.program.as_ref().map(|program| &program.modules);
        let modules = modules.unwrap_or(&self.last_modules);
        let modules: Vec<Rc<Module>> = modules.iter().cloned().collect();
        self.cancel.store(false, Ordering::Relaxed);
        for module in modules {
            self.read_names(&module, observer)?;
            self.tell_missing(&module, observer);
        }
        Ok(())
    }

    fn read_names(&self, module: &Module, observer: &mut dyn Observer) -> Result<(), CommandError> {
        let began = Instant::now();
        let cancel = Arc::clone(&self.cancel);
        let name = module.name();
        let what = format!("reading the names of {name}");
        let mut is_told = false;
        let mut progress = |done: u64, of: u64| {
            if is_told || began.elapsed() >= SILENT {
                observer.progress(&what, done, of);
                is_told = true;
            }
        };
        if module.symbols.prepare_names(&cancel, &mut progress) {
            return Ok(());
        }
        observer.progress(&what, 1, 1);
        Err(CommandError::with_help(
            format!("interrupted: the names of {name} are not read"),
            "the same command begins anew; addresses (*0x1234) need no names",
        ))
    }

    /// Says once what belongs to the program and is not there. Libraries come
    /// without debug information as a rule.
    fn tell_missing(&mut self, module: &Module, observer: &mut dyn Observer) {
        for remark in module.symbols.take_remarks() {
            observer.notice(&remark);
        }
        if !module.is_main || !self.missing_told.insert(module.path.clone()) {
            return;
        }
        let problems = module.symbols.problems();
        for problem in problems.iter().take(NAMED_MAX) {
            observer.notice(problem);
        }
        if let Some(more) = problems.len().checked_sub(NAMED_MAX + 1) {
            observer.notice(&format!("and {} more of this kind", more + 1));
        }
    }

    /// `set debug-file-directory DIRECTORY:…`.
    pub(crate) fn set_debug_directories(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let directories = text.trim().split(':').filter(|it| !it.is_empty());
        let mut settings = self.symbols.settings();
        settings.debug_file_directories = directories.map(PathBuf::from).collect();
        self.symbols.set(settings.clone());
        self.options.symbols = settings;
        self.missing_told.clear();
        if self.program.is_none() {
            return Ok(Outcome::Done);
        }
        Ok(Outcome::Message(
            "what is loaded keeps its symbols; the directories count from the next run on"
                .to_owned(),
        ))
    }

    /// `set substitute-path FROM TO`; without a directory the rule goes.
    pub(crate) fn set_substitution(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let mut words = text.split_whitespace().map(PathBuf::from);
        let Some(from) = words.next() else {
            return Err(CommandError::with_help(
                "which directory is where?",
                "set substitute-path /where/it/was /where/it/is; without the second the rule goes",
            ));
        };
        self.sources.substitute(from, words.next());
        Ok(Outcome::Done)
    }
}
