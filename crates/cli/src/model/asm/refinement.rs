//! Refinement: checks that a machine does only what its abstract machine does.

use crate::arguments::model::CheckModel;
use crate::exit;
use crate::model::report::{Answer, Questions, cut_message, show_fault};
use crate::model::search::{options, progress};
use crate::output::Output;
use juror_model::asm::{Divergence, Model, Observation, Refinement};
use juror_model::{CachedSystem, Chart, Cut, Verdict};
use std::path::Path;

/// Checks the refinement if the model claims one. Returns the exit status with it.
pub fn check(
    check: &CheckModel,
    model: &Model,
    steps: &CachedSystem<'_, Model>,
    status: u8,
    told: &mut Questions,
    output: &mut Output,
) -> anyhow::Result<u8> {
    let name = model.abstract_name().unwrap_or_default().to_owned();
    let mut show_progress = progress(output);
    let options = options(check);
    let found = model.refinement_by(steps, &options, &mut |states| show_progress(states, states));
    drop(show_progress);
    let Some(found) = found else {
        return Ok(status);
    };
    if let Some(fault) = &found.fault {
        let texts = if found.is_abstract {
            model.abstract_texts()
        } else {
            &model.texts
        };
        show_fault(texts, fault, output)?;
        told.leave_out(&question(&name), &fault.message);
        return Ok(exit::USAGE);
    }
    let question = question(&name);
    let own = model.texts.first().map_or("", |text| &text.name);
    let chart = found.divergence.as_ref();
    let (verdict, why) = match (&found.divergence, found.cut) {
        (Some(_), _) => (
            Verdict::Violated,
            Some(format!("{own} does what {name} does not do")),
        ),
        (None, Some(cut)) => (
            Verdict::Incomplete,
            Some(why_incomplete(cut, &found, &name)),
        ),
        (None, None) => (Verdict::Holds, None),
    };
    let mut answer = Answer {
        question: &question,
        about: String::new(),
        told: String::new(),
        verdict,
        why,
        states: found.states,
        counted: None,
        chart: chart.map(|divergence| Chart::of(model, &divergence.trail)),
    };
    output.say(&answer.heading())?;
    if let (Some(divergence), Some(why)) = (&found.divergence, &answer.why) {
        output.show_error(why)?;
        answer.show_trail(check, output)?;
        let table = side_by_side(own, &name, divergence);
        output.say(&table)?;
        answer.told = format!("{why}\n{table}");
    }
    output.say(&answer.counts())?;
    answer.record(check, told, output)?;
    Ok(answer.status(status))
}

/// Returns the question whether a machine does only what another one does.
pub fn question(name: &str) -> String {
    format!("the abstraction of {name}")
}

/// Returns why a search for a divergence is incomplete: the abstract model may be the one
/// that is too large.
fn why_incomplete(cut: Cut, found: &Refinement, name: &str) -> String {
    match cut {
        Cut::States { limit } if found.is_abstract => {
            format!("{name} can be in more than {limit} states")
        }
        cut => cut_message(Some(cut)),
    }
}

/// Returns the step at which the models diverge, as a table.
fn side_by_side(own: &str, other: &str, divergence: &Divergence) -> String {
    let words = |shown: &Observation| {
        let pairs = divergence.names.iter().zip(shown);
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        match &pairs[..] {
            [] => "nothing".to_owned(),
            pairs => pairs.join(", "),
        }
    };
    let (before, after) = (words(&divergence.before), words(&divergence.after));
    let own = Path::new(own)
        .file_name()
        .map_or(own.into(), |name| name.to_string_lossy());
    let width = [own.len(), before.len(), after.len()]
        .into_iter()
        .max()
        .unwrap_or(0);
    let mut text = format!("{:8}{own:width$}  {other}\n", "");
    text += &format!("{:8}{before:width$}  {before}\n", "before");
    let mut left = ("after", after.as_str());
    for possible in &divergence.possible {
        let (label, mine) = left;
        text += &format!("{label:8}{mine:width$}  {}\n", words(possible));
        left = ("or", "");
    }
    text
}
