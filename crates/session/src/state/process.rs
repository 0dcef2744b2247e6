//! The processes of a run.
//!
//! A [`Process`] holds everything that belongs to one process: its program, its monitors, its
//! watchpoints, its selection, the state of its last stop. It does not hold the user's state
//! (breakpoints with their counts, settings, values).
//!
//! **Invariant**: there is always a current process. While a run has several, each has its program;
//! before a run and after it there is one process without a program.

use crate::state::evaluations::{CallEnd, Evaluations};
use crate::state::inline_frames::SkippedFrames;
use crate::state::nodes::{Known, Nodes};
use crate::state::selection::Selection;
use juror_debuggee::{Debuggee, DebuggeeError, FairWaiter, StopEvent, ThreadId};
use juror_monitor::Monitor;
use juror_monitoring::monitors::{Monitors, ViolatedSlice};
use juror_monitoring::recording::Recorder;
use juror_monitoring::totals::Totals;
use juror_points::breakpoints::Places;
use juror_points::catchpoints::CaughtPlaces;
use juror_points::hardware_breakpoints::HardwarePlaces;
use juror_points::watchpoints::Watchpoints;
use juror_program::modules::Modules;
use juror_program::program::Program;
use juror_view::nodes::NodeId;
use juror_view::{Ending, ProcessEnd, ProcessName};
use smallvec::SmallVec;
use std::mem;
use std::ops::{Deref, DerefMut, Range};

/// The number of the first process of a run.
pub(crate) const FIRST: u32 = 1;

/// A process.
#[derive(Default)]
pub(crate) struct Process {
    /// Its number for the user.
    pub number: u32,
    /// The program, while there is one.
    pub program: Option<Program>,
    /// The modules of a program that has ended, so that its addresses can still be symbolized.
    pub last_modules: Modules,
    /// Its monitors.
    pub monitors: Monitors,
    /// The suspended evaluations.
    pub evaluations: Evaluations,
    /// The selected thread and frame.
    pub selection: Selection,
    /// Its watchpoints.
    pub watchpoints: Watchpoints,
    /// The violations at the exit of the program itself.
    pub exit_violations: Vec<ViolatedSlice>,
    /// The bindings of the user's points, while it is not the current process.
    pub inserted: Inserted,
    /// The state of its last stop.
    pub stop: StopState,
    /// The last stop at a breakpoint: the thread, and its address. The instruction there may be
    /// a trap of the program's own.
    pub last_hit: Option<(ThreadId, u64)>,
}

/// The bindings of the user's points in a process that is not current. For the current process, the
/// tables of points hold them.
#[derive(Default)]
pub(crate) struct Inserted {
    pub breakpoints: Places,
    pub hardware: HardwarePlaces,
    pub caught: CaughtPlaces,
}

/// The state of a process's last stop, so that nothing is reported twice.
#[derive(Default)]
pub(crate) struct StopState {
    /// The breakpoint, by thread and address, that was shown because a step ended at it: an arrival
    /// there is not a second stop.
    pub announced: Option<(ThreadId, u64)>,
    /// The thread and address at which the breakpoints were checked in the present run: a step that
    /// ends there does not check them again.
    pub asked: Option<(ThreadId, u64)>,
    /// The skipped inline frames that the user was shown.
    pub skipped_frames: Option<SkippedFrames>,
    /// The inlined call at whose beginning a monitor was the first to report.
    pub begun: Option<SkippedFrames>,
    /// A call of an evaluation that has ended; the evaluation continues after the command.
    pub ended_call: Option<(ThreadId, CallEnd)>,
    /// Whether the condition of a breakpoint is being evaluated.
    pub is_asking: bool,
    /// The thread to which a signal is to be delivered that was the reason for the stop.
    pub at_signal: Option<ThreadId>,
    /// Whether it is the start of the run.
    pub is_start: bool,
    /// The memory to whose last write the run has gone back.
    pub at_write: Option<Vec<Range<u64>>>,
    /// The thread of a forked child that is followed, and the thread that made it: the child
    /// goes on in the calls of the other, so a step of that thread is now one of this thread.
    pub followed: Option<(ThreadId, ThreadId)>,
}

impl Process {
    /// Returns a process that the program has created.
    pub(crate) fn new(
        number: u32,
        program: Program,
        monitors: Monitors,
        thread: ThreadId,
    ) -> Process {
        Process {
            number,
            program: Some(program),
            monitors,
            selection: Selection::of_thread(thread),
            ..Process::default()
        }
    }

    /// Forgets the program, which has ended; its monitors and watchpoints stay.
    fn forget_program(&mut self) {
        if let Some(mut program) = self.program.take() {
            self.last_modules = mem::take(&mut program.modules);
        }
        self.evaluations.clear();
        self.selection = Selection::default();
        self.stop = StopState {
            skipped_frames: self.stop.skipped_frames,
            begun: self.stop.begun,
            is_asking: self.stop.is_asking,
            ..StopState::default()
        };
    }

