//! The code of a function as a trail of statements sees it: the addresses at which a line begins, and
//! those at which another function is called.

use crate::run::going_back::trail::{Line, Visit};
use crate::run::step::{begins_own_statement, line_ranges};
use crate::session::Session;
use juror_arch::{INSTRUCTION_LENGTH_MAX, Register, Registers};
use juror_fault::CommandError;
use juror_program::modules::Bound;
use juror_program::program::Program;
use juror_program::stack::frames::{Frame, beginning_calls};
use juror_stepping::{
    AccessState, Branches, Callee, branches, callee_of, flow_of, instruction_length,
};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// The most instructions of a stub by which a call is led to another module.
const STUB_LENGTH_MAX: usize = 4;

/// The code of a function.
#[derive(Debug)]
pub(super) struct Code {
    /// The address of its first instruction.
    pub entry: u64,
    pub sites: FxHashMap<u64, Site>,
}

/// An address in it.
#[derive(Debug, Default)]
pub(super) struct Site {
    /// The lines that are visited there, outermost first if inlined calls begin there.
    pub visits: Vec<Visit>,
    /// Whether its instruction may call another function.
    pub is_call: bool,
}

impl Code {
    /// Reads the code of a function.
    pub(super) fn of(session: &mut Session, bound: &Bound) -> Result<Code, CommandError> {
        let Bound { module, function } = bound;
        let entry = bound.address();
        let body = module.to_process(module.symbols.prologue_end(function));
        let Branches { jumps, calls } = branches_of(session.running()?, bound);
        let lines = module.symbols.line_ranges(function);
        let lines = lines.iter().filter(|line| line.is_stmt);
        let lines = lines.map(|line| module.to_process(line.range.start));
        let mut sites: FxHashMap<u64, Site> = FxHashMap::default();
        for address in lines.chain(jumps.iter().map(|(_, to)| *to)).chain([body]) {
            if (entry..body).contains(&address) || sites.contains_key(&address) {
                continue;
            }
            let visits = visits_at(session, address)?;
            let site = Site {
                visits,
                is_call: false,
            };
            sites.insert(address, site);
        }
        sites.entry(entry).or_default();
        for address in calls {
            sites.entry(address).or_default().is_call = true;
        }
        Ok(Code { entry, sites })
    }
}

/// Returns the branches in the code of a function.
pub(super) fn branches_of(program: &Program, bound: &Bound) -> Branches {
    let mut code: Vec<(Range<u64>, Vec<u8>)> = Vec::new();
    for range in &bound.function.ranges {
        let start = bound.module.to_process(range.start);
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(0)];
        if program.debuggee.read(start, &mut bytes).is_ok() {
            code.push((start..start + bytes.len() as u64, bytes));
        }
    }
    branches(&code)
}

/// Returns the lines that a thread visits at an address, outermost first.
pub(super) fn visits_at(session: &mut Session, address: u64) -> Result<Vec<Visit>, CommandError> {
    let frames = session.running()?.modules.frames_at(address);
    let beginning = beginning_calls(&frames);
    let mut around = Around::default();
    let mut visits = Vec::new();
    for (level, frame) in frames.iter().enumerate().rev() {
        let is_own = around.take(session, frame);
        let is_base = level == beginning && around.is_users;
        if !is_base && !(level < beginning && is_own) {
            continue;
        }
        let begins = level < beginning || beginning > 0 || begins(frame, &frames);
        if !begins && is_own {
            around.be_in_line_before(session, frame)?;
        }
        visits.push(Visit {
            path: around.path.clone(),
            lines: around.lines.clone(),
            begins,
            skipped: level,
        });
    }
    Ok(visits)
}

/// Returns whether a statement of a frame's line begins at its address. If code of others was inlined
/// there, it begins with that.
fn begins(frame: &Frame, frames: &[Frame]) -> bool {
    let is_start = |range: &Range<u64>| range.start == frame.pc;
    let innermost = frames.first();
    begins_own_statement(frame) || innermost.is_some_and(|it| line_ranges(it).iter().any(is_start))
}

