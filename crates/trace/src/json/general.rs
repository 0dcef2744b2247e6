//! The general path for lines of any shape, based on `serde_json`.

use crate::decode::{Sink, Written};
use crate::fault::{Excerpt, FaultKind, Position};
use crate::model::{Batch, Declaration, Header, How, Place};
use crate::tables;
use juror_event::{Sequence, Unavailability, Value};
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use std::fmt;

/// A fault and its byte in the line.
type Wrong = (FaultKind, usize);

/// The distinct members of an object, in order.
struct Members<T>(Vec<(String, T)>);

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(std::marker::PhantomData))
    }
}

struct MembersVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: serde::Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
    type Value = Members<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<T>, A::Error> {
        use serde::de::Error as _;
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, T>()? {
            members.push((name, value));
        }
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        match tables::repeated(&names) {
            Some(name) => Err(A::Error::custom(format!("`{name}` occurs twice"))),
            None => Ok(Members(members)),
        }
    }
}

/// A member's value: for the values of an event, the order matters.
enum Member {
    Json(Json),
    Values(Members<Json>),
}

impl<'de> serde::Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Member;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Member, A::Error> {
                let members = MembersVisitor(std::marker::PhantomData).visit_map(map)?;
                Ok(Member::Values(members))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Member, E> {
                Ok(Member::Json(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Member, E> {
                Ok(Member::Json(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Member, E> {
                Ok(Member::Json(value.into()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Member, E> {
                Ok(Member::Json(value.into()))
            }
            fn visit_str<E>(self, value: &str) -> Result<Member, E> {
                Ok(Member::Json(value.into()))
            }
            fn visit_unit<E>(self) -> Result<Member, E> {
                Ok(Member::Json(Json::Null))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut sequence: A,
            ) -> Result<Member, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = sequence.next_element()? {
                    elements.push(element);
                }
                Ok(Member::Json(Json::Array(elements)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Member {
    fn into_json(self) -> Json {
        match self {
            Member::Json(json) => json,
            Member::Values(members) => Json::Object(members.0.into_iter().collect()),
        }
    }
}

/// The members of a line.
struct Line<'a> {
    text: &'a [u8],
    members: Vec<(String, Member)>,
}

impl Line<'_> {
    fn take(&mut self, name: &str) -> Option<Member> {
        let position = self.members.iter().position(|(known, _)| known == name)?;
        Some(self.members.remove(position).1).filter(|it| !matches!(it, Member::Json(Json::Null)))
    }

    fn wrong(&self, name: &str, message: String) -> Wrong {
        let quoted = format!("\"{name}\"");
        let at = memchr::memmem::find(self.text, quoted.as_bytes()).unwrap_or(0);
        (FaultKind::Malformed(message), at)
    }

    /// Removes a member that is a non-negative integer.
    fn number(&mut self, name: &str) -> Result<Option<u64>, Wrong> {
        match self.take(name) {
            None => Ok(None),
            Some(Member::Json(Json::Number(number))) if number.is_u64() => Ok(number.as_u64()),
            Some(_) => Err(self.wrong(
                name,
                format!("`{name}` is not a non-negative 64-bit integer"),
            )),
        }
    }

    fn small_number(&mut self, name: &str) -> Result<Option<u32>, Wrong> {
        let number = self.number(name)?.map(u32::try_from).transpose();
        number.map_err(|_| self.wrong(name, format!("`{name}` is too large")))
    }

    /// Deserializes all members as this type.
    fn into<T: DeserializeOwned>(self) -> Result<T, Wrong> {
        let members = self.members.into_iter();
        let object = members.map(|(name, member)| (name, member.into_json()));
        serde_json::from_value(Json::Object(object.collect()))
            .map_err(|error| (FaultKind::Malformed(error.to_string()), 0))
    }
}

/// Takes a line of any shape; an empty line is ignored.
pub(super) fn take(
    text: &[u8],
    position: Position,
    sink: &mut Sink,
    batch: &mut Batch,
) -> Result<(), Wrong> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(());
    }
    let members: Members<Member> = serde_json::from_slice(text).map_err(|error| {
        let at = error.column().saturating_sub(1);
        (FaultKind::Malformed(words(&error)), at)
    })?;
    let mut line = Line {
        text,
        members: members.0,
    };
    let has = |name: &str| line.members.iter().any(|(known, _)| known == name);
    if has("event") {
        event(&mut line, position, sink, batch)
    } else if has("define") {
        let number = line.number("define")?.unwrap_or(u64::MAX);
        let place: Place = line.into()?;
        sink.place(batch, number, place).map_err(|kind| (kind, 0))
    } else if has("declare") {
        let declaration: Declaration = line.into()?;
        sink.declare(batch, declaration).map_err(|kind| (kind, 0))
    } else if has("unbound") {
        match line.take("unbound") {
            Some(Member::Json(Json::String(event))) => {
                sink.unbound(batch, event).map_err(|kind| (kind, 0))
            }
            _ => Err(line.wrong("unbound", "`unbound` is not a string".to_owned())),
        }
    } else if has("trace") {
        match line.number("trace")? {
            Some(version) if version == u64::from(crate::VERSION) => {}
            version => return Err((FaultKind::Version(version.unwrap_or(0)), 0)),
        }
        let header: Header = line.into()?;
        sink.header(batch, header).map_err(|kind| (kind, 0))
    } else if has("end") {
        end(line, sink, batch)
    } else {
        let message =
            "the object has none of `event`, `trace`, `declare`, `define`, `unbound` and `end`";
        Err((FaultKind::Malformed(message.to_owned()), 0))
    }
}

/// Returns the parser's message without its line and column.
fn words(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => message.get(..end).unwrap_or(&message).to_owned(),
        None => message,
    }
}

fn event(
    line: &mut Line<'_>,
    position: Position,
    sink: &mut Sink,
    batch: &mut Batch,
) -> Result<(), Wrong> {
    let Some(Member::Json(Json::String(name))) = line.take("event") else {
        return Err(line.wrong("event", "`event` is not a string".to_owned()));
    };
    let sequence = line.number("sequence")?;
    let time_ns = line.number("time")?;
    let thread = line.small_number("thread")?.unwrap_or(0);
    let place = line.small_number("place")?;
    let given = match line.take("values") {
        None => Vec::new(),
        Some(Member::Values(values)) => values.0,
        Some(Member::Json(_)) => {
            return Err(line.wrong("values", "`values` is not an object".to_owned()));
        }
    };
    let start = batch.values.len();
    let mut keys = Vec::with_capacity(given.len());
    for (key, json) in given {
        let Some(value) = value(json) else {
            batch.values.truncate(start);
            return Err(line.wrong(
                &key,
                format!("`{key}` has a value that a trace cannot hold"),
            ));
        };
        batch.values.push(value);
        keys.push(key);
    }
    let name = sink.tables.name(&name);
    let written = Written {
        layout: sink.tables.layout(name, &keys),
        sequence,
        time_ns,
        thread,
        place,
    };
    let text = line.text;
    let excerpt = || Some(Excerpt::around(text, 0));
    sink.event(batch, written, start, position, excerpt);
    Ok(())
}

fn end(mut line: Line<'_>, sink: &mut Sink, batch: &mut Batch) -> Result<(), Wrong> {
    let counted = line.number("events")?;
    let how = line.take("end").map_or(Json::Null, Member::into_json);
    let how: How = serde_json::from_value(how)
        .map_err(|error| line.wrong("end", format!("`end` is {error}")))?;
    let Some(counted) = counted else {
        return Err(line.wrong(
            "end",
            "the end has no member `events`, the number of events".to_owned(),
        ));
    };
    sink.end(batch, how, counted).map_err(|kind| (kind, 0))
}

/// Returns the value that a JSON value stands for.
fn value(json: Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Unavailable(Unavailability::NotCaptured),
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Value::Int(i128::from(number)),
            (_, Some(number)) => Value::Int(i128::from(number)),
            _ => Value::Float(number.as_f64()?),
        },
        Json::String(text) => {
            tables::address(text.as_bytes()).unwrap_or_else(|| Value::String(text.into()))
        }
        Json::Object(members) => tagged(&members)?,
        // The parser has refused deeper nesting than it supports; a value nested too
        // deeply is refused here.
        Json::Array(elements) => {
            let mut sequence = Sequence::default();
            for element in elements {
                sequence.push(value(element)?).ok()?;
            }
            Value::Sequence(sequence)
        }
    })
}

/// Returns a tagged value.
fn tagged(members: &serde_json::Map<String, Json>) -> Option<Value> {
    let text = |name: &str| members.get(name).and_then(Json::as_str);
    if let Some(text) = text("text") {
        return Some(Value::String(text.into()));
    }
    if let Some(number) = text("int") {
        return number.parse().ok().map(Value::Int);
    }
    if let Some(number) = text("float") {
        return Some(Value::Float(match number {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            _ => return None,
        }));
    }
    Some(Value::Unavailable(match text("unavailable")? {
        "not captured" => Unavailability::NotCaptured,
        "optimized out" => Unavailability::OptimizedOut,
        "no value" => Unavailability::NoValue,
        "no element" => Unavailability::NoElement,
        "unreadable" => match tables::address(text("address")?.as_bytes())? {
            Value::Address(address) => Unavailability::Unreadable { address },
            _ => return None,
        },
        _ => return None,
    }))
}
