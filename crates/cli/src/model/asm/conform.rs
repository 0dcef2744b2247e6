//! `juror model conform`: checks whether a recorded session follows an abstract state
//! machine.

use super::read;
use crate::arguments::model::Conform;
use crate::exit;
use crate::json::{Line, ModelVerdict};
use crate::model::report::show_fault;
use crate::output::Output;
use anyhow::Context as _;
use juror_model::Fault;
use juror_model::asm::{Follower, Model};
use std::fs::File;
use std::io::{BufRead as _, BufReader};

/// Runs `juror model conform`. Returns the exit status.
pub fn conform(conform: &Conform) -> anyhow::Result<u8> {
    let mut output = Output::open(conform.messages.color, conform.json.as_deref(), false)?;
    let Some(model) = read(&conform.model, &mut output)? else {
        return Ok(exit::USAGE);
    };
    if !model.has_record() {
        output.show_error(
            "the model does not define the meaning of the lines of a record\nhelp: add `record { \
             when kind = \"stop\" { ... } }` to it",
        )?;
        return Ok(exit::USAGE);
    }
    let mut follower = match Follower::new(&model) {
        Ok(follower) => follower,
        // A model that cannot be compared says nothing about the session.
        Err(fault) if fault.code == "unsaid" => {
            show_fault(&model.texts, &fault, &mut output)?;
            return Ok(exit::USAGE);
        }
        Err(fault) => return wrong(&model, &fault, &mut output),
    };
    let name = conform.record.display();
    let file = File::open(&conform.record).with_context(|| format!("{name} cannot be read"))?;
    let mut number = 0_u64;
    for line in BufReader::new(file).lines() {
        let line = line.with_context(|| format!("{name} cannot be read"))?;
        number += 1;
        if line.trim().is_empty() {
            continue;
        }
        let value: serde_json::Value = serde_json::from_str(&line)
            .with_context(|| format!("line {number} of {name} is not JSON"))?;
        if !value.is_object() {
            anyhow::bail!(
                "line {number} of {name} is not a JSON object\nhelp: `juror run --json=FILE` writes a \
                 record of a session"
            );
        }
        let key = |key: &str| match value.get(key)? {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Null => None,
            other => Some(other.to_string()),
        };
        if let Err(mismatch) = follower.line(&key) {
            let words: Vec<String> = ["kind", "reason", "command"]
                .iter()
                .filter_map(|word| key(word))
                .collect();
            let why = format!(
                "the session does not follow the model: line {number} of {name} ({})",
                words.join(", ")
            );
            output.show_error(&why)?;
            show_fault(&model.texts, &mismatch.fault, &mut output)?;
            output.say(&states_before(&mismatch))?;
            record(conform, &follower, Some(&why), &mut output)?;
            return Ok(exit::VIOLATED);
        }
    }
    if follower.lines == 0 {
        // Any session would follow the model.
        anyhow::bail!(
            "none of the {number} lines of {name} has a meaning in the model\nhelp: a line has one if \
             it matches a `when` of the `record` of the model"
        );
    }
    output.say(&format!(
        "the session follows the model: {} of {number} lines, {} steps\n",
        follower.lines, follower.steps
    ))?;
    record(conform, &follower, None, &mut output)?;
    Ok(exit::HOLDS)
}

/// Writes the JSON line of a session that was compared up to its end, or to the line
/// `why` it does not follow the model.
fn record(
    conform: &Conform,
    follower: &Follower<'_>,
    why: Option<&str>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let model = conform.model.display().to_string();
    let line = Line::ModelVerdict(ModelVerdict {
        model: &model,
        question: &format!("the session {}", conform.record.display()),
        verdict: why.map_or("holds", |_| "violated"),
        why,
        states: follower.states() as u64,
        transitions: Some(follower.steps),
        depth: None,
        trail: None,
    });
    Ok(output.show_line(&line, |_| ())?)
}

/// Returns the states of the model before the line that does not follow it.
fn states_before(mismatch: &juror_model::asm::Nonconformance) -> String {
    let mut text = match mismatch.states {
        1 => "the model was in this state:\n".to_owned(),
        states => format!("the model was in one of {states} states, such as:\n"),
    };
    for value in &mismatch.before {
        text += &format!("  {} = {}\n", value.name, value.value);
    }
    text
}

/// Shows a fault at the beginning of the session.
fn wrong(model: &Model, fault: &Fault, output: &mut Output) -> anyhow::Result<u8> {
    show_fault(&model.texts, fault, output)?;
    Ok(exit::VIOLATED)
}
