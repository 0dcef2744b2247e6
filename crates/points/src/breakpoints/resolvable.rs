//! Location specs in a form that can be resolved again when modules are loaded.

use crate::breakpoints::location::Found;
use crate::location_spec::LocationSpec;
use crate::matching::{functions_that_match, pattern};
use juror_program::modules::{Bound, Module, Modules};
use juror_program::stack::frames::{Frame, level_of_line, usual_level};
use juror_symbols::{Function, InlinedCopy, is_whole_name_of, without_parameters};
use regex::Regex;
use std::path::Path;
use std::rc::Rc;

/// A location spec that can be resolved again when modules are loaded.
#[derive(Debug, Clone)]
pub enum Resolvable {
    /// A line of a file; of several statements on it, that at a column, in bytes.
    Line(String, u32, Option<u32>),
    /// A function.
    Function(String),
    /// A function of a file, or a label of a function.
    FunctionIn(String, String),
    /// The functions whose names match, of one file if it is named.
    Matching(Option<String>, Regex),
    /// An address outside all modules, which is fixed.
    Address(u64),
    /// An address in a module, relative to its load address.
    InModule(Rc<Path>, u64),
}

/// A resolved location spec.
#[derive(Debug, Default)]
pub struct Resolved {
    /// The addresses.
    pub addresses: Vec<u64>,
    /// The addresses of the outlined parts of calls that pass none of `addresses`, each with the
    /// address that other calls pass.
    pub rest_calls: Vec<(u64, u64)>,
    /// The resolved line, if the given one has no code.
    pub moved_to_line: Option<u32>,
}

impl Resolvable {
    /// Creates the location spec of an address, relative to the module that holds it now.
    pub fn at_address(address: u64, modules: &Modules) -> Resolvable {
        let module = modules.find(address);
        // The kernel's module (the vdso) is no file, and stays.
        let is_loaded = |module: &&Rc<Module>| modules.iter().any(|it| Rc::ptr_eq(it, module));
        match module.filter(is_loaded) {
            Some(module) => {
                Resolvable::InModule(module.path.as_path().into(), module.to_file(address))
            }
            None => Resolvable::Address(address),
        }
    }

