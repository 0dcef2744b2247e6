//! `hbreak` and `thbreak`: breakpoints in debug registers.

use crate::breakpoints::Resolvable;
use crate::options::CommandError;
use crate::place;
use crate::report;
use crate::run::Pause;
use crate::session::Session;
use crate::view::{Outcome, PointLocation, PointView, StopReason};
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_instrument::program::Program;
use juror_language::Expression;

/// A breakpoint in debug registers.
#[derive(Debug)]
pub struct HardwareBreakpoint {
    number: u32,
    text: String,
    place: Resolvable,
    condition: Option<Expression>,
    condition_text: Option<String>,
    temporary: bool,
    enabled: bool,
    hits: u64,
    /// Where it is set now.
    addresses: Vec<u64>,
}

/// All of them, in the order of their numbers.
#[derive(Debug, Default)]
pub struct HardwareBreakpoints {
    list: Vec<HardwareBreakpoint>,
    /// Places of breakpoints that were deleted while another process was
    /// looked at.
    orphans: Vec<u64>,
}

/// The places in a process that is not looked at just now, by number.
#[derive(Debug, Default)]
pub struct HardwarePlaces {
    addresses: Vec<(u32, Vec<u64>)>,
    orphans: Vec<u64>,
}

impl HardwareBreakpoint {
    fn set(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let addresses = self.place.resolve(&program.modules).addresses;
        for address in addresses {
            if !self.addresses.contains(&address) {
                program.debuggee.insert_hardware(address)?;
                self.addresses.push(address);
            }
        }
        Ok(())
    }

    fn lift(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        for address in std::mem::take(&mut self.addresses) {
            program.debuggee.remove_hardware(address)?;
        }
        Ok(())
    }
}

impl HardwareBreakpoints {
    /// The numbers of all.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.list.iter().map(|it| it.number)
    }

    /// Looks at another process from now on.
    pub fn exchange(&mut self, places: &mut HardwarePlaces) {
        let before = std::mem::take(places);
        for breakpoint in &mut self.list {
            let addresses = std::mem::take(&mut breakpoint.addresses);
            places.addresses.push((breakpoint.number, addresses));
        }
        places.orphans = std::mem::replace(&mut self.orphans, before.orphans);
        for (number, addresses) in before.addresses {
            match self.list.iter_mut().find(|it| it.number == number) {
                Some(breakpoint) => breakpoint.addresses = addresses,
                None => self.orphans.extend(addresses),
            }
        }
    }

    /// Sets them in a program that has just been loaded, and takes away those
    /// that are not wanted any more. Stops its threads if there is anything to
    /// do.
    pub fn bind(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        for address in std::mem::take(&mut self.orphans) {
            program.debuggee.remove_hardware(address)?;
        }
        for breakpoint in self.list.iter_mut().filter(|it| !it.enabled) {
            breakpoint.lift(program)?;
        }
        for breakpoint in self.list.iter_mut().filter(|it| it.enabled) {
            breakpoint.set(program)?;
        }
        Ok(())
    }

    /// The process is gone; the places stay.
    pub fn forget_locations(&mut self) {
        self.orphans.clear();
        for breakpoint in &mut self.list {
            breakpoint.addresses.clear();
        }
    }

    /// Removes the one of this number.
    pub fn delete(
        &mut self,
        program: Option<&mut Program>,
        number: u32,
    ) -> Result<(), DebuggeeError> {
        let position = self.list.iter().position(|it| it.number == number);
        let breakpoint = position.map(|position| self.list.remove(position));
        match (breakpoint, program) {
            (Some(mut breakpoint), Some(program)) => breakpoint.lift(program),
            _ => Ok(()),
        }
    }

    /// Makes the one of this number stop the program, or not.
    pub fn enable(
        &mut self,
        program: Option<&mut Program>,
        number: u32,
        enabled: bool,
    ) -> Result<(), DebuggeeError> {
        let Some(breakpoint) = self.list.iter_mut().find(|it| it.number == number) else {
            return Ok(());
        };
        breakpoint.enabled = enabled;
        match program {
            None => Ok(()),
            Some(program) if enabled => breakpoint.set(program),
            Some(program) => breakpoint.lift(program),
        }
    }

    /// As `info breakpoints` shows them.
    pub fn views(&self, program: Option<&Program>) -> Vec<PointView> {
        let view = |it: &HardwareBreakpoint| PointView {
            number: Some(it.number),
            owner: "developer".to_owned(),
            kind: "hardware breakpoint",
            for_what: it.text.clone(),
            enabled: it.enabled,
            temporary: it.temporary,
            locations: match program {
                Some(program) => {
                    let addresses = it.addresses.iter();
                    addresses
                        .zip(1..)
                        .map(|(&at, number)| PointLocation {
                            place: report::location(program, at),
                            number,
                            enabled: it.enabled,
                            hits: it.hits,
                            passage: Some("hardware".to_owned()),
                        })
                        .collect()
                }
                None => Vec::new(),
            },
            hits: it.hits,
            passage: Some("hardware".to_owned()),
            condition: it.condition_text.clone(),
            thread: None,
            ignore: 0,
            stops_left: None,
            commands: Vec::new(),
        };
        self.list.iter().map(view).collect()
    }
}

