//! The subject of an exploration: the program, its possible disturbances, and
//! the actions that are possible next.

use super::System;
use super::budget::Budget;
use super::machine::State;
use super::processor::{
    Counter, EXIT, FOLLOW, HANDLER_END, I, J, Mode, OUTSIDE, Place, Processor, RETURN,
    SECOND_FOLLOW, Stop, Upper, address_of, slot_of, thread_of,
};
use super::store::Store;
use crate::engine::Rule;
use crate::{Engine, Input, Operation, Owner, Owners, StepBy, StepOver};

/// The order of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Either I or J, and then different instructions.
    Apart,
    /// Either I or J, and then the same instruction.
    SameFollow,
    /// First I, then J.
    Adjacent,
    /// I branches to itself or falls into J.
    Itself,
    /// First I, then J, which has no site at first: both may be the head of a
    /// patch.
    Head,
}

/// The step-over method of both sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Skip,
    Call,
    OutOfLine,
    InPlace,
}

/// The subject of an exploration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub(super) layout: Layout,
    pub(super) method: Method,
    pub(super) step_by: StepBy,
    pub(super) budget: Budget,
    /// The threads at the start, and those that may start later.
    pub(super) threads: usize,
    pub(super) later: usize,
    /// As in Ramsey's model: the program waits while the debugger acts, and the
    /// only violation is an execution that is not reported.
    pub(super) uniprocessor: bool,
    /// Whether the shell switches to the first copy of the memory that it sees.
    pub(super) follows: bool,
    /// Whether that copy gets an engine of its own.
    pub(super) adopts: bool,
    /// Whether I is patched at the start.
    pub(super) patched: bool,
    /// Whether the head of the patch is I alone, and its jump shares the bytes of J.
    pub(super) shares: bool,
    /// Whether the shell leads threads out of a stub.
    pub(super) leads_out: bool,
    /// Whether states keep the inputs and operations of the engine.
    pub(super) records: bool,
    /// The rule that is dropped.
    pub(super) without: Option<Rule>,
}

/// One action.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// The shell carries out the next operation.
    CarryOut,
    /// The shell carries out the next operation, but the trap cannot be
    /// inserted.
    FailInsertTrap,
    /// The shell carries out the next operation, but the push of a call faults.
    FailPush,
    /// The shell sees the stop of this processor's thread.
    See(usize),
    /// The shell sees a stop of which upper layers get no report: the thread
    /// continues.
    SeeQuietly(usize),
    /// The shell sees a fault for which the program has a handler.
    SeeCaught(usize),
    /// Upper layers make a request.
    Command(Input),
    /// A processor executes its instruction, and goes on to the place.
    Execute(usize, Place),
    /// A processor takes the jump of a patch, or the next phase of its stub.
    Advance(usize),
    /// As [`Action::Execute`], but the kernel's mark stops it before the trace
    /// trap is seen.
    ExecuteLate(usize, Place),
    /// A handler jumps away instead of returning.
    Leap(usize),
    /// A handler changes its return place.
    ReturnElsewhere(usize),
    /// The kernel stops a thread.
    KernelStop(usize, Stop),
    /// A thread traps, but the kernel reports an ordered stop first.
    TrapLate(usize),
    /// The instruction makes a process with a copy of the memory.
    Fork(usize, Place),
    /// The instruction makes a process with the same memory.
    Vfork(usize, Place),
    /// The step of a thread in a system call takes it out of the call; the flag
    /// says whether an ordered stop is reported first.
    LeaveCall(usize, bool),
    /// The shell sees that a copy of the memory is stopped.
    SeeFork(usize),
    /// The shell releases the process and switches to the copy.
    Switch,
    /// The shell releases the process and switches to the one that runs its own
    /// program.
    SwitchProgram,
    /// The shell sees that the program has been replaced while it was about to
    /// follow a copy: it releases the new program, and switches to the copy.
    SwitchFromReplaced,
    /// The shell sees that the program has been replaced, while others share
    /// the memory of the one before.
    BeginToLeave(usize),
    /// The shell releases those, which are stopped.
    Leave,
}

impl Program {
    /// Returns an engine without sites and threads.
    pub(super) fn new_engine(&self) -> Engine {
        let engine = Engine::stepping_by(self.step_by);
        match self.without {
            Some(rule) => engine.without(rule),
            None => engine,
        }
    }

    /// Returns the number of processors, without those of copies.
    pub(super) fn processors(&self) -> usize {
        self.threads + self.later + usize::from(self.budget.vforks)
    }

