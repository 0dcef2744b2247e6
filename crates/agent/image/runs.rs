//! Runs, one after the other.

use crate::begin::{Arrival, saved};
use crate::calls;
use crate::control::{self, Control, End, control};
use crate::heap;
use crate::kernel::{self, call};
use crate::memory;
use crate::points;
use crate::protocol::*;
use crate::returns;
use crate::settings::{address_of, set_word, word};
use crate::signals;
use crate::threads;
use juror_schedule::{LockCycle, Options, Portfolio, State, Strategy};

static mut STATE: RunState = RunState {
    command: 0,
    task: 0,
    goals: 0,
    is_running: false,
};

struct RunState {
    command: u64,
    task: u64,
    /// The number of words of goals so far.
    goals: u64,
    is_running: bool,
}

fn state() -> &'static mut RunState {
    // SAFETY: one thread runs the agent.
    unsafe { &mut *(&raw mut STATE) }
}

/// Begins the next run, after it was waited for a command.
pub fn next() -> ! {
    let state = state();
    while state.command == 0 || state.task >= word(TASK_COUNT) {
        if state.command != 0 {
            end_command(state.command);
        }
        wait_for_command(state);
    }
    let task = TASKS + state.task * TASK_SIZE;
    let strategy = match word(task + TASK_KIND) {
        PORTFOLIO => {
            let portfolio = Portfolio::new(word(task + TASK_SEED), word(task + TASK_LENGTH));
            portfolio.strategy(word(task + TASK_RUN))
        }
        _ => Strategy::RunOn,
    };
    let options = Options {
        spurious: word(task + TASK_SPURIOUS) as u32,
        points_max: word(task + TASK_POINTS_MAX),
        ..Options::default()
    };
    control::begin(options, strategy, word(task + TASK_PREDICTS) != 0);
    state.is_running = true;
    signals::put_actions_back();
    let arrival = saved().load();
    let control = control();
    control.input(juror_schedule::Input::Started {
        thread: juror_schedule::ThreadId(word(PROCESS) as u32),
        parent: None,
    });
    control.carry_out();
    match arrival {
        Arrival::Start => threads::go_on(0),
        Arrival::Site(number) => points::on_site(number),
        Arrival::Call => calls::on_call(0),
    }
}

fn wait_for_command(state: &mut RunState) {
    const WAIT: u64 = 0;
    while word(COMMAND) == state.command {
        let arguments = [
            address_of(COMMAND),
            WAIT,
            state.command & 0xffff_ffff,
            0,
            0,
            0,
        ];
        // SAFETY: the kernel reads the word.
        unsafe { call(kernel::FUTEX, arguments) };
    }
    (state.command, state.task, state.goals) = (word(COMMAND), 0, 0);
}

fn end_command(command: u64) {
    const WAKE: u64 = 1;
    set_word(DONE, command);
    // SAFETY: the kernel wakes who waits for the word.
    unsafe { call(kernel::FUTEX, [address_of(DONE), WAKE, 1, 0, 0, 0]) };
}

/// The agent cannot hold the run.
pub fn give_up(reason: u64) -> ! {
    if state().is_running {
        end(NOT_MINE, reason)
    }
    loop {
        // SAFETY: ends the process.
        let _ = unsafe { call(kernel::EXIT_GROUP, [reason & 0xff, 0, 0, 0, 0, 0]) };
    }
}

/// The program exits with a status.
pub fn end_exited(status: u64) -> ! {
    let control = control();
    if control.has_circle && is_circle_closed(control) {
        end(DEADLOCK, 0)
    }
    end(EXITED, status)
}

/// A signal ends the program.
pub fn end_killed(signal: u64) -> ! {
    end(KILLED, signal)
}

/// Nobody goes on.
pub fn end_standing(reason: End) -> ! {
    match reason {
        End::Endless if !control().has_circle => end(ENDLESS, 0),
        _ => end(DEADLOCK, 0),
    }
}

fn is_circle_closed(control: &Control) -> bool {
    let Some(deadlock) = control.scheduler.deadlock() else {
        return false;
    };
    deadlock.circle.iter().all(|edge| {
        let mut tasks = control.scheduler.tasks().iter();
        let task = tasks.find(|task| task.path() == edge.thread);
        task.is_some_and(|task| matches!(task.state(), State::Waits { .. }))
    })
}

fn end(kind: u64, value: u64) -> ! {
    let state = state();
    state.is_running = false;
    let control = control();
    if kind != NOT_MINE
        && let Some(order) = &mut control.lock_order
    {
        for cycle in order.cycles() {
            note_goal(state, &cycle);
        }
    }
    let scheduler = &control.scheduler;
    let result = RESULTS + state.task * RESULT_SIZE;
    let words = [
        (RESULT_KIND, kind),
        (RESULT_VALUE, value),
        (RESULT_POINTS, scheduler.points()),
        (RESULT_DECISIONS, scheduler.log().decisions()),
        (RESULT_THREADS, control.thread_count),
        (RESULT_HASH, scheduler.hash().value()),
        (RESULT_GOALS, state.goals),
    ];
    for (offset, value) in words {
        set_word(result + offset, value);
    }
    state.task += 1;
    set_word(MADE, state.task);
    set_word(PROGRESS, word(PROGRESS).wrapping_add(1));
    let is_failure = kind != EXITED || value != 0 && value != word(USUAL);
    if is_failure {
        // Juror decides how to go on.
        state.task = u64::MAX;
    }
    returns::disarm();
    memory::put_back();
    // SAFETY: the run is over, and nothing of it is used again.
    unsafe { heap::forget_all() };
    next()
}

fn note_goal(state: &mut RunState, cycle: &LockCycle) {
    let places = cycle.goal().places;
    let size = 1 + places.len() as u64 * GOAL_PLACE_WORDS;
    if state.goals + size > GOALS_MAX {
        return;
    }
    let mut push = |value: u64| {
        set_word(GOALS + state.goals * 8, value);
        state.goals += 1;
    };
    push(places.len() as u64);
    for place in places {
        let path = place.thread.unwrap_or_default();
        let numbers = path.numbers();
        let packed = |part: usize| {
            let part = numbers.iter().skip(part * 4).take(4).enumerate();
            part.fold(0, |word, (at, number)| {
                word | u64::from(*number) << (at * 16)
            })
        };
        let known = u64::from(place.thread.is_some()) | u64::from(place.object.is_some()) << 1;
        push(known | (numbers.len() as u64) << 8);
        push(packed(0));
        push(packed(1));
        push(place.site);
        push(place.object.unwrap_or_default());
    }
}

/// Returns what `threads` begins a run with.
pub fn first_thread() -> &'static mut threads::Context {
    threads::begin(word(PROCESS) as u32)
}
