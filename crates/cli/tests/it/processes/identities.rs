//! Libraries that are not what is at their path any more: replaced, moved, deleted, overwritten,
//! or another file for the process. What juror says must be about what is mapped, or be refused.
//!
//! The oracle is the program: it prints where the linker has put `level`, and what each call
//! returns, which only one version of the library does. `JUROR_IDENTITIES` is the number of
//! trials; there are few without it.

use crate::support::attached::until;
use juror_testing::{Build, Fixture, Juror, Language, Numbers};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::TempDir;

/// Does what the letters on its pipe say: opens and closes the library, calls, sends itself a
/// signal, ends.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void nothing(int signal) { (void)signal; }
int main(int argc, char **argv) {
    long (*level)(long) = 0, n = 1;
    void *handle = 0;
    char letter;
    int pipe = open(argv[1], O_RDWR);
    setvbuf(stdout, 0, _IOLBF, 0);
    signal(SIGUSR1, nothing);
    while (read(pipe, &letter, 1) == 1) {
        if (letter == 'o' && (handle = dlopen(argv[2], RTLD_NOW))) {
            level = (long (*)(long))dlsym(handle, "level");
            printf("level %p\n", (void *)level);
        }
        if (letter == 'x' && handle) { dlclose(handle); handle = 0; level = 0; }
        if (letter == 'c' && level) { printf("%ld gives %ld\n", n, level(n)); n++; }
        if (letter == 'u') raise(SIGUSR1);
        if (letter == 'q') return 0;
    }
    return 1;
}
"#;

/// How many versions of the library there are. A version and the one four later have the same
/// layout.
const VERSIONS: u64 = 8;

/// The source of a version: what is before `level` moves it, in the file and in the code.
fn source(version: u64) -> String {
    let layout = version % 4;
    let mut text = "\n".repeat(3 * layout as usize);
    for number in 0..2 * layout {
        text.push_str(&format!(
            "static double weights{number}[{size}];\nlong pad{number}(long n) {{ return n * n + (long)weights{number}[n & 3]; }}\n",
            size = 4 + number
        ));
    }
    text.push_str("long seen;\n");
    let body = format!(
        "    seen = n * {} + {};\n",
        1000 + version,
        77 + 13 * version
    );
    text.push_str("long level(long n)\n{\n");
    text.push_str(&body);
    text.push_str("    return seen;\n}\n");
    text
}

/// The result of a call.
fn result(version: u64, n: u64) -> u64 {
    n * (1000 + version) + 77 + 13 * version
}

/// The line of the first statement of `level`.
fn line(version: u64) -> usize {
    let source = source(version);
    let before = source.lines().position(|line| line.contains("seen = n"));
    before.expect("it is there") + 1
}

/// What a library has of a build id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BuildId {
    Own,
    None,
    /// The same in all versions.
    Shared,
}

fn library(version: u64, id: BuildId) -> PathBuf {
    let option = match id {
        BuildId::Own => "-Wl,--build-id=sha1",
        BuildId::None => "-Wl,--build-id=none",
        BuildId::Shared => "-Wl,--build-id=0x00112233445566778899aabbccddeeff00112233",
    };
    let fixture = Fixture::c("level", &source(version));
    let fixture = fixture.argument("-shared").argument("-fPIC");
    fixture.argument(option).compile(&Build::plain(Language::C))
}

fn executable() -> &'static Path {
    static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
        let fixture = Fixture::c("opens", PROGRAM);
        fixture.argument("-ldl").compile_plain()
    });
    &PATH
}

/// What becomes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Nothing,
    Replaced,
    /// By a copy of the same contents.
    Copied,
    Moved,
    Deleted,
    Touched,
    /// In place, by a version with the same layout.
    Overwritten,
}

const EVENTS: [Event; 7] = [
    Event::Nothing,
    Event::Replaced,
    Event::Copied,
    Event::Moved,
    Event::Deleted,
    Event::Touched,
    Event::Overwritten,
];

