//! `hbreak` and `thbreak`: what is typed, and what a hit does.

use crate::commands::condition::in_condition;
use crate::run::pause::Pause;
use crate::session::Session;
use crate::state::values::of_thread;
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_instrument::condition::Condition;
use juror_points::breakpoints::check;
use juror_points::hardware_breakpoints::{HardwareBreakpoint, sites_of};
use juror_points::location_spec;
use juror_points::point::{Ability, Fate, Point, PointKind};
use juror_view::Outcome;
use juror_view::error::CommandError;

fn too_many(place: &str, wanted: usize) -> CommandError {
    CommandError::with_help(
        format!(
            "`{place}` takes {wanted} debug registers, one for each address at which a call \
             of it may be seen, and so many are not left"
        ),
        "a breakpoint of another kind (break) needs none; *ADDRESS takes one",
    )
}

impl Session {
    /// `hbreak`, `thbreak`.
    pub(crate) fn set_hardware_breakpoint(
        &mut self,
        rest: &str,
        temporary: bool,
    ) -> Result<Outcome, CommandError> {
        let placed = location_spec::parse(rest).map_err(CommandError::new)?;
        let condition = placed.condition.as_deref();
        let condition = condition.map(|it| self.condition(it)).transpose()?;
        if condition.as_ref().is_some_and(Condition::calls_functions) {
            PointKind::HardwareBreakpoint.must_have(Ability::CallingConditions)?;
        }
        if let Some(thread) = placed.thread {
            self.check_thread(thread)?;
        }
        let place = self.resolvable(&placed.place)?;
        let resolved = place.resolve(self.modules());
        let Some(&first) = resolved.addresses.first() else {
            return Err(CommandError::with_help(
                format!("there is no code at `{rest}` in what is loaded"),
                "a breakpoint (break) waits for a library that has the place",
            ));
        };
        if let (location_spec::Place::Address(_), [address]) =
            (&placed.place, &resolved.addresses[..])
        {
            self.check_address(*address)?;
        }
        if let (Some(condition), Some(program)) = (&condition, &self.program) {
            let addresses = resolved.addresses.iter().copied();
            check(condition, program, &place, addresses).map_err(in_condition)?;
        }
        let fate = if temporary { Fate::Delete } else { Fate::Keep };
        let mut breakpoint = HardwareBreakpoint {
            point: Point {
                thread: placed.thread,
                ..Point::new(0, condition, fate)
            },
            text: match placed.text.as_str() {
                "" => "here".to_owned(),
                text => text.to_owned(),
            },
            place,
            sites: Vec::new(),
        };
        if let Some(program) = &mut self.program
            && let Err(error) = breakpoint.settle(program)
        {
            breakpoint.lift(program)?;
            let wanted = sites_of(&breakpoint.place, &program.modules).len();
            return Err(match error {
                DebuggeeError::NoDebugRegister if wanted > 1 => too_many(rest, wanted),
                error => error.into(),
            });
        }
        let number = self.breakpoints.take_number();
        breakpoint.point.number = number;
        self.hardware_breakpoints.list.push(breakpoint);
        let described = self.modules().describe(first);
        let function = described
            .function
            .map_or(String::new(), |it| format!(": {it}"));
        let kind = if temporary { "temporary " } else { "" };
        Ok(Outcome::Message(format!(
            "{kind}hardware breakpoint {number} at {first:#x}{function}"
        )))
    }

    /// A thread is about to execute an instruction that a debug register
    /// watches.
    pub(crate) fn on_hardware_hit(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<Pause>, CommandError> {
        let Some(program) = &self.program else {
            return Ok(None);
        };
        let values = |name: &str| of_thread(&self.values, program, thread, name);
        let points = &mut self.hardware_breakpoints;
        match points.hit(program, thread, address, &values) {
            Some(stopping) => {
                let chain = program.inlined_chain(thread);
                let level = points.level_of(program, &stopping.numbers, &chain);
                self.stand_at_level(thread, level, &chain);
                let reason = self.breakpoint_reason(stopping)?;
                Ok(Some(Pause::Reason(reason, thread)))
            }
            None => Ok(None),
        }
    }
}
