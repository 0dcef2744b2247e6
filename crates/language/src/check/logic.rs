//! Properties that are formulas or regular expressions.

use super::Checker;
use super::declarations::Parameter;
use super::formula::Environment;
use super::grounding::Grounding;
use super::sequence::matches_nothing;
use crate::property::{Demand, Effect, EffectAction, Logic};
use crate::syntax::{DemandDeclaration, DemandKind, Name, ParameterSort, SequenceExpression};
use juror_fault::Diagnostic;
use juror_logic::{Decidable, Formula, Meaning, decidable, decidable_expression};
use std::sync::Arc;

impl<'a> Checker<'a> {
    /// Resolves the demand of the property; returns `None` after an error, which was
    /// reported.
    pub(super) fn logic(&mut self, parameters: &[Parameter<'a>]) -> Option<Logic> {
        let declaration = self.declaration;
        let mut grounding = Grounding::new(parameters);
        let demand = self.demand(&declaration.demands, &mut grounding);
        let demand = demand?;
        if declaration.complete {
            self.concerned_parameters(&grounding);
        }
        make_steps(&mut grounding.effects);
        self.warn_of_interleaving(&grounding);
        self.note_undecided(&demand);
        Some(Logic {
            demand,
            propositions: grounding.propositions,
            effects: grounding.effects,
        })
    }

    fn demand(
        &mut self,
        demands: &'a [DemandDeclaration],
        grounding: &mut Grounding<'_>,
    ) -> Option<Demand> {
        let mut expressions = demands.iter().filter_map(expression);
        let found = expressions.next();
        if let (Some((first, ..)), Some(other)) = (found, demands.get(1)) {
            let message = "a property with an expression cannot have another demand";
            let error = Diagnostic::error("two-behaviours", other.span.clone(), message);
            let error = error.label(first.span.clone(), "the expression is here");
            self.diagnostics.push(
                error.help("write two properties; they can share events declared before the first"),
            );
            return None;
        }
        if let Some((declaration, expression, meaning)) = found {
            let regex = self.regex(expression, grounding)?;
            self.every_event(grounding);
            if meaning == Meaning::MatchViolates && matches_nothing(&regex) {
                let error = Diagnostic::error(
                    "matches-nothing",
                    expression.span.clone(),
                    "this matches before anything has happened",
                );
                let error = error.label(declaration.span.clone(), "so it is always violated");
                self.diagnostics
                    .push(error.help("require at least one step: `a+` instead of `a*`"));
                return None;
            }
            return Some(Demand::Expression {
                expression: regex,
                meaning,
            });
        }
        let mut whole: Option<Formula> = None;
        let mut sound = true;
        for declaration in demands {
            let formula = match &declaration.kind {
                DemandKind::Formula(formula) => {
                    self.formula(formula, &Environment::outside(), grounding)
                }
                DemandKind::Pattern(pattern) => self.pattern(pattern, grounding),
                DemandKind::Never(_) | DemandKind::Matches(_) => None,
            };
            let Some(formula) = formula else {
                sound = false;
                continue;
            };
            whole = Some(match whole {
                Some(whole) => Formula::And(Arc::new(whole), Arc::new(formula)),
                None => formula,
            });
        }
        whole.filter(|_| sound).map(Demand::Formula)
    }

    /// Makes every event of the property a step of its expression, also events that the
    /// expression does not name: they must not occur between two steps that it names.
    fn every_event(&mut self, grounding: &mut Grounding<'_>) {
        for event in &self.declaration.declarations.events {
            if let Some(slot) = self.event_slot_named(&event.name.text) {
                self.ground_event(slot, None, &event.name, grounding);
            }
        }
    }

    /// Checks that every parameter occurs in a proposition or event of the property.
    fn concerned_parameters(&mut self, grounding: &Grounding<'_>) {
        for (position, parameter) in grounding.parameters.iter().enumerate() {
            let concerned = grounding
                .effects
                .iter()
                .any(|effect| effect.binding.get(position).is_some_and(Option::is_some));
            if !concerned {
                let name = parameter.name;
                if let Some(error) = self.shared_proposition(name, grounding) {
                    self.diagnostics.push(error);
                    continue;
                }
                let message = format!(
                    "no event of the formula binds the parameter `{}`",
                    name.text
                );
                let error = Diagnostic::error("unbound-slice", name.span.clone(), message);
                self.diagnostics.push(error.help(format!(
                    "use it as an argument, `holds({0})`, or let an event capture it by name",
                    name.text
                )));
            }
        }
    }

    /// Returns the error that a proposition of the formula lacks a parameter, although an
    /// event that changes it captures the value.
    fn shared_proposition(&self, name: &Name, grounding: &Grounding<'_>) -> Option<Diagnostic> {
        let captures = |effect: &&Effect| {
            let event = self.events.get(usize::from(effect.event.0));
            event.is_some_and(|event| event.captures.iter().any(|it| it.name == name.text))
        };
        let effect = grounding.effects.iter().find(captures)?;
        let used = grounding
            .propositions
            .get(usize::from(effect.proposition))?;
        let (base, arguments) = match used.name.split_once('(') {
            Some((base, arguments)) => (base, arguments.trim_end_matches(')')),
            None => (&*used.name, ""),
        };
        if self.event_slots.contains_key(base) {
            return None;
        }
        let parameter = &name.text;
        let message = format!("no proposition of the formula has the parameter `{parameter}`");
        let wanted = match arguments {
            "" => format!("{base}({parameter})"),
            others => format!("{base}({others}, {parameter})"),
        };
        let error = Diagnostic::error("unbound-slice", name.span.clone(), message);
        Some(
            error
                .label(
                    used.span.clone(),
                    format!("one for all values of `{parameter}`"),
                )
                .help(format!(
                    "declare it as `proposition {wanted}`, and use it as `{wanted}`"
                )),
        )
    }

    /// Notes that a property is never decided during a run, so that a user does not
    /// wait for a stop.
    fn note_undecided(&mut self, demand: &Demand) {
        let found = match demand {
            Demand::Formula(formula) => decidable(formula),
            Demand::Expression {
                expression,
                meaning,
            } => decidable_expression(expression, *meaning),
        };
        // A demand that is too large to decide this is refused or reported elsewhere.
        let (Ok(true), Some(first)) = (
            found.map(Decidable::never),
            self.declaration.demands.first(),
        ) else {
            return;
        };
        let message = "this is decided only at the end of the run";
        let note = Diagnostic::note("undecided", first.span.clone(), message);
        self.diagnostics.push(note.help(
            "no events decide it earlier, so no event stops the program; a bound does: \
             `eventually within 100 ms \u{2026}`",
        ));
    }

    /// Warns that the order of steps of several threads may differ in the next run.
    fn warn_of_interleaving(&mut self, grounding: &Grounding<'_>) {
        let Some((span, what)) = &grounding.counts_steps else {
            return;
        };
        let threads = grounding.parameters.iter();
        let threads = threads.filter(|p| p.sort == ParameterSort::Thread).count();
        if threads == 1 {
            return;
        }
        let warning = Diagnostic::warning(
            "interleaving",
            span.clone(),
            format!("{what} depends on how the threads are scheduled"),
        );
        self.diagnostics.push(warning.help(
            "events of other threads may come between two events of one thread; use `until` or \
             `eventually`, or evaluate each thread separately: `slice on thread`",
        ));
    }
}

/// Makes each event a step of the instances that it concerns, whatever its values are: a
/// proposition whose condition does not hold is false at that step.
fn make_steps(effects: &mut Vec<Effect>) {
    let mut steps: Vec<Effect> = Vec::new();
    for effect in effects.iter() {
        let concerns = |other: &Effect| {
            other.guard.is_none() && other.event == effect.event && other.binding == effect.binding
        };
        if !effects.iter().any(concerns) && !steps.iter().any(concerns) {
            let bound = effect.binding.iter().flatten();
            steps.push(Effect {
                guard: None,
                captures: bound.fold(0, |mask, slot| mask | 1 << (slot & 63)),
                action: EffectAction::Step,
                ..effect.clone()
            });
        }
    }
    effects.append(&mut steps);
}

/// Returns the expression of a demand that is one.
fn expression(
    demand: &DemandDeclaration,
) -> Option<(&DemandDeclaration, &SequenceExpression, Meaning)> {
    match &demand.kind {
        DemandKind::Never(expression) => Some((demand, expression, Meaning::MatchViolates)),
        DemandKind::Matches(expression) => Some((demand, expression, Meaning::MatchRequired)),
        DemandKind::Formula(_) | DemandKind::Pattern(_) => None,
    }
}
