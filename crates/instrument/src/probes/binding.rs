//! From a symbolic event of a call to the definitions of its function that are
//! loaded now, with a plan for each value that it captures.

use crate::capture_plan::{CaptureError, CapturePlan, plan_capture};
use crate::modules::{Bound, Module};
use crate::program::Program;
use juror_debuggee::ThreadId;
use juror_event::SymbolicEvent;

/// Why an event cannot be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BindError {
    /// No module has the function.
    UnknownFunction {
        /// A near name.
        near: Option<String>,
        /// The program has no symbol table, so the function may be there.
        is_stripped: bool,
    },
    /// Some calls were inlined, and events there would be missed.
    Inlined {
        /// Where, in words.
        places: Vec<String>,
        /// There is no other definition at all.
        only: bool,
    },
    /// There is no such line, place, system call or signal.
    Subject {
        /// What is wrong.
        message: String,
        /// What to do about it.
        help: Option<String>,
        /// A module that comes later may have it.
        is_absent: bool,
    },
    /// The name is chosen at load time (`ifunc`), so its code is elsewhere.
    Indirect,
    /// A capture cannot be read.
    Capture {
        /// Which.
        slot: usize,
        /// Why.
        error: CaptureError,
        /// In which function.
        function: String,
    },
}

impl Program {
    /// The definitions that an event means, in what is loaded now: none where
    /// all its calls were inlined and the user accepts that. `thread` waits,
    /// and may be asked to resolve indirect functions.
    pub fn bind_event(
        &mut self,
        event: &SymbolicEvent,
        thread: ThreadId,
        ignore_inlined: bool,
    ) -> Result<Vec<(Bound, Vec<CapturePlan>)>, BindError> {
        let wanted = |module: &Module| module.is_reached(&event.reach);
        let definitions = self.modules.reached_definitions(&event.subject, wanted);
        let copies = self.modules.inlined_copies(&event.subject, wanted);
        if !copies.is_empty() && !ignore_inlined {
            let mut places: Vec<String> = copies
                .iter()
                .map(|(module, copy)| match (&copy.call_file, copy.call_line) {
                    (Some(file), Some(line)) => {
                        format!("{}:{line} (in {})", file.display(), copy.caller)
                    }
                    _ => format!("{:#x} (in {})", module.to_process(copy.entry), copy.caller),
                })
                .collect();
            places.sort();
            places.dedup();
            return Err(BindError::Inlined {
                places,
                only: definitions.is_empty(),
            });
        }
        if definitions.is_empty() && copies.is_empty() {
            return Err(BindError::UnknownFunction {
                near: self.near_function(&event.subject),
                is_stripped: self
                    .modules
                    .main()
                    .is_some_and(|module| module.symbols.is_stripped()),
            });
        }
        let mut bound = Vec::new();
        for mut definition in definitions {
            if definition.function.indirect {
                definition = self
                    .resolve_indirect(&definition, thread, false)
                    .ok_or(BindError::Indirect)?;
            }
            let mut plans = Vec::with_capacity(event.captures.len());
            for (slot, capture) in event.captures.iter().enumerate() {
                let plan = plan_capture(event, capture, &definition, self).map_err(|error| {
                    BindError::Capture {
                        slot,
                        error,
                        function: definition.function.name.to_string(),
                    }
                })?;
                plans.push(plan);
            }
            bound.push((definition, plans));
        }
        Ok(bound)
    }

    /// How many calls of an event's function were inlined, in what is loaded
    /// now: they give no events.
    pub fn inlined_calls(&self, event: &SymbolicEvent) -> usize {
        let wanted = |module: &Module| module.is_reached(&event.reach);
        self.modules.inlined_copies(&event.subject, wanted).len()
    }

    /// The names of the parameters of an event's function, in order, where the
    /// debug information has them: those of its first definition.
    pub fn parameter_names(&self, event: &SymbolicEvent) -> Vec<String> {
        let wanted = |module: &Module| module.is_reached(&event.reach);
        let definitions = self.modules.reached_definitions(&event.subject, wanted);
        let names = definitions.first().map(|bound| {
            let values = bound.module.symbols.entry_value_plans(&bound.function);
            values.iter().map(|value| value.name.to_string()).collect()
        });
        names.unwrap_or_default()
    }

    fn near_function(&self, name: &str) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        for module in self.modules.iter() {
            names.extend(module.symbols.function_names());
        }
        juror_language::suggest(name, names.iter().map(String::as_str))
    }
}
