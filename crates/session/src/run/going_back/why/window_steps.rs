//! The steps of a value within a recording, at whose end the run stands.

use super::naming::{Names, Sourced};
use super::recording::{Moment, Recording};
use super::search::{Wanted, unknown};
use crate::run::going_back::another_way;
use crate::run::going_back::place::Place;
use crate::session::Session;
use juror_arch::Register;
use juror_arch::names::VECTORS;
use juror_fault::CommandError;
use juror_origin::{Leaf, Location, Origin, Storage};
use juror_view::{OriginKind, OriginStepView};
use std::collections::HashSet;
use std::ops::Range;

/// The depth of computations that are followed within a recording.
const DEPTH_MAX: usize = 200;

/// The numbers of `rsp` and `rbp`: what comes from them are addresses in the stack.
const STACK: [u8; 2] = [4, 5];

/// A step, or memory whose last write is a step.
pub(super) enum Item {
    Step(Box<OriginStepView>, Place),
    Memory(Wanted, Box<Moment>),
}

/// The steps of a value within a recording.
pub(super) struct WindowSteps<'a> {
    session: &'a mut Session,
    recording: &'a Recording,
    names: Names,
    items: Vec<Item>,
    /// The number of items that are wanted.
    left: usize,
    is_cut: bool,
    /// The locations that have been followed, and the instructions that are shown.
    seen: HashSet<(Location, usize)>,
    shown: HashSet<usize>,
}

/// A value that is followed.
#[derive(Clone)]
struct Followed {
    depth: u32,
    name: Option<String>,
    /// The value, if it is in a register.
    value: Option<String>,
    /// The line of the step that it is a source of, and the memory that is written there.
    line: Option<Sourced>,
    range: Option<Range<u64>>,
    /// The index of that step.
    parent: Option<usize>,
    nesting: usize,
}

