//! The meaning of a name, and its value.

use crate::modules::{Module, Modules};
use crate::variables::{VariableContext, static_address, static_value};
use juror_symbols::{Function, Type, Variable};
use juror_values::typed::Typed;
use std::rc::Rc;

/// The meaning of a name.
#[derive(Debug, Clone)]
pub struct Meaning {
    /// The module that has it.
    pub module: Rc<Module>,
    /// The entity that it stands for.
    pub entity: Entity,
    /// Whether neither the place's own module nor the program has it.
    pub is_elsewhere: bool,
    /// Whether it is internal to a library, and not visible to other modules.
    pub is_private: bool,
}

/// An entity that a name stands for.
#[derive(Debug, Clone)]
pub enum Entity {
    /// A global or static variable.
    Variable(Variable),
    /// A function.
    Function(Function),
    /// An enumerator.
    Enumerator(Type, i128),
    /// A data symbol without debug information: file address and type.
    Symbol(u64, Type),
    /// A symbol of a thread-local variable: offset in the module's block and type.
    ThreadLocalSymbol(u64, Type),
}

impl Meaning {
    /// Returns its value, or `None` if the size of its type is unknown.
    pub fn value(self, context: VariableContext<'_>) -> Option<Typed> {
        let Meaning { module, entity, .. } = self;
        Some(match entity {
            Entity::Variable(variable) => static_value(variable, &module, context),
            Entity::Function(function) => super::function_value(&module, &function),
            Entity::Enumerator(r#type, value) => {
                let size = r#type.size().unwrap_or(4).min(16) as usize;
                let bytes = value.to_le_bytes().get(..size)?.to_vec();
                Typed::of_bytes(r#type, bytes)
            }
            Entity::Symbol(address, r#type) => {
                let modules = &context.program.modules;
                Typed::in_memory(r#type, modules.address_of_data(&module, address))
            }
            Entity::ThreadLocalSymbol(offset, r#type) => {
                let VariableContext { program, thread } = context;
                let address =
                    thread.and_then(|thread| program.thread_local(&module, thread, offset));
                match address {
                    Some(address) => Typed::in_memory(r#type, address),
                    None => Typed::missing(r#type, "the thread has no copy of it"),
                }
            }
        })
    }

    /// Returns its address and type, or `None` if it is not a variable with a fixed address.
    pub fn address(self, modules: &Modules) -> Option<(u64, Type)> {
        match self.entity {
            Entity::Variable(variable) => {
                let address = static_address(&variable, &self.module, modules)?;
                Some((address, variable.r#type))
            }
            Entity::Symbol(address, r#type) => {
                Some((modules.address_of_data(&self.module, address), r#type))
            }
            _ => None,
        }
    }

    /// Returns whether it is a variable internal to a library.
    pub fn is_private(&self) -> bool {
        self.is_private && !matches!(self.entity, Entity::Function(_))
    }

    /// Returns whether it is a variable of neither the place's module nor the program, which only a
    /// user can mean.
    pub fn is_variable_elsewhere(&self) -> bool {
        self.is_elsewhere && !matches!(self.entity, Entity::Function(_))
    }
}

impl Entity {
    /// Returns false for a variable that the compiler has removed.
    pub(super) fn is_there(&self) -> bool {
        !matches!(self, Entity::Variable(variable) if variable.location.is_nowhere())
    }
}
