//! The locations of memory events (`queue->count`, `board[0..81]`): their present address range,
//! the pointers on the path to them, and the values of their bytes before and after an access.
//!
//! Invariant: a location consists of variables and the targets of their pointers, so it only
//! changes if a pointer on its path is stored to. A location with global variables is the same in
//! every thread, one with a local variable belongs to one call.

use crate::capture_plan::decode_type;
use crate::context_values::BytesAt;
use juror_event::{Reach, Unavailability, Value};
use juror_language::{Expression, ExpressionKind, parse_pure_expression};
use juror_program::modules::Module;
use juror_program::program::Program;
use juror_program::scope::Place;
use juror_program::stack::frames::Frame;
use juror_program::variables::{VariableContext, static_address};
use juror_symbols::{BitField, Type, TypeKind, Variable, VtableOwner};
use juror_values::error::ValueError;
use juror_values::expression::{Scope, evaluate};
use juror_values::read_plan::{Decode, ReadPlan, Source};
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::{Location, Memory, Typed, VALUE_SIZE_MAX};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// A parsed location.
#[derive(Debug, Clone)]
pub struct LocationExpression {
    expression: Expression,
    reach: Reach,
}

/// The reason for which a location does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocationExpressionError {
    /// The message.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
    /// Whether a name of it is in no loaded module, so that a later one may have it.
    pub is_absent: bool,
}

impl LocationExpressionError {
    fn wrong(message: impl Into<String>) -> LocationExpressionError {
        LocationExpressionError {
            message: message.into(),
            help: None,
            is_absent: false,
        }
    }
}

/// A local variable of a call, in memory.
#[derive(Debug, Clone)]
pub struct LocalRoot(Typed);

impl LocalRoot {
    /// Returns the variable in its frame, or `None` if it is not in memory.
    pub fn of(program: &Program, frame: &Frame, variable: &Variable) -> Option<LocalRoot> {
        let value = program.value_of(frame, variable);
        matches!(value.location, Location::Memory(_)).then_some(LocalRoot(value))
    }

    /// Returns its address.
    pub fn address(&self) -> Option<u64> {
        self.0.address()
    }
}

/// A resolved location.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryLocation {
    /// Its address range; `None` while a pointer on the path is invalid.
    pub range: Option<Range<u64>>,
    /// The addresses of the pointers on the path.
    pub path: Vec<Range<u64>>,
    /// The elements that accesses are attributed to.
    pub elements: Elements,
    /// The present bytes.
    pub bytes: Vec<u8>,
}

/// The division of a location into elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elements {
    /// The size of each in bytes.
    pub size: u64,
    /// The number of elements.
    pub count: u64,
    /// The index of the first one.
    pub first: i64,
    /// The decoding of an element; `None` if it is not a single value.
    pub decode: Option<Decode>,
}

impl LocationExpression {
    /// Parses the expression of a location.
    pub fn parse(text: &str, reach: Reach) -> Result<LocationExpression, LocationExpressionError> {
        let (expression, diagnostics) = parse_pure_expression(text);
        if let Some(error) = diagnostics.into_iter().find(|it| it.is_error()) {
            return Err(LocationExpressionError {
                message: error.message,
                help: error.help,
                is_absent: false,
            });
        }
        let expression =
            expression.ok_or_else(|| LocationExpressionError::wrong("a place is missing"))?;
        Ok(LocationExpression { expression, reach })
    }

    /// Returns the name of the variable that it begins with, or `None` if it begins with an
    /// address.
    pub fn root(&self) -> Option<&str> {
        let mut part = &self.expression;
        loop {
            part = match &part.kind {
                ExpressionKind::Name(name) => return Some(name),
                ExpressionKind::Field { object, .. }
                | ExpressionKind::Index { object, .. }
                | ExpressionKind::Slice { object, .. } => object,
                ExpressionKind::Cast { operand, .. } | ExpressionKind::Unary { operand, .. } => {
                    operand
                }
                _ => return None,
            };
        }
    }

