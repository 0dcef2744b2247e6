//! Models with their expected results. The counts are Spin's.

mod depth;
mod escapes;
mod hidden;
mod independence;
mod labels;
mod lines;
mod names;
mod peephole;
mod places;
mod records;
mod run;
mod searches;
mod sequences;
mod traces;

use super::*;
use crate::{Finding, Options, Report, Search, Verdict, search};

pub(super) fn read_with(text: &str, reading: &Reading) -> Result<Model, Rejection> {
    let text = Text {
        name: "model.pml".into(),
        text: text.into(),
    };
    Model::read(text, reading, &mut |name| {
        Err(format!("there is no {name}"))
    })
}

pub(super) fn model(text: &str) -> Model {
    match read_with(text, &Reading::default()) {
        Ok(model) => model,
        Err(refused) => panic!("{text}\n{:?}", refused.faults),
    }
}

pub(super) fn run(text: &str) -> Report {
    run_as(text, Search::Breadth, &Options::default())
}

fn run_as(text: &str, kind: Search, options: &Options) -> Report {
    search(&model(text), kind, options, &mut |_, _| true)
}

/// Checks the states and transitions of a model without errors.
fn counts(text: &str, states: u64, transitions: u64) {
    let report = run(text);
    assert_eq!(report.finding, None, "{text}");
    assert_eq!(
        (report.states, report.transitions),
        (states, transitions),
        "{text}"
    );
}

fn fault(text: &str, code: &str) {
    match run(text).finding {
        Some((Finding::Fault(fault), trail)) => {
            assert_eq!(fault.code, code, "{text}");
            assert!(fault.span.is_some(), "{text}");
            assert!(trail.steps().next().is_some(), "{text}");
        }
        other => panic!("{text}\n{other:?}"),
    }
}

fn refused(text: &str, code: &str) {
    match read_with(text, &Reading::default()) {
        Ok(_) => panic!("{text} is a model"),
        Err(refused) => {
            let codes: Vec<_> = refused.faults.iter().map(|fault| fault.code).collect();
            assert!(codes.contains(&code), "{text}\n{:?}", refused.faults);
        }
    }
}

#[test]
fn small_models_have_the_states_that_spin_finds() {
    // Each line was checked with Spin 6.5.2.
    counts("init { skip }", 3, 3);
    counts(
        "chan c = [0] of {byte}; byte x;
         active proctype A() { byte i; do :: atomic { i < 3 -> i++; c!i; x++ } :: else -> break od; assert(x>0) }
         active proctype B() { byte i; end: do :: c?i -> x = i :: timeout -> skip od }",
        35,
        48,
    );
    counts(
        "active proctype P() { bool a, b, c
            select(a: 0..1)
            select(b: 0..1)
            select(c: 0..1)
         }",
        16,
        23,
    );
    counts(
        "byte x; proctype P(byte a) { x++ } init { int y; y = x + run P(3) }",
        5,
        5,
    );
    counts(
        "byte x; proctype P() { x++ }
         init { int y; y = run P() + 1; assert(y == 2); y = 2 * (run P()); y = (run P() > 2) }",
        40,
        66,
    );
    counts(
        "byte x; inline f(a) { byte t; t = a + 1; return t * 2; x = 9 }
         init { byte y; y = f(3); assert(y == 8); x = f(y); assert(x == 9) }",
        12,
        12,
    );
    counts(
        "byte x; inline f(a) { if :: a > 1 -> return 5 :: else -> return a fi; x++ }
         inline g(a) { byte u; u = f(a); return u + 1 }
         init { byte y[2]; y[1] = f(3); y[0] = g(1);
                if :: y[1] == 5 -> x = f(0) fi; assert(x == 1) }",
        15,
        15,
    );
}

#[test]
fn run_time_errors_have_locations() {
    fault("byte x; init { x = 255; x++ }", "value");
    fault("byte x = 3; init { x--; x--; x--; x-- }", "value");
    fault("init { bool b; b = 2 }", "value");
    fault("int x = 2147483647; init { x = x + 1 }", "overflow");
    fault("byte x; init { x = 1 / x }", "division");
    fault("byte x; init { x = 1 % x }", "division");
    fault("byte a[2]; byte i = 2; init { a[i] = 1 }", "index");
    fault("chan c; init { c!1 }", "no-channel");
    fault("chan c = [1] of {byte, byte}; init { c!1 }", "fields");
    fault("byte x; init { assert(x == 1) }", "assertion");
    fault(
        "byte x; init { skip; atomic { do :: x = 1 :: x = 0 od } }",
        "endless-atomic",
    );
    fault(
        "byte x; init { d_step { do :: x = 1 :: x = 0 od } }",
        "endless-d_step",
    );
    fault(
        "byte x; init { d_step { x = 1; x == 2 } }",
        "blocked-d_step",
    );
}

