//! Overload resolution: functions, member functions, instances of a template.
//!
//! The best viable function is selected by the rule of C++ (ISO/IEC 14882, "Best viable function"):
//! no argument fits another function better, and at least one fits this one better. From best to
//! worst, an argument has the same type, is promoted, is converted to a number of the same kind or
//! to a base class, or to a number of another kind. If no function is best, none is selected, since
//! a call of the wrong one would give a wrong answer.
//!
//! Functions whose types differ only in references and `const` form one group. Within it, the value
//! category of the argument decides, and whether the function has code.

use super::instance::{is_default, is_meant};
use super::request::Argument;
use crate::classes::upcast::base_steps;
use crate::error::ValueError;
use crate::typed::{Location, Typed};
use juror_symbols::{Character, Encoding, Type, TypeKind, is_instance};

/// The cost of a promotion.
const PROMOTION: u32 = 1;
/// The cost of another type of the same kind; each derivation to a base class adds one.
const SAME_KIND: u32 = 2;
/// The cost of a number of another kind, or of `void *`.
pub(super) const CONVERSION: u32 = 100;
/// The cost of a pointer to an unrelated type, which C++ rejects.
const OTHER_POINTER: u32 = 200;
/// The cost of a qualifier that the argument has and the parameter has not, which C++ rejects.
const LOST_QUALIFIER: u32 = 1_000;
/// The cost of an argument that matches `...`.
const ELLIPSIS: u32 = 300;

/// A candidate function.
#[derive(Debug, Clone)]
pub struct Overload {
    /// The name.
    pub name: Box<str>,
    /// The address of its code.
    pub address: u64,
    /// The types of its parameters.
    pub parameters: Vec<Type>,
    /// Whether more arguments may follow.
    pub is_variadic: bool,
    /// The type, if it is known.
    pub r#type: Option<Type>,
}

/// The kinds of types between which arguments convert.
#[derive(PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Float,
    Pointer,
    Other(String),
}