    /// Resolves the location as it is now.
    pub fn resolve(&self, program: &Program) -> Result<MemoryLocation, LocationExpressionError> {
        self.resolve_from(program, None)
    }

    /// Resolves the location as it is now, in a call whose variable is the root.
    pub fn resolve_from(
        &self,
        program: &Program,
        root: Option<&LocalRoot>,
    ) -> Result<MemoryLocation, LocationExpressionError> {
        let scope = GlobalScope {
            program,
            root: root.map(|root| &root.0).zip(self.root()),
            reach: &self.reach,
            reads: RefCell::default(),
            has_failed: Cell::new(false),
            help: RefCell::default(),
            is_absent: Cell::new(false),
        };
        let first = self.first_index(&scope)?;
        let value = match evaluate(&self.expression, &scope) {
            Ok(value) => value,
            // A pointer on the path cannot be read now.
            Err(_) if scope.has_failed.get() && !scope.is_absent.get() => {
                return Ok(MemoryLocation {
                    range: None,
                    path: joined(scope.reads.into_inner()),
                    elements: Elements {
                        size: 1,
                        count: 0,
                        first,
                        decode: None,
                    },
                    bytes: Vec::new(),
                });
            }
            Err(error) => {
                return Err(LocationExpressionError {
                    message: error.message,
                    help: scope.help.take(),
                    is_absent: scope.is_absent.get(),
                });
            }
        };
        let is_range = matches!(self.expression.kind, ExpressionKind::Slice { .. });
        let (range, elements) = shape(&value, is_range, first)?;
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let is_readable = program.debuggee.read(range.start, &mut bytes).is_ok();
        Ok(MemoryLocation {
            range: is_readable.then_some(range),
            path: joined(scope.reads.into_inner()),
            elements,
            bytes,
        })
    }

    fn first_index(&self, scope: &GlobalScope<'_>) -> Result<i64, LocationExpressionError> {
        let ExpressionKind::Slice { start, .. } = &self.expression.kind else {
            return Ok(0);
        };
        let value = evaluate(start, scope)
            .map_err(|error| LocationExpressionError::wrong(error.message))?;
        let value = value
            .to_value(scope)
            .map_err(|why| LocationExpressionError::wrong(why.to_string()))?;
        let index = value.as_integer().and_then(|it| i64::try_from(it).ok());
        index.ok_or_else(|| LocationExpressionError::wrong("a range begins at a whole number"))
    }
}

/// Returns the address range of a value, and its division into elements.
fn shape(
    value: &Typed,
    is_range: bool,
    first: i64,
) -> Result<(Range<u64>, Elements), LocationExpressionError> {
    let Location::Memory(address) = value.location else {
        return Err(LocationExpressionError {
            message: "this is a value, not a place in memory, so nothing can be seen of it"
                .to_owned(),
            help: Some("name a variable, a field, or what a pointer leads to".to_owned()),
            is_absent: false,
        });
    };
    if let Some(bits) = value.bits {
        let start = address.wrapping_add(bits.offset_bits / 8);
        let inside = BitField {
            offset_bits: bits.offset_bits % 8,
            ..bits
        };
        let size = (inside.offset_bits + inside.size_bits).div_ceil(8);
        let elements = Elements {
            size,
            count: 1,
            first,
            decode: decode_type(&value.r#type, Some(inside)).ok(),
        };
        return Ok((start..start.wrapping_add(size), elements));
    }
    let size = value.r#type.size().ok_or_else(|| {
        LocationExpressionError::wrong("its size is not known, so it cannot be watched")
    })?;
    if size == 0 || size > VALUE_SIZE_MAX {
        return Err(LocationExpressionError::wrong(format!(
            "{size} bytes cannot be watched; 1 to {VALUE_SIZE_MAX} can be"
        )));
    }
    let range = address..address.saturating_add(size);
    let whole = decode_type(&value.r#type, None).ok();
    let leaf = leaf_of(&value.r#type);
    let leaf_size = leaf.size().unwrap_or(size).max(1);
    let is_divided = is_range || whole.is_none() && leaf_size < size;
    let elements = if is_divided {
        Elements {
            size: leaf_size,
            count: size / leaf_size,
            first,
            decode: decode_type(&leaf, None).ok(),
        }
    } else {
        Elements {
            size,
            count: 1,
            first,
            decode: whole,
        }
    };
    Ok((range, elements))
}

/// Returns the type of the innermost elements of an array.
fn leaf_of(whole: &Type) -> Type {
    let mut r#type = whole.clone();
    while let TypeKind::Array { element, .. } = r#type.strip().kind() {
        r#type = element.clone();
    }
    r#type
}

