//! `juror model simulate` for abstract state machines. The environment is random, a
//! script, or the user, who is asked for the inputs of each step.

use super::{read, refuse, text_of};
use crate::arguments::model::Simulate;
use crate::exit;
use crate::model::report::show_fault;
use crate::output::Output;
use juror_model::asm::{Asked, Model, Question, Random, Script, State, Stop, Value};
use juror_model::{Change, Step};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Runs `juror model simulate`. Returns the exit status.
pub fn simulate(simulate: &Simulate, output: &mut Output) -> anyhow::Result<u8> {
    refuse(&simulate.model, &[("--violation", simulate.violation)])?;
    let Some(model) = read(&simulate.model.file, output)? else {
        return Ok(exit::USAGE);
    };
    if let Some(file) = &simulate.script {
        let mut model = model;
        return match Script::read(&mut model, text_of(file)?) {
            Ok(script) => follow(&model, &script, output),
            Err(faults) => {
                for fault in &faults {
                    show_fault(&model.texts, fault, output)?;
                }
                Ok(exit::USAGE)
            }
        };
    }
    match simulate.random {
        Some(seed) => at_random(&model, Random::new(seed), simulate.steps, output),
        None => converse(&model, output),
    }
}

/// Returns a step as text.
fn step_text(number: usize, steps: &[Step]) -> String {
    let mut text = String::new();
    for (position, step) in steps.iter().enumerate() {
        let label = match position {
            0 => format!("{number:>4}  "),
            _ => " ".repeat(6),
        };
        let actor = match step.actor {
            Some(0) => "environment",
            _ => "machine",
        };
        text += &format!("{label}{actor}: {}\n", step.text);
        for change in &step.changes {
            text += &format!("{:10}{} = {}\n", "", change.name, change.value);
        }
    }
    text
}

/// Takes the steps of a script.
fn follow(model: &Model, script: &Script, output: &mut Output) -> anyhow::Result<u8> {
    let mut text = String::new();
    let mut number = 0;
    let result = script.run(model, &mut |done| {
        // Each step ends with the action of the machine.
        for steps in done.steps.split_inclusive(|step| step.actor == Some(1)) {
            number += 1;
            text += &step_text(number, steps);
        }
    });
    output.say(&text)?;
    match result {
        Ok(_) => {
            output.say("the script is complete\n")?;
            Ok(exit::HOLDS)
        }
        Err(fault) => {
            show_fault(&model.texts, &fault, output)?;
            Ok(exit::VIOLATED)
        }
    }
}

/// Shows why a run stopped. Returns the exit status.
fn ended(model: &Model, stop: Stop, output: &mut Output) -> anyhow::Result<u8> {
    let status = match stop {
        Stop::Fault(_) => exit::VIOLATED,
        Stop::NoAnswer(_) => exit::HOLDS,
    };
    show_fault(&model.texts, &stop.fault(), output)?;
    Ok(status)
}

/// Takes random steps.
fn at_random(
    model: &Model,
    mut random: Random,
    steps: u32,
    output: &mut Output,
) -> anyhow::Result<u8> {
    let mut state = match model.begin(&mut random) {
        Ok(state) => state,
        Err(stop) => return ended(model, stop, output),
    };
    for number in 1..=steps as usize {
        if let Some(fault) = model.broken(&state) {
            show_fault(&model.texts, &fault, output)?;
            return Ok(exit::VIOLATED);
        }
        match model.step(&state, &mut random) {
            Ok(stepped) => {
                output.say(&step_text(number, &model.describe(&state, &stepped)))?;
                state = stepped.state;
            }
            Err(stop) => return ended(model, stop, output),
        }
    }
    match model.broken(&state) {
        Some(fault) => {
            show_fault(&model.texts, &fault, output)?;
            Ok(exit::VIOLATED)
        }
        None => Ok(exit::HOLDS),
    }
}

/// The maximum number of possible answers that are listed.
const LISTED_MAX: usize = 40;

