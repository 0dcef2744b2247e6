//! Determines the tail calls between a call and the function that is running when it returns.
//!
//! The functions are the nodes of a graph, and the tail calls its edges; the execution was a walk
//! from the called function to the running one. Invariant: a tail call is given only if every
//! possible walk begins, or ends, with it. A walk may repeat a cycle, and may lead anywhere from a
//! function with unknown tail calls, or by a tail call with an unknown target.

/// A function in the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// The targets of its tail calls; `None` if one is unknown.
    pub jumps: Vec<Option<usize>>,
    /// Whether `jumps` is complete.
    pub lists_all: bool,
}

/// A tail call: the index of the function, and of the tail call in it.
pub(super) type Jump = (usize, usize);

/// The tail calls that all walks have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Certain {
    /// The first tail calls, in order.
    pub first: Vec<Jump>,
    /// The last tail calls, in order.
    pub last: Vec<Jump>,
    /// Whether `first` is the only walk.
    pub is_all: bool,
}

/// Returns the tail calls that every walk from function 0 to the function `goal` has in common.
pub(super) fn certain(nodes: &[Node], goal: usize) -> Certain {
    let leads = leading(nodes, goal);
    let useful = |at: usize| -> Vec<Jump> {
        let jumps = nodes.get(at).map_or(&[][..], |node| &node.jumps);
        let leads = |to: &Option<usize>| to.is_none_or(|to| leads.get(to) == Some(&true));
        let jumps = jumps.iter().enumerate().filter(|(_, to)| leads(to));
        jumps.map(|(number, _)| (at, number)).collect()
    };
    let lists_all = |at: usize| nodes.get(at).is_some_and(|node| node.lists_all);
    let mut found = Certain::default();
    let mut at = 0;
    while at != goal {
        let only = match useful(at).as_slice() {
            [only] if lists_all(at) => *only,
            _ => {
                found.last = last(nodes, goal, at);
                return found;
            }
        };
        found.first.push(only);
        match target(nodes, only) {
            Some(to) if found.first.len() <= nodes.len() => at = to,
            _ => return found,
        }
    }
    found.is_all = lists_all(goal) && useful(goal).is_empty();
    found
}

fn target(nodes: &[Node], (at, number): Jump) -> Option<usize> {
    *nodes.get(at)?.jumps.get(number)?
}

/// Returns for each function whether the goal can be reached from it.
fn leading(nodes: &[Node], goal: usize) -> Vec<bool> {
    let is_open = |node: &Node| !node.lists_all || node.jumps.contains(&None);
    let mut leads: Vec<bool> = nodes.iter().map(is_open).collect();
    if let Some(goal) = leads.get_mut(goal) {
        *goal = true;
    }
    loop {
        let mut has_changed = false;
        for (at, node) in nodes.iter().enumerate() {
            let mut targets = node.jumps.iter().flatten();
            let leads_on = targets.any(|&to| leads.get(to) == Some(&true));
            if leads_on && let Some(known) = leads.get_mut(at).filter(|known| !**known) {
                *known = true;
                has_changed = true;
            }
        }
        if !has_changed {
            return leads;
        }
    }
}

/// Returns the tail calls that every walk ends with, back to the function `until`, from which walks
/// diverge.
fn last(nodes: &[Node], goal: usize, until: usize) -> Vec<Jump> {
    let reached = reached(nodes);
    let is_reached = |at: usize| reached.get(at) == Some(&true);
    let is_open = |node: &Node| !node.lists_all || node.jumps.contains(&None);
    let mut all = nodes.iter().enumerate();
    if all.any(|(at, node)| is_reached(at) && is_open(node)) {
        return Vec::new();
    }
    let mut found: Vec<Jump> = Vec::new();
    let mut at = goal;
    while at != until && at != 0 && found.len() <= nodes.len() {
        let nodes = nodes
            .iter()
            .enumerate()
            .filter(|(from, _)| is_reached(*from));
        let jumps = nodes.flat_map(|(from, node)| {
            let jumps = node.jumps.iter().enumerate();
            jumps.map(move |(number, to)| ((from, number), *to))
        });
        let mut coming = jumps.filter(|(_, to)| *to == Some(at));
        let (Some((only, _)), None) = (coming.next(), coming.next()) else {
            break;
        };
        found.push(only);
        at = only.0;
    }
    found.reverse();
    found
}

