//! The pretty-printers of a program: the user's, then those of the standard libraries.

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

/// The pretty-printers of the standard libraries, parsed when the first value is shown.
static STANDARD: LazyLock<Vec<Arc<PrettyPrinter>>> = LazyLock::new(|| {
    let mut printers = PrettyPrinters::default();
    for (file, source) in SOURCES {
        // A test asserts that all of them can be parsed.
        let _ = printers.add(file, source);
    }
    printers.own
});

static ONLY_STANDARD: PrettyPrinters = PrettyPrinters {
    own: Vec::new(),
    has_standard: true,
};

/// Pretty-printers by type name. The first one that matches and can be evaluated is used.
#[derive(Debug, Clone, Default)]
pub struct PrettyPrinters {
    /// The printers that were added.
    own: Vec<Arc<PrettyPrinter>>,
    /// Whether the standard libraries' printers follow.
    has_standard: bool,
}

impl PrettyPrinters {
    /// Returns the pretty-printers of the standard libraries of C++ and Rust.
    pub fn standard() -> &'static PrettyPrinters {
        &ONLY_STANDARD
    }

    /// Adds the views of a file before all others, in their order. Returns their number.
    ///
    /// # Errors
    /// The first line with a syntax error; no view is added then.
    pub fn add(&mut self, file: &str, source: &str) -> Result<usize, PrettyPrinterError> {
        let read = parse::parse(file, source)?;
        let count = read.len();
        self.own.splice(0..0, read.into_iter().map(Arc::new));
        Ok(count)
    }

    /// Returns the views that match a type, best first.
    pub(crate) fn of(&self, r#type: &Type) -> impl Iterator<Item = &Arc<PrettyPrinter>> {
        let name = r#type.strip().name();
        let head = pattern::head(&name);
        let standard = self.has_standard.then(|| STANDARD.iter());
        let all = self.own.iter().chain(standard.into_iter().flatten());
        all.filter(move |printer| printer.patterns.iter().any(|one| one.fits(&name, &head)))
    }

    /// Returns whether all views of a type show it by its elements or parts, so that it is never a
    /// single value.
    pub fn is_collection(&self, r#type: &Type) -> bool {
        let mut printers = self.of(r#type).peekable();
        printers.peek().is_some() && printers.all(|printer| printer.shape != Shape::Value)
    }
}
