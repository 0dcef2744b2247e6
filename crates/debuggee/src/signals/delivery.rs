//! Delivery of signals to the program.
//!
//! Every signal of a traced thread stops it for juror first. Most are delivered
//! at once, unchanged. Invariant: a signal never repeats or loses an event. A
//! signal that finds a thread in an out-of-line slot is delivered when the thread has
//! left it. If the displaced instruction may wait or take long, it is delivered there,
//! and the slot continues after the handler. A fault of the displaced instruction moves
//! the thread back to the original first, so that its handler sees the program.

use juror_stepping::{Input, ThreadId};
use libc::{SI_KERNEL, siginfo_t};

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or, ignore_gone};
use crate::kernel;
use crate::kernel::dispositions;
use crate::state::signals::SignalReport;
use crate::state::stop_event::StopEvent;
use crate::state::thread::{DeferredSignal, Motion, PendingSignal};
use crate::watch::page_faults::PageFault;

/// The recipient of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recipient {
    /// The program alone: it is delivered.
    Program,
    /// Upper layers, before the program gets it.
    Debugger { fatal: bool },
    /// The user at the terminal who pressed a key to stop the program.
    Terminal,
    /// None: the key has stopped the program by another of its processes.
    None,
}

impl Debuggee {
    /// Handles a signal that is about to be delivered.
    pub(crate) fn handle_signal(
        &mut self,
        thread: ThreadId,
        number: i32,
    ) -> Result<(), DebuggeeError> {
        let mut information =
            kernel::signal_information(thread.0).map_err(gone_or("read a signal", thread))?;
        let (mut number, mut fresh) = (number, true);
        if self.is_page_fault(number) {
            match self.handle_page_fault(thread, &information)? {
                PageFault::Taken => return Ok(()),
                PageFault::Own(None) => {}
                PageFault::Own(Some(fault)) => {
                    (number, information) = fault;
                    fresh = false;
                }
            }
        }
        let (recipient, is_passed) = match self.take_deferred_signal(thread, number, &information) {
            Some(deferred) => {
                information = deferred.information;
                ignore_gone(kernel::set_signal_information(thread.0, &information))?;
                if deferred.is_reported {
                    (Recipient::Program, true)
                } else {
                    self.recipient_of_new(thread, number, &information)
                }
            }
            None => self.recipient_of_new(thread, number, &information),
        };
        let is_fault = dispositions::is_fault(number, &information);
        self.hold_signal(
            thread,
            PendingSignal {
                number,
                information,
                deliver: is_passed,
                fresh,
                synchronous: is_fault,
                is_injected: false,
            },
        );
        self.open_for_signal(thread)?;
        if !is_fault {
            self.keep_interrupted_slot(thread, number)?;
        }
        if is_fault && self.return_from_step_over(thread, number)? {
            if recipient == Recipient::Program {
                return self.feed(Input::Resume { thread });
            }
        } else if matches!(recipient, Recipient::Program | Recipient::None) {
            return self.continue_internally(thread);
        } else {
            self.interrupt_engine(thread)?;
        }
        self.queue_signal_event(thread, recipient);
        Ok(())
    }

