//! Run files among what is checked: each run is made again, with the properties over it. Its events have
//! all their values, not those that a trace has kept.

use crate::arguments::{Check, Replay};
use crate::exit;
use crate::output::Output;
use crate::session;
use juror_explore::RunFile;
use std::path::Path;

/// Returns whether a run file is among what is checked.
pub(super) fn are_among(check: &Check) -> bool {
    check
        .traces
        .iter()
        .any(|path| juror_explore::is_run_file(path))
}

/// Checks run files, one after another. Returns the exit status: that of a violation goes before that of an
/// error.
pub(super) fn check(check: &Check) -> anyhow::Result<u8> {
    if let Some(words) = refusal(check) {
        let mut output = Output::open(check.messages.color, check.json.as_deref(), false)?;
        output.show_error(words)?;
        return Ok(exit::USAGE);
    }
    let mut worst = exit::HOLDS;
    for path in &check.traces {
        if check.traces.len() > 1 && check.json.is_none() {
            let mut output = Output::open(check.messages.color, None, false)?;
            output.say(&format!("{}\n", path.display()))?;
        }
        let status = check_one(check, path)?;
        worst = match (worst, status) {
            (exit::VIOLATED, _) | (_, exit::VIOLATED) => exit::VIOLATED,
            _ => worst.max(status),
        };
        if worst != exit::HOLDS && !check.keep_going {
            break;
        }
    }
    Ok(worst)
}

/// Returns why these options and files cannot be checked.
fn refusal(check: &Check) -> Option<&'static str> {
    let mut traces = check.traces.iter();
    if !traces.all(|path| juror_explore::is_run_file(path)) {
        return Some("run files and traces are checked apart: the run of a run file is made again");
    }
    if check.merge || check.follow {
        return Some(
            "--merge and --follow are for traces: the run of a run file is made again by itself",
        );
    }
    let is_file = |path: &Path| path != Path::new("-");
    if check.traces.len() > 1 && (check.json.as_deref().is_some_and(is_file) || check.web.is_some())
    {
        return Some("--json=FILE and --web take the run of one run file");
    }
    None
}

fn check_one(check: &Check, path: &Path) -> anyhow::Result<u8> {
    let mut replay = Replay::from(check);
    path.clone_into(&mut replay.recording);
    let file = RunFile::read(path)?;
    let (program, ..) = file.command();
    let mut run = replay.run(&program)?;
    run.common.batch = true;
    run.common.keep_going = check.keep_going;
    run.common.allow_unbound = check.allow_unbound;
    let options = run.options().map(|options| options.with_run(file));
    session::run(options, &run.common, None)
}
