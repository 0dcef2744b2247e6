//! Binding of a property to a trace: which events of the trace are those of the
//! property, and the positions of its captures among their values.
//!
//! A trace is recorded independently of the property; a property denotes events by kind
//! and subject, and values by their reads. An event that the trace *declares* was
//! recorded by juror: its values are named by the expressions that read them, and only
//! these names count. In other traces, an event may also have the name that the
//! property gives to it, and a value the name of the capture.
//!
//! The thread and the time belong to the record and not to its values, so every event has
//! them.
//!
//! **Invariant:** a value that is not found is [`Unavailability::NotCaptured`], which a
//! guard that needs it reports; nothing is guessed.

use crate::csv::TextColumns;
use crate::model::{Declaration, Given, Layout};
use juror_event::{
    Arithmetic, Capture, Conversion, EventId, Reach, Read, SymbolicEvent, Unavailability, Value,
};
use juror_language::Property;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The events of one property in one trace.
#[derive(Debug)]
pub struct Binding {
    property: Arc<Property>,
    layouts: Vec<Vec<EventBinding>>,
    /// By event: true if the trace declares it, or it has occurred.
    known: Vec<bool>,
    /// By event: true if no module of the run had what the event is about.
    unbound: Vec<bool>,
    has_declarations: bool,
}

/// An event of a property that is bound to the events of one layout.
#[derive(Debug, Clone, PartialEq)]
pub struct EventBinding {
    /// The event of the property.
    pub event: EventId,
    /// True if values that are read only on demand are omitted according to the mask of
    /// needs. After a call everything has been read.
    is_masked: bool,
    slots: Vec<Option<Slot>>,
}

/// The source of a capture.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slot {
    source: Source,
    /// The type to which the value is converted.
    conversion: Option<Conversion>,
    /// True if the trace declares nothing: what a value was written as does not say what
    /// type it had.
    is_written: bool,
}

/// The part of a record that has a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    /// The value at this position among the layout's values.
    Value(usize),
    /// The record's thread.
    Thread,
    /// The record's time.
    Time,
}

impl Slot {
    /// Returns the value in a record; `None` if the record lacks it.
    #[inline]
    fn value<'a>(&self, given: &Given<'a>) -> Option<Cow<'a, Value>> {
        let value = match self.source {
            Source::Value(position) => Cow::Borrowed(given.values.get(position)?),
            Source::Thread if given.thread == 0 => return None,
            Source::Thread => Cow::Owned(Value::Int(i128::from(given.thread))),
            Source::Time => Cow::Owned(Value::Int(i128::from(given.time_ns?))),
        };
        Some(match self.conversion {
            Some(conversion) if self.is_written => Cow::Owned(retyped(&value, conversion)),
            Some(conversion) => Cow::Owned(converted(&value, conversion)),
            None => value,
        })
    }
}

impl Binding {
    /// Creates the binding of a property in a trace of which nothing is known yet.
    pub fn new(property: Arc<Property>) -> Binding {
        Binding {
            layouts: Vec::new(),
            known: vec![false; property.events.len()],
            unbound: vec![false; property.events.len()],
            property,
            has_declarations: false,
        }
    }

    /// Records that the trace declares this event.
    pub fn declare(&mut self, declaration: &Declaration) {
        self.has_declarations = true;
        for (event, known) in self.property.events.iter().zip(&mut self.known) {
            *known |= event_words(event) == declaration.event;
        }
    }

    /// Records that no module of the run had what the event of this name is about.
    pub fn set_unbound(&mut self, name: &str) {
        let is_declared = self.has_declarations;
        for (event, absent) in self.property.events.iter().zip(&mut self.unbound) {
            *absent |= has_name(event, name, is_declared);
        }
    }

    /// Returns whether the trace says that an event was never bound, and so could not happen.
    pub fn is_unbound(&self, event: EventId) -> bool {
        self.unbound.get(usize::from(event.0)) == Some(&true)
    }

    /// Adds the next layout of the trace.
    pub fn add(&mut self, layout: &Layout) {
        let mut bindings = Vec::new();
        for (position, event) in self.property.events.iter().enumerate() {
            if !is_same(event, layout) {
                continue;
            }
            if let Some(known) = self.known.get_mut(position) {
                *known = true;
            }
            bindings.push(EventBinding {
                event: EventId(position as u16),
                is_masked: !event.kind.is_end_of_call(),
                slots: slots(event, layout),
            });
        }
        self.layouts.push(bindings);
    }

    /// Returns the property's events that match this layout, in the order of their
    /// declaration.
    pub fn events(&self, layout: u32) -> &[EventBinding] {
        self.layouts
            .get(layout as usize)
            .map_or(&[], |events| events)
    }

    /// Iterates over events that were not recorded: the trace declares others and not
    /// these, so it is unknown whether they occurred.
    pub fn not_recorded(&self) -> impl Iterator<Item = EventId> + '_ {
        let events = (0..).map(EventId).zip(&self.known);
        let unknown = events.filter(|(_, known)| self.has_declarations && !**known);
        unknown.map(|(event, _)| event)
    }
}

