//! The developer's breakpoints: places as written, bound to addresses.
//!
//! A place in a library that is not loaded yet stays pending and is bound
//! when a module has it.

use crate::place::{self, Place};
use crate::report;
use crate::view::PointView;
use juror_debuggee::{DebuggeeError, Owner};
use juror_instrument::modules::Modules;
use juror_instrument::program::Program;
use juror_language::Expression;
use std::path::Path;

/// A breakpoint of the developer.
#[derive(Debug)]
pub struct Breakpoint {
    /// By which the user knows it.
    pub number: u32,
    /// As it was written.
    pub text: String,
    /// What must be true there.
    pub condition: Option<Expression>,
    /// It goes away when it is hit.
    pub temporary: bool,
    /// It stops the program.
    pub enabled: bool,
    /// How many hits are still to be passed.
    pub ignore: u64,
    /// How often it was hit.
    pub hits: u64,
    /// Where it is.
    pub addresses: Vec<u64>,
    place: Resolvable,
}

/// A place that can be looked for again when modules come.
#[derive(Debug, Clone)]
pub enum Resolvable {
    /// A line of a file.
    Line(String, u32),
    /// A function.
    Function(String),
    /// An address, which stays.
    Address(u64),
}

/// All breakpoints of the developer.
#[derive(Debug, Default)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    last_number: u32,
}

/// Where a place is, in what is loaded now.
#[derive(Debug, Default)]
pub struct Resolved {
    /// The addresses.
    pub addresses: Vec<u64>,
    /// The line that was taken, when the one asked for has no code.
    pub moved_to_line: Option<u32>,
}

impl Resolvable {
    /// Looks for the place.
    pub fn resolve(&self, modules: &Modules) -> Resolved {
        let mut resolved = Resolved::default();
        match self {
            Resolvable::Address(address) => resolved.addresses.push(*address),
            Resolvable::Function(name) => {
                for bound in modules.definitions(name, |_| true) {
                    let body = bound.module.symbols.prologue_end(&bound.function);
                    resolved.addresses.push(bound.module.to_process(body));
                }
                for (module, copy) in modules.inlined_copies(name, |_| true) {
                    resolved.addresses.push(module.to_process(copy.entry));
                }
            }
            Resolvable::Line(file, line) => {
                let found: Vec<_> = modules
                    .iter()
                    .flat_map(|module| {
                        let lines = module.symbols.addresses_of_line(file, *line);
                        lines.into_iter().map(move |lines| (module, lines))
                    })
                    .collect();
                let best = found.iter().map(|(_, lines)| lines.line).min();
                for (module, lines) in found {
                    if Some(lines.line) == best {
                        let addresses = lines.addresses.iter();
                        resolved
                            .addresses
                            .extend(addresses.map(|&a| module.to_process(a)));
                        resolved.moved_to_line = (!lines.exact).then_some(lines.line);
                    }
                }
            }
        }
        resolved.addresses.sort_unstable();
        resolved.addresses.dedup();
        resolved
    }
}

