//! An environment that enumerates all answers.
//!
//! Invariant: each combination of answers is given once, in a fixed order, and cached
//! decisions of a step depend only on answers that have not changed.

use super::environment::{Again, Decision, Environment, Question, Settings, Stop, setting};
use super::value::Value;

/// Enumerates all combinations of answers: the step is re-executed until
/// [`Possibilities::advance`] finds no more of them.
#[derive(Debug, Default)]
pub struct Possibilities {
    /// Fixed answers, which are not enumerated.
    pub settings: Settings,
    /// By query of this execution: the index of the answer, and the candidates. A step
    /// repeats the same queries up to there, so they are computed once.
    taken: Vec<(usize, Vec<Value>)>,
    asked: usize,
    /// Number of fixed answers in this execution.
    known: usize,
    /// Whether the last answer was fixed.
    is_known: bool,
    /// By number: cached decisions, each with the number of enumerated answers before it.
    decisions: Vec<Option<(usize, Decision)>>,
}

impl Possibilities {
    /// Returns an enumeration with some answers fixed.
    pub fn with(settings: Settings) -> Possibilities {
        Possibilities {
            settings,
            ..Possibilities::default()
        }
    }

    /// Moves to the next combination. Returns false if there is none.
    pub fn advance(&mut self) -> bool {
        (self.asked, self.known) = (0, 0);
        while let Some((answer, candidates)) = self.taken.pop() {
            if answer + 1 < candidates.len() {
                // Later candidates depend on the changed answer.
                let changed = self.taken.len();
                for decision in &mut self.decisions {
                    decision.take_if(|(before, _)| *before > changed);
                }
                self.taken.push((answer + 1, candidates));
                return true;
            }
        }
        self.decisions.clear();
        false
    }

    /// Returns the current answer to a repeated query.
    fn given(&mut self) -> Option<Value> {
        let (answer, candidates) = self.taken.get(self.asked)?;
        self.asked += 1;
        candidates.get(*answer).cloned()
    }
}

impl Environment for Possibilities {
    fn answer(&mut self, question: &Question<'_>) -> Result<Value, Stop> {
        if let Some(known) = setting(&self.settings, question) {
            self.known += 1;
            self.is_known = true;
            return Ok(known);
        }
        self.is_known = false;
        if self.taken.len() <= self.asked {
            self.taken.push((0, question.candidates()?));
        }
        self.given().ok_or_else(|| {
            question.no_answer(format!("nothing is possible for `{}`", question.text()))
        })
    }

    fn asked(&self) -> usize {
        self.asked + self.known
    }

    fn again(&mut self, number: usize) -> Option<(Again, Decision)> {
        let (before, decision) = self.decisions.get(number)?.clone()?;
        if before != self.asked {
            return None;
        }
        let again = if decision.asks {
            Again::Answered(self.given()?)
        } else {
            Again::Alone(decision.only.clone())
        };
        Some((again, decision))
    }

    fn keep(&mut self, number: usize, decision: Decision) {
        if decision.asks && self.is_known {
            return;
        }
        if self.decisions.len() <= number {
            self.decisions.resize(number + 1, None);
        }
        if let Some(place) = self.decisions.get_mut(number) {
            let before = self.asked - usize::from(decision.asks).min(self.asked);
            *place = Some((before, decision));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::{Model, load};
    use crate::promela::Text;

    fn model(text: &str) -> Model {
        let text = Text {
            name: "test.asm".to_owned(),
            text: text.to_owned(),
        };
        let loaded = load(text, &mut |_| Err("there are no files".to_owned()));
        loaded.unwrap_or_else(|rejection| panic!("{:#?}", rejection.faults))
    }

    /// All combinations, without the cache of decisions.
    struct Forgetful<'a>(&'a mut Possibilities);

    impl Environment for Forgetful<'_> {
        fn answer(&mut self, question: &Question<'_>) -> Result<Value, Stop> {
            self.0.answer(question)
        }
    }

    /// Returns the result of each combination: states, answers and choices.
    fn all(model: &Model, settings: &Settings, forgets: bool) -> Vec<String> {
        let state = model.begin(&mut Possibilities::default()).unwrap();
        let mut possibilities = Possibilities::with(settings.clone());
        let mut found = Vec::new();
        loop {
            let stepped = if forgets {
                model.step(&state, &mut Forgetful(&mut possibilities))
            } else {
                model.step(&state, &mut possibilities)
            };
            found.push(format!("{stepped:?}"));
            if !possibilities.advance() {
                return found;
            }
        }
    }

    #[test]
    fn the_cache_of_decisions_changes_nothing() {
        let check = |rule: &str| {
            let text = format!(
                "controlled n : Int = 0
                 controlled m : Int = 0
                 monitored low : 0..2
                 monitored at(x : 0..3) : 0..9 possible {{x, x + 1, low}}
                 shared s : 0..3 possible 0..m + 2 = 1
                 main {{ {rule} }}"
            );
            let model = model(&text);
            let low = (model.nullary("low").unwrap().0, Vec::new());
            for settings in [Settings::new(), [(low, Value::Integer(1))].into()] {
                let (known, new) = (all(&model, &settings, false), all(&model, &settings, true));
                assert_eq!(known, new, "{rule}");
                assert!(known.len() > 1, "{rule}");
            }
        };
        check("choose x in 1..3 { n := x }");
        check("choose x in 1..3 { choose y in 1..x { n := x * y } }");
        check("choose x in {5} { choose y in 1..3 { n := x * y } }");
        check("forall x in 1..2 { choose y in 1..x { n := 0 } }");
        check("forall x in 0..2 { choose y in 1..x { m := y } else { n := 7 } }");
        check("choose x in 0..low { n := x }");
        check("choose x in 0..3 with x > low { n := x }");
        check("choose x in 0..1 { if x = 1 { n := low } } choose y in 1..2 { m := y }");
        check("choose x in 0..1 { n := at(x) + at(3) }");
        check("n := at(0) seq { m := at(1) choose x in 0..m { m := x } }");
        check("n := s seq { choose x in 0..s { m := x } if s = 2 { m := at(s) } }");
        check("choose { n := s } or { choose x in 1..2 { n := low } }");
    }

    #[test]
    fn a_wide_choice_is_listed_once() {
        let text = "controlled n : Int = 0
                    monitored m : Int possible 0..20000
                    main { if n = 0 { choose x in 0..20000 with x % 2 = 0 { n := 1 + x % 3 } }
                           if n = 1 { n := 2 + m % 2 } }";
        let all = crate::Options::default();
        let report = crate::breadth_first(&model(text), &all, &mut |_, _| true);
        assert_eq!(
            (report.states, report.transitions),
            (4, 1 + 10_001 + 20_001 + 2)
        );
    }
}
