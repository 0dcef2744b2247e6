//! `juror model check` for models in PROMELA.

pub mod simulate;

use super::report::{AFTER_VIOLATION, Answer, Questions, show_fault};
use super::search::{options, progress, search};
use crate::arguments::model::{CheckModel, ModelFile};
use crate::exit;
use crate::output::Output;
use anyhow::Context as _;
use juror_model::promela::{Model, Question, Reading, Text};
use juror_model::{Chart, Fault, Finding, Options, Report, Trail};
use std::path::Path;

/// Reads the model. Shows its errors and returns nothing if it has some.
fn read(
    file: &ModelFile,
    formulas: Vec<String>,
    output: &mut Output,
) -> anyhow::Result<Option<Model>> {
    let name = file.file.display().to_string();
    let text = std::fs::read_to_string(&file.file)
        .with_context(|| format!("the model {name} cannot be read"))?;
    let directory = file.file.parent().unwrap_or(Path::new("")).to_owned();
    let mut reader = |included: &str| {
        let path = directory.join(included);
        let text = std::fs::read_to_string(&path);
        let name = path.display().to_string();
        match text {
            Ok(text) => Ok(Text { name, text }),
            Err(error) => Err(format!("{name} cannot be read: {error}")),
        }
    };
    let definitions = file.definitions.iter().map(|definition| {
        let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
        (name.to_owned(), value.to_owned())
    });
    let mut reading = Reading {
        definitions: definitions.collect(),
        wraps: file.wrap,
        formulas: Vec::new(),
    };
    // The name of a formula of the model is not a formula itself.
    reading.formulas = formulas
        .into_iter()
        .filter(|formula| !is_name_in(&text, formula))
        .collect();
    match Model::read(Text { name, text }, &reading, &mut reader) {
        Ok(model) => Ok(Some(model)),
        Err(refused) => {
            for fault in &refused.faults {
                show_fault(&refused.texts, fault, output)?;
            }
            Ok(None)
        }
    }
}

/// Tells whether a formula is the name of a formula in the text of a model.
fn is_name_in(text: &str, formula: &str) -> bool {
    let mut after = text
        .match_indices("ltl")
        .map(|(at, word)| text[at + word.len()..].trim_start());
    let is_name = |rest: &str| {
        rest.strip_prefix(formula)
            .is_some_and(|rest| rest.trim_start().starts_with('{'))
    };
    after.any(is_name) || formula.starts_with("ltl_")
}

/// Returns the questions of a check, with their names. No question stands for the search
/// of steps and states.
fn questions(check: &CheckModel, model: &Model) -> Vec<(String, Option<Question>)> {
    let mut questions: Vec<(String, Option<Question>)> = Vec::new();
    let formula = |name: &str| {
        (
            format!("the formula {name}"),
            Some(Question::Formula(name.to_owned())),
        )
    };
    let claim = || ("the never claim".to_owned(), Some(Question::Claim));
    for name in &check.ltl {
        questions.push(formula(name));
    }
    if check.claim {
        questions.push(claim());
    }
    if check.acceptance {
        questions.push(("accept labels".to_owned(), Some(Question::Acceptance)));
    }
    if check.progress {
        questions.push(("progress".to_owned(), Some(Question::Progress)));
    }
    if questions.is_empty() {
        questions.push(("steps and states".to_owned(), None));
        questions.extend(model.formulas().map(|(name, _)| formula(name)));
        if model.has_claim() {
            questions.push(claim());
        }
    }
    questions
}

