use super::*;
use crate::load;

const QUEUE: &str = r#"
property queue_bounds "a queue never holds more than it was made for"
slice on queue

event new  = after  queue_new(size) returns queue
event push = before queue_push(queue)
event gone = before queue_delete(queue)

var capacity = 0
var count = 0

state init accepting {
    on new  { capacity = size }                     -> ready
}
state ready accepting {
    on push when count < capacity { count += 1 }    -> ready   else -> overflow
    on gone -> deleted
}
state overflow non-accepting
state deleted accepting final
"#;

fn graph(source: &str) -> Graph {
    let (properties, diagnostics) = load(source);
    assert!(properties.len() == 1, "{diagnostics:?}");
    Graph::of_automaton(&properties[0], source)
}

#[test]
fn text_lists_the_transitions_of_each_state() {
    let mut graph = graph(QUEUE);
    let ready = graph.nodes.iter_mut().find(|node| node.name == "ready");
    let ready = ready.expect("there is such a state");
    (ready.current, ready.slices) = (true, Some(2));
    assert_eq!(
        text(&graph),
        "\
queue_bounds: a queue never holds more than it was made for
slice on queue

 → init
      new  { capacity = size }                    → ready

*  ready  2 slices
      push when count < capacity  { count += 1 }  → ready
      push unless count < capacity                → overflow
      gone                                        → deleted

   overflow  [violation]

   deleted  [final]
"
    );
}

#[test]
fn dot_names_each_state_and_transition() {
    let page = dot(&graph(QUEUE));
    assert!(
        page.contains(r#""state-1" [id="state-1", label="ready", shape=box"#),
        "{page}"
    );
    assert!(
        page.contains(
            r#""state-1" -> "state-1" [id="edge-1", label="push when count < capacity\ncount += 1"];"#
        ),
        "{page}"
    );
    assert!(page.contains(r#"shape=octagon, style="bold""#), "{page}");
}

#[test]
fn mermaid_escapes_what_it_would_read() {
    let page = mermaid(&graph(QUEUE));
    assert!(page.contains("state-2{{\"overflow\"}}"), "{page}");
    assert!(
        page.contains("state-1 -->|\"push when count #60; capacity<br>count += 1\"| state-1"),
        "{page}"
    );
    assert!(page.contains("class state-2 violation"), "{page}");
}

#[test]
fn svg_has_an_id_for_each_state_and_transition() {
    let page = svg(&graph(QUEUE));
    for id in ["state-0", "state-3", "edge-0", "edge-3"] {
        assert!(page.contains(&format!("<g id=\"{id}\"")), "{id} in {page}");
    }
    assert!(page.contains("count &lt; capacity"), "{page}");
}

/// Each label of a transition to the state itself has room beside the state.
#[test]
fn svg_states_are_as_high_as_the_labels_of_their_loops() {
    let height = |loops: usize| {
        let events: String = (0..loops)
            .map(|n| format!("event e{n} = before f{n}\n"))
            .collect();
        let stays: String = (0..loops).map(|n| format!("on e{n} -> a\n")).collect();
        let page = svg(&graph(&format!(
            "property p\n{events}state a {{ {stays} }}"
        )));
        let (_, state) = page.split_once("<g id=\"state-0\"").expect("a state");
        let (_, height) = state.split_once("height=\"").expect("a height");
        let (height, _) = height.split_once('"').expect("its end");
        height.parse::<f64>().expect("a number")
    };
    assert!(height(1) >= 16.0);
    assert!(height(12) >= 12.0 * 16.0, "{}", height(12));
}

#[test]
fn hostile_names_stay_text() {
    let mut graph = graph(QUEUE);
    graph.nodes[1].name = "a\"]; b -> c [label=\"</text><script>\u{1b}[2J".to_owned();
    assert!(dot(&graph).contains(r#"label="a\"]; b -> c [label=\"</text><script> [2J""#));
    let page = svg(&graph);
    assert!(
        !page.contains("<script>") && !page.contains('\u{1b}'),
        "{page}"
    );
    let page = mermaid(&graph);
    assert!(
        !page.contains("<script>") && page.contains("state-1(\"a#34;#93;"),
        "{page}"
    );
}

#[test]
fn what_is_ignored_is_shown_as_it_was_written() {
    let source = "property p event push = before push(n) event pop = before pop var count = 0
        state a {
            on push when count < 3 ignore when n == 1 { count += n } -> a else -> b
            on pop ignore when count == 0
        }
        state b { on pop ignore when count > 2 when count > 1 -> a  on push ignore when n == 0 -> a }";
    assert_eq!(
        text(&graph(source)),
        "\
p

 → a
      push when count < 3 ignore when n == 1  { count += n }  → a
      push unless count < 3 ignore when n == 1  → b
      pop ignore when count == 0                → a

   b
      pop when count > 1 ignore when count > 2  → a
      push ignore when n == 0                   → a
"
    );
}

fn timed(text: &str) -> Result<String, String> {
    let source = format!(
        "property p proposition asked pulse before f proposition answered pulse before g ltl {text}"
    );
    let (properties, diagnostics) = load(&source);
    assert!(properties.len() == 1, "{diagnostics:?}");
    Graph::of_property(&properties[0], &source).map(|graph| super::text(&graph))
}

#[test]
fn time_that_passes_is_a_transition() {
    let text = timed("always (asked implies eventually within 5 ms answered)");
    assert_eq!(
        text.expect("a picture"),
        "\
p
always (asked implies eventually within 5 ms answered)

 → 1
      not asked or answered   → 1
      asked and not answered  → 2

   2  [non-accepting]
      answered                → 1
      not answered            → 2
      5 ms over               → 3

   3  [violation]
"
    );
}

#[test]
fn with_several_bounds_it_is_said_which_is_over() {
    let text = timed(
        "always (asked implies eventually within 5 ms answered) and always (answered implies \
         always for 2 s not asked)",
    );
    let text = text.expect("a picture");
    for words in [
        "5 ms over of `eventually within 5 ms answered`",
        "2 s over of `always for 2 s not asked`",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn bounds_in_time_that_are_not_drawn_say_why() {
    let why = timed("always (asked implies eventually from 2 to 5 ms answered)");
    let why = why.expect_err("no picture");
    for words in [
        "`eventually from 2 ms to 5 ms answered` can be pending any number of times at once",
        "`monitor` at the prompt",
    ] {
        assert!(why.contains(words), "{words}: {why}");
    }
    let why = timed("eventually within 1000000 s asked and eventually within 1 ms answered");
    let why = why.expect_err("no picture");
    assert!(why.contains("too many different moments"), "{why}");
}
