//! Evaluation of expressions in a state.

use super::machine::Machine;
use super::memory::{byte, load};
use super::program::{Code, Element, Node, Place, Scope, Source};
use super::shape::{ChannelAt, Shape};
use super::syntax::{Binary, Probe, Unary};
use super::trap::Trap;

/// The context of an evaluation.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub machine: &'a Machine,
    pub state: &'a [u8],
    pub shape: &'a Shape,
    /// The process whose expression is evaluated.
    pub process: usize,
    /// Offset of its frame.
    pub base: u32,
    /// Value of `timeout`: no process can make a step.
    pub timeout: bool,
}

pub(super) type Value = Result<i32, Trap>;

impl<'a> View<'a> {
    /// Returns the view of another process.
    pub fn of(&self, process: usize) -> View<'a> {
        let base = self.shape.frames.get(process).map_or(0, |frame| frame.base);
        View {
            process,
            base,
            ..*self
        }
    }

    /// Returns the value of an expression. The simplest kinds are evaluated inline.
    #[inline]
    pub fn value(&self, code: Code) -> Value {
        Ok(match self.machine.program.node(code) {
            Node::Number(number) => *number,
            Node::Global(cell) => load(self.state, 0, cell),
            Node::Local(cell) => load(self.state, self.base, cell),
            Node::Compare(operator, scope, offset, number) => {
                let base = match scope {
                    Scope::Global => 0,
                    Scope::Local => self.base,
                };
                let left = i32::from(byte(self.state, base + offset));
                i32::from(compare(*operator, left, *number))
            }
            Node::Element(element) => i32::from(self.element(element)?),
            Node::CompareElement(operator, number, element) => {
                let left = i32::from(self.element(element)?);
                i32::from(compare(*operator, left, *number))
            }
            node => return self.compound(node, code),
        })
    }

    /// Returns an element of an array of bytes.
    #[inline]
    fn element(&self, element: &Element) -> Result<u8, Trap> {
        let base = match element.index_scope {
            Scope::Global => 0,
            Scope::Local => self.base,
        };
        let index = u32::from(byte(self.state, base + element.index_offset));
        if index >= element.length {
            return Err(Trap::Index(element.index, element.length));
        }
        let at = element.offset + index;
        Ok(match element.source {
            Source::Global => byte(self.state, at),
            Source::Local => byte(self.state, self.base + at),
            Source::Constants => byte(&self.machine.program.constants, at),
        })
    }

    #[inline(never)]
    fn compound(&self, node: &Node, code: Code) -> Value {
        Ok(match node {
            Node::Number(_)
            | Node::Global(_)
            | Node::Local(_)
            | Node::Compare(..)
            | Node::Element(_)
            | Node::CompareElement(..) => {
                return self.value(code);
            }
            Node::Binary(operator, left, right) => {
                return self.binary(code, *operator, *left, *right);
            }
            Node::Unary(operator, part) => {
                let value = self.value(*part)?;
                match operator {
                    Unary::Not => i32::from(value == 0),
                    Unary::Complement => !value,
                    Unary::Negate => value.checked_neg().ok_or(Trap::Overflow(code))?,
                }
            }
            Node::Indexed(place) => {
                let at = self.offset(place)?;
                load(self.state, at, &place.cell)
            }
            Node::Table(place) => {
                let at = self.indexed(place)?;
                load(&self.machine.program.constants, at, &place.cell)
            }
            Node::Conditional(condition, yes, no) => {
                let chosen = if self.value(*condition)? != 0 {
                    yes
                } else {
                    no
                };
                self.value(*chosen)?
            }
            Node::Itself => self.process as i32,
            // Processes are numbered consecutively from 0, so this is the number of the
            // next one. Views never start processes.
            Node::Processes | Node::Run { .. } => self.shape.frames.len() as i32,
            Node::Last => match &self.machine.program.last {
                Some(cell) => load(self.state, 0, cell),
                None => 0,
            },
            Node::OwnPriority => self.priority(self.process),
            Node::Timeout => i32::from(self.timeout),
            Node::NonProgress => i32::from(!self.has_location(|location| location.is_progress)),
            Node::Accepting => i32::from(self.has_location(|location| location.is_accept)),
            Node::Probe(probe, channel) => self.probe(*probe, *channel)?,
            Node::Poll(reception) => i32::from(self.matching(reception, true)?.is_some()),
            Node::Enabled(process) => {
                let process = self.value(*process)?;
                match usize::try_from(process) {
                    Ok(process) if process < self.shape.frames.len() => {
                        i32::from(self.machine.can_move(&self.of(process)))
                    }
                    _ => 0,
                }
            }
            Node::StateOf(process) => {
                let process = self.value(*process)?;
                let frame = usize::try_from(process)
                    .ok()
                    .and_then(|it| self.shape.frames.get(it));
                let program = &self.machine.program;
                frame.map_or(0, |frame| {
                    i32::from(program.standing(self.state, frame.base))
                })
            }
            Node::PriorityOf(process) => {
                let process = self.value(*process)?;
                usize::try_from(process).map_or(0, |process| self.priority(process))
            }
            Node::AtLabel { kind, index, label } => {
                let wanted = self
                    .machine
                    .program
                    .labels
                    .get(*label as usize)
                    .copied()
                    .flatten();
                match (self.found(*kind, *index)?, wanted) {
                    (Some(base), Some(wanted)) => {
                        let standing = self.machine.program.standing(self.state, base);
                        i32::from(u32::from(standing) == wanted)
                    }
                    _ => 0,
                }
            }
            Node::Remote { kind, index, place } => match self.found(*kind, *index)? {
                Some(base) => {
                    let at = self.indexed(place)?;
                    load(self.state, base + at, &place.cell)
                }
                None => return Err(Trap::NoProcess(code)),
            },
        })
    }

    /// Returns whether a condition holds.
    pub fn holds(&self, code: Code) -> Result<bool, Trap> {
        Ok(self.value(code)? != 0)
    }

    fn binary(&self, code: Code, operator: Binary, left: Code, right: Code) -> Value {
        let left = self.value(left)?;
        match operator {
            Binary::And if left == 0 => return Ok(0),
            Binary::Or if left != 0 => return Ok(1),
            _ => {}
        }
        let right = self.value(right)?;
        self.machine.calculate(code, operator, left, right)
    }

    /// Returns the offset to add to the cell of a place: the base of its frame and its
    /// array elements.
    pub fn offset(&self, place: &Place) -> Result<u32, Trap> {
        let base = match place.scope {
            Scope::Global => 0,
            Scope::Local => self.base,
        };
        Ok(base + self.indexed(place)?)
    }

    fn indexed(&self, place: &Place) -> Result<u32, Trap> {
        let mut offset = 0;
        for index in &place.indices {
            let value = self.value(index.value)?;
            match u32::try_from(value) {
                Ok(value) if value < index.length => offset += value * index.stride,
                _ => return Err(Trap::Index(index.value, index.length)),
            }
        }
        Ok(offset)
    }

    /// Returns the frame of a process of a kind: the one with this number, or the first.
    fn found(&self, kind: u16, index: Option<Code>) -> Result<Option<u32>, Trap> {
        let frames = &self.shape.frames;
        let frame = match index {
            Some(index) => {
                let value = self.value(index)?;
                usize::try_from(value)
                    .ok()
                    .and_then(|value| frames.get(value))
            }
            None => frames.iter().find(|frame| frame.kind == kind),
        };
        Ok(frame
            .filter(|frame| frame.kind == kind)
            .map(|frame| frame.base))
    }

    pub fn priority(&self, process: usize) -> i32 {
        match self.shape.frames.get(process) {
            Some(frame) if self.machine.program.priorities => {
                let at = frame.base + self.machine.program.priority_offset();
                i32::from(byte(self.state, at))
            }
            Some(_) => 1,
            None => 0,
        }
    }

    /// Returns whether some process is at a location that satisfies a condition.
    pub fn has_location(&self, is: impl Fn(&super::program::Location) -> bool) -> bool {
        self.shape.frames.iter().any(|frame| {
            let location = self.machine.location(self.state, frame);
            location.is_some_and(&is)
        })
    }

    /// Returns the channel that an expression evaluates to.
    pub fn channel(&self, code: Code) -> Result<(i32, ChannelAt), Trap> {
        let value = self.value(code)?;
        match self.shape.channel(value) {
            Some(channel) => Ok((value, channel)),
            None => Err(Trap::NoChannel(code)),
        }
    }

    fn probe(&self, probe: Probe, channel: Code) -> Value {
        let (_, at) = self.channel(channel)?;
        let capacity = self.machine.channel_type(at).capacity;
        let length = match capacity {
            0 => 0,
            _ => i32::from(byte(self.state, at.base)),
        };
        let is_full = length as u32 >= capacity;
        Ok(match probe {
            Probe::Length => length,
            Probe::Full => i32::from(is_full),
            Probe::NotFull => i32::from(!is_full),
            Probe::Empty => i32::from(length == 0),
            Probe::NotEmpty => i32::from(length != 0),
        })
    }
}

