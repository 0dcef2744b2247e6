//! A reaction under way: statement by statement, it says what is to be done.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019),
//! algorithm 8: an action gives a command, and its reply decides how it goes
//! on. Here the rest of the block is what takes the reply. Invariant: nothing
//! is done here. What a reaction wants is an [`Effect`], what it wants to know
//! of the program is asked of a [`World`].

use juror_event::{Unavailability, Value};
use juror_language::{
    Action, ActionKind, Environment, EvaluationError, Fact, Input, Piece, PointAction, PointWord,
    ReactionBlock, StateName, Store, Target, Template, Term, evaluate_in, execute_in,
};
use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::sync::Arc;

/// How many statements one reaction may carry out.
const STATEMENTS_MAX: usize = 100_000;

/// What is known about what has happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts(Vec<(Fact, Value)>);

impl Facts {
    /// Notes something.
    pub fn note(&mut self, fact: Fact, value: Value) {
        self.0.push((fact, value));
    }

    /// Notes something in words.
    pub fn note_text(&mut self, fact: Fact, text: &str) {
        self.note(fact, Value::Text(text.into()));
    }

    /// What is known of it.
    pub fn get(&self, wanted: &Fact) -> Option<&Value> {
        let found = self.0.iter().find(|(fact, _)| fact == wanted);
        found.map(|(_, value)| value)
    }
}

/// What a reaction can ask.
pub trait World {
    /// The value of an expression of the prompt.
    ///
    /// # Errors
    /// It has none; why.
    fn read(&mut self, code: &str) -> Result<Value, String>;
}

/// What a reaction wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Show a line.
    Print(String),
    /// Write a line to the report.
    Report(String),
    /// Stop for the user, when the reactions are done.
    Stop(Option<String>),
    /// Do not stop for what has happened.
    Continue,
    /// Show so many frames of the stack.
    Backtrace(Option<u64>),
    /// Save the program and the monitors; the number is the reply.
    Checkpoint,
    /// Bring a checkpoint back.
    Restore(u64),
    /// Give a place in the program a value: `place = value`.
    Set(String),
    /// Set a point; its number is the reply.
    Point {
        /// Its kind.
        word: PointWord,
        /// What the command of that name takes.
        place: String,
        /// It stays while the slice is in one of these states.
        lasting: Vec<StateName>,
        /// What is done when it is hit, with the local variables of now.
        reaction: Option<(ReactionBlock, Vec<Value>)>,
    },
    /// Remove a point by its number.
    Remove(u64),
    /// Switch a property on or off.
    Switch {
        /// Its name.
        property: Box<str>,
        /// Whether it is switched on.
        is_enabled: bool,
    },
    /// Run a command of the prompt.
    Command(String),
}

/// What is wrong with a reaction, and where in the text of its scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl From<EvaluationError> for Failure {
    fn from(error: EvaluationError) -> Failure {
        Failure {
            span: error.span,
            message: error.message,
            help: None,
        }
    }
}

/// A block that is under way.
#[derive(Debug)]
struct Level {
    actions: Arc<[Action]>,
    next: usize,
    /// A loop: the slot of its element, and the elements to come.
    rounds: Option<(u16, std::vec::IntoIter<Value>)>,
}

/// A reaction under way.
#[derive(Debug)]
pub struct Performance {
    levels: Vec<Level>,
    locals: Vec<Value>,
    reads: Arc<[Input]>,
    facts: Facts,
    /// What takes the number that comes as a reply.
    awaiting: Option<Target>,
    /// Where the statement stands whose effect was given last.
    span: Range<usize>,
    statements: usize,
}

impl Performance {
    /// A reaction that is about to begin.
    pub fn new(block: &ReactionBlock, locals: Vec<Value>, facts: Facts) -> Performance {
        Performance {
            levels: vec![Level {
                actions: Arc::clone(&block.actions),
                next: 0,
                rounds: None,
            }],
            locals,
            reads: Arc::clone(&block.reads),
            facts,
            awaiting: None,
            span: 0..0,
            statements: 0,
        }
    }

    /// Whether a guard holds.
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