    /// Resolves the location spec.
    pub fn resolve(&self, modules: &Modules) -> Resolved {
        let line = self.line_taken(modules);
        let found = self.find(modules, line);
        let mut addresses: Vec<u64> = found.iter().map(|it| it.address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let rest_calls = found.iter().flat_map(|it| {
            let bias = it.address.wrapping_sub(it.file_address);
            let calls = it.outlined_part.iter().flat_map(|part| &part.calls);
            calls.map(move |at| (at.wrapping_add(bias), it.address))
        });
        Resolved {
            rest_calls: rest_calls.collect(),
            addresses,
            moved_to_line: line
                .filter(|&line| !matches!(self, Resolvable::Line(_, at, _) if *at == line)),
        }
    }

    /// Returns the first line with code at or after the given one. `None` if this is not a line, or
    /// while no module has the file.
    pub fn line_taken(&self, modules: &Modules) -> Option<u32> {
        let Resolvable::Line(file, line, _) = self else {
            return None;
        };
        let lines = modules
            .iter()
            .flat_map(|module| module.symbols.addresses_of_line(file, *line));
        lines.map(|lines| lines.line).min()
    }

    /// Resolves the location spec in all modules.
    pub fn find_all(&self, modules: &Modules) -> Vec<Found> {
        self.find(modules, self.line_taken(modules))
    }

    /// Resolves the location spec in each module separately, by ascending address; `line` is the
    /// resolved line.
    pub fn find(&self, modules: &Modules, line: Option<u32>) -> Vec<Found> {
        let mut found: Vec<Found> = match self {
            Resolvable::Address(address) => vec![Found {
                module: Path::new("").into(),
                file_address: *address,
                address: *address,
                outlined_part: None,
            }],
            _ => modules
                .iter()
                .flat_map(|module| self.find_in(module, modules, line))
                .collect(),
        };
        found.sort_by_key(|it| it.address);
        found.dedup();
        found
    }

    /// Returns the level of the frame that is at the location when a thread is at this address: 0
    /// is the innermost, the others contain inlined calls. `line` is the resolved line. `None` if
    /// no frame is at the location.
    pub fn level_in(&self, frames: &[Frame], line: Option<u32>) -> Option<usize> {
        let named = |is_named: &dyn Fn(&str, &Frame) -> bool| {
            frames.iter().position(|frame| {
                let name = frame.name.as_deref();
                name.is_some_and(|name| is_named(name, frame))
            })
        };
        match self {
            Resolvable::Address(_) | Resolvable::InModule(..) => None,
            Resolvable::Line(file, asked, _) => level_of_line(frames, file, line.unwrap_or(*asked)),
            Resolvable::Function(asked) | Resolvable::FunctionIn(_, asked) => {
                let asked = without_parameters(asked);
                frames.iter().position(|frame| frame.is_called(asked))
            }
            // Inlined copies are not searched.
            Resolvable::Matching(_, pattern) => {
                named(&|name, frame| !frame.is_inlined() && pattern.is_match(name))
            }
        }
    }

    /// Returns the frame, of those at an address, that contains a statement of the line beginning
    /// there, if the line is no frame's own because other statements begin there too. `line` is the
    /// resolved line.
    pub fn statement_among<'f>(&self, frames: &'f [Frame], line: u32) -> Option<&'f Frame> {
        let Resolvable::Line(file, ..) = self else {
            return None;
        };
        let innermost = frames.first()?;
        let module = innermost.module.as_ref()?;
        let address = module.to_file(innermost.pc);
        let path = module
            .symbols
            .file_of_statement(address, Path::new(file), line)?;
        let line_of = |frame: &Frame| frame.line.filter(|_| frame.file.as_deref() == Some(&*path));
        let of_file = frames
            .iter()
            .filter_map(|frame| Some((line_of(frame)?, frame)));
        // Of nested inlined calls, the frame with the nearest preceding line, or the one whose
        // first line it is, contains the statement.
        let nearest = of_file.min_by_key(|(own, _)| {
            if *own <= line {
                (0, line - own)
            } else {
                (1, own - line)
            }
        });
        nearest.map(|(_, frame)| frame)
    }

    /// Returns the same for one of its addresses, before a thread is there.
    pub fn level_at(&self, modules: &Modules, address: u64, line: Option<u32>) -> usize {
        let frames = modules.frames_at(address);
        let level = self.level_in(&frames, line);
        level.unwrap_or_else(|| usual_level(&frames))
    }

    /// Returns the function that it names.
    pub fn function(&self) -> Option<&str> {
        match self {
            Resolvable::Function(name) | Resolvable::FunctionIn(_, name) => Some(name),
            _ => None,
        }
    }

    /// Resolves the location spec in one module. An indirect function is the implementation that
    /// its resolver selected; before that, the resolver.
    fn find_in(&self, module: &Rc<Module>, modules: &Modules, line: Option<u32>) -> Vec<Found> {
        let is_this = |other: &Module| std::ptr::eq(other, &raw const **module);
        let here = |address: u64| found_in(module, address);
        match self {
            Resolvable::Address(_) => Vec::new(),
            Resolvable::InModule(path, address) => {
                let is_meant = module.path == **path;
                is_meant.then_some(here(*address)).into_iter().collect()
            }
            Resolvable::Function(name) => {
                let definitions = modules.definitions(name, is_this).into_iter();
                let copies = module.symbols.inlined_copies(name).into_iter();
                let copies = copies.filter(|copy| is_whole(name, &copy.name));
                definitions
                    .filter(|bound| is_whole(name, &bound.function.name))
                    .map(|bound| body(bound, modules))
                    .chain(copies.map(|copy| found_copy(module, copy)))
                    .collect()
            }
            Resolvable::FunctionIn(file, name) => {
                let definitions = modules.definitions(name, is_this).into_iter();
                let copies = module.symbols.inlined_copies(name).into_iter();
                let definitions = definitions
                    .filter(|bound| is_in_file(module, bound.function.low_pc, file))
                    .map(|bound| body(bound, modules));
                let copies = copies.filter(|copy| is_in_file(module, copy.entry, file));
                // The part before the colon may be a function, with a label after it.
                let functions = modules.definitions(file, is_this).into_iter();
                let labels = functions.flat_map(|bound| module.symbols.labels(&bound.function));
                let labels = labels.filter(|label| *label.name == **name);
                definitions
                    .chain(copies.map(|copy| found_copy(module, copy)))
                    .chain(labels.map(|label| here(label.address)))
                    .collect()
            }
            Resolvable::Matching(file, pattern) => {
                let is_meant = |function: &Function| {
                    let file = file.as_deref();
                    !function.fragment
                        && function.has_debug_info()
                        && file.is_none_or(|file| is_in_file(module, function.low_pc, file))
                };
                let bound = |function| Bound {
                    module: Rc::clone(module),
                    function,
                };
                let functions = functions_that_match(module, pattern).filter(is_meant);
                functions
                    .map(|function| body(bound(function), modules))
                    .collect()
            }
            Resolvable::Line(file, asked, column) => {
                let at = |column| module.symbols.addresses_of_column(file, *asked, column);
                let found = column.map(at).unwrap_or_default();
                if !found.is_empty() {
                    return found.into_iter().map(here).collect();
                }
                let exactly = |line| -> Vec<u64> {
                    let lines = module.symbols.addresses_of_line(file, line).into_iter();
                    let exact = lines.filter(|lines| lines.exact);
                    exact.flat_map(|lines| lines.addresses).collect()
                };
                let found = exactly(*asked);
                let found = match line.filter(|line| line != asked) {
                    Some(line) if found.is_empty() => exactly(line),
                    _ => found,
                };
                found.into_iter().map(here).collect()
            }
        }
    }
}

