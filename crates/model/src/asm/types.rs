//! Types and their values.

use super::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of values of a type that is enumerated.
pub(super) const VALUES_MAX: usize = 1 << 16;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// The empty type: the element type of `{}`.
    Nothing,
    /// The type of `undef`.
    Undefined,
    /// Booleans.
    Boolean,
    /// Integers.
    Integer,
    /// Integers of an inclusive range.
    Range(i64, i64),
    /// Strings.
    Text,
    /// An enumeration, by its number in the model.
    Enumeration(u32),
    /// The objects of a class.
    Class(u32),
    /// The values of a type, and `undef`.
    Optional(Arc<Type>),
    /// Sets with an element type.
    Set(Arc<Type>),
    /// Sequences with an element type.
    Sequence(Arc<Type>),
    /// Maps with a key and a value type.
    Map(Arc<Type>, Arc<Type>),
    /// Tuples with component types.
    Tuple(Arc<[Type]>),
}

impl Type {
    /// Returns whether a value of another type may belong to this one; `undef` and
    /// numbers out of range are detected at run time.
    pub fn takes(&self, other: &Type) -> bool {
        match (self, other) {
            (_, Type::Nothing) => true,
            (Type::Integer | Type::Range(..), Type::Integer | Type::Range(..)) => true,
            (Type::Optional(_), Type::Undefined) => true,
            (Type::Optional(this), Type::Optional(other)) => this.takes(other),
            (Type::Optional(this), other) => this.takes(other),
            (this, Type::Optional(other)) => this.takes(other),
            (Type::Set(this), Type::Set(other)) | (Type::Sequence(this), Type::Sequence(other)) => {
                this.takes(other)
            }
            (Type::Map(key, value), Type::Map(other_key, other_value)) => {
                key.takes(other_key) && value.takes(other_value)
            }
            (Type::Tuple(these), Type::Tuple(others)) => {
                these.len() == others.len()
                    && these
                        .iter()
                        .zip(others.iter())
                        .all(|(this, other)| this.takes(other))
            }
            (this, other) => this == other,
        }
    }

    /// Returns the least common type.
    pub fn join(&self, other: &Type) -> Option<Type> {
        match (self, other) {
            (Type::Range(from, to), Type::Range(least, greatest)) => {
                Some(Type::Range(*from.min(least), *to.max(greatest)))
            }
            (Type::Undefined, Type::Undefined) => Some(Type::Undefined),
            (Type::Undefined, Type::Optional(_)) => Some(other.clone()),
            (Type::Undefined, other) => Some(Type::Optional(Arc::new(other.clone()))),
            (_, Type::Undefined) => other.join(self),
            (Type::Integer, _) if self.takes(other) => Some(Type::Integer),
            (_, Type::Integer) if self.takes(other) => Some(Type::Integer),
            (_, Type::Optional(_)) if other.takes(self) => Some(other.clone()),
            _ if self.takes(other) => Some(self.clone()),
            _ if other.takes(self) => Some(other.clone()),
            _ => None,
        }
    }

    /// Returns the type without `undef`.
    pub fn present(&self) -> &Type {
        match self {
            Type::Optional(this) => this.present(),
            _ => self,
        }
    }

