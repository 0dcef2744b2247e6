//! `scenario`: which scenarios react, while the program is there.

use crate::commands::property;
use crate::run::points;
use crate::session::Session;
use crate::state::scenarios::PointReaction;
use juror_language::suggest;
use juror_monitoring::property_files::PropertySource;
use juror_points::point::PointOwner;
use juror_view::error::CommandError;
use juror_view::{NamedValue, Outcome, ScenarioView};
use std::path::Path;

/// The words after `scenario`.
pub(crate) const ACTIONS: [&str; 4] = ["delete", "disable", "enable", "load"];

impl Session {
    /// `scenario`, `scenario load FILE`, `scenario delete NAME`, ...
    pub(crate) fn scenario_command(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let (action, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let words = words.trim();
        match action {
            "" => self.scenario_views(""),
            "load" | "add" => self.load_scenario_file(words),
            "delete" | "remove" => self.delete_scenario(words),
            "enable" => self.enable_scenario(words, true),
            "disable" => self.enable_scenario(words, false),
            name if words.is_empty() && self.scenarios.names().any(|it| it == name) => {
                self.scenario_views(name)
            }
            other => Err(CommandError::with_help(
                format!("`scenario {other}` is not known"),
                match suggest(other, ACTIONS.into_iter().chain(self.scenarios.names())) {
                    Some(near) => format!("did you mean `scenario {near}`?"),
                    None => "scenario load FILE, scenario delete, enable or disable NAME, or \
                             scenario alone"
                        .to_owned(),
                },
            )),
        }
    }

    fn load_scenario_file(&mut self, file: &str) -> Result<Outcome, CommandError> {
        if file.is_empty() {
            return Err(CommandError::with_help(
                "a file of scenarios is missing",
                "scenario load board.scn",
            ));
        }
        let source = PropertySource::read(Path::new(file)).map_err(CommandError::new)?;
        // As on the command line, the properties come with it; after what may
        // be wrong with it has been looked at.
        self.scenarios_of(&source)?;
        let added = property::add_missing_properties(self, &source)?;
        let names = self.load_scenarios(&source)?;
        let mut said = loaded_sentence(&names);
        for name in added {
            let since = match self.has_begun() {
                true => "now on",
                false => "the start of the run",
            };
            said.push_str(&format!("\n{name} is evaluated from {since}."));
        }
        Ok(Outcome::Message(said))
    }

    fn position_of_scenario(&self, name: &str) -> Result<usize, CommandError> {
        if name.is_empty() {
            return Err(CommandError::with_help(
                "the name of a scenario is missing",
                "`scenario` alone lists them",
            ));
        }
        if self.scenarios.is_idle() {
            return Err(no_scenario());
        }
        let position = self.scenarios.names().position(|it| it == name);
        position.ok_or_else(|| {
            CommandError::advised(
                format!("no scenario is called `{name}`"),
                suggest(name, self.scenarios.names()).map(|near| format!("did you mean `{near}`?")),
            )
        })
    }

    fn enable_scenario(&mut self, name: &str, is_enabled: bool) -> Result<Outcome, CommandError> {
        let position = self.position_of_scenario(name)?;
        let numbers = self.points_of_scenario(position);
        if let Some(loaded) = self.scenarios.list.get_mut(position) {
            loaded.is_enabled = is_enabled;
        }
        for number in numbers {
            points::point(self, number)?.enabled = is_enabled;
        }
        points::settle_points(self)?;
        self.renew_listeners();
        Ok(Outcome::Message(match is_enabled {
            true => format!("{name} reacts again"),
            false => format!("{name} reacts to nothing; its points are off"),
        }))
    }

    fn delete_scenario(&mut self, name: &str) -> Result<Outcome, CommandError> {
        let position = self.position_of_scenario(name)?;
        let numbers = self.points_of_scenario(position);
        points::delete_points(self, &numbers)?;
        self.scenarios.list.remove(position);
        self.scenarios.forget_waiting_of(position);
        self.scenarios.points.retain(|it| it.scenario != position);
        for PointReaction { scenario, .. } in &mut self.scenarios.points {
            *scenario -= usize::from(*scenario > position);
        }
        for point in points::every_point(self) {
            if let PointOwner::Scenario { number, .. } = &mut point.owner {
                *number -= u32::from(*number as usize > position);
            }
        }
        self.processes
            .monitors
            .told
            .lasting
            .retain(|it| !numbers.contains(&it.point));
        self.renew_listeners();
        Ok(Outcome::Message(format!("{name} is gone, and its points")))
    }

    /// The points that a scenario has set.
    fn points_of_scenario(&mut self, position: usize) -> Vec<u32> {
        let is_own = |owner: PointOwner| matches!(owner, PointOwner::Scenario { number, .. } if number as usize == position);
        let all = points::every_point(self).filter(|it| is_own(it.owner));
        let mut numbers: Vec<u32> = all.map(|it| it.number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The points that scenarios have set.
    pub(crate) fn scenario_points(&mut self) -> Vec<u32> {
        let all = points::every_point(self);
        all.filter(|it| it.owner != PointOwner::Developer)
            .map(|it| it.number)
            .collect()
    }

    /// The program begins anew, and with it the scenarios; points that they
    /// have set are gone.
    pub(crate) fn restart_scenarios(&mut self) -> Result<(), CommandError> {
        let lasting: Vec<u32> = self
            .scenarios
            .list
            .iter()
            .flat_map(|it| it.signal_points.iter().copied())
            .collect();
        let mut numbers = self.scenario_points();
        numbers.retain(|it| !lasting.contains(it));
        points::delete_points(self, &numbers)?;
        self.scenarios
            .points
            .retain(|it| lasting.contains(&it.number));
        self.scenarios.checkpoints.clear();
        self.scenarios.heard.clear();
        self.scenarios.waiting.clear();
        for loaded in &mut self.scenarios.list {
            let initial = loaded.scenario.variables.iter();
            loaded.variables = initial.map(|it| it.initial.clone()).collect();
            loaded.reactions = 0;
        }
        self.renew_listeners();
        Ok(())
    }

    /// `info scenarios`
    pub(crate) fn scenario_views(&mut self, name: &str) -> Result<Outcome, CommandError> {
        if self.scenarios.is_idle() {
            return Err(no_scenario());
        }
        let mut views = Vec::new();
        for position in 0..self.scenarios.list.len() {
            let points = self.points_of_scenario(position);
            let Some(loaded) = self.scenarios.list.get(position) else {
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
}

/// That scenarios are loaded.
pub(crate) fn loaded_sentence(names: &[String]) -> String {
    let many = if names.len() == 1 { "" } else { "s" };
    format!("scenario{many} {} loaded", names.join(", "))
}

fn no_scenario() -> CommandError {
    CommandError::with_help(
        "no scenario is loaded",
        "load one: scenario load FILE, or start juror with --scenario FILE",
    )
}
