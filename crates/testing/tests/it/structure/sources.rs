//! Reads the sources of a crate: its modules, what they import, the fields of its
//! structs, and the methods of `Session`.
//!
//! The tokens are read, and not the syntax: paths within macros count like any
//! others.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// The modules of `session` that may name `Session`, with the modules below them.
const MAY_NAME_SESSION: &[&str] = &[
    "command_table",
    "inspect",
    "",
    "session",
    "run",
    "commands",
    "replay",
];

/// A function of more lines does not fit on a screen.
const SCREEN_LINES: usize = 60;

/// The path of a module within its crate: `["run", "step"]`; the root has none.
type ModulePath = Vec<String>;

/// A source file of a crate.
#[derive(Debug, Default)]
pub struct Source {
    pub lines: usize,
    /// Paths from the root of the crate that the code names: those that begin
    /// with `crate`, `super` or `self`.
    paths: BTreeSet<Vec<String>>,
    /// All other paths, as if they began with `self`. One that begins with another
    /// crate or a type names the file's own module.
    child_paths: BTreeSet<Vec<String>>,
    /// The paths that re-exported items have here, and those that they stand for.
    re_exports: Vec<(Vec<String>, Vec<String>)>,
    /// The fields of the structs that are defined here.
    structs: BTreeMap<String, Vec<Field>>,
    /// The types with an `impl` block here.
    implemented: BTreeSet<String>,
    /// Methods of `Session`, with the fields that each names: all words after
    /// `self.`, before the fields are known.
    methods: Vec<(String, BTreeSet<String>)>,
    /// Functions longer than a screen, with their lines.
    pub long_functions: Vec<(String, usize)>,
}

/// A field of a struct.
#[derive(Debug, Default)]
pub struct Field {
    pub name: String,
    /// The words of its type.
    words: BTreeSet<String>,
}

/// The sources of a crate by file name, relative to `src`.
#[derive(Debug, Default)]
pub struct Crate {
    pub files: BTreeMap<String, Source>,
    /// The file of each module, inline modules among them.
    file_of: BTreeMap<ModulePath, String>,
    /// What each re-exported path stands for.
    re_exports: BTreeMap<Vec<String>, Vec<String>>,
}

impl Crate {
    /// Reads a crate from its root. `text_of` gives the text of a file relative
    /// to `src`, if the file exists.
    pub fn read(text_of: &dyn Fn(&str) -> Option<String>) -> Crate {
        let mut found = Crate::default();
        let root = ["lib.rs", "main.rs"]
            .into_iter()
            .find(|name| text_of(name).is_some())
            .expect("a crate has lib.rs or main.rs");
        found.read_file(root, &Vec::new(), text_of);
        found
    }

    fn read_file(
        &mut self,
        name: &str,
        module: &ModulePath,
        text_of: &dyn Fn(&str) -> Option<String>,
    ) {
        let text = text_of(name).unwrap();
        let tokens: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{name} is not Rust: {error}"));
        let mut reader = Reader {
            source: Source {
                lines: text.lines().count(),
                ..Source::default()
            },
            modules: vec![module.clone()],
            children: Vec::new(),
        };
        reader.items(&trees(tokens), module);
        for inline in reader.modules {
            self.file_of.insert(inline, name.to_owned());
        }
        self.re_exports
            .extend(reader.source.re_exports.iter().cloned());
        self.files.insert(name.to_owned(), reader.source);
        for child in reader.children {
            let directory = child.join("/");
            let places = [format!("{directory}.rs"), format!("{directory}/mod.rs")];
            let place = places.iter().find(|place| text_of(place).is_some());
            let place = place.unwrap_or_else(|| panic!("{name}: module {child:?} has no file"));
            self.read_file(place, &child, text_of);
        }
    }

    /// The file of the module that a path names: of its longest beginning that is
    /// a module.
    fn resolve(&self, path: &[String]) -> &str {
        let mut ends = (0..=path.len()).rev();
        let file = ends.find_map(|end| self.file_of.get(path.get(..end)?));
        file.expect("the root is a module")
    }

