//! Creation and termination of processes.

use super::Done;
use crate::promela::evaluate::View;
use crate::promela::machine::Machine;
use crate::promela::memory::{set_word, store, word};
use crate::promela::program::{Beginning, Code};
use crate::promela::shape::Shape;
use crate::promela::trap::Trap;
use crate::system::Fault;
use std::sync::Arc;

/// Maximum number of processes at a time.
const PROCESSES_MAX: usize = 255;

impl Machine {
    /// Runs a process.
    pub(super) fn run(
        &self,
        view: &View<'_>,
        (kind, priority): (u16, u8),
        arguments: &[Code],
        next: &mut Vec<u8>,
    ) -> Result<Done, Fault> {
        let trapped = |trap: Trap| trap.fault(&self.program);
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push((view.value(*argument).map_err(trapped)?, *argument));
        }
        let shape = self.begin(view.shape, kind, priority, &values, next)?;
        Ok(Done {
            shape: Some(shape),
            ..Done::default()
        })
    }

    /// Appends a new process to a state.
    pub(in crate::promela) fn begin(
        &self,
        shape: &Shape,
        kind: u16,
        priority: u8,
        arguments: &[(i32, Code)],
        next: &mut Vec<u8>,
    ) -> Result<Arc<Shape>, Fault> {
        if shape.frames.len() >= PROCESSES_MAX {
            let message = format!("there are already {PROCESSES_MAX} processes, the maximum");
            let fault = Fault::new(
                "too-large",
                message,
                self.program.kinds.get(kind as usize).map(|kind| kind.span),
            );
            return Err(
                fault.help("processes are removed when they have ended, the youngest first")
            );
        }
        let mut kinds = shape.kinds();
        kinds.push(kind);
        let Some(after) = self.shapes.of(&self.program, &kinds) else {
            let message = "there are too many processes and channels, or combinations of them";
            return Err(Fault::new("too-large", message, None));
        };
        let Some(process) = self.program.kinds.get(kind as usize) else {
            return Ok(after);
        };
        let trapped = |trap: Trap| trap.fault(&self.program);
        let base = next.len() as u32;
        next.resize(after.size as usize, 0);
        set_word(next, 0, after.number);
        self.program.stand(next, base, process.start as u16);
        if self.program.priorities
            && let Some(place) = next.get_mut((base + self.program.priority_offset()) as usize)
        {
            *place = priority;
        }
        if arguments.len() != process.parameters.len() {
            let message = format!(
                "`{}` takes {} values, but is given {}",
                process.name,
                process.parameters.len(),
                arguments.len()
            );
            return Err(Fault::new("arguments", message, Some(process.span)));
        }
        for ((value, code), cell) in arguments.iter().zip(&process.parameters) {
            let value = self.fitting(*value, &cell.scalar, *code).map_err(trapped)?;
            store(next, base, cell, value);
        }
        if let Some(outside) = process.outside {
            let values: Vec<i32> = arguments.iter().map(|(value, _)| *value).collect();
            let made = self.outside.get(kind as usize).and_then(Option::as_ref);
            let number = made.and_then(|made| made.begin(&values));
            let message = "this process has no implementation in Rust, or too many states";
            let none = || Fault::new("external", message, Some(process.span));
            let number = number.ok_or_else(none)?;
            store(next, base, &outside.cell, number as i32);
        }
        let first_channel = shape.channels.len();
        self.beginnings(
            &after,
            after.frames.len() - 1,
            base,
            &process.beginnings,
            first_channel,
            next,
        )
        .map_err(trapped)?;
        Ok(after)
    }

    /// Initializes variables.
    pub(in crate::promela) fn beginnings(
        &self,
        shape: &Arc<Shape>,
        process: usize,
        base: u32,
        beginnings: &[Beginning],
        first_channel: usize,
        next: &mut [u8],
    ) -> Result<(), Trap> {
        let mut channel = first_channel;
        for beginning in beginnings {
            match beginning {
                Beginning::Value(cell, code) => {
                    let view = View {
                        machine: self,
                        state: next,
                        shape,
                        process,
                        base,
                        timeout: false,
                    };
                    let value = view.value(*code)?;
                    let value = self.fitting(value, &cell.scalar, *code)?;
                    store(next, base, cell, value);
                }
                Beginning::Channel(cell, _) => {
                    channel += 1;
                    store(next, base, cell, channel as i32);
                }
            }
        }
        Ok(())
    }

    /// Terminates the youngest process, with its channels.
    pub(super) fn end(&self, view: &View<'_>, next: &mut Vec<u8>) -> Result<Done, Fault> {
        let mut kinds = view.shape.kinds();
        kinds.pop();
        let Some(shape) = self.shapes.of(&self.program, &kinds) else {
            let message = "there are too many processes and channels, or combinations of them";
            return Err(Fault::new("too-large", message, None));
        };
        next.truncate(shape.size as usize);
        set_word(next, 0, shape.number);
        debug_assert_eq!(word(next, 0), shape.number);
        Ok(Done {
            shape: Some(shape),
            has_ended: true,
            ..Done::default()
        })
    }

    /// Returns the initial global variables, before the final layout.
    pub(in crate::promela) fn globals(&self) -> Result<Vec<u8>, Fault> {
        let shape = self.shapes.of(&self.program, &[]).ok_or_else(too_large)?;
        let mut globals = vec![0; shape.size as usize];
        let beginnings = &self.program.global_beginnings;
        let begun = self.beginnings(&shape, 0, 0, beginnings, 0, &mut globals);
        begun.map_err(|trap| trap.fault(&self.program))?;
        globals.truncate(self.program.globals_end as usize);
        Ok(globals)
    }

    /// Returns the initial state.
    pub(in crate::promela) fn initial(&self) -> Result<Vec<u8>, Fault> {
        let mut shape = self.shapes.of(&self.program, &[]).ok_or_else(too_large)?;
        let mut state = self.program.first_globals.clone();
        state.resize(shape.size as usize, 0);
        set_word(&mut state, 0, shape.number);
        for active in &self.program.active {
            let count = self
                .program
                .kinds
                .get(active.kind as usize)
                .map_or(0, |kind| kind.parameters.len());
            // Initially active processes have no arguments; their parameters are 0.
            let arguments = vec![(0, Code(0)); count];
            shape = self.begin(&shape, active.kind, active.priority, &arguments, &mut state)?;
        }
        Ok(state)
    }
}

fn too_large() -> Fault {
    Fault::new("too-large", "there are too many processes", None)
}
