//! Scenarios: what is read, what is said about mistakes, and where.

use crate::common::check_found;
use juror_language::{
    Action, ActionKind, ContextValue, Diagnostic, Input, Piece, Scenario, StateName, Trigger,
    Update, format, load_among, load_with,
};

/// A property to react to.
const HEAD: &str = "property bounds slice on queue
event new  = after queue_new(size: int) returns queue
event push = before queue_push(queue)
var count = 0
state init accepting { on new -> ready }
state ready accepting {
    on push when count < 3 { count += 1 } -> ready
        else -> overflow action alarm
}
state overflow non-accepting final
";

fn load(source: &str) -> (Vec<Scenario>, Vec<Diagnostic>) {
    // What the source brings is all that there is.
    let loaded = load_among("", source, &mut |_| Err("no files".to_owned()), Some(&[]));
    (loaded.scenarios, loaded.diagnostics)
}

#[track_caller]
fn scenario(items: &str) -> Scenario {
    let source = format!("{HEAD}scenario s {items}");
    let (mut scenarios, diagnostics) = load(&source);
    assert_eq!(diagnostics, [], "{source}");
    assert_eq!(scenarios.len(), 1);
    scenarios.remove(0)
}

/// The first mistake in a scenario for the property.
#[track_caller]
fn check(items: &str, code: &str, underlined: &str, help: &str) {
    check_source(&format!("{HEAD}scenario s {items}"), code, underlined, help);
}

#[track_caller]
fn check_source(source: &str, code: &str, underlined: &str, help: &str) {
    let (scenarios, diagnostics) = load(source);
    let found = check_found(source, &diagnostics, code, underlined, help);
    let declared = source.matches("scenario ").count();
    assert!(scenarios.len() < declared || !found.is_error());
}

#[track_caller]
fn check_body(body: &str, code: &str, underlined: &str, help: &str) {
    check(
        &format!("var last = 0 var name = \"\" on enter overflow {{ {body} }}"),
        code,
        underlined,
        help,
    );
}

#[test]
fn triggers_are_read() {
    let expected = |text: &str| {
        scenario(&format!("on {text} {{ stop }}"))
            .reactions
            .remove(0)
    };
    assert_eq!(
        expected("enter overflow, accepting").trigger,
        Trigger::Enter(vec![
            StateName::Named("overflow".into()),
            StateName::Accepting
        ])
    );
    assert_eq!(
        expected("leave non-accepting").trigger,
        Trigger::Leave(vec![StateName::NonAccepting])
    );
    for (text, count) in [
        ("verdict", 4),
        ("verdict violated", 1),
        ("verdict presumably violated, satisfied", 2),
    ] {
        let Trigger::Verdict(verdicts) = expected(text).trigger else {
            panic!("{text} is no verdict");
        };
        assert_eq!(verdicts.len(), count, "{text}");
    }
    assert_eq!(
        expected("action alarm").trigger,
        Trigger::Action("alarm".into())
    );
    assert_eq!(expected("start").trigger, Trigger::Start);
    assert_eq!(
        expected("exit when exit_status != 0").trigger,
        Trigger::Exit
    );
    assert_eq!(expected("stop").trigger, Trigger::Stop);
    assert_eq!(expected("signal").trigger, Trigger::Signal(None));
    assert_eq!(
        expected("signal SIGUSR1 when thread == 1").trigger,
        Trigger::Signal(Some("SIGUSR1".into()))
    );
    let reaction = expected("enter overflow of bounds when count > 2 and queue != null");
    assert_eq!(reaction.property.as_deref(), Some("bounds"));
    assert!(reaction.guard.is_some());
    assert_eq!(
        *reaction.body.reads,
        [
            Input::Context(ContextValue::Variable("count".into())),
            Input::Context(ContextValue::Parameter("queue".into()))
        ]
    );
}

