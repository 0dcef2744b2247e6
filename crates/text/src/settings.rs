//! Settings, the user's own values and commands, and short answers, as text.

use crate::page::Page;
use crate::tables::write_message;
use juror_view::{
    CommandGroupView, CopyView, EmptyView, EnvironmentVariableView, Listed, PrettyPrinterView,
    RecordedCheckpointView, RecordedEventView, SettingView, ShellEndView, SkipView, SubjectHelp,
    ValueView, VariableView,
};

fn write_lines<T>(page: &mut Page, list: &[T], empty: &str, line: impl Fn(&T) -> String) {
    let lines: Vec<String> = list.iter().map(line).collect();
    if lines.is_empty() {
        write_message(page, empty)
    } else {
        write_message(page, &lines.join("\n"))
    }
}

/// Writes `show`.
pub fn write_settings(page: &mut Page, settings: &[SettingView]) {
    write_lines(page, settings, "", |setting| {
        let rules = setting.substitutions.iter();
        let rules: Vec<String> = rules
            .map(|it| format!("{} is {}", it.from, it.to))
            .collect();
        let value = match (&setting.value, &*setting.name) {
            _ if !rules.is_empty() => rules.join("; "),
            (Some(value), _) => value.clone(),
            (None, "cwd") => "where juror works; see: pwd".to_owned(),
            (None, _) => "none".to_owned(),
        };
        format!("{}: {value}", setting.name)
    });
}

/// Writes `show environment`.
pub fn write_environment(page: &mut Page, variables: &[EnvironmentVariableView]) {
    let empty = "the environment is empty";
    write_lines(page, variables, empty, |variable| match &variable.value {
        Some(value) => format!("{}={value}", variable.name),
        None => format!("{} is not in the environment", variable.name),
    });
}

/// Writes `show convenience`.
pub fn write_convenience_variables(page: &mut Page, variables: &[VariableView]) {
    let empty = "there are none; set $n = 3 creates one";
    write_lines(page, variables, empty, |variable| {
        format!("${} = {}", variable.name, variable.value)
    });
}

/// Writes `show values`.
pub fn write_value_history(page: &mut Page, values: &[ValueView]) {
    write_lines(page, values, "nothing has been printed", |value| {
        format!("${} = {}", value.number, value.value)
    });
}

/// Writes `show user`.
pub fn write_command_groups(page: &mut Page, groups: &[CommandGroupView]) {
    write_lines(page, groups, "", |group| {
        format!("{}: {}", group.name, group.commands.join("; "))
    });
}

/// Writes `views`.
pub fn write_pretty_printers(page: &mut Page, files: &[PrettyPrinterView]) {
    let empty = "only those of the standard libraries of C++ and Rust";
    write_lines(page, files, empty, |file| {
        let plural = if file.rule_count == 1 { "" } else { "s" };
        format!("{}: {} rule{plural}", file.file, file.rule_count)
    });
}

/// Writes `info skip`.
pub fn write_skips(page: &mut Page, skips: &[SkipView]) {
    if skips.is_empty() {
        return write_message(
            page,
            "step skips nothing; the command skip adds a function or file",
        );
    }
    let mut text = String::from("#  state     what");
    for skip in skips {
        let state = if skip.enabled { "enabled" } else { "disabled" };
        let row = format!("\n{:<3}{state:<10}{}", skip.number, skip_words(skip));
        text.push_str(&row);
    }
    write_message(page, &text);
}

/// Writes the skip that was added.
pub fn write_skip(page: &mut Page, skip: &SkipView) {
    let (words, number) = (skip_words(skip), skip.number);
    write_message(page, &format!("step skips {words} (skip {number})"));
}

fn skip_words(skip: &SkipView) -> String {
    let pattern = skip.function_pattern.as_ref();
    let matching = pattern.map(|it| format!("functions that match `{it}`"));
    match (skip.function.clone().or(matching), &skip.file) {
        (Some(function), Some(file)) => format!("{function} in {file}"),
        (Some(function), None) => function,
        (None, Some(file)) => format!("all functions in {file}"),
        (None, None) => String::new(),
    }
}

/// Writes how many bytes `dump` or `restore` copied.
pub fn write_copy(page: &mut Page, copy: &CopyView) {
    let count = copy.byte_count;
    let bytes = if count == 1 { "byte" } else { "bytes" };
    let to = match (&copy.file, copy.address) {
        (Some(file), _) => file.clone(),
        (None, address) => format!("memory at {:#x}", address.unwrap_or_default()),
    };
    write_message(page, &format!("{count} {bytes} in {to}"));
}

/// Writes how a shell command ended.
pub fn write_shell_end(page: &mut Page, end: &ShellEndView) {
    let text = match (end.status, &end.signal) {
        (Some(status), _) => format!("the command ended with status {status}"),
        (None, signal) => {
            let signal = signal.as_deref().unwrap_or_default();
            format!("the command was ended by {signal}")
        }
    };
    write_message(page, &text);
}

