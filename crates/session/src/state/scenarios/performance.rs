//! A reaction in progress: returns the effects of its statements one by one.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019), algorithm 8: an
//! action gives a command, and its reply decides how it continues. Here the remaining block takes
//! the reply.
//!
//! **Invariant**: nothing is executed here. A reaction returns an [`Effect`], and reads the program
//! through a [`World`].

mod effect;
mod memory;

pub use crate::state::scenarios::performance::effect::{Effect, Failure, PointBlock, World};
use crate::state::scenarios::performance::memory::{Memory, code, elements, explained};
use juror_event::{Unavailability, Value};
use juror_language::{
    Action, ActionKind, Input, Piece, PointAction, ReactionBlock, Target, Template, Term,
    evaluate_in, execute_in,
};
use juror_monitoring::listeners::ContextValues;
use std::ops::Range;
use std::sync::Arc;

/// The limit of statements that one reaction may execute.
const STATEMENTS_MAX: usize = 100_000;

/// A block in progress.
#[derive(Debug)]
struct Level {
    actions: Arc<[Action]>,
    next: usize,
    /// A loop: the slot of its element, and the remaining elements.
    rounds: Option<(u16, std::vec::IntoIter<Value>)>,
}

/// A reaction in progress.
#[derive(Debug)]
pub struct Performance {
    levels: Vec<Level>,
    locals: Vec<Value>,
    reads: Arc<[Input]>,
    context_values: ContextValues,
    /// The target of the number in the next reply.
    awaiting: Option<Target>,
    /// The span of the statement that returned the last effect.
    span: Range<usize>,
    statements: usize,
}

impl Performance {
    /// Creates a reaction at its beginning.
    pub fn new(
        block: &ReactionBlock,
        locals: Vec<Value>,
        context_values: ContextValues,
    ) -> Performance {
        Performance {
            levels: vec![Level {
                actions: Arc::clone(&block.actions),
                next: 0,
                rounds: None,
            }],
            locals,
            reads: Arc::clone(&block.reads),
            context_values,
            awaiting: None,
            span: 0..0,
            statements: 0,
        }
    }

    /// Evaluates a guard.
    ///
    /// # Errors
    /// It has no value.
    pub fn holds(
        &self,
        guard: &Term,
        variables: &mut Vec<Value>,
        world: &mut dyn World,
    ) -> Result<bool, Failure> {
        self.truth(guard, variables, world)
    }

    /// Returns the span of the present statement.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns an error of the present statement.
    pub fn failure(&self, message: String, help: Option<String>) -> Failure {
        Failure {
            span: self.span.clone(),
            message,
            help,
        }
    }

    /// Continues to the next effect; `None` at the end.
    ///
    /// # Errors
    /// An expression has no value; the reaction ends.
    pub fn next(
        &mut self,
        variables: &mut Vec<Value>,
        world: &mut dyn World,
    ) -> Result<Option<Effect>, Failure> {
        loop {
            let Some(action) = self.next_action() else {
                return Ok(None);
            };
            self.span = action.span.clone();
            self.statements += 1;
            if self.statements > STATEMENTS_MAX {
                return Err(Failure {
                    span: action.span.clone(),
                    message: format!(
                        "this reaction executes more than {STATEMENTS_MAX} statements"
                    ),
                    help: Some("iterate over fewer elements".to_owned()),
                });
            }
            if let Some(effect) = self.carry_out(&action.kind, variables, world)? {
                return Ok(Some(effect));
            }
        }
    }

    /// Assigns the number that an effect returned.
    pub fn reply(&mut self, number: u64, variables: &mut [Value]) {
        let number = Value::Int(i128::from(number));
        match self.awaiting.take() {
            Some(Target::Variable(slot)) => {
                if let Some(variable) = variables.get_mut(usize::from(slot)) {
                    *variable = number;
                }
            }
            Some(Target::Local(slot)) => self.assign_local(slot, number),
            None => {}
        }
    }

    fn next_action(&mut self) -> Option<Action> {
        loop {
            let level = self.levels.last_mut()?;
            if let Some(action) = level.actions.get(level.next) {
                level.next += 1;
                return Some(action.clone());
            }
            let round = level.rounds.as_mut().and_then(|(slot, elements)| {
                let element = elements.next()?;
                Some((*slot, element))
            });
            match round {
                Some((slot, element)) => {
                    level.next = 0;
                    self.assign_local(slot, element);
                }
                None => {
                    self.levels.pop();
                }
            }
        }
    }

