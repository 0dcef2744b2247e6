use super::testing::*;
use super::*;
use juror_event::Verdict;
use juror_language::Diagnostic;
use juror_text::stops::samples::{push, violation_stop};
use juror_view::StateChange;

#[test]
fn text_and_json_are_separate() {
    let (mut output, streams) = output();
    let stop = Outcome::Stopped(Box::new(violation_stop()));
    output.show("run", &stop).expect("memory takes it");
    output.notice("thread \u{1b} started");
    assert!(streams.text().starts_with("VIOLATED  queue_bounds"));
    assert!(streams.json().starts_with("{\"juror\":1,\"kind\":\"stop\""));
    assert_eq!(streams.messages(), "[thread \\u{1b} started]\n");
}

#[test]
fn state_changes_are_lines_of_json() {
    let (mut output, streams) = output();
    assert!(output.wants_state_changes());
    output.state_change(&StateChange {
        property: "p".into(),
        process: None,
        slice: vec![],
        step: push(17, "overflow", 1),
        verdict: Verdict::Violated,
    });
    assert_eq!(streams.json().lines().count(), 1);
    assert!(streams.json().contains("\"kind\":\"state_change\""));
    assert_eq!(streams.text(), "");
}

#[test]
fn the_kind_of_an_error_decides_its_text_and_status() {
    let property = SessionError::Property {
        file: "q.prop".into(),
        found: vec![FileDiagnostics {
            file: "q.prop".into(),
            text: "state x\n".into(),
            diagnostics: vec![Diagnostic::error("unknown-state", 6..7, "no such state")],
        }],
    };
    for (error, status, words) in [
        (
            SessionError::Launch("there is no program ./x\nhelp: build it".into()),
            exit::USAGE,
            "error: there is no program ./x\nhelp: build it\n",
        ),
        (
            property,
            exit::USAGE,
            "error[unknown-state]: no such state\n --> q.prop:1:7\n",
        ),
        (
            SessionError::Internal("the site is not planted".into()),
            exit::BUG,
            "This is a bug in juror: the site is not planted\nPlease report it at https://",
        ),
    ] {
        let (mut output, streams) = output();
        let given = output.show_session_error(&error).expect("memory takes it");
        assert_eq!(given, status);
        let shown = streams.messages();
        assert!(shown.starts_with(words), "{shown}");
        assert!(streams.json().contains("\"kind\":\"error\""));
        assert_eq!(streams.text(), "");
    }
}

#[test]
fn progress_is_overwritten() {
    let (mut output, streams) = output();
    for done in [0, 1, 250, 1000] {
        output.progress("reading symbols", done, 1000);
    }
    output.progress("nothing", 0, 0);
    assert_eq!(
        streams.raw_messages(),
        "reading symbols 0 %\r                   \rreading symbols 25 %\r                    \r"
    );
}
