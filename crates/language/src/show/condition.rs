//! Conditions over propositions in short form.
//!
//! A set of letters is a set of points; its prime implicants are found by merging
//! neighbours (Quine 1952, McCluskey 1956), and a small cover is chosen greedily. Sets
//! over many propositions are not simplified.

use juror_logic::Guard;
use std::collections::BTreeSet;

/// The maximum number of propositions for which conditions are simplified.
const PROPOSITIONS_MAX: u32 = 8;

/// Describes the condition that holds if one of the guards does.
pub(super) fn condition(guards: &[Guard], names: &dyn Fn(u8) -> String) -> String {
    let cubes = shortened(guards);
    if cubes.iter().any(|cube| cube.required | cube.forbidden == 0) {
        return "anything".to_owned();
    }
    let words: Vec<String> = cubes.iter().map(|cube| conjunction(*cube, names)).collect();
    words.join(" or ")
}

fn conjunction(guard: Guard, names: &dyn Fn(u8) -> String) -> String {
    let mut words = Vec::new();
    for bit in 0..64 {
        let mask = 1_u64 << bit;
        if guard.required & mask != 0 {
            words.push(names(bit));
        } else if guard.forbidden & mask != 0 {
            words.push(format!("not {}", names(bit)));
        }
    }
    words.join(" and ")
}

fn shortened(guards: &[Guard]) -> Vec<Guard> {
    let asked = guards
        .iter()
        .fold(0, |mask, guard| mask | guard.required | guard.forbidden);
    if asked.count_ones() > PROPOSITIONS_MAX {
        return guards.to_vec();
    }
    let points = points(guards, asked);
    let mut primes: Vec<Guard> = primes(&points, asked).into_iter().collect();
    primes.sort_by_key(|prime| (prime.required | prime.forbidden).count_ones());
    let mut missing = points;
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        // The largest first if several cover as many points.
        let gain = |prime: &Guard| missing.iter().filter(|&&p| takes(*prime, p)).count();
        let Some(best) = primes.iter().rev().max_by_key(|prime| gain(prime)).copied() else {
            break;
        };
        missing.retain(|&point| !takes(best, point));
        chosen.push(best);
    }
    chosen.sort();
    chosen
}

fn takes(guard: Guard, letter: u64) -> bool {
    letter & guard.required == guard.required && letter & guard.forbidden == 0
}

/// Returns all letters over the propositions `asked` that one of the guards accepts.
fn points(guards: &[Guard], asked: u64) -> BTreeSet<u64> {
    let mut points = BTreeSet::new();
    // Enumerates the subsets of `asked`.
    let mut letter = 0_u64;
    loop {
        if guards.iter().any(|guard| takes(*guard, letter)) {
            points.insert(letter);
        }
        letter = letter.wrapping_sub(asked) & asked;
        if letter == 0 {
            return points;
        }
    }
}

fn primes(points: &BTreeSet<u64>, asked: u64) -> BTreeSet<Guard> {
    let whole = |point: &u64| Guard {
        required: *point,
        forbidden: asked & !point,
    };
    let mut cubes: BTreeSet<Guard> = points.iter().map(whole).collect();
    let mut primes = BTreeSet::new();
    while !cubes.is_empty() {
        let mut joined = BTreeSet::new();
        for cube in &cubes {
            let mut is_prime = true;
            for bit in 0..64 {
                let mask = 1_u64 << bit;
                if (cube.required | cube.forbidden) & mask == 0 {
                    continue;
                }
                let neighbour = Guard {
                    required: cube.required ^ mask,
                    forbidden: cube.forbidden ^ mask,
                };
                if cubes.contains(&neighbour) {
                    is_prime = false;
                    joined.insert(Guard {
                        required: cube.required & !mask,
                        forbidden: cube.forbidden & !mask,
                    });
                }
            }
            if is_prime {
                primes.insert(*cube);
            }
        }
        cubes = joined;
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(bit: u8) -> String {
        char::from(b'a' + bit).to_string()
    }

    #[track_caller]
    fn check(guards: &[(u64, u64)], expected: &str) {
        let guards: Vec<Guard> = guards
            .iter()
            .map(|&(required, forbidden)| Guard {
                required,
                forbidden,
            })
            .collect();
        assert_eq!(condition(&guards, &name), expected);
    }

    #[test]
    fn conditions_are_short() {
        check(&[(0, 0)], "anything");
        check(&[(1, 0), (0, 1)], "anything");
        check(&[(0b11, 0), (0b01, 0b10)], "a");
        check(&[(0b01, 0), (0b10, 0b01)], "a or b");
        check(&[(0b01, 0b10)], "a and not b");
    }

    proptest! {
        #[test]
        fn short_conditions_take_the_same_letters(
            guards in prop::collection::vec((0_u64..32, 0_u64..32), 1..8)
        ) {
            let guards: Vec<Guard> = guards
                .into_iter()
                .map(|(required, forbidden)| Guard { required, forbidden: forbidden & !required })
                .collect();
            let short = shortened(&guards);
            for letter in 0..32 {
                prop_assert_eq!(
                    guards.iter().any(|g| takes(*g, letter)),
                    short.iter().any(|g| takes(*g, letter))
                );
            }
        }
    }
}
