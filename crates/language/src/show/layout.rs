//! The layout of a graph: states in layers, from the initial state downwards.
//!
//! The steps are those of Sugiyama, Tagawa and Toda, *Methods for Visual Understanding
//! of Hierarchical System Structures* (1981): edges that would lead up are reversed;
//! states are assigned to layers by the longest path from the start; each edge gets an
//! item in every layer that it crosses (the first holds its label); the order within
//! layers is improved by barycentres; and items are moved towards their neighbours as
//! far as the gaps allow.
//!
//! Graphviz or a crate would not serve as well: a picture is made where Graphviz is
//! not installed, is the same byte for byte everywhere, and has the ids (`state-0`,
//! `edge-3`) by which a page marks the present state. layout-rs drops these ids and
//! draws edges across labels; rust-sugiyama panics on a transition that stays.
//!
//! **Invariant:** items of one layer never overlap; the layout of a graph is
//! deterministic.

use super::graph::Graph;

/// The size of a box, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Size {
    pub width: f64,
    pub height: f64,
}

/// A position, in pixels from the upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

/// The sizes of the boxes to be placed.
pub(super) struct Boxes {
    /// By state.
    pub nodes: Vec<Size>,
    /// By transition: the label.
    pub labels: Vec<Size>,
}

/// The positions of all boxes and edges.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// The size of the picture.
    pub size: Size,
    /// By state: the centre.
    pub nodes: Vec<Point>,
    /// By transition: the points of its line, starting at the source state; empty for a
    /// transition to the same state.
    pub routes: Vec<Vec<Point>>,
    /// By transition: the centre of its label.
    pub labels: Vec<Point>,
}

/// The gap between items of a layer.
const GAP: f64 = 18.0;
/// The gap between layers.
const LAYER_GAP: f64 = 16.0;
/// The margin around the picture.
const MARGIN: f64 = 12.0;
/// The width of an edge that passes through a layer.
const PASSAGE: f64 = 8.0;
/// The distance from a state to the label of a transition to itself.
pub(super) const LOOP: f64 = 26.0;
/// The gap between the labels of transitions to the same state.
pub(super) const LABEL_GAP: f64 = 4.0;
/// The number of rounds that improve order and positions.
const ROUNDS: usize = 12;

/// An item that takes space in a layer.
struct Item {
    layer: usize,
    /// The extent to the left and to the right of its centre.
    left: f64,
    right: f64,
    height: f64,
    x: f64,
    /// The neighbours in the layer above and the layer below.
    above: Vec<usize>,
    below: Vec<usize>,
}

struct Layers {
    items: Vec<Item>,
    /// By layer: the items from left to right.
    order: Vec<Vec<usize>>,
    /// By edge: the items, from the upper state to the lower.
    chains: Vec<Vec<usize>>,
    /// By edge: true if it leads from the lower state to the upper.
    turned: Vec<bool>,
}

/// Computes the layout.
pub(super) fn layout(graph: &Graph, boxes: &Boxes) -> Layout {
    let mut layers = layers(graph, boxes);
    for round in 0..ROUNDS {
        layers.sort(round % 2 == 0);
    }
    layers.pack();
    for round in 0..ROUNDS {
        layers.relax(round % 2 == 0);
    }
    placed(graph, boxes, &layers)
}

/// Returns for each edge whether it would lead up: to a state that is being visited.
fn turned(graph: &Graph) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        No,
        Open,
        Done,
    }
    let count = graph.nodes.len();
    let mut outgoing = vec![Vec::new(); count];
    for (position, edge) in graph.edges.iter().enumerate() {
        if edge.to < count
            && edge.from != edge.to
            && let Some(list) = outgoing.get_mut(edge.from)
        {
            list.push((position, edge.to));
        }
    }
    let mut turned = vec![false; graph.edges.len()];
    let mut visits = vec![Visit::No; count];
    let starts = std::iter::once(graph.initial).chain(0..count);
    for start in starts {
        if visits.get(start) != Some(&Visit::No) {
            continue;
        }
        visits[start] = Visit::Open;
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            let Some(&(edge, to)) = outgoing[node].get(*next) else {
                visits[node] = Visit::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            match visits[to] {
                Visit::No => {
                    visits[to] = Visit::Open;
                    stack.push((to, 0));
                }
                Visit::Open => turned[edge] = true,
                Visit::Done => {}
            }
        }
    }
    turned
}

