//! Finds the value whose parts are shown: behind pointers, library types, and up to the complete
//! object.

use super::members::{fields, members};
use super::{Container, Kind, Opened, Part, Path, Reader, Role};
use crate::classes::trait_objects::concrete;
use crate::classes::upcast::whole_object;
use crate::expression::array_length;
use crate::pretty_printers::{count_of, is_plausible, viewed};
use crate::standard_types::Shown;
use crate::typed::{Location, Number, Typed};
use juror_symbols::{Composite, Type, TypeKind};

/// The most values that stand in the place of one another.
const STEPS_MAX: usize = 16;

/// Opens a value. If `is_of_object` is set, the value is a part of an object and is not cast to the
/// complete object.
pub fn open(value: &Typed, path: &Path, is_of_object: bool, reader: Reader<'_>) -> Opened {
    let mut way = Way {
        value: value.clone(),
        path: path.clone(),
        index_path: path.clone(),
        is_of_object,
        target: None,
        reader,
    };
    for _ in 0..STEPS_MAX {
        if let Step::Found(kind) = way.step() {
            return Opened(way.end(kind));
        }
    }
    Opened(way.end(Kind::Plain))
}

/// The search from a value to the one whose parts are shown.
struct Way<'a> {
    value: Typed,
    path: Path,
    /// The path that elements are indexed by: the value that holds an array is indexed like the
    /// array.
    index_path: Path,
    is_of_object: bool,
    /// The target of the pointer that was followed: the only part if the target has no parts
    /// itself.
    target: Option<Part>,
    reader: Reader<'a>,
}

enum Step {
    /// Another value takes its place.
    On,
    Found(Kind),
}

const PLAIN: Step = Step::Found(Kind::Plain);

