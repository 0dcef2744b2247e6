//! Pointers to members of C++ in expressions: `&Class::member`, `object.*m`, `p->*m`,
//! `(object.*f)(3)`.

use super::access::{address_of, pointed_to};
use super::error::ExpressionError;
use super::evaluate::part;
use super::member::{virtual_function, without_code};
use super::scope::Scope;
use crate::classes::member_pointer::{MemberPointer, identity, parts, read};
use crate::classes::upcast::{base_offset, base_part};
use crate::error::ValueError;
use crate::typed::{Location, Typed};
use juror_language::{Expression, ExpressionKind};
use juror_symbols::{Method, Type, TypeKind, scope_and_name};

/// The message for a null pointer.
const NULL: &str = "the pointer to a member is null";

/// Splits a path into a C++ class and a name in it.
fn class_and_name<'a>(
    expression: &'a Expression,
    named: &dyn Fn(&str) -> Option<Type>,
) -> Option<(Type, &'a str)> {
    let ExpressionKind::Name(path) = &expression.kind else {
        return None;
    };
    let (class, name) = scope_and_name(path)?;
    let class = named(class)?;
    (class.composite().is_some() && !class.is_rust()).then_some((class, name))
}

/// Returns whether a path names a non-static member of a class: `Class::member`.
pub fn names_member(expression: &Expression, named: &dyn Fn(&str) -> Option<Type>) -> bool {
    class_and_name(expression, named).is_some_and(|(class, name)| {
        let is_of_object = |method: &Method| !method.is_static;
        class.declared_field(name).is_some() || class.methods_named(name).iter().any(is_of_object)
    })
}

