//! The views of a program: those of the standard libraries, and before them the user's.

use super::parse::{self, ViewError};
use super::pattern;
use super::rule::{Shape, View};
use juror_symbols::Type;
use std::sync::{Arc, LazyLock};

pub(super) const SOURCES: [(&str, &str); 3] = [
    ("cpp.views", include_str!("cpp.views")),
    ("libcxx.views", include_str!("libcxx.views")),
    ("rust.views", include_str!("rust.views")),
];

static STANDARD: LazyLock<Views> = LazyLock::new(|| {
    let mut views = Views::default();
    for (file, source) in SOURCES {
        // A test holds that all of them can be read.
        let _ = views.add(file, source);
    }
    views
});

/// Rules by type name; of several that fit the first that can be evaluated
/// counts.
#[derive(Debug, Clone, Default)]
pub struct Views {
    views: Vec<Arc<View>>,
}

impl Views {
    /// Those of the standard libraries of C++ and Rust.
    pub fn standard() -> &'static Views {
        &STANDARD
    }

    /// Adds the views of a source before all others: they are asked first, in
    /// their order.
    ///
    /// # Errors
    /// The first line that could not be read; nothing is added then.
    pub fn add(&mut self, file: &str, source: &str) -> Result<usize, ViewError> {
        let read = parse::parse(file, source)?;
        let count = read.len();
        self.views.splice(0..0, read.into_iter().map(Arc::new));
        Ok(count)
    }

    /// The views that fit a type, best first.
    pub(crate) fn of(&self, r#type: &Type) -> impl Iterator<Item = &Arc<View>> {
        let name = r#type.strip().name();
        let head = pattern::head(&name);
        self.views
            .iter()
            .filter(move |view| view.patterns.iter().any(|one| one.fits(&name, &head)))
    }

    /// Whether values of a type are shown by their elements or parts alone: no text, and
    /// nothing in their place, so they are never one value.
    pub fn is_collection(&self, r#type: &Type) -> bool {
        let mut views = self.of(r#type).peekable();
        views.peek().is_some() && views.all(|view| view.shape != Shape::Value)
    }
}
