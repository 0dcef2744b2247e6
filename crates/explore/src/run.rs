//! One run of the program under the scheduler.

use crate::blocking::{self, TaskState, libc_numbers as calls};
use crate::error::ExploreError;
use crate::futex::{self, Clock};
use crate::outcome::{Deadlocked, Outcome};
use crate::points::{LockUse, PointSet, Site, Sites};
use crate::report;
use crate::robust::{self, Robust};
use crate::threads::{ConditionWait, Standing, Threads};
use juror_arch::NO_SYSTEM_CALL;
use juror_debuggee::{
    CallStops, CpuPolicy, Debuggee, Launch, Owner, Redirection, StopEvent, SystemCallPhase,
    SystemCalls, ThreadId,
};
use juror_program::modules::Module;
use juror_program::program::Program;
use juror_program::symbol_store::SymbolStore;
use juror_schedule::{
    ChoiceKind, Deviation, Footprint, Input, LockMode, LockStep, Moment, Options, Order, Point,
    PointKind, Scheduler, Standstill, State, Strategy,
};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the shell looks whether a run gets on.
const TICK: Duration = Duration::from_millis(100);

/// How often a thread is seen asleep before it is taken to wait, and the time between.
const LOOKS: u32 = 2;
const LOOK_PAUSE: Duration = Duration::from_micros(20);

/// `CLONE_THREAD`: the new task is a thread of this process.
const IS_THREAD: u64 = 0x1_0000;
/// `CLONE_CHILD_CLEARTID`: a word is cleared at its end.
const CLEARS_WORD: u64 = 0x20_0000;

/// The results of calls that are made again: `ERESTARTSYS` to `ERESTART_RESTARTBLOCK`.
const RESTARTED: std::ops::RangeInclusive<i64> = -516..=-512;

/// `-ETIMEDOUT`.
const TIMED_OUT: i64 = -110;

const SECOND_NS: u64 = 1_000_000_000;

/// The limits of a run. One that exceeds them does not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time.
    pub time: Duration,
    /// The number of schedule points.
    pub points: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(10),
            points: 50_000,
        }
    }
}

/// Where the program's standard streams lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Nowhere: a run is one of many.
    Closed,
    /// To those of juror.
    Shown,
}

/// A module: the path of its file, and its build id, or a checksum if it has none.
pub type ModuleId = (String, String);

/// Returns what tells a module from others.
fn identity(module: &Module) -> ModuleId {
    let id = match module.symbols.header().build_id.as_deref() {
        Some(id) if !id.is_empty() => id.iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => {
            let bytes = std::fs::read(&module.path).unwrap_or_default();
            // FNV-1a.
            let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
            });
            format!("checksum {hash:016x}")
        }
    };
    (module.path.display().to_string(), id)
}

fn check_modules(expected: &[ModuleId], found: &[ModuleId]) -> Result<(), ExploreError> {
    let mut pairs = expected.iter().zip(found);
    let changed = pairs.find(|(then, now)| then != now).map(|(then, _)| then);
    let missing = expected.get(found.len()).or(found.get(expected.len()));
    match changed.or(missing) {
        Some((path, _)) => Err(ExploreError::Changed(path.clone())),
        None => Ok(()),
    }
}

/// A program that is run again and again.
#[derive(Debug)]
pub struct Runner {
    /// The program; a path that does not depend on the directory.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The working directory.
    pub directory: String,
    /// The limits of a run.
    pub limits: Limits,
    /// The symbols, which are read once.
    pub symbols: SymbolStore,
}

/// How a run has ended.
#[derive(Debug)]
pub struct Ended {
    /// The end.
    pub outcome: Outcome,
    /// The decisions that were not the usual ones, by which the run is made again.
    pub deviations: Vec<Deviation>,
    /// The strategy at the end.
    pub strategy: Strategy,
    /// The number of schedule points that were reached.
    pub points: u64,
    /// The number of decisions.
    pub decisions: u64,
    /// The number of threads that the program had.
    pub threads: u32,
    /// The hash of what was seen at the points.
    pub hash: u64,
    /// Where a replay could not follow.
    pub diverged: Option<Moment>,
    /// The number of points that were left out.
    pub left_out: usize,
    /// The program and its libraries: their paths and build ids.
    pub modules: Vec<ModuleId>,
}

