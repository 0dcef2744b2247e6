//! Nothing missed, nothing told twice: threads run through up to fifty sites
//! and count it themselves (`programs/stress.c`).
//!
//! A hit is known by its pass, its site and a loop counter, so a second report
//! of one execution is seen even where another one is missed. The tests make
//! more than 50 000 passes of a site; `JUROR_STRESS=nightly` makes more than a
//! million for each way past one.

use juror_arch::Register;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::support::{Program, compile, file_address, run_with};
use juror_debuggee::{Debuggee, Owner, StopEvent};
use juror_stepping::StepOver;

const SOURCE: &str = include_str!("../programs/stress.c");

/// How often one pass of the program executes each site, by its number.
const EXECUTIONS: [usize; 50] = {
    let mut executions = [1; 50];
    executions[17] = 5;
    executions[18] = 3;
    executions[19] = 3;
    executions
};

/// The way that threads take past sites.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// That which the instruction allows.
    Best,
    /// Hold the others, lift, step, plant, release.
    InPlace,
}

/// What the program does, and what is watched.
#[derive(Debug, Clone, Copy)]
struct Load<'a> {
    threads: usize,
    sites: &'a [usize],
    /// Executions of sites to make, about.
    hits: usize,
    generations: usize,
    signal_us: usize,
    forks: usize,
}

const ALL: &[usize] = &{
    let mut sites = [0; 50];
    let mut n = 0;
    while n < 50 {
        sites[n] = n;
        n += 1;
    }
    sites
};

const PLAIN: Load<'static> = Load {
    threads: 4,
    sites: ALL,
    hits: 2000,
    generations: 1,
    signal_us: 0,
    forks: 0,
};

impl Way {
    /// How much more is made at night.
    fn factor(self) -> usize {
        let is_nightly = std::env::var_os("JUROR_STRESS").is_some_and(|value| value == "nightly");
        match self {
            _ if !is_nightly => 1,
            Way::Best => 190,
            Way::InPlace => 80,
        }
    }
}

impl Load<'_> {
    /// Passes of each thread.
    fn passes(&self) -> usize {
        let per_pass: usize = self.sites.iter().map(|&site| EXECUTIONS[site]).sum();
        self.hits
            .div_ceil(self.threads * self.generations * per_pass)
    }

    fn arguments(&self) -> Vec<std::ffi::OsString> {
        [
            self.threads,
            self.passes(),
            self.generations,
            self.signal_us,
            self.forks,
        ]
        .map(|number| number.to_string().into())
        .into()
    }
}

/// Runs the program, and compares what it counted with what was told.
#[track_caller]
fn check(program: &Program, load: Load<'_>, way: Way) {
    let load = Load {
        hits: load.hits * way.factor(),
        ..load
    };
    let mut launch = program.launch();
    launch.arguments = load.arguments();
    launch.in_place = way == Way::InPlace;
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    let addresses = site_addresses(&debuggee, &program.path);
    for &site in load.sites {
        debuggee.insert(addresses[site], Owner::Monitor).unwrap();
    }
    let step_overs: HashMap<u64, StepOver> = debuggee
        .engine()
        .sites()
        .map(|(address, _, step_over)| (address, step_over))
        .collect();
    let mut told = [0; 50];
    let mut seen = HashSet::new();
    run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Hit {
            thread, address, ..
        } = *event
        {
            let registers = debuggee.registers(thread).unwrap();
            assert_eq!(registers.instruction_pointer(), address);
            let site = load
                .sites
                .iter()
                .find(|&&site| addresses[site] == address)
                .unwrap();
            told[*site] += 1;
            assert!(
                seen.insert((
                    registers.get(Register::R12),
                    *site,
                    registers.get(Register::Rcx)
                )),
                "site {site} is told twice: {load:?}, {way:?}"
            );
        }
    })
    .assert_exited(0);
    let executed = counts(&program.output());
    for &site in load.sites {
        assert_eq!(told[site], executed[site], "site {site}: {load:?}, {way:?}");
    }
    let total: usize = told.iter().sum();
    assert!(total >= load.hits, "{total}: {load:?}");
    let passed = |is_meant: fn(&StepOver) -> bool| -> usize {
        let sites = load.sites.iter();
        let meant = sites.filter(|&&site| is_meant(&step_overs[&addresses[site]]));
        meant.map(|&site| told[site]).sum()
    };
    println!(
        "{total} executions, each told once: skipped {}, called {}, copied {}, in place {}; {load:?}",
        passed(|it| matches!(it, StepOver::Skip { .. })),
        passed(|it| matches!(it, StepOver::Call { .. })),
        passed(|it| matches!(it, StepOver::OutOfLine { .. })),
        passed(|it| matches!(it, StepOver::InPlace | StepOver::InPlaceRepeated)),
    );
}