/// Returns whether a function is meant by a name as written: with a leading `::` that is the whole
/// name.
fn is_whole(written: &str, name: &str) -> bool {
    let whole = written.strip_prefix("::").map(without_parameters);
    whole.is_none_or(|whole| is_whole_name_of(whole, name))
}

/// Returns the beginning of a function's body; for an indirect function, of the selected
/// implementation.
fn body(bound: Bound, modules: &Modules) -> Found {
    let is_indirect = bound.function.indirect;
    let chosen = is_indirect.then(|| modules.chosen(&bound)).flatten();
    let bound = chosen.unwrap_or(bound);
    let address = bound.module.symbols.body_address(&bound.function);
    found_in(&bound.module, address)
}

/// Returns whether the code at an address comes from a file, given as the end of a path.
fn is_in_file(module: &Module, file_address: u64, file: &str) -> bool {
    let line = module.symbols.line_at(file_address);
    line.is_some_and(|line| module.symbols.is_source(Path::new(file), &line.file))
}

fn found_in(module: &Module, file_address: u64) -> Found {
    Found {
        module: module.path.as_path().into(),
        file_address,
        address: module.to_process(file_address),
        outlined_part: None,
    }
}

fn found_copy(module: &Module, copy: InlinedCopy) -> Found {
    Found {
        outlined_part: copy.outlined_part.map(Rc::new),
        ..found_in(module, copy.entry)
    }
}

/// Makes a written location spec resolvable; `here` is the address of the selected frame, `file`
/// and `line` its source.
pub fn resolvable(
    written: &LocationSpec,
    modules: &Modules,
    here: Option<u64>,
    line: Option<(&Path, u32)>,
    address_of: impl FnOnce(&str) -> Result<u64, String>,
) -> Result<Resolvable, String> {
    let no_line = || "there is no current source file; name one: FILE:LINE".to_owned();
    Ok(match written {
        LocationSpec::Line {
            file: Some(file),
            line,
            column,
        } => Resolvable::Line(file.clone(), *line, *column),
        LocationSpec::Line {
            file: None,
            line: number,
            column,
        } => {
            let (file, _) = line.ok_or_else(no_line)?;
            Resolvable::Line(file.display().to_string(), *number, *column)
        }
        LocationSpec::Offset(offset) => {
            let (file, now) = line.ok_or_else(no_line)?;
            let number = i64::from(now).saturating_add(*offset);
            let number = u32::try_from(number).ok().filter(|&n| n > 0);
            Resolvable::Line(
                file.display().to_string(),
                number.ok_or_else(|| "that line is outside the file".to_owned())?,
                None,
            )
        }
        LocationSpec::Function(name) => Resolvable::Function(name.clone()),
        LocationSpec::FunctionIn { file, name } => {
            Resolvable::FunctionIn(file.clone(), name.clone())
        }
        LocationSpec::Matching {
            file,
            pattern: text,
        } => Resolvable::Matching(file.clone(), pattern(text)?),
        LocationSpec::Address(expression) => {
            Resolvable::at_address(address_of(expression)?, modules)
        }
        LocationSpec::Here => {
            let here = here.ok_or_else(|| "the program is not running".to_owned())?;
            Resolvable::at_address(here, modules)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location_spec::parse;

    /// Makes a text resolvable at line 30 of a.c, or without a current line, and tells what it is.
    fn made(text: &str, has_line: bool) -> Result<String, String> {
        let spec = parse(text).expect("a location spec").place;
        let line = has_line.then(|| (Path::new("a.c"), 30));
        let address_of = |text: &str| match text {
            "0x10" => Ok(0x10),
            other => Err(format!("no `{other}`")),
        };
        let here = has_line.then_some(0x20);
        let made = resolvable(&spec, &Modules::default(), here, line, address_of)?;
        Ok(match made {
            Resolvable::Line(file, line, column) => format!("{file}:{line} {column:?}"),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn a_line_without_a_file_is_one_of_the_current_file() {
        for (text, expected) in [
            ("7", "a.c:7 None"),
            ("b.c:7:3", "b.c:7 Some(3)"),
            ("+3", "a.c:33 None"),
            ("-29", "a.c:1 None"),
            ("*0x10", "Address(16)"),
            ("", "Address(32)"),
        ] {
            assert_eq!(made(text, true).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_location_that_needs_a_current_one_says_so() {
        for (text, has_line, message) in [
            ("7", false, "there is no current source file"),
            ("+3", false, "there is no current source file"),
            ("-30", true, "that line is outside the file"),
            ("-40", true, "that line is outside the file"),
            ("", false, "the program is not running"),
            ("*gone", true, "no `gone`"),
            (
                "/(/",
                true,
                "`(` is not a regular expression: unclosed group",
            ),
        ] {
            let error = made(text, has_line).expect_err(text);
            assert!(error.starts_with(message), "{text}: {error}");
        }
        assert!(made("b.c:7", false).is_ok());
    }
}
