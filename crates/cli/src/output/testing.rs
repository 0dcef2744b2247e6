//! Output streams that tests read.

use super::{Output, Paging, Screen};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

#[derive(Debug, Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn raw(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).expect("text")
    }

    fn plain(&self) -> String {
        anstream::adapter::strip_str(&self.raw()).to_string()
    }
}

/// The text that was written to each stream.
#[derive(Default)]
pub struct Streams {
    text: Shared,
    messages: Shared,
    json: Shared,
}

impl Streams {
    pub fn text(&self) -> String {
        self.text.plain()
    }

    pub fn messages(&self) -> String {
        self.messages.plain()
    }

    pub fn raw_messages(&self) -> String {
        self.messages.raw()
    }

    pub fn json(&self) -> String {
        self.json.raw()
    }
}

/// Returns an output and its streams.
pub fn output() -> (Output, Streams) {
    let streams = Streams::default();
    let output = Output {
        text: Some(Box::new(streams.text.clone())),
        messages: Box::new(streams.messages.clone()),
        json: Some(Box::new(streams.json.clone())),
        shows_progress: true,
        progress: String::new(),
        directory: Some("/home/user".into()),
        prompt: true,
        failure: None,
        violated: false,
        erred: false,
        has_resumed: false,
        page: None,
        report: None,
        screen: Screen::default(),
        paging: Paging::default(),
        has_no_pager: false,
    };
    (output, streams)
}

/// As [`output`], without JSON.
pub fn output_without_json() -> (Output, Streams) {
    let (output, streams) = output();
    let output = Output {
        json: None,
        ..output
    };
    (output, streams)
}
