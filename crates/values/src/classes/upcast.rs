//! Casts of objects between a class and its base classes.
//!
//! As in C++, a base class is found only if the class has exactly one base of that name. All parts
//! that are derived from a virtual base share it, and its offset is only in the object's virtual
//! table.
//!
//! Invariant: no address is guessed. Memory that does not hold a constructed object of the class
//! has no such table, and gives an error.

use crate::error::ValueError;
use crate::typed::{Location, Number, Typed};
use juror_symbols::{Base, Memory, Type, TypeKind, VirtualStep, VtableOwner};

/// The greatest depth of derivation that is searched.
const DEPTH_MAX: u32 = 32;
/// The most classes that are searched for a base: a bound for damaged types, which may be derived
/// from themselves.
const CLASSES_MAX: u32 = 10_000;

/// The path to a part of an object: the virtual bases on the way, in order, and the offset of the
/// part from the last one, or from the object.
#[derive(Debug, Clone, Default)]
struct BasePath {
    /// The number of derivations from the class to the base.
    steps: u32,
    through: Vec<VirtualStep>,
    offset: u64,
}

impl BasePath {
    /// Returns whether both paths lead to the same part: a class has one virtual base of a name.
    fn is_same_part(&self, other: &BasePath) -> bool {
        let last = |path: &BasePath| path.through.last().map(|step| step.base.r#type.name());
        self.offset == other.offset && last(self) == last(other)
    }

    fn derived(&self, class: &Type, base: &Base) -> Option<BasePath> {
        let mut path = self.clone();
        path.steps += 1;
        match base.offset {
            Some(offset) => path.offset = path.offset.checked_add(offset)?,
            None => {
                path.through.push(VirtualStep {
                    offset: path.offset,
                    class: class.clone(),
                    base: base.clone(),
                });
                path.offset = 0;
            }
        }
        Some(path)
    }

    /// Returns the address of the part in the object at `object`.
    fn from(&self, object: u64, memory: &dyn Memory) -> Result<u64, ValueError> {
        let start = through(&self.through, object, memory)?;
        Ok(start.wrapping_add(self.offset))
    }
}

/// Returns the paths from a class to its base class `base`, one for each part.
fn base_paths(class: &Type, base: &Type) -> Vec<BasePath> {
    let mut found = Vec::new();
    let start = BasePath::default();
    let mut budget = CLASSES_MAX;
    search(class, &base.strip().name(), start, &mut budget, &mut found);
    found
}

fn search(class: &Type, wanted: &str, path: BasePath, budget: &mut u32, found: &mut Vec<BasePath>) {
    let Some(left) = budget.checked_sub(1) else {
        return;
    };
    *budget = left;
    let class = class.strip();
    if class.name() == wanted {
        if !found.iter().any(|known| known.is_same_part(&path)) {
            found.push(path);
        }
        return;
    }
    let Some(composite) = class.composite().filter(|_| path.steps < DEPTH_MAX) else {
        return;
    };
    for base in &composite.bases {
        if let Some(path) = path.derived(&class, base) {
            search(&base.r#type, wanted, path, budget, found);
        }
    }
}

/// Returns the number of derivations between a class and its base class `base`, 0 for the class
/// itself. Returns `None` if the class has no such base, or several.
pub(crate) fn base_steps(class: &Type, base: &Type) -> Option<u32> {
    match base_paths(class, base).as_slice() {
        [path] => Some(path.steps),
        _ => None,
    }
}

/// Follows steps through virtual base classes from the object at an address. Returns the address of
/// the last base.
pub(crate) fn through(
    steps: &[VirtualStep],
    object: u64,
    memory: &dyn Memory,
) -> Result<u64, ValueError> {
    steps.iter().try_fold(object, |at, step| {
        virtual_part(
            at.wrapping_add(step.offset),
            &step.class,
            &step.base,
            memory,
        )
    })
}

/// Returns the address of a virtual base class in the object of `class` at `object`.
pub(crate) fn virtual_part(
    object: u64,
    class: &Type,
    base: &Base,
    memory: &dyn Memory,
) -> Result<u64, ValueError> {
    // A class with virtual bases begins with the pointer to its table.
    let table = word(object, memory)?;
    let (wanted, part) = (class.strip().name(), base.r#type.strip().name());
    let Some(owner) = memory.vtable_owner(table) else {
        return Err(format!(
            "its virtual base class `{part}` cannot be located: there is no constructed object of \
             `{wanted}` at {object:#x}"
        )
        .into());
    };
    if !is_of(&owner, class) {
        return Err(format!(
            "its virtual base class `{part}` cannot be located: the object at {object:#x} has the \
             class `{}`, which is not derived from `{wanted}`",
            owner.name
        )
        .into());
    }
    let found = base.address_in(object, memory);
    found.map_err(|why| {
        ValueError::from(why).within(format!("its virtual base class `{part}` cannot be located"))
    })
}

/// Returns whether objects with this table are of a class or of one derived from it. A table whose
/// class has no known type counts as derived.
fn is_of(owner: &VtableOwner, class: &Type) -> bool {
    *owner.name == *class.strip().name()
        || (owner.r#type.as_ref()).is_none_or(|found| !base_paths(found, class).is_empty())
}

/// Returns whether an object with this table is of a class, so that the table gives the offsets of
/// its virtual bases.
pub fn is_object(table: u64, class: &Type, memory: &dyn Memory) -> bool {
    (memory.vtable_owner(table)).is_some_and(|owner| is_of(&owner, class))
}

fn word(address: u64, memory: &dyn Memory) -> Result<u64, ValueError> {
    let mut bytes = [0; 8];
    if memory.read(address, &mut bytes) {
        Ok(u64::from_le_bytes(bytes))
    } else {
        Err(ValueError::Unreadable(address))
    }
}

/// Follows a C++ reference. Other values are returned unchanged.
pub fn referred_to(value: &Typed, memory: &dyn Memory) -> Result<Typed, ValueError> {
    let TypeKind::Reference(target) = value.r#type.strip().kind() else {
        return Ok(value.clone());
    };
    if value.r#type.is_rust() {
        return Ok(value.clone());
    }
    match value.number(memory)? {
        Number::Pointer(address, _) => Ok(Typed::in_memory(target, address)),
        _ => Err(format!(
            "a value of type `{}` is not a reference",
            value.r#type.name()
        )
        .into()),
    }
}

/// Returns the part of an object in memory that is its base class `base`, or the object itself if
/// that is its class. Returns `None` if the class has no such base, or several.
///
/// # Errors
/// The class has the base, and its address cannot be computed.
pub fn base_part(
    value: &Typed,
    base: &Type,
    memory: &dyn Memory,
) -> Result<Option<Typed>, ValueError> {
    let Location::Memory(address) = value.location else {
        return Ok(None);
    };
    match base_paths(&value.r#type, base).as_slice() {
        [path] => {
            let start = path.from(address, &value.memory(memory))?;
            Ok(Some(value.related(base.clone(), start)))
        }
        _ => Ok(None),
    }
}

/// Returns the offset in bytes of the base class `base` in `class`, or `None` if it has no such
/// base.
///
/// # Errors
/// The class has the base several times, or has it as a virtual one, whose offset differs between
/// objects.
pub(crate) fn base_offset(class: &Type, base: &Type) -> Result<Option<u64>, ValueError> {
    match base_paths(class, base).as_slice() {
        [] => Ok(None),
        [path] if path.through.is_empty() => Ok(Some(path.offset)),
        [_] => {
            let (base, class) = (base.strip().name(), class.strip().name());
            Err(format!("`{base}` is a virtual base class of `{class}`").into())
        }
        _ => Err(several(base, class).into()),
    }
}

fn is_class(of: &Type) -> bool {
    matches!(of.strip().kind(), TypeKind::Composite(_))
}

/// Casts the address of an object from the class `from` to the class `to`, as C++ does: to the part
/// if `from` is derived from `to`, to the whole object if `to` is derived from `from`. Null stays
/// null, and unrelated classes keep the address.
pub fn cast_address(
    address: u64,
    from: &Type,
    to: &Type,
    memory: &dyn Memory,
) -> Result<u64, ValueError> {
    if address == 0 || !is_class(from) || !is_class(to) {
        return Ok(address);
    }
    match base_paths(from, to).as_slice() {
        [] => {}
        [path] => return path.from(address, memory),
        _ => return Err(several(to, from).into()),
    }
    match base_paths(to, from).as_slice() {
        [] => Ok(address),
        [path] if path.through.is_empty() => Ok(address.wrapping_sub(path.offset)),
        // Only the dynamic type of the object gives the address of the whole.
        _ => whole_as(address, from, to, memory),
    }
}

/// Casts two addresses to the class that is the base of the other, so that they can be compared.
pub(crate) fn as_one_class(
    (first, of_first): (u64, &Type),
    (second, of_second): (u64, &Type),
    memory: &dyn Memory,
) -> Result<(u64, u64), ValueError> {
    match base_steps(of_second, of_first) {
        Some(_) => {
            let second = cast_address(second, of_second, of_first, memory)?;
            Ok((first, second))
        }
        None => {
            let first = cast_address(first, of_first, of_second, memory)?;
            Ok((first, second))
        }
    }
}

fn several(base: &Type, derived: &Type) -> String {
    let (base, derived) = (base.strip().name(), derived.strip().name());
    format!(
        "`{base}` is a base class of `{derived}` several times: the types do not tell which is \
         meant; a cast through `(char *)` keeps the address"
    )
}

/// Returns the address of the `to` in the complete object around the part at `address`. `from` is
/// the class of the part.
fn whole_as(address: u64, from: &Type, to: &Type, memory: &dyn Memory) -> Result<u64, ValueError> {
    let unknown = |why: &str| {
        let (base, derived) = (from.strip().name(), to.strip().name());
        format!("`{base}` is a virtual or repeated base class of `{derived}`, and {why}")
    };
    if !from.has_vtable() {
        return Err(unknown(
            "its objects have no virtual table, which would give the complete object; a cast \
             through `(char *)` keeps the address",
        )
        .into());
    }
    let table = word(address, memory)?;
    let owner = memory.vtable_owner(table);
    let Some(whole) = owner.and_then(|owner| owner.r#type) else {
        return Err(unknown(&format!(
            "there is no constructed object of a known class at {address:#x}"
        ))
        .into());
    };
    // The offset to the complete object is two words before the address point of the table.
    let distance = word(table.wrapping_sub(16), memory)?;
    let start = address.wrapping_add(distance);
    match base_paths(&whole, to).as_slice() {
        [path] => path.from(start, memory),
        [] => Err(unknown(&format!(
            "the object at {start:#x} has the class `{}`, which is not derived from `{}`",
            whole.name(),
            to.strip().name()
        ))
        .into()),
        _ => Err(several(to, &whole).into()),
    }
}

/// Returns the complete object that a C++ object is a part of, by its virtual table. Returns `None`
/// if the value is the complete object, or if the table or its class is unknown.
pub(crate) fn whole_object(value: &Typed, memory: &dyn Memory) -> Option<Typed> {
    let Location::Memory(address) = value.location else {
        return None;
    };
    if value.r#type.is_rust() || !value.r#type.has_vtable() {
        return None;
    }
    let memory = &value.memory(memory);
    let table = word(address, memory).ok()?;
    let owner = memory.vtable_owner(table)?;
    if *owner.name == *value.r#type.strip().name() {
        return None;
    }
    let whole = owner.r#type?;
    let start = address.wrapping_add(word(table.wrapping_sub(16), memory).ok()?);
    let mut parts = base_paths(&whole, &value.r#type).into_iter();
    let is_part = parts.any(|path| path.from(start, memory) == Ok(address));
    is_part.then(|| value.related(whole, start))
}

/// Returns whether a cast of a pointer may change the address.
pub fn moves_address(from: &Type, to: &Type) -> bool {
    let stays = |base_paths: &[BasePath]| match base_paths {
        [] => true,
        [path] => path.through.is_empty() && path.offset == 0,
        _ => false,
    };
    is_class(from)
        && is_class(to)
        && !(stays(&base_paths(from, to)) && stays(&base_paths(to, from)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::NoMemory;

    #[test]
    fn other_types_than_classes_keep_the_address() {
        let int = Type::builtin("int").unwrap();
        assert_eq!(cast_address(8, &int, &Type::void(), &NoMemory), Ok(8));
        assert!(!moves_address(&int, &int));
    }
}
