//! Types and variables, and their storage.

use super::{Compiled, Compiler, Reported};
use crate::promela::program::{
    Beginning, ChannelType, Code, Kept, Node, RecordType, Scalar, Variable, VariableKind,
};
use crate::promela::shape::CHANNELS_MAX;
use crate::promela::syntax::{
    self, Binary, Expression, ExpressionKind, Initial, Record, TypeName, Unary,
};
use std::sync::Arc;

/// The type `byte`.
pub(super) const BYTE: Scalar = unsigned(Kept::Byte, 255);

const fn unsigned(kept: Kept, greatest: i32) -> Scalar {
    Scalar {
        kept,
        least: 0,
        greatest,
        mtype: None,
        is_channel: false,
    }
}

/// Maximum size in bytes of all variables of a model or of a process.
const SIZE_MAX: u32 = 60_000;

/// Maximum nesting depth of records, since functions over them are recursive.
const DEPTH_MAX: u32 = 100;

/// Maximum number of record types: their numbers have 16 bits.
const RECORDS_MAX: usize = 65_000;

/// Returns the value range of a type; `None` for records. `mtype` is the number of the
/// names of an `mtype`.
fn scalar(type_name: &TypeName, mtype: Option<u16>) -> Option<Scalar> {
    Some(match type_name {
        TypeName::Bit | TypeName::Bool => unsigned(Kept::Byte, 1),
        TypeName::Byte | TypeName::Pid => BYTE,
        TypeName::Mtype(_) => Scalar { mtype, ..BYTE },
        TypeName::Channel => Scalar {
            is_channel: true,
            ..BYTE
        },
        TypeName::Short => Scalar {
            least: i32::from(i16::MIN),
            ..unsigned(Kept::Short, i32::from(i16::MAX))
        },
        TypeName::Int => Scalar {
            least: i32::MIN,
            ..unsigned(Kept::Int, i32::MAX)
        },
        TypeName::Unsigned(bits) => {
            let kept = match bits {
                0..=8 => Kept::Byte,
                9..=16 => Kept::Word,
                _ => Kept::Int,
            };
            unsigned(kept, i32::MAX >> (31 - u32::from(*bits).min(31)))
        }
        TypeName::Record(_) => return None,
    })
}

impl Compiler {
    /// Evaluates a constant expression.
    pub(super) fn constant(&mut self, expression: &Expression) -> Compiled<i32> {
        let value = match &expression.kind {
            ExpressionKind::Number(number) => Some(*number),
            ExpressionKind::Unary(Unary::Negate, part) => self.constant(part)?.checked_neg(),
            ExpressionKind::Reference(reference) => match &reference.parts[..] {
                [(name, None)] => {
                    let mtype = self.mtypes.get(&name.text).map(|mtype| &mtype.number);
                    mtype.or(self.constants.get(&name.text)).copied()
                }
                _ => None,
            },
            ExpressionKind::Binary(operator, left, right) => {
                let (left, right) = (self.constant(left)?, self.constant(right)?);
                match operator {
                    Binary::Add => left.checked_add(right),
                    Binary::Subtract => left.checked_sub(right),
                    Binary::Multiply => left.checked_mul(right),
                    Binary::Divide => left.checked_div(right),
                    Binary::Remainder => left.checked_rem(right),
                    _ => None,
                }
            }
            _ => None,
        };
        match value {
            Some(value) => Ok(value),
            None => self.refuse(
                "constant",
                "this must be a constant number",
                expression.span,
            ),
        }
    }

    pub(super) fn record(&mut self, record: &Record) -> Compiled<()> {
        if self.program.records.len() >= RECORDS_MAX {
            let message = format!("there are more than {RECORDS_MAX} types");
            return self.refuse("too-large", message, record.name.span);
        }
        let mut made = RecordType::default();
        for field in &record.fields {
            let variable = self.variable(field, made.size)?;
            if let VariableKind::Record(inner) = variable.kind {
                let inner = self.program.records.get(usize::from(inner));
                made.depth = made.depth.max(inner.map_or(0, |inner| inner.depth + 1));
            }
            if made.depth > DEPTH_MAX {
                let message = format!("records are nested more than {DEPTH_MAX} levels deep");
                return self.refuse("too-deep", message, field.name.span);
            }
            made.size += self.size_of(&variable);
            // No variable is declared yet: the values can only be constants, as in Spin.
            let beginnings = self.beginnings(&variable, &field.initial)?;
            made.beginnings.extend(beginnings);
            made.fields.push((field.name.text.clone(), variable));
        }
        self.program.records.push(made);
        let number = self.program.records.len() as u16 - 1;
        if self
            .records
            .insert(record.name.text.clone(), number)
            .is_some()
        {
            let message = format!("the type `{}` is declared twice", record.name.text);
            return self.refuse("redeclared", message, record.name.span);
        }
        Ok(())
    }