impl<'a> WindowSteps<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        recording: &'a Recording,
        left: usize,
    ) -> Result<WindowSteps<'a>, CommandError> {
        let names = Names::of(session.running()?, recording.thread);
        Ok(WindowSteps {
            session,
            recording,
            names,
            items: Vec::new(),
            left,
            is_cut: false,
            seen: HashSet::new(),
            shown: HashSet::new(),
        })
    }

    pub(super) fn finish(self) -> (Vec<Item>, bool) {
        (self.items, self.is_cut)
    }

    /// Explains a location as it is before an instruction.
    pub(super) fn explain(
        &mut self,
        (location, before): (&Location, usize),
        depth: u32,
        name: Option<String>,
    ) -> Result<(), CommandError> {
        let followed = Followed {
            depth,
            name,
            value: self.value_now(location)?,
            line: None,
            range: None,
            parent: None,
            nesting: 0,
        };
        self.follow((location, before), &followed)
    }

    fn follow(
        &mut self,
        (location, before): (&Location, usize),
        followed: &Followed,
    ) -> Result<(), CommandError> {
        if self.items.len() >= self.left || followed.nesting > DEPTH_MAX {
            self.is_cut = true;
            return Ok(());
        }
        if !self.seen.insert((location.clone(), before)) {
            return Ok(());
        }
        let leaves = self.recording.window.trace(location, before);
        let several = u32::from(leaves.len() > 1);
        let value = self.register_value(location, before);
        for leaf in leaves {
            let is_whole = leaf.part == (0..location.size());
            let followed = Followed {
                depth: followed.depth + several,
                name: followed.name.clone().filter(|_| is_whole),
                value: value
                    .clone()
                    .or_else(|| followed.value.clone())
                    .filter(|_| is_whole),
                nesting: followed.nesting + 1,
                ..followed.clone()
            };
            self.take(&leaf, followed)?;
        }
        Ok(())
    }

    /// Takes bytes that have one origin.
    fn take(&mut self, leaf: &Leaf, mut followed: Followed) -> Result<(), CommandError> {
        for &at in &leaf.path {
            let written = self.recording.window.written(at);
            let line = self.sourced(at);
            let Some(range) = written.first() else {
                continue;
            };
            // A second write to the same object is another execution of the line.
            let is_same = followed.line.as_ref().is_some_and(|it| it.is_same(&line));
            if is_same && followed.range.as_ref() != Some(range) {
                continue;
            }
            if followed.name.is_none() && self.is_temporary(range)? {
                continue;
            }
            let origin = if followed.line.is_none() {
                OriginKind::Written
            } else if line.begins_function(self.session.running()?) {
                // An argument is stored there, which tells nothing.
                continue;
            } else {
                OriginKind::Copied
            };
            self.show(at, &line, origin, &mut followed)?;
        }
        self.origin(&leaf.origin, followed)
    }

    fn origin(&mut self, origin: &Origin, mut followed: Followed) -> Result<(), CommandError> {
        match origin {
            Origin::Memory { range, at } => {
                let at = (*at).min(self.recording.len().saturating_sub(1));
                if !self
                    .seen
                    .insert((Location::memory(range.clone()), usize::MAX - at))
                {
                    return Ok(());
                }
                let name = match followed.line {
                    None => followed.name.take(),
                    Some(_) => None,
                };
                let name = match name {
                    Some(name) => Some(name),
                    None => self.names.name(self.session.running()?, range),
                };
                let wanted = Wanted {
                    range: range.clone(),
                    depth: followed.depth,
                    name,
                    bytes: self.recording.read(at, range),
                };
                let moment = self.recording.moment(at).ok_or_else(another_way)?;
                self.items.push(Item::Memory(wanted, Box::new(moment)));
                Ok(())
            }
            Origin::Computed { at, inputs } => self.computed(*at, inputs, followed),
            Origin::Constant { at } => {
                self.ends(*at, OriginKind::Constant, "a constant", &mut followed)
            }
            Origin::StackPointer { at } => self.ends(
                *at,
                OriginKind::StackAddress,
                "an address in the stack",
                &mut followed,
            ),
            Origin::Processor { at } => self.ends(
                *at,
                OriginKind::Processor,
                "told by the processor",
                &mut followed,
            ),
            Origin::Unknown { at } => {
                let words = "an instruction that is not followed";
                self.ends(*at, OriginKind::Unknown, words, &mut followed)
            }
            Origin::Kernel { at } => self.result_of_call(*at, &mut followed),
            Origin::Register(location) => self.explain_register(location, followed),
            Origin::TooMany => {
                self.is_cut = true;
                Ok(())
            }
        }
    }

    fn computed(
        &mut self,
        at: usize,
        inputs: &[Location],
        mut followed: Followed,
    ) -> Result<(), CommandError> {
        let line = self.sourced(at);
        let is_same = followed.line.as_ref().is_some_and(|it| it.is_same(&line));
        let written = self.recording.window.written(at);
        let is_again = !written.is_empty() && written.first() == followed.range.as_ref();
        if !is_same || is_again && !self.shown.contains(&at) {
            self.show(at, &line, OriginKind::Computed, &mut followed)?;
        } else {
            self.mark(&followed, OriginKind::Computed, None);
        }
        // Constants of the same line say no more than the line.
        let mut wanted = Vec::new();
        for input in inputs {
            let leaves = self.recording.window.trace(input, at);
            let is_plain = |leaf: &Leaf| match &leaf.origin {
                Origin::Constant { at } => self.sourced(*at).is_same(&line),
                Origin::StackPointer { .. } => true,
                Origin::Register(location) => is_of_stack(location),
                _ => false,
            };
            if !leaves.iter().all(is_plain) {
                wanted.push(input);
            }
        }
        if wanted.is_empty() && inputs.iter().any(|it| self.is_stack_address(it, at)) {
            self.mark(
                &followed,
                OriginKind::StackAddress,
                Some("an address in the stack"),
            );
        }
        // In the order in which they were read.
        wanted.sort_by_key(|input| {
            let leaves = self.recording.window.trace(input, at);
            leaves
                .iter()
                .filter_map(|leaf| leaf.path.first().copied())
                .max()
        });
        let several = u32::from(wanted.len() > 1);
        followed.depth += several;
        followed.name = None;
        followed.value = None;
        for input in wanted {
            self.follow((input, at), &followed)?;
        }
        Ok(())
    }

    fn is_stack_address(&self, input: &Location, at: usize) -> bool {
        let leaves = self.recording.window.trace(input, at);
        leaves.iter().any(|leaf| match &leaf.origin {
            Origin::StackPointer { .. } => true,
            Origin::Register(location) => is_of_stack(location),
            _ => false,
        })
    }

    /// Ends a chain at an instruction.
    fn ends(
        &mut self,
        at: usize,
        origin: OriginKind,
        words: &str,
        followed: &mut Followed,
    ) -> Result<(), CommandError> {
        let line = self.sourced(at);
        if followed.line.as_ref().is_some_and(|it| it.is_same(&line)) {
            self.mark(followed, origin, Some(words));
            return Ok(());
        }
        self.show(at, &line, OriginKind::Written, followed)?;
        self.mark(followed, origin, Some(words));
        Ok(())
    }

    fn explain_register(
        &mut self,
        location: &Location,
        mut followed: Followed,
    ) -> Result<(), CommandError> {
        if is_of_stack(location) {
            self.mark(
                &followed,
                OriginKind::StackAddress,
                Some("an address in the stack"),
            );
            return Ok(());
        }
        let name = match location.storage {
            Storage::General(number) => {
                let register = Register::ENCODED.get(usize::from(number));
                register.map_or_else(String::new, |it| it.name().to_owned())
            }
            Storage::Vector(number) => {
                let name = VECTORS.get(usize::from(number)).copied();
                name.unwrap_or("a vector register").to_owned()
            }
            _ => "the flags".to_owned(),
        };
        let wanted = Wanted {
            range: 0..0,
            depth: followed.depth,
            name: followed.name.take(),
            bytes: None,
        };
        let words = format!("{name}, set before the instructions that were followed");
        let place = self.recording.moment(0).ok_or_else(another_way)?.place();
        let step = unknown(&wanted, &words);
        self.items.push(Item::Step(Box::new(step), place));
        Ok(())
    }

    fn result_of_call(&mut self, at: usize, followed: &mut Followed) -> Result<(), CommandError> {
        let line = self.sourced(at);
        self.show(at, &line, OriginKind::SystemCall, followed)?;
        let registers = self.recording.window.steps().get(at).map(|it| it.registers);
        let registers = registers.ok_or_else(another_way)?;
        let source = super::calls::source(self.session, (&self.recording.calls, at), &registers);
        if let Some(Item::Step(step, _)) = self.items.last_mut() {
            step.value = Some(
                self.recording
                    .window
                    .after(at)
                    .result()
                    .cast_signed()
                    .to_string(),
            );
            step.call = Some(source);
        }
        Ok(())
    }

    /// Shows an instruction as a step.
    fn show(
        &mut self,
        at: usize,
        line: &Sourced,
        origin: OriginKind,
        followed: &mut Followed,
    ) -> Result<(), CommandError> {
        let is_first = followed.line.is_none();
        followed.line = Some(line.clone());
        followed.range = self.recording.window.written(at).into_iter().next();
        if !self.shown.insert(at) {
            return Ok(());
        }
        let moment = self.recording.moment(at).ok_or_else(another_way)?;
        let program = self.session.running()?;
        let mut value = followed.value.clone();
        let mut name = followed.name.take();
        if let Some(range) = self.recording.window.written(at).first() {
            name = name.or_else(|| self.names.name(program, range));
            let behind = self.value_behind(at, range)?;
            value = if is_first {
                value.or(behind)
            } else {
                behind.or(value)
            };
        }
        // A copy from there has the same value.
        followed.value = followed.value.take().or_else(|| value.clone());
        let step = OriginStepView {
            number: 0,
            depth: followed.depth,
            origin,
            name,
            value,
            remark: line.within.clone().map(|function| format!("in {function}")),
            thread: Some(program.thread_number(self.recording.thread)),
            points: Some(moment.place().points),
            source: line.text(self.session),
            place: Some(line.location.clone()),
            call: None,
        };
        followed.parent = Some(self.items.len());
        self.items.push(Item::Step(Box::new(step), moment.place()));
        Ok(())
    }

    /// Says more of the step that a value is the source of.
    fn mark(&mut self, followed: &Followed, origin: OriginKind, words: Option<&str>) {
        let item = followed.parent.and_then(|index| self.items.get_mut(index));
        let Some(Item::Step(step, _)) = item else {
            return;
        };
        if matches!(
            step.origin,
            OriginKind::Written | OriginKind::Copied | OriginKind::Computed
        ) {
            step.origin = origin;
            if let Some(words) = words {
                let remark = step.remark.take();
                step.remark = Some(match remark {
                    Some(remark) => format!("{words}, {remark}"),
                    None => words.to_owned(),
                });
            }
        }
    }

    fn sourced(&self, at: usize) -> Sourced {
        let calls = self.recording.calls_around(at);
        match self.session.running() {
            Ok(program) => Sourced::of(program, &calls),
            Err(_) => Sourced::default(),
        }
    }

    /// Returns whether memory is a part of the thread's stack that no variable has.
    fn is_temporary(&self, range: &Range<u64>) -> Result<bool, CommandError> {
        let program = self.session.running()?;
        let stack = program.own_stack(self.recording.thread);
        Ok(stack.is_some_and(|it| it.contains(&range.start))
            && self.names.name(program, range).is_none())
    }

    /// Returns the value of a location where the run stands.
    fn value_now(&self, location: &Location) -> Result<Option<String>, CommandError> {
        if location.storage != Storage::Memory {
            return Ok(None);
        }
        let program = self.session.running()?;
        Ok(self.names.value(program, &location.range))
    }

    /// Returns the value of a general register before an instruction.
    fn register_value(&self, location: &Location, before: usize) -> Option<String> {
        let Storage::General(number) = location.storage else {
            return None;
        };
        let index = before.checked_sub(1)?;
        let register = Register::ENCODED.get(usize::from(number))?;
        let bytes = self
            .recording
            .window
            .after(index)
            .get(*register)
            .to_le_bytes();
        let range = location.range.start as usize..location.range.end as usize;
        Some(super::naming::number(bytes.get(range)?))
    }

    /// Returns the value that an instruction has written to memory, if it is still there.
    fn value_behind(&self, at: usize, range: &Range<u64>) -> Result<Option<String>, CommandError> {
        let window = &self.recording.window;
        let mut later = at + 1..self.recording.len();
        if later.any(|index| window.writes(index, range)) {
            return Ok(None);
        }
        Ok(self.names.value(self.session.running()?, range))
    }
}

/// Returns whether a register has addresses of the stack.
pub(super) fn is_of_stack(location: &Location) -> bool {
    matches!(location.storage, Storage::General(number) if STACK.contains(&number))
}
