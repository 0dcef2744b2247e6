//! `juror model`: checks and simulates models of a design.

mod asm;
mod promela;
mod report;
mod search;

use crate::arguments::model::{ModelAction, ModelCommand};
use crate::output::Output;
use crate::web;
pub use report::Questions;

/// Runs `juror model`. Returns the exit status.
pub fn run(command: &ModelCommand) -> anyhow::Result<u8> {
    match &command.action {
        ModelAction::Check(check) => {
            let mut output = Output::open(check.messages.color, check.json.as_deref(), false)?;
            if let Some(message) = search::without_effect(check) {
                anyhow::bail!("{message}");
            }
            let mut questions = Questions::default();
            let status = if asm::is_machine(&check.model.file) {
                asm::check(check, &mut questions, &mut output)
            } else {
                promela::check(check, &mut questions, &mut output)
            }?;
            // A model that cannot be read has no questions.
            if let Some(web) = &check.web
                && !questions.asked.is_empty()
            {
                let model = check.model.file.display().to_string();
                web::chart::show(web, &model, questions, &mut output)?;
            }
            Ok(status)
        }
        ModelAction::Simulate(simulate) => {
            let mut output = Output::open(simulate.messages.color, None, false)?;
            if asm::is_machine(&simulate.model.file) {
                asm::simulate::simulate(simulate, &mut output)
            } else {
                promela::simulate::simulate(simulate, &mut output)
            }
        }
        ModelAction::Conform(conform) => asm::conform::conform(conform),
    }
}
