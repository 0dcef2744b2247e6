//! Lowering: a property as operations.

mod assembler;
mod checks;
mod events;
mod guarded;
mod image;
mod states;
mod tail;
mod terms;

use self::checks::{check_event, check_property};
pub(super) use self::image::{SLOTS_FIRST, write_slots};
use self::terms::{Scalar, Scope, Variables};
use super::{EventWords, Layout, MonitorProgram, NotNative, Op, Phase, Sizes, StepProgram, Why};
use super::{WordCapture, WordKind};
use crate::behaviour::Behaviour;
use crate::logic::stays_open;
use crate::monitor::Monitor;
use crate::plan::Plan;
use juror_event::{EventId, Value};
use juror_language::StateId;
use std::sync::Arc;

/// The maximum number of operations of a step.
const OPS_MAX: usize = 8_192;
/// The maximum number of variables, of captures of an event, and of states in a mask.
pub(super) const BITS_MAX: usize = 64;

/// The choices of a lowering that the property does not determine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The number of stripes, a power of two. With one, threads wait for each other, and
    /// take no number atomically.
    pub stripes: u32,
    /// The number of journals: the maximum number of threads, plus 1 for general steps,
    /// which use the first.
    pub journals: u32,
    /// The events to whose transitions scenarios listen: bit n is event n.
    pub listening: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            stripes: 64,
            journals: 256,
            listening: 0,
        }
    }
}

/// A property with its operations.
#[derive(Debug, Clone)]
pub struct Lowered {
    pub(super) plan: Arc<Plan>,
    /// The behaviour with all its states.
    pub(super) behaviour: Behaviour,
    pub(super) program: Arc<MonitorProgram>,
    /// By event: the kinds of its captures, by slot.
    pub(super) kinds: Arc<Vec<Vec<Option<WordKind>>>>,
    /// By variable: the kind of its words.
    pub(super) variables: Arc<Vec<WordKind>>,
    /// The values of the base's variables that are no words of their kind.
    pub(super) others: Vec<Value>,
    /// The base's variables that have such values; bit n is variable n.
    pub(super) base_others: u64,
    /// The number of transitions that are remembered.
    pub(super) records: u32,
}

impl Lowered {
    /// Returns the operations.
    pub fn program(&self) -> &Arc<MonitorProgram> {
        &self.program
    }

    /// Returns true if the operations of an event make each of its captures at every
    /// occurrence.
    pub(super) fn is_complete(&self, event: EventId) -> bool {
        let kinds = self.kinds.get(usize::from(event.0));
        let captures = self.plan.property.event(event).map(|it| &it.captures);
        let is_hoisted = captures.is_some_and(|it| it.iter().any(|capture| capture.hoisted));
        !is_hoisted && kinds.is_some_and(|kinds| kinds.iter().all(Option::is_some))
    }
}

/// What all events of a lowering share.
struct Lowering<'a> {
    plan: &'a Plan,
    behaviour: &'a Behaviour,
    layout: &'a Layout,
    /// By variable.
    kinds: &'a [Scalar],
    listening: u64,
}

/// An event that binds all parameters.
struct Event<'a> {
    id: EventId,
    captures: &'a [Option<WordCapture>],
    /// The captures that are made only if a state needs them; bit n is slot n.
    hoisted: u64,
    /// By parameter: the slot of its value.
    keys: &'a [u8],
    /// The states that need the event.
    needing: Vec<u64>,
    /// By slot of a hoisted capture: the states that need it.
    needing_captures: Vec<(u32, Vec<u64>)>,
    /// The states in which guards or updates are evaluated.
    guarded: Vec<StateId>,
    /// The reasons for gates in its rows.
    gates: Vec<Why>,
}

impl Event<'_> {
    /// Returns true if each capture is made at every occurrence.
    fn is_complete(&self) -> bool {
        self.hoisted == 0 && self.captures.iter().all(Option::is_some)
    }

    fn needing_capture(&self, slot: u32) -> &[u64] {
        let mut known = self.needing_captures.iter();
        let found = known.find(|(of, _)| *of == slot);
        found.map_or(&[], |(_, states)| states)
    }
}

impl Lowering<'_> {
    /// Returns true if a step between these states causes no final verdict, and no slice
    /// ends.
    fn is_quiet(&self, from: StateId, to: StateId) -> bool {
        let (before, after) = (self.behaviour.verdict(from), self.behaviour.verdict(to));
        stays_open(before, after) && !self.behaviour.is_final(to)
    }
}

