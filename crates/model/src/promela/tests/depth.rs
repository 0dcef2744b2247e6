//! Long and deep models: each is read, or refused, without recursion on its length.

use super::{counts, fault, read_with, run_as};
use crate::promela::Reading;
use crate::{Options, Search};

const MANY: usize = 100_000;

fn nested(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(MANY), close.repeat(MANY))
}

/// Returns the codes of the errors of a model.
fn codes(text: &str) -> Vec<&'static str> {
    match read_with(text, &Reading::default()) {
        Ok(_) => Vec::new(),
        Err(refused) => refused.faults.iter().map(|fault| fault.code).collect(),
    }
}

#[test]
fn nesting_is_limited() {
    let head = "byte x, a[2]; chan q = [1] of {byte};";
    for body in [
        format!("x = {}", nested("(", "1", ")")),
        format!("({})", nested("!", "x", "")),
        format!("x = {}", nested("- ", "1", "")),
        format!("x = {}", nested("~", "1", "")),
        format!("x = {}", nested("1+", "1", "")),
        format!("({})", nested("x && ", "x", "")),
        format!("x = {}", nested("(x -> 1 : ", "1", ")")),
        format!("x = {}", nested("a[", "0", "]")),
        format!("x = {}", nested("run P(", "1", ")")),
        nested("{", "skip", "}"),
        nested("atomic {", "skip", "}"),
        nested("d_step {", "skip", "}"),
        nested("if :: ", "skip", " fi"),
        nested("do :: ", "break", " od"),
        nested("for (x : 1..2) {", "skip", "}"),
        nested("if :: x == 1 -> skip :: else -> ", "skip", " fi"),
        nested("{", "skip", "} unless { skip }"),
        (0..MANY).map(|it| format!("l{it}: ")).collect::<String>() + "skip",
        format!("q!{}", nested("x(", "1", ")")),
        format!("q?{}", nested("x(", "x", ")")),
        format!("q?[{}]", nested("x(", "x", ")")),
        format!("q?{}", nested("eval(", "x", ")")),
        format!("assert{}", nested("(", "1", ")")),
    ] {
        let shown: String = body.chars().take(40).collect();
        let text = format!("{head} proctype P(byte z) {{ skip }} init {{ {body} }}");
        assert_ne!(codes(&text), [""; 0], "{shown}");
    }
    for formula in ["[] ", "! ", "X ", "<> ", "x U ", "x && ", "x -> "] {
        let text = format!("{head} init {{ skip }} ltl {{ {}x }}", formula.repeat(MANY));
        assert_eq!(codes(&text), ["too-deep"], "{formula}");
    }
    for text in [
        format!("#if {}\n#endif\ninit {{ skip }}", nested("(", "1", ")")),
        format!("#if {}1\n#endif\ninit {{ skip }}", "!".repeat(MANY)),
        format!("byte b[{}]; init {{ skip }}", nested("1+", "1", "")),
        "/*".repeat(MANY),
    ] {
        assert_ne!(codes(&text), [""; 0]);
    }
    let calls = format!(
        "#define f(x) x\nbyte x = {}; init {{ skip }}",
        nested("f(", "1", ")")
    );
    assert!(codes(&calls).contains(&"too-large"));
}

#[test]
fn declarations_that_use_each_other_are_limited() {
    let chain = |first: &str, next: &dyn Fn(usize) -> String, last: &str| {
        let next: String = (1..MANY).map(next).collect();
        codes(&format!("{first}\n{next}{last}"))
    };
    let last = MANY - 1;
    let types = chain(
        "typedef T0 { byte x = 1 }",
        &|it| format!("typedef T{it} {{ T{} x }}\n", it - 1),
        "T9 r; init { skip }",
    );
    assert!(types.contains(&"too-deep"), "{types:?}");
    let inlines = chain(
        "inline f0() { skip }",
        &|it| format!("inline f{it}() {{ f{}() }}\n", it - 1),
        &format!("init {{ f{last}() }}"),
    );
    assert_eq!(inlines, ["too-deep"]);
    let processes = chain(
        "proctype P0() { skip }",
        &|it| format!("proctype P{it}() {{ run P{}() }}\n", it - 1),
        "init { skip }",
    );
    assert_eq!(processes, ["too-large"]);
    // As deep as is allowed.
    let types = |depth: usize| {
        let next = (1..=depth).map(|it| format!("typedef T{it} {{ T{} x }}\n", it - 1));
        let next: String = next.collect();
        codes(&format!(
            "typedef T0 {{ byte x = 1 }}\n{next}T{depth} r; init {{ skip }}"
        ))
    };
    assert_eq!(types(100), [""; 0]);
    assert_eq!(types(101), ["too-deep", "unknown-type"]);
}

