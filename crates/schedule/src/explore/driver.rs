//! Drives the scheduler as a shell does: it carries out orders, and tells what threads do.

use super::program::{Instruction, Program, WORDS, address, tid, tid_word, word_at};
use super::world::{Event, World};
use crate::rule::Rule;
use crate::{
    Access, FutexCall, Input, LockMode, LockStep, Options, Order, Point, Scheduler, Standstill,
    Strategy, ThreadId, ThreadPath,
};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// What a thread did that matters for orders and races.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Deed {
    Started(ThreadPath, ThreadPath),
    /// The first has seen that the second has ended.
    Joined(ThreadPath, ThreadPath),
    Lock(ThreadPath, u64, u64, LockStep, LockMode),
    Access(ThreadPath, u64, Access, bool),
}

/// A program under the scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Driver {
    pub(super) world: World,
    pub(super) scheduler: Scheduler,
    /// The thread that has been ordered to run.
    running: Option<usize>,
    /// Why nobody runs.
    pub(super) stands: Option<Standstill>,
    /// Threads that were said to wait for ever.
    pub(super) doomed: Vec<usize>,
    pub(super) is_known: bool,
    pub(super) has_diverged: bool,
    /// Whether the run has as many points as it may have.
    pub(super) is_too_long: bool,
    pub(super) violation: Option<String>,
    /// What threads did, if it is kept.
    pub(super) deeds: Option<Vec<Deed>>,
}

/// Returns the number of a thread.
pub(super) fn number_of(thread: ThreadId) -> usize {
    thread.0 as usize - 100
}

impl Driver {
    /// Starts a program.
    pub(super) fn new(
        program: &Program,
        options: Options,
        strategy: Strategy,
        dropped: Option<Rule>,
    ) -> Driver {
        let mut driver = Driver::before(program, options, strategy, dropped);
        driver.start(program);
        driver
    }

    /// Starts a program, and keeps what its threads do.
    pub(super) fn keeping(program: &Program, options: Options, strategy: Strategy) -> Driver {
        let mut driver = Driver::before(program, options, strategy, None);
        driver.deeds = Some(Vec::new());
        driver.start(program);
        driver
    }

    fn before(
        program: &Program,
        options: Options,
        strategy: Strategy,
        dropped: Option<Rule>,
    ) -> Driver {
        Driver {
            world: World::new(program),
            scheduler: Scheduler::new(options, strategy).without(dropped),
            running: None,
            stands: None,
            doomed: Vec::new(),
            is_known: false,
            has_diverged: false,
            is_too_long: false,
            violation: None,
            deeds: None,
        }
    }

    fn start(&mut self, program: &Program) {
        let start = Input::Started {
            thread: ThreadId(tid(0)),
            parent: None,
        };
        self.give(program, start);
    }

    fn path(&self, number: usize) -> ThreadPath {
        let task = self.scheduler.task_of(ThreadId(tid(number)));
        task.map_or(ThreadPath::MAIN, |task| task.path())
    }

    fn keep(&mut self, deed: Deed) {
        if let Some(deeds) = &mut self.deeds {
            deeds.push(deed);
        }
    }

    /// Keeps what a thread does at the point where it stands.
    fn keep_access(&mut self, program: &Program, number: usize) {
        if self.deeds.is_none() {
            return;
        }
        let instruction = self.world.instruction(program, number);
        let (path, site) = (self.path(number), self.site(number));
        // The words that tell of ends are the kernel's.
        let is_plain = match instruction {
            Instruction::Load(_, word) | Instruction::Store(word, _) => word < WORDS,
            _ => false,
        };
        let value = |word: usize| self.world.memory[word];
        let footprint = program.footprint(instruction, number, value);
        for access in footprint.accesses() {
            self.keep(Deed::Access(path, site, *access, !is_plain));
        }
        if let Instruction::Load(_, word) = instruction
            && let Some(ended) = self.ended_at(word)
        {
            self.keep(Deed::Joined(path, ended));
        }
    }

    /// Returns the thread whose end a word tells. Only the first thread starts others here.
    fn ended_at(&self, word: usize) -> Option<ThreadPath> {
        let number = word.checked_sub(WORDS)?;
        let has_ended = self.world.memory[word] == 0;
        ThreadPath::MAIN.child(number as u32).filter(|_| has_ended)
    }

    fn site(&self, number: usize) -> u64 {
        (number * 1_000 + self.world.threads[number].counter) as u64
    }

    /// Returns the number of a thread by its path.
    pub(super) fn number_at(&self, path: ThreadPath) -> Option<usize> {
        let mut tasks = self.scheduler.tasks().iter();
        let found = tasks.find(|task| task.path() == path);
        found.map(|task| number_of(task.id()))
    }

    /// Tells something, and lets threads run until nobody is ordered to.
    pub(super) fn give(&mut self, program: &Program, input: Input) {
        self.stands = None;
        self.feed(program, input);
        while let Some(thread) = self.running.take() {
            if self.is_over() {
                return;
            }
            self.advance(program, thread);
        }
    }

    /// Returns true if the run ends here, whatever the scheduler says.
    pub(super) fn is_over(&self) -> bool {
        self.world.has_crashed || self.is_too_long || self.violation.is_some()
    }

    fn violate(&mut self, reason: &str) {
        self.violation.get_or_insert_with(|| reason.to_string());
    }

    fn feed(&mut self, program: &Program, input: Input) {
        if self.is_over() {
            return;
        }
        let mut orders = Vec::new();
        if let Err(refusal) = self.scheduler.handle(input, &mut orders) {
            self.violate(&format!("{input:?} is refused: {refusal:?}"));
        }
        for order in orders {
            self.carry_out(program, order);
        }
    }