    /// As [`Crate::resolve`], of the module that a re-exported item comes from.
    fn resolve_item(&self, path: &[String]) -> &str {
        let mut path = path.to_vec();
        // A chain of re-exports is short, unless it is a circle itself.
        for _ in 0..8 {
            let found = (1..=path.len()).find_map(|end| {
                let (known, rest) = path.split_at(end);
                let stands_for = self.re_exports.get(known)?;
                Some([stands_for, rest].concat())
            });
            match found {
                Some(stands_for) if stands_for != path => path = stands_for,
                _ => break,
            }
        }
        self.resolve(&path)
    }

    /// The files that each file imports.
    pub fn imports(&self) -> Imports<'_> {
        let imports = |(name, source): (&'_ String, &'_ Source)| {
            let files = source.paths.iter().map(|path| self.resolve(path));
            files.filter(|file| file != name).collect()
        };
        let files = self.files.iter();
        files
            .map(|entry| (entry.0.as_str(), imports(entry)))
            .collect()
    }

    /// The files that each file imports by the stricter rule.
    pub fn strict_imports(&self) -> Imports<'_> {
        let imports = |(name, source): (&'_ String, &'_ Source)| {
            let paths = source.paths.iter().chain(&source.child_paths);
            let files = paths.map(|path| self.resolve_item(path));
            files.filter(|file| file != name).collect()
        };
        let files = self.files.iter();
        files
            .map(|entry| (entry.0.as_str(), imports(entry)))
            .collect()
    }

    /// The fields of a struct.
    fn fields(&self, of: &str) -> impl Iterator<Item = &Field> {
        let files = self.files.values();
        files.filter_map(move |file| file.structs.get(of)).flatten()
    }

    /// The names of the fields of a struct.
    pub fn field_names(&self, of: &str) -> Vec<&str> {
        self.fields(of).map(|field| field.name.as_str()).collect()
    }

    /// The file that defines a struct.
    fn definition(&self, of: &str) -> Option<&str> {
        let mut files = self.files.iter();
        let found = files.find(|(_, file)| file.structs.contains_key(of));
        found.map(|(name, _)| name.as_str())
    }

    /// The files with an `impl` block of a type.
    pub fn impl_files(&self, of: &str) -> Vec<&str> {
        let files = self.files.iter();
        files
            .filter(|(_, file)| file.implemented.contains(of))
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// The fields of a struct, each with the files that define its types. A type
    /// from elsewhere has none.
    pub fn owners(&self, of: &str) -> Vec<(&str, BTreeSet<&str>)> {
        let owners = |field: &Field| -> BTreeSet<&str> {
            let words = field.words.iter();
            words.filter_map(|word| self.definition(word)).collect()
        };
        self.fields(of)
            .map(|field| (field.name.as_str(), owners(field)))
            .collect()
    }

    /// The fields of a struct whose type is not in a file of its own without methods
    /// of the struct.
    pub fn fields_without_owner(&self, of: &str) -> Vec<&str> {
        let methods = self.impl_files(of);
        let owners = self.owners(of);
        let is_owned = |name: &str, files: &BTreeSet<&str>| {
            let others = owners.iter().filter(|(other, _)| *other != name);
            let taken: BTreeSet<&str> = others.flat_map(|(_, files)| files).copied().collect();
            files
                .iter()
                .all(|file| !methods.contains(file) && !taken.contains(file))
        };
        owners
            .iter()
            .filter(|(name, files)| !is_owned(name, files))
            .map(|(name, _)| *name)
            .collect()
    }

    /// The files that a struct is made of, by the stricter rule, and that have
    /// methods of it nevertheless.
    pub fn methods_below(&self, of: &str) -> Vec<&str> {
        let Some(definition) = self.definition(of) else {
            return Vec::new();
        };
        let below = reachable(definition, &self.strict_imports());
        let methods = self.impl_files(of).into_iter();
        methods
            .filter(|file| *file != definition && below.contains(file))
            .collect()
    }

    /// The imports from one folder into another, but into those that are shared and
    /// between the files that a struct is made of.
    pub fn imports_between_folders(&self, of: &str, shared: &[&str]) -> Vec<String> {
        let Some(definition) = self.definition(of) else {
            return Vec::new();
        };
        let parts = reachable(definition, &self.strict_imports());
        let is_free = |file: &str| {
            file == definition || parts.contains(file) || shared.contains(&folder(file))
        };
        let mut found = Vec::new();
        for (file, imports) in self.imports() {
            let others = imports.into_iter();
            let others = others.filter(|other| folder(file) != folder(other) && !is_free(other));
            found.extend(others.map(|other| format!("{file} -> {other}")));
        }
        found
    }

    /// The files that are directly in `src`.
    pub fn top_files(&self) -> Vec<&str> {
        let names = self.files.keys().map(String::as_str);
        names.filter(|name| !name.contains('/')).collect()
    }

    /// The method of `Session` that names the most of its fields, and these.
    pub fn widest_method(&self) -> Option<(&str, BTreeSet<&str>)> {
        let fields = self.field_names("Session");
        let methods = self.files.values().flat_map(|file| &file.methods);
        methods
            .map(|(name, words)| {
                let words = words.iter().map(String::as_str);
                (
                    name.as_str(),
                    words.filter(|it| fields.contains(it)).collect(),
                )
            })
            .max_by_key(|(_, named): &(_, BTreeSet<_>)| named.len())
    }

    /// Files that name `Session` although their module is below it.
    pub fn session_importers(&self) -> Vec<&str> {
        let module_of: BTreeMap<&str, &ModulePath> = self
            .file_of
            .iter()
            .rev()
            .map(|(module, file)| (file.as_str(), module))
            .collect();
        let may_name = |file: &str| {
            let top = module_of[file].first().map_or("", String::as_str);
            MAY_NAME_SESSION.contains(&top)
        };
        let names_it = |file: &Source| {
            let mut paths = file.paths.iter();
            paths.any(|path| path.iter().any(|word| word == "Session"))
        };
        let files = self.files.iter();
        files
            .filter(|(name, file)| {
                !may_name(name) && (names_it(file) || file.implemented.contains("Session"))
            })
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

/// The files that each file imports.
pub type Imports<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The files of the largest circle of imports, or nothing if there is none.
pub fn largest_circle<'a>(imports: &Imports<'a>) -> BTreeSet<&'a str> {
    let reached: Imports = imports
        .keys()
        .map(|&file| (file, reachable(file, imports)))
        .collect();
    let circle_of = |file: &&str| -> BTreeSet<&str> {
        let others = reached[file].iter().copied();
        others
            .filter(|other| reached[other].contains(file))
            .collect()
    };
    let circles = imports.keys().map(circle_of);
    circles.max_by_key(BTreeSet::len).unwrap_or_default()
}

