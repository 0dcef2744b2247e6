//! Calls made by the debugger: where the arguments must be placed, and where the result is
//! returned.
//!
//! This is the reverse of the entry plans. The calling convention counts; where an optimizer may
//! have changed the function, what it expects is compared with that ([`super::expected`]).

use super::convention::Convention;
use super::{EntryLocation, EntryPieceLocation, EntryUnavailable, ReturnValue};
use super::{certainty, described, expected, unavailable};
use crate::dwarf::{DebugInfo, DieRef, Language};
use crate::{Function, SymbolFile, Type, parameters};
use std::sync::Arc;

/// The parameters and the result of a function as declared.
#[derive(Debug, Clone)]
pub struct Signature {
    /// The parameters in order, including generated ones (`this`): name, which may be
    /// empty, and type.
    pub parameters: Vec<(Arc<str>, Type)>,
    /// Whether further arguments are accepted.
    pub variadic: bool,
    /// The type of the result; `void` for none.
    pub result: Type,
    /// Whether the parameters are passed as they are declared. In a function of C without a
    /// prototype, a `float` is passed as a `double`.
    pub is_prototyped: bool,
}

impl Signature {
    /// Returns the type of the function.
    pub fn function_type(&self) -> Type {
        let parameters = self.parameters.iter().map(|(_, of)| of.clone());
        self.result.function(parameters.collect(), self.variadic)
    }
}

/// The locations of the values of a call to be made.
#[derive(Debug, Clone)]
pub struct OutgoingCall {
    /// The location of each argument at the function's first instruction.
    pub arguments: Vec<EntryLocation>,
    /// The register that must hold the address of the buffer for a result in memory.
    pub result_pointer: Option<u16>,
    /// The location of the result after the return.
    pub result: ReturnValue,
    /// The number of bytes of arguments on the stack.
    pub stack_size: u64,
    /// The number of vector registers with arguments: the value of `al`.
    pub vector_count: u8,
}

impl SymbolFile {
    /// Returns the signature of a function; `None` without debug information.
    ///
    /// # Errors
    /// The compiler changed the calling convention of this clone of the function.
    pub fn signature(&self, function: &Function) -> Result<Option<Signature>, EntryUnavailable> {
        let Some((info, die)) = self.described(function) else {
            return Ok(None);
        };
        let linkage_name = function.linkage_name.as_deref().unwrap_or("");
        if let Some(reason) = described::changed_convention(info, die, linkage_name) {
            return Err(reason);
        }
        // A function of Go has a convention of its own, and one with a static link needs the frame
        // of the function around it.
        let is_go = info
            .unit(die.unit)
            .is_some_and(|it| it.language == Language::Go);
        let is_nested = info.inherited(die, |_, _, entry| {
            entry.attr_value(gimli::DW_AT_static_link)
        });
        if is_go || is_nested.is_some() {
            return Err(EntryUnavailable::Undefined);
        }
        let parameters = parameters::parameters(info, die)
            .into_iter()
            .map(|variable| (variable.name.clone(), variable.passed_type()));
        Ok(Some(Signature {
            parameters: parameters.collect(),
            variadic: takes_more(info, die),
            result: described::return_type(info, die),
            is_prototyped: !described::lacks_prototype(info, die),
        }))
    }

    /// Returns why a function cannot be called with its parameters alone: it has an argument
    /// that the debug information does not list.
    pub fn call_obstacle(&self, function: &Function) -> Option<EntryUnavailable> {
        let (info, die) = self.described(function)?;
        certainty::hidden_argument(info, die, function, &parameters::parameters(info, die))
    }

    /// Returns the locations for a call of `function` by the convention of its language; C
    /// without debug information. What the function does not expect there has another location,
    /// or none, and so has a result that it may not return.
    pub fn outgoing_call(
        &self,
        function: &Function,
        arguments: &[Type],
        result: &Type,
    ) -> OutgoingCall {
        let Some((info, die)) = self.described(function) else {
            return outgoing_call_of_c(arguments, result);
        };
        let mut call = plan(Convention::new(info, die), arguments, result);
        expected::adapt(self, info, die, function, &mut call);
        let returned = &mut call.result;
        let doubt = certainty::doubt_of_result(self, info, die, function, &returned.location);
        if let Some(reason) = doubt {
            returned.location = unavailable(reason, result.size().unwrap_or(0));
        }
        call
    }
}

/// Returns the locations for a call by the convention of C.
pub fn outgoing_call_of_c(arguments: &[Type], result: &Type) -> OutgoingCall {
    plan(Convention::of_c(), arguments, result)
}

fn plan(mut convention: Convention, arguments: &[Type], result: &Type) -> OutgoingCall {
    // If this is unknown, so is the location of the result, and no call is made.
    let result_pointer = match convention.take_result_pointer(result) {
        Ok(Some(EntryPieceLocation::Register(register))) => Some(register),
        _ => None,
    };
    let arguments = arguments
        .iter()
        .map(|of| convention.next_location(of))
        .collect();
    OutgoingCall {
        arguments,
        result_pointer,
        result: ReturnValue {
            r#type: result.clone(),
            location: convention.location_of_result(result),
            address_at_entry: None,
        },
        stack_size: convention.stack_size(),
        vector_count: convention.vector_count(),
    }
}

/// Returns whether a function accepts further arguments.
fn takes_more(info: &DebugInfo, function: DieRef) -> bool {
    let marked = |die: DieRef| {
        let children = info.children(die);
        let mut tags = children.iter().map(|(_, entry)| entry.tag());
        tags.any(|tag| tag == gimli::DW_TAG_unspecified_parameters)
    };
    let origin = || {
        let entry = info.die(function)?;
        info.origin(function.unit, &entry)
    };
    marked(function) || origin().is_some_and(marked)
}
