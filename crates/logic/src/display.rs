//! Display of formulas and expressions in the syntax of properties.

use crate::{Bound, Formula, Guard, Regex};
use std::fmt::{self, Display, Formatter};

/// A function that returns the name of a proposition.
pub type Names<'a> = &'a dyn Fn(u8) -> String;

impl Formula {
    /// Returns a value that displays the formula, with the given names of propositions.
    pub fn display<'a>(&'a self, names: Names<'a>) -> impl Display + 'a {
        Shown {
            names,
            write: move |names: Names<'_>, f: &mut Formatter<'_>| write_formula(self, names, f),
        }
    }

    /// Returns whether the formula is written as an infix operator.
    fn is_infix(&self) -> bool {
        match self {
            Formula::And(..) | Formula::Or(..) => true,
            Formula::Until(keeps, _, _) => **keeps != Formula::True,
            Formula::Release(frees, _, _) => **frees != Formula::False,
            Formula::Since(keeps, _, _) => **keeps != Formula::True,
            Formula::Trigger(frees, _, _) => **frees != Formula::False,
            _ => false,
        }
    }
}

impl Regex {
    /// Returns a value that displays the expression, with the given names of
    /// propositions.
    pub fn display<'a>(&'a self, names: Names<'a>) -> impl Display + 'a {
        Shown {
            names,
            write: move |names: Names<'_>, f: &mut Formatter<'_>| write_regex(self, names, f),
        }
    }
}

struct Shown<'a, W> {
    names: Names<'a>,
    write: W,
}

impl<W: Fn(Names<'_>, &mut Formatter<'_>) -> fmt::Result> Display for Shown<'_, W> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (self.write)(self.names, f)
    }
}

fn write_formula(formula: &Formula, names: Names<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    use Formula as F;
    let unary = |f: &mut Formatter<'_>, word: &str, part: &Formula| {
        write!(f, "{word} ")?;
        write_part(part, names, f)
    };
    match formula {
        F::True => f.write_str("true"),
        F::False => f.write_str("false"),
        F::Proposition(bit) => f.write_str(&names(*bit)),
        F::Not(part) => unary(f, "not", part),
        F::Next(part) => unary(f, "next", part),
        F::WeakNext(part) => unary(f, "weak next", part),
        F::Yesterday(part) => unary(f, "yesterday", part),
        F::WeakYesterday(part) => unary(f, "weak yesterday", part),
        F::And(left, right) => write_chain(formula, [left, right], "and", names, f),
        F::Or(left, right) => match &**left {
            F::Not(premise) => write_infix(premise, "implies", right, names, f),
            _ => write_chain(formula, [left, right], "or", names, f),
        },
        F::Until(keeps, reaches, bound) => match &**keeps {
            F::True => unary(f, &some("eventually", *bound), reaches),
            _ => write_infix(keeps, &some("until", *bound), reaches, names, f),
        },
        F::Release(frees, keeps, bound) => match (&**frees, &**keeps, bound) {
            (F::False, _, _) => unary(f, &all("always", *bound), keeps),
            (_, F::Or(first, second), Bound::Unbounded) if first == frees => {
                write_infix(second, "weak until", frees, names, f)
            }
            _ => write_infix(frees, &all("release", *bound), keeps, names, f),
        },
        F::Since(keeps, starts, bound) => match &**keeps {
            F::True => unary(f, &some("once", *bound), starts),
            _ => write_infix(keeps, &some("since", *bound), starts, names, f),
        },
        F::Trigger(frees, keeps, bound) => match &**frees {
            F::False => unary(f, &all("historically", *bound), keeps),
            _ => write_infix(frees, &all("trigger", *bound), keeps, names, f),
        },
    }
}

/// Writes an operand, in parentheses if it would be ambiguous.
fn write_part(part: &Formula, names: Names<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    if !part.is_infix() {
        return write_formula(part, names, f);
    }
    f.write_str("(")?;
    write_formula(part, names, f)?;
    f.write_str(")")
}

fn write_infix(
    left: &Formula,
    word: &str,
    right: &Formula,
    names: Names<'_>,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    write_part(left, names, f)?;
    write!(f, " {word} ")?;
    write_part(right, names, f)
}

