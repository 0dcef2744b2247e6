//! `juror property`: property files checked, laid out, and drawn.

use crate::driver::{FileDiagnostics, LoadedFiles, PropertySource};
use crate::exit;
use crate::output::Output;
use crate::property_arguments::{
    CheckProperties, FormatProperties, PropertyAction, PropertyCommand, ShowProperty, ShownForm,
};
use anyhow::{Context as _, bail};
use juror_language::show::{Form, Graph, demand, show};
use juror_language::{Diagnostic, Property, Severity, format, suggest};
use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::path::Path;

/// A file is not laid out (`fmt --check`).
const NOT_LAID_OUT: u8 = 1;

/// Does what the command line asks for; gives the exit status.
pub fn run(command: &PropertyCommand) -> anyhow::Result<u8> {
    match &command.action {
        PropertyAction::Check(check) => check_files(check),
        PropertyAction::Format(format) => format_files(format),
        PropertyAction::Show(show) => show_file(show),
    }
}

/// A file, with those that it uses; `-` is standard input, whose files are
/// looked for from the working directory.
fn read(file: &Path) -> anyhow::Result<PropertySource> {
    if file != Path::new("-") {
        return PropertySource::read(file).map_err(anyhow::Error::msg);
    }
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.context("standard input cannot be read as text")?;
    Ok(PropertySource::with_used("<standard input>".into(), text))
}

/// Files of which something was said already.
#[derive(Default)]
struct Told(Vec<String>);

impl Told {
    /// Shows what there is to say about files, each once; counts the errors and
    /// the warnings.
    fn show(
        &mut self,
        loaded: &LoadedFiles,
        output: &mut Output,
    ) -> anyhow::Result<(usize, usize)> {
        let (mut errors, mut warnings) = (0, 0);
        for said in &loaded.files {
            if self.0.contains(&said.file) {
                continue;
            }
            self.0.push(said.file.clone());
            let count = |severity| {
                let of_it = |it: &&Diagnostic| it.severity == severity;
                said.diagnostics.iter().filter(of_it).count()
            };
            errors += count(Severity::Error);
            warnings += count(Severity::Warning);
            output.show_diagnostics(said)?;
        }
        Ok((errors, warnings))
    }
}

fn check_files(check: &CheckProperties) -> anyhow::Result<u8> {
    let mut output = Output::open(check.messages.color, check.json.as_deref(), false)?;
    let (mut errors, mut warnings) = (0, 0);
    let mut told = Told::default();
    let mut found: HashSet<(Box<str>, Option<Box<str>>)> = HashSet::new();
    for file in &check.files {
        let source = match read(file) {
            Ok(source) => source,
            Err(error) => {
                output.show_error(&format!("{error:#}"))?;
                errors += 1;
                continue;
            }
        };
        let loaded = source.load();
        let (more_errors, more_warnings) = told.show(&loaded, &mut output)?;
        errors += more_errors;
        warnings += more_warnings;
        let names = loaded.properties.into_iter();
        found.extend(names.map(|it| (it.name, it.source_name)));
    }
    output.say(&format!(
        "{}, {}, {}\n",
        counted(found.len(), "property", "properties"),
        counted(errors, "error", "errors"),
        counted(warnings, "warning", "warnings"),
    ))?;
    let bad = errors > 0 || check.strict && warnings > 0;
    Ok(if bad { exit::USAGE } else { exit::HOLDS })
}

fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}

fn format_files(command: &FormatProperties) -> anyhow::Result<u8> {
    let mut output = Output::open(command.messages.color, None, false)?;
    let input = [Path::new("-").to_owned()];
    let files = if command.files.is_empty() {
        &input[..]
    } else {
        &command.files
    };
    let mut status = exit::HOLDS;
    for file in files {
        let one = match read(file) {
            Ok(source) => format_file(command, file, &source, &mut output)?,
            Err(error) => {
                output.show_error(&format!("{error:#}"))?;
                exit::USAGE
            }
        };
        status = status.max(one);
    }
    Ok(status)
}

