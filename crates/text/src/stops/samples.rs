//! Sample views for the tests of several modules.

use juror_event::Value;
use juror_highlight::{Kind, Span};
use juror_view::*;

/// A named value.
pub fn named(name: &str, value: Value) -> NamedValue {
    NamedValue {
        name: name.into(),
        value,
    }
}

/// A location in a file of `/home/user/src`.
pub fn location(function: &str, file: &str, line: u32) -> Location {
    Location {
        address: 0x401136,
        function: Some(function.into()),
        offset: 0,
        file: Some(format!("/home/user/src/{file}")),
        line: Some(line),
        near: None,
        module: Some("faulty".into()),
    }
}

/// A variable with its type and value.
pub fn variable(name: &str, type_name: &str, value: &str) -> VariableView {
    VariableView {
        name: name.into(),
        type_name: type_name.into(),
        value: value.into(),
    }
}

/// A frame of the stack.
pub fn frame(level: u32, location: Location, arguments: Vec<VariableView>) -> FrameView {
    FrameView {
        level,
        location,
        arguments,
        inlined: false,
        tail_call: false,
        signal: false,
        guess: false,
        cut: false,
        evaluation: None,
        locals: None,
    }
}

/// A step of a path by the event `push`, to a state.
pub fn push(line: u32, to: &str, repeated: u64) -> PathStep {
    PathStep {
        sequence: 2,
        event: "push".into(),
        what: "before queue_push".into(),
        values: vec![named("queue", Value::Address(0x4052a0))],
        stored: None,
        thread: 4711,
        location: location("fill", "main.c", line),
        from: "ready".into(),
        to: to.into(),
        repeated,
    }
}

/// A violation of `queue_bounds`.
pub fn violation() -> ViolationView {
    let queue = named("queue", Value::Address(0x4052a0));
    let new = PathStep {
        sequence: 1,
        event: "new".into(),
        what: "after queue_new".into(),
        values: vec![named("size", Value::Int(8)), queue.clone()],
        stored: None,
        thread: 4711,
        location: location("main", "main.c", 12),
        from: "init".into(),
        to: "ready".into(),
        repeated: 1,
    };
    ViolationView {
        property: "queue_bounds".into(),
        description: Some("a queue never holds more than it was made for".into()),
        file: "queue.prop".into(),
        slice: vec![queue],
        state: "overflow".into(),
        variables: vec![
            named("capacity", Value::Int(8)),
            named("count", Value::Int(8)),
        ],
        path: vec![new, push(17, "ready", 8), push(17, "overflow", 1)],
        forgotten: false,
        deadline: None,
        at_end: false,
        repeated: false,
        notes: Vec::new(),
    }
}

/// A count of violations of one kind.
pub fn violation_count(count: u64) -> ViolationCount {
    ViolationCount {
        event: Some("push".into()),
        what: Some("before queue_push".into()),
        from: "ready".into(),
        to: "overflow".into(),
        location: Some(location("fill", "main.c", 17)),
        count,
        slice: vec![named("queue", Value::Address(0x4052a0))],
        thread: Some(4711),
        sequence: Some(9),
        at_end: false,
    }
}

/// Three lines of source.
pub fn source() -> SourceView {
    let span = |start, end, kind| Span { start, end, kind };
    SourceView {
        file: "/home/user/src/queue.c".into(),
        first_line: 22,
        lines: vec![
            "void queue_push(struct queue *queue, char c)".into(),
            "{".into(),
            "\tqueue->data[queue->pos++] = c;".into(),
        ],
        current: Some(23),
        remark: None,
        spans: vec![
            vec![span(0, 4, Kind::Type), span(16, 22, Kind::Keyword)],
            vec![],
            vec![],
        ],
    }
}

/// A stop in `queue_push`.
pub fn stop(reason: StopReason) -> StopView {
    StopView {
        reason,
        evaluation: None,
        process: None,
        thread: 4711,
        thread_count: 1,
        location: location("queue_push", "queue.c", 23),
        source: Some(source()),
        source_frame: None,
        backtrace: vec![
            frame(
                0,
                location("queue_push", "queue.c", 23),
                vec![
                    variable("queue", "struct queue *", "0x4052a0"),
                    variable("c", "char", "110"),
                ],
            ),
            frame(
                1,
                location("fill", "main.c", 17),
                vec![variable("n", "int", "9")],
            ),
            frame(2, location("main", "main.c", 31), vec![]),
        ],
        more_frames: false,
        displays: Vec::new(),
        context: Vec::new(),
    }
}

/// A displayed expression.
pub fn display() -> DisplayView {
    DisplayView {
        number: 1,
        expression: "count".into(),
        value: Some("7".into()),
        error: None,
    }
}

/// A stop at a violation.
pub fn violation_stop() -> StopView {
    stop(StopReason::Violation {
        violations: vec![violation()],
    })
}

/// The summary of a property with a verdict and a number of violations.
pub fn summary(verdict: juror_event::Verdict, violations: u64) -> PropertySummary {
    let event = |event: &str, what: &str, occurrences, stops| EventSummary {
        event: event.into(),
        what: what.into(),
        occurrences,
        unneeded: 0,
        stops,
        tier: None,
    };
    PropertySummary {
        enabled: true,
        property: "queue_bounds".into(),
        verdict,
        violations,
        violation_counts: (violations > 0)
            .then(|| violation_count(violations))
            .into_iter()
            .collect(),
        events: vec![
            event("new", "after queue_new", 1, 2),
            event("push", "before queue_push", 9, 9),
        ],
        slices: 2,
        undecided: vec![],
        remarks: vec!["queue_pop never ran".into()],
    }
}

/// The end of a run with one property.
pub fn end(ending: Option<Ending>, summary: PropertySummary) -> EndView {
    EndView {
        ending,
        process: None,
        called: None,
        violations: vec![],
        summaries: vec![summary],
    }
}

/// The stack of a thread.
pub fn stack() -> StackView {
    let mut threads = crate::tables::samples::threads();
    let mut frames = violation_stop().backtrace;
    if let Some(first) = frames.first_mut() {
        first.locals = Some(vec![variable("count", "int", "3")]);
    }
    StackView {
        thread: threads.remove(0),
        frames,
        more: true,
    }
}
