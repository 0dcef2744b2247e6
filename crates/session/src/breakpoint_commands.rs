//! `break`, `tbreak`, `condition`, `ignore`, `clear`, `delete`, `enable`,
//! `disable`.

use crate::breakpoints::{Breakpoint, Fate, Resolvable, Target, Wanted, check, targets};
use crate::execute::number;
use crate::options::CommandError;
use crate::place;
use crate::session::{Session, not_running};
use crate::view::Outcome;
use juror_instrument::condition::Condition;

impl Session {
    /// `break`, `tbreak`: at a place, for a thread, under a condition.
    pub(crate) fn set_breakpoint(
        &mut self,
        rest: &str,
        fate: Fate,
    ) -> Result<Outcome, CommandError> {
        let placed = place::parse(rest).map_err(CommandError::new)?;
        let condition = placed.condition.as_deref().map(condition).transpose()?;
        if let Some(thread) = placed.thread {
            self.check_thread(thread)?;
        }
        let place = self.resolvable(&placed.place)?;
        let resolved = place.resolve(self.modules());
        if resolved.addresses.is_empty()
            && let Resolvable::Function(name) = &place
        {
            self.check_function_name(name)?;
        }
        if resolved.addresses.is_empty()
            && let Resolvable::Line(file, line) = &place
            && self.is_source_file(file)
        {
            return Err(CommandError::new(format!(
                "there is no code at line {line} of {}, nor after it",
                file.rsplit('/').next().unwrap_or(file)
            )));
        }
        if let (place::Place::Address(_), [address]) = (&placed.place, &resolved.addresses[..]) {
            self.check_address(*address)?;
        }
        let mut remarks = Vec::new();
        if let (Some(condition), Some(program)) = (&condition, &self.program) {
            check(condition, program, resolved.addresses.iter().copied()).map_err(in_condition)?;
            let wrong = |&&at: &&u64| condition.at(program, at).is_err();
            remarks.extend(resolved.addresses.iter().find(wrong).map(|&at| {
                format!(
                    "the condition cannot be asked at {}; it stops there and says why",
                    self.place_words(at)
                )
            }));
        }
        let text = match placed.text.as_str() {
            "" => "here",
            text => text,
        };
        let wanted = Wanted {
            text: text.to_owned(),
            place,
            condition,
            thread: placed.thread,
            fate,
        };
        let number = self.breakpoints.add(self.program.as_mut(), wanted)?;
        let kind = match fate {
            Fate::Delete => "temporary breakpoint",
            _ => "breakpoint",
        };
        let written = if rest.is_empty() { "here" } else { rest };
        let mut message = match resolved.addresses.as_slice() {
            [] => format!(
                "{kind} {number} at {written}: no loaded module has it; it waits for one that does"
            ),
            [address] => format!("{kind} {number} at {}", self.place_words(*address)),
            several => format!("{kind} {number} at {written} ({} places)", several.len()),
        };
        if let Some(line) = resolved.moved_to_line {
            message.push_str(&format!(
                " (the line has no code; line {line} is the next that has)"
            ));
        }
        for remark in remarks {
            message.push('\n');
            message.push_str(&remark);
        }
        Ok(Outcome::Message(message))
    }

    fn place_words(&self, address: u64) -> String {
        let described = self.modules().describe(address);
        match (described.function, described.file, described.line) {
            (Some(function), Some(file), Some(line)) => {
                let file = file
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                format!(
                    "{address:#x}: {function}, {}:{line}",
                    file.unwrap_or_default()
                )
            }
            (Some(function), ..) => format!("{address:#x}: {function}"),
            _ => format!("{address:#x}"),
        }
    }

    /// A name that nothing has is a slip when the program has one near it;
    /// otherwise it may belong to a library to come. Among the thousand short
    /// names of the C library there is always a near one: those do not count.
    fn check_function_name(&self, name: &str) -> Result<(), CommandError> {
        let main = self.modules().main();
        let names = main
            .into_iter()
            .flat_map(|main| main.symbols.function_names());
        let names: Vec<String> = names.collect();
        match juror_language::suggest(name, names.iter().map(String::as_str)) {
            Some(near) => Err(CommandError::with_help(
                format!("there is no function `{name}`"),
                format!("did you mean `{near}`?"),
            )),
            None => Ok(()),
        }
    }

    fn is_source_file(&self, file: &str) -> bool {
        let is_meant = |known: &std::path::Path| known.ends_with(file);
        self.modules().iter().any(|module| {
            module
                .symbols
                .source_files()
                .iter()
                .any(|known| is_meant(known))
        })
    }

