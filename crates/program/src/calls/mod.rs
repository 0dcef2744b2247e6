//! Calls into the debuggee: from the request of an expression to the state of the thread at the
//! function's entry, and from the return to a value.
//!
//! The convention is that of the *System V Application Binary Interface, AMD64 Architecture
//! Processor Supplement*, sections 3.2.2 (the stack frame, the red zone) and 3.2.3 (parameter
//! passing). Invariant: nothing is executed here, and an argument that cannot be passed as the
//! function expects is refused.

mod constants;
mod copied;
mod frame;
mod layout;
mod passing;
mod replay;
mod result;

pub use juror_values::expression::request::{Argument, Request};
pub use layout::lay_out;
pub(crate) use passing::is_signed;
pub use replay::{Attempt, CallingScope, EffectResults, attempt, attempt_in};
pub use result::read_result;

use crate::modules::Bound;
use crate::program::Program;
use juror_debuggee::ThreadId;
use juror_symbols::{
    Encoding, EntryLocation, EntryPieceLocation, EntryUnavailable, OutgoingCall, Signature, Type,
    TypeKind, outgoing_call_of_c,
};
use juror_values::typed::Number;
use passing::Passed;
use std::rc::Rc;

/// The function to call.
#[derive(Debug)]
pub struct Target {
    /// Its first instruction.
    pub address: u64,
    /// The name by which messages refer to it.
    pub name: String,
    bound: Option<Bound>,
    /// The signature in the type of the pointer through which it is called.
    pointed: Option<Signature>,
}

/// A call that can be made.
#[derive(Debug)]
pub struct PlannedCall {
    /// The function's first instruction.
    pub address: u64,
    /// The name by which messages refer to it.
    pub name: String,
    /// Whether the type of the result is unknown and `long` is assumed.
    pub is_result_assumed: bool,
    arguments: Vec<Passed>,
    outgoing: OutgoingCall,
}

impl PlannedCall {
    /// Returns whether the function returns `void`.
    pub fn is_void(&self) -> bool {
        matches!(self.outgoing.result.r#type.strip().kind(), TypeKind::Void)
    }
}

impl Program {
    /// Returns the function of a request. The stopped thread `thread` runs the resolver of an
    /// indirect function.
    pub fn call_target(&mut self, request: &Request, thread: ThreadId) -> Result<Target, String> {
        let written = request.name.as_deref().unwrap_or("this");
        let (mut address, pointed) = match request.function.number(self) {
            Ok(Number::Pointer(address, target)) => match target.strip().kind() {
                TypeKind::Void => (address, None),
                TypeKind::Function {
                    returns,
                    parameters,
                    variadic,
                } => {
                    let unnamed = |of: Type| ("".into(), of);
                    let pointed = Signature {
                        parameters: parameters.into_iter().map(unnamed).collect(),
                        variadic,
                        result: returns,
                        is_prototyped: true,
                    };
                    (address, Some(pointed))
                }
                _ => return Err(format!("`{written}` is not a function")),
            },
            Ok(_) => return Err(format!("`{written}` is not a function")),
            Err(why) => return Err(why.to_string()),
        };
        if !juror_symbols::Memory::read(self, address, &mut [0]) {
            return Err(format!("there is no code at {address:#x}"));
        }
        let is_start = |bound: &Bound| bound.address() == address;
        let mut bound = self.modules.function_at(address).filter(is_start);
        if let Some(known) = bound.clone().filter(|bound| bound.function.indirect) {
            address = self.chosen_address(&known, thread)?;
            bound = self
                .modules
                .function_at(address)
                .filter(|bound| bound.address() == address);
        }
        if let Some(stub) = bound.clone().filter(|bound| bound.function.plt) {
            // The stub jumps to the definition, which has the types.
            let reached = self
                .modules
                .reached_definitions(&stub.function.name, |_| true);
            bound = reached.into_iter().next();
        }
        let name = match (&request.name, &bound) {
            (Some(name), _) => name.to_string(),
            (None, Some(bound)) => bound.function.name.to_string(),
            (None, None) => format!("{address:#x}"),
        };
        Ok(Target {
            address,
            name,
            bound,
            pointed,
        })
    }

    /// Returns the function that an indirect function resolves to. The program has started, so that
    /// even one without a dynamic linker has relocated itself.
    fn chosen_address(&mut self, indirect: &Bound, thread: ThreadId) -> Result<u64, String> {
        let chosen = self.resolve_indirect(indirect, thread, true);
        let name = &indirect.function.name;
        chosen
            .map(|chosen| chosen.address())
            .ok_or_else(|| format!("`{name}` cannot be called: what it leads to is not known"))
    }

