//! The exception filters of the properties.
//!
//! A property that is added during the session gets a filter, which is on until the client says
//! otherwise.

use crate::adapter::Adapter;
use crate::handlers::{PROPERTY, VIOLATIONS};
use crate::protocol::capabilities::{filter, filters};
use juror_view::driver::Driver;
use juror_view::live::SampleWanted;
use serde_json::{Value, json};

/// Tells the client of the filters, if there are other properties than it was told of.
pub(crate) fn renew(adapter: &mut Adapter, session: &mut dyn Driver) {
    let sample = session.sample(&SampleWanted::default());
    let now: Vec<String> = sample.properties.into_iter().map(|it| it.name).collect();
    let is_same = now.len() == adapter.properties.len()
        && now.iter().all(|name| adapter.properties.contains(name));
    if !is_same {
        adapter.passed.retain(|name| now.contains(name));
        adapter.properties = now;
        tell(adapter);
    }
}

/// Tells the client of the filters, among them one for each property.
pub(crate) fn tell(adapter: &Adapter) {
    let mut all = filters();
    if adapter.is_recorded {
        all.retain(|filter| filter["filter"] == VIOLATIONS);
    }
    all.extend(adapter.properties.iter().map(|name| of_property(name)));
    let body = json!({ "capabilities": { "exceptionBreakpointFilters": all } });
    adapter.event("capabilities", body);
}

fn of_property(name: &str) -> Value {
    let mut filter = filter(
        &format!("{PROPERTY}{name}"),
        &format!("Property: {name}"),
        &format!("Stops where {name} is violated"),
        true,
    );
    filter["supportsCondition"] = true.into();
    filter["conditionDescription"] = "violated".into();
    filter
}