/// The files that are reached from one by imports; itself only in a circle.
fn reachable<'a>(from: &str, imports: &Imports<'a>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<&str> = imports[from].iter().copied().collect();
    while let Some(file) = pending.pop() {
        if reached.insert(file) {
            pending.extend(&imports[file]);
        }
    }
    reached
}

/// Counts the arms `true =>` of a source.
pub fn true_arms_in(text: &str) -> usize {
    let mut pending: Vec<Vec<TokenTree>> = text.parse().map(trees).into_iter().collect();
    let mut count = 0;
    while let Some(tokens) = pending.pop() {
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => pending.push(trees(group.stream())),
                TokenTree::Ident(word) if word == "true" => {
                    let is_arm = matches!(&tokens[at..], [_, equals, arrow, ..]
                        if is_punct(equals, '=') && is_punct(arrow, '>'));
                    count += usize::from(is_arm);
                }
                _ => {}
            }
        }
    }
    count
}

/// The folder of a file, or its name if it is directly in `src`.
fn folder(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or_default()
}

fn trees(tokens: TokenStream) -> Vec<TokenTree> {
    tokens.into_iter().collect()
}

/// Reads one file.
struct Reader {
    source: Source,
    /// The modules that have been found in the file itself.
    modules: Vec<ModulePath>,
    /// The modules that have files of their own.
    children: Vec<ModulePath>,
}

