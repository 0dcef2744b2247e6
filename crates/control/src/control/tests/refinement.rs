//! All that a user and a program can do to the control is possible in its model,
//! `models/debugger/session.asm`: the two are searched together. An act that passes
//! through several modes shows each of them.

use super::super::ControlState;
use super::*;
use juror_model::asm::Refinement;
use juror_model::debugger_control::{self, FUNCTIONS};

/// The conversation together with the states that the control still passes through: as
/// many pairs as the first byte says, the current one first.
struct Passing(Option<Dropped>);

/// Encodes a conversation behind the states of the history.
fn written(history: &[ControlState], conversation: &Conversation) -> Vec<u8> {
    let mut bytes = vec![history.len() as u8];
    for state in history {
        bytes.extend([position(&Mode::ALL, &state.mode), u8::from(state.owed)]);
    }
    bytes.extend(encode(conversation));
    bytes
}

fn split(state: &[u8]) -> (Vec<ControlState>, &[u8]) {
    let (count, rest) = state.split_first().unwrap();
    let (history, rest) = rest.split_at(2 * usize::from(*count));
    let state_of = |pair: &[u8]| ControlState {
        mode: Mode::ALL[usize::from(pair[0])],
        owed: pair[1] == 1,
    };
    (history.chunks(2).map(state_of).collect(), rest)
}

impl Passing {
    fn next(&self, state: &[u8]) -> Vec<(String, Vec<u8>)> {
        let (history, rest) = split(state);
        let here = decode(rest, self.0);
        if history.len() > 1 {
            return vec![("goes on".to_owned(), written(&history[1..], &here))];
        }
        let acts = Conversation::acts().filter_map(|act| {
            let mut next = here.clone();
            next.control = next.control.with_history();
            next.act(act).ok()?;
            let history: Vec<ControlState> = next.control.take_history().collect();
            Some((act.to_string(), written(&history, &next)))
        });
        acts.collect()
    }
}

impl System for Passing {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, (): &mut (), visitor: &mut impl Visitor) {
        let begin = Conversation::default();
        visitor.next(&written(&[], &begin), Participants::default());
    }

    fn successors(&self, (): &mut (), state: &[u8], visitor: &mut impl Visitor) {
        for (_, next) in self.next(state) {
            if !visitor.next(&next, Participants::default()) {
                return;
            }
        }
    }

    fn may_end(&self, (): &mut (), _state: &[u8]) -> bool {
        false
    }

    fn steps(&self, state: &[u8], number: usize) -> Vec<Step> {
        let steps = self.next(state).into_iter().skip(number).take(1);
        let step = |(text, next): (String, Vec<u8>)| Step {
            actor: None,
            partner: None,
            text: format!("{text:<46} {}", show(&next).join(", ")),
            span: None,
            changes: Vec::new(),
            printed: String::new(),
        };
        steps.map(step).collect()
    }

    fn actors(&self, _state: &[u8]) -> Vec<String> {
        Vec::new()
    }

    fn values(&self, _state: &[u8]) -> Vec<Change> {
        Vec::new()
    }
}

fn show(state: &[u8]) -> Vec<String> {
    let (history, rest) = split(state);
    let control = decode(rest, None).control;
    let last = ControlState {
        mode: control.mode(),
        owed: control.owes_stop(),
    };
    let state = history.first().copied().unwrap_or(last);
    state.shown().map(str::to_owned).to_vec()
}

fn explore(dropped: Option<Dropped>) -> Refinement {
    let model = debugger_control::model().unwrap();
    let options = Options::default();
    let system = Passing(dropped);
    let found = model.is_refined_by(&system, &FUNCTIONS, show, &options, &mut |_| true);
    let found = found.unwrap();
    assert_eq!((&found.fault, &found.cut), (&None, &None));
    found
}

#[test]
fn the_control_refines_its_model() {
    let found = explore(None);
    if let Some(divergence) = found.divergence {
        panic!("{divergence:#?}");
    }
    assert!(found.states > 1000, "{}", found.states);
}

#[test]
fn a_control_that_runs_while_a_stop_is_owed_is_found() {
    let found = explore(Some(Dropped::NothingRunsWhileOwed));
    let divergence = found.divergence.expect("the stop is forgotten");
    assert_eq!(divergence.before, ["Break?", "true"]);
    assert_eq!(divergence.after, ["Run", "true"]);
    let texts = divergence.trail.steps().map(|step| step.text.clone());
    let last = texts.last().expect("there are steps");
    assert!(last.starts_with("debugger: Proceed"), "{last}");
}
