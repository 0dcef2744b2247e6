//! The scope of the monitors: property, slice, state, variables, path.

use super::variables::counted;
use crate::adapter::{Adapter, changes};
use crate::identifiers::{Container, Slice};
use crate::protocol::bodies::{PresentationHint, Variable};
use crate::protocol::message::Failure;
use juror_view::changes::MonitorPlace;
use juror_view::driver::Driver;
use juror_view::live::{SampleWanted, SlicesWanted};
use juror_view::{NamedValue, PathStep, SliceView, ViolationView};

/// The name under which a state is shown and set.
const STATE: &str = "state";

/// Returns the properties with their verdicts.
pub(super) fn properties(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
) -> Result<Vec<Variable>, Failure> {
    let mut all = Vec::new();
    for sample in session.sample(&SampleWanted::default()).properties {
        let is_sliced = is_sliced(session, &sample.name)?;
        let (container, count) = if is_sliced {
            let count = format!(", {} slices", sample.slice_count);
            (Container::Monitor(sample.name.clone()), count)
        } else {
            let slice = Slice {
                property: sample.name.clone(),
                binding: Vec::new(),
            };
            (Container::Slice(slice), String::new())
        };
        all.push(Variable {
            value: format!("{}{count}", sample.verdict),
            name: sample.name,
            variables_reference: adapter.identifiers.container(container),
            indexed_variables: if is_sliced {
                counted(sample.slice_count)
            } else {
                None
            },
            presentation_hint: read_only(),
            ..Variable::default()
        });
    }
    Ok(all)
}

/// Returns whether a property has slices of objects.
fn is_sliced(session: &mut dyn Driver, property: &str) -> Result<bool, Failure> {
    let wanted = SlicesWanted {
        property: property.to_owned(),
        count: 1,
        ..SlicesWanted::default()
    };
    let page = session.slices(&wanted)?;
    Ok(page.rows.iter().any(|row| !row.binding.is_empty()))
}

/// Returns a page of the slices of a property, the violated first.
pub(super) fn slices(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    property: &str,
    first: u64,
    count: u64,
) -> Result<Vec<Variable>, Failure> {
    let mut all = Vec::new();
    let mut offset = usize::try_from(first).unwrap_or(usize::MAX);
    let mut left = usize::try_from(count).unwrap_or(usize::MAX);
    while left > 0 {
        let page = session.slices(&SlicesWanted {
            property: property.to_owned(),
            violated_first: true,
            offset,
            count: left.min(SlicesWanted::COUNT_MAX),
            ..SlicesWanted::default()
        })?;
        if page.rows.is_empty() {
            break;
        }
        offset = offset.saturating_add(page.rows.len());
        left = left.saturating_sub(page.rows.len());
        for row in page.rows {
            all.push(slice_variable(adapter, property, &row));
        }
    }
    Ok(all)
}

fn slice_variable(adapter: &mut Adapter, property: &str, row: &SliceView) -> Variable {
    let slice = Slice {
        property: property.to_owned(),
        binding: pairs(&row.binding),
    };
    Variable {
        name: words(&slice.binding),
        value: format!("{}: {}", row.state, row.verdict),
        variables_reference: adapter.identifiers.container(Container::Slice(slice)),
        presentation_hint: read_only(),
        ..Variable::default()
    }
}

/// Returns the state and the variables of a slice, and its path.
pub(super) fn parts(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    slice: &Slice,
) -> Result<Vec<Variable>, Failure> {
    let view = chosen(session, slice)?;
    let mut all = vec![Variable {
        name: STATE.to_owned(),
        value: view.state,
        ..Variable::default()
    }];
    all.extend(view.variables.iter().map(|variable| Variable {
        name: variable.name.clone(),
        value: variable.value.to_string(),
        ..Variable::default()
    }));
    all.push(Variable {
        name: "path".to_owned(),
        value: format!("the last {} steps", view.path.len()),
        variables_reference: adapter
            .identifiers
            .container(Container::Path(slice.clone())),
        presentation_hint: read_only(),
        ..Variable::default()
    });
    Ok(all)
}

/// Returns the path of a slice, the last step first.
pub(super) fn path(session: &mut dyn Driver, slice: &Slice) -> Result<Vec<Variable>, Failure> {
    let view = chosen(session, slice)?;
    Ok(view.path.into_iter().rev().map(step).collect())
}

fn step(step: PathStep) -> Variable {
    let values = words(&pairs(&step.values));
    let values = if values.is_empty() {
        values
    } else {
        format!(" ({values})")
    };
    let place = step.location.file.as_deref().zip(step.location.line);
    let place = place.map(|(file, line)| {
        let name = file.rsplit('/').next().unwrap_or(file);
        format!(", {name}:{line}")
    });
    Variable {
        name: step.sequence.to_string(),
        value: format!(
            "{}{values}: {} -> {}{}",
            step.what,
            step.from,
            step.to,
            place.unwrap_or_default()
        ),
        presentation_hint: read_only(),
        ..Variable::default()
    }
}

/// Sets the state or a variable of a slice. Returns the new value.
pub(super) fn assign(
    session: &mut dyn Driver,
    slice: &Slice,
    name: &str,
    value: &str,
) -> Result<String, Failure> {
    let place = MonitorPlace {
        property: slice.property.clone(),
        slice: slice.binding.clone(),
        variable: name.to_owned(),
    };
    changes(session)?.set_monitor(&place, value)?;
    // A slice that has ended by this is not shown any more.
    let Ok(view) = chosen(session, slice) else {
        return Ok(value.to_owned());
    };
    if name == STATE {
        return Ok(view.state);
    }
    let mut variables = view.variables.iter();
    let variable = variables.find(|it| it.name == name);
    Ok(variable.map_or_else(|| value.to_owned(), |it| it.value.to_string()))
}

/// Returns a slice with its path.
fn chosen(session: &mut dyn Driver, slice: &Slice) -> Result<ViolationView, Failure> {
    let values = slice.binding.iter().map(|(_, value)| value.clone());
    let mut wanted = SampleWanted::default();
    let property = slice.property.clone();
    wanted.chosen.insert(property, values.collect());
    let sample = session.sample(&wanted);
    let mut properties = sample.properties.into_iter();
    let found = properties.find(|it| it.name == slice.property);
    let view = found.and_then(|it| it.chosen);
    // Another one is shown if there is none with these values.
    let view = view.filter(|view| pairs(&view.slice) == slice.binding);
    view.ok_or_else(|| Failure::quiet("the slice is not there"))
}

fn pairs(values: &[NamedValue]) -> Vec<(String, String)> {
    let all = values.iter();
    all.map(|it| (it.name.clone(), it.value.to_string()))
        .collect()
}

/// Returns named values as text.
fn words(values: &[(String, String)]) -> String {
    let all = values
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    all.collect::<Vec<_>>().join(", ")
}

fn read_only() -> Option<PresentationHint> {
    Some(PresentationHint {
        attributes: vec!["readOnly"],
        ..PresentationHint::default()
    })
}