/// When it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    BeforeAttach,
    Attached,
    /// The process has another library mounted at the path.
    OtherMounts,
    /// The program is run at the prompt; the library is closed and opened again afterwards.
    BetweenOpenings,
    /// A core file is read afterwards.
    AfterCore,
}

const MOMENTS: [Moment; 5] = [
    Moment::BeforeAttach,
    Moment::Attached,
    Moment::OtherMounts,
    Moment::BetweenOpenings,
    Moment::AfterCore,
];

#[derive(Debug, Clone, Copy)]
struct Trial {
    moment: Moment,
    event: Event,
    id: BuildId,
    version: u64,
    other: u64,
    /// Whether juror may open what is mapped.
    is_privileged: bool,
}

impl Trial {
    fn any(numbers: &mut Numbers) -> Trial {
        let moment = MOMENTS[numbers.below(MOMENTS.len() as u64) as usize];
        let event = EVENTS[numbers.below(EVENTS.len() as u64) as usize];
        let id = [BuildId::Own, BuildId::None, BuildId::Shared][numbers.below(3) as usize];
        let version = numbers.below(VERSIONS);
        let other = match event {
            Event::Overwritten => (version + 4) % VERSIONS,
            _ => (version + 1 + numbers.below(VERSIONS - 1)) % VERSIONS,
        };
        Trial {
            moment,
            event,
            id,
            version,
            other,
            is_privileged: numbers.below(3) > 0,
        }
    }

    /// The shell command by which it happens.
    fn command(self, path: &Path) -> String {
        let path = path.display();
        let other = library(self.other, self.id);
        let same = library(self.version, self.id);
        match self.event {
            Event::Nothing => "true".to_owned(),
            Event::Replaced => format!("cp {} {path}.new && mv {path}.new {path}", other.display()),
            Event::Copied => format!("cp {} {path}.new && mv {path}.new {path}", same.display()),
            Event::Moved => format!("mv {path} {path}.moved"),
            Event::Deleted => format!("rm {path}"),
            Event::Touched => format!("touch {path}"),
            // Truncating it first would take the program's own variables away.
            Event::Overwritten => {
                format!(
                    "dd if={} of={path} conv=notrunc status=none",
                    other.display()
                )
            }
        }
    }

    /// The version whose code a process has that had mapped the first one.
    fn mapped(self) -> u64 {
        match self.event {
            Event::Overwritten => self.other,
            _ => self.version,
        }
    }

    /// The version that is opened next; nothing if there is no file.
    fn opened_next(self) -> Option<u64> {
        match self.event {
            Event::Moved | Event::Deleted => None,
            Event::Replaced | Event::Overwritten => Some(self.other),
            _ => Some(self.version),
        }
    }
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// The stop, its values and its line are those of what is mapped.
    Right,
    /// Nothing is set, and the reason is said.
    Refused,
    /// The machine does not allow it.
    LeftOut,
    Wrong(String),
}

/// A directory with the library and a pipe to the program.
struct Stage {
    directory: TempDir,
    pipe: File,
}

impl Stage {
    fn of(trial: Trial) -> Stage {
        let directory = TempDir::with_prefix("juror-identity-").expect("a directory");
        let pipe = directory.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        fs::create_dir(directory.path().join("libs")).expect("a directory");
        let mut options = OpenOptions::new();
        let pipe = options.read(true).write(true).open(pipe).expect("the pipe");
        let stage = Stage { directory, pipe };
        fs::copy(library(trial.version, trial.id), stage.library()).expect("a copy");
        stage
    }

    fn library(&self) -> PathBuf {
        self.directory.path().join("libs/liblevel.so")
    }

    fn pipe_path(&self) -> PathBuf {
        self.directory.path().join("pipe")
    }

    fn tell(&mut self, letters: &str) {
        self.pipe.write_all(letters.as_bytes()).expect("a pipe");
    }

