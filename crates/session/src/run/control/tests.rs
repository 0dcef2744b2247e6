//! Tries every command in every mode, to check the modes of the table.

use crate::command_table::entry::Entry;
use crate::command_table::{INFO_SUBJECTS, TABLE, info_modes};
use crate::options::Options;
use crate::run::attach;
use crate::session::Session;
use crate::state::control::not_running;
use juror_control::{ControlCheck, ControlCheckMaker, Mode, Modes};
use juror_debuggee::SelfCheck;
use juror_fault::CommandError;
use juror_view::observer::SilentObserver;
use std::path::PathBuf;

/// Creates a session in a mode. The program waits for a line that never comes.
fn session(mode: Mode) -> Session {
    let options = Options {
        program: match mode {
            Mode::Init => PathBuf::new(),
            _ => PathBuf::from("/bin/true"),
        },
        ..Options::default()
    };
    let mut session = Session::start(options, &mut SilentObserver).expect("it starts");
    if mode == Mode::Break {
        session
            .execute("start", &mut SilentObserver)
            .expect("it begins");
    }
    assert_eq!(session.control.state.mode(), mode);
    session
}

/// Creates the check of a control by its model.
pub(crate) fn shadowed() -> Result<ControlCheck, String> {
    let mut follow = juror_model::debugger_control::follower()?;
    Ok(ControlCheck::new(move |state| follow(state.shown())))
}

/// Returns the self-check's report on a session after some commands.
fn checked(commands: &[&str], meanwhile: fn(&mut Session)) -> Option<String> {
    let self_check = SelfCheck::new();
    let options = Options {
        program: PathBuf::from("/bin/true"),
        self_check: Some(self_check.clone()),
        control_check: Some(ControlCheckMaker(shadowed)),
        ..Options::default()
    };
    let mut session = Session::start(options, &mut SilentObserver).expect("it starts");
    for command in commands {
        session
            .execute(command, &mut SilentObserver)
            .expect("it is possible");
        meanwhile(&mut session);
    }
    attach::leave(&mut session).expect("it ends");
    self_check.report().violation
}

#[test]
fn a_session_follows_the_model_of_its_control() {
    let commands = ["start", "stepi", "continue", "run", "start", "kill"];
    assert_eq!(checked(&commands, |_| {}), None);
}

#[test]
fn a_session_that_leaves_the_model_of_its_control_is_found() {
    // The transition of control to the program is lost.
    let forget = |session: &mut Session| {
        if session.control.state.mode() == Mode::Break {
            session.control.state.run().expect("it stands");
            session.control.state.take_history().for_each(drop);
            session.control.state.finish();
        }
    };
    let found = checked(&["start", "stepi"], forget).expect("it is found");
    assert!(
        found.contains("the control diverges from its model"),
        "{found}"
    );
    assert!(found.contains("mode = Break?"), "{found}");
}

/// Returns whether a command was refused because of the mode.
fn is_refused(result: Result<(), CommandError>) -> bool {
    let Err(error) = result else { return false };
    let begun_already = "a program is already being debugged";
    error.message == not_running().message || error.message == begun_already
}

#[track_caller]
fn check(kept: &mut Option<Session>, line: &str, modes: Modes, mode: Mode) {
    let mut session = kept.take().unwrap_or_else(|| session(mode));
    let result = session.execute(line, &mut SilentObserver).map(|_| ());
    let message = result.as_ref().err().map(|it| it.message.clone());
    if session.points.commands.is_being_given() {
        // The next lines would belong to a group.
        session.execute("end", &mut SilentObserver).expect("an end");
    }
    assert_eq!(
        is_refused(result),
        !modes.contain(mode),
        "`{line}` in {mode}: {message:?}"
    );
    let now = session.control.state.mode();
    assert!(
        matches!(now, Mode::Init | Mode::Loaded | Mode::Break),
        "`{line}` leaves the control in {now}"
    );
    assert!(!session.control.state.owes_stop());
    if now == mode {
        *kept = Some(session)
    } else {
        drop(attach::leave(&mut session))
    }
}

/// Returns a line for a command that needs nothing of the program.
fn line_of(entry: &Entry) -> String {
    let name = entry.name;
    match name {
        "attach" => "attach 0".to_owned(),
        // The working directory is shared by all tests of this process, and no file must be left.
        "cd" => "cd .".to_owned(),
        "save" => "save breakpoints /dev/null".to_owned(),
        "record" => "record stop".to_owned(),
        "generate-core-file" => "gcore /no/such/directory/core".to_owned(),
        // The first example assigns to a variable of the program.
        "set" => "set follow parent".to_owned(),
        "print" | "call" | "output" => format!("{name} 1"),
        "printf" => "printf \"%d\", 1".to_owned(),
        "awatch" | "change" | "rwatch" | "watch" => format!("{name} nothing_of_this_name"),
        "advance" | "disassemble" => format!("{name} nothing_of_this_name"),
        _ if entry.modes == Modes::Always => entry.examples[0].0.to_owned(),
        _ => name.to_owned(),
    }
}

#[test]
fn commands_are_possible_exactly_where_help_says_so() {
    for mode in [Mode::Init, Mode::Loaded, Mode::Break] {
        // A session is reused while it is in its mode.
        let mut session = None;
        for entry in TABLE.iter() {
            let is_start = matches!(entry.name, "run" | "start");
            if is_start && mode == Mode::Init {
                // There is no program to run.
                continue;
            }
            let line = line_of(entry);
            check(&mut session, &line, entry.modes, mode);
        }
        for (subject, _) in INFO_SUBJECTS {
            let line = match *subject {
                // Without a location, it is the program's present one.
                "scope" => "info scope main".to_owned(),
                other => format!("info {other}"),
            };
            check(&mut session, &line, info_modes(subject), mode);
        }
        session.map(|mut session| attach::leave(&mut session));
    }
}
