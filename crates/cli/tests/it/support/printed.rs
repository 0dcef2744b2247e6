//! The output of `print` at calls of `look`.

use super::Batch;
use juror_testing::{Build, Language, Optimization};
use std::path::Path;

/// Checks what `print` says of expressions where `look` was called.
pub fn check(executable: &Path, build: &Build, table: &[(&str, &str)]) {
    for (shown, (expression, expected)) in printed(executable, table).iter().zip(table) {
        assert_eq!(shown, expected, "{expression}, {build}");
    }
}

/// What `print` says of each expression where `look` was called, without addresses.
pub fn printed(executable: &Path, table: &[(&str, &str)]) -> Vec<String> {
    let lines = table.iter().map(|(it, _)| format!("print {it}"));
    let lines: Vec<String> = lines.collect();
    let begun = Batch::new()
        .command("break look")
        .command("run")
        .command("up");
    let batch = lines.iter().fold(begun, |batch, line| batch.command(line));
    let report = batch.run(executable, &[]);
    let shown = lines.iter().map(|line| &report.outcome(line)["value"]);
    shown
        .map(|it| without_addresses(it.as_str().unwrap_or_default()))
        .collect()
}

/// Addresses differ from run to run: `0x?` for each.
pub fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        result.push_str("0x?");
        result.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    result
}

/// The builds of a language without optimization.
pub fn plain_builds(language: Language) -> Vec<Build> {
    let mut builds = Build::all_of(language);
    builds.retain(|build| build.optimization == Optimization::None && build.pie);
    builds
}
