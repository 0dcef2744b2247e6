//! `juror model`: designs checked and walked through.

use crate::driver::{FileDiagnostics, Observer as _};
use crate::exit;
use crate::model_arguments::{CheckModel, ModelAction, ModelCommand, ModelFile, Order};
use crate::model_asm;
use crate::model_report::Answer;
use crate::model_simulate;
use crate::output::Output;
use anyhow::Context as _;
use juror_language::{Diagnostic, Severity};
use juror_model::promela::{Model, Question, Reading, Text};
use juror_model::{Chart, Fault, Finding, Options, Report, Search, System, Trail};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// How much of the available memory states take at the most; the rest is for what is
/// known of them.
const MEMORY_PERCENT: u64 = 60;

/// Progress is shown when it takes longer.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);

/// Does what the command line asks for; gives the exit status.
pub fn run(command: &ModelCommand) -> anyhow::Result<u8> {
    match &command.action {
        ModelAction::Check(check) => {
            let mut output = Output::open(check.messages.color, check.json.as_deref(), false)?;
            if let Some(words) = unused(check) {
                anyhow::bail!("{words}");
            }
            if model_asm::is_machine(&check.model.file) {
                return model_asm::check(check, &mut output);
            }
            match read(&check.model, check.ltl.clone(), &mut output)? {
                Some(model) => check_model(check, model, &mut output),
                None => Ok(exit::USAGE),
            }
        }
        ModelAction::Simulate(simulate) => {
            let mut output = Output::open(simulate.messages.color, None, false)?;
            if model_asm::is_machine(&simulate.model.file) {
                return model_asm::simulate(simulate, &mut output);
            }
            if simulate.script.is_some() {
                anyhow::bail!("a script is for an abstract state machine, a file .asm");
            }
            match read(&simulate.model, Vec::new(), &mut output)? {
                Some(model) => model_simulate::simulate(simulate, model, &mut output),
                None => Ok(exit::USAGE),
            }
        }
        ModelAction::Conform(conform) => model_asm::conform(conform),
    }
}

/// What is asked for and would not be done: said, for a search that is another
/// than the one asked for would be believed.
fn unused(check: &CheckModel) -> Option<&'static str> {
    let asks = !check.ltl.is_empty() || check.claim || check.acceptance || check.progress;
    let is_plain = !check.compact
        && !check.symmetry
        && check.jobs == 1
        && matches!(check.order, Order::Breadth);
    if asks && !is_plain {
        return Some(
            "--order, --jobs, --symmetry and --compact are for the search of steps and states; \
             formulas, claims and labels have a search of their own\nhelp: leave them out",
        );
    }
    if check.reduce && check.fair {
        return Some("fairness is about all steps\nhelp: leave --reduce or --fair out");
    }
    if matches!(check.order, Order::Depth) && check.jobs > 1 {
        return Some("a search in depth has one thread\nhelp: leave --order or --jobs out");
    }
    (check.jobs == 0).then_some("a search needs a thread\nhelp: --jobs 1, or more")
}

/// Reads the model; nothing if it has mistakes, which are shown.
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
    // A name of a formula in the model is no formula of its own.
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

/// Shows what is wrong, with its place in the source.
pub fn show_fault(texts: &[Text], fault: &Fault, output: &mut Output) -> io::Result<()> {
    let place = fault
        .span
        .and_then(|span| Some((texts.get(span.source as usize)?, span)));
    let Some((text, span)) = place else {
        let help = fault
            .help
            .as_ref()
            .map_or(String::new(), |help| format!("\n{help}"));
        return output.show_error(&format!("{}{help}", fault.message));
    };
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        code: fault.code,
        message: fault.message.clone(),
        span: span.range(),
        labels: labels_in(fault, span.source),
        help: fault.help.clone(),
    };
    output.show_diagnostics(&FileDiagnostics {
        file: text.name.clone(),
        text: text.text.as_str().into(),
        diagnostics: vec![diagnostic],
    })
}

/// The other places of a fault that are in the same text.
fn labels_in(fault: &Fault, source: u32) -> Vec<(Range<usize>, String)> {
    let labels = fault.labels.iter();
    let here = labels.filter(|(span, _)| span.source == source);
    here.map(|(span, label)| (span.range(), label.clone()))
        .collect()
}

/// What is checked, with the words for it.
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