#[test]
fn a_deadlock_is_no_end() {
    let check = |text: &str, is_deadlock: bool| {
        let found = run(text)
            .finding
            .is_some_and(|(finding, _)| finding == Finding::Deadlock);
        assert_eq!(found, is_deadlock, "{text}");
    };
    check("byte x; init { x == 1 }", true);
    check("byte x; init { end: x == 1 }", false);
    check(
        "byte x; active proctype P() { end_here: do :: x == 1 od }",
        false,
    );
    check(
        "chan c = [0] of {byte}; active proctype A() { c!1 } active proctype B() { c?2 }",
        true,
    );
    check(
        "chan c = [0] of {byte}; active proctype A() { c!1 } active proctype B() { c?1 }",
        false,
    );
    check("init { skip }", false);
}

#[test]
fn locations_of_processes_are_shown_with_source_positions() {
    let model = model("chan c = [0] of {byte}\ninit {\n  if\n  :: c!1\n  :: c!2\n  fi\n}");
    let report = search(&model, Search::Breadth, &Options::default(), &mut |_, _| {
        true
    });
    let (_, trail) = report.finding.unwrap();
    let lines = model.standing(trail.end.as_deref().unwrap());
    assert_eq!(lines, ["init 0 at c!1 :: c!2, model.pml:4"]);
}

#[test]
fn errors_of_a_model_are_reported() {
    refused("init { x = 1 }", "unknown-name");
    refused("byte x; byte x; init { skip }", "redeclared");
    refused("init { goto there }", "unknown-label");
    refused("init { break }", "break");
    refused("init { run P() }", "unknown-process");
    refused("init { nothing(1); skip }", "unknown-inline");
    refused("byte a[2]; init { a = 1 }", "missing-index");
    refused("byte a[2]; init { a[2] = 1 }", "index");
    refused("byte x; init { x!1; bit b; b!1 }", "type");
    refused("byte x", "no-process");
    refused("init { c_code { x(); } }", "embedded-c");
    refused("init { skip", "syntax");
    refused("init { if fi }", "syntax");
    refused("init { assert(1) \n || 2 }", "syntax");
    refused(
        "typedef S { byte b }; S s; init { s.c = 1 }",
        "unknown-field",
    );
    refused("ltl p { [] nothing } init { skip }", "unknown-name");
    refused("never { byte x; x = 1 } init { skip }", "claim");
    refused("inline f(a) { f(a) } init { f(1) }", "too-deep");
    refused("init { l: goto l }", "empty-loop");
    refused("inline f() { return 1 } init { f() }", "return");
    refused("init { return 1 }", "return");
    refused(
        "inline f() { byte y; y = 1; return y } init { byte y; y = f() }",
        "return",
    );
    refused("proctype P(byte b) { skip } init { run P() }", "arguments");
    refused(
        "active proctype P() { byte x } init { run P(1) }",
        "arguments",
    );
}

#[test]
fn a_format_has_a_value_for_each_conversion() {
    refused("init { printf(\"%d %d\", 1) }", "format");
    refused("init { printf(\"%s\", 1) }", "format");
    let report = run("init { printf(\"%3d%%\\n\", 7, 8) }");
    assert_eq!(report.verdict(), Verdict::Holds);
}

#[test]
fn names_that_are_nearly_right_are_suggested() {
    let refused = read_with("byte counter; init { countr = 1 }", &Reading::default()).unwrap_err();
    assert_eq!(
        refused.faults[0].help.as_deref(),
        Some("did you mean `counter`?")
    );
    let text = "proctype worker() { skip } init { run workr() }";
    let refused = read_with(text, &Reading::default()).unwrap_err();
    let help = refused.faults[0].help.as_deref();
    assert_eq!(help, Some("did you mean `worker`?"));
}

#[test]
fn an_assignment_where_a_comparison_is_meant_is_helped() {
    let text = "active proctype P() { byte x; assert(x = 1) }";
    let refused = read_with(text, &Reading::default()).unwrap_err();
    let help = refused.faults[0].help.as_deref().unwrap_or("");
    assert!(help.starts_with("`==` compares"), "{help}");
}

#[test]
fn values_may_be_cut_as_in_c() {
    let reading = Reading {
        wraps: true,
        ..Reading::default()
    };
    let text = "byte x = 250; short s = 32767; unsigned u : 3 = 7;
        init { do :: x < 250 -> break :: else -> x++ od; s++; u++; assert(x == 0 && s == -32768 && u == 0) }";
    let model = read_with(text, &reading).unwrap();
    let report = search(&model, Search::Breadth, &Options::default(), &mut |_, _| {
        true
    });
    assert_eq!(report.verdict(), Verdict::Holds, "{:?}", report.finding);
}

