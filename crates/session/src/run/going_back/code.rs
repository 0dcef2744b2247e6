//! The code of a function as a trail of statements sees it: the addresses at which a line begins, and
//! those at which another function is called.

use crate::run::going_back::trail::{Around, Line, Visit};
use crate::run::step::{begins_own_statement, line_ranges, shown_ranges};
use crate::session::Session;
use juror_arch::{INSTRUCTION_LENGTH_MAX, Register, Registers};
use juror_fault::CommandError;
use juror_program::modules::Bound;
use juror_program::program::Program;
use juror_program::stack::frames::{Frame, beginning_calls};
use juror_stepping::{
    AccessState, Branches, Callee, Flow, branches, callee_of, flow_of, instruction_length,
};
use rustc_hash::FxHashMap;
use std::ops::Range;
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
        // The code after a call, to which a jump out of others may lead, too.
        let behind: Vec<u64> = calls
            .iter()
            .filter_map(|call| instruction_behind(session, *call))
            .collect();
        let lines = lines.iter().map(|line| module.to_process(line.range.start));
        let mut sites: FxHashMap<u64, Site> = FxHashMap::default();
        for address in lines
            .chain(jumps.iter().map(|(_, to)| *to))
            .chain(behind)
            .chain([body])
        {
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

fn instruction_behind(session: &Session, address: u64) -> Option<u64> {
    let bytes = session.running().ok()?.instruction_at(address)?;
    match flow_of(&bytes, address) {
        Flow::Call { back } => Some(back),
        _ => None,
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
    let mut inlined = Inlined::default();
    let starts = frames.first().map(line_ranges).unwrap_or_default();
    let is_start = starts.iter().any(|range| range.start == address);
    let mut base: Option<Visit> = None;
    let mut visits = Vec::new();
    for (level, frame) in frames.iter().enumerate().rev() {
        if inlined.take(session, frame)
            && let Some((file, number)) = frame.file.as_deref().zip(frame.line)
        {
            let ranges = match level {
                0 => line_ranges(frame),
                _ => shown_ranges(frame),
            };
            let visit = Visit {
                address,
                path: inlined.path.clone(),
                line: Line {
                    file: Rc::from(file),
                    number,
                },
                ranges: ranges.into(),
                is_start,
                begins: begins_own_statement(frame),
                around: match level {
                    0 => Around::Nothing,
                    _ if beginning > 0 => Around::Call,
                    _ => Around::Foreign,
                },
                skipped: level.min(beginning),
            };
            if level < beginning {
                visits.push(visit);
            } else {
                base = Some(visit);
            }
        }
    }
    visits.splice(0..0, base);
    Ok(visits)
}

/// The inlined calls of the user's code around an address, from the outside inwards.
#[derive(Debug, Default)]
pub(super) struct Inlined {
    pub path: Vec<u64>,
    is_skipped: bool,
}

impl Inlined {
    /// Takes the next frame. Returns whether it is the user's.
    pub(super) fn take(&mut self, session: &mut Session, frame: &Frame) -> bool {
        self.is_skipped |= frame.is_inlined() && session.is_skipped(frame);
        let is_own = !self.is_skipped && session.is_users(frame);
        if let Some(module) = &frame.module
            && is_own
            && frame.is_inlined()
        {
            let address = module.to_file(frame.lookup);
            let ranges = module.symbols.inlined_ranges(address, frame.nesting());
            let start = ranges.first().map_or(address, |range| range.start);
            self.path.push(start);
        }
        is_own
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
    matches!(flow_of(&bytes, call), Flow::Call { back: it } if it == back).then_some(call)
}
