//! Calls of member functions: `v.size()`, `p->area()`.
//!
//! The function is looked up in the class of the object by name, then selected by the arguments, as
//! with other functions ([`super::overload`]). A virtual function is looked up in the object's
//! virtual table, so the override of its dynamic type is called. The object's address is the first
//! argument.

use super::access::{address_of, object_behind, pointed_to};
use super::instance::{chosen, is_meant};
use super::overload::{
    Fit, Overload, best, complaint, function_at, is_const_member, is_const_value, signature,
};
use super::request::Argument;
use super::scope::Scope;
use crate::classes::upcast::{base_part, referred_to};
use crate::error::ValueError;
use crate::typed::{Location, Typed};
use juror_symbols::{Field, Method, Type, TypeKind};

/// A selected member function, and the arguments that precede the written ones.
pub(super) struct Member {
    pub function: Typed,
    pub name: Box<str>,
    pub arguments: Vec<Argument>,
}

/// The member functions of an object with one name.
pub(super) struct Members {
    object: Typed,
    name: Box<str>,
    found: Found,
}

enum Found {
    /// The functions that the class lists.
    Methods(Vec<Method>),
    /// The functions with the symbol `Type::name`, for Rust.
    Named(Vec<Overload>),
}

/// Returns the functions that `value.name` may mean, or `None` if it is not a function.
pub(super) fn members(
    value: &Typed,
    name: &str,
    arrow: bool,
    scope: &dyn Scope,
) -> Result<Option<Members>, ValueError> {
    // A C++ reference is replaced by its referent, which may be a pointer.
    let referent = referred_to(value, scope.memory())?;
    let object = if arrow || is_indirect(&referent.r#type) {
        match pointed_to(&referent, scope) {
            // `->` on a C++ reference is accepted, too.
            Err(_) if is_indirect(&value.r#type) && !is_indirect(&referent.r#type) => referent,
            found => found?,
        }
    } else {
        referent
    };
    let object = object_behind(&object, scope).unwrap_or(object);
    let object = object.for_call(scope.memory());
    let field = object.r#type.field(name);
    // A data member that points to a function is called through its value.
    let leads_to_function = |it: &Field| {
        let target = it.r#type.target().filter(|_| it.r#type.is_pointer());
        target.is_some_and(|target| matches!(target.strip().kind(), TypeKind::Function { .. }))
    };
    if field.as_ref().is_some_and(leads_to_function) {
        return Ok(None);
    }
    let methods = object.r#type.methods_named(name);
    let named = || {
        let class = object.r#type.strip().name();
        let named = scope.functions_of(&class, name);
        (!named.is_empty()).then_some(Found::Named(named))
    };
    // Rust's debug information does not mark the object parameter.
    let by_class = (!methods.is_empty()).then_some(Found::Methods(methods));
    let found = if object.r#type.is_rust() {
        named().or(by_class)
    } else {
        by_class.or_else(named)
    };
    if let (None, Some(field)) = (&found, &field) {
        return match call_operator(&object.member(field), scope)? {
            // A data member of a class with a call operator.
            Some(members) => Ok(Some(members)),
            None => Err(without_code(name, &object.r#type.strip()).into()),
        };
    }
    Ok(found.map(|found| Members {
        object,
        name: name.into(),
        found,
    }))
}

/// Returns the call operator of a C++ object, or `None` if the value has none.
pub(super) fn call_operator(
    value: &Typed,
    scope: &dyn Scope,
) -> Result<Option<Members>, ValueError> {
    let class = match value.r#type.strip().kind() {
        TypeKind::Reference(target) => target,
        _ => value.r#type.clone(),
    };
    if class.composite().is_none() {
        return Ok(None);
    }
    if class.is_rust() {
        return if class.strip().name().contains("{closure_env#") {
            Err(
                "closures of Rust are not called: how they take what they hold is not in the \
                 debug information; break in the closure, or call the function around it"
                    .into(),
            )
        } else {
            Ok(None)
        };
    }
    members(value, "operator()", false, scope)
}

impl Members {
    /// Returns the function that the arguments select.
    pub(super) fn choose(
        &self,
        arguments: &[Argument],
        scope: &dyn Scope,
    ) -> Result<Member, ValueError> {
        let methods = match &self.found {
            Found::Methods(methods) => methods,
            Found::Named(named) => {
                let meant = chosen(named, arguments)?;
                return self.of_name(meant, arguments.len());
            }
        };
        let known: Vec<(Vec<Type>, bool)> = methods.iter().map(parameters_of).collect();
        let is_const = is_const_value(&self.object);
        let written: Vec<(&[Type], bool)> = known
            .iter()
            .zip(methods)
            .map(|((parameters, is_variadic), method)| {
                let own = usize::from(!method.is_static);
                (parameters.get(own..).unwrap_or(&[]), *is_variadic)
            })
            .collect();
        let mut group = match best(written.iter().copied(), arguments) {
            Fit::Best(group) => group,
            fit => return Err(self.refusal(&known, methods, arguments.len(), &fit).into()),
        };
        // A non-const object prefers the non-const overload.
        group.sort_by_key(|&(index, binding)| {
            let for_const = known.get(index).is_some_and(|it| is_const_member(&it.0));
            (binding, for_const != is_const)
        });
        let is_instance_for_others = |index: usize| {
            let parameters = written.get(index).map_or(&[][..], |it| it.0);
            let method = methods.get(index);
            method.is_some_and(|it| !is_meant(&it.name, parameters, arguments))
        };
        if group
            .first()
            .is_some_and(|&(index, _)| is_instance_for_others(index))
        {
            return Err(self
                .refusal(&known, methods, arguments.len(), &Fit::None)
                .into());
        }
        self.check_one(&known, methods, &group)?;
        let mut why = None;
        for method in group.iter().filter_map(|&(index, _)| methods.get(index)) {
            match of_method(&self.object, method, &self.name, scope) {
                Ok(member) => return Ok(member),
                Err(message) => why = why.or(Some(message)),
            }
        }
        Err(why.unwrap_or_else(|| without_code(&self.name, &self.object.r#type.strip()).into()))
    }

    /// Returns an error if equally good functions come from different base classes.
    fn check_one(
        &self,
        known: &[(Vec<Type>, bool)],
        methods: &[Method],
        group: &[(usize, u32)],
    ) -> Result<(), ValueError> {
        let place = |index: usize| {
            let method = methods.get(index)?;
            Some((method.class.strip().name(), method.offset))
        };
        let Some((first, binding)) = group.first().copied() else {
            return Ok(());
        };
        let is_const = |index: usize| known.get(index).is_some_and(|it| is_const_member(&it.0));
        let equal = group
            .iter()
            .filter(|(index, other)| *other == binding && is_const(*index) == is_const(first));
        let other = equal
            .map(|(index, _)| place(*index))
            .find(|it| *it != place(first));
        match (place(first), other.flatten()) {
            (Some((one, _)), Some((other, _))) => {
                let name = &self.name;
                Err(
                    format!("`{name}` is ambiguous: it is `{one}::{name}` or `{other}::{name}`")
                        .into(),
                )
            }
            _ => Ok(()),
        }
    }

    fn refusal(
        &self,
        known: &[(Vec<Type>, bool)],
        methods: &[Method],
        count: usize,
        fit: &Fit,
    ) -> String {
        let own = |method: &Method| usize::from(!method.is_static);
        let given = |method: &Method| count + own(method);
        let mut pairs = known.iter().zip(methods);
        let is_count = pairs.any(|((parameters, is_variadic), method)| {
            parameters.len() == given(method) || *is_variadic && parameters.len() < given(method)
        });
        let (name, class) = (&self.name, self.object.r#type.strip().name());
        if !is_count {
            let plural = if count == 1 { "" } else { "s" };
            return format!("no `{name}` of `{class}` takes {count} argument{plural}");
        }
        let listed = known.iter().zip(methods).map(|((parameters, _), method)| {
            let written = parameters.get(own(method)..).unwrap_or(&[]);
            signature(&format!("{}::{name}", method.class.name()), written)
        });
        complaint(&listed.collect::<Vec<_>>(), *fit == Fit::None)
    }

    /// Returns the function `Type::method` of a class that does not list its functions, as in Rust.
    fn of_name(&self, function: &Overload, count: usize) -> Result<Member, ValueError> {
        let (object, name) = (&self.object, &self.name);
        let class = object.r#type.strip().name();
        let parameters = &function.parameters;
        // The function takes `self` by reference, by value, or is an associated function.
        let own = parameters.len().checked_sub(count);
        let arguments = match (own, parameters.first()) {
            (Some(1), Some(first)) if is_indirect(first) => vec![address_in_call(object)?],
            (Some(1), Some(_)) => vec![Argument::Value(object.clone())],
            (Some(0), _) => {
                let message = format!("`{name}` of `{class}` takes no object: {class}::{name}");
                return Err(message.into());
            }
            _ => {
                let wanted = parameters.len().saturating_sub(1);
                return Err(format!(
                    "`{name}` of `{class}` takes {wanted} arguments; {count} given"
                )
                .into());
            }
        };
        Ok(Member {
            function: function_at(function.address, None),
            name: name.clone(),
            arguments,
        })
    }
}

/// Returns the address of an object as an argument. An object that is not in memory is copied to
/// memory for the call.
fn address_in_call(object: &Typed) -> Result<Argument, ValueError> {
    match (&object.location, object.bits) {
        (Location::Bytes(_), None) => Ok(Argument::Copy(object.clone())),
        _ => address_of(object).map(Argument::Value),
    }
}

fn is_indirect(r#type: &Type) -> bool {
    matches!(
        r#type.strip().kind(),
        TypeKind::Pointer(_) | TypeKind::Reference(_)
    )
}

fn parameters_of(method: &Method) -> (Vec<Type>, bool) {
    match method.r#type.kind() {
        TypeKind::Function {
            parameters,
            variadic,
            ..
        } => (parameters, variadic),
        _ => (Vec::new(), false),
    }
}

fn of_method(
    object: &Typed,
    method: &Method,
    name: &str,
    scope: &dyn Scope,
) -> Result<Member, ValueError> {
    let mut arguments = Vec::new();
    if !method.is_static {
        let part = match method.offset {
            Some(offset) => object.part(offset, method.class.clone(), None),
            None => base_part(object, &method.class, scope.memory())?.ok_or_else(|| {
                format!(
                    "`{name}` is a function of a virtual base class, which can only be located in an \
                     object in memory"
                )
            })?,
        };
        arguments.push(part);
    }
    let address = match (method.slot, arguments.first()) {
        (Some(slot), Some(part)) => {
            let missing = "the object is not in memory, so its virtual functions are not known";
            virtual_function(part.address().ok_or(missing)?, slot, scope)?
        }
        _ => {
            let linkage_name = method.linkage_name.as_deref();
            let function = match linkage_name {
                Some(linkage) => scope.function_linked(linkage),
                // Functions with internal linkage, and those of closures, have no linkage name.
                None => scope
                    .code_of_method(method)
                    .or_else(|| by_qualified_name(method, scope)),
            };
            function.ok_or_else(|| without_code(name, &method.class))?
        }
    };
    let function = Typed::of_bytes(method.r#type.pointer_to(), address.to_le_bytes().to_vec());
    let arguments = arguments.iter().map(address_in_call);
    let arguments: Result<Vec<Argument>, ValueError> = arguments.collect();
    Ok(Member {
        function,
        name: name.into(),
        arguments: arguments?,
    })
}

/// Returns the address of the only function with the qualified name and the parameters of a method.
fn by_qualified_name(method: &Method, scope: &dyn Scope) -> Option<u64> {
    let names = |types: &[Type]| -> Vec<String> { types.iter().map(Type::name).collect() };
    let (wanted, _) = parameters_of(method);
    let wanted = names(&wanted);
    let found = scope.overloads(&format!(
        "::{}::{}",
        method.class.strip().name(),
        method.name
    ));
    let mut meant = found.iter().filter(|it| names(&it.parameters) == wanted);
    match (meant.next(), meant.next()) {
        (Some(only), None) => Some(only.address),
        // `this` itself may be `const` only in the definition.
        (None, _) => match found.as_slice() {
            [only] if only.parameters.len() == wanted.len() => Some(only.address),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn without_code(name: &str, class: &Type) -> String {
    let class = class.name();
    format!("`{name}` of `{class}` has no code: it was inlined wherever it is called, or is unused")
}

/// Returns the function in a slot of the virtual table of the object at an address.
pub(super) fn virtual_function(
    object: u64,
    slot: u64,
    scope: &dyn Scope,
) -> Result<u64, ValueError> {
    let memory = scope.memory();
    let word = |address: u64| {
        let mut bytes = [0; 8];
        if memory.read(address, &mut bytes) {
            Ok(u64::from_le_bytes(bytes))
        } else {
            Err(ValueError::Unreadable(address))
        }
    };
    let table = word(object)?;
    if memory.vtable_owner(table).is_none() {
        return Err(format!(
            "the virtual function cannot be determined: there is no constructed object with \
             virtual functions at {object:#x}"
        )
        .into());
    }
    word(table.wrapping_add(slot.wrapping_mul(8)))
}
