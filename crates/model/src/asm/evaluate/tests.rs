use crate::asm::environment::{Environment, Question, Random};
use crate::asm::possibilities::Possibilities;
use crate::asm::state::State;
use crate::asm::{Model, Stop, Value, load};
use crate::promela::Text;
use crate::{Finding, Options, Report, System, Verdict, breadth_first};
use std::collections::BTreeSet;

fn model(text: &str) -> Model {
    let text = Text {
        name: "test.asm".to_owned(),
        text: text.to_owned(),
    };
    let loaded = load(text, &mut |_| Err("there are no files".to_owned()));
    loaded.unwrap_or_else(|rejection| panic!("{:#?}", rejection.faults))
}

fn only_state(model: &Model) -> State {
    model.begin(&mut Possibilities::default()).unwrap()
}

/// Returns all states after one step, as changes, and the faults.
fn after(text: &str) -> BTreeSet<String> {
    let model = model(text);
    let state = only_state(&model);
    let mut found = BTreeSet::new();
    let mut possibilities = Possibilities::default();
    model.all(
        &mut possibilities,
        |possibilities| model.step(&state, possibilities),
        |stepped| {
            found.insert(match stepped {
                Ok(stepped) => {
                    let changes = model.changes(&state, &stepped.state);
                    let texts = changes
                        .iter()
                        .map(|change| format!("{} = {}", change.name, change.value));
                    texts.collect::<Vec<_>>().join(", ")
                }
                Err(fault) => format!("{}: {}", fault.code, fault.message),
            });
            true
        },
    );
    found
}

fn check(text: &str, expected: &[&str]) {
    let expected = expected.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(after(text), expected, "{text}");
}

/// Checks a rule in a model with one variable of each sort.
fn check_rule(rule: &str, expected: &[&str]) {
    let text = format!(
        "enum Colour = Red | Green | Blue
         class Node {{ next : optional Node  weight : Int = 7 }}
         controlled n : Int = 0
         controlled small : 0..3 = 0
         controlled b : Bool = false
         controlled c : Colour = Red
         controlled s : {{Int}} = {{1, 2, 3}}
         controlled q : [Int] = [4, 5]
         controlled m : {{Int -> Colour}} = {{1 -> Green}}
         controlled t : (Int, Colour) = (1, Blue)
         controlled o : optional Int = undef
         controlled node : optional Node = undef
         controlled f(x : 0..2) : Int = 10 * x
         static double(x : Int) : Int = 2 * x
         static endless(x : Int) : Int = endless(x)
         static few(x : Int) : 0..6 = 2 * x
         derived many : 0..6 = n + 10
         controlled far(x : 0..2) : 0..6 = 7 * x
         rule put(x : Int) {{ n := x }}
         rule other(x : Int) {{ n := x }}
         rule forever {{ forever }}
         main {{ {rule} }}"
    );
    check(&text, expected);
}

#[test]
fn updates_are_made_at_once() {
    check_rule("n := 1 b := true", &["n = 1, b = true"]);
    check_rule("n := n + 1 small := n + 1", &["n = 1, small = 1"]);
    check_rule("skip", &[""]);
    check_rule("f(1) := 3 f(0) := 0", &["f(1) = 3"]);
    check_rule("n := double(4)", &["n = 8"]);
    check_rule("o := 4", &["o = 4"]);
    check_rule("if n = 0 { n := 5 } else { n := 6 }", &["n = 5"]);
    check_rule("if b { n := 5 } else if c = Red { n := 6 }", &["n = 6"]);
}

#[test]
fn rules_in_sequence_see_what_was_done() {
    check_rule(
        "seq { n := 1 n := n + 1 small := n }",
        &["n = 2, small = 2"],
    );
    check_rule(
        "seq { n := 1 { n := n + 1 small := n } }",
        &["n = 2, small = 1"],
    );
    check_rule(
        "seq { n := 1 seq { n := n * 5 } } b := true",
        &["n = 5, b = true"],
    );
    check_rule("seq { skip }", &[""]);
}

#[test]
fn clashes_name_both_rules() {
    check_rule("n := 1 n := 1", &["n = 1"]);
    check_rule(
        "put(1) other(2)",
        &[
            "clash: inconsistent updates: `n` gets two values in one step, 1 by rule `put` and 2 by \
             rule `other`",
        ],
    );
    check_rule(
        "n := 1 put(2)",
        &[
            "clash: inconsistent updates: `n` gets two values in one step, 1 by `main` and 2 by rule \
             `put`",
        ],
    );
    check_rule("f(1) := 1 f(2) := 2", &["f(1) = 1, f(2) = 2"]);
    check_rule(
        "forall x in s { n := x }",
        &[
            "clash: inconsistent updates: `n` gets two values in one step, 1 by `main` and 2 by \
             `main`",
        ],
    );
    check_rule("seq { put(1) other(2) }", &["n = 2"]);
}

