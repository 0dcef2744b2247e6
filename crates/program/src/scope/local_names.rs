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
        let found = match found {
            LocalMeaning::Nothing => self.meaning_around_lambda(frame, name),
            LocalMeaning::Later(later) => match self.meaning_around_lambda(frame, name) {
                LocalMeaning::Nothing => LocalMeaning::Later(later),
                around => around,
            },
            found => found,
        };
        match found {
            LocalMeaning::Variable(variable) if !variable.is_of_some_block => Some(variable),
            LocalMeaning::Variable(variable) | LocalMeaning::Later(variable) => {
                let place = Place::of_frame(&self.modules, Some(frame));
                let is_field = || self.is_field_of_this(frame, name);
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

    /// Returns the meaning of a name in the functions around a lambda.
    fn meaning_around_lambda(&self, frame: &Frame, name: &str) -> LocalMeaning {
        let found = frame.module.as_ref().and_then(|module| {
            let address = module.to_file(frame.lookup);
            let symbols = &module.symbols;
            symbols.variable_around_lambda(address, frame.inline_depth, name)
        });
        match found {
            // What a closure has captured is a field of it, which clang calls `this`.
            Some(_) if self.has_captured(frame, name) => LocalMeaning::Nothing,
            Some(variable) => LocalMeaning::Variable(variable),
            None => LocalMeaning::Nothing,
        }
    }

    fn has_captured(&self, frame: &Frame, name: &str) -> bool {
        let LocalMeaning::Variable(this) = self.local_meaning(frame, "this") else {
            return false;
        };
        let closure = this
            .r#type
            .target()
            .filter(|class| class.is_unnamed_class());
        closure.is_some_and(|closure| has_field(&closure, name))
    }

    /// Returns whether the object of a member function, or the closure of a lambda, has a field of
    /// this name.
    fn is_field_of_this(&self, frame: &Frame, name: &str) -> bool {
        let LocalMeaning::Variable(this) = self.local_meaning(frame, "this") else {
            return false;
        };
        let class = this.r#type.target();
        class.is_some_and(|class| has_field(&class, name))
    }

    fn local_meaning(&self, frame: &Frame, name: &str) -> LocalMeaning {
        let mut later = None;
        let scopes = self.scopes_of(frame);
        let all = scopes.iter().flat_map(|scope| {
            let of_inner_blocks = scope.unplaced.iter().map(|it| (it, true));
            let own = scope.variables.iter();
            of_inner_blocks.chain(own.map(|it| (it, it.is_of_some_block)))
        });
        let mut named = all.filter(|(it, _)| &*it.name == name && !it.is_later);
        let (first, second) = (named.next(), named.next());
        // A variable of some block may be that of an inner block.
        match (first, second) {
            (Some((first, is_first)), Some((_, is_second))) if is_first || is_second => {
                return LocalMeaning::Variable(Variable {
                    is_of_some_block: false,
                    ..first.clone().undecided()
                });
            }
            (Some((first, true)), None) => {
                return LocalMeaning::Variable(Variable {
                    is_of_some_block: true,
                    ..first.clone()
                });
            }
            _ => {}
        }
        for scope in scopes {
            let variables = scope.variables.into_iter().chain(scope.enumerators);
            let named = variables.filter(|it| &*it.name == name);
            let (behind, before): (Vec<Variable>, _) = named.partition(|it| it.is_later);
            let before: Vec<Variable> = before;
            if let Some(variable) = before.into_iter().next() {
                return LocalMeaning::Variable(variable);
            }
            later = later.or(behind.into_iter().next());
            if scope.declared.iter().any(|known| **known == *name) {
                return LocalMeaning::Elsewhere;
            }
        }
        later.map_or(LocalMeaning::Nothing, LocalMeaning::Later)
    }
}
