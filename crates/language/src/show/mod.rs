//! Pictures of a property's states and transitions, as text, DOT, Mermaid and SVG.
//!
//! A [`Graph`] is created from a property and written by one of the printers. Each
//! state and each transition has an identifier (`state-0`, `edge-3`) that is the same
//! in all forms and in all runs, so that a page can mark the current state of a
//! monitor. After the view of the running property in Jakse, Falcone and Méhaut,
//! *Interactive Runtime Verification* (2019), section 9.
//!
//! **Invariant:** the output is well formed for every property: all text is escaped for
//! its context.

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
pub use svg::{escaped, svg};
pub use text::text;

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Text for a terminal.
    Text,
    /// DOT, for Graphviz.
    Dot,
    /// An SVG image.
    Svg,
    /// Mermaid, for Markdown pages.
    Mermaid,
}

/// Writes a graph.
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
