//! The engine, a shell that decides nothing, upper floors that may do
//! anything, and a processor for each thread.
//!
//! The order in which things can happen is the real one: the shell carries out
//! all operations before it looks at the next stop or hears the next command,
//! one by one, while the processors go on.

use super::System;
use super::processor::{
    Counter, FOLLOW, I, J, Mode, OUTSIDE, Place, Processor, Stop, Upper, address_of, copy_of,
    thread_of,
};
use crate::engine::Rule;
use crate::{Engine, Input, Operation, Owner, Owners, Passage, ThreadId};
use std::collections::VecDeque;

/// Which instructions follow which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Either I or J.
    Apart,
    /// First I, then J.
    Adjacent,
    /// I branches to itself or falls into J.
    Itself,
}

/// The way past both sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Skip,
    Call,
    Copy,
    InPlace,
}

/// How many times each disturbance may happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub(super) halts: u8,
    pub(super) steps: u8,
    pub(super) faults: u8,
    pub(super) signals: u8,
    pub(super) ends: u8,
    /// Removals and insertions of the monitor's point at I.
    pub(super) toggles: u8,
    /// Insertions of a developer's point at I.
    pub(super) inserts: u8,
}

/// What is explored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub(super) layout: Layout,
    pub(super) way: Way,
    pub(super) budget: Budget,
    /// The threads at the start, and those that may start later.
    pub(super) threads: usize,
    pub(super) later: usize,
    /// The rule that is dropped.
    pub(super) without: Option<Rule>,
}

/// One thing that happens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// The shell carries out the next operation.
    CarryOut,
    /// The shell sees the stop of this processor's thread.
    See(usize),
    /// Upper floors speak.
    Command(Input),
    /// A processor executes what it stands at, and goes on to the place.
    Execute(usize, Place),
    /// The same, but the kernel's mark stops it before the trace trap is seen.
    ExecuteLate(usize, Place),
    /// The kernel stops a thread.
    Happen(usize, Stop),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) engine: Engine,
    pub(super) processors: Vec<Processor>,
    /// Operations not carried out yet.
    pub(super) orders: VecDeque<Operation>,
    /// Where the memory holds a trap.
    trap: [bool; 4],
    /// Who wants to be told, by what upper floors said.
    wanted: [Owners; 4],
    /// The same, from the moment at which no thread can miss it.
    armed: [Owners; 4],
    left: Budget,
}

impl Program {
    fn followers(&self, place: Place) -> &'static [Place] {
        match (place, self.layout) {
            (OUTSIDE, Layout::Apart) => &[I, J],
            (OUTSIDE, _) => &[I],
            (I, Layout::Apart) => &[FOLLOW],
            (I, Layout::Adjacent) => &[J],
            (I, Layout::Itself) => &[I, J],
            (J, _) => &[FOLLOW],
            _ => &[OUTSIDE],
        }
    }

    fn passage(&self, place: Place) -> Passage {
        let to = address_of(self.followers(place)[0]);
        match self.way {
            Way::Skip => Passage::Skip { to },
            Way::Call => Passage::Call { to, back: 0 },
            Way::Copy => Passage::Copy { at: copy_of(place) },
            Way::InPlace => Passage::InPlace,
        }
    }

    fn insert(&self, place: Place, owner: Owner) -> Input {
        Input::Insert {
            address: address_of(place),
            owner,
            passage: self.passage(place),
        }
    }

    fn commands(&self, state: &State, actions: &mut Vec<Action>) {
        let left = state.left;
        for (number, processor) in state.processors.iter().enumerate() {
            let thread = thread_of(number);
            match processor.upper {
                Upper::Has => {
                    actions.push(Action::Command(Input::Resume { thread }));
                    if left.steps > 0 {
                        actions.push(Action::Command(Input::Step { thread }));
                    }
                }
                _ if left.halts > 0
                    && !processor.halting
                    && state.engine.thread_state(thread).is_some() =>
                {
                    actions.push(Action::Command(Input::Halt { thread }));
                }
                _ => {}
            }
        }
        if left.toggles > 0 {
            let removes = state.wanted[I].contains(Owners::MONITOR);
            let remove = Input::Remove {
                address: address_of(I),
                owner: Owner::Monitor,
            };
            actions.push(Action::Command(if removes {
                remove
            } else {
                self.insert(I, Owner::Monitor)
            }));
        }
        if left.inserts > 0 {
            actions.push(Action::Command(self.insert(I, Owner::Developer)));
        }
    }

    fn happenings(&self, state: &State, number: usize, actions: &mut Vec<Action>) {
        let processor = &state.processors[number];
        let left = state.left;
        let mut happen = |stop| actions.push(Action::Happen(number, stop));
        if processor.mode == Mode::Unborn {
            let others_move = state.processors.iter().any(Processor::moves);
            return if others_move {
                happen(Stop::Start)
            };
        }
        if !processor.moves() {
            return;
        }
        if processor.interrupted {
            happen(Stop::Hold);
        }
        if left.signals > 0 && processor.interrupts.is_none() {
            happen(Stop::Signal);
        }
        if left.ends > 0 {
            happen(Stop::End);
        }
        let place = processor.counter.place();
        if processor.counter == Counter::At(place) && state.trap[place] {
            return happen(Stop::Trap);
        }
        if left.faults > 0 && matches!(place, I | J) {
            happen(Stop::Fault);
        }
        for &next in self.followers(place) {
            actions.push(Action::Execute(number, next));
            if processor.mode == Mode::Stepping && processor.interrupted {
                actions.push(Action::ExecuteLate(number, next));
            }
        }
    }
}

