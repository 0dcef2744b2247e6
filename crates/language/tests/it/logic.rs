//! What formulas, patterns and regular expressions become.

use juror_event::EventId;
use juror_language::{Behaviour, Demand, EffectAction, Logic, Property, Severity, load, load_with};
use juror_logic::{Formula, Meaning};

/// Events and propositions of all sorts.
const HEAD: &str = "property p \"\"
    event open  = after fopen(mode: text) returns file
    event close = before fclose(file)
    event push  = before push(queue, size: int)
    proposition opened set open cleared close
    proposition big pulse push when size > 3
";

#[track_caller]
fn loaded(source: &str) -> Property {
    let (mut properties, diagnostics) = load(source);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{source}\n{errors:#?}");
    assert_eq!(properties.len(), 1);
    properties.remove(0)
}

fn logic(property: &Property) -> &Logic {
    match &property.behaviour {
        Behaviour::Logic(logic) => logic,
        Behaviour::Automaton { .. } => panic!("states"),
    }
}

fn shown(property: &Property) -> String {
    let logic = logic(property);
    let names = |bit: u8| logic.propositions[usize::from(bit)].name.to_string();
    match &logic.demand {
        Demand::Formula(formula) => formula.display(&names).to_string(),
        Demand::Expression { expression, .. } => expression.display(&names).to_string(),
    }
}

/// Two texts that mean the same.
#[track_caller]
fn check_same(text: &str, expected: &str) {
    let found = loaded(&format!("{HEAD}{text}"));
    let expected = loaded(&format!("{HEAD}{expected}"));
    assert_eq!(shown(&found), shown(&expected), "{text}");
}

#[test]
fn signs_and_letters_mean_the_words() {
    check_same(
        "ltl G (push -> F close)",
        "ltl always (push implies eventually close)",
    );
    check_same(
        "ltl [] (push -> <> close)",
        "ltl always (push implies eventually close)",
    );
    check_same(
        "ltl X push && O close || !H open",
        "ltl (next push and once close) or not (historically open)",
    );
    check_same(
        "ltl push U close and open W close",
        "ltl (push until close) and (open unless close)",
    );
    check_same("ltl push unless close", "ltl push weak until close");
    check_same(
        "ltl (push S close) and Y open",
        "ltl push since close and yesterday open",
    );
    check_same("ltl push R close", "ltl push release close");
    check_same("ltl push <-> close", "ltl push iff close");
    check_same(
        "ltl push implies close implies open",
        "ltl push implies (close implies open)",
    );
    check_same("ltl always push and close", "ltl (always push) and close");
    check_same(
        "ltl eventually within 5 ms push",
        "ltl F within 5000us push",
    );
    check_same(
        "ltl always for 3 steps push",
        "ltl always within 3 events push",
    );
    check_same(
        "ltl once from 1 to 2 s push",
        "ltl once from 1000 ms to 2 s push",
    );
    check_same(
        "ltl push until within 10 events close",
        "ltl push U within 10 steps close",
    );
}

#[test]
fn definitions_are_written_out_with_their_own_meaning() {
    check_same(
        "let both(a, b) = a and not b let twice(b) = both(b, both(b, big)) ltl always twice(push)",
        "ltl always (push and not (push and not big))",
    );
    // `a` of the outside is not the parameter `a`.
    let property = loaded(
        "property p for each address a, b where a != b
         proposition holds(lock) set after lock(lock) cleared before unlock(lock)
         let other(a) = holds(a) implies holds(b)
         let swap(b) = other(b)
         ltl always swap(a)",
    );
    let names: Vec<&str> = logic(&property)
        .propositions
        .iter()
        .map(|p| &*p.name)
        .collect();
    assert_eq!(names, ["holds(a)", "holds(b)"]);
}

#[test]
fn the_order_of_locks() {
    let property = loaded(
        "property lock_order \"no two locks are ever taken in opposite orders\"
         for each thread t, u and address a, b where t != u and a != b
         proposition holds(thread, lock)
             set     after  pthread_mutex_lock(lock = arg 1)
             cleared before pthread_mutex_unlock(lock = arg 1)
         let nested(x, first, second) = holds(x, first) and not holds(x, second)
                                        and (holds(x, first) until holds(x, second))
         ltl eventually nested(t, a, b) implies always not nested(u, b, a)",
    );
    assert_eq!(property.slice, ["t", "u", "a", "b"].map(Into::into));
    assert!(property.constraint.is_some());
    assert_eq!(property.events.len(), 2);
    let captures: Vec<&str> = property.events[0]
        .captures
        .iter()
        .map(|c| &*c.name)
        .collect();
    assert_eq!(captures, ["lock", "thread"]);
    assert!(property.events[0].captures.iter().all(|c| !c.hoisted));
    let logic = logic(&property);
    let names: Vec<&str> = logic.propositions.iter().map(|p| &*p.name).collect();
    assert_eq!(
        names,
        ["holds(t, a)", "holds(t, b)", "holds(u, b)", "holds(u, a)"]
    );
    assert!(logic.propositions.iter().all(|p| p.persistent));
    assert_eq!(logic.effects.len(), 8);
    let first = &logic.effects[0];
    assert_eq!(first.binding, [Some(1), None, Some(0), None]);
    assert_eq!((first.event, first.action), (EventId(0), EffectAction::Set));
    assert_eq!(logic.effects[1].action, EffectAction::Clear);
    assert_eq!(logic.effects[4].binding, [None, Some(1), None, Some(0)]);
}

#[test]
fn arguments_bind_or_are_compared() {
    let property = loaded(
        "property p for each value a
         proposition at(x, y) pulse before move(x, y)
         ltl never_there let never_there = not (at(a, 3) or at(a, a) or at(any, a))",
    );
    let logic = logic(&property);
    let names: Vec<&str> = logic.propositions.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["at(a, 3)", "at(a, a)", "at(any, a)"]);
    let guards: Vec<bool> = logic.effects.iter().map(|e| e.guard.is_some()).collect();
    assert_eq!(guards, [true, true, false, false]);
    assert_eq!(logic.effects[1].captures, 0b11);
    assert_eq!(logic.effects[2].binding, [Some(1)]);
}

