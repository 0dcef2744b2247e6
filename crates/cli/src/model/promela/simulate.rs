//! `juror model simulate` for models in PROMELA.

use super::{deadlock_message, read};
use crate::arguments::model::Simulate;
use crate::exit;
use crate::model::report::show_fault;
use crate::model::search::{memory_bytes_max, progress};
use crate::output::Output;
use juror_model::promela::{Model, Question};
use juror_model::{
    Chart, Fault, Finding, Move, Options, Report, Search, System, Trail, Verdict, Walk,
};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Runs `juror model simulate`. Returns the exit status.
pub fn simulate(simulate: &Simulate, output: &mut Output) -> anyhow::Result<u8> {
    if simulate.script.is_some() {
        anyhow::bail!("--script is for abstract state machines, files .asm");
    }
    let Some(mut model) = read(&simulate.model, Vec::new(), output)? else {
        return Ok(exit::USAGE);
    };
    if let Some(seed) = simulate.random {
        return at_random(seed, simulate.steps, &model, output);
    }
    let guide = match simulate.violation.then(|| violation(&mut model, output)) {
        None => None,
        Some(Ok(report)) => match report.finding {
            Some((_, trail)) => Some(trail),
            None => {
                let reason = match report.verdict() {
                    Verdict::Holds => "the model holds",
                    _ => "none was found, but the search is incomplete",
                };
                output.show_error(&format!("there is no violation to follow: {reason}"))?;
                return Ok(exit::USAGE);
            }
        },
        Some(Err(fault)) => {
            show_fault(model.texts(), &fault, output)?;
            return Ok(exit::USAGE);
        }
    };
    match Walk::new(&model) {
        Ok(walk) => converse(&model, walk, guide.as_ref(), output),
        Err(fault) => {
            show_fault(model.texts(), &fault, output)?;
            Ok(exit::USAGE)
        }
    }
}

/// Takes random steps.
fn at_random(seed: u64, steps: u32, model: &Model, output: &mut Output) -> anyhow::Result<u8> {
    let (report, trail) = juror_model::random(model, seed, 1, steps);
    let Some((finding, trail)) = report.finding else {
        output.say(&Chart::of(model, &trail).text())?;
        return Ok(exit::HOLDS);
    };
    output.say(&Chart::of(model, &trail).text())?;
    match finding {
        Finding::Fault(fault) => show_fault(model.texts(), &fault, output)?,
        _ => output.show_error(&deadlock_message(model, &trail))?,
    }
    Ok(exit::VIOLATED)
}

/// Searches for the violation that `check` finds first: in the steps and states, or of a
/// formula of the model.
fn violation(model: &mut Model, output: &mut Output) -> Result<Report, Fault> {
    let options = Options {
        memory_bytes_max: memory_bytes_max(),
        ..Options::default()
    };
    let report = juror_model::search(model, Search::Breadth, &options, &mut progress(output));
    let mut last = report;
    let names: Vec<String> = model.formulas().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        if last.finding.is_some() {
            break;
        }
        let automaton = model.ask(&Question::Formula(name.clone()))?;
        let options = Options {
            deadlocks: false,
            ..options
        };
        let (cut, progress) = (last.cut, &mut progress(output));
        last = juror_model::accepting_run(model, &automaton, false, &name, &options, progress);
        last.cut = last.cut.or(cut);
    }
    Ok(last)
}

/// Returns the step of a trail at the depth of a walk, if the walk has followed the trail.
/// A trail with a cycle repeats the cycle.
fn guided<'t>(guide: Option<&'t Trail>, walk: &Walk<'_, Model>) -> Option<&'t Move> {
    let (guide, mut at) = (guide?, walk.depth());
    let length = guide.moves.len();
    if let Some(start) = guide.cycle.filter(|start| *start < length && at >= length) {
        at = start + (at - start) % (length - start);
    }
    guide.moves.get(at).filter(|step| step.from == walk.state())
}

/// Lets the user, or lines of the standard input, choose the steps.
fn converse(
    model: &Model,
    walk: Walk<'_, Model>,
    guide: Option<&Trail>,
    output: &mut Output,
) -> anyhow::Result<u8> {
    let mut walk = walk;
    let mut lines = io::stdin().lock().lines();
    show_choices(model, &mut walk, guide, output)?;
    loop {
        if io::stdin().is_terminal() {
            print!("(model) ");
            io::stdout().flush()?;
        }
        let Some(line) = lines.next().transpose()? else {
            return Ok(exit::HOLDS);
        };
        match line.trim() {
            "q" | "quit" => return Ok(exit::HOLDS),
            "b" | "back" => {
                if !walk.back() {
                    output.say("already at the initial state\n")?;
                }
            }
            "s" | "show" => {
                for value in model.values(walk.state()) {
                    output.say(&format!("{} = {}\n", value.name, value.value))?;
                }
                continue;
            }
            "t" | "trail" => {
                output.say(&Chart::of(model, &walk.trail()).text())?;
                continue;
            }
            number => {
                let chosen = match number {
                    "" => Some(guided(guide, &walk).map_or(0, |step| step.number)),
                    number => number.parse().ok().and_then(|it: usize| it.checked_sub(1)),
                };
                if let Some(fault) =
                    chosen.and_then(|chosen| walk.choices().into_iter().nth(chosen)?.fault)
                {
                    show_fault(model.texts(), &fault, output)?;
                    return Ok(exit::VIOLATED);
                }
                if !chosen.is_some_and(|chosen| walk.take(chosen)) {
                    output.say("type the number of a step, b, s, t or q\n")?;
                    continue;
                }
            }
        }
        show_choices(model, &mut walk, guide, output)?;
    }
}

/// Shows the possible steps; the one of the guide is marked.
fn show_choices(
    model: &Model,
    walk: &mut Walk<'_, Model>,
    guide: Option<&Trail>,
    output: &mut Output,
) -> io::Result<()> {
    let next = guided(guide, walk).map(|step| step.number);
    let actors = model.actors(walk.state());
    let choices = walk.choices();
    if choices.is_empty() {
        let message = if walk.may_end() {
            "the model has terminated\n"
        } else {
            "deadlock: no process can continue, and this is not a valid end state\n"
        };
        return output.say(message);
    }
    let mut text = format!("step {}\n", walk.depth() + 1);
    for (number, choice) in choices.iter().enumerate() {
        let parts: Vec<String> = choice
            .steps
            .iter()
            .map(|step| {
                let actor = step.actor.and_then(|actor| actors.get(actor));
                let name = actor.map_or("", String::as_str);
                format!("{name} {}: {}", step.actor.unwrap_or(0), step.text)
            })
            .collect();
        let remark = if choice.fault.is_some() {
            "  violation"
        } else {
            ""
        };
        let mark = if next == Some(number) { "→" } else { " " };
        text += &format!("{mark}{:>3}  {}{remark}\n", number + 1, parts.join("; "));
    }
    output.say(&text)
}