/// Runs `juror model check`. Returns the exit status.
pub fn check(check: &CheckModel, told: &mut Questions, output: &mut Output) -> anyhow::Result<u8> {
    let Some(mut model) = read(&check.model, check.ltl.clone(), output)? else {
        return Ok(exit::USAGE);
    };
    let mut status = exit::HOLDS;
    let mut questions = questions(check, &model).into_iter();
    while let Some((name, question)) = questions.next() {
        let about = about(check, &model, question.as_ref());
        let report = match answer(check, &mut model, (&name, question.as_ref()), output) {
            Ok(report) => report,
            Err(fault) => {
                show_fault(model.texts(), &fault, output)?;
                told.leave_out(&name, &fault.message);
                return Ok(exit::USAGE);
            }
        };
        let chart = report.finding.as_ref();
        let chart = chart.map(|(_, trail)| Chart::of(&model, trail));
        let mut answer = Answer::of(&name, &report, finding_message(&model, &report), chart);
        answer.about = about;
        status = answer.status(status);
        output.say(&answer.heading())?;
        if let Some(fault) = fault_of(&model, &report) {
            answer.explain(model.texts(), &fault, output)?;
        }
        answer.show_trail(check, output)?;
        output.say(&answer.counts())?;
        answer.record(check, told, output)?;
        if status == exit::VIOLATED {
            questions.for_each(|(name, _)| told.leave_out(&name, AFTER_VIOLATION));
            return Ok(status);
        }
    }
    Ok(status)
}

/// Returns the formula of a question, or the errors that its search looks for.
fn about(check: &CheckModel, model: &Model, question: Option<&Question>) -> String {
    match question {
        None if check.no_deadlock => "assertions and errors of statements; no deadlocks".to_owned(),
        None => "assertions, errors of statements, deadlocks".to_owned(),
        Some(Question::Formula(name)) => {
            let formula = model.formulas().find(|(known, _)| known == name);
            // The words of a formula are separated, and so are the signs of its operators.
            let text = formula.map_or("", |(_, text)| text.trim());
            text.replace("< >", "<>").replace("[ ]", "[]")
        }
        Some(_) => String::new(),
    }
}

/// Searches for the answer to a question. No question stands for the search of steps and
/// states.
fn answer(
    check: &CheckModel,
    model: &mut Model,
    (name, question): (&str, Option<&Question>),
    output: &mut Output,
) -> Result<Report, Fault> {
    match question {
        None if check.symmetry => {
            let symmetric = model.symmetric()?;
            Ok(symmetric.unfolded(search(check, &symmetric, output)))
        }
        None => Ok(search(check, model, output)),
        Some(question) => ask(check, model, question, name, output),
    }
}

/// Returns the violation that was found, with its position if it has one.
fn fault_of(model: &Model, report: &Report) -> Option<Fault> {
    let (finding, trail) = report.finding.as_ref()?;
    Some(match finding {
        Finding::Fault(fault) => fault.clone(),
        Finding::Deadlock => model.stuck(trail.end.as_deref().unwrap_or(&[])),
        Finding::Cycle { message } => Fault::new("cycle", message.clone(), None),
    })
}

/// Returns the message of the violation that was found.
fn finding_message(model: &Model, report: &Report) -> Option<String> {
    report
        .finding
        .as_ref()
        .map(|(finding, trail)| match finding {
            Finding::Fault(fault) => fault.message.clone(),
            Finding::Deadlock => deadlock_message(model, trail),
            Finding::Cycle { message } => message.clone(),
        })
}

/// Searches for a run that violates a formula, a claim or labels.
fn ask(
    check: &CheckModel,
    model: &mut Model,
    question: &Question,
    name: &str,
    output: &mut Output,
) -> Result<Report, Fault> {
    let may_reduce = model.may_reduce(question);
    // Questions that were not asked for by an option are answered without reduction if
    // they do not allow it.
    let is_asked = !check.ltl.is_empty() || check.claim || check.acceptance || check.progress;
    if check.reduce && is_asked {
        may_reduce.clone()?;
    }
    let automaton = model.ask(question)?;
    let message = format!("this run violates {name}");
    let options = Options {
        deadlocks: false,
        reduces: check.reduce && may_reduce.is_ok(),
        ..options(check)
    };
    let mut progress = progress(output);
    Ok(juror_model::accepting_run(
        model,
        &automaton,
        check.fair,
        &message,
        &options,
        &mut progress,
    ))
}

/// Returns the message of a deadlock, with the positions of the processes.
fn deadlock_message(model: &Model, trail: &Trail) -> String {
    let state = trail.end.as_deref().unwrap_or(&[]);
    let mut message =
        "deadlock: no process can continue, and this is not a valid end state\n".to_owned();
    for line in model.standing(state) {
        message += &format!("  {line}\n");
    }
    message + "mark the statements where a process may stay forever with `end` labels"
}