impl Runner {
    /// Runs the program once. If `expected` is given, nothing of the program runs unless its modules
    /// are these.
    ///
    /// # Errors
    /// It cannot be started or controlled, or is not the expected one. How it ends is no error.
    pub fn run(
        &self,
        (set, streams): (PointSet, Streams),
        strategy: Strategy,
        options: Options,
        expected: Option<&[ModuleId]>,
    ) -> Result<Ended, ExploreError> {
        let mut launch = Launch::new(&self.program);
        launch.arguments = self.arguments.iter().map(Into::into).collect();
        launch.directory = Some(PathBuf::from(&self.directory));
        launch.cpu = CpuPolicy::Shared;
        launch.call_stops = CallStops::Filter(blocking::stopping());
        if streams == Streams::Closed {
            let null = || Redirection::File(PathBuf::from("/dev/null"));
            (launch.input, launch.output, launch.error) = (null(), null(), null());
        }
        let mut program = Program::new(Debuggee::launch(&launch)?, &self.symbols);
        let main = load_libraries(&mut program)?;
        let modules: Vec<ModuleId> = program.modules.iter().map(|it| identity(it)).collect();
        if let Some(expected) = expected {
            check_modules(expected, &modules)?;
        }
        let sites = Sites::find(&program, set);
        let options = Options {
            points_max: self.limits.points,
            ..options
        };
        let mut run = Run {
            modules,
            program,
            scheduler: Scheduler::new(options, strategy),
            orders: VecDeque::new(),
            sites,
            threads: Threads::default(),
            thread_count: 1,
            has_accesses: false,
            diverged: None,
            until: Instant::now() + self.limits.time,
            circle: None,
            held: VecDeque::new(),
            seen: None,
        };
        let outcome = run.drive(main)?;
        let outcome = match run.circle.take() {
            Some(circle) if matches!(outcome, Outcome::Exited { .. }) => Outcome::Deadlock(circle),
            _ => outcome,
        };
        // What is left of the program is of no use.
        let _ = run.program.debuggee.kill();
        Ok(run.ended(outcome))
    }
}

/// Lets the dynamic linker load the libraries. Returns the first thread.
fn load_libraries(program: &mut Program) -> Result<ThreadId, ExploreError> {
    let first = ThreadId(program.debuggee.pid());
    let main = program.modules.main();
    if main.is_some_and(|main| main.symbols.header().interpreter.is_none()) {
        return Ok(first);
    }
    program.debuggee.resume(first)?;
    loop {
        match program.debuggee.wait()? {
            StopEvent::ModulesChanged { thread } => {
                program.update_modules();
                program.modules.note_started();
                return Ok(thread);
            }
            StopEvent::Exited { .. } | StopEvent::Killed { .. } => {
                return Err(ExploreError::EndedEarly);
            }
            other => {
                if let Some(thread) = other.waiting_thread() {
                    program.debuggee.resume(thread)?;
                }
            }
        }
    }
}

struct Run {
    modules: Vec<ModuleId>,
    program: Program,
    scheduler: Scheduler,
    orders: VecDeque<Order>,
    sites: Sites,
    threads: Threads,
    thread_count: u32,
    /// Whether the points at accesses are inserted.
    has_accesses: bool,
    diverged: Option<Moment>,
    until: Instant,
    /// Threads that wait for one another while others go on.
    circle: Option<Deadlocked>,
    /// Events that are to be taken later.
    held: VecDeque<StopEvent>,
    /// Who had the baton and how many points had been reached at the last look.
    seen: Option<(ThreadId, u64)>,
}

impl Run {
    fn ended(self, outcome: Outcome) -> Ended {
        Ended {
            outcome,
            deviations: self.scheduler.log().deviations().to_vec(),
            points: self.scheduler.points(),
            decisions: self.scheduler.log().decisions(),
            threads: self.thread_count,
            hash: self.scheduler.hash().value(),
            diverged: self.diverged,
            left_out: self.sites.left_out,
            modules: self.modules,
            strategy: self.scheduler.into_strategy(),
        }
    }

