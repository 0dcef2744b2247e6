//! The questions of a front end about the values of one program, which has its true numbers.

use super::{Stopped, parts_of};
use juror_session::Session;
use juror_testing::Fixture;
use juror_view::Outcome;
use juror_view::nodes::{Group, Node, NodeId, NodeKind, PartFilter};

const PROGRAM: &str = r#"
#include <forward_list>
#include <list>
#include <map>
#include <string>
#include <vector>
#include <cstdio>

struct Point { int x, y; };
struct Shape { virtual ~Shape() {} int sides = 3; };
struct Named { int length = 5; };
struct Square : Shape, Named { int length = 4; unsigned red : 3, blue : 5; };
struct Tagged { int tag; union { int number; float fraction; }; };

static long counter = 17;
int shared_name = 1;
static int huge[1000000];
static int calls;
int twice(int n) { calls++; return 2 * n; }

struct Counts { int elements = 1000000, listed = 5000, mapped = 3000, forward = 700; };

__attribute__((noinline)) Point turned(Point *point, int by) {
    asm volatile("" : : "r"(point) : "memory");
    return Point{point->y, point->x + by};
}

__attribute__((noinline)) int look(Point *point, int shared_name) {
    asm volatile("" : : "r"(point) : "memory");
    return point->x + shared_name;
}

int main() {
    Counts counts;
    Point point{3, 4}, *first = &point, **second = &first;
    int number = 6, *pointer = &number, *null = nullptr;
    std::string text = "hä";
    std::string *to_text = &text;
    std::vector<int> *to_numbers = new std::vector<int>{7, 8, 9};
    std::list<int> listed;
    for (int i = 0; i < counts.listed; i++) listed.push_back(2 * i);
    std::map<int, std::string> mapped;
    for (int i = 0; i < counts.mapped; i++) mapped[3 * i] = std::to_string(i);
    std::forward_list<int> forward;
    for (int i = 0; i < counts.forward; i++) forward.push_front(i);
    std::map<std::string, Point> places{{"ham", {1, 2}}, {"h\"q", {3, 4}}, {"\u00fc", {5, 6}}};
    Square square;
    square.red = 5;
    square.blue = 9;
    Shape *shape = &square;
    Tagged tagged{1, {2}};
    int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    for (int i = 0; i < counts.elements; i++) huge[i] = i;
    int sum = look(&point, 2) + shape->sides + pointer[0] + (null == nullptr);
    sum += turned(*second, sum).x + twice(1);
    std::printf("%d %ld %zu %zu\n", sum, counter, to_text->size(), to_numbers->size());
    return tagged.tag + table[1][1] + square.red;
}
"#;

fn at_look() -> Stopped {
    let program = Fixture::cpp("parts_of_values", PROGRAM);
    Stopped::at(program.compile_plain(), "look")
}

#[track_caller]
fn named<'a>(nodes: &'a [Node], name: &str) -> &'a Node {
    let found = nodes.iter().find(|node| node.name == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {nodes:?}"))
}

/// A value of `main`.
#[track_caller]
fn asked(session: &mut Session, expression: &str) -> Node {
    let node = session.evaluate_node(1, 1, expression, None, false);
    node.unwrap_or_else(|error| panic!("{expression}: {error}"))
}

#[track_caller]
fn number(session: &mut Session, expression: &str) -> u64 {
    asked(session, expression)
        .summary
        .parse()
        .expect("a number")
}

/// The names, summaries and expressions of parts.
#[track_caller]
fn check(session: &mut Session, expression: &str, expected: &[(&str, &str, &str)]) {
    let node = asked(session, expression);
    let parts = parts_of(session, &node);
    let found: Vec<_> = parts
        .iter()
        .map(|part| {
            let name = part.evaluate_name.as_deref().unwrap_or("-");
            (part.name.as_str(), part.summary.as_str(), name)
        })
        .collect();
    assert_eq!(found, expected, "{expression}");
}

