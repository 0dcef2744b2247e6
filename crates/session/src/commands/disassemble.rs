//! `disassemble`: the instructions of the program, without inserted breakpoints.

use crate::commands::examine;
use crate::commands::list::split_range;
use crate::inspect::assembly::assembly;
use crate::inspect::{frames, locations};
use crate::session::Session;
use juror_fault::CommandError;
use juror_points::breakpoints::Resolvable;
use juror_view::{AssemblyLine, AssemblyView, Outcome, ShownLine};
use std::ops::Range;

/// The additional columns of a disassembly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Extras {
    source: bool,
    bytes: bool,
}

/// Parses `/sr`: the letters, and the rest.
fn split_extras(text: &str) -> Result<(Extras, &str), CommandError> {
    let Some(rest) = text.strip_prefix('/') else {
        return Ok((Extras::default(), text));
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (letters, rest) = rest.split_at(end);
    let mut extras = Extras::default();
    for letter in letters.chars() {
        match letter {
            's' | 'm' => extras.source = true,
            'r' | 'b' => extras.bytes = true,
            other => {
                return Err(CommandError::with_help(
                    format!("disassemble has no option `/{other}`"),
                    "/s shows source lines, /r the bytes",
                ));
            }
        }
    }
    Ok((extras, rest.trim()))
}

/// `disassemble`, `disassemble FUNCTION`, `disassemble START,END`, `disassemble START,+SIZE`
pub(crate) fn disassemble(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let (extras, text) = split_extras(text)?;
    let mut view = match split_range(text) {
        Some((start, end)) => {
            let start = examine::address_of(session, start.trim())?;
            let end = match end.trim().strip_prefix('+') {
                Some(size) => start.saturating_add(examine::address_of(session, size.trim())?),
                None => examine::address_of(session, end.trim())?,
            };
            if start >= end {
                return Err(CommandError::with_help(
                    "the address range is empty",
                    "for example: disassemble $rip,+32",
                ));
            }
            assembly(session, start..end)?
        }
        None => assembly_of_function(session, text)?,
    };
    for line in &mut view.lines {
        if !extras.bytes {
            line.bytes.clear();
        }
    }
    if extras.source {
        add_sources(session, &mut view);
    }
    Ok(Outcome::Assembly(view))
}

/// Returns the instructions of a range, with their bytes and the lines where they begin.
pub(crate) fn instructions(
    session: &mut Session,
    range: Range<u64>,
) -> Result<Vec<AssemblyLine>, CommandError> {
    let mut view = assembly(session, range)?;
    add_sources(session, &mut view);
    Ok(view.lines)
}

fn assembly_of_function(session: &mut Session, text: &str) -> Result<AssemblyView, CommandError> {
    let address = match text {
        "" => {
            session.begun()?;
            frames::selected_frame(session)?.lookup
        }
        text if text.starts_with(['$', '0']) => examine::address_of(session, text)?,
        text => {
            let placed = locations::parsed_alone(text)?;
            let place = locations::resolvable(session, &placed.place)?;
            let modules = session.modules();
            // The function itself, before its inlined copies.
            let mut addresses: Vec<u64> = match &place {
                Resolvable::Function(name) => {
                    let defined = modules.definitions(name, |_| true);
                    defined.iter().map(|bound| bound.address()).collect()
                }
                _ => Vec::new(),
            };
            addresses.extend(place.resolve(modules).addresses);
            *addresses
                .first()
                .ok_or_else(|| CommandError::new(format!("there is no code for `{text}`")))?
        }
    };
    let bound = session.modules().function_at(address).ok_or_else(|| {
        CommandError::with_help(
            format!("no function is known at {address:#x}"),
            "disassemble a range: disassemble $rip,+32",
        )
    })?;
    let mut whole = AssemblyView {
        function: Some(bound.function.name.to_string()),
        lines: Vec::new(),
        unreadable: None,
    };
    for range in &bound.function.ranges {
        let range = bound.module.to_process(range.start)..bound.module.to_process(range.end);
        let part = assembly(session, range)?;
        whole.lines.extend(part.lines);
        whole.unreadable = whole.unreadable.or(part.unreadable);
    }
    Ok(whole)
}

/// Adds each source line at the instruction where it begins or continues.
fn add_sources(session: &mut Session, view: &mut AssemblyView) {
    let mut last = None;
    for line in &mut view.lines {
        let described = session.modules().describe(line.address);
        let place = described.file.zip(described.line);
        if place.is_none() || place == last {
            continue;
        }
        last.clone_from(&place);
        let Some((file, number)) = place else {
            continue;
        };
        let view = session.user.sources.lines(&file, number, 1, None);
        let (lines, spans) = view.map(|it| (it.lines, it.spans)).unwrap_or_default();
        line.source = Some(ShownLine {
            file: file.display().to_string(),
            line: number,
            text: lines.into_iter().next(),
            spans: spans.into_iter().next().unwrap_or_default(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_what_is_shown_beside_the_instructions() {
        let extras = |source, bytes| Extras { source, bytes };
        for (text, expected) in [
            ("", (extras(false, false), "")),
            ("/s main", (extras(true, false), "main")),
            ("/rs", (extras(true, true), "")),
            ("$rip,+3", (extras(false, false), "$rip,+3")),
        ] {
            assert_eq!(split_extras(text), Ok(expected), "{text}");
        }
        assert!(split_extras("/q main").is_err());
    }
}