    fn drive(&mut self, main: ThreadId) -> Result<Outcome, ExploreError> {
        let entries = blocking::stopping();
        let exits = SystemCalls::Only(blocking::with_exit());
        let debuggee = &mut self.program.debuggee;
        debuggee.monitor_system_calls(SystemCalls::Only(entries), exits);
        for address in &self.sites.calls {
            debuggee.insert(*address, Owner::Developer)?;
        }
        debuggee.set_alarm(Some(Instant::now() + TICK))?;
        self.input(Input::Started {
            thread: scheduled(main),
            parent: None,
        })?;
        loop {
            if let Some(outcome) = self.carry_out()? {
                return Ok(outcome);
            }
            if self.note_waiting_call()? {
                continue;
            }
            let event = self.next_event()?;
            if let Some(outcome) = self.take(event)? {
                return Ok(outcome);
            }
        }
    }

    /// Tells the scheduler if the thread that has the baton waits in a system call. Nobody else
    /// runs, so it sleeps there or comes back soon. Returns whether it waits.
    fn note_waiting_call(&mut self) -> Result<bool, ExploreError> {
        let bearer = self.bearer();
        let is_in_call = |thread: &ThreadId| self.threads.standing(*thread) == Standing::InCall;
        let Some(thread) = bearer.filter(is_in_call) else {
            return Ok(false);
        };
        let process = self.program.debuggee.pid();
        let mut looks = 0;
        loop {
            match blocking::state(process, thread.0) {
                Some(TaskState::Sleeps) if looks >= LOOKS => {
                    self.input(Input::Call {
                        thread: scheduled(thread),
                    })?;
                    return Ok(true);
                }
                Some(TaskState::Sleeps) => looks += 1,
                Some(TaskState::Runs) => looks = 0,
                Some(TaskState::Stopped) | None => return Ok(false),
            }
            std::thread::sleep(LOOK_PAUSE);
        }
    }

    /// Returns the next event. A call that another thread has ended comes before what that thread
    /// does next, so that the order does not depend on how fast the kernel is.
    fn next_event(&mut self) -> Result<StopEvent, ExploreError> {
        if self.held.is_empty() {
            let event = self.program.debuggee.wait()?;
            let is_bearers = event.waiting_thread() == self.bearer();
            if !is_bearers || !self.has_ended_call() {
                return Ok(event);
            }
            self.held.push_back(event);
        }
        if self.has_ended_call() {
            return Ok(self.program.debuggee.wait()?);
        }
        match self.held.pop_front() {
            Some(event) => Ok(event),
            None => Ok(self.program.debuggee.wait()?),
        }
    }

    fn bearer(&self) -> Option<ThreadId> {
        let path = self.scheduler.bearer_now()?;
        let mut tasks = self.scheduler.tasks().iter();
        tasks
            .find(|task| task.path() == path)
            .map(|task| traced(task.id()))
    }

    /// Returns whether a thread that waits in the kernel, for the scheduler, does so no longer.
    fn has_ended_call(&self) -> bool {
        let process = self.program.debuggee.pid();
        let mut tasks = self.scheduler.tasks().iter();
        tasks.any(|task| {
            *task.state() == State::InKernel
                && blocking::state(process, task.id().0) != Some(TaskState::Sleeps)
        })
    }

    /// Tells the scheduler something.
    fn input(&mut self, input: Input) -> Result<(), ExploreError> {
        let mut orders = Vec::new();
        let handled = self.scheduler.handle(input, &mut orders);
        handled.map_err(|refusal| ExploreError::Refused(format!("{input:?}: {refusal:?}")))?;
        self.orders.extend(orders);
        Ok(())
    }

