//! Takes the place of `juror model` in a juror that is built without it.

use crate::arguments::model::ModelCommand;

/// Refuses the command.
pub fn run(_: &ModelCommand) -> anyhow::Result<u8> {
    anyhow::bail!(
        "this juror was built without models\n\
         help: build it with the feature `models`, which is on by default"
    )
}