/// The statements of a reaction in short.
fn words(actions: &[Action]) -> Vec<String> {
    let text = |pieces: &[Piece]| -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.to_string(),
            Piece::Value(_) => "{}".to_owned(),
            Piece::Code(_) => "{code}".to_owned(),
        };
        pieces.iter().map(piece).collect()
    };
    let one = |action: &Action| match &action.kind {
        ActionKind::Update(_) => "update".to_owned(),
        ActionKind::If {
            then, otherwise, ..
        } => format!("if {:?} {:?}", words(then), words(otherwise)),
        ActionKind::For { body, .. } => format!("for {:?}", words(body)),
        ActionKind::Print(line) => format!("print {}", text(&line.pieces)),
        ActionKind::Report(line) => format!("report {}", text(&line.pieces)),
        ActionKind::Stop(line) => {
            format!(
                "stop {}",
                line.as_ref().map_or(String::new(), |it| text(&it.pieces))
            )
        }
        ActionKind::Continue => "continue".to_owned(),
        ActionKind::Backtrace(count) => format!("backtrace {}", count.is_some()),
        ActionKind::Checkpoint(target) => format!("checkpoint {}", target.is_some()),
        ActionKind::Restore(_) => "restore".to_owned(),
        ActionKind::Set(line) => format!("set {}", text(&line.pieces)),
        ActionKind::Point(point) => format!(
            "{} {} lasting {} {:?}",
            point.word.text(),
            text(&point.place.pieces),
            point.lasting.len(),
            point.body.as_ref().map(|body| words(&body.actions))
        ),
        ActionKind::Remove(_) => "remove".to_owned(),
        ActionKind::Switch {
            property,
            is_enabled,
        } => format!("switch {property} {is_enabled}"),
        ActionKind::Command(line) => format!("command {}", text(&line.pieces)),
    };
    actions.iter().map(one).collect()
}

#[track_caller]
fn reads(body: &str, expected: &[&str]) {
    let items = format!("var last = 0 var seen = {{}} on enter overflow {{ {body} }}");
    let scenario = scenario(&items);
    assert_eq!(
        words(&scenario.reactions[0].body.actions),
        expected,
        "{body}"
    );
}

#[test]
fn statements_are_read() {
    reads(
        "print \"a {last}\", old_state report new_state",
        &["print a {} {}", "report {}"],
    );
    reads(
        "stop \"why {last}\" stop continue",
        &["stop why {}", "stop ", "continue"],
    );
    reads(
        "backtrace backtrace 3",
        &["backtrace false", "backtrace true"],
    );
    reads(
        "checkpoint last = checkpoint var c = checkpoint restore c",
        &[
            "checkpoint false",
            "checkpoint true",
            "checkpoint true",
            "restore",
        ],
    );
    reads(
        "set queue->items[last] = -1",
        &["set queue->items[{code}] = -1"],
    );
    reads("set *p = last + 1", &["set *p = {code} + 1"]);
    reads(
        "break queue_push break \"queue.c:{last}\" { stop }",
        &[
            "break queue_push lasting 0 None",
            "break queue.c:{} lasting 0 Some([\"stop \"])",
        ],
    );
    reads(
        "tbreak Queue::push when size > last while overflow { stop }",
        &["tbreak Queue::push if size > {code} lasting 1 Some([\"stop \"])"],
    );
    reads(
        "last = watch board->cells[1..3] { checkpoint } change x rwatch y awatch z remove last",
        &[
            "watch board->cells[1..3] lasting 0 Some([\"checkpoint false\"])",
            "change x lasting 0 None",
            "rwatch y lasting 0 None",
            "awatch z lasting 0 None",
            "remove",
        ],
    );
    reads(
        "if last > 0 { stop } else if last < 0 { continue } else { last = 1 }",
        &["if [\"stop \"] [\"if [\\\"continue\\\"] [\\\"update\\\"]\"]"],
    );
    reads(
        "for i in 0..9 { watch cells[i] } for x in seen { print x }",
        &[
            "for [\"watch cells[{code}] lasting 0 None\"]",
            "for [\"print {}\"]",
        ],
    );
    reads(
        "disable bounds enable bounds",
        &["switch bounds false", "switch bounds true"],
    );
    reads("command \"info threads\"", &["command info threads"]);
    reads(
        "last = program(queue->count) + 1 seen += {last}",
        &["update", "update"],
    );
}

