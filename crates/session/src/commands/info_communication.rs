//! `info communication`: the steps by which threads under a schedule communicate.

mod svg;

use crate::session::Session;
use juror_debuggee::{CommunicationKind, CommunicationStep};
use juror_fault::CommandError;
use juror_points::system_call_names::system_call_name;
use juror_program::program::Program;
use juror_view::{CommunicationStepView, CommunicationView, Outcome};
use std::path::Path;

/// The number of steps that are shown, unless another one is asked for.
const STEPS_SHOWN: usize = 60;

/// Returns whether a word is the name of a picture file.
pub(crate) fn is_picture(word: &str) -> bool {
    let extension = Path::new(word).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("svg"))
}

/// `info communication [COUNT|all] [FILE.svg]`
pub(crate) fn communication(session: &Session, rest: &str) -> Result<Outcome, CommandError> {
    let (mut count, mut file) = (None, None);
    for word in rest.split_whitespace() {
        match word.parse::<usize>() {
            _ if word == "all" => count = Some(usize::MAX),
            Ok(number) if number > 0 => count = Some(number),
            _ if is_picture(word) => file = Some(word.to_owned()),
            _ => {
                return Err(CommandError::with_help(
                    format!("unexpected `{word}`"),
                    "info communication 20 shows the last 20 steps, info communication FILE.svg \
                     writes a picture of all",
                ));
            }
        }
    }
    let program = session.running()?;
    let Some(noted) = program.debuggee.communication() else {
        return Err(CommandError::with_help(
            "the threads are under no schedule",
            "juror explore finds a run that fails; juror replay FILE.run makes it again",
        ));
    };
    // A picture can be looked at in parts.
    let shown = count.unwrap_or(if file.is_some() {
        usize::MAX
    } else {
        STEPS_SHOWN
    });
    let own: Vec<&CommunicationStep> = noted
        .steps()
        .filter(|step| is_of_program(program, step))
        .collect();
    let skipped = own.len().saturating_sub(shown);
    let steps = own.into_iter().skip(skipped);
    let steps: Vec<CommunicationStepView> = steps.map(|step| view(program, step)).collect();
    let mut threads: Vec<u32> = steps.iter().map(|step| step.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let view = CommunicationView {
        threads,
        steps,
        left_out: noted.dropped() + skipped as u64,
        file,
    };
    if let Some(file) = &view.file {
        std::fs::write(file, svg::picture(&view))
            .map_err(|error| CommandError::new(format!("{file} cannot be written: {error}")))?;
    }
    Ok(Outcome::Communication(Box::new(view)))
}

/// Returns false for the steps that a library makes for itself.
fn is_of_program(program: &Program, step: &CommunicationStep) -> bool {
    match step.kind {
        CommunicationKind::Calls { function, .. } => {
            !juror_explore::is_within_library(program, function, step.caller)
        }
        _ => true,
    }
}

fn view(program: &Program, step: &CommunicationStep) -> CommunicationStepView {
    let name = |address| juror_explore::object_name(program, address);
    let (words, by) = match step.kind {
        CommunicationKind::Begins => ("begins".to_owned(), None),
        CommunicationKind::Calls { function, object } => {
            let function = juror_explore::function_name(program, function);
            let object = Some(object).filter(|object| *object != 0).map(name);
            (format!("{function}({})", object.unwrap_or_default()), None)
        }
        CommunicationKind::SystemCall { number } => (system_call_name(number), None),
        CommunicationKind::Waits { address } => (format!("waits for {}", name(address)), None),
        CommunicationKind::GoesOn { by: Some(other) } => {
            (format!("goes on, by thread {other}"), Some(other))
        }
        CommunicationKind::GoesOn { by: None } => ("goes on, its time has passed".to_owned(), None),
        CommunicationKind::Ends => ("ends".to_owned(), None),
    };
    CommunicationStepView {
        point: step.points,
        thread: step.thread,
        step: words,
        by,
        place: juror_explore::place_of_call(program, step.caller),
    }
}
