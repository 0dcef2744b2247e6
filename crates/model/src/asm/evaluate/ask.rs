//! Where a step asks its environment.
//!
//! What may be answered can take long to find. A step that is made again with other
//! answers comes to the same decisions until the first answer that is another one, so
//! the environment may know them ([`Environment::again`]); then they are not made up
//! once more. The work counts all the same.

use super::{Machine, Outcome};
use crate::asm::environment::{Again, Decision, Question, Stop, Subject};
use crate::asm::program::{Each, FunctionId};
use crate::asm::types::Type;
use crate::asm::value::Value;
use crate::{Fault, Span};
use std::sync::Arc;

/// Where a decision began.
struct Begun {
    number: usize,
    asked: usize,
    work: usize,
}

impl<'a> Machine<'a> {
    /// The value of a place of the environment.
    pub(super) fn ask(
        &mut self,
        id: FunctionId,
        arguments: Vec<Value>,
        before: Option<Value>,
        span: Span,
    ) -> Outcome<Value> {
        let model = self.model;
        let Some(function) = model.function(id) else {
            return Ok(Value::Undefined);
        };
        let begun = self.begun();
        if let Some(Again::Answered(known)) = self.again(&begun, span)? {
            self.answers.insert((id, arguments), known.clone());
            return Ok(known);
        }
        let possible = match &function.possible {
            None => {
                self.charge(function.result.count(&model.enumerations), span)?;
                None
            }
            Some(possible) => {
                // What is possible does not depend on what this step does.
                let overlays = std::mem::take(&mut self.overlays);
                let values = self.deeper(span, |machine| {
                    machine.framed(arguments.clone(), |machine| machine.term(possible))
                });
                self.overlays = overlays;
                let Value::Set(values) = values? else {
                    return Ok(Value::Undefined);
                };
                Some(values)
            }
        };
        let question = Question {
            model,
            subject: Subject::Place {
                function: id,
                arguments: &arguments,
                before: before.as_ref(),
            },
            span,
            of: &function.result,
            possible: possible.as_deref(),
        };
        let listed = self.asked();
        let answer = self.answer(&question)?;
        if self.asked() > listed {
            self.keep(begun, listed, None);
        }
        self.answers.insert((id, arguments), answer.clone());
        Ok(answer)
    }

    /// How often the environment was asked.
    fn asked(&self) -> usize {
        let environment = self.environment.as_deref();
        environment.map_or(0, |environment| environment.asked())
    }

    /// A decision begins.
    fn begun(&mut self) -> Begun {
        let number = self.decisions;
        self.decisions += 1;
        Begun {
            number,
            asked: self.asked(),
            work: self.work,
        }
    }

    /// What the environment knows of a decision that has begun.
    fn again(&mut self, begun: &Begun, span: Span) -> Outcome<Option<Again>> {
        let environment = self.environment.as_deref_mut();
        let known = environment.and_then(|environment| environment.again(begun.number));
        let Some((again, decision)) = known else {
            return Ok(None);
        };
        self.decisions = decision.next;
        self.charge(decision.work, span)?;
        Ok(Some(again))
    }

    /// A decision was made. Its candidates were known when the environment had been
    /// asked so often.
    fn keep(&mut self, begun: Begun, listed: usize, only: Option<Value>) {
        if listed != begun.asked {
            // The machine must know these answers whenever the step is made.
            return;
        }
        let decision = Decision {
            asks: self.asked() > listed,
            next: self.decisions,
            work: self.work - begun.work,
            only,
        };
        if let Some(environment) = self.environment.as_deref_mut() {
            environment.keep(begun.number, decision);
        }
    }

    /// One of what a rule chooses among; nothing if there is nothing.
    pub(super) fn choose_among(&mut self, each: &'a Each, span: Span) -> Outcome<Option<Value>> {
        let begun = self.begun();
        match self.again(&begun, span)? {
            Some(Again::Answered(value)) => {
                self.choices.push((Arc::clone(&each.name), value.clone()));
                return Ok(Some(value));
            }
            Some(Again::Alone(only)) => return Ok(only),
            None => {}
        }
        let values = self.candidates(each)?;
        let listed = self.asked();
        let only = match &values[..] {
            [only] => Some(only.clone()),
            _ => None,
        };
        let value = match values.is_empty() {
            true => None,
            false => Some(self.choose(&each.name, values, span)?),
        };
        self.keep(begun, listed, only);
        Ok(value)
    }

    fn answer(&mut self, question: &Question<'_>) -> Outcome<Value> {
        let Some(environment) = self.environment.as_deref_mut() else {
            let message = format!("`{}` has a value only within a step", question.text());
            return Err(Fault::new("reads", message, Some(question.span)).into());
        };
        let answer = environment.answer(question)?;
        if question.allows(&answer) {
            return Ok(answer);
        }
        let message = format!(
            "{} is not possible for `{}`",
            self.model.show(&answer),
            question.text()
        );
        let fault = Fault::new("no-answer", message, Some(question.span));
        Err(Stop::NoAnswer(Box::new(fault)))
    }

    /// One of several values, which the environment chooses.
    pub(super) fn choose(
        &mut self,
        name: &Arc<str>,
        values: Vec<Value>,
        span: Span,
    ) -> Outcome<Value> {
        let chosen = match &values[..] {
            [only] => return Ok(only.clone()),
            _ => {
                let subject = match name.is_empty() {
                    true => Subject::Alternative,
                    false => Subject::Choice { name },
                };
                let question = Question {
                    model: self.model,
                    subject,
                    span,
                    of: &Type::Nothing,
                    possible: Some(&values),
                };
                self.answer(&question)?
            }
        };
        self.choices.push((Arc::clone(name), chosen.clone()));
        Ok(chosen)
    }
}
