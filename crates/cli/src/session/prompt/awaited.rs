//! Lines that are read by another thread, so that the page of the session is served while a line
//! is awaited.

use super::piped::Piped;
use super::typed::Typed;
use super::{Input, Lines};
use crate::session::console::{Console, SharedDriver};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A reason to wake the thread that drives the session.
enum Wake {
    /// The line that was awaited.
    Input(io::Result<Input>),
    /// A word is to be completed.
    Complete {
        line: String,
        position: usize,
        reply: Sender<(usize, Vec<String>)>,
    },
    /// The page asks for something.
    Requests,
    /// A signal is to end juror.
    Ending,
}

/// A request to the other thread.
enum Ask {
    Line(String),
    Question(String),
    /// To drop the lines of a paste.
    Discard,
}

/// Lines from another thread.
pub struct Awaited {
    driver: SharedDriver,
    asks: Sender<Ask>,
    wakes: Receiver<Wake>,
    /// The other thread awaits a line.
    is_asked: bool,
    is_typed: bool,
    /// The page has asked for something during a question.
    is_called: bool,
}

impl Awaited {
    /// Starts the thread that reads the standard input.
    pub fn new(console: &mut Console) -> io::Result<Awaited> {
        let (asks, asked) = channel();
        let (waking, wakes) = channel();
        let is_typed = io::stdin().is_terminal();
        if let Some(page) = console.output().page() {
            let waking = waking.clone();
            page.set_waker(Box::new(move || {
                let _ = waking.send(Wake::Requests);
            }));
        }
        let ending = waking.clone();
        console.running().wake_prompt_by(Box::new(move || {
            let _ = ending.send(Wake::Ending);
        }));
        std::thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(move || read(is_typed, &asked, &waking))?;
        Ok(Awaited {
            driver: console.driver(),
            asks,
            wakes,
            is_asked: false,
            is_typed,
            is_called: false,
        })
    }
}

/// Reads a line for each prompt, until nobody asks.
fn read(is_typed: bool, asked: &Receiver<Ask>, waking: &Sender<Wake>) {
    let lines: io::Result<Box<dyn Lines>> = if is_typed {
        Typed::new(Box::new(completer(waking.clone()))).map(|it| Box::new(it) as _)
    } else {
        Piped::standard_input().map(|it| Box::new(it) as _)
    };
    let mut lines = match lines {
        Ok(lines) => lines,
        Err(error) => {
            let _ = waking.send(Wake::Input(Err(error)));
            return;
        }
    };
    while let Ok(ask) = asked.recv() {
        let input = match ask {
            Ask::Line(prompt) => lines.next(&prompt),
            Ask::Question(question) => lines.ask(&question),
            Ask::Discard => {
                lines.discard();
                continue;
            }
        };
        if waking.send(Wake::Input(input)).is_err() {
            return;
        }
    }
}

/// Returns a function that has the session complete a word.
fn completer(waking: Sender<Wake>) -> impl Fn(&str, usize) -> (usize, Vec<String>) {
    move |line, position| {
        let (reply, answer) = channel();
        let wake = Wake::Complete {
            line: line.to_owned(),
            position,
            reply,
        };
        let is_sent = waking.send(wake).is_ok();
        let answer = is_sent.then(|| answer.recv().ok()).flatten();
        answer.unwrap_or((position, Vec::new()))
    }
}

impl Lines for Awaited {
    fn next(&mut self, prompt: &str) -> io::Result<Input> {
        if std::mem::take(&mut self.is_called) {
            return Ok(Input::Requests);
        }
        self.await_input(Ask::Line(prompt.to_owned()))
    }

    fn is_typed(&self) -> bool {
        self.is_typed
    }

    fn ask(&mut self, question: &str) -> io::Result<Input> {
        loop {
            match self.await_input(Ask::Question(question.to_owned()))? {
                Input::Requests => self.is_called = true,
                answer => return Ok(answer),
            }
        }
    }

    fn discard(&mut self) {
        let _ = self.asks.send(Ask::Discard);
    }
}

impl Awaited {
    /// Asks the other thread, unless it is asked already, and waits for it or for the page.
    fn await_input(&mut self, ask: Ask) -> io::Result<Input> {
        if !self.is_asked {
            self.is_asked = self.asks.send(ask).is_ok();
        }
        loop {
            match self.wakes.recv() {
                Ok(Wake::Input(input)) => {
                    self.is_asked = false;
                    return input;
                }
                Ok(Wake::Complete {
                    line,
                    position,
                    reply,
                }) => {
                    let _ = reply.send(self.driver.borrow_mut().complete(&line, position));
                }
                Ok(Wake::Requests) => return Ok(Input::Requests),
                Ok(Wake::Ending) => return Ok(Input::Cancelled),
                Err(_) => return Ok(Input::End),
            }
        }
    }
}
