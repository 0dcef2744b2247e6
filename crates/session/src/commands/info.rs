//! `info`: dispatches its subjects.

use crate::command_table;
use crate::command_table::words::unclear_error;
use crate::commands::{
    backtrace, checkpoint, display, handle, info_communication, info_events, info_frame, info_proc,
    info_source, info_symbols, info_views, process, scenario, skip, views,
};
use crate::inspect::frames;
use crate::run::processes::watching;
use crate::session::Session;
use juror_event::EventKind;
use juror_fault::CommandError;
use juror_view::{Listed, Outcome, SubjectHelp};

pub(crate) fn info(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let word = rest.split_whitespace().next().unwrap_or("");
    if word.is_empty() {
        let subjects = command_table::INFO_SUBJECTS.iter();
        let views = subjects.map(|(name, summary)| SubjectHelp {
            name: (*name).to_owned(),
            summary: (*summary).to_owned(),
        });
        return Ok(Outcome::InfoSubjects(views.collect()));
    }
    let subject = command_table::find_info_subject(word).map_err(|unclear| {
        if let Some(instead) = command_table::foreign::subject_instead(word) {
            return CommandError::with_help(format!("juror has no `info {word}`"), instead);
        }
        let names = || command_table::INFO_SUBJECTS.iter().map(|(name, _)| *name);
        unclear_error(
            word,
            &unclear,
            "subject of info",
            juror_language::suggest(word, names()),
        )
    })?;
    let argument = rest.strip_prefix(word).unwrap_or("").trim();
    if subject == "line" && !argument.is_empty() {
        return info_symbols::line_of_place(session, argument);
    }
    if !argument.is_empty() && !command_table::takes_argument(subject) {
        return Err(CommandError::unexpected(argument, &format!("info {word}")));
    }
    session.permit(command_table::info_modes(subject))?;
    match subject {
        "address" => info_symbols::where_is(session, argument),
        "args" => frames::variables(session, true),
        "auxv" => info_proc::auxiliary_vector(session),
        "locals" => frames::variables(session, false),
        "breakpoints" => info_views::points(session, argument),
        "checkpoints" => checkpoint::checkpoint_views(session),
        "communication" => info_communication::communication(session, argument),
        "display" => display::display(session, ""),
        "evaluations" => session.evaluation_views(),
        "frame" => info_frame::frame_info(session),
        "functions" => info_symbols::names(session, Listed::Functions, argument),
        "line" => info_views::line_info(session),
        "source" => info_source::source_info(session),
        "events" => info_events::events(session, argument),
        "graph" => {
            crate::commands::info_graph::graphs(session.processes.monitors.shown(), argument)
        }
        "monitors" => info_views::session_monitors(session, ""),
        "proc" => info_proc::process_info(session, argument),
        "processes" => process::process_views(session),
        "program" => info_proc::program_info(session),
        "registers" => info_views::registers(session, argument),
        "watchpoints" => {
            let mut views = watching::watchpoint_views(session);
            views.extend(session.monitor_points(EventKind::is_about_memory));
            Ok(Outcome::Points(views))
        }
        "scope" => info_symbols::scope(session, argument),
        "signals" => handle::signals(session, argument),
        "skip" => Ok(skip::skip_views(session)),
        "stack" => backtrace::backtrace(session, argument),
        "scenarios" => scenario::scenario_views(session, argument),
        "sharedlibrary" => info_views::shared_libraries(session),
        "symbol" => info_symbols::symbol(session, argument),
        "types" => info_symbols::names(session, Listed::Types, argument),
        "views" => views::views_command(session, ""),
        "variables" => info_symbols::names(session, Listed::Variables, argument),
        _ => info_views::threads(session, argument),
    }
}
