//! The value history keeps values as they were shown; an expression reads them anew.

use crate::support::{juror, program};
use juror_testing::{Build, Language, Optimization};

/// What is shown before the program goes on.
const SHOWN: &[&str] = &["pair", "object", "numbers", "elements", "*pair.next"];

/// What is asked behind it, and the answer.
const ASKED: &[(&str, &str)] = &[
    ("$1.first", "1"),
    ("$1.low", "2"),
    ("$1.table", "{3, 4, 5}"),
    ("$1.table[2]", "5"),
    ("$1.next->first", "11"),
    ("&$1 == &pair", "true"),
    ("$2.left", "2"),
    ("$2.top", "1"),
    ("((Top)$2).top", "1"),
    ("$3", "{7, 8, 9}"),
    ("$3[1] + 1", "9"),
    ("*(&$3[1])", "28"),
    ("$5.table[0]", "3"),
    ("pair.first", "11"),
    ("object.top + object.left", "43"),
    ("elements[0]", "31"),
];

#[test]
fn what_was_shown_stays_and_what_it_leads_to_does_not() {
    let mut builds = Build::all_of(Language::Cpp);
    builds.retain(|build| build.optimization == Optimization::None);
    assert!(!builds.is_empty());
    for build in builds {
        let mut typed = String::from("break before\nrun\n");
        for shown in SHOWN {
            typed.push_str(&format!("print {shown}\n"));
        }
        typed.push_str("break 'kept.cpp':changed\ncontinue\n");
        for (asked, _) in ASKED {
            typed.push_str(&format!("print {asked}\n"));
        }
        typed.push_str("kill\n");
        let executable = program("kept.cpp").compile(&build);
        let output = juror(&["run"]).args([&*executable]).input(typed).run();
        let shown = format!("{}{}", output.stdout, output.stderr);
        let mut lines = output.stdout.lines();
        for (asked, expected) in ASKED {
            let typed = format!("(juror) print {asked}");
            lines.find(|line| *line == typed);
            let answer = lines.next().unwrap_or_default();
            let value = answer.split_once(" = ").map(|(_, value)| value);
            assert_eq!(value, Some(*expected), "{build} {asked}: {shown}");
        }
    }
}
