//! Abstract state machines: any text as a model, a few of its steps, and a
//! script for it after a zero byte.

use juror_model::asm::{Model, Random, Script, load};
use juror_model::promela::Text;
use juror_model::{Fault, System};

/// The model that a text may refine.
const BASE: &str = "enum Mode = Off | On
    controlled mode : Mode = Off
    monitored button : Bool
    rule push { if button { mode := On } }
    invariant known = mode in Mode
    ltl goesOn = always (mode = On implies next mode = On)
    main { push }";

fn text(name: &str, text: &str) -> Text {
    Text {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

/// Checks that locations lie within the texts.
fn check_places(texts: &[Text], fault: &Fault) {
    let labels = fault.labels.iter().map(|(span, _)| *span);
    for span in fault.span.into_iter().chain(labels) {
        let text = &texts[span.source as usize].text;
        assert!(text.get(span.range()).is_some(), "{fault:?}");
    }
}

fn walk(model: &Model, seed: u64) {
    let mut random = Random::new(seed);
    let mut state = match model.begin(&mut random) {
        Ok(state) => state,
        Err(stop) => return check_places(&model.texts, &stop.fault()),
    };
    for _ in 0..8 {
        let bytes = model.bytes(&state);
        assert_eq!(model.state(&bytes), state);
        model.values(&bytes);
        if let Some(fault) = model.broken(&state) {
            check_places(&model.texts, &fault);
        }
        let mut again = random.clone();
        match model.step(&state, &mut random) {
            Ok(step) => {
                let same = model.step(&state, &mut again).expect("it went well before");
                assert_eq!(same.state, step.state);
                model.describe(&state, &step);
                state = step.state;
            }
            Err(stop) => return check_places(&model.texts, &stop.fault()),
        }
    }
}

/// Returns the maximum number of steps that a script requests.
fn steps(script: &str) -> usize {
    let count = |rest: &str| {
        let rest = rest.trim_start();
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..digits].parse().unwrap_or(1_usize).max(1)
    };
    let asked = script.split("step").skip(1);
    let rows = script.lines().count() * usize::from(script.contains("table"));
    asked.map(count).fold(rows, usize::saturating_add)
}

/// Runs the target with an input.
pub fn fuzz(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    let (source, script) = source.split_once('\0').unwrap_or((source, ""));
    let mut reader = |name: &str| match name {
        "none.asm" => Err("it is not there".to_owned()),
        name => Ok(text(name, BASE)),
    };
    let mut model = match load(text("fuzz.asm", source), &mut reader) {
        Ok(model) => model,
        Err(rejection) => {
            assert!(!rejection.faults.is_empty());
            for fault in &rejection.faults {
                check_places(&rejection.texts, fault);
            }
            return;
        }
    };
    walk(&model, data.len() as u64);
    match Script::read(&mut model, text("fuzz.run", script)) {
        // Long runs take too much time.
        Ok(_) if steps(script) > 20 => {}
        Ok(ready) => {
            if let Err(fault) = ready.run(&model, &mut |_| {}) {
                check_places(&model.texts, &fault);
            }
        }
        Err(faults) => faults
            .iter()
            .for_each(|fault| check_places(&model.texts, fault)),
    }
}
