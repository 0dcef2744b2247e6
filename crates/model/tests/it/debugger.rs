//! The models of a debugger: each has the verdict that its text expects.

use juror_logic::Letter;
use juror_model::asm::{Follower, Model, Script, load};
use juror_model::promela::Text;
use juror_model::{
    Automaton, Fault, Finding, Options, Participants, System, Trail, Verdict, Visitor,
    accepting_run, breadth_first,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/debugger")
}

fn read(name: &str) -> Result<Text, String> {
    let text = std::fs::read_to_string(directory().join(name)).map_err(|e| e.to_string())?;
    Ok(Text {
        name: name.to_owned(),
        text,
    })
}

fn model(name: &str) -> Model {
    match load(read(name).unwrap(), &mut read) {
        Ok(model) => model,
        Err(rejection) => panic!("{name}: {:#?}", rejection.faults),
    }
}

/// What is wrong with a model first, in a few words, and the way to it.
fn verdict(model: &Model) -> (String, Option<Trail>) {
    let options = Options::default();
    let report = breadth_first(model, &options, &mut |_, _| true);
    if let Some((finding, trail)) = report.finding {
        let words = match finding {
            Finding::Fault(fault) => {
                let name = fault.message.split('`').nth(1).unwrap_or_default();
                format!("violated {name}")
            }
            other => format!("{other:?}"),
        };
        return (words, Some(trail));
    }
    assert_eq!(report.cut, None);
    for formula in &model.formulas {
        let automaton = Automaton::violating(&formula.formula).unwrap();
        let report = accepting_run(
            model,
            &automaton,
            false,
            &formula.name,
            &options,
            &mut |_, _| true,
        );
        if report.verdict() != Verdict::Holds {
            let trail = report.finding.map(|(_, trail)| trail);
            return (format!("violated {}", formula.name), trail);
        }
    }
    if let Some(refinement) = model.refinement(&options, &mut |_| true) {
        assert_eq!((refinement.fault, refinement.cut), (None, None));
        if let Some(divergence) = refinement.divergence {
            let name = model.abstract_name().unwrap();
            return (format!("diverges from {name}"), Some(divergence.trail));
        }
    }
    ("holds".to_owned(), None)
}

fn check(name: &str) {
    let model = model(name);
    let text = &model.texts[0].text;
    let expected = text
        .lines()
        .find_map(|line| line.strip_prefix("// expect: "))
        .unwrap();
    assert_eq!(verdict(&model).0, expected, "{name}");
}

#[test]
fn control() {
    check("control.asm");
}

#[test]
fn session() {
    check("session.asm");
}

#[test]
fn control_as_published() {
    check("control-published.asm");
}

#[test]
fn object() {
    check("object.asm");
}

#[test]
fn object_with_the_wrong_unload() {
    check("object-unload.asm");
}

#[test]
fn ground() {
    check("ground.asm");
}

#[test]
fn ground_that_is_too_early() {
    check("ground-early.asm");
}

/// The successors of a state, and what goes wrong.
#[derive(Debug, Default, PartialEq)]
struct After {
    states: Vec<Vec<u8>>,
    faults: Vec<Fault>,
}

impl Visitor for After {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.states.push(state.to_vec());
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.faults.push(fault);
        true
    }
}

/// All that is known of a state, with what is known of others.
fn known(
    model: &Model,
    scratch: &mut <Model as System>::Scratch,
    state: &[u8],
) -> (After, Option<Fault>, Result<Letter, Fault>) {
    let mut after = After::default();
    model.successors(scratch, state, &mut after);
    (
        after,
        model.wrong(scratch, state),
        model.letter(scratch, state),
    )
}

#[test]
fn what_is_known_of_other_states_changes_nothing() {
    // Steps that go wrong, and places of functions with parameters.
    let other = "controlled at(x : 0..3) : 0..3 = x
                 controlled n : 0..3 = 0
                 monitored to : 0..4
                 main { choose x in 0..3 { at(x) := at(n) n := to } }
                 invariant few = size({x | x in 0..3 with at(x) = 2}) < 3
                 ltl one = always eventually (at(n) = 1)";
    let other = Text {
        name: "test.asm".to_owned(),
        text: other.to_owned(),
    };
    let names = [
        "object.asm",
        "object-unload.asm",
        "ground.asm",
        "session.asm",
    ];
    let mut models: Vec<Model> = names.into_iter().map(model).collect();
    models.push(load(other, &mut read).unwrap());
    for model in &mut models {
        let mut scratch = model.scratch();
        model.limit_memory(0);
        let mut nothing = model.scratch();
        let mut first = After::default();
        model.initial(&mut nothing, &mut first);
        let mut reached: BTreeSet<Vec<u8>> = first.states.iter().cloned().collect();
        let mut left = first.states;
        while let Some(state) = left.pop() {
            let new = known(model, &mut nothing, &state);
            assert!(known(model, &mut scratch, &state) == new);
            left.extend(
                new.0
                    .states
                    .into_iter()
                    .filter(|it| reached.insert(it.clone())),
            );
        }
        assert!(reached.len() > 10);
        assert!(model.scratch_bytes(&scratch) > 0);
        assert_eq!(model.scratch_bytes(&nothing), 0);
    }
}

