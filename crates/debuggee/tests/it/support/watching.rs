//! Programs that are run with some of their memory watched, in every tier.

use juror_debuggee::{AccessKinds, Debuggee, MemoryAccess, Owner, StopEvent, WatchTier};

use super::{Program, Run, compile, run_with};

pub const TIERS: [WatchTier; 3] = [WatchTier::Hardware, WatchTier::Page, WatchTier::Stepping];
pub const BUILDS: [&[&str]; 2] = [&["-O0", "-no-pie"], &["-O2", "-pie"]];

/// A program that stands at its function `start`, so that the dynamic linker's
/// work is not stepped.
#[track_caller]
pub fn start(program: &Program) -> Debuggee {
    let mut debuggee = program.start();
    let start = program.address(&debuggee, "start");
    debuggee.insert(start, Owner::Internal).unwrap();
    debuggee.resume_all().unwrap();
    loop {
        match debuggee.wait().unwrap() {
            StopEvent::Hit { address, .. } if address == start => break,
            event => {
                if let Some(thread) = event.waiting_thread() {
                    debuggee.resume(thread).unwrap();
                }
            }
        }
    }
    debuggee.remove(start, Owner::Internal).unwrap();
    debuggee
}

/// The value of a global pointer.
pub fn pointer(program: &Program, debuggee: &Debuggee, symbol: &str) -> u64 {
    let mut bytes = [0; 8];
    let address = program.address(debuggee, symbol);
    debuggee.read(address, &mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

/// Watches the four bytes to which the global `place` leads, in a tier, runs to
/// the end, and gives every access that was told.
#[track_caller]
pub fn watched(
    program: &Program,
    kinds: AccessKinds,
    tier: WatchTier,
    threads: usize,
) -> (Vec<MemoryAccess>, Run) {
    let mut debuggee = start(program);
    let place = pointer(program, &debuggee, "place");
    let range = place..place + 4;
    let id = debuggee
        .watch(std::slice::from_ref(&range), kinds, Owner::Developer, tier)
        .unwrap();
    assert_eq!(debuggee.watch_tier(id), Some(tier));
    let mut all = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    let run = run_with(&mut debuggee, |_, event| {
        if let StopEvent::Accessed { thread, accesses } = event {
            seen.insert(*thread);
            all.extend_from_slice(accesses);
        }
    });
    assert!(seen.len() >= threads, "{seen:?}");
    (all, run)
}

/// How many accesses are told that instructions make, and how many that the
/// kernel makes, in every tier and build.
#[track_caller]
pub fn check(source: &str, kinds: AccessKinds, by_instructions: usize, by_kernel: usize) {
    for flags in BUILDS {
        let program = compile(source, flags);
        for tier in TIERS {
            let (accesses, run) = watched(&program, kinds, tier, 1);
            let case = format!("{tier:?} {flags:?} {accesses:?}");
            assert_eq!(run.end, Some(StopEvent::Exited { status: 0 }), "{case}");
            let is_kernels = |it: &&MemoryAccess| it.system_call.is_some();
            let kernels = accesses.iter().filter(is_kernels).count();
            assert_eq!(kernels, by_kernel, "{case}");
            assert_eq!(accesses.len() - kernels, by_instructions, "{case}");
        }
    }
}
