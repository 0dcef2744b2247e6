//! `juror model` for abstract state machines.

use crate::exit;
use crate::json::{Line, ModelVerdict};
use crate::model_arguments::{CheckModel, Conform, ModelFile, Simulate};
use crate::model_command::{options, search, show_fault, watched};
use crate::model_report::{Answer, cut_words};
use crate::output::Output;
use anyhow::Context as _;
use juror_model::asm::{Divergence, Follower, Model, Observation, Refinement, load_with};
use juror_model::promela::Text;
use juror_model::{Automaton, CachedSystem, Chart, Cut, Fault, Finding, Options, Report, Verdict};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// Whether a file is a model of an abstract state machine.
pub fn is_machine(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "asm")
}

/// A file as a text of a model.
pub fn text_of(file: &Path) -> anyhow::Result<Text> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
    Ok(Text { name, text })
}

/// Reads the model; nothing if it has mistakes, which are shown.
pub fn read(file: &Path, output: &mut Output) -> anyhow::Result<Option<Model>> {
    read_with(file, &[], output)
}

/// The same with formulas that the model does not have.
fn read_with(
    file: &Path,
    formulas: &[String],
    output: &mut Output,
) -> anyhow::Result<Option<Model>> {
    let text = text_of(file)?;
    let directory = file.parent().unwrap_or(Path::new("")).to_owned();
    let mut reader = |named: &str| {
        let path = directory.join(named);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Text {
                name: path.display().to_string(),
                text,
            }),
            Err(error) => Err(error.to_string()),
        }
    };
    match load_with(text, formulas, &mut reader) {
        Ok(model) => Ok(Some(model)),
        Err(rejection) => {
            for fault in &rejection.faults {
                show_fault(&rejection.texts, fault, output)?;
            }
            Ok(None)
        }
    }
}

/// Refuses what would not be heeded: options that are about processes and macros.
fn refuse(file: &ModelFile, others: &[(&str, bool)]) -> anyhow::Result<()> {
    let common = [("-D", !file.definitions.is_empty()), ("--wrap", file.wrap)];
    let given = common.iter().chain(others).find(|(_, is_given)| *is_given);
    if let Some((option, _)) = given {
        anyhow::bail!(
            "{option} is for models with processes, files .pml\nhelp: leave it out for an \
             abstract state machine"
        );
    }
    Ok(())
}

/// `juror model check`.
pub fn check(check: &CheckModel, output: &mut Output) -> anyhow::Result<u8> {
    refuse(
        &check.model,
        &[
            ("--symmetry", check.symmetry),
            ("--reduce", check.reduce),
            ("--fair", check.fair),
            ("--claim", check.claim),
            ("--acceptance", check.acceptance),
            ("--progress", check.progress),
        ],
    )?;
    let Some(mut model) = read_asked(check, output)? else {
        return Ok(exit::USAGE);
    };
    let memory_bytes_max = options(check).memory_bytes_max;
    model.limit_memory(memory_bytes_max);
    let mut status = exit::HOLDS;
    // Each question is about the same steps.
    let steps = CachedSystem::new(&model, memory_bytes_max);
    if check.ltl.is_empty() {
        let report = search(check, &steps, output);
        status = tell(check, &model, "steps and states", &report, status, output)?;
    }
    for formula in &model.formulas {
        let is_asked = check.ltl.is_empty() || check.ltl.iter().any(|name| **name == *formula.name);
        if !is_asked || status == exit::VIOLATED {
            continue;
        }
        let automaton = Automaton::violating(&formula.formula)?;
        let name = format!("the formula {}", formula.name);
        let report = juror_model::accepting_run(
            &steps,
            &automaton,
            false,
            &format!("this run violates {name}"),
            &Options {
                deadlocks: false,
                ..options(check)
            },
            &mut watched(output),
        );
        status = tell(check, &model, &name, &report, status, output)?;
    }
    match check.ltl.is_empty() && status != exit::VIOLATED {
        true => refinement(check, &model, &steps, status, output),
        false => Ok(status),
    }
}