#[test]
fn sequences_are_long() {
    let count = 20_000;
    for (open, states) in [("", count + 3), ("atomic {", 4), ("d_step {", 4)] {
        let close = if open.is_empty() { "" } else { "}" };
        let body = "x = 1;\n".repeat(count as usize);
        let text = format!("byte x; init {{ skip; {open} {body} {close} }}");
        counts(&text, states, states);
    }
    let text = format!("byte x; init {{ {} }}", "x = 1;".repeat(MANY));
    assert_eq!(codes(&text), ["too-large"]);
    let text = format!("byte x; init {{ atomic {{ {} }} }}", "x = 1;".repeat(MANY));
    assert_eq!(codes(&text), ["too-large"]);
}

/// Checks the states and transitions of a model in which a process may wait for ever.
fn found(text: &str, states: u64, transitions: u64) {
    let options = Options {
        deadlocks: false,
        ..Options::default()
    };
    let report = run_as(text, Search::Breadth, &options);
    let shown: String = format!("{:?}", report.finding).chars().take(200).collect();
    assert!(report.finding.is_none(), "{text}\n{shown}");
    assert_eq!(
        (report.states, report.transitions),
        (states, transitions),
        "{text}"
    );
}

/// The counts are those of Spin 6.5.2.
#[test]
fn atomic_sequences_may_be_long() {
    let process = |body: &str| format!("byte x; active proctype P() {{ int i; {body} }}");
    found(&process("atomic { for (i : 1 .. 20000) { skip } }"), 3, 3);
    found(&process("d_step { for (i : 1 .. 20000) { skip } }"), 3, 3);
    // Blocked in the middle, for ever if `x` is 9 before.
    found(
        &format!(
            "{} active proctype Q() {{ x = 7; x = 9 }}",
            process("atomic { for (i : 1 .. 6000) { x = i % 5 }; x == 9; x = 1 }")
        ),
        14,
        17,
    );
    found(
        &process(
            "atomic { do :: i < 12 -> i++ :: i < 12 -> i++; x = 1 - x :: i == 12 -> break od }",
        ),
        5,
        4099,
    );
    found(
        &format!(
            "{} active proctype Q() {{ x = 3 }}",
            process(
                "{ atomic { do :: i < 5000 -> i++ :: i == 5000 -> break od }; x = 4 } unless { x == 3 }"
            )
        ),
        12,
        16,
    );
    // Each message has several receivers, each of which goes on atomically.
    found(
        "chan c = [0] of {byte}; int n;
         active proctype P() { c!1; n = 0 }
         active [2] proctype Q() {
             byte k; int i; atomic { c?k; for (i : 1 .. 4000) { n = i } }; n = 8
         }",
        14,
        15,
    );
    found(
        "byte x; chan c = [0] of {int};
         active proctype P() { int i; atomic { for (i : 1 .. 3000) { c!i; x = 1 } } }
         active proctype Q() { int k; do :: c?k -> x = 2 :: k == 3000 -> break od }",
        15009,
        21009,
    );
    found(
        "int x; active proctype P() {
             int i; d_step { for (i : 1 .. 200000) { x = i } };
             atomic { do :: x > 195000 -> x-- :: else -> break od }; assert(x == 195000)
         }",
        5,
        5,
    );
    // An error at the end of one.
    fault(
        &process("atomic { for (i : 1 .. 20000) { skip }; assert(x == 1) }"),
        "assertion",
    );
}

#[test]
fn an_endless_sequence_is_reported() {
    let process = |body: &str| format!("int x; active proctype P() {{ {body} }}");
    for length in [1, 2, 3, 64, 65, 100, 1000, 30_000] {
        fault(
            &process(&format!("atomic {{ do :: x = (x + 1) % {length} od }}")),
            "endless-atomic",
        );
        fault(
            &process(&format!("d_step {{ do :: x = (x + 1) % {length} od }}")),
            "endless-d_step",
        );
        // After a beginning that does not come again.
        fault(
            &process(&format!(
                "x = -500; atomic {{ do :: x = (x + 1) % {length} od }}"
            )),
            "endless-atomic",
        );
    }
}
