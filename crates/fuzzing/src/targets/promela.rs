//! Arbitrary models, read and searched for a while.

use juror_model::promela::{Model, Question, Reading, Text};
use juror_model::{Chart, Options, Search, System as _, accepting_run, search};

/// The maximum number of states searched.
const STATES_MAX: u32 = 300;

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let text = Text {
        name: "model.pml".to_owned(),
        text: text.to_owned(),
    };
    let reading = Reading::default();
    let mut nothing = |name: &str| Err(format!("there is no {name}"));
    let mut model = match Model::read(text, &reading, &mut nothing) {
        Ok(model) => model,
        Err(refused) => {
            assert!(!refused.faults.is_empty());
            for fault in refused.faults {
                if let Some(span) = fault.span {
                    let text = &refused.texts[span.source as usize].text;
                    assert!(text.get(span.range()).is_some());
                }
            }
            return;
        }
    };
    let options = Options {
        states_max: STATES_MAX,
        ..Options::default()
    };
    let plain = search(&model, Search::Breadth, &options, &mut |_, _| true);
    if let Some((_, trail)) = &plain.finding {
        let _ = Chart::of(&model, trail).text();
        let _ = Chart::of(&model, trail).svg();
    }
    let deep = search(&model, Search::Depth, &options, &mut |_, _| true);
    if plain.cut.is_none() && deep.cut.is_none() {
        assert_eq!(plain.finding.is_some(), deep.finding.is_some());
        if plain.finding.is_none() {
            assert_eq!(
                (plain.states, plain.transitions),
                (deep.states, deep.transitions)
            );
        }
    }
    let names: Vec<String> = model.formulas().map(|(name, _)| name.to_owned()).collect();
    let questions = names.into_iter().map(Question::Formula);
    for question in questions.chain([Question::Claim, Question::Progress]) {
        if let Ok(automaton) = model.ask(&question) {
            accepting_run(&model, &automaton, true, "", &options, &mut |_, _| true);
        }
    }
    let mut first = Vec::new();
    model.initial(&mut model.scratch(), &mut First(&mut first));
    let _ = model.values(&first);
}

/// A visitor that keeps the first state.
struct First<'a>(&'a mut Vec<u8>);

impl juror_model::Visitor for First<'_> {
    fn next(&mut self, state: &[u8], _who: juror_model::Participants) -> bool {
        *self.0 = state.to_vec();
        false
    }

    fn fault(&mut self, _fault: juror_model::Fault) -> bool {
        false
    }
}