    /// Declares a variable at an offset.
    pub(super) fn variable(
        &mut self,
        written: &syntax::Variable,
        offset: u32,
    ) -> Compiled<Variable> {
        let mtype = match &written.type_name {
            TypeName::Mtype(name) => Some(self.mtype_set(name.as_ref())),
            _ => None,
        };
        let kind = match (scalar(&written.type_name, mtype), &written.type_name) {
            (Some(scalar), _) => VariableKind::Scalar(scalar),
            (None, TypeName::Record(name)) => match self.records.get(&name.text) {
                Some(record) => VariableKind::Record(*record),
                None => {
                    let message = format!(
                        "the type `{}` is used before its declaration, or in itself",
                        name.text
                    );
                    return self.refuse("unknown-type", message, name.span);
                }
            },
            (None, _) => return Err(Reported),
        };
        let length = match &written.length {
            Some(length) => match self.constant(length)? {
                count @ 1.. => Some(count as u32),
                _ => {
                    let message = "an array has at least one element";
                    return self.refuse("array-length", message, length.span);
                }
            },
            None => None,
        };
        let size = u64::from(self.program.size_of(kind)) * u64::from(length.unwrap_or(1));
        if size + u64::from(offset) > u64::from(SIZE_MAX) {
            let message = format!("there are more than {SIZE_MAX} bytes of variables");
            return self.refuse("too-large", message, written.name.span);
        }
        Ok(Variable {
            kind,
            length,
            offset,
        })
    }

    /// Returns the channel type of an initializer.
    pub(super) fn channel_type(&mut self, initial: &Initial) -> Compiled<Option<u16>> {
        let Initial::Channel { capacity, fields } = initial else {
            return Ok(None);
        };
        let count = self.constant(capacity)?;
        if !(0..=255).contains(&count) {
            let message = "a channel holds from 0 to 255 messages";
            return self.refuse("channel", message, capacity.span);
        }
        let mut made = ChannelType {
            capacity: count as u32,
            fields: Vec::new(),
            message_size: 0,
            size: 0,
        };
        for field in fields {
            let written = syntax::Variable {
                is_hidden: false,
                name: syntax::Name {
                    text: "".into(),
                    span: capacity.span,
                },
                type_name: field.clone(),
                length: None,
                initial: Initial::Nothing,
            };
            let variable = self.variable(&written, made.message_size)?;
            made.message_size += self.size_of(&variable);
            let leaves = self.program.leaves_of("", &variable);
            made.fields.extend(leaves.iter().map(|leaf| leaf.cell));
        }
        // A rendezvous channel stores no messages.
        made.size = match made.capacity {
            0 => 0,
            capacity => 1 + capacity * made.message_size,
        };
        if made.size > SIZE_MAX {
            let message = format!("a channel has at most {SIZE_MAX} bytes");
            return self.refuse("too-large", message, capacity.span);
        }
        self.program.channels.push(made);
        Ok(Some(self.program.channels.len() as u16 - 1))
    }

    pub(super) fn global(&mut self, written: &syntax::Variable) -> Compiled<()> {
        let offset = self.program.globals_end;
        let variable = self.variable(written, offset)?;
        let is_channel = matches!(variable.kind, VariableKind::Scalar(scalar) if scalar.is_channel);
        if written.is_hidden && is_channel {
            let message = "a channel cannot be hidden";
            return self.refuse("hidden", message, written.name.span);
        }
        self.program.globals_end += self.size_of(&variable);
        let end = self.program.globals_end;
        self.program.global_ranges.push(offset..end);
        if written.is_hidden {
            self.program.hidden.push(offset..end);
        }
        let name = &written.name.text;
        if self
            .globals
            .insert(name.clone(), variable.clone())
            .is_some()
            || self.mtypes.contains_key(name)
        {
            let message = format!("`{name}` is declared twice");
            return self.refuse("redeclared", message, written.name.span);
        }
        if let Initial::Value(value) = &written.initial
            && let ExpressionKind::Number(number) = value.kind
        {
            self.constants.insert(name.clone(), number);
        }
        let leaves = self.program.leaves_of(name, &variable);
        self.program.global_leaves.extend(leaves);
        let beginnings = self.beginnings(&variable, &written.initial)?;
        for beginning in &beginnings {
            if let Beginning::Channel(_, channel) = beginning {
                self.program.global_channels.push(*channel);
            }
        }
        self.check_channels(self.program.global_channels.len(), written)?;
        self.program.global_beginnings.extend(beginnings);
        Ok(())
    }

    pub(super) fn check_channels(
        &mut self,
        count: usize,
        written: &syntax::Variable,
    ) -> Compiled<()> {
        if count > CHANNELS_MAX {
            let message = format!("there are more than {CHANNELS_MAX} channels");
            return self.refuse("too-large", message, written.name.span);
        }
        Ok(())
    }

