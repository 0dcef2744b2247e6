//! Event handlers of monitors other than calls, lines and accesses to memory: events of the kernel
//! and of the dynamic linker, the start and the end.

use crate::monitors::without_location::Happening;
use crate::monitors::{EventOutcome, Monitors, is_needed_by};
use juror_debuggee::{DebuggeeError, SystemCallPhase, ThreadId};
use juror_event::{EventKind, Unavailability, Value};
use juror_instrument::capture_plan::{CapturePlan, compute_captures};
use juror_instrument::context_values::{Details, EventContext};
use juror_program::program::Program;
use juror_view::observer::Observer;
use std::path::PathBuf;
use std::rc::Rc;

/// The context of an event, and its receivers.
pub struct Scene<'a> {
    /// The program.
    pub program: &'a mut Program,
    /// The thread, stopped or already gone.
    pub thread: ThreadId,
    /// The observer of state changes.
    pub observer: &'a mut dyn Observer,
    /// Collects what must be reported.
    pub outcome: &'a mut EventOutcome,
}

impl Monitors {
    /// Handles the entry to or exit from a system call.
    pub fn on_system_call(
        &mut self,
        scene: &mut Scene<'_>,
        number: u64,
        phase: SystemCallPhase,
    ) -> Result<(), DebuggeeError> {
        let kind = match phase {
            SystemCallPhase::Entry { .. } => EventKind::SystemCallEntry,
            SystemCallPhase::Exit { .. } => EventKind::SystemCallExit,
        };
        let happening = Happening::SystemCall(kind, number);
        if !self.concerns(happening) {
            return Ok(());
        }
        let place = own_place(scene);
        let details = Details::SystemCall { number };
        self.notify(scene, happening, place, details)
    }

    /// Handles a signal that is about to be delivered.
    pub fn on_signal(
        &mut self,
        scene: &mut Scene<'_>,
        number: i32,
        sender: Option<u32>,
        code: i32,
    ) -> Result<(), DebuggeeError> {
        if !self.concerns(Happening::Signal(number)) {
            return Ok(());
        }
        let place = own_place(scene);
        let details = Details::Signal {
            number,
            sender,
            code,
        };
        self.notify(scene, Happening::Signal(number), place, details)
    }

    /// Handles a thread that is about to run its first instruction.
    pub fn on_thread_start(&mut self, scene: &mut Scene<'_>) -> Result<(), DebuggeeError> {
        self.number_thread(scene.program, scene.thread);
        let happening = Happening::Plain(EventKind::ThreadStart);
        let place = scene
            .program
            .registers(scene.thread)
            .map_or(0, |it| it.instruction_pointer());
        self.notify(scene, happening, place, Details::None)
    }

    /// Handles the end of a thread.
    pub fn on_thread_end(&mut self, scene: &mut Scene<'_>) -> Result<(), DebuggeeError> {
        self.probes.end_thread(scene.program, scene.thread)?;
        let happening = Happening::Plain(EventKind::ThreadEnd);
        self.notify(scene, happening, 0, Details::None)
    }

    /// Handles modules that were loaded or unloaded.
    pub fn on_modules(&mut self, scene: &mut Scene<'_>) -> Result<(), DebuggeeError> {
        if !self.occasions.asks_for_modules() {
            return Ok(());
        }
        let modules = scene.program.modules.iter().filter(|it| !it.is_main);
        let now: Vec<(PathBuf, u64)> = modules.map(|it| (it.path.clone(), it.bias)).collect();
        let before = std::mem::replace(&mut self.loaded, now.clone());
        let place = own_place(scene);
        for (kind, (path, base)) in module_changes(&before, &now) {
            let name = path.file_name().unwrap_or(path.as_os_str());
            let name = name.to_string_lossy();
            let details = Details::Module {
                name: &name,
                base: *base,
            };
            self.notify(scene, Happening::Module(kind, &name), place, details)?;
        }
        Ok(())
    }

    /// Records the present modules, so that they are not reported as loaded.
    pub fn note_modules(&mut self, program: &Program) {
        let modules = program.modules.iter().filter(|it| !it.is_main);
        self.loaded = modules.map(|it| (it.path.clone(), it.bias)).collect();
    }

    /// Handles the start: everything is loaded, and the program is about to run.
    pub fn on_start(&mut self, scene: &mut Scene<'_>) -> Result<(), DebuggeeError> {
        self.on_modules(scene)?;
        let place = scene
            .program
            .registers(scene.thread)
            .map_or(0, |it| it.instruction_pointer());
        let happening = Happening::Plain(EventKind::ProgramStart);
        self.notify(scene, happening, place, Details::None)
    }

