//! A process in which the agent makes runs.

use super::table::{rows, system_calls};
use super::windows::{Code, code_for};
use crate::blocking::{self, TaskState};
use crate::cancel;
use crate::error::ExploreError;
use crate::jobs::{Choosing, Task};
use crate::modules::identity;
use crate::points::{PointSet, Sites};
use crate::runner::{Runner, Streams, load_libraries};
use juror_agent::{image, protocol};
use juror_debuggee::{Debuggee, Mapping, Released, SharedMemory, World};
use juror_program::modules::Module;
use juror_program::program::Program;
use juror_schedule::{Goal, Place, ThreadPath};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time for which a run computes without a point, after which it is not the agent's.
const COMPUTES: Duration = Duration::from_millis(400);

/// The time after which a run that does not get on is not the agent's.
const STANDS: Duration = Duration::from_secs(10);

/// The pause after which it is looked whether the process has ended.
const LOOK: Duration = Duration::from_millis(50);

/// The distance over which sites share the memory of their moved instructions.
const REACH: u64 = 1 << 29;

/// The lowest address at which code is put.
const FIRST_ADDRESS: u64 = 1 << 20;
/// The end of the addresses of a program.
const END: u64 = 1 << 47;

/// A process with the agent.
#[derive(Debug)]
pub(super) struct Process {
    shared: SharedMemory,
    released: Released,
    command: u64,
    left_out: usize,
    /// Its files, which are to be there as long as it is.
    _world: Option<Arc<World>>,
}

/// A run of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) kind: u64,
    pub(super) value: u64,
    pub(super) points: u64,
    pub(super) decisions: u64,
    pub(super) threads: u64,
    pub(super) hash: u64,
    pub(super) goals: Vec<Goal>,
}

/// The runs of a command.
pub(super) struct Batch {
    pub(super) runs: Vec<Made>,
    /// Whether the process is of no use any more.
    pub(super) is_broken: bool,
    /// Whether it could not even come to where its runs begin.
    pub(super) is_hopeless: bool,
}

/// Returns whether the processor and the kernel have what the agent uses.
fn is_possible() -> bool {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags"));
    let has = |name| flags.is_some_and(|flags| flags.split_whitespace().any(|it| it == name));
    has("fsgsbase") && has("xsave")
}

impl Process {
    /// Starts the program with the agent; none if it cannot be held.
    pub(super) fn start(runner: &Runner, set: PointSet) -> Result<Option<Process>, ExploreError> {
        if !is_possible() {
            return Ok(None);
        }
        let mut launch = runner.launch(Streams::Closed);
        launch.world = runner.worlds.take()?;
        let mut program = Program::new(Debuggee::launch(&launch)?, &runner.symbols);
        let main = load_libraries(&mut program)?;
        let modules: Vec<_> = program.modules.iter().map(|it| identity(it)).collect();
        let sites = runner.sites.find(&program, &modules, set);
        let process = Process::release(program, main, &sites)?;
        // No other run may change what it sees.
        Ok(process.map(|process| Process {
            _world: launch.world,
            ..process
        }))
    }

    fn release(
        program: Program,
        main: juror_debuggee::ThreadId,
        sites: &Rc<Sites>,
    ) -> Result<Option<Process>, ExploreError> {
        let Some(code) = code(sites, &program) else {
            return Ok(None);
        };
        let maps = program.debuggee.memory_map().unwrap_or_default();
        let registers = *program.debuggee.registers(main)?;
        let robust_list = program.debuggee.robust_list(main).unwrap_or_default();
        let mut debuggee = program.debuggee;
        let image = image();
        let size = protocol::size_of_shared(code.rows.len() as u64);
        let Some(shared) = debuggee.share_memory(size)? else {
            return Ok(None);
        };
        let is_there = shared.reserve(size)
            && debuggee.lengthen_memory(&shared)?
            && debuggee.map_program((image.address, image.size), image.bytes)?;
        if !is_there || !write_code(&mut debuggee, &shared, &code)? {
            return Ok(None);
        }
        let general = registers.encoded();
        let first = [registers.instruction_pointer(), registers.flags()];
        for (number, word) in general.into_iter().chain(first).enumerate() {
            shared.store(protocol::REGISTERS + number as u64 * 8, word);
        }
        shared.store(protocol::ROBUST_LIST, robust_list);
        shared.store(protocol::PROGRAM_START, sites.program.start);
        shared.store(protocol::PROGRAM_END, sites.program.end);
        shared.store(protocol::STACK_END, stack_end(&maps).unwrap_or_default());
        let entry = (image.entry, shared.address());
        let released = debuggee.release_at(main, entry, &code.patches)?;
        Ok(Some(Process {
            shared,
            released,
            command: 0,
            left_out: sites.left_out,
            _world: None,
        }))
    }

