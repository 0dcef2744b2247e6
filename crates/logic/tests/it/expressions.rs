//! Regular expressions against a matcher that tries everything.

use crate::common::words;
use juror_event::Verdict;
use juror_logic::{Guard, Letter, LogicError, Machine, Meaning, Regex};
use juror_testing::Numbers;

/// Whether an expression matches all of a word, by the definition.
fn matches(regex: &Regex, word: &[Letter]) -> bool {
    let mut cuts = 0..=word.len();
    match regex {
        Regex::Nothing => false,
        Regex::Empty => word.is_empty(),
        Regex::Letter(guard) => match word {
            [letter] => {
                letter.0 & guard.required == guard.required && letter.0 & guard.forbidden == 0
            }
            _ => false,
        },
        Regex::Sequence(first, second) => {
            cuts.any(|cut| matches(first, &word[..cut]) && matches(second, &word[cut..]))
        }
        Regex::Choice(first, second) => matches(first, word) || matches(second, word),
        Regex::Both(first, second) => matches(first, word) && matches(second, word),
        Regex::Complement(part) => !matches(part, word),
        Regex::Repeat {
            expression,
            from,
            to,
        } => repeats(expression, word, *from, *to),
    }
}

fn repeats(regex: &Regex, word: &[Letter], from: u32, to: Option<u32>) -> bool {
    if to.is_some_and(|to| to < from) {
        return false;
    }
    if from == 0 && word.is_empty() {
        return true;
    }
    if to == Some(0) {
        return false;
    }
    let to = to.map(|to| to - 1);
    if from > 0 {
        return (0..=word.len())
            .any(|cut| matches(regex, &word[..cut]) && repeats(regex, &word[cut..], from - 1, to));
    }
    // A round that takes nothing brings nothing.
    (1..=word.len()).any(|cut| matches(regex, &word[..cut]) && repeats(regex, &word[cut..], 0, to))
}

fn random_regex(numbers: &mut Numbers, size: u64) -> Regex {
    if size <= 1 {
        return match numbers.below(12) {
            0 => Regex::Nothing,
            1 => Regex::Empty,
            2 => Regex::any(),
            _ => Regex::Letter(Guard {
                required: numbers.below(4) & numbers.below(4),
                forbidden: numbers.below(4) & numbers.below(4),
            }),
        };
    }
    if size == 2 || numbers.below(3) == 0 {
        let part = random_regex(numbers, size - 1);
        return match numbers.below(4) {
            0 => part.complement(),
            1 => part.star(),
            _ => {
                let from = numbers.below(2) as u32;
                let to = (numbers.below(3) != 0).then(|| from + numbers.below(3) as u32);
                part.repeat(from, to)
            }
        };
    }
    let left = 1 + numbers.below(size - 2);
    let (first, second) = (
        random_regex(numbers, left),
        random_regex(numbers, size - 1 - left),
    );
    match numbers.below(5) {
        0 | 1 => first.or(second),
        2 => first.and(second),
        _ => first.then(second),
    }
}

/// The verdict by the definition: over all continuations up to a length.
fn defined(regex: &Regex, meaning: Meaning, word: &[Letter], futures: &[Vec<Letter>]) -> Verdict {
    if meaning == Meaning::MatchViolates {
        let ends =
            |end: usize, word: &[Letter]| (0..=end).any(|first| matches(regex, &word[first..end]));
        let until_now = (0..=word.len()).any(|end| ends(end, word));
        if until_now {
            return Verdict::Violated;
        }
        let can_match = futures.iter().any(|future| {
            let whole = [word, future].concat();
            ends(whole.len(), &whole)
        });
        return if can_match {
            Verdict::PresumablySatisfied
        } else {
            Verdict::Satisfied
        };
    }
    let mut outcomes = futures
        .iter()
        .map(|future| matches(regex, &[word, future].concat()));
    let now = matches(regex, word);
    match outcomes.all(|outcome| outcome == now) {
        true if now => Verdict::Satisfied,
        true => Verdict::Violated,
        false if now => Verdict::PresumablySatisfied,
        false => Verdict::PresumablyViolated,
    }
}

fn check(regex: &Regex, meaning: Meaning, word: &[Letter], futures: &[Vec<Letter>]) {
    let mut machine = Machine::of_expression(regex, meaning).unwrap();
    let mut state = machine.initial();
    for length in 0..=word.len() {
        if length > 0 {
            state = machine.step(state, word[length - 1]).unwrap();
        }
        let expected = defined(regex, meaning, &word[..length], futures);
        assert_eq!(
            machine.verdict(state),
            expected,
            "{regex:?} {meaning:?} after {:?}",
            &word[..length]
        );
        if machine.is_decided(state) {
            break;
        }
    }
}

