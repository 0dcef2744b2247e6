//! Types read from their DIEs, one level at a time.

use super::abi;
use super::bounds;
use super::copying::Copying;
use super::{
    ArrayIndex, Base, BitField, Composite, CompositeKind, Encoding, Enumerator, Field, Type,
    TypeKind, Variant, VariantPart,
};
use crate::dwarf::{DebugInfo, Die, DieRef, Language};
use gimli::AttributeValue;
use std::sync::Arc;

/// Returns the kind of type that a DIE describes; [`TypeKind::Other`] if it is damaged.
pub(super) fn kind(info: &Arc<DebugInfo>, die: DieRef) -> TypeKind {
    let Some(entry) = info.die(die) else {
        return TypeKind::Other;
    };
    let target = || target(info, die, &entry);
    match entry.tag() {
        // Its numbers have a scale.
        gimli::DW_TAG_base_type if is_fixed_point(&entry) => TypeKind::Other,
        gimli::DW_TAG_base_type => TypeKind::Base(encoding(&entry)),
        gimli::DW_TAG_unspecified_type => TypeKind::Void,
        gimli::DW_TAG_pointer_type => TypeKind::Pointer(target()),
        gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            TypeKind::Reference(target())
        }
        gimli::DW_TAG_const_type => TypeKind::Const(target()),
        gimli::DW_TAG_volatile_type => TypeKind::Volatile(target()),
        gimli::DW_TAG_restrict_type | gimli::DW_TAG_atomic_type => TypeKind::Qualified(target()),
        gimli::DW_TAG_typedef => TypeKind::Typedef(target()),
        gimli::DW_TAG_array_type => array(info, die, &entry),
        gimli::DW_TAG_string_type => text(&entry),
        gimli::DW_TAG_subrange_type => subrange(&entry, &target()),
        gimli::DW_TAG_structure_type => composite(info, die, &entry, CompositeKind::Struct),
        gimli::DW_TAG_class_type => composite(info, die, &entry, CompositeKind::Class),
        gimli::DW_TAG_union_type => composite(info, die, &entry, CompositeKind::Union),
        gimli::DW_TAG_enumeration_type => enumeration(info, die, &entry),
        gimli::DW_TAG_subroutine_type | gimli::DW_TAG_subprogram => function(info, die, &entry),
        gimli::DW_TAG_ptr_to_member_type => TypeKind::MemberPointer {
            class: referred(info, die, &entry, gimli::DW_AT_containing_type),
            member: target(),
        },
        _ => TypeKind::Other,
    }
}

/// Returns the byte size that the DIE, or the definition it declares, states.
pub(super) fn byte_size(info: &Arc<DebugInfo>, die: DieRef) -> Option<u64> {
    let entry = info.die(die)?;
    let stated = |entry: &Die| entry.attr_value(gimli::DW_AT_byte_size)?.udata_value();
    match entry.tag() {
        // The size of where the length is, or of what has another length elsewhere.
        gimli::DW_TAG_string_type if entry.attr_value(gimli::DW_AT_string_length).is_some() => None,
        gimli::DW_TAG_subrange_type => stated(&entry).or_else(|| target(info, die, &entry).size()),
        _ => stated(&entry).or_else(|| stated(&info.die(definition(info, die, &entry)?)?)),
    }
}

/// Returns the type that a DIE refers to with `DW_AT_type`; `void` if absent.
pub(crate) fn target(info: &Arc<DebugInfo>, die: DieRef, entry: &Die) -> Type {
    referred(info, die, entry, gimli::DW_AT_type)
}

fn referred(info: &Arc<DebugInfo>, die: DieRef, entry: &Die, attribute: gimli::DwAt) -> Type {
    match info.reference(die.unit, entry.attr_value(attribute)) {
        Some(to) => Type::from_die(info.clone(), to),
        None => Type::void(),
    }
}

