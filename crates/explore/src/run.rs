//! One run of the program under the control of the scheduler, and the report of its end.

use crate::control::spins::loop_head;
use crate::control::{Control, End, Step, traced};
use crate::error::ExploreError;
use crate::foreign_signals::{is_from_outside, leave_out};
use crate::modules::ModuleId;
use crate::monitors::{Violated, Watch};
use crate::outcome::{Deadlocked, Outcome, ThreadPlace};
use crate::report;
use crate::runner::{Asked, Ended, Switch};
use juror_debuggee::{StopEvent, ThreadControl, ThreadId};
use juror_program::program::Program;
use juror_schedule::{Choice, LockCycle, LockOrder, State, ThreadPath};

/// A run.
pub(crate) struct Run {
    pub(crate) modules: Vec<ModuleId>,
    pub(crate) program: Program,
    pub(crate) control: Control,
    pub(crate) thread_count: u32,
    pub(crate) left_out: usize,
    /// The unusual choices, if they are noted.
    pub(crate) switches: Vec<Switch>,
    pub(crate) explains: bool,
    /// The decision for which a person was asked.
    pub(crate) asked: Option<Asked>,
    /// The monitors of the properties.
    pub(crate) watch: Option<Watch>,
    /// Threads that wait for one another while others go on.
    pub(crate) circle: Option<Deadlocked>,
}

impl Run {
    /// Makes the run, and ends the program.
    pub(crate) fn make_whole(
        mut self,
        main: ThreadId,
    ) -> Result<(Ended, Option<Watch>), ExploreError> {
        let outcome = self.drive(main)?;
        let is_over = matches!(outcome, Outcome::Exited { .. });
        let outcome = match self.circle.take() {
            Some(circle) if is_over && self.is_circle_closed() => Outcome::Deadlock(circle),
            _ => outcome,
        };
        // What is left of the program is of no use.
        let _ = self.program.debuggee.kill();
        let watch = self.watch.take();
        Ok((self.ended(outcome), watch))
    }

    fn drive(&mut self, main: ThreadId) -> Result<Outcome, ExploreError> {
        self.control.start(&mut self.program.debuggee, main)?;
        if let Some(watch) = &mut self.watch {
            watch.bind(&mut self.program, main, true)?;
            if let Some(violated) = watch.start(&mut self.program, main)? {
                return Ok(violated.into());
            }
        }
        loop {
            let step = self.control.step(&mut self.program.debuggee)?;
            if let Some(outcome) = self.take(step)? {
                return Ok(outcome);
            }
        }
    }

    fn ended(mut self, outcome: Outcome) -> Ended {
        let cycles = self.control.lock_order.as_mut().map(LockOrder::cycles);
        let cycles = cycles.unwrap_or_default();
        let learned = self.control.learned().and_then(|address| {
            let mut modules = self.program.modules.iter().enumerate();
            let found = modules.find(|(_, module)| module.contains(address));
            found.map(|(number, module)| (number, module.to_file(address)))
        });
        let scheduler = &self.control.scheduler;
        Ended {
            outcome,
            deviations: scheduler.log().deviations().to_vec(),
            points: scheduler.points(),
            decisions: scheduler.log().decisions(),
            threads: self.thread_count,
            hash: scheduler.hash().value(),
            diverged: self.control.diverged,
            left_out: self.left_out,
            modules: self.modules,
            learned,
            loops: Vec::new(),
            switches: self.switches,
            asked: self.asked,
            predicted: cycles.iter().map(LockCycle::goal).collect(),
            outside: self.control.outside,
            made_processes: self.program.debuggee.has_made_processes(),
        }
    }

    /// Returns whether the threads that waited for one another do so at the end: another one may have
    /// given a lock back that it did not take.
    fn is_circle_closed(&self) -> bool {
        let scheduler = &self.control.scheduler;
        let Some(deadlock) = scheduler.deadlock() else {
            return false;
        };
        deadlock.circle.iter().all(|edge| {
            let mut tasks = scheduler.tasks().iter();
            let task = tasks.find(|task| task.path() == edge.thread);
            task.is_some_and(|task| matches!(task.state(), State::Waits { .. }))
        })
    }

    /// Takes a step of the run. Returns the end if that is one.
    fn take(&mut self, step: Step) -> Result<Option<Outcome>, ExploreError> {
        match step {
            Step::Event(event) => return self.take_event(event),
            Step::Exits { thread, status } => return self.exit(thread, status).map(Some),
            Step::Deviated { before, known } if self.explains => {
                self.note_switches(before, known);
            }
            Step::Deviated { .. } | Step::Diverged => {}
            Step::PartialDeadlock => {
                let found = self.deadlock();
                self.circle.get_or_insert(found);
            }
            Step::Stands(End::Choice) => {
                self.asked = Some(self.asked_now());
                return Ok(Some(Outcome::Exited { status: 0 }));
            }
            Step::Turns { thread } => {
                if let Some(head) = loop_head(&self.program, thread) {
                    let debuggee = &mut self.program.debuggee;
                    self.control.begin_probe(debuggee, thread, head)?;
                }
                self.program.debuggee.resume(thread)?;
            }
            Step::Stands(End::Deadlock) => return self.stand().map(Some),
            Step::Stands(End::Endless) => return self.endless().map(Some),
        }
        Ok(None)
    }

