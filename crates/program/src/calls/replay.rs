//! Expressions with calls, one call at a time.
//!
//! An attempt evaluates the expression as far as what has been returned so far
//! leads. It ends with the value, or with the next call to make; when that has
//! returned, the next attempt goes further. So an expression may wait for a
//! call as long as the person at the prompt likes, and others may begin
//! meanwhile.

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

/// What is known of an expression so far.
#[derive(Debug, Default)]
pub struct CallResults {
    /// What calls have returned, by where they stand.
    returned: Vec<(Range<usize>, Typed)>,
    /// What the left sides of `and` and `or` were found to be.
    decided: Vec<(Range<usize>, bool)>,
    /// The call that the present attempt came to.
    wanted: Option<Request>,
    /// The lowest part of the stack that calls have been given: what they returned in
    /// memory lies above it.
    lowest: Option<u64>,
}

impl CallResults {
    /// Where the stack of the next call begins, in a thread with this stack pointer: below
    /// what the calls before it have returned in memory.
    pub fn stack_below(&self, stack: u64) -> u64 {
        self.lowest.map_or(stack, |lowest| lowest.min(stack))
    }

    /// A call was given the stack from here upwards.
    pub fn note_stack(&mut self, stack: u64) {
        self.lowest = Some(self.stack_below(stack));
    }

    /// The call that stands there has returned.
    pub fn add(&mut self, span: Range<usize>, value: Typed) {
        self.returned.push((span, value));
    }
}

/// How far an attempt came.
#[derive(Debug)]
pub enum Attempt {
    /// To the end.
    Value(Typed),
    /// To this call.
    Call(Box<Request>),
}

/// A frame in which expressions may call functions.
pub struct CallingScope<'a> {
    /// The frame.
    pub frame: FrameScope<'a>,
    /// What is known so far.
    pub results: &'a RefCell<CallResults>,
}

/// Evaluates an expression as far as the answers lead.
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
        // The attempt ends here; nobody sees this.
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
