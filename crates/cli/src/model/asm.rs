//! `juror model check` for abstract state machines.

pub mod conform;
mod refinement;
pub mod simulate;

use super::report::{AFTER_VIOLATION, Answer, Questions, show_fault};
use super::search::{options, progress, search};
use crate::arguments::model::{CheckModel, ModelFile};
use crate::exit;
use crate::output::Output;
use anyhow::Context as _;
use juror_model::asm::{Model, load_with};
use juror_model::promela::Text;
use juror_model::{Automaton, CachedSystem, Chart, Fault, Finding, Options, Report};
use std::path::Path;

/// Tells whether a file is a model of an abstract state machine.
pub fn is_machine(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "asm")
}

/// Reads a file as a text of a model.
fn text_of(file: &Path) -> anyhow::Result<Text> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
    Ok(Text { name, text })
}

/// Reads the model. Shows its errors and returns nothing if it has some.
fn read(file: &Path, output: &mut Output) -> anyhow::Result<Option<Model>> {
    read_with(file, &[], output)
}

/// As [`read`], with additional formulas.
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

/// Refuses options that have no effect: those about processes and macros.
fn refuse(file: &ModelFile, others: &[(&str, bool)]) -> anyhow::Result<()> {
    let common = [("-D", !file.definitions.is_empty()), ("--wrap", file.wrap)];
    let given = common.iter().chain(others).find(|(_, is_given)| *is_given);
    if let Some((option, _)) = given {
        anyhow::bail!(
            "{option} is for models with processes, files .pml\nhelp: omit it for an abstract state \
             machine"
        );
    }
    Ok(())
}

/// Runs `juror model check`. Returns the exit status.
pub fn check(check: &CheckModel, told: &mut Questions, output: &mut Output) -> anyhow::Result<u8> {
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
    // All questions search the same steps.
    let steps = CachedSystem::new(&model, memory_bytes_max);
    if check.ltl.is_empty() {
        let report = search(check, &steps, output);
        let about = if check.no_deadlock {
            "invariants and errors of rules; no deadlocks"
        } else {
            "invariants, errors of rules, deadlocks"
        };
        let question = ("steps and states", about);
        status = show_result(check, &model, question, &report, status, told, output)?;
    }
    for formula in &model.formulas {
        let is_asked = check.ltl.is_empty() || check.ltl.iter().any(|name| **name == *formula.name);
        let name = format!("the formula {}", formula.name);
        if !is_asked {
            continue;
        }
        if status == exit::VIOLATED {
            told.leave_out(&name, AFTER_VIOLATION);
            continue;
        }
        let automaton = Automaton::violating(&formula.formula)?;
        let report = juror_model::accepting_run(
            &steps,
            &automaton,
            false,
            &format!("this run violates {name}"),
            &Options {
                deadlocks: false,
                ..options(check)
            },
            &mut progress(output),
        );
        let question = (&*name, "");
        status = show_result(check, &model, question, &report, status, told, output)?;
    }
    match (check.ltl.is_empty(), model.abstract_name()) {
        (true, Some(name)) if status == exit::VIOLATED => {
            told.leave_out(&refinement::question(name), AFTER_VIOLATION);
            Ok(status)
        }
        (true, Some(_)) => refinement::check(check, &model, &steps, status, told, output),
        _ => Ok(status),
    }
}

/// Reads the model with the formulas of `--ltl`. Shows its errors and returns nothing if
/// it has some.
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
        anyhow::bail!(
            "--ltl needs a formula\nhelp: give the name of a formula, or the formula itself"
        );
    }
    let is_word = |text: &str| text.chars().all(|it| it.is_alphanumeric() || it == '_');
    if let Some(name) = others.iter().find(|text| is_word(text)) {
        output.show_error(&format!(
            "the model has no formula `{name}`\nhelp: add it to the model, `ltl {name} = ...`, or give \
             the formula itself"
        ))?;
        return Ok(None);
    }
    if others.is_empty() {
        Ok(Some(model))
    } else {
        read_with(file, &others, output)
    }
}

/// Shows the result of a search. Returns the exit status with it.
fn show_result(
    check: &CheckModel,
    model: &Model,
    (name, about): (&str, &str),
    report: &Report,
    status: u8,
    told: &mut Questions,
    output: &mut Output,
) -> anyhow::Result<u8> {
    let chart = report.finding.as_ref();
    let chart = chart.map(|(_, trail)| Chart::of(model, trail));
    let why = report.finding.as_ref().map(|(finding, _)| match finding {
        Finding::Fault(fault) => fault.message.clone(),
        Finding::Deadlock => {
            "the environment has no possible answer for what the machine asks here".to_owned()
        }
        Finding::Cycle { message } => message.clone(),
    });
    let mut answer = Answer::of(name, report, why, chart);
    answer.about = about.to_owned();
    output.say(&answer.heading())?;
    let fault = match (&report.finding, &answer.why) {
        (Some((Finding::Fault(fault), _)), _) => Some(fault.clone()),
        (Some(_), Some(why)) => {
            let plain = Fault::new("violation", why.clone(), None);
            Some(standstill(model, report).unwrap_or(plain))
        }
        _ => None,
    };
    if let Some(fault) = fault {
        answer.explain(&model.texts, &fault, output)?;
    }
    answer.show_trail(check, output)?;
    output.say(&answer.counts())?;
    answer.record(check, told, output)?;
    Ok(answer.status(status))
}

/// Returns the question of the machine that has no possible answer, in a deadlock.
fn standstill(model: &Model, report: &Report) -> Option<Fault> {
    match &report.finding {
        Some((Finding::Deadlock, trail)) => model.standstill(trail.end.as_deref()?),
        _ => None,
    }
}
