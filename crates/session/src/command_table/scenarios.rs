//! Commands for scenarios and groups of commands, with their names in Verde.

use crate::command_table::entry::{Completes, Entry, Group};
use crate::commands::{breakpoint_command_lists, scenario};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "scenario",
        aliases: &["scn"],
        summary: "load, delete, switch and list scenarios",
        examples: &[
            ("scenario", "list the loaded scenarios and their variables"),
            ("scenario load board.scn", "react from now on"),
            (
                "scenario disable zoom",
                "it does not react, and its points are disabled",
            ),
            ("scenario enable zoom", "it reacts again"),
            (
                "scenario delete zoom",
                "delete it and the points that it has set",
            ),
        ],
        details: "A scenario reacts when a property changes its state and when the program stops, \
                  starts, ends or receives a signal. The properties of its file and of the files \
                  that it uses are loaded with it.",
        completes: Completes::ScenarioActions,
        group: Group::Properties,
        changes_points: true,
        run: |session, rest, _| scenario::scenario_command(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "group",
        aliases: &["define"],
        summary: "define a command from several others",
        examples: &[
            ("define look", "then the commands, line by line, up to end"),
            ("look 3", "runs all of them; $arg0 is 3, $argc is 1"),
            ("define hook-stop", "commands that run at every stop"),
            ("define hook-next", "commands that run before next"),
            ("define", "list the defined commands"),
        ],
        details: "Lines with if CONDITION, else, while CONDITION, loop_break, loop_continue and \
                  end decide which commands run. $arg0, $arg1 and so on are the arguments, $arg* \
                  all of them, $argc their number. hook-COMMAND runs before a command, \
                  hookpost-COMMAND after it. An error drops the rest.",
        group: Group::Settings,
        run: |session, rest, _| breakpoint_command_lists::define(session, rest),
        ..Entry::DEFAULT
    },
    Entry {
        name: "document",
        summary: "write the help of a defined command",
        examples: &[
            ("document look", "then the text, up to end"),
            ("help look", "shows it"),
        ],
        details: "The first line is the summary.",
        group: Group::Settings,
        run: |session, rest, _| breakpoint_command_lists::document(session, rest),
        ..Entry::DEFAULT
    },
];

/// The commands of Verde (Jakse, Falcone and Méhaut, table 2), with the commands of juror. After
/// `verde` all of them apply; alone, those that are not commands of juror.
const VERDE: &[(&str, &str)] = &[
    ("checkpoint", "checkpoint"),
    ("checkpoint-restart", "restore"),
    ("cmd-group-begin", "group"),
    ("cmd-group-end", "end"),
    ("delete", "property remove"),
    ("exec", "monitor set"),
    ("get-current", "monitor choose"),
    ("load-functions", "property add"),
    ("load-property", "property add"),
    ("load-scenario", "scenario load"),
    ("new", "property add"),
    ("run", "property enable"),
    ("run-with-program", "run"),
    ("set-current", "monitor choose"),
    ("show-graph", "show-graph"),
    ("activate", "property"),
];

/// Translates a line of Verde.
pub fn translated(line: &str) -> Option<String> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (word, rest) = match first {
        "verde" => {
            let rest = rest.trim();
            rest.split_once(char::is_whitespace).unwrap_or((rest, ""))
        }
        word if word.contains('-') => (word, rest),
        _ => return None,
    };
    let (_, own) = VERDE.iter().find(|(known, _)| *known == word)?;
    let line = format!("{own} {}", rest.trim());
    Some(line.trim_end().to_owned())
}

/// Lists the words that may follow `verde`.
pub fn names_of_verde() -> String {
    let names: Vec<&str> = VERDE.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        assert_eq!(translated(line).as_deref(), expected, "{line}");
    }

    /// Table 2 of the paper, each with an example of its argument.
    const TABLE_2: [(&str, &str, &str); 16] = [
        ("activate", "property", "property"),
        ("checkpoint", "checkpoint", "checkpoint"),
        ("checkpoint-restart 2", "restore 2", "restore"),
        ("cmd-group-begin look", "group look", "group"),
        ("cmd-group-end", "end", "group"),
        ("delete p", "property remove p", "property"),
        ("exec n = 3", "monitor set n = 3", "monitor"),
        ("get-current", "monitor choose", "monitor"),
        ("load-functions f.prop", "property add f.prop", "property"),
        ("load-property  q.prop", "property add q.prop", "property"),
        ("load-scenario q.scn", "scenario load q.scn", "scenario"),
        ("new q.prop", "property add q.prop", "property"),
        ("run p", "property enable p", "property"),
        ("run-with-program", "run", "run"),
        ("set-current p", "monitor choose p", "monitor"),
        ("show-graph p", "show-graph p", "show-graph"),
    ];

    #[test]
    fn every_command_of_verde_is_one_of_ours() {
        assert_eq!(TABLE_2.len(), VERDE.len());
        for (theirs, ours, command) in TABLE_2 {
            check(&format!("verde {theirs}"), Some(ours));
            check(&format!("  verde   {theirs} "), Some(ours));
            // Without `verde`, juror's own command takes precedence.
            let alone = theirs
                .split(' ')
                .next()
                .is_some_and(|word| word.contains('-'));
            check(theirs, alone.then_some(ours));
            let (word, _) = crate::command_table::arguments::split_line(ours);
            // It ends a group, and means nothing elsewhere.
            if word != "end" {
                let found = crate::command_table::find(word).map(|entry| entry.name);
                assert_eq!(found, Ok(command), "{ours}");
            }
        }
    }

    #[test]
    fn other_lines_are_as_they_were_typed() {
        check("delete 3", None);
        check("verde frobnicate", None);
        check("print a-b", None);
        check("", None);
    }
}
