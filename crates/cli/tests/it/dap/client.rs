//! A client that speaks the protocol as it is on the wire, and judges each message.

use super::schema::Schema;
use juror_testing::repository_directory;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tempfile::TempDir;

/// How long a message may take. The slowest takes a second.
const DEADLINE: Duration = Duration::from_secs(120);

/// A running adapter, and all that was said.
pub struct Client {
    pub child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that were received and not asked for.
    waiting: VecDeque<Value>,
    /// All messages, for the report of a failure.
    log: Vec<String>,
    schema: &'static Schema,
    seq: i64,
    /// By number of the request: its command, and how often it was answered.
    asked: BTreeMap<i64, (String, u32)>,
    last_seq: i64,
    /// All that was received.
    pub history: Vec<Value>,
    /// The text of the output events, by category.
    pub output: BTreeMap<String, String>,
    _state: TempDir,
}

impl Client {
    /// Starts the adapter.
    pub fn start() -> Client {
        Client::start_with("", &[])
    }

    /// Starts the adapter with an init file of the user, and options.
    pub fn start_with(init: &str, options: &[&str]) -> Client {
        let state = TempDir::with_prefix("juror-dap-").expect("a directory");
        let config = state.path().join("config");
        std::fs::create_dir_all(config.join("juror")).expect("a directory");
        std::fs::write(config.join("juror/init"), init).expect("a file");
        let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
            .arg("dap")
            .args(options)
            .env("XDG_CONFIG_HOME", config)
            .env("XDG_STATE_HOME", state.path())
            .env("XDG_CACHE_HOME", state.path().join("cache"))
            .current_dir(repository_directory())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("juror starts");
        let input = child.stdin.take();
        let output = child.stdout.take().expect("it is piped");
        Client::over(child, input, BufReader::new(output), state)
    }

