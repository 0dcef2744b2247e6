//! Resolution of formulas to formulas over the bits of a letter.
//!
//! A defined formula is expanded, with its parameters replaced by the arguments, whose
//! names keep the meaning that they have at the use.

use super::Checker;
use super::grounding::{Argument, Grounding};
use crate::syntax::{
    BoundExpression, Expression, ExpressionKind, FormulaBinary, FormulaDefinition,
    FormulaExpression, FormulaKind, FormulaUnary, Name, UnaryOperator,
};
use juror_event::Value;
use juror_fault::Diagnostic;
use juror_logic::{Bound, Formula};
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of parts of a formula after expansion.
const PARTS_MAX: usize = 4_000;
/// The maximum nesting of formulas after expansion.
const DEPTH_MAX: usize = 450;

/// The arguments of a definition.
pub(super) struct Environment<'e, 'a> {
    /// The definition that is being expanded; `None` outside of definitions.
    definition: Option<&'a FormulaDefinition>,
    given: &'e [&'a FormulaExpression],
    /// The environment of the use of the definition.
    outer: Option<&'e Environment<'e, 'a>>,
}

impl<'e, 'a> Environment<'e, 'a> {
    /// Creates the environment outside of all definitions.
    pub(super) fn outside() -> Environment<'e, 'a> {
        Environment {
            definition: None,
            given: &[],
            outer: None,
        }
    }

    /// Returns the argument for a name, and the environment of the argument.
    fn given(&self, name: &str) -> Option<(&'a FormulaExpression, &'e Environment<'e, 'a>)> {
        let mut parameters = self.definition?.parameters.iter();
        let position = parameters.position(|parameter| &*parameter.text == name)?;
        Some((self.given.get(position).copied()?, self.outer?))
    }

    /// Returns true if a definition is being expanded.
    fn is_open(&self, definition: &FormulaDefinition) -> bool {
        let here = self.definition.is_some_and(|d| std::ptr::eq(d, definition));
        here || self.outer.is_some_and(|outer| outer.is_open(definition))
    }
}

impl<'a> Checker<'a> {
    /// Resolves a formula; returns `None` after an error, which was reported.
    pub(super) fn formula(
        &mut self,
        expression: &'a FormulaExpression,
        environment: &Environment<'_, 'a>,
        grounding: &mut Grounding<'_>,
    ) -> Option<Formula> {
        grounding.parts += 1;
        if grounding.parts > PARTS_MAX || grounding.depth >= DEPTH_MAX {
            if grounding.parts <= PARTS_MAX + 1 {
                grounding.parts = PARTS_MAX + 1;
                let message = "this formula is too large once its definitions are written out";
                self.error("too-long", &expression.span, message);
            }
            return None;
        }
        grounding.depth += 1;
        let formula = self.formula_kind(expression, environment, grounding);
        grounding.depth -= 1;
        formula
    }

    fn formula_kind(
        &mut self,
        expression: &'a FormulaExpression,
        environment: &Environment<'_, 'a>,
        grounding: &mut Grounding<'_>,
    ) -> Option<Formula> {
        match &expression.kind {
            FormulaKind::Error => None,
            FormulaKind::Any => {
                self.error(
                    "not-a-formula",
                    &expression.span,
                    "`any` is allowed only as an argument",
                );
                None
            }
            FormulaKind::Constant(constant) => match constant.kind {
                ExpressionKind::Bool(true) => Some(Formula::True),
                ExpressionKind::Bool(false) => Some(Formula::False),
                _ => {
                    let message = "a value alone is neither true nor false";
                    self.error("not-a-formula", &expression.span, message);
                    None
                }
            },
            FormulaKind::Atom { name, arguments } => {
                self.atom(name, arguments.as_deref(), environment, grounding)
            }
            FormulaKind::Unary {
                operator,
                bound,
                operand,
            } => {
                self.note_steps(operator.words(), bound.as_ref(), expression, grounding);
                let operand = self.formula(operand, environment, grounding)?;
                Some(unary(*operator, lowered(bound.as_ref()), operand))
            }
            FormulaKind::Binary {
                operator,
                bound,
                left,
                right,
            } => {
                self.note_steps(operator.words(), bound.as_ref(), expression, grounding);
                // Both sides are checked, so that both are reported.
                let left = self.formula(left, environment, grounding);
                let right = self.formula(right, environment, grounding);
                Some(binary(*operator, lowered(bound.as_ref()), left?, right?))
            }
        }
    }