impl MemoryLocation {
    /// Returns the ranges to watch: one for each of a few elements, so that debug registers can
    /// attribute accesses; otherwise the complete range.
    pub fn watched_parts(&self) -> SmallVec<[Range<u64>; 4]> {
        let Some(range) = &self.range else {
            return SmallVec::new();
        };
        if self.elements.count > ELEMENTS_BY_REGISTER {
            return SmallVec::from_iter([range.clone()]);
        }
        let size = self.elements.size;
        (0..self.elements.count)
            .map(|element| {
                let start = range.start + element * size;
                start..start + size
            })
            .collect()
    }

    /// Returns whether accesses have to be reported by byte, which debug registers cannot do.
    pub fn needs_exact_bytes(&self) -> bool {
        self.elements.count > ELEMENTS_BY_REGISTER
    }

    /// Returns the elements that an access to these bytes touched. If the bytes are unknown,
    /// returns the elements that differ from `now`, or the only element.
    pub fn touched<'a>(
        &'a self,
        bytes: Option<(u64, u64)>,
        now: &'a [u8],
    ) -> impl Iterator<Item = u64> + 'a {
        let start = self.range.as_ref().map_or(0, |range| range.start);
        let size = self.elements.size;
        (0..self.elements.count).filter(move |element| match bytes {
            Some((first, length)) => {
                let begin = start.saturating_add(element * size);
                first < begin.saturating_add(size) && begin < first.saturating_add(length)
            }
            None => self.elements.count == 1 || self.differs(*element, now),
        })
    }

    /// Returns whether an element has another value now.
    pub fn differs(&self, element: u64, now: &[u8]) -> bool {
        match self.elements.decode {
            Some(_) => self.value_in(element, &self.bytes) != self.value_in(element, now),
            None => self.part(element, &self.bytes) != self.part(element, now),
        }
    }

    fn part<'a>(&self, element: u64, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let start = usize::try_from(element * self.elements.size).ok()?;
        let size = usize::try_from(self.elements.size).ok()?;
        bytes.get(start..start.saturating_add(size))
    }

    /// Updates the stored bytes in a range, or all of them if the range is unknown.
    pub fn take_bytes(&mut self, bytes: Option<(u64, u64)>, now: &[u8]) {
        let start = self.range.as_ref().map_or(0, |range| range.start);
        let Some((first, length)) = bytes else {
            self.bytes = now.to_vec();
            return;
        };
        let from = usize::try_from(first.saturating_sub(start)).unwrap_or(usize::MAX);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = self.bytes.iter_mut().zip(now).skip(from).take(length);
        bytes.for_each(|(location, now)| *location = *now);
    }

    /// Returns the address of an element.
    pub fn address(&self, element: u64) -> u64 {
        let start = self.range.as_ref().map_or(0, |range| range.start);
        start.wrapping_add(element.wrapping_mul(self.elements.size))
    }

    /// Returns the index of an element as the property counts it.
    pub fn index(&self, element: u64) -> i64 {
        self.elements.first.saturating_add_unsigned(element)
    }

    /// Returns the value of an element in these bytes of the location.
    pub fn value_in(&self, element: u64, bytes: &[u8]) -> Value {
        let (Some(decode), Some(range)) = (self.elements.decode, &self.range) else {
            return Value::Unavailable(Unavailability::NotCaptured);
        };
        let memory = BytesAt {
            start: range.start,
            bytes,
        };
        let plan = ReadPlan {
            source: Source::Absolute {
                address: self.address(element),
            },
            follow: SmallVec::new(),
            // Text behind a pointer may have changed since.
            decode: match decode {
                Decode::StringPointer(_) => Decode::Address,
                decode => decode,
            },
        };
        plan.read(&memory, 0)
    }
}

