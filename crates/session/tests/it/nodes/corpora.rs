//! Over the programs of the tests of values: the parts of each value, whole and paged, agree with
//! what is printed of it, and the expression of each gives it.

use super::{PAGE, Stopped, parts_of, without_ids};
use juror_session::Radix;
use juror_testing::{Fixture, repository_directory};
use juror_view::nodes::{Group, Node, NodeKind, PartFilter};
use std::collections::BTreeSet;

/// The depth to which values are looked into, and the most values.
const DEPTH_MAX: usize = 5;
const NODES_MAX: usize = 1_500;
/// The most elements that a text shows.
const SHOWN_MAX: usize = 200;

/// The checks of a walk.
#[derive(Debug, Default)]
struct Checked {
    /// Whether the notation is that of Rust.
    is_rust: bool,
    nodes: usize,
    joined: usize,
    evaluated: usize,
    /// Values without an expression.
    nameless: BTreeSet<String>,
    wrong: Vec<String>,
}

/// Walks through the values of a program where it stops. At least `joined` of them have parts that
/// are joined, and `evaluated` have an expression.
#[track_caller]
fn check(
    file: &str,
    arguments: &[&str],
    place: &str,
    levels: usize,
    [joined, evaluated]: [usize; 2],
) {
    let path = repository_directory()
        .join("crates/cli/tests/programs")
        .join(file);
    let source = std::fs::read_to_string(path).expect("the program is there");
    let stem = file.split('.').next().expect("a name");
    let fixture = Fixture::files(stem, &[(file, &source)]);
    let fixture = arguments.iter().fold(fixture, |it, word| it.argument(word));
    let mut stopped = Stopped::at(fixture.compile_plain(), place);
    let mut checked = Checked {
        is_rust: file.ends_with(".rs"),
        ..Checked::default()
    };
    for level in 0..levels {
        let registers = (file == "values.c").then_some(Group::Registers);
        let groups = [Group::Arguments, Group::Locals, Group::Statics];
        for group in groups.into_iter().chain(registers) {
            let roots = stopped.session.scope_nodes(1, level, group);
            walk(&mut stopped, level, roots.expect("a frame"), &mut checked);
        }
    }
    println!(
        "{file}: {} values, {} joined, {} evaluated, without expression: {:?}",
        checked.nodes, checked.joined, checked.evaluated, checked.nameless
    );
    assert!(
        checked.wrong.is_empty(),
        "{file}:\n{}",
        checked.wrong.join("\n")
    );
    assert!(
        checked.joined >= joined && checked.evaluated >= evaluated,
        "{file}: {checked:?}"
    );
}

fn walk(stopped: &mut Stopped, level: usize, roots: Vec<Node>, checked: &mut Checked) {
    let roots = roots.into_iter().rev();
    let mut waiting: Vec<(Node, String, usize)> = roots
        .map(|node| (node.clone(), node.name, DEPTH_MAX))
        .collect();
    let most = checked.nodes + NODES_MAX;
    while let Some((node, path, depth)) = waiting.pop() {
        checked.nodes += 1;
        if checked.nodes > most {
            return;
        }
        check_expression(stopped, level, &node, &path, checked);
        assert_eq!(
            node.id.0 == 0,
            node.named + node.indexed == 0,
            "{path}: {node:?}"
        );
        assert_eq!(
            node.kind == NodeKind::Error,
            is_reason(&node),
            "{path}: {node:?}"
        );
        if node.id.0 == 0 {
            continue;
        }
        let parts = check_pages(stopped, &node, &path);
        check_joined(stopped, &node, &parts, &path, checked);
        if depth > 0 {
            let parts = parts.into_iter().take(40).rev();
            waiting.extend(parts.map(|part| {
                let path = format!("{path} / {}", part.name);
                (part, path, depth - 1)
            }));
        }
    }
}

fn is_reason(node: &Node) -> bool {
    node.summary.starts_with('<') && node.summary.ends_with('>')
}