    /// Returns the loaded modules, or those of the last program.
    pub(crate) fn modules(&self) -> &Modules {
        match &self.program {
            Some(program) => &program.modules,
            None => &self.last_modules,
        }
    }

    /// Returns the program if its process lives.
    pub(crate) fn living_program(&mut self) -> Option<&mut Program> {
        self.program.as_mut().filter(|it| it.debuggee.is_alive())
    }
}

/// The processes of a run; dereferences to the current one, whose fields can be named directly
/// (`processes.program`).
pub(crate) struct Processes {
    all: Vec<Process>,
    /// The position of the current process.
    current: usize,
    /// The last assigned number.
    last: u32,
    /// Chooses the process whose stop event is next.
    pub fair_waiter: FairWaiter,
    /// The counts of the monitors of processes that have ended.
    pub gone: Totals,
    /// Process ends that are not reported yet.
    pub unreported: Vec<ProcessEnd>,
    /// The recorder of a process that has ended, for the next run.
    recorder: Option<(Recorder, Monitor)>,
    /// Watchpoints of processes that have ended, for the next run.
    pub waiting: Watchpoints,
    /// The values of the present stop whose parts can be asked for.
    pub nodes: Nodes,
    /// Sentences about watchpoints that ended with their process, not yet reported.
    pub lost: Vec<String>,
}

impl Deref for Processes {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.all[self.current]
    }
}

impl DerefMut for Processes {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.all[self.current]
    }
}

impl Processes {
    /// Returns one process without a program.
    pub(crate) fn new(monitors: Monitors) -> Processes {
        let first = Process {
            number: FIRST,
            monitors,
            ..Process::default()
        };
        Processes {
            all: vec![first],
            current: 0,
            last: FIRST,
            fair_waiter: FairWaiter::default(),
            gone: Totals::default(),
            unreported: Vec::new(),
            recorder: None,
            waiting: Watchpoints::default(),
            nodes: Nodes::default(),
            lost: Vec::new(),
        }
    }

    /// Adds a value whose parts can be asked for.
    pub(crate) fn add_node(&mut self, known: Known) -> NodeId {
        self.nodes.add(known)
    }

    /// Returns whether there is more than one.
    #[inline]
    pub(crate) fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Returns whether the run has had more than one.
    pub(crate) fn were_several(&self) -> bool {
        self.last > FIRST
    }

    /// Returns all processes, in no order.
    pub(crate) fn all(&self) -> &[Process] {
        &self.all
    }

    /// Returns why the trace of the run, or of the last one, is not whole.
    pub(crate) fn trace_failure(&self) -> Option<&str> {
        let kept = self.recorder.as_ref().and_then(|(it, _)| it.failure());
        kept.or_else(|| self.all.iter().find_map(|it| it.monitors.trace_failure()))
    }

    /// Returns all processes, in no order.
    pub(crate) fn all_mut(&mut self) -> &mut [Process] {
        &mut self.all
    }