#[test]
fn a_name_of_a_statement_can_be_a_variable() {
    let found = scenario("var stop = 1 var set = {} on start { stop = 2 set += {stop} }");
    assert_eq!(
        words(&found.reactions[0].body.actions),
        ["update", "update"]
    );
}

#[test]
fn the_reaction_of_a_point_sees_local_variables() {
    let found = scenario(
        "on enter overflow { var here = new_state \
         watch board { print here, old_value, new_value, point } }",
    );
    assert_eq!(found.reactions[0].body.reads.len(), 1);
    check_body(
        "watch x { print old_state }",
        "unknown-name",
        "old_state",
        "declare it",
    );
    check_body(
        "break f { print old_value }",
        "unknown-name",
        "old_value",
        "old",
    );
}

/// The variables of both are there at once, when the point is hit.
#[test]
fn the_reaction_of_a_point_has_variables_of_its_own() {
    let found = scenario(
        "on enter overflow { var here = 1 watch board { var there = 2 print here, there } }",
    );
    let slot = |action: &Action| match &action.kind {
        ActionKind::Update(Update::Local { slot, .. }) => *slot,
        other => panic!("{other:?} is no variable"),
    };
    let actions = &found.reactions[0].body.actions;
    let ActionKind::Point(point) = &actions[1].kind else {
        panic!("{actions:?}");
    };
    let of_point = point.body.as_ref().expect("a reaction");
    assert_eq!((slot(&actions[0]), slot(&of_point.actions[0])), (0, 1));
}

#[test]
fn unknown_names_are_told_with_those_that_are_near() {
    check(
        "for bouns on start { stop }",
        "unknown-property",
        "bouns",
        "`bounds`",
    );
    check(
        "on enter raedy { stop }",
        "unknown-state",
        "raedy",
        "`ready`",
    );
    check(
        "on leave accepted { stop }",
        "unknown-state",
        "accepted",
        "known:",
    );
    check(
        "on action alram { stop }",
        "unknown-action",
        "alram",
        "`alarm`",
    );
    check(
        "on verdict violatd { stop }",
        "unknown-verdict",
        "violatd",
        "`violated`",
    );
    check("on entre ready { stop }", "syntax", "entre", "`enter`");
    check(
        "on enter ready of bounds2 { stop }",
        "unknown-property",
        "bounds2",
        "`bounds`",
    );
    check_body("lst = 1", "unknown-variable", "lst", "`last`");
    check_body("print lst", "unknown-name", "lst", "`last`");
    check_body("print board", "unknown-name", "board", "program(board)");
    check_body(
        "print board->cells[1]",
        "not-program",
        "board->cells[1]",
        "program(board->cells[1])",
    );
    check_body("prnt last", "syntax", "prnt", "`print`");
    check_body("frobnicate", "syntax", "frobnicate", "command");
    check_body("while ready stop", "syntax", "while", "");
}

#[test]
fn kinds_are_checked() {
    check_body("restore name", "type-mismatch", "name", "");
    check_body("name = checkpoint", "type-mismatch", "name", "");
    check_body("if last { stop }", "not-boolean", "last", "!= 0");
    check_body("last = \"x\"", "type-mismatch", "\"x\"", "");
    check_body("for x in last { stop }", "type-mismatch", "last", "0..9");
    check_body("new_state = 1", "assignment-to-fact", "new_state", "");
    check_body(
        "print program(a, b)",
        "wrong-arguments",
        "program(a, b)",
        "",
    );
}