    /// Returns whether a value belongs to this type.
    pub fn has(&self, value: &Value, enumerations: &[Enumeration]) -> bool {
        match (self, value) {
            (Type::Optional(_) | Type::Undefined, Value::Undefined) => true,
            (Type::Optional(of), value) => of.has(value, enumerations),
            (Type::Boolean, Value::Boolean(_))
            | (Type::Integer, Value::Integer(_))
            | (Type::Text, Value::Text(_)) => true,
            (Type::Range(from, to), Value::Integer(value)) => (from..=to).contains(&value),
            (Type::Enumeration(number), Value::Element(element)) => enumerations
                .get(*number as usize)
                .is_some_and(|enumeration| enumeration.has(*element)),
            (Type::Class(class), Value::Object(of, _)) => class == of,
            (Type::Set(of), Value::Set(values)) | (Type::Sequence(of), Value::Sequence(values)) => {
                values.iter().all(|value| of.has(value, enumerations))
            }
            (Type::Map(key, of), Value::Map(map)) => map
                .iter()
                .all(|(from, to)| key.has(from, enumerations) && of.has(to, enumerations)),
            (Type::Tuple(types), Value::Tuple(values)) => {
                types.len() == values.len()
                    && types
                        .iter()
                        .zip(values.iter())
                        .all(|(of, value)| of.has(value, enumerations))
            }
            _ => false,
        }
    }

    /// Returns the number of values, at most [`VALUES_MAX`]: the cost of enumerating
    /// them.
    pub fn count(&self, enumerations: &[Enumeration]) -> usize {
        let count = match self {
            Type::Integer | Type::Text | Type::Class(_) | Type::Sequence(_) => 0,
            Type::Nothing => 0,
            Type::Undefined => 1,
            Type::Boolean => 2,
            Type::Range(from, to) => {
                let steps = to.saturating_sub(*from).saturating_add(1);
                usize::try_from(steps).unwrap_or(0)
            }
            Type::Enumeration(number) => enumerations
                .get(*number as usize)
                .map_or(0, |enumeration| enumeration.count as usize),
            Type::Optional(of) => of.count(enumerations) + 1,
            Type::Set(of) => power(2, of.count(enumerations)),
            Type::Map(key, of) => power(of.count(enumerations) + 1, key.count(enumerations)),
            Type::Tuple(types) => types.iter().fold(1, |all: usize, of| {
                all.saturating_mul(of.count(enumerations)).min(VALUES_MAX)
            }),
        };
        count.min(VALUES_MAX)
    }

    /// Returns all values in order; `None` if there are infinitely or too many.
    pub fn values(&self, enumerations: &[Enumeration]) -> Option<Vec<Value>> {
        let values = match self {
            Type::Nothing => Vec::new(),
            Type::Undefined => vec![Value::Undefined],
            Type::Boolean => vec![Value::Boolean(false), Value::Boolean(true)],
            Type::Integer | Type::Text | Type::Class(_) | Type::Sequence(_) => return None,
            Type::Range(from, to) => {
                if to.checked_sub(*from)? >= VALUES_MAX as i64 {
                    return None;
                }
                (*from..=*to).map(Value::Integer).collect()
            }
            Type::Enumeration(number) => {
                let enumeration = enumerations.get(*number as usize)?;
                enumeration.elements().map(Value::Element).collect()
            }
            Type::Optional(of) => {
                let mut values = of.values(enumerations)?;
                values.insert(0, Value::Undefined);
                values.dedup();
                values
            }
            Type::Set(of) => {
                let mut sets = vec![Vec::new()];
                for value in of.values(enumerations)? {
                    if sets.len() * 2 > VALUES_MAX {
                        return None;
                    }
                    for without in 0..sets.len() {
                        let mut with = sets.get(without)?.clone();
                        with.push(value.clone());
                        sets.push(with);
                    }
                }
                sets.into_iter().map(Value::set).collect()
            }
            Type::Map(key, of) => {
                let values = of.values(enumerations)?;
                let mut maps = vec![BTreeMap::new()];
                for key in key.values(enumerations)? {
                    if maps.len() * (values.len() + 1) > VALUES_MAX {
                        return None;
                    }
                    for without in 0..maps.len() {
                        for value in &values {
                            let mut with = maps.get(without)?.clone();
                            with.insert(key.clone(), value.clone());
                            maps.push(with);
                        }
                    }
                }
                maps.into_iter()
                    .map(|map| Value::Map(Arc::new(map)))
                    .collect()
            }
            Type::Tuple(types) => {
                let mut tuples: Vec<Vec<Value>> = vec![Vec::new()];
                for of in types.iter() {
                    let values = of.values(enumerations)?;
                    if tuples.len() * values.len() > VALUES_MAX {
                        return None;
                    }
                    tuples = tuples
                        .iter()
                        .flat_map(|tuple| {
                            values
                                .iter()
                                .map(|value| [&tuple[..], std::slice::from_ref(value)].concat())
                        })
                        .collect();
                }
                tuples
                    .into_iter()
                    .map(|tuple| Value::Tuple(tuple.into()))
                    .collect()
            }
        };
        (values.len() <= VALUES_MAX).then_some(values)
    }
}

