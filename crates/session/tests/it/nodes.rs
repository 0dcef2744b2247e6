//! Values as trees, as front ends ask for them.

mod corpora;
mod questions;

use juror_session::{Options, Session};
use juror_view::nodes::{Node, NodeId, PartFilter};
use juror_view::observer::SilentObserver;
use std::path::PathBuf;

/// The most parts that a test asks for at once.
const PAGE: u64 = 300;

/// A session whose program is stopped.
struct Stopped {
    session: Session,
}

impl Stopped {
    /// Runs a program to a place.
    #[track_caller]
    fn at(program: PathBuf, place: &str) -> Stopped {
        let options = Options {
            program,
            stdin: Some("/dev/null".into()),
            ..Options::default()
        };
        let session = Session::start(options, &mut SilentObserver).expect("it starts");
        let mut stopped = Stopped { session };
        stopped.command(&format!("break {place}"));
        stopped.command("run");
        stopped
    }

    #[track_caller]
    fn command(&mut self, line: &str) -> juror_view::Outcome {
        let outcome = self.session.execute(line, &mut SilentObserver);
        outcome.unwrap_or_else(|error| panic!("{line}: {error}"))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.session.execute("kill", &mut SilentObserver);
    }
}

/// The first parts of a value.
#[track_caller]
fn parts_of(session: &mut Session, node: &Node) -> Vec<Node> {
    if node.id == NodeId(0) {
        return Vec::new();
    }
    let parts = session.part_nodes(node.id, PartFilter::All, 0, PAGE);
    parts.unwrap_or_else(|error| panic!("{node:?}: {error}"))
}

/// The same nodes, whatever their numbers.
fn without_ids(nodes: &[Node]) -> Vec<Node> {
    let nodes = nodes.iter().cloned();
    nodes
        .map(|node| Node {
            id: NodeId(u64::from(node.id.0 > 0)),
            ..node
        })
        .collect()
}