/// Writes a chain such as `a and b and c` without parentheses.
fn write_chain(
    whole: &Formula,
    parts: [&Formula; 2],
    word: &str,
    names: Names<'_>,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    for (place, part) in parts.into_iter().enumerate() {
        if place > 0 {
            write!(f, " {word} ")?;
        }
        let alike = match (whole, part) {
            (Formula::And(..), Formula::And(..)) => true,
            (Formula::Or(..), Formula::Or(first, _)) => !matches!(**first, Formula::Not(_)),
            _ => false,
        };
        if alike {
            write_formula(part, names, f)?
        } else {
            write_part(part, names, f)?
        }
    }
    Ok(())
}

/// Returns the keyword of an existential operator with its bound.
fn some(word: &str, bound: Bound) -> String {
    bounded(word, "within", bound)
}

/// Returns the keyword of a universal operator with its bound.
fn all(word: &str, bound: Bound) -> String {
    bounded(word, "for", bound)
}

fn bounded(word: &str, preposition: &str, bound: Bound) -> String {
    let shown = match bound {
        Bound::Unbounded => return word.to_owned(),
        Bound::Steps { from: 0, to } => to.map(|to| format!("{preposition} {}", steps(to))),
        Bound::Steps { from, to } => Some(match to {
            Some(to) => format!("from {from} to {}", steps(to)),
            None => format!("from {} on", steps(from)),
        }),
        Bound::Time { from: 0, to } => to.map(|to| format!("{preposition} {}", time(to))),
        Bound::Time { from, to } => Some(match to {
            Some(to) => format!("from {} to {}", time(from), time(to)),
            None => format!("from {} on", time(from)),
        }),
    };
    match shown {
        Some(shown) => format!("{word} {shown}"),
        None => word.to_owned(),
    }
}

fn steps(count: u32) -> String {
    match count {
        1 => "1 step".to_owned(),
        _ => format!("{count} steps"),
    }
}

/// Returns a time in the largest unit that shows it exactly.
pub(crate) fn time(nanoseconds: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    for (unit, name) in units {
        if nanoseconds != 0 && nanoseconds.is_multiple_of(unit) {
            return format!("{} {name}", nanoseconds / unit);
        }
    }
    format!("{nanoseconds} ns")
}

/// Returns the precedence level of an expression: choices, sequences, repetitions.
fn level(regex: &Regex) -> u8 {
    match regex {
        Regex::Choice(..) => 4,
        Regex::Both(..) => 3,
        Regex::Sequence(..) => 2,
        Regex::Complement(_) => 1,
        Regex::Letter(guard) if guard.propositions().count_ones() > 1 => 3,
        Regex::Letter(guard) if guard.forbidden != 0 => 1,
        _ => 0,
    }
}

fn write_regex(regex: &Regex, names: Names<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    let within = level(regex);
    let part = |part: &Regex, limit: u8, f: &mut Formatter<'_>| {
        if level(part) <= limit {
            return write_regex(part, names, f);
        }
        f.write_str("(")?;
        write_regex(part, names, f)?;
        f.write_str(")")
    };
    match regex {
        Regex::Nothing => f.write_str("nothing"),
        Regex::Empty => f.write_str("empty"),
        Regex::Letter(guard) => write_guard(*guard, names, f),
        Regex::Sequence(first, second) => {
            part(first, within, f)?;
            f.write_str(" ")?;
            part(second, within, f)
        }
        Regex::Choice(first, second) => {
            part(first, within, f)?;
            f.write_str(" or ")?;
            part(second, within, f)
        }
        Regex::Both(first, second) => {
            part(first, within, f)?;
            f.write_str(" and ")?;
            part(second, within, f)
        }
        Regex::Complement(inner) => {
            f.write_str("not ")?;
            part(inner, 0, f)
        }
        Regex::Repeat {
            expression,
            from,
            to,
        } => {
            part(expression, 0, f)?;
            match (from, to) {
                (0, None) => f.write_str("*"),
                (1, None) => f.write_str("+"),
                (0, Some(1)) => f.write_str("?"),
                (from, None) => write!(f, "{{{from},}}"),
                (from, Some(to)) => write!(f, "{{{from},{to}}}"),
            }
        }
    }
}

/// Writes a guard, for example `a and not b`.
fn write_guard(guard: Guard, names: Names<'_>, f: &mut Formatter<'_>) -> fmt::Result {
    if guard == Guard::default() {
        return f.write_str("any");
    }
    let mut separator = "";
    for bit in 0..64_u8 {
        let mask = 1_u64 << bit;
        for (propositions, word) in [(guard.required, ""), (guard.forbidden, "not ")] {
            if propositions & mask != 0 {
                write!(f, "{separator}{word}{}", names(bit))?;
                separator = " and ";
            }
        }
    }
    Ok(())
}