fn format_file(
    command: &FormatProperties,
    file: &Path,
    source: &PropertySource,
    output: &mut Output,
) -> anyhow::Result<u8> {
    let parsed = juror_language::parse(&source.text);
    let formatted = format(&source.text).filter(|_| {
        let mut diagnostics = parsed.diagnostics.iter();
        !diagnostics.any(Diagnostic::is_error)
    });
    let Some(formatted) = formatted else {
        output.show_diagnostics(&FileDiagnostics {
            file: source.file.clone(),
            text: source.text.as_str().into(),
            diagnostics: parsed.diagnostics,
        })?;
        return Ok(exit::USAGE);
    };
    let same = formatted == source.text;
    if command.check {
        if !same {
            output.say(&format!("{} is not laid out\n", source.file))?;
        }
        return Ok(if same { exit::HOLDS } else { NOT_LAID_OUT });
    }
    if file == Path::new("-") {
        output.say(&formatted)?;
    } else if !same {
        replace(file, &formatted)?;
    }
    Ok(exit::HOLDS)
}

/// Writes a file anew, in one step, with the permissions that it had.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    // A link stays one: what it leads to is written.
    let file = &std::fs::canonicalize(file)?;
    let refused = || format!("{} cannot be written", file.display());
    let permissions = std::fs::metadata(file).with_context(refused)?.permissions();
    let directory = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(directory).with_context(refused)?;
    new.write_all(text.as_bytes()).with_context(refused)?;
    new.as_file()
        .set_permissions(permissions)
        .with_context(refused)?;
    new.persist(file).with_context(refused)?;
    Ok(())
}

fn show_file(command: &ShowProperty) -> anyhow::Result<u8> {
    let mut output = Output::open(command.messages.color, None, false)?;
    let source = read(&command.file)?;
    let loaded = source.load();
    if loaded.has_errors() {
        Told::default().show(&loaded, &mut output)?;
        return Ok(exit::USAGE);
    }
    let chosen = choose(command, &loaded.properties)?;
    for (position, property) in chosen.iter().enumerate() {
        if position > 0 {
            output.say("\n")?;
        }
        output.say(&picture(command, property, &loaded.text_of(property))?)?;
    }
    Ok(exit::HOLDS)
}

fn choose<'a>(
    command: &ShowProperty,
    properties: &'a [Property],
) -> anyhow::Result<Vec<&'a Property>> {
    let Some(name) = &command.name else {
        if command.form == ShownForm::Svg && properties.len() > 1 {
            let names: Vec<&str> = properties.iter().map(|p| &*p.name).collect();
            bail!(
                "one picture shows one property: name one of {}",
                names.join(", ")
            );
        }
        return Ok(properties.iter().collect());
    };
    let found: Vec<&Property> = properties.iter().filter(|p| *p.name == **name).collect();
    if found.is_empty() {
        let names = properties.iter().map(|property| &*property.name);
        match suggest(name, names) {
            Some(near) => bail!("there is no property `{name}`: did you mean `{near}`?"),
            None => bail!(
                "there is no property `{name}` in {}",
                command.file.display()
            ),
        }
    }
    Ok(found)
}

fn picture(command: &ShowProperty, property: &Property, source: &str) -> anyhow::Result<String> {
    let form = match command.form {
        ShownForm::Text => Form::Text,
        ShownForm::Dot => Form::Dot,
        ShownForm::Svg => Form::Svg,
        ShownForm::Mermaid => Form::Mermaid,
    };
    if command.expand
        && let Some(demand) = demand(property)
    {
        return Ok(format!("{}: {demand}\n", property.name));
    }
    match Graph::of_property(property, source) {
        Ok(graph) => Ok(show(&graph, form)),
        // What a terminal can show of it is the formula itself.
        Err(why) if form == Form::Text => {
            let demand = demand(property).unwrap_or_default();
            Ok(format!("{}: {demand}\n(not drawn: {why})\n", property.name))
        }
        Err(why) => bail!("`{}` cannot be drawn: {why}", property.name),
    }
}