/// Checks that the expression of a value gives a value that is shown alike.
fn check_expression(
    stopped: &mut Stopped,
    level: usize,
    node: &Node,
    path: &str,
    checked: &mut Checked,
) {
    let Some(expression) = &node.evaluate_name else {
        if node.kind != NodeKind::Group && node.kind != NodeKind::Error {
            checked.nameless.insert(path.to_owned());
        }
        return;
    };
    let is_hexadecimal = node.kind == NodeKind::Register && node.summary.starts_with("0x");
    let radix = is_hexadecimal.then_some(Radix::Hexadecimal);
    let radix = radix.filter(|_| node.type_name.as_deref() == Some("long"));
    let found = stopped
        .session
        .evaluate_node(1, level, expression, radix, false);
    checked.evaluated += 1;
    match found {
        Ok(found) if found.summary == node.summary && found.address == node.address => {}
        // The reason says why the expression has no value.
        Err(_) if node.kind == NodeKind::Error => {}
        found => checked
            .wrong
            .push(format!("{path}: `{expression}`: {node:?} {found:?}")),
    }
}

/// Returns the parts of a value, which are as many as it says, and the same by pages.
fn check_pages(stopped: &mut Stopped, node: &Node, path: &str) -> Vec<Node> {
    let whole = parts_of(&mut stopped.session, node);
    let counted = (node.named + node.indexed) as usize;
    assert_eq!(whole.len(), counted.min(PAGE as usize), "{path}: {node:?}");
    let page = (whole.len() as u64 / 4).max(3);
    let mut paged = Vec::new();
    let mut filtered = Vec::new();
    while paged.len() < whole.len() {
        let start = paged.len() as u64;
        let ask = |stopped: &mut Stopped, filter| {
            let found = stopped.session.part_nodes(node.id, filter, start, page);
            found.expect("the value is of this stop")
        };
        let found = ask(stopped, PartFilter::All);
        assert!(!found.is_empty(), "{path}: no part {start} of {node:?}");
        paged.extend(found);
        filtered.extend(ask(stopped, PartFilter::Named));
        filtered.extend(ask(stopped, PartFilter::Indexed));
    }
    paged.truncate(whole.len());
    filtered.truncate(whole.len());
    assert_eq!(without_ids(&whole), without_ids(&paged), "{path}");
    assert_eq!(without_ids(&whole), without_ids(&filtered), "{path}");
    whole
}

/// Checks that the parts of a value, joined in the notation of its language, are its text, or
/// begin with it as far as it is shown.
fn check_joined(
    stopped: &mut Stopped,
    node: &Node,
    parts: &[Node],
    path: &str,
    checked: &mut Checked,
) {
    let is_text = node.summary.ends_with('"') || node.summary.starts_with("0x");
    let is_closure = |it: &Node| it.summary.contains("{closure");
    let is_cut = parts.iter().any(|part| part.summary.contains("..."));
    let is_closure = is_closure(node) || parts.iter().any(is_closure);
    if node.kind == NodeKind::Group || is_text || is_cut || is_closure {
        return;
    }
    checked.joined += 1;
    let shown = node.summary.as_str();
    let mut joiner = Joiner {
        stopped,
        is_rust: checked.is_rust,
        virtual_bases: BTreeSet::new(),
    };
    let agrees = match shown.split_once("...") {
        Some((start, _)) => {
            let shown_parts = &parts[..parts.len().min(SHOWN_MAX)];
            joiner.join(shown, shown_parts).starts_with(start)
        }
        None => joiner.join(shown, parts) == shown,
    };
    if !agrees {
        let joined = joiner.join(shown, parts);
        let words = format!("{path}: {shown}\n    joined: {joined}");
        checked.wrong.push(words);
    }
}

/// Joins the parts of a value.
struct Joiner<'a> {
    stopped: &'a mut Stopped,
    is_rust: bool,
    /// The virtual base classes of the object that have been written.
    virtual_bases: BTreeSet<String>,
}