/// Lowers the property of a monitor. `events` has, for each event, its values as machine
/// words, or the reason why they are not.
///
/// # Errors
/// If no event of the property could be taken by operations.
pub fn lower(
    monitor: &Monitor,
    events: &[Result<EventWords, NotNative>],
    options: &Options,
) -> Result<Lowered, NotNative> {
    let plan = &monitor.plan;
    check_property(plan, &monitor.behaviour)?;
    let behaviour = states::explore(plan, &monitor.behaviour)?;
    let count = states::count(plan, &behaviour)?;
    let captures = plan.property.events.iter().map(|it| it.captures.len());
    let records = u32::try_from(monitor.history.capacity()).unwrap_or(u32::MAX);
    let sizes = Sizes {
        parameters: plan.parameters() as u32,
        variables: plan.property.variables.len() as u32,
        states: count,
        captures: captures.max().unwrap_or(0) as u32,
        rows: states::rows(plan, &behaviour),
        stripes: options.stripes.next_power_of_two(),
        journals: options.journals.max(1),
        records,
    };
    let layout =
        Layout::new(sizes).ok_or_else(|| checks::of_property(plan, "has too many states"))?;
    let words: Vec<Result<Vec<Option<WordCapture>>, NotNative>> = (0..)
        .map(EventId)
        .zip(&plan.property.events)
        .map(|(id, _)| check_event(plan, id, events.get(usize::from(id.0))))
        .collect();
    let kinds = variable_kinds(plan, &behaviour, &layout, &words);
    let lowering = Lowering {
        plan,
        behaviour: &behaviour,
        layout: &layout,
        kinds: &kinds,
        listening: options.listening,
    };
    let steps = (0..).map(EventId).zip(&words);
    let steps: Vec<StepProgram> = steps.map(|(id, it)| step(&lowering, id, it)).collect();
    if let Some(first) = steps.iter().find_map(|step| step.why.clone())
        && steps.iter().all(|step| step.why.is_some())
    {
        return Err(first);
    }
    let mut image = image::of(&lowering);
    let (others, base_others) = image::write_base(&lowering, &mut image);
    let of_capture = |it: &Option<WordCapture>| it.as_ref().map(|it| it.kind);
    let of_event = |it: &Result<Vec<Option<WordCapture>>, NotNative>| match it {
        Ok(captures) => captures.iter().map(of_capture).collect(),
        Err(_) => Vec::new(),
    };
    Ok(Lowered {
        kinds: Arc::new(words.iter().map(of_event).collect()),
        variables: Arc::new(kinds.iter().map(|it| it.word_kind()).collect()),
        program: Arc::new(MonitorProgram {
            steps,
            image,
            layout,
        }),
        plan: Arc::clone(plan),
        behaviour,
        others,
        base_others,
        records,
    })
}

/// Lowers one event.
fn step(
    lowering: &Lowering<'_>,
    id: EventId,
    captures: &Result<Vec<Option<WordCapture>>, NotNative>,
) -> StepProgram {
    let refused = |why: NotNative| StepProgram {
        ops: vec![Op::Gate(Why::Event)],
        why: Some(why),
        unlikely: Vec::new(),
    };
    let captures = match captures {
        Ok(captures) => captures,
        Err(why) => return refused(why.clone()),
    };
    let Some(event) = states::describe(lowering, id, captures) else {
        return refused(checks::of_event(
            lowering.plan,
            id,
            "concerns several slices",
        ));
    };
    let lowered = events::lower(lowering, &event).filter(|(ops, _)| ops.len() <= OPS_MAX);
    let program = lowered.map(|(ops, unlikely)| StepProgram {
        ops,
        why: None,
        unlikely,
    });
    // A list that breaks a rule is never given to a compiler.
    let sound = program.filter(|program| {
        let phases = program.phases();
        phases.is_some_and(|phases| phases.first() == Some(&Phase::Free))
    });
    sound.unwrap_or_else(|| {
        let why = "has guards that are no operations on words";
        refused(checks::of_event(lowering.plan, id, why))
    })
}

/// Returns the words in which the table says whether one of these states, one bit each, is
/// occupied: their offsets in bytes, and the bits of the states.
fn occupied_words(layout: &Layout, states: &[u64]) -> Vec<(u32, u64)> {
    let words = (0_u32..).zip(states.iter().copied());
    words
        .filter(|(_, mask)| *mask != 0)
        .map(|(word, mask)| (layout.bits + word * 8, mask))
        .collect()
}

/// Determines the kinds of variables: that of the initial value, but an address if an
/// address is assigned to an integer.
fn variable_kinds(
    plan: &Plan,
    behaviour: &Behaviour,
    layout: &Layout,
    words: &[Result<Vec<Option<WordCapture>>, NotNative>],
) -> Vec<Scalar> {
    let variables = plan.property.variables.iter();
    let initial = variables.map(|it| Scalar::of(&it.initial).unwrap_or(Scalar::Int));
    let mut kinds: Vec<Scalar> = initial.collect();
    let Behaviour::Automaton(automaton) = behaviour else {
        return kinds;
    };
    // Each round changes a variable, so there are not more rounds than variables.
    for _ in 0..=kinds.len() {
        let before = kinds.clone();
        for (number, captures) in (0..).zip(words) {
            let Ok(captures) = captures else { continue };
            let scope = Scope {
                layout,
                captures,
                hoisted: 0,
                variables: Variables::OfSlot(&before),
            };
            for state in (0..plan.property.states().len() as u32).map(StateId) {
                for it in automaton.alternatives(state, EventId(number)) {
                    let success = terms::flat_updates(&it.transition.success, it.success);
                    let failure = it.transition.failure.as_ref();
                    let failure =
                        failure.and_then(|branch| terms::flat_updates(branch, it.failure));
                    let updates = success.iter().chain(&failure);
                    for (slot, kind) in updates.flat_map(|it| terms::assigned_kinds(scope, it)) {
                        let known = kinds.get_mut(usize::from(slot));
                        if let Some(known @ Scalar::Int) = known
                            && kind == Scalar::Address
                        {
                            *known = kind;
                        }
                    }
                }
            }
        }
        if kinds == before {
            break;
        }
    }
    kinds
}