impl Reader {
    /// Reads the items of a module, or what stands within any other braces.
    fn items(&mut self, tokens: &[TokenTree], module: &ModulePath) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at..];
            at += match token {
                _ if is_test_attribute(rest) => item_length(rest),
                TokenTree::Ident(word) if word == "mod" => self.module(rest, module),
                TokenTree::Ident(word) if word == "impl" => self.implementation(rest),
                TokenTree::Ident(word) if word == "struct" => self.structure(rest),
                TokenTree::Ident(word) if word == "fn" => self.function(rest),
                TokenTree::Ident(word) if word == "pub" => {
                    let length = visibility_length(rest);
                    match &rest[length..] {
                        [TokenTree::Ident(word), path @ ..]
                            if word == "use" && !path.is_empty() =>
                        {
                            length + 1 + self.re_export(path, module)
                        }
                        _ => length,
                    }
                }
                TokenTree::Ident(_) if is_separator(&rest[1..]) => self.path(rest, module),
                // Not the beginning of a path.
                TokenTree::Punct(_) if is_separator(rest) || is_punct(token, '.') => {
                    let start = if is_separator(rest) { 2 } else { 1 };
                    let is_word = matches!(rest.get(start), Some(TokenTree::Ident(_)));
                    start + usize::from(is_word)
                }
                TokenTree::Group(group) => {
                    self.items(&trees(group.stream()), module);
                    1
                }
                _ => 1,
            };
        }
    }

    /// `mod name;` or `mod name { … }`.
    fn module(&mut self, tokens: &[TokenTree], module: &ModulePath) -> usize {
        let [_, TokenTree::Ident(name), body, ..] = tokens else {
            return 1;
        };
        let mut child = module.clone();
        child.push(name.to_string());
        match body {
            TokenTree::Group(group) => {
                self.modules.push(child.clone());
                self.items(&trees(group.stream()), &child);
            }
            _ => self.children.push(child),
        }
        3
    }

    /// The type of an `impl` block is noted, and one of `Session` is read for its
    /// methods; the tokens are read as those of any other item afterwards.
    fn implementation(&mut self, tokens: &[TokenTree]) -> usize {
        let header: Vec<&TokenTree> = tokens.iter().skip(1).take_while(|it| !ends(it)).collect();
        let Some(TokenTree::Group(body)) = tokens.get(1 + header.len()) else {
            return 1;
        };
        let Some(name) = implemented(&header).filter(|_| body.delimiter() == Delimiter::Brace)
        else {
            return 1;
        };
        let is_session = name == "Session";
        self.source.implemented.insert(name);
        if !is_session {
            return 1;
        }
        let body = trees(body.stream());
        for at in 0..body.len() {
            let Some((name, parameters, block)) = function(&body[at..]) else {
                continue;
            };
            let is_method = trees(parameters.stream())
                .iter()
                .any(|it| matches!(it, TokenTree::Ident(word) if word == "self"));
            if is_method {
                let mut words = BTreeSet::new();
                words_of_self(&trees(block.stream()), &mut words);
                self.source.methods.push((name.to_string(), words));
            }
        }
        1
    }

    /// The fields of a struct.
    fn structure(&mut self, tokens: &[TokenTree]) -> usize {
        let Some(TokenTree::Ident(name)) = tokens.get(1) else {
            return 1;
        };
        let header = tokens.iter().take_while(|it| !ends(it)).count();
        let body = match tokens.get(header) {
            Some(TokenTree::Group(body)) => fields(&trees(body.stream())),
            _ => Vec::new(),
        };
        self.source.structs.insert(name.to_string(), body);
        1
    }

    /// Notes a function that does not fit on a screen.
    fn function(&mut self, tokens: &[TokenTree]) -> usize {
        if let Some((name, _, block)) = function(tokens) {
            let start = name.span().start().line;
            let lines = block.span_close().end().line + 1 - start;
            if lines > SCREEN_LINES {
                let function = (name.to_string(), lines);
                self.source.long_functions.push(function);
            }
        }
        1
    }

    /// A path of code or of an import. Returns its length, with the braces of an
    /// import.
    fn path(&mut self, tokens: &[TokenTree], module: &ModulePath) -> usize {
        let mut leaves = Vec::new();
        let length = leaves_of(tokens, module, &mut leaves);
        let paths = match &tokens[0] {
            TokenTree::Ident(word) if is_root(word) => &mut self.source.paths,
            _ => &mut self.source.child_paths,
        };
        paths.extend(leaves.into_iter().map(|leaf| leaf.path));
        length
    }

    /// `pub use …`, from the path on: the items are known by other names.
    fn re_export(&mut self, tokens: &[TokenTree], module: &ModulePath) -> usize {
        let mut leaves = Vec::new();
        let length = leaves_of(tokens, module, &mut leaves);
        for Leaf { path, alias } in leaves {
            if let Some(name) = alias.or_else(|| path.last().cloned()) {
                let mut known = module.clone();
                known.push(name);
                self.source.re_exports.push((known, path.clone()));
            }
            if matches!(&tokens[0], TokenTree::Ident(word) if is_root(word)) {
                self.source.paths.insert(path);
            }
        }
        length
    }
}