impl Machine {
    /// Applies a binary operator; `code` is the whole expression, for errors.
    pub fn calculate(&self, code: Code, operator: Binary, left: i32, right: i32) -> Value {
        let wraps = self.wraps;
        let checked = |result: Option<i32>, wrapped: i32| match result {
            Some(value) => Ok(value),
            None if wraps => Ok(wrapped),
            None => Err(Trap::Overflow(code)),
        };
        match operator {
            Binary::Add => checked(left.checked_add(right), left.wrapping_add(right)),
            Binary::Subtract => checked(left.checked_sub(right), left.wrapping_sub(right)),
            Binary::Multiply => checked(left.checked_mul(right), left.wrapping_mul(right)),
            Binary::Divide if right == 0 => Err(Trap::Division(code)),
            Binary::Remainder if right == 0 => Err(Trap::Division(code)),
            Binary::Divide => checked(left.checked_div(right), left.wrapping_div(right)),
            Binary::Remainder => Ok(left.wrapping_rem(right)),
            Binary::BitAnd => Ok(left & right),
            Binary::BitXor => Ok(left ^ right),
            Binary::BitOr => Ok(left | right),
            Binary::ShiftLeft => {
                let shifted = u32::try_from(right)
                    .ok()
                    .and_then(|by| left.checked_shl(by));
                checked(shifted, left.wrapping_shl(right as u32))
            }
            Binary::ShiftRight => {
                let shifted = u32::try_from(right)
                    .ok()
                    .and_then(|by| left.checked_shr(by));
                checked(shifted, left.wrapping_shr(right as u32))
            }
            Binary::And => Ok(i32::from(left != 0 && right != 0)),
            Binary::Or => Ok(i32::from(left != 0 || right != 0)),
            _ => Ok(i32::from(compare(operator, left, right))),
        }
    }
}

/// Returns whether a comparison of two numbers holds.
pub(super) fn compare(operator: Binary, left: i32, right: i32) -> bool {
    match operator {
        Binary::Equal => left == right,
        Binary::NotEqual => left != right,
        Binary::Less => left < right,
        Binary::LessEqual => left <= right,
        Binary::Greater => left > right,
        _ => left >= right,
    }
}
