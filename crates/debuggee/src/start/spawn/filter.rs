//! The filter of a launched program's system calls: whether it is planned, whether the started
//! process has it, and how its calls stop then.

use std::path::Path;

use libc::{c_int, sock_filter};

use super::Stage;
use crate::error::LaunchError;
use crate::kernel::call_filter::{self, CallFilter, CallStops};
use crate::kernel::process_status::ProcessStatus;
use crate::state::wanted_calls::WantedCalls;

/// The plan of a filter.
pub(super) enum FilterPlan {
    /// There is none; the reason, if one was asked for.
    None(Option<&'static str>),
    Planned {
        code: Vec<sock_filter>,
        /// Whether the program is not started without it.
        is_required: bool,
    },
}

impl FilterPlan {
    pub(super) fn new(stops: &CallStops, path: &Path) -> Result<FilterPlan, LaunchError> {
        let Some(calls) = stops.filtered() else {
            return Ok(FilterPlan::None(None));
        };
        let is_required = stops.is_required();
        match call_filter::obstacle(calls) {
            Some(reason) if is_required => Err(LaunchError::Filter {
                path: path.to_owned(),
                reason: reason.to_owned(),
            }),
            Some(reason) => Ok(FilterPlan::None(Some(reason))),
            None => Ok(FilterPlan::Planned {
                code: call_filter::program(calls, stops.passing()),
                is_required,
            }),
        }
    }

    pub(super) fn is_any(&self) -> bool {
        matches!(self, FilterPlan::Planned { .. })
    }

    /// Installs the filter in this process.
    ///
    /// # Safety
    /// Only between `fork` and `exec`.
    pub(super) unsafe fn install(&self) -> Result<(), (Stage, c_int)> {
        let FilterPlan::Planned { code, is_required } = self else {
            return Ok(());
        };
        // SAFETY: as the caller promises.
        match unsafe { call_filter::install(code) } {
            Err(errno) if *is_required => Err((Stage::Filter, errno as c_int)),
            _ => Ok(()),
        }
    }

    /// Returns how the calls of a started process stop: whether it has the filter.
    pub(super) fn calls_of(&self, child: u32, stops: &CallStops) -> WantedCalls {
        if let CallStops::Every(reason) = stops {
            return WantedCalls::with_filter(None, Some(reason.clone()));
        }
        let Some(calls) = stops.filtered() else {
            return WantedCalls::default();
        };
        let own = ProcessStatus::of_process(std::process::id());
        let reason = match (ProcessStatus::of_process(child), self) {
            (_, FilterPlan::None(reason)) => reason.unwrap_or_default(),
            (Some(now), _) if now.seccomp_filters > 0 => {
                let was_restricted = own.is_some_and(|own| own.has_no_new_privileges);
                let filter = CallFilter {
                    calls: calls.clone(),
                    costs_privileges: now.has_no_new_privileges && !was_restricted,
                };
                return WantedCalls::with_filter(Some(filter), None);
            }
            _ => "the kernel refused the filter",
        };
        WantedCalls::with_filter(None, Some(reason.to_owned()))
    }
}
