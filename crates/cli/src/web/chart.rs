//! The answers of a check of a model on a page, with the run that violates it.

use super::{begin, write_report};
use crate::arguments::Web;
use crate::driver::{CommandError, Driver, Observer};
use crate::model::Questions;
use crate::output::Output;
use juror_view::Outcome;
use juror_view::observer::SilentObserver;
use juror_web::{LivePage, Mode, Performed, Static};
use std::io::{self, BufRead};
use std::sync::mpsc::channel;

/// The session of a page that shows a model: a chart has no commands.
struct NoSession;

impl Driver for NoSession {
    fn execute(&mut self, _: &str, _: &mut dyn Observer) -> Result<Outcome, CommandError> {
        Err(CommandError::new("a check of a model takes no commands"))
    }
    fn complete(&mut self, _: &str, position: usize) -> (usize, Vec<String>) {
        (position, Vec::new())
    }
    fn repetition(&self, _: &str) -> Option<String> {
        None
    }
    fn is_alive(&self) -> bool {
        false
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(|| {})
    }
}

/// Shows the answers of a check on a page until Enter is typed, or writes them to a file.
pub fn show(
    web: &Web,
    model: &str,
    questions: Questions,
    output: &mut Output,
) -> anyhow::Result<()> {
    let fixed = Static {
        mode: Mode::Model,
        program: model.to_owned(),
        questions: questions.asked,
        chart: questions.chart,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Static::default()
    };
    if let Web::Report(file) = web {
        let text = LivePage::unserved(fixed).report(&mut NoSession);
        return write_report(file, &text).map_err(anyhow::Error::msg);
    }
    begin(Some(web), fixed, output)?;
    output.say_always("Press Enter to end.")?;
    let (wake, woken) = channel();
    let Some(page) = output.page() else {
        return Ok(());
    };
    let requests = wake.clone();
    page.set_waker(Box::new(move || {
        let _ = requests.send(false);
    }));
    std::thread::spawn(move || {
        let _ = io::stdin().lock().read_line(&mut String::new());
        let _ = wake.send(true);
    });
    while let Ok(false) = woken.recv() {
        while let Some((line, reply)) = page.next_command(&mut NoSession) {
            let result = NoSession.execute(&line, &mut SilentObserver);
            page.reply(reply, &Performed::of(&result));
        }
    }
    Ok(())
}