/// Returns the definition of a type that is only declared at `die`.
pub(super) fn definition(info: &DebugInfo, die: DieRef, entry: &Die) -> Option<DieRef> {
    // Some compilers do not mark a reference to a type unit as a declaration.
    if let Some(signature) = info.reference(die.unit, entry.attr_value(gimli::DW_AT_signature)) {
        return Some(signature);
    }
    if !DebugInfo::is_set(entry, gimli::DW_AT_declaration) {
        return None;
    }
    let declared = info.facts(die.unit)?.type_at(die)?;
    info.types_with_tail(crate::names::tail(&declared.name))
        .into_iter()
        .find(|record| {
            !record.declaration && record.name == declared.name && is_composite(record.tag)
        })
        .map(|record| record.die)
}

fn is_composite(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
    )
}

fn encoding(entry: &Die) -> Encoding {
    let Some(AttributeValue::Encoding(encoding)) = entry.attr_value(gimli::DW_AT_encoding) else {
        return Encoding::Other;
    };
    match encoding {
        gimli::DW_ATE_boolean => Encoding::Boolean,
        gimli::DW_ATE_signed => Encoding::Signed,
        gimli::DW_ATE_unsigned | gimli::DW_ATE_address => Encoding::Unsigned,
        gimli::DW_ATE_signed_char => Encoding::SignedCharacter,
        gimli::DW_ATE_unsigned_char => Encoding::UnsignedCharacter,
        gimli::DW_ATE_UTF => Encoding::Unicode,
        gimli::DW_ATE_float => Encoding::Float,
        gimli::DW_ATE_complex_float => Encoding::ComplexFloat,
        _ => Encoding::Other,
    }
}

fn is_fixed_point(entry: &Die) -> bool {
    matches!(
        entry.attr_value(gimli::DW_AT_encoding),
        Some(AttributeValue::Encoding(
            gimli::DW_ATE_signed_fixed | gimli::DW_ATE_unsigned_fixed
        ))
    )
}

fn array(info: &Arc<DebugInfo>, die: DieRef, entry: &Die) -> TypeKind {
    let found = bounds::dimensions(info, die, entry);
    TypeKind::Array {
        element: target(info, die, entry),
        dimensions: found.iter().map(|it| it.count).collect(),
        indexes: found.iter().map(|it| it.index).collect(),
        vector: DebugInfo::is_set(entry, gimli::DW_AT_GNU_vector),
    }
}

/// Returns the text of Fortran: an array of characters without terminator.
fn text(entry: &Die) -> TypeKind {
    let is_dynamic = entry.attr_value(gimli::DW_AT_string_length).is_some();
    let size = entry.attr_value(gimli::DW_AT_byte_size);
    TypeKind::Array {
        element: Type::builtin("char").unwrap_or_else(Type::void),
        dimensions: vec![
            size.and_then(|size| size.udata_value())
                .filter(|_| !is_dynamic),
        ],
        indexes: vec![if is_dynamic {
            ArrayIndex::Unknown
        } else {
            ArrayIndex::From(1)
        }],
        vector: false,
    }
}

/// Returns the kind of a range of another type, which may have fewer bytes than that.
fn subrange(entry: &Die, of: &Type) -> TypeKind {
    match of.strip().kind() {
        // Its values have an offset.
        _ if entry.attr_value(gimli::DW_AT_GNU_bias).is_some() => TypeKind::Other,
        kind @ (TypeKind::Base(_) | TypeKind::Enumeration { .. }) => kind,
        _ => TypeKind::Other,
    }
}