/// A command of the user instead of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Back,
    Quit,
}

/// The user at a prompt, or lines of the standard input.
struct Person<'a> {
    model: &'a Model,
    values: Vec<Change>,
    wish: Option<Wish>,
    asked: bool,
}

impl Person<'_> {
    fn line(&mut self) -> Option<String> {
        if io::stdin().is_terminal() {
            print!("(model) ");
            io::stdout().flush().ok()?;
        }
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        match read {
            Ok(count) if count > 0 => Some(line.trim().to_owned()),
            _ => {
                self.wish = Some(Wish::Quit);
                None
            }
        }
    }

    /// Returns the next line that is not a command.
    fn word(&mut self) -> Option<String> {
        loop {
            let line = self.line()?;
            match line.as_str() {
                "b" | "back" => {
                    self.wish = Some(Wish::Back);
                    return None;
                }
                "q" | "quit" => {
                    self.wish = Some(Wish::Quit);
                    return None;
                }
                "s" | "show" => {
                    for value in &self.values {
                        println!("  {} = {}", value.name, value.value);
                    }
                }
                _ => return Some(line),
            }
        }
    }

    fn ask(&mut self, question: &Question<'_>) -> Option<Value> {
        self.asked = true;
        let candidates = question.candidates().unwrap_or_default();
        let mut text = format!("{}?", question.text());
        for (number, value) in candidates.iter().take(LISTED_MAX).enumerate() {
            text += &format!("  {} {}", number + 1, self.model.show(value));
        }
        if candidates.len() > LISTED_MAX {
            text += &format!("  … {} in all", candidates.len());
        }
        let wanted = if candidates.is_empty() {
            text += &format!("  a value of type {}", question.type_text());
            "such a value"
        } else {
            "one of these"
        };
        println!("{text}");
        loop {
            let word = self.word()?;
            let by_number = word
                .parse::<usize>()
                .ok()
                .and_then(|number| candidates.get(number.checked_sub(1)?).cloned());
            // If answers are numbers, a number is the answer and not its position.
            let answer = match question.answer(&word) {
                Some(answer) => Some(answer),
                None => by_number,
            };
            match answer {
                Some(answer) => return Some(answer),
                None => println!("{wanted}, s, b or q"),
            }
        }
    }
}

/// Lets the user, or lines of the standard input, answer what the steps ask.
fn converse(model: &Model, output: &mut Output) -> anyhow::Result<u8> {
    let mut person = Person {
        model,
        values: Vec::new(),
        wish: None,
        asked: false,
    };
    let begun = model.begin(&mut Asked::new(|question: &Question<'_>| {
        person.ask(question)
    }));
    let mut state = match begun {
        Ok(state) => state,
        Err(Stop::NoAnswer(_)) => return Ok(exit::HOLDS),
        Err(stop) => return ended(model, stop, output),
    };
    let mut before: Vec<State> = Vec::new();
    loop {
        if let Some(fault) = model.broken(&state) {
            show_fault(&model.texts, &fault, output)?;
            return Ok(exit::VIOLATED);
        }
        person.values = model.values_of(&state);
        person.asked = false;
        let mut environment = Asked::new(|question: &Question<'_>| person.ask(question));
        let stepped = model.step(&state, &mut environment);
        // A step without questions waits for Enter.
        let waits = stepped.is_ok() && !person.asked;
        if waits && person.word().is_none() || stepped.is_err() && person.wish.is_some() {
            match person.wish.take() {
                Some(Wish::Back) => {
                    match before.pop() {
                        Some(earlier) => state = earlier,
                        None => output.say("already at the initial state\n")?,
                    }
                    continue;
                }
                _ => return Ok(exit::HOLDS),
            }
        }
        match stepped {
            Ok(stepped) => {
                let steps = model.describe(&state, &stepped);
                output.say(&step_text(before.len() + 1, &steps))?;
                before.push(std::mem::replace(&mut state, stepped.state));
            }
            Err(stop) => return ended(model, stop, output),
        }
    }
}
