//! Traces of events, as in Spin 6.5.2.

use super::{counts, fault, model, read_with, refused, run};
use crate::promela::Reading;
use crate::{Finding, Verdict};

/// Two messages through a buffered channel.
const BUFFER: &str = "chan c = [2] of {byte}; init { byte x; c!1; c!2; c?x; c?x }\n";
/// The same, and the process does not terminate.
const STAYING: &str = "chan c = [2] of {byte}; init { byte x; c!1; c!2; c?x; c?x; end: x == 9 }\n";
/// Two rendezvous messages.
const HANDS: &str = "chan c = [0] of {byte};
     active proctype A() { c!1; c!2 } active proctype B() { byte x; c?x; c?x }\n";
/// An endless sequence of messages.
const ENDLESS: &str = "chan c = [1] of {byte};
     active proctype A() { do :: c!3; c!4 od } active proctype B() { byte x; do :: c?x od }\n";

#[test]
fn events_may_come_in_the_order_of_the_trace() {
    let check = |text: &str, trace: &str, states, transitions| {
        counts(&format!("{text}{trace}"), states, transitions);
    };
    check(BUFFER, "trace { c!1; c!2; c?1; c?2 }", 6, 6);
    check(BUFFER, "trace { do :: c!1 :: c!2 od }", 6, 6);
    check(BUFFER, "trace { c!1; c!_; end: c!3 }", 6, 6);
    check(BUFFER, "trace { c!1 -> { c!(1 + 1) } }", 6, 6);
    check(BUFFER, "notrace { c!1; c?1; c?2 }", 6, 6);
    check(BUFFER, "notrace { c!1; c!2; c!3 }", 6, 6);
    check(HANDS, "trace { c!1; c!2 }", 5, 5);
    check(HANDS, "trace { c?1; c?2 }", 5, 5);
    check(HANDS, "trace { c!1; c?1; c!2; c?2 }", 5, 5);
    // The position is part of the state.
    check(ENDLESS, "trace { do :: c!3; c!4; c!3; c!4 od }", 10, 11);
    check(ENDLESS, "trace { do :: c?3 :: c?4 od }", 6, 7);
    check(
        "chan c[2] = [1] of {byte};
         active proctype A() { do :: c[0]!1; c[1]!2 od }
         active proctype B() { byte x; do :: c[0]?x :: c[1]?x od }\n",
        "trace { do :: c[1]!_; c[1]?_ od }",
        17,
        28,
    );
    check(
        "mtype = {a, b}; chan c = [2] of {mtype, byte}; init { c!a(1); c!b(2) }\n",
        "trace { c!a(_); c!b,2 }",
        4,
        4,
    );
    // Omitted fields match any value.
    check(
        "chan c = [2] of {byte, byte}; init { byte x; c!1,2; c!2,3; c?x,_ }\n",
        "trace { c!1; c!2; c?1 }",
        5,
        5,
    );
    // A channel variable is evaluated at each event.
    check(
        "chan e = [2] of {byte}; chan c; active proctype A() { c = e; c!1; c!2; c?1; skip }\n",
        "trace { e!1; c!2; c?1 }",
        7,
        7,
    );
    // Other channels are not in scope, and polling removes nothing.
    check(
        "chan c = [2] of {byte}; chan d = [2] of {byte};
         init { byte x; c!1; d!7; c?<x>; c?x; d?x }\n",
        "trace { c?1 }",
        7,
        7,
    );
}

