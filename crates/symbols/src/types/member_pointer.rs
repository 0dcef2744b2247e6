//! C++ pointers to members (*Itanium C++ ABI*, section 2.3).
//!
//! A pointer to a data member is its offset from the start of the class; -1 is null. A
//! pointer to a member function is two words: the function's address, or for a virtual
//! function its offset in the vtable in bytes plus one; then the adjustment of `this`.

use super::{Field, Method, TYPE_DEPTH_MAX, Type, TypeKind};

/// The maximum depth of inheritance searched.
const DERIVED_MAX: usize = TYPE_DEPTH_MAX / 4;
/// The maximum number of classes searched; damaged types may be derived from themselves.
const CLASSES_MAX: usize = 10_000;

/// The remaining budget of a search through classes.
struct Search {
    depth: usize,
    classes: usize,
}

impl Search {
    fn new() -> Search {
        Search {
            depth: DERIVED_MAX,
            classes: CLASSES_MAX,
        }
    }

    /// Runs `look` on one more class, one level deeper.
    fn within<T>(&mut self, look: impl FnOnce(&mut Search) -> Option<T>) -> Option<T> {
        self.classes = self.classes.checked_sub(1)?;
        self.depth = self.depth.checked_sub(1)?;
        let found = look(self);
        self.depth += 1;
        found
    }
}

/// A member of a class or of one of its bases, with the class that declares it.
#[derive(Debug, Clone)]
pub struct DeclaredField {
    /// The declaring class; members of its anonymous members count as its own.
    pub class: Type,
    /// The member, its offset relative to that class.
    pub field: Field,
}

/// Returns the size in bytes of a pointer to a member of this type.
pub(super) fn size_to(member: &Type) -> u64 {
    match member.strip().kind() {
        TypeKind::Function { .. } => 16,
        _ => 8,
    }
}

impl Type {
    /// Returns the member with this name and the class that declares it: this one, or one
    /// of its bases.
    pub fn declared_field(&self, name: &str) -> Option<DeclaredField> {
        let is_meant = |field: &Field| field.name.as_deref() == Some(name);
        self.declared_within(&is_meant, &mut Search::new())
    }

    fn declared_within(
        &self,
        is_meant: &dyn Fn(&Field) -> bool,
        search: &mut Search,
    ) -> Option<DeclaredField> {
        search.within(|search| {
            let class = self.strip();
            let mut own = class.plain_fields(search).into_iter();
            if let Some(field) = own.find(is_meant) {
                return Some(DeclaredField { class, field });
            }
            let composite = class.composite()?;
            let mut bases = composite.bases.iter();
            bases.find_map(|base| base.r#type.declared_within(is_meant, search))
        })
    }

    /// Returns the member of a C++ class that begins at `offset` and has the type `member`.
    /// Bit fields are excluded.
    pub fn field_at(&self, offset: u64, member: &Type) -> Option<DeclaredField> {
        self.field_at_within(offset, &member.normalized_name(), &mut Search::new())
    }

    fn field_at_within(
        &self,
        offset: u64,
        wanted: &str,
        search: &mut Search,
    ) -> Option<DeclaredField> {
        search.within(|search| {
            let class = self.strip();
            let is_meant = |field: &Field| {
                let is_there = field.offset == offset && field.bits.is_none();
                is_there && field.r#type.normalized_name() == wanted
            };
            let mut own = class.plain_fields(search).into_iter();
            if let Some(field) = own.find(is_meant) {
                return Some(DeclaredField { class, field });
            }
            let composite = class.composite()?;
            let mut bases = composite.bases.iter();
            bases.find_map(|base| {
                let inside = offset.checked_sub(base.offset?)?;
                base.r#type.field_at_within(inside, wanted, search)
            })
        })
    }

    /// Returns the virtual function with this slot number in the vtable of the subobject at
    /// `offset`.
    pub fn method_in_slot(&self, offset: u64, slot: u64) -> Option<Method> {
        self.method_in_slot_within(offset, slot, &mut Search::new())
    }

    fn method_in_slot_within(&self, offset: u64, slot: u64, search: &mut Search) -> Option<Method> {
        search.within(|search| {
            if offset == 0 {
                let mut own = self.own_methods().into_iter();
                // A destructor has two slots, and no pointer to a member can refer to it.
                let is_meant =
                    |method: &Method| method.slot == Some(slot) && !method.name.starts_with('~');
                if let Some(found) = own.find(is_meant) {
                    return Some(found);
                }
            }
            // A class shares the vtable of the base at its start and appends to it.
            self.composite()?.bases.iter().find_map(|base| {
                let inside = offset.checked_sub(base.offset?)?;
                let has_vtable = base.r#type.has_vtable();
                let found = || base.r#type.method_in_slot_within(inside, slot, search);
                has_vtable.then(found).flatten()
            })
        })
    }

    /// Returns the named members, including those of anonymous members.
    fn plain_fields(&self, search: &mut Search) -> Vec<Field> {
        let mut found = Vec::new();
        let Some(composite) = self.composite() else {
            return found;
        };
        for field in &composite.fields {
            match &field.name {
                Some(_) => found.push(field.clone()),
                None => {
                    let inside = search.within(|search| Some(field.r#type.plain_fields(search)));
                    let inside = inside.unwrap_or_default().into_iter();
                    found.extend(inside.filter_map(|it| it.moved(field.offset)));
                }
            }
        }
        found
    }
}