#[test]
fn what_has_no_meaning_is_refused() {
    check(
        "on start of bounds { stop }",
        "not-of-a-property",
        "bounds",
        "enter",
    );
    check(
        "on start { watch x while ready }",
        "no-slice",
        "ready",
        "on enter",
    );
    check(
        "var point = 1 on start { stop }",
        "reserved-name",
        "point",
        "another",
    );
    check(
        "var x = 1 var x = 2 on start { stop }",
        "duplicate-name",
        "x",
        "",
    );
    check("", "no-reaction", "s", "on verdict violated");
    check(
        "on start { stop } scenario s on exit { stop }",
        "duplicate-name",
        "s",
        "",
    );
    let twins = HEAD.replace(
        "else -> overflow action alarm",
        "else -> ready action alarm",
    );
    // Two transitions may differ by their actions alone.
    let other = HEAD.replace("property bounds", "property other");
    let source = format!("{twins} {other} scenario s on action other.alarm {{ stop }}");
    let (scenarios, diagnostics) = load(&source);
    assert!(
        !diagnostics.iter().any(Diagnostic::is_error),
        "{diagnostics:#?}"
    );
    let reaction = &scenarios[0].reactions[0];
    assert_eq!(reaction.trigger, Trigger::Action("alarm".into()));
    assert_eq!(reaction.property.as_deref(), Some("other"));
    check(
        "on action bounds.alarm of bounds { stop }",
        "named-twice",
        "of",
        "omit",
    );
    check(
        "on action bunds.alarm { stop }",
        "unknown-property",
        "bunds",
        "`bounds`",
    );
}

#[test]
fn values_stand_in_braces_in_code() {
    check_body("set x[{count] = 1", "syntax", "]", "");
    check_body("set x = {cuont} + 1", "unknown-name", "cuont", "`count`");
    let scenario = scenario("on enter overflow { set ((struct q *){queue})->n = {count + 1} }");
    let ActionKind::Set(code) = &scenario.reactions[0].body.actions[0].kind else {
        panic!("{scenario:#?}");
    };
    let words = code.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.to_string(),
        Piece::Value(_) => "value".to_owned(),
        Piece::Code(_) => "{}".to_owned(),
    });
    let words: Vec<String> = words.collect();
    assert_eq!(words.concat(), "((struct q *){})->n = {}");
}

#[test]
fn the_parser_goes_on_after_mistakes() {
    let source = format!(
        "{HEAD}scenario a on enter {{ stop }} on frob {{ x }} var y 3 on start {{ stop }}
         scenario b {{ }} scenario c on exit {{ frob
         scenario d on start {{ stop }}"
    );
    let (scenarios, diagnostics) = load(&source);
    let names: Vec<&str> = scenarios.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["d"], "{diagnostics:#?}");
    assert!(diagnostics.len() >= 5, "{diagnostics:#?}");
}

#[test]
fn a_scenario_alone_may_be_for_any_property() {
    let source = "scenario s for later on enter ready { print queue, count }";
    let loaded = load_with("", source, &mut |_| Err("no files".to_owned()));
    assert_eq!(loaded.diagnostics, []);
    assert_eq!((loaded.scenarios.len(), loaded.scenario_count), (1, 1));
    // A property is no scenario, and one may be called so.
    let (_, diagnostics) =
        load("property scenario event scenario = before f() state s { on scenario }");
    assert!(
        !diagnostics.iter().any(Diagnostic::is_error),
        "{diagnostics:#?}"
    );
}

#[test]
fn scenarios_have_one_layout() {
    let source = "scenario  find \"the write\" for bounds\nvar last=0\n\non enter accepting{\nlast=checkpoint\n}\n\
                  on enter overflow when last>0 {\nrestore last\nfor i in 0..81{\nwatch board->cells[i] {\ncheckpoint\n}\n}\n}\n";
    let expected = "scenario find \"the write\" for bounds
var last = 0

on enter accepting {
    last = checkpoint
}
on enter overflow when last > 0 {
    restore last
    for i in 0..81 {
        watch board->cells[i] {
            checkpoint
        }
    }
}
";
    assert_eq!(format(source).as_deref(), Some(expected));
}
