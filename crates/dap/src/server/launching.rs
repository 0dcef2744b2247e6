//! Loads a program, or attaches to one.

use super::options::below;
use super::processes::process_of;
use super::{Origin, Server, first_commands};
use crate::adapter::{Adapter, Motion, changes};
use crate::filters;
use crate::handlers::{choose_signals, parse};
use crate::points;
use crate::protocol::arguments::{Restart, Start};
use crate::protocol::capabilities::{of_recordings, of_runs_made_again};
use crate::protocol::message::{Failure, Request};
use juror_fault::{CommandError, SessionError};
use juror_monitoring::property_files::PropertySource;
use juror_session::{Options, RecordedRun, RunFile, Session, is_run_file};
use juror_text::messages;
use juror_view::Outcome;
use juror_view::changes::{Changes, Release};
use juror_view::driver::Driver;
use serde_json::{Value, json};
use std::path::PathBuf;

impl Server<'_> {
    /// `launch`
    pub(super) fn launch(&mut self, request: &Request) {
        let loaded = self.permitted(request).and_then(|start| {
            if start.core_file.is_some() {
                return Err(Failure::shown("a core file is opened by `attach`"));
            }
            let file = start.recording.as_ref().map(|file| below(&start, file));
            let options = match file {
                Some(file) if is_run_file(&file) => {
                    let run = RunFile::read(&file);
                    let run = run.map_err(|error| Failure::shown(error.to_string()))?;
                    self.options_of(&start)?.with_run(run)
                }
                Some(_) => return self.replay(start),
                None => self.options_of(&start)?,
            };
            if options.program.as_os_str().is_empty() {
                return Err(Failure::shown("launch needs a program"));
            }
            self.load(options, start)?;
            self.origin = Origin::Launched;
            Ok(())
        });
        self.conclude(request, loaded);
    }

    /// `attach`
    pub(super) fn attach(&mut self, request: &Request) {
        let attached = self.permitted(request).and_then(|start| {
            if start.core_file.is_some() {
                return self.open_core(start);
            }
            if start.recording.is_some() {
                return Err(Failure::shown("a recording is replayed by `launch`"));
            }
            let process = process_of(&start)?;
            let options = Options {
                program: PathBuf::new(),
                ..self.options_of(&start)?
            };
            self.load(options, start)?;
            self.bring(|changes, adapter| changes.attach(process, adapter))?;
            self.origin = Origin::Attached;
            Ok(())
        });
        self.conclude(request, attached);
    }

    /// Opens the core file of `attach`.
    fn open_core(&mut self, start: Start) -> Result<(), Failure> {
        let options = self.options_of(&start)?;
        self.load(options, start)?;
        let opened = self.bring(|changes, adapter| changes.open_core_file(adapter))?;
        self.origin = Origin::CoreFile(match opened {
            Outcome::Stopped(stop) => Some(stop),
            _ => None,
        });
        Ok(())
    }

    /// Makes the call that brings the debuggee; if it fails, there is no session.
    fn bring(
        &mut self,
        act: impl FnOnce(&mut dyn Changes, &mut Adapter) -> Result<Outcome, CommandError>,
    ) -> Result<Outcome, Failure> {
        let Some(session) = &mut self.session else {
            return Err(Failure::quiet("there is no session"));
        };
        let changes = changes(&mut **session)?;
        act(changes, &mut self.adapter).map_err(|error| {
            self.session = None;
            self.start = None;
            Failure {
                is_shown: true,
                ..Failure::from(error)
            }
        })
    }

    /// Checks that there is no program yet. Returns the arguments.
    fn permitted(&self, request: &Request) -> Result<Start, Failure> {
        let start: Start = parse(request.arguments.clone())?;
        match self.session {
            Some(_) => Err(Failure::quiet("a program is being debugged already")),
            None => Ok(start),
        }
    }

    /// Answers `launch` or `attach`, and goes on if the client has configured.
    fn conclude(&mut self, request: &Request, loaded: Result<(), Failure>) {
        let failed = loaded.is_err();
        if !failed {
            self.set_up();
        }
        self.adapter.answer(request, loaded.map(|()| Value::Null));
        if failed {
            return;
        }
        self.tell_process();
        if self.adapter.is_recorded {
            let body = json!({ "capabilities": of_recordings() });
            self.adapter.event("capabilities", body);
        } else if self.session.as_ref().is_some_and(|it| it.goes_back()) {
            let body = json!({ "capabilities": of_runs_made_again() });
            self.adapter.event("capabilities", body);
        }
        if self.adapter.is_recorded || !self.adapter.properties.is_empty() {
            filters::tell(&self.adapter);
        }
        self.tell_initialized();
        if self.is_configured {
            self.begin();
        }
    }

    /// Starts a session.
    fn load(&mut self, options: Options, start: Start) -> Result<(), Failure> {
        let sources = options.properties.iter().chain(&options.scenarios);
        self.adapter.properties = names_of(sources);
        self.adapter.tells_changes = start.state_changes == Some(true);
        let session = Session::start(options, &mut self.adapter);
        self.adapter.end_progress();
        let session = session.map_err(|error| self.refused(&error))?;
        self.take_session(Box::new(session), start);
        Ok(())
    }

    /// Opens the recording of `launch`.
    fn replay(&mut self, start: Start) -> Result<(), Failure> {
        if start.scenarios.iter().flatten().next().is_some() {
            return Err(Failure::shown(
                "a recording has no scenarios: there is no program to react to",
            ));
        }
        let options = self.recording_of(&start)?;
        self.adapter.properties = names_of(&options.properties);
        self.adapter.tells_changes = start.state_changes == Some(true);
        let run = RecordedRun::open(&options, &mut self.adapter);
        self.adapter.end_progress();
        let run = run.map_err(|error| self.refused(&error))?;
        self.adapter.is_recorded = true;
        self.origin = Origin::Recorded;
        self.take_session(Box::new(run), start);
        Ok(())
    }

    /// Keeps a session that has begun.
    fn take_session(&mut self, session: Box<dyn Driver>, start: Start) {
        if let Err(error) = self.host.begins(&*session) {
            self.adapter
                .say_as("stderr", &messages::error(&error.to_string()));
        }
        self.session = Some(session);
        self.start = Some(start);
    }

    /// Returns the reason why a session could not start, and shows its diagnostics.
    fn refused(&self, error: &SessionError) -> Failure {
        if let SessionError::Property { found, .. } | SessionError::Scenario { found, .. } = error {
            self.adapter.say_as("stderr", &messages::files(found));
        }
        Failure::shown(error.to_string())
    }

    /// Executes the first commands, and sets the points that the client has given already.
    fn set_up(&mut self) {
        let (Some(start), Some(session)) = (&self.start, &mut self.session) else {
            return;
        };
        self.adapter.motion = Motion::Unbegun;
        choose_signals(&self.adapter, &mut **session);
        let mut why = Vec::new();
        let files = if self.adapter.is_recorded {
            Vec::new()
        } else {
            self.host
                .command_files(&mut |text| why.push(messages::notice(text)))
        };
        self.adapter.say(&why.concat());
        for file in &files {
            first_commands::execute_file(&mut self.adapter, &mut **session, file);
        }
        let lines = start.init_commands.clone().unwrap_or_default();
        first_commands::execute_lines(&mut self.adapter, &mut **session, &lines);
        if let Some(filters) = self.adapter.filters.clone() {
            self.adapter
                .choose_properties(filters.iter().map(String::as_str));
        }
        points::set_all(&mut self.adapter, &mut **session);
    }

    /// Tells the client of the process.
    fn tell_process(&mut self) {
        let Some(session) = &mut self.session else {
            return;
        };
        let is_core = matches!(self.origin, Origin::CoreFile(_));
        let program = self.start.as_ref().and_then(|start| start.program.clone());
        let found = session.queries().map(|it| it.program());
        let Some(Ok(view)) = found else {
            return;
        };
        let name = program.unwrap_or_else(|| view.process.to_string());
        let method = match self.origin {
            Origin::Launched | Origin::Recorded => "launch",
            Origin::Attached | Origin::CoreFile(_) => "attach",
        };
        let mut body = json!({
            "name": name,
            "isLocalProcess": true,
            "startMethod": method,
            "pointerSize": 64,
        });
        // The process of a core file is no more.
        if !is_core {
            body["systemProcessId"] = json!(view.process);
        }
        self.adapter.event("process", body);
        self.adapter.renew_threads(&mut **session);
    }

    /// `restart`: the same program again; with other arguments, another session.
    pub(super) fn restart(&mut self, request: &Request) {
        let given: Restart = match parse(request.arguments.clone()) {
            Ok(given) => given,
            Err(failure) => return self.adapter.answer(request, Err(failure)),
        };
        let was_launched = matches!(self.origin, Origin::Launched | Origin::Recorded);
        if self.session.is_none() || !was_launched {
            let failure = Failure::shown("only a program that was launched can be restarted");
            return self.adapter.answer(request, Err(failure));
        }
        let known = self.start.clone().unwrap_or_default();
        let wanted = given.arguments.map(|new| Start {
            token: known.token.clone(),
            ..new
        });
        let is_same = wanted.as_ref().is_none_or(|wanted| *wanted == known);
        self.adapter.forget_stop();
        self.adapter.motion = Motion::Unbegun;
        if !is_same && let Err(failure) = self.load_again(wanted.unwrap_or_default()) {
            return self.adapter.answer(request, Err(failure));
        }
        self.adapter.answer(request, Ok(Value::Null));
        self.begin();
    }

    fn load_again(&mut self, start: Start) -> Result<(), Failure> {
        if start.recording.is_some() || self.adapter.is_recorded {
            return Err(Failure::shown(
                "a recording is replayed with other arguments in another session",
            ));
        }
        let options = self.options_of(&start)?;
        self.release(Release::Kill);
        self.session = None;
        self.adapter.motion = Motion::Unbegun;
        self.load(options, start)?;
        self.set_up();
        Ok(())
    }
}

/// Returns the names of the properties.
fn names_of<'s>(sources: impl IntoIterator<Item = &'s PropertySource>) -> Vec<String> {
    let mut names = Vec::new();
    for source in sources {
        for property in source.load().properties {
            let name = property.name.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Returns what executes a command line: the boxed session as a driver.
pub(super) fn driver(session: &mut Option<Box<dyn Driver>>) -> Option<&mut dyn Driver> {
    match session {
        Some(session) => Some(&mut **session),
        None => None,
    }
}
