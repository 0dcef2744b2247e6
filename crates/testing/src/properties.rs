//! Properties at random, in the property language, for tests that hold two ways to
//! evaluate them against each other; and how many random cases a test tries.

use proptest::collection::vec;
use proptest::prelude::*;

/// Returns the configuration of a test that tries so many random cases, or as many as the
/// environment variable `PROPTEST_CASES` says if these are more.
pub fn with_cases(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok();
    let asked = asked.and_then(|number| number.parse().ok());
    ProptestConfig::with_cases(cases.max(asked.unwrap_or(0)))
}

/// Returns automata over three of these events, each of which captures `x`. Every state
/// leads to the next one, so that all can be reached. The name has a number.
pub fn any_property(
    number: usize,
    events: &'static [&'static str],
) -> impl Strategy<Value = String> {
    let transition = (0..3_usize, 0..3_usize, any::<Option<bool>>(), -1..4_i64);
    let state = (any::<bool>(), 0..3_usize, vec(transition, 0..3));
    (vec(0..events.len(), 3), vec(state, 3)).prop_map(move |(chosen, states)| {
        let mut text = format!("property p{number}\n");
        for (position, event) in chosen.iter().enumerate() {
            text.push_str(&format!("event e{position} = {}\n", events[*event]));
        }
        text.push_str("var n = 0\n");
        for (position, (accepts, onwards, transitions)) in states.iter().enumerate() {
            let word = ["non-accepting", "accepting"][usize::from(*accepts)];
            text.push_str(&format!("state s{position} {word} {{\n"));
            for (event, to, guard, limit) in transitions {
                let guard = match guard {
                    None => "",
                    Some(true) => &format!("when x > {limit}"),
                    Some(false) => &format!("when n <= {limit}"),
                };
                text.push_str(&format!("  on e{event} {guard} {{ n += 1 }} -> s{to}\n"));
            }
            let next = (position + 1) % states.len();
            text.push_str(&format!("  on e{onwards} {{ n -= 1 }} -> s{next}\n}}\n"));
        }
        text
    })
}

/// Returns one or two such automata, `p0` and `p1`.
pub fn any_properties(events: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let both = (
        any_property(0, events),
        proptest::option::of(any_property(1, events)),
    );
    both.prop_map(|(first, second)| std::iter::once(first).chain(second).collect())
}
