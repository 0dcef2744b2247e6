//! Runs fuzz targets with their first inputs, and with inputs made of these, for a moment. `fuzz/run
//! --quick` gives the arguments:
//!
//!     SECONDS CORPUS ARTIFACTS TARGET...

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().all(|argument| argument == "--bench") {
        println!("Not run by fuzz/run: no target is run.");
        return ExitCode::SUCCESS;
    }
    match juror_fuzzing::smoke::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("fuzz: {words}");
            ExitCode::FAILURE
        }
    }
}