/// The end of a path in the braces of an import, or of a path without any.
struct Leaf {
    path: Vec<String>,
    /// The name after `as`.
    alias: Option<String>,
}

/// Finds the leaves of a path in a module. Returns its length.
fn leaves_of(tokens: &[TokenTree], module: &ModulePath, leaves: &mut Vec<Leaf>) -> usize {
    let mut path = match &tokens[0] {
        TokenTree::Ident(word) if word == "crate" => Vec::new(),
        _ => module.clone(),
    };
    follow(&tokens[0], &mut path);
    1 + branches(&tokens[1..], path, leaves)
}

/// What follows the beginning of a path: `::name::…`, `::{…}`, `::*`. Returns its
/// length.
fn branches(tokens: &[TokenTree], mut path: Vec<String>, leaves: &mut Vec<Leaf>) -> usize {
    let mut length = 0;
    while is_separator(&tokens[length..]) {
        match tokens.get(length + 2) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner = trees(group.stream());
                let parts = inner.split(|it| is_punct(it, ','));
                for part in parts.filter(|part| !part.is_empty()) {
                    let mut path = path.clone();
                    follow(&part[0], &mut path);
                    branches(&part[1..], path, leaves);
                }
                return length + 3;
            }
            Some(word @ TokenTree::Ident(_)) => follow(word, &mut path),
            _ => break,
        }
        length += 3;
    }
    let alias = match tokens.get(length..) {
        Some([TokenTree::Ident(word), TokenTree::Ident(name), ..]) if word == "as" => {
            Some(name.to_string())
        }
        _ => None,
    };
    leaves.push(Leaf { path, alias });
    length
}

/// Takes one step along a path.
fn follow(token: &TokenTree, path: &mut Vec<String>) {
    match token {
        TokenTree::Ident(word) if word == "super" => {
            path.pop();
        }
        TokenTree::Ident(word) if word != "self" && word != "crate" => path.push(word.to_string()),
        _ => {}
    }
}

fn is_root(word: &Ident) -> bool {
    word == "crate" || word == "super" || word == "self"
}

fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

/// Whether the tokens begin with `::`.
fn is_separator(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [first, second, ..] if is_punct(first, ':') && is_punct(second, ':'))
}