impl System for Program {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        let mut engine = Engine::new();
        engine.dropped = self.without;
        let mut state = State {
            engine,
            processors: Vec::new(),
            orders: VecDeque::new(),
            trap: [false; 4],
            wanted: [Owners::empty(); 4],
            armed: [Owners::empty(); 4],
            left: self.budget,
        };
        for number in 0..self.threads + self.later {
            let mode = if number < self.threads {
                Mode::Stopped
            } else {
                Mode::Unborn
            };
            state.processors.push(Processor::new(mode));
        }
        let mut start = || -> Result<(), String> {
            for number in 0..self.threads {
                let thread = thread_of(number);
                state.tell(Input::Started { thread })?;
                state.tell(Input::Resume { thread })?;
            }
            for place in [I, J] {
                state.wanted[place] = Owners::MONITOR;
                state.tell(self.insert(place, Owner::Monitor))?;
            }
            while !state.orders.is_empty() {
                state.carry_out(self)?;
            }
            Ok(())
        };
        start().expect("nothing moves yet");
        state
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.orders.is_empty() {
            let stopped = (0..state.processors.len())
                .filter(|number| state.processors[*number].stop.is_some());
            actions.extend(stopped.map(Action::See));
            self.commands(state, actions);
        } else {
            actions.push(Action::CarryOut);
        }
        for number in 0..state.processors.len() {
            self.happenings(state, number, actions);
        }
    }

    fn apply(&self, state: &State, action: Action) -> Result<State, String> {
        let mut state = state.clone();
        match action {
            Action::CarryOut => state.carry_out(self)?,
            Action::See(number) => {
                if let Some(input) = state.see(number) {
                    state.tell(input)?;
                }
            }
            Action::Command(input) => state.command(input)?,
            Action::Execute(number, next) => state.execute(number, next, false)?,
            Action::ExecuteLate(number, next) => state.execute(number, next, true)?,
            Action::Happen(number, stop) => state.happen(number, stop),
        }
        state.check()?;
        Ok(state)
    }

    fn is_goal(&self, state: &State) -> bool {
        state.orders.is_empty() && state.processors.iter().all(Processor::is_through)
    }
}

impl State {
    fn tell(&mut self, input: Input) -> Result<(), String> {
        let mut operations = Vec::new();
        self.engine.handle(input, &mut operations);
        self.orders.extend(operations);
        Ok(())
    }

    fn processor(&mut self, thread: ThreadId) -> &mut Processor {
        &mut self.processors[thread.0 as usize - 1]
    }

    /// The kernel stops a thread.
    fn happen(&mut self, number: usize, stop: Stop) {
        let processor = &mut self.processors[number];
        match stop {
            Stop::Trap => processor.counter = Counter::Behind(processor.counter.place()),
            Stop::Fault => self.left.faults -= 1,
            Stop::Signal => self.left.signals -= 1,
            Stop::End => self.left.ends -= 1,
            Stop::Start | Stop::Trace | Stop::Hold => {}
        }
        processor.stop(stop);
        if stop == Stop::End {
            processor.mode = Mode::Dead;
            processor.halting = false;
            processor.upper = Upper::Lets;
        }
    }

