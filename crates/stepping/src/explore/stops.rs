//! How the shell handles stops, and what it passes to the engine.

use super::machine::State;
use super::processor::{Counter, I, Mode, Motion, Stop, Upper, address_of, thread_of};
use super::program::Program;
use crate::{Input, ThreadState};

impl State {
    /// The shell sees a stop and passes it to the engine if necessary.
    pub(super) fn handle_stop(&mut self, program: &Program, number: usize) -> Result<(), String> {
        let stop = self.processors[number].stop;
        self.lead_out(program, number)?;
        if stop == Some(Stop::OwnProgram) {
            return self.see_own_program(program, number);
        }
        if stop == Some(Stop::VforkDone) && self.awaits_program(program, number) {
            self.processors[number].stop = None;
            return Ok(());
        }
        if stop == Some(Stop::Return) {
            return self.see_return(number);
        }
        if stop == Some(Stop::End) {
            self.report_forks(program.follows, number)?;
        }
        let counter = self.processors[number].counter;
        if let Some(input) = self.see(number) {
            self.pass_counted(number, counter)?;
            self.feed(input)?;
        }
        if stop == Some(Stop::Fork) {
            self.report_forks(program.follows, number)?;
        }
        match stop {
            Some(Stop::End) => self.resume_parent(number),
            _ => Ok(()),
        }
    }

    /// Returns what the shell passes to the engine for a stop.
    pub(super) fn see(&mut self, number: usize) -> Option<Input> {
        let thread = thread_of(number);
        let wanted = self.wanted;
        let stepping = self.engine.thread_state(thread) == Some(ThreadState::Stepping);
        let passed = self.engine.reported_at(thread).filter(|_| stepping);
        let processor = &mut self.processors[number];
        let place = processor.counter.place();
        let unowned = wanted[place].is_empty();
        if processor.is_held_behind_trap() {
            // It runs only up to that stop.
            processor.stop = processor.queued.take();
            return None;
        }
        let stop = processor.stop.take()?;
        processor.motion = None;
        processor.hold_requested = false;
        if matches!(stop, Stop::Start | Stop::Signal | Stop::Fault) {
            processor.upper = Upper::Has;
            processor.stepped = false;
            let notified = processor.notified_mut();
            notified.vague |= unowned && !notified.owners.is_empty();
        }
        let stack = processor.stack();
        let address = processor.counter.shown();
        Some(match stop {
            Stop::Start => match processor.shares_with {
                Some(parent) => Input::StartedInPlace {
                    thread,
                    parent: thread_of(parent),
                },
                None => Input::Started { thread },
            },
            Stop::Trap if self.engine.is_inside_patch(address_of(place)) => {
                processor.counter = Counter::At(place);
                let address = address_of(place);
                Input::Stray { thread, address }
            }
            Stop::Trap => Input::Trapped {
                thread,
                address: address_of(place),
                stack,
            },
            Stop::Trace => Input::Stepped { thread, address },
            Stop::Hold => Input::Stopped { thread, address },
            Stop::Signal => {
                processor.signalled = true;
                Input::Interrupted { thread, address }
            }
            Stop::Fault
                if passed == Some(address)
                    || matches!(processor.counter, Counter::OutOfLine(_) | Counter::Twin(I)) =>
            {
                processor.counter = Counter::At(place);
                Input::Faulted {
                    thread,
                    address,
                    stack,
                }
            }
            Stop::Fault => {
                processor.counter = Counter::At(place);
                Input::Interrupted { thread, address }
            }
            // The parent of a copy is held until the copy is followed.
            Stop::Fork | Stop::Vfork => {
                processor.mode = Mode::Parked;
                Input::Parked { thread, address }
            }
            Stop::VforkDone => Input::Unparked { thread },
            Stop::Return => return None,
            Stop::End | Stop::OwnProgram => Input::Ended { thread },
            Stop::Exec => {
                processor.upper = Upper::Has;
                self.replaced_by = None;
                // The threads that shared it have ended meanwhile.
                self.lose_memory();
                Input::Executed { thread }
            }
        })
    }

    /// Handles a stop of which upper layers get no report: the thread continues
    /// as before, unless the engine wants it to stop.
    pub(super) fn see_quietly(&mut self, program: &Program, number: usize) -> Result<(), String> {
        let thread = thread_of(number);
        self.lead_out(program, number)?;
        if self.processors[number].stop == Some(Stop::Fork) {
            self.report_forks(false, number)?;
        }
        let processor = &mut self.processors[number];
        let stop = processor.stop.take();
        processor.signalled |= stop == Some(Stop::Signal);
        if stop == Some(Stop::Fork) && processor.motion == Some(Motion::Step) {
            // Its step has been made, except for the end.
            return self.resume_thread(thread, Motion::Step);
        }
        self.settle(number)
    }

    /// Handles the return of a handler, which is the end of a step over its
    /// last instruction.
    fn see_return(&mut self, number: usize) -> Result<(), String> {
        let thread = thread_of(number);
        let processor = &mut self.processors[number];
        processor.stop = None;
        let (address, stack) = (processor.counter.kernel(), processor.stack());
        self.feed(Input::HandlerReturned {
            thread,
            address,
            stack,
        })?;
        let processor = &mut self.processors[number];
        if processor.motion != Some(Motion::Step) {
            return self.settle(number);
        }
        processor.motion = None;
        processor.hold_requested = false;
        let address = processor.counter.shown();
        self.feed(Input::Stepped { thread, address })
    }

    /// Continues the thread as before, unless the engine wants it to stop.
    fn settle(&mut self, number: usize) -> Result<(), String> {
        let thread = thread_of(number);
        let processor = &mut self.processors[number];
        if std::mem::take(&mut processor.hold_requested) {
            processor.motion = None;
            let counter = processor.counter;
            let address = counter.shown();
            self.pass_counted(number, counter)?;
            return self.feed(Input::Stopped { thread, address });
        }
        match processor.motion {
            Some(motion) => self.resume_thread(thread, motion),
            None => Ok(()),
        }
    }
}