/// Returns for each state the length of the longest path down to it.
fn depths(count: usize, downward: &[(usize, usize)]) -> Vec<usize> {
    let mut depths = vec![0; count];
    // Without cycles no path has more edges than there are states.
    for _ in 0..count {
        let mut changed = false;
        for &(upper, lower) in downward {
            if depths[lower] < depths[upper] + 1 {
                depths[lower] = depths[upper] + 1;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    depths
}

fn layers(graph: &Graph, boxes: &Boxes) -> Layers {
    let count = graph.nodes.len();
    let turned = turned(graph);
    let ends: Vec<Option<(usize, usize)>> = graph
        .edges
        .iter()
        .zip(&turned)
        .map(|(edge, &turned)| {
            let inside = edge.from < count && edge.to < count && edge.from != edge.to;
            let (upper, lower) = if turned {
                (edge.to, edge.from)
            } else {
                (edge.from, edge.to)
            };
            inside.then_some((upper, lower))
        })
        .collect();
    let downward: Vec<(usize, usize)> = ends.iter().copied().flatten().collect();
    let depths = depths(count, &downward);
    let mut layers = Layers {
        items: Vec::new(),
        order: Vec::new(),
        chains: Vec::new(),
        turned,
    };
    for (position, (size, depth)) in boxes.nodes.iter().zip(&depths).enumerate() {
        let stays = graph.edges.iter().zip(&boxes.labels);
        let stays = stays.filter(|(edge, _)| edge.from == position && edge.to == position);
        let (mut right, mut height) = (0.0_f64, 0.0);
        for (_, label) in stays {
            right = right.max(LOOP + label.width);
            height += label.height + LABEL_GAP;
        }
        let half = size.width / 2.0;
        layers.add(depth * 2, half, half + right, size.height.max(height));
    }
    for (ends, label) in ends.iter().zip(&boxes.labels) {
        let chain = ends.map_or_else(Vec::new, |(upper, lower)| {
            layers.chain(upper, lower, &depths, *label)
        });
        layers.chains.push(chain);
    }
    layers
}

impl Layers {
    fn add(&mut self, layer: usize, left: f64, right: f64, height: f64) -> usize {
        let position = self.items.len();
        self.items.push(Item {
            layer,
            left,
            right,
            height,
            x: 0.0,
            above: Vec::new(),
            below: Vec::new(),
        });
        if self.order.len() <= layer {
            self.order.resize_with(layer + 1, Vec::new);
        }
        self.order[layer].push(position);
        position
    }

    /// Adds the items of an edge between two states; its label comes first.
    fn chain(&mut self, upper: usize, lower: usize, depths: &[usize], label: Size) -> Vec<usize> {
        let mut chain = vec![upper];
        for layer in depths[upper] * 2 + 1..depths[lower] * 2 {
            let is_label = chain.len() == 1;
            let (width, height) = if is_label {
                (label.width, label.height)
            } else {
                (PASSAGE, 0.0)
            };
            chain.push(self.add(layer, width / 2.0, width / 2.0, height));
        }
        chain.push(lower);
        for pair in chain.windows(2) {
            self.items[pair[0]].below.push(pair[1]);
            self.items[pair[1]].above.push(pair[0]);
        }
        chain
    }

    /// Sorts the items of each layer by the mean position of their neighbours.
    fn sort(&mut self, downwards: bool) {
        let mut positions = vec![0.0; self.items.len()];
        for order in &self.order {
            for (position, &item) in order.iter().enumerate() {
                positions[item] = position as f64;
            }
        }
        let layers: Vec<usize> = self.direction(downwards);
        for layer in layers {
            let mut keyed: Vec<(f64, usize)> = self.order[layer]
                .iter()
                .map(|&item| {
                    let neighbours = self.neighbours(item, downwards);
                    let own = positions[item];
                    (
                        mean(neighbours.iter().map(|&n| positions[n])).unwrap_or(own),
                        item,
                    )
                })
                .collect();
            keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            for (position, (_, item)) in keyed.iter().enumerate() {
                positions[*item] = position as f64;
            }
            self.order[layer] = keyed.into_iter().map(|(_, item)| item).collect();
        }
    }

    fn direction(&self, downwards: bool) -> Vec<usize> {
        let layers = 0..self.order.len();
        if downwards {
            layers.collect()
        } else {
            layers.rev().collect()
        }
    }

    fn neighbours(&self, item: usize, downwards: bool) -> &[usize] {
        let item = &self.items[item];
        if downwards { &item.above } else { &item.below }
    }

    /// Places the items of each layer side by side.
    fn pack(&mut self) {
        for layer in 0..self.order.len() {
            let mut x = 0.0;
            for position in 0..self.order[layer].len() {
                let item = &mut self.items[self.order[layer][position]];
                item.x = x + item.left;
                x += item.left + item.right + GAP;
            }
        }
    }

    /// Moves the items of each layer towards the mean of their neighbours.
    fn relax(&mut self, downwards: bool) {
        for layer in self.direction(downwards) {
            let order = self.order[layer].clone();
            let wanted: Vec<f64> = order
                .iter()
                .map(|&item| {
                    let neighbours = self.neighbours(item, downwards);
                    let xs = neighbours.iter().map(|&n| self.items[n].x);
                    mean(xs).unwrap_or(self.items[item].x)
                })
                .collect();
            // The mean of two sequences that keep the gaps keeps them, too.
            let mut rightmost = wanted.clone();
            for position in 1..order.len() {
                let least = rightmost[position - 1] + self.between(&order, position);
                rightmost[position] = rightmost[position].max(least);
            }
            let mut leftmost = wanted;
            for position in (1..order.len()).rev() {
                let most = leftmost[position] - self.between(&order, position);
                leftmost[position - 1] = leftmost[position - 1].min(most);
            }
            for (position, &item) in order.iter().enumerate() {
                self.items[item].x = f64::midpoint(leftmost[position], rightmost[position]);
            }
        }
    }

    /// Returns the minimum distance between the centres of an item and its predecessor.
    fn between(&self, order: &[usize], position: usize) -> f64 {
        let before = &self.items[order[position - 1]];
        before.right + GAP + self.items[order[position]].left
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}

fn placed(graph: &Graph, boxes: &Boxes, layers: &Layers) -> Layout {
    let edge = |sign: f64, x: f64, by: f64| x + sign * by;
    let leftmost = layers.items.iter().map(|i| edge(-1.0, i.x, i.left));
    let leftmost = leftmost.fold(f64::INFINITY, f64::min);
    let rightmost = layers.items.iter().map(|i| edge(1.0, i.x, i.right));
    let rightmost = rightmost.fold(f64::NEG_INFINITY, f64::max);
    let leftmost = if leftmost.is_finite() { leftmost } else { 0.0 };
    let rightmost = if rightmost.is_finite() {
        rightmost
    } else {
        0.0
    };
    let mut middles = Vec::new();
    // Space for the arrow to the initial state.
    let mut y = MARGIN + LAYER_GAP;
    for order in &layers.order {
        let heights = order.iter().map(|&item| layers.items[item].height);
        let height = heights.fold(0.0, f64::max);
        middles.push(y + height / 2.0);
        y += height + LAYER_GAP;
    }
    let place = |item: usize| Point {
        x: layers.items[item].x - leftmost + MARGIN,
        y: middles[layers.items[item].layer],
    };
    let nodes: Vec<Point> = (0..graph.nodes.len()).map(place).collect();
    let mut labels = Vec::new();
    let mut routes = Vec::new();
    // The labels beside a state are centred on it.
    let mut loops = vec![0.0; graph.nodes.len()];
    for (edge, label) in graph.edges.iter().zip(&boxes.labels) {
        if edge.from == edge.to
            && let Some(used) = loops.get_mut(edge.from)
        {
            *used -= (label.height + LABEL_GAP) / 2.0;
        }
    }
    for (position, edge) in graph.edges.iter().enumerate() {
        let chain = &layers.chains[position];
        let label = boxes.labels[position];
        if chain.is_empty() {
            labels.push(loop_label(boxes, &nodes, &mut loops, edge.from, label));
            routes.push(Vec::new());
            continue;
        }
        labels.push(place(chain[1]));
        routes.push(route(boxes, layers, chain, position, &place));
    }
    let height = y - LAYER_GAP + MARGIN;
    let size = Size {
        width: rightmost - leftmost + 2.0 * MARGIN,
        height,
    };
    Layout {
        size,
        nodes,
        routes,
        labels,
    }
}

/// Places the label of a transition to the same state: to the right, one below the
/// other.
fn loop_label(
    boxes: &Boxes,
    nodes: &[Point],
    loops: &mut [f64],
    node: usize,
    label: Size,
) -> Point {
    let (Some(middle), Some(size)) = (nodes.get(node), boxes.nodes.get(node)) else {
        return Point::default();
    };
    let used = loops[node];
    loops[node] += label.height + LABEL_GAP;
    Point {
        x: middle.x + size.width / 2.0 + LOOP + label.width / 2.0,
        y: middle.y + used + (label.height + LABEL_GAP) / 2.0,
    }
}

/// Returns the points of an edge, starting at its source state.
fn route(
    boxes: &Boxes,
    layers: &Layers,
    chain: &[usize],
    edge: usize,
    place: &impl Fn(usize) -> Point,
) -> Vec<Point> {
    let mut points = Vec::new();
    let last = chain.len() - 1;
    for (position, &item) in chain.iter().enumerate() {
        let at = place(item);
        if position == 0 || position == last {
            let other = place(chain[if position == 0 { 1 } else { last - 1 }]);
            let half = boxes.nodes[item].width / 2.0 - 8.0;
            let x = other.x.clamp(at.x - half.max(0.0), at.x + half.max(0.0));
            let side = if position == 0 { 0.5 } else { -0.5 };
            points.push(Point {
                x,
                y: at.y + side * boxes.nodes[item].height,
            });
        } else {
            let half = layers.items[item].height / 2.0;
            points.push(Point {
                x: at.x,
                y: at.y - half,
            });
            points.push(Point {
                x: at.x,
                y: at.y + half,
            });
        }
    }
    if layers.turned[edge] {
        points.reverse();
    }
    points
}

#[cfg(test)]
mod tests;
