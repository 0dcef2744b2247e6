//! Random formulas.

use super::{Given, changing, events, run};
use juror_event::EventId;
use juror_language::{
    Behaviour, BinaryOperator, Demand, Effect, EffectAction, Logic, Property, Proposition, Term,
    TermKind, load,
};
use juror_logic::Formula;
use proptest::prelude::*;

fn formula() -> impl Strategy<Value = Formula> {
    let leaf = (0..3_u8).prop_map(Formula::proposition);
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(Formula::negation),
            inner.clone().prop_map(Formula::next),
            inner.clone().prop_map(Formula::always),
            inner.clone().prop_map(Formula::eventually),
            inner.clone().prop_map(Formula::once),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.or(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.implies(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.until(b)),
            (inner.clone(), inner).prop_map(|(a, b)| a.weak_until(b)),
        ]
    })
}

/// An effect: event, guard, proposition, action.
type Drawn = (u16, Option<i128>, u8, u8);

fn effects() -> impl Strategy<Value = Vec<Drawn>> {
    let one = (0..4_u16, prop::option::of(0..3_i128), 0..3_u8, 0..3_u8);
    prop::collection::vec(one, 1..7)
}

fn term(kind: TermKind) -> Box<Term> {
    Box::new(Term { kind, span: 0..0 })
}

/// The capture after the parameters is greater than the number.
fn guard(parameters: usize, number: i128) -> Term {
    *term(TermKind::Binary {
        operator: BinaryOperator::Greater,
        left: term(TermKind::Capture(parameters as u8)),
        right: term(TermKind::Constant(juror_event::Value::Int(number))),
    })
}

/// A property over four events, of which the last binds nothing if `has_all`.
fn property(parameters: usize, has_all: bool, formula: Formula, drawn: &[Drawn]) -> Property {
    let keys = ["a", "b"].get(..parameters).unwrap_or(&[]);
    let mut source = "property p\n".to_owned();
    let mut state = "state only {\n".to_owned();
    for event in 0..4 {
        let mut captures = keys.to_vec();
        captures.push("x");
        source += &format!(
            "event e{event} = before f{event}({})\n",
            captures.join(", ")
        );
        state += &format!("on e{event} -> only\n");
    }
    let mut property = load(&(source + &state + "}")).0.remove(0);
    property.slice = keys.iter().map(|&name| name.into()).collect();
    property.bindings = Vec::new();
    let effect = |&(event, number, proposition, action): &Drawn| Effect {
        event: EventId(event),
        binding: (0..parameters)
            .map(|slot| (event != 3 || !has_all).then_some(slot as u8))
            .collect(),
        captures: number.map_or(0, |_| 1 << parameters),
        guard: number.map(|number| guard(parameters, number)),
        proposition,
        action: match action {
            0 => EffectAction::Set,
            1 => EffectAction::Clear,
            _ => EffectAction::Pulse,
        },
        span: 0..0,
    };
    let effects: Vec<Effect> = drawn.iter().map(effect).collect();
    let propositions = (0..3_u8).map(|bit| Proposition {
        name: format!("p{bit}").into(),
        persistent: effects
            .iter()
            .any(|it| it.proposition == bit && it.action == EffectAction::Set),
        span: 0..0,
    });
    property.behaviour = Behaviour::Logic(Logic {
        demand: Demand::Formula(formula),
        propositions: propositions.collect(),
        effects,
    });
    property
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn operations_agree_with_the_monitor(
        parameters in 0..3_usize,
        has_all in any::<bool>(),
        formula in formula(),
        effects in effects(),
        records in prop_oneof![Just(0_usize), Just(3), Just(64)],
        events in events(30),
    ) {
        let events: Vec<Given> = events;
        run(property(parameters, has_all, formula, &effects), records, &events);
    }

    #[test]
    fn the_monitor_and_the_table_continue_each_other(
        parameters in 0..3_usize,
        has_all in any::<bool>(),
        formula in formula(),
        effects in effects(),
        records in prop_oneof![Just(0_usize), Just(3), Just(64)],
        events in events(50),
        moments in prop::collection::vec(any::<u8>(), 1..30),
    ) {
        let events: Vec<Given> = events;
        let property = property(parameters, has_all, formula, &effects);
        changing::run(&property, records, &events, &moments);
    }
}
