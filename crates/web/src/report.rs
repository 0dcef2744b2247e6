//! The page as one file: the assets and a snapshot, for a bug report or an archive.
//!
//! Modules cannot be loaded from a file, so that they are joined: in the order in which they
//! import each other, without their imports and the word `export` (the rule is stated in
//! `assets/text.js`).

use crate::assets;
use serde_json::Value;

/// Returns the page with a snapshot in it.
pub(crate) fn page(fixed: &Value, snapshot: &Value) -> String {
    let saved = serde_json::json!({ "static": fixed, "snapshot": snapshot });
    // No text can end the element that holds it.
    let saved = saved.to_string().replace('<', "\\u003c");
    let saved = format!("<script type=\"application/json\" id=\"snapshot\">{saved}</script>\n");
    let style = format!("<style>\n{}</style>", assets::SHEET);
    let script = format!("<script type=\"module\">\n{}</script>", joined());
    let page = assets::INDEX
        .replace("<link rel=\"stylesheet\" href=\"style.css\">", &style)
        .replace("<script type=\"module\" src=\"page.js\"></script>", "");
    match page.rsplit_once("</body>") {
        Some((before, after)) => format!("{before}{saved}{script}\n</body>{after}"),
        None => page + &saved + &script,
    }
}

/// Returns the modules as one.
fn joined() -> String {
    let mut done: Vec<&str> = Vec::new();
    let mut text = String::new();
    // Each entry is a module and how many of its imports were visited; a cycle is passed over.
    let mut open: Vec<(&str, usize)> = vec![(assets::FIRST_MODULE, 0)];
    while let Some((name, visited)) = open.pop() {
        let source = source_of(name);
        match imports(source).nth(visited) {
            Some(import) => {
                open.push((name, visited + 1));
                let is_known = |it: &str| done.contains(&it) || open.iter().any(|o| o.0 == it);
                if !is_known(import) {
                    open.push((import, 0));
                }
            }
            None => {
                done.push(name);
                for line in source.lines().filter(|line| !line.starts_with("import ")) {
                    text.push_str(line.strip_prefix("export ").unwrap_or(line));
                    text.push('\n');
                }
            }
        }
    }
    text
}

fn source_of(name: &str) -> &'static str {
    let module = assets::MODULES.iter().find(|(known, _)| *known == name);
    module.map_or("", |(_, source)| source)
}

/// Returns the names of the modules that a module imports.
fn imports(source: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = source.lines().filter(|line| line.starts_with("import "));
    lines.filter_map(|line| line.split_once("\"./")?.1.split_once('"').map(|it| it.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_report_has_every_module_once_and_in_order() {
        let text = joined();
        for (name, source) in assets::MODULES {
            let line = source.lines().find(|line| line.starts_with("export "));
            let Some(line) = line.and_then(|line| line.strip_prefix("export ")) else {
                continue;
            };
            assert_eq!(text.matches(line).count(), 1, "{name}: {line}");
        }
        assert!(!text.contains("\nimport ") && !text.contains("\nexport "));
        assert!(!text.contains("</script"));
    }

    #[test]
    fn no_text_of_the_program_ends_its_element() {
        let hostile = json!({ "program": "</script><script>alert(1)</script><!--" });
        let page = page(&hostile, &json!({}));
        assert!(!page.contains("alert(1)</script>"));
        assert!(page.contains("\\u003c/script>"));
        let (_, after) = page.split_once("id=\"snapshot\">").expect("it has one");
        let (saved, _) = after.split_once("</script>").expect("it ends");
        let read: Value = serde_json::from_str(saved).expect("it is JSON");
        assert_eq!(read["static"]["program"], hostile["program"]);
    }

    #[test]
    fn a_report_loads_nothing() {
        let page = page(&json!({}), &json!({}));
        assert!(!page.contains(" src=") && !page.contains("href=\"style.css\""));
    }
}