impl EventBinding {
    /// Returns one capture from a record; `None` if the trace does not have it.
    #[inline]
    pub fn value<'a>(&self, given: &Given<'a>, slot: usize) -> Option<Cow<'a, Value>> {
        (*self.slots.get(slot)?)?.value(given)
    }

    /// Writes the captures by slot from a record, as they would have been
    /// read live if `needed` (bit n is slot n) were the mask of needs.
    pub fn fill(&self, given: &Given<'_>, needed: u64, captures: &mut Vec<Value>) {
        captures.clear();
        for (number, slot) in self.slots.iter().enumerate() {
            let needed = needed.checked_shr(number as u32);
            let is_needed = !self.is_masked || needed.is_none_or(|bits| bits & 1 == 1);
            let value = slot.filter(|_| is_needed);
            let value = value.and_then(|slot| slot.value(given));
            captures.push(match value {
                Some(value) => value.into_owned(),
                None => Value::Unavailable(Unavailability::NotCaptured),
            });
        }
    }
}

/// Returns the name of an event in a trace: `before f`, `after malloc in "libc.so"`.
pub fn event_words(event: &SymbolicEvent) -> String {
    let words = words_anywhere(event);
    match &event.reach {
        Reach::Anywhere | Reach::Library => words,
        Reach::Module(module) => format!("{words} in \"{module}\""),
    }
}

/// Returns the name of an event without its module: `after malloc`.
fn words_anywhere(event: &SymbolicEvent) -> String {
    let kind = event.kind.word();
    if event.subject.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind} {}", event.subject)
    }
}

/// Returns the name of a value in a trace: `queue`, `arg 1`, `*p`, `size: u64`.
pub fn read_words(read: &Read) -> String {
    match read {
        Read::Convert(inner, conversion) => format!("{inner}: {conversion}"),
        read => read.to_string(),
    }
}

/// Returns true if the events of a layout are those of a property's event.
fn is_same(event: &SymbolicEvent, layout: &Layout) -> bool {
    has_name(event, &layout.event, layout.declaration.is_some())
}

/// Returns true if a trace gives this name to a property's event. A trace that does not
/// declare the event may leave the module out, or name it as the property does.
fn has_name(event: &SymbolicEvent, name: &str, is_declared: bool) -> bool {
    let is_written = || *event.name == *name || words_anywhere(event) == name;
    event_words(event) == name || (!is_declared && is_written())
}

fn slots(event: &SymbolicEvent, layout: &Layout) -> Vec<Option<Slot>> {
    let parameters = layout.declaration.as_ref();
    let parameters = parameters.map_or(&[][..], |declaration| &declaration.parameters);
    let of = |words: &str| layout.keys.iter().position(|key| **key == *words);
    let slot = |capture: &Capture| {
        if let Some(slot) = of_record(&capture.read) {
            return Some(slot);
        }
        let reads = [
            Some(capture.read.clone()),
            renamed(&capture.read, parameters),
        ];
        for read in reads.iter().flatten() {
            if let Some(position) = of(&read_words(read)) {
                return Some(Slot {
                    source: Source::Value(position),
                    conversion: None,
                    is_written: false,
                });
            }
        }
        let conversion = match &capture.read {
            Read::Convert(_, conversion) => Some(*conversion),
            _ => None,
        };
        // The trace has the unconverted value, which is converted now.
        let plain = reads.iter().flatten().find_map(|read| match read {
            Read::Convert(inner, _) => of(&inner.to_string()),
            _ => None,
        });
        let by_name = || match layout.declaration {
            None => with_names(event, capture)
                .find_map(|it| of(&it.name).or_else(|| of(&nth_parameter(event, it)?))),
            Some(_) => None,
        };
        let position = plain.or_else(by_name)?;
        Some(Slot {
            source: Source::Value(position),
            conversion,
            is_written: layout.declaration.is_none(),
        })
    };
    event.captures.iter().map(slot).collect()
}

/// Returns the source of a value that every record has. It is not looked up among the
/// event's values, where `thread` may be a parameter of the function.
fn of_record(read: &Read) -> Option<Slot> {
    let (read, conversion) = match read {
        Read::Convert(inner, conversion) => (&**inner, Some(*conversion)),
        read => (read, None),
    };
    let source = match read {
        Read::Thread => Source::Thread,
        Read::Time => Source::Time,
        _ => return None,
    };
    Some(Slot {
        source,
        conversion,
        is_written: false,
    })
}

/// Iterates over the captures whose names a capture's value may have in a trace without
/// declarations: its own, and that of the parameter which a guard converts.
fn with_names<'a>(
    event: &'a SymbolicEvent,
    capture: &'a Capture,
) -> impl Iterator<Item = &'a Capture> {
    let same = event.captures.iter().filter(|it| {
        capture.hoisted && !it.hoisted && unconverted(&it.read) == unconverted(&capture.read)
    });
    std::iter::once(capture).chain(same)
}

/// Returns a read without its conversion.
fn unconverted(read: &Read) -> &Read {
    match read {
        Read::Convert(inner, _) => inner,
        read => read,
    }
}

