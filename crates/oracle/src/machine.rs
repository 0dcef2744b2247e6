//! The interactively verified program: debuggee × debugger × monitors × scenario.
//!
//! The submodule `debugged` has the rules of a program with a debugger; this module has
//! those of all four together, figures 17 to 20. Each rule is a function with its name.
//!
//! **Invariant:** as long as nobody changes a value, the program behaves as it does
//! without verification, and the verdicts are those of its whole trace.

mod debugged;
mod monitors;
mod points;
mod scenario;
#[cfg(test)]
mod tests;

pub use debugged::{Debugged, Mode, Output};
pub use monitors::{Event, EventNumber, Monitors, Transition};
pub use points::{Owner, Place, Point, Watched};
pub use scenario::{Command, EventNotification, Reply, Scenario, Silent};

use crate::{Debuggee, Fault};
use juror_control::decision::{self, Next, Wishes};

/// The maximum number of commands that a scenario may give at one moment.
const COMMANDS_MAX: usize = 1_000;
/// The maximum number of rules until a step reaches the next instruction: more than
/// there can be points at one location, each with a scenario that steps.
const RULES_OF_STEP_MAX: usize = 1_000;

/// A program under interactive verification: `Conf_i-RV`.
#[derive(Debug, Clone)]
pub struct Verified<D: Debuggee, S> {
    debugged: Debugged<D>,
    monitors: Monitors,
    scenario: S,
    /// The monitors' part of each checkpoint.
    checkpoints: Vec<Monitors>,
    /// True if the program has ended.
    has_ended: bool,
    /// The number of scenario steps that wait until its reactions are done.
    steps_waiting: usize,
}

impl<D: Debuggee, S: Scenario> Verified<D, S> {
    /// INIT: instruments the events that the monitors need, and lets the scenario react
    /// to the initial verdicts.
    ///
    /// # Errors
    /// If a command of the scenario fails.
    pub fn init(debuggee: D, monitors: Monitors, scenario: S) -> Result<Verified<D, S>, Fault> {
        let mut debugged = Debugged::new(debuggee);
        debugged.instrument(&monitors.needed(), &monitors)?;
        let mut verified = Verified {
            debugged,
            monitors,
            scenario,
            checkpoints: Vec::new(),
            has_ended: false,
            steps_waiting: 0,
        };
        verified.tell(&[])?;
        Ok(verified)
    }

    /// Returns the program with its debugger.
    pub fn debugged(&self) -> &Debugged<D> {
        &self.debugged
    }

    #[cfg(test)]
    pub(crate) fn debugged_mut(&mut self) -> &mut Debugged<D> {
        &mut self.debugged
    }

    /// Returns the monitors.
    pub fn monitors(&self) -> &Monitors {
        &self.monitors
    }

    /// Returns the scenario.
    pub fn scenario(&self) -> &S {
        &self.scenario
    }

    /// Returns true if the program has ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// NORMALEXEC, EXECPOINT or EXECEVENT: applies one rule of the running program; a
    /// waiting step of the scenario, which is several rules, comes first.
    ///
    /// # Errors
    /// If the debugger is interactive, or an operation fails.
    pub fn execute(&mut self) -> Result<Output, Fault> {
        if self.steps_waiting > 0 && self.debugged.mode() == Mode::Passive {
            self.steps_waiting -= 1;
            return self.scenario_step();
        }
        self.rule()
    }

    fn rule(&mut self) -> Result<Output, Fault> {
        let output = self.debugged.execute(&self.monitors)?;
        match &output {
            Output::Point(point) => self.exec_point(*point)?,
            Output::Events(events) => self.exec_event(events)?,
            Output::Ended => self.end()?,
            Output::Executed | Output::Stopped(_) | Output::BreakpointRemoved => {}
        }
        Ok(output)
    }

    /// Executes a step of the scenario, which ends at an instruction, a stop of the
    /// developer, or the end of the program.
    fn scenario_step(&mut self) -> Result<Output, Fault> {
        for _ in 0..RULES_OF_STEP_MAX {
            let output = self.rule()?;
            let is_over = matches!(
                output,
                Output::Executed | Output::Stopped(_) | Output::Ended
            );
            if is_over || self.debugged.mode() != Mode::Passive {
                let command = self.scenario.on_reply(Reply::Done);
                self.scn_cmd(command)?;
                return Ok(output);
            }
        }
        Err(Fault::Stuck)
    }

    /// EXECPOINT, and STEPPOINT if the developer steps.
    fn exec_point(&mut self, point: Point) -> Result<(), Fault> {
        let command = self.scenario.on_point(point);
        self.scn_cmd(command)
    }

    /// EXECEVENT, and STEPEVENT if the developer steps.
    fn exec_event(&mut self, events: &[Event]) -> Result<(), Fault> {
        let mut transitions = Vec::new();
        for event in events {
            transitions.extend(self.monitors.take(event)?);
        }
        let needed = self.monitors.needed();
        self.debugged
            .instrument_after_event(&needed, &self.monitors)?;
        self.tell(&transitions)
    }

    /// Ends the program: undecided verdicts become decided.
    fn end(&mut self) -> Result<(), Fault> {
        if !self.has_ended {
            self.has_ended = true;
            self.monitors.finish();
        }
        self.debugged.int()
    }