    /// Where the statement stands that is under way.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Goes on to the next thing that is to be done; nothing when all is.
    ///
    /// # Errors
    /// Something has no value; the reaction is over.
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
                        "this reaction carries out more than {STATEMENTS_MAX} statements"
                    ),
                    help: Some("let it go through fewer elements".to_owned()),
                });
            }
            if let Some(effect) = self.carry_out(&action.kind, variables, world)? {
                return Ok(Some(effect));
            }
        }
    }

    /// The number that an effect gave goes where it is wanted.
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
                // What the program is asked sees them as they were before.
                let before = self.locals.clone();
                let mut locals = std::mem::take(&mut self.locals);
                let mut store = Memory::new(&self.reads, &self.facts, &before, variables, world);
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
                let chosen = match self.truth(condition, variables, world)? {
                    true => then,
                    false => otherwise,
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
                    message: format!("this is no collection but {}", value.type_name()),
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
            reaction: body.map(|body| (body.clone(), self.locals.clone())),
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
        let memory = Memory::new(&self.reads, &self.facts, &self.locals, variables, world);
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
            message: format!("{value} is no number of something"),
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
                    Value::Text(value) => text.push_str(&value),
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

/// Why the program gives no value is more than that it gives none.
fn explained<T>(result: Result<T, EvaluationError>, refusal: Option<String>) -> Result<T, Failure> {
    result.map_err(|error| {
        let failure = Failure::from(error);
        match refusal {
            Some(message) => Failure { message, ..failure },
            None => failure,
        }
    })
}

/// A value as the prompt reads it.
fn code(value: &Value, span: &Range<usize>) -> Result<String, Failure> {
    match value {
        Value::Int(number) if *number < 0 => Ok(format!("({number})")),
        Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Address(_) | Value::Text(_) => {
            Ok(value.to_string())
        }
        other => Err(Failure {
            span: span.clone(),
            message: format!("the program has no {}", other.type_name()),
            help: Some("numbers, truth values, addresses and texts can stand there".to_owned()),
        }),
    }
}

/// What a loop goes through.
fn elements(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Set(set) => Some(set.iter().cloned().collect()),
        Value::Sequence(sequence) => Some(sequence.iter().cloned().collect()),
        Value::Map(map) => Some(map.iter().map(|(key, _)| key.clone()).collect()),
        _ => None,
    }
}

/// What a term sees: variables, and values that are read when they are needed.
struct Memory<'m, 'w> {
    reads: &'m [Input],
    facts: &'m Facts,
    locals: &'m [Value],
    variables: &'m mut Vec<Value>,
    values: Vec<OnceCell<Option<Value>>>,
    world: RefCell<&'w mut dyn World>,
    /// Why the last value could not be read.
    refusal: RefCell<Option<String>>,
}

impl<'m, 'w> Memory<'m, 'w> {
    fn new(
        reads: &'m [Input],
        facts: &'m Facts,
        locals: &'m [Value],
        variables: &'m mut Vec<Value>,
        world: &'w mut dyn World,
    ) -> Memory<'m, 'w> {
        Memory {
            reads,
            facts,
            locals,
            variables,
            values: reads.iter().map(|_| OnceCell::new()).collect(),
            world: RefCell::new(world),
            refusal: RefCell::new(None),
        }
    }

    fn read(&self, input: &Input) -> Result<Value, String> {
        let template = match input {
            Input::Fact(fact) => {
                let known = self.facts.get(fact).cloned();
                let missing = || match fact {
                    Fact::Variable(_) => "the slice has ended, and its variables with it",
                    Fact::Parameter(_) => "this slice has no such parameter",
                    _ => "nothing is known about this here",
                };
                return known.ok_or_else(|| missing().to_owned());
            }
            Input::Program(template) => template,
        };
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(term) | Piece::Code(term) => {
                    let value = evaluate_in(term, self, self.locals);
                    let value = value.map_err(|error| error.message)?;
                    let written = code(&value, &term.span).map_err(|failure| failure.message)?;
                    text.push_str(&written);
                }
            }
        }
        match self.world.try_borrow_mut() {
            Ok(mut world) => world.read(&text),
            Err(_) => Err("the program is being asked already".to_owned()),
        }
    }
}

impl Environment for Memory<'_, '_> {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.variables.get(usize::from(slot))
    }

    fn capture(&self, slot: u8) -> Option<&Value> {
        let slot = usize::from(slot);
        let input = self.reads.get(slot)?;
        let read = || match self.read(input) {
            Ok(value) => Some(value),
            Err(why) => {
                self.refusal.borrow_mut().get_or_insert(why);
                None
            }
        };
        self.values.get(slot)?.get_or_init(read).as_ref()
    }
}

impl Store for Memory<'_, '_> {
    fn assign(&mut self, slot: u16, value: Value) {
        if let Some(variable) = self.variables.get_mut(usize::from(slot)) {
            *variable = value;
        }
    }
}
