//! Why a property, or one of its events, is not native.

use super::BITS_MAX;
use super::states::GUARDS_MAX;
use crate::behaviour::Behaviour;
use crate::lowering::{EventWords, NotNative, Place, WordCapture, WordKind};
use crate::plan::Plan;
use juror_event::EventId;
use juror_language::Kind;

/// The maximum number of parameters.
const PARAMETERS_MAX: usize = 16;

pub(super) fn of_property(plan: &Plan, why: &str) -> NotNative {
    NotNative {
        place: Place::Property,
        span: plan.property.span.clone(),
        why: why.into(),
    }
}

pub(super) fn of_event(plan: &Plan, event: EventId, why: &str) -> NotNative {
    let event = plan.property.event(event);
    NotNative {
        place: event.map_or(Place::Property, |it| Place::Event(it.name.clone())),
        span: event.map_or(0..0, |it| it.span.clone()),
        why: why.into(),
    }
}

/// Checks what all events share.
pub(super) fn check_property(plan: &Plan, behaviour: &Behaviour) -> Result<(), NotNative> {
    let property = &plan.property;
    match behaviour {
        Behaviour::Timed(_) => return Err(of_property(plan, "has a bound in time")),
        Behaviour::Logic(states) if !states.is_whole() => {
            return Err(of_property(plan, "has a formula without a finite table"));
        }
        Behaviour::Logic(_) | Behaviour::Automaton(_) => {}
    }
    if plan.parameters() > PARAMETERS_MAX || property.variables.len() > BITS_MAX {
        let why = "has more than 16 parameters or 64 variables";
        return Err(of_property(plan, why));
    }
    if matches!(behaviour, Behaviour::Automaton(_)) {
        check_variables(plan)?;
    }
    if let Behaviour::Logic(states) = behaviour {
        for event in (0..property.events.len()).map(|it| EventId(it as u16)) {
            if states.effects.guards(event).count() > GUARDS_MAX {
                return Err(of_event(plan, event, "has more than 4 guards"));
            }
        }
    }
    for event in (0..property.events.len()).map(|it| EventId(it as u16)) {
        let roles = plan.roles(event);
        if roles.len() > 1 {
            let why = "concerns an instance in several roles";
            return Err(of_event(plan, event, why));
        }
        let is_whole = plan.whole_slots(event).is_some();
        if roles.iter().any(|role| role.mask != 0) && !is_whole {
            let why = "binds some of the parameters, and not all";
            return Err(of_event(plan, event, why));
        }
    }
    Ok(())
}

/// Checks that variables hold scalars.
fn check_variables(plan: &Plan) -> Result<(), NotNative> {
    for variable in &plan.property.variables {
        let why = match Kind::of(&variable.initial) {
            Kind::Integer | Kind::Address | Kind::Boolean => continue,
            Kind::Float => "holds a fraction",
            Kind::String => "holds text",
            Kind::Set | Kind::Map | Kind::Sequence => "holds a collection",
            Kind::Unknown => "holds values of several kinds",
        };
        return Err(NotNative {
            place: Place::Variable(variable.name.clone()),
            span: variable.span.clone(),
            why: why.into(),
        });
    }
    Ok(())
}

/// Returns the captures of an event, by slot, if it can be lowered.
pub(super) fn check_event(
    plan: &Plan,
    event: EventId,
    words: Option<&Result<EventWords, NotNative>>,
) -> Result<Vec<Option<WordCapture>>, NotNative> {
    let captures = match words {
        Some(Ok(words)) => words.captures.clone(),
        Some(Err(why)) => return Err(why.clone()),
        None => return Err(of_event(plan, event, "has no values in machine words")),
    };
    let declared = plan.property.event(event).map_or(0, |it| it.captures.len());
    if declared != captures.len() || declared > BITS_MAX {
        return Err(of_event(plan, event, "has other values, or more than 64"));
    }
    if plan.parameters() > 0 && plan.roles(event).iter().any(|role| role.mask == 0) {
        return Err(of_event(plan, event, "concerns every slice"));
    }
    for slot in plan.whole_slots(event).unwrap_or(&[]) {
        let capture = captures.get(usize::from(*slot)).and_then(Option::as_ref);
        let Some(capture) = capture else {
            return Err(of_event(plan, event, "binds a value that is not captured"));
        };
        if capture.kind == WordKind::Boolean {
            return Err(of_event(plan, event, "binds a truth value"));
        }
    }
    Ok(captures)
}
