//! The meaning of names in an expression.

use super::overload::Overload;
use super::request::{Assignment, Request};
use crate::error::ValueError;
use crate::standard_types::LibraryTypes;
use crate::typed::{Memory, Typed};
use juror_symbols::{Method, Type};
use std::ops::Range;

/// The meaning of names.
pub trait Scope {
    /// Looks up a variable, parameter, global or function.
    fn name(&self, name: &str) -> Result<Typed, ValueError>;
    /// Looks up `$rip`, `$1`, `$` by the text after the dollar.
    fn register(&self, name: &str) -> Result<Typed, ValueError>;
    /// Returns the argument at a position, from 1, of the function that is being entered.
    fn argument(&self, position: u8) -> Result<Typed, ValueError>;
    /// Returns the return value of the function that has just returned.
    fn returned(&self) -> Result<Typed, ValueError>;
    /// Returns the scope of the caller.
    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError>;
    /// Looks up a type by name.
    fn type_named(&self, name: &str) -> Option<Type>;
    /// Looks up a type that a name means here, although a variable of another module has the name,
    /// too; `None` if there is no such variable.
    fn type_before_elsewhere(&self, name: &str) -> Option<Type> {
        let _ = name;
        None
    }
    /// Returns the debuggee's memory.
    fn memory(&self) -> &dyn Memory;
    /// Returns the access to library types, or `None` if their fields are used as they are.
    fn standard_types(&self) -> Option<&dyn LibraryTypes>;
    /// Returns the concrete type of Rust trait objects whose table of methods is at this address.
    fn type_of_table(&self, address: u64) -> Option<Type> {
        let _ = address;
        None
    }
    /// Returns the address of the function with this linkage name.
    fn function_linked(&self, linkage_name: &str) -> Option<u64> {
        let _ = linkage_name;
        None
    }
    /// Returns the address of a member function that its class declares in the same unit.
    fn code_of_method(&self, method: &Method) -> Option<u64> {
        let _ = method;
        None
    }
    /// Returns the functions `name` of a type that does not list its functions. Their first
    /// parameter is `self`.
    fn functions_of(&self, type_name: &str, name: &str) -> Vec<Overload> {
        let _ = (type_name, name);
        Vec::new()
    }
    /// Returns all functions with a name that is not a variable, including the instances of a
    /// template without its arguments.
    fn overloads(&self, name: &str) -> Vec<Overload> {
        let _ = name;
        Vec::new()
    }
    /// Returns the functions of this name in a namespace.
    fn functions_in(&self, scope: &str, name: &str) -> Vec<Overload> {
        let _ = (scope, name);
        Vec::new()
    }
    /// Returns the static member or enumerator of a C++ class.
    fn class_name(&self, class: &Type, name: &str) -> Option<Result<Typed, ValueError>> {
        let _ = (class, name);
        None
    }
    /// Returns the name of the function of the caller `level` levels up, 0 for the frame itself, or
    /// `None` if there is no such frame.
    fn function_name(&self, level: usize) -> Option<String> {
        let _ = level;
        None
    }
    /// Requests a call. Most scopes refuse.
    fn call(&self, request: Request) -> Result<Typed, ValueError> {
        let _ = request;
        Err("functions of the program cannot be called here".into())
    }
    /// Returns the value of an assignment that has not been made. Most scopes make none.
    fn assign(&self, assignment: Assignment) -> Result<Typed, ValueError> {
        let _ = assignment;
        Err("this changes a variable, which this expression cannot do".into())
    }
    /// Returns the value of the call or assignment at a position, if it has been made.
    fn returned_from(&self, span: &Range<usize>) -> Option<Typed> {
        let _ = span;
        None
    }
    /// Returns whether the frame's code is C++.
    fn is_cpp(&self) -> bool {
        false
    }
    /// Returns whether the frame's code is C++ of g++, in which a bit field as a branch of `a ? b : c`
    /// has the type of its declaration.
    fn has_branches_as_declared(&self) -> bool {
        false
    }
    /// Returns whether a word of the language, such as `null`, is a variable of the program here.
    fn has_variable(&self, word: &str) -> bool {
        let _ = word;
        false
    }
    /// Returns whether a name is a variable of a module that is neither the frame's nor the program.
    fn is_elsewhere(&self, name: &str) -> bool {
        let _ = name;
        false
    }
    /// Returns whether the frame's code is Rust.
    fn is_rust(&self) -> bool {
        false
    }
    /// Returns the value that the condition at this position had before a call.
    fn decided(&self, span: &Range<usize>) -> Option<bool> {
        let _ = span;
        None
    }
    /// Records the value of a condition.
    fn decide(&self, span: &Range<usize>, truth: bool) {
        let _ = (span, truth);
    }
    /// Returns the place that an assignment at this position was found to be for.
    fn known_place(&self, span: &Range<usize>) -> Option<Typed> {
        let _ = span;
        None
    }
    /// Records the place of an assignment, before its value is evaluated.
    fn note_place(&self, span: &Range<usize>, place: &Typed) {
        let _ = (span, place);
    }
}