    fn execute(&mut self, number: usize, next: Place, late: bool) -> Result<(), String> {
        let processor = &mut self.processors[number];
        // A copy was entered with leave; the instruction itself needs it now.
        if let Counter::At(place) = processor.counter {
            let told = *processor.told_mut();
            if !told.vague {
                demand(self.armed[place], told.owners)?;
            }
        }
        processor.executed(next);
        if processor.mode == Mode::Stepping {
            processor.stop(if late { Stop::Hold } else { Stop::Trace });
            processor.traced = late;
        }
        Ok(())
    }

    /// What the shell tells the engine of a stop.
    pub(super) fn see(&mut self, number: usize) -> Option<Input> {
        let thread = thread_of(number);
        let processor = &mut self.processors[number];
        let place = processor.counter.place();
        let stop = processor.stop.take()?;
        if matches!(stop, Stop::Start | Stop::Signal | Stop::Fault) {
            processor.upper = Upper::Has;
        }
        let stack = processor.stack();
        let address = processor.counter.shown();
        Some(match stop {
            Stop::Start => Input::Started { thread },
            Stop::Trap => Input::Trapped {
                thread,
                address: address_of(place),
                stack,
            },
            Stop::Trace => Input::Stepped { thread, address },
            Stop::Hold => Input::Stopped { thread, address },
            Stop::Signal => {
                processor.signalled = true;
                Input::Interrupted { thread, address }
            }
            Stop::Fault => {
                processor.counter = Counter::At(place);
                Input::Faulted {
                    thread,
                    address,
                    stack,
                }
            }
            Stop::End => Input::Ended { thread },
        })
    }

    fn command(&mut self, input: Input) -> Result<(), String> {
        match input {
            Input::Resume { thread } => self.processor(thread).upper = Upper::Lets,
            Input::Step { thread } => {
                self.left.steps -= 1;
                self.processor(thread).upper = Upper::AwaitsStep;
            }
            Input::Halt { thread } => {
                self.left.halts -= 1;
                self.processor(thread).halting = true;
            }
            Input::Insert { address, owner, .. } => {
                let place = Counter::from_address(address).place();
                match owner {
                    Owner::Developer => self.left.inserts -= 1,
                    _ => self.left.toggles = self.left.toggles.saturating_sub(1),
                }
                self.wanted[place] |= Owners::from(owner);
            }
            Input::Remove { address, owner } => {
                let place = Counter::from_address(address).place();
                self.left.toggles -= 1;
                self.wanted[place] -= Owners::from(owner);
                self.armed[place] &= self.wanted[place];
                if self.wanted[place].is_empty() {
                    self.forget(place);
                }
            }
            _ => {}
        }
        self.tell(input)?;
        if let Input::Insert { address, .. } = input {
            let place = Counter::from_address(address).place();
            if self.trap[place] {
                self.armed[place] = self.wanted[place];
            }
        }
        Ok(())
    }

    /// The last owner left: only a thread that stands there in sight of the
    /// engine is still known to have been told.
    fn forget(&mut self, place: Place) {
        for processor in &mut self.processors {
            let in_sight = processor.counter == Counter::Behind(place) && processor.stop.is_none();
            let inner = usize::from(processor.interrupts.is_some());
            for (depth, told) in processor.told.iter_mut().enumerate() {
                told.vague |= !told.owners.is_empty() && !(in_sight && depth == inner);
            }
        }
    }

    fn carry_out(&mut self, program: &Program) -> Result<(), String> {
        let Some(order) = self.orders.pop_front() else {
            return Ok(());
        };
        match order {
            Operation::Plant { address } => {
                let place = Counter::from_address(address).place();
                self.trap[place] = true;
                self.armed[place] = self.wanted[place];
            }
            Operation::Lift { address } => {
                self.trap[Counter::from_address(address).place()] = false
            }
            Operation::HoldThread { thread } => {
                let processor = self.processor(thread);
                if processor.mode == Mode::Stopped && processor.stop.is_none() {
                    return Err("a thread is held that has stopped".to_owned());
                }
                processor.interrupted = processor.mode != Mode::Dead;
            }
            Operation::SetCounter { thread, address } => {
                self.set_counter(program, thread, address)?
            }
            Operation::EmulateCall { thread, to, .. } => self.emulate(program, thread, to, true)?,
            Operation::StepThread { thread } => self.let_go(thread, Mode::Stepping)?,
            Operation::ContinueThread { thread } => self.let_go(thread, Mode::Running)?,
            Operation::Report {
                thread,
                address,
                owners,
            } => {
                let processor = self.processor(thread);
                if processor.counter.shown() != address + 1 {
                    return Err("an arrival is reported of a thread that is not there".to_owned());
                }
                processor.upper = Upper::Has;
                let told = processor.told_mut();
                if told.owners.intersects(owners) && !told.vague {
                    return Err("the same execution is reported twice".to_owned());
                }
                told.owners |= owners;
            }
            Operation::ReportStep { thread, .. } => self.processor(thread).upper = Upper::Has,
            Operation::ReportHalted { thread } => {
                let processor = self.processor(thread);
                processor.halting = false;
                processor.upper = Upper::Has;
            }
            Operation::Unexplained { thread, .. } => {
                // No program of ours has traps of its own: go back.
                let processor = self.processor(thread);
                processor.counter = Counter::At(processor.counter.place());
                processor.upper = Upper::Has;
            }
        }
        Ok(())
    }

