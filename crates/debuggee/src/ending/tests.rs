//! After any failure in juror the text of an attached process is that of the
//! file, each of its threads continues in the program, and a process that juror
//! started has ended.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failures::{self, Failure};
use crate::support::bare::Bare;
use crate::support::text::differences_of;
use crate::support::workers::WORKERS;
use crate::support::{Program, compile, is_running};
use crate::{Attach, Debuggee, DebuggeeError, Owner, StopEvent};

/// The number of hits before the failure, and the maximum.
const HITS: usize = 5;
const HITS_MAX: usize = 50;
/// The number of writes and waits before it: at a removal, at an insertion,
/// with other threads held, and so on.
const MOMENTS: std::ops::Range<u32> = 0..8;

const FAILURES: [Failure; 3] = [Failure::Write, Failure::PanicAtWrite, Failure::Wait];

/// Runs over hits until the failure comes, or nothing is left to fail; returns
/// whether an error or a panic came up.
fn run_into(mut debuggee: Debuggee, program: &Program, failure: Failure, after: u32) -> bool {
    // A trap that cannot be inserted is a point that is gone: one of them
    // stays.
    for symbol in ["work", "other"] {
        let address = program.address(&debuggee, symbol);
        debuggee.insert(address, Owner::Monitor).unwrap();
    }
    debuggee.resume_all().unwrap();
    let mut hits = 0;
    let mut run = move || -> Result<(), DebuggeeError> {
        while hits < HITS_MAX {
            let event = debuggee.wait()?;
            if let StopEvent::Hit { .. } = event {
                hits += 1;
                if hits == HITS {
                    failures::plan(failure, after);
                }
            }
            if let Some(thread) = event.waiting_thread() {
                debuggee.resume(thread)?;
            }
        }
        Ok(())
    };
    !matches!(catch_unwind(AssertUnwindSafe(&mut run)), Ok(Ok(())))
}

#[test]
fn an_attached_process_is_as_it_was_after_an_internal_error() {
    let program = compile(WORKERS, &["-O1"]);
    let mut came_up = 0;
    for failure in FAILURES {
        for after in MOMENTS {
            let bare = Bare::start(&program, &[]);
            let process = bare.process();
            let attach = Attach {
                in_place: true,
                ..Attach::new(process)
            };
            let debuggee = Debuggee::attach(&attach).unwrap();
            came_up += usize::from(run_into(debuggee, &program, failure, after));
            assert!(!failures::is_planned(), "{failure:?} {after}");
            assert_eq!(differences_of(process), [0; 0], "{failure:?} {after}");
            assert_eq!(bare.finish(), "right\nstatus 7\n", "{failure:?} {after}");
        }
    }
    assert!(came_up > 2 * MOMENTS.len(), "{came_up}");
}

#[test]
fn a_launched_process_is_gone_after_an_internal_error() {
    let program = compile(WORKERS, &["-O1"]);
    for failure in FAILURES {
        let mut launch = program.launch();
        launch.in_place = true;
        let debuggee = Debuggee::launch(&launch).unwrap();
        let process = debuggee.pid();
        run_into(debuggee, &program, failure, 1);
        assert!(!failures::is_planned(), "{failure:?}");
        assert!(!is_running(process), "{failure:?}");
    }
}