impl Session {
    /// `hbreak`, `thbreak`.
    pub(crate) fn set_hardware_breakpoint(
        &mut self,
        rest: &str,
        temporary: bool,
    ) -> Result<Outcome, CommandError> {
        let placed = place::parse(rest).map_err(CommandError::new)?;
        let condition = match &placed.condition {
            None => None,
            Some(text) => {
                let (expression, diagnostics) = juror_language::parse_expression(text);
                if let Some(error) = diagnostics.iter().find(|it| it.is_error()) {
                    return Err(CommandError {
                        message: format!("in the condition: {}", error.message),
                        help: error.help.clone(),
                    });
                }
                expression
            }
        };
        let place = self.resolvable(&placed.place)?;
        let resolved = place.resolve(self.modules());
        let Some(&first) = resolved.addresses.first() else {
            return Err(CommandError::with_help(
                format!("there is no code at `{rest}` in what is loaded"),
                "a breakpoint (break) waits for a library that has the place",
            ));
        };
        let mut breakpoint = HardwareBreakpoint {
            number: 0,
            text: if rest.is_empty() { "here" } else { rest }.to_owned(),
            place,
            condition,
            condition_text: placed.condition.clone(),
            temporary,
            enabled: true,
            hits: 0,
            addresses: Vec::new(),
        };
        if let Some(program) = &mut self.program
            && let Err(error) = breakpoint.set(program)
        {
            breakpoint.lift(program)?;
            return Err(error.into());
        }
        let number = self.breakpoints.take_number();
        breakpoint.number = number;
        self.hardware_breakpoints.list.push(breakpoint);
        let described = self.modules().describe(first);
        let function = described
            .function
            .map_or(String::new(), |it| format!(": {it}"));
        let kind = if temporary { "temporary " } else { "" };
        Ok(Outcome::Message(format!(
            "{kind}hardware breakpoint {number} at {first:#x}{function}"
        )))
    }

    /// A thread is about to execute an instruction that a debug register
    /// watches.
    pub(crate) fn on_hardware_hit(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<Pause>, CommandError> {
        let mut numbers = Vec::new();
        let mut gone = Vec::new();
        for position in 0..self.hardware_breakpoints.list.len() {
            let Some(breakpoint) = self.hardware_breakpoints.list.get(position) else {
                continue;
            };
            if !breakpoint.addresses.contains(&address) {
                continue;
            }
            let condition = breakpoint.condition.clone();
            // One that cannot be evaluated stops, too.
            let holds = condition
                .is_none_or(|condition| self.condition_holds(thread, &condition).unwrap_or(true));
            let Some(breakpoint) = self.hardware_breakpoints.list.get_mut(position) else {
                continue;
            };
            if !holds {
                continue;
            }
            breakpoint.hits += 1;
            numbers.push(breakpoint.number);
            if breakpoint.temporary {
                gone.push(breakpoint.number);
            }
        }
        let temporary = !gone.is_empty();
        for number in gone {
            let program = self.program.as_mut();
            self.hardware_breakpoints.delete(program, number)?;
        }
        if numbers.is_empty() {
            return Ok(None);
        }
        let reason = StopReason::Breakpoint {
            numbers,
            errors: Vec::new(),
            temporary,
            silent: false,
        };
        Ok(Some(Pause::Reason(reason, thread)))
    }
}
