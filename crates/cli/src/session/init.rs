//! The command files that are executed at the start: `init` of the user, and `.juror` of the
//! current directory if the user has allowed it there.

use super::scripts::Commands;
use super::trust::{self, Allowed};
use crate::directories;
use std::io::ErrorKind;

/// The name of the user's file, in the directory of configuration.
const FILE: &str = "init";

/// Returns the commands of the files. `tell` gets the reason why a file is not executed.
pub fn read(tell: &mut dyn FnMut(&str)) -> Vec<Commands> {
    let mut all = Vec::new();
    if let Some(file) = directories::config().map(|directory| directory.join(FILE)) {
        let name = file.display().to_string();
        match std::fs::read_to_string(&file) {
            Ok(text) => all.push(Commands::of_text(&name, &text)),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => tell(&format!("{name} cannot be read: {error}")),
        }
    }
    let Ok(directory) = std::env::current_dir() else {
        return all;
    };
    match trust::check(&directory) {
        Allowed::Nothing => {}
        Allowed::Text(text) => all.push(Commands::of_text(trust::FILE, &text)),
        Allowed::No(why) => tell(&format!("{} is not executed: {why}", trust::FILE)),
    }
    all
}
