//! What comes of a question to a model, told to a person and to programs.
//!
//! One answer is one line of JSON ([`ModelVerdict`]), with the run that shows
//! it; where in the source something goes wrong is an `error` line before it.

use crate::exit;
use crate::json::{Line, ModelVerdict};
use crate::model_arguments::CheckModel;
use crate::output::Output;
use anyhow::Context as _;
use juror_model::{Chart, Cut, Report, Verdict};

/// What is known of one question.
pub struct Answer<'a> {
    /// What was asked: `steps and states`, `the formula live`.
    pub question: &'a str,
    pub verdict: Verdict,
    /// Why it is violated, or what cut the search short.
    pub why: Option<String>,
    pub states: u64,
    /// Steps from states, and the longest run: where they were counted.
    pub counted: Option<(u64, u64)>,
    /// The run that violates it.
    pub chart: Option<Chart>,
}

impl<'a> Answer<'a> {
    /// The answer of a search; `why` and `chart` are of its finding.
    pub fn of(
        question: &'a str,
        report: &Report,
        why: Option<String>,
        chart: Option<Chart>,
    ) -> Answer<'a> {
        let verdict = report.verdict();
        let why = match verdict {
            Verdict::Incomplete => Some(cut_words(report.cut)),
            Verdict::Violated | Verdict::Holds => why,
        };
        Answer {
            question,
            verdict,
            why,
            states: report.states,
            counted: Some((report.transitions, u64::from(report.depth))),
            chart,
        }
    }

    /// The first line for a person.
    pub fn heading(&self) -> String {
        let question = self.question;
        match (self.verdict, &self.why) {
            (Verdict::Violated, _) => format!("{question}: violated\n"),
            (Verdict::Holds, _) => format!("{question}: holds\n"),
            (Verdict::Incomplete, why) => {
                let why = why.as_deref().unwrap_or("only some runs were looked at");
                format!("{question}: incomplete, {why}\n")
            }
        }
    }

    /// How much was searched.
    pub fn counts(&self) -> String {
        match self.counted {
            Some((transitions, depth)) => format!(
                "{} states, {transitions} transitions, depth {depth}\n",
                self.states
            ),
            None => format!("{} states\n", self.states),
        }
    }

    /// The exit status, given that of the answers before.
    pub fn status(&self, before: u8) -> u8 {
        match self.verdict {
            Verdict::Violated => exit::VIOLATED,
            Verdict::Incomplete => before.max(exit::USAGE),
            Verdict::Holds => before,
        }
    }

    /// Shows the run, or writes it where the command line says.
    pub fn show_trail(&self, check: &CheckModel, output: &mut Output) -> anyhow::Result<()> {
        let Some(chart) = &self.chart else {
            return Ok(());
        };
        let Some(file) = &check.trail else {
            return Ok(output.say(&chart.text())?);
        };
        let text = match file.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => chart.svg(),
            Some("json") => serde_json::to_string_pretty(chart)? + "\n",
            _ => chart.text(),
        };
        std::fs::write(file, text)
            .with_context(|| format!("the trail cannot be written to {}", file.display()))
    }

    /// Writes the line of JSON.
    pub fn record(&self, check: &CheckModel, output: &mut Output) -> anyhow::Result<()> {
        let model = check.model.file.display().to_string();
        let line = Line::ModelVerdict(ModelVerdict {
            model: &model,
            question: self.question,
            verdict: match self.verdict {
                Verdict::Holds => "holds",
                Verdict::Violated => "violated",
                Verdict::Incomplete => "incomplete",
            },
            why: self.why.as_deref(),
            states: self.states,
            transitions: self.counted.map(|(transitions, _)| transitions),
            depth: self.counted.map(|(_, depth)| depth),
            trail: self.chart.as_ref(),
        });
        Ok(output.show_line(&line, |_| ())?)
    }
}

/// Why a search was cut short.
pub fn cut_words(cut: Option<Cut>) -> String {
    match cut {
        Some(Cut::States { limit }) => format!("there are more than {limit} states"),
        Some(Cut::Depth { limit }) => format!("there are runs of more than {limit} steps"),
        Some(Cut::Memory { limit }) => {
            format!("the states need more than {} MB", limit / 1_000_000)
        }
        Some(Cut::Interrupted) => "it was interrupted".to_owned(),
        Some(Cut::Hashes) => {
            "nothing wrong was found, but states were told apart by their hashes alone".to_owned()
        }
        Some(Cut::Sampled) | None => "only some runs were looked at".to_owned(),
    }
}
