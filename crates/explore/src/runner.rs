//! A program that is run under the scheduler, and how a run is made.

use crate::blocking;
use crate::by_agent::{Agents, Sharing};
use crate::cancel;
use crate::control::Control;
use crate::error::ExploreError;
use crate::foreign_signals::{is_from_outside, leave_out, report_stops};
use crate::modules::{ModuleId, check_modules, identity};
use crate::monitors::{self, Properties};
use crate::outcome::{Outcome, ThreadPlace};
use crate::points::{KnownSites, Learned, PointSet};
use crate::run::Run;
use crate::world::{Worlds, WorldsRecipe};
use juror_debuggee::{
    CallStops, CpuPolicy, Debuggee, Descendants, Launch, Redirection, StopEvent, ThreadId,
};
use juror_monitoring::property_files::PropertySource;
use juror_program::program::Program;
use juror_program::symbol_store::SymbolStore;
use juror_schedule::{Choice, ChoiceKind, Deviation, Goal, Moment, Options, Strategy};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The most loops that have a point since they were seen to spin.
pub(crate) const LEARNED_MAX: usize = 64;

/// The signal that no program can catch: it says nothing of who has sent it.
pub(crate) const KILL: i32 = 9;

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

/// The standard streams of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Nowhere: a run is one of many.
    Closed,
    /// To those of juror; nothing can be read.
    Shown,
}

/// The plan of a run, beside its choices.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The points at which threads may be switched.
    pub points: PointSet,
    /// The program's standard streams.
    pub streams: Streams,
    /// The options of the scheduler.
    pub options: Options,
    /// The modules without which nothing of the program runs.
    pub expected: Option<&'a [ModuleId]>,
    /// Whether the places of unusual choices are noted.
    pub explains: bool,
    /// Whether the orders in which locks are taken are noted.
    pub predicts: bool,
    /// The limits of the run.
    pub limits: Limits,
}

/// A program that is run again and again.
#[derive(Debug)]
pub struct Runner {
    /// The program; searched in `PATH` if it has no slash.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The working directory.
    pub directory: String,
    /// The symbols, which are read once.
    pub symbols: SymbolStore,
    /// The points, which are looked for once.
    pub sites: KnownSites,
    /// The properties that are monitored.
    pub properties: Properties,
    /// The worlds that keep the writes of the runs.
    pub worlds: Worlds,
    /// The processes in which runs are made from inside.
    pub agents: Agents,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The end.
    pub outcome: Outcome,
    /// The decisions that were not the usual ones, by which the run is made again.
    pub deviations: Vec<Deviation>,
    /// The number of schedule points that were reached.
    pub points: u64,
    /// The number of decisions.
    pub decisions: u64,
    /// The number of threads that the program had.
    pub threads: u32,
    /// The hash of what was seen at the points.
    pub hash: u64,
    /// The moment at which a replay could not follow.
    pub diverged: Option<Moment>,
    /// The number of points that were left out.
    pub left_out: usize,
    /// The program and its libraries: their paths and build ids.
    pub modules: Vec<ModuleId>,
    /// A loop that spins without a point: the run was not made to its end.
    pub(crate) learned: Option<Learned>,
    /// The loops that had a point at the end since they were seen to spin.
    pub(crate) loops: Vec<Learned>,
    /// The unusual choices, if they were noted.
    pub switches: Vec<Switch>,
    /// The deadlocks that are predicted from the orders in which locks were taken, if these were
    /// noted. Only a run confirms one.
    pub predicted: Vec<Goal>,
    /// The decision for which a person was asked. Nobody answers: the run was ended there.
    pub asked: Option<Asked>,
    /// To where the run has connected or sent, outside of the program.
    pub outside: BTreeSet<SocketAddr>,
    /// Whether the program may have made processes.
    pub made_processes: bool,
}

/// A decision that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// When.
    pub moment: Moment,
    /// The usual choice.
    pub usual: Option<Choice>,
    /// All of them, and the places of their threads.
    pub offers: Vec<(Choice, ThreadPlace)>,
}

/// An unusual choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The thread that ran before, and where it stands; none if it has ended.
    pub from: Option<ThreadPlace>,
    /// The thread that goes on, and from where.
    pub to: ThreadPlace,
    /// The kind of the choice.
    pub kind: ChoiceKind,
}

impl Runner {
    /// Runs the program once, as it is planned.
    ///
    /// # Errors
    /// It cannot be started or controlled, or is not the expected one. How it ends is no error.
    pub fn run(&self, plan: Plan<'_>, strategy: Strategy) -> Result<Ended, ExploreError> {
        let mut learned = self.sites.before();
        self.sites.begin_with(&learned);
        loop {
            let mut ended = self.run_once(plan, strategy.clone())?;
            match ended.learned {
                Some(place) if learned.len() < LEARNED_MAX && !learned.contains(&place) => {
                    learned.push(place);
                    self.sites.learn(learned.clone());
                }
                _ => {
                    ended.loops = learned;
                    return Ok(ended);
                }
            }
        }
    }