    /// Records the first operator that counts single steps.
    fn note_steps(
        &self,
        words: &str,
        bound: Option<&BoundExpression>,
        expression: &FormulaExpression,
        grounding: &mut Grounding<'_>,
    ) {
        let counted = bound.is_some_and(|bound| !bound.is_time);
        let stepping = ["next", "weak next", "yesterday", "weak yesterday"].contains(&words);
        if (counted || stepping) && grounding.counts_steps.is_none() {
            let what = if counted {
                "a number of steps".to_owned()
            } else {
                format!("`{words}`")
            };
            grounding.counts_steps = Some((expression.span.clone(), what));
        }
    }

    fn atom(
        &mut self,
        name: &'a Name,
        arguments: Option<&'a [FormulaExpression]>,
        environment: &Environment<'_, 'a>,
        grounding: &mut Grounding<'_>,
    ) -> Option<Formula> {
        if let Some((given, outer)) = environment.given(&name.text) {
            if arguments.is_some() {
                let message = format!(
                    "`{}` stands for a formula and takes no arguments",
                    name.text
                );
                self.error("wrong-arguments", &name.span, message);
                return None;
            }
            return self.formula(given, outer, grounding);
        }
        if let Some((definition, origin)) = self.formula_definition(&name.text) {
            return self.defined(definition, origin, name, arguments, environment, grounding);
        }
        let bit = self.letter(name, arguments, environment, grounding)?;
        Some(Formula::Proposition(bit))
    }

    /// Returns the formula for the bit of a proposition or event.
    pub(super) fn letter(
        &mut self,
        name: &'a Name,
        arguments: Option<&'a [FormulaExpression]>,
        environment: &Environment<'_, 'a>,
        grounding: &mut Grounding<'_>,
    ) -> Option<u8> {
        let declared = self.proposition_declaration(&name.text);
        let event = match declared {
            Some(_) => None,
            None => self.event_slot_named(&name.text),
        };
        if declared.is_none() && event.is_none() {
            self.unknown_proposition(name, grounding);
            return None;
        }
        let arguments = match arguments {
            None => None,
            Some(arguments) => {
                let found: Vec<Option<Argument>> = arguments
                    .iter()
                    .map(|argument| self.argument(argument, environment, grounding))
                    .collect();
                Some(found.into_iter().collect::<Option<Vec<Argument>>>()?)
            }
        };
        match (declared, event) {
            (Some((declaration, origin)), _) => {
                let arguments = arguments.unwrap_or_default();
                self.ground_proposition(declaration, origin, arguments, name, grounding)
            }
            (None, event) => self.ground_event(event?, arguments, name, grounding),
        }
    }

    fn unknown_proposition(&mut self, name: &Name, grounding: &Grounding<'_>) {
        if grounding.parameter(&name.text).is_some() {
            let message = format!("`{}` is a parameter, neither true nor false", name.text);
            self.error("not-a-formula", &name.span, message);
            return;
        }
        let known: Vec<&str> = self
            .sources
            .iter()
            .flat_map(|source| {
                let declarations = source.declarations;
                let events = declarations.events.iter().map(|e| &*e.name.text);
                let propositions = declarations.propositions.iter().map(|p| &*p.name.text);
                let definitions = declarations.definitions.iter().map(|d| &*d.name.text);
                events.chain(propositions).chain(definitions)
            })
            .collect();
        let error = self.unknown("unknown-proposition", "proposition or event", name, known);
        self.report_unknown(&name.text, error);
    }

    /// Resolves an argument of a proposition.
    fn argument(
        &mut self,
        argument: &'a FormulaExpression,
        environment: &Environment<'_, 'a>,
        grounding: &Grounding<'_>,
    ) -> Option<Argument> {
        match &argument.kind {
            FormulaKind::Any => Some(Argument::Any),
            FormulaKind::Error => None,
            FormulaKind::Constant(constant) => match constant_value(constant) {
                Some(value) => Some(Argument::Constant(value)),
                None => {
                    self.error("bad-argument", &constant.span, "this is not a plain value");
                    None
                }
            },
            FormulaKind::Atom {
                name,
                arguments: None,
            } => {
                if let Some((given, outer)) = environment.given(&name.text) {
                    return self.argument(given, outer, grounding);
                }
                if let Some(position) = grounding.parameter(&name.text) {
                    return Some(Argument::Parameter(position));
                }
                let known: Vec<&str> = (grounding.parameters.iter())
                    .map(|parameter| &*parameter.name.text)
                    .collect();
                let error = self.unknown("unknown-parameter", "parameter", name, known);
                let error = match error.help {
                    Some(_) => error,
                    None => error.help(format!(
                        "declare it: `for each value {}`, or write `any`",
                        name.text
                    )),
                };
                self.diagnostics.push(error);
                None
            }
            _ => {
                let message = "an argument is a parameter, a value or `any`";
                self.error("bad-argument", &argument.span, message);
                None
            }
        }
    }