/// Evaluates `&Class::member`. Returns `None` if it is the address of anything else. Among
/// overloads the type of a cast selects one.
pub(super) fn address_of_member(
    operand: &Expression,
    wanted: Option<&Type>,
    scope: &dyn Scope,
) -> Option<Result<Typed, ValueError>> {
    let (class, name) = class_and_name(operand, &|name| scope.type_named(name))?;
    if let Some(found) = class.declared_field(name) {
        let field = found.field;
        if field.bits.is_some() {
            return Some(Err("a bit field has no address".into()));
        }
        let r#type = field.r#type.member_pointer_of(&found.class);
        let bytes = MemberPointer::Data(field.offset.cast_signed()).bytes(false);
        return Some(Ok(Typed::of_bytes(r#type, bytes)));
    }
    let mut methods = class.methods_named(name);
    if methods.is_empty() || methods.iter().any(|method| method.is_static) {
        return None;
    }
    if let Some(wanted) = wanted.filter(|_| methods.len() > 1) {
        let written = parts(wanted).map(|(_, member)| identity(&member));
        methods.retain(|method| Some(identity(&method.r#type)) == written);
    }
    Some(match methods.as_slice() {
        [only] => pointer_to(only, scope),
        _ => Err(several(&class, name)),
    })
}

fn several(class: &Type, name: &str) -> ValueError {
    let methods = class.methods_named(name);
    let listed = methods.iter().map(|method| {
        let pointer = method.r#type.member_pointer_of(&method.class);
        format!("({}) &{}::{name}", pointer.name(), class.strip().name())
    });
    let listed: Vec<String> = listed.collect();
    format!("a cast selects one of them: {}", listed.join(", ")).into()
}

fn pointer_to(method: &Method, scope: &dyn Scope) -> Result<Typed, ValueError> {
    let pointer = match method.slot {
        Some(slot) => MemberPointer::Virtual {
            slot,
            adjustment: 0,
        },
        None => {
            let linkage_name = method.linkage_name.as_deref();
            let address = linkage_name.and_then(|name| scope.function_linked(name));
            let missing = || without_code(&method.name, &method.class);
            MemberPointer::Function {
                address: address.ok_or_else(missing)?,
                adjustment: 0,
            }
        }
    };
    let r#type = method.r#type.member_pointer_of(&method.class);
    Ok(Typed::of_bytes(r#type, pointer.bytes(true)))
}

/// An object with a pointer to one of its members.
pub(super) struct Bound {
    /// The part of the object that has the pointer's class.
    object: Typed,
    class: Type,
    member: Type,
    pointer: MemberPointer,
}

/// A member function of an object, through a pointer to a member.
pub(super) struct MemberCall {
    /// A pointer to the function.
    pub function: Typed,
    /// The address of the object.
    pub object: Typed,
    type_name: String,
    parameter_count: usize,
    is_variadic: bool,
}

/// Evaluates both sides of `object.*member`.
pub(super) fn bound(
    object: &Expression,
    member: &Expression,
    arrow: bool,
    scope: &dyn Scope,
) -> Result<Bound, ExpressionError> {
    let at_object = |why: ValueError| ExpressionError::new(why, &object.span);
    let whole = part(object, scope)?;
    let whole = if arrow || whole.r#type.is_pointer() {
        pointed_to(&whole, scope).map_err(at_object)?
    } else {
        whole
    };
    let at_member = |why: ValueError| ExpressionError::new(why, &member.span);
    let value = part(member, scope)?;
    let pointer = read(&value, scope.memory()).map_err(at_member)?;
    let missing = || at_member("this is not a pointer to a member".into());
    let (class, of) = parts(&value.r#type).ok_or_else(missing)?;
    let object = part_of(&whole, &class, scope).map_err(at_object)?;
    Ok(Bound {
        object,
        class,
        member: of,
        pointer,
    })
}

/// Returns the part of an object that has a class.
fn part_of(whole: &Typed, class: &Type, scope: &dyn Scope) -> Result<Typed, ValueError> {
    if let Some(part) = base_part(whole, class, scope.memory())? {
        return Ok(part);
    }
    if let Location::Missing(why) = &whole.location {
        return Err(why.clone());
    }
    let offset = base_offset(&whole.r#type, class);
    let offset = offset.map_err(|why| why.within("the object is not in memory".to_owned()));
    if let Some(offset) = offset? {
        return Ok(whole.part(offset, class.clone(), None));
    }
    let (given, wanted) = (whole.r#type.strip().name(), class.strip().name());
    let is_base = base_offset(class, &whole.r#type).is_ok_and(|it| it.is_some());
    let advice = if is_base {
        format!("; where it is a part of one, cast its address: ({wanted} *)")
    } else {
        String::new()
    };
    Err(format!("the pointer is to members of `{wanted}`, and this is `{given}`{advice}").into())
}

impl Bound {
    /// Returns the member. A function is not called.
    pub(super) fn value(&self, scope: &dyn Scope) -> Result<Typed, ValueError> {
        match self.pointer {
            // Its type is known all the same.
            MemberPointer::Null => Ok(Typed::missing(self.member.clone(), NULL)),
            MemberPointer::Data(offset) => self.data(offset),
            _ => {
                let (address, _) = self.function(scope)?;
                Ok(Typed::in_memory(self.member.clone(), address))
            }
        }
    }

    fn data(&self, offset: i64) -> Result<Typed, ValueError> {
        // A member of a derived class may lie outside of this object.
        if let Location::Memory(address) = self.object.location {
            let address = address.wrapping_add_signed(offset);
            return Ok(self.object.related(self.member.clone(), address));
        }
        let end = self.member.size().and_then(|size| {
            let start = u64::try_from(offset).ok()?;
            start.checked_add(size)
        });
        match end.zip(self.class.size()) {
            Some((end, size)) if end <= size => {
                let offset = offset.cast_unsigned();
                Ok(self.object.part(offset, self.member.clone(), None))
            }
            _ => Err(format!(
                "the pointer leads out of the `{}`, which is not in memory",
                self.class.strip().name()
            )
            .into()),
        }
    }

    /// Returns the addresses of the function and of its object.
    fn function(&self, scope: &dyn Scope) -> Result<(u64, u64), ValueError> {
        let start = self.object.address();
        let start = start.ok_or("the object is not in memory, so it has no address")?;
        match self.pointer {
            MemberPointer::Function {
                address,
                adjustment,
            } => Ok((address, start.wrapping_add_signed(adjustment))),
            MemberPointer::Virtual { slot, adjustment } => {
                let object = start.wrapping_add_signed(adjustment);
                Ok((virtual_function(object, slot, scope)?, object))
            }
            MemberPointer::Null => Err(NULL.into()),
            MemberPointer::Data(_) => Err("this is no pointer to a function".into()),
        }
    }

    /// Returns the call of the function, or `None` if the member is data, which may have a call
    /// operator.
    pub(super) fn call(&self, scope: &dyn Scope) -> Result<Option<MemberCall>, ValueError> {
        let TypeKind::Function {
            parameters,
            variadic,
            ..
        } = self.member.strip().kind()
        else {
            return Ok(None);
        };
        let (address, object) = self.function(scope)?;
        // The object is passed by its address alone: the function's own class may begin elsewhere.
        let object = Typed::in_memory(Type::void(), object);
        Ok(Some(MemberCall {
            function: Typed::of_bytes(self.member.pointer_to(), address.to_le_bytes().to_vec()),
            object: address_of(&object)?,
            type_name: self.member.member_pointer_of(&self.class).name(),
            parameter_count: parameters.len().saturating_sub(1),
            is_variadic: variadic,
        }))
    }
}

impl MemberCall {
    /// Returns an error unless the function takes so many arguments.
    pub(super) fn check_count(&self, given: usize) -> Result<(), ValueError> {
        let wanted = self.parameter_count;
        if given == wanted || given > wanted && self.is_variadic {
            return Ok(());
        }
        let plural = if wanted == 1 { "" } else { "s" };
        let name = &self.type_name;
        Err(format!("`{name}` takes {wanted} argument{plural}; {given} given").into())
    }
}
