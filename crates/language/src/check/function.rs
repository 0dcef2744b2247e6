//! Functions of the language and of properties, and their calls.

use super::Checker;
use super::scope::{PROGRAM, Scope};
use crate::syntax::{Expression, ExpressionKind, FunctionDeclaration, Name};
use crate::term::{self, Builtin, Function, Kind, Term, TermKind};
use juror_fault::Diagnostic;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

impl<'a> Checker<'a> {
    /// Declares the names of functions, then their bodies: they may call each other in
    /// any order.
    pub(super) fn declare_functions(&mut self) {
        let mut declared: Vec<(&'a FunctionDeclaration, Option<&'a Range<usize>>)> = Vec::new();
        for source in self.sources.clone() {
            for function in &source.declarations.functions {
                let slot = u16::try_from(declared.len()).unwrap_or(u16::MAX);
                let count = function.parameters.len();
                self.function_slots
                    .insert(&function.name.text, (slot, count));
                declared.push((function, source.origin));
            }
        }
        self.in_function = true;
        let mut functions = Vec::new();
        for (declaration, origin) in declared {
            functions.push(self.at_origin(origin, |checker| checker.function(declaration, origin)));
        }
        self.in_function = false;
        self.functions = Arc::new(functions);
    }

    fn function(
        &mut self,
        declaration: &FunctionDeclaration,
        origin: Option<&Range<usize>>,
    ) -> Function {
        let mut scope = Scope::of_function();
        let mut names: HashMap<&str, &Name> = HashMap::new();
        for parameter in &declaration.parameters {
            self.unique(&mut names, parameter, "parameter");
            scope.declare(parameter, Kind::Unknown);
        }
        if Builtin::named(&declaration.name.text).is_some() {
            let message = format!("`{}` is a function of the language", declaration.name.text);
            let error = Diagnostic::error("duplicate-name", declaration.name.span.clone(), message);
            self.diagnostics.push(error.help("choose another name"));
        }
        let body = self
            .block(&declaration.body, &mut scope)
            .unwrap_or_default();
        if !declaration.body.iter().any(returns) {
            let message = format!("`{}` never returns anything", declaration.name.text);
            let error = Diagnostic::error("no-return", declaration.name.span.clone(), message);
            self.diagnostics.push(error.help("end it with `return …`"));
        }
        Function {
            name: declaration.name.text.clone(),
            parameters: u16::try_from(declaration.parameters.len()).unwrap_or(u16::MAX),
            height: term::height(&body),
            body,
            foreign: origin.is_some(),
            span: origin.unwrap_or(&declaration.span).clone(),
        }
    }

    /// Resolves a call in a guard or update.
    pub(super) fn call(
        &mut self,
        function: &Expression,
        arguments: &[Expression],
        span: Range<usize>,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        let ExpressionKind::Name(name) = &function.kind else {
            self.no_call(&span);
            return None;
        };
        if &**name == PROGRAM && scope.is_of_reaction() {
            return self.program_value(arguments, span, scope);
        }
        let declared = self.function_slots.get_key_value(&**name);
        let declared = declared.map(|(name, found)| (*name, *found));
        let builtin = Builtin::named(name);
        let count = match (declared, builtin) {
            (Some((_, (_, count))), _) => count,
            (None, Some(builtin)) => builtin.arguments(),
            (None, None) => {
                self.unknown_function(name, &function.span);
                return None;
            }
        };
        if arguments.len() != count {
            let plural = if count == 1 { "" } else { "s" };
            let message = format!(
                "`{name}` takes {count} argument{plural}, and {} are given",
                arguments.len()
            );
            self.error("wrong-arguments", &span, message);
            return None;
        }
        let kinds = self.terms_and_kinds(arguments, scope)?;
        let (terms, kinds): (Vec<Term>, Vec<Kind>) = kinds.into_iter().unzip();
        if let Some((name, (slot, _))) = declared {
            self.used_names.insert(name);
            let functions = (!self.in_function).then(|| Arc::clone(&self.functions));
            let kind = TermKind::Call {
                functions,
                function: slot,
                arguments: terms,
            };
            return Some((Term { kind, span }, Kind::Unknown));
        }
        let builtin = builtin?;
        let Some(result) = builtin_kind(builtin, &kinds) else {
            let kinds: Vec<String> = kinds.iter().map(Kind::to_string).collect();
            let message = format!("`{name}` is not defined for {}", kinds.join(" and "));
            self.error("type-mismatch", &span, message);
            return None;
        };
        let kind = TermKind::Builtin {
            function: builtin,
            arguments: terms,
        };
        self.constant_folded(Term { kind, span }, result)
    }

    fn unknown_function(&mut self, name: &str, span: &Range<usize>) {
        let builtins = Builtin::ALL.iter().map(|builtin| builtin.name());
        let known = self.function_slots.keys().copied().chain(builtins);
        let suggestion = crate::suggest(name, known);
        let error = Diagnostic::error(
            "unknown-function",
            span.clone(),
            format!("the property has no function `{name}`"),
        );
        let error = match suggestion {
            Some(_) => error.did_you_mean(suggestion),
            None => error.help(
                "guards are pure and never run code of the program; capture the value in an event",
            ),
        };
        self.report_unknown(name, error);
    }

    /// Resolves expressions; all are checked, so that all are reported.
    pub(super) fn terms(
        &mut self,
        expressions: &[Expression],
        scope: &mut Scope,
    ) -> Option<Vec<Term>> {
        let found = self.terms_and_kinds(expressions, scope)?;
        Some(found.into_iter().map(|(term, _)| term).collect())
    }

