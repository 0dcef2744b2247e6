//! A property with four parameters: lock order.

use crate::measuring::{Effort, Measured, Runner};
use crate::objects::object;
use crate::properties::propositions;
use juror_event::EventId;
use juror_language::{
    Behaviour, BinaryOperator, Demand, Effect, EffectAction, Logic, Property, Term, TermKind, load,
};
use juror_logic::Formula;
use juror_monitor::Monitor;
use std::sync::Arc;

/// The size in bytes of the values of four parameters.
const VALUE_BYTES: usize = 4 * size_of::<u64>();

/// Ten threads that take pairs of ten locks in order.
struct Locks {
    monitor: Monitor,
}

impl Runner for Locks {
    fn take(&mut self, number: u64) -> Result<(), String> {
        let turn = object(number / 4, 450);
        let (thread, pair) = (turn % 10, turn / 10);
        // The pair with this number, the lower lock first.
        let mut low = 0;
        let mut rest = pair;
        while rest >= 9 - low {
            rest -= 9 - low;
            low += 1;
        }
        let (low, high) = (100 + low, 101 + low + rest);
        let (event, lock) = match number % 4 {
            0 => (0, low),
            1 => (0, high),
            2 => (1, high),
            _ => (1, low),
        };
        let taken = self.monitor.step_words(EventId(event), &[thread, lock]);
        taken.map(|_| ()).map_err(|error| error.to_string())
    }

    /// Returns the memory per instance, over the maximum number of simultaneous instances:
    /// freed memory is reused.
    fn bytes(&self) -> Option<f64> {
        let instances = self.monitor.peak_count();
        Some(self.monitor.bytes() as f64 / instances.max(1) as f64)
    }
}

/// Measures the lock order.
pub fn lock_order(effort: &Effort) -> Result<(), String> {
    println!("\nLocks in one order: four parameters, ten threads, ten locks");
    let monitor = Monitor::with_history(Arc::new(lock_property()?), 0);
    let mut locks = Locks {
        monitor: monitor.map_err(|error| error.to_string())?,
    };
    let mut rate = 0.0_f64;
    let events = effort.events / 20;
    for round in 0..effort.rounds as u64 {
        rate = rate.max(locks.rate(round * events, events)?);
    }
    println!(
        "{rate:.3} M events/s; at most {} instances at once, of 8 100 tuples that fit; {:.1} bytes \
         each, {VALUE_BYTES} of them the values of the parameters",
        locks.monitor.peak_count(),
        locks.bytes().unwrap_or(0.0),
    );
    Ok(())
}

/// `for each t, u, a, b where t != u and a != b: eventually nested(t, a, b)
/// implies always not nested(u, b, a)`.
fn lock_property() -> Result<Property, String> {
    let source = "property locks
         event lock = before l(x, m)
         event unlock = before u(x, m)
         state only { on lock -> only on unlock -> only }";
    let (mut properties, diagnostics) = load(source);
    let mut property = properties.pop().ok_or_else(|| format!("{diagnostics:?}"))?;
    let mut effects = Vec::new();
    for (bit, (thread, lock)) in [(0, 2), (0, 3), (1, 2), (1, 3)].into_iter().enumerate() {
        let binding: Vec<Option<u8>> = (0..4)
            .map(|parameter| match parameter {
                _ if parameter == thread => Some(0),
                _ if parameter == lock => Some(1),
                _ => None,
            })
            .collect();
        for (event, action) in [(0, EffectAction::Set), (1, EffectAction::Clear)] {
            effects.push(Effect {
                event: EventId(event),
                binding: binding.clone(),
                guard: None,
                captures: 0,
                proposition: bit as u8,
                action,
                span: 0..0,
            });
        }
    }
    let holds = Formula::proposition;
    let nested = |first: u8, second: u8| {
        let waits = holds(first).until(holds(second));
        holds(first).and(holds(second).negation()).and(waits)
    };
    let formula = nested(0, 1).eventually();
    property.slice = ["t", "u", "a", "b"].map(Into::into).to_vec();
    property.constraint = Some(both(differ(0, 1), differ(2, 3)));
    property.behaviour = Behaviour::Logic(Logic {
        demand: Demand::Formula(formula.implies(nested(3, 2).negation().always())),
        propositions: propositions(&["ta", "tb", "ua", "ub"], true),
        effects,
    });
    Ok(property)
}

fn binary(operator: BinaryOperator, left: Term, right: Term) -> Term {
    Term {
        kind: TermKind::Binary {
            operator,
            left: Box::new(left),
            right: Box::new(right),
        },
        span: 0..0,
    }
}

fn differ(one: u16, other: u16) -> Term {
    let variable = |slot| Term {
        kind: TermKind::Variable(slot),
        span: 0..0,
    };
    binary(BinaryOperator::NotEqual, variable(one), variable(other))
}

fn both(left: Term, right: Term) -> Term {
    binary(BinaryOperator::And, left, right)
}
