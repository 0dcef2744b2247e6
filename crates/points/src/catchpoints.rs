//! `catch`: points at events of the kernel, of the dynamic linker and of the C++ runtime.
//!
//! Catchpoints share the numbers of breakpoints.
//!
//! **Invariant**: the debuggee reports exactly what the enabled catchpoints need
//! ([`Catchpoints::apply`]), since every other system call or signal would cost a stop for nothing.

use crate::point::{Answer, Fate, Point, PointKind, Stopping, passage};
use crate::signal_names::SIGNAL_MAX;
use juror_debuggee::{Debuggee, Owner, SignalPolicy, SignalReport, SystemCalls};
use juror_instrument::condition::Condition;
use juror_program::locations;
use juror_program::program::Program;
use juror_view::{PointLocation, PointView};
use regex::Regex;
use std::collections::BTreeSet;

/// The event of a catchpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Catch {
    /// Entry into and exit from system calls.
    SystemCalls(SystemCalls),
    /// Signals, by number.
    Signals(BTreeSet<i32>),
    /// A process created by `fork` or `clone`.
    Fork,
    /// A process created by `vfork` or `posix_spawn`.
    Vfork,
    /// An exec: another program in this process.
    Exec,
    /// The loading of a library; with a text, only if its path contains it.
    Load(Option<String>),
    /// The unloading of a library; with a text, only if its path contains it.
    Unload(Option<String>),
    /// A C++ exception, or a panic of Rust.
    Exception(Exception),
}

/// An event of a C++ exception, or of a panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exception {
    /// It is thrown.
    Throw,
    /// A handler rethrows it.
    Rethrow,
    /// A handler begins.
    Catch,
    /// A panic of Rust begins to unwind, or to abort. Its message has been written.
    Panic,
}

impl Exception {
    /// Returns the names of the function of the C++ runtime (Itanium ABI, *Exception Handling*) or
    /// of Rust's library that implements it.
    pub(crate) fn functions(self) -> &'static [&'static str] {
        match self {
            Exception::Throw => &["__cxa_throw"],
            Exception::Rethrow => &["__cxa_rethrow"],
            Exception::Catch => &["__cxa_begin_catch"],
            // The second since Rust 1.86.
            Exception::Panic => &["rust_panic", "__rustc::rust_panic"],
        }
    }
}

/// One catchpoint.
#[derive(Debug)]
pub struct Catchpoint {
    /// The state that all points have.
    pub point: Point,
    /// The argument of `catch`, as typed.
    pub text: String,
    /// The event.
    pub catch: Catch,
    /// The types of exceptions that are meant; all if there is none.
    pub types: Option<Regex>,
    /// The addresses of the C++ runtime's functions for it.
    pub addresses: Vec<u64>,
}

/// The number of the catchpoint that is there from the start.
pub const INITIAL: u32 = 0;

impl Catchpoint {
    /// Returns the catchpoint that stops at panics from the start. It is not shown for a program
    /// without the library of Rust.
    pub fn of_panics() -> Catchpoint {
        Catchpoint {
            point: Point::new(INITIAL, None, Fate::Keep),
            text: "panic".to_owned(),
            catch: Catch::Exception(Exception::Panic),
            types: None,
            addresses: Vec::new(),
        }
    }

    /// Returns whether an exception of a type is meant. One whose type is not known is meant by all.
    pub fn means_type(&self, name: Option<&str>) -> bool {
        let types = self.types.as_ref().zip(name);
        types.is_none_or(|(types, name)| types.is_match(name))
    }

    fn locations(&self, program: &Program) -> Vec<PointLocation> {
        let location = |(&address, number): (&u64, u32)| PointLocation {
            place: locations::location(program, address),
            number,
            enabled: true,
            hits: self.point.hits,
            passage: passage(program, address),
        };
        self.addresses.iter().zip(1..).map(location).collect()
    }
}

/// All catchpoints.
#[derive(Debug, Default)]
pub struct Catchpoints {
    list: Vec<Catchpoint>,
}

/// The addresses of catchpoints in a process that is not current, by number.
pub type CaughtPlaces = Vec<(u32, Vec<u64>)>;

