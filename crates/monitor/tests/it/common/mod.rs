//! Properties that the tests build by hand.

use juror_event::EventId;
use juror_language::{
    Behaviour, BinaryOperator, Demand, Effect, EffectAction, Logic, Property, Proposition, Term,
    TermKind, load,
};

/// An effect: the event, for each parameter the slot, the proposition, what
/// happens to it.
pub type Plain<'a> = (u16, &'a [Option<u8>], u8, EffectAction);

pub fn term(kind: TermKind) -> Term {
    Term { kind, span: 0..0 }
}

pub fn compare(left: TermKind, operator: BinaryOperator, right: TermKind) -> Term {
    let (left, right) = (Box::new(term(left)), Box::new(term(right)));
    term(TermKind::Binary {
        operator,
        left,
        right,
    })
}

/// Parameters that differ, pair by pair.
pub fn differ(pairs: &[(u16, u16)]) -> Option<Term> {
    let parts = pairs.iter().map(|&(a, b)| {
        compare(
            TermKind::Variable(a),
            BinaryOperator::NotEqual,
            TermKind::Variable(b),
        )
    });
    parts.reduce(|left, right| {
        term(TermKind::Binary {
            operator: BinaryOperator::And,
            left: Box::new(left),
            right: Box::new(right),
        })
    })
}

pub fn effect((event, binding, proposition, action): Plain<'_>, guard: Option<Term>) -> Effect {
    Effect {
        event: EventId(event),
        binding: binding.to_vec(),
        captures: guard.as_ref().map_or(0, |_| 0b11),
        guard,
        proposition,
        action,
        span: 0..0,
    }
}

/// A property over these events, each written as its captures (`x, m`).
pub fn property(
    parameters: &[&str],
    events: &[&str],
    constraint: Option<Term>,
    effects: Vec<Effect>,
    demand: Demand,
) -> Property {
    let mut source = "property p\n".to_owned();
    let mut state = "state only {\n".to_owned();
    for (number, captures) in events.iter().enumerate() {
        source += &format!("event e{number} = before f{number}({captures})\n");
        state += &format!("on e{number} -> only\n");
    }
    let (mut properties, diagnostics) = load(&(source + &state + "}"));
    assert_eq!(properties.len(), 1, "{diagnostics:#?}");
    let mut property = properties.remove(0);
    let propositions = effects.iter().map(|effect| effect.proposition).max();
    let propositions = (0..=propositions.unwrap_or(0)).map(|bit| Proposition {
        name: format!("p{bit}").into(),
        persistent: effects
            .iter()
            .any(|e| e.proposition == bit && e.action == EffectAction::Set),
        span: 0..0,
    });
    property.slice = parameters.iter().map(|&name| name.into()).collect();
    property.constraint = constraint;
    property.bindings = Vec::new();
    property.behaviour = Behaviour::Logic(Logic {
        demand,
        propositions: propositions.collect(),
        effects,
    });
    property
}