    /// Returns the number of points that were left out.
    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }

    /// Makes runs until one fails.
    pub(super) fn make(&mut self, tasks: &[&Task], usual: i32) -> Batch {
        let shared = &self.shared;
        let count = tasks.len().min(protocol::TASKS_MAX as usize);
        for (number, task) in tasks.iter().take(count).enumerate() {
            let at = protocol::TASKS + number as u64 * protocol::TASK_SIZE;
            let (kind, [seed, length, run]) = match task.choosing {
                Choosing::Portfolio { seed, length, run } => {
                    (protocol::PORTFOLIO, [seed, length, run])
                }
                _ => (protocol::RUN_ON, [0; 3]),
            };
            let words = [
                (protocol::TASK_KIND, kind),
                (protocol::TASK_SEED, seed),
                (protocol::TASK_LENGTH, length),
                (protocol::TASK_RUN, run),
                (protocol::TASK_SPURIOUS, task.plan.options.spurious.into()),
                (protocol::TASK_POINTS_MAX, task.plan.limits.points),
                (protocol::TASK_PREDICTS, task.plan.predicts.into()),
            ];
            for (offset, word) in words {
                shared.store(at + offset, word);
            }
        }
        shared.store(protocol::TASK_COUNT, count as u64);
        shared.store(protocol::USUAL, i64::from(usual) as u64);
        shared.store(protocol::MADE, 0);
        self.command += 1;
        shared.store(protocol::COMMAND, self.command);
        shared.wake(protocol::COMMAND);
        let is_done = self.wait();
        let runs = self.results();
        let is_fault =
            |made: &Made| made.kind == protocol::NOT_MINE && made.value == protocol::REASON_FAULT;
        let is_noted = self.shared.load(protocol::IS_NOTED) != 0;
        let is_broken = !is_done || !is_noted || runs.last().is_some_and(is_fault);
        Batch {
            runs,
            is_broken,
            is_hopeless: !is_noted,
        }
    }

    /// Waits until the command is done. Returns false if the agent does not get on.
    fn wait(&mut self) -> bool {
        let shared = &self.shared;
        let process = self.released.pid();
        let computed = || blocking::computed(process, process);
        let mut seen = (shared.load(protocol::PROGRESS), Instant::now(), computed());
        loop {
            let done = shared.load(protocol::DONE);
            if done == self.command {
                return true;
            }
            shared.wait(protocol::DONE, done as u32, LOOK);
            let progress = shared.load(protocol::PROGRESS);
            if progress != seen.0 {
                seen = (progress, Instant::now(), computed());
            }
            // Other programs may keep it from running.
            let turns = computed().saturating_sub(seen.2) > COMPUTES;
            let runs = blocking::state(process, process) == Some(TaskState::Runs);
            let stands = seen.1.elapsed() > STANDS && !runs;
            if turns || stands || cancel::is_cancelled() || self.released.has_ended() {
                return shared.load(protocol::DONE) == self.command;
            }
        }
    }

    fn results(&self) -> Vec<Made> {
        let shared = &self.shared;
        let count = shared.load(protocol::MADE).min(protocol::TASKS_MAX);
        let mut first_goal = 0;
        let results = (0..count).map(|number| {
            let at = protocol::RESULTS + number * protocol::RESULT_SIZE;
            let word = |offset| shared.load(at + offset);
            let end = word(protocol::RESULT_GOALS);
            let goals = self.goals(first_goal, end);
            first_goal = end;
            Made {
                kind: word(protocol::RESULT_KIND),
                value: word(protocol::RESULT_VALUE),
                points: word(protocol::RESULT_POINTS),
                decisions: word(protocol::RESULT_DECISIONS),
                threads: word(protocol::RESULT_THREADS),
                hash: word(protocol::RESULT_HASH),
                goals,
            }
        });
        results.collect()
    }

    fn goals(&self, mut from: u64, to: u64) -> Vec<Goal> {
        let word = |at: u64| self.shared.load(protocol::GOALS + at * 8);
        let mut goals = Vec::new();
        while from < to.min(protocol::GOALS_MAX) {
            let count = word(from);
            from += 1;
            let mut places = Vec::new();
            for _ in 0..count {
                let (known, site, object) = (word(from), word(from + 3), word(from + 4));
                let path = path([word(from + 1), word(from + 2)], known >> 8);
                places.push(Place {
                    thread: path.filter(|_| known & 1 != 0),
                    site,
                    object: Some(object).filter(|_| known & 2 != 0),
                });
                from += protocol::GOAL_PLACE_WORDS;
            }
            let first = None;
            goals.push(Goal { places, first });
        }
        goals
    }
}