    fn check_thread(&self, thread: u32) -> Result<(), CommandError> {
        let program = self.running()?;
        match program.thread_of_number(thread) {
            Some(_) => Ok(()),
            None => Err(CommandError::with_help(
                format!("there is no thread {thread}"),
                "see: info threads",
            )),
        }
    }

    /// A breakpoint by its number, or a sentence for the user.
    pub(crate) fn breakpoint(&mut self, number: u32) -> Result<&mut Breakpoint, CommandError> {
        self.breakpoints.numbered(number).ok_or_else(|| {
            CommandError::with_help(
                format!("there is no breakpoint {number}"),
                "see: info breakpoints",
            )
        })
    }

    /// `condition N EXPRESSION`; without an expression the breakpoint has none.
    pub(crate) fn set_condition(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let (number, text) = numbered(rest, "condition 1 count > 3")?;
        self.breakpoint(number)?;
        let condition = match text {
            "" => None,
            text => Some(condition(text)?),
        };
        let is_removed = condition.is_none();
        let program = self.program.as_ref();
        let set = self.breakpoints.set_condition(program, number, condition);
        set.map_err(in_condition)?;
        Ok(match is_removed {
            true => Outcome::Message(format!("breakpoint {number} has no condition now")),
            false => Outcome::Done,
        })
    }

    /// `ignore N COUNT`
    pub(crate) fn ignore(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let (which, text) = numbered(rest, "ignore 1 100")?;
        let count = number(text)?.ok_or_else(|| {
            CommandError::with_help(
                "how many hits are to be passed?",
                "for example: ignore 1 100",
            )
        })?;
        if !self.ignore_watched(which, count) {
            self.breakpoint(which)?.ignore = count;
        }
        Ok(Outcome::Message(match count {
            0 => format!("the next hit of breakpoint {which} stops the program"),
            1 => format!("the next hit of breakpoint {which} is passed"),
            _ => format!("the next {count} hits of breakpoint {which} are passed"),
        }))
    }

    /// `clear`, `clear PLACE`: deletes the breakpoints that are there.
    pub(crate) fn clear(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let places = match rest {
            // The breakpoint that the program stands at, or others of its line.
            "" => {
                let frame = self.selected_frame()?;
                let here = Resolvable::at_address(frame.pc, self.modules());
                let mut places = here.find_all(self.modules());
                if let (Some(file), Some(line)) = (&frame.file, frame.line) {
                    let line = Resolvable::Line(file.display().to_string(), line);
                    places.extend(line.find_all(self.modules()));
                }
                places
            }
            _ => {
                let placed = place::parse(rest).map_err(CommandError::new)?;
                self.resolvable(&placed.place)?.find_all(self.modules())
            }
        };
        let mut numbers = self.breakpoints.numbers_at(&places);
        if numbers.is_empty() {
            // One that waits for its library is known by its words alone.
            let waiting = self.breakpoints.iter();
            let same = waiting.filter(|it| !rest.is_empty() && it.text == rest);
            numbers = same.map(|it| it.number).collect();
        }
        if numbers.is_empty() {
            let place = if rest.is_empty() { "this line" } else { rest };
            return Err(CommandError::with_help(
                format!("there is no breakpoint at {place}"),
                "see: info breakpoints",
            ));
        }
        self.breakpoints.delete(self.program.as_mut(), &numbers);
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let many = if numbers.len() > 1 { "s" } else { "" };
        Ok(Outcome::Message(format!(
            "deleted breakpoint{many} {}",
            words.join(", ")
        )))
    }

    /// `delete`, `delete N...`
    pub(crate) fn delete(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let Some(rest) = &self.delete_watched(rest)? else {
            return Ok(Outcome::Done);
        };
        let targets = self.known_targets(rest)?;
        if targets.iter().any(|target| target.location.is_some()) {
            return Err(CommandError::with_help(
                "a location cannot be deleted by itself",
                format!("disable it: disable {rest}"),
            ));
        }
        let numbers: Vec<u32> = targets.iter().map(|target| target.number).collect();
        if !numbers.is_empty() {
            self.breakpoints.delete(self.program.as_mut(), &numbers);
            self.catchpoints.delete(self.program.as_mut(), &numbers);
            self.renew_catchpoints();
        }
        Ok(Outcome::Done)
    }

