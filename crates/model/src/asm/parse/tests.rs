use super::*;
use crate::asm::syntax::RuleKind;

fn message(text: &str) -> String {
    let (_, faults) = parse(0, text);
    let texts: Vec<&str> = faults.iter().map(|fault| &*fault.message).collect();
    texts.join("; ")
}

#[test]
fn all_that_can_be_declared_is_understood() {
    let text = r#"
        refine "control.asm"
        enum Mode = Init | Break | Run | Break?
        universe Number = 1..3
        class Module { name : Text  bound : {Place} = {} }
        static limit : Number = 3
        static double(n : Int) : Int = 2 * n
        derived busy : Bool = mode = Run or mode = Break?
        override controlled mode : Mode = Init
        controlled owner(f : Number) : optional Number = undef
        monitored command : Command possible {Start, Exit}
        shared table : {Number -> [Text]} = {->}
        rule empty { }
        override rule doCommand(c : Command, n : Int) {
            skip
            mode := if c = Start then Break else mode
            owner(1) := undef
            m.bound := {p | p in places with p not in m.bound}
            seq { step1 step2(3) bp.bind(m) }
            if a { b } else if c { d } else { e }
            case c { Start, Exit { x := 1 } (Run, let n) { y := n } _ { skip } else { z := 1 } }
            let m = new Module(name = "a") { modules := modules union {m} }
            forall x in 1..3 with x != 2 { f(x) := 0 }
            choose x in s { y := x } else { y := 0 }
            choose { a } or { b }
            assert exists x in s with x > 1 | forall y in t | x = y
        }
        main { doCommand(command, -1) }
        initially { x := 1 }
        invariant safe = not (a and b) implies {1 -> 2, 2 -> 3}[1] = 2
        ltl live = always (mode = Run implies eventually mode = Break) and (p until q)
        abstraction of "control.asm" { mode = phase }
        record { when kind = "stop", reason = "step" | "signal" { set c = 1 step check x = 1 } }
    "#;
    assert_eq!(message(text), "");
    assert_eq!(parse(0, text).0.len(), 19);
}

#[test]
fn braces_after_a_condition_are_the_rule() {
    let (items, faults) = parse(0, "main { if x in {1, 2} { y := {} } z := [] }");
    assert_eq!(faults, []);
    let Item::Block { body, .. } = &items[0] else {
        panic!("{items:?}");
    };
    let RuleKind::Par(rules) = &body.kind else {
        panic!("{body:?}");
    };
    assert_eq!(rules.len(), 2);
}

#[test]
fn parsing_continues_after_an_error() {
    let check = |text: &str, expected: &str| assert_eq!(message(text), expected, "{text}");
    check("enum = A", "expected a name for the enumeration, found `=`");
    check(
        "enum in = A",
        "expected a name for the enumeration, but `in` is a reserved word",
    );
    check("nothing", "expected a declaration, found `nothing`");
    check("main { x := }", "expected an expression, found `}`");
    check("main { x + 1 }", "this value is not used");
    check(
        "main { x := 1",
        "expected a rule or `}`, found the end of the text",
    );
    check(
        "invariant a = 1 < 2 < 3",
        "expected the end of a comparison, found `<`",
    );
    check(
        "override enum A = B",
        "expected something that can be overridden, found `enum`",
    );
    check("main { choose { skip } }", "this choice has only one rule");
    check(
        "rule a { 1 } rule b { skip } rule c { ] }",
        "expected a rule, found `1`; expected a rule, found `]`",
    );
}

#[test]
fn a_comparison_in_place_of_an_update_is_reported() {
    let (_, faults) = parse(0, "main { x = 1 }");
    assert_eq!(
        faults[0].help.as_deref(),
        Some("an update is `x := e`; `=` compares")
    );
}

#[test]
fn no_depth_is_without_bound() {
    let deep = |open: &str, close: &str, inner: &str| {
        format!(
            "invariant a = {}{inner}{}",
            open.repeat(100_000),
            close.repeat(100_000)
        )
    };
    for text in [
        deep("(", ")", "1"),
        deep("not ", "", "true"),
        deep("-", "", "1"),
        deep("{", "}", "1"),
        deep("[", "]", "1"),
        deep("f(", ")", "1"),
        deep("1 + ", "", "1"),
        deep("a implies ", "", "1"),
        deep("if a then b else ", "", "1"),
        deep("forall x in a | ", "", "1"),
        deep("always ", "", "1").replace("invariant", "ltl"),
        deep("a.b", ".c", ""),
        format!("main {{ {}", "{".repeat(100_000)),
        format!("main {{ {}", "if a { b } else ".repeat(100_000)),
        format!("main {{ case x {{ {}", "(".repeat(100_000)),
        format!("universe A = {}", "{".repeat(100_000)),
    ] {
        assert_ne!(message(&text), "");
    }
}