    fn set_counter(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), String> {
        let wanted = self.wanted;
        let processor = self.processor(thread);
        if processor.mode != Mode::Stopped || processor.stop.is_some() {
            return Err("a program counter is set of a thread that moves".to_owned());
        }
        let to = Counter::from_address(address);
        if let (Counter::InCopy(place), Counter::Behind(_)) = (to, processor.counter) {
            let told = *processor.told_mut();
            if !told.vague {
                demand(wanted[place], told.owners)?;
            }
        }
        if program.way == Way::Skip && to != Counter::At(processor.counter.place()) {
            return self.emulate(program, thread, address, false);
        }
        processor.counter = to;
        Ok(())
    }

    /// The shell does what the instruction would do, unless a push faults.
    fn emulate(
        &mut self,
        program: &Program,
        thread: ThreadId,
        to: u64,
        pushes: bool,
    ) -> Result<(), String> {
        let wanted = self.wanted;
        let faults = self.left.faults > 0 && pushes;
        let processor = self.processor(thread);
        let place = processor.counter.place();
        if processor.counter != Counter::Behind(place)
            || address_of(program.followers(place)[0]) != to
        {
            return Err("an instruction is emulated at which the thread does not stand".to_owned());
        }
        let stack = processor.stack();
        if faults {
            self.left.faults -= 1;
            let drops = |order: &Operation| !matches!(order, Operation::ContinueThread { thread: id } | Operation::ReportStep { thread: id, .. } if *id == thread);
            self.orders.retain(drops);
            return self.tell(Input::Faulted {
                thread,
                address: address_of(place),
                stack,
            });
        }
        let told = *processor.told_mut();
        processor.executed(program.followers(place)[0]);
        if told.vague {
            Ok(())
        } else {
            demand(wanted[place], told.owners)
        }
    }

    fn let_go(&mut self, thread: ThreadId, mode: Mode) -> Result<(), String> {
        let processor = self.processor(thread);
        if processor.mode == Mode::Dead {
            return Ok(());
        }
        if processor.mode != Mode::Stopped || processor.stop.is_some() {
            return Err("a thread is let go that moves".to_owned());
        }
        if matches!(processor.counter, Counter::Behind(_)) {
            return Err("a thread goes on in the middle of an instruction".to_owned());
        }
        if processor.upper == Upper::Has {
            return Err("a thread is let go that waits to be resumed".to_owned());
        }
        processor.go(mode);
        Ok(())
    }

    /// What must hold at every moment.
    fn check(&self) -> Result<(), String> {
        let moving = self
            .processors
            .iter()
            .filter(|processor| processor.moves())
            .count();
        for place in [I, J] {
            let owned = !self.armed[place].is_empty();
            if owned && !self.trap[place] && moving > 1 {
                return Err(
                    "the original instruction is back while another thread may run".to_owned(),
                );
            }
            if self.orders.is_empty() && self.wanted[place].is_empty() && self.trap[place] {
                return Err("a trap stays that nobody owns".to_owned());
            }
        }
        Ok(())
    }
}

/// Every owner has to have been told; what the person at the prompt saw by
/// the thread's standing there counts as told.
fn demand(owners: Owners, told: Owners) -> Result<(), String> {
    let seen = if told.is_empty() {
        told
    } else {
        told | Owners::DEVELOPER
    };
    if seen.contains(owners) {
        Ok(())
    } else {
        Err("an execution is not reported".to_owned())
    }
}