    fn carry_out(
        &mut self,
        action: &ActionKind,
        variables: &mut Vec<Value>,
        world: &mut dyn World,
    ) -> Result<Option<Effect>, Failure> {
        Ok(Some(match action {
            ActionKind::Update(update) => {
                // Reads of the program see the old values.
                let before = self.locals.clone();
                let mut locals = std::mem::take(&mut self.locals);
                let mut store =
                    Memory::new(&self.reads, &self.context_values, &before, variables, world);
                let updated = execute_in(std::slice::from_ref(update), &mut store, &mut locals);
                let refusal = store.refusal.into_inner();
                self.locals = locals;
                explained(updated, refusal)?;
                return Ok(None);
            }
            ActionKind::If {
                condition,
                then,
                otherwise,
            } => {
                let chosen = if self.truth(condition, variables, world)? {
                    then
                } else {
                    otherwise
                };
                self.enter(chosen, None);
                return Ok(None);
            }
            ActionKind::For {
                slot,
                collection,
                body,
            } => {
                let value = self.value(collection, variables, world)?;
                let elements = elements(&value).ok_or_else(|| Failure {
                    span: collection.span.clone(),
                    message: format!("a loop needs a collection, not {}", value.type_name()),
                    help: None,
                })?;
                self.enter(body, Some((*slot, elements.into_iter())));
                return Ok(None);
            }
            ActionKind::Print(line) => Effect::Print(self.text(line, variables, world)?),
            ActionKind::Report(line) => Effect::Report(self.text(line, variables, world)?),
            ActionKind::Stop(None) => Effect::Stop(None),
            ActionKind::Stop(Some(line)) => Effect::Stop(Some(self.text(line, variables, world)?)),
            ActionKind::Continue => Effect::Continue,
            ActionKind::Backtrace(None) => Effect::Backtrace(None),
            ActionKind::Backtrace(Some(count)) => {
                Effect::Backtrace(Some(self.number(count, variables, world)?))
            }
            ActionKind::Checkpoint(target) => {
                self.awaiting = *target;
                Effect::Checkpoint
            }
            ActionKind::Restore(number) => Effect::Restore(self.number(number, variables, world)?),
            ActionKind::Set(line) => Effect::Set(self.text(line, variables, world)?),
            ActionKind::Point(point) => self.point(point, variables, world)?,
            ActionKind::Remove(number) => Effect::Remove(self.number(number, variables, world)?),
            ActionKind::Switch {
                property,
                is_enabled,
            } => Effect::Switch {
                property: property.clone(),
                is_enabled: *is_enabled,
            },
            ActionKind::Command(line) => Effect::Command(self.text(line, variables, world)?),
        }))
    }

    fn point(
        &mut self,
        point: &PointAction,
        variables: &mut Vec<Value>,
        world: &mut dyn World,
    ) -> Result<Effect, Failure> {
        let place = self.text(&point.place, variables, world)?;
        self.awaiting = point.into;
        let body = point.body.as_ref();
        Ok(Effect::Point {
            word: point.word,
            place,
            lasting: point.lasting.clone(),
            reaction: body.map(|body| PointBlock {
                block: body.clone(),
                locals: self.locals.clone(),
                parameters: self.context_values.parameters(),
            }),
        })
    }

    fn enter(&mut self, actions: &Arc<[Action]>, rounds: Option<(u16, std::vec::IntoIter<Value>)>) {
        // The body of a loop begins with its first element.
        let next = if rounds.is_some() { actions.len() } else { 0 };
        if rounds.is_some() && actions.is_empty() {
            return;
        }
        self.levels.push(Level {
            actions: Arc::clone(actions),
            next,
            rounds,
        });
    }

    fn assign_local(&mut self, slot: u16, value: Value) {
        let slot = usize::from(slot);
        if self.locals.len() <= slot {
            let nothing = Value::Unavailable(Unavailability::NotCaptured);
            self.locals.resize(slot + 1, nothing);
        }
        if let Some(local) = self.locals.get_mut(slot) {
            *local = value;
        }
    }

    fn value(
        &self,
        term: &Term,
        variables: &mut Vec<Value>,
        world: &mut dyn World,
    ) -> Result<Value, Failure> {
        let memory = Memory::new(
            &self.reads,
            &self.context_values,
            &self.locals,
            variables,
            world,
        );
        let value = evaluate_in(term, &memory, &self.locals);
        explained(value, memory.refusal.into_inner())
    }

    fn truth(
        &self,
        term: &Term,
        variables: &mut Vec<Value>,
        world: &mut dyn World,
    ) -> Result<bool, Failure> {
        match self.value(term, variables, world)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(Failure {
                span: term.span.clone(),
                message: format!("expected true or false, found {}", other.type_name()),
                help: None,
            }),
        }
    }

    fn number(
        &self,
        term: &Term,
        variables: &mut Vec<Value>,
        world: &mut dyn World,
    ) -> Result<u64, Failure> {
        let value = self.value(term, variables, world)?;
        let number = value.as_integer().and_then(|it| u64::try_from(it).ok());
        number.ok_or_else(|| Failure {
            span: term.span.clone(),
            message: format!("{value} is not the number of a point or checkpoint"),
            help: None,
        })
    }

    fn text(
        &self,
        template: &Template,
        variables: &mut Vec<Value>,
        world: &mut dyn World,
    ) -> Result<String, Failure> {
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(term) => match self.value(term, variables, world)? {
                    Value::String(value) => text.push_str(&value),
                    value => text.push_str(&value.to_string()),
                },
                Piece::Code(term) => {
                    let value = self.value(term, variables, world)?;
                    text.push_str(&code(&value, &term.span)?);
                }
            }
        }
        Ok(text)
    }
}
