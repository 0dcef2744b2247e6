//! The functions and files that `step` does not enter.

use juror_symbols::is_name_of;
use regex::Regex;
use std::path::Path;

/// What is passed over, in the order in which it was said.
#[derive(Debug, Default)]
pub(crate) struct Skips {
    pub(crate) list: Vec<Skip>,
    pub(crate) last_number: u32,
}

#[derive(Debug)]
pub(crate) struct Skip {
    pub(crate) number: u32,
    pub(crate) enabled: bool,
    /// Both must fit where both are said.
    pub(crate) function: Option<Functions>,
    pub(crate) file: Option<Files>,
}

/// Which functions.
#[derive(Debug)]
pub(crate) enum Functions {
    Named(String),
    Matching(Regex),
}

/// Which files.
#[derive(Debug)]
pub(crate) enum Files {
    /// The path, or its end.
    Named(String),
    /// As written, and as it is matched.
    Glob(String, Regex),
}

impl Skips {
    /// Whether a function of a file is not to be entered.
    pub fn has(&self, function: Option<&str>, file: Option<&Path>) -> bool {
        let mut skips = self.list.iter().filter(|skip| skip.enabled);
        skips.any(|skip| skip.has(function, file))
    }

    pub(crate) fn add(&mut self, function: Option<Functions>, file: Option<Files>) -> String {
        self.last_number += 1;
        let skip = Skip {
            number: self.last_number,
            enabled: true,
            function,
            file,
        };
        let words = format!("step passes over {} (skip {})", skip.words(), skip.number);
        self.list.push(skip);
        words
    }
}

impl Skip {
    pub(crate) fn has(&self, function: Option<&str>, file: Option<&Path>) -> bool {
        let of_function = self.function.as_ref().is_none_or(|wanted| {
            function.is_some_and(|function| match wanted {
                Functions::Named(name) => is_name_of(name, function),
                Functions::Matching(pattern) => pattern.is_match(function),
            })
        });
        let of_file = self.file.as_ref().is_none_or(|wanted| {
            file.is_some_and(|file| match wanted {
                Files::Named(name) => file.ends_with(name),
                Files::Glob(_, pattern) => pattern.is_match(&file.to_string_lossy()),
            })
        });
        of_function && of_file
    }

    pub(crate) fn words(&self) -> String {
        let function = self.function.as_ref().map(|function| match function {
            Functions::Named(name) => name.clone(),
            Functions::Matching(pattern) => format!("functions that match `{pattern}`"),
        });
        let file = self.file.as_ref().map(|file| match file {
            Files::Named(name) | Files::Glob(name, _) => name,
        });
        match (function, file) {
            (Some(function), Some(file)) => format!("{function} in {file}"),
            (Some(function), None) => function,
            (None, Some(file)) => format!("all functions in {file}"),
            (None, None) => String::new(),
        }
    }
}
