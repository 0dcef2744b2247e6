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
    Elsewhere(GlobalDeclaration),
    Nothing,
}

/// The way in which a block declares a name for what is defined outside of the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobalDeclaration {
    /// `using n::count;`
    Using,
    /// `extern int count;`
    External,
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
            LocalMeaning::Elsewhere(_) | LocalMeaning::Nothing => None,
        }
    }

    /// Returns how a block around the frame's place declares the name for what is defined
    /// elsewhere, if no inner block has another meaning of the name.
    pub fn global_declaration(&self, frame: &Frame, name: &str) -> Option<GlobalDeclaration> {
        match self.local_meaning(frame, name) {
            LocalMeaning::Elsewhere(declaration) => Some(declaration),
            _ => None,
        }
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
            let (behind, before): (Vec<Variable>, Vec<Variable>) =
                named.partition(|it| it.is_later);
            let mut before = before.into_iter();
            if let Some(variable) = before.next() {
                // C and C++ have one variable of a name in a block: another one is that of a handler
                // or an inner block, which clang describes in the block around it.
                let is_ambiguous = before.any(|it| it.line != variable.line);
                return LocalMeaning::Variable(if is_ambiguous && !is_rust(frame) {
                    variable.undecided()
                } else {
                    variable
                });
            }
            later = later.or(behind.into_iter().next());
            let is_among = |names: &[Box<str>]| names.iter().any(|known| **known == *name);
            if is_among(&scope.external) {
                return LocalMeaning::Elsewhere(GlobalDeclaration::External);
            }
            if is_among(&scope.declared) {
                return LocalMeaning::Elsewhere(GlobalDeclaration::Using);
            }
        }
        later.map_or(LocalMeaning::Nothing, LocalMeaning::Later)
    }
}

fn is_rust(frame: &Frame) -> bool {
    let module = frame.module.as_ref();
    module.is_some_and(|module| module.symbols.is_rust_at(module.to_file(frame.lookup)))
}
