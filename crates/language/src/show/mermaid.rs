//! Output for Markdown pages with Mermaid diagrams.

use super::graph::{Graph, Sort};
use std::fmt::Write as _;

/// Writes a graph as a Mermaid flowchart.
///
/// A flowchart, unlike a state diagram, has labels with arbitrary text, and nodes of
/// several shapes.
pub fn mermaid(graph: &Graph) -> String {
    let mut page = String::from("flowchart TD\n");
    page.push_str("    start(( ))\n");
    for node in &graph.nodes {
        let name = quoted(&node.label());
        let shape = match node.sort {
            Sort::Accepting => format!("({name})"),
            Sort::NonAccepting => format!("[/{name}/]"),
            Sort::Violation => format!("{{{{{name}}}}}"),
            Sort::Satisfaction => format!("([{name}])"),
            Sort::Final => format!("[[{name}]]"),
        };
        let _ = writeln!(page, "    {}{shape}", node.id);
    }
    if let Some(initial) = graph.nodes.get(graph.initial) {
        let _ = writeln!(page, "    start --> {}", initial.id);
    }
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (graph.nodes.get(edge.from), graph.nodes.get(edge.to)) else {
            continue;
        };
        let label = quoted(&edge.label().join("\n"));
        let _ = writeln!(page, "    {} -->|{label}| {}", from.id, to.id);
    }
    page.push_str("    classDef violation stroke-width:3px\n");
    page.push_str("    classDef current stroke-width:4px\n");
    for (class, chosen) in [
        (
            "violation",
            classes(graph, |sort, _| sort == Sort::Violation),
        ),
        ("current", classes(graph, |_, current| current)),
    ] {
        if !chosen.is_empty() {
            let _ = writeln!(page, "    class {} {class}", chosen.join(","));
        }
    }
    page
}

fn classes(graph: &Graph, chosen: impl Fn(Sort, bool) -> bool) -> Vec<String> {
    let nodes = graph.nodes.iter();
    let nodes = nodes.filter(|node| chosen(node.sort, node.current));
    nodes.map(|node| node.id.clone()).collect()
}

/// Writes a quoted label; characters with a meaning in Mermaid or HTML become character
/// references.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("<br>"),
            'a'..='z'
            | 'A'..='Z'
            | '0'..='9'
            | ' '
            | '.'
            | ','
            | '_'
            | '-'
            | '+'
            | '='
            | '('
            | ')' => {
                quoted.push(c);
            }
            c if c.is_control() => quoted.push(' '),
            c if c.is_alphanumeric() => quoted.push(c),
            c => {
                let _ = write!(quoted, "#{};", u32::from(c));
            }
        }
    }
    quoted.push('"');
    quoted
}