impl Breakpoints {
    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.list.iter()
    }

    /// A number for something that shares the numbers of breakpoints.
    pub fn take_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }

    /// Sets a breakpoint; gives its number. Without a program it is bound when
    /// one starts.
    pub fn add(
        &mut self,
        program: Option<&mut Program>,
        text: &str,
        place: Resolvable,
        condition: Option<Expression>,
        temporary: bool,
    ) -> Result<u32, DebuggeeError> {
        let mut addresses = Vec::new();
        if let Some(program) = program {
            addresses = place.resolve(&program.modules).addresses;
            for (index, &address) in addresses.iter().enumerate() {
                if let Err(error) = program.debuggee.insert(address, Owner::Developer) {
                    for &planted in &addresses[..index] {
                        program.debuggee.remove(planted, Owner::Developer)?;
                    }
                    return Err(error);
                }
            }
        }
        self.last_number += 1;
        self.list.push(Breakpoint {
            number: self.last_number,
            text: text.to_owned(),
            condition,
            temporary,
            enabled: true,
            ignore: 0,
            hits: 0,
            addresses,
            place,
        });
        Ok(self.last_number)
    }

    /// Binds them to what is loaded now.
    pub fn bind(&mut self, program: &mut Program) {
        for breakpoint in &mut self.list {
            let now = breakpoint.place.resolve(&program.modules).addresses;
            for &address in now
                .iter()
                .filter(|address| !breakpoint.addresses.contains(address))
            {
                if breakpoint.enabled {
                    // A place that cannot be written to stays unplanted, and
                    // is shown without a location.
                    let _ = program.debuggee.insert(address, Owner::Developer);
                }
            }
            for &address in breakpoint
                .addresses
                .iter()
                .filter(|address| !now.contains(address))
            {
                if breakpoint.enabled {
                    let _ = program.debuggee.remove(address, Owner::Developer);
                }
            }
            breakpoint.addresses = now;
        }
    }

    /// The process is gone; the places stay.
    pub fn forget_locations(&mut self) {
        for breakpoint in &mut self.list {
            breakpoint.addresses.clear();
        }
    }

    /// Those at an address that stop the program, by position.
    pub fn at(&self, address: u64) -> Vec<usize> {
        let here = |(position, breakpoint): (usize, &Breakpoint)| {
            (breakpoint.enabled && breakpoint.addresses.contains(&address)).then_some(position)
        };
        self.list.iter().enumerate().filter_map(here).collect()
    }

    /// One by its position.
    pub fn get_mut(&mut self, position: usize) -> Option<&mut Breakpoint> {
        self.list.get_mut(position)
    }

    /// Removes breakpoints by their numbers; all without any. Gives a number
    /// that none has, if there was one.
    pub fn delete(
        &mut self,
        program: Option<&mut Program>,
        numbers: &[u32],
    ) -> Result<Option<u32>, DebuggeeError> {
        let unknown = self.unknown(numbers);
        if unknown.is_some() {
            return Ok(unknown);
        }
        let is_meant = |b: &Breakpoint| numbers.is_empty() || numbers.contains(&b.number);
        if let Some(program) = program {
            for breakpoint in self.list.iter().filter(|b| is_meant(b) && b.enabled) {
                for &address in &breakpoint.addresses {
                    program.debuggee.remove(address, Owner::Developer)?;
                }
            }
        }
        self.list.retain(|breakpoint| !is_meant(breakpoint));
        Ok(None)
    }

    /// Makes breakpoints stop the program, or not.
    pub fn enable(
        &mut self,
        mut program: Option<&mut Program>,
        numbers: &[u32],
        enabled: bool,
    ) -> Result<Option<u32>, DebuggeeError> {
        let unknown = self.unknown(numbers);
        if unknown.is_some() {
            return Ok(unknown);
        }
        for breakpoint in &mut self.list {
            if breakpoint.enabled == enabled
                || !(numbers.is_empty() || numbers.contains(&breakpoint.number))
            {
                continue;
            }
            breakpoint.enabled = enabled;
            if let Some(program) = program.as_deref_mut() {
                for &address in &breakpoint.addresses {
                    if enabled {
                        program.debuggee.insert(address, Owner::Developer)?;
                    } else {
                        program.debuggee.remove(address, Owner::Developer)?;
                    }
                }
            }
        }
        Ok(None)
    }

    fn unknown(&self, numbers: &[u32]) -> Option<u32> {
        let known = |number: &u32| self.list.iter().any(|b| b.number == *number);
        numbers.iter().copied().find(|number| !known(number))
    }

    /// As `info breakpoints` shows them.
    pub fn views(&self, program: Option<&Program>) -> Vec<PointView> {
        let view = |breakpoint: &Breakpoint| PointView {
            number: Some(breakpoint.number),
            owner: "developer".to_owned(),
            for_what: breakpoint.text.clone(),
            enabled: breakpoint.enabled,
            temporary: breakpoint.temporary,
            locations: match program {
                Some(program) => breakpoint
                    .addresses
                    .iter()
                    .map(|&a| report::location(program, a))
                    .collect(),
                None => Vec::new(),
            },
            hits: breakpoint.hits,
            passage: program.and_then(|p| passage(p, *breakpoint.addresses.first()?)),
        };
        self.list.iter().map(view).collect()
    }
}

/// How threads get past a site, in words.
pub fn passage(program: &Program, address: u64) -> Option<String> {
    use juror_stepping::Passage;
    let (_, _, passage) = program
        .debuggee
        .engine()
        .sites()
        .find(|(at, _, _)| *at == address)?;
    Some(
        match passage {
            Passage::Skip { .. } | Passage::Call { .. } => "emulated",
            Passage::Copy { .. } => "copied",
            Passage::InPlace => "in place",
        }
        .to_owned(),
    )
}

/// Makes a place that was written into one that can be looked for; `here` is
/// where the selected frame stands, `file` and `line` its source.
pub fn resolvable(
    written: &Place,
    here: Option<u64>,
    line: Option<(&Path, u32)>,
    address_of: impl FnOnce(&str) -> Result<u64, String>,
) -> Result<Resolvable, String> {
    let no_line = || "there is no source file here; name one: FILE:LINE".to_owned();
    Ok(match written {
        place::Place::Line {
            file: Some(file),
            line,
        } => Resolvable::Line(file.clone(), *line),
        place::Place::Line {
            file: None,
            line: number,
        } => {
            let (file, _) = line.ok_or_else(no_line)?;
            Resolvable::Line(file.display().to_string(), *number)
        }
        place::Place::Offset(offset) => {
            let (file, now) = line.ok_or_else(no_line)?;
            let number = i64::from(now).saturating_add(*offset);
            let number = u32::try_from(number).ok().filter(|&n| n > 0);
            Resolvable::Line(
                file.display().to_string(),
                number.ok_or_else(|| "that line is outside of the file".to_owned())?,
            )
        }
        place::Place::Function(name) => Resolvable::Function(name.clone()),
        place::Place::Address(expression) => Resolvable::Address(address_of(expression)?),
        place::Place::Here => {
            Resolvable::Address(here.ok_or_else(|| "the program is not running".to_owned())?)
        }
    })
}
