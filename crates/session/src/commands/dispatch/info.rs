//! `info`: its subjects.

use crate::command_table;
use crate::command_table::words::unclear_error;
use crate::commands::info_symbols::Listed;
use crate::session::Session;
use juror_event::EventKind;
use juror_view::Outcome;
use juror_view::error::CommandError;

impl Session {
    pub(super) fn info(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let word = rest.split_whitespace().next().unwrap_or("");
        if word.is_empty() {
            let subjects = command_table::INFO_SUBJECTS;
            let lines: Vec<String> = subjects
                .iter()
                .map(|(name, what)| format!("info {name:<14} {what}"))
                .collect();
            return Ok(Outcome::Message(lines.join("\n")));
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
            return self.line_of_place(argument);
        }
        self.permit(command_table::info_modes(subject))?;
        match subject {
            "address" => self.where_is(argument),
            "args" => self.variables(true),
            "auxv" => self.auxiliary_vector(),
            "locals" => self.variables(false),
            "breakpoints" => Ok(self.points()),
            "checkpoints" => self.checkpoint_views(),
            "display" => self.display(""),
            "evaluations" => self.evaluation_views(),
            "frame" => self.frame_info(),
            "functions" => self.names(Listed::Functions, argument),
            "line" => self.line_info(false),
            "source" => self.source_info(),
            "graph" => crate::commands::info_graph::graphs(self.watch.shown(), argument),
            "monitors" => self.monitors(""),
            "proc" => self.process_info(argument),
            "processes" => self.process_views(),
            "program" => self.program_info(),
            "registers" => self.registers(argument),
            "watchpoints" => {
                let mut views = self.watchpoint_views();
                views.extend(self.monitor_points(EventKind::is_about_memory));
                Ok(Outcome::Points(views))
            }
            "scope" => self.scope(argument),
            "signals" => self.signals(argument),
            "skip" => Ok(self.skip_views()),
            "stack" => self.backtrace(argument),
            "scenarios" => self.scenario_views(argument),
            "sharedlibrary" => self.shared_libraries(),
            "symbol" => self.symbol(argument),
            "types" => self.names(Listed::Types, argument),
            "views" => self.views_command(""),
            "variables" => self.names(Listed::Variables, argument),
            _ => self.threads(),
        }
    }
}
