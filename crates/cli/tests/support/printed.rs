//! What `print` says of values where a program calls `look`.

use super::Batch;
use juror_testing::{Build, Language, Optimization};
use std::path::Path;

/// Checks what `print` says of expressions where `look` was called.
pub fn check(executable: &Path, build: &Build, table: &[(&str, &str)]) {
    let mut batch = Batch::new()
        .command("break look")
        .command("run")
        .command("up");
    for (expression, _) in table {
        batch = batch.command(&format!("print {expression}"));
    }
    let report = batch.run(executable, &[]);
    for (expression, expected) in table {
        let outcome = report.outcome(&format!("print {expression}"));
        let shown = outcome["value"].as_str().unwrap_or_default();
        assert_eq!(without_addresses(shown), *expected, "{expression}, {build}");
    }
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
