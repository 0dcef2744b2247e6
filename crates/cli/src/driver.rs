//! The parts of the session that the command line uses.

use juror_session::Session;

pub use juror_fault::{CommandError, FileDiagnostics, SessionError};
pub use juror_monitoring::property_files::{LoadedFiles, PropertySource};
pub use juror_monitoring::recording::Recording;
#[cfg(feature = "models")]
pub use juror_session::ControlCheck;
pub use juror_session::{
    AtInlined, AutomaticCheckpoints, ControlCheckMaker, CpuPolicy, Follow, Foreground,
    InlinedPolicy, Options, Permissions, SelfCheck, SelfCheckReport, SymbolCache, SymbolSettings,
    SystemCallStops, Tier, Waker,
};
pub use juror_view::driver::{Driver, FrontEnd};
pub use juror_view::observer::Observer;

/// Starts a session.
pub fn start(
    options: Options,
    observer: &mut dyn Observer,
) -> Result<Box<dyn Driver>, SessionError> {
    Ok(Box::new(Session::start(options, observer)?))
}
