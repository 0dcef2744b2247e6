//! Binds the names in a view's pattern to the arguments of a template.

use super::rule::PrettyPrinter;
use crate::typed::Typed;
use juror_symbols::{TemplateArgument, Type};
use std::collections::HashMap;

/// Returns the name of a template's instance in which the names of a view stand for types, as in
/// `lib::pair<K, V>`, with these types. `None` if there is none of these names in it.
pub(super) fn with_types(written: &str, names: &HashMap<Box<str>, Type>) -> Option<String> {
    let (head, mut rest) = written.split_once('<')?;
    let mut text = format!("{head}<");
    let mut is_changed = false;
    let is_letter = |it: char| it.is_alphanumeric() || matches!(it, '_' | ':');
    while !rest.is_empty() {
        let end = rest.find(|it| !is_letter(it)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        match names.get(word) {
            Some(r#type) => {
                text += &r#type.name();
                is_changed = true;
            }
            None => text += word,
        }
        let mut others = behind.chars();
        text.extend(others.next());
        rest = others.as_str();
    }
    is_changed.then_some(text)
}

fn names(printer: &PrettyPrinter) -> impl Iterator<Item = &Box<str>> {
    let first = printer.patterns.first();
    first.into_iter().flat_map(|pattern| &pattern.arguments)
}

/// Returns the types among the template arguments, by the names in the view's pattern.
pub(super) fn template_types(
    printer: &PrettyPrinter,
    r#type: &Type,
    types: &dyn Fn(&str) -> Option<Type>,
) -> HashMap<Box<str>, Type> {
    let arguments = r#type.template_arguments();
    if arguments.is_empty() {
        return types_by_name(printer, r#type, types);
    }
    let found = names(printer)
        .zip(arguments)
        .filter_map(|(name, argument)| {
            let TemplateArgument::Type(r#type) = argument else {
                return None;
            };
            Some((name.clone(), r#type))
        });
    found.collect()
}

/// Returns the numbers among the template arguments.
pub(super) fn template_numbers(printer: &PrettyPrinter, r#type: &Type) -> HashMap<Box<str>, Typed> {
    let arguments = r#type.template_arguments();
    let numbers = names(printer)
        .zip(arguments)
        .filter_map(|(name, argument)| {
            let TemplateArgument::Number(number) = argument else {
                return None;
            };
            Some((name.clone(), Typed::of_integer(number)?))
        });
    numbers.collect()
}

/// Returns the types by the name of the class: gcc describes some classes without template
/// arguments (the iterators of lists), but their names contain them.
fn types_by_name(
    printer: &PrettyPrinter,
    r#type: &Type,
    types: &dyn Fn(&str) -> Option<Type>,
) -> HashMap<Box<str>, Type> {
    let whole = r#type.strip().name();
    let found = names(printer).zip(arguments_in(&whole));
    let found = found.filter_map(|(name, argument)| Some((name.clone(), types(argument)?)));
    found.collect()
}

/// Returns the outermost arguments in angle brackets at the end of a name.
fn arguments_in(name: &str) -> Vec<&str> {
    let inner = name
        .split_once('<')
        .and_then(|(_, rest)| rest.strip_suffix('>'));
    let Some(inner) = inner else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, sign) in inner.char_indices() {
        match sign {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.extend(inner.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    found.extend(inner.get(start..));
    found.into_iter().map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::arguments_in;

    #[test]
    fn the_arguments_in_a_name_are_its_outermost() {
        let check = |name, expected: &[&str]| assert_eq!(arguments_in(name), expected, "{name}");
        check("std::_List_iterator<int>", &["int"]);
        check(
            "a::b<std::map<int, long>, c(int, int)>",
            &["std::map<int, long>", "c(int, int)"],
        );
        check("plain", &[]);
        check("a<b", &[]);
        check("a<b<c> >", &["b<c>"]);
    }
}