/// Reads the model with the formulas that are asked about; nothing if there are
/// mistakes, which are shown.
fn read_asked(check: &CheckModel, output: &mut Output) -> anyhow::Result<Option<Model>> {
    let file = &check.model.file;
    let Some(model) = read(file, output)? else {
        return Ok(None);
    };
    let is_own = |asked: &&String| model.formulas.iter().any(|own| *own.name == ***asked);
    let mut others: Vec<String> = check.ltl.iter().filter(|it| !is_own(it)).cloned().collect();
    others.sort();
    others.dedup();
    if others.iter().any(|text| text.trim().is_empty()) {
        anyhow::bail!("--ltl without a formula\nhelp: give the name of one, or the formula itself");
    }
    let is_word = |text: &str| text.chars().all(|it| it.is_alphanumeric() || it == '_');
    if let Some(name) = others.iter().find(|text| is_word(text)) {
        output.show_error(&format!(
            "the model has no formula `{name}`\nwrite it there: `ltl {name} = ...`, or give the \
             formula itself"
        ))?;
        return Ok(None);
    }
    match others.is_empty() {
        true => Ok(Some(model)),
        false => read_with(file, &others, output),
    }
}

/// Tells what came of a search; gives the status with it.
fn tell(
    check: &CheckModel,
    model: &Model,
    name: &str,
    report: &Report,
    status: u8,
    output: &mut Output,
) -> anyhow::Result<u8> {
    let chart = report.finding.as_ref();
    let chart = chart.map(|(_, trail)| Chart::of(model, trail));
    let why = report.finding.as_ref().map(|(finding, _)| match finding {
        Finding::Fault(fault) => fault.message.clone(),
        Finding::Deadlock => {
            "nothing is possible here for what the machine asks its environment".to_owned()
        }
        Finding::Cycle { message } => message.clone(),
    });
    let answer = Answer::of(name, report, why, chart);
    output.say(&answer.heading())?;
    if let Some((Finding::Fault(fault), _)) = &report.finding {
        show_fault(&model.texts, fault, output)?;
    } else if let Some(fault) = standstill(model, report) {
        show_fault(&model.texts, &fault, output)?;
    } else if let (Verdict::Violated, Some(why)) = (answer.verdict, &answer.why) {
        output.show_error(why)?;
    }
    answer.show_trail(check, output)?;
    output.say(&answer.counts())?;
    answer.record(check, output)?;
    Ok(answer.status(status))
}

/// What the machine asks where it does not go on, and nothing is possible for it.
fn standstill(model: &Model, report: &Report) -> Option<Fault> {
    match &report.finding {
        Some((Finding::Deadlock, trail)) => model.standstill(trail.end.as_deref()?),
        _ => None,
    }
}

/// Checks the claim that the model does only what an abstract one does.
fn refinement(
    check: &CheckModel,
    model: &Model,
    steps: &CachedSystem<'_, Model>,
    status: u8,
    output: &mut Output,
) -> anyhow::Result<u8> {
    let name = model.abstract_name().unwrap_or_default().to_owned();
    let mut watch = watched(output);
    let options = options(check);
    let found = model.refinement_by(steps, &options, &mut |states| watch(states, states));
    drop(watch);
    let Some(found) = found else {
        return Ok(status);
    };
    if let Some(fault) = &found.fault {
        let texts = match found.is_abstract {
            true => model.abstract_texts(),
            false => &model.texts,
        };
        show_fault(texts, fault, output)?;
        return Ok(exit::USAGE);
    }
    let question = format!("the abstraction of {name}");
    let own = model.texts.first().map_or("", |text| &text.name);
    let chart = found.divergence.as_ref();
    let (verdict, why) = match (&found.divergence, found.cut) {
        (Some(_), _) => (
            Verdict::Violated,
            Some(format!("{own} does what {name} does not do")),
        ),
        (None, Some(cut)) => (Verdict::Incomplete, Some(why_cut(cut, &found, &name))),
        (None, None) => (Verdict::Holds, None),
    };
    let answer = Answer {
        question: &question,
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
        output.say(&side_by_side(own, &name, divergence))?;
    }
    output.say(&answer.counts())?;
    answer.record(check, output)?;
    Ok(answer.status(status))
}