impl Guard {
    /// Returns a value that displays the guard, with the given names of propositions.
    pub fn display<'a>(self, names: Names<'a>) -> impl Display + 'a {
        Shown {
            names,
            write: move |names: Names<'_>, f: &mut Formatter<'_>| write_guard(self, names, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn name(bit: u8) -> String {
        char::from(b'a' + bit).to_string()
    }

    #[test]
    fn formulas_read_like_the_language() {
        let [a, b, c] = [0, 1, 2].map(Formula::Proposition);
        let check = |formula: Formula, expected: &str| {
            assert_eq!(formula.display(&name).to_string(), expected);
        };
        let within = |to| Bound::Steps {
            from: 0,
            to: Some(to),
        };
        check(
            a.clone().implies(b.clone().eventually()).always(),
            "always (a implies eventually b)",
        );
        check(a.clone().and(b.clone()).and(c.clone()), "a and b and c");
        check(a.clone().or(b.clone()).and(c.clone()), "(a or b) and c");
        check(
            a.clone().or(b.clone().implies(c.clone())),
            "a or (b implies c)",
        );
        check(a.clone().or(b.clone()).or(c.clone()), "a or b or c");
        check(a.clone().weak_until(b.clone()), "a weak until b");
        check(a.clone().release(b.clone()), "a release b");
        check(
            a.clone().release(b.clone().or(c.clone())),
            "a release (b or c)",
        );
        check(a.clone().release(b.clone()).negation(), "not (a release b)");
        check(a.clone().always().negation(), "not always a");
        check(a.clone().since(b.clone()).negation(), "not (a since b)");
        check(a.clone().once().negation(), "not once a");
        check(a.clone().historically().negation(), "not historically a");
        let trigger = |frees: &Formula, keeps: &Formula| {
            Formula::Trigger(
                Arc::new(frees.clone()),
                Arc::new(keeps.clone()),
                Bound::Unbounded,
            )
        };
        check(trigger(&a, &b).negation(), "not (a trigger b)");
        check(a.clone().until(b.clone()).negation(), "not (a until b)");
        check(
            a.clone().eventually_within(within(1)),
            "eventually within 1 step a",
        );
        check(a.clone().always_within(within(3)), "always for 3 steps a");
        check(a.clone().once().historically(), "historically once a");
        check(
            Formula::Since(
                Arc::new(a.clone()),
                Arc::new(b.clone()),
                Bound::Time {
                    from: 0,
                    to: Some(1_500_000),
                },
            ),
            "a since within 1500 us b",
        );
        check(
            Formula::Until(
                Arc::new(a.clone()),
                Arc::new(b.clone()),
                Bound::Time {
                    from: 2_000_000_000,
                    to: None,
                },
            ),
            "a until from 2 s on b",
        );
        check(trigger(&a, &b), "a trigger b");
        check(c.yesterday().next(), "next yesterday c");
    }

    #[test]
    fn expressions_read_like_the_language() {
        let [a, b, c] = [0, 1, 2].map(Regex::proposition);
        let check = |regex: Regex, expected: &str| {
            assert_eq!(regex.display(&name).to_string(), expected);
        };
        check(
            a.clone()
                .then(b.clone().or(c.clone()).star())
                .then(a.clone()),
            "a (b or c)* a",
        );
        check(a.clone().then(b.clone()).repeat(2, Some(5)), "(a b){2,5}");
        check(a.clone().complement().and(b.clone()), "not a and b");
        check(
            Regex::any().repeat(1, None).then(c.repeat(0, Some(1))),
            "any+ c?",
        );
        let letter = |required, forbidden| {
            Regex::Letter(Guard {
                required,
                forbidden,
            })
        };
        check(letter(1, 2).star(), "(a and not b)*");
        check(letter(0, 2).star(), "(not b)*");
        check(letter(0, 2).then(a.clone()), "not b a");
        check(letter(3, 0).then(a.clone()), "(a and b) a");
        check(a.clone().then(b).complement().star(), "(not (a b))*");
        check(a.clone().complement().then(a), "not a a");
    }
}
