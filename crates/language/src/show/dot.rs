//! Output for Graphviz.

use super::graph::{Graph, Node, Sort};
use std::fmt::Write as _;

/// Writes a graph in the DOT language.
pub fn dot(graph: &Graph) -> String {
    let mut page = format!("digraph {} {{\n", quoted(&graph.name));
    let mut title = vec![match &graph.description {
        Some(description) => format!("{}: {description}", graph.name),
        None => graph.name.clone(),
    }];
    title.extend(graph.notes.iter().cloned());
    let _ = writeln!(page, "    label={};", quoted(&title.join("\n")));
    page.push_str("    labelloc=t;\n    rankdir=TB;\n");
    page.push_str("    node [fontname=\"sans-serif\"];\n    edge [fontname=\"sans-serif\"];\n");
    page.push_str("    start [shape=point, label=\"\"];\n");
    for node in &graph.nodes {
        write_node(&mut page, node);
    }
    if let Some(initial) = graph.nodes.get(graph.initial) {
        let _ = writeln!(page, "    start -> {};", quoted(&initial.id));
    }
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (graph.nodes.get(edge.from), graph.nodes.get(edge.to)) else {
            continue;
        };
        let _ = writeln!(
            page,
            "    {} -> {} [id={}, label={}];",
            quoted(&from.id),
            quoted(&to.id),
            quoted(&edge.id),
            quoted(&edge.label().join("\n")),
        );
    }
    page.push_str("}\n");
    page
}

fn write_node(page: &mut String, node: &Node) {
    // The shapes differ, so that colour is not needed.
    let (shape, style) = match node.sort {
        Sort::Accepting => ("box", "rounded"),
        Sort::NonAccepting => ("box", "rounded,dashed"),
        Sort::Violation => ("octagon", "bold"),
        Sort::Satisfaction => ("doubleoctagon", "solid"),
        Sort::Final => ("box", "rounded,diagonals"),
    };
    let style = if node.current {
        format!("{style},filled")
    } else {
        style.to_owned()
    };
    let _ = writeln!(
        page,
        "    {} [id={}, label={}, shape={shape}, style={}];",
        quoted(&node.id),
        quoted(&node.id),
        quoted(&node.label()),
        quoted(&style),
    );
}

/// Writes a quoted string of the DOT language; a line break becomes `\n`.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
