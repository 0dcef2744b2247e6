//! The settings that `set` changes.

use juror_program::program::Program;
use juror_values::format::ELEMENTS_MAX;

/// The default number of lines that `list` shows.
pub(crate) const LIST_LINES: u32 = 10;

/// Which threads run when the program is resumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SchedulerLocking {
    /// All of them.
    #[default]
    Off,
    /// The selected one.
    On,
    /// The selected one while it steps, else all of them.
    Step,
}

impl SchedulerLocking {
    /// Returns the word that `set` takes.
    pub(crate) fn word(self) -> &'static str {
        match self {
            SchedulerLocking::Off => "off",
            SchedulerLocking::On => "on",
            SchedulerLocking::Step => "step",
        }
    }
}

/// The settings of the display, and of the threads that run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// The number of lines that `list` shows.
    pub list_lines: u32,
    /// The limit of array elements and string characters shown.
    pub elements_max: u64,
    /// Whether each field is shown on its own line.
    pub is_pretty: bool,
    /// Whether a front end asks before the program is lost.
    pub confirms: bool,
    /// Which threads run.
    pub locking: SchedulerLocking,
    /// Whether a front end has asked that only the selected thread runs.
    pub is_alone: bool,
    /// Whether the present command steps.
    pub is_stepping: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            list_lines: LIST_LINES,
            elements_max: ELEMENTS_MAX,
            is_pretty: false,
            confirms: true,
            locking: SchedulerLocking::default(),
            is_alone: false,
            is_stepping: false,
        }
    }
}

impl Settings {
    /// Returns whether only the selected thread runs.
    pub(crate) fn is_locked(&self) -> bool {
        match self.locking {
            _ if self.is_alone => true,
            SchedulerLocking::Off => false,
            SchedulerLocking::On => true,
            SchedulerLocking::Step => self.is_stepping,
        }
    }

    /// Applies them to the values of a program.
    pub(crate) fn apply(&self, program: &mut Program) {
        program.elements_max = self.elements_max;
    }
}