impl Catchpoints {
    /// Iterates over all, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Catchpoint> {
        self.list.iter()
    }

    /// Adds a catchpoint after the others.
    pub fn add(&mut self, catchpoint: Catchpoint) {
        self.list.push(catchpoint);
    }

    /// Iterates over all, in the order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Catchpoint> {
        self.list.iter_mut()
    }

    /// Deletes catchpoints by number.
    pub fn delete(&mut self, program: Option<&mut Program>, numbers: &[u32]) {
        let is_meant = |it: &Catchpoint| numbers.contains(&it.point.number);
        if let Some(program) = program {
            for gone in self.list.iter_mut().filter(|it| is_meant(it)) {
                gone.unplant(program);
            }
        }
        self.list.retain(|it| !is_meant(it));
    }

    /// Returns the views for `info breakpoints`.
    pub fn views(&self, program: Option<&Program>) -> Vec<PointView> {
        let view = |it: &Catchpoint| PointView {
            locations: program.map_or_else(Vec::new, |program| it.locations(program)),
            ..it.point
                .view(PointKind::Catchpoint, &format!("catch {}", it.text))
        };
        let is_shown = |it: &&Catchpoint| it.point.number != INITIAL || !it.addresses.is_empty();
        self.list.iter().filter(is_shown).map(view).collect()
    }

    /// Inserts points at the functions of the C++ runtime in the loaded modules.
    pub fn bind(&mut self, program: &mut Program) {
        for it in &mut self.list {
            let wanted = it.wanted_addresses(program);
            for &address in wanted.iter().filter(|at| !it.addresses.contains(at)) {
                // An address that cannot be written to is shown without a location.
                let _ = program.insert(address, Owner::Developer);
            }
            for &address in it.addresses.iter().filter(|at| !wanted.contains(at)) {
                let _ = program.debuggee.remove(address, Owner::Developer);
            }
            it.addresses = wanted;
        }
    }

    /// Returns the addresses for a forked copy of the current process.
    pub fn places_of_fork(&self) -> CaughtPlaces {
        let planted = self.list.iter().filter(|it| !it.addresses.is_empty());
        planted
            .map(|it| (it.point.number, it.addresses.clone()))
            .collect()
    }

    /// Makes another process current: `program`, with its addresses.
    pub fn exchange(&mut self, places: &mut CaughtPlaces, program: &mut Program) {
        let before = std::mem::take(places);
        for it in self.list.iter_mut().filter(|it| !it.addresses.is_empty()) {
            places.push((it.point.number, std::mem::take(&mut it.addresses)));
        }
        for (number, addresses) in before {
            if let Some(it) = self.list.iter_mut().find(|it| it.point.number == number) {
                it.addresses = addresses;
                continue;
            }
            // It has been deleted meanwhile.
            for address in addresses {
                let _ = program.debuggee.remove(address, Owner::Developer);
            }
        }
    }

    /// Forgets the addresses: the process has ended or runs another program.
    pub fn forget_locations(&mut self) {
        for it in &mut self.list {
            it.addresses.clear();
        }
    }

    /// Sets the events that the debuggee reports, besides those of `handle`.
    pub fn apply(&self, debuggee: &mut Debuggee) {
        debuggee.catch_system_calls(self.system_calls());
        let is_fork = |catch: &Catch| matches!(catch, Catch::Fork | Catch::Vfork);
        debuggee.catch_forks(self.enabled().any(|it| is_fork(&it.catch)));
        for signal in 1..=SIGNAL_MAX {
            if self.catches_signal(signal) {
                let signal_policy = SignalPolicy {
                    report: SignalReport::Always,
                    ..debuggee.signal_policy(signal)
                };
                debuggee.set_signal_policy(signal, signal_policy);
            }
        }
    }

    fn enabled(&self) -> impl Iterator<Item = &Catchpoint> {
        self.list.iter().filter(|it| it.point.enabled)
    }

    /// Returns the system calls that are caught.
    pub fn system_calls(&self) -> SystemCalls {
        let mut numbers = BTreeSet::new();
        for it in self.enabled() {
            match &it.catch {
                Catch::SystemCalls(SystemCalls::All) => return SystemCalls::All,
                Catch::SystemCalls(SystemCalls::Only(some)) => numbers.extend(some),
                _ => {}
            }
        }
        if numbers.is_empty() {
            SystemCalls::None
        } else {
            SystemCalls::Only(numbers)
        }
    }

    fn catches_signal(&self, signal: i32) -> bool {
        let catches = |it: &Catchpoint| matches!(&it.catch, Catch::Signals(numbers) if numbers.contains(&signal));
        self.enabled().any(catches)
    }

    /// Counts a hit of all enabled catchpoints for an event whose conditions hold, which `ask`
    /// evaluates; `None` if none stops the program.
    pub fn hit(
        &mut self,
        is_meant: impl Fn(&Catchpoint) -> bool,
        ask: impl Fn(&Condition) -> Answer,
    ) -> Option<Stopping> {
        let mut stopping = None;
        for it in self.list.iter_mut().filter(|it| it.point.enabled) {
            if is_meant(it) {
                let answer = it.point.condition.as_ref().map_or(Ok(true), &ask);
                it.point.take_hit(answer, &mut stopping);
            }
        }
        stopping
    }
}