/// The most elements that get a debug register each.
const ELEMENTS_BY_REGISTER: u64 = 4;

/// Sorts ranges and removes duplicates.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges.dedup();
    ranges
}

/// The names of an event without a call: global variables. In a call, also its root variable.
struct GlobalScope<'a> {
    program: &'a Program,
    /// The variable of a call that the location begins with, and its name.
    root: Option<(&'a Typed, &'a str)>,
    reach: &'a Reach,
    /// The ranges that were read on the path.
    reads: RefCell<Vec<Range<u64>>>,
    has_failed: Cell<bool>,
    help: RefCell<Option<String>>,
    is_absent: Cell<bool>,
}

impl Memory for GlobalScope<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let is_read = self.program.debuggee.read(address, buffer).is_ok();
        if is_read {
            let end = address.saturating_add(buffer.len() as u64);
            self.reads.borrow_mut().push(address..end);
        } else {
            self.has_failed.set(true);
        }
        is_read
    }

    fn vtable_owner(&self, address: u64) -> Option<VtableOwner> {
        self.program.vtable_owner(address)
    }
}

impl GlobalScope<'_> {
    fn modules(&self) -> impl Iterator<Item = &Module> {
        let modules = self.program.modules.iter();
        modules
            .filter(|module| module.is_reached(self.reach))
            .map(|module| &**module)
    }

    fn missing(&self, name: &str) -> String {
        let modules = &self.program.modules;
        let has_no_address = |module: &Module| {
            let mut found = module.symbols.globals_named(name);
            // A variable of a library that was optimized out is not chosen.
            found.retain(|variable| module.is_main || !variable.location.is_nowhere());
            !found.is_empty()
                && found
                    .iter()
                    .all(|variable| static_address(variable, module, modules).is_none())
        };
        if self.modules().any(has_no_address) {
            return format!(
                "`{name}` has no address of its own: every thread has another, or the compiler \
                 removed it"
            );
        }
        self.is_absent.set(true);
        let mut names: Vec<String> = Vec::new();
        let is_one = matches!(self.reach, Reach::Module(_));
        for module in self.modules().filter(|module| is_one || module.is_main) {
            names.extend(module.symbols.global_names());
        }
        let near = juror_language::suggest_qualified(name, names.iter().map(String::as_str));
        let is_local = |module: &Module| {
            module.is_main && !name.contains("::") && module.symbols.has_local_named(name)
        };
        let help = if self.modules().any(is_local) {
            Some(format!(
                "`{name}` is a variable of a function: write `FUNCTION::{name}`, or declare an \
                 event about a call of that function"
            ))
        } else {
            near.map(|near| format!("did you mean `{near}`?"))
        };
        self.help.replace(help);
        match self.reach {
            Reach::Module(module) => format!("`{module}` has no global variable `{name}`"),
            _ => format!("the program has no global variable `{name}`"),
        }
    }
}

