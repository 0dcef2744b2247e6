//! Binds events that are not calls to the loaded modules: the addresses of lines, the locations of
//! memory events, and the plans of their captures.

use crate::capture_plan::{CapturePlan, plan_free_capture, plan_line_capture};
use crate::memory_locations::{LocationExpression, LocationExpressionError, MemoryLocation};
use crate::probes::BindError;
use juror_event::{Capture, Read, SymbolicEvent};
use juror_program::program::Program;
use juror_program::source_line::split_line;
use juror_program::stack::frames::{Frame, level_of_line, usual_level};

/// An address of a line, with the plans of the captures.
#[derive(Debug)]
pub struct LineSite {
    /// The address of the line's first instruction in the process.
    pub address: u64,
    /// The name of the function that contains it.
    pub function: String,
    /// The plans, by capture slot.
    pub captures: Vec<CapturePlan>,
}

impl From<LocationExpressionError> for BindError {
    fn from(error: LocationExpressionError) -> BindError {
        BindError::Subject {
            message: error.message,
            help: error.help,
            is_absent: error.is_absent,
        }
    }
}

/// Returns the addresses at which a line begins, one for each function and inlined copy that
/// contains it.
///
/// # Errors
/// No module has the line, or a capture has no value there.
pub fn bind_line(program: &Program, event: &SymbolicEvent) -> Result<Vec<LineSite>, BindError> {
    let Some((file, line)) = split_line(&event.subject) else {
        return Err(BindError::Subject {
            message: format!("`{}` is no line", event.subject),
            help: Some("write FILE:LINE, as in \"queue.c:42\"".to_owned()),
            is_absent: false,
        });
    };
    let mut sites = Vec::new();
    let mut next: Option<u32> = None;
    for module in program
        .modules
        .iter()
        .filter(|it| it.is_reached(&event.reach))
    {
        for found in module.symbols.addresses_of_line(file, line) {
            if !found.exact {
                next = Some(next.map_or(found.line, |next| next.min(found.line)));
                continue;
            }
            for address in found.addresses {
                let address = module.to_process(address);
                sites.push(line_site(program, event, address, (file, line))?);
            }
        }
    }
    if !sites.is_empty() {
        sites.sort_by_key(|site| site.address);
        sites.dedup_by_key(|site| site.address);
        return Ok(sites);
    }
    Err(match next {
        Some(next) => BindError::Subject {
            message: format!("line {line} of {file} has no code"),
            help: Some(format!("the next line that has is {next}")),
            is_absent: false,
        },
        None => BindError::Subject {
            message: format!("the program has no line {line} of a file `{file}`"),
            help: near_file(program, file),
            is_absent: true,
        },
    })
}

fn line_site(
    program: &Program,
    event: &SymbolicEvent,
    address: u64,
    (file, line): (&str, u32),
) -> Result<LineSite, BindError> {
    // Inlined calls may begin there: the line is that of their caller.
    let mut frames = program.frames_at(address);
    let level = level_of_line(&frames, file, line).unwrap_or_else(|| usual_level(&frames));
    let name = |frame: &mut Frame| frame.name.take();
    let function = frames.get_mut(level).and_then(name).unwrap_or_default();
    let plan = |(slot, capture): (usize, &Capture)| {
        plan_line_capture(event, capture, program, address, level).map_err(|error| {
            BindError::Capture {
                slot,
                error,
                function: function.clone(),
            }
        })
    };
    let captures = event.captures.iter().enumerate().map(plan);
    Ok(LineSite {
        captures: captures.collect::<Result<_, _>>()?,
        address,
        function: function.clone(),
    })
}

fn near_file(program: &Program, file: &str) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for module in program.modules.iter().filter(|module| module.is_main) {
        let files = module.symbols.source_files();
        names.extend(files.iter().filter_map(|path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        }));
    }
    names.sort();
    names.dedup();
    juror_language::suggest(file, names.iter().map(String::as_str))
        .map(|near| format!("did you mean `{near}`?"))
        .or_else(|| {
            let any = program
                .modules
                .iter()
                .any(|module| module.symbols.has_debug_info());
            (!any).then(|| "lines need debug information: build with -g".to_owned())
        })
}

/// Resolves the location of a memory event as it is now.
///
/// # Errors
/// The location does not exist, or its value cannot be captured.
pub fn bind_memory_location(
    program: &Program,
    event: &SymbolicEvent,
    expression: &LocationExpression,
) -> Result<MemoryLocation, BindError> {
    let location = expression.resolve(program)?;
    // An implicit capture has the span of the event; reports omit it.
    let is_value = |it: &Capture| {
        let read = match &it.read {
            Read::Convert(inner, _) => inner,
            read => read,
        };
        matches!(read, Read::Value | Read::Old) && it.span != event.span
    };
    if location.elements.count > 0
        && location.elements.decode.is_none()
        && let Some(capture) = event.captures.iter().position(is_value)
    {
        return Err(BindError::Capture {
            slot: capture,
            error: crate::capture_plan::CaptureError {
                message: format!("`{}` is no single value", event.subject),
                help: Some("watch one of its fields, or leave the value out".to_owned()),
                is_final: false,
                lacks_parameter: false,
            },
            function: event.subject.to_string(),
        });
    }
    Ok(location)
}

/// Plans the captures of an event that is neither a call nor at a line.
///
/// # Errors
/// A capture has no value at such an event.
pub fn bind_captures(
    program: &Program,
    event: &SymbolicEvent,
) -> Result<Vec<CapturePlan>, BindError> {
    let plan = |(slot, capture): (usize, &Capture)| {
        plan_free_capture(event, capture, program).map_err(|error| BindError::Capture {
            slot,
            error,
            function: event.subject.to_string(),
        })
    };
    event.captures.iter().enumerate().map(plan).collect()
}
