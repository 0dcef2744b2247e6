//! Queries of a step to its environment.
//!
//! Computing the possible answers can be expensive. A re-executed step makes the same
//! decisions up to the first changed answer, so the environment may cache them
//! ([`Environment::again`]). The work is charged again all the same, so that the limit
//! does not depend on the cache.

use super::{Machine, Outcome};
use crate::asm::environment::{Again, Decision, Question, Stop, Subject};
use crate::asm::program::{Each, FunctionId};
use crate::asm::types::Type;
use crate::asm::value::Value;
use crate::{Fault, Span};
use std::sync::Arc;

/// The state at the start of a decision.
struct DecisionStart {
    number: usize,
    asked: usize,
    work: usize,
}

impl<'a> Machine<'a> {
    /// Returns the value of a location of the environment.
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
        let start = self.begin_decision();
        if let Some(Again::Answered(known)) = self.again(&start, span)? {
            self.answers.insert((id, arguments), known.clone());
            return Ok(known);
        }
        let possible = match &function.possible {
            None => {
                self.charge(function.result.count(&model.enumerations), span)?;
                None
            }
            Some(possible) => {
                // The possible values do not depend on updates of this step.
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
            self.keep(start, listed, None);
        }
        self.answers.insert((id, arguments), answer.clone());
        Ok(answer)
    }

    /// Returns the number of answers that the environment has given.
    fn asked(&self) -> usize {
        let environment = self.environment.as_deref();
        environment.map_or(0, |environment| environment.asked())
    }

    /// Starts a decision.
    fn begin_decision(&mut self) -> DecisionStart {
        let number = self.decisions;
        self.decisions += 1;
        DecisionStart {
            number,
            asked: self.asked(),
            work: self.work,
        }
    }

    /// Returns the cached result of a decision, if there is one.
    fn again(&mut self, start: &DecisionStart, span: Span) -> Outcome<Option<Again>> {
        let environment = self.environment.as_deref_mut();
        let known = environment.and_then(|environment| environment.again(start.number));
        let Some((again, decision)) = known else {
            return Ok(None);
        };
        self.decisions = decision.next;
        self.charge(decision.work, span)?;
        Ok(Some(again))
    }

    /// Caches a decision. `listed` is the number of answers when its candidates were
    /// complete.
    fn keep(&mut self, start: DecisionStart, listed: usize, only: Option<Value>) {
        if listed != start.asked {
            // The machine must record these answers in every execution of the step.
            return;
        }
        let decision = Decision {
            asks: self.asked() > listed,
            next: self.decisions,
            work: self.work - start.work,
            only,
        };
        if let Some(environment) = self.environment.as_deref_mut() {
            environment.keep(start.number, decision);
        }
    }

    /// Chooses a value for a rule; `None` if there is none.
    pub(super) fn choose_among(&mut self, each: &'a Each, span: Span) -> Outcome<Option<Value>> {
        let start = self.begin_decision();
        match self.again(&start, span)? {
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
        let value = if values.is_empty() {
            None
        } else {
            Some(self.choose(&each.name, values, span)?)
        };
        self.keep(start, listed, only);
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

    /// Lets the environment choose one of several values.
    pub(super) fn choose(
        &mut self,
        name: &Arc<str>,
        values: Vec<Value>,
        span: Span,
    ) -> Outcome<Value> {
        let chosen = match &values[..] {
            [only] => return Ok(only.clone()),
            _ => {
                let subject = if name.is_empty() {
                    Subject::Alternative
                } else {
                    Subject::Choice { name }
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