pub(super) fn kind(r#type: &Type) -> Kind {
    let stripped = r#type.strip();
    match stripped.kind() {
        TypeKind::Base(Encoding::Float) => Kind::Float,
        TypeKind::Base(_) | TypeKind::Enumeration { .. } => Kind::Integer,
        TypeKind::Pointer(_) | TypeKind::Array { .. } => Kind::Pointer,
        TypeKind::Reference(_) => kind(&bare(r#type)),
        _ => Kind::Other(stripped.name()),
    }
}

/// Returns a type without references, typedefs and `const`.
pub(super) fn bare(r#type: &Type) -> Type {
    let stripped = r#type.strip();
    match stripped.kind() {
        TypeKind::Reference(target) => target.strip(),
        _ => stripped,
    }
}

/// Returns the target of a pointer, or the element of an array.
fn pointee(r#type: &Type) -> Option<Type> {
    bare(r#type).target().map(|target| target.strip())
}

/// Returns a name that is equal for equal types. The `const` of a pointer's target is left out.
pub(super) fn identity(r#type: &Type) -> String {
    let bare = bare(r#type);
    match (bare.kind(), pointee(&bare)) {
        (TypeKind::Pointer(_), Some(target)) => format!("{} *", plain_name(&target)),
        _ => plain_name(&bare),
    }
}

/// Returns the canonical name of a type: `long` for `long int`.
pub(super) fn plain_name(r#type: &Type) -> String {
    let name = r#type.name();
    match r#type.kind() {
        TypeKind::Base(_) => Type::builtin(&name).map_or(name, |known| known.name()),
        _ => name,
    }
}

/// Returns the cost of an argument for a parameter, or `None` if it does not fit.
pub(super) fn distance(argument: &Argument, parameter: &Type) -> Option<u32> {
    let wanted = bare(parameter);
    // The object of a member function has been selected before.
    if matches!(argument, Argument::Copy(_)) {
        return Some(0);
    }
    let (Argument::Value(value) | Argument::Number(value)) = argument else {
        let of = pointee(parameter)?;
        return match (wanted.kind(), of.kind()) {
            (TypeKind::Pointer(_), TypeKind::Base(_)) if let Some(it) = of.character() => {
                // The prefix of a literal is not known here.
                Some(u32::from(it != Character::Byte))
            }
            (TypeKind::Pointer(_), TypeKind::Void) => Some(CONVERSION),
            _ => None,
        };
    };
    let given = bare(&value.r#type);
    let is_written = matches!(argument, Argument::Number(_));
    if identity(&given) == identity(&wanted) || is_written && is_default(&given, &wanted) {
        return Some(0);
    }
    match (kind(&given), kind(&wanted)) {
        (Kind::Integer, Kind::Integer) | (Kind::Float, Kind::Float) => {
            Some(if is_promotion(&given, &wanted) {
                PROMOTION
            } else {
                SAME_KIND
            })
        }
        (Kind::Integer, Kind::Float) | (Kind::Float, Kind::Integer) => Some(CONVERSION),
        (Kind::Pointer, Kind::Pointer) => Some(pointer_distance(&given, &wanted)),
        (Kind::Other(_), Kind::Other(_)) => {
            base_steps(&given, &wanted).map(|steps| SAME_KIND + steps)
        }
        _ => None,
    }
}

fn pointer_distance(given: &Type, wanted: &Type) -> u32 {
    let (Some(given), Some(wanted)) = (pointee(given), pointee(wanted)) else {
        return OTHER_POINTER;
    };
    match (given.kind(), wanted.kind()) {
        // `null` converts to any pointer.
        (TypeKind::Void, _) => SAME_KIND,
        (_, TypeKind::Void) => CONVERSION,
        _ => base_steps(&given, &wanted).map_or(OTHER_POINTER, |steps| SAME_KIND + steps),
    }
}

/// Returns whether a conversion is a promotion: `bool`, `char` and `short` to `int`, `float` to
/// `double`.
fn is_promotion(given: &Type, wanted: &Type) -> bool {
    match wanted.kind() {
        TypeKind::Base(Encoding::Signed) => {
            wanted.size() == Some(4) && given.size().is_some_and(|size| size < 4)
        }
        TypeKind::Base(Encoding::Float) => wanted.size() == Some(8) && given.size() == Some(4),
        _ => false,
    }
}

/// Returns the cost of binding an argument to a reference: a temporary binds best to `&&`, a value
/// in memory to `&`, and a non-const value to a non-const reference. Pointers are ranked the same
/// way.
fn binding(argument: &Argument, parameter: &Type) -> u32 {
    let stripped = parameter.strip();
    let target = match stripped.kind() {
        TypeKind::Reference(target) => target,
        TypeKind::Pointer(target) => {
            let wanted = qualifiers(&target);
            return match argument {
                Argument::String(_) => qualification((true, false), wanted),
                // The object of a member function.
                Argument::Copy(value) => u32::from(is_const_type(&value.r#type) != wanted.0),
                Argument::Value(value) | Argument::Number(value) => {
                    let given = bare(&value.r#type).target();
                    given.map_or(0, |given| qualification(qualifiers(&given), wanted))
                }
            };
        }
        _ => return 0,
    };
    let takes_values = stripped.name().ends_with("&&");
    let (is_value, is_const) = match argument {
        Argument::String(_) => (true, true),
        Argument::Copy(value) => (true, is_const_type(&value.r#type)),
        Argument::Value(value) | Argument::Number(value) => {
            let refers = matches!(value.r#type.strip().kind(), TypeKind::Reference(_));
            let is_value = !refers && matches!(value.location, Location::Bytes(_));
            (is_value, is_const_value(value))
        }
    };
    match (is_value, takes_values) {
        (true, true) => 0,
        (true, false) => 1 + u32::from(!is_const_type(&target)),
        (false, false) => {
            let (_, is_volatile) = value_qualifiers(argument);
            qualification((is_const, is_volatile), qualifiers(&target))
        }
        (false, true) => 2,
    }
}

/// Returns the cost of the conversion between the qualifiers of what pointers or references lead
/// to: `const`, and `volatile`.
fn qualification(given: (bool, bool), wanted: (bool, bool)) -> u32 {
    let cost = |given: bool, wanted: bool| match (given, wanted) {
        (false, true) => 1,
        (true, false) => LOST_QUALIFIER,
        _ => 0,
    };
    cost(given.0, wanted.0) + cost(given.1, wanted.1)
}

/// Returns the qualifiers of the value of an argument, or of what a reference refers to.
fn value_qualifiers(argument: &Argument) -> (bool, bool) {
    match argument {
        Argument::String(_) => (true, false),
        Argument::Value(value) | Argument::Number(value) | Argument::Copy(value) => {
            match value.r#type.strip().kind() {
                TypeKind::Reference(target) => qualifiers(&target),
                _ => qualifiers(&value.r#type),
            }
        }
    }
}

/// Returns whether a type is `const`, and whether it is `volatile`, looking through typedefs.
fn qualifiers(r#type: &Type) -> (bool, bool) {
    let (mut is_const, mut is_volatile) = (false, false);
    let mut at = r#type.clone();
    for _ in 0..16 {
        at = match at.kind() {
            TypeKind::Const(inner) => {
                is_const = true;
                inner
            }
            TypeKind::Volatile(inner) => {
                is_volatile = true;
                inner
            }
            TypeKind::Typedef(inner) | TypeKind::Qualified(inner) => inner,
            _ => break,
        };
    }
    (is_const, is_volatile)
}

/// Returns whether a type is `const`, looking through typedefs.
pub fn is_const_type(r#type: &Type) -> bool {
    qualifiers(r#type).0
}

/// Returns whether a value is `const`.
pub(super) fn is_const_value(value: &Typed) -> bool {
    match value.r#type.strip().kind() {
        TypeKind::Reference(target) => is_const_type(&target),
        _ => is_const_type(&value.r#type),
    }
}

/// Returns whether a member function is `const`.
pub(super) fn is_const_member(parameters: &[Type]) -> bool {
    let this = parameters.first().map(|this| this.strip().kind());
    matches!(this, Some(TypeKind::Pointer(target)) if is_const_type(&target))
}

/// The result of overload resolution.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// No candidate takes the arguments.
    None,
    /// No candidate is better than all others.
    Several,
    /// The best candidates, which differ at most in references and `const`: their indices, each
    /// with the cost of binding, the cheapest first.
    Best(Vec<(usize, u32)>),
}

/// Returns the candidates that fit best, by the types of their parameters.
pub(super) fn best<'a>(
    candidates: impl Iterator<Item = (&'a [Type], bool)>,
    arguments: &[Argument],
) -> Fit {
    let fitting = candidates
        .enumerate()
        .filter_map(|(index, (parameters, is_variadic))| {
            let distances = distances(parameters, is_variadic, arguments)?;
            let pairs = arguments.iter().zip(parameters);
            let binding = pairs.map(|(argument, of)| binding(argument, of)).sum();
            Some(Candidate {
                index,
                names: parameters.iter().map(identity).collect(),
                distances,
                binding,
            })
        });
    let fitting: Vec<Candidate> = fitting.collect();
    let is_best = |one: &&Candidate| {
        let mut others = fitting.iter().filter(|other| other.names != one.names);
        others.all(|other| is_better(&one.distances, &other.distances))
    };
    let mut group: Vec<(usize, u32)> = fitting
        .iter()
        .filter(is_best)
        .map(|one| (one.index, one.binding))
        .collect();
    group.sort_by_key(|&(_, binding)| binding);
    match (fitting.is_empty(), group.is_empty()) {
        (true, _) => Fit::None,
        (_, true) => Fit::Several,
        _ => Fit::Best(group),
    }
}

struct Candidate {
    index: usize,
    names: Vec<String>,
    distances: Vec<u32>,
    binding: u32,
}

fn distances(parameters: &[Type], is_variadic: bool, arguments: &[Argument]) -> Option<Vec<u32>> {
    let is_count =
        arguments.len() == parameters.len() || is_variadic && arguments.len() > parameters.len();
    let of = |(at, argument): (usize, &Argument)| match parameters.get(at) {
        Some(parameter) => distance(argument, parameter),
        None => Some(ELLIPSIS),
    };
    is_count.then(|| arguments.iter().enumerate().map(of).collect())?
}

/// Drops the instances of a template that the compiler would not call for these arguments, unless
/// the user named an instance.
///
/// # Errors
/// No candidate is left.
pub(super) fn meant_by(
    written: &str,
    overloads: Vec<Overload>,
    arguments: &[Argument],
) -> Result<Vec<Overload>, ValueError> {
    let is_kept =
        |it: &&Overload| is_instance(written) || is_meant(&it.name, &it.parameters, arguments);
    let meant: Vec<Overload> = overloads.iter().filter(is_kept).cloned().collect();
    if meant.is_empty() && !overloads.is_empty() {
        Err(several(&overloads, true).into())
    } else {
        Ok(meant)
    }
}

/// Returns whether no argument fits worse, and at least one fits better.
fn is_better(one: &[u32], other: &[u32]) -> bool {
    let mut pairs = one.iter().zip(other);
    one != other && pairs.all(|(one, other)| one <= other)
}

/// Returns the overload that the arguments select, or `None` if the types cannot distinguish the
/// candidates, as with static functions of several files.
pub(super) fn choose(
    overloads: &[Overload],
    arguments: &[Argument],
) -> Result<Option<Typed>, ValueError> {
    if let [only] = overloads {
        return Ok(Some(only.value()));
    }
    let candidates = overloads.iter();
    let candidates = candidates.map(|it| (it.parameters.as_slice(), it.is_variadic));
    match best(candidates, arguments) {
        Fit::None => Err(several(overloads, true).into()),
        Fit::Several => Err(several(overloads, false).into()),
        Fit::Best(group) => {
            let best = group.first().map(|(_, binding)| *binding);
            if best >= Some(LOST_QUALIFIER) {
                return Err(several(overloads, true).into());
            }
            let best = group
                .iter()
                .take_while(|(_, binding)| Some(*binding) == best);
            let best: Vec<&Overload> = best.filter_map(|(at, _)| overloads.get(*at)).collect();
            match best.as_slice() {
                [only] => Ok(Some(only.value())),
                several => own_or_traits(several),
            }
        }
    }
}

/// Returns the inherent method, which takes precedence over those of traits, or `None` if these are
/// not methods of traits.
///
/// # Errors
/// Several traits have the method.
fn own_or_traits(methods: &[&Overload]) -> Result<Option<Typed>, ValueError> {
    let (of_traits, own): (Vec<&&Overload>, Vec<&&Overload>) =
        methods.iter().partition(|it| it.name.starts_with('<'));
    match (of_traits.as_slice(), own.as_slice()) {
        ([], _) => Ok(None),
        (_, [own]) => Ok(Some(own.value())),
        ([first, others @ ..], []) if others.iter().any(|it| it.name != first.name) => {
            let listed = of_traits.iter();
            let listed = listed.map(|it| signature(&it.name, &it.parameters));
            Err(of_several_traits(&listed.collect::<Vec<_>>()).into())
        }
        _ => Ok(None),
    }
}

/// Returns the message that several traits have the method.
pub(super) fn of_several_traits(listed: &[String]) -> String {
    format!("several traits have such a method: {}", listed.join(", "))
}

impl Overload {
    /// Returns the value of the function's name.
    pub fn value(&self) -> Typed {
        function_at(self.address, self.r#type.as_ref())
    }
}

/// Returns the value of a function's name: its address, as a pointer to its type as far as that is
/// known.
pub fn function_at(address: u64, r#type: Option<&Type>) -> Typed {
    let r#type = r#type.cloned().unwrap_or_else(Type::void);
    Typed::of_bytes(r#type.pointer_to(), address.to_le_bytes().to_vec())
}

fn several(overloads: &[Overload], fits_none: bool) -> String {
    let listed = overloads
        .iter()
        .map(|it| signature(&it.name, &it.parameters));
    complaint(&listed.collect::<Vec<_>>(), fits_none)
}

/// Returns a function as messages name it: `area(int)`.
pub(super) fn signature(name: &str, parameters: &[Type]) -> String {
    let parameters: Vec<String> = parameters.iter().map(Type::name).collect();
    format!("{name}({})", parameters.join(", "))
}

/// Returns the message that no candidate is selected.
pub(super) fn complaint(listed: &[String], fits_none: bool) -> String {
    let listed = listed.join(", ");
    if fits_none {
        format!("none of these takes such arguments: {listed}")
    } else {
        format!("several functions take such arguments: {listed}; a cast selects one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builtin(name: &str) -> Type {
        let plain = name.trim_end_matches('*');
        let mut found = match plain {
            "void" => Type::void(),
            plain => Type::builtin(plain).unwrap(),
        };
        for _ in 0..name.len() - plain.len() {
            found = found.pointer_to();
        }
        found
    }

    /// Asserts the candidate that arguments of these types select.
    #[track_caller]
    fn check(candidates: &[&[&str]], arguments: &[&str], expected: Result<usize, Fit>) {
        let types: Vec<Vec<Type>> = candidates
            .iter()
            .map(|list| list.iter().map(|name| builtin(name)).collect())
            .collect();
        let arguments: Vec<Argument> = arguments
            .iter()
            .map(|name| match *name {
                "text" => Argument::String("x".into()),
                name => Argument::Value(Typed::in_memory(builtin(name), 16)),
            })
            .collect();
        let found = best(types.iter().map(|it| (it.as_slice(), false)), &arguments);
        let found = match found {
            Fit::Best(group) => Ok(group[0].0),
            other => Err(other),
        };
        assert_eq!(found, expected, "{candidates:?}");
    }

    #[test]
    fn the_best_of_several_is_called() {
        let numbers: &[&[&str]] = &[&["int"], &["long"], &["double"]];
        check(numbers, &["int"], Ok(0));
        check(numbers, &["long"], Ok(1));
        check(numbers, &["double"], Ok(2));
        check(numbers, &["float"], Ok(2));
        check(numbers, &["char"], Ok(0));
        check(&[&["long"], &["long long"]], &["long long"], Ok(1));
        check(&[&["long"], &["long long"]], &["int"], Err(Fit::Several));
        check(numbers, &["bool"], Ok(0));
        check(numbers, &["char*"], Err(Fit::None));
        check(numbers, &["int", "int"], Err(Fit::None));
        // Each is better for one argument.
        let crossed: &[&[&str]] = &[&["int", "double"], &["double", "int"]];
        check(crossed, &["int", "int"], Err(Fit::Several));
        check(crossed, &["int", "double"], Ok(0));
        check(crossed, &["double", "short"], Ok(1));
        // Two candidates that fit badly are no better than a single one.
        let long: &[&[&str]] = &[&["int", "double", "double"], &["double", "int", "int"]];
        check(long, &["int", "int", "int"], Err(Fit::Several));
    }

    #[test]
    fn pointers_are_distinguished_by_their_targets() {
        let pointers: &[&[&str]] = &[&["char*"], &["int*"], &["void*"]];
        check(pointers, &["text"], Ok(0));
        check(pointers, &["char*"], Ok(0));
        check(pointers, &["int*"], Ok(1));
        check(pointers, &["double*"], Ok(2));
        check(&[&["int"], &["char*"]], &["text"], Ok(1));
        check(&[&["int"], &["int*"]], &["text"], Err(Fit::None));
    }

    #[test]
    fn functions_of_the_same_types_are_one_group() {
        let same: &[&[&str]] = &[&["int"], &["int"], &["double"]];
        let types: Vec<Vec<Type>> = same
            .iter()
            .map(|list| list.iter().map(|name| builtin(name)).collect())
            .collect();
        let argument = Argument::Value(Typed::in_memory(builtin("int"), 16));
        let found = best(types.iter().map(|it| (it.as_slice(), false)), &[argument]);
        assert_eq!(found, Fit::Best(vec![(0, 0), (1, 0)]));
    }

    #[test]
    fn qualifiers_are_added_and_not_lost() {
        let int = || builtin("int");
        let targets = [
            int(),
            int().constant(),
            int().volatile(),
            int().volatile().constant(),
        ];
        let types: Vec<Vec<Type>> = targets.iter().map(|it| vec![it.pointer_to()]).collect();
        let overloads = types.iter().zip(1..).map(|(parameters, address)| Overload {
            name: "f".into(),
            address,
            parameters: parameters.clone(),
            is_variadic: false,
            r#type: None,
        });
        let overloads: Vec<Overload> = overloads.collect();
        let chosen = |among: &[usize], given: usize| {
            let among: Vec<Overload> = among.iter().map(|&at| overloads[at].clone()).collect();
            let value = Typed::in_memory(targets[given].pointer_to(), 16);
            let found = choose(&among, &[Argument::Value(value)]).ok()??;
            let bytes = found.bytes(&crate::typed::NoMemory, 8).ok()?;
            Some(usize::from(bytes[0]) - 1)
        };
        for (among, given, expected) in [
            (&[0, 1, 2, 3][..], 0, Some(0)),
            (&[0, 1, 2, 3], 1, Some(1)),
            (&[0, 1, 2, 3], 2, Some(2)),
            (&[0, 1, 2, 3], 3, Some(3)),
            (&[0, 3], 1, Some(3)),
            (&[0, 1], 2, None),
            (&[1, 3], 0, Some(1)),
        ] {
            assert_eq!(chosen(among, given), expected, "{among:?} {given}");
        }
    }

    #[test]
    fn variadic_functions_come_last() {
        let (one, many) = (vec![builtin("int"), builtin("int")], vec![builtin("int")]);
        let candidates = || [(many.as_slice(), true), (one.as_slice(), false)].into_iter();
        let argument = Argument::Value(Typed::in_memory(builtin("int"), 16));
        let found = |count: usize| best(candidates(), &vec![argument.clone(); count]);
        assert_eq!(found(2), Fit::Best(vec![(1, 0)]));
        assert_eq!(found(3), Fit::Best(vec![(0, 0)]));
        assert_eq!(found(0), Fit::None);
    }
}
