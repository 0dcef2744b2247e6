//! The user's state, which is independent of the process.

use crate::state::displays::Displays;
use crate::state::examined::Examined;
use crate::state::presentation::Presentation;
use crate::state::pretty_printers::UserPrettyPrinters;
use crate::state::run_place::Place;
use crate::state::settings::Settings;
use crate::state::signals::SignalTable;
use crate::state::skips::Skips;
use crate::state::source::Sources;
use crate::state::thread_names::ThreadNames;
use crate::state::values::ValueHistory;
use juror_monitoring::live::Pictures;
use juror_program::program::Program;

/// The user's state.
pub(crate) struct UserState {
    /// The source files that were read.
    pub sources: Sources,
    /// The functions and files that `step` skips.
    pub skips: Skips,
    /// The signal table.
    pub signals: SignalTable,
    /// The expressions that are shown at every stop.
    pub displays: Displays,
    /// The pretty-printers.
    pub pretty_printers: UserPrettyPrinters,
    /// The format and the next address of `x`.
    pub examined: Examined,
    /// The value history and the convenience variables.
    pub values: ValueHistory,
    /// The names of threads.
    pub thread_names: ThreadNames,
    /// The settings.
    pub settings: Settings,
    /// How results are presented.
    pub presentation: Presentation,
    /// The default property of commands.
    pub current_property: Option<String>,
    /// The places of the origins that were listed last.
    pub origins: Vec<Place>,
    /// The graphs of the properties, for front ends that show them.
    pub pictures: Pictures,
}

impl UserState {
    /// Returns the initial state. In batch mode signals do not stop the program.
    pub(crate) fn new(is_batch: bool) -> UserState {
        UserState {
            sources: Sources::default(),
            skips: Skips::default(),
            signals: SignalTable::new(is_batch),
            displays: Displays::default(),
            pretty_printers: UserPrettyPrinters::default(),
            examined: Examined::default(),
            values: ValueHistory::default(),
            thread_names: ThreadNames::default(),
            settings: Settings::default(),
            presentation: Presentation::default(),
            current_property: None,
            origins: Vec::new(),
            pictures: Pictures::default(),
        }
    }

    /// Applies the user's display settings to a program.
    pub(crate) fn apply(&self, program: &mut Program) {
        self.pretty_printers.apply(program);
        self.settings.apply(program);
    }
}