    /// Returns the initializations of a variable. As in Spin, each field of a record has
    /// the value that the `typedef` gives it, whatever the variable is initialized with.
    pub(super) fn beginnings(
        &mut self,
        variable: &Variable,
        initial: &Initial,
    ) -> Compiled<Vec<Beginning>> {
        let leaves = self.program.leaves_of("", variable);
        let cells = leaves.iter().map(|leaf| leaf.cell);
        let mut beginnings = Vec::new();
        if let VariableKind::Record(number) = variable.kind {
            self.check_record_initial(variable, initial)?;
            return Ok(self.record_beginnings(variable, number));
        }
        match initial {
            Initial::Nothing => {}
            Initial::Value(value) => {
                let code = self.expression(value)?;
                beginnings.extend(cells.map(|cell| Beginning::Value(cell, code)));
            }
            Initial::List(values) => {
                let codes: Vec<Code> = values
                    .iter()
                    .map(|value| self.expression(value))
                    .collect::<Compiled<_>>()?;
                // The last value applies to all further elements.
                let last = codes.last().copied();
                let codes = codes.into_iter().map(Some).chain(std::iter::repeat(last));
                let pairs = cells.zip(codes);
                let values = pairs.filter_map(|(cell, code)| Some(Beginning::Value(cell, code?)));
                beginnings.extend(values);
            }
            Initial::Channel { capacity, .. } => {
                let is_channel =
                    matches!(variable.kind, VariableKind::Scalar(scalar) if scalar.is_channel);
                if !is_channel {
                    let message = "only a `chan` can be initialized with a channel";
                    return self.refuse("type", message, capacity.span);
                }
                if let Some(channel) = self.channel_type(initial)? {
                    beginnings.extend(cells.map(|cell| Beginning::Channel(cell, channel)));
                }
            }
        }
        Ok(beginnings)
    }

    /// Returns the initializations of the fields of a record, or of an array of records.
    fn record_beginnings(&self, variable: &Variable, number: u16) -> Vec<Beginning> {
        let Some(record) = self.program.records.get(number as usize) else {
            return Vec::new();
        };
        let elements = 0..variable.length.unwrap_or(1);
        let offsets = elements.map(|index| variable.offset + index * record.size);
        let moved = |offset: u32| record.beginnings.iter().map(move |it| it.moved(offset));
        offsets.flat_map(moved).collect()
    }

    /// Checks what a record is initialized with, which Spin ignores. It rejects a list for
    /// a single record, since the list would have to be its fields.
    fn check_record_initial(&mut self, variable: &Variable, initial: &Initial) -> Compiled<()> {
        match initial {
            Initial::Nothing => Ok(()),
            Initial::Value(value) => self.expression(value).map(drop),
            Initial::List(values) => {
                let place = values.first().filter(|_| variable.length.is_none());
                if let Some(value) = place {
                    let message = "a record cannot be initialized with a list of values: give \
                         the fields values in the `typedef`, or assign them";
                    return self.refuse("type", message, value.span);
                }
                let mut values = values.iter();
                values.try_for_each(|value| self.expression(value).map(drop))
            }
            Initial::Channel { capacity, .. } => {
                let message = "only a `chan` can be initialized with a channel";
                self.refuse("type", message, capacity.span)
            }
        }
    }

    /// Declares a local variable in the innermost block.
    pub(super) fn local(&mut self, written: &syntax::Variable) -> Compiled<Variable> {
        if written.is_hidden {
            let message = "only a global variable can be hidden";
            return self.refuse("hidden", message, written.name.span);
        }
        let offset = self.frame.as_ref().map_or(0, |frame| frame.size);
        let variable = self.variable(written, offset)?;
        let size = self.size_of(&variable);
        let leaves = self.program.leaves_of(&written.name.text, &variable);
        let Some(frame) = &mut self.frame else {
            return Err(Reported);
        };
        frame.size += size;
        let kind = frame.kind;
        let is_outermost = frame.scopes.len() <= 1;
        let name: Arc<str> = written.name.text.clone();
        let old = frame
            .scopes
            .last_mut()
            .and_then(|scope| scope.insert(name.clone(), variable.clone()));
        if let Some(kind) = self.program.kinds.get_mut(kind as usize) {
            kind.leaves.extend(leaves);
            if is_outermost || !kind.variables.iter().any(|(known, _)| *known == name) {
                kind.variables.push((name.clone(), variable.clone()));
            }
        }
        if old.is_some() {
            let message = format!("`{name}` is declared twice in this block");
            return self.refuse("redeclared", message, written.name.span);
        }
        Ok(variable)
    }

    /// Returns the expression 0.
    pub(super) fn zero(&mut self, span: crate::Span) -> Code {
        self.code(Node::Number(0), span)
    }
}