/// The inlined calls of the user's code around an address, from the outside inwards.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub path: Vec<u64>,
    lines: Vec<Line>,
    /// Whether one of the frames so far is the user's.
    is_users: bool,
    is_skipped: bool,
}

impl Around {
    /// Takes the next frame. Returns whether it is the user's.
    pub(super) fn take(&mut self, session: &mut Session, frame: &Frame) -> bool {
        self.is_skipped |= frame.is_inlined() && session.is_skipped(frame);
        let is_own = !self.is_skipped && session.is_users(frame);
        if is_own || !frame.is_inlined() {
            if let Some(module) = frame.module.as_ref().filter(|_| frame.is_inlined()) {
                let address = module.to_file(frame.lookup);
                let ranges = module.symbols.inlined_ranges(address, frame.nesting());
                let start = ranges.first().map_or(address, |range| range.start);
                self.path.push(start);
            }
            // A function without lines may begin with inlined code of the user.
            self.lines.push(Line {
                file: Rc::from(frame.file.as_deref().unwrap_or(Path::new(""))),
                number: frame.line.unwrap_or(0),
            });
        }
        self.is_users |= is_own;
        is_own
    }

    /// Has the last line be that to which code belongs that begins no statement.
    fn be_in_line_before(&mut self, session: &Session, frame: &Frame) -> Result<(), CommandError> {
        let ranges = line_ranges(frame);
        let mut around = ranges.iter().filter(|range| range.contains(&frame.pc));
        let Some(start) = around.next().map(|range| range.start) else {
            return Ok(());
        };
        let frames = session.running()?.modules.frames_at(start);
        let before = frames.iter().find(|it| it.nesting() == frame.nesting());
        let line = before.and_then(|it| it.file.as_deref().zip(it.line));
        if let (Some((file, number)), Some(last)) = (line, self.lines.last_mut()) {
            *last = Line {
                file: Rc::from(file),
                number,
            };
        }
        Ok(())
    }
}

/// Returns the function that the instruction at an address calls or jumps to with these registers,
/// through stubs that lead to other modules.
pub(super) fn callee_at(program: &Program, address: u64, registers: &Registers) -> Option<Callee> {
    let state = AccessState {
        general: registers.encoded(),
        fs_base: registers.get(Register::FsBase),
        gs_base: registers.get(Register::GsBase),
    };
    let read = |at: u64| program.debuggee.read_u64(at).ok();
    let called = callee_of(&program.instruction_at(address)?, address, &state, read)?;
    if !program.modules.is_linkage_stub(called.address) {
        return Some(called);
    }
    let mut at = called.address;
    for _ in 0..STUB_LENGTH_MAX {
        let bytes = program.instruction_at(at)?;
        if let Some(bound) = callee_of(&bytes, at, &state, read) {
            if !program.modules.is_linkage(bound.address) {
                return Some(Callee {
                    address: bound.address,
                    ..called
                });
            }
            break;
        }
        at += instruction_length(&bytes)? as u64;
    }
    // The linker has not bound it yet.
    let stub = program.modules.function_at(called.address)?;
    let found = program.modules.definitions(&stub.function.name, |_| true);
    let address = found.first()?.address();
    Some(Callee { address, ..called })
}

/// Returns the call instruction that returns to an address.
pub(super) fn call_returning_to(program: &Program, back: u64) -> Option<u64> {
    let bound = program.modules.function_at(back.checked_sub(1)?)?;
    let offset = back.checked_sub(bound.address())?;
    let call = program.instruction_before(back, offset)?;
    let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
    program.debuggee.read(call, &mut bytes).ok()?;
    matches!(flow_of(&bytes, call), juror_stepping::Flow::Call { back: it } if it == back)
        .then_some(call)
}