    /// `disable`, `disable N...`
    pub(crate) fn disable(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let Some(rest) = &self.enable_watched(rest, false)? else {
            return Ok(Outcome::Done);
        };
        let targets = self.known_targets(rest)?;
        self.switch(&targets, false)
    }

    /// `enable`, `enable once N`, `enable count K N`, `enable delete N`
    pub(crate) fn enable(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let (word, others) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (fate, which) = match word {
            "once" => (Some(Fate::Disable(1)), others),
            "delete" => (Some(Fate::Delete), others),
            "count" => {
                let (count, which) = numbered(others, "enable count 3 1")?;
                (Some(Fate::Disable(u64::from(count))), which)
            }
            _ => (None, rest),
        };
        let others = match fate {
            Some(_) => Some(which.to_owned()),
            None => self.enable_watched(which, true)?,
        };
        let Some(which) = &others else {
            return Ok(Outcome::Done);
        };
        let targets = self.known_targets(which)?;
        if fate.is_some() && which.trim().is_empty() {
            return Err(CommandError::with_help(
                "of which breakpoint?",
                format!("for example: enable {} 1", rest.trim()),
            ));
        }
        for target in &targets {
            match (fate, target.location) {
                (Some(_), Some(_)) => {
                    return Err(CommandError::new(
                        "this is for a whole breakpoint, not for one of its locations",
                    ));
                }
                (Some(fate), None) => self.breakpoint(target.number)?.fate = fate,
                (None, _) => {}
            }
        }
        self.switch(&targets, true)
    }

    fn switch(&mut self, targets: &[Target], enabled: bool) -> Result<Outcome, CommandError> {
        for target in targets {
            if self.catchpoints.contains(target.number) {
                let program = self.program.as_mut();
                self.catchpoints.enable(program, &[target.number], enabled);
                self.renew_catchpoints();
                continue;
            }
            let breakpoint = self.breakpoint(target.number)?;
            match target.location {
                None => breakpoint.enabled = enabled,
                Some(number) => {
                    if let Some(location) = breakpoint.locations.numbered(number) {
                        location.enabled = enabled;
                    }
                }
            }
        }
        self.breakpoints.settle(self.program.as_mut())?;
        Ok(Outcome::Done)
    }

    /// The breakpoints, locations and catchpoints that are named; all without
    /// any. Nothing is done when one of them is not there.
    fn known_targets(&mut self, text: &str) -> Result<Vec<Target>, CommandError> {
        let named = targets(text).map_err(CommandError::new)?;
        if named.is_empty() {
            let breakpoints = self.breakpoints.iter().map(|it| it.number);
            let catchpoints = self.catchpoints.iter().map(|it| it.number);
            let all = breakpoints.chain(catchpoints).map(|number| Target {
                number,
                location: None,
            });
            return Ok(all.collect());
        }
        for target in &named {
            if self.catchpoints.contains(target.number) && target.location.is_none() {
                continue;
            }
            let breakpoint = self.breakpoint(target.number)?;
            if let Some(location) = target.location
                && breakpoint.locations.numbered(location).is_none()
            {
                return Err(CommandError::with_help(
                    format!("breakpoint {} has no location {location}", target.number),
                    "see: info breakpoints",
                ));
            }
        }
        Ok(named)
    }

    /// Whether a trap at an address would ever be reached, and would be one.
    fn check_address(&self, address: u64) -> Result<(), CommandError> {
        let program = self.program.as_ref().ok_or_else(not_running)?;
        if let Some(problem) = program.code_problem(address) {
            return Err(CommandError::new(format!("{address:#x} {problem}")));
        }
        Ok(())
    }
}

/// Splits a breakpoint's number off the front.
fn numbered<'a>(rest: &'a str, example: &str) -> Result<(u32, &'a str), CommandError> {
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let number = word.parse().ok().filter(|&number| number > 0);
    let missing = || {
        let message = match word {
            "" => "the number of a breakpoint is missing".to_owned(),
            word => format!("`{word}` is not a number of a breakpoint"),
        };
        CommandError::with_help(message, format!("for example: {example}"))
    };
    Ok((number.ok_or_else(missing)?, rest.trim()))
}

/// Reads a condition.
fn condition(text: &str) -> Result<Condition, CommandError> {
    Condition::parse(text).map_err(|error| match error {
        Some(error) => CommandError {
            message: format!("in the condition: {}", error.message),
            help: error.help,
        },
        None => CommandError::new("a condition is missing"),
    })
}

fn in_condition(error: juror_instrument::expression::ExpressionError) -> CommandError {
    CommandError::new(format!("in the condition: {}", error.message))
}