    /// The program ends with a status.
    fn exit(&mut self, thread: ThreadId, status: i32) -> Result<Outcome, ExploreError> {
        if let Some(watch) = &mut self.watch
            && let Some(violated) = watch.exit(&mut self.program, thread, status)?
        {
            return Ok(violated.into());
        }
        Ok(Outcome::Exited { status })
    }

    fn take_event(&mut self, event: StopEvent) -> Result<Option<Outcome>, ExploreError> {
        match event {
            StopEvent::ThreadStarted { thread } => {
                self.thread_count += 1;
                self.program.number_started_thread(thread);
            }
            StopEvent::ModulesChanged { .. } => self.program.update_modules(),
            _ => {}
        }
        if let Some(watch) = &mut self.watch
            && let Some(violated) = watch.take(&mut self.program, &event)?
        {
            return Ok(Some(violated.into()));
        }
        match event {
            // It goes on when it has the baton.
            StopEvent::ThreadStarted { .. } => return Ok(None),
            StopEvent::Signal {
                thread,
                signal,
                fatal,
                sender: Some(sender),
                ..
            } if is_from_outside(&self.program.debuggee, (signal, fatal), sender) => {
                leave_out(&mut self.program.debuggee, thread, (signal, fatal), sender)?;
                return Ok(None);
            }
            StopEvent::Signal {
                thread,
                signal,
                fatal: true,
                ..
            } => {
                let place = Some(report::place_of(&self.program, thread));
                return Ok(Some(Outcome::Killed { signal, place }));
            }
            StopEvent::Killed { signal, .. } => {
                let place = None;
                return Ok(Some(Outcome::Killed { signal, place }));
            }
            StopEvent::Exited { status } => {
                let main = ThreadId(self.program.debuggee.pid());
                return self.exit(main, status).map(Some);
            }
            _ => {}
        }
        if let Some(thread) = event.waiting_thread() {
            self.program.debuggee.resume(thread)?;
        }
        Ok(None)
    }

    /// Returns the decision that is to be made.
    fn asked_now(&self) -> Asked {
        let scheduler = &self.control.scheduler;
        let offers = scheduler.offers().into_iter().map(|offer| offer.choice);
        let place = |choice: Choice| self.place(choice.thread).unwrap_or_default();
        Asked {
            moment: scheduler.moment_now(),
            usual: scheduler.usual_choice(),
            offers: offers.map(|choice| (choice, place(choice))).collect(),
        }
    }

    /// Returns the place of a thread.
    fn place(&self, path: ThreadPath) -> Option<ThreadPlace> {
        let mut tasks = self.control.scheduler.tasks().iter();
        let task = tasks.find(|task| task.path() == path)?;
        let thread = traced(task.id());
        Some(match task.points() {
            // It has executed nothing yet.
            0 => ThreadPlace {
                number: self.program.thread_number(thread),
                ..ThreadPlace::default()
            },
            _ => report::place_of(&self.program, thread),
        })
    }

    /// Notes the unusual choices after the first `known` ones; `before` ran until then.
    fn note_switches(&mut self, before: ThreadPath, known: usize) {
        let scheduler = &self.control.scheduler;
        let made = scheduler.log().deviations().get(known..);
        for deviation in made.unwrap_or_default() {
            let switch = Switch {
                from: self.place(before),
                to: self.place(deviation.choice.thread).unwrap_or_default(),
                kind: deviation.choice.kind,
            };
            self.switches.push(switch);
        }
    }

    fn deadlock(&self) -> Deadlocked {
        let control = &self.control;
        report::deadlock(&self.program, &control.scheduler, control.communication())
    }

    /// Nobody goes on: all wait, perhaps for those of a circle.
    fn stand(&mut self) -> Result<Outcome, ExploreError> {
        let deadlock = match self.circle.take() {
            Some(circle) => circle,
            None => {
                // Threads that wait in the kernel have not stopped.
                self.program.debuggee.halt_all()?;
                self.deadlock()
            }
        };
        Ok(Outcome::Deadlock(Deadlocked {
            is_partial: false,
            ..deadlock
        }))
    }

    fn endless(&mut self) -> Result<Outcome, ExploreError> {
        if self.control.learned().is_some() {
            // The run is made again.
            let threads = Vec::new();
            return Ok(Outcome::Endless { threads });
        }
        if let Some(circle) = self.circle.take() {
            return Ok(Outcome::Deadlock(circle));
        }
        self.program.debuggee.halt_all()?;
        let threads = report::all_places(&self.program);
        Ok(Outcome::Endless { threads })
    }
}

impl From<Violated> for Outcome {
    fn from(violated: Violated) -> Outcome {
        let Violated {
            property,
            description,
            place,
        } = violated;
        Outcome::Violated {
            property,
            description,
            place,
        }
    }
}