fn counts(output: &str) -> Vec<usize> {
    output.lines().map(|line| line.parse().unwrap()).collect()
}

fn site_addresses(debuggee: &Debuggee, path: &Path) -> Vec<u64> {
    let main = debuggee.modules().iter().find(|it| it.is_main).unwrap();
    ALL.iter()
        .map(|site| main.bias + file_address(path, &format!("site_{site}")))
        .collect()
}

/// Each way to skip, call, copy and step in place, alone.
const SINGLE: [&[usize]; 6] = [&[0], &[1], &[2], &[14], &[17], &[20]];
/// Adjacent ones: copies, skips of one byte, a call and what it calls.
const PAIRS: [&[usize]; 4] = [&[2, 3], &[10, 11], &[14, 15], &[17, 18]];

#[track_caller]
fn check_each(program: &Program, sites: &[&[usize]], hits: usize, way: Way) {
    for &sites in sites {
        for threads in [2, 4, 16] {
            let load = Load {
                threads,
                sites,
                hits,
                ..PLAIN
            };
            check(program, load, way);
        }
    }
}

#[test]
fn one_site() {
    check_each(&compile(SOURCE, &["-O1"]), &SINGLE, 1000, Way::Best);
}

#[test]
fn one_site_in_place() {
    check_each(&compile(SOURCE, &["-O1"]), &SINGLE, 150, Way::InPlace);
}

#[test]
fn two_sites() {
    check_each(&compile(SOURCE, &["-O1"]), &PAIRS, 1000, Way::Best);
}

#[test]
fn two_sites_in_place() {
    check_each(&compile(SOURCE, &["-O1"]), &PAIRS, 150, Way::InPlace);
}

#[test]
fn fifty_sites() {
    check_each(&compile(SOURCE, &["-O1"]), &[ALL], 4000, Way::Best);
}

#[test]
fn fifty_sites_at_fixed_addresses() {
    let program = compile(SOURCE, &["-O2", "-no-pie", "-fno-pie"]);
    check_each(&program, &[ALL], 2000, Way::Best);
}

#[test]
fn fifty_sites_in_place() {
    check_each(&compile(SOURCE, &["-O1"]), &[ALL], 800, Way::InPlace);
}

/// Loads with something going on besides, for both ways.
#[track_caller]
fn check_disturbed(disturb: impl Fn(Load<'static>) -> Load<'static>) {
    let program = compile(SOURCE, &["-O1"]);
    for (way, hits) in [(Way::Best, 2500), (Way::InPlace, 400)] {
        for threads in [2, 4, 16] {
            let load = Load {
                threads,
                hits,
                ..PLAIN
            };
            check(&program, disturb(load), way);
        }
    }
}

#[test]
fn fifty_sites_in_signal_handlers_too() {
    check_disturbed(|load| Load {
        signal_us: 300,
        ..load
    });
}

#[test]
fn fifty_sites_while_threads_start_and_end() {
    check_disturbed(|load| Load {
        generations: 10,
        ..load
    });
}

#[test]
fn fifty_sites_while_another_thread_forks() {
    check_disturbed(|load| Load { forks: 10, ..load });
}

#[test]
fn fifty_sites_with_everything_at_once() {
    check_disturbed(|load| Load {
        signal_us: 1000,
        generations: 4,
        forks: 4,
        ..load
    });
}