#[test]
fn events_are_true_when_they_happen() {
    let property = loaded(
        "property p slice on thread, file
         event open = after fopen returns file
         event close = before fclose(file)
         ltl always (open implies eventually close)",
    );
    let logic = logic(&property);
    assert_eq!(logic.effects.len(), 2);
    for effect in &logic.effects {
        assert_eq!(effect.action, EffectAction::Pulse);
        assert_eq!(effect.binding, [Some(1), Some(0)]);
    }
    let with_arguments = loaded(
        "property p for each value f, m
         event open = after fopen(mode) returns file
         ltl always not open(m, f)",
    );
    assert_eq!(
        self::logic(&with_arguments).effects[0].binding,
        [Some(1), Some(0)]
    );
}

#[test]
fn patterns_are_formulas() {
    check_same("pattern absence of big", "ltl always not big");
    check_same("pattern existence of big globally", "ltl eventually big");
    check_same("pattern universality of opened", "ltl always opened");
    check_same(
        "pattern open responds to push",
        "ltl always (push implies eventually open)",
    );
    for text in [
        "absence of big before close",
        "existence of (big or push) between open and close",
        "existence of big at most 2 times after open until close",
        "universality of not big after open",
        "open precedes close between push and big",
        "open, push precede close",
        "open precedes push, close after big",
        "open, push respond to close",
        "open responds to push, close before big",
    ] {
        loaded(&format!("{HEAD} pattern {text}"));
    }
    // A pulse that comes three times in a row comes three times.
    let property = loaded(&format!("{HEAD} pattern existence of push at most 1 time"));
    let Demand::Formula(formula) = &logic(&property).demand else {
        panic!("an expression");
    };
    assert!(has_next(formula));
}

fn has_next(formula: &Formula) -> bool {
    match formula {
        Formula::Next(_) | Formula::WeakNext(_) => true,
        Formula::Not(a) | Formula::Yesterday(a) | Formula::WeakYesterday(a) => has_next(a),
        Formula::And(a, b)
        | Formula::Or(a, b)
        | Formula::Until(a, b, _)
        | Formula::Release(a, b, _)
        | Formula::Since(a, b, _)
        | Formula::Trigger(a, b, _) => has_next(a) || has_next(b),
        Formula::True | Formula::False | Formula::Proposition(_) => false,
    }
}