impl Catchpoint {
    fn wanted_addresses(&self, program: &Program) -> Vec<u64> {
        let Catch::Exception(exception) = self.catch else {
            return Vec::new();
        };
        if !self.point.enabled {
            return Vec::new();
        }
        let names = exception.functions().iter();
        // The names of all libraries are not read for what nobody has asked for.
        let is_asked = self.point.number != INITIAL;
        let found = names.flat_map(|name| {
            let modules = &program.modules;
            modules.definitions(name, |module| is_asked || module.is_main)
        });
        let entry = |bound: juror_program::modules::Bound| bound.address();
        let mut addresses: Vec<u64> = found.map(entry).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    fn unplant(&mut self, program: &mut Program) {
        for address in self.addresses.drain(..) {
            let _ = program.debuggee.remove(address, Owner::Developer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system_call_names::{system_call_name, system_call_number};

    fn catchpoint(number: u32, catch: Catch) -> Catchpoint {
        Catchpoint {
            point: Point::new(number, None, Fate::Keep),
            text: String::new(),
            catch,
            types: None,
            addresses: Vec::new(),
        }
    }

    #[test]
    fn system_calls_have_names_and_numbers() {
        assert_eq!(system_call_number("openat"), Some(257));
        assert_eq!(system_call_number("257"), Some(257));
        assert_eq!(system_call_number("frobnicate"), None);
        assert_eq!(system_call_name(257), "openat");
        assert_eq!(system_call_name(1 << 40), (1_u64 << 40).to_string());
    }

    #[test]
    fn the_debuggee_is_asked_for_what_enabled_catchpoints_need() {
        let only = |numbers: &[u64]| SystemCalls::Only(numbers.iter().copied().collect());
        let mut all = Catchpoints::default();
        assert_eq!(all.system_calls(), SystemCalls::None);
        all.add(catchpoint(1, Catch::SystemCalls(only(&[1, 2]))));
        all.add(catchpoint(2, Catch::SystemCalls(only(&[2, 3]))));
        assert_eq!(all.system_calls(), only(&[1, 2, 3]));
        all.list[1].point.enabled = false;
        assert_eq!(all.system_calls(), only(&[1, 2]));
        all.add(catchpoint(3, Catch::SystemCalls(SystemCalls::All)));
        assert_eq!(all.system_calls(), SystemCalls::All);
        all.delete(None, &[1, 3]);
        assert_eq!(all.system_calls(), SystemCalls::None);
    }

    #[test]
    fn hits_are_counted_and_temporary_ones_go() {
        let mut all = Catchpoints::default();
        all.add(catchpoint(4, Catch::Fork));
        all.add(catchpoint(5, Catch::Fork));
        all.list[1].point.fate = Fate::Delete;
        let mut hit = || {
            let stopping = all.hit(|it| it.catch == Catch::Fork, |_| Ok(true));
            let stopping = stopping.map(|it| (it.numbers.to_vec(), it.spent.to_vec()));
            let (_, spent) = stopping.clone().unwrap_or_default();
            all.delete(None, &spent);
            stopping
        };
        assert_eq!(hit(), Some((vec![4, 5], vec![5])));
        assert_eq!(hit(), Some((vec![4], vec![])));
        assert_eq!(all.iter().map(|it| it.point.hits).collect::<Vec<_>>(), [2]);
        all.list[0].point.enabled = false;
        assert!(all.hit(|_| true, |_| Ok(true)).is_none());
    }

    #[test]
    fn a_signal_is_caught_by_an_enabled_catchpoint_of_it() {
        let mut all = Catchpoints::default();
        all.add(catchpoint(1, Catch::Signals([10, 12].into())));
        assert_eq!(
            [10, 11, 12].map(|it| all.catches_signal(it)),
            [true, false, true]
        );
        all.list[0].point.enabled = false;
        assert!(!all.catches_signal(10));
    }

    #[test]
    fn the_catchpoint_of_panics_is_shown_once_it_has_a_place() {
        let mut all = Catchpoints::default();
        all.add(Catchpoint::of_panics());
        all.add(catchpoint(1, Catch::Exec));
        let numbers = |all: &Catchpoints| {
            let views = all.views(None).into_iter();
            views.filter_map(|it| it.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&all), [1]);
        all.list[0].addresses.push(0x1000);
        assert_eq!(numbers(&all), [INITIAL, 1]);
        assert_eq!(all.places_of_fork(), [(INITIAL, vec![0x1000])]);
        all.forget_locations();
        assert_eq!(numbers(&all), [1]);
    }
}
