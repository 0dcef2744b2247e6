use super::*;
use crate::show::graph::{Graph, Sort};
use proptest::prelude::*;

fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph {
    let mut graph = Graph {
        name: "p".into(),
        description: None,
        notes: Vec::new(),
        nodes: Vec::new(),
        edges: Vec::new(),
        initial: 0,
    };
    for position in 0..nodes {
        graph.add_node(&format!("s{position}"), Sort::Accepting);
    }
    for &(from, to) in edges {
        graph.add_edge(from, to, "e");
    }
    graph
}

fn of(graph: &Graph) -> (Boxes, Layout) {
    let boxes = Boxes {
        nodes: vec![
            Size {
                width: 60.0,
                height: 30.0
            };
            graph.nodes.len()
        ],
        labels: vec![
            Size {
                width: 40.0,
                height: 16.0
            };
            graph.edges.len()
        ],
    };
    let layout = layout(graph, &boxes);
    (boxes, layout)
}

#[test]
fn a_chain_leads_straight_down() {
    let (_, layout) = of(&graph(3, &[(0, 1), (1, 2)]));
    let [first, second, third] = layout.nodes[..] else {
        panic!("three states")
    };
    assert_eq!((first.x, second.x), (second.x, third.x));
    assert!(first.y < second.y && second.y < third.y);
}

#[test]
fn the_way_back_begins_at_the_lower_state() {
    let (_, layout) = of(&graph(2, &[(0, 1), (1, 0)]));
    let back = &layout.routes[1];
    assert!(back[0].y > back[back.len() - 1].y);
}

#[test]
fn what_stays_has_its_label_beside_the_state() {
    let (_, layout) = of(&graph(1, &[(0, 0), (0, 0)]));
    assert!(layout.routes.iter().all(Vec::is_empty));
    assert!(layout.labels[0].x > layout.nodes[0].x + 30.0);
    assert!(layout.labels[0].y < layout.labels[1].y);
}

fn overlap(a: (Point, Size), b: (Point, Size)) -> bool {
    let apart = |at: f64, size: f64, other: f64, other_size: f64| {
        (at - other).abs() * 2.0 + 0.001 >= size + other_size
    };
    !apart(a.0.x, a.1.width, b.0.x, b.1.width) && !apart(a.0.y, a.1.height, b.0.y, b.1.height)
}

proptest! {
    #[test]
    fn nothing_overlaps_and_all_is_inside(
        count in 1_usize..9,
        edges in prop::collection::vec((0_usize..9, 0_usize..9), 0..20),
    ) {
        let edges: Vec<_> = edges.into_iter().map(|(a, b)| (a % count, b % count)).collect();
        let graph = graph(count, &edges);
        let (boxes, layout) = of(&graph);
        let nodes = layout.nodes.iter().copied().zip(boxes.nodes.iter().copied());
        let labels = layout.labels.iter().copied().zip(boxes.labels.iter().copied());
        let all: Vec<_> = nodes.chain(labels).collect();
        for (position, &a) in all.iter().enumerate() {
            prop_assert!(a.0.x - a.1.width / 2.0 >= 0.0);
            prop_assert!(a.0.x + a.1.width / 2.0 <= layout.size.width);
            prop_assert!(a.0.y - a.1.height / 2.0 >= 0.0);
            prop_assert!(a.0.y + a.1.height / 2.0 <= layout.size.height);
            for &b in &all[..position] {
                prop_assert!(!overlap(a, b), "{a:?} {b:?}");
            }
        }
        // The layout is deterministic.
        prop_assert_eq!(of(&graph).1, layout);
    }
}