#[test]
fn verdicts_are_the_definition() {
    let mut numbers = Numbers(0x4e6);
    // All continuations up to five letters, and some that are longer than what
    // these expressions can count.
    let mut futures = words(2, 5);
    for length in 6..14 {
        futures.extend((0..4).map(|letter| vec![Letter(letter); length]));
        futures.extend((0..10).map(|_| numbers.letters(length as u64, 2)));
    }
    for _ in 0..600 {
        let size = 1 + numbers.below(7);
        let regex = random_regex(&mut numbers, size);
        let length = numbers.below(5);
        let word = numbers.letters(length, 2);
        check(&regex, Meaning::MatchRequired, &word, &futures);
        check(&regex, Meaning::MatchViolates, &word, &futures);
    }
}

#[test]
fn counted_repetitions_stay_counted() {
    let [a, b] = [0, 1].map(Regex::proposition);
    let regex = a.clone().repeat(1_000, Some(1_000)).then(b.clone());
    let mut machine = Machine::of_expression(&regex, Meaning::MatchRequired).unwrap();
    let mut state = machine.initial();
    for _ in 0..1_000 {
        assert_eq!(machine.verdict(state), Verdict::PresumablyViolated);
        state = machine.step(state, Letter(1)).unwrap();
    }
    state = machine.step(state, Letter(2)).unwrap();
    assert_eq!(machine.verdict(state), Verdict::PresumablySatisfied);
    assert!(machine.state_count() < 1_010);

    // "An a twenty letters before the end" needs a million states.
    let regex = Regex::any()
        .star()
        .then(a)
        .then(Regex::any().repeat(20, Some(20)));
    let mut machine = Machine::of_expression(&regex.then(b), Meaning::MatchRequired).unwrap();
    let error = machine.to_table(1_000).unwrap_err();
    assert_eq!(error, LogicError::TooManyStates { limit: 1_000 });
}

#[test]
fn what_is_written_too_large_is_refused() {
    let deep = (0..1_000).fold(Regex::any(), |regex, _| regex.complement());
    let error = Machine::of_expression(&deep, Meaning::MatchRequired).unwrap_err();
    assert!(matches!(error, LogicError::TooDeep { .. }), "{error}");
    let large = (0..20).fold(Regex::any(), |regex, _| regex.clone().then(regex));
    let error = Machine::of_expression(&large, Meaning::MatchRequired).unwrap_err();
    assert!(matches!(error, LogicError::TooLarge { .. }), "{error}");
}

#[test]
fn the_same_counts_are_the_same_expression() {
    let [a, b] = [0, 1].map(Regex::proposition);
    let check = |one: Regex, other: Regex| {
        let table = |regex: &Regex| {
            let mut machine = Machine::of_expression(regex, Meaning::MatchRequired).unwrap();
            let table = machine.to_table(1_000).unwrap();
            (machine.state_count(), table)
        };
        assert_eq!(table(&one), table(&other), "{one:?} {other:?}");
    };
    check(
        a.clone().repeat(1, Some(2)).repeat(3, Some(3)),
        a.clone().repeat(3, Some(6)),
    );
    check(
        a.clone().repeat(0, Some(3)).repeat(2, None),
        a.clone().star(),
    );
    check(
        a.clone().then(a.clone().repeat(2, Some(4))),
        a.clone().repeat(3, Some(5)),
    );
    check(
        a.clone()
            .repeat(1, Some(2))
            .or(a.clone().repeat(3, Some(7))),
        a.clone().repeat(1, Some(7)),
    );
    check(a.clone().or(b.clone()).or(a.clone()), b.or(a));
}

/// Counts in counts under a complement: found in little work, or refused.
#[test]
fn what_is_too_intricate_is_refused() {
    let [a, b] = [0, 1].map(Regex::proposition);
    let inner = a.clone().or(b.clone().then(a.clone())).repeat(1, Some(8));
    let nested = inner.then(b.clone()).repeat(1, Some(9)).complement();
    let nested = nested.repeat(2, Some(7)).complement().repeat(1, Some(5));
    for meaning in [Meaning::MatchRequired, Meaning::MatchViolates] {
        if let Err(error) = Machine::of_expression(&nested, meaning) {
            assert!(matches!(error, LogicError::TooMuchWork { .. }), "{error}");
        }
    }
    // That both never match needs a hundred thousand states.
    let before = |regex: Regex| {
        let rest = Regex::any().repeat(16, Some(16));
        Regex::any().star().then(regex).then(rest)
    };
    let never = before(a.clone()).and(before(a.complement().and(Regex::any())));
    let error = Machine::of_expression(&never, Meaning::MatchRequired).unwrap_err();
    assert!(matches!(error, LogicError::TooMuchWork { .. }), "{error}");
    assert!(
        error.to_string().contains("several smaller properties"),
        "{error}"
    );
}