impl Way<'_> {
    fn end(&mut self, kind: Kind) -> Kind {
        let is_empty = match &kind {
            Kind::Plain => true,
            Kind::Named(parts) => parts.is_empty(),
            Kind::Array { count, .. } => *count == 0,
            Kind::Container(container) => container.count == 0,
        };
        match self.target.take() {
            Some(target) if is_empty => Kind::Named(vec![target]),
            _ => kind,
        }
    }

    fn step(&mut self) -> Step {
        if matches!(self.value.location, Location::Missing(_)) {
            return PLAIN;
        }
        let r#type = self.value.r#type.strip();
        match r#type.kind() {
            TypeKind::Composite(composite) => self.composite(&composite),
            TypeKind::Array { dimensions, .. } => self.array(&r#type, &dimensions),
            TypeKind::Pointer(_) => match self.by_view() {
                Some(step) => step,
                None => self.pointer(),
            },
            TypeKind::Reference(target) => self.reference(target),
            _ => PLAIN,
        }
    }

    fn go_on(&mut self, value: Typed, path: Path) -> Step {
        self.value = value;
        self.index_path = path.clone();
        self.path = path;
        self.is_of_object = false;
        Step::On
    }

    /// Continues with the target of a pointer. A second pointer on the way becomes a part.
    fn follow(&mut self, target: Typed, path: Path) -> Step {
        if self.target.is_some() {
            return PLAIN;
        }
        self.target = Some(Part {
            role: Role::Target,
            value: target.clone(),
            path: path.clone(),
        });
        self.go_on(target, path)
    }

    fn pointer(&mut self) -> Step {
        let Ok(Number::Pointer(address, target)) = self.value.number(self.reader.memory) else {
            return PLAIN;
        };
        let leads_on = target.size().is_some() || is_endless_array(&target);
        if address == 0 || !leads_on {
            return PLAIN;
        }
        let path = self.path.target();
        self.follow(Typed::in_memory(target, address), path)
    }

    fn reference(&mut self, target: Type) -> Step {
        match self.value.number(self.reader.memory) {
            Ok(Number::Pointer(address, _)) => {
                let path = self.path.clone();
                self.go_on(Typed::in_memory(target, address), path)
            }
            _ => PLAIN,
        }
    }

    fn array(&mut self, r#type: &Type, dimensions: &[Option<u64>]) -> Step {
        let count = match dimensions.first() {
            // The elements have addresses only if the size of the array fits in 64 bits.
            Some(Some(count)) if array_length(r#type).is_some() || *count == 0 => *count,
            _ => return PLAIN,
        };
        Step::Found(Kind::Array {
            array: self.value.clone(),
            path: self.index_path.clone(),
            count,
        })
    }

    fn composite(&mut self, composite: &Composite) -> Step {
        let Reader { memory, is_raw, .. } = self.reader;
        if composite.incomplete {
            return PLAIN;
        }
        if let Some(step) = self.by_view() {
            return step;
        }
        if is_raw {
            return self.members(composite);
        }
        if !is_plausible(&self.value, memory) {
            return PLAIN;
        }
        if self.value.r#type.is_rust() {
            return self.rust(composite);
        }
        if !self.is_of_object
            && let Some(whole) = whole_object(&self.value, memory)
            && whole.r#type.composite().is_some()
        {
            let path = self.path.seen_as(&whole.r#type);
            self.go_on(whole, path);
            // It is the complete object.
            self.is_of_object = true;
            return Step::On;
        }
        self.members(composite)
    }

    fn members(&self, composite: &Composite) -> Step {
        let parts = members(&self.value, &self.path, composite, self.reader);
        Step::Found(Kind::Named(parts))
    }

    fn rust(&mut self, composite: &Composite) -> Step {
        let Reader { memory, names, .. } = self.reader;
        match self.value.variant(memory) {
            Err(_) => return PLAIN,
            Ok(None) => {}
            Ok(Some(chosen)) => {
                let inner = self.value.member(&chosen);
                let Some(composite) = inner.r#type.composite() else {
                    return PLAIN;
                };
                let parts = fields(&inner, &self.path, &composite, self.reader);
                return Step::Found(Kind::Named(parts));
            }
        }
        let of_table = |address| names.type_of_table(address);
        if let Some(object) = concrete(&self.value, memory, of_table) {
            let path = self.path.target();
            return self.follow(object, path);
        }
        let parts = fields(&self.value, &self.path, composite, self.reader);
        Step::Found(Kind::Named(parts))
    }

    /// Takes the step that a pretty-printer gives, or returns `None` if none fits the value.
    fn by_view(&mut self) -> Option<Step> {
        let Reader {
            memory,
            names,
            is_raw,
            walks,
        } = self.reader;
        if is_raw {
            return None;
        }
        let types = |name: &str| names.type_named(name);
        let (printer, shown) = viewed(&self.value, names.pretty_printers(), memory, &types)?;
        let known = match &shown {
            Shown::Value(inner) => {
                let index_path = self.index_path.clone();
                let path = self.path.target();
                let step = self.go_on(inner.clone(), path);
                self.index_path = index_path;
                return Some(step);
            }
            Shown::At(_, inner) => {
                let path = self.path.target();
                return Some(self.follow(inner.clone(), path));
            }
            Shown::String { .. } | Shown::Word(_) => return Some(PLAIN),
            Shown::List(elements, more) | Shown::Set(elements, more) => (elements.len(), *more),
            Shown::Map(entries, more) => (entries.len(), *more),
            Shown::Tuple(elements) => (elements.len(), false),
        };
        let count = match known {
            (count, false) => count,
            (least, true) => count_of(&self.value, &printer, memory, &types, walks).max(least),
        };
        Some(Step::Found(Kind::Container(Box::new(Container {
            value: self.value.clone(),
            path: self.index_path.clone(),
            printer,
            count: count as u64,
        }))))
    }
}

/// Returns whether a type is an array of unknown length.
fn is_endless_array(r#type: &Type) -> bool {
    matches!(r#type.strip().kind(), TypeKind::Array { .. })
}