    /// Returns all but the current one.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Process> {
        let current = self.current;
        let all = self.all.iter().enumerate();
        all.filter(move |(position, _)| *position != current)
            .map(|(_, it)| it)
    }

    /// Returns all but the current one.
    pub(crate) fn others_mut(&mut self) -> impl Iterator<Item = &mut Process> {
        let current = self.current;
        let all = self.all.iter_mut().enumerate();
        all.filter(move |(position, _)| *position != current)
            .map(|(_, it)| it)
    }

    /// Returns the programs of all but the current one.
    pub(crate) fn other_programs_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.others_mut().filter_map(|it| it.program.as_mut())
    }

    /// Returns all programs.
    pub(crate) fn programs_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.all.iter_mut().filter_map(|it| it.program.as_mut())
    }

    /// Returns all processes and the watchpoints that wait for the next run.
    pub(crate) fn watchpoint_lists(&mut self) -> (&mut [Process], &mut Watchpoints) {
        (&mut self.all, &mut self.waiting)
    }

    /// Returns all numbers, in ascending order.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.all.iter().map(|it| it.number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns a process by its number.
    pub(crate) fn numbered_mut(&mut self, number: u32) -> Option<&mut Process> {
        self.all.iter_mut().find(|it| it.number == number)
    }

    /// Returns the program of a process, current or not, if it lives.
    pub(crate) fn living_program_of(&mut self, number: u32) -> Option<&mut Program> {
        self.numbered_mut(number)?.living_program()
    }

    /// Waits for the next stop event of any process; returns it with the number of its process.
    ///
    /// # Errors
    /// There is nothing to wait for.
    pub(crate) fn wait(&mut self) -> Result<(u32, StopEvent), DebuggeeError> {
        let current = self.current;
        let mut numbers: SmallVec<[u32; 8]> = SmallVec::new();
        let mut debuggees: SmallVec<[&mut Debuggee; 8]> = SmallVec::new();
        // The current process is polled first.
        let (before, rest) = self.all.split_at_mut(current);
        let (now, after) = rest.split_at_mut(1);
        for process in now.iter_mut().chain(before).chain(after) {
            if let Some(program) = &mut process.program {
                numbers.push(process.number);
                debuggees.push(&mut program.debuggee);
            }
        }
        let (position, stop_event) = self.fair_waiter.wait(&mut debuggees)?;
        Ok((numbers.get(position).copied().unwrap_or(FIRST), stop_event))
    }

    /// Has each process stop when something is due without an event.
    pub(crate) fn set_alarms(&mut self) -> Result<(), DebuggeeError> {
        for process in &mut self.all {
            let deadline = process.monitors.next_deadline();
            if let Some((program, deadline)) = process.program.as_mut().zip(deadline) {
                program.debuggee.set_alarm(program.moment_of(deadline))?;
            }
        }
        Ok(())
    }

    /// Ends [`Processes::set_alarms`].
    pub(crate) fn unset_alarms(&mut self) -> Result<(), DebuggeeError> {
        for process in &mut self.all {
            if let Some(program) = &mut process.program {
                program.debuggee.set_alarm(None)?;
            }
        }
        Ok(())
    }

    /// Returns the name of the current process if the run has had several.
    pub(crate) fn name(&self) -> Option<ProcessName> {
        let program = self.program.as_ref()?;
        self.were_several().then(|| ProcessName {
            number: self.number,
            id: program.debuggee.pid(),
            count: self.all.len(),
        })
    }

    /// Returns the number of the current process if the run has had several.
    pub(crate) fn number_shown(&self) -> Option<u32> {
        self.were_several().then_some(self.number)
    }

    /// Allocates the number of a process that joins.
    pub(crate) fn take_number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// Adds a process; the current one stays.
    pub(crate) fn add(&mut self, process: Process) {
        self.all.push(process);
    }

    /// Makes another process the current one. Returns the previous and the new one; `None` if there
    /// is no such process or it is the current one.
    pub(crate) fn make_current(&mut self, number: u32) -> Option<(&mut Process, &mut Process)> {
        let found = self.all.iter().position(|it| it.number == number)?;
        let before = mem::replace(&mut self.current, found);
        match self.all.get_disjoint_mut([before, found]) {
            Ok([before, now]) => Some((before, now)),
            Err(_) => None,
        }
    }

    /// Returns the lowest number of the processes that are not the current one.
    pub(crate) fn next_number(&self) -> Option<u32> {
        self.others().map(|it| it.number).min()
    }

    /// Takes a process that is not the current one out of the run.
    pub(crate) fn remove(&mut self, number: u32) -> Option<Process> {
        let mut all = self.all.iter();
        let position = all.position(|it| it.number == number)?;
        if position == self.current {
            return None;
        }
        let removed = self.all.remove(position);
        if position < self.current {
            self.current -= 1;
        }
        Some(removed)
    }

    /// Takes all but the current process out of the run.
    pub(crate) fn take_others(&mut self) -> Vec<Process> {
        let mut others = mem::take(&mut self.all);
        let current = others.swap_remove(self.current);
        self.all.push(current);
        self.current = 0;
        others
    }

    /// Adds the counts of the monitors of a process that has ended, and keeps its recorder.
    pub(crate) fn count(&mut self, gone: &mut Process, ending: Option<Ending>) {
        self.gone.add(&gone.monitors, gone.program.as_ref());
        let recorder = gone.monitors.take_recorder(ending);
        self.recorder = self.recorder.take().or(recorder);
    }

    /// Forgets the counts of a property from processes that have ended.
    pub(crate) fn forget_counts(&mut self, position: usize) {
        let current = &self.all[self.current];
        if let Some(monitored) = current.monitors.shown().get(position) {
            self.gone.forget(monitored);
        }
    }

    /// Ends the run: one process remains, without a program, with the monitors and watchpoints of
    /// the current one.
    pub(crate) fn end_run(&mut self) {
        let mut last = self.take_last();
        last.forget_program();
        last.watchpoints.forget_program(false);
        last.watchpoints.adopt(self.take_waiting());
        // If the first process was recorded and has ended, the next run's first process is
        // recorded.
        if let Some((recorder, monitor)) = self.recorder.take() {
            last.monitors.add_recorder(recorder, monitor);
        }
        last.number = FIRST;
        // No number of a value is given twice.
        let mut nodes = mem::take(&mut self.nodes);
        nodes.clear();
        *self = Processes {
            all: vec![last],
            nodes,
            ..Processes::new(Monitors::default())
        };
    }

    /// Takes the current process and leaves an empty one.
    fn take_last(&mut self) -> Process {
        mem::take(&mut **self)
    }
}
