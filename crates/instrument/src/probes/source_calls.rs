//! Calls that the source has and the code lacks.
//!
//! A call of a function to itself at its end becomes a jump to its beginning, and LLVM lets
//! calls of a function lead to another one with the same code. The debug information says
//! neither; the text of the source does, where it is found.

use juror_program::modules::Bound;
use juror_symbols::{Line, scope_and_name, without_parameters};
use std::path::Path;
use std::sync::Arc;

/// The largest size in bytes of a source file that is read.
const SIZE_MAX: u64 = 8 << 20;
/// The largest number of lines of a function that are read.
const LINES_MAX: usize = 4_000;
/// The largest number of callers whose text is read.
const CALLERS_MAX: usize = 64;

/// Returns the places of a function's calls to itself that its code lacks, as `FILE:LINE`. If it has no
/// loop either, a formula may have replaced the calls that it returns the results of.
pub(super) fn calls_made_loops(definition: &Bound) -> Vec<Arc<str>> {
    let Bound { module, function } = definition;
    let symbols = &module.symbols;
    if !function.has_debug_info() {
        return Vec::new();
    }
    let has_loop = symbols.has_loop(function);
    let opening = symbols.opening_line(function);
    let Some((opening, declared)) = opening.zip(symbols.declared_line(function)) else {
        return Vec::new();
    };
    let lines = symbols.line_ranges(function).into_iter();
    let own = lines.filter(|line| line.file == opening.file && line.line >= declared);
    let Some(last) = own.map(|line| line.line).max() else {
        return Vec::new();
    };
    let Some(text) = read(&opening.file) else {
        return Vec::new();
    };
    let name = last_component(&function.name);
    let body = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at as u32 + 1, line));
    let body = body.skip_while(|(at, _)| *at < declared);
    let body = body.take_while(|(at, _)| *at <= last).take(LINES_MAX);
    let mut written: Vec<u32> = Vec::new();
    for (at, line) in body {
        // A line may have other functions, too.
        let is_possible = has_loop || at > declared && has_word(line, "return");
        let calls = if is_possible { calls_in(line, name) } else { 0 };
        // The declaration looks like one.
        let calls = calls.saturating_sub(usize::from(at == declared));
        written.extend(std::iter::repeat_n(at, calls));
    }
    // The code of one call may be there several times.
    let mut made: Vec<(u32, Option<u32>)> = Vec::new();
    for line in symbols.calls_of_itself(function) {
        let call = (line.line, line.column);
        if line.column.is_none() || !made.contains(&call) {
            made.push(call);
        }
    }
    if written.len() <= made.len() {
        return Vec::new();
    }
    let is_made = |line: u32| made.iter().any(|(made, _)| *made == line);
    let mut lines: Vec<u32> = written.iter().copied().filter(|it| !is_made(*it)).collect();
    if lines.is_empty() {
        lines = written;
    }
    lines.dedup();
    let place = |line: u32| place(&opening.file, line).into();
    lines.into_iter().map(place).collect()
}

/// The methods of Rust that operators, loops and other syntax call, so that the source has another
/// name, or none, at the call.
const BY_SYNTAX: &str = "add add_assign sub sub_assign mul mul_assign div div_assign rem rem_assign \
    bitand bitand_assign bitor bitor_assign bitxor bitxor_assign shl shl_assign shr shr_assign neg not \
    eq ne lt le gt ge partial_cmp cmp index index_mut deref deref_mut drop drop_in_place next into_iter \
    from into_future poll call call_mut call_once branch from_output from_residual fmt";

/// Returns the names by which the source calls a function of Rust where it is not its own.
pub(super) fn called_as(definition: &Bound) -> Vec<Arc<str>> {
    let Bound { module, function } = definition;
    let own = last_component(&function.name);
    // A closure and a body of an async function have no name in the source.
    if own.starts_with('{') || BY_SYNTAX.split(' ').any(|method| method == own) {
        return Vec::new();
    }
    let callers = module.symbols.lines_calling(function, CALLERS_MAX);
    let mut texts: Vec<(Arc<Path>, Option<String>)> = Vec::new();
    let mut names: Vec<Arc<str>> = Vec::new();
    for Line {
        file, line, column, ..
    } in callers
    {
        if !texts.iter().any(|(known, _)| *known == file) {
            texts.push((Arc::clone(&file), read(&file)));
        }
        let text = texts.iter().find(|(known, _)| *known == file);
        let text = text.and_then(|(_, text)| text.as_deref());
        let line_text = text.and_then(|text| text.lines().nth(line as usize - 1));
        let called = column.and_then(|column| path_at(line_text?, column as usize - 1));
        let is_function = |path: &&str| text.is_some_and(|text| names_function(text, path));
        let other = called.filter(|path| last_component(path) != own);
        let Some(called) = other.filter(is_function) else {
            continue;
        };
        names.push(format!("{called} at {}", place(&file, line)).into());
    }
    names.sort();
    names.dedup();
    names
}