    /// Postpones the signal for which a thread has stopped until it runs again.
    pub(crate) fn postpone_signal(
        &mut self,
        thread: ThreadId,
        number: i32,
    ) -> Result<(), DebuggeeError> {
        let information =
            kernel::signal_information(thread.0).map_err(gone_or("read a signal", thread))?;
        let earlier = self.take_deferred_signal(thread, number, &information);
        let postponed = match earlier {
            Some(earlier) => DeferredSignal {
                sent: false,
                ..earlier
            },
            None => DeferredSignal {
                number,
                information,
                sent: false,
                is_reported: false,
            },
        };
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.send_later(postponed);
        }
        Ok(())
    }

    /// Returns the recipient of a signal that has not been reported, and whether the program
    /// gets it.
    fn recipient_of_new(
        &mut self,
        thread: ThreadId,
        number: i32,
        information: &siginfo_t,
    ) -> (Recipient, bool) {
        let recipient = self.recipient(thread, number, information);
        let is_kept = matches!(recipient, Recipient::Terminal | Recipient::None);
        let is_passed = !is_kept && self.signals.policies.of(number).deliver;
        (recipient, is_passed)
    }

    /// Returns the recipient of a signal.
    fn recipient(&mut self, thread: ThreadId, number: i32, information: &siginfo_t) -> Recipient {
        if self
            .threads
            .get(&thread.0)
            .is_none_or(|known| known.is_vfork_child)
        {
            return Recipient::Program;
        }
        let report = self.signals.policies.of(number).report;
        let is_key = report != SignalReport::Never
            && information.si_code == SI_KERNEL
            && (number == libc::SIGINT
                || (number == libc::SIGTSTP && self.host.terminal.is_some()));
        if is_key && number == libc::SIGINT && self.signals.take_ignored_key() {
            return Recipient::None;
        }
        if is_key {
            return Recipient::Terminal;
        }
        let fatal = dispositions::is_fatal(self.process, number);
        match report {
            SignalReport::Always => Recipient::Debugger { fatal },
            SignalReport::WhenFatal if fatal => Recipient::Debugger { fatal },
            _ if self.signals.is_monitored(number) => Recipient::Debugger { fatal },
            _ if self.signals.are_kept && !dispositions::is_fault(number, information) => {
                Recipient::Debugger { fatal }
            }
            SignalReport::WhenFatal | SignalReport::Never => Recipient::Program,
        }
    }

    /// Reports the signal that the thread holds.
    fn queue_signal_event(&mut self, thread: ThreadId, recipient: Recipient) {
        let fatal = match recipient {
            Recipient::Program | Recipient::None => return,
            Recipient::Terminal => return self.queue_event(StopEvent::Interrupted { thread }),
            Recipient::Debugger { fatal } => fatal,
        };
        let Some(pending) = self
            .threads
            .get(&thread.0)
            .and_then(|known| known.pending.as_ref())
        else {
            return;
        };
        self.queue_event(StopEvent::Signal {
            thread,
            signal: pending.number,
            code: pending.information.si_code,
            // Only then does the kernel name the sender.
            sender: (pending.information.si_code <= 0)
                .then(|| kernel::sender(&pending.information) as u32),
            fault_address: self.fault_address(thread, pending),
            fatal,
        });
    }

    /// Handles the signal of a trap of the program's own, after the stop has
    /// been passed to the engine.
    pub(crate) fn handle_trap_signal(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let information =
            kernel::signal_information(thread.0).map_err(gone_or("read a signal", thread))?;
        let recipient = self.recipient(thread, libc::SIGTRAP, &information);
        self.hold_signal(
            thread,
            PendingSignal {
                number: libc::SIGTRAP,
                information,
                deliver: self.signals.policies.of(libc::SIGTRAP).deliver,
                fresh: true,
                synchronous: true,
                is_injected: false,
            },
        );
        if recipient == Recipient::Program {
            self.driver.inputs.push_back(Input::Resume { thread });
        }
        self.queue_signal_event(thread, recipient);
        Ok(())
    }

    /// Holds a signal until the thread runs. A signal that is held already is
    /// deferred: sent again at once, it would overtake this one in turn, and a
    /// thread that is to make a step would never make it.
    fn hold_signal(&mut self, thread: ThreadId, signal: PendingSignal) {
        if let Some(known) = self.threads.get_mut(&thread.0)
            && let Some(earlier) = known.pending.replace(signal)
        {
            known.defer_signal(earlier);
        }
    }

    /// Keeps the slot of a thread whose handler of a signal interrupts it, also after
    /// detaching: the handler will return to it.
    fn keep_interrupted_slot(
        &mut self,
        thread: ThreadId,
        number: i32,
    ) -> Result<(), DebuggeeError> {
        if !self.image.out_of_line.is_interrupted {
            let counter = self.stop_registers(thread)?.kernel_counter;
            let slots = &mut self.image.out_of_line;
            slots.is_interrupted =
                slots.original_of(counter).is_some() && dispositions::is_caught(thread.0, number);
        }
        Ok(())
    }

    /// Takes the pending signal of a stopped thread, for the request that
    /// resumes it; 0 if there is none. Sends deferred signals again.
    pub(crate) fn signal_to_deliver(&mut self, thread: ThreadId) -> i32 {
        let waits = self.lacks_open_pages(thread);
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return 0;
        };
        let mut number = 0;
        if waits && let Some(pending) = known.pending.take() {
            known.defer_signal(pending);
        }
        if let Some(pending) = known.pending.take_if(|_| true).filter(|it| it.deliver) {
            let is_carried = pending.fresh
                || known.at_signal
                    && kernel::set_signal_information(thread.0, &pending.information).is_ok();
            if is_carried {
                number = pending.number;
            } else {
                // The kernel takes no signal at this stop.
                known.defer_signal(pending);
            }
        }
        let group = if known.is_vfork_child {
            thread.0
        } else {
            self.process
        };
        for signal in known
            .deferred_signals
            .iter_mut()
            .filter(|signal| !signal.sent)
        {
            signal.sent = true;
            let _ = kernel::signal_thread(group, thread.0, signal.number);
        }
        if number == libc::SIGSEGV {
            self.note_fault_delivery();
        }
        number
    }

    /// Returns a signal that juror has sent again, with its original information.
    fn take_deferred_signal(
        &mut self,
        thread: ThreadId,
        number: i32,
        information: &siginfo_t,
    ) -> Option<DeferredSignal> {
        let known = self.threads.get_mut(&thread.0)?;
        let sent = known
            .deferred_signals
            .iter()
            .position(|signal| signal.sent && signal.number == number)?;
        let is_jurors = information.si_code == libc::SI_TKILL
            && kernel::sender(information) as u32 == std::process::id();
        is_jurors.then(|| known.deferred_signals.remove(sent))
    }

    /// Passes a signal to the engine that is delivered to a thread in a slot:
    /// its handler returns there.
    pub(crate) fn note_signal_out_of_line(
        &mut self,
        thread: ThreadId,
    ) -> Result<(), DebuggeeError> {
        let counter = match self.stop_registers(thread) {
            Ok(registers) => registers.kernel_counter,
            Err(DebuggeeError::ThreadGone(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        match self.image.original_of(counter) {
            Some(place) if !place.executed => self.feed(Input::Signalled {
                thread,
                address: place.address,
            }),
            _ => Ok(()),
        }
    }

    /// If a fault happened during a step-over, moves the thread back to the
    /// original instruction, so that the signal refers to it; returns true
    /// then.
    fn return_from_step_over(
        &mut self,
        thread: ThreadId,
        signal: i32,
    ) -> Result<bool, DebuggeeError> {
        let registers = *self.stop_registers(thread)?;
        let out_of_line = self
            .image
            .original_of(registers.kernel_counter)
            .filter(|place| !place.executed);
        let is_stepping = self
            .threads
            .get(&thread.0)
            .is_some_and(|known| known.motion != Motion::Run);
        let twin = self.image.patches.at_first_twin(registers.kernel_counter);
        let address = match out_of_line {
            // In the first twin: behind an `endbr64`, if there is one.
            Some(place) => twin.map_or(place.address, |(_, jump)| jump),
            None if is_stepping
                && self.driver.engine.reported_at(thread) == Some(registers.kernel_counter) =>
            {
                registers.kernel_counter
            }
            None => return Ok(false),
        };
        let is_counted = twin.is_some_and(|(entry, _)| entry == address);
        self.set_counter(thread, address)?;
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hold_requested = false;
            if let Some(pending) = &mut known.pending
                && dispositions::names_instruction(signal)
            {
                kernel::set_fault_address(&mut pending.information, address);
                ignore_gone(kernel::set_signal_information(
                    thread.0,
                    &pending.information,
                ))?;
            }
        }
        let stack = registers.shown.stack_pointer();
        if is_counted {
            self.feed(Input::Counted {
                thread,
                address,
                stack,
            })?;
        }
        self.feed(Input::Faulted {
            thread,
            address,
            stack,
        })?;
        Ok(true)
    }
}
