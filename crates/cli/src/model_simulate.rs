//! `juror model simulate`: a model in PROMELA step by step.

use crate::exit;
use crate::model_arguments::Simulate;
use crate::model_command::{deadlock_words, memory_bytes_max, show_fault, watched};
use crate::output::Output;
use juror_model::promela::{Model, Question};
use juror_model::{
    Chart, Fault, Finding, Move, Options, Report, Search, System, Trail, Verdict, Walk,
};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Walks through the model as the command line asks for.
pub fn simulate(simulate: &Simulate, model: Model, output: &mut Output) -> anyhow::Result<u8> {
    let mut model = model;
    if let Some(seed) = simulate.random {
        return at_random(seed, simulate.steps, &model, output);
    }
    let guide = match simulate.violation.then(|| violation(&mut model, output)) {
        None => None,
        Some(Ok(report)) => match report.finding {
            Some((_, trail)) => Some(trail),
            None => {
                let words = match report.verdict() {
                    Verdict::Holds => "nothing is wrong with this model",
                    _ => "nothing wrong was found, but not all of the model was searched",
                };
                output.show_error(&format!("there is no way to walk along: {words}"))?;
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

/// Takes steps at random.
fn at_random(seed: u64, steps: u32, model: &Model, output: &mut Output) -> anyhow::Result<u8> {
    let (report, trail) = juror_model::random(model, seed, 1, steps);
    let Some((finding, trail)) = report.finding else {
        output.say(&Chart::of(model, &trail).text())?;
        return Ok(exit::HOLDS);
    };
    output.say(&Chart::of(model, &trail).text())?;
    match finding {
        Finding::Fault(fault) => show_fault(model.texts(), &fault, output)?,
        _ => output.show_error(&deadlock_words(model, &trail))?,
    }
    Ok(exit::VIOLATED)
}

/// What `check` finds first: in the steps and states, or in a formula of the model.
fn violation(model: &mut Model, output: &mut Output) -> Result<Report, Fault> {
    let options = Options {
        memory_bytes_max: memory_bytes_max(),
        ..Options::default()
    };
    let report = juror_model::search(model, Search::Breadth, &options, &mut watched(output));
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
        let (cut, watched) = (last.cut, &mut watched(output));
        last = juror_model::accepting_run(model, &automaton, false, &name, &options, watched);
        last.cut = last.cut.or(cut);
    }
    Ok(last)
}

/// The step of a trail at a place of a walk, if the walk is still on it. A run that goes
/// round for ever goes round.
fn guided<'t>(guide: Option<&'t Trail>, walk: &Walk<'_, Model>) -> Option<&'t Move> {
    let (guide, mut at) = (guide?, walk.depth());
    let length = guide.moves.len();
    if let Some(start) = guide.cycle.filter(|start| *start < length && at >= length) {
        at = start + (at - start) % (length - start);
    }
    guide.moves.get(at).filter(|step| step.from == walk.state())
}

/// A person, or lines from standard input, choose the steps.
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
                    output.say("this is the beginning\n")?;
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
                    output.say("a number of a step, b, s, t or q\n")?;
                    continue;
                }
            }
        }
        show_choices(model, &mut walk, guide, output)?;
    }
}

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
        let words = match walk.may_end() {
            true => "the model has come to its end\n",
            false => "deadlock: no process can continue, and this is not a valid end state\n",
        };
        return output.say(words);
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
        let wrong = if choice.fault.is_some() {
            "  goes wrong"
        } else {
            ""
        };
        let mark = if next == Some(number) { "→" } else { " " };
        text += &format!("{mark}{:>3}  {}{wrong}\n", number + 1, parts.join("; "));
    }
    output.say(&text)
}
