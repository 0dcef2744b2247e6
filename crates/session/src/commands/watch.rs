//! `watch`, `change`, `rwatch`, `awatch`, and what happens when watched memory
//! is accessed.

use crate::run::pause::Pause;
use crate::session::Session;
use crate::state::values::{convenience, of_thread};
use juror_debuggee::{AccessKind, MemoryAccess, ThreadId};
use juror_instrument::watched::{Dependence, Extent, Reading, WatchedExpression};
use juror_points::location_spec;
use juror_points::point::{Fate, Point, PointKind, PointOwner, Stopping};
use juror_points::software_watchpoint::Followed;
use juror_points::system_call_names::system_call_name;
use juror_points::watchpoints::{Home, WatchKind, Watchpoint, bytes_of, start_of};
use juror_program::scope::FrameScope;
use juror_program::stack::frames::returns_to;
use juror_values::typed::VALUE_SIZE_MAX;
use juror_view::error::CommandError;
use juror_view::{Outcome, StopReason, WatchedAccess};

/// What was typed after the command.
struct Written<'a> {
    kind: WatchKind,
    only_place: bool,
    expression: &'a str,
    condition: Option<&'a str>,
}

impl<'a> Written<'a> {
    fn parse(text: &'a str, kind: WatchKind) -> Result<Written<'a>, CommandError> {
        let (mut rest, condition) = location_spec::split_condition(text);
        let mut written = Written {
            kind,
            only_place: false,
            expression: "",
            condition,
        };
        loop {
            rest = rest.trim();
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            match word {
                "-l" | "-location" => written.only_place = true,
                "-change" if kind == WatchKind::Write => written.kind = WatchKind::Change,
                _ => break,
            }
            rest = after;
        }
        if rest.is_empty() || condition == Some("") {
            return Err(CommandError::with_help(
                "watch what?",
                format!("for example: {} count, {0} count if i > 3", kind.word()),
            ));
        }
        written.expression = rest;
        Ok(written)
    }
}

impl Session {
    /// `watch`, `change`, `rwatch`, `awatch`.
    pub(crate) fn set_watchpoint(
        &mut self,
        rest: &str,
        kind: WatchKind,
    ) -> Result<Outcome, CommandError> {
        let written = Written::parse(rest, kind)?;
        let kind = written.kind;
        let expression = self.read(written.expression)?;
        let condition = written.condition.map(|it| self.condition(it)).transpose()?;
        if let Some(condition) = &condition {
            self.check_condition(PointKind::Watchpoint, condition)?;
        }
        let frames = match self.has_begun() {
            true => self.frames()?.to_vec(),
            false => Vec::new(),
        };
        let level = self.processes.selection.level;
        let values = |name: &str| convenience(&self.user.values, name);
        let scope = FrameScope {
            program: self.running()?,
            frames: &frames,
            level,
            convenience: &values,
        };
        // Of what is read on the way to a value only stores matter: they
        // change what the expression means.
        let is_place = written.only_place;
        let reads = matches!(kind, WatchKind::Read | WatchKind::Access);
        let extent = match (is_place, reads) {
            (true, _) => Extent::Location,
            (false, true) => Extent::Value,
            (false, false) => Extent::Everything,
        };
        let (expression, seen, dependence) = WatchedExpression::new(expression, scope, extent);
        let is_followed = dependence.moves && !is_place;
        if let Err(message) = &seen.value
            && !is_followed
        {
            return Err(CommandError::new(message.clone()));
        }
        match is_followed {
            true => check_size(&seen)?,
            false => check_ranges(&seen, dependence, &written)?,
        }
        let home = match dependence.is_local && !is_place {
            true => Some(self.home_of_frame(level)?),
            false => None,
        };
        let number = self.points.breakpoints.take_number();
        let option = if is_place { "-location " } else { "" };
        let watchpoint = Watchpoint {
            point: Point {
                owner: self.points.owner,
                ..Point::new(number, condition, Fate::Keep)
            },
            text: format!("{option}{}", written.expression),
            kind,
            home,
            is_place,
            expression,
            seen,
            id: None,
            followed: is_followed.then(Followed::default),
        };
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Err(juror_view::error::not_running());
        };
        process.watchpoints.add(program, watchpoint)?;
        let views = process.watchpoints.views(process.program.as_ref());
        let tier = views.last().and_then(|view| view.passage.clone());
        Ok(Outcome::Message(format!(
            "watchpoint {number} on {rest} ({}){}",
            tier.unwrap_or_default(),
            self.in_process()
        )))
    }