/// Returns the name of a plain value by position: in a trace without declarations they
/// are in the order in which the property names the parameters.
fn nth_parameter(event: &SymbolicEvent, capture: &Capture) -> Option<String> {
    let declared = event.captures.iter().filter(|it| !it.hoisted);
    let mut parameters = declared.filter(|it| matches!(unconverted(&it.read), Read::Name(_)));
    let position = parameters.position(|it| it.name == capture.name)?;
    Some(format!("arg {}", position + 1))
}

/// Returns the same read by the name of the parameter instead of its position, or by
/// its position instead of its name.
fn renamed(read: &Read, parameters: &[String]) -> Option<Read> {
    let within = |inner: &Read| renamed(inner, parameters).map(Box::new);
    Some(match read {
        Read::Argument(position) => {
            let name = parameters.get(usize::from(*position).checked_sub(1)?)?;
            Read::Name(name.as_str().into())
        }
        Read::Name(name) => {
            let position = parameters.iter().position(|known| **known == **name)?;
            Read::Argument(u8::try_from(position + 1).ok()?)
        }
        Read::Dereference(inner) => Read::Dereference(within(inner)?),
        Read::AddressOf(inner) => Read::AddressOf(within(inner)?),
        Read::Field(inner, field) => Read::Field(within(inner)?, field.clone()),
        Read::Index(inner, index) => Read::Index(within(inner)?, *index),
        Read::Elements(inner, start, end) => Read::Elements(within(inner)?, *start, *end),
        Read::Convert(inner, conversion) => Read::Convert(within(inner)?, *conversion),
        Read::Arithmetic(arithmetic) => {
            let operands = arithmetic.operands.iter();
            let operands = operands.map(|it| renamed(it, parameters).unwrap_or_else(|| it.clone()));
            Read::Arithmetic(Arithmetic {
                text: arithmetic.text.clone(),
                operands: operands.collect(),
            })
        }
        // The caller's frame has other names, and context values have one.
        _ => return None,
    })
}

/// Converts a value to the type that a property gives it, as it might have been written: a
/// number may be a text, and a text may be a number.
fn retyped(value: &Value, conversion: Conversion) -> Value {
    match (value, conversion) {
        (Value::String(_) | Value::Sequence(_) | Value::Unavailable(_), Conversion::String) => {
            value.clone()
        }
        (value, Conversion::String) => Value::String(value.to_string().into()),
        (Value::String(text), _) => match crate::csv::value_of(text) {
            Value::String(_) => value.clone(),
            number => converted(&number, conversion),
        },
        _ => converted(value, conversion),
    }
}

/// Returns the values that properties take for texts, by the names that they may have in a
/// trace without declarations. A value that another property takes for a number is none of
/// them.
pub fn text_columns<'a>(properties: impl Iterator<Item = &'a Property>) -> TextColumns {
    let mut columns: BTreeMap<(String, String), bool> = BTreeMap::new();
    for event in properties.flat_map(|property| &property.events) {
        let names = [event.name.to_string(), words_anywhere(event)];
        for capture in event.captures.iter().filter(|capture| !capture.hoisted) {
            let (read, is_text) = match &capture.read {
                Read::Convert(inner, conversion) => (&**inner, *conversion == Conversion::String),
                read => (read, false),
            };
            let keys = [
                Some(capture.name.to_string()),
                Some(read.to_string()),
                nth_parameter(event, capture),
            ];
            for key in keys.into_iter().flatten() {
                for name in &names {
                    let known = columns
                        .entry((name.clone(), key.clone()))
                        .or_insert(is_text);
                    *known &= is_text;
                }
            }
        }
    }
    columns.retain(|_, is_text| *is_text);
    TextColumns::of(columns.into_keys())
}

/// Converts a value to another type: integers keep their low bits, as if read from
/// memory.
fn converted(value: &Value, conversion: Conversion) -> Value {
    let integer = value.as_integer().or(match value {
        Value::Bool(truth) => Some(i128::from(*truth)),
        _ => None,
    });
    let Some(integer) = integer else {
        return match (value, conversion) {
            (Value::Sequence(elements), _) => {
                let elements = elements
                    .iter()
                    .map(|element| converted(element, conversion));
                Value::Sequence(elements.collect())
            }
            (Value::Float(number), Conversion::Float32) => Value::Float(f64::from(*number as f32)),
            _ => value.clone(),
        };
    };
    match conversion {
        Conversion::Signed { bytes } => {
            let bits = 128 - u32::from(bytes.clamp(1, 8)) * 8;
            Value::Int(integer << bits >> bits)
        }
        Conversion::Unsigned { bytes } => {
            let bits = u32::from(bytes.clamp(1, 8)) * 8;
            Value::Int(integer & ((1 << bits) - 1))
        }
        Conversion::Bool => Value::Bool(integer != 0),
        Conversion::Address => Value::Address(integer as u64),
        Conversion::Float32 => Value::Float(f64::from(integer as f32)),
        Conversion::Float64 => Value::Float(integer as f64),
        Conversion::String => value.clone(),
    }
}

#[cfg(test)]
mod tests;