    /// The line of a script that tells the program something.
    fn telling(&self, letters: &str) -> String {
        format!("shell printf {letters} > {}\n", self.pipe_path().display())
    }

    /// Executes lines at the prompt of juror.
    fn juror(&self, trial: Trial, arguments: &[&str], lines: &str) -> String {
        let mut words = vec!["exec", "env", "SHELL=/bin/sh"];
        if !trial.is_privileged {
            words.extend(["setpriv", "--bounding-set=-sys_admin,-checkpoint_restore"]);
        }
        let script = format!("{} \"$@\" 2>&1", words.join(" "));
        let output = Juror::new("/bin/sh")
            .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_juror")])
            .args(arguments)
            .directory(self.directory.path())
            .deadline(Duration::from_secs(120))
            .input(lines)
            .run();
        output.stdout
    }
}

/// The program, running by itself.
struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(trial: Trial, stage: &Stage) -> Running {
        let (executable, pipe, path) = (executable(), stage.pipe_path(), stage.library());
        let mut command = match trial.moment {
            Moment::OtherMounts => {
                let inner = stage.directory.path().join("inner");
                fs::create_dir(&inner).expect("a directory");
                fs::copy(&path, inner.join("liblevel.so")).expect("a copy");
                fs::copy(library(trial.other, trial.id), &path).expect("another");
                let script = format!(
                    "mount --bind {} {} && exec \"$0\" \"$@\"",
                    inner.display(),
                    stage.directory.path().join("libs").display()
                );
                let mut command = Command::new("unshare");
                command.args(["-m", "--propagation", "private", "sh", "-c", &script]);
                command.arg(executable);
                command
            }
            _ => Command::new(executable),
        };
        let mut child = command
            .args([&pipe, &path])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Running { child, output }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("its output");
        line
    }

    /// What it still says, and whether it ends with 0.
    fn finish(mut self) -> (String, bool) {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output");
        (rest, self.child.wait().expect("its end").success())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn address_of(line: &str) -> u64 {
    let word = line.trim().strip_prefix("level 0x").expect("an address");
    u64::from_str_radix(word, 16).expect("a number")
}

/// Words that refuse.
const REFUSALS: &[&str] = &[
    "its symbols are not used",
    "was overwritten",
    "other code there",
    "it has no symbols",
    "there is no such file",
];

/// What is shown of a stop at a call, compared with what is true.
fn judged(said: &str, version: u64, n: u64, address: u64) -> Found {
    let is_refused = REFUSALS.iter().any(|words| said.contains(words));
    // The line that was typed has the words, too.
    let counter = said.split("pc is ").skip(1).find_map(|rest| {
        let word = rest.split_whitespace().next()?;
        word.parse::<u64>().ok()
    });
    let is_at_stop = said.contains(" in level (");
    match is_at_stop {
        false if is_refused => Found::Refused,
        false => Found::Wrong("neither stopped nor refused".to_owned()),
        true if !said.contains(&format!(" in level (n={n})")) => {
            Found::Wrong("another argument".to_owned())
        }
        true if !said.contains(&format!("level.c:{},", line(version))) => {
            Found::Wrong("another line".to_owned())
        }
        true => match counter {
            Some(counter) if (address..address + 64).contains(&counter) => Found::Right,
            _ => Found::Wrong("another address".to_owned()),
        },
    }
}

const LOOKS: &str = "printf \"pc is %lu\\n\", $pc\nbacktrace\ninfo breakpoints\n";

/// What the program has to say of calls from a number on.
fn calls(version: u64, numbers: std::ops::Range<u64>) -> String {
    let lines = numbers.map(|n| format!("{n} gives {}\n", result(version, n)));
    lines.collect()
}

impl Trial {
    /// Performs it; what came out, and everything that was said.
    fn perform(self) -> (Found, String) {
        match self.moment {
            Moment::BetweenOpenings => self.between_openings(),
            Moment::AfterCore => self.after_core(),
            _ => self.attached(),
        }
    }

    fn attached(self) -> (Found, String) {
        let mut stage = Stage::of(self);
        let mut running = Running::start(self, &stage);
        stage.tell("oc");
        let first = running.line();
        if first.is_empty() {
            return (Found::LeftOut, first);
        }
        let address = address_of(&first);
        assert_eq!(running.line(), calls(self.version, 1..2));
        let happens = self.command(&stage.library());
        let mut script = String::new();
        let is_other = self.moment == Moment::OtherMounts;
        match self.moment {
            Moment::Attached => script.push_str(&format!("shell {happens}\n")),
            Moment::BeforeAttach => run_shell(&happens),
            _ => {}
        }
        let mapped = if is_other {
            self.version
        } else {
            self.mapped()
        };
        script.push_str("break level\n");
        script.push_str(&stage.telling("cu"));
        script.push_str("continue\n");
        script.push_str(LOOKS);
        script.push_str("print seen\ndelete\ndetach\nquit\n");
        let process = running.child.id().to_string();
        let said = stage.juror(self, &["-p", &process, "--color=never"], &script);
        let mut found = judged(&said, mapped, 2, address);
        let seen = format!("$1 = {}\n", result(self.version, 1));
        if found == Found::Right && !said.contains(&seen) {
            found = Found::Wrong("another variable".to_owned());
        }
        stage.tell("ccq");
        let (rest, is_well) = running.finish();
        let expected = calls(mapped, 2..5);
        // What the linker needs at the end is not as it was, also without juror.
        let may_fail = self.event == Event::Overwritten && !is_other;
        if !(is_well || may_fail) || rest != expected {
            let what = format!("the program ended otherwise: {rest:?} for {expected:?}");
            return (Found::Wrong(what), said);
        }
        (found, said)
    }

    fn between_openings(self) -> (Found, String) {
        let mut stage = Stage::of(self);
        stage.tell("ocu");
        let (path, pipe) = (stage.library(), stage.pipe_path());
        let happens = self.command(&path);
        // Before the file changes nothing of it is mapped any more: it is overwritten, too.
        let script = format!(
            "break level\nrun\n{LOOKS}continue\n{}continue\n{}{}continue\n{LOOKS}delete\n{}continue\ncontinue\nquit\n",
            stage.telling("xu"),
            format_args!("shell {happens}\n"),
            stage.telling("ocu"),
            stage.telling("cq"),
        );
        let arguments = ["run", "--color=never"].map(Path::new);
        let arguments: Vec<&str> = arguments
            .iter()
            .copied()
            .chain([executable(), &pipe, &path])
            .map(|it| it.to_str().expect("a path"))
            .collect();
        let said = stage.juror(self, &arguments, &script);
        let mut addresses = said.lines().filter(|line| line.contains("level 0x"));
        let mut address = || {
            addresses
                .next()
                .map(|line| &line[line.find("level 0x").unwrap_or(0)..])
        };
        let (first, second) = (address().map(address_of), address().map(address_of));
        let parts: Vec<&str> = said.split("(juror) shell printf xu").collect();
        let [before, after] = parts.as_slice() else {
            return (Found::Wrong("the script stopped".to_owned()), said);
        };
        let found = judged(before, self.version, 1, first.unwrap_or(0));
        if found != Found::Right {
            return (found, said);
        }
        let next = self.opened_next();
        let found = match (next, second) {
            (Some(next), Some(address)) => judged(after, next, 2, address),
            (None, None) => Found::Right,
            _ => Found::Wrong("the library was opened otherwise".to_owned()),
        };
        let expected = next.map_or_else(String::new, |next| calls(next, 2..4));
        let is_whole = expected.lines().all(|line| said.contains(line));
        if !is_whole || !said.contains("exited with status 0") && !said.contains("ended") {
            return (Found::Wrong("the program ended otherwise".to_owned()), said);
        }
        (found, said)
    }

    fn after_core(self) -> (Found, String) {
        let mut stage = Stage::of(self);
        let mut running = Running::start(self, &stage);
        stage.tell("oc");
        let address = address_of(&running.line());
        assert_eq!(running.line(), calls(self.version, 1..2));
        let process = running.child.id().to_string();
        let attach = ["-p", &process, "--color=never"];
        let written = stage.juror(self, &attach, "gcore written.core\ndetach\nquit\n");
        run_shell(&self.command(&stage.library()));
        let script = format!("print seen\ninfo symbol {address:#x}\ninfo line level\nquit\n");
        let program = executable().to_str().expect("a path");
        let core = ["run", "--color=never", "--core=written.core", program];
        let read = stage.juror(self, &core, &script);
        let said = format!("{written}{read}");
        stage.tell("cq");
        let (rest, is_well) = running.finish();
        let may_fail = self.event == Event::Overwritten;
        if !(is_well || may_fail) || rest != calls(self.mapped(), 2..3) {
            return (Found::Wrong("the program ended otherwise".to_owned()), said);
        }
        let words = [
            "another build than in the core file",
            "not on this machine",
            "was overwritten",
        ];
        let is_refused = words.iter().any(|words| read.contains(words));
        let shown = read.contains(&format!("$1 = {}\n", result(self.version, 1)));
        let found = match (
            shown && read.contains(" is level in liblevel.so"),
            is_refused,
        ) {
            (true, false) => Found::Right,
            (false, true) => Found::Refused,
            (true, true) => Found::Wrong("refused and used".to_owned()),
            (false, false) if read.contains("$1 = ") => Found::Wrong("another variable".to_owned()),
            (false, false) => Found::Wrong("neither shown nor refused".to_owned()),
        };
        (found, said)
    }
}

fn run_shell(command: &str) {
    let done = Command::new("sh").args(["-c", command]).status();
    assert!(done.expect("a shell").success(), "{command}");
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn what_is_said_of_a_library_is_about_what_is_mapped() {
    let count = number("JUROR_IDENTITIES").unwrap_or(6);
    let first = number("JUROR_IDENTITIES_FIRST").unwrap_or(1);
    let is_verbose = std::env::var_os("JUROR_IDENTITIES_SAID").is_some();
    until("the program is compiled", || executable().exists());
    let mut counts: BTreeMap<(Moment, Event, Found), u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    for number in first..first + count {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number));
        let trial = Trial::any(&mut numbers);
        let (found, said) = trial.perform();
        if let Found::Wrong(why) = &found {
            eprintln!("trial {number}: {why}\n  {trial:?}\n{said}");
            wrong.push(number);
        } else if is_verbose {
            eprintln!("trial {number}: {found:?}\n  {trial:?}\n{said}");
        }
        *counts
            .entry((trial.moment, trial.event, found))
            .or_default() += 1;
    }
    for ((moment, event, found), count) in &counts {
        eprintln!("{count:4} {moment:?} {event:?} {found:?}");
    }
    assert!(wrong.is_empty(), "trials {wrong:?} of {count}");
}

#[test]
fn a_file_that_was_written_with_the_same_bytes_is_not_refused() {
    let directory = TempDir::with_prefix("juror-same-").expect("a directory");
    let built = crate::support::program("pushes.c").compile_plain();
    let copy = directory.path().join("pushes");
    fs::copy(built, &copy).expect("a copy");
    let lines = format!(
        "break main\nrun\nshell touch -d 2001-02-03 '{}'\nbreak push if key == 3\ncontinue\n",
        copy.display()
    );
    let output = crate::support::juror(&["run", "--color=never", "--no-init"])
        .args([&copy])
        .input(lines)
        .run();
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains("Breakpoint 2 in push (key=3)"), "{said}");
}