impl Scope for GlobalScope<'_> {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        if let Some((root, written)) = self.root
            && name == written
        {
            return Ok(root.clone());
        }
        // A thread-local variable would differ between threads.
        let context = VariableContext {
            program: self.program,
            thread: None,
        };
        let is_reached = |module: &Module| module.is_reached(self.reach);
        let found = Place::new(&self.program.modules, None, 0, "").find_in(name, &is_reached)?;
        let is_restricted = matches!(self.reach, Reach::Module(_) | Reach::Library);
        if let Some(elsewhere) = found.as_ref().filter(|it| it.is_private()) {
            let module = elsewhere.module.name();
            if !is_restricted {
                self.help.replace(Some(format!(
                    "{module} has one: `in \"{module}\"` means it"
                )));
                self.is_absent.set(true);
                return Err(format!("the program has no global variable `{name}`").into());
            }
        }
        let found = found
            .and_then(|meaning| meaning.value(context))
            .filter(|found| !matches!(found.location, Location::Missing(_)));
        found.ok_or_else(|| self.missing(name).into())
    }

    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        Err(format!("`${name}` belongs to a thread, and is no place in memory").into())
    }

    fn argument(&self, position: u8) -> Result<Typed, ValueError> {
        Err(format!("`arg {position}` belongs to a call, and this event has none").into())
    }

    fn returned(&self) -> Result<Typed, ValueError> {
        Err("`ret` belongs to a call, and this event has none".into())
    }

    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        Err("`^` belongs to a call, and this event has none".into())
    }

    /// Returns `None`: a library may move its elements, but a location must not change by itself.
    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        None
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        self.modules()
            .filter(|module| module.symbols.has_debug_info())
            .find_map(|module| module.symbols.type_named(name))
            .or_else(|| Type::builtin(name))
    }

    fn memory(&self) -> &dyn Memory {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(count: u64, bytes: &[u8]) -> MemoryLocation {
        MemoryLocation {
            range: Some(0x100..0x100 + bytes.len() as u64),
            path: Vec::new(),
            elements: Elements {
                size: 2,
                count,
                first: 10,
                decode: Some(Decode::Signed(2)),
            },
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn an_access_touches_the_elements_that_it_overlaps() {
        let sight = sight(3, &[1, 0, 2, 0, 3, 0]);
        for (bytes, now, expected) in [
            (Some((0x102, 2)), [1, 0, 9, 0, 3, 0], vec![1]),
            (Some((0x101, 2)), [1, 0, 2, 0, 3, 0], vec![0, 1]),
            (Some((0x100, 6)), [1, 0, 2, 0, 3, 0], vec![0, 1, 2]),
            (Some((0x106, 2)), [1, 0, 2, 0, 3, 0], vec![]),
            (None, [1, 0, 2, 0, 4, 0], vec![2]),
            (None, [1, 0, 2, 0, 3, 0], vec![]),
        ] {
            let touched: Vec<u64> = sight.touched(bytes, &now).collect();
            assert_eq!(touched, expected, "{bytes:?}");
        }
        let single = MemoryLocation {
            bytes: vec![1, 0],
            range: Some(0x100..0x102),
            ..self::sight(1, &[1, 0])
        };
        assert_eq!(single.touched(None, &[1, 0]).count(), 1);
    }

    #[test]
    fn elements_have_addresses_indices_and_values() {
        let sight = sight(3, &[1, 0, 0xff, 0xff, 3, 0]);
        assert_eq!(sight.address(2), 0x104);
        assert_eq!(sight.index(2), 12);
        assert_eq!(sight.value_in(1, &sight.bytes), Value::Int(-1));
        assert!(sight.differs(1, &[1, 0, 0xfe, 0xff, 3, 0]));
        assert!(!sight.differs(0, &[1, 0, 0xfe, 0xff, 3, 0]));
        assert_eq!(sight.watched_parts().len(), 3);
        assert!(!sight.needs_exact_bytes());
    }

    fn int() -> Type {
        Type::builtin("int").expect("a type")
    }

    /// Returns the number and size of the elements of a value, and whether each has a value.
    fn divided(r#type: Type, is_range: bool) -> Option<(u64, u64, bool)> {
        let value = Typed::in_memory(r#type, 0x100);
        let (_, elements) = shape(&value, is_range, 0).ok()?;
        Some((elements.count, elements.size, elements.decode.is_some()))
    }

    #[test]
    fn an_array_is_divided_into_its_innermost_elements() {
        let structure = || juror_symbols::signal_information().expect("a structure");
        let text = || Type::builtin("char").expect("a type").array_of(8);
        for (r#type, is_range, expected) in [
            (int(), false, (1, 4, true)),
            (int().pointer_to(), false, (1, 8, true)),
            (int().array_of(3), false, (3, 4, true)),
            (int().array_of(2).array_of(3), false, (6, 4, true)),
            // Text is one value unless its elements are asked for.
            (text(), false, (1, 8, true)),
            (text(), true, (8, 1, true)),
            (structure(), false, (1, 128, false)),
            (structure().array_of(2), false, (2, 128, false)),
        ] {
            let name = r#type.name();
            assert_eq!(divided(r#type, is_range), Some(expected), "{name}");
        }
    }

    #[test]
    fn only_a_value_in_memory_with_a_size_is_watched() {
        assert_eq!(divided(Type::void(), false), None);
        let most = VALUE_SIZE_MAX / 4;
        assert!(divided(int().array_of(most), false).is_some());
        assert_eq!(divided(int().array_of(most + 1), false), None);
        let computed = Typed::of_bytes(int(), vec![0; 4]);
        let error = shape(&computed, false, 0).expect_err("a refusal");
        assert!(error.message.contains("not a place in memory"));
        assert!(error.help.is_some());
    }

    #[test]
    fn a_bit_field_is_watched_by_the_bytes_that_hold_it() {
        let field = Typed {
            bits: Some(BitField {
                offset_bits: 11,
                size_bits: 7,
            }),
            ..Typed::in_memory(int(), 0x100)
        };
        let (range, elements) = shape(&field, false, 0).expect("a shape");
        assert_eq!(range, 0x101..0x103);
        assert_eq!((elements.count, elements.size), (1, 2));
        let expected = Decode::SignedBits {
            bytes: 2,
            shift: 3,
            bits: 7,
        };
        assert_eq!(elements.decode, Some(expected));
    }

    #[test]
    fn a_location_begins_with_its_variable() {
        for (text, expected) in [
            ("count", Some("count")),
            ("queue->items[3].id", Some("queue")),
            ("board[0..81]", Some("board")),
            ("*(int *)buffer", Some("buffer")),
            ("*(int *)4096", None),
        ] {
            let location = LocationExpression::parse(text, Reach::Anywhere).expect("a location");
            assert_eq!(location.root(), expected, "{text}");
        }
        assert!(LocationExpression::parse("queue->", Reach::Anywhere).is_err());
    }

    #[test]
    fn many_elements_are_watched_as_one_range() {
        let four = sight(4, &[0; 8]);
        assert_eq!(four.watched_parts()[..2], [0x100..0x102, 0x102..0x104]);
        assert!(!four.needs_exact_bytes());
        let five = sight(5, &[0; 10]);
        assert_eq!(five.watched_parts()[..], [0x100..0x10a; 1]);
        assert!(five.needs_exact_bytes());
        let absent = MemoryLocation {
            range: None,
            ..sight(2, &[])
        };
        assert!(absent.watched_parts().is_empty());
    }

    #[test]
    fn stored_bytes_are_updated_where_the_access_was() {
        let now = [9; 6];
        for (bytes, expected) in [
            (Some((0x102, 2)), [1, 1, 9, 9, 1, 1]),
            (Some((0x104, 8)), [1, 1, 1, 1, 9, 9]),
            (Some((0x200, 2)), [1; 6]),
            (None, [9; 6]),
        ] {
            let mut location = sight(3, &[1; 6]);
            location.take_bytes(bytes, &now);
            assert_eq!(location.bytes, expected, "{bytes:?}");
        }
    }

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "lists of ranges")]
    fn pointers_on_the_path_are_listed_once() {
        let ranges = vec![8..16, 0..8, 8..16, 4..8];
        assert_eq!(joined(ranges), [0..8, 4..8, 8..16]);
        assert_eq!(joined(vec![8..16, 8..16]), [8..16]);
    }
}
