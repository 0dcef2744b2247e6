//! Output as SVG.
//!
//! Lines and text have the text colour of the page; the meaning of a state is shown by
//! its outline and by a word under its name. Every state and transition is a group with
//! an id and classes, so that pages can mark them.

use super::graph::{Edge, Graph, Node, Sort};
use super::layout::{Boxes, LABEL_GAP, LOOP, Layout, Point, Size, layout};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// The advance of a character, in pixels.
const CHARACTER_WIDTH: f64 = 7.3;
const LINE_HEIGHT: f64 = 16.0;
/// The maximum length of a line in a label.
const LABEL_CHARACTERS_MAX: usize = 28;

const STYLE: &str = "\
  <style>
    .juror { font: 12px ui-monospace, monospace; color: #222; }
    @media (prefers-color-scheme: dark) { .juror { color: #ddd; } }
    .juror text { fill: currentColor; text-anchor: middle; }
    .juror .box, .juror .line { fill: none; stroke: currentColor; stroke-width: 1.2; }
    .juror .line { opacity: 0.75; }
    .juror .head { fill: currentColor; stroke: none; }
    .juror .word { font-size: 10px; opacity: 0.75; }
    .juror .non-accepting .box { stroke-dasharray: 5 3; }
    .juror .violation .box { stroke: #c62828; stroke-width: 3; }
    .juror .satisfied .box { stroke: #2e7d32; stroke-width: 3; }
    .juror .current .box { fill: currentColor; fill-opacity: 0.15; stroke-width: 3; }
  </style>
";

/// Writes a graph as an SVG document.
pub fn svg(graph: &Graph) -> String {
    let boxes = Boxes {
        nodes: node_sizes(graph),
        labels: graph.edges.iter().map(label_size).collect(),
    };
    let layout = layout(graph, &boxes);
    let title = title(graph);
    let title_lines = graph.notes.len() + 1;
    let top = LINE_HEIGHT * title_lines as f64 + 8.0;
    let widths = title.iter().map(|line| width(line) + 24.0);
    let width = widths.fold(layout.size.width, f64::max);
    let height = layout.size.height + top;
    let mut page = String::new();
    let _ = writeln!(
        page,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"juror\" \
         width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">",
    );
    let _ = writeln!(page, "  <title>{}</title>", escaped(&title.join("\n")));
    page.push_str(STYLE);
    for (line, text) in title.iter().enumerate() {
        let y = LINE_HEIGHT * (line as f64 + 1.0);
        let _ = writeln!(
            page,
            "  <text x=\"12\" y=\"{y:.0}\" style=\"text-anchor: start\">{}</text>",
            escaped(text),
        );
    }
    let _ = writeln!(page, "  <g transform=\"translate(0 {top:.0})\">");
    write_start(&mut page, graph, &boxes, &layout);
    for (position, edge) in graph.edges.iter().enumerate() {
        write_edge(&mut page, edge, position, &boxes, &layout);
    }
    for (position, node) in graph.nodes.iter().enumerate() {
        write_node(
            &mut page,
            node,
            layout.nodes[position],
            boxes.nodes[position],
        );
    }
    page.push_str("  </g>\n</svg>\n");
    page
}

fn title(graph: &Graph) -> Vec<String> {
    let mut lines = vec![match &graph.description {
        Some(description) => format!("{}: {description}", graph.name),
        None => graph.name.clone(),
    }];
    lines.extend(graph.notes.iter().cloned());
    lines
}

fn width(text: &str) -> f64 {
    text.width() as f64 * CHARACTER_WIDTH
}

/// Returns the word under the name; `None` for the usual sort.
fn word(node: &Node) -> Option<&'static str> {
    (node.sort != Sort::Accepting).then(|| node.sort.word())
}

/// Returns the sizes of states, which are as high as the labels of their transitions to
/// themselves.
fn node_sizes(graph: &Graph) -> Vec<Size> {
    let size = |(position, node): (usize, &Node)| {
        let stays = graph.edges.iter();
        let stays = stays.filter(|edge| edge.from == position && edge.to == position);
        let labels: f64 = stays.map(|edge| label_size(edge).height + LABEL_GAP).sum();
        let own = node_size(node);
        let height = own.height.max(labels);
        Size { height, ..own }
    };
    graph.nodes.iter().enumerate().map(size).collect()
}

fn node_size(node: &Node) -> Size {
    let word_width = word(node).map_or(0.0, width);
    let lines = if word(node).is_some() { 2.0 } else { 1.0 };
    Size {
        width: width(&node.label()).max(word_width) + 24.0,
        height: lines * LINE_HEIGHT + 12.0,
    }
}

/// Splits a label into lines, which are short unless a word is long.
fn label(edge: &Edge) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in edge.label() {
        let mut line = String::new();
        for word in part.split(' ') {
            if !line.is_empty() && line.width() + 1 + word.width() > LABEL_CHARACTERS_MAX {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

fn label_size(edge: &Edge) -> Size {
    let lines = label(edge);
    Size {
        width: lines.iter().map(|line| width(line)).fold(0.0, f64::max) + 8.0,
        height: lines.len() as f64 * LINE_HEIGHT,
    }
}

/// Writes the arrow to the initial state.
fn write_start(page: &mut String, graph: &Graph, boxes: &Boxes, layout: &Layout) {
    let (Some(at), Some(size)) = (
        layout.nodes.get(graph.initial),
        boxes.nodes.get(graph.initial),
    ) else {
        return;
    };
    let to = Point {
        x: at.x,
        y: at.y - size.height / 2.0,
    };
    let from = to.y - 20.0;
    let _ = writeln!(
        page,
        "    <path class=\"line\" d=\"M{:.1} {from:.1}V{:.1}\"/>",
        to.x, to.y,
    );
    write_head(page, to, 1.0, 0.0);
}

/// Writes the head of an arrow that comes from above (1), below (-1), or from the right
/// (`across` 1).
fn write_head(page: &mut String, tip: Point, down: f64, across: f64) {
    let corner = |side: f64| {
        let x = tip.x + across * 7.0 + down.abs() * side * 3.5;
        let y = tip.y - down * 7.0 + across.abs() * side * 3.5;
        format!("{x:.1} {y:.1}")
    };
    let _ = writeln!(
        page,
        "    <path class=\"head\" d=\"M{:.1} {:.1}L{}L{}Z\"/>",
        tip.x,
        tip.y,
        corner(-1.0),
        corner(1.0),
    );
}

fn write_edge(page: &mut String, edge: &Edge, position: usize, boxes: &Boxes, layout: &Layout) {
    let _ = writeln!(page, "    <g id=\"{}\" class=\"edge\">", escaped(&edge.id));
    let _ = writeln!(page, "    <title>{}</title>", escaped(&edge.condition()));
    let route = &layout.routes[position];
    let label_lines = label(edge);
    let label = layout.labels[position];
    if let (Some(first), Some(&last)) = (route.first(), route.last()) {
        // Curves between the layers; a straight line through each layer that is
        // crossed; no line behind the label.
        let mut path = format!("M{:.1} {:.1}", first.x, first.y);
        for (position, pair) in route.windows(2).enumerate() {
            let crosses = position % 2 == 1;
            let at_label = (pair[0].y - label.y) * (pair[1].y - label.y) < 0.0;
            if crosses && at_label {
                let _ = write!(path, "M{:.1} {:.1}", pair[1].x, pair[1].y);
                continue;
            }
            let middle = f64::midpoint(pair[0].y, pair[1].y);
            let _ = write!(
                path,
                "C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}",
                pair[0].x, pair[1].x, pair[1].x, pair[1].y,
            );
        }
        let down = if first.y < last.y { 1.0 } else { -1.0 };
        let _ = writeln!(page, "    <path class=\"line\" d=\"{path}\"/>");
        write_head(page, last, down, 0.0);
    } else if let (Some(at), Some(size)) = (layout.nodes.get(edge.from), boxes.nodes.get(edge.from))
    {
        let side = at.x + size.width / 2.0;
        let y = label.y;
        let out = side + LOOP - 4.0;
        let _ = writeln!(
            page,
            "    <path class=\"line\" d=\"M{side:.1} {:.1}C{out:.1} {:.1} {out:.1} {:.1} {side:.1} {:.1}\"/>",
            y - 5.0,
            y - 9.0,
            y + 9.0,
            y + 5.0,
        );
        write_head(
            page,
            Point {
                x: side,
                y: y + 5.0,
            },
            0.0,
            1.0,
        );
    }
    let lines = label_lines;
    let first = label.y - (lines.len() as f64 - 1.0) * LINE_HEIGHT / 2.0 + 4.0;
    // Beside a state, lines start below one another.
    let (x, anchor) = if route.is_empty() {
        (
            label.x - boxes.labels[position].width / 2.0,
            " style=\"text-anchor: start\"",
        )
    } else {
        (label.x, "")
    };
    for (line, text) in lines.iter().enumerate() {
        let _ = writeln!(
            page,
            "    <text x=\"{x:.1}\" y=\"{:.1}\"{anchor}>{}</text>",
            first + line as f64 * LINE_HEIGHT,
            escaped(text),
        );
    }
    page.push_str("    </g>\n");
}

fn write_node(page: &mut String, node: &Node, at: Point, size: Size) {
    let current = if node.current { " current" } else { "" };
    let _ = writeln!(
        page,
        "    <g id=\"{}\" class=\"state {}{current}\">",
        escaped(&node.id),
        node.sort.word(),
    );
    let mut outline = |inset: f64| {
        let radius = if node.sort == Sort::Violation { 0 } else { 8 };
        let _ = writeln!(
            page,
            "    <rect class=\"box\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius}\"/>",
            at.x - size.width / 2.0 + inset,
            at.y - size.height / 2.0 + inset,
            size.width - 2.0 * inset,
            size.height - 2.0 * inset,
        );
    };
    outline(0.0);
    if node.sort == Sort::Final {
        outline(3.0);
    }
    let name_y = if word(node).is_some() {
        at.y - 2.0
    } else {
        at.y + 4.0
    };
    let _ = writeln!(
        page,
        "    <text x=\"{:.1}\" y=\"{name_y:.1}\">{}</text>",
        at.x,
        escaped(&node.label()),
    );
    if let Some(word) = word(node) {
        let _ = writeln!(
            page,
            "    <text class=\"word\" x=\"{:.1}\" y=\"{:.1}\">{word}</text>",
            at.x,
            at.y + 12.0,
        );
    }
    page.push_str("    </g>\n");
}

/// Escapes text for XML; characters that XML cannot contain become replacement
/// characters.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push('\n'),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}