fn enumeration(info: &Arc<DebugInfo>, die: DieRef, entry: &Die) -> TypeKind {
    if let Some(definition) = definition(info, die, entry)
        && let Some(defined) = info.die(definition)
        && !DebugInfo::is_set(&defined, gimli::DW_AT_declaration)
    {
        return enumeration(info, definition, &defined);
    }
    let underlying = info
        .reference(die.unit, entry.attr_value(gimli::DW_AT_type))
        .map(|to| Type::from_die(info.clone(), to));
    let signed = underlying.as_ref().is_none_or(|underlying| {
        matches!(underlying.strip().kind(), TypeKind::Base(encoding) if encoding.is_signed())
    });
    let stated = entry.attr_value(gimli::DW_AT_byte_size);
    let size = stated
        .and_then(|size| size.udata_value())
        .or_else(|| underlying.as_ref()?.size());
    let enumerators = info
        .children(die)
        .into_iter()
        .filter(|(_, child)| child.tag() == gimli::DW_TAG_enumerator)
        .filter_map(|(at, child)| {
            let value = child.attr_value(gimli::DW_AT_const_value)?;
            let name = info.text(at.unit, child.attr_value(gimli::DW_AT_name))?;
            Some(Enumerator {
                name,
                value: integer(&value, signed, size)?,
            })
        })
        .collect();
    TypeKind::Enumeration {
        enumerators,
        underlying,
    }
}

/// Returns a constant of a type of `size` bytes. Forms of fixed size do not record the
/// sign; the high bit is a sign only if the constant fills a signed type. So 200 in one
/// byte is 200 for an `int`.
fn integer(value: &crate::dwarf::Value, signed: bool, size: Option<u64>) -> Option<i128> {
    let bytes = match value {
        AttributeValue::Sdata(number) => return Some(i128::from(*number)),
        AttributeValue::Data1(_) => 1,
        AttributeValue::Data2(_) => 2,
        AttributeValue::Data4(_) => 4,
        AttributeValue::Data8(_) => 8,
        AttributeValue::Data16(number) => return Some(number.cast_signed()),
        // What is wider than any form is a block.
        AttributeValue::Block(block) => return wide_integer(block.bytes(), signed, size),
        AttributeValue::Exprloc(expression) => {
            return wide_integer(expression.0.bytes(), signed, size);
        }
        _ => return value.udata_value().map(i128::from),
    };
    let number = value.udata_value()?;
    if !signed || size.is_some_and(|size| size > bytes) {
        return Some(i128::from(number));
    }
    let unused = 64 - 8 * bytes as u32;
    Some(i128::from((number << unused) as i64 >> unused))
}

/// Returns the number that the bytes of a block are, of a type of `size` bytes.
fn wide_integer(bytes: &[u8], signed: bool, size: Option<u64>) -> Option<i128> {
    let is_negative = signed
        && size.is_none_or(|size| size <= bytes.len() as u64)
        && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if is_negative { 0xff } else { 0 }; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    (!bytes.is_empty()).then(|| i128::from_le_bytes(wide))
}

fn function(info: &Arc<DebugInfo>, die: DieRef, entry: &Die) -> TypeKind {
    let (children, parameters) = (info.children(die), info.parameters(die));
    TypeKind::Function {
        returns: target(info, die, entry),
        parameters: parameters
            .iter()
            .map(|(at, child)| target(info, *at, child))
            .collect(),
        variadic: children
            .iter()
            .any(|(_, child)| child.tag() == gimli::DW_TAG_unspecified_parameters),
    }
}

fn composite(info: &Arc<DebugInfo>, die: DieRef, entry: &Die, kind: CompositeKind) -> TypeKind {
    if let Some(definition) = definition(info, die, entry)
        && let Some(defined) = info.die(definition)
        && !DebugInfo::is_set(&defined, gimli::DW_AT_declaration)
    {
        return composite(info, definition, &defined, kind);
    }
    let incomplete = DebugInfo::is_set(entry, gimli::DW_AT_declaration);
    if incomplete && let Some(known) = abi::declared(info, die) {
        return known;
    }
    let mut found = Composite {
        kind,
        fields: Vec::new(),
        bases: Vec::new(),
        variants: None,
        incomplete,
        by_abi: None,
        by_reference: None,
    };
    let mut copying = Copying::default();
    for (at, child) in info.children(die) {
        match child.tag() {
            gimli::DW_TAG_member => found.fields.extend(field(info, at, &child)),
            gimli::DW_TAG_inheritance => found.bases.push(Base::of_die(info, at, &child, kind)),
            gimli::DW_TAG_variant_part => found.variants = Some(variant_part(info, at, &child)),
            gimli::DW_TAG_subprogram => copying.note(info, die, at, &child),
            _ => {}
        }
    }
    found.by_reference = by_reference(info, die, entry, copying.runs_code());
    TypeKind::Composite(Arc::new(found))
}

