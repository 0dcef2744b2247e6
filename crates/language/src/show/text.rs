//! Output as text for a terminal: each state with its transitions.

use super::graph::{Edge, Graph, Node, Sort};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// The maximum width of the column before the arrows.
const COLUMN_MAX: usize = 52;

/// Writes a graph as lines of text.
pub fn text(graph: &Graph) -> String {
    let mut page = graph.name.clone();
    if let Some(description) = &graph.description {
        let _ = write!(page, ": {description}");
    }
    page.push('\n');
    for note in &graph.notes {
        let _ = writeln!(page, "{note}");
    }
    let column = column(graph);
    for (position, node) in graph.nodes.iter().enumerate() {
        page.push('\n');
        let _ = writeln!(page, "{}", heading(graph, position, node));
        for edge in graph.edges.iter().filter(|edge| edge.from == position) {
            write_edge(&mut page, graph, edge, column);
        }
    }
    page
}

fn heading(graph: &Graph, position: usize, node: &Node) -> String {
    let mark = if node.current { '*' } else { ' ' };
    let start = if position == graph.initial {
        "→"
    } else {
        " "
    };
    let sort = match node.sort {
        Sort::Accepting => String::new(),
        sort => format!("  [{}]", sort.word()),
    };
    let slices = match node.slices {
        None | Some(0) => String::new(),
        Some(1) => "  1 slice".to_owned(),
        Some(count) => format!("  {count} slices"),
    };
    format!("{mark}{start} {}{sort}{slices}", node.name)
}

/// Returns the text of an edge before the arrow.
fn left(edge: &Edge) -> String {
    match &edge.updates {
        Some(updates) => format!("{}  {{ {updates} }}", edge.condition()),
        None => edge.condition(),
    }
}

/// Returns the column of the arrows.
fn column(graph: &Graph) -> usize {
    let widths = graph.edges.iter().map(|edge| left(edge).width());
    widths
        .filter(|&width| width <= COLUMN_MAX)
        .max()
        .unwrap_or(0)
}

fn write_edge(page: &mut String, graph: &Graph, edge: &Edge, column: usize) {
    let target = graph.nodes.get(edge.to).map_or("", |node| &node.name);
    let left = left(edge);
    let padding = column.saturating_sub(left.width());
    let _ = writeln!(page, "      {left}{:padding$}  → {target}", "");
}