#[test]
fn a_clash_shows_both_places() {
    let text = "controlled n : Int = 0 rule a { n := 1 } rule b { n := 2 } main { a b }";
    let model = model(text);
    let state = only_state(&model);
    let stop = model
        .step(&state, &mut Possibilities::default())
        .unwrap_err();
    let fault = stop.fault();
    let labels: Vec<(&str, &str)> = fault
        .labels
        .iter()
        .map(|(span, label)| (model.source(*span), &**label))
        .collect();
    assert_eq!(
        labels,
        [("n := 1", "1 by rule `a`"), ("n := 2", "2 by rule `b`")]
    );
}

#[test]
fn many_and_one_of_many() {
    check_rule(
        "forall x in 0..2 with x != 1 { f(x) := 7 }",
        &["f(0) = 7, f(2) = 7"],
    );
    check_rule("choose x in s { n := x }", &["n = 1", "n = 2", "n = 3"]);
    check_rule("choose x in s with x > 2 { n := x }", &["n = 3"]);
    check_rule(
        "choose x in s with x > 5 { n := x } else { n := -1 }",
        &["n = -1"],
    );
    check_rule(
        "choose { n := 1 } or { n := 2 } or { skip }",
        &["", "n = 1", "n = 2"],
    );
    check_rule(
        "choose x in {1, 2} { choose y in {5, 6} { n := x * y } }",
        &["n = 10", "n = 12", "n = 5", "n = 6"],
    );
    check_rule("let x = n + 1 { n := x * x + 1 }", &["n = 2"]);
}

#[test]
fn cases_are_tried_in_order() {
    check_rule(
        "case c { Green { n := 1 } Red, Blue { n := 2 } }",
        &["n = 2"],
    );
    check_rule("case c { Green { n := 1 } else { n := 3 } }", &["n = 3"]);
    check_rule("case c { Green { n := 1 } }", &[""]);
    check_rule(
        "case t { (0, _) { n := 1 } (let x, Blue) { n := x + 5 } }",
        &["n = 6"],
    );
    check_rule(
        "case t { let x { t := (x.1 + 1, Red) } }",
        &["t = (2, Red)"],
    );
}

#[test]
fn expressions_have_exact_values() {
    let check = |expression: &str, expected: &str| {
        check_rule(&format!("n := {expression}"), &[expected]);
    };
    check("size(s) + size(q) * size(m)", "n = 5");
    check("-7 / 2", "n = -4");
    check("-7 % 2", "n = 1");
    check("q[1]", "n = 5");
    check("head(q) + last(q)", "n = 9");
    check("size(tail(q))", "n = 1");
    check("sum(s) + least(s) + greatest(s)", "n = 10");
    check("if exists x in s | x = 2 then 1 else 2", "n = 1");
    check("if forall x in s with x > 1 | x > 1 then 1 else 2", "n = 1");
    check("size({x / 2 | x in s})", "n = 2");
    check("sum([x * 2 | x in q with x > 4])", "n = 10");
    check("size(s union {9} except {1} intersect {2, 9})", "n = 4");
    check("size(q ++ [1, 2])", "n = 4");
    check("sum(keys(m ++ {5 -> Red}))", "n = 6");
    check("if 2 in s and 2 not in q and 1 in m then 1 else 0", "n = 1");
    check("size(Colour)", "n = 3");
    check("size({x | x in 1..5 with not x in s})", "n = 2");
    check(
        "1 + 9223372036854775807",
        "overflow: this number does not fit 64 bits",
    );
    check("1 / n", "division: division by zero");
    check("q[2]", "index: index 2 is out of range of a sequence of 2");
    check(
        "head([x | x in q with x > 9])",
        "empty: the collection is empty",
    );
    check("o", "undefined: undef does not fit `n`, which is Int");
    check("o + 1", "undefined: this is `undef`");
    check(
        "endless(1)",
        "too-deep: calls are nested more than 600 levels deep",
    );
    check(
        "size({1 -> Red, n + 1 -> Green})",
        "twice: the key 1 has two values, Red and Green",
    );
    check("size({1 -> Red, n + 1 -> Red})", "n = 1");
    check("-9223372036854775808", "n = -9223372036854775808");
    check(
        "-(-9223372036854775808)",
        "overflow: this number does not fit 64 bits",
    );
    check(
        "size(1..1000000000)",
        "too-large: 1..1000000000 has 1000000000 numbers",
    );
}