fn by_reference(
    info: &DebugInfo,
    die: DieRef,
    entry: &Die,
    runs_code_when_copied: bool,
) -> Option<bool> {
    if let Some(AttributeValue::CallingConvention(convention)) =
        entry.attr_value(gimli::DW_AT_calling_convention)
    {
        return Some(convention == gimli::DW_CC_pass_by_reference);
    }
    let language = info.unit(die.unit)?.language;
    match language {
        Language::C => Some(false),
        Language::Cpp if runs_code_when_copied => Some(true),
        _ => None,
    }
}

/// Returns whether a member is static.
pub(super) fn is_static(entry: &Die) -> bool {
    DebugInfo::is_set(entry, gimli::DW_AT_external)
        || DebugInfo::is_set(entry, gimli::DW_AT_declaration)
}

/// Returns a member; `None` for a static one.
pub(super) fn field(info: &Arc<DebugInfo>, die: DieRef, entry: &Die) -> Option<Field> {
    if is_static(entry) {
        return None;
    }
    let unsigned = |name| {
        entry
            .attr_value(name)
            .and_then(|value: crate::dwarf::Value| value.udata_value())
    };
    let r#type = target(info, die, entry);
    let mut offset = match entry.attr_value(gimli::DW_AT_data_member_location) {
        Some(AttributeValue::Exprloc(expression)) => constant_offset(expression)?,
        Some(value) => value.udata_value()?,
        None => 0,
    };
    let bits = match entry.attr_value(gimli::DW_AT_bit_size) {
        None => None,
        Some(size) => {
            let size_bits = size.udata_value()?;
            let data_bit_offset = entry.attr_value(gimli::DW_AT_data_bit_offset);
            let from_high = entry.attr_value(gimli::DW_AT_bit_offset);
            let offset_bits = match (data_bit_offset, from_high) {
                (Some(stated), _) => stated.udata_value()?,
                // DWARF 4 counts from the high end of a storage unit; a field that crosses
                // the unit begins before it, at a negative offset.
                (None, Some(from_high)) => {
                    let unit = unsigned(gimli::DW_AT_byte_size)
                        .or_else(|| r#type.size())
                        .unwrap_or(4);
                    let end = (i128::from(offset) + i128::from(unit)) * 8;
                    let start = end - i128::from(distance(&from_high)?) - i128::from(size_bits);
                    u64::try_from(start).ok()?
                }
                (None, None) => offset.checked_mul(8)?,
            };
            offset = offset_bits / 8;
            Some(BitField {
                offset_bits,
                size_bits,
            })
        }
    };
    let name = info
        .text(die.unit, entry.attr_value(gimli::DW_AT_name))
        .filter(|name| !name.is_empty());
    Some(Field {
        name,
        offset,
        bits,
        r#type,
    })
}

/// Returns a distance that may be negative. Compilers write a negative one with its sign, or
/// in all eight bytes without one.
fn distance(value: &crate::dwarf::Value) -> Option<i64> {
    match value {
        AttributeValue::Sdata(number) => Some(*number),
        AttributeValue::Data8(number) | AttributeValue::Udata(number) => Some(number.cast_signed()),
        _ => i64::try_from(value.udata_value()?).ok(),
    }
}

/// Returns the constant of an offset expression `DW_OP_plus_uconst`, as written by old
/// compilers.
pub(super) fn constant_offset(expression: gimli::Expression<crate::dwarf::Reader>) -> Option<u64> {
    match only_operation(expression)? {
        gimli::Operation::PlusConstant { value } => Some(value),
        _ => None,
    }
}

/// Returns the vtable offset in bytes of a virtual base's offset, if the expression is the
/// usual one of compilers: `dup, deref, constant, minus, deref, plus`.
pub(super) fn vtable_entry(expression: gimli::Expression<crate::dwarf::Reader>) -> Option<i64> {
    use gimli::Operation::{
        Deref, Minus, Pick, Plus, PlusConstant, SignedConstant, UnsignedConstant,
    };
    let mut found = expression.operations(ENCODING);
    let mut operations = Vec::with_capacity(6);
    while let Some(operation) = found.next().ok()? {
        if operations.len() == 6 {
            return None;
        }
        operations.push(operation);
    }
    let is_word = |operation: &_| {
        matches!(
            operation,
            Deref {
                size: 8,
                space: false,
                ..
            }
        )
    };
    let (first, rest) = operations.split_first_chunk::<2>()?;
    let (distance, last) = rest.split_last_chunk::<2>()?;
    let is_known = matches!(first, [Pick { index: 0 }, table] if is_word(table))
        && matches!(last, [entry, Plus] if is_word(entry));
    let distance = match distance {
        [] => 0,
        [UnsignedConstant { value }, Minus] => i64::try_from(*value).ok()?.checked_neg()?,
        [SignedConstant { value }, Minus] => value.checked_neg()?,
        [UnsignedConstant { value }, Plus] | [PlusConstant { value }] => {
            i64::try_from(*value).ok()?
        }
        [SignedConstant { value }, Plus] => *value,
        _ => return None,
    };
    is_known.then_some(distance)
}

/// An encoding for operations that are the same in all versions.
const ENCODING: gimli::Encoding = gimli::Encoding {
    address_size: 8,
    format: gimli::Format::Dwarf32,
    version: 4,
};

/// Returns the operation of an expression that has exactly one; only for operations that
/// are the same in all versions.
pub(super) fn only_operation(
    expression: gimli::Expression<crate::dwarf::Reader>,
) -> Option<gimli::Operation<crate::dwarf::Reader>> {
    let mut operations = expression.operations(ENCODING);
    let only = operations.next().ok()??;
    operations.next().ok()?.is_none().then_some(only)
}

fn variant_part(info: &Arc<DebugInfo>, die: DieRef, entry: &Die) -> VariantPart {
    let discriminant = info
        .reference(die.unit, entry.attr_value(gimli::DW_AT_discr))
        .and_then(|at| field(info, at, &info.die(at)?))
        .map(Box::new);
    let signed = discriminant.as_ref().is_some_and(|field| {
        matches!(field.r#type.strip().kind(), TypeKind::Base(encoding) if encoding.is_signed())
    });
    let size = discriminant.as_ref().and_then(|field| field.r#type.size());
    let mut has_unknown = false;
    let mut variants: Vec<Variant> = info
        .children(die)
        .into_iter()
        .filter(|(_, child)| child.tag() == gimli::DW_TAG_variant)
        .filter_map(|(at, child)| {
            let value = match child.attr_value(gimli::DW_AT_discr_value) {
                None => None,
                Some(value) => {
                    let value = integer(&value, signed, size);
                    has_unknown |= value.is_none();
                    Some(value?)
                }
            };
            let members = info.children(at);
            let (member_at, member) = members
                .iter()
                .find(|(_, member)| member.tag() == gimli::DW_TAG_member)?;
            let mut field = field(info, *member_at, member)?;
            // The states of an `async fn` have numbers as field names; the type name is
            // used instead.
            let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
            if field.name.as_deref().is_some_and(is_number) {
                let of = field.r#type.name();
                field.name = Some(crate::names::tail(&of).into());
            }
            Some(Variant { value, field })
        })
        .collect();
    // What has a value that is not understood is not the variant for all others.
    if has_unknown {
        variants.retain(|variant| variant.value.is_some());
    }
    VariantPart {
        discriminant,
        variants,
    }
}
