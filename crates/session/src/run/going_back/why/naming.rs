//! The names and values of memory, and the source of instructions, where a run stands.

use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_program::locations::location;
use juror_program::program::Program;
use juror_program::scope::FrameScope;
use juror_program::stack::frames::Frame;
use juror_symbols::TypeKind;
use juror_values::format::{Radix, format};
use juror_values::typed::Typed;
use juror_view::Location;
use std::ops::Range;
use std::path::Path;

/// The frames whose variables are known by name.
const FRAMES_MAX: usize = 8;

/// The longest range whose bytes are shown.
const BYTES_MAX: u64 = 16;

/// Numbers from here on are shown as addresses.
const LARGE: i64 = 1 << 32;

/// The depth of members in variables.
const MEMBERS_MAX: usize = 8;

/// The fewest characters of memory that are shown as text beside a number.
const TEXT_MIN: usize = 4;

/// The variables of a thread that stands.
pub(super) struct Names {
    frames: Vec<Frame>,
    locals: Vec<(String, Typed)>,
}

/// A part of a variable.
struct Part {
    name: String,
    /// Its value, if it is a member or the whole.
    value: Option<Typed>,
}

impl Names {
    pub(super) fn of(program: &Program, thread: ThreadId) -> Names {
        let (frames, _) = program.backtrace(thread, FRAMES_MAX);
        let mut locals = Vec::new();
        for frame in &frames {
            for (variable, _) in program.variables(frame) {
                let value = program.value_of(frame, &variable);
                locals.push((variable.name.to_string(), value));
            }
        }
        Names { frames, locals }
    }

    /// Returns the name of the object that has a range of memory.
    pub(super) fn name(&self, program: &Program, range: &Range<u64>) -> Option<String> {
        Some(self.part(program, range)?.name)
    }

    /// Returns the value in a range of memory.
    pub(super) fn value(&self, program: &Program, range: &Range<u64>) -> Option<String> {
        match self.part(program, range).and_then(|part| part.value) {
            Some(value) => Some(format(&value, program, program, Radix::Natural)),
            None => raw_value(program, range),
        }
    }

    fn part(&self, program: &Program, range: &Range<u64>) -> Option<Part> {
        let mut locals = self.locals.iter();
        let local = locals.find_map(|(name, value)| part_of(name, value, range));
        local.or_else(|| self.global(program, range))
    }

    /// Returns the part of a global variable, or the symbol that has the range.
    fn global(&self, program: &Program, range: &Range<u64>) -> Option<Part> {
        let module = program.modules.find(range.start)?;
        let (symbol, offset) = module.symbols.symbol_at(module.to_file(range.start))?;
        let scope = FrameScope {
            program,
            frames: &self.frames,
            level: 0,
            convenience: &|_| None,
        };
        let variable = scope.outside(&symbol).ok();
        let part = variable.and_then(|value| part_of(&symbol, &value, range));
        part.or_else(|| {
            let name = match offset {
                0 => symbol.to_string(),
                offset => format!("{symbol}+{offset}"),
            };
            Some(Part { name, value: None })
        })
    }
}

/// Returns the part of a variable that has a range of memory.
fn part_of(name: &str, value: &Typed, range: &Range<u64>) -> Option<Part> {
    let start = value.address()?;
    let end = start.checked_add(value.r#type.size()?)?;
    if range.start < start || end < range.end {
        return None;
    }
    let (mut offset, size) = (range.start - start, range.end - range.start);
    let mut name = name.to_owned();
    let mut part = value.clone();
    for _ in 0..MEMBERS_MAX {
        if offset == 0 && part.r#type.size() == Some(size) {
            let value = Some(part);
            return Some(Part { name, value });
        }
        let Some((member, begin, inner)) = member_at(&part, offset, size) else {
            break;
        };
        name += &member;
        offset -= begin;
        part = inner;
    }
    if offset > 0 {
        name += &format!("+{offset}");
    }
    Some(Part { name, value: None })
}

