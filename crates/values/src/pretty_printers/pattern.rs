//! Matches the names of types with the patterns of views.
//!
//! A pattern is the path of a template with names for its arguments (`std::map<K, V>`), or the
//! complete name of a type with `*` as a wildcard (`&[*]`). Inline namespaces of library versions
//! (`std::__cxx11::`, `std::__1::`) are ignored on both sides.

/// A pattern of type names.
#[derive(Debug)]
pub(crate) struct Pattern {
    kind: Kind,
    /// The names of the template's arguments, in order.
    pub arguments: Vec<Box<str>>,
}

#[derive(Debug)]
enum Kind {
    /// The path before the arguments.
    Head(Box<str>),
    /// The text around each `*`.
    Whole(Vec<Box<str>>),
}

impl Pattern {
    /// Parses a pattern. Returns `None` if the text is not a pattern.
    pub(crate) fn parse(text: &str) -> Option<Pattern> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        if text.contains('*') {
            return Some(Pattern {
                kind: Kind::Whole(text.split('*').map(Box::from).collect()),
                arguments: Vec::new(),
            });
        }
        let (head, arguments) = match text.split_once('<') {
            Some((head, rest)) => (head, rest.strip_suffix('>')?),
            None => (text, ""),
        };
        let arguments = arguments.split(',').map(str::trim);
        let arguments = arguments.filter(|name| !name.is_empty());
        Some(Pattern {
            kind: Kind::Head(head.trim().into()),
            arguments: arguments.map(Box::from).collect(),
        })
    }

    /// Returns the path of the types, or `None` for a wildcard.
    pub(crate) fn path(&self) -> Option<&str> {
        match &self.kind {
            Kind::Head(path) => Some(path),
            Kind::Whole(_) => None,
        }
    }

    /// Returns whether a type with this name and this head matches.
    pub(crate) fn fits(&self, name: &str, head: &str) -> bool {
        match &self.kind {
            Kind::Head(wanted) => **wanted == *head,
            Kind::Whole(parts) => {
                let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
                    return false;
                };
                let Some(mut rest) = name.strip_prefix(&**first) else {
                    return false;
                };
                let middle = parts.get(1..parts.len().saturating_sub(1));
                for part in middle.unwrap_or(&[]) {
                    let Some(at) = rest.find(&**part) else {
                        return false;
                    };
                    rest = rest.get(at + part.len()..).unwrap_or("");
                }
                rest.ends_with(&**last)
            }
        }
    }
}

/// Returns the path of a name before its template arguments, without inline namespaces of library
/// versions.
pub(crate) fn head(name: &str) -> String {
    let path = name.split('<').next().unwrap_or(name);
    let words = path.split("::").filter(|word| !is_version(word));
    words.collect::<Vec<_>>().join("::")
}

/// Returns whether a component names a library version: `__cxx11`, `__1`, `_V2`.
fn is_version(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    word.strip_prefix("__cxx").is_some_and(digits)
        || word.strip_prefix("__").is_some_and(digits)
        || word.strip_prefix("_V").is_some_and(digits)
        || word == "__ndk1"
}
