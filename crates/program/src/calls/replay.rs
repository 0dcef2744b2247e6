//! Evaluates expressions with calls, one call at a time.
//!
//! An attempt evaluates the expression as far as the results of earlier calls allow. It ends with
//! the value, or with the next call to make. After that call has returned, the next attempt gets
//! further. So a call may last any time, and other expressions may begin meanwhile.

use crate::scope::FrameScope;
use juror_language::Expression;
use juror_symbols::{Memory, Method, Type};
use juror_values::error::ValueError;
use juror_values::expression::request::Request;
use juror_values::expression::{ExpressionError, Overload, Scope, evaluate};
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::Typed;
use std::cell::RefCell;
use std::ops::Range;

/// The results that an expression has so far.
#[derive(Debug, Default)]
pub struct CallResults {
    /// The results of calls, by their position in the expression.
    returned: Vec<(Range<usize>, Typed)>,
    /// The values of conditions that were decided before a call, by position.
    decided: Vec<(Range<usize>, bool)>,
    /// The call that ended the present attempt.
    wanted: Option<Request>,
    /// The lowest stack pointer that calls were given. Results that were returned in memory are
    /// above it.
    lowest: Option<u64>,
}

impl CallResults {
    /// Returns the stack pointer for the next call in a thread with the stack pointer `stack`:
    /// below the results that earlier calls have returned in memory.
    pub fn stack_below(&self, stack: u64) -> u64 {
        self.lowest.map_or(stack, |lowest| lowest.min(stack))
    }

    /// Records that a call was given the stack from `stack` upwards.
    pub fn note_stack(&mut self, stack: u64) {
        self.lowest = Some(self.stack_below(stack));
    }

    /// Records the result of the call at a position.
    pub fn add(&mut self, span: Range<usize>, value: Typed) {
        self.returned.push((span, value));
    }
}

/// The outcome of an attempt.
#[derive(Debug)]
pub enum Attempt {
    /// The value of the expression.
    Value(Typed),
    /// The next call to make.
    Call(Box<Request>),
}

/// A frame in which expressions may call functions.
pub struct CallingScope<'a> {
    /// The frame.
    pub frame: FrameScope<'a>,
    /// The results so far.
    pub results: &'a RefCell<CallResults>,
}

/// Evaluates an expression as far as the results allow.
pub fn attempt(
    expression: &Expression,
    scope: &CallingScope<'_>,
) -> Result<Attempt, ExpressionError> {
    let value = evaluate(expression, scope);
    match scope.results.borrow_mut().wanted.take() {
        Some(request) => Ok(Attempt::Call(Box::new(request))),
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
        self.results.borrow_mut().wanted.get_or_insert(request);
        // The attempt ends here, and its error is discarded.
        Err("the call has not returned".into())
    }

    fn returned_from(&self, span: &Range<usize>) -> Option<Typed> {
        let results = self.results.borrow();
        let known = results.returned.iter().find(|(known, _)| known == span);
        known.map(|(_, value)| value.clone())
    }

    fn decided(&self, span: &Range<usize>) -> Option<bool> {
        let results = self.results.borrow();
        let known = results.decided.iter().find(|(known, _)| known == span);
        known.map(|(_, truth)| *truth)
    }

    fn decide(&self, span: &Range<usize>, truth: bool) {
        self.results
            .borrow_mut()
            .decided
            .push((span.clone(), truth));
    }
}