    fn over(
        child: Child,
        input: Option<ChildStdin>,
        mut output: impl BufRead + Send + 'static,
        state: TempDir,
    ) -> Client {
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Client {
            child,
            input,
            messages,
            waiting: VecDeque::new(),
            log: Vec::new(),
            schema: Schema::shared(),
            seq: 0,
            asked: BTreeMap::new(),
            last_seq: 0,
            history: Vec::new(),
            output: BTreeMap::new(),
            _state: state,
        }
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).expect("juror reads");
        input.flush().expect("juror reads");
    }

    /// Sends a message that is not judged.
    pub fn send_frame(&mut self, body: &str) {
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Sends what is not JSON, and seems to have a number.
    pub fn send_malformed(&mut self, seq: i64, body: &str) {
        self.asked.insert(seq, (String::new(), 0));
        self.send_frame(body);
    }

    /// Sends a request. Returns its number.
    pub fn send(&mut self, command: &str, arguments: Value) -> i64 {
        self.seq += 1;
        let mut message = json!({ "seq": self.seq, "type": "request", "command": command });
        if !arguments.is_null() {
            message["arguments"] = arguments;
        }
        if let Err(error) = self.schema.check(&message) {
            self.fail(&format!("the client is at fault: {error}"));
        }
        self.send_unjudged(message)
    }

    /// Sends a request that need not be valid. Returns its number.
    pub fn send_unjudged(&mut self, message: Value) -> i64 {
        let seq = message["seq"].as_i64().expect("a number");
        self.seq = self.seq.max(seq);
        let command = message["command"].as_str().unwrap_or_default().to_owned();
        self.asked.insert(seq, (command, 0));
        let text = message.to_string();
        self.log.push(format!("-> {text}"));
        self.send_frame(&text);
        seq
    }

    /// Answers a request of the adapter.
    pub fn respond(&mut self, request: &Value, body: Value) {
        self.seq += 1;
        let message = json!({
            "seq": self.seq, "type": "response", "request_seq": request["seq"], "success": true,
            "command": request["command"], "body": body,
        });
        self.log.push(format!("-> {message}"));
        self.send_frame(&message.to_string());
    }

    /// Refuses a request of the adapter.
    pub fn refuse(&mut self, request: &Value, why: &str) {
        self.seq += 1;
        let message = json!({
            "seq": self.seq, "type": "response", "request_seq": request["seq"], "success": false,
            "command": request["command"], "message": why,
        });
        self.log.push(format!("-> {message}"));
        self.send_frame(&message.to_string());
    }

    /// The number of the next request.
    pub fn next_seq(&self) -> i64 {
        self.seq + 1
    }

    /// Receives a message, and judges it.
    fn receive(&mut self) -> Option<Value> {
        let message = match self.messages.recv_timeout(DEADLINE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => self.fail("no message comes"),
        };
        self.log.push(format!("<- {message}"));
        self.judge(&message);
        self.history.push(message.clone());
        if message["event"] == "output" {
            let body = &message["body"];
            let category = body["category"].as_str().unwrap_or("console").to_owned();
            let text = body["output"].as_str().unwrap_or_default();
            self.output.entry(category).or_default().push_str(text);
        }
        Some(message)
    }

    fn judge(&mut self, message: &Value) {
        if let Err(error) = self.schema.check_own(message) {
            self.fail(&error);
        }
        let seq = message["seq"].as_i64().unwrap_or(0);
        if seq != self.last_seq + 1 {
            self.fail(&format!("{seq} follows {}", self.last_seq));
        }
        self.last_seq = seq;
        if message["type"] != "response" {
            return;
        }
        let number = message["request_seq"].as_i64().unwrap_or(0);
        let Some((command, answers)) = self.asked.get_mut(&number) else {
            self.fail(&format!("{number} was not asked"));
        };
        *answers += 1;
        let is_known = message["command"] == **command || message["command"] == "";
        if *answers > 1 || !is_known {
            let words = format!("{command} is answered {answers} times");
            self.fail(&words);
        }
    }

    /// Waits for the first message that fits; those before it stay.
    #[track_caller]
    pub fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(position) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(position).expect("it is there");
        }
        loop {
            let Some(message) = self.receive() else {
                self.fail(&format!("the adapter has ended before: {what}"));
            };
            if fits(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// Waits for an event. Returns its body.
    #[track_caller]
    pub fn event(&mut self, event: &str) -> Value {
        let message = self.wait(event, |message| message["event"] == event);
        message["body"].clone()
    }

    /// Returns whether an event has come and was not taken.
    pub fn has_event(&self, event: &str) -> bool {
        self.waiting.iter().any(|message| message["event"] == event)
    }

    /// Waits for the answer to a request.
    #[track_caller]
    pub fn answer(&mut self, seq: i64) -> Value {
        self.wait(&format!("the answer to {seq}"), |message| {
            message["type"] == "response" && message["request_seq"] == seq
        })
    }

    /// Asks, and returns the body of the answer.
    #[track_caller]
    pub fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let seq = self.send(command, arguments);
        let answer = self.answer(seq);
        if answer["success"] != true {
            self.fail(&format!("{command} is refused"));
        }
        answer["body"].clone()
    }

    /// Asks what is refused, and returns the reason.
    #[track_caller]
    pub fn refused(&mut self, command: &str, arguments: Value) -> String {
        let seq = self.send(command, arguments);
        let answer = self.answer(seq);
        if answer["success"] != false {
            self.fail(&format!("{command} is not refused"));
        }
        let words = &answer["body"]["error"]["format"];
        words.as_str().expect("a reason").to_owned()
    }

    /// Says who the client is: as VS Code does.
    pub fn initialize(&mut self) -> Value {
        self.ask(
            "initialize",
            json!({
                "adapterID": "juror",
                "clientID": "vscode",
                "linesStartAt1": true,
                "columnsStartAt1": true,
                "pathFormat": "path",
                "supportsVariableType": true,
                "supportsVariablePaging": true,
                "supportsRunInTerminalRequest": true,
                "supportsMemoryReferences": true,
                "supportsProgressReporting": true,
                "supportsInvalidatedEvent": true,
                "supportsMemoryEvent": true,
            }),
        )
    }

    /// Loads a program, and waits until it can be configured.
    pub fn launch(&mut self, arguments: Value) {
        self.initialize();
        self.ask("launch", arguments);
        self.event("initialized");
    }

    /// Lets the program begin, and waits for its first stop.
    #[track_caller]
    pub fn begin(&mut self) -> Value {
        self.ask("configurationDone", Value::Null);
        self.event("stopped")
    }

    /// Sets breakpoints of lines.
    pub fn break_at(&mut self, path: &str, lines: &[u32]) -> Value {
        let breakpoints: Vec<Value> = lines.iter().map(|line| json!({ "line": line })).collect();
        let arguments = json!({ "source": { "path": path }, "breakpoints": breakpoints });
        self.ask("setBreakpoints", arguments)["breakpoints"].clone()
    }

    /// Resumes, and waits for the next stop.
    #[track_caller]
    pub fn resume(&mut self, command: &str, thread: &Value) -> Value {
        self.ask(command, json!({ "threadId": thread }));
        self.event("stopped")
    }

    /// The innermost frame of a thread.
    pub fn top(&mut self, thread: &Value) -> Value {
        let stack = self.ask("stackTrace", json!({ "threadId": thread, "levels": 1 }));
        stack["stackFrames"][0].clone()
    }

    /// The variables of a container.
    pub fn variables(&mut self, reference: &Value) -> Vec<Value> {
        let answer = self.ask("variables", json!({ "variablesReference": reference }));
        answer["variables"].as_array().expect("a list").clone()
    }

    /// A scope of a frame.
    #[track_caller]
    pub fn scope(&mut self, frame: &Value, name: &str) -> Value {
        let answer = self.ask("scopes", json!({ "frameId": frame["id"] }));
        let scopes = answer["scopes"].as_array().expect("a list").clone();
        let found = scopes.into_iter().find(|scope| scope["name"] == name);
        found.unwrap_or_else(|| self.fail(&format!("there is no scope {name}")))
    }

    /// A variable of a scope.
    #[track_caller]
    pub fn variable(&mut self, reference: &Value, name: &str) -> Value {
        let all = self.variables(reference);
        let found = all.into_iter().find(|variable| variable["name"] == name);
        found.unwrap_or_else(|| self.fail(&format!("there is no variable {name}")))
    }

    /// Returns the output of a line in the debug console, without its line end.
    #[track_caller]
    pub fn repl(&mut self, line: &str) -> String {
        let answer = self.ask("evaluate", json!({ "expression": line, "context": "repl" }));
        let text = answer["result"].as_str().expect("a text");
        text.strip_suffix('\n').unwrap_or(text).to_owned()
    }

    /// Waits until output has this text.
    #[track_caller]
    pub fn wait_for_output(&mut self, category: &str, text: &str) {
        while !self
            .output
            .get(category)
            .is_some_and(|it| it.contains(text))
        {
            match self.receive() {
                Some(message) => self.waiting.push_back(message),
                None => self.fail(&format!("there is no {text}")),
            }
        }
    }

    /// Leaves, and waits for the end of the adapter. Each request was answered.
    #[track_caller]
    pub fn leave(mut self) -> BTreeMap<String, String> {
        self.ask("disconnect", json!({}));
        self.end();
        std::mem::take(&mut self.output)
    }

    /// Waits for the end of the adapter, which must be orderly.
    #[track_caller]
    pub fn end(&mut self) {
        self.input = None;
        let status = self.wait_for_exit();
        if !status.success() {
            self.fail(&format!("the adapter has ended: {status}"));
        }
        let open: Vec<_> = self.asked.iter().filter(|(_, it)| it.1 == 0).collect();
        let open = format!("{open:?}");
        if open != "[]" {
            self.fail(&format!("not answered: {open}"));
        }
    }

    /// Closes the connection without a word.
    pub fn vanish(&mut self) {
        self.input = None;
    }

    /// Receives all that is left, and waits for the end of the adapter.
    pub fn wait_for_exit(&mut self) -> ExitStatus {
        while let Some(message) = self.receive() {
            self.waiting.push_back(message);
        }
        self.child.wait().expect("it is a child")
    }

    /// Fails, with all that was said.
    #[track_caller]
    pub fn fail(&self, why: &str) -> ! {
        panic!("{why}\n{}", self.log.join("\n"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that fails leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a message; nothing at the end.
pub fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", number)) => length = number.parse().ok(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length.expect("a length")];
    input.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("JSON"))
}

/// A file of the example with the queue, as it was compiled.
pub fn queue_source(program: &std::path::Path, file: &str) -> PathBuf {
    program.parent().expect("a directory").join(file)
}