    /// Carries out what is ordered. Returns the end of the run if that is one.
    fn carry_out(&mut self) -> Result<Option<Outcome>, ExploreError> {
        while let Some(order) = self.orders.pop_front() {
            match order {
                Order::Run { thread } => self.go_on(traced(thread))?,
                Order::Finish { thread, result } => {
                    let result = match self.condition_of_spurious(thread) {
                        Some(_) => TIMED_OUT,
                        None => result,
                    };
                    self.finish_call(traced(thread), result)?;
                }
                Order::Write { address, word } => {
                    self.program.debuggee.write(address, &word.to_le_bytes())?;
                }
                Order::Deliver { thread, signal } => {
                    let signal = i32::from(signal);
                    self.program
                        .debuggee
                        .inject_signal(traced(thread), signal)?;
                }
                Order::PartialDeadlock => {
                    let found = self.deadlock();
                    self.circle.get_or_insert(found);
                }
                Order::Stands { reason } => match reason {
                    Standstill::Deadlock => return Ok(Some(self.stand())),
                    Standstill::Spin => return Ok(Some(self.endless()?)),
                    _ => {}
                },
                Order::Diverged { moment } => {
                    self.diverged.get_or_insert(moment);
                }
                Order::Limit => return Ok(Some(self.endless()?)),
                // It is in its call already.
                Order::EnterKernel { .. } | Order::Known => {}
            }
        }
        Ok(None)
    }

    /// Returns the call of `pthread_cond_wait` that is to return although nobody has signalled, if
    /// the last choice was that. glibc's function waits again if its futex call alone returns; it
    /// returns if that has timed out, and its result is corrected then.
    fn condition_of_spurious(&mut self, thread: juror_schedule::ThreadId) -> Option<ConditionWait> {
        let last = self.scheduler.log().deviations().last()?;
        let path = self.scheduler.task_of(thread)?.path();
        if last.choice.kind != ChoiceKind::Spurious || last.choice.thread != path {
            return None;
        }
        let wait = self.threads.conditions.get_mut(&traced(thread))?;
        wait.is_spurious = true;
        Some(*wait)
    }

    /// A thread that has the baton is about to wait for a condition.
    fn note_condition(&mut self, thread: ThreadId) -> Result<(), ExploreError> {
        let debuggee = &mut self.program.debuggee;
        let stack = debuggee.registers(thread)?.stack_pointer();
        let return_address = debuggee.read_u64(stack)?;
        if self.sites.returns.insert(return_address) {
            debuggee.insert(return_address, Owner::Step)?;
        }
        let wait = ConditionWait {
            return_address,
            stack_then: stack.wrapping_add(8),
            is_spurious: false,
        };
        self.threads.conditions.insert(thread, wait);
        Ok(())
    }

    /// A thread stands where a wait for a condition returns to. Returns false if another point is
    /// there, too.
    fn end_condition(&mut self, thread: ThreadId, address: u64) -> Result<bool, ExploreError> {
        let debuggee = &mut self.program.debuggee;
        let mut registers = *debuggee.registers(thread)?;
        let stack = registers.stack_pointer();
        let ends =
            |wait: &ConditionWait| wait.return_address == address && wait.stack_then == stack;
        if let Some(wait) = self.threads.conditions.get(&thread).copied().filter(ends) {
            self.threads.conditions.remove(&thread);
            if wait.is_spurious {
                registers.set_result(0);
                debuggee.set_registers(thread, &registers)?;
            }
        }
        if self.sites.by_address.contains_key(&address) {
            return Ok(false);
        }
        debuggee.resume(thread)?;
        Ok(true)
    }

    fn deadlock(&self) -> Deadlocked {
        report::deadlock(&self.program, &self.scheduler)
    }

    /// Nobody goes on: all wait, perhaps for those of a circle.
    fn stand(&mut self) -> Outcome {
        let circle = self.circle.take();
        Outcome::Deadlock(Deadlocked {
            is_partial: false,
            ..circle.unwrap_or_else(|| self.deadlock())
        })
    }

    fn endless(&mut self) -> Result<Outcome, ExploreError> {
        if let Some(circle) = self.circle.take() {
            return Ok(Outcome::Deadlock(circle));
        }
        self.program.debuggee.halt_all()?;
        let threads = report::all_places(&self.program);
        Ok(Outcome::Endless { threads })
    }