    /// The call that the selected frame belongs to.
    fn home_of_frame(&mut self, level: usize) -> Result<Home, CommandError> {
        let thread = self.thread()?;
        let frames = self.frames()?;
        let frame = frames
            .get(level)
            .ok_or_else(|| CommandError::new("the thread has no stack"))?;
        if frame.is_tail_call() {
            return Err(CommandError::with_help(
                "this call has ended in a jump: its variables are gone",
                "watch -location keeps watching the place",
            ));
        }
        let caller = returns_to(frames, level);
        let cfa = frame.cfa.ok_or_else(|| {
            CommandError::with_help(
                "where this frame ends is not known, so it cannot be told when it is left",
                "watch -location keeps watching the place",
            )
        })?;
        Ok(Home {
            thread,
            cfa,
            back: caller.map(|caller| caller.pc),
            function: frame.name.clone().unwrap_or_else(|| "??".to_owned()),
            start: start_of(frame),
            is_dropped: false,
        })
    }

    /// A thread has accessed watched memory. Gives what the user must see, if
    /// anything.
    pub(crate) fn on_access(
        &mut self,
        thread: ThreadId,
        accesses: &[MemoryAccess],
    ) -> Result<Option<Pause>, CommandError> {
        let mut seen = Vec::new();
        let mut stopping = None;
        for access in accesses {
            seen.extend(self.watched_access(thread, access, &mut stopping)?);
        }
        let Some(stopping) = self.divert(thread, stopping, &mut seen)? else {
            return Ok(None);
        };
        let reason = self.watchpoint_reason(seen, &stopping)?;
        Ok(Some(Pause::Reason(reason, thread)))
    }

    /// Why the program stops at watchpoints.
    pub(crate) fn watchpoint_reason(
        &mut self,
        accesses: Vec<WatchedAccess>,
        stopping: &Stopping,
    ) -> Result<StopReason, CommandError> {
        let errors = stopping.error_sentences(PointKind::Watchpoint);
        let wrong = self.wrong_condition_of_scenario(stopping, &errors);
        let silent = self.finish_stopping(stopping)?;
        if let Some(reason) = wrong {
            return Ok(reason);
        }
        Ok(StopReason::Watchpoint {
            accesses,
            errors,
            silent,
        })
    }

