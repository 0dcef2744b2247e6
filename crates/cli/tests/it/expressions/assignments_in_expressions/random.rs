//! Random expressions with assignments. Each variable is changed at one place of an expression
//! at most, and read at no other, so that C defines the value.

use super::oracle::check;
use crate::support::printed::plain_builds;
use juror_testing::{Language, with_cases};
use proptest::prelude::*;

/// How many expressions one program evaluates.
const FORMS: usize = 60;

/// A place that is changed, and the type in which a plain assignment converts to it.
const PLACES: &[(&str, &str)] = &[
    ("x", "int"),
    ("n", "int"),
    ("y", "int"),
    ("c", "signed char"),
    ("uc", "unsigned char"),
    ("s", "short int"),
    ("us", "unsigned short"),
    ("u", "unsigned"),
    ("l", "long int"),
    ("ul", "unsigned long"),
    ("bits.low", ""),
    ("bits.high", ""),
    ("o.a", "int"),
    ("q->b", "long int"),
    ("b", "_Bool"),
    ("f", "float"),
    ("d", "double"),
    ("table[1]", "int"),
    ("*(p + 2)", "int"),
];

/// Values without effects: of variables that nothing changes, and constants.
fn pure() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "ri", "ru", "rc", "rl", "1", "2", "3", "7", "-1", "-5", "4u", "'a'",
    ]);
    let leaf = leaf.prop_map(str::to_owned);
    let operator = prop::sample::select(vec!["+", "-", "*", "&", "|", "^"]);
    leaf.clone().prop_recursive(2, 4, 2, move |inner| {
        (inner.clone(), operator.clone(), inner)
            .prop_map(|(left, operator, right)| format!("({left} {operator} {right})"))
    })
}

/// One change of the place of this number.
fn change(number: usize) -> impl Strategy<Value = String> {
    let (place, of) = PLACES[number];
    let is_fraction = matches!(of, "float" | "double");
    let plain = pure().prop_map(move |value| match of {
        "" if place == "bits.low" => format!("({place} = {value} & 7)"),
        "" => format!("({place} = (int)({value} & 15) - 8)"),
        // The fraction of a large number would be shown with other digits.
        _ if is_fraction => format!("({place} = {value} & 1023)"),
        _ => format!("({place} = ({of})({value}))"),
    });
    let operators = if is_fraction {
        vec!["+=", "-=", "*="]
    } else {
        vec!["+=", "-=", "*=", "&=", "|=", "^="]
    };
    let operators = prop::sample::select(operators);
    let small = prop::sample::select(vec!["1", "2", "3", "ri", "rc", "ru", "250"]);
    let compound = (operators, small)
        .prop_map(move |(operator, value)| format!("({place} {operator} {value})"));
    let by_constant =
        prop::sample::select(vec!["/= 3", "%= 4", ">>= 1", "<<= 2"]).prop_map(move |rest| {
            if is_fraction {
                format!("({place} += 0.5)")
            } else {
                format!("({place} {rest})")
            }
        });
    let step = prop::sample::select(vec![("++", ""), ("--", ""), ("", "++"), ("", "--")]).prop_map(
        move |(before, after)| {
            if place.starts_with('*') {
                format!("({before}({place}){after})")
            } else {
                format!("({before}{place}{after})")
            }
        },
    );
    prop_oneof![plain, compound, by_constant, step]
}

/// An expression with up to three changes, of different places.
fn expression() -> impl Strategy<Value = String> {
    let numbers = prop::sample::subsequence((0..PLACES.len()).collect::<Vec<_>>(), 1..=3);
    let joined = numbers.prop_flat_map(|numbers| {
        let changes: Vec<_> = numbers.into_iter().map(change).collect();
        let joins = prop::collection::vec(0..6_usize, 3);
        (changes, joins, pure())
    });
    joined.prop_map(|(changes, joins, pure)| {
        let mut changes = changes.into_iter();
        let first = changes.next().unwrap_or(pure.clone());
        changes
            .zip(joins)
            .fold(first, |whole, (next, join)| match join {
                0 => format!("({whole}, {next})"),
                1 => format!("({whole} + {next})"),
                2 => format!("({whole} && {next})"),
                3 => format!("({whole} || {next})"),
                4 => format!("({whole} ? {next} : {pure})"),
                _ => format!("({pure} < 3 ? {whole} : {next})"),
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 40, ..with_cases(2) })]

    #[test]
    fn random_assignments_do_what_the_compiler_does(
        forms in prop::collection::vec(expression(), FORMS)
    ) {
        check(&forms, &plain_builds(Language::C)[0]);
    }
}
