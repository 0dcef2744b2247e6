//! Tables of points, processes, signals, registers; values; help.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::highlighting;
use crate::locations::long_location;
use crate::page::{NAME, Page, QUIET, STRONG};
use juror_view::{
    CommandHelp, DisplayView, GroupHelp, PointView, ProcessView, RegisterView, SignalView,
    ValueView, VariableView,
};

/// Writes the points of the user and of the monitors. A point with several locations
/// has a row for each of them below its own.
pub fn write_points(page: &mut Page, points: &[PointView]) {
    if points.is_empty() {
        page.push("No breakpoints.\n");
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for point in points {
        let (here, several) = match point.locations.as_slice() {
            [only] => (Some(only), [].as_slice()),
            several => (None, several),
        };
        let passage = match (here, several.is_empty()) {
            (Some(here), _) => here.passage.as_deref(),
            // The kernel's reports have no place.
            (None, true) if matches!(point.kind, "event" | "catchpoint") => {
                point.passage.as_deref()
            }
            (None, _) => None,
        };
        let number = point.number.map_or(String::new(), |n| n.to_string());
        rows.push(vec![
            Cell::new(number.as_str(), STRONG),
            safe(&point.owner).as_ref().into(),
            Cell::new(purpose(point), NAME),
            point_state(point).into(),
            point.hits.to_string().into(),
            Cell::new(safe(passage.unwrap_or("")), QUIET),
            here.map_or_else(String::new, |it| long_location(page, &it.place))
                .into(),
        ]);
        for location in several {
            let is_counted = point.number.is_some();
            let (label, hits) = if is_counted {
                (
                    format!("{number}.{}", location.number),
                    location.hits.to_string(),
                )
            } else {
                (String::new(), String::new())
            };
            let state = if location.enabled { "" } else { "disabled" };
            rows.push(vec![
                Cell::new(label, STRONG),
                "".into(),
                "".into(),
                state.into(),
                hits.into(),
                Cell::new(safe(location.passage.as_deref().unwrap_or("")), QUIET),
                long_location(page, &location.place).into(),
            ]);
        }
        for command in &point.commands {
            let words = format!("  {}", safe(command));
            rows.push(vec!["".into(), "".into(), Cell::new(words, QUIET)]);
        }
    }
    let heading = ["#", "owner", "what", "state", "hits", "step-over", "where"];
    columns::write(page, 0, &heading, &rows);
}

/// Returns what a point is for, with its process if it belongs to one of several.
fn purpose(point: &PointView) -> String {
    let what = safe(&point.for_what);
    match point.process {
        Some(process) => format!("{what} (process {process})"),
        None => what.into_owned(),
    }
}

fn point_state(point: &PointView) -> String {
    let is_inserted = point.locations.iter().any(|it| it.enabled);
    let mut state = match (point.enabled, is_inserted) {
        (false, _) => "disabled",
        (true, false) if !point.locations.is_empty() => "disabled",
        (true, false) if matches!(point.kind, "catchpoint" | "recorded event") => "waiting",
        (true, false) => "not inserted",
        (true, true) => "inserted",
    }
    .to_owned();
    if point.temporary {
        state.push_str(", once");
    }
    match point.stops_left {
        None => {}
        Some(1) => state.push_str(", for one stop"),
        Some(stops) => state.push_str(&format!(", for {stops} stops")),
    }
    if point.ignore > 0 {
        state.push_str(&format!(", ignores {}", point.ignore));
    }
    state
}

/// Writes the processes with their states and locations; the selected one is marked.
pub fn write_processes(page: &mut Page, processes: &[ProcessView]) {
    let rows: Vec<Vec<Cell>> = processes
        .iter()
        .map(|process| {
            let place = match process.location.address {
                0 => String::new(),
                _ => format!(" in {}", long_location(page, &process.location)),
            };
            let program = process.program.rsplit('/').next().unwrap_or_default();
            vec![
                if process.current { "*" } else { " " }.into(),
                Cell::new(process.number.to_string(), STRONG),
                process.id.to_string().into(),
                safe(program).as_ref().into(),
                process.thread_count.to_string().into(),
                format!("{}{place}", safe(&process.state)).into(),
            ]
        })
        .collect();
    let heading = ["", "#", "id", "program", "threads", "state"];
    columns::write(page, 0, &heading, &rows);
}

/// Writes the signals, and how juror handles each.
pub fn write_signals(page: &mut Page, signals: &[SignalView]) {
    let shown = |signal: &SignalView, is: bool| match (is, signal.when_fatal) {
        (true, _) => "yes",
        (false, true) => "if fatal",
        (false, false) => "no",
    };
    let passed = |signal: &SignalView| match (signal.pass, signal.when_handled) {
        (true, true) => "if handled",
        (true, false) => "yes",
        (false, _) => "no",
    };
    let rows: Vec<Vec<Cell>> = signals
        .iter()
        .map(|signal| {
            vec![
                signal.number.to_string().into(),
                Cell::new(safe(&signal.name), NAME),
                shown(signal, signal.stop).into(),
                shown(signal, signal.print).into(),
                passed(signal).into(),
                Cell::new(safe(&signal.description), QUIET),
            ]
        })
        .collect();
    let heading = ["number", "name", "stop", "print", "pass", "description"];
    columns::write(page, 0, &heading, &rows);
}

/// Writes the registers in hexadecimal and decimal, with their meanings.
pub fn write_registers(page: &mut Page, registers: &[RegisterView]) {
    let rows: Vec<Vec<Cell>> = registers
        .iter()
        .map(|register| {
            vec![
                Cell::new(safe(&register.name), NAME),
                format!("{:#018x}", register.value).into(),
                register.value.to_string().into(),
                Cell::new(safe(register.meaning.as_deref().unwrap_or("")), QUIET),
            ]
        })
        .collect();
    columns::write(page, 0, &[], &rows);
}

/// Writes `name = value` lines.
pub fn write_variables(page: &mut Page, variables: &[VariableView]) {
    if variables.is_empty() {
        page.push("None.\n");
    }
    for variable in variables {
        write!(page, "{NAME}{}{NAME:#} = ", safe(&variable.name));
        write_value_text(page, &variable.value);
    }
}

/// Writes `$1 = value`.
pub fn write_value(page: &mut Page, value: &ValueView) {
    if value.number > 0 {
        write!(page, "{QUIET}${} ={QUIET:#} ", value.number);
    }
    // A bare address needs its type; a string does not.
    let name = value.type_name.trim_end_matches("const").trim_end();
    let is_pointer = name.ends_with('*') || name.contains("(*");
    // So does a pointer to a member of a class.
    let is_member = name.contains("::*") && !value.value.starts_with(['<', '{']);
    let is_address = is_pointer && value.value.starts_with("0x") || is_member;
    let is_function = !is_address && value.value.starts_with("0x") && is_of_function(name);
    if is_function && !value.is_formatted {
        write!(page, "{QUIET}{{{}}}{QUIET:#} ", safe(&value.type_name));
    }
    if is_address && !value.is_formatted && !value.value.contains('"') {
        write!(page, "{QUIET}({}){QUIET:#} ", safe(&value.type_name));
    }
    write_value_text(page, &value.value);
}

/// Tells whether a type name is that of a C function: `int (int)`, `char *(void)`.
fn is_of_function(name: &str) -> bool {
    let is_list = [" (", "*(", "&("].iter().any(|open| name.contains(open));
    is_list && name.ends_with(')')
}

/// Writes the expressions that are displayed at each stop.
pub fn write_displays(page: &mut Page, displays: &[DisplayView]) {
    for display in displays {
        let name = safe(&display.expression);
        write!(page, "{QUIET}{}:{QUIET:#} {name} = ", display.number);
        match (&display.value, &display.error) {
            (Some(value), _) => write_value_text(page, value),
            (None, error) => {
                let why = error.as_deref().unwrap_or("it has no value");
                writeln!(page, "{QUIET}<{}>{QUIET:#}", safe(why));
            }
        }
    }
}

/// Writes a value, which may have several lines.
fn write_value_text(page: &mut Page, text: &str) {
    if text.is_empty() {
        page.push("\n");
    }
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        page.push(&highlighting::value(&safe(line), false));
        page.end_line(indent + VALUE_INDENT);
    }
}

