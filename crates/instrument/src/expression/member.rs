//! Calls of member functions: `v.size()`, `p->area()`.
//!
//! Which function is meant is looked up in the class of the object, by name and
//! by how many arguments it takes; a virtual one in the table of the object, so
//! the one of its dynamic type is called. The object's address is the first
//! argument.

use super::access::{address_of, object_behind, pointed_to};
use super::call::Argument;
use super::{Scope, evaluate};
use crate::expression::ExpressionError;
use crate::typed::Typed;
use juror_language::{Expression, ExpressionKind};
use juror_symbols::{Method, Type, TypeKind};

/// What is called, and the arguments that come before those written.
pub(super) struct Member {
    pub function: Typed,
    pub name: Box<str>,
    pub arguments: Vec<Argument>,
}

/// The member function that a call names; nothing where it is no call of one.
pub(super) fn member(
    function: &Expression,
    count: usize,
    scope: &dyn Scope,
) -> Result<Option<Member>, ExpressionError> {
    let ExpressionKind::Field {
        object,
        field,
        arrow,
    } = &function.kind
    else {
        return of_function_object(function, count, scope);
    };
    let value = evaluate(object, scope)?;
    let found = of_object(&value, &field.text, *arrow, count, scope);
    found.map_err(|message| ExpressionError {
        message,
        span: field.span.clone(),
    })
}

/// `closure(1)`: the call operator of an object of C++.
fn of_function_object(
    function: &Expression,
    count: usize,
    scope: &dyn Scope,
) -> Result<Option<Member>, ExpressionError> {
    let value = evaluate(function, scope)?;
    let class = match value.r#type.strip().kind() {
        TypeKind::Reference(target) => target,
        _ => value.r#type.clone(),
    };
    if class.composite().is_none() || class.is_rust() {
        return Ok(None);
    }
    let is_indirect = is_indirect(&value.r#type);
    let found = of_object(&value, "operator()", is_indirect, count, scope);
    found.map_err(|message| ExpressionError {
        message,
        span: function.span.clone(),
    })
}

fn of_object(
    value: &Typed,
    name: &str,
    arrow: bool,
    count: usize,
    scope: &dyn Scope,
) -> Result<Option<Member>, String> {
    let object = match arrow || is_indirect(&value.r#type) {
        true => pointed_to(value, scope)?,
        false => value.clone(),
    };
    let object = object_behind(&object, scope).unwrap_or(object);
    let field = object.r#type.field(name);
    // A member that is a pointer to a function is called as what it is.
    if field
        .as_ref()
        .is_some_and(|field| field.r#type.is_pointer())
    {
        return Ok(None);
    }
    let methods = object.r#type.methods_named(name);
    if methods.is_empty() {
        let found = of_name(&object, name, count, scope)?;
        return match field {
            Some(_) if found.is_none() => Err(without_code(name, &object.r#type.strip())),
            _ => Ok(found),
        };
    }
    let takes = |method: &&Method| {
        let (parameters, is_variadic) = parameters_of(method);
        let given = count + usize::from(!method.is_static);
        parameters == given || is_variadic && parameters < given
    };
    let mut why = None;
    for method in methods.iter().filter(takes) {
        match of_method(&object, method, name, scope) {
            Ok(member) => return Ok(Some(member)),
            Err(message) => why = why.or(Some(message)),
        }
    }
    let class = object.r#type.strip().name();
    Err(why.unwrap_or_else(|| {
        let plural = if count == 1 { "" } else { "s" };
        format!("no `{name}` of `{class}` takes {count} argument{plural}")
    }))
}

fn is_indirect(r#type: &Type) -> bool {
    matches!(
        r#type.strip().kind(),
        TypeKind::Pointer(_) | TypeKind::Reference(_)
    )
}

fn parameters_of(method: &Method) -> (usize, bool) {
    match method.r#type.kind() {
        TypeKind::Function {
            parameters,
            variadic,
            ..
        } => (parameters.len(), variadic),
        _ => (0, false),
    }
}

fn of_method(
    object: &Typed,
    method: &Method,
    name: &str,
    scope: &dyn Scope,
) -> Result<Member, String> {
    let mut arguments = Vec::new();
    if !method.is_static {
        let offset = method.offset.ok_or_else(|| {
            format!("`{name}` is one of a virtual base class; call it by its class and address")
        })?;
        let part = object.part(offset, method.class.clone(), None);
        arguments.push(part);
    }
    let address = match (method.slot, arguments.first()) {
        (Some(slot), Some(part)) => virtual_function(part, slot, scope)?,
        _ => {
            let linkage_name = method.linkage_name.as_deref();
            let function = linkage_name.and_then(|linkage| scope.function_linked(linkage));
            function.ok_or_else(|| without_code(name, &method.class))?
        }
    };
    let function = Typed::of_bytes(method.r#type.pointer_to(), address.to_le_bytes().to_vec());
    let arguments = arguments.iter().map(address_of);
    let arguments: Result<Vec<Typed>, String> = arguments.collect();
    Ok(Member {
        function,
        name: name.into(),
        arguments: arguments?.into_iter().map(Argument::Value).collect(),
    })
}

fn without_code(name: &str, class: &Type) -> String {
    let class = class.name();
    format!("`{name}` of `{class}` has no code: it was inlined wherever it is called, or is unused")
}

/// The function in a slot of the table that an object begins with.
fn virtual_function(object: &Typed, slot: u64, scope: &dyn Scope) -> Result<u64, String> {
    let address = object
        .address()
        .ok_or("the object is not in memory, so its virtual functions are not known")?;
    let word = |address: u64| {
        let mut bytes = [0; 8];
        let is_read = scope.memory().read(address, &mut bytes);
        let value = u64::from_le_bytes(bytes);
        is_read
            .then_some(value)
            .ok_or_else(|| format!("memory at {address:#x} cannot be read"))
    };
    let table = word(address)?;
    word(table.wrapping_add(slot.wrapping_mul(8)))
}

/// By the name alone, `Type::method`, where the class does not list its
/// functions: Rust.
fn of_name(
    object: &Typed,
    name: &str,
    count: usize,
    scope: &dyn Scope,
) -> Result<Option<Member>, String> {
    let class = object.r#type.strip().name();
    let Some((address, parameters)) = scope.function_of(&class, name) else {
        return Ok(None);
    };
    let function = Typed::of_bytes(Type::void().pointer_to(), address.to_le_bytes().to_vec());
    // `self` by reference or by value, or no method at all.
    let own = parameters.len().checked_sub(count);
    let arguments = match (own, parameters.first()) {
        (Some(1), Some(first)) if is_indirect(first) => vec![address_of(object)?],
        (Some(1), Some(_)) => vec![object.clone()],
        (Some(0), _) => {
            let message = format!("`{name}` of `{class}` takes no object: {class}::{name}");
            return Err(message);
        }
        _ => {
            let wanted = parameters.len().saturating_sub(1);
            return Err(format!(
                "`{name}` of `{class}` takes {wanted} arguments; {count} given"
            ));
        }
    };
    Ok(Some(Member {
        function,
        name: name.into(),
        arguments: arguments.into_iter().map(Argument::Value).collect(),
    }))
}
