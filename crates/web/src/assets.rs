//! The files of the page, in the binary.

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page itself.
pub(crate) const INDEX: &str = include_str!("../assets/index.html");
/// Its style.
pub(crate) const SHEET: &str = include_str!("../assets/style.css");

/// The modules by name.
macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../assets/", $name)))),*]
    };
}

/// The modules, in no order.
pub(crate) const MODULES: &[(&str, &str)] = modules![
    "announce.js",
    "automaton.js",
    "chart.js",
    "commands.js",
    "connection.js",
    "dom.js",
    "drawing.js",
    "header.js",
    "page.js",
    "path.js",
    "place.js",
    "questions.js",
    "slices.js",
    "stop.js",
    "store.js",
    "text.js",
    "timeline.js",
    "zoom.js",
];

/// The module that the page begins with.
pub(crate) const FIRST_MODULE: &str = "page.js";

/// Returns a file by its path: its kind and its text.
pub(crate) fn find(path: &str) -> Option<(&'static str, &'static str)> {
    match path {
        "" | "index.html" => Some((HTML, INDEX)),
        "style.css" => Some((STYLE, SHEET)),
        path => {
            let module = MODULES.iter().find(|(name, _)| *name == path);
            module.map(|(_, text)| (SCRIPT, *text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module that is not in the table would be missing in the browser.
    #[test]
    fn every_file_is_in_the_binary() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        for entry in std::fs::read_dir(directory).expect("the directory is there") {
            let name = entry.expect("it can be listed").file_name();
            let name = name.to_str().expect("a plain name").to_owned();
            assert!(find(&name).is_some(), "{name}");
        }
    }
}