#[test]
fn expressions_have_the_values_of_c() {
    let check = |expression: &str, expected: i32| {
        let text = format!("short x = {expression}; init {{ assert(x == {expected}) }}");
        assert_eq!(run(&text).finding, None, "{expression}");
    };
    check("1 + 2 * 3", 7);
    check("(1 + 2) * 3", 9);
    check("-7 / 2", -3);
    check("-7 % 3", -1);
    check("1 << 4 | 1", 17);
    check("6 & 3 ^ 1", 3);
    check("~5", -6);
    check("!0 + !3", 1);
    check("3 > 2 == 1", 1);
    check("0 || 2 && 3", 1);
    check("(1 -> 5 : 6)", 5);
    check("(0 -> 5 : (1 -> 7 : 8))", 7);
    check("8 - 4 - 2", 2);
    check("-2147483648 < 0 && -2147483648 + 1 == -2147483647", 1);
    check("- 2147483648 == 0x80000000", 1);
}

#[test]
fn a_byte_order_mark_means_nothing() {
    assert_eq!(run("\u{feff}init { skip }").verdict(), Verdict::Holds);
    refused("init { \u{feff}skip }", "character");
}

#[test]
fn statements_do_what_they_say() {
    let holds = |text: &str| {
        let report = run(text);
        assert_eq!(
            report.verdict(),
            Verdict::Holds,
            "{text}\n{:?}",
            report.finding
        );
    };
    holds("byte s; init { byte i; for (i : 1 .. 4) { s = s + i } assert(s == 10) }");
    holds(
        "byte a[3]; byte s; init { byte i; a[0] = 1; a[1] = 2; a[2] = 3; for (i in a) { s = s + a[i] } assert(s == 6) }",
    );
    holds("init { byte i; select(i : 2 .. 5); assert(i >= 2 && i <= 5) }");
    holds(
        "typedef P { byte x; byte y[2] }; P p[2]; init { p[1].y[1] = 7; assert(p[1].y[1] == 7 && p[0].y[1] == 0) }",
    );
    holds(
        "typedef M { byte a; byte b }; chan c = [2] of {M}; init { M m; m.a = 1; m.b = 2; c!m; m.a = 9; c?m; assert(m.a == 1 && m.b == 2) }",
    );
    holds(
        "mtype = {red, green}; chan c = [2] of {mtype, byte}; init { byte x; c!red(3); c!green,4; c??green(x); assert(x == 4 && len(c) == 1); c?red(x); assert(x == 3 && empty(c)) }",
    );
    holds(
        "chan c = [3] of {byte}; init { byte x; c!!3; c!!1; c!!2; c?x; assert(x == 1); c?<x>; assert(x == 2 && len(c) == 2); assert(c?[2] && c??[3] && !c?[3]) }",
    );
    holds(
        "chan c = [1] of {byte}; init { byte x = 2; c!3; if :: c?eval(x) -> assert(false) :: else -> skip fi; x++; c?eval(x) }",
    );
    holds(
        "chan a = [1] of {byte}; chan b = [1] of {chan}; init { chan x; byte y; b!a; b?x; x!5; a?y; assert(y == 5) }",
    );
    holds(
        "byte x; inline twice(v, by) { v = v * by; v = v * by } init { x = 1; twice(x, 3); assert(x == 9) }",
    );
    holds(
        "byte x; proctype P(byte a; byte b) { x = a - b } init { run P(5, 3); _nr_pr == 1; assert(x == 2) }",
    );
    holds(
        "byte x; active proctype Q() { _nr_pr == 1 -> assert(x == 3) } active [3] proctype P() { x++ }",
    );
    holds("byte x; init { { x = 1; x = 2; x = 3 } unless { x == 2 }; assert(x == 2) }");
    holds(
        "byte x; active proctype P() provided (x == 1) { assert(x == 1) } active proctype Q() { x = 1 }",
    );
    holds("byte x; init { byte y = 2; { byte y = 3; x = y } assert(x == 3 && y == 2) }");
    holds(
        "#define N 2\nbyte a[N]; init { d_step { a[0] = N; if :: a[0] == 2 -> a[1] = 1 :: else -> a[1] = 9 fi }; assert(a[1] == 1) }",
    );
    holds(
        "active proctype P() { byte x; again: x++; if :: x < 4 -> goto again :: else fi; assert(x == 4) }",
    );
    holds(
        "active proctype P() { byte x; x = 1; end_l: false } active proctype Q() { byte y; P@end_l -> y = P:x; assert(y == 1) }",
    );
    holds(
        "byte got; active proctype P() priority 1 { assert(got == 1) } active proctype Q() priority 5 { got = 1 }",
    );
}

