//! The points of the user and of scenarios.

use crate::state::breakpoint_commands::BreakpointCommands;
use crate::state::process::Process;
use juror_points::breakpoints::Breakpoints;
use juror_points::catchpoints::Catchpoints;
use juror_points::hardware_breakpoints::HardwareBreakpoints;
use juror_points::point::PointOwner;
use std::mem;

/// The points that belong to all processes, and their output.
#[derive(Default)]
pub(crate) struct UserPoints {
    /// The breakpoints, inserted by traps.
    pub breakpoints: Breakpoints,
    /// The breakpoints in debug registers.
    pub hardware: HardwareBreakpoints,
    /// The catchpoints.
    pub catchpoints: Catchpoints,
    /// The commands that run when a point is hit.
    pub commands: BreakpointCommands,
    /// The owner of the points that are set now.
    pub owner: PointOwner,
    /// The output of `dprintf` points that is not reported yet: point and text.
    pub printed: Vec<(u32, String)>,
}

impl UserPoints {
    /// Exchanges the bindings of all points: `now` becomes the current process in place of
    /// `before`. Inserts the wanted points in it.
    pub(crate) fn exchange(&mut self, before: &mut Process, now: &mut Process) {
        let places = &mut now.inserted.hardware;
        self.hardware.exchange(places);
        before.inserted.hardware = mem::take(places);
        let Some(program) = &mut now.program else {
            return;
        };
        let places = &mut now.inserted.breakpoints;
        self.breakpoints.exchange(places, program);
        before.inserted.breakpoints = mem::take(places);
        let places = &mut now.inserted.caught;
        self.catchpoints.exchange(places, program);
        before.inserted.caught = mem::take(places);
        // The process in the foreground of the terminal, which interrupts are sent to.
        if let Some(before) = &mut before.program {
            before.debuggee.transfer_to(&mut program.debuggee);
        }
    }

    /// Forgets the bindings of the process, which has ended.
    pub(crate) fn forget_process(&mut self) {
        self.commands.clear();
        self.breakpoints.forget_process();
        self.catchpoints.forget_locations();
        self.hardware.forget_locations();
    }
}
