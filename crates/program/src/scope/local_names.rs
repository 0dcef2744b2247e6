//! The meaning of names in the blocks around a frame's place.

use super::{Place, has_field};
use crate::program::Program;
use crate::stack::frames::Frame;
use juror_symbols::Variable;

/// The meaning of a name in the blocks around a frame's place.
enum LocalMeaning {
    /// A variable, parameter or enumerator.
    Variable(Variable),
    /// A variable that is declared behind the place.
    Later(Variable),
    /// What is defined outside of the function.
    Elsewhere,
    Nothing,
}

impl Program {
    /// Returns the variable, parameter or enumerator of a frame with this name, or `None` if a
    /// declaration of what is defined elsewhere hides it.
    ///
    /// A variable that is declared behind the frame's line is meant only if its name means nothing
    /// else there.
    pub fn local_variable(&self, frame: &Frame, name: &str) -> Option<Variable> {
        let found = self.local_meaning(frame, name);
        match found {
            LocalMeaning::Variable(variable) if !variable.is_of_some_block => Some(variable),
            LocalMeaning::Variable(variable) | LocalMeaning::Later(variable) => {
                let place = Place::of_frame(&self.modules, Some(frame));
                let is_field = || {
                    let this = self.local_variable(frame, "this");
                    let class = this.and_then(|this| this.r#type.target());
                    class.is_some_and(|class| has_field(&class, name))
                };
                match (place.has_by_language(name) || is_field(), variable.is_later) {
                    (false, _) => Some(variable),
                    (true, true) => None,
                    (true, false) => Some(variable.undecided()),
                }
            }
            LocalMeaning::Elsewhere | LocalMeaning::Nothing => None,
        }
    }

    /// Returns whether a block around the frame's place declares the name for what is defined
    /// elsewhere (`extern int count;`, `using n::count;`), and no inner block has another meaning
    /// of the name.
    pub fn declares_global(&self, frame: &Frame, name: &str) -> bool {
        matches!(self.local_meaning(frame, name), LocalMeaning::Elsewhere)
    }

    fn local_meaning(&self, frame: &Frame, name: &str) -> LocalMeaning {
        let mut later = None;
        let scopes = self.scopes_of(frame);
        let all = scopes.iter().flat_map(|scope| &scope.variables);
        let mut named = all.filter(|it| &*it.name == name && !it.is_later);
        // A static variable may be that of an inner block.
        if let (Some(first), Some(second)) = (named.next(), named.next())
            && (first.is_of_some_block || second.is_of_some_block)
        {
            return LocalMeaning::Variable(Variable {
                is_of_some_block: false,
                ..first.clone().undecided()
            });
        }
        for scope in scopes {
            let mut variables = scope.variables.into_iter().chain(scope.enumerators);
            let found = variables.by_ref().find(|it| &*it.name == name);
            match found {
                Some(variable) if variable.is_later => later = later.or(Some(variable)),
                Some(variable) => return LocalMeaning::Variable(variable),
                None => {}
            }
            if scope.declared.iter().any(|known| **known == *name) {
                return LocalMeaning::Elsewhere;
            }
        }
        later.map_or(LocalMeaning::Nothing, LocalMeaning::Later)
    }
}