#[test]
fn values_out_of_range_are_reported() {
    check_rule(
        "small := 4",
        &["range: 4 does not fit `small`, which is 0..3"],
    );
    check_rule("f(3) := 4", &["range: `f` takes 0..2, not 3"]);
    check_rule("n := f(-1)", &["range: `f` takes 0..2, not -1"]);
    check_rule(
        "node.weight := 1",
        &["undefined: `weight` is applied to `undef`"],
    );
    check_rule("put(o)", &["range: rule `put` takes Int, not undef"]);
    check_rule(
        "assert n = 1",
        &["assertion: the assertion `n = 1` does not hold"],
    );
    check_rule(
        "forever",
        &["too-deep: calls are nested more than 600 levels deep"],
    );
    check_rule(
        "small := few(4)",
        &["range: 8 does not fit `few`, which is 0..6"],
    );
    check_rule(
        "small := 1 n := many",
        &["range: 10 does not fit `many`, which is 0..6"],
    );
    check_rule(
        "n := far(1)",
        &["range: 7 does not fit `far`, which is 0..6"],
    );
}

#[test]
fn new_objects_have_their_fields_at_once() {
    check_rule("node := new Node", &["node = Node#1"]);
    check_rule(
        "let x = new Node(weight = 1) { node := x n := x.weight + x.weight }",
        &["Node#1.weight = 1, n = 2, node = Node#1"],
    );
    check_rule(
        "let x = new Node { let y = new Node(next = x) { node := y } }",
        &["Node#2.next = Node#1, node = Node#2"],
    );
    check_rule("let x = new Node { skip }", &[""]);
}

#[test]
fn objects_that_are_gone_leave_their_number() {
    let text = "class Node { value : Int = 0 }
                controlled nodes : {Node} = {}
                controlled count : 0..1 = 0
                main {
                    if nodes = {} { let x = new Node(value = 5) { nodes := {x} } }
                    else { nodes := {} }
                }";
    let report = search(text);
    assert_eq!((report.verdict(), report.states), (Verdict::Holds, 2));
}

#[test]
fn the_environment_is_asked_once_and_for_what_is_read() {
    let declarations = "enum Coin = Head | Tail
        monitored coin : Coin
        monitored other : 1..1000
        shared flag : Bool = false
        monitored few(x : 1..3) : 1..9 possible {x, x + 1}
        controlled n : Int = 0 ";
    let check_main = |main: &str, expected: &[&str]| {
        check(&format!("{declarations} main {{ {main} }}"), expected);
    };
    check_main(
        "if coin = Head { n := 1 } if coin = Tail { n := 2 }",
        &["n = 1", "n = 2"],
    );
    check_main("if coin = Head and other = 1 { n := 1 }", &["", "n = 1"]);
    check_main("n := few(2)", &["n = 2", "n = 3"]);
    check_main("n := few(1) + few(1)", &["n = 2", "n = 4"]);
    // The environment sets a shared function, unless the machine does.
    check_main("if flag { n := 1 }", &["", "flag = true, n = 1"]);
    check_main("if flag { flag := false n := 1 }", &["", "n = 1"]);
    check_main(
        "seq { flag := true if flag { n := 1 } }",
        &["flag = true, n = 1"],
    );
}

#[test]
fn endless_possibilities_are_no_verdict() {
    let check = |text: &str, code: &str| {
        let (finding, _) = search(text).finding.unwrap();
        assert!(
            matches!(&finding, Finding::Fault(fault) if fault.code == code),
            "{finding:?}"
        );
    };
    let endless = "monitored n : Int controlled x : Int = 0 main { x := n }";
    check(endless, "endless");
    let many = "monitored a(n : Int) : Bool controlled x : Bool = false
                main { x := exists n in 1..17 | not a(n) }";
    // Reading stops at the first one, so these are few.
    assert_eq!(search(many).states, 2);
    let many = "monitored a(n : Int) : Bool controlled x : Bool = false
                main { x := size({n | n in 1..17 with a(n)}) > 5 }";
    check(many, "too-large");
}

fn search(text: &str) -> Report {
    breadth_first(&model(text), &Options::default(), &mut |_, _| true)
}

#[test]
fn possible_answers_are_computed_once() {
    let text = "monitored e : 0..65535 controlled n : 0..1 = 0 main { if e = 9 { n := 1 } }";
    let report = search(text);
    assert_eq!((report.verdict(), report.states), (Verdict::Holds, 2));
    assert_eq!(report.transitions, 2 * 65536 + 1);
}