/// The indent of what follows the first line of a value at a terminal, beyond that of the value.
const VALUE_INDENT: usize = 2;

/// The width limit for lists of words, in columns.
const WORDS_WIDTH: usize = 76;

/// Writes a message of one or several lines.
pub fn write_message(page: &mut Page, message: &str) {
    for line in message.lines() {
        writeln!(page, "{}", safe(line));
    }
}

/// Writes text to be read, of one or several paragraphs.
fn write_paragraphs(page: &mut Page, text: &str) {
    for line in text.lines() {
        page.push(&safe(line));
        page.end_line(0);
    }
}

/// Writes text that the user has formatted, as it is; a newline ends it.
pub fn write_printed(page: &mut Page, text: &str) {
    page.push(text);
    if !text.ends_with('\n') {
        page.push("\n");
    }
}

/// Writes a list of commands.
pub fn write_help_index(page: &mut Page, commands: &[CommandHelp]) {
    let rows: Vec<Vec<Cell>> = commands
        .iter()
        .map(|command| {
            vec![
                Cell::new(safe(&command.name), NAME),
                Cell::new(safe(&command.aliases.join(", ")), QUIET),
                safe(&command.summary).as_ref().into(),
            ]
        })
        .collect();
    columns::write(page, 0, &[], &rows);
    page.gap();
    write_paragraphs(
        page,
        "Type help COMMAND for details. Any unique prefix of a name works; Enter repeats a step.",
    );
}

