//! `juror model simulate` for abstract state machines: the environment is
//! chance, a script, or a person, who is asked for what a step reads.

use crate::exit;
use crate::model_arguments::Simulate;
use crate::model_asm::text_of;
use crate::model_command::show_fault;
use crate::output::Output;
use juror_model::asm::{Asked, Model, Question, Random, Script, State, Stop, Value};
use juror_model::{Change, Step};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Lets the environment be what the command line says.
pub fn walk(simulate: &Simulate, model: Model, output: &mut Output) -> anyhow::Result<u8> {
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
        Some(seed) => chance(&model, Random::new(seed), simulate.steps, output),
        None => person(&model, output),
    }
}

fn words(number: usize, steps: &[Step]) -> String {
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

fn follow(model: &Model, script: &Script, output: &mut Output) -> anyhow::Result<u8> {
    let mut told = String::new();
    let mut number = 0;
    let result = script.run(model, &mut |done| {
        // Each step ends with what the machine did.
        for steps in done.steps.split_inclusive(|step| step.actor == Some(1)) {
            number += 1;
            told += &words(number, steps);
        }
    });
    output.say(&told)?;
    match result {
        Ok(_) => {
            output.say("the script is done\n")?;
            Ok(exit::HOLDS)
        }
        Err(fault) => {
            show_fault(&model.texts, &fault, output)?;
            Ok(exit::VIOLATED)
        }
    }
}

/// What a run comes to when it does not go on.
fn ended(model: &Model, stop: Stop, output: &mut Output) -> anyhow::Result<u8> {
    let status = match stop {
        Stop::Fault(_) => exit::VIOLATED,
        Stop::NoAnswer(_) => exit::HOLDS,
    };
    show_fault(&model.texts, &stop.fault(), output)?;
    Ok(status)
}

fn chance(
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
                output.say(&words(number, &model.describe(&state, &stepped)))?;
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

/// How many possible answers are listed for a person.
const LISTED_MAX: usize = 40;

/// Why a person gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Back,
    Quit,
}

/// A person at a prompt, or lines of standard input.
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

    /// A line that is no wish.
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
        let wanted = match candidates.is_empty() {
            true => {
                text += &format!("  a value of {}", question.type_text());
                "such a value"
            }
            false => "one of these",
        };
        println!("{text}");
        loop {
            let word = self.word()?;
            let by_number = word
                .parse::<usize>()
                .ok()
                .and_then(|number| candidates.get(number.checked_sub(1)?).cloned());
            // Of numbers, the answer itself is meant, not its place.
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

fn person(model: &Model, output: &mut Output) -> anyhow::Result<u8> {
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
        // A step that asks nothing waits for Enter.
        let waits = stepped.is_ok() && !person.asked;
        if waits && person.word().is_none() || stepped.is_err() && person.wish.is_some() {
            match person.wish.take() {
                Some(Wish::Back) => {
                    match before.pop() {
                        Some(earlier) => state = earlier,
                        None => output.say("this is the beginning\n")?,
                    }
                    continue;
                }
                _ => return Ok(exit::HOLDS),
            }
        }
        match stepped {
            Ok(stepped) => {
                let steps = model.describe(&state, &stepped);
                output.say(&words(before.len() + 1, &steps))?;
                before.push(std::mem::replace(&mut state, stepped.state));
            }
            Err(stop) => return ended(model, stop, output),
        }
    }
}
