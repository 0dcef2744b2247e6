//! Terms without calls: the bodies of functions in place of their calls.

use crate::term::{Function, Term, TermKind, Update};

/// The maximum number of terms of a result.
const TERMS_MAX: usize = 256;
/// The maximum depth of a result.
const DEPTH_MAX: usize = 64;

/// A function body that replaces a call.
#[derive(Clone, Copy)]
struct Call<'a> {
    /// The functions that it calls.
    functions: &'a [Function],
    /// The terms in place of its parameters.
    arguments: &'a [Term],
}

impl Term {
    /// Returns the term with the bodies of functions in place of their calls. Its value is
    /// the same if all captures that the term names have one; no errors are the same.
    ///
    /// Returns `None` if a function is more than one `return`, an argument is more than a
    /// constant, a variable or a capture, or the result is large.
    pub fn without_calls(&self) -> Option<Term> {
        substitute(self, None, DEPTH_MAX, &mut TERMS_MAX.clone())
    }
}

fn substitute(term: &Term, call: Option<Call<'_>>, depth: usize, room: &mut usize) -> Option<Term> {
    let depth = depth.checked_sub(1)?;
    *room = room.checked_sub(1)?;
    match &term.kind {
        TermKind::Local(slot) => call?.arguments.get(usize::from(*slot)).cloned(),
        TermKind::Call {
            functions,
            function,
            arguments,
        } => {
            let own = functions.as_ref().map(|functions| functions.as_slice());
            let functions = own.or(call.map(|call| call.functions))?;
            let function = functions.get(usize::from(*function))?;
            let [Update::Return(body)] = function.body.as_slice() else {
                return None;
            };
            let simple = |argument: &Term| {
                let argument = substitute(argument, call, depth, room)?;
                let is_simple = matches!(
                    argument.kind,
                    TermKind::Constant(_) | TermKind::Variable(_) | TermKind::Capture(_)
                );
                is_simple.then_some(argument)
            };
            let arguments: Option<Vec<Term>> = arguments.iter().map(simple).collect();
            let call = Call {
                functions,
                arguments: &arguments?,
            };
            substitute(body, Some(call), depth, room)
        }
        _ => {
            let mut copy = term.clone();
            for part in copy.parts_mut() {
                *part = substitute(part, call, depth, room)?;
            }
            Some(copy)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{load, truth};
    use juror_event::Value;

    struct Kind(Value);

    impl crate::Environment for Kind {
        fn variable(&self, _: u16) -> Option<&Value> {
            None
        }
        fn capture(&self, _: u8) -> Option<&Value> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_term_without_calls_has_the_same_value() {
        let source = "function odd(n) { return (n & 1) == 1 }
            function either(a, b) { return odd(a) or odd(b) }
            function twice(a) { return either(a, a) and a < 5 }
            function long(n) { var m = n return m > 1 }
            property p event e = before f(k)
            state s { on e when twice(k) -> s on e when either(k, k + 1) -> t
                on e when long(k) -> t }
            state t non-accepting";
        let (properties, diagnostics) = load(source);
        let property = properties
            .first()
            .unwrap_or_else(|| panic!("{diagnostics:?}"));
        let transitions = &property.states()[0].transitions;
        let guards: Vec<_> = transitions
            .iter()
            .map(|t| t.guard.as_ref().unwrap())
            .collect();
        let inlined = guards[0].without_calls().unwrap();
        for k in 0..8 {
            let environment = Kind(Value::Int(k));
            let expected = truth(guards[0], &environment);
            assert_eq!(truth(&inlined, &environment), expected);
        }
        // An argument that is computed, and a function that does more.
        assert_eq!(guards[1].without_calls(), None);
        assert_eq!(guards[2].without_calls(), None);
    }
}