    fn terms_and_kinds(
        &mut self,
        expressions: &[Expression],
        scope: &mut Scope,
    ) -> Option<Vec<(Term, Kind)>> {
        let found: Vec<Option<(Term, Kind)>> = expressions
            .iter()
            .map(|expression| self.term(expression, scope))
            .collect();
        found.into_iter().collect()
    }

    /// Resolves a set, map or sequence literal.
    pub(super) fn collection(
        &mut self,
        kind: TermKind,
        result: Kind,
        span: Range<usize>,
    ) -> Option<(Term, Kind)> {
        self.constant_folded(Term { kind, span }, result)
    }

    /// Evaluates a term of constants; returns other terms unchanged.
    fn constant_folded(&mut self, term: Term, result: Kind) -> Option<(Term, Kind)> {
        let is_constant = |term: &Term| matches!(term.kind, TermKind::Constant(_));
        let constant = match &term.kind {
            TermKind::Set(terms) | TermKind::Sequence(terms) => terms.iter().all(is_constant),
            TermKind::Builtin { arguments, .. } => arguments.iter().all(is_constant),
            TermKind::Map(entries) => entries
                .iter()
                .all(|(key, value)| is_constant(key) && is_constant(value)),
            _ => false,
        };
        if !constant {
            return Some((term, result));
        }
        match crate::evaluate(&term, &super::declarations::Nothing) {
            Ok(value) => {
                let kind = Kind::of(&value);
                let span = term.span;
                let term = TermKind::Constant(value);
                Some((Term { kind: term, span }, kind))
            }
            Err(problem) => {
                self.error("bad-constant", &problem.span, problem.message);
                None
            }
        }
    }

    /// Returns true if brackets after an expression take an element of a value, and not
    /// a location of the debuggee.
    pub(super) fn is_collection(&self, object: &Expression, scope: &Scope) -> bool {
        match &object.kind {
            ExpressionKind::Name(name) => {
                if scope.local(name).is_some() {
                    return true;
                }
                match (self.capture_named(name, scope), scope.event()) {
                    (Some(slot), Some(event)) => {
                        let kinds = self.capture_kinds.get(usize::from(event));
                        let kind = kinds.and_then(|kinds| kinds.get(usize::from(slot)));
                        kind.is_some_and(|kind| kind.is_collection())
                    }
                    _ => self.variable_slots.contains_key(&**name),
                }
            }
            ExpressionKind::Index { object, .. } => self.is_collection(object, scope),
            ExpressionKind::Slice { .. }
            | ExpressionKind::Call { .. }
            | ExpressionKind::Binary { .. }
            | ExpressionKind::Set(_)
            | ExpressionKind::Map(_)
            | ExpressionKind::Sequence(_) => true,
            _ => false,
        }
    }

    /// Resolves `m[k]`.
    pub(super) fn element(
        &mut self,
        object: &Expression,
        index: &Expression,
        span: Range<usize>,
        scope: &mut Scope,
    ) -> Option<(Term, Kind)> {
        let collection = self.term(object, scope);
        let key = self.term(index, scope);
        let ((collection, kind), (key, _)) = (collection?, key?);
        if !matches!(kind, Kind::Map | Kind::Sequence | Kind::Unknown) {
            let message = format!("only maps and sequences have elements, and this is {kind}");
            let error = Diagnostic::error("type-mismatch", object.span.clone(), message);
            self.diagnostics.push(match kind {
                Kind::Set => error.help("test membership in a set: `x in s`"),
                _ => error,
            });
            return None;
        }
        let kind = TermKind::Element {
            collection: Box::new(collection),
            key: Box::new(key),
        };
        Some((Term { kind, span }, Kind::Unknown))
    }
}

/// Returns true if a statement may return a value.
fn returns(statement: &crate::syntax::Statement) -> bool {
    use crate::syntax::Statement;
    match statement {
        Statement::Return { .. } => true,
        Statement::If {
            then, otherwise, ..
        } => then.iter().chain(otherwise).any(returns),
        Statement::For { body, .. } => body.iter().any(returns),
        Statement::Assignment { .. } | Statement::Local { .. } => false,
    }
}

/// Returns the kind of the result of a function of the language, if it is defined for
/// these arguments.
fn builtin_kind(function: Builtin, arguments: &[Kind]) -> Option<Kind> {
    let first = arguments.first().copied().unwrap_or(Kind::Unknown);
    let second = arguments.get(1).copied().unwrap_or(Kind::Unknown);
    let is = |kinds: &[Kind]| first == Kind::Unknown || kinds.contains(&first);
    let collections = [Kind::Set, Kind::Map, Kind::Sequence];
    match function {
        Builtin::Length => (is(&collections) || first == Kind::String).then_some(Kind::Integer),
        Builtin::Add => is(&[Kind::Set, Kind::Sequence]).then_some(first),
        Builtin::Remove => is(&[Kind::Set, Kind::Map]).then_some(first),
        Builtin::Get => is(&[Kind::Map, Kind::Sequence]).then_some(Kind::Unknown),
        Builtin::Keys => is(&[Kind::Map]).then_some(Kind::Set),
        Builtin::Values => is(&[Kind::Map, Kind::Set]).then_some(Kind::Sequence),
        Builtin::SetOf => is(&collections).then_some(Kind::Set),
        Builtin::Range => {
            let integer = |kind| matches!(kind, Kind::Integer | Kind::Unknown);
            (integer(first) && integer(second)).then_some(Kind::Sequence)
        }
        Builtin::Minimum | Builtin::Maximum => {
            let number = |kind: Kind| kind == Kind::Unknown || kind.is_number();
            (number(first) && number(second)).then_some(Kind::Unknown)
        }
        Builtin::Absolute => is(&[Kind::Integer, Kind::Float]).then_some(first),
    }
}
