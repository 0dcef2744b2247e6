//! The functions and files that `step` does not enter.

use juror_symbols::{is_name_of, is_path_of};
use juror_view::SkipView;
use regex::Regex;
use std::path::Path;

/// The skips, in the order of their definition.
#[derive(Debug, Default)]
pub(crate) struct Skips {
    pub(crate) list: Vec<Skip>,
    pub(crate) last_number: u32,
}

#[derive(Debug)]
pub(crate) struct Skip {
    pub(crate) number: u32,
    pub(crate) enabled: bool,
    /// If both are given, both must match.
    pub(crate) function: Option<Functions>,
    pub(crate) file: Option<Files>,
}

/// The functions of a skip.
#[derive(Debug)]
pub(crate) enum Functions {
    Named(String),
    Matching(Regex),
}

/// The files of a skip.
#[derive(Debug)]
pub(crate) enum Files {
    /// The path, or its end.
    Named(String),
    /// The glob as written, and compiled.
    Glob(String, Regex),
}

impl Skips {
    /// Returns whether nothing is skipped.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether a function of a file is skipped.
    pub fn has(&self, function: Option<&str>, file: Option<&Path>) -> bool {
        let mut skips = self.list.iter().filter(|skip| skip.enabled);
        skips.any(|skip| skip.has(function, file))
    }

    /// Adds a skip and returns its view.
    pub(crate) fn add(&mut self, function: Option<Functions>, file: Option<Files>) -> SkipView {
        self.last_number += 1;
        let skip = Skip {
            number: self.last_number,
            enabled: true,
            function,
            file,
        };
        let view = skip.view();
        self.list.push(skip);
        view
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
                Files::Named(name) => is_path_of(Path::new(name), file),
                Files::Glob(_, pattern) => pattern.is_match(&file.to_string_lossy()),
            })
        });
        of_function && of_file
    }

    pub(crate) fn view(&self) -> SkipView {
        let (function, function_pattern) = match &self.function {
            Some(Functions::Named(name)) => (Some(name.clone()), None),
            Some(Functions::Matching(pattern)) => (None, Some(pattern.to_string())),
            None => (None, None),
        };
        let file = self.file.as_ref().map(|file| match file {
            Files::Named(name) | Files::Glob(name, _) => name.clone(),
        });
        SkipView {
            number: self.number,
            enabled: self.enabled,
            function,
            function_pattern,
            file,
        }
    }
}
