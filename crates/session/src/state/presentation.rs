//! How results are presented to the user at a terminal.

use juror_fault::CommandError;
use juror_view::{ContextPart, Extent, TerminalSettings};

/// The help for a list of parts.
const CONTEXT_HELP: &str = "set context on, off, or a list of source, locals, backtrace, registers \
                            and monitors";

/// The parts that `set context on` chooses.
const CONTEXT_USUAL: [ContextPart; 3] = [
    ContextPart::Source,
    ContextPart::Locals,
    ContextPart::Backtrace,
];

/// The settings of the presentation.
#[derive(Debug, Default)]
pub(crate) struct Presentation {
    /// What the terminal is asked for.
    pub terminal: TerminalSettings,
    /// The parts that each stop shows, in this order.
    pub context: Vec<ContextPart>,
}

/// Parses the value of `set context`. A part that is named twice is shown once.
pub(crate) fn parse_context(text: &str) -> Result<Vec<ContextPart>, CommandError> {
    match text {
        "" | "on" => return Ok(CONTEXT_USUAL.to_vec()),
        "off" => return Ok(Vec::new()),
        _ => {}
    }
    let mut parts = Vec::new();
    let words = text.split([' ', '\t', ',']);
    for word in words.filter(|word| !word.is_empty()) {
        let part = ContextPart::ALL.iter().find(|part| part.word() == word);
        let part = *part.ok_or_else(|| {
            CommandError::with_help(format!("there is no context `{word}`"), CONTEXT_HELP)
        })?;
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Returns the value of `show context`.
pub(crate) fn context_words(parts: &[ContextPart]) -> String {
    let words: Vec<&str> = parts.iter().map(|part| part.word()).collect();
    if words.is_empty() {
        "off".to_owned()
    } else {
        words.join(" ")
    }
}

/// Returns the value of `show width` or `show height`.
pub(crate) fn extent_words(extent: Extent) -> String {
    match extent {
        Extent::Terminal => "auto".to_owned(),
        Extent::Unlimited => "unlimited".to_owned(),
        Extent::Fixed(limit) => limit.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_a_list_of_parts() {
        for (text, expected) in [
            ("on", "source locals backtrace"),
            ("", "source locals backtrace"),
            ("off", "off"),
            ("locals", "locals"),
            ("monitors, locals monitors", "monitors locals"),
        ] {
            let parts = parse_context(text).expect("a list");
            assert_eq!(context_words(&parts), expected, "{text}");
        }
        let error = parse_context("locals stack").expect_err("no part");
        assert!(error.message.contains("`stack`"));
    }
}
