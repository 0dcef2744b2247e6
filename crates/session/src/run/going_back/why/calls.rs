//! Values that come from system calls.

use super::naming::{Names, Sourced};
use super::recording::path_in;
use super::search::{Search, Wanted, unknown};
use crate::run::going_back::place::Place;
use crate::run::going_back::walk::LastAccess;
use crate::run::going_back::{another_way, is_standstill};
use crate::session::Session;
use juror_arch::Registers;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_points::system_call_names::system_call_name;
use juror_view::{OriginCallView, OriginKind, OriginStepView};
use std::collections::BTreeMap;
use std::ops::Range;

/// The frames in which the place of a call is looked for.
const FRAMES_MAX: usize = 16;

/// Calls that read from the descriptor that is their first argument.
const READING: [u64; 8] = [0, 17, 19, 45, 47, 217, 295, 299];

impl Search<'_> {
    /// Explains memory that a system call has written.
    pub(super) fn explain_call(
        &mut self,
        session: &mut Session,
        wanted: &Wanted,
        write: LastAccess,
    ) -> Result<(), CommandError> {
        let thread = self.lead_to_write(session, &wanted.range, write)?;
        let registers = *session.running()?.registers(thread)?;
        let made = session.running()?.debuggee.calls_made(thread);
        let number = write.system_call.unwrap_or_default();
        let address = Some(wanted.range.start);
        let made = made.map(|(thread, made)| (thread, made.saturating_sub(1)));
        let call = source_of(session, made, number, &registers, address);
        self.at_place(
            session,
            wanted,
            (write, thread),
            OriginKind::SystemCall,
            Some(call),
        )
    }

    /// Tells the place of a write, of which no more is known.
    pub(super) fn explain_place(
        &mut self,
        session: &mut Session,
        wanted: &Wanted,
        write: LastAccess,
    ) -> Result<(), CommandError> {
        let thread = self.lead_to_write(session, &wanted.range, write)?;
        self.at_place(session, wanted, (write, thread), OriginKind::Unknown, None)
    }

    fn at_place(
        &mut self,
        session: &mut Session,
        wanted: &Wanted,
        (write, thread): (LastAccess, ThreadId),
        origin: OriginKind,
        call: Option<OriginCallView>,
    ) -> Result<(), CommandError> {
        let program = session.running()?;
        let (frames, _) = program.backtrace(thread, FRAMES_MAX);
        let mut calls: Vec<u64> = frames.iter().map(|it| it.lookup).collect();
        if let (Some(first), Some(before)) =
            (calls.first_mut(), program.previous_instruction(thread))
        {
            *first = before;
        }
        let line = Sourced::of(program, &calls);
        let value = Names::of(program, thread).value(program, &wanted.range);
        let words = "what it was computed from is too far from a known place";
        let step = OriginStepView {
            origin,
            value,
            remark: call.is_none().then(|| words.to_owned()),
            thread: Some(program.thread_number(thread)),
            points: Some(write.points),
            source: line.text(session),
            place: Some(line.location),
            call,
            ..unknown(wanted, "")
        };
        let place = Place {
            points: write.points,
            ..Place::START
        };
        self.push(step, place);
        Ok(())
    }

    /// Leads a run to behind a write. Returns its thread.
    pub(super) fn lead_to_write(
        &mut self,
        session: &mut Session,
        range: &Range<u64>,
        write: LastAccess,
    ) -> Result<ThreadId, CommandError> {
        let mut walk = self.walk(session)?;
        walk.visit(Vec::new(), 0);
        walk.watch_memory(range.clone());
        let mut next = walk.start(session)?;
        loop {
            let happening = match next.take() {
                Some(happening) => happening,
                None => walk.next(session)?,
            };
            if let Some(thread) = happening.thread
                && !happening.accesses.is_empty()
                && walk.writes() == write.number
                && path_in(session, thread)? == write.path
            {
                return Ok(thread);
            }
            if happening.is_end || is_standstill(&happening) {
                return Err(another_way());
            }
            walk.go_on(session, &happening)?;
        }
    }
}

/// Returns what is known of a call that an instruction of a recording has made.
pub(super) fn source(
    session: &Session,
    (calls, at): (&BTreeMap<usize, (u32, usize)>, usize),
    registers: &Registers,
) -> OriginCallView {
    // At the instruction the number is in the register of results.
    source_of(
        session,
        calls.get(&at).copied(),
        registers.result(),
        registers,
        None,
    )
}

fn source_of(
    session: &Session,
    made: Option<(u32, usize)>,
    number: u64,
    registers: &Registers,
    address: Option<u64>,
) -> OriginCallView {
    let arguments = registers.system_call_arguments();
    let file = session.options.schedule.as_ref();
    let known = made.and_then(|made| file?.call_of(made, arguments, address));
    let known = known.filter(|it| it.number == number);
    let [first, ..] = arguments;
    OriginCallView {
        name: system_call_name(number),
        descriptor: READING.contains(&number).then_some(first),
        file: known.as_ref().and_then(|it| it.file.clone()),
        offset: known.and_then(|it| it.offset),
    }
}
