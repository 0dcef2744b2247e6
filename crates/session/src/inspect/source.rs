//! Source lines around a frame, and the main function.

use crate::session::Session;
use juror_points::breakpoints::Resolvable;
use juror_program::stack::frames::Frame;
use juror_symbols::Function;
use juror_view::SourceView;
use std::path::{Path, PathBuf};

pub(crate) fn source_of(session: &mut Session, frame: &Frame, count: u32) -> Option<SourceView> {
    let (file, line, _) = line_of(session, frame)?;
    text_around(session, frame, &file, line, count)
}

/// Returns the lines around a frame's line.
pub(crate) fn text_around(
    session: &mut Session,
    frame: &Frame,
    file: &Path,
    line: u32,
    count: u32,
) -> Option<SourceView> {
    let module = frame.module.as_ref();
    let checksum = module.and_then(|module| {
        let address = module.to_file(frame.lookup);
        module.symbols.source_checksum(file, address)
    });
    session.user.sources.expect(file, checksum);
    let built = module.and_then(|module| module.built);
    session.user.sources.around(file, line, count, built)
}

/// Returns the line of a frame, and whether it is only the preceding line of compiler-generated
/// code.
pub(crate) fn line_of(session: &Session, frame: &Frame) -> Option<(PathBuf, u32, bool)> {
    if let (Some(file), Some(line)) = (&frame.file, frame.line) {
        return Some((file.clone(), line, false));
    }
    let near = session
        .processes
        .program
        .as_ref()?
        .describe(frame.lookup)
        .near;
    near.map(|(file, line)| (file, line, true))
}

/// Returns the beginning of the user's program: the body of `main`, or in a Rust program the
/// function that the compiler's `main` calls.
pub(crate) fn main_function(session: &Session) -> Resolvable {
    let modules = session.modules();
    let plain = Resolvable::Function("main".to_owned());
    let Some(main) = modules.main() else {
        return plain;
    };
    let symbols = &main.symbols;
    let of_rust = |name: &str| name.ends_with("::main") && name.matches("::").count() == 1;
    let functions = symbols.functions_named("main");
    let has_source = |function: &Function| {
        let declared = symbols.file_declaring(function);
        declared.is_some() || symbols.line_at(function.low_pc).is_some()
    };
    if functions
        .iter()
        .any(|function| &*function.name == "main" && has_source(function))
    {
        return plain;
    }
    let rust = functions
        .iter()
        .find(|function| of_rust(&function.name) && has_source(function));
    rust.map_or(plain, |function| {
        Resolvable::Function(function.name.to_string())
    })
}

/// Returns the file and line of the beginning of the user's program.
pub(crate) fn main_line(session: &Session) -> Option<(PathBuf, u32)> {
    let modules = session.modules();
    let Resolvable::Function(name) = main_function(session) else {
        return None;
    };
    // Its first line: the code after it may be inlined from elsewhere.
    let bound = modules.definitions(&name, |module| module.is_main);
    let described = modules.describe(bound.first()?.address());
    described.file.zip(described.line)
}

/// Returns the file of the beginning of the user's program. It is found without the rows of the
/// line table, which may be that of a large unit.
pub(crate) fn main_file(session: &Session) -> Option<PathBuf> {
    let modules = session.modules();
    let Resolvable::Function(name) = main_function(session) else {
        return None;
    };
    let bound = modules.definitions(&name, |module| module.is_main);
    let bound = bound.first()?;
    let declared = bound.module.symbols.file_declaring(&bound.function);
    declared.or_else(|| modules.describe(bound.address()).file)
}
