//! What the names of an expression mean.

use super::overload::Overload;
use super::request::Request;
use crate::error::ValueError;
use crate::standard_types::LibraryTypes;
use crate::typed::{Memory, Typed};
use juror_symbols::{Method, Type};
use std::ops::Range;

/// What names mean.
pub trait Scope {
    /// A variable, parameter, global or function.
    fn name(&self, name: &str) -> Result<Typed, ValueError>;
    /// `$rip`, `$1`, `$`: what stands after the dollar.
    fn register(&self, name: &str) -> Result<Typed, ValueError>;
    /// The argument at a position, from 1, of the function that is being
    /// entered.
    fn argument(&self, position: u8) -> Result<Typed, ValueError>;
    /// The value that has just been returned.
    fn returned(&self) -> Result<Typed, ValueError>;
    /// The scope of the caller.
    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError>;
    /// A type by name.
    fn type_named(&self, name: &str) -> Option<Type>;
    /// The debuggee's memory.
    fn memory(&self) -> &dyn Memory;
    /// How library types are shown, and gone through; nothing where they are
    /// as they are.
    fn standard_types(&self) -> Option<&dyn LibraryTypes>;
    /// The type of Rust's trait objects whose table of methods is there.
    fn type_of_table(&self, address: u64) -> Option<Type> {
        let _ = address;
        None
    }
    /// Where the function of this name in the symbol table begins.
    fn function_linked(&self, linkage_name: &str) -> Option<u64> {
        let _ = linkage_name;
        None
    }
    /// Returns the address of a member function that its class declares in the same unit.
    fn code_of_method(&self, method: &Method) -> Option<u64> {
        let _ = method;
        None
    }
    /// Returns the functions `name` of a type whose functions its debug information does not
    /// list; `self` is the first of their parameters.
    fn functions_of(&self, type_name: &str, name: &str) -> Vec<Overload> {
        let _ = (type_name, name);
        Vec::new()
    }
    /// All functions that a name means where it is no variable; also the instances of
    /// a template whose arguments it leaves out.
    fn overloads(&self, name: &str) -> Vec<Overload> {
        let _ = name;
        Vec::new()
    }
    /// The functions of this name in a namespace.
    fn functions_in(&self, scope: &str, name: &str) -> Vec<Overload> {
        let _ = (scope, name);
        Vec::new()
    }
    /// The static member or enumerator of this name that a class of C++ has.
    fn class_name(&self, class: &Type, name: &str) -> Option<Result<Typed, ValueError>> {
        let _ = (class, name);
        None
    }
    /// The name of the function at hand, or of one of its callers; nothing where there is none.
    fn function_name(&self, level: usize) -> Option<String> {
        let _ = level;
        None
    }
    /// The result of a call that has not been made. Most scopes make none.
    fn call(&self, request: Request) -> Result<Typed, ValueError> {
        let _ = request;
        Err("functions of the program cannot be called here".into())
    }
    /// What the call that stands there has returned, when it has.
    fn returned_from(&self, span: &Range<usize>) -> Option<Typed> {
        let _ = span;
        None
    }
    /// Whether the code at hand is of C++.
    fn is_cpp(&self) -> bool {
        false
    }
    /// What was found of the condition that stands there, before a call.
    fn decided(&self, span: &Range<usize>) -> Option<bool> {
        let _ = span;
        None
    }
    /// Takes note of that.
    fn decide(&self, span: &Range<usize>, truth: bool) {
        let _ = (span, truth);
    }
}