/// Returns for each function whether it can be reached from function 0.
fn reached(nodes: &[Node]) -> Vec<bool> {
    let mut reached = vec![false; nodes.len()];
    let mut rest = vec![0];
    while let Some(at) = rest.pop() {
        if let Some(known) = reached.get_mut(at).filter(|known| !**known) {
            *known = true;
            let jumps = nodes.get(at).map_or(&[][..], |node| &node.jumps);
            rest.extend(jumps.iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a graph: `a>bc b>? c...`, the tail calls of each function. `?` is an unknown target,
    /// and `...` means that there may be others.
    fn graph(text: &str) -> Vec<Node> {
        let number = |letter: char| Some(usize::from(u8::try_from(letter).unwrap() - b'a'));
        let node = |word: &str| {
            let (_, jumps) = word.split_once('>').unwrap_or_default();
            let jumps = jumps.trim_end_matches('.');
            let target = |letter| if letter == '?' { None } else { number(letter) };
            Node {
                jumps: jumps.chars().map(target).collect(),
                lists_all: !word.ends_with('.'),
            }
        };
        text.split_whitespace().map(node).collect()
    }

    fn shown(jumps: &[Jump]) -> String {
        let name = |at: usize| char::from(b'a' + u8::try_from(at).unwrap());
        let jump = |(at, number): &Jump| format!("{}{number}", name(*at));
        jumps.iter().map(jump).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_what_every_walk_has_is_certain() {
        // The graph, the goal, the first tail calls, the last ones, and whether they are all.
        let table = [
            ("a", 'a', "", "", true),
            ("a>a", 'a', "", "", false),
            ("a>b b>a", 'a', "", "", false),
            ("a>b b", 'b', "a0", "", true),
            ("a>b b>c c", 'c', "a0 b0", "", true),
            // Functions that do not lead to the goal are irrelevant.
            ("a>cb b c>d d", 'b', "a1", "", true),
            ("a>cb b c>?", 'b', "", "", false),
            ("a>cb b c.", 'b', "", "", false),
            // Two tail calls of one function: either may have happened.
            ("a>bb b", 'b', "", "", false),
            ("a>b b>cc c", 'c', "a0", "", false),
            // A diamond, and a path before and after it.
            ("a>bc b>d c>d d", 'd', "", "", false),
            ("a>bc b>d c>d d>e e", 'e', "", "d0", false),
            ("a>b b>cd c>e d>e e>f f", 'f', "a0", "e0", false),
            // Cycles.
            ("a>b b>a", 'b', "a0", "", false),
            ("a>b b>cb c", 'c', "a0", "b0", false),
            ("a>bc b>c c>c", 'c', "", "", false),
            ("a>bc b>d c>d d>e e>d", 'e', "", "d0", false),
            // With unknown targets nothing is certain.
            ("a>? b", 'b', "a0", "", false),
            ("a>b b>? c", 'c', "a0 b0", "", false),
            ("a>b b. c", 'c', "a0", "", false),
            ("a.", 'a', "", "", false),
            ("a>b b.", 'b', "a0", "", false),
            ("a>bc b>d c>d d>ef e f>?", 'e', "", "", false),
            // The goal cannot be reached.
            ("a>b b c", 'c', "", "", false),
            ("a b", 'b', "", "", false),
        ];
        for (text, goal, first, last, is_all) in table {
            let goal = usize::from(u8::try_from(goal).unwrap() - b'a');
            let found = certain(&graph(text), goal);
            let told = (shown(&found.first), shown(&found.last), found.is_all);
            assert_eq!(told, (first.to_owned(), last.to_owned(), is_all), "{text}");
        }
    }
}
