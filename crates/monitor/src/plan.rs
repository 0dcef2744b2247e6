//! The parts of a property that do not depend on its behaviour: the parameters that
//! each event binds, its roles, and the constraint on parameters.
//!
//! An event of a formula may concern an instance in several *roles*: `lock(x, m)` sets
//! `holds(t, a)` with `x` as `t` and `m` as `a`, and `holds(u, b)` with them as `u` and
//! `b`. An event of an automaton has one role.

use crate::constraint::Constraint;
use juror_event::EventId;
use juror_language::{Behaviour, Effect, Property};
use std::sync::Arc;

/// The maximum number of roles of an event for which excluded combinations are
/// determined.
const COMBINED_MAX: usize = 8;

/// A way in which an event concerns instances.
#[derive(Debug, Clone)]
pub(crate) struct Role {
    /// By parameter: the slot of the capture that it must equal.
    pub slots: Vec<Option<u8>>,
    /// The parameters that have a slot; bit n is parameter n.
    pub mask: u32,
    /// The effects of the event in this role: bit n is the n-th of them.
    pub effects: u64,
}

/// What a state needs of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateNeed {
    pub event: EventId,
    /// The hoisted captures that are used.
    pub hoisted: u64,
}

/// A property prepared for routing its events.
#[derive(Debug)]
pub(crate) struct Plan {
    pub property: Arc<Property>,
    /// By event.
    roles: Vec<Vec<Role>>,
    /// By event: the slot that binds the only parameter, if the event has no other
    /// role.
    only_slots: Vec<Option<u8>>,
    /// By event: the slots that bind all parameters, if the event has one role, which
    /// binds all.
    whole_slots: Vec<Option<Box<[u8]>>>,
    pub constraint: Constraint,
    /// By event: the captures that are always read.
    pub declared: Vec<u64>,
}

impl Plan {
    pub(crate) fn new(property: Arc<Property>) -> Plan {
        let constraint = Constraint::new(property.constraint.as_ref(), property.slice.len());
        let events = || (0..property.events.len()).map(|event| EventId(event as u16));
        let roles: Vec<Vec<Role>> = match &property.behaviour {
            Behaviour::Automaton { .. } => {
                let of = |binding: &Vec<Option<u8>>| vec![Role::new(binding.clone(), 1)];
                property.bindings.iter().map(of).collect()
            }
            Behaviour::Logic(logic) => {
                let of = |event| roles_of(effects_of(&logic.effects, event));
                events().map(of).collect()
            }
        };
        let only_slot = |roles: &Vec<Role>| match roles.as_slice() {
            [role] => role.slots.first().copied().flatten(),
            _ => None,
        };
        Plan {
            only_slots: roles.iter().map(only_slot).collect(),
            whole_slots: roles.iter().map(|roles| whole_slots(roles)).collect(),
            declared: events().map(|e| property.declared_captures(e)).collect(),
            roles,
            constraint,
            property,
        }
    }

    /// Returns the roles of an event.
    pub(crate) fn roles(&self, event: EventId) -> &[Role] {
        let roles = self.roles.get(usize::from(event.0));
        roles.map_or(&[], |roles| roles)
    }

    /// Returns the slot that binds the only parameter, if the event has one role.
    #[inline]
    pub(crate) fn only_slot(&self, event: EventId) -> Option<u8> {
        let slot = self.only_slots.get(usize::from(event.0));
        slot.copied().flatten()
    }

    /// Returns the slots that bind all parameters, if the event has one role, which
    /// binds all.
    #[inline]
    pub(crate) fn whole_slots(&self, event: EventId) -> Option<&[u8]> {
        self.whole_slots.get(usize::from(event.0))?.as_deref()
    }

    /// Returns the distinct sets of parameters that events can bind, in one of their
    /// roles or in several that one instance can have.
    pub(crate) fn masks(&self) -> Vec<u32> {
        let mut masks: Vec<u32> = Vec::new();
        for roles in &self.roles {
            masks.extend(match roles.len() {
                0..=COMBINED_MAX => self.combined_masks(roles),
                _ => closed_masks(roles),
            });
        }
        masks.sort_unstable();
        masks.dedup();
        masks
    }

    fn combined_masks(&self, roles: &[Role]) -> Vec<u32> {
        // Sets of roles, as bits, with the parameters that they bind.
        let mut sets: Vec<(u32, u32)> = Vec::new();
        for (number, role) in roles.iter().enumerate() {
            let excluded = (0..)
                .zip(roles)
                .filter(|(_, other)| self.excludes(other, role));
            let excluded = excluded.fold(0_u32, |excluded, (other, _)| excluded | 1 << other);
            let possible = sets.iter().filter(|(set, _)| set & excluded == 0);
            let joined = possible.map(|(set, mask)| (set | 1 << number, mask | role.mask));
            let joined: Vec<(u32, u32)> = joined.collect();
            sets.extend(joined);
            sets.push((1 << number, role.mask));
        }
        sets.into_iter().map(|(_, mask)| mask).collect()
    }

    /// Returns the number of parameters of the property.
    pub(crate) fn parameters(&self) -> usize {
        self.property.slice.len()
    }

    /// Returns true if no instance can have both roles: they assign one capture to two
    /// parameters that the constraint requires to differ.
    pub(crate) fn excludes(&self, one: &Role, other: &Role) -> bool {
        self.constraint.differing().any(|(a, b)| {
            let slot = |role: &Role, parameter: usize| role.slots.get(parameter).copied().flatten();
            let same = |x: Option<u8>, y: Option<u8>| x.is_some() && x == y;
            same(slot(one, a), slot(other, b)) || same(slot(one, b), slot(other, a))
        })
    }
}

impl Role {
    fn new(slots: Vec<Option<u8>>, effects: u64) -> Role {
        let bound = (0..32_u32).zip(&slots).filter(|(_, slot)| slot.is_some());
        let mask = bound.fold(0, |mask, (parameter, _)| mask | 1 << parameter);
        Role {
            slots,
            mask,
            effects,
        }
    }
}

fn whole_slots(roles: &[Role]) -> Option<Box<[u8]>> {
    match roles {
        [role] => role.slots.iter().copied().collect(),
        _ => None,
    }
}

/// Returns the unions of the parameters of roles, whether or not an instance can have
/// them all.
fn closed_masks(roles: &[Role]) -> Vec<u32> {
    let mut masks: Vec<u32> = Vec::new();
    for role in roles {
        let unions: Vec<u32> = masks.iter().map(|mask| mask | role.mask).collect();
        masks.extend(unions);
        masks.push(role.mask);
        masks.sort_unstable();
        masks.dedup();
    }
    masks
}

/// Iterates over the effects of an event, in order.
pub(crate) fn effects_of(effects: &[Effect], event: EventId) -> impl Iterator<Item = &Effect> {
    effects.iter().filter(move |effect| effect.event == event)
}

fn roles_of<'a>(effects: impl Iterator<Item = &'a Effect>) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::new();
    for (number, effect) in (0..64_u32).zip(effects) {
        match roles.iter_mut().find(|role| role.slots == effect.binding) {
            Some(role) => role.effects |= 1 << number,
            None => roles.push(Role::new(effect.binding.clone(), 1 << number)),
        }
    }
    roles
}
