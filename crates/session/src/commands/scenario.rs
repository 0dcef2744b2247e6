//! `scenario`: loads, deletes, enables and disables scenarios while the program runs.

use crate::commands::property;
use crate::run::points;
use crate::session::Session;
use crate::state::scenarios::PointReaction;
use juror_fault::CommandError;
use juror_language::suggest;
use juror_monitoring::property_files::PropertySource;
use juror_points::point::PointOwner;
use juror_view::{NamedValue, Outcome, ScenarioView};
use std::path::Path;

/// The words after `scenario`.
pub(crate) const ACTIONS: [&str; 4] = ["delete", "disable", "enable", "load"];

/// `scenario`, `scenario load FILE`, `scenario delete NAME`, ...
pub(crate) fn scenario_command(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let (action, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let words = words.trim();
    match action {
        "" => scenario_views(session, ""),
        "load" | "add" => load_scenario_file(session, words),
        "delete" | "remove" => delete_scenario(session, words),
        "enable" => enable_scenario(session, words, true),
        "disable" => enable_scenario(session, words, false),
        name if words.is_empty() && session.scenarios.names().any(|it| it == name) => {
            scenario_views(session, name)
        }
        other => Err(CommandError::with_help(
            format!("`scenario {other}` is unknown"),
            match suggest(other, ACTIONS.into_iter().chain(session.scenarios.names())) {
                Some(near) => format!("did you mean `scenario {near}`?"),
                None => "scenario load FILE, scenario delete, enable or disable NAME, or \
                         scenario alone"
                    .to_owned(),
            },
        )),
    }
}

fn load_scenario_file(session: &mut Session, file: &str) -> Result<Outcome, CommandError> {
    if file.is_empty() {
        return Err(CommandError::with_help(
            "the name of a scenario file is missing",
            "scenario load board.scn",
        ));
    }
    let source = PropertySource::read(Path::new(file)).map_err(CommandError::new)?;
    // As on the command line, the properties are added with it; after its errors were checked.
    session.scenarios_of(&source)?;
    let added = property::add_missing_properties(session, &source)?;
    let names = session.load_scenarios(&source)?;
    let mut said = loaded_sentence(&names);
    for name in added {
        let since = if session.has_begun() {
            "now on"
        } else {
            "the start of the run"
        };
        said.push_str(&format!("\n{name} is evaluated from {since}."));
    }
    Ok(Outcome::Message(said))
}

fn position_of_scenario(session: &Session, name: &str) -> Result<usize, CommandError> {
    if name.is_empty() {
        return Err(CommandError::with_help(
            "the name of a scenario is missing",
            "`scenario` alone lists them",
        ));
    }
    if session.scenarios.is_idle() {
        return Err(no_scenario());
    }
    let position = session.scenarios.names().position(|it| it == name);
    position.ok_or_else(|| {
        CommandError::advised(
            format!("no scenario is named `{name}`"),
            suggest(name, session.scenarios.names()).map(|near| format!("did you mean `{near}`?")),
        )
    })
}

fn enable_scenario(
    session: &mut Session,
    name: &str,
    is_enabled: bool,
) -> Result<Outcome, CommandError> {
    let position = position_of_scenario(session, name)?;
    let numbers = points_of_scenario(session, position);
    if let Some(loaded) = session.scenarios.list.get_mut(position) {
        loaded.is_enabled = is_enabled;
    }
    for number in numbers {
        points::point(session, number)?.enabled = is_enabled;
    }
    points::settle_points(session)?;
    session.renew_listeners();
    Ok(Outcome::Message(if is_enabled {
        format!("{name} is enabled")
    } else {
        format!("{name} is disabled, and its points too")
    }))
}

fn delete_scenario(session: &mut Session, name: &str) -> Result<Outcome, CommandError> {
    let position = position_of_scenario(session, name)?;
    let numbers = points_of_scenario(session, position);
    points::delete_points(session, &numbers)?;
    session.scenarios.list.remove(position);
    session.scenarios.forget_waiting_of(position);
    session
        .scenarios
        .points
        .retain(|it| it.scenario != position);
    for PointReaction { scenario, .. } in &mut session.scenarios.points {
        *scenario -= usize::from(*scenario > position);
    }
    for point in points::every_point(session) {
        if let PointOwner::Scenario { number, .. } = &mut point.owner {
            *number -= u32::from(*number as usize > position);
        }
    }
    session
        .processes
        .monitors
        .subscriptions
        .lasting
        .retain(|it| !numbers.contains(&it.point));
    session.renew_listeners();
    Ok(Outcome::Message(format!(
        "{name} is deleted, with its points"
    )))
}

/// Returns the points that a scenario has set.
fn points_of_scenario(session: &mut Session, position: usize) -> Vec<u32> {
    let is_own = |owner: PointOwner| matches!(owner, PointOwner::Scenario { number, .. } if number as usize == position);
    let all = points::every_point(session).filter(|it| is_own(it.owner));
    let mut numbers: Vec<u32> = all.map(|it| it.number).collect();
    numbers.sort_unstable();
    numbers
}

/// Returns the points that scenarios have set.
pub(crate) fn scenario_points(session: &mut Session) -> Vec<u32> {
    let all = points::every_point(session);
    all.filter(|it| it.owner != PointOwner::Developer)
        .map(|it| it.number)
        .collect()
}

/// Restarts the scenarios with the program; the points that they have set are deleted. If one of
/// them starts the program, all keep their variables, so that it can count the runs.
pub(crate) fn restart_scenarios(session: &mut Session) -> Result<(), CommandError> {
    let lasting: Vec<u32> = session
        .scenarios
        .list
        .iter()
        .flat_map(|it| it.signal_points.iter().copied())
        .collect();
    let mut numbers = scenario_points(session);
    numbers.retain(|it| !lasting.contains(it));
    points::delete_points(session, &numbers)?;
    session
        .scenarios
        .points
        .retain(|it| lasting.contains(&it.number));
    session.scenarios.checkpoints.clear();
    session.scenarios.queued.clear();
    session.scenarios.waiting.clear();
    let is_continued = session.scenarios.acts;
    for loaded in session.scenarios.list.iter_mut().filter(|_| !is_continued) {
        let initial = loaded.scenario.variables.iter();
        loaded.variables = initial.map(|it| it.initial.clone()).collect();
        loaded.reactions = 0;
    }
    session.renew_listeners();
    Ok(())
}

/// `info scenarios`
pub(crate) fn scenario_views(session: &mut Session, name: &str) -> Result<Outcome, CommandError> {
    if session.scenarios.is_idle() {
        return Err(no_scenario());
    }
    let mut views = Vec::new();
    for position in 0..session.scenarios.list.len() {
        let points = points_of_scenario(session, position);
        let Some(loaded) = session.scenarios.list.get(position) else {
            continue;
        };
        let scenario = &loaded.scenario;
        if !name.is_empty() && *scenario.name != *name {
            continue;
        }
        let variables = scenario.variables.iter().zip(&loaded.variables);
        views.push(ScenarioView {
            scenario: scenario.name.to_string(),
            description: scenario.description.as_ref().map(|it| it.to_string()),
            file: loaded.file.clone(),
            enabled: loaded.is_enabled,
            properties: scenario
                .properties
                .iter()
                .map(|it| it.to_string())
                .collect(),
            reactions: loaded.reactions,
            variables: variables
                .map(|(variable, value)| NamedValue {
                    name: variable.name.to_string(),
                    value: value.clone(),
                })
                .collect(),
            points,
        });
    }
    Ok(Outcome::Scenarios(views))
}

/// Returns the message that scenarios are loaded.
pub(crate) fn loaded_sentence(names: &[String]) -> String {
    let many = if names.len() == 1 { "" } else { "s" };
    format!("scenario{many} {} loaded", names.join(", "))
}

fn no_scenario() -> CommandError {
    CommandError::with_help(
        "no scenarios are loaded",
        "load one: scenario load FILE, or start juror with --scenario FILE",
    )
}
