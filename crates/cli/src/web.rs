//! `--web`: a page that follows the run, or a report in one file.
//!
//! A juror that is built without the feature `web` has no server and no page: the option refuses
//! every value, so that [`LivePage`] has none.

#[cfg(not(feature = "web"))]
mod absent;
#[cfg(all(feature = "web", feature = "models"))]
pub mod chart;
#[cfg(feature = "web")]
mod served;

#[cfg(not(feature = "web"))]
pub use absent::*;
#[cfg(feature = "web")]
pub use juror_web::{LivePage, Mode, Performed, Static};
#[cfg(feature = "web")]
pub use served::*;