    /// Expands a defined formula.
    fn defined(
        &mut self,
        definition: &'a FormulaDefinition,
        origin: Option<&'a Range<usize>>,
        name: &'a Name,
        arguments: Option<&'a [FormulaExpression]>,
        environment: &Environment<'_, 'a>,
        grounding: &mut Grounding<'_>,
    ) -> Option<Formula> {
        self.used_names.insert(&definition.name.text);
        let given: Vec<&'a FormulaExpression> = arguments.unwrap_or(&[]).iter().collect();
        if given.len() != definition.parameters.len() {
            self.wrong_count(name, definition.parameters.len(), given.len());
            return None;
        }
        if environment.is_open(definition) {
            let message = format!("`{}` is defined by itself", definition.name.text);
            let error = Diagnostic::error("recursive-definition", name.span.clone(), message);
            let error = error.label(definition.name.span.clone(), "its definition");
            self.diagnostics
                .push(error.help("use `always` and `until` for repetition"));
            return None;
        }
        let inner = Environment {
            definition: Some(definition),
            given: &given,
            outer: Some(environment),
        };
        self.at_origin(origin, |checker| {
            checker.formula(&definition.formula, &inner, grounding)
        })
    }
}

/// Returns the value of a literal.
fn constant_value(expression: &Expression) -> Option<Value> {
    Some(match &expression.kind {
        ExpressionKind::Integer(number) => Value::Int(*number),
        ExpressionKind::Float(number) => Value::Float(*number),
        ExpressionKind::Text(text) => Value::String(text.clone()),
        ExpressionKind::Bool(truth) => Value::Bool(*truth),
        ExpressionKind::Null => Value::Address(0),
        ExpressionKind::Unary {
            operator: UnaryOperator::Negate,
            operand,
        } => match constant_value(operand)? {
            Value::Int(number) => Value::Int(number.checked_neg()?),
            Value::Float(number) => Value::Float(-number),
            _ => return None,
        },
        _ => return None,
    })
}

fn lowered(bound: Option<&BoundExpression>) -> Bound {
    let steps = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    match bound {
        None => Bound::Unbounded,
        Some(bound) if bound.is_time => Bound::Time {
            from: bound.from,
            to: bound.to,
        },
        Some(bound) => Bound::Steps {
            from: steps(bound.from),
            to: bound.to.map(steps),
        },
    }
}

fn unary(operator: FormulaUnary, bound: Bound, operand: Formula) -> Formula {
    let operand = Arc::new(operand);
    let truth = |truth| Arc::new(if truth { Formula::True } else { Formula::False });
    match operator {
        FormulaUnary::Not => Formula::Not(operand),
        FormulaUnary::Always => Formula::Release(truth(false), operand, bound),
        FormulaUnary::Eventually => Formula::Until(truth(true), operand, bound),
        FormulaUnary::Next => Formula::Next(operand),
        FormulaUnary::WeakNext => Formula::WeakNext(operand),
        FormulaUnary::Once => Formula::Since(truth(true), operand, bound),
        FormulaUnary::Historically => Formula::Trigger(truth(false), operand, bound),
        FormulaUnary::Yesterday => Formula::Yesterday(operand),
        FormulaUnary::WeakYesterday => Formula::WeakYesterday(operand),
    }
}

fn binary(operator: FormulaBinary, bound: Bound, left: Formula, right: Formula) -> Formula {
    let not = |formula: &Arc<Formula>| Arc::new(Formula::Not(Arc::clone(formula)));
    let or = |a: Arc<Formula>, b: Arc<Formula>| Arc::new(Formula::Or(a, b));
    let (left, right) = (Arc::new(left), Arc::new(right));
    match operator {
        FormulaBinary::Iff => {
            Formula::And(or(not(&left), Arc::clone(&right)), or(not(&right), left))
        }
        FormulaBinary::Implies => Formula::Or(not(&left), right),
        FormulaBinary::Or => Formula::Or(left, right),
        FormulaBinary::And => Formula::And(left, right),
        FormulaBinary::Until => Formula::Until(left, right, bound),
        // Within a bound: the right side occurs, or the left side lasts.
        FormulaBinary::WeakUntil if bound != Bound::Unbounded => {
            let lasts = Formula::Release(Arc::new(Formula::False), Arc::clone(&left), bound);
            Formula::Or(
                Arc::new(Formula::Until(left, right, bound)),
                Arc::new(lasts),
            )
        }
        FormulaBinary::WeakUntil => {
            let either = or(left, Arc::clone(&right));
            Formula::Release(right, either, Bound::Unbounded)
        }
        FormulaBinary::Release => Formula::Release(left, right, bound),
        FormulaBinary::Since => Formula::Since(left, right, bound),
        FormulaBinary::Trigger => Formula::Trigger(left, right, bound),
    }
}

#[cfg(test)]
mod tests;
