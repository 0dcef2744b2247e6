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
