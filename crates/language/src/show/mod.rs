//! Pictures of a property: its states and what leads from one to another, as
//! text, DOT, Mermaid and SVG.
//!
//! A [`Graph`] is made from a property and drawn by one of the printers. Each
//! state and each transition has a name of its own (`state-0`, `edge-3`) that
//! is the same in all of them and from run to run, so that a page can mark the
//! state that a monitor is in. After the view of the running property in Jakse,
//! Falcone and Méhaut, *Interactive Runtime Verification* (2019), section 9.
//!
//! Invariant: whatever stands in a property, the output is well formed: all
//! text is escaped for where it goes.

mod condition;
mod dot;
mod graph;
mod layout;
mod logic;
mod mermaid;
mod svg;
mod text;
mod timed;

pub use dot::dot;
pub use graph::{Edge, Graph, Node, Sort};
pub use logic::{Map, demand, undrawn};
pub use mermaid::mermaid;
pub use svg::svg;
pub use text::text;

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// For a terminal.
    Text,
    /// For Graphviz.
    Dot,
    /// A picture of its own.
    Svg,
    /// For Markdown pages.
    Mermaid,
}

/// Draws a graph.
pub fn show(graph: &Graph, form: Form) -> String {
    match form {
        Form::Text => text(graph),
        Form::Dot => dot(graph),
        Form::Svg => svg(graph),
        Form::Mermaid => mermaid(graph),
    }
}

#[cfg(test)]
mod tests;