fn check_model(check: &CheckModel, model: Model, output: &mut Output) -> anyhow::Result<u8> {
    let mut model = model;
    let mut status = exit::HOLDS;
    for (name, question) in questions(check, &model) {
        let report = match &question {
            None if check.symmetry => match model.symmetric() {
                Ok(symmetric) => symmetric.unfolded(search(check, &symmetric, output)),
                Err(fault) => {
                    show_fault(model.texts(), &fault, output)?;
                    return Ok(exit::USAGE);
                }
            },
            None => search(check, &model, output),
            Some(question) => match ask(check, &mut model, question, &name, output) {
                Ok(report) => report,
                Err(fault) => {
                    show_fault(model.texts(), &fault, output)?;
                    return Ok(exit::USAGE);
                }
            },
        };
        let chart = report.finding.as_ref();
        let chart = chart.map(|(_, trail)| Chart::of(&model, trail));
        let answer = Answer::of(&name, &report, finding_words(&model, &report), chart);
        status = answer.status(status);
        output.say(&answer.heading())?;
        match (&report.finding, &answer.why) {
            (Some((Finding::Fault(fault), _)), _) => show_fault(model.texts(), fault, output)?,
            (Some((Finding::Deadlock, trail)), _) => {
                let fault = model.stuck(trail.end.as_deref().unwrap_or(&[]));
                show_fault(model.texts(), &fault, output)?;
            }
            (Some((Finding::Cycle { .. }, _)), Some(why)) => output.show_error(why)?,
            _ => {}
        }
        answer.show_trail(check, output)?;
        output.say(&answer.counts())?;
        answer.record(check, output)?;
        if status == exit::VIOLATED {
            return Ok(status);
        }
    }
    Ok(status)
}

/// What is wrong at the end of the run that was found.
fn finding_words(model: &Model, report: &Report) -> Option<String> {
    report
        .finding
        .as_ref()
        .map(|(finding, trail)| match finding {
            Finding::Fault(fault) => fault.message.clone(),
            Finding::Deadlock => deadlock_words(model, trail),
            Finding::Cycle { message } => message.clone(),
        })
}

/// The memory that programs may still ask for, in bytes, where the kernel tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let rest = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// What states may take where nothing else is asked for.
pub fn memory_bytes_max() -> u64 {
    available_memory().map_or(u64::MAX, |bytes| bytes / 100 * MEMORY_PERCENT)
}

/// The limits of a search. States take no more memory than the machine has, unless
/// that is asked for: a search that is ended by the kernel has no answer.
pub fn options(check: &CheckModel) -> Options {
    let unlimited = Options::default();
    Options {
        states_max: check.states.unwrap_or(unlimited.states_max),
        depth_max: check.depth.unwrap_or(unlimited.depth_max),
        memory_bytes_max: match check.memory {
            Some(megabytes) => megabytes.saturating_mul(1_000_000),
            None => memory_bytes_max(),
        },
        deadlocks: !check.no_deadlock,
        all: false,
        reduces: check.reduce,
    }
}

/// Shows progress when it takes a while.
pub fn watched(output: &mut Output) -> impl FnMut(u64, u64) -> bool {
    let started = Instant::now();
    move |done, known| {
        if started.elapsed() > PROGRESS_AFTER {
            output.progress("searching", done.min(known.saturating_sub(1)), known.max(1));
        }
        true
    }
}

/// Searches the states of a model.
pub fn search<S: System>(check: &CheckModel, model: &S, output: &mut Output) -> Report {
    let kind = match (check.compact, check.order, check.jobs) {
        (true, ..) => Search::Compact,
        (false, Order::Depth, _) => Search::Depth,
        (false, Order::Breadth, jobs) if jobs > 1 => Search::Parallel(jobs),
        (false, Order::Breadth, _) => Search::Breadth,
    };
    juror_model::search(model, kind, &options(check), &mut watched(output))
}

fn ask(
    check: &CheckModel,
    model: &mut Model,
    question: &Question,
    name: &str,
    output: &mut Output,
) -> Result<Report, Fault> {
    let may_reduce = model.may_reduce(question);
    // Of what is not asked for by name, all is answered, as far as that goes.
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
    let mut watched = watched(output);
    Ok(juror_model::accepting_run(
        model,
        &automaton,
        check.fair,
        &message,
        &options,
        &mut watched,
    ))
}

pub fn deadlock_words(model: &Model, trail: &Trail) -> String {
    let state = trail.end.as_deref().unwrap_or(&[]);
    let mut words =
        "deadlock: no process can continue, and this is not a valid end state\n".to_owned();
    for line in model.standing(state) {
        words += &format!("  {line}\n");
    }
    words + "mark the statements where a process may stay forever with `end` labels"
}
