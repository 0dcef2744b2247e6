//! What the tests of diagnostics have in common.

use juror_language::Diagnostic;

/// The first thing of this kind that is said about a source: it underlines this,
/// and its advice contains that.
#[track_caller]
pub fn check_found<'a>(
    source: &str,
    diagnostics: &'a [Diagnostic],
    code: &str,
    underlined: &str,
    help: &str,
) -> &'a Diagnostic {
    let Some(found) = diagnostics.iter().find(|d| d.code == code) else {
        panic!("no {code} for:\n{source}\n{diagnostics:#?}");
    };
    assert_eq!(&source[found.span.clone()], underlined, "{found:#?}");
    let found_help = found.help.clone().unwrap_or_default();
    assert!(found_help.contains(help), "{help:?} is not in {found:#?}");
    found
}