    /// One access: counts it where the condition holds. Gives what the user
    /// sees of it, if it stops the program.
    fn watched_access(
        &mut self,
        thread: ThreadId,
        access: &MemoryAccess,
        stopping: &mut Option<Stopping>,
    ) -> Result<Option<WatchedAccess>, CommandError> {
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Ok(None);
        };
        let watchpoints = &mut process.watchpoints;
        if watchpoints.is_of_dropped_call(program, thread, access.watch)? {
            return Ok(None);
        }
        let Some(watchpoint) = watchpoints.watched_as(access.watch) else {
            return Ok(None);
        };
        // Its own thread is stepped, but for what the kernel does for it.
        let is_own = watchpoint
            .home
            .as_ref()
            .is_some_and(|home| home.thread == thread);
        if watchpoint.followed.is_some() && is_own && access.system_call.is_none() {
            return Ok(None);
        }
        let before = watchpoint.look(program)?;
        let is_changed = bytes_of(&before) != bytes_of(&watchpoint.seen);
        if watchpoint.kind == WatchKind::Change && !is_changed {
            return Ok(None);
        }
        let values = |name: &str| of_thread(&self.user.values, program, thread, name);
        let answer = watchpoint.ask(program, thread, &values);
        let stops_before = stopping.as_ref().map_or(0, Stopping::count);
        watchpoint.point.take_hit(answer, stopping);
        if stopping.as_ref().map_or(0, Stopping::count) == stops_before {
            return Ok(None);
        }
        let instruction = access
            .instruction
            .or_else(|| program.previous_instruction(thread));
        let writes = match access.kind {
            AccessKind::Write => true,
            AccessKind::Read => false,
            AccessKind::Either => {
                is_changed || instruction.is_some_and(|at| program.writes_memory(at))
            }
        };
        let instruction = match access.system_call {
            // The program's call, not the library's instruction.
            Some(_) => program.innermost_own_call(thread).or(instruction),
            None => instruction,
        };
        let before = writes.then_some(&before);
        let mut view = watchpoint.access_view(program, thread, before, instruction)?;
        view.system_call = access.system_call.map(system_call_name);
        Ok(Some(view))
    }

    /// A thread is at an internal point: calls may be over for which local
    /// variables are watched.
    pub(crate) fn on_call_end(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<Pause>, CommandError> {
        let process = &mut *self.processes;
        let Some(program) = &mut process.program else {
            return Ok(None);
        };
        if let Some(dropped) = process.watchpoints.dropped(program, thread, address)? {
            // Watching less stops every thread.
            let debuggee = &program.debuggee;
            let ids = debuggee.thread_ids();
            let ran: Vec<ThreadId> = ids.filter(|&id| !debuggee.is_waiting(id)).collect();
            process.watchpoints.drop_frames(program, thread, &dropped)?;
            for other in ran {
                program.debuggee.resume(other)?;
            }
        }
        let stack = process.watchpoints.stack_at_end(program, thread, address)?;
        let numbers = match stack {
            Some(stack) => process.watchpoints.ended(thread, stack),
            None => Vec::new(),
        };
        if numbers.is_empty() {
            return Ok(None);
        }
        let reason = self.end_watchpoints(&numbers)?;
        Ok(reason.map(|reason| Pause::Reason(reason, thread)))
    }

    /// Removes watchpoints whose call is over.
    /// The user hears of those that are no scenario's.
    pub(crate) fn end_watchpoints(
        &mut self,
        numbers: &[u32],
    ) -> Result<Option<StopReason>, CommandError> {
        let ended: Vec<_> = self
            .processes
            .watchpoints
            .iter()
            .filter(|it| numbers.contains(&it.point.number))
            .filter(|it| it.point.owner == PointOwner::Developer)
            .collect();
        let shown: Vec<u32> = ended.iter().map(|it| it.point.number).collect();
        let expressions = ended.iter().map(|it| it.point.words(&it.text)).collect();
        let function = ended
            .iter()
            .find_map(|it| it.home.as_ref())
            .map_or_else(String::new, |home| home.function.clone());
        let process = &mut *self.processes;
        process
            .watchpoints
            .delete(process.program.as_mut(), numbers)?;
        self.scenarios
            .points
            .retain(|it| !numbers.contains(&it.number));
        Ok((!shown.is_empty()).then_some(StopReason::WatchpointEnded {
            numbers: shown,
            expressions,
            function,
        }))
    }
}

/// Refuses what has no memory to watch.
fn check_ranges(
    seen: &Reading,
    dependence: Dependence,
    written: &Written<'_>,
) -> Result<(), CommandError> {
    let expression = written.expression;
    if dependence.reads_registers && dependence.moves {
        return Err(CommandError::with_help(
            format!("`{expression}` is in a register here, and has no location"),
            format!(
                "without -location it is followed wherever it goes: {} {expression}",
                written.kind.word()
            ),
        ));
    }
    if dependence.reads_registers {
        return Err(CommandError::with_help(
            format!("`{expression}` is in registers that belong to another call"),
            "select the frame of that call with up, and name the variable there",
        ));
    }
    if seen.ranges.is_empty() && dependence.names_registers {
        return Err(CommandError::with_help(
            format!(
                "`{expression}` is no variable: the processor's registers hold others all the time"
            ),
            "name the variable that is in the register; stepi shows what an instruction does",
        ));
    }
    if seen.ranges.is_empty() {
        return Err(CommandError::with_help(
            format!("`{expression}` is a constant: it reads no memory"),
            "for an address, write *(int *)0x601040",
        ));
    }
    check_size(seen)
}

/// Refuses what is too long.
fn check_size(seen: &Reading) -> Result<(), CommandError> {
    let length: u64 = seen.ranges.iter().map(|it| it.end - it.start).sum();
    match length > VALUE_SIZE_MAX {
        true => Err(CommandError::new(format!(
            "{length} bytes are too many to watch; {VALUE_SIZE_MAX} can be"
        ))),
        false => Ok(()),
    }
}
