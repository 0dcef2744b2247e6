//! Evaluates expressions with calls and assignments, one at a time.
//!
//! An attempt evaluates the expression as far as the results of earlier calls and assignments
//! allow. It ends with the value, or with the next call or assignment to make. After that has been
//! made, the next attempt gets further. So a call may last any time, and other expressions may
//! begin meanwhile.
//!
//! **Invariant:** each call and each assignment is made once: the next attempts find its value
//! by its position in the expression.

use crate::scope::FrameScope;
use juror_language::Expression;
use juror_symbols::{Memory, Method, Type};
use juror_values::error::ValueError;
use juror_values::expression::request::Request;
use juror_values::expression::{Assignment, ExpressionError, Overload, Scope, evaluate};
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::Typed;
use std::cell::RefCell;
use std::ops::Range;

/// The results that an expression has so far.
#[derive(Debug, Default)]
pub struct EffectResults {
    /// The values of calls and assignments, by their positions.
    returned: Vec<(Range<usize>, Typed)>,
    /// The truth values of conditions that were evaluated, and the left sides of commas.
    decided: Vec<(Range<usize>, bool)>,
    /// The places of assignments whose values are being evaluated.
    places: Vec<(Range<usize>, Typed)>,
    /// The call or assignment that ended the present attempt.
    wanted: Option<Effect>,
    /// The lowest stack pointer that calls were given. Results that were returned in memory are
    /// above it.
    lowest: Option<u64>,
}

/// A call or an assignment that ended an attempt.
#[derive(Debug)]
enum Effect {
    Call(Box<Request>),
    Assign(Box<Assignment>),
}

impl EffectResults {
    /// Returns the stack pointer for the next call in a thread with the stack pointer `stack`:
    /// below the results that earlier calls have returned in memory.
    pub fn stack_below(&self, stack: u64) -> u64 {
        self.lowest.map_or(stack, |lowest| lowest.min(stack))
    }

    /// Records that a call was given the stack from `stack` upwards.
    pub fn note_stack(&mut self, stack: u64) {
        self.lowest = Some(self.stack_below(stack));
    }

    /// Records the value of the call or assignment at a position.
    pub fn add(&mut self, span: Range<usize>, value: Typed) {
        self.returned.push((span, value));
    }

    /// Takes down an assignment that has no value yet, for [`Scope::assign`].
    ///
    /// # Errors
    /// Always; the attempt ends here.
    pub fn ask(&mut self, assignment: Assignment) -> Result<Typed, ValueError> {
        self.wanted
            .get_or_insert(Effect::Assign(Box::new(assignment)));
        Err("the assignment has not been made".into())
    }

    /// Returns the value of the call or assignment at a position, for [`Scope::returned_from`].
    pub fn returned_from(&self, span: &Range<usize>) -> Option<Typed> {
        let known = self.returned.iter().find(|(known, _)| known == span);
        known.map(|(_, value)| value.clone())
    }

    /// Returns what the condition at a position was found to be, for [`Scope::decided`].
    pub fn decided(&self, span: &Range<usize>) -> Option<bool> {
        let known = self.decided.iter().find(|(known, _)| known == span);
        known.map(|(_, truth)| *truth)
    }

    /// Notes what the condition at a position was found to be, for [`Scope::decide`].
    pub fn decide(&mut self, span: &Range<usize>, truth: bool) {
        self.decided.push((span.clone(), truth));
    }

    /// Returns the place at a position, for [`Scope::known_place`].
    pub fn known_place(&self, span: &Range<usize>) -> Option<Typed> {
        let known = self.places.iter().find(|(known, _)| known == span);
        known.map(|(_, place)| place.clone())
    }

    /// Notes the place at a position, for [`Scope::note_place`].
    pub fn note_place(&mut self, span: &Range<usize>, place: &Typed) {
        self.places.push((span.clone(), place.clone()));
    }
}

/// The outcome of an attempt.
#[derive(Debug)]
pub enum Attempt {
    /// The value of the expression.
    Value(Typed),
    /// The next call to make.
    Call(Box<Request>),
    /// The next assignment to make.
    Assign(Box<Assignment>),
}

/// A frame in which expressions may call functions and assign.
pub struct CallingScope<'a> {
    /// The frame.
    pub frame: FrameScope<'a>,
    /// The results so far.
    pub results: &'a RefCell<EffectResults>,
}

