//! `process` and `info processes`.

use crate::inspect::frames;
use crate::session::Session;
use juror_debuggee::ThreadState;
use juror_view::error::CommandError;
use juror_view::{Outcome, ProcessView, location};

impl Session {
    /// `process`, `process N`: commands speak of another one.
    pub(crate) fn choose_process(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let id = self.running()?.debuggee.pid();
        let current = self.processes.number;
        if text.is_empty() {
            return Ok(Outcome::Message(format!("process {current} ({id})")));
        }
        let help = "see: info processes";
        let number: u32 = text.parse().map_err(|_| {
            CommandError::with_help(format!("`{text}` is not a process's number"), help)
        })?;
        if !self.processes.numbers().contains(&number) {
            return Err(CommandError::with_help(
                format!("there is no process {number}"),
                help,
            ));
        }
        self.switch_to(number);
        self.processes.selection.frames = None;
        frames::select_frame(self, 0)
    }

    /// `info processes`
    pub(crate) fn process_views(&mut self) -> Result<Outcome, CommandError> {
        let home = self.processes.number;
        self.running()?;
        let mut views = Vec::new();
        self.in_every_process(|session| {
            views.push(session.process_view(home)?);
            Ok(())
        })?;
        views.sort_by_key(|view| view.number);
        Ok(Outcome::Processes(views))
    }

    fn process_view(&self, home: u32) -> Result<ProcessView, CommandError> {
        let program = self.running()?;
        let threads: Vec<_> = program.debuggee.threads().collect();
        let selected = self.processes.selection.thread;
        let shown = threads.iter().find(|it| Some(it.id) == selected);
        let shown = shown.or(threads.first());
        let main = program.modules.main();
        Ok(ProcessView {
            number: self.processes.number,
            id: program.debuggee.pid(),
            program: main.map_or_else(String::new, |main| main.path.display().to_string()),
            current: self.processes.number == home,
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
                .map_or_else(Default::default, |pc| location::location(program, pc)),
        })
    }
}