/// Why a search for a divergence was cut short. What is too large may be the abstract
/// model.
fn why_cut(cut: Cut, found: &Refinement, name: &str) -> String {
    match cut {
        Cut::States { limit } if found.is_abstract => {
            format!("{name} can be in more than {limit} states")
        }
        cut => cut_words(Some(cut)),
    }
}

/// The step where the models part, as a table.
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

/// `juror model conform`.
pub fn conform(conform: &Conform) -> anyhow::Result<u8> {
    let mut output = Output::open(conform.messages.color, conform.json.as_deref(), false)?;
    let Some(model) = read(&conform.model, &mut output)? else {
        return Ok(exit::USAGE);
    };
    if !model.has_record() {
        output.show_error(
            "the model does not say what the lines of a record mean\nwrite `record { when kind = \
             \"stop\" { ... } }`",
        )?;
        return Ok(exit::USAGE);
    }
    let mut follower = match Follower::new(&model) {
        Ok(follower) => follower,
        // What cannot be compared is no answer about the session.
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
            .with_context(|| format!("line {number} of {name} is no JSON"))?;
        if !value.is_object() {
            anyhow::bail!(
                "line {number} of {name} is no object with keys\nhelp: `juror run --json=FILE` \
                 writes a record of a session"
            );
        }
        let key = |key: &str| match value.get(key)? {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Null => None,
            other => Some(other.to_string()),
        };
        if let Err(parting) = follower.line(&key) {
            let words: Vec<String> = ["kind", "reason", "command"]
                .iter()
                .filter_map(|word| key(word))
                .collect();
            let why = format!(
                "the session does not follow the model: line {number} of {name} ({})",
                words.join(", ")
            );
            output.show_error(&why)?;
            show_fault(&model.texts, &parting.fault, &mut output)?;
            output.say(&standing(&parting))?;
            record(conform, &follower, Some(&why), &mut output)?;
            return Ok(exit::VIOLATED);
        }
    }
    if follower.lines == 0 {
        // Whatever the session did, it would have followed the model.
        anyhow::bail!(
            "none of the {number} lines of {name} means anything to the model\nhelp: a line does \
             if it has what stands after a `when` of the model's `record`"
        );
    }
    output.say(&format!(
        "the session follows the model: {} of {number} lines, {} steps\n",
        follower.lines, follower.steps
    ))?;
    record(conform, &follower, None, &mut output)?;
    Ok(exit::HOLDS)
}

/// Writes the line of JSON of a session that was followed up to its end, or to
/// where it left the model.
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

/// Where the model stood when a record left it.
fn standing(parting: &juror_model::asm::Nonconformance) -> String {
    let mut text = match parting.states {
        1 => "the model was in this state:\n".to_owned(),
        states => format!("the model was in one of {states} states, such as:\n"),
    };
    for value in &parting.before {
        text += &format!("  {} = {}\n", value.name, value.value);
    }
    text
}

fn wrong(model: &Model, fault: &Fault, output: &mut Output) -> anyhow::Result<u8> {
    show_fault(&model.texts, fault, output)?;
    Ok(exit::VIOLATED)
}

/// `juror model simulate`.
pub fn simulate(simulate: &Simulate, output: &mut Output) -> anyhow::Result<u8> {
    refuse(&simulate.model, &[("--violation", simulate.violation)])?;
    let Some(model) = read(&simulate.model.file, output)? else {
        return Ok(exit::USAGE);
    };
    crate::model_walk::walk(simulate, model, output)
}