#[test]
fn pointers_have_the_parts_of_what_they_lead_to() {
    let mut stopped = at_look();
    let session = &mut stopped.session;
    check(
        session,
        "first",
        &[("x", "3", "first->x"), ("y", "4", "first->y")],
    );
    check(session, "pointer", &[("*pointer", "6", "*pointer")]);
    check(session, "null", &[]);
    check(session, "to_text", &[("*to_text", "\"hä\"", "*to_text")]);
    check(
        session,
        "to_numbers",
        &[
            ("[0]", "7", "(*to_numbers)[0]"),
            ("[1]", "8", "(*to_numbers)[1]"),
            ("[2]", "9", "(*to_numbers)[2]"),
        ],
    );
    let second = asked(session, "second");
    let target = parts_of(session, &second).remove(0);
    assert_eq!((target.name.as_str(), target.named), ("*second", 2));
    let members = parts_of(session, &target);
    let y = named(&members, "y");
    assert_eq!(y.evaluate_name.as_deref(), Some("(*second)->y"));
    assert_eq!(y.summary, "4");
}

#[test]
fn objects_have_bases_and_members() {
    let mut stopped = at_look();
    let session = &mut stopped.session;
    let shape = asked(session, "shape");
    let parts = parts_of(session, &shape);
    let kinds: Vec<_> = parts.iter().map(|it| (it.name.as_str(), it.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("Shape", NodeKind::Base),
            ("Named", NodeKind::Base),
            ("length", NodeKind::Data),
            ("red", NodeKind::Data),
            ("blue", NodeKind::Data)
        ]
    );
    let length = named(&parts, "length");
    assert_eq!(length.summary, "4");
    let expression = length.evaluate_name.clone().expect("an expression");
    assert_eq!(expression, "((Square *)shape)->length");
    // The member of the base class has the same name.
    let hidden = parts_of(session, named(&parts, "Named"));
    let hidden = named(&hidden, "length");
    assert_eq!(hidden.summary, "5");
    let expression = hidden.evaluate_name.clone().expect("an expression");
    assert_eq!(expression, "((Square *)shape)->Named::length");
    assert_eq!(asked(session, &expression).address, hidden.address);
    check(
        session,
        "tagged",
        &[
            ("tag", "1", "tagged.tag"),
            ("(union)", "{number = 2, fraction = 3e-45}", "-"),
        ],
    );
    let tagged = asked(session, "tagged");
    let union = parts_of(session, &tagged).remove(1);
    let inner = parts_of(session, &union);
    assert_eq!(
        named(&inner, "number").evaluate_name.as_deref(),
        Some("tagged.number")
    );
}

#[test]
fn ranges_of_large_values_are_read_alone() {
    let mut stopped = at_look();
    let session = &mut stopped.session;
    /// Returns the value of an element.
    type OfElement = fn(u64) -> u64;
    let rows: [(&str, &str, OfElement); 3] = [
        ("huge", "counts.elements", |at| at),
        ("listed", "counts.listed", |at| 2 * at),
        ("forward", "counts.forward", |at| 699 - at),
    ];
    for (name, count, of_element) in rows {
        let count = number(session, count);
        let node = asked(session, name);
        assert_eq!((node.named, node.indexed), (0, count), "{name}");
        let start = count / 2;
        let parts = session.part_nodes(node.id, PartFilter::Indexed, start, 40);
        let parts = parts.expect("a range");
        assert_eq!(parts.len(), 40, "{name}");
        for (part, at) in parts.iter().zip(start..) {
            assert_eq!(part.name, format!("[{at}]"));
            assert_eq!(part.summary, of_element(at).to_string(), "{name} {at}");
            assert_eq!(part.evaluate_name, Some(format!("{name}[{at}]")));
        }
        let last = session.part_nodes(node.id, PartFilter::All, count - 1, u64::MAX);
        assert_eq!(last.expect("the last").len(), 1, "{name}");
        let behind = session.part_nodes(node.id, PartFilter::All, count, 5);
        assert_eq!(behind, Ok(Vec::new()), "{name}");
    }
    let huge = asked(session, "huge");
    let all = session.part_nodes(huge.id, PartFilter::All, 0, u64::MAX);
    let error = all.expect_err("a million parts");
    assert_eq!(error.message, "at most 65536 parts are shown at once");
}