/// Writes why a list is empty.
pub fn write_empty(page: &mut Page, view: &EmptyView) {
    let matching = match &view.pattern {
        Some(pattern) => format!(" whose name matches `{pattern}`"),
        None => String::new(),
    };
    let of_frame = |variables: &str| match view.has_debug_info {
        Some(false) => format!("this frame has no debug information about its {variables}"),
        _ => format!("this frame has no {variables}"),
    };
    let text = match view.listed {
        Listed::Functions => format!("there is no function{matching}"),
        Listed::Variables => format!("there is no variable{matching}"),
        Listed::Types => format!("there is no type{matching}"),
        Listed::Arguments => of_frame("arguments"),
        Listed::Locals => of_frame("local variables"),
        Listed::EventValues => "this event has no values".to_owned(),
        Listed::Threads => "no thread has this name".to_owned(),
    };
    write_message(page, &text);
}

/// Writes the subjects of `info`.
pub fn write_subjects(page: &mut Page, subjects: &[SubjectHelp]) {
    write_lines(page, subjects, "", |subject| {
        format!("info {:<14} {}", subject.name, subject.summary)
    });
}

/// Writes the events of a recording.
pub fn write_recorded_events(page: &mut Page, events: &[RecordedEventView]) {
    write_lines(page, events, "the recording has no events", |event| {
        let values = event.values.join(", ");
        format!("{:>10}  {}({values})", event.count, event.event)
    });
}

/// Writes the checkpoints in a recording.
pub fn write_recorded_checkpoints(page: &mut Page, checkpoints: &[RecordedCheckpointView]) {
    write_lines(page, checkpoints, "no checkpoints", |checkpoint| {
        format!(
            "checkpoint {} at event {}",
            checkpoint.number, checkpoint.event
        )
    });
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use juror_view::{SubstitutionView, ThreadName};

    pub fn settings() -> Vec<SettingView> {
        vec![
            SettingView {
                name: "listsize".into(),
                value: Some("10".into()),
                substitutions: vec![],
            },
            SettingView {
                name: "substitute-path".into(),
                value: None,
                substitutions: vec![SubstitutionView {
                    from: "/build".into(),
                    to: "/home/user".into(),
                }],
            },
        ]
    }

    pub fn environment() -> Vec<EnvironmentVariableView> {
        vec![EnvironmentVariableView {
            name: "LANG".into(),
            value: Some("C".into()),
        }]
    }

    pub fn groups() -> Vec<CommandGroupView> {
        vec![CommandGroupView {
            name: "both".into(),
            commands: vec!["print n".into(), "up".into()],
        }]
    }

    pub fn printers() -> Vec<PrettyPrinterView> {
        vec![PrettyPrinterView {
            file: "queue.views".into(),
            rule_count: 2,
        }]
    }

    pub fn skip() -> SkipView {
        SkipView {
            number: 1,
            enabled: true,
            function: None,
            function_pattern: Some("^std::".into()),
            file: Some("queue.h".into()),
        }
    }

    pub fn thread() -> ThreadName {
        ThreadName {
            number: 1,
            id: 4711,
            name: "main".into(),
        }
    }

    pub fn copy() -> CopyView {
        CopyView {
            byte_count: 3,
            file: Some("memory.bin".into()),
            address: None,
        }
    }

    pub fn shell_end() -> ShellEndView {
        ShellEndView {
            status: None,
            signal: Some("SIGTERM".into()),
        }
    }

    pub fn empty() -> EmptyView {
        EmptyView {
            listed: Listed::Functions,
            pattern: Some("^queue_".into()),
            has_debug_info: None,
        }
    }

    pub fn subjects() -> Vec<SubjectHelp> {
        vec![SubjectHelp {
            name: "args".into(),
            summary: "the arguments of the selected frame".into(),
        }]
    }

    pub fn recorded_events() -> Vec<RecordedEventView> {
        vec![RecordedEventView {
            event: "before queue_push".into(),
            values: vec!["queue".into(), "c".into()],
            count: 8,
        }]
    }

    pub fn recorded_checkpoints() -> Vec<RecordedCheckpointView> {
        vec![RecordedCheckpointView {
            number: 1,
            event: 27,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    #[test]
    fn empty_lists_say_why() {
        for (listed, has_debug_info, expected) in [
            (
                Listed::Arguments,
                Some(true),
                "this frame has no arguments\n",
            ),
            (
                Listed::Locals,
                Some(false),
                "this frame has no debug information about its local variables\n",
            ),
            (
                Listed::Types,
                None,
                "there is no type whose name matches `^queue_`\n",
            ),
        ] {
            let view = EmptyView {
                listed,
                has_debug_info,
                ..samples::empty()
            };
            assert_eq!(plain(|page| write_empty(page, &view)), expected);
        }
    }

    #[test]
    fn settings_without_a_value_say_so() {
        let mut settings = samples::settings();
        settings.push(SettingView {
            name: "cwd".into(),
            ..SettingView::default()
        });
        assert_eq!(
            plain(|page| write_settings(page, &settings)),
            "listsize: 10\nsubstitute-path: /build is /home/user\n\
             cwd: where juror works; see: pwd\n"
        );
    }

    #[test]
    fn skips_are_a_table() {
        assert_eq!(
            plain(|page| write_skips(page, &[samples::skip()])),
            "#  state     what\n1  enabled   functions that match `^std::` in queue.h\n"
        );
    }
}