    /// A thread has the baton: what it stood before happens.
    fn go_on(&mut self, thread: ThreadId) -> Result<(), ExploreError> {
        match self.threads.standing(thread) {
            Standing::Futex => return self.call_futex(thread),
            Standing::Sleep(deadline) => {
                self.finish_call(thread, 0)?;
                return self.input(Input::Sleeps {
                    thread: scheduled(thread),
                    deadline,
                });
            }
            Standing::LockCall(lock) => {
                self.use_lock(thread, lock)?;
                self.threads.stands(thread, Standing::Ready);
            }
            Standing::MayWait => self.threads.stands(thread, Standing::InCall),
            Standing::Exit => self.leave_robust(thread)?,
            Standing::Ready | Standing::InCall => {}
        }
        Ok(self.program.debuggee.resume(thread)?)
    }

    /// Gives the call at whose entry a thread stands its result; it is not made.
    fn finish_call(&mut self, thread: ThreadId, result: i64) -> Result<(), ExploreError> {
        let debuggee = &mut self.program.debuggee;
        let mut registers = *debuggee.registers(thread)?;
        registers.set_system_call(NO_SYSTEM_CALL);
        registers.set_result(result as u64);
        debuggee.set_registers(thread, &registers)?;
        self.threads.stands(thread, Standing::Ready);
        Ok(())
    }

    fn call_futex(&mut self, thread: ThreadId) -> Result<(), ExploreError> {
        let registers = self.program.debuggee.registers(thread)?;
        let arguments = registers.system_call_arguments();
        let Some(decoded) = futex::decode(arguments) else {
            return Err(ExploreError::Futex(arguments[1]));
        };
        let deadline = decoded
            .timeout
            .and_then(|(address, clock)| self.deadline(address, clock));
        let call = decoded.with_deadline(deadline);
        let (first, second) = futex::words(&call);
        let word = self.word(first);
        let second = second.map_or(0, |second| self.word(second));
        self.await_lock(thread, first)?;
        self.input(Input::Futex {
            thread: scheduled(thread),
            call,
            word,
            second,
        })
    }