/// Writes the groups of commands.
pub fn write_help_groups(page: &mut Page, groups: &[GroupHelp]) {
    for group in groups {
        let (name, summary) = (safe(&group.name), safe(&group.summary));
        write!(page, "{STRONG}{name}{STRONG:#}: {summary}");
        page.end_line(2);
        write_words(page, &group.commands);
    }
    page.gap();
    write_paragraphs(
        page,
        "Type help GROUP for the commands of a group, help COMMAND for one command, apropos WORD\n\
         to search. Any unique prefix of a name works; Enter repeats a step.",
    );
}

/// Writes words in indented lines of at most [`WORDS_WIDTH`] columns.
fn write_words(page: &mut Page, words: &[String]) {
    let width = page
        .width()
        .map_or(WORDS_WIDTH, |it| it.clamp(20, WORDS_WIDTH + 2) - 2);
    let mut line = String::new();
    for word in words {
        let word = safe(word);
        if !line.is_empty() && line.len() + word.len() + 2 > width {
            writeln!(page, "  {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push_str("  ");
        }
        line.push_str(&word);
    }
    if !line.is_empty() {
        writeln!(page, "  {line}");
    }
}

/// Writes the help of one command.
pub fn write_help(page: &mut Page, command: &CommandHelp) {
    let summary = safe(&command.summary);
    write!(page, "{STRONG}{}{STRONG:#}", safe(&command.name));
    if !command.aliases.is_empty() {
        write!(page, " ({})", safe(&command.aliases.join(", ")));
    }
    write!(page, ": {summary}");
    page.end_line(2);
    let rows: Vec<Vec<Cell>> = command
        .examples
        .iter()
        .map(|(typed, effect)| vec![Cell::new(safe(typed), NAME), safe(effect).as_ref().into()])
        .collect();
    page.gap();
    columns::write(page, 2, &[], &rows);
    if !command.details.is_empty() {
        page.gap();
        write_paragraphs(page, &command.details);
    }
    if let Some(possible) = &command.possible {
        page.gap();
        write_paragraphs(page, possible);
    }
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use crate::stops::samples::location;
    use juror_view::{GuardView, PointLocation, ThreadView, WaitView};

    fn place(number: u32, file: &str, line: u32) -> PointLocation {
        PointLocation {
            place: location("queue_push", file, line),
            number,
            enabled: number != 2,
            hits: u64::from(number),
            passage: Some("emulated".into()),
        }
    }

    pub fn points() -> Vec<PointView> {
        vec![
            PointView {
                number: Some(1),
                owner: "developer".into(),
                for_what: "queue_push".into(),
                enabled: true,
                temporary: true,
                locations: vec![place(1, "queue.c", 24), place(2, "ring.c", 9)],
                hits: 3,
                passage: Some("emulated".into()),
                ignore: 20,
                ..PointView::default()
            },
            PointView {
                number: Some(3),
                owner: "developer".into(),
                for_what: "take thread 2 if n > 3".into(),
                enabled: true,
                locations: vec![place(1, "queue.c", 40)],
                hits: 7,
                passage: Some("emulated".into()),
                condition: Some("n > 3".into()),
                thread: Some(2),
                stops_left: Some(4),
                commands: vec!["silent".into(), "print n".into()],
                ..PointView::default()
            },
            PointView {
                owner: "monitor".into(),
                for_what: "queue_bounds: new".into(),
                enabled: true,
                ..PointView::default()
            },
        ]
    }

    pub fn threads() -> Vec<ThreadView> {
        [(1, true, "main"), (2, false, "work\u{7}er")]
            .map(|(number, current, name)| ThreadView {
                number,
                id: 4710 + number,
                name: name.into(),
                current,
                location: location("take", "queue.c", 40),
                caller: (!current).then(|| location("serve", "queue.c", 12)),
                waits: (!current).then(|| WaitView {
                    what: "the mutex `q\u{7}`".into(),
                    holder: Some(1),
                    guards: vec![GuardView {
                        thread: 1,
                        location: location("take", "queue.c", 40),
                    }],
                }),
            })
            .into()
    }

    pub fn processes() -> Vec<ProcessView> {
        [(1, false, "faulty"), (2, true, "she\u{7}ll")]
            .map(|(number, current, program)| ProcessView {
                number,
                id: 4710 + number,
                program: format!("/bin/{program}"),
                current,
                state: "stopped".into(),
                thread_count: 2,
                location: location("take", "queue.c", 40),
            })
            .into()
    }

    pub fn signals() -> Vec<SignalView> {
        vec![SignalView {
            number: 10,
            name: "SIGUSR1".into(),
            description: "user-defined signal 1".into(),
            stop: true,
            print: true,
            pass: false,
            when_fatal: false,
            when_handled: false,
        }]
    }

    pub fn registers() -> Vec<RegisterView> {
        vec![
            RegisterView {
                name: "rax".into(),
                value: 16,
                meaning: None,
            },
            RegisterView {
                name: "rip".into(),
                value: 0x401136,
                meaning: Some("queue_push+4".into()),
            },
        ]
    }

    pub fn group() -> GroupHelp {
        GroupHelp {
            name: "running".into(),
            summary: "start, step and end the program".into(),
            commands: vec!["next".into(), "step".into()],
        }
    }

    pub fn help() -> CommandHelp {
        CommandHelp {
            name: "next".into(),
            aliases: vec!["n".into()],
            summary: "run to the next line, over calls".into(),
            examples: vec![
                ("next".into(), "one line".into()),
                ("next 3".into(), "three lines".into()),
            ],
            details: "Stops early at a violation.".into(),
            possible: Some("Possible while the program is stopped.".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;
    use crate::stops::samples::variable;

    #[test]
    fn points_have_a_row_for_each_location() {
        assert_eq!(
            plain(|page| write_points(page, &samples::points())),
            "\
#    owner      what                    state                       hits  step-over  where
1    developer  queue_push              inserted, once, ignores 20  3
1.1                                                                 1     emulated   queue_push at src/queue.c:24
1.2                                     disabled                    2     emulated   queue_push at src/ring.c:9
3    developer  take thread 2 if n > 3  inserted, for 4 stops       7     emulated   queue_push at src/queue.c:40
                  silent
                  print n
     monitor    queue_bounds: new       not inserted                0
"
        );
        assert_eq!(plain(|page| write_points(page, &[])), "No breakpoints.\n");
    }

    #[test]
    fn registers_are_in_both_bases() {
        assert_eq!(
            plain(|page| write_registers(page, &samples::registers())),
            "rax  0x0000000000000010  16
rip  0x0000000000401136  4198710  queue_push+4
"
        );
    }

    #[test]
    fn variables_and_values() {
        let variables = [
            variable("c", "char", "110 'n'"),
            variable("queue", "struct queue", "{\n  count = 8\n}"),
        ];
        assert_eq!(
            plain(|page| write_variables(page, &variables)),
            "c = 110 'n'\nqueue = {\n  count = 8\n}\n"
        );
        assert_eq!(plain(|page| write_variables(page, &[])), "None.\n");
        for (number, expected) in [(3, "$3 = \\u{1b}[0m\n"), (0, "\\u{1b}[0m\n")] {
            let value = ValueView {
                is_formatted: false,
                number,
                type_name: "char *".into(),
                value: "\u{1b}[0m".into(),
            };
            assert_eq!(plain(|page| write_value(page, &value)), expected);
        }
    }

    #[test]
    fn functions_and_members_are_shown_with_their_types() {
        for (type_name, value, expected) in [
            ("int (int)", "0x1000 <f>", "$1 = {int (int)} 0x1000 <f>\n"),
            (
                "char *(void)",
                "0x1000 <f>",
                "$1 = {char *(void)} 0x1000 <f>\n",
            ),
            (
                "int (*)(int)",
                "0x1000 <f>",
                "$1 = (int (*)(int)) 0x1000 <f>\n",
            ),
            ("int S::*", "&S::b", "$1 = (int S::*) &S::b\n"),
            ("int (S::*)(int)", "null", "$1 = (int (S::*)(int)) null\n"),
            ("int S::*", "<optimized out>", "$1 = <optimized out>\n"),
            ("int", "0x10", "$1 = 0x10\n"),
        ] {
            let value = ValueView {
                is_formatted: false,
                number: 1,
                type_name: type_name.into(),
                value: value.into(),
            };
            assert_eq!(plain(|page| write_value(page, &value)), expected);
        }
    }

    #[test]
    fn help_shows_examples() {
        assert_eq!(
            plain(|page| write_help(page, &samples::help())),
            "next (n): run to the next line, over calls

  next    one line
  next 3  three lines

Stops early at a violation.

Possible while the program is stopped.
"
        );
        assert!(
            plain(|page| write_help_index(page, &[samples::help()]))
                .starts_with("next  n  run to the next line, over calls\n\nType help COMMAND")
        );
    }
}
