//! `juror property show`: draws the automata of properties.

use super::{Shown, read};
use crate::arguments::property::{ShowProperty, ShownForm};
use crate::exit;
use crate::output::Output;
use anyhow::bail;
use juror_language::show::{Form, Graph, demand};
use juror_language::{Property, suggest};

/// Runs `juror property show`. Returns the exit status.
pub fn show(command: &ShowProperty) -> anyhow::Result<u8> {
    let mut output = Output::open(command.messages.color, None, false)?;
    let source = read(&command.file)?;
    let loaded = source.load();
    if loaded.has_errors() {
        Shown::default().show(&loaded, &mut output)?;
        return Ok(exit::USAGE);
    }
    let chosen = choose(command, &loaded.properties)?;
    for (position, property) in chosen.iter().enumerate() {
        if position > 0 {
            output.say("\n")?;
        }
        output.say(&drawing(command, property, &loaded.text_of(property))?)?;
    }
    Ok(exit::HOLDS)
}

/// Returns the properties that are to be shown.
fn choose<'a>(
    command: &ShowProperty,
    properties: &'a [Property],
) -> anyhow::Result<Vec<&'a Property>> {
    let Some(name) = &command.name else {
        if command.form == ShownForm::Svg && properties.len() > 1 {
            let names: Vec<&str> = properties.iter().map(|p| &*p.name).collect();
            bail!(
                "an SVG image shows one property: name one of {}",
                names.join(", ")
            );
        }
        return Ok(properties.iter().collect());
    };
    let found: Vec<&Property> = properties.iter().filter(|p| *p.name == **name).collect();
    if found.is_empty() {
        let names = properties.iter().map(|property| &*property.name);
        match suggest(name, names) {
            Some(near) => bail!("there is no property `{name}`; did you mean `{near}`?"),
            None => bail!(
                "there is no property `{name}` in {}",
                command.file.display()
            ),
        }
    }
    Ok(found)
}

/// Returns the drawing of a property, or its formula.
fn drawing(command: &ShowProperty, property: &Property, source: &str) -> anyhow::Result<String> {
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
        Ok(graph) => Ok(juror_language::show::show(&graph, form)),
        // As text, the formula is shown instead.
        Err(why) if form == Form::Text => {
            let demand = demand(property).unwrap_or_default();
            Ok(format!("{}: {demand}\n(not drawn: {why})\n", property.name))
        }
        Err(why) => bail!("`{}` cannot be drawn: {why}", property.name),
    }
}
