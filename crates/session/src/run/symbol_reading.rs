//! Reads the names of a program before a command needs them, with progress and interruption; and
//! sets where symbols and sources are searched.

use crate::command_table;
use crate::command_table::arguments;
use crate::command_table::entry;
use crate::session::Session;
use juror_event::{Reach, SymbolicEvent};
use juror_fault::CommandError;
use juror_points::location_spec;
use juror_points::location_spec::LocationSpec;
use juror_points::required_words::required_words;
use juror_program::modules::Module;
use juror_view::Outcome;
use juror_view::observer::Observer;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shorter operations show no progress.
const SILENT: Duration = Duration::from_secs(1);

/// The limit of missing files that are named.
const NAMED_MAX: usize = 3;

/// The names that a command will look up.
#[derive(Debug, Clone, PartialEq)]
enum Names {
    None,
    /// One function.
    Function(String),
    /// Any name of an expression.
    Any,
    /// A list of all names.
    All,
    /// Functions whose names have one of the words of each set.
    With(Vec<Vec<String>>),
}

impl Names {
    fn of_place(place: LocationSpec) -> Names {
        match place {
            LocationSpec::Function(name) => Names::Function(name),
            // It may be a label of a function.
            LocationSpec::FunctionIn { file, .. } if !file.contains('.') => Names::Any,
            LocationSpec::FunctionIn { name, .. } => Names::Function(name),
            LocationSpec::Matching { pattern, .. } => Names::of_functions_that_match(&pattern),
            LocationSpec::Address(_) => Names::Any,
            _ => Names::None,
        }
    }

    fn of_functions_that_match(pattern: &str) -> Names {
        Names::With(required_words(pattern.trim()))
    }
}

impl Names {
    /// Returns the names that a command asks for.
    fn of_command(uses: entry::Names, rest: &str) -> Names {
        match uses {
            entry::Names::Nothing => Names::None,
            entry::Names::Location | entry::Names::Lines => {
                match location_spec::parse(rest).map(|it| it.place) {
                    // It takes two, separated by a comma.
                    Ok(LocationSpec::Function(name))
                        if uses == entry::Names::Lines && name.contains(',') =>
                    {
                        Names::Any
                    }
                    Ok(place) => Names::of_place(place),
                    Err(_) if uses == entry::Names::Lines && rest.contains(',') => Names::Any,
                    Err(_) => Names::None,
                }
            }
            entry::Names::Matching => Names::of_place(location_spec::matching(rest).place),
            entry::Names::Main => Names::Function("main".to_owned()),
            entry::Names::InfoSubject => {
                let (subject, rest) = arguments::split_line(rest);
                match command_table::find_info_subject(subject) {
                    Ok("functions") => Names::of_functions_that_match(rest),
                    Ok("types" | "variables") => Names::All,
                    Ok("line" | "scope") => Names::of_command(entry::Names::Lines, rest),
                    _ => Names::None,
                }
            }
            entry::Names::Expression => Names::Any,
        }
    }
}

/// Returns the names that an event of a property is bound by.
fn names_of(event: &SymbolicEvent) -> Names {
    match event.kind {
        kind if kind.is_call() => Names::Function(event.subject.to_string()),
        kind if kind.is_about_memory() => Names::Any,
        _ => Names::None,
    }
}

/// Reads the names of all modules if a command needs them.
///
/// # Errors
/// It was interrupted.
pub(crate) fn prepare_names(
    session: &mut Session,
    uses: entry::Names,
    rest: &str,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let names = Names::of_command(uses, rest);
    if names == Names::None {
        return Ok(());
    }
    let modules = session
        .processes
        .program
        .as_ref()
        .map(|program| &program.modules);
    let modules = modules.unwrap_or(&session.processes.last_modules);
    let modules: Vec<Rc<Module>> = modules.iter().cloned().collect();
    let is_interrupted = session.control.set_interruption_aside();
    for module in modules {
        read_names(session, &module, &names, observer)?;
        report_missing(session, &module, observer);
    }
    session.control.put_interruption_back(is_interrupted);
    Ok(())
}

/// Reads the names that properties and points of the user need, when a program has been started,
/// before they are bound to it.
///
/// # Errors
/// It was interrupted.
pub(crate) fn prepare_bound_names(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let Some(program) = &mut session.processes.program else {
        return Ok(());
    };
    program.update_modules();
    report_left_out(session, observer);
    let Some(program) = &session.processes.program else {
        return Ok(());
    };
    let modules: Vec<Rc<Module>> = program.modules.iter().cloned().collect();
    let properties = session.processes.monitors.properties.iter();
    let events = properties.flat_map(|it| it.property.events.iter());
    let mut wanted: Vec<(Reach, Names)> = events
        .map(|event| (event.reach.clone(), names_of(event)))
        .collect();
    let points = session.points.breakpoints.functions();
    let points = points.chain(session.points.hardware.functions());
    wanted.extend(points.map(|name| (Reach::Anywhere, Names::Function(name.to_owned()))));
    wanted.retain(|(_, names)| *names != Names::None);
    let is_interrupted = session.control.set_interruption_aside();
    for (reach, names) in &wanted {
        for module in modules.iter().filter(|module| module.is_reached(reach)) {
            read_names(session, module, names, observer)?;
        }
    }
    session.control.put_interruption_back(is_interrupted);
    Ok(())
}

