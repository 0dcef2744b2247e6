//! The answers to questions about a model, as text and JSON.
//!
//! An answer is one JSON line ([`ModelVerdict`]), with the violating run. An `error` line
//! with the position in the source precedes it.

use crate::arguments::model::CheckModel;
use crate::driver::FileDiagnostics;
use crate::exit;
use crate::json::{Line, ModelVerdict};
use crate::output::Output;
use anstream::adapter::strip_str;
use anyhow::Context as _;
use juror_language::{Diagnostic, Severity};
use juror_model::promela::Text;
use juror_model::{Chart, Cut, Fault, Report, Verdict};
use juror_text::messages;
use serde_json::{Value, json};
use std::io;
use std::ops::Range;

/// The questions of a check with their answers, for its page.
#[derive(Debug, Default)]
pub struct Questions {
    /// Each question as the page shows it, in the order in which they were asked.
    pub asked: Vec<Value>,
    /// The run that violates one of them.
    pub chart: Option<Value>,
}

impl Questions {
    /// Adds a question that has no answer, and why.
    pub fn leave_out(&mut self, question: &str, why: &str) {
        self.asked
            .push(json!({ "question": question, "verdict": "not_checked", "why": why }));
    }
}

/// The reason that a question is not asked after a violation.
pub const AFTER_VIOLATION: &str = "the check ends at the first violation";

/// The answer to a question about a model.
pub struct Answer<'a> {
    /// The question: `steps and states`, `the formula live`.
    pub question: &'a str,
    /// The formula, or the errors that the search looks for.
    pub about: String,
    pub verdict: Verdict,
    /// Why it is violated, or why the search is incomplete.
    pub why: Option<String>,
    /// The violation as the terminal shows it, without styles.
    pub told: String,
    pub states: u64,
    /// The number of transitions and the length of the longest run, if they were
    /// counted.
    pub counted: Option<(u64, u64)>,
    /// The violating run.
    pub chart: Option<Chart>,
}

impl<'a> Answer<'a> {
    /// Creates the answer of a search; `why` and `chart` belong to its finding.
    pub fn of(
        question: &'a str,
        report: &Report,
        why: Option<String>,
        chart: Option<Chart>,
    ) -> Answer<'a> {
        let verdict = report.verdict();
        let why = match verdict {
            Verdict::Incomplete => Some(cut_message(report.cut)),
            Verdict::Violated | Verdict::Holds => why,
        };
        Answer {
            question,
            about: String::new(),
            verdict,
            told: String::new(),
            why,
            states: report.states,
            counted: Some((report.transitions, u64::from(report.depth))),
            chart,
        }
    }

    /// Returns the first line of the text.
    pub fn heading(&self) -> String {
        let question = self.question;
        match (self.verdict, &self.why) {
            (Verdict::Violated, _) => format!("{question}: violated\n"),
            (Verdict::Holds, _) => format!("{question}: holds\n"),
            (Verdict::Incomplete, why) => {
                let why = why.as_deref().unwrap_or("only some runs were searched");
                format!("{question}: incomplete, {why}\n")
            }
        }
    }

    /// Returns the counts of the search.
    pub fn counts(&self) -> String {
        match self.counted {
            Some((transitions, depth)) => format!(
                "{} states, {transitions} transitions, depth {depth}\n",
                self.states
            ),
            None => format!("{} states\n", self.states),
        }
    }

    /// Returns the exit status, given that of the previous answers.
    pub fn status(&self, before: u8) -> u8 {
        match self.verdict {
            Verdict::Violated => exit::VIOLATED,
            Verdict::Incomplete => before.max(exit::USAGE),
            Verdict::Holds => before,
        }
    }

    /// Shows the violating run, or writes it to the file of `--trail`.
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

    /// Shows the fault that is the violation.
    pub fn explain(
        &mut self,
        texts: &[Text],
        fault: &Fault,
        output: &mut Output,
    ) -> io::Result<()> {
        let text = match located(texts, fault) {
            Ok(said) => messages::files(&[said]),
            Err(message) => messages::error(&message),
        };
        self.told = strip_str(&text).to_string();
        show_fault(texts, fault, output)
    }

    /// Returns the word of the verdict in the JSON output.
    fn verdict_word(&self) -> &'static str {
        match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Incomplete => "incomplete",
        }
    }

    /// Writes the JSON line, and adds the answer to those of the page.
    pub fn record(
        &self,
        check: &CheckModel,
        questions: &mut Questions,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let model = check.model.file.display().to_string();
        questions.asked.push(json!({
            "question": self.question,
            "about": self.about,
            "verdict": self.verdict_word(),
            "why": self.why,
            "told": self.told,
            "searched": self.counts().trim_end(),
        }));
        if let Some(chart) = &self.chart {
            questions.chart = Some(serde_json::to_value(chart)?);
        }
        let line = Line::ModelVerdict(ModelVerdict {
            model: &model,
            question: self.question,
            verdict: self.verdict_word(),
            why: self.why.as_deref(),
            states: self.states,
            transitions: self.counted.map(|(transitions, _)| transitions),
            depth: self.counted.map(|(_, depth)| depth),
            trail: self.chart.as_ref(),
        });
        Ok(output.show_line(&line, |_| ())?)
    }
}

/// Returns why a search is incomplete.
pub fn cut_message(cut: Option<Cut>) -> String {
    match cut {
        Some(Cut::States { limit }) => format!("there are more than {limit} states"),
        Some(Cut::Depth { limit }) => format!("there are runs of more than {limit} steps"),
        Some(Cut::Memory { limit }) => {
            format!("the states need more than {} MB", limit / 1_000_000)
        }
        Some(Cut::Interrupted) => "the search was interrupted".to_owned(),
        Some(Cut::Hashes) => {
            "no violation was found, but states were compared by their hashes alone".to_owned()
        }
        Some(Cut::Sampled) | None => "only some runs were searched".to_owned(),
    }
}

/// Shows a fault with its position in the source.
pub fn show_fault(texts: &[Text], fault: &Fault, output: &mut Output) -> io::Result<()> {
    match located(texts, fault) {
        Ok(said) => output.show_diagnostics(&said),
        Err(message) => output.show_error(&message),
    }
}

/// Returns a fault as a diagnostic of its text, or its message if it has no position.
fn located(texts: &[Text], fault: &Fault) -> Result<FileDiagnostics, String> {
    let position = fault
        .span
        .and_then(|span| Some((texts.get(span.source as usize)?, span)));
    let Some((text, span)) = position else {
        let help = fault
            .help
            .as_ref()
            .map_or(String::new(), |help| format!("\n{help}"));
        return Err(format!("{}{help}", fault.message));
    };
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        code: fault.code,
        message: fault.message.clone(),
        span: span.range(),
        labels: labels_in(fault, span.source),
        help: fault.help.clone(),
    };
    Ok(FileDiagnostics {
        file: text.name.clone(),
        text: text.text.as_str().into(),
        diagnostics: vec![diagnostic],
    })
}

/// Returns the labels of a fault that are in the same text.
fn labels_in(fault: &Fault, source: u32) -> Vec<(Range<usize>, String)> {
    let labels = fault.labels.iter();
    let here = labels.filter(|(span, _)| span.source == source);
    here.map(|(span, label)| (span.range(), label.clone()))
        .collect()
}