    fn word(&self, address: u64) -> u32 {
        let mut bytes = [0; 4];
        // The kernel would fail with EFAULT; nobody waits there.
        let _ = self.program.debuggee.read(address, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Returns the moment of the scheduler's time at which a time-out comes.
    fn deadline(&self, address: u64, clock: Clock) -> Option<u64> {
        let debuggee = &self.program.debuggee;
        let seconds = debuggee.read_u64(address).ok()?;
        let rest = debuggee.read_u64(address.wrapping_add(8)).ok()?;
        let time = seconds.saturating_mul(SECOND_NS).saturating_add(rest);
        let remaining = match clock {
            Clock::Relative => time,
            Clock::Realtime => time.saturating_sub(realtime_ns()),
            Clock::Monotonic => time.saturating_sub(uptime_ns()),
        };
        Some(self.scheduler.now().saturating_add(remaining))
    }

    /// A thread that has the baton calls a function that uses a lock.
    fn use_lock(&mut self, thread: ThreadId, lock: LockUse) -> Result<(), ExploreError> {
        let [first, second, ..] = self.program.debuggee.registers(thread)?.arguments();
        let mutex = match lock {
            LockUse::WaitsWithout | LockUse::WaitsWithoutEnd => second,
            _ => first,
        };
        let state = MutexState::read(&self.program, mutex);
        let can_take = state.is_free || state.is_recursive && state.owner == thread.0;
        let is_tried = lock != LockUse::Takes;
        let step = match lock {
            LockUse::Takes | LockUse::Tries | LockUse::TakesInTime if can_take => {
                LockStep::Takes { is_tried }
            }
            LockUse::Takes | LockUse::TakesInTime => {
                self.threads.awaited.insert(thread, mutex);
                LockStep::Wants { is_timed: is_tried }
            }
            LockUse::Tries => return Ok(()),
            LockUse::Drops => LockStep::Drops,
            LockUse::WaitsWithout | LockUse::WaitsWithoutEnd => {
                self.threads.awaited.insert(thread, mutex);
                LockStep::Drops
            }
        };
        if lock == LockUse::WaitsWithoutEnd {
            self.note_condition(thread)?;
        }
        self.step_lock(thread, mutex, step)
    }

    fn step_lock(
        &mut self,
        thread: ThreadId,
        lock: u64,
        step: LockStep,
    ) -> Result<(), ExploreError> {
        self.input(Input::Lock {
            thread: scheduled(thread),
            lock,
            step,
            mode: LockMode::Exclusive,
        })
    }

    /// A thread is about to end: the kernel gives its robust locks back.
    fn leave_robust(&mut self, thread: ThreadId) -> Result<(), ExploreError> {
        for Robust {
            address,
            lock,
            is_pi,
        } in robust::held(&self.program, thread)
        {
            let word = self.word(address);
            self.step_lock(thread, lock, LockStep::Drops)?;
            self.input(Input::Died {
                thread: scheduled(thread),
                address,
                word,
                is_pi,
            })?;
        }
        Ok(())
    }

    /// A thread that has the baton has come so far: perhaps it has the lock that it waited for.
    fn note_lock(&mut self, thread: ThreadId) -> Result<(), ExploreError> {
        let Some(&mutex) = self.threads.awaited.get(&thread) else {
            return Ok(());
        };
        if MutexState::read(&self.program, mutex).owner != thread.0 {
            return Ok(());
        }
        self.threads.awaited.remove(&thread);
        self.step_lock(thread, mutex, LockStep::Takes { is_tried: false })
    }

    /// A thread that has the baton is about to wait at a word, which may be a lock's.
    fn await_lock(&mut self, thread: ThreadId, word: u64) -> Result<(), ExploreError> {
        let awaits = self.threads.awaited.get(&thread) == Some(&word);
        let path = self.scheduler.task_of(scheduled(thread));
        let path = path.map(juror_schedule::Task::path);
        let wants = path.is_some_and(|path| self.scheduler.holders().wish_of(path).is_some());
        if awaits && !wants {
            self.step_lock(thread, word, LockStep::Wants { is_timed: false })?;
        }
        Ok(())
    }

    /// Takes a stop event. Returns the end of the run if that is one.
    fn take(&mut self, event: StopEvent) -> Result<Option<Outcome>, ExploreError> {
        match event {
            StopEvent::Hit {
                thread, address, ..
            } => self.take_hit(thread, address)?,
            StopEvent::SystemCall {
                thread,
                number,
                phase: SystemCallPhase::Entry { arguments },
            } => return self.take_entry(thread, number, arguments),
            StopEvent::SystemCall {
                thread,
                number,
                phase: SystemCallPhase::Exit { result },
            } => self.take_exit(thread, number, result)?,
            StopEvent::ThreadStarted { thread } => {
                self.thread_count += 1;
                self.program.number_started_thread(thread);
                self.threads.started.insert(thread);
                if let Some((parent, child)) = self.threads.maker
                    && child == thread
                {
                    self.introduce(parent, child)?;
                }
            }
            StopEvent::ThreadEnded { thread } => {
                self.threads.forget(thread);
                if self.scheduler.task_of(scheduled(thread)).is_some() {
                    self.input(Input::Ended {
                        thread: scheduled(thread),
                    })?;
                }
            }
            StopEvent::Signal {
                thread,
                signal,
                fatal: true,
                ..
            } => {
                let place = Some(report::place_of(&self.program, thread));
                return Ok(Some(Outcome::Killed { signal, place }));
            }
            StopEvent::Killed { signal, .. } => {
                let place = None;
                return Ok(Some(Outcome::Killed { signal, place }));
            }
            StopEvent::Exited { status } => return Ok(Some(Outcome::Exited { status })),
            StopEvent::TimePassed { thread } => return self.look(thread),
            StopEvent::ModulesChanged { thread } => {
                self.program.update_modules();
                self.program.debuggee.resume(thread)?;
            }
            other => {
                if let Some(thread) = other.waiting_thread() {
                    self.program.debuggee.resume(thread)?;
                }
            }
        }
        Ok(None)
    }

    fn take_hit(&mut self, thread: ThreadId, address: u64) -> Result<(), ExploreError> {
        if self.sites.returns.contains(&address) && self.end_condition(thread, address)? {
            return Ok(());
        }
        let site = self.sites.by_address.get(&address).copied();
        let (kind, standing) = match site {
            Some(Site::Call(Some(lock))) => (PointKind::Synchronisation, Standing::LockCall(lock)),
            Some(Site::Call(None)) => (PointKind::Synchronisation, Standing::Ready),
            Some(Site::Access) | None => (PointKind::Access, Standing::Ready),
        };
        let object = match site {
            Some(Site::Call(_)) => self.program.debuggee.registers(thread)?.arguments()[0],
            _ => 0,
        };
        self.reach(thread, standing, (kind, address, object))
    }

    /// A thread that has the baton stands at a point.
    fn reach(
        &mut self,
        thread: ThreadId,
        standing: Standing,
        (kind, site, object): (PointKind, u64, u64),
    ) -> Result<(), ExploreError> {
        self.note_lock(thread)?;
        self.threads.stands(thread, standing);
        self.input(Input::Reached {
            thread: scheduled(thread),
            point: Point {
                kind,
                site,
                object,
                state: 0,
                footprint: Footprint::UNKNOWN,
            },
        })
    }

    fn take_entry(
        &mut self,
        thread: ThreadId,
        number: u64,
        arguments: [u64; 6],
    ) -> Result<Option<Outcome>, ExploreError> {
        if self.threads.standing(thread) == Standing::InCall {
            // It makes again what was interrupted for the debugger.
            self.program.debuggee.resume(thread)?;
            return Ok(None);
        }
        let site = self.program.debuggee.registers(thread)?.call_instruction();
        let [first, second, third, fourth, ..] = arguments;
        match number {
            calls::EXIT_GROUP => {
                let status = (first & 0xff) as i32;
                return Ok(Some(Outcome::Exited { status }));
            }
            calls::FUTEX => {
                self.reach(thread, Standing::Futex, (PointKind::Futex, site, first))?;
            }
            calls::EXIT => {
                self.reach(thread, Standing::Exit, (PointKind::Exit, site, 0))?;
            }
            calls::SCHED_YIELD => {
                self.finish_call(thread, 0)?;
                self.reach(thread, Standing::Ready, (PointKind::Yield, site, 0))?;
            }
            calls::NANOSLEEP | calls::CLOCK_NANOSLEEP => {
                let deadline = match (number, first, second & 1) {
                    (calls::NANOSLEEP, ..) => self.deadline(first, Clock::Relative),
                    (_, _, 0) => self.deadline(third, Clock::Relative),
                    (_, 0, _) => self.deadline(third, Clock::Realtime),
                    _ => self.deadline(third, Clock::Monotonic),
                };
                let deadline = deadline.unwrap_or_else(|| self.scheduler.now());
                let standing = Standing::Sleep(deadline);
                self.reach(thread, standing, (PointKind::Call, site, 0))?;
            }
            calls::CLONE | calls::CLONE3 => {
                let (flags, word) = if number == calls::CLONE {
                    (first, fourth)
                } else {
                    let debuggee = &self.program.debuggee;
                    let read = |offset| debuggee.read_u64(first.wrapping_add(offset));
                    (read(0).unwrap_or_default(), read(16).unwrap_or_default())
                };
                if flags & IS_THREAD != 0 {
                    let word = if flags & CLEARS_WORD == 0 { 0 } else { word };
                    self.threads.child_words.insert(thread, word);
                    self.insert_accesses()?;
                }
                self.program.debuggee.resume(thread)?;
            }
            number if blocking::may_wait(number) => {
                self.reach(thread, Standing::MayWait, (PointKind::Call, site, 0))?;
            }
            _ => self.program.debuggee.resume(thread)?,
        }
        Ok(None)
    }

    /// Inserts the points at accesses: before the second thread exists they are of no use.
    fn insert_accesses(&mut self) -> Result<(), ExploreError> {
        if std::mem::replace(&mut self.has_accesses, true) {
            return Ok(());
        }
        for address in &self.sites.accesses {
            self.program.debuggee.insert(*address, Owner::Developer)?;
        }
        Ok(())
    }

    fn take_exit(
        &mut self,
        thread: ThreadId,
        number: u64,
        result: i64,
    ) -> Result<(), ExploreError> {
        if matches!(number, calls::CLONE | calls::CLONE3) {
            let is_thread = self.threads.child_words.contains_key(&thread);
            let child = u32::try_from(result).ok().filter(|child| *child != 0);
            match child.map(ThreadId) {
                Some(child) if is_thread && self.threads.started.contains(&child) => {
                    return self.introduce(thread, child);
                }
                Some(child) if is_thread => {
                    self.threads.maker = Some((thread, child));
                    return Ok(());
                }
                _ => drop(self.threads.child_words.remove(&thread)),
            }
            return Ok(self.program.debuggee.resume(thread)?);
        }
        if RESTARTED.contains(&result) {
            return Ok(self.program.debuggee.resume(thread)?);
        }
        let task = self.scheduler.task_of(scheduled(thread));
        let is_away = task.is_some_and(|task| *task.state() == juror_schedule::State::InKernel);
        self.threads.stands(thread, Standing::Ready);
        if is_away {
            return self.input(Input::Returned {
                thread: scheduled(thread),
            });
        }
        Ok(self.program.debuggee.resume(thread)?)
    }

    /// Tells the scheduler of a new thread; its maker goes on.
    fn introduce(&mut self, parent: ThreadId, child: ThreadId) -> Result<(), ExploreError> {
        self.threads.maker = None;
        self.threads.started.remove(&child);
        self.input(Input::Started {
            thread: scheduled(child),
            parent: Some(scheduled(parent)),
        })?;
        let address = self.threads.child_words.remove(&parent).unwrap_or_default();
        self.input(Input::ChildTid {
            thread: scheduled(child),
            address,
        })?;
        Ok(self.program.debuggee.resume(parent)?)
    }

    /// Looks whether the run gets on: a thread may wait in the kernel, or turn in a loop without
    /// a point.
    fn look(&mut self, stopped: ThreadId) -> Result<Option<Outcome>, ExploreError> {
        let now = Instant::now();
        if now > self.until {
            return self.endless().map(Some);
        }
        self.program.debuggee.set_alarm(Some(now + TICK))?;
        let bearer = self.bearer();
        let present = bearer.map(|bearer| (bearer, self.scheduler.points()));
        let stands_still = present.is_some() && self.seen == present;
        self.seen = present;
        let Some(bearer) = bearer.filter(|_| stands_still) else {
            self.program.debuggee.resume(stopped)?;
            return Ok(None);
        };
        if bearer == stopped {
            let kind = PointKind::Preempted;
            self.reach(bearer, Standing::Ready, (kind, 0, 0))?;
            return Ok(None);
        }
        self.program.debuggee.resume(stopped)?;
        Ok(None)
    }
}

/// A mutex of glibc: `struct __pthread_mutex_s`.
struct MutexState {
    is_free: bool,
    owner: u32,
    is_recursive: bool,
}

impl MutexState {
    fn read(program: &Program, address: u64) -> MutexState {
        let mut bytes = [0; 20];
        let _ = program.debuggee.read(address, &mut bytes);
        let word = |at: usize| {
            let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
            word.map_or(0, u32::from_le_bytes)
        };
        MutexState {
            is_free: word(0) == 0,
            owner: word(8),
            // The lowest bits are the type: 1 is PTHREAD_MUTEX_RECURSIVE.
            is_recursive: word(16) & 3 == 1,
        }
    }
}

fn realtime_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

fn uptime_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split_whitespace().next();
    let seconds: f64 = seconds.and_then(|word| word.parse().ok()).unwrap_or(0.0);
    (seconds * 1e9) as u64
}

fn scheduled(thread: ThreadId) -> juror_schedule::ThreadId {
    juror_schedule::ThreadId(thread.0)
}

fn traced(thread: juror_schedule::ThreadId) -> ThreadId {
    ThreadId(thread.0)
}