/// `#[cfg(test)]`.
fn is_test_attribute(tokens: &[TokenTree]) -> bool {
    let [sign, TokenTree::Group(group), ..] = tokens else {
        return false;
    };
    is_punct(sign, '#') && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The length of an item with its attributes: up to its braces, or its semicolon.
fn item_length(tokens: &[TokenTree]) -> usize {
    let is_import = |it: &TokenTree| matches!(it, TokenTree::Ident(word) if word == "use");
    let has_braces = !tokens.iter().take_while(|it| !ends(it)).any(is_import);
    let end = tokens
        .iter()
        .position(|it| is_punct(it, ';') || has_braces && ends(it));
    end.map_or(tokens.len(), |end| end + 1)
}

/// Whether a token is the last of most items.
fn ends(token: &TokenTree) -> bool {
    let is_block =
        matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    is_block || is_punct(token, ';')
}

/// The length of `pub`, `pub(crate)`, and `pub(in crate::module)`: their paths
/// import nothing.
fn visibility_length(tokens: &[TokenTree]) -> usize {
    let Some(TokenTree::Group(group)) = tokens.get(1) else {
        return 1;
    };
    let is_scope = |word: &Ident| is_root(word) || word == "in";
    let inner = trees(group.stream());
    match inner.first() {
        Some(TokenTree::Ident(word))
            if group.delimiter() == Delimiter::Parenthesis && is_scope(word) =>
        {
            2
        }
        _ => 1,
    }
}

/// The name of the type that the header of an `impl` block names: the last word
/// of its path.
fn implemented(header: &[&TokenTree]) -> Option<String> {
    let mut depth = 0;
    let mut name = None;
    for token in header {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
            TokenTree::Ident(word) if depth == 0 && word == "where" => break,
            TokenTree::Ident(word) if depth == 0 => name = Some(word.to_string()),
            _ => {}
        }
    }
    name
}

/// A function that begins here: its name, its parameters and its block.
fn function(tokens: &[TokenTree]) -> Option<(&Ident, &Group, &Group)> {
    let [TokenTree::Ident(word), TokenTree::Ident(name), ..] = tokens else {
        return None;
    };
    let groups = tokens.iter().take_while(|it| !is_punct(it, ';'));
    let mut groups = groups.filter_map(|it| match it {
        TokenTree::Group(group) => Some(group),
        _ => None,
    });
    let parameters = groups
        .by_ref()
        .find(|group| group.delimiter() == Delimiter::Parenthesis)?;
    let block = groups.find(|group| group.delimiter() == Delimiter::Brace)?;
    (word == "fn").then_some((name, parameters, block))
}

/// The fields of a struct.
fn fields(body: &[TokenTree]) -> Vec<Field> {
    let mut found: Vec<Field> = Vec::new();
    let mut depth = 0;
    let mut is_name_next = true;
    for (at, token) in body.iter().enumerate() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => {
                // The arrow of a function type closes nothing.
                let is_arrow = at > 0 && is_punct(&body[at - 1], '-');
                depth -= i32::from(!is_arrow);
            }
            TokenTree::Punct(punct) if punct.as_char() == ',' && depth == 0 => {
                is_name_next = true;
            }
            TokenTree::Ident(word) if is_name_next && word != "pub" => {
                found.push(Field {
                    name: word.to_string(),
                    words: BTreeSet::new(),
                });
                is_name_next = false;
            }
            TokenTree::Ident(word) if !is_name_next => {
                if let Some(field) = found.last_mut() {
                    field.words.insert(word.to_string());
                }
            }
            _ => {}
        }
    }
    found
}

/// The words after `self.` that are no calls, and those of `let Self { … } = self`.
fn words_of_self(tokens: &[TokenTree], words: &mut BTreeSet<String>) {
    for (at, token) in tokens.iter().enumerate() {
        match &tokens[at..] {
            [
                TokenTree::Ident(word),
                dot,
                TokenTree::Ident(field),
                rest @ ..,
            ] if word == "self" && is_punct(dot, '.') => {
                let is_call = matches!(rest.first(), Some(TokenTree::Group(group))
                    if group.delimiter() == Delimiter::Parenthesis);
                if !is_call {
                    words.insert(field.to_string());
                }
            }
            [
                TokenTree::Ident(word),
                TokenTree::Ident(name),
                TokenTree::Group(pattern),
                ..,
            ] if word == "let" && (name == "Self" || name == "Session") => {
                for token in pattern.stream() {
                    if let TokenTree::Ident(field) = token {
                        words.insert(field.to_string());
                    }
                }
            }
            _ => {}
        }
        if let TokenTree::Group(group) = token {
            words_of_self(&trees(group.stream()), words);
        }
    }
}
