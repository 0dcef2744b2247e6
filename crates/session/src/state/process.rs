//! The processes of a run.

use crate::state::evaluations::Evaluations;
use crate::state::selection::Selection;
use juror_debuggee::{Rota, ThreadId};
use juror_instrument::program::Program;
use juror_monitor::Monitor;
use juror_monitoring::monitors::Watch;
use juror_monitoring::recording::Recorder;
use juror_monitoring::totals::Totals;
use juror_points::breakpoints::Places;
use juror_points::catchpoints::CaughtPlaces;
use juror_points::hardware_breakpoints::HardwarePlaces;
use juror_points::watchpoints::Watchpoints;
use juror_view::{Ending, ProcessEnd};

/// The number of the process that a run begins with.
pub(crate) const FIRST: u32 = 1;

/// A process that is not the current one.
pub(crate) struct Parked {
    pub(crate) number: u32,
    pub(crate) program: Option<Program>,
    pub(crate) watch: Watch,
    pub(crate) evaluations: Evaluations,
    pub(crate) announced: Option<(ThreadId, u64)>,
    pub(crate) asked: Option<(ThreadId, u64)>,
    pub(crate) selection: Selection,
    pub(crate) watchpoints: Watchpoints,
    pub(crate) exit_violations: Vec<juror_monitoring::monitors::Violated>,
    pub(crate) places: Places,
    pub(crate) hardware: HardwarePlaces,
    pub(crate) caught: CaughtPlaces,
}

/// The processes of a run, but for what is the current one's own.
pub(crate) struct Processes {
    pub(crate) current: u32,
    /// The last number that was given.
    pub(crate) last: u32,
    pub(crate) others: Vec<Parked>,
    pub(crate) rota: Rota,
    /// What the monitors of processes that are gone have counted.
    pub(crate) gone: Totals,
    /// Ends that nobody has been told of.
    pub(crate) untold: Vec<ProcessEnd>,
    /// Who has recorded a process that is gone, for the next run.
    pub(crate) recorder: Option<(Recorder, Monitor)>,
    /// Watchpoints of processes that are gone, for the next run.
    pub(crate) waiting: Watchpoints,
    /// Sentences about those that are gone, too, which nobody has been told.
    pub(crate) lost: Vec<String>,
}

impl Default for Processes {
    fn default() -> Processes {
        Processes {
            current: FIRST,
            last: FIRST,
            others: Vec::new(),
            rota: Rota::default(),
            gone: Totals::default(),
            untold: Vec::new(),
            recorder: None,
            waiting: Watchpoints::default(),
            lost: Vec::new(),
        }
    }
}

impl Processes {
    /// Whether there is more than one.
    #[inline]
    pub(crate) fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// What the monitors of processes that are gone have counted.
    pub(crate) fn gone(&self) -> &Totals {
        &self.gone
    }

    /// A process is gone: keeps what its monitors have counted, and who has
    /// recorded it.
    pub(crate) fn count(
        &mut self,
        watch: &mut Watch,
        program: Option<&Program>,
        ending: Option<Ending>,
    ) {
        self.gone.add(watch, program);
        let recorder = watch.take_recorder(ending);
        self.recorder = self.recorder.take().or(recorder);
    }

    /// Who has recorded a process that is gone.
    pub(crate) fn take_recorder(&mut self) -> Option<(Recorder, Monitor)> {
        self.recorder.take()
    }

    /// The number of the current one.
    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    /// The other programs.
    pub(crate) fn other_programs(&self) -> impl Iterator<Item = &Program> {
        self.others.iter().filter_map(|it| it.program.as_ref())
    }

    /// The other programs.
    pub(crate) fn other_programs_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.others.iter_mut().filter_map(|it| it.program.as_mut())
    }

    pub(crate) fn other_watches_mut(&mut self) -> impl Iterator<Item = &mut Watch> {
        self.others.iter_mut().map(|it| &mut it.watch)
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.others.iter().map(|it| it.number).collect();
        numbers.push(self.current);
        numbers.sort_unstable();
        numbers
    }
}