    fn tell(&mut self, transitions: &[Transition]) -> Result<(), Fault> {
        let verdicts = self.monitors.verdicts();
        let command = self.scenario.on_verdict(&EventNotification {
            transitions,
            verdicts: &verdicts,
        });
        self.scn_cmd(command)
    }

    /// SCNCMD, until SCNCMDNOP. Commands that let the program run, or stop it, are
    /// decided once the scenario has finished: a step waits for that.
    fn scn_cmd(&mut self, mut command: Command) -> Result<(), Fault> {
        let is_passive = self.debugged.mode() == Mode::Passive;
        let mut wishes = Wishes::default();
        for _ in 0..COMMANDS_MAX {
            let reply = match command {
                Command::Nothing => {
                    return self.decide(wishes);
                }
                Command::Step if is_passive => {
                    wishes.moves = true;
                    self.steps_waiting += 1;
                    return self.decide(wishes);
                }
                Command::Interrupt => {
                    wishes.stops = true;
                    Reply::Done
                }
                Command::Continue => {
                    wishes.continues = true;
                    Reply::Done
                }
                // `wishes` does not say that the program was restored: that matters for
                // a stop, which is no notification of scenarios only, and for the other
                // threads, of which there are none.
                other => self.command(&other)?,
            };
            command = self.scenario.on_reply(reply);
        }
        Err(Fault::Endless(COMMANDS_MAX))
    }

    /// Decides the consequence of the reactions to a point or an event that only the
    /// scenario is notified of.
    fn decide(&mut self, wishes: Wishes) -> Result<(), Fault> {
        match decision::next(decision::Notification::ScenariosOnly, wishes) {
            Next::ShowError | Next::Show | Next::ShowScenario => {
                self.steps_waiting = 0;
                self.debugged.int()?;
            }
            Next::Move { .. } | Next::RunAll | Next::GoOn if wishes.continues => {
                self.debugged.cont()?;
            }
            Next::Move { .. } | Next::RunAll | Next::GoOn => {}
        }
        Ok(())
    }

    /// Executes a command of the developer or of the scenario: figure 20.
    ///
    /// # Errors
    /// If the command fails.
    pub fn command(&mut self, command: &Command) -> Result<Reply, Fault> {
        match command {
            Command::Checkpoint => self.checkpoint(),
            Command::Restore(number) => self.restore(*number),
            Command::Step => self.step(),
            other => self.other_cmd(other),
        }
    }

    /// CHECKPOINT: the program and the monitors, together.
    fn checkpoint(&mut self) -> Result<Reply, Fault> {
        let number = self.debugged.checkpoint()?;
        self.checkpoints.push(self.monitors.clone());
        Ok(Reply::Checkpoint(number))
    }

    /// RESTORE: the program and the monitors, together.
    fn restore(&mut self, number: usize) -> Result<Reply, Fault> {
        self.debugged.restore(number, &self.monitors)?;
        let kept = self.checkpoints.get(number);
        let kept = kept.ok_or(Fault::NoCheckpoint(number))?;
        #[cfg(test)]
        if self.debugged.drops(debugged::Dropped::RestoredMonitors) {
            return Ok(Reply::Done);
        }
        self.monitors.clone_from(kept);
        self.has_ended = false;
        // Steps that were waiting are not executed after a restoration.
        self.steps_waiting = 0;
        Ok(Reply::Done)
    }

    /// STEP, STEPPOINT, STEPEVENT and STEPREDO: executes one instruction, after
    /// everything that is triggered before it. A point of the developer ends the step
    /// early, and so does a scenario that stops the program.
    fn step(&mut self) -> Result<Reply, Fault> {
        if self.debugged.mode() != Mode::Interactive {
            return Err(Fault::Mode("runs"));
        }
        self.debugged.cont()?;
        for _ in 0..RULES_OF_STEP_MAX {
            // STEPREDO, unless the instruction has been executed.
            if self.debugged.mode() != Mode::Passive || self.execute()? == Output::Executed {
                self.debugged.int()?;
                return Ok(Reply::Done);
            }
        }
        self.debugged.int()?;
        Err(Fault::Stuck)
    }

    /// OTHERCMD: a command for the program with its debugger alone.
    fn other_cmd(&mut self, command: &Command) -> Result<Reply, Fault> {
        let debugged = &mut self.debugged;
        match command {
            Command::GetAddress(address) => {
                return debugged.get_address(*address).map(Reply::Value);
            }
            Command::SetAddress(address, value) => debugged.set_address(*address, *value)?,
            Command::GetSymbol(symbol) => return debugged.get_symbol(symbol).map(Reply::Value),
            Command::SetSymbol(symbol, value) => debugged.set_symbol(symbol, *value)?,
            Command::GetProgramCounter => {
                let address = debugged.get_program_counter()?;
                return Ok(Reply::Value(address as i64));
            }
            Command::SetProgramCounter(address) => debugged.set_program_counter(*address)?,
            Command::Continue => debugged.cont()?,
            Command::Interrupt => debugged.int()?,
            Command::SetPoint(point) => debugged.set_point(*point)?,
            Command::RemovePoint(point) => debugged.remove_point(*point)?,
            Command::Nothing | Command::Checkpoint | Command::Restore(_) | Command::Step => {}
        }
        Ok(Reply::Done)
    }
}
