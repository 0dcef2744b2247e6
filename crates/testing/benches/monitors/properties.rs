//! The measured properties.

use juror_event::EventId;
use juror_language::{Behaviour, Demand, Effect, EffectAction, Logic, Property, Proposition, load};
use juror_logic::Formula;

/// A closed object is not read; as states.
pub fn automaton(parameters: &[&str]) -> Result<Property, String> {
    let names = parameters.join(", ");
    let slice = match parameters {
        [] => String::new(),
        _ => format!("slice on {names}"),
    };
    let source = format!(
        "property closed {slice}
         event open = before o({names})
         event read = before r({names})
         event close = before c({names})
         state opened {{ on close -> closed }}
         state closed {{ on open -> opened on read -> bad }}
         state bad non-accepting"
    );
    let (mut properties, diagnostics) = load(&source);
    properties.pop().ok_or_else(|| format!("{diagnostics:?}"))
}

/// No more objects are opened than were closed before; a guard and an update at each event
/// but one.
pub fn guarded() -> Result<Property, String> {
    let source = "property counted slice on f
         event open = before o(f)
         event read = before r(f)
         event close = before c(f)
         var count = 0
         state counting {
             on open when count > 0 { count -= 1 } else -> bad
             on read when count < 0 -> bad
             on close when count + 1 < 1000 { count += 1 } else -> bad
         }
         state bad non-accepting";
    let (mut properties, diagnostics) = load(source);
    properties.pop().ok_or_else(|| format!("{diagnostics:?}"))
}

/// A closed object is not read; as a formula, also in longer ones.
pub fn formula(parameters: &[&str], formula: Formula) -> Result<Property, String> {
    let mut property = automaton(parameters)?;
    let slots: Vec<Option<u8>> = (0..parameters.len()).map(|slot| Some(slot as u8)).collect();
    let effect = |event: u16, proposition: u8| Effect {
        event: EventId(event),
        binding: slots.clone(),
        guard: None,
        captures: 0,
        proposition,
        action: EffectAction::Pulse,
        span: 0..0,
    };
    property.behaviour = Behaviour::Logic(Logic {
        demand: Demand::Formula(formula),
        propositions: propositions(&["open", "read", "close"], false),
        effects: vec![effect(0, 0), effect(1, 1), effect(2, 2)],
    });
    Ok(property)
}

/// Returns propositions with these names.
pub fn propositions(names: &[&str], persistent: bool) -> Vec<Proposition> {
    let of = |name: &&str| Proposition {
        name: (*name).into(),
        persistent,
        span: 0..0,
    };
    names.iter().map(of).collect()
}

/// Returns `always (close implies next (not read weak until open))`, repeated `times`
/// times.
pub fn nobody_reads(times: usize) -> Formula {
    let [open, read, close] = [0, 1, 2].map(Formula::proposition);
    let after = || read.clone().negation().weak_until(open.clone()).next();
    let once = close.clone().implies(after()).always();
    // The parts differ, so that none of them is removed as a duplicate.
    let mut whole = once;
    for part in 1..times {
        let ahead = (0..part).fold(after(), |inner, _| inner.next());
        whole = whole.and(close.clone().implies(ahead.eventually()).always());
    }
    whole
}

/// Returns `always (close implies eventually open)`, and the same for propositions that no
/// event sets.
pub fn unrelated(count: u8) -> Formula {
    let demands = (0..count).map(|number| {
        let close = Formula::proposition(2 + number * 3);
        let open = Formula::proposition(number * 3);
        close.implies(open.eventually()).always()
    });
    demands.fold(Formula::True, Formula::and)
}
