//! The scope of an expression at the return of a call: globals as the function sees them, its
//! parameters with their values at entry, and its result.

use super::evaluation::EntryName;
use juror_program::scope::FrameScope;
use juror_symbols::{Memory, Type};
use juror_values::error::ValueError;
use juror_values::expression::{self, Overload, Scope};
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::Typed;

/// The scope of an expression at the return of a call.
pub(super) struct ReturnScope<'a> {
    /// The function, as far as its address determines it.
    pub(super) home: FrameScope<'a>,
    /// The thread's frames: it is back in the caller.
    pub(super) caller: FrameScope<'a>,
    pub(super) names: &'a [EntryName],
    pub(super) entry: &'a [Typed],
    pub(super) result: Option<Typed>,
}

impl ReturnScope<'_> {
    fn kept(&self, is_it: impl Fn(&EntryName) -> bool) -> Option<Result<Typed, ValueError>> {
        let position = self.names.iter().position(is_it)?;
        // The entry of a call that was already active has not been seen.
        let missing =
            || ValueError::OptimizedOut.within("its value at the call's entry".to_owned());
        Some(self.entry.get(position).cloned().ok_or_else(missing))
    }
}

impl Scope for ReturnScope<'_> {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        if let Some(kept) = self.kept(|it| it.name.as_deref() == Some(name)) {
            return kept;
        }
        if let Some(Ok(this)) = self.kept(|it| it.name.as_deref() == Some("this"))
            && let Ok(object) = expression::dereference(&this, self.memory())
            && let Ok(field) = object.field(name, self.memory())
        {
            return Ok(field);
        }
        self.home.outside(name)
    }

    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        self.caller.register(name)
    }

    fn argument(&self, position: u8) -> Result<Typed, ValueError> {
        let kept = self.kept(|it| it.name.is_none() && it.position == position);
        kept.unwrap_or_else(|| Err(format!("argument {position} is not known").into()))
    }

    fn returned(&self) -> Result<Typed, ValueError> {
        let result = self.result.clone();
        result.ok_or("what was returned is not known".into())
    }

    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        Ok(Box::new(FrameScope { ..self.caller }))
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        self.home.type_named(name)
    }

    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        self.home.standard_types()
    }

    fn type_of_table(&self, address: u64) -> Option<Type> {
        self.home.type_of_table(address)
    }

    fn is_cpp(&self) -> bool {
        self.home.is_cpp()
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        self.home.is_elsewhere(name)
    }

    fn has_variable(&self, word: &str) -> bool {
        self.home.has_variable(word)
    }

    fn is_rust(&self) -> bool {
        self.home.is_rust()
    }

    fn function_linked(&self, linkage_name: &str) -> Option<u64> {
        self.home.function_linked(linkage_name)
    }

    fn overloads(&self, name: &str) -> Vec<Overload> {
        self.home.overloads(name)
    }

    fn memory(&self) -> &dyn Memory {
        self.home.memory()
    }
}