#[test]
fn the_invariant_says_the_same_as_the_formula() {
    let text = "refine \"control.asm\"
                override rule onNonStoppingEvent {
                    if not isStoppingEvent(response) { doCallback(response) }
                }";
    let text = Text {
        name: "test.asm".to_owned(),
        text: text.to_owned(),
    };
    let model = load(text, &mut read).unwrap();
    let (words, trail) = verdict(&model);
    assert_eq!(words, "violated stopReachesUser");
    // Start, run, hit, give the control for what is pending, and be told it.
    assert_eq!(trail.unwrap().moves.len(), 5);
}

/// Runs the run of table 1.
fn wizard(name: &str) -> Result<Vec<String>, String> {
    let mut model = model(name);
    let script = Script::read(&mut model, read("wizard.run").unwrap()).unwrap();
    let mut modes = Vec::new();
    let result = script.run(&model, &mut |done| {
        let values = model.values_of(&done.state);
        modes.extend(
            values
                .into_iter()
                .find(|value| value.name == "mode")
                .map(|value| value.value),
        );
    });
    match result {
        Ok(_) => Ok(modes),
        Err(fault) => Err(fault.message),
    }
}

/// Follows lines, each as keys and texts.
fn follow(lines: &[&[(&str, &str)]]) -> Result<u64, (usize, String)> {
    let model = model("control.asm");
    let mut follower = Follower::new(&model).unwrap();
    for (number, line) in lines.iter().enumerate() {
        let key = |name: &str| {
            let found = line.iter().find(|(key, _)| *key == name);
            found.map(|(_, text)| (*text).to_owned())
        };
        follower
            .line(&key)
            .map_err(|parting| (number, parting.fault.message))?;
    }
    Ok(follower.lines)
}

#[test]
fn the_wizard_finds_the_contradiction_by_hand() {
    assert_eq!(
        wizard("control-published.asm"),
        Err("`mode = Break` does not hold: `mode` is Run".to_owned())
    );
    let modes = wizard("control.asm").unwrap();
    let expected = "Break Break Run Run Run Run Break? Run Break? Break";
    assert_eq!(modes.join(" "), expected);
}

#[test]
fn a_recorded_session_follows_the_model_or_not() {
    let start: &[(&str, &str)] = &[("kind", "start")];
    let resume: &[(&str, &str)] = &[("kind", "resume")];
    let stop: &[(&str, &str)] = &[("kind", "stop"), ("reason", "breakpoint")];
    let step: &[(&str, &str)] = &[("kind", "stop"), ("reason", "step")];
    let command: &[(&str, &str)] = &[("kind", "outcome"), ("command", "backtrace")];
    let event: &[(&str, &str)] = &[("kind", "state_change")];
    let end: &[(&str, &str)] = &[("kind", "end")];
    let other: &[(&str, &str)] = &[("kind", "self_check")];
    assert_eq!(follow(&[]), Ok(0));
    let whole = [
        start, command, resume, event, event, stop, command, resume, step, other, resume, event,
        end,
    ];
    assert_eq!(follow(&whole), Ok(12));
    // A scenario acts in the middle of a run; a call ends with its answer; a user kills.
    let of_scenario = [start, resume, command, event, stop, end];
    assert_eq!(follow(&of_scenario), Ok(6));
    let of_call = [start, resume, stop, resume, command, resume, stop];
    assert_eq!(follow(&of_call), Ok(7));
    let check = |lines: &[&[(&str, &str)]], line: usize, message: &str| {
        assert_eq!(follow(lines), Err((line, message.to_owned())));
    };
    // Nothing stops before the start, or what does not run.
    check(&[stop], 0, "`mode = Run` does not hold: `mode` is Init");
    check(
        &[start, start],
        1,
        "`mode = Init` does not hold: `mode` is Break",
    );
    let stands = "`mode = Run` does not hold: `mode` is Break";
    check(&[start, resume, stop, stop], 3, stands);
    check(&[start, resume, stop, event, step], 4, stands);
    check(
        &[start, resume, resume],
        2,
        "`mode = Break` does not hold: `mode` is Run",
    );
}

#[test]
fn what_a_record_cannot_tell_is_said() {
    let object = model("object.asm");
    let fault = Follower::new(&object).unwrap_err();
    for name in ["`place`", "`loadedPlaces`", "`unloaded`"] {
        assert!(fault.message.contains(name), "{}", fault.message);
    }
    let help = fault.help.unwrap();
    assert!(
        help.contains("record { any place, loadedPlaces, unloaded }"),
        "{help}"
    );
    let text = |any: &str| Text {
        name: "any.asm".to_owned(),
        text: format!("refine \"object.asm\" record {{ any {any} }}"),
    };
    let any = load(text("place, loadedPlaces, unloaded"), &mut read).unwrap();
    let mut follower = Follower::new(&any).unwrap();
    for kind in ["start", "resume", "stop"] {
        let key = |name: &str| (name == "kind").then(|| kind.to_owned());
        // A breakpoint is hit that nobody has set: of that the model knows.
        let result = follower.line(&key);
        assert_eq!(result.is_err(), kind == "stop", "{kind}");
    }
    for (wrong, word) in [("mode", "mode"), ("modes", "modes"), ("", "a function")] {
        let rejection = load(text(wrong), &mut read).unwrap_err();
        let said = &rejection.faults[0].message;
        assert!(said.contains(word), "{said}");
    }
}
