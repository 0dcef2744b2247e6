use super::{load, load_with};
use crate::promela::Text;

fn text(name: &str, text: &str) -> Text {
    Text {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

/// Returns the faults of a model that may refine `base.asm`.
fn faults(source: &str) -> String {
    let base = "enum Mode = Off | On
                controlled mode : Mode = Off
                static limit : Int = 2
                rule tick(n : Int) { mode := On }
                invariant known = mode = Off
                main { tick(1) }";
    let loaded = load(text("test.asm", source), &mut |name| match name {
        "base.asm" => Ok(text("base.asm", base)),
        "self.asm" => Ok(text("test.asm", source)),
        _ => Err("there is no such file".to_owned()),
    });
    match loaded {
        Ok(_) => String::new(),
        Err(rejection) => {
            let faults = rejection.faults.iter().map(|fault| match &fault.help {
                Some(help) => format!("{} ({help})", fault.message),
                None => fault.message.clone(),
            });
            faults.collect::<Vec<_>>().join("; ")
        }
    }
}

fn check(source: &str, expected: &str) {
    assert_eq!(faults(source), expected, "{source}");
}

#[test]
fn names_must_be_known() {
    check("main { x := 1 }", "there is no value `x`");
    check(
        "controlled count : Int = 0 main { cuont := 1 }",
        "there is no value `cuont` (did you mean `count`?)",
    );
    check(
        "rule go { skip } main { og }",
        "there is no rule `og` (did you mean `go`?)",
    );
    check(
        "controlled a : Mod = 1 main { skip }",
        "there is no type `Mod`",
    );
    check("enum A = X | X main { skip }", "`X` is declared twice");
    check("enum Int = X main { skip }", "`Int` is a built-in type");
    check(
        "rule a { skip } rule a { skip } main { a }",
        "`a` is declared twice (write `override` to replace what another file declares)",
    );
    check(
        "enum A = X",
        "the model has no main rule (write `main { ... }`, the rule of each step)",
    );
    check(
        "class C { f : Int } controlled c : optional C = undef main { c.g := 1 }",
        "there is no field `g` (did you mean `f`?)",
    );
    check(
        "rule go(a : Int, b : Int, a : Bool) { skip } main { skip }",
        "the parameter `a` is declared twice",
    );
    check(
        "static go(a : Int, a : Int) : Int = a main { skip }",
        "the parameter `a` is declared twice",
    );
    check(
        "universe A = {B} universe B = optional C universe C = 1..2
         controlled a : A = {2} main { skip }",
        "",
    );
    check(
        "universe A = 1..2 universe B = (A, C) universe C = [B] main { skip }",
        "the universe `B` contains itself; the universe `C` contains itself",
    );
    check(
        "main { forall n in Int { skip } }",
        "the values of `Int` cannot be enumerated (use a subset, for example the numbers `0..9`)",
    );
    check(
        "class C controlled s : {C} = {} main { forall c in C { skip } }",
        "the values of `C` cannot be enumerated (store the objects in a set: an object that \
         nothing refers to is deleted)",
    );
}

#[test]
fn types_must_fit() {
    let in_main = |rule: &str, expected: &str| {
        let source = format!(
            "enum M = A | B class C {{ f : Int }} controlled m : M = A controlled n : Int = 0
             controlled s : {{Int}} = {{}} static k : Int = 1 derived d : Int = n
             monitored e : Int rule go(x : M) {{ skip }} main {{ {rule} }}"
        );
        check(&source, expected);
    };
    in_main("m := 1", "expected M, found a number");
    in_main("n := A", "expected Int, found M");
    in_main("if n { skip }", "expected Bool, found Int");
    in_main("s := {1, A}", "expected a number, found M");
    in_main("if m = 1 { skip }", "expected M, found a number");
    in_main(
        "if m = undef { skip }",
        "a value of type M is never `undef`",
    );
    in_main("m := undef", "expected M, found undef");
    in_main("go(1)", "expected M, found a number");
    in_main("go", "the rule `go` takes one argument, not 0");
    in_main("n := d(1)", "`d` takes no arguments, not 1");
    in_main("k := 1", "`k` cannot be updated: it is static");
    in_main(
        "d := 1",
        "`d` cannot be updated: it is derived from other functions",
    );
    in_main(
        "e := 1",
        "`e` cannot be updated: it is monitored: only the environment sets it",
    );
    in_main(
        "size(s) := 1",
        "this cannot be updated (controlled and shared functions and fields of objects can be \
         updated)",
    );
    in_main(
        "let n = 1 { n := 2 }",
        "this cannot be updated (here it is the name of a value, which cannot change)",
    );
    in_main(
        "forall x in n { skip }",
        "expected a set or a sequence, found Int",
    );
    in_main("n := head(s)", "expected a sequence, found {Int}");
    in_main("let x = new C { skip }", "the field `f` is missing");
    in_main(
        "let x = new C(g = 1) { skip }",
        "there is no field `g` (did you mean `f`?)",
    );
    in_main(
        "let x = new D { skip }",
        "there is no class `D` (did you mean `C`?)",
    );
    in_main(
        "n := (new C(f = 1)).f",
        "an object can be created only in an update or a `let` (write `let x = new ... { ... }` \
         around it)",
    );
    in_main("n := (1, 2).3", "(a number, a number) has no component 3");
    in_main(
        "m := 1 n := A",
        "expected M, found a number; expected Int, found M",
    );
}

#[test]
fn initial_values_cannot_read_dynamic_functions() {
    check(
        "controlled a : Int = 1 controlled b : Int = a main { skip }",
        "`a` may change and cannot be read here",
    );
    check(
        "controlled a : Int = 1 static b : Int = a main { skip }",
        "`a` may change and cannot be read here",
    );
    check(
        "static a : Int = 1 controlled b : 0..a + 1 = a main { skip }",
        "",
    );
    check(
        "monitored a : Bool derived b : Bool = a main { skip } invariant c = b",
        "`b` has a value only within a step (monitored functions are not part of a state; use a \
         shared function, or a controlled one that stores the value)",
    );
    check(
        "controlled a : Int main { skip }",
        "`a` has no initial value (write `= ...` after its type, or make the type optional)",
    );
}

#[test]
fn declared_values_fit() {
    check(
        "static a : 0..3 = 7 main { skip }",
        "7 does not fit `a`, which is 0..3",
    );
    check(
        "controlled a : 0..3 = 2 + 2 main { skip }",
        "4 does not fit `a`, which is 0..3",
    );
    check(
        "shared a : {0..3} = {1, 5} main { skip }",
        "{1, 5} does not fit `a`, which is {0..3}",
    );
    check(
        "class C { f : 0..3 = 4 } main { skip }",
        "4 does not fit `f`, which is 0..3",
    );
    check(
        "static none : optional Int = undef controlled a : Int = none main { skip }",
        "undef does not fit `a`, which is Int",
    );
    check("static a : Int = 1 / 0 main { skip }", "division by zero");
    check(
        "static a : Int = b static b : Int = a main { skip }",
        "calls are nested more than 600 levels deep (a recursive rule or function must end before \
         that)",
    );
    check(
        "controlled a : 3..1 = 2 main { skip }",
        "2 does not fit `a`, which is 3..1",
    );
}

#[test]
fn refinement_replaces_declarations() {
    check("refine \"base.asm\"", "");
    check(
        "refine \"base.asm\" override rule tick(n : Int) { mode := Off }",
        "",
    );
    check("refine \"base.asm\" override main { skip }", "");
    check(
        "refine \"base.asm\" main { skip }",
        "`main` is declared twice (write `override` to replace what another file declares)",
    );
    check(
        "refine \"base.asm\" override rule tock { skip }",
        "there is no rule `tock` to override",
    );
    check(
        "refine \"base.asm\" override rule tick(n : Bool) { skip }",
        "this `tick` has other types than the one it overrides",
    );
    check(
        "rule a { skip } override rule a { skip } main { a }",
        "`a` is declared in this file (`override` replaces a declaration of a refined file)",
    );
    check(
        "refine \"none.asm\"",
        "`none.asm` cannot be read: there is no such file",
    );
    check(
        "refine \"self.asm\" main { skip }",
        "`self.asm` is already part of this model",
    );
    check(
        "refine \"base.asm\" abstraction of \"base.asm\" { mode = mode }",
        "",
    );
    check(
        "refine \"base.asm\" abstraction of \"base.asm\" { }",
        "this abstraction compares nothing (list functions of the abstract model, each with its \
         value in this model)",
    );
    check(
        "refine \"base.asm\" abstraction of \"base.asm\" { mode = mode mode = mode }",
        "`mode` is listed twice",
    );
    check(
        "refine \"base.asm\" abstraction of \"base.asm\" { mode = true }",
        "`mode` is Mode in the abstract model, but this is Bool",
    );
    check(
        "refine \"base.asm\" abstraction of \"base.asm\" { mode = mode }
         abstraction of \"base.asm\" { mode = mode }",
        "a model can refine only one other model",
    );
    check(
        "main { skip } abstraction of \"self.asm\" { mode = 1 }",
        "`self.asm` is its own abstract model",
    );
    check(
        "refine \"base.asm\" abstraction of \"base.asm\" { mdoe = mode }",
        "there is no function without arguments in the abstract model `mdoe` (did you mean \
         `mode`?)",
    );
}

#[test]
fn formulas_are_made_of_conditions() {
    check(
        "controlled a : Bool = true main { skip } ltl f = always (a implies next not a)",
        "",
    );
    check(
        "controlled next : Bool = true main { next := not next } ltl f = next a",
        "there is no value `a`",
    );
    check(
        "controlled a : Bool = true main { skip } ltl f = next {next a}",
        "a temporal operator is allowed only in `ltl`, under temporal operators, `not`, `and`, \
         `or` and `implies` (put comparisons in parentheses: `always (n = 0)`)",
    );
    check(
        "controlled a : Bool = true main { skip } ltl f = (always a) = a",
        "a temporal operator is allowed only in `ltl`, under temporal operators, `not`, `and`, \
         `or` and `implies` (put comparisons in parentheses: `always (n = 0)`)",
    );
}

#[test]
fn formulas_may_come_from_outside() {
    let asked = |formula: &str| {
        let source = "controlled on : Bool = true main { on := not on } ltl own = always on";
        let none = &mut |_: &str| Err("there is no such file".to_owned());
        let loaded = load_with(text("test.asm", source), &[formula.to_owned()], none);
        match loaded {
            Ok(model) => model.formulas.last().map(|it| it.name.to_string()),
            Err(rejection) => rejection.faults.first().map(|fault| {
                let span = fault.span.unwrap_or_default();
                format!(
                    "{} in {}",
                    fault.message, rejection.texts[span.source as usize].name
                )
            }),
        }
    };
    let check = |formula: &str, expected: &str| {
        assert_eq!(asked(formula).as_deref(), Some(expected), "{formula}");
    };
    check("always eventually on", "always eventually on");
    check("on", "on");
    check("always off", "there is no value `off` in formula");
    check(
        "always on on",
        "expected nothing more, found `on` in formula",
    );
    check(
        "",
        "expected an expression, found the end of the text in formula",
    );
}

#[test]
fn an_empty_set_in_place_of_a_map_is_helped() {
    check(
        "controlled m : {Int -> Int} = {} main { skip }",
        "expected {Int -> Int}, found {nothing} (the empty map is `{->}`)",
    );
    check(
        "main { if true then { skip } }",
        "expected `{`, found `then` (rules have no `then`; write `if c { ... } else { ... }`)",
    );
}
