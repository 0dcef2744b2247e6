//! The views of a program: those of the standard libraries, and before them the user's.

use super::parse::{self, PrettyPrinterError};
use super::pattern;
use super::rule::{PrettyPrinter, Shape};
use juror_symbols::Type;
use std::sync::{Arc, LazyLock};

pub(super) const SOURCES: [(&str, &str); 3] = [
    ("cpp.views", include_str!("cpp.views")),
    ("libcxx.views", include_str!("libcxx.views")),
    ("rust.views", include_str!("rust.views")),
];

/// The standard libraries' printers, read when the first value is shown: many runs show none.
static STANDARD: LazyLock<Vec<Arc<PrettyPrinter>>> = LazyLock::new(|| {
    let mut printers = PrettyPrinters::default();
    for (file, source) in SOURCES {
        // A test holds that all of them can be read.
        let _ = printers.add(file, source);
    }
    printers.own
});

static ONLY_STANDARD: PrettyPrinters = PrettyPrinters {
    own: Vec::new(),
    has_standard: true,
};

/// Rules by type name; of several that fit the first that can be evaluated
/// counts.
#[derive(Debug, Clone, Default)]
pub struct PrettyPrinters {
    /// The printers that were added.
    own: Vec<Arc<PrettyPrinter>>,
    /// Whether the standard libraries' printers follow.
    has_standard: bool,
}

impl PrettyPrinters {
    /// Those of the standard libraries of C++ and Rust.
    pub fn standard() -> &'static PrettyPrinters {
        &ONLY_STANDARD
    }

    /// Adds the views of a source before all others: they are asked first, in
    /// their order.
    ///
    /// # Errors
    /// The first line that could not be read; nothing is added then.
    pub fn add(&mut self, file: &str, source: &str) -> Result<usize, PrettyPrinterError> {
        let read = parse::parse(file, source)?;
        let count = read.len();
        self.own.splice(0..0, read.into_iter().map(Arc::new));
        Ok(count)
    }

    /// The views that fit a type, best first.
    pub(crate) fn of(&self, r#type: &Type) -> impl Iterator<Item = &Arc<PrettyPrinter>> {
        let name = r#type.strip().name();
        let head = pattern::head(&name);
        let standard = self.has_standard.then(|| STANDARD.iter());
        let all = self.own.iter().chain(standard.into_iter().flatten());
        all.filter(move |printer| printer.patterns.iter().any(|one| one.fits(&name, &head)))
    }

    /// Whether values of a type are shown by their elements or parts alone: no text, and
    /// nothing in their place, so they are never one value.
    pub fn is_collection(&self, r#type: &Type) -> bool {
        let mut printers = self.of(r#type).peekable();
        printers.peek().is_some() && printers.all(|printer| printer.shape != Shape::Value)
    }
}
