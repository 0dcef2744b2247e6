//! The tokens of source lines that are shown in colours: C, C++ and Rust.
//!
//! [`Lexer`] takes a file line by line and keeps what a line has left open: a block comment, a
//! string, an attribute. [`Highlighter`] gives the tokens of any lines of a file, and reads the
//! lines before them once.
//!
//! **Invariant**: the spans of a line are in order, do not overlap, are not empty, and begin and
//! end between characters of the line. No input causes a panic, and the time is linear in the
//! length of the lines.
//!
//! It is a lexer only: a name is a type if it looks like one.

#![forbid(unsafe_code)]

mod cursor;
mod highlighter;
mod lexer;
#[cfg(test)]
mod tests;
mod words;

pub use highlighter::Highlighter;
pub use lexer::Lexer;

use std::path::Path;

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
}

impl Language {
    /// Returns the language of a file by its name. A header is read as C++, whose words include
    /// those of C; the headers of the C++ library have no extension.
    pub fn of_file(file: &Path) -> Option<Language> {
        let Some(extension) = file.extension() else {
            let is_library = file.components().any(|it| it.as_os_str() == "c++");
            return is_library.then_some(Language::Cpp);
        };
        match extension.to_str()? {
            "c" => Some(Language::C),
            "rs" => Some(Language::Rust),
            "C" | "H" | "c++" | "cc" | "cp" | "cpp" | "cppm" | "cu" | "cxx" | "h" | "h++"
            | "hh" | "hpp" | "hxx" | "icc" | "inl" | "ipp" | "ixx" | "tcc" | "tpp" => {
                Some(Language::Cpp)
            }
            _ => None,
        }
    }
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A keyword.
    Keyword,
    /// A type of the language, or a name that looks like one.
    Type,
    /// A string or a character, with its quotes and its prefix.
    String,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// The word of a preprocessor directive, or an attribute.
    Directive,
}

impl Kind {
    /// Returns the word for it, for style sheets.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Keyword => "keyword",
            Kind::Type => "type",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Comment => "comment",
            Kind::Directive => "directive",
        }
    }
}

/// A token of a line. What is between two spans is of no kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte in the line.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// Its kind.
    pub kind: Kind,
}

/// Returns the pieces of a line, each with its kind if it has one. Together they are the line,
/// whatever the spans are: one that is not in order or not between characters is left out.
pub fn pieces<'l>(line: &'l str, spans: &[Span]) -> Vec<(Option<Kind>, &'l str)> {
    let mut pieces = Vec::with_capacity(2 * spans.len() + 1);
    let mut done = 0;
    for span in spans {
        let before = line.get(done..span.start);
        let (Some(before), Some(token)) = (before, line.get(span.start..span.end)) else {
            continue;
        };
        if !before.is_empty() {
            pieces.push((None, before));
        }
        pieces.push((Some(span.kind), token));
        done = span.end;
    }
    match line.get(done..) {
        Some(rest) if !rest.is_empty() => pieces.push((None, rest)),
        _ => {}
    }
    pieces
}
