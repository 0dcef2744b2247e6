//! `process` and `info processes`.

use crate::inspect::frames;
use crate::session::Session;
use juror_debuggee::ThreadState;
use juror_fault::CommandError;
use juror_program::locations;
use juror_view::{Outcome, ProcessName, ProcessView};

/// `process`, `process N`: selects a process.
pub(crate) fn choose_process(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let id = session.running()?.debuggee.pid();
    if text.is_empty() {
        return Ok(Outcome::Process(ProcessName {
            number: session.processes.number,
            id,
            count: session.processes.numbers().len(),
        }));
    }
    let help = "see: info processes";
    let number: u32 = text.parse().map_err(|_| {
        CommandError::with_help(format!("`{text}` is not the number of a process"), help)
    })?;
    if !session.processes.numbers().contains(&number) {
        return Err(CommandError::with_help(
            format!("there is no process {number}"),
            help,
        ));
    }
    session.switch_to(number);
    session.processes.selection.frames = None;
    frames::select_frame(session, 0)
}

/// `info processes`
pub(crate) fn process_views(session: &mut Session) -> Result<Outcome, CommandError> {
    let home = session.processes.number;
    session.running()?;
    let mut views = Vec::new();
    session.in_every_process(|session| {
        views.push(process_view(session, home)?);
        Ok(())
    })?;
    views.sort_by_key(|view| view.number);
    Ok(Outcome::Processes(views))
}

fn process_view(session: &Session, home: u32) -> Result<ProcessView, CommandError> {
    let program = session.running()?;
    let threads: Vec<_> = program.debuggee.threads().collect();
    let selected = session.processes.selection.thread;
    let shown = threads.iter().find(|it| Some(it.id) == selected);
    let shown = shown.or(threads.first());
    let main = program.modules.main();
    Ok(ProcessView {
        number: session.processes.number,
        id: program.debuggee.pid(),
        program: main.map_or_else(String::new, |main| main.path.display().to_string()),
        current: session.processes.number == home,
        state: match shown.map(|it| it.state) {
            Some(ThreadState::Stopped) => "stopped",
            Some(ThreadState::WaitingForChild) => "waiting",
            Some(ThreadState::Running | ThreadState::Starting) => "running",
            None => "ended",
        }
        .to_owned(),
        thread_count: threads.len(),
        location: shown
            .and_then(|it| it.pc)
            .map_or_else(Default::default, |pc| locations::location(program, pc)),
    })
}