/// Returns the member or element that has some bytes of an object: its name, its first byte, its value.
fn member_at(of: &Typed, offset: u64, size: u64) -> Option<(String, u64, Typed)> {
    match of.r#type.strip().kind() {
        TypeKind::Composite(composite) => {
            let mut fields = composite.fields.iter();
            let field = fields.find(|field| {
                let length = field.r#type.size().unwrap_or_default();
                field.offset <= offset && offset + size <= field.offset.saturating_add(length)
            })?;
            let name = field.name.as_ref();
            let name = name.map_or_else(String::new, |name| format!(".{name}"));
            Some((name, field.offset, of.member(field)))
        }
        TypeKind::Array {
            element,
            dimensions,
            ..
        } if dimensions.len() == 1 => {
            let length = element.size().filter(|it| *it > 0)?;
            let index = offset / length;
            let begin = index * length;
            let part = of.part(begin, element.clone(), None);
            (offset + size <= begin + length).then(|| (format!("[{index}]"), begin, part))
        }
        _ => None,
    }
}

/// Returns the number or the bytes in a range of memory.
pub(super) fn raw_value(program: &Program, range: &Range<u64>) -> Option<String> {
    let size = range.end.checked_sub(range.start);
    let size = size.filter(|it| (1..=BYTES_MAX).contains(it))?;
    let mut bytes = vec![0; size as usize];
    program.debuggee.read(range.start, &mut bytes).ok()?;
    Some(number(&bytes))
}

/// Returns bytes as a number, and as text if they are some.
pub(super) fn number(bytes: &[u8]) -> String {
    let number = match *bytes {
        [byte] if byte.is_ascii_graphic() => return format!("{byte} {:?}", char::from(byte)),
        [byte] => return byte.to_string(),
        [low, high] => return i16::from_le_bytes([low, high]).to_string(),
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).to_string(),
        [a, b, c, d, e, f, g, h] => {
            let number = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
            if (-LARGE..LARGE).contains(&number) {
                number.to_string()
            } else {
                format!("{number:#x}")
            }
        }
        _ => {
            let bytes: Vec<String> = bytes.iter().map(|it| format!("{it:02x}")).collect();
            bytes.join(" ")
        }
    };
    let end = bytes.iter().position(|it| *it == 0).unwrap_or(bytes.len());
    let (text, rest) = bytes.split_at(end);
    let is_text = text.len() >= TEXT_MIN
        && text
            .iter()
            .all(|it| it.is_ascii_graphic() || b" \n\t".contains(it))
        && rest.iter().all(|it| *it == 0);
    if is_text {
        format!("{number} ({:?})", String::from_utf8_lossy(text))
    } else {
        number
    }
}

/// The place of an instruction in the user's source.
#[derive(Debug, Clone, Default)]
pub(super) struct Sourced {
    pub location: Location,
    /// The function without source that the place has called.
    pub within: Option<String>,
}

impl Sourced {
    /// Returns the place of an instruction, by its address and those of the calls around it: the
    /// innermost one with a line in the program itself, or in a library.
    pub(super) fn of(program: &Program, calls: &[u64]) -> Sourced {
        let mut locations = calls.iter().map(|at| location(program, *at));
        let is_main = |at: &Location| {
            let module = program.modules.find(at.address);
            at.line.is_some() && module.is_some_and(|it| it.is_main)
        };
        let Some(first) = locations.next() else {
            return Sourced::default();
        };
        if is_main(&first) {
            return Sourced {
                location: first,
                within: None,
            };
        }
        let mut called = first.function.clone();
        for caller in locations {
            if is_main(&caller) {
                return Sourced {
                    location: caller,
                    within: called,
                };
            }
            called = caller.function.or(called);
        }
        Sourced {
            location: first,
            within: None,
        }
    }

    /// Returns whether two instructions are of one line, in one function.
    pub(super) fn is_same(&self, other: &Sourced) -> bool {
        let (one, other) = (&self.location, &other.location);
        match one.line {
            Some(_) => {
                (&one.file, one.line, &one.function) == (&other.file, other.line, &other.function)
            }
            None => {
                one.function.is_some() && one.function == other.function && other.line.is_none()
            }
        }
    }

    /// Returns whether it is the line with which its function begins, where arguments are stored.
    pub(super) fn begins_function(&self, program: &Program) -> bool {
        let function = program.modules.function_at(self.location.address);
        let begin = function.map(|function| location(program, function.address()));
        begin.is_some_and(|begin| begin.line.is_some() && begin.line == self.location.line)
    }

    /// Returns the text of the line.
    pub(super) fn text(&self, session: &mut Session) -> Option<String> {
        let file = Path::new(self.location.file.as_ref()?);
        let view = session
            .user
            .sources
            .lines(file, self.location.line?, 1, None)?;
        view.lines.first().map(|line| line.trim().to_owned())
    }
}