    fn run_once(&self, plan: Plan<'_>, strategy: Strategy) -> Result<Ended, ExploreError> {
        let Plan {
            points: set,
            streams,
            options,
            expected,
            explains,
            predicts,
            limits,
        } = plan;
        if cancel::is_cancelled() {
            return Err(ExploreError::Cancelled);
        }
        let mut launch = self.launch(streams);
        launch.world = self.worlds.take()?;
        launch.descendants = Descendants::EndWithProgram;
        let calls = monitors::with(blocking::stopping(), self.properties.system_calls());
        launch.call_stops = CallStops::Filter(calls);
        let mut program = Program::new(Debuggee::launch(&launch)?, &self.symbols);
        report_stops(&mut program.debuggee);
        let main = load_libraries(&mut program)?;
        let modules: Vec<ModuleId> = program.modules.iter().map(|it| identity(it)).collect();
        if let Some(expected) = expected {
            check_modules(expected, &modules)?;
        }
        let sites = self.sites.find(&program, &modules, set);
        let options = Options {
            points_max: limits.points,
            ..options
        };
        let left_out = sites.left_out;
        let mut control = Control::new(sites, options, strategy);
        control.limit_time(limits.time);
        if launch.world.is_some() {
            control.note_own_world();
        }
        if explains {
            control.note_communication();
        }
        if predicts {
            control.note_lock_order();
        }
        let run = Run {
            modules,
            program,
            control,
            thread_count: 1,
            left_out,
            switches: Vec::new(),
            explains,
            asked: None,
            watch: self.properties.begin(),
            circle: None,
        };
        let (ended, watch) = run.make_whole(main)?;
        if let Some(watch) = watch {
            self.properties.end(watch);
        }
        self.worlds.give_back(launch.world, ended.made_processes);
        Ok(ended)
    }

    /// Returns a launch of the program.
    pub(crate) fn launch(&self, streams: Streams) -> Launch {
        let mut launch = Launch::new(&self.program);
        launch.arguments = self.arguments.iter().map(Into::into).collect();
        launch.directory = Some(PathBuf::from(&self.directory));
        launch.cpu = CpuPolicy::Shared;
        launch.is_repeatable = true;
        let null = || Redirection::File(PathBuf::from("/dev/null"));
        // A run that is made again reads the same.
        launch.input = null();
        if streams == Streams::Closed {
            (launch.output, launch.error) = (null(), null());
        }
        launch
    }

    /// Returns what is needed to make one for another thread; the two share the symbols alone.
    pub(crate) fn recipe(&self) -> Recipe {
        Recipe {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            directory: self.directory.clone(),
            symbols: self.symbols.clone(),
            properties: self.properties.sources().to_vec(),
            worlds: self.worlds.recipe(),
            agents: self.agents.for_other(),
        }
    }
}

/// The parts from which a [`Runner`] is made.
pub(crate) struct Recipe {
    program: String,
    arguments: Vec<String>,
    directory: String,
    symbols: SymbolStore,
    properties: Vec<PropertySource>,
    worlds: WorldsRecipe,
    agents: Sharing,
}

impl Recipe {
    /// Makes the runner.
    pub(crate) fn runner(self) -> Result<Runner, ExploreError> {
        let (properties, _) = Properties::load(self.properties)?;
        Ok(Runner {
            worlds: self.worlds.worlds(),
            program: self.program,
            arguments: self.arguments,
            directory: self.directory,
            symbols: self.symbols,
            sites: KnownSites::default(),
            properties,
            agents: Agents::of_other(self.agents),
        })
    }
}

/// Lets the dynamic linker load the libraries. Returns the first thread.
pub(crate) fn load_libraries(program: &mut Program) -> Result<ThreadId, ExploreError> {
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
            StopEvent::Killed { signal: KILL, .. } => return Err(ExploreError::Killed),
            StopEvent::Exited { .. } | StopEvent::Killed { .. } => {
                return Err(ExploreError::EndedEarly);
            }
            StopEvent::Signal {
                thread,
                signal,
                fatal,
                sender: Some(sender),
                ..
            } if is_from_outside(&program.debuggee, (signal, fatal), sender) => {
                leave_out(&mut program.debuggee, thread, (signal, fatal), sender)?;
            }
            other => {
                if let Some(thread) = other.waiting_thread() {
                    program.debuggee.resume(thread)?;
                }
            }
        }
    }
}
