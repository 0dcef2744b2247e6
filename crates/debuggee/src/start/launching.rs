//! Launching a program as a debuggee.

use juror_stepping::{Input, ThreadId};

use crate::debuggee::{Debuggee, open_memory};
use crate::error::LaunchError;
use crate::host::Pids;
use crate::host::cpu::Cpu;
use crate::host::terminal::Terminal;
use crate::kernel;
use crate::start::launch::{Launch, Redirection};
use crate::start::spawn;
use crate::state::life::Origin;
use crate::state::thread::{State, Thread};

impl Debuggee {
    /// Starts a program. It is stopped before its first instruction, and
    /// before the dynamic linker's; nothing runs until it is resumed.
    pub fn launch(launch: &Launch) -> Result<Debuggee, LaunchError> {
        let spawned = spawn::spawn(launch)?;
        let process = spawned.process;
        let memory = match open_memory(process) {
            Ok(memory) => memory,
            Err(error) => {
                kernel::abandon(process);
                return Err(error.into());
            }
        };
        // From here on dropping the value cleans up.
        let cpu = Cpu::new(launch.cpu, process);
        let mut debuggee = Debuggee::new(process, memory, cpu, Origin::Launched);
        debuggee.system_calls = spawned.calls;
        debuggee.forks.set_descendants(launch.descendants);
        debuggee.host.pids = match spawned.refusal {
            Some(refusal) => Pids::Refused(refusal),
            None => Pids::new(spawned.namespace),
        };
        let driver = &mut debuggee.driver;
        driver.configure(launch.step_by, launch.in_place, launch.self_check.as_ref());
        let thread = ThreadId(process);
        let mut leader = Thread::new(thread, State::Stopped);
        leader.awaits_resume = true;
        debuggee.threads.insert(process, leader);
        debuggee.feed(Input::Started { thread })?;
        debuggee.prepare_image()?;
        if launch.is_repeatable {
            debuggee.make_start_repeatable(thread)?;
        }
        debuggee.host.terminal = match launch.input {
            Redirection::Inherit => Terminal::hand_over(process),
            _ => None,
        };
        Ok(debuggee)
    }
}