    fn carry_out(&mut self, program: &Program, order: Order) {
        match order {
            Order::Run { thread } => {
                if self.running.is_some() {
                    self.violate("two threads run");
                }
                self.running = Some(number_of(thread));
            }
            Order::EnterKernel { .. } => {}
            Order::Finish { thread, result } => {
                self.world.finish(program, number_of(thread), result);
            }
            Order::Write { address, word } => self.world.memory[word_at(address)] = word,
            Order::Deliver { thread, .. } => {
                self.world.threads[number_of(thread)].handled += 1;
            }
            Order::PartialDeadlock => {
                let circle = self.scheduler.deadlock().unwrap().circle.iter();
                let circle: Vec<ThreadPath> = circle.map(|it| it.thread).collect();
                let numbers = circle.into_iter().filter_map(|path| self.number_at(path));
                self.doomed.extend(numbers.collect::<Vec<_>>());
                self.doomed.sort_unstable();
                self.doomed.dedup();
            }
            Order::Stands { reason } => {
                if self.running.is_some() {
                    self.violate("somebody runs, and nobody is said to");
                }
                self.stands = Some(reason);
            }
            Order::Diverged { .. } => self.has_diverged = true,
            Order::Known => self.is_known = true,
            Order::Limit => self.is_too_long = true,
        }
    }

    /// A thread goes on: it does what it stands before, and runs to its next point.
    fn advance(&mut self, program: &Program, number: usize) {
        use Instruction as I;
        let thread = ThreadId(tid(number));
        let (path, site) = (self.path(number), self.site(number));
        if self.world.threads[number].stands {
            self.world.threads[number].stands = false;
            self.keep_access(program, number);
            match self.world.instruction(program, number) {
                I::Wait { .. } | I::Futex(..) | I::LockPi(..) => {
                    return self.call(program, number);
                }
                I::Sleep(duration) => {
                    let deadline = self.scheduler.now() + duration;
                    return self.feed(program, Input::Sleeps { thread, deadline });
                }
                I::Enter => {
                    self.world.execute(program, number);
                    return self.feed(program, Input::Call { thread });
                }
                I::Exit => return self.exit(program, number),
                _ => {
                    self.world.execute(program, number);
                }
            }
        }
        for event in self.world.run_on(program, number) {
            match event {
                Event::Started(child) => {
                    let child_id = ThreadId(tid(child));
                    let started = Input::Started {
                        thread: child_id,
                        parent: Some(thread),
                    };
                    self.feed(program, started);
                    let child_tid = Input::ChildTid {
                        thread: child_id,
                        address: address(tid_word(child)),
                    };
                    self.feed(program, child_tid);
                    self.keep(Deed::Started(path, self.path(child)));
                }
                Event::Noted(lock, step, mode) => {
                    let noted = Input::Lock {
                        thread,
                        lock,
                        step,
                        mode,
                    };
                    self.feed(program, noted);
                    self.keep(Deed::Lock(path, site, lock, step, mode));
                }
            }
        }
        if !self.is_over() {
            let point = self.point(program, number);
            self.feed(program, Input::Reached { thread, point });
        }
    }

    fn point(&self, program: &Program, number: usize) -> Point {
        let instruction = self.world.instruction(program, number);
        let value = |word: usize| self.world.memory[word];
        Point {
            kind: program.point_kind(instruction).unwrap(),
            site: self.site(number),
            object: program.object(instruction),
            state: self.world.state_of(number),
            footprint: program.footprint(instruction, number, value),
        }
    }

    fn call(&mut self, program: &Program, number: usize) {
        let thread = ThreadId(tid(number));
        let instruction = self.world.instruction(program, number);
        let call = call_of(instruction, &self.world, number, self.scheduler.now());
        let [word, second] = addresses(call).map(|address| self.world.memory[word_at(address)]);
        let input = Input::Futex {
            thread,
            call,
            word,
            second,
        };
        self.feed(program, input);
    }

    fn exit(&mut self, program: &Program, number: usize) {
        let thread = ThreadId(tid(number));
        for (word, is_pi) in &program.robust {
            let died = Input::Died {
                thread,
                address: address(*word),
                word: self.world.memory[*word],
                is_pi: *is_pi,
            };
            self.feed(program, died);
        }
        self.world.execute(program, number);
        self.feed(program, Input::Ended { thread });
    }
}

/// Returns the futex call of an instruction.
pub(super) fn call_of(
    instruction: Instruction,
    world: &World,
    number: usize,
    now: u64,
) -> FutexCall {
    match instruction {
        Instruction::Wait {
            word,
            expected,
            mask,
            timeout,
            ..
        } => FutexCall::Wait {
            address: address(word),
            expected: world.value(number, expected),
            mask,
            deadline: timeout.map(|timeout| now + timeout),
        },
        Instruction::LockPi(_, word, timeout) => FutexCall::LockPi {
            address: address(word),
            deadline: timeout.map(|timeout| now + timeout),
        },
        Instruction::Futex(_, call) => call,
        _ => panic!("{instruction:?} is no futex call"),
    }
}

fn addresses(call: FutexCall) -> [u64; 2] {
    match call {
        FutexCall::Wait { address, .. }
        | FutexCall::Wake { address, .. }
        | FutexCall::LockPi { address, .. }
        | FutexCall::TryLockPi { address }
        | FutexCall::UnlockPi { address } => [address, address],
        FutexCall::Requeue { from, to, .. } => [from, to],
        FutexCall::WakeOp { first, second, .. } => [first, second],
    }
}