fn path(words: [u64; 2], depth: u64) -> Option<ThreadPath> {
    let numbers = words
        .into_iter()
        .flat_map(|word| (0..4).map(move |part| word >> (part * 16) & 0xffff));
    let depth = usize::try_from(depth).ok()?;
    let mut numbers = numbers.take(depth);
    numbers.try_fold(ThreadPath::MAIN, |path, number| {
        path.child(u32::try_from(number).ok()?)
    })
}

/// Returns the code for the sites and for system calls; none if a site cannot be moved.
fn code(sites: &Sites, program: &Program) -> Option<Code> {
    let mut rows = rows(sites, program)?;
    let of_file = |module: &&Rc<Module>| module.path.is_absolute();
    let modules = program.modules.iter().filter(of_file);
    let calls = modules.flat_map(|module| system_calls(module, program));
    rows.extend(calls.filter(|row| !sites.by_address.contains_key(&row.address)));
    rows.sort_by_key(|row| row.address);
    let mut code = Code::default();
    let mut rest = &*rows;
    while let Some(first) = rest.first() {
        let count = rest.partition_point(|row| row.address - first.address < REACH);
        let (group, others) = rest.split_at(count);
        rest = others;
        let is_free = |area: &Range<u64>| is_free(&program.debuggee, area);
        code_for(group, program, image().site_entry, &is_free, &mut code)?;
    }
    (code.rows.len() <= protocol::SITES_MAX).then_some(code)
}

/// Returns whether nothing is mapped in a range, or likely to be.
fn is_free(debuggee: &Debuggee, area: &Range<u64>) -> bool {
    let occupied = debuggee.occupied_ranges();
    let mut occupied = occupied.iter();
    let is_within = area.start > FIRST_ADDRESS && area.end < END;
    is_within && !occupied.any(|it| it.start < area.end && area.start < it.end)
}

/// Maps the code, and writes the sites. Returns false if there is no room.
fn write_code(
    debuggee: &mut Debuggee,
    shared: &SharedMemory,
    code: &Code,
) -> Result<bool, ExploreError> {
    if code.areas.len() > protocol::AREAS_MAX {
        return Ok(false);
    }
    shared.store(protocol::AREA_COUNT, code.areas.len() as u64);
    for (number, (area, bytes)) in (0_u64..).zip(&code.areas) {
        shared.store(protocol::AREAS + number * 16, area.start);
        shared.store(protocol::AREAS + number * 16 + 8, area.end);
        if !debuggee.map_program((area.start, area.end - area.start), bytes)? {
            return Ok(false);
        }
    }
    for (address, bytes) in &code.jumps {
        debuggee.write(*address, bytes)?;
    }
    shared.store(protocol::SITE_COUNT, code.rows.len() as u64);
    for (number, row) in (0_u64..).zip(&code.rows) {
        let at = protocol::SITES + number * protocol::SITE_WORDS * 8;
        for (offset, word) in (0_u64..).zip(row) {
            shared.store(at + offset * 8, *word);
        }
    }
    Ok(true)
}

/// Returns the end of the stack of the first thread.
fn stack_end(maps: &str) -> Option<u64> {
    let mut mappings = maps.lines().filter_map(Mapping::parse);
    let stack = mappings.find(|mapping| mapping.name == "[stack]");
    stack.map(|stack| stack.range.end)
}