#[test]
fn entries_are_named_by_their_keys() {
    let mut stopped = at_look();
    let session = &mut stopped.session;
    let count = number(session, "counts.mapped");
    let mapped = asked(session, "mapped");
    assert_eq!(mapped.indexed, count);
    let parts = session.part_nodes(mapped.id, PartFilter::Indexed, 2000, 2);
    let parts = parts.expect("a range");
    assert_eq!(parts[1].name, "[6003]");
    assert_eq!(parts[1].summary, "\"2001\"");
    assert_eq!(parts[1].evaluate_name.as_deref(), Some("mapped[6003]"));
    assert_eq!(asked(session, "mapped[6003]").summary, parts[1].summary);
    let places = asked(session, "places");
    let parts = parts_of(session, &places);
    let ham = named(&parts, "[\"ham\"]");
    assert_eq!(ham.summary, "{x = 1, y = 2}");
    let members = parts_of(session, ham);
    let x = named(&members, "x").evaluate_name.as_deref();
    assert_eq!(x, Some("places[\"ham\"].x"));
    let umlaut = named(&parts, "[\"ü\"]").evaluate_name.clone();
    let umlaut = umlaut.expect("an expression");
    assert_eq!(asked(session, &umlaut).summary, "{x = 5, y = 6}");
    let quoted = named(&parts, "[\"h\\\"q\"]").evaluate_name.clone();
    assert!(quoted.is_none_or(|it| asked(session, &it).summary == "{x = 3, y = 4}"));
}

#[test]
fn questions_leave_the_selection_as_it_is() {
    let mut stopped = at_look();
    let frame = |stopped: &mut Stopped| match stopped.command("frame") {
        Outcome::Frame(frame, _) => frame.level,
        other => panic!("{other:?}"),
    };
    assert_eq!(frame(&mut stopped), 0);
    let session = &mut stopped.session;
    let of_main = session.scope_nodes(1, 1, Group::Locals).expect("locals");
    parts_of(session, named(&of_main, "counts"));
    asked(session, "point");
    assert!(session.evaluate_node(1, 1, "nothing", None, false).is_err());
    let error = session.scope_nodes(1, 99, Group::Locals).expect_err("99");
    assert!(error.message.starts_with("there is no frame 99"), "{error}");
    let error = session.scope_nodes(9, 0, Group::Locals).expect_err("9");
    assert_eq!(error.message, "there is no thread 9");
    assert_eq!(frame(&mut stopped), 0);
}

#[test]
fn values_of_an_earlier_stop_are_refused() {
    let mut stopped = at_look();
    let point = asked(&mut stopped.session, "point");
    parts_of(&mut stopped.session, &point);
    stopped.command("next");
    let ask = |stopped: &mut Stopped, id| {
        let parts = stopped.session.part_nodes(id, PartFilter::All, 0, 9);
        parts.map_err(|error| error.message)
    };
    let earlier = Err("that value is of an earlier stop".to_owned());
    assert_eq!(ask(&mut stopped, point.id), earlier);
    let again = asked(&mut stopped.session, "point");
    assert!(again.id > point.id);
    assert!(ask(&mut stopped, again.id).is_ok());
    assert_eq!(ask(&mut stopped, point.id), earlier);
    stopped.command("kill");
    assert_eq!(ask(&mut stopped, again.id), earlier);
    let unknown = Err("there is no value with the number 999999".to_owned());
    assert_eq!(ask(&mut stopped, NodeId(999_999)), unknown);
}

#[test]
fn hovering_calls_no_function() {
    let mut stopped = at_look();
    let session = &mut stopped.session;
    let calls = number(session, "calls");
    let refused = session.evaluate_node(1, 1, "twice(21)", None, false);
    let error = refused.expect_err("a call");
    assert_eq!(
        error.message,
        "functions of the program cannot be called here"
    );
    assert_eq!(number(session, "calls"), calls);
    let node = session.evaluate_node(1, 1, "twice(21)", None, true);
    let node = node.expect("a value");
    assert_eq!(node.summary, "42");
    let kept = node.evaluate_name.expect("an expression");
    assert_eq!(asked(session, &kept).summary, "42");
    assert_eq!(number(session, "calls"), calls + 1);
}