fn read_names(
    session: &Session,
    module: &Module,
    names: &Names,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let began = Instant::now();
    let cancel = Arc::clone(&session.control.cancel);
    let name = module.name();
    let what = format!("reading the names of {name}");
    let mut is_told = false;
    let mut progress = |done: u64, of: u64| {
        if is_told || began.elapsed() >= SILENT {
            observer.progress(&what, done, of);
            is_told = true;
        }
    };
    let symbols = &module.symbols;
    let is_ready = match names {
        Names::With(sets) if sets.iter().any(|it| symbols.finds_functions_with(it)) => true,
        Names::All | Names::With(_) => symbols.prepare_names(&cancel, &mut progress),
        Names::Function(name) => symbols.prepare_name(Some(name), &cancel, &mut progress),
        Names::Any | Names::None => symbols.prepare_name(None, &cancel, &mut progress),
    };
    if is_ready {
        return Ok(());
    }
    observer.progress(&what, 1, 1);
    Err(CommandError::with_help(
        format!("interrupted: the names of {name} are not read"),
        "the same command reads them again; addresses (*0x1234) need no names",
    ))
}

/// Reports once which modules have symbols that are not used, and why.
pub(crate) fn report_left_out(session: &mut Session, observer: &mut dyn Observer) {
    if let Some(program) = &mut session.processes.program {
        for why in program.modules.take_left_out() {
            observer.notice(&why);
        }
    }
}

/// Reports once which symbol files of the program are missing. Libraries come without debug
/// information as a rule.
fn report_missing(session: &mut Session, module: &Module, observer: &mut dyn Observer) {
    for remark in module.symbols.take_warnings() {
        observer.notice(&remark);
    }
    if !module.is_main || !session.symbols.missing_reported.insert(module.path.clone()) {
        return;
    }
    let problems = module.symbols.problems();
    for problem in problems.iter().take(NAMED_MAX) {
        observer.notice(problem);
    }
    if let Some(more) = problems.len().checked_sub(NAMED_MAX + 1) {
        observer.notice(&format!("and {} more of this kind", more + 1));
    }
}

/// `set debug-file-directory DIRECTORY:…`.
pub(crate) fn set_debug_directories(
    session: &mut Session,
    text: &str,
) -> Result<Outcome, CommandError> {
    let directories = text.trim().split(':').filter(|it| !it.is_empty());
    let mut settings = session.symbols.store.settings();
    settings.debug_file_directories = directories.map(PathBuf::from).collect();
    session.symbols.store.set(settings.clone());
    session.options.symbols = settings;
    session.symbols.missing_reported.clear();
    if session.processes.program.is_none() {
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Message(
        "loaded modules keep their symbols; the directories take effect at the next run".to_owned(),
    ))
}

/// Deletes the rule for a directory, or all rules without one.
///
/// # Errors
/// There is no such rule.
pub(crate) fn forget_substitution(session: &mut Session, from: &str) -> Result<(), CommandError> {
    let sources = &mut session.user.sources;
    let is_known = sources
        .substitutions()
        .any(|(known, _)| known == Path::new(from));
    if !is_known && !from.is_empty() {
        let error = CommandError::with_help(
            format!("there is no rule for `{from}`"),
            "show substitute-path lists the rules; set substitute-path FROM TO adds one",
        );
        return Err(error.pointing_at(from, 0));
    }
    sources.forget_substitution(from);
    Ok(())
}

/// `set substitute-path FROM TO`; without TO, the rule is deleted.
pub(crate) fn set_substitution(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let mut words = text.split_whitespace().map(PathBuf::from);
    let Some(from) = words.next() else {
        return Err(CommandError::with_help(
            "`set substitute-path` needs a directory",
            "set substitute-path /old/place /new/place; without the second, the rule is deleted",
        ));
    };
    let to = words.next();
    if let Some(extra) = words.next() {
        let at = text.rfind(&*extra.to_string_lossy()).unwrap_or(0);
        let error = CommandError::new("`set substitute-path` takes two directories");
        return Err(error.pointing_at(text, at));
    }
    match to {
        Some(to) => session.user.sources.substitute(from, Some(to)),
        None => forget_substitution(session, text.trim())?,
    }
    // Places that no module had may be known by their present paths.
    if let Some(program) = &mut session.processes.program {
        session.points.breakpoints.bind(program);
    }
    Ok(Outcome::Done)
}
