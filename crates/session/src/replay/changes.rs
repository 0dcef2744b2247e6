//! The calls by which front ends change a recorded run: its breakpoints, and its position.

use crate::replay::RecordedRun;
use crate::replay::lookup::find;
use crate::replay::settings::unchangeable;
use juror_fault::CommandError;
use juror_view::changes::{Changes, MonitorPlace, PointChange, PointPlace, PointRequest, Resume};
use juror_view::observer::Observer;
use juror_view::{Outcome, SetPointView};

impl Changes for RecordedRun {
    fn set_points(
        &mut self,
        wanted: &[PointRequest],
        _: &mut dyn Observer,
    ) -> Vec<Result<SetPointView, CommandError>> {
        wanted.iter().map(|it| self.set_point(it)).collect()
    }

    fn change_point(&mut self, number: u32, change: &PointChange) -> Result<(), CommandError> {
        match change {
            PointChange::Condition(text) => {
                self.stops
                    .set_condition(number, text.as_deref(), &self.tape)
            }
            PointChange::Enable => self.stops.enable(number),
            PointChange::Ignore(0) => Ok(()),
            PointChange::Ignore(_) | PointChange::EnableOnce => Err(CommandError::new(
                "a breakpoint of a recording stops at each hit",
            )),
        }
    }

    fn delete_points(&mut self, numbers: &[u32]) -> Result<(), CommandError> {
        self.stops.delete(numbers);
        Ok(())
    }

    fn resume(
        &mut self,
        how: Resume,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let name = match how {
            Resume::Run => "run",
            Resume::Start => "start",
            Resume::Continue => "continue",
            Resume::Step | Resume::StepInstruction | Resume::StepIntoCall(_) => "step",
            Resume::Next | Resume::NextInstruction => "next",
            Resume::Finish => "finish",
            Resume::ReverseNext | Resume::ReverseNextInstruction => "reverse-step",
            Resume::ReverseContinue => "reverse-continue",
        };
        self.carry_out(find(name)?.1, "", observer)
    }

    fn set_monitor(&mut self, _: &MonitorPlace, _: &str) -> Result<(), CommandError> {
        Err(unchangeable())
    }
}

impl RecordedRun {
    fn set_point(&mut self, request: &PointRequest) -> Result<SetPointView, CommandError> {
        if request.prints.is_some() {
            return Err(CommandError::new("a recording prints nothing at an event"));
        }
        let condition = request.condition.as_deref();
        match &request.place {
            PointPlace::Line { file, line, .. } => {
                self.stops.set_at_line(file, *line, condition, &self.tape)
            }
            PointPlace::Written(text) => {
                let text = match condition {
                    Some(condition) => format!("{text} if {condition}"),
                    None => text.clone(),
                };
                self.stops.set(&text, false, &self.tape)
            }
            PointPlace::Address(_) | PointPlace::Exception(_) | PointPlace::Watched { .. } => {
                Err(CommandError::with_help(
                    "this point needs the program, and this is a recording",
                    "break at an event or at a line; info events lists the events",
                ))
            }
        }
    }
}