    pub(super) fn followers(&self, place: Place) -> &'static [Place] {
        match (place, self.layout) {
            (OUTSIDE, Layout::Apart | Layout::SameFollow) => &[I, J],
            (OUTSIDE, _) => &[I],
            (I, Layout::Apart | Layout::SameFollow) => &[FOLLOW],
            (I, Layout::Adjacent | Layout::Head) => &[J],
            (I, Layout::Itself) => &[I, J],
            (J, Layout::Apart) => &[SECOND_FOLLOW],
            (J, _) => &[FOLLOW],
            _ => &[OUTSIDE],
        }
    }

    fn step_over(&self, place: Place) -> StepOver {
        let to = address_of(self.followers(place)[0]);
        match self.method {
            Method::Skip => StepOver::Skip { to },
            Method::Call => StepOver::Call { to, back: 0 },
            Method::OutOfLine => StepOver::OutOfLine { at: slot_of(place) },
            Method::InPlace => StepOver::InPlace,
        }
    }

    pub(super) fn insert(&self, place: Place, owner: Owner) -> Input {
        Input::Insert {
            address: address_of(place),
            owner,
            step_over: self.step_over(place),
        }
    }

    /// Returns true if the instruction may be a system call.
    pub(super) fn may_be_call(&self, place: Place) -> bool {
        self.budget.forks + self.budget.vforks > 0 && matches!(place, OUTSIDE | I)
            // No system call is in a head.
            && !(place == I && self.layout == Layout::Head)
    }

    /// Returns true if the shell lets threads continue by itself after stops
    /// that are not reported, as ours does, rather than passing every stop to
    /// the engine; it does one or the other. The first is explored if there are
    /// such stops.
    fn passes_on(&self) -> bool {
        self.budget.signals + self.budget.faults + self.budget.forks > 0
    }

    fn commands(&self, state: &State, actions: &mut Vec<Action>) {
        let left = state.left;
        for (number, processor) in state.processors.iter().enumerate() {
            let thread = thread_of(number);
            match processor.upper {
                Upper::Has => owned_commands(state, number, actions),
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
        if self.layout == Layout::Head {
            self.patch_commands(state, actions);
        }
        let owners = [Owner::Developer, Owner::Scenario];
        if let Some(owner) = owners.get(usize::from(left.inserts).wrapping_sub(1)) {
            actions.push(Action::Command(self.insert(I, *owner)));
        }
    }

    fn processor_actions(&self, state: &State, number: usize, actions: &mut Vec<Action>) {
        let processor = &state.processors[number];
        let left = state.left;
        let mut kernel_stop = |stop| actions.push(Action::KernelStop(number, stop));
        if processor.mode == Mode::NotStarted {
            let others_move = state.processors.iter().any(Processor::moves);
            return if others_move && number < self.threads + self.later {
                kernel_stop(Stop::Start)
            };
        }
        if left.ends > 0 && state.may_be_killed_in_fork(number) {
            kernel_stop(Stop::End);
        }
        if !processor.moves() {
            return;
        }
        if processor.interrupted {
            kernel_stop(Stop::Hold);
        }
        if processor.in_call {
            actions.push(Action::LeaveCall(number, false));
            if processor.interrupted {
                actions.push(Action::LeaveCall(number, true));
            }
            return;
        }
        let is_alone = processor.shares_with.is_none();
        if left.signals > 0 && processor.interrupts.is_none() && is_alone {
            kernel_stop(Stop::Signal);
        }
        let is_outside = processor.counter == Counter::At(OUTSIDE);
        if if is_alone { left.ends > 0 } else { is_outside } {
            kernel_stop(Stop::End);
        }
        if self.follows && !is_alone && is_outside {
            kernel_stop(Stop::OwnProgram);
        }
        if left.execs > 0 && is_outside && is_alone {
            kernel_stop(Stop::Exec);
        }
        let place = processor.counter.place();
        if place == EXIT {
            return kernel_stop(Stop::End);
        }
        if processor.counter == Counter::At(place) && state.trap[place] {
            kernel_stop(Stop::Trap);
            if processor.interrupted {
                actions.push(Action::TrapLate(number));
            }
            return;
        }
        if state.is_in_patch(number) {
            return self.patch_actions(state, number, actions);
        }
        let leaves = processor.counter == Counter::Leaving(place);
        if left.faults > 0 && matches!(place, I | J) && !leaves && is_alone {
            kernel_stop(Stop::Fault);
        }
        if place == HANDLER_END && left.leaps > 0 && is_alone && processor.is_in_program() {
            actions.push(Action::Leap(number));
            actions.push(Action::ReturnElsewhere(number));
        }
        let leads_back = [place];
        for &next in if leaves {
            &leads_back
        } else {
            self.followers(place)
        } {
            actions.push(Action::Execute(number, next));
            if processor.mode == Mode::Stepping && processor.interrupted {
                actions.push(Action::ExecuteLate(number, next));
            }
            if leaves || next == place || !is_alone || !self.may_be_call(place) {
                continue;
            }
            if left.forks > 0 {
                actions.push(Action::Fork(number, next));
            }
            if left.vforks > 0 {
                actions.push(Action::Vfork(number, next));
            }
        }
    }
}

/// Appends the requests of upper layers for a thread that is theirs to resume.
fn owned_commands(state: &State, number: usize, actions: &mut Vec<Action>) {
    let processor = &state.processors[number];
    let thread = thread_of(number);
    let mut command = |input| actions.push(Action::Command(input));
    for (depth, saved) in processor.suspended.iter().enumerate() {
        command(Input::Restore { thread, depth });
        if saved.interrupts.is_none() {
            command(Input::Discard { thread, depth });
        }
    }
    if processor.counter.place() == RETURN {
        return;
    }
    command(Input::Resume { thread });
    if processor.mode == Mode::Parked || processor.shares_with.is_some() {
        return;
    }
    if state.left.steps > 0 {
        command(Input::Step { thread });
    }
    if state.left.evaluations > 0 {
        command(Input::Suspend { thread });
    }
    if state.left.jumps > 0 {
        for place in [OUTSIDE, I, J] {
            let address = address_of(place);
            command(Input::Jumped { thread, address });
        }
    }
}

impl System for Program {
    type State = State;
    type Action = Action;
    type Store = Store;

    fn initial(&self) -> State {
        State::new(self).expect("nothing moves yet")
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.orders.is_empty() {
            for (number, processor) in state.processors.iter().enumerate() {
                let Some(stop) = processor.stop else {
                    continue;
                };
                if !state.is_in_sight(number) {
                    continue;
                }
                let surplus = stop == Stop::Hold && !processor.hold_requested;
                let is_fork = stop == Stop::Fork && !self.follows;
                if is_fork || self.passes_on() && (surplus || stop == Stop::Signal) {
                    actions.push(Action::SeeQuietly(number));
                }
                if stop == Stop::Fault && processor.interrupts.is_none() {
                    actions.push(Action::SeeCaught(number));
                }
                if stop == Stop::Exec && state.is_shared() {
                    actions.push(Action::BeginToLeave(number));
                } else if stop == Stop::Exec && state.followed.is_some() {
                    // The copy is followed.
                } else if !(is_fork || self.passes_on() && surplus) {
                    actions.push(Action::See(number));
                }
            }
            for (index, copy) in state.forks.iter().enumerate() {
                if state.followed != Some(copy.process) && copy.is_reported {
                    actions.push(Action::SeeFork(index));
                }
            }
            if state.can_switch() {
                actions.push(Action::Switch);
            }
            if state.can_switch_program() {
                actions.push(Action::SwitchProgram);
            }
            if state.can_switch_from_replaced() {
                actions.push(Action::SwitchFromReplaced);
            }
            if state.can_leave() {
                actions.push(Action::Leave);
            }
            if !state.is_switching() {
                self.commands(state, actions);
            }
        } else {
            actions.push(Action::CarryOut);
            let pushes = matches!(state.orders.front(), Some(Operation::EmulateCall { .. }));
            if pushes && state.left.faults > 0 {
                actions.push(Action::FailPush);
            }
            if state.left.losses > 0 && state.may_lose_trap() {
                actions.push(Action::FailInsertTrap);
            }
        }
        if self.uniprocessor && !state.orders.is_empty() {
            return;
        }
        for number in 0..state.processors.len() {
            self.processor_actions(state, number, actions);
        }
    }

    fn apply(&self, state: &State, action: Action) -> Result<State, String> {
        let mut state = state.clone();
        match action {
            Action::CarryOut => state.carry_out(self)?,
            Action::FailInsertTrap => state.fail_insert_trap()?,
            Action::FailPush => state.fail_push()?,
            Action::See(number) => state.handle_stop(self, number)?,
            Action::SeeQuietly(number) => state.see_quietly(self, number)?,
            Action::SeeCaught(number) => {
                state.processors[number].fault_caught = true;
                state.handle_stop(self, number)?;
            }
            Action::Leap(number) => {
                state.left.leaps -= 1;
                state.processors[number].leap();
            }
            Action::ReturnElsewhere(number) => {
                state.left.leaps -= 1;
                state.processors[number].return_elsewhere();
            }
            Action::Command(input) => state.command(self, input)?,
            Action::Execute(number, next) => state.execute(number, next, false)?,
            Action::ExecuteLate(number, next) => state.execute(number, next, true)?,
            Action::Advance(number) => state.advance_in_stub(number)?,
            Action::KernelStop(number, stop) => state.kernel_stop(number, stop),
            Action::TrapLate(number) => state.trap_late(number),
            Action::Fork(number, next) => state.fork(self, number, next)?,
            Action::Vfork(number, next) => state.vfork(number, next)?,
            Action::LeaveCall(number, late) => state.leave_call(number, late),
            Action::SeeFork(index) => state.see_fork(self, index)?,
            Action::Switch => state.switch()?,
            Action::SwitchProgram => state.switch_program()?,
            Action::SwitchFromReplaced => state.switch_from_replaced()?,
            Action::BeginToLeave(number) => state.begin_to_leave(number)?,
            Action::Leave => state.leave()?,
        }
        if !self.uniprocessor {
            state.check()?;
        }
        Ok(state)
    }

    fn is_goal(&self, state: &State) -> bool {
        state.orders.is_empty()
            && state.forks.is_empty()
            && state.processors.iter().all(Processor::is_through)
    }
}