/// Returns those of the functions without code that the source calls where a function is
/// called. Where the source is not found, or names neither, all of them may be.
pub(super) fn merged_with(definition: &Bound, left_out: Vec<Arc<str>>) -> Vec<Arc<str>> {
    let Bound { module, function } = definition;
    let mut own = module.symbols.functions_sharing(function);
    own.push(Arc::clone(&function.name));
    let mut texts: Vec<(Arc<Path>, Option<String>)> = Vec::new();
    let mut merged: Vec<Arc<str>> = Vec::new();
    for line in module.symbols.lines_leading_to(function) {
        let Some(Line { file, line, .. }) = line else {
            return left_out;
        };
        if !texts.iter().any(|(known, _)| *known == file) {
            texts.push((Arc::clone(&file), read(&file)));
        }
        let text = texts.iter().find(|(known, _)| *known == file);
        let text = text.and_then(|(_, text)| text.as_deref());
        let Some(text) = text.and_then(|text| text.lines().nth(line as usize - 1)) else {
            return left_out;
        };
        let code = without_texts(text);
        let calls = |name: &str| has_word(&code, last_component(name));
        let meant = left_out.iter().filter(|it| calls(it));
        let before = merged.len();
        merged.extend(meant.cloned());
        if merged.len() == before && !own.iter().any(|own| calls(own)) {
            return left_out;
        }
    }
    merged.sort_unstable();
    merged.dedup();
    merged
}

/// Returns whether a text has a word.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let behind = text.get(at + word.len()..).and_then(|it| it.chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

fn place(file: &Path, line: u32) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    format!("{}:{line}", name.to_string_lossy())
}

fn read(file: &Path) -> Option<String> {
    let size = std::fs::metadata(file).ok()?.len();
    (size <= SIZE_MAX).then(|| std::fs::read_to_string(file).ok())?
}

/// Returns the last component of a name, without template arguments.
fn last_component(name: &str) -> &str {
    let name = without_parameters(name);
    let last = scope_and_name(name).map_or(name, |(_, last)| last);
    last.split('<').next().unwrap_or(last)
}

/// Returns how often a line calls a function by this name, and not by that of a scope or an
/// object.
fn calls_in(line: &str, name: &str) -> usize {
    let code = without_texts(line);
    code.match_indices(name)
        .filter(|(at, _)| {
            let before = code.get(..*at).unwrap_or("").chars().next_back();
            let is_own = before.is_none_or(|it| !is_part(it) && !matches!(it, '.' | '>' | ':'));
            let behind = code.get(at + name.len()..).unwrap_or("");
            is_own && behind.trim_start().starts_with('(')
        })
        .count()
}

fn is_part(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// Returns the code of a line before a comment, with texts emptied.
fn without_texts(line: &str) -> String {
    let mut code = String::new();
    let mut is_text = false;
    let mut before = ' ';
    for it in line.chars() {
        match it {
            '"' if before != '\\' => is_text = !is_text,
            '/' if !is_text && before == '/' => {
                code.pop();
                break;
            }
            '*' if !is_text && before == '/' => {
                code.pop();
                break;
            }
            _ if !is_text => code.push(it),
            _ => {}
        }
        before = it;
    }
    code
}

/// Returns whether a path names a function in a source text of Rust: one that the text defines or
/// imports by its own name, or that the path finds elsewhere. Others may be variables.
fn names_function(text: &str, path: &str) -> bool {
    if path.contains("::") {
        return true;
    }
    let is_named = |statement: &str| {
        let words = statement
            .split(|it| !is_part(it))
            .filter(|it| !it.is_empty());
        let words: Vec<&str> = words.collect();
        let is_import = words.contains(&"use");
        let is_renamed = words.windows(2).any(|pair| pair == ["as", path]);
        let is_defined = words.windows(2).any(|pair| pair == ["fn", path]);
        is_defined || is_import && !is_renamed && words.contains(&path)
    };
    text.split(';').any(is_named)
}

/// Returns the path that is called at a position of a line: `files::put` of `files::put(x)`.
fn path_at(line: &str, at: usize) -> Option<&str> {
    let rest = line.get(at..)?;
    let end = rest.find(|it| !is_part(it) && it != ':')?;
    let path = rest.get(..end).filter(|path| !path.is_empty())?;
    rest.get(end..)?.starts_with('(').then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_in_code_alone() {
        for (line, expected) in [
            ("return count(l->next, n + l->v);", 1),
            ("return half(n / 2) + half (n - 1);", 0),
            ("x = count(a) + count (b); // count(c)", 2),
            (
                "recount(a); counts(b); other.count(); p->count(); a::count();",
                0,
            ),
            ("puts(\"count(1)\"); /* count(2) */", 0),
        ] {
            assert_eq!(calls_in(line, "count"), expected, "{line}");
        }
    }

    #[test]
    fn a_name_is_a_whole_word() {
        for (text, expected) in [
            ("put(x)", true),
            ("a->put (x)", true),
            ("a.put<int>(x)", true),
            ("input(x)", false),
            ("puts(x)", false),
        ] {
            assert_eq!(has_word(text, "put"), expected, "{text}");
        }
    }

    #[test]
    fn a_called_name_may_be_that_of_a_variable() {
        let text = "use a::{\n  put,\n  get as take,\n};\nfn store(x: i32) {}\nlet f = store; f(1)";
        for (path, expected) in [
            ("put", true),
            ("store", true),
            ("take", false),
            ("f", false),
            ("files::put", true),
        ] {
            assert_eq!(names_function(text, path), expected, "{path}");
        }
    }

    #[test]
    fn the_path_of_a_call_stands_at_its_position() {
        assert_eq!(path_at("    sum += put(&mut f);", 11), Some("put"));
        assert_eq!(path_at("files::put(x)", 0), Some("files::put"));
        assert_eq!(path_at("s.put(x)", 0), None);
        assert_eq!(path_at("put", 0), None);
        assert_eq!(path_at("", 3), None);
    }
}
