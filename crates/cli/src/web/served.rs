//! The page, with its server.

use crate::arguments::Web;
use crate::output::Output;
use crate::token;
use juror_web::{LivePage, Server, Static};
use std::path::Path;

/// Starts the page or the report that an option asks for, for what does not change in the session.
/// Says where the page is. Called before the session starts.
pub fn begin(web: Option<&Web>, fixed: Static, output: &mut Output) -> anyhow::Result<()> {
    let fixed = Static {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..fixed
    };
    match web {
        None => {}
        Some(Web::Page(port)) => {
            let server = Server::start(*port, token::random()?)?;
            output.say_always(&format!("The page of this run is at {}", server.address()))?;
            output.follow(server.page(fixed), None);
        }
        Some(Web::Report(file)) => {
            output.follow(LivePage::unserved(fixed), Some(file.clone()));
        }
    }
    Ok(())
}

/// Writes a report.
pub fn write_report(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text)
        .map_err(|error| format!("the report {} cannot be written: {error}", file.display()))
}