    /// Plans a call: converts the arguments to the types of the parameters, and assigns their
    /// locations.
    pub fn plan_call(&self, request: &Request, target: Target) -> Result<PlannedCall, String> {
        let Target {
            address,
            name,
            bound,
            pointed,
        } = target;
        let declared = match &bound {
            Some(Bound { module, function }) => {
                let obstacle = module.symbols.call_obstacle(function);
                let declared = match obstacle {
                    Some(why) => Err(why),
                    None => module.symbols.signature(function),
                };
                declared.map_err(|why| format!("`{name}` cannot be called: {why}"))?
            }
            None => None,
        };
        // A thunk, which only passes the call on, may be described without parameters.
        let is_thunk = bound.as_ref().is_some_and(|it| is_thunk(&it.function.name));
        let signature = if is_thunk {
            pointed.or(declared)
        } else {
            declared.or(pointed)
        };
        if let Some(signature) = &signature {
            check_count(&name, signature, request.arguments.len())?;
        }
        let is_prototyped = signature.as_ref().is_none_or(|known| known.is_prototyped);
        let parameters = signature.iter().flat_map(|known| &known.parameters);
        let mut parameters = parameters.map(|(name, of)| (&**name, of));
        let mut arguments = Vec::with_capacity(request.arguments.len());
        for (index, argument) in request.arguments.iter().enumerate() {
            let passed = match parameters.next() {
                Some((_, of)) if !is_prototyped && is_float(of) => {
                    let double = Type::builtin("double");
                    passing::pass_as(argument, double.as_ref().unwrap_or(of), self)
                }
                Some((_, of)) => passing::pass_as(argument, of, self),
                None => passing::promote(argument, self),
            };
            arguments.push(passed.map_err(|why| argument_error(index, &name, &why.to_string()))?);
        }
        let long = || Type::builtin("long").unwrap_or(Type::void());
        let cast = request.result.clone();
        let is_result_assumed = signature.is_none() && cast.is_none();
        let result = match signature {
            Some(signature) => signature.result,
            None => cast.unwrap_or_else(long),
        };
        let types: Vec<Type> = arguments
            .iter()
            .map(|passed| passed.r#type.clone())
            .collect();
        let mut outgoing = match &bound {
            Some(Bound { module, function }) => Rc::clone(module)
                .symbols
                .outgoing_call(function, &types, &result),
            None => outgoing_call_of_c(&types, &result),
        };
        for (index, location) in outgoing.arguments.iter_mut().enumerate() {
            if let (Some(passed), Some(bound)) = (arguments.get_mut(index), &bound) {
                copied::give_copy(passed, location, &bound.module);
                constants::leave_out(passed, location)
                    .map_err(|why| argument_error(index, &name, &why))?;
            }
            check_location(location).map_err(|why| argument_error(index, &name, &why))?;
        }
        match outgoing.result.location.first().map(|it| &it.location) {
            // The call may be made for what it does.
            Some(EntryPieceLocation::Unavailable(EntryUnavailable::ResultUnused)) => {}
            Some(EntryPieceLocation::Unavailable(why)) => {
                return Err(format!("the result of `{name}` cannot be taken: {why}"));
            }
            _ => {}
        }
        Ok(PlannedCall {
            address,
            name,
            is_result_assumed,
            arguments,
            outgoing,
        })
    }
}

/// Returns whether a type is passed as `double` to a function without a prototype.
fn is_float(of: &Type) -> bool {
    let stripped = of.strip();
    stripped.size() == Some(4) && matches!(stripped.kind(), TypeKind::Base(Encoding::Float))
}

/// Returns whether a function is a thunk, which adjusts `this` and calls another function, by its
/// name (*Itanium C++ ABI*, section 5.1.4).
fn is_thunk(name: &str) -> bool {
    ["_ZTh", "_ZTv", "_ZTc"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn argument_error(index: usize, name: &str, why: &str) -> String {
    format!("argument {} of `{name}`: {why}", index + 1)
}

fn check_count(name: &str, signature: &Signature, given: usize) -> Result<(), String> {
    let wanted = signature.parameters.len();
    if given == wanted || (given > wanted && signature.variadic) {
        return Ok(());
    }
    let least = if signature.variadic { "at least " } else { "" };
    let plural = if wanted == 1 { "" } else { "s" };
    let names: Vec<&str> = signature
        .parameters
        .iter()
        .map(|(name, _)| &**name)
        .filter(|name| !name.is_empty())
        .collect();
    let names = match names.as_slice() {
        [] => String::new(),
        names => format!(" ({})", names.join(", ")),
    };
    Err(format!(
        "`{name}` takes {least}{wanted} argument{plural}{names}; {given} given"
    ))
}

fn check_location(location: &EntryLocation) -> Result<(), String> {
    for piece in location {
        match &piece.location {
            EntryPieceLocation::Unavailable(why) => return Err(why.to_string()),
            EntryPieceLocation::PointedByRegister(_) | EntryPieceLocation::PointedByStack(_) => {
                return Err("copying a value of this class runs code of the program; \
                            call something that takes its address"
                    .to_owned());
            }
            EntryPieceLocation::Register(_)
            | EntryPieceLocation::RegisterPart { .. }
            | EntryPieceLocation::Stack(_)
            | EntryPieceLocation::Constant(_) => {}
        }
    }
    Ok(())
}