#[test]
fn values_are_assigned() {
    let mut stopped = at_look();
    let session = &mut stopped.session;
    let point = asked(session, "first");
    let node = session.assign_node(point.id, "y", "3 * 5").expect("y");
    assert_eq!((node.name.as_str(), node.summary.as_str()), ("y", "15"));
    assert_eq!(asked(session, "point").summary, "{x = 3, y = 15}");
    let huge = asked(session, "huge");
    let node = session.assign_node(huge.id, "[500000]", "-1").expect("one");
    assert_eq!(node.summary, "-1");
    assert_eq!(asked(session, "huge[499999]").summary, "499999");
    let square = asked(session, "square");
    let node = session.assign_node(square.id, "blue", "30").expect("bits");
    assert_eq!(node.summary, "30");
    assert_eq!(asked(session, "square.red").summary, "5");
    let refused = session.assign_node(square.id, "blue", "99");
    assert!(refused.is_err(), "{refused:?}");
    let refused = session.assign_node(square.id, "green", "1");
    let error = refused.expect_err("no member");
    assert_eq!(error.message, "the value has no part `green`");
    // Both frames have a variable of this name.
    let node = session
        .assign_expression(1, 1, "shared_name", "41")
        .expect("1");
    assert_eq!(node.summary, "41");
    let inner = session.evaluate_node(1, 0, "shared_name", None, false);
    assert_eq!(inner.expect("an argument").summary, "2");
    let registers = session.scope_nodes(1, 0, Group::Registers).expect("some");
    let vectors = named(&registers, "xmm").clone();
    let xmm0 = parts_of(session, &vectors).remove(0);
    let views = parts_of(session, &xmm0);
    let lanes = named(&views, "v4_int32");
    let node = session.assign_node(lanes.id, "[2]", "77").expect("a lane");
    assert_eq!(node.summary, "77");
    let lane = session.evaluate_node(1, 0, "$xmm0.v4_int32[2]", None, false);
    assert_eq!(lane.expect("a lane").summary, "77");
}

#[test]
fn frames_have_arguments_statics_registers_and_what_was_returned() {
    let mut stopped = at_look();
    let session = &mut stopped.session;
    let arguments = session.scope_nodes(1, 0, Group::Arguments).expect("some");
    let names: Vec<_> = arguments.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["point", "shared_name"]);
    assert_eq!(named(&arguments, "shared_name").summary, "2");
    let statics = session.scope_nodes(1, 0, Group::Statics).expect("some");
    let counter = named(&statics, "counter");
    assert_eq!(
        (counter.summary.as_str(), counter.kind),
        ("17", NodeKind::Static)
    );
    // The argument hides the variable.
    let hidden = named(&statics, "shared_name");
    assert_eq!(hidden.summary, "1");
    let expression = hidden.evaluate_name.clone().expect("an expression");
    assert_eq!(asked(session, &expression).summary, "1");
    let registers = session.scope_nodes(1, 0, Group::Registers).expect("some");
    assert_eq!(registers[0].name, "rax");
    assert!(named(&registers, "rip").summary.contains("look"));
    assert_eq!(named(&registers, "xmm").kind, NodeKind::Group);
    let outer = session.scope_nodes(1, 1, Group::Registers).expect("some");
    assert!(outer.iter().all(|node| node.kind != NodeKind::Group));
    let returned = session.scope_nodes(1, 0, Group::ReturnValue);
    assert_eq!(returned, Ok(Vec::new()));
    stopped.command("break turned");
    stopped.command("continue");
    stopped.command("finish");
    let session = &mut stopped.session;
    let returned = session.scope_nodes(1, 0, Group::ReturnValue).expect("one");
    assert_eq!(returned.len(), 1);
    let parts = parts_of(session, &returned[0]);
    assert_eq!(named(&parts, "x").summary, "4");
}
