//! What an event costs in a monitor, and what an instance takes.
//!
//! ```text
//! cargo bench -p juror-testing --bench monitors [-- --quick]
//! ```
//!
//! Events are numbers in memory; nothing is traced. The peer is what a program
//! would do by hand: a hash map from the parameters to a byte, looked up and
//! written at each event, in the same run and over the same objects. All rows
//! of a table take turns, several rounds, so that a busy machine is busy for
//! all of them; the figures are those of the best round.
//!
//! The property: nobody reads what is closed. Each object is opened, read and
//! closed in turns, in an order that jumps over all objects.

use juror_event::EventId;
use juror_language::{
    Behaviour, BinaryOperator, Demand, Effect, EffectAction, Logic, Property, Proposition, Term,
    TermKind, load,
};
use juror_logic::Formula;
use juror_monitor::Monitor;
use rustc_hash::FxHashMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// How much is measured.
struct Effort {
    rounds: usize,
    events: u64,
    objects_max: u64,
}

const FULL: Effort = Effort {
    rounds: 5,
    events: 4_000_000,
    objects_max: 1_000_000,
};

const QUICK: Effort = Effort {
    rounds: 1,
    events: 50_000,
    objects_max: 1_000,
};

fn main() -> ExitCode {
    let has = |wanted| std::env::args().any(|argument| argument == wanted);
    let quick = has("--quick");
    if !quick && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    let effort = if quick { QUICK } else { FULL };
    let measured = by_objects(&effort)
        .and_then(|()| by_parameters(&effort))
        .and_then(|()| by_formula(&effort))
        .and_then(|()| lock_order(&effort));
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("monitors: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Something that takes events, numbered from 0.
trait Runner {
    /// Takes this event; an error fails the benchmark.
    fn take(&mut self, number: u64) -> Result<(), String>;
    /// Bytes for each object, where that is known.
    fn bytes(&self) -> Option<f64>;
}

/// Jumps over all objects.
fn object(number: u64, objects: u64) -> u64 {
    // An odd factor, and the high bits of the product: a fixed permutation of
    // sorts, far from the order of creation.
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    mixed % objects
}

/// The address of an object.
fn address(object: u64) -> u64 {
    0x5555_5550_0000 + object * 48
}

/// The events of one object follow each other: close, open, read, close ….
struct Turn {
    objects: u64,
}

impl Turn {
    /// The object and what happens to it: 0 open, 1 read, 2 close.
    fn at(&self, number: u64) -> (u64, u16) {
        // Three events for each object before the next, whatever the order.
        (object(number / 3, self.objects), (number % 3) as u16)
    }
}

/// The peer: a hash map.
struct ByHand<K> {
    states: FxHashMap<K, u8>,
    turn: Turn,
    key: fn(u64) -> K,
}

impl<K: std::hash::Hash + Eq> ByHand<K> {
    fn new(objects: u64, key: fn(u64) -> K) -> ByHand<K> {
        let mut states = FxHashMap::default();
        for object in 0..objects {
            states.insert(key(object), 0);
        }
        ByHand {
            states,
            turn: Turn { objects },
            key,
        }
    }
}

impl<K: std::hash::Hash + Eq> Runner for ByHand<K> {
    #[inline]
    fn take(&mut self, number: u64) -> Result<(), String> {
        const NEXT: [[u8; 3]; 3] = [[0, 0, 1], [0, 2, 1], [2, 2, 2]];
        let (object, event) = self.turn.at(number);
        let state = self.states.entry((self.key)(object)).or_insert(0);
        *state = NEXT[usize::from(*state)][usize::from(event)];
        Ok(())
    }

    fn bytes(&self) -> Option<f64> {
        None
    }
}

/// A monitor whose events carry these parameters.
struct Watched {
    monitor: Monitor,
    turn: Turn,
    parameters: fn(u64) -> [u64; 3],
    count: usize,
}

impl Watched {
    fn new(
        property: Property,
        objects: u64,
        parameters: fn(u64) -> [u64; 3],
    ) -> Result<Watched, String> {
        let count = property.slice.len();
        let monitor = Monitor::with_history(Arc::new(property), 0).map_err(|e| e.to_string())?;
        let mut watched = Watched {
            monitor,
            turn: Turn { objects },
            parameters,
            count,
        };
        for object in 0..objects {
            // Closed: each object has an instance of its own.
            watched.give(2, object)?;
        }
        Ok(watched)
    }

    #[inline]
    fn give(&mut self, event: u16, object: u64) -> Result<(), String> {
        let parameters = (self.parameters)(object);
        let captures = parameters.get(..self.count).unwrap_or(&[]);
        let taken = self.monitor.step_words(EventId(event), captures);
        taken.map(|_| ()).map_err(|error| error.to_string())
    }
}

impl Runner for Watched {
    #[inline]
    fn take(&mut self, number: u64) -> Result<(), String> {
        let (object, event) = self.turn.at(number);
        self.give(event, object)
    }

    fn bytes(&self) -> Option<f64> {
        let slices = self.monitor.slice_count();
        (slices > 100).then(|| self.monitor.bytes() as f64 / slices as f64)
    }
}

/// Millions of events per second, the best of all rounds. The runners take
/// turns.
fn measure<const N: usize>(
    effort: &Effort,
    runners: &mut [&mut dyn Measured; N],
) -> Result<[f64; N], String> {
    let mut best = [0.0_f64; N];
    for round in 0..effort.rounds as u64 {
        for (runner, best) in runners.iter_mut().zip(&mut best) {
            let first = round * effort.events;
            let rate = runner.rate(first, effort.events)?;
            *best = best.max(rate);
        }
    }
    Ok(best)
}

/// A runner whose loop is compiled with it.
trait Measured {
    fn rate(&mut self, first: u64, events: u64) -> Result<f64, String>;
    fn bytes_each(&self) -> Option<f64>;
}

impl<R: Runner> Measured for R {
    fn rate(&mut self, first: u64, events: u64) -> Result<f64, String> {
        let start = Instant::now();
        for number in first..first + events {
            self.take(number)?;
        }
        Ok(events as f64 / start.elapsed().as_secs_f64() / 1e6)
    }

    fn bytes_each(&self) -> Option<f64> {
        self.bytes()
    }
}

fn one(object: u64) -> [u64; 3] {
    [address(object), 0, 0]
}

fn three(object: u64) -> [u64; 3] {
    [object / 100, address(object), object % 7]
}

fn automaton(parameters: &[&str]) -> Result<Property, String> {
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

/// The same as a formula, and in longer ones.
fn formula(parameters: &[&str], formula: Formula) -> Result<Property, String> {
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

fn propositions(names: &[&str], persistent: bool) -> Vec<Proposition> {
    let of = |name: &&str| Proposition {
        name: (*name).into(),
        persistent,
        span: 0..0,
    };
    names.iter().map(of).collect()
}

/// `always (close implies next (not read weak until open))`, so often.
fn nobody_reads(times: usize) -> Formula {
    let [open, read, close] = [0, 1, 2].map(Formula::proposition);
    let after = || read.clone().negation().weak_until(open.clone()).next();
    let once = close.clone().implies(after()).always();
    // The parts differ, so that none of them is dropped as a copy.
    let mut whole = once;
    for part in 1..times {
        let ahead = (0..part).fold(after(), |inner, _| inner.next());
        whole = whole.and(close.clone().implies(ahead.eventually()).always());
    }
    whole
}

fn heading(title: &str) {
    println!("\n{title}");
    println!(
        "{:>10}  {:26} {:>10} {:>10} {:>12}",
        "instances", "evaluated", "M events/s", "of by hand", "bytes each"
    );
}

fn row(objects: u64, name: &str, rate: f64, by_hand: f64, bytes: Option<f64>) {
    let bytes = bytes.map_or_else(String::new, |bytes| format!("{bytes:.1}"));
    let ratio = rate / by_hand;
    println!("{objects:10}  {name:26} {rate:10.1} {ratio:10.2} {bytes:>12}");
}

fn by_objects(effort: &Effort) -> Result<(), String> {
    heading("No parameter, then one: by the number of instances");
    let mut nothing = ByHand::new(1, |_| 0_u64);
    let mut alone = Watched::new(automaton(&[])?, 1, one)?;
    let mut alone_formula = Watched::new(formula(&[], nobody_reads(1))?, 1, one)?;
    let rates = measure(effort, &mut [&mut nothing, &mut alone, &mut alone_formula])?;
    let [by_hand, automaton_rate, formula_rate] = rates;
    row(1, "by hand", by_hand, by_hand, None);
    row(1, "automaton, no parameter", automaton_rate, by_hand, None);
    row(1, "formula, no parameter", formula_rate, by_hand, None);
    for objects in [1, 1_000, 100_000, 1_000_000] {
        if objects > effort.objects_max {
            continue;
        }
        let mut by_hand = ByHand::new(objects, address);
        let mut states = Watched::new(automaton(&["f"])?, objects, one)?;
        let mut logic = Watched::new(formula(&["f"], nobody_reads(1))?, objects, one)?;
        let rates = measure(effort, &mut [&mut by_hand, &mut states, &mut logic])?;
        row(objects, "by hand", rates[0], rates[0], None);
        row(
            objects,
            "automaton",
            rates[1],
            rates[0],
            states.bytes_each(),
        );
        row(objects, "formula", rates[2], rates[0], logic.bytes_each());
    }
    Ok(())
}

fn by_parameters(effort: &Effort) -> Result<(), String> {
    heading("Three parameters; two, whose bindings end and begin");
    for objects in [1_000, 100_000, 1_000_000] {
        if objects > effort.objects_max {
            continue;
        }
        let mut by_hand = ByHand::new(objects, three);
        let mut states = Watched::new(automaton(&["a", "b", "c"])?, objects, three)?;
        let mut logic = Watched::new(formula(&["a", "b", "c"], nobody_reads(1))?, objects, three)?;
        let mut iterators = Iterators::new(objects)?;
        let rates = measure(
            effort,
            &mut [&mut by_hand, &mut states, &mut logic, &mut iterators],
        )?;
        row(objects, "by hand, three", rates[0], rates[0], None);
        row(
            objects,
            "automaton, three",
            rates[1],
            rates[0],
            states.bytes_each(),
        );
        row(
            objects,
            "formula, three",
            rates[2],
            rates[0],
            logic.bytes_each(),
        );
        row(
            objects,
            "iterators, two",
            rates[3],
            rates[0],
            iterators.bytes_each(),
        );
    }
    Ok(())
}

/// No iterator is used after its collection has changed: two parameters, and
/// bindings that end. Each iterator is used twice and ends, and another begins
/// at another address; the collection changes now and then.
struct Iterators {
    monitor: Monitor,
    objects: u64,
    /// The generation of the iterator in each place.
    generations: Vec<u32>,
}

impl Iterators {
    fn new(objects: u64) -> Result<Iterators, String> {
        let source = "property iterators slice on c, i
             event make = before m(c, i)
             event update = before u(c)
             event next = before n(i)
             event gone = before d(c, i)
             state none { on make -> fresh }
             state fresh { on update -> stale on gone -> dead }
             state stale { on next -> bad on gone -> dead }
             state bad non-accepting { on gone -> dead_bad }
             state dead final
             state dead_bad non-accepting final";
        let (mut properties, diagnostics) = load(source);
        let property = properties.pop().ok_or_else(|| format!("{diagnostics:?}"))?;
        let monitor = Monitor::with_history(Arc::new(property), 0).map_err(|e| e.to_string())?;
        let mut iterators = Iterators {
            monitor,
            objects,
            generations: vec![0; objects as usize],
        };
        for object in 0..objects {
            iterators.give(0, &[object / 10, iterators.iterator(object)])?;
        }
        Ok(iterators)
    }

    fn iterator(&self, object: u64) -> u64 {
        let generation = self.generations.get(object as usize).copied().unwrap_or(0);
        address(object) + (u64::from(generation) << 44)
    }

    fn give(&mut self, event: u16, captures: &[u64]) -> Result<(), String> {
        let taken = self.monitor.step_words(EventId(event), captures);
        taken.map(|_| ()).map_err(|error| error.to_string())
    }
}

impl Runner for Iterators {
    fn take(&mut self, number: u64) -> Result<(), String> {
        let object = object(number / 4, self.objects);
        let collection = object / 10;
        match number % 4 {
            0 | 1 => self.give(2, &[self.iterator(object)]),
            2 => self.give(3, &[collection, self.iterator(object)]),
            _ => {
                if let Some(generation) = self.generations.get_mut(object as usize) {
                    *generation += 1;
                }
                self.give(0, &[collection, self.iterator(object)])
            }
        }
    }

    fn bytes(&self) -> Option<f64> {
        let slices = self.monitor.slice_count();
        (slices > 100).then(|| self.monitor.bytes() as f64 / slices as f64)
    }
}

fn by_formula(effort: &Effort) -> Result<(), String> {
    let objects = effort.objects_max.min(1_000);
    heading("One parameter: by the size of the formula");
    let mut by_hand = ByHand::new(objects, address);
    let mut small = Watched::new(formula(&["f"], nobody_reads(1))?, objects, one)?;
    let mut middle = Watched::new(formula(&["f"], nobody_reads(3))?, objects, one)?;
    let mut large = Watched::new(formula(&["f"], nobody_reads(5))?, objects, one)?;
    let rates = measure(
        effort,
        &mut [&mut by_hand, &mut small, &mut middle, &mut large],
    )?;
    row(objects, "by hand", rates[0], rates[0], None);
    row(objects, "one part", rates[1], rates[0], small.bytes_each());
    row(
        objects,
        "three parts",
        rates[2],
        rates[0],
        middle.bytes_each(),
    );
    row(
        objects,
        "five parts",
        rates[3],
        rates[0],
        large.bytes_each(),
    );
    Ok(())
}

/// Ten threads take pairs of ten locks in order: the template of four
/// parameters.
struct Locks {
    monitor: Monitor,
}

impl Runner for Locks {
    fn take(&mut self, number: u64) -> Result<(), String> {
        let turn = object(number / 4, 450);
        let (thread, pair) = (turn % 10, turn / 10);
        // The pair of this number, the lower lock first.
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

    fn bytes(&self) -> Option<f64> {
        let slices = self.monitor.slice_count();
        Some(self.monitor.bytes() as f64 / slices.max(1) as f64)
    }
}

fn lock_order(effort: &Effort) -> Result<(), String> {
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
        "{rate:.2} M events/s; at most {} instances at once, of 8 100 tuples that fit; {:.0} bytes each",
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