impl Joiner<'_> {
    /// Joins parts as the beginning of the whole text says.
    fn join(&mut self, shown: &str, parts: &[Node]) -> String {
        // Of a pointer the address is printed, of a text its characters.
        if shown.starts_with("0x") || shown.ends_with('"') {
            return shown.to_owned();
        }
        if let Some((before, rest)) = object_behind(shown) {
            return format!("{before}{}", self.join(rest, parts));
        }
        if let [part] = parts
            && part.summary == shown
        {
            return shown.to_owned();
        }
        let opening = shown.find(['{', '(', '[']).unwrap_or(0);
        let (head, rest) = shown.split_at(opening);
        let open = rest.chars().next().unwrap_or('{');
        let close = match open {
            '(' => ')',
            '[' => ']',
            _ => '}',
        };
        let first_key = parts.first().and_then(key_of);
        let is_map = first_key.is_some_and(|key| shown.starts_with(&format!("{{{key}: ")));
        let mut items = Vec::with_capacity(parts.len());
        for part in parts {
            match key_of(part) {
                Some(key) if is_map => items.push(format!("{key}: {}", part.summary)),
                Some(_) => items.push(part.summary.clone()),
                None => items.extend(self.member(shown, open, part)),
            }
        }
        format!("{head}{open}{}{close}", folded(&items).join(", "))
    }

    /// Returns a member or base class as it is written; nothing if it has been written.
    fn member(&mut self, shown: &str, open: char, part: &Node) -> Option<String> {
        let value = &part.summary;
        Some(match part.kind {
            NodeKind::Base | NodeKind::Virtual => {
                if part.kind == NodeKind::Virtual && !self.virtual_bases.insert(part.name.clone()) {
                    return None;
                }
                let inner = parts_of(&mut self.stopped.session, part);
                let value = if inner.is_empty() {
                    value.clone()
                } else {
                    self.join(value, &inner)
                };
                format!("<{}> = {value}", part.name)
            }
            // The place of the base class is not known.
            NodeKind::Error if shown.contains(&format!("<{}> = ", part.name)) => {
                format!("<{}> = {value}", part.name)
            }
            _ if open == '(' || part.name.starts_with('(') => value.clone(),
            _ if self.is_rust => format!("{}: {value}", part.name),
            _ => format!("{} = {value}", part.name),
        })
    }
}

/// Returns the text in the brackets of a name.
fn key_of(part: &Node) -> Option<&str> {
    let rest = part.name.strip_prefix('[')?;
    rest.strip_suffix(']')
}

/// Splits the text of an object behind its class or its address.
fn object_behind(shown: &str) -> Option<(&str, &str)> {
    if shown.starts_with("@0x") {
        let end = shown.find(": ")? + 2;
        return shown.split_at_checked(end);
    }
    let end = shown.find(") {")? + 2;
    let is_class = shown.starts_with('(') && !shown.get(..end)?.contains(',');
    is_class.then(|| shown.split_at_checked(end)).flatten()
}

/// Ten or more equal items are one.
fn folded(items: &[String]) -> Vec<String> {
    let runs = items.chunk_by(|a, b| a == b);
    runs.flat_map(|run| match run.len() {
        10.. => vec![format!("{} <repeats {} times>", run[0], run.len())],
        _ => run.to_vec(),
    })
    .collect()
}

#[test]
fn parts_of_containers_of_cpp_are_what_is_printed() {
    check("views.cpp", &["-std=c++17"], "look", 2, [6, 21]);
    check("wrappers.cpp", &["-std=c++17"], "look", 2, [6, 21]);
}

#[test]
fn parts_of_containers_of_rust_are_what_is_printed() {
    check("library.rs", &[], "look", 2, [6, 21]);
    check("wrappers.rs", &[], "look", 2, [6, 21]);
}

#[test]
fn parts_of_objects_are_what_is_printed() {
    check("virtual_bases.cpp", &[], "look", 2, [6, 21]);
    check("expressions.cpp", &[], "use", 2, [6, 21]);
    check(
        "member_pointers.cpp",
        &[],
        "member_pointers.cpp:84",
        1,
        [6, 21],
    );
}

#[test]
fn parts_of_plain_values_are_what_is_printed() {
    check("wide.c", &["-lm"], "look", 2, [1, 21]);
    check("values.c", &[], "look", 2, [6, 21]);
    check("aggregates.rs", &[], "shown", 2, [6, 21]);
    check("alternatives.rs", &[], "alternatives.rs:29", 1, [3, 9]);
}
