//! Completion inside of an expression or a location: fields, registers, tags, functions of a file.

use crate::commands::completion::matching;
use crate::inspect::{expressions, locations};
use crate::session::Session;
use juror_arch::names;
use juror_points::location_spec::LocationSpec;
use juror_symbols::{Type, TypeKind};
use juror_values::expression::BUILT_IN_NAMES;

/// The keywords before a tag.
const KEYWORDS: [&str; 4] = ["struct", "class", "union", "enum"];

/// gdb's options of a location.
const LOCATION_OPTIONS: [&str; 4] = ["-function", "-label", "-line", "-source"];

/// How many classes between an object and a field are gone through.
const BASES_MAX: usize = 64;

/// How many functions of a file are looked up.
const FUNCTIONS_MAX: usize = 200;

/// The begin of a word, and its completions.
pub(super) type Completed = (usize, Vec<String>);

/// Completes the end of an expression, where it is not the name of a variable.
pub(super) fn of_expression(session: &mut Session, before: &str) -> Option<Completed> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let start = before.trim_end_matches(is_part).len();
    let (outside, word) = before.split_at(start);
    if let Some(rest) = outside.strip_suffix('$') {
        return Some((rest.len(), registers(session, word)));
    }
    if let Some(object) = outside.strip_suffix("->").or(outside.strip_suffix('.')) {
        let names = fields(session, &object[object_start(object)..]);
        return Some((start, matching(names.into_iter(), word)));
    }
    let previous = outside.split_whitespace().next_back()?;
    let is_tag = outside.ends_with(char::is_whitespace) && KEYWORDS.contains(&previous);
    is_tag.then(|| (start, tags(session, word)))
}

fn registers(session: &Session, word: &str) -> Vec<String> {
    let general = names::GENERAL.iter().chain(&names::VECTORS);
    let uses = names::ALIASES.iter().map(|(alias, _)| alias);
    let registers = general.chain(uses).map(|name| (*name).to_owned());
    let functions = BUILT_IN_NAMES.map(str::to_owned);
    let kept = session.user.values.named();
    let kept = kept.map(|(name, _)| name.to_owned());
    let names = registers.chain(functions).chain(kept);
    let found = matching(names, word).into_iter();
    found.map(|name| format!("${name}")).collect()
}

fn tags(session: &Session, word: &str) -> Vec<String> {
    let modules = session.modules().iter().filter(|module| module.is_main);
    let names = modules.flat_map(|module| module.symbols.type_names());
    let plain = names.map(|name| match name.split_once(' ') {
        Some((keyword, rest)) if KEYWORDS.contains(&keyword) => rest.to_owned(),
        _ => name,
    });
    matching(plain, word)
}

/// Returns where the object of a field begins: the longest end of a text that may be one.
fn object_start(text: &str) -> usize {
    let mut depth = 0_u32;
    let mut after = ' ';
    for (at, c) in text.char_indices().rev() {
        let is_in_arrow = c == '-' && after == '>';
        let is_part = match c {
            ']' | ')' => {
                depth += 1;
                true
            }
            '[' | '(' => {
                let is_inside = depth > 0;
                depth = depth.saturating_sub(1);
                is_inside
            }
            _ => {
                depth > 0
                    || is_in_arrow
                    || c.is_alphanumeric()
                    || matches!(c, '_' | '.' | ':' | '$' | '>')
            }
        };
        if !is_part {
            return at + c.len_utf8();
        }
        after = c;
    }
    0
}

/// Returns the fields of what an expression leads to.
fn fields(session: &mut Session, object: &str) -> Vec<String> {
    let Ok(expression) = expressions::read(session, object) else {
        return Vec::new();
    };
    // Completion runs nothing of the program.
    if expression.has_effects() {
        return Vec::new();
    }
    let value = expressions::evaluate_expression(session, &expression);
    value.map_or_else(|_| Vec::new(), |value| fields_of(&value.r#type))
}

fn fields_of(r#type: &Type) -> Vec<String> {
    let mut class = r#type.strip();
    while let TypeKind::Pointer(target) | TypeKind::Reference(target) = class.kind() {
        class = target.strip();
        if class.composite().is_some() {
            break;
        }
    }
    let mut classes = vec![class];
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(class) = classes.get(at).cloned() {
        at += 1;
        let Some(composite) = class.composite() else {
            continue;
        };
        for field in &composite.fields {
            match &field.name {
                Some(name) => names.push(name.to_string()),
                // Its members count as those of the structure.
                None if classes.len() < BASES_MAX => classes.push(field.r#type.clone()),
                None => {}
            }
        }
        let bases = composite.bases.iter().map(|base| base.r#type.clone());
        classes.extend(bases.take(BASES_MAX.saturating_sub(classes.len())));
    }
    names
}

/// Completes a location that is not the name of a function or of a file alone.
pub(super) fn of_location(session: &mut Session, before: &str) -> Option<Completed> {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &before[start..];
    if word.starts_with('-') {
        let options = LOCATION_OPTIONS.map(str::to_owned).into_iter();
        return Some((start, matching(options, word)));
    }
    let (file, name) = word.split_once(':')?;
    if name.starts_with(':') || !file.contains('.') {
        return None;
    }
    let modules = session.modules().iter().filter(|module| module.is_main);
    let names = modules.flat_map(|module| module.symbols.function_names());
    let names = matching(names, name).into_iter().take(FUNCTIONS_MAX);
    let is_there = |name: &String| {
        let place = LocationSpec::FunctionIn {
            file: file.to_owned(),
            name: name.clone(),
        };
        let place = locations::resolvable(session, &place);
        place.is_ok_and(|it| !it.resolve(session.modules()).addresses.is_empty())
    };
    let found: Vec<String> = names
        .collect::<Vec<_>>()
        .into_iter()
        .filter(is_there)
        .collect();
    let found = found.iter().map(|name| format!("{file}:{name}"));
    Some((start, found.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_begins_where_its_expression_does() {
        for (text, object) in [
            ("p l", "l"),
            ("p *l->next", "l->next"),
            ("p a + b.c", "b.c"),
            ("p v[i + 1]", "v[i + 1]"),
            ("p f(x, (y))->z", "f(x, (y))->z"),
            ("p (a", "a"),
            ("p $1", "$1"),
            ("p x>y", "x>y"),
        ] {
            assert_eq!(&text[object_start(text)..], object, "{text}");
        }
    }
}