#[test]
fn several_demands_hold_together() {
    check_same(
        "ltl always push pattern existence of big",
        "ltl (always push) and eventually big",
    );
}

#[track_caller]
fn check_expression(text: &str, expected: &str) {
    let property = loaded(&format!("{HEAD}{text}"));
    assert_eq!(shown(&property), expected, "{text}");
}

#[test]
fn expressions() {
    check_same("never: open push close", "never open push close");
    check_same("never push{2}", "never push{2,2}");
    check_same("never push? open", "never push{,1} open");
    check_same("never push+ open", "never push{1,} open");
    check_same("never (open)", "never open");
    check_same("never not (open or push)", "never not open and not push");
    check_expression(
        "never open (push or close)* close push",
        "open (push or close)* close push",
    );
    check_expression("matches (open push{,3} close)*", "(open push{0,3} close)*");
    check_expression("never open and big", "open and big");
    let property = loaded(&format!("{HEAD} never open not close* push"));
    let Demand::Expression { meaning, .. } = &logic(&property).demand else {
        panic!("a formula");
    };
    assert_eq!(*meaning, Meaning::MatchViolates);
    check_expression("never any", "any");
}

#[track_caller]
fn check_error(text: &str, code: &str, underlined: &str, help: &str) {
    let source = format!("{HEAD}{text}");
    let (_, diagnostics) = load(&source);
    let here =
        |d: &&juror_language::Diagnostic| d.code == code && &source[d.span.clone()] == underlined;
    let Some(found) = diagnostics.iter().find(here) else {
        panic!("no {code} for {text}\n{diagnostics:#?}");
    };
    let found_help = found.help.clone().unwrap_or_default();
    assert!(found_help.contains(help), "{help:?} is not in {found:#?}");
}

#[test]
fn mistakes() {
    check_error(
        "ltl always opned",
        "unknown-proposition",
        "opned",
        "`opened`",
    );
    check_error("ltl always", "syntax", "", "");
    check_error("ltl push push", "syntax", "push", "");
    check_error("ltl always (push implies", "syntax", "", "");
    check_error("ltl opened(3)", "wrong-arguments", "opened", "");
    check_error("ltl open(3)", "wrong-arguments", "open", "");
    check_error("ltl always 3", "not-a-formula", "3", "");
    check_error(
        "ltl next within 3 steps push",
        "no-bound",
        "within 3 steps",
        "",
    );
    check_error(
        "ltl eventually within 3 push",
        "bad-bound",
        "within 3",
        "within 5 ms",
    );
    check_error(
        "ltl once from 3 to 1 ms push",
        "bad-bound",
        "from 3 to 1 ms",
        "",
    );
    check_error("let a = b let b = a ltl a", "recursive-definition", "a", "");
    check_error(
        "ltl always push implies open",
        "loose-always",
        "always push",
        "always (p implies q)",
    );
    check_error(
        "ltl always next push",
        "interleaving",
        "next push",
        "slice on thread",
    );
    check_error(
        "ltl always push state a",
        "two-behaviours",
        "a",
        "two properties",
    );
    check_error(
        "var x = 1 ltl always push",
        "variable-without-states",
        "x",
        "",
    );
    check_error(
        "for each value v ltl always push",
        "unbound-slice",
        "v",
        "holds(v)",
    );
    check_error(
        "slice on queue proposition full set push when size > 3 cleared push ltl eventually full",
        "unbound-slice",
        "queue",
        "`proposition full(queue)`",
    );
    check_error(
        "for each address queue and value v proposition full(size) set push ltl \
         eventually full(3)",
        "unbound-slice",
        "queue",
        "`full(3, queue)`",
    );
    check_error(
        "event next = before n() ltl always push",
        "reserved-name",
        "next",
        "choose another name",
    );
    check_error(
        "for each value v where v < 1 and v > 3 ltl always push",
        "contradiction",
        "v < 1 and v > 3",
        "",
    );
    check_error(
        "for each thred t ltl always push",
        "syntax",
        "thred",
        "`thread`",
    );
    check_error(
        "proposition x(y) set push ltl x(any)",
        "unbound-parameter",
        "event push  = before push(queue, size: int)",
        "(y)",
    );
    check_error("proposition x ltl x", "syntax", "ltl", "set after");
    check_error(
        "proposition always set push ltl push",
        "reserved-name",
        "always",
        "",
    );
    check_error(
        "proposition x set pusch ltl x",
        "unknown-event",
        "pusch",
        "`push`",
    );
    check_error(
        "proposition x set push when sice > 3 ltl x",
        "unknown-name",
        "sice",
        "`size`",
    );
    check_error(
        "proposition x set push ltl push",
        "unused-proposition",
        "x",
        "",
    );
    check_error("let x = push ltl push", "unused-definition", "x", "");
    check_error("never push*", "matches-nothing", "push*", "at least one");
    check_error("never push{3,2}", "bad-count", "{3,2}", "");
    check_error("never push ltl open", "two-behaviours", "ltl open", "");
    check_error("never", "syntax", "", "");
    check_error("pattern abscence of push", "syntax", "of", "absence");
    check_error(
        "pattern open, push precede close, big",
        "bad-pattern",
        "open, push precede close, big",
        "",
    );
    check_error("pattern push responds open", "syntax", "open", "");
}