#[test]
fn formulas_hold_or_not() {
    let check = |text: &str, formula: &str, fair: bool, expected: Verdict| {
        let reading = Reading {
            formulas: vec![formula.to_owned()],
            ..Reading::default()
        };
        let mut model = read_with(text, &reading).unwrap();
        let automaton = model.ask(&Question::Formula(formula.to_owned())).unwrap();
        let report = crate::accepting_run(
            &model,
            &automaton,
            fair,
            "",
            &Options::default(),
            &mut |_, _| true,
        );
        assert_eq!(report.verdict(), expected, "{formula} in {text}");
        if let Some((_, trail)) = report.finding {
            assert!(trail.cycle.is_some(), "{formula}");
        }
    };
    use Verdict::{Holds, Violated};
    let toggle = "bit b; active proctype P() { do :: b = 1 - b od }";
    check(toggle, "[]<> b", false, Holds);
    check(toggle, "[]<> b && []<> !b", false, Holds);
    check(toggle, "<>[] b", false, Violated);
    check(toggle, "!b U b", false, Holds);
    check(toggle, "X b", false, Holds);
    check(toggle, "[] (b -> X !b)", false, Holds);
    let two = "bit a, b; active proctype P() { do :: a = 1 - a od } active proctype Q() { do :: b = 1 od }";
    check(two, "<> b", false, Violated);
    check(two, "<> b", true, Holds);
    check(two, "[]<> a", true, Holds);
    check(two, "<>[] a", true, Violated);
    // A terminated run stutters, also under fairness.
    let ends = "bit a; active proctype P() { a = 1 }";
    check(ends, "<>[] a", false, Holds);
    check(ends, "<>[] a", true, Holds);
    check(ends, "[] <> !a", true, Violated);
    let label = "active proctype P() { do :: skip; cs: skip od }";
    check(label, "[]<> P@cs", false, Holds);
    check(label, "[] !P@cs", false, Violated);
    // Weak fairness does not cover a process that is blocked repeatedly.
    let lock = "bit l, c; active proctype P() { do :: atomic { !l -> l = 1 }; l = 0 od }
        active proctype Q() { do :: atomic { !l -> l = 1 }; c = 1; l = 0 od }";
    check(lock, "<> c", true, Violated);
}

#[test]
fn fairness_says_of_how_many_processes_it_knows() {
    let check = |count: u32, expected: Option<&str>| {
        let text = format!(
            "byte x; active [{count}] proctype P() {{ do :: x = 0 od }}
             active proctype Last() {{ x = 1; do :: skip od }}"
        );
        let reading = Reading {
            formulas: vec!["<> (x == 1)".to_owned()],
            ..Reading::default()
        };
        let mut model = read_with(&text, &reading).unwrap();
        let question = Question::Formula("<> (x == 1)".to_owned());
        let automaton = model.ask(&question).unwrap();
        let options = Options::default();
        let report = crate::accepting_run(&model, &automaton, true, "", &options, &mut |_, _| true);
        let code = report.finding.map(|(finding, _)| match finding {
            Finding::Fault(fault) => fault.code,
            _ => "violated",
        });
        assert_eq!(code, expected, "{count}");
    };
    check(62, None);
    check(63, Some("too-many"));
    check(80, Some("too-many"));
}

#[test]
fn labels_and_claims_are_questions() {
    let check = |text: &str, question: Question, expected: Verdict| {
        let mut model = model(text);
        let automaton = model.ask(&question).unwrap();
        let report = crate::accepting_run(
            &model,
            &automaton,
            false,
            "",
            &Options::default(),
            &mut |_, _| true,
        );
        assert_eq!(report.verdict(), expected, "{question:?} in {text}");
    };
    use Verdict::{Holds, Violated};
    let progress =
        "byte x; active proctype P() { do :: x = 1; progress: x = 0 :: x = 2 -> break od }";
    check(progress, Question::Progress, Violated);
    let always = "byte x; active proctype P() { do :: progress: x = 1 - x od }";
    check(always, Question::Progress, Holds);
    check(always, Question::Acceptance, Holds);
    let accept = "byte x; active proctype P() { do :: x = 1; accept: x = 0 od }";
    check(accept, Question::Acceptance, Violated);
    let claim = "bit p; active proctype P() { do :: p = 1 :: p = 0 od }
        never { do :: skip :: p -> break od; accept: do :: p od }";
    check(claim, Question::Claim, Violated);
    let never = "bit p; active proctype P() { do :: p = 1 :: p = 0 od }
        never { do :: !p :: p -> break od }";
    check(never, Question::Claim, Violated);
    let silent = "bit p, q; active proctype P() { do :: p = 1 :: p = 0 od }
        never { do :: !q :: q -> break od }";
    check(silent, Question::Claim, Holds);
    let asserts =
        "bit p; active proctype P() { do :: p = 1 :: p = 0 od } never { do :: assert(!p) od }";
    check(asserts, Question::Claim, Violated);
}