/// Evaluates an expression as far as the results allow.
pub fn attempt(
    expression: &Expression,
    scope: &CallingScope<'_>,
) -> Result<Attempt, ExpressionError> {
    attempt_in(expression, scope, scope.results)
}

/// Does the same in a scope of another kind, which notes the effects in `results`.
pub fn attempt_in(
    expression: &Expression,
    scope: &dyn Scope,
    results: &RefCell<EffectResults>,
) -> Result<Attempt, ExpressionError> {
    let value = evaluate(expression, scope);
    match results.borrow_mut().wanted.take() {
        Some(Effect::Call(request)) => Ok(Attempt::Call(request)),
        Some(Effect::Assign(assignment)) => Ok(Attempt::Assign(assignment)),
        None => value.map(Attempt::Value),
    }
}

impl Scope for CallingScope<'_> {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        self.frame.name(name).map_err(|message| {
            let modules = &self.frame.program.modules;
            if modules.inlined_copies(name, |_| true).is_empty() {
                return message;
            }
            format!("`{name}` was inlined wherever it is called: there is no code of it to call")
                .into()
        })
    }

    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        self.frame.register(name)
    }

    fn argument(&self, position: u8) -> Result<Typed, ValueError> {
        self.frame.argument(position)
    }

    fn returned(&self) -> Result<Typed, ValueError> {
        self.frame.returned()
    }

    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        let FrameScope {
            program,
            frames,
            level,
            convenience,
        } = self.frame;
        if level + 1 >= frames.len() {
            return Err("this frame has no caller that is known".into());
        }
        Ok(Box::new(CallingScope {
            frame: FrameScope {
                program,
                frames,
                level: level + 1,
                convenience,
            },
            results: self.results,
        }))
    }

    fn function_name(&self, level: usize) -> Option<String> {
        self.frame.function_name(level)
    }

    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        self.frame.standard_types()
    }

    fn type_of_table(&self, address: u64) -> Option<Type> {
        self.frame.type_of_table(address)
    }

    fn function_linked(&self, linkage_name: &str) -> Option<u64> {
        self.frame.function_linked(linkage_name)
    }

    fn code_of_method(&self, method: &Method) -> Option<u64> {
        self.frame.code_of_method(method)
    }

    fn functions_of(&self, type_name: &str, name: &str) -> Vec<Overload> {
        self.frame.functions_of(type_name, name)
    }

    fn is_cpp(&self) -> bool {
        self.frame.is_cpp()
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        self.frame.is_elsewhere(name)
    }

    fn has_variable(&self, word: &str) -> bool {
        self.frame.has_variable(word)
    }

    fn is_rust(&self) -> bool {
        self.frame.is_rust()
    }

    fn overloads(&self, name: &str) -> Vec<Overload> {
        self.frame.overloads(name)
    }

    fn functions_in(&self, scope: &str, name: &str) -> Vec<Overload> {
        self.frame.functions_in(scope, name)
    }

    fn class_name(&self, class: &Type, name: &str) -> Option<Result<Typed, ValueError>> {
        self.frame.class_name(class, name)
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        self.frame.type_named(name)
    }

    fn memory(&self) -> &dyn Memory {
        self.frame.memory()
    }

    fn call(&self, request: Request) -> Result<Typed, ValueError> {
        let mut results = self.results.borrow_mut();
        let effect = Effect::Call(Box::new(request));
        results.wanted.get_or_insert(effect);
        // The attempt ends here, and its error is discarded.
        Err("the call has not returned".into())
    }

    fn assign(&self, assignment: Assignment) -> Result<Typed, ValueError> {
        self.results.borrow_mut().ask(assignment)
    }

    fn returned_from(&self, span: &Range<usize>) -> Option<Typed> {
        self.results.borrow().returned_from(span)
    }

    fn decided(&self, span: &Range<usize>) -> Option<bool> {
        self.results.borrow().decided(span)
    }

    fn decide(&self, span: &Range<usize>, truth: bool) {
        self.results.borrow_mut().decide(span, truth);
    }

    fn known_place(&self, span: &Range<usize>) -> Option<Typed> {
        self.results.borrow().known_place(span)
    }

    fn note_place(&self, span: &Range<usize>, place: &Typed) {
        self.results.borrow_mut().note_place(span, place);
    }
}
