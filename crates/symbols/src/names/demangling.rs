//! Demangled names, and the suffixes of clones.

use std::fmt;

/// The maximum length of a readable name in bytes. Mangled names refer back to their parts,
/// so a few hundred bytes may expand beyond any memory.
const READABLE_LENGTH_MAX: usize = 64 << 10;

/// Demangles a C++ or Rust name, without parameters; `None` for a name that is not mangled
/// or is too long when readable.
pub fn demangle(raw: &str) -> Option<String> {
    let (mangled, clone) = split_clone(raw);
    // `.llvm.` suffixes only make a name unique; they mean nothing to users.
    let clone = clone.filter(|clone| !clone.starts_with(".llvm."));
    if let Ok(name) = rustc_demangle::try_demangle(mangled) {
        return Some(format!("{name:#}{}", clone.unwrap_or("")));
    }
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    let name = demangle_cpp(mangled, &options)?;
    Some(format!("{name}{}", clone.unwrap_or("")))
}

/// Demangles a C++ name with its parameters.
pub(crate) fn demangle_whole(raw: &str) -> Option<String> {
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    demangle_cpp(split_clone(raw).0, &options)
}

fn demangle_cpp(mangled: &str, options: &cpp_demangle::DemangleOptions) -> Option<String> {
    if !mangled.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(mangled).ok()?;
    let mut name = Bounded(String::new());
    symbol.structured_demangle(&mut name, options).ok()?;
    Some(name.0)
}

/// A string that refuses to grow beyond [`READABLE_LENGTH_MAX`].
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > READABLE_LENGTH_MAX - self.0.len() {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Splits off the suffix that gcc and LLVM append to clones: `foo.constprop.0` into `foo`
/// and `.constprop.0`.
pub(crate) fn split_clone(name: &str) -> (&str, Option<&str>) {
    let search_from = end_of_rust_hash(name).unwrap_or(0);
    let dot = name.get(search_from..).and_then(|rest| rest.find('.'));
    match dot.map(|at| at + search_from) {
        Some(at) if at > 0 => {
            let (base, suffix) = name.split_at(at);
            (base, Some(suffix))
        }
        _ => (name, None),
    }
}

/// Returns the end of the hash of a legacy Rust mangled name, whose identifiers may contain
/// dots (`_ZN…$LT$a..b$GT$…17h0123456789abcdefE`).
pub(crate) fn end_of_rust_hash(name: &str) -> Option<usize> {
    const MARK: &str = "17h";
    const LENGTH: usize = MARK.len() + 16;
    if !name.starts_with("_ZN") {
        return None;
    }
    let at = name.rfind(MARK)?;
    let hash = name.get(at + MARK.len()..at + LENGTH)?;
    let closed = name.get(at + LENGTH..)?.starts_with('E');
    (closed && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(at + LENGTH + 1)
}

/// The kind of code that a clone suffix denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloneKind {
    /// A specialised clone of the whole function (`.constprop`, `.isra`, `.llvm`).
    Instance,
    /// An outlined part that other code calls (`.part`).
    Part,
    /// A cold part, entered by jumps (`.cold`).
    Fragment,
}

pub(crate) fn clone_kind(suffix: &str) -> CloneKind {
    let mut words = suffix.split('.');
    if words.clone().any(|word| word == "cold") {
        CloneKind::Fragment
    } else if words.any(|word| word == "part") {
        CloneKind::Part
    } else {
        CloneKind::Instance
    }
}
