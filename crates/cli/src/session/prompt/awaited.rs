//! Lines that are read by another thread, so that the page of the session is served while a line
//! is awaited.

use super::piped::Piped;
use super::typed::Typed;
use super::{Input, Lines};
use crate::session::console::{Console, SharedDriver};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, Sender, channel};

/// What wakes the thread that drives the session.
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
}

/// Lines from another thread.
pub struct Awaited {
    driver: SharedDriver,
    prompts: Sender<String>,
    wakes: Receiver<Wake>,
    /// The other thread awaits a line.
    is_asked: bool,
    is_typed: bool,
}

impl Awaited {
    /// Starts the thread that reads the standard input.
    pub fn new(console: &mut Console) -> io::Result<Awaited> {
        let (prompts, asked) = channel();
        let (waking, wakes) = channel();
        let is_typed = io::stdin().is_terminal();
        if let Some(page) = console.output().page() {
            let waking = waking.clone();
            page.set_waker(Box::new(move || {
                let _ = waking.send(Wake::Requests);
            }));
        }
        std::thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(move || read(is_typed, &asked, &waking))?;
        Ok(Awaited {
            driver: console.driver(),
            prompts,
            wakes,
            is_asked: false,
            is_typed,
        })
    }
}

/// Reads a line for each prompt, until nobody asks.
fn read(is_typed: bool, asked: &Receiver<String>, waking: &Sender<Wake>) {
    let lines: io::Result<Box<dyn Lines>> = match is_typed {
        true => Typed::new(Box::new(completer(waking.clone()))).map(|it| Box::new(it) as _),
        false => Piped::standard_input().map(|it| Box::new(it) as _),
    };
    let mut lines = match lines {
        Ok(lines) => lines,
        Err(error) => {
            let _ = waking.send(Wake::Input(Err(error)));
            return;
        }
    };
    while let Ok(prompt) = asked.recv() {
        if waking.send(Wake::Input(lines.next(&prompt))).is_err() {
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
        if !self.is_asked {
            self.is_asked = self.prompts.send(prompt.to_owned()).is_ok();
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
                Err(_) => return Ok(Input::End),
            }
        }
    }

    fn is_typed(&self) -> bool {
        self.is_typed
    }
}