    /// Handles the exit of the program; once for each run.
    pub fn on_exit(&mut self, scene: &mut Scene<'_>, status: i32) -> Result<(), DebuggeeError> {
        if std::mem::replace(&mut self.has_exited, true) {
            return Ok(());
        }
        self.note_tiers(scene.program);
        self.forget_tables();
        let happening = Happening::Plain(EventKind::ProgramExit);
        self.notify(scene, happening, 0, Details::Exit { status })
    }

    /// Handles the end of a program that was killed or left, also one that could not be stopped
    /// before: its tables have the events since the last stop.
    pub fn on_left(&mut self, program: &Program) {
        if self.has_native() {
            self.note_tiers(program);
            self.forget_tables();
        }
    }

    /// Returns whether some monitor needs an event of this kind.
    fn concerns(&self, happening: Happening<'_>) -> bool {
        let mut concerned = self.occasions.concerned(happening).into_iter();
        concerned.any(|position| {
            let occasion = self.occasions.get(position);
            occasion.is_some_and(|it| is_needed_by(&self.properties, it.monitor, it.event))
        })
    }

    /// Sends an event to the monitors.
    fn notify(
        &mut self,
        scene: &mut Scene<'_>,
        happening: Happening<'_>,
        place: u64,
        details: Details<'_>,
    ) -> Result<(), DebuggeeError> {
        if self.occasions.is_empty() {
            return Ok(());
        }
        for position in self.occasions.concerned(happening) {
            let Some(occasion) = self.occasions.get(position) else {
                continue;
            };
            let (monitor, event) = (occasion.monitor, occasion.event);
            let captures = Rc::clone(&occasion.captures);
            self.happen(
                scene,
                monitor,
                event.0,
                place,
                &captures,
                &EventContext::of(details),
            )?;
        }
        Ok(())
    }

    /// Processes one event of one monitor, if it needs the event.
    pub(super) fn happen(
        &mut self,
        scene: &mut Scene<'_>,
        monitor: u16,
        event: u16,
        place: u64,
        captures: &[CapturePlan],
        moment: &EventContext<'_>,
    ) -> Result<(), DebuggeeError> {
        let event = juror_event::EventId(event);
        let position = usize::from(monitor);
        let Some(monitored) = self.properties.get_mut(position) else {
            return Ok(());
        };
        if let Some(stops) = monitored.stops.get_mut(usize::from(event.0)) {
            *stops += 1;
        }
        // A preceding event may have made this one unneeded.
        if !is_needed_by(&self.properties, monitor, event) {
            return Ok(());
        }
        let mask = self.mask(position, event);
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        for (slot, plan) in captures.iter().enumerate() {
            values.push(match mask >> slot & 1 {
                0 => Value::Unavailable(Unavailability::NotCaptured),
                _ => plan.read(scene.program, scene.thread, moment),
            });
        }
        compute_captures(captures, mask, &mut values);
        let (program, thread) = (&mut *scene.program, scene.thread);
        let stepped = self.step(
            program,
            thread,
            position,
            event,
            place,
            &values,
            scene.observer,
            scene.outcome,
        );
        self.values = values;
        stepped
    }
}

/// Returns the modules that came and went, each by its path and load bias: what was unloaded comes
/// first, as another module may be loaded in its place.
fn module_changes<'a>(
    before: &'a [(PathBuf, u64)],
    now: &'a [(PathBuf, u64)],
) -> impl Iterator<Item = (EventKind, &'a (PathBuf, u64))> {
    let went = before.iter().filter(|it| !now.contains(it));
    let came = now.iter().filter(|it| !before.contains(it));
    went.map(|it| (EventKind::ModuleUnload, it))
        .chain(came.map(|it| (EventKind::ModuleLoad, it)))
}

/// Returns the address of a stopped thread in the main program, for reports.
fn own_place(scene: &Scene<'_>) -> u64 {
    let own = scene.program.innermost_own_call(scene.thread);
    own.unwrap_or_else(|| {
        scene
            .program
            .registers(scene.thread)
            .map_or(0, |it| it.instruction_pointer())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_at_another_address_was_unloaded_and_loaded() {
        let of = |list: &[(&str, u64)]| -> Vec<(PathBuf, u64)> {
            list.iter()
                .map(|(path, base)| (path.into(), *base))
                .collect()
        };
        let before = of(&[("/a.so", 1), ("/b.so", 2), ("/c.so", 3)]);
        let now = of(&[("/b.so", 2), ("/c.so", 9), ("/d.so", 1)]);
        let told: Vec<(EventKind, &str, u64)> = module_changes(&before, &now)
            .map(|(kind, (path, base))| (kind, path.to_str().unwrap_or(""), *base))
            .collect();
        let (load, unload) = (EventKind::ModuleLoad, EventKind::ModuleUnload);
        assert_eq!(
            told,
            [
                (unload, "/a.so", 1),
                (unload, "/c.so", 3),
                (load, "/c.so", 9),
                (load, "/d.so", 1)
            ]
        );
        assert_eq!(module_changes(&now, &now).count(), 0);
    }
}
