//! Views of breakpoints for `info breakpoints`.

use crate::breakpoints::{Breakpoint, Breakpoints, Resolvable};
use crate::point::{PointKind, passage};
use juror_program::locations;
use juror_program::program::Program;
use juror_view::{Location, PointLocation, PointView};

impl Breakpoints {
    /// Returns the views for `info breakpoints`.
    pub fn views(&self, program: Option<&Program>) -> Vec<PointView> {
        let view = |breakpoint: &Breakpoint| view(breakpoint, program);
        self.list.iter().map(view).collect()
    }

    /// Returns the view of one breakpoint.
    pub fn view_of(&self, number: u32, program: Option<&Program>) -> Option<PointView> {
        let breakpoint = self.list.get(self.position_of(number)?)?;
        Some(view(breakpoint, program))
    }
}

impl Breakpoint {
    /// Returns its location spec in a form that is valid everywhere: a line with its file.
    pub fn written_place(&self) -> String {
        let is_relative = |text: &str| {
            text == "here" || text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c))
        };
        match &self.place {
            Resolvable::Line(file, line, _) if is_relative(&self.text) => format!("{file}:{line}"),
            _ if self.text == "here" => {
                let mut addresses = self.locations.iter().filter_map(|it| it.address);
                let address = addresses.next();
                address.map_or_else(|| self.text.clone(), |at| format!("*{at:#x}"))
            }
            _ => self.text.clone(),
        }
    }
}

fn view(breakpoint: &Breakpoint, program: Option<&Program>) -> PointView {
    let locations: Vec<PointLocation> = match program {
        None => Vec::new(),
        Some(program) => breakpoint
            .locations
            .bound()
            .filter_map(|it| {
                let address = it.address?;
                Some(PointLocation {
                    place: place(breakpoint, program, address),
                    number: it.number,
                    enabled: it.enabled,
                    hits: it.hits,
                    passage: passage(program, address),
                })
            })
            .collect(),
    };
    PointView {
        passage: locations.first().and_then(|it| it.passage.clone()),
        locations,
        ..breakpoint
            .point
            .view(PointKind::Breakpoint, &breakpoint.text)
    }
}

/// Returns the source location of an address, before the inlined calls that begin there.
fn place(breakpoint: &Breakpoint, program: &Program, address: u64) -> Location {
    let frames = program.frames_at(address);
    if let Some(level) = breakpoint.place.level_in(&frames, breakpoint.line) {
        let frame = frames.get(level);
        return frame.map_or_else(Default::default, |it| locations::location_of(program, it));
    }
    let line = breakpoint.line;
    let statement = line.and_then(|line| breakpoint.place.statement_among(&frames, line));
    match statement {
        Some(frame) => Location {
            line,
            ..locations::location_of(program, frame)
        },
        None => locations::location(program, address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakpoints::Locations;
    use crate::point::{Fate, Point};

    #[test]
    fn a_location_is_written_so_that_it_is_valid_elsewhere() {
        let line = || Resolvable::Line("a.c".to_owned(), 33, None);
        for (text, place, expected) in [
            ("33", line(), "a.c:33"),
            ("+3", line(), "a.c:33"),
            ("b.c:33", line(), "b.c:33"),
            ("push", Resolvable::Function("push".to_owned()), "push"),
            ("here", line(), "a.c:33"),
            ("*0x10", Resolvable::Address(16), "*0x10"),
        ] {
            let breakpoint = Breakpoint {
                point: Point::new(1, None, Fate::Keep),
                text: text.to_owned(),
                locations: Locations::default(),
                place,
                line: None,
            };
            assert_eq!(breakpoint.written_place(), expected, "{text}");
        }
    }
}
