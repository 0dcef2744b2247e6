//! The pretty-printers of a program: the user's, then those of the standard libraries.

use super::parse::{self, PrettyPrinterError};
use super::pattern::{self, Pattern};
use super::rule::{PrettyPrinter, Shape};
use juror_symbols::{Type, TypeKind};
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

/// Finds the types of the program by the path of their names.
pub type FindTypes<'a> = &'a dyn Fn(&str) -> Vec<Type>;

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
        // The rules of the user may have the names that the program gives to the type.
        let others = match self.own.as_slice() {
            [] => Vec::new(),
            _ => other_names(r#type, &name),
        };
        let fits = |printer: &PrettyPrinter, name: &str, head: &str| {
            printer.patterns.iter().any(|one| one.fits(name, head))
        };
        let own: Vec<&Arc<PrettyPrinter>> = self
            .own
            .iter()
            .filter(|printer| {
                let mut others = others.iter();
                let mut paths = printer.patterns.iter().filter_map(Pattern::path);
                fits(printer, &name, &head)
                    || others.any(|name| fits(printer, name, &pattern::head(name)))
                    || paths.any(|path| path.contains("::") && r#type.is_called(path))
            })
            .collect();
        let standard = standard.into_iter().flatten();
        let standard = standard.filter(move |printer| fits(printer, &name, &head));
        own.into_iter().chain(standard)
    }

    /// Returns what is wrong with the rules of a file: rules that can show nothing. `types` finds
    /// the types of the program by the paths of their names; `None` without a program.
    pub fn remarks(source: &str, types: Option<FindTypes<'_>>) -> Vec<String> {
        let read = parse::parse("", source).unwrap_or_default();
        let mut remarks = Vec::new();
        let mut is_any = read.is_empty() || types.is_none();
        for printer in &read {
            let line = printer.line;
            if let Some(why) = printer.shape.refused(&printer.body) {
                remarks.push(format!("line {line}: {why}"));
            }
            let paths = printer.patterns.iter().map(Pattern::path);
            let mut missing = Vec::new();
            for path in paths {
                let found = path.map(|path| types.map_or(Vec::new(), |types| types(path)));
                // Wildcards are for any type.
                is_any |= found.as_ref().is_none_or(|found| !found.is_empty());
                for of in found.into_iter().flatten() {
                    missing.push((printer.missing_field(&of), of));
                }
            }
            if let Some((Some(field), of)) = missing.first()
                && missing.iter().all(|(field, _)| field.is_some())
            {
                remarks.push(format!(
                    "line {line}: `{}` has no field `{field}`, so the rule does not fit it",
                    of.strip().name()
                ));
            }
        }
        if !is_any {
            remarks.push("the program has no type with a name of these rules".to_owned());
        }
        remarks
    }

    /// Returns whether all views of a type show it by its elements or parts, so that it is never a
    /// single value.
    pub fn is_collection(&self, r#type: &Type) -> bool {
        let mut printers = self.of(r#type).peekable();
        printers.peek().is_some() && printers.all(|printer| printer.shape != Shape::Value)
    }
}

/// The most names of one type.
const NAMES_MAX: usize = 16;

/// Returns the further names of a type: those of its typedefs, and in C its name without the
/// keyword.
fn other_names(r#type: &Type, own: &str) -> Vec<String> {
    let keyword = ["struct ", "union ", "enum "]
        .iter()
        .find_map(|word| own.strip_prefix(word));
    let mut names: Vec<String> = keyword.map(str::to_owned).into_iter().collect();
    let mut at = r#type.clone();
    for _ in 0..NAMES_MAX {
        at = match at.kind() {
            TypeKind::Typedef(inner) => {
                names.push(at.name());
                inner
            }
            TypeKind::Const(inner) | TypeKind::Volatile(inner) | TypeKind::Qualified(inner) => {
                inner
            }
            _ => break,
        };
    }
    names
}