/// Returns the faults of the first state, or of a step from it.
fn wrong(text: &str) -> String {
    match search(text).finding {
        Some((Finding::Fault(fault), _)) => format!("{}: {}", fault.code, fault.message),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_model_that_cannot_begin_is_wrong() {
    let check = |text: &str, expected: &str| assert_eq!(wrong(text), expected, "{text}");
    let declared = "monitored e : Int possible {} controlled n : Int = 0 ";
    check(
        &format!("{declared} initially {{ n := e }} main {{ skip }}"),
        "no-answer: nothing is possible for `e`",
    );
    check(
        &format!("{declared} initially {{ n := 1 n := 2 }} main {{ skip }}"),
        "clash: inconsistent updates: `n` gets two values in one step, 1 by `initially` and 2 by \
         `initially`",
    );
}

#[test]
fn a_deadlock_names_the_query_without_an_answer() {
    let text = "monitored e : Int possible {} controlled n : Int = 0 main { n := e }";
    let model = model(text);
    let report = search(text);
    let (finding, trail) = report.finding.unwrap();
    assert_eq!(finding, Finding::Deadlock);
    let fault = model.standstill(&trail.end.unwrap()).unwrap();
    assert_eq!(fault.message, "nothing is possible for `e`");
    assert_eq!(model.source(fault.span.unwrap()), "e");
}

#[test]
fn conditions_on_states_have_a_value() {
    let declared = "controlled o : optional Bool = undef main { skip }";
    let check = |text: &str| {
        let expected = "undefined: this is `undef`";
        assert_eq!(wrong(&format!("{declared} {text}")), expected, "{text}");
    };
    check("invariant known = o");
    check("invariant known = not o");
}

#[test]
fn a_model_is_searched_with_its_invariants() {
    let text = |limit: u32| {
        format!(
            "controlled n : 0..9 = 0
             initially {{ choose x in 0..2 {{ n := x }} }}
             main {{ choose {{ n := (n + 1) % 10 }} or {{ n := (n + 3) % 10 }} }}
             invariant below = n < {limit}"
        )
    };
    let report = search(&text(10));
    assert_eq!((report.verdict(), report.states), (Verdict::Holds, 10));
    let (finding, trail) = search(&text(6)).finding.unwrap();
    assert!(matches!(finding, Finding::Fault(fault) if fault.code == "invariant"));
    assert_eq!(trail.moves.len(), 2);
    let steps: Vec<String> = trail
        .steps()
        .map(|step| format!("{} {}", step.actor.unwrap(), step.text))
        .collect();
    assert_eq!(steps, ["0 rule 2", "1 main", "0 rule 2", "1 main"]);
}

#[test]
fn without_an_answer_there_is_a_deadlock() {
    let text = "monitored n : Int possible {} controlled x : Int = 0 main { x := n }";
    let (finding, _) = search(text).finding.unwrap();
    assert_eq!(finding, Finding::Deadlock);
}

#[test]
fn the_same_seed_walks_the_same_way() {
    let model = model("controlled n : Int = 0 main { choose x in 1..1000 { n := x } }");
    let walk = |seed: u64| {
        let mut random = Random::new(seed);
        let mut state = only_state(&model);
        for _ in 0..5 {
            state = model.step(&state, &mut random).unwrap().state;
        }
        state
    };
    assert_eq!(walk(1), walk(1));
    assert_ne!(walk(1), walk(2));
}

#[test]
fn an_answer_that_is_not_possible_is_refused() {
    struct Wrong;
    impl Environment for Wrong {
        fn answer(&mut self, question: &Question<'_>) -> Result<Value, Stop> {
            assert_eq!(question.text(), "coin");
            Ok(Value::Integer(9))
        }
    }
    let model = model("monitored coin : 1..2 controlled n : Int = 0 main { n := coin }");
    let stop = model.step(&only_state(&model), &mut Wrong).unwrap_err();
    assert!(
        matches!(stop, Stop::NoAnswer(fault) if fault.message == "9 is not possible for `coin`")
    );
}

#[test]
fn states_have_one_form() {
    // Two paths to the same functions are one state.
    let text = "controlled f(x : 1..2) : Int = x
                controlled n : 0..1 = 0
                main { choose { f(1) := 5 n := 1 } or { f(1) := 1 n := 0 } or { f(2) := f(2) } }";
    let report = search(text);
    assert_eq!(report.states, 2);
    let model = model(text);
    let bytes = model.bytes(&only_state(&model));
    assert_eq!(model.values(&bytes).len(), 1);
}
