//! A call that the debugger makes: where each argument must be put, where the
//! result will be.
//!
//! The mirror image of the entry plans. Here the convention alone counts:
//! what debug information says of the parameters' places is true only for
//! calls that the compiler made.

use super::convention::Convention;
use super::described;
use super::{EntryLocation, EntryPlace, EntryUnavailable, ReturnValue};
use crate::dwarf::{DebugInfo, DieRef};
use crate::{Function, SymbolFile, Type, variable};
use std::sync::Arc;

/// What a function takes and gives, as its source declares it.
#[derive(Debug, Clone)]
pub struct Signature {
    /// The parameters in order, those that the compiler made (`this`)
    /// included: name, which may be empty, and type.
    pub parameters: Vec<(Arc<str>, Type)>,
    /// More arguments may follow.
    pub variadic: bool,
    /// The type of its result; `void` for none.
    pub result: Type,
}

impl Signature {
    /// The type of the function.
    pub fn function_type(&self) -> Type {
        let parameters = self.parameters.iter().map(|(_, of)| of.clone());
        self.result.function(parameters.collect(), self.variadic)
    }
}

/// Where the values of a call go that is still to be made.
#[derive(Debug, Clone)]
pub struct OutgoingCall {
    /// Where each argument must be at the function's first instruction.
    pub arguments: Vec<EntryLocation>,
    /// The register that must hold the address of room for the result, when
    /// the result comes back in memory.
    pub result_pointer: Option<u16>,
    /// Where the result is after the return.
    pub result: ReturnValue,
    /// How many bytes the arguments take on the stack.
    pub stack_size: u64,
    /// How many vector registers hold arguments: what `al` must be.
    pub vector_count: u8,
}

impl SymbolFile {
    /// What a function takes and gives; `None` without debug information.
    ///
    /// # Errors
    /// The compiler gave this copy of the function a convention of its own.
    pub fn signature(&self, function: &Function) -> Result<Option<Signature>, EntryUnavailable> {
        let Some((info, die)) = self.described(function) else {
            return Ok(None);
        };
        let linkage_name = function.linkage_name.as_deref().unwrap_or("");
        if let Some(reason) = described::changed_convention(info, die, linkage_name) {
            return Err(reason);
        }
        let parameters = variable::parameters(info, die)
            .into_iter()
            .map(|variable| (variable.name, variable.r#type));
        Ok(Some(Signature {
            parameters: parameters.collect(),
            variadic: takes_more(info, die),
            result: described::return_type(info, die),
        }))
    }

    /// Where the values of a call of `function` go, by the convention of its
    /// language; of C without debug information.
    pub fn outgoing_call(
        &self,
        function: &Function,
        arguments: &[Type],
        result: &Type,
    ) -> OutgoingCall {
        match self.described(function) {
            Some((info, die)) => plan(Convention::new(info, die), arguments, result),
            None => outgoing_call_of_c(arguments, result),
        }
    }
}

/// Where the values of a call go, by the convention of C.
pub fn outgoing_call_of_c(arguments: &[Type], result: &Type) -> OutgoingCall {
    plan(Convention::of_c(), arguments, result)
}

fn plan(mut convention: Convention, arguments: &[Type], result: &Type) -> OutgoingCall {
    // Where that is not known, neither is the place of the result, and no call is made.
    let result_pointer = match convention.take_result_pointer(result) {
        Ok(Some(EntryPlace::Register(register))) => Some(register),
        _ => None,
    };
    let arguments = arguments.iter().map(|of| convention.place(of)).collect();
    OutgoingCall {
        arguments,
        result_pointer,
        result: ReturnValue {
            r#type: result.clone(),
            location: convention.place_of_result(result),
        },
        stack_size: convention.stack_size(),
        vector_count: convention.vector_count(),
    }
}

/// Whether more arguments than the declared ones may follow.
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
