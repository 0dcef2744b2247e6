//! What pointers to members of C++ say (*Itanium C++ ABI*, section 2.3).
//!
//! A pointer to a data member is its distance from the start of the class, and -1 is null.
//! One to a function is two words: its address, or where it is virtual one more than its
//! place in the table in bytes, and what is added to the object's address.

use super::{Field, Method, TYPE_DEPTH_MAX, Type, TypeKind};

/// How deeply classes are derived.
const DERIVED_MAX: usize = TYPE_DEPTH_MAX / 4;

/// A member of a class or of one of its bases, and the class that declares it.
#[derive(Debug, Clone)]
pub struct PlacedField {
    /// The class that declares it, in which anonymous members count as its own.
    pub class: Type,
    /// The member, its offset counted from the start of that class.
    pub field: Field,
}

/// The size of a pointer to members of this type.
pub(super) fn size_to(member: &Type) -> u64 {
    match member.strip().kind() {
        TypeKind::Function { .. } => 16,
        _ => 8,
    }
}

impl Type {
    /// A member of this name, and the class that declares it: this one, or one of its
    /// bases.
    pub fn declared_field(&self, name: &str) -> Option<PlacedField> {
        self.declared_within(&|class| class.own_field(name), DERIVED_MAX)
    }

    /// The member of a class of C++ that begins at `offset` and is of the type `member`.
    /// Bit fields are none.
    pub fn field_at(&self, offset: u64, member: &Type) -> Option<PlacedField> {
        let wanted = member.plain_name();
        self.field_at_within(offset, &wanted, DERIVED_MAX)
    }

    fn field_at_within(&self, offset: u64, wanted: &str, depth: usize) -> Option<PlacedField> {
        let depth = depth.checked_sub(1)?;
        let class = self.strip();
        let composite = class.composite()?;
        let is_meant = |field: &Field| {
            field.offset == offset && field.bits.is_none() && field.r#type.plain_name() == wanted
        };
        let own = class.plain_fields(DERIVED_MAX);
        if let Some(field) = own.into_iter().find(is_meant) {
            return Some(PlacedField { class, field });
        }
        composite.bases.iter().find_map(|base| {
            let inside = offset.checked_sub(base.offset?)?;
            base.r#type.field_at_within(inside, wanted, depth)
        })
    }

    /// The function at a place of the table of virtual functions that the part of the
    /// class at `offset` begins with.
    pub fn method_in_slot(&self, offset: u64, slot: u64) -> Option<Method> {
        self.method_in_slot_within(offset, slot, DERIVED_MAX)
    }

    fn method_in_slot_within(&self, offset: u64, slot: u64, depth: usize) -> Option<Method> {
        let depth = depth.checked_sub(1)?;
        if offset == 0 {
            let mut own = self.own_methods().into_iter();
            // What ends objects has two places, and no pointer leads there.
            let is_meant =
                |method: &Method| method.slot == Some(slot) && !method.name.starts_with('~');
            if let Some(found) = own.find(is_meant) {
                return Some(found);
            }
        }
        // The table at the start of a class goes on the one of the base that begins there.
        self.composite()?.bases.iter().find_map(|base| {
            let inside = offset.checked_sub(base.offset?)?;
            let has_table = base.r#type.has_table();
            let found = || base.r#type.method_in_slot_within(inside, slot, depth);
            has_table.then(found).flatten()
        })
    }

    fn declared_within(
        &self,
        find: &dyn Fn(&Type) -> Option<Field>,
        depth: usize,
    ) -> Option<PlacedField> {
        let depth = depth.checked_sub(1)?;
        let class = self.strip();
        if let Some(field) = find(&class) {
            return Some(PlacedField { class, field });
        }
        let composite = class.composite()?;
        let mut bases = composite.bases.iter();
        bases.find_map(|base| base.r#type.declared_within(find, depth))
    }

    fn own_field(&self, name: &str) -> Option<Field> {
        let mut own = self.plain_fields(DERIVED_MAX).into_iter();
        own.find(|field| field.name.as_deref() == Some(name))
    }

    /// The members that have names; those of anonymous members among them.
    fn plain_fields(&self, depth: usize) -> Vec<Field> {
        let (Some(depth), Some(composite)) = (depth.checked_sub(1), self.composite()) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for field in &composite.fields {
            match &field.name {
                Some(_) => found.push(field.clone()),
                None => {
                    let inside = field.r#type.plain_fields(depth).into_iter();
                    found.extend(inside.filter_map(|it| it.moved(field.offset)));
                }
            }
        }
        found
    }
}
