//! Scenarios: their output, and their states.

use crate::escape::safe;
use crate::page::{NAME, OPEN, Page, QUIET, STRONG};
use juror_view::{ScenarioLine, ScenarioView};

/// Returns the output of a scenario, with its name before each line.
pub fn line(line: &ScenarioLine) -> String {
    let name = safe(&line.scenario);
    let style = match line.sort {
        "report" => STRONG,
        _ => QUIET,
    };
    let lead = format!("{style}[{name}]{style:#} ");
    let mut text = String::new();
    for part in line.text.split('\n') {
        text.push_str(&lead);
        text.push_str(&safe(part));
        text.push('\n');
    }
    text
}

/// Writes the scenarios with their variables and points.
pub fn write(page: &mut Page, scenarios: &[ScenarioView]) {
    for scenario in scenarios {
        page.gap();
        write_one(page, scenario);
    }
}

fn write_one(page: &mut Page, scenario: &ScenarioView) {
    let name = safe(&scenario.scenario);
    let description = scenario.description.as_deref().map(safe);
    let description = description.map_or_else(String::new, |text| format!(": {text}"));
    let properties: Vec<_> = scenario.properties.iter().map(|it| safe(it)).collect();
    let about = if properties.is_empty() {
        "for all properties".to_owned()
    } else {
        format!("for {}", properties.join(", "))
    };
    let off = if scenario.enabled {
        String::new()
    } else {
        format!(", {OPEN}off{OPEN:#}")
    };
    let reactions = match scenario.reactions {
        0 => "no reactions yet".to_owned(),
        1 => "1 reaction".to_owned(),
        count => format!("{count} reactions"),
    };
    writeln!(page, "{STRONG}{name}{STRONG:#}{description}");
    writeln!(
        page,
        "  {about}, {reactions}{off} {QUIET}({}){QUIET:#}",
        safe(&scenario.file)
    );
    for variable in &scenario.variables {
        let value = variable.value.to_string();
        writeln!(
            page,
            "  {NAME}{}{NAME:#} = {}",
            safe(&variable.name),
            safe(&value)
        );
    }
    if !scenario.points.is_empty() {
        let points: Vec<String> = scenario.points.iter().map(u32::to_string).collect();
        writeln!(page, "  points: {}", points.join(", "));
    }
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use juror_event::Value;
    use juror_view::NamedValue;

    /// A scenario.
    pub fn scenario() -> ScenarioView {
        ScenarioView {
            scenario: "zoom".into(),
            description: Some("looks closely".into()),
            file: "zoom.scn".into(),
            enabled: true,
            properties: vec!["queue_bounds".into()],
            reactions: 2,
            variables: vec![NamedValue {
                name: "last".into(),
                value: Value::Int(3),
            }],
            points: vec![4, 5],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_name_of_the_scenario() {
        let said = line(&ScenarioLine {
            scenario: "zoom\u{1b}".into(),
            sort: "print",
            text: "a\nb\u{7}".into(),
        });
        let plain = anstream::adapter::strip_str(&said).to_string();
        assert_eq!(plain, "[zoom\\u{1b}] a\n[zoom\\u{1b}] b\\u{7}\n");
    }
}