fn power(base: usize, exponent: usize) -> usize {
    let exponent = u32::try_from(exponent).unwrap_or(u32::MAX);
    base.saturating_pow(exponent).min(VALUES_MAX)
}

/// An enumeration with consecutively numbered elements.
#[derive(Debug, Clone)]
pub struct Enumeration {
    /// The name.
    pub name: Arc<str>,
    /// Number of its first element.
    pub first: u32,
    /// Number of elements.
    pub count: u32,
}

impl Enumeration {
    /// Returns the numbers of its elements.
    pub fn elements(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }

    fn has(&self, element: u32) -> bool {
        self.elements().contains(&element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_values_of_a_type_are_those_it_has() {
        let mode = Enumeration {
            name: "Mode".into(),
            first: 2,
            count: 3,
        };
        let enumerations = [mode];
        let check = |of: Type, count: usize| {
            let values = of.values(&enumerations).unwrap();
            assert_eq!(values.len(), count, "{of:?}");
            assert!(of.count(&enumerations) >= count, "{of:?}");
            let different: BTreeSet<&Value> = values.iter().collect();
            assert_eq!(different.len(), count, "{of:?}");
            assert!(values.iter().all(|value| of.has(value, &enumerations)));
        };
        let boxed = |of: Type| Arc::new(of);
        check(Type::Boolean, 2);
        check(Type::Range(-1, 2), 4);
        check(Type::Range(2, 1), 0);
        check(Type::Optional(boxed(Type::Enumeration(0).clone())), 4);
        check(Type::Set(boxed(Type::Range(1, 4))), 16);
        check(
            Type::Map(boxed(Type::Boolean), boxed(Type::Range(1, 3))),
            16,
        );
        check(
            Type::Tuple([Type::Boolean, Type::Enumeration(0), Type::Undefined].into()),
            6,
        );
    }

    #[test]
    fn endless_types_are_not_listed() {
        let check = |of: Type| assert_eq!(of.values(&[]), None, "{of:?}");
        check(Type::Integer);
        check(Type::Text);
        check(Type::Range(i64::MIN, i64::MAX));
        check(Type::Set(Arc::new(Type::Range(1, 17))));
        check(Type::Map(
            Arc::new(Type::Range(1, 9)),
            Arc::new(Type::Range(1, 9)),
        ));
        check(Type::Tuple(
            [Type::Range(1, 300), Type::Range(1, 300)].into(),
        ));
    }

    #[test]
    fn a_common_type_accepts_both() {
        let optional = |of: Type| Type::Optional(Arc::new(of));
        let check = |left: Type, right: Type, expected: Option<Type>| {
            assert_eq!(left.join(&right), expected);
            assert_eq!(right.join(&left), expected);
            if let Some(both) = expected {
                assert!(both.takes(&left) && both.takes(&right));
            }
        };
        check(
            Type::Range(1, 2),
            Type::Range(5, 6),
            Some(Type::Range(1, 6)),
        );
        check(Type::Range(1, 2), Type::Integer, Some(Type::Integer));
        check(Type::Undefined, Type::Text, Some(optional(Type::Text)));
        check(optional(Type::Text), Type::Text, Some(optional(Type::Text)));
        check(Type::Text, Type::Boolean, None);
    }
}