#[test]
fn other_events_are_errors() {
    let check = |text: &str, trace: &str, code| fault(&format!("{text}{trace}"), code);
    check(BUFFER, "trace { c!1; c?1; c!2; c?2 }", "trace");
    check(BUFFER, "trace { c!1 }", "trace");
    check(BUFFER, "notrace { c!1; c!2; c?1 }", "trace");
    check(HANDS, "trace { c!1; c?1; c?2; c!2 }", "trace");
    check(HANDS, "trace { c!2 }", "trace");
    check(
        BUFFER,
        "trace { if :: c!1; c!3 :: c!1; c!2 fi }",
        "trace-choice",
    );
    check(
        "chan c = [2] of {byte, byte}; init { c!1,2 }\n",
        "trace { c!1,2,3 }",
        "fields",
    );
    let model = model(&format!("{BUFFER}trace {{ c!1; c!3 }}"));
    assert_eq!(model.formulas().count(), 0);
    let report = run(&format!("{BUFFER}trace {{ c!1; c!3 }}"));
    let Some((Finding::Fault(fault), trail)) = report.finding else {
        panic!("nothing is wrong");
    };
    assert_eq!(
        fault.message,
        "the message 2 is sent, but the trace requires another event here"
    );
    assert_eq!(fault.labels.len(), 1);
    assert_eq!(trail.steps().count(), 2);
}

#[test]
fn a_trace_that_is_not_over_is_no_end() {
    let check = |text: &str, trace: &str, is_deadlock: bool| {
        let text = format!("{text}{trace}");
        let report = run(&text);
        let found = report.finding.is_some_and(|it| it.0 == Finding::Deadlock);
        assert_eq!(found, is_deadlock, "{text}");
    };
    check(STAYING, "trace { c!1; c!2; c!3 }", true);
    check(STAYING, "trace { c!1; c!2; end: c!3 }", false);
    check(STAYING, "trace { c!1; c!2 }", false);
    check(STAYING, "notrace { c!1; c!2; c!3 }", true);
    check(STAYING, "notrace { c!1; c!2; end: c!3 }", false);
    check(STAYING, "notrace { c!1; c!3 }", false);
    check(BUFFER, "trace { c!1; c!2; c!3 }", false);
    let model = model(&format!("{STAYING}trace {{ c!1; c!2; c!3 }}"));
    let report = run(&format!("{STAYING}trace {{ c!1; c!2; c!3 }}"));
    let (_, trail) = report.finding.unwrap();
    let lines = model.standing(trail.end.as_deref().unwrap());
    assert_eq!(lines.last().map(String::as_str), Some("trace at c!3"));
}

#[test]
fn a_message_without_a_receiver_is_not_an_event() {
    // Spin reports an error here: it checks before somebody receives the message.
    let text = "chan c = [0] of {byte}; active proctype A() { if :: c!3 :: skip fi }
        trace { c!1 }";
    assert_eq!(run(text).verdict(), Verdict::Holds);
    // The message itself is compared; Spin compares the last one of the channel, and the
    // first.
    counts(
        "chan c = [2] of {byte}; init { c!2; c!!1 }\ntrace { c!2; c!1 }",
        4,
        4,
    );
    counts(
        "chan c = [2] of {byte}; init { c!2; c!1; c??1 }\ntrace { c?1 }",
        5,
        5,
    );
}

#[test]
fn statements_that_are_not_events_are_rejected() {
    for body in [
        "skip",
        "c!1; z = 1",
        "z == 0; c!1",
        "assert(z == 0); c!1",
        "if :: c!1 :: else fi",
        "atomic { c!1 }",
        "d_step { c!1 }",
        "{ c!1 } unless { c!2 }",
        "c??1",
        "c!!1",
        "c?<1>",
        "c!z",
        "c!(z + 1)",
        "c?z",
        "byte y; c!1",
        "do :: c!1 :: break od",
        "do :: c!1 :: goto L od; L: c!2",
        "progress: c!1",
        "accept: c!1; c!2",
        "run P()",
    ] {
        let text = format!(
            "chan c = [2] of {{byte}}; byte z; proctype P() {{ skip }} init {{ c!1 }}\ntrace {{ {body} }}"
        );
        refused(&text, "trace");
    }
    refused(&format!("{BUFFER}trace {{ d!1 }}"), "unknown-name");
    refused(
        &format!("{BUFFER}trace {{ c!1 }} notrace {{ c!2 }}"),
        "trace",
    );
    refused(
        &format!("{BUFFER}trace {{ c!1 }} trace {{ c!2 }}"),
        "redeclared",
    );
    let text = format!("{BUFFER}trace {{ c!x }}");
    assert!(read_with(&text, &Reading::default()).is_err());
}
