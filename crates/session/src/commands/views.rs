//! `views`: loads pretty-printers of the user.
//!
//! Files are in the order of loading; the rules of a later one take precedence, those for the
//! standard libraries come last.

use crate::session::Session;
use juror_fault::CommandError;
use juror_symbols::Type;
use juror_values::pretty_printers::PrettyPrinters;
use juror_view::{Outcome, PrettyPrinterView};

/// `views`, `views FILE`
pub(crate) fn views_command(session: &mut Session, file: &str) -> Result<Outcome, CommandError> {
    if file.is_empty() {
        let files = session.user.pretty_printers.files.iter();
        let views = files.map(|(file, _, count)| PrettyPrinterView {
            file: file.clone(),
            rule_count: *count,
        });
        return Ok(Outcome::PrettyPrinters(views.collect()));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|error| CommandError::new(format!("{file} cannot be read: {error}")))?;
    let types = |path: &str| types_called(session, path);
    let types: &dyn Fn(&str) -> Vec<Type> = &types;
    let has_program = session.processes.program.is_some();
    let remarks = PrettyPrinters::remarks(&text, has_program.then_some(types));
    let count = session.user.pretty_printers.take(file, text)?;
    let programs = session.processes.programs_mut();
    programs.for_each(|program| session.user.pretty_printers.apply(program));
    let mut message = format!("{} from {file}", rules(count));
    for remark in remarks {
        message += &format!("\n{file}: {remark}");
    }
    Ok(Outcome::Message(message))
}

/// Returns the types of the program with this path, without the arguments of templates.
fn types_called(session: &Session, path: &str) -> Vec<Type> {
    let modules = session.modules();
    let modules = modules.iter().filter(|it| it.symbols.has_debug_info());
    modules
        .flat_map(|module| module.symbols.types_with_path(path))
        .collect()
}

fn rules(count: usize) -> String {
    match count {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    }
}