#[test]
fn one_thread_has_an_order_of_its_own() {
    let source = "property p slice on thread event e = before f ltl always (e implies next e)";
    assert_eq!(load(source).1, []);
}

#[test]
fn large_formulas_are_refused() {
    let mut source = "property p event e = before f let d0 = e and e\n".to_owned();
    for level in 1..40 {
        source += &format!("let d{level} = d{0} and d{0}\n", level - 1);
    }
    source += "ltl d39";
    let (properties, diagnostics) = load(&source);
    assert!(properties.is_empty());
    let errors: Vec<&str> = diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| d.code)
        .collect();
    assert_eq!(errors, ["too-long"]);
    let atoms: Vec<String> = (0..65).map(|n| format!("at({n})")).collect();
    let source = format!(
        "property p proposition at(x) pulse before f(x) ltl {}",
        atoms.join(" or ")
    );
    assert!(load(&source).1.iter().any(|d| d.code == "too-many"));
}

#[test]
fn files_use_one_another() {
    let mut files = |path: &str| match path {
        "lib/locks.prop" => Ok("use \"base.prop\" event lock = after lock(m)
            proposition held(m) set lock cleared unlock when helper(m)
            property of_the_library ltl always not held(any)"
            .to_owned()),
        "lib/base.prop" => Ok("event unlock = before unlock(m) event other = before x
            function helper(a) { return a != 1 / 0 + a }"
            .replace("1 / 0 + a", "null")),
        "self.prop" => Ok("use \"self.prop\"".to_owned()),
        "bad.prop" => Ok("event x".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let source = "use \"lib/locks.prop\"
        property p for each address a ltl always (held(a) implies eventually unlock)";
    let loaded = load_with("", source, &mut files);
    let said: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(said, ["undecided"]);
    assert!(
        loaded.used.iter().all(|used| used.diagnostics.is_empty()),
        "{:#?}",
        loaded.used
    );
    let names: Vec<(&str, Option<&str>)> = (loaded.properties.iter())
        .map(|p| (&*p.name, p.source_name.as_deref()))
        .collect();
    assert_eq!(
        names,
        [("of_the_library", Some("lib/locks.prop")), ("p", None)]
    );
    let property = &loaded.properties[1];
    assert_eq!(property.events.len(), 2);
    assert_eq!(
        &source[property.events[0].span.clone()],
        "use \"lib/locks.prop\""
    );
    for (source, message) in [
        ("use \"self.prop\"", "has errors"),
        ("use \"bad.prop\"", "`bad.prop` has errors"),
        ("use \"none.prop\"", "no such file"),
    ] {
        let loaded = load_with("", source, &mut files);
        assert_eq!(loaded.diagnostics.len(), 1, "{:#?}", loaded.diagnostics);
        assert!(
            loaded.diagnostics[0].message.contains(message),
            "{:#?}",
            loaded.diagnostics
        );
    }
    let cycle = load_with("", "use \"self.prop\"", &mut files).used;
    assert!(
        cycle[0].diagnostics[0]
            .message
            .contains("self.prop -> self.prop")
    );
    // A source with a path is part of the chain, and its files are found from it.
    let mut beside = |path: &str| match path {
        "lib/back.prop" => Ok("use \"../main.prop\"".to_owned()),
        "lib/one.prop" => Ok("property one event e = before f ltl always not e".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let cycle = load_with("main.prop", "use \"lib/back.prop\"", &mut beside).used;
    assert!(
        cycle[0].diagnostics[0]
            .message
            .contains("main.prop -> lib/back.prop -> main.prop")
    );
    let found = load_with("lib/main.prop", "use \"one.prop\"", &mut beside);
    assert_eq!(found.diagnostics, []);
    assert_eq!(
        found.properties[0].source_name.as_deref(),
        Some("lib/one.prop")
    );
}

/// Whether the checker says that only the end of the run decides, and where.
fn is_announced(demand: &str) -> bool {
    let source = format!("{HEAD}{demand}");
    let (properties, diagnostics) = load(&source);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty() && properties.len() == 1, "{errors:#?}");
    let note = diagnostics.iter().find(|d| d.code == "undecided");
    if let Some(note) = note {
        assert_eq!(note.severity, Severity::Note);
        assert_eq!(&source[note.span.clone()], demand);
    }
    note.is_some()
}

#[test]
fn what_only_the_end_of_a_run_decides_is_announced() {
    let kinds = [
        ("absence of push", false),
        ("existence of push", false),
        ("existence of opened at most 2 times", false),
        ("universality of opened", false),
        ("open precedes push", false),
        ("close responds to open", true),
        ("open, push precede close", false),
        ("open precedes push, close", false),
        ("push, close respond to open", true),
        ("push responds to open, close", true),
    ];
    let scopes = [
        ("globally", true),
        ("before big", false),
        ("after big", true),
        ("between big and opened", false),
        ("after big until opened", false),
    ];
    for (kind, is_open_ended) in kinds {
        for (scope, goes_on) in scopes {
            let demand = format!("pattern {kind} {scope}");
            assert_eq!(is_announced(&demand), is_open_ended && goes_on, "{demand}");
        }
    }
    let check = |demand, announced| assert_eq!(is_announced(demand), announced, "{demand}");
    check("ltl always eventually push", true);
    check("ltl eventually always opened", true);
    check("ltl always (open implies eventually close)", true);
    check(
        "ltl always (open implies eventually within 5 steps close)",
        false,
    );
    check(
        "ltl always (open implies eventually within 5 ms close)",
        false,
    );
    check("ltl always opened", false);
    check("ltl eventually opened", false);
    check("matches any* push", true);
    check("matches open any* push", false);
    check("never open open", false);
}

/// Each demand is open, but one of the two can be violated.
#[test]
fn demands_are_decided_together() {
    let source = format!("{HEAD}ltl always eventually push ltl always opened");
    let (_, diagnostics) = load(&source);
    assert!(diagnostics.iter().all(|d| d.code != "undecided"));
}

/// Every keyword of an item can be the name of an event, and stand before an operator.
#[test]
fn words_of_items_are_names_in_formulas() {
    for word in [
        "use",
        "event",
        "state",
        "slice",
        "var",
        "let",
        "function",
        "proposition",
        "for",
        "property",
        "scenario",
        "ltl",
        "never",
        "matches",
        "pattern",
    ] {
        for formula in [
            "always (IT implies once open)",
            "always (open implies IT)",
            "always (open implies once IT) and not IT",
            "(IT or open) and IT",
            "IT until open",
            "not IT weak until open",
            "IT",
            "open since IT",
        ] {
            let text = formula.replace("IT", word);
            // A demand may be one of a proposition that is named like an item.
            let next = match word {
                "ltl" | "never" | "matches" | "pattern" => "",
                _ => "proposition last set open",
            };
            let text = format!("event {word} = before word()\nltl {text}\n{next}");
            let found = shown(&loaded(&format!("{HEAD}{text}")));
            let words = found.matches(word).count();
            assert_eq!(words, formula.matches("IT").count(), "{text}\n{found}");
        }
    }
}
