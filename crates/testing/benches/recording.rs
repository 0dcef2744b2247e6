//! The cost of `juror record`: of a system call, and of whole programs.
//!
//! ```text
//! cargo bench -p juror-testing --bench recording [-- --quick]
//! ```
//!
//! Each command alone, recorded with calls that the program notes itself, and recorded with a stop for
//! each call alternate for several rounds, so that load on the machine affects all of them. The first
//! two rows are of a program that measures the processor time of a call in its loop; the others are the
//! processor times of a command with all its processes, juror's among them. A program that is not
//! installed is left out.

use juror_testing::measure::{median, number_after, run_benchmark};
use juror_testing::{Build, Fixture, Juror, Language, run_with_deadline};
use nix::sys::resource::{UsageWho, getrusage};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// A deadline longer than any run.
const DEADLINE: Duration = Duration::from_secs(300);

/// The ways in which a command is run: their names, and the options of `juror record`.
const WAYS: [(&str, Option<&[&str]>); 3] = [
    ("alone", None),
    ("recorded", Some(&[])),
    ("by stops", Some(&["--by-stops"])),
];

/// The name of a row, the program and its arguments, and the file of its input.
const PROGRAMS: &[(&str, &str, &[&str], &str)] = &[
    ("sqlite3", "sqlite3", &["rows.db"], "script.sql"),
    ("sort", "sort", &["-n", "numbers"], ""),
    ("sort --parallel", "sort", &["--parallel=2", "numbers"], ""),
    ("xz -T2", "xz", &["-T2", "-2", "-k", "-f", "numbers"], ""),
    ("git log", "git", &["log", "--stat", "-200"], ""),
    ("python3", "python3", &["threads.py"], ""),
];

fn main() -> ExitCode {
    run_benchmark("recording", |is_quick| {
        let bench = Bench::prepare(is_quick)?;
        bench.measure_calls()?;
        bench.measure_programs()
    })
}

struct Bench {
    rounds: usize,
    calls: u32,
    lines: u32,
    directory: tempfile::TempDir,
    calling: PathBuf,
    juror: PathBuf,
}

impl Bench {
    fn prepare(is_quick: bool) -> Result<Bench, String> {
        let calling = Fixture::program("calling.c")
            .try_compile(&Build::plain(Language::C))
            .map_err(|error| error.to_string())?;
        let bench = Bench {
            rounds: if is_quick { 1 } else { 7 },
            calls: if is_quick { 1_000 } else { 100_000 },
            lines: if is_quick { 1_000 } else { 600_000 },
            directory: tempfile::tempdir().map_err(|error| error.to_string())?,
            calling,
            juror: Juror::find_as_built()?,
        };
        bench.write_inputs().map_err(|error| error.to_string())?;
        Ok(bench)
    }

    fn write_inputs(&self) -> std::io::Result<()> {
        let path = |name: &str| self.directory.path().join(name);
        let numbers = (0..self.lines).map(|it| it.wrapping_mul(2_654_435_761) % 1_000_000_007);
        let numbers: String = numbers.map(|it| format!("{it}\n")).collect();
        fs::write(path("numbers"), numbers)?;
        let rows =
            (0..self.lines / 30).map(|it| format!("insert into t values({it}, 'row {it}');\n"));
        let rows: String = rows.collect();
        let script = format!(
            "create table t(a integer primary key, b text);\nbegin;\n{rows}commit;\n\
             select count(*), max(b) from t;\n"
        );
        fs::write(path("script.sql"), script)?;
        let threads = "import json, threading, time
lock = threading.Lock()
done = []
def work(number):
    for turn in range(300):
        text = json.dumps([turn / 7] * 200)
        with lock: done.append(len(json.loads(text)))
        if turn % 50 == 0: time.sleep(0.001)
all = [threading.Thread(target=work, args=(it,)) for it in range(4)]
for it in all: it.start()
for it in all: it.join()
print(sum(done))
";
        fs::write(path("threads.py"), threads)
    }

    /// Returns a command that is run in a way, and the file of its input.
    fn command(&self, program: &Path, arguments: &[&str], way: Option<&[&str]>) -> Command {
        let mut command = match way {
            None => Command::new(program),
            Some(options) => {
                let mut command = Command::new(&self.juror);
                command.arg("record").args(options).arg("-o");
                command
                    .arg(self.directory.path().join("bench.run"))
                    .arg(program);
                command
            }
        };
        command.args(arguments).current_dir(self.directory.path());
        command
    }

    fn measure_calls(&self) -> Result<(), String> {
        println!(
            "{:18} {:>9} {:>9} {:>9}",
            "ns per call", "alone", "recorded", "by stops"
        );
        let mut samples = vec![[Vec::new(), Vec::new(), Vec::new()]; 2];
        for _ in 0..self.rounds {
            for (number, (_, way)) in WAYS.into_iter().enumerate() {
                let calls = self.calls.to_string();
                let mut command = self.command(&self.calling, &[&calls], way);
                let output = run_with_deadline(&mut command, b"", DEADLINE);
                let output = output.map_err(|error| error.to_string())?;
                for (row, name) in samples.iter_mut().zip(["getppid_ps=", "pread_ps="]) {
                    let time = number_after(&output.stdout, name);
                    let time = time.ok_or_else(|| format!("{command:?}: {}", output.stdout))?;
                    row[number].push(time as f64 / 1e3);
                }
            }
        }
        for (row, name) in samples.iter().zip(["getppid", "pread of 64 bytes"]) {
            let [alone, recorded, stops] = [0, 1, 2].map(|way| median(&row[way]));
            println!("{name:18} {alone:9.0} {recorded:9.0} {stops:9.0}");
        }
        Ok(())
    }

    fn measure_programs(&self) -> Result<(), String> {
        println!(
            "\n{:18} {:>9} {:>9} {:>9}",
            "processor time", "alone", "recorded", "by stops"
        );
        for (name, program, arguments, input) in PROGRAMS {
            let Some(path) = installed(program) else {
                println!("{name:18} is not installed");
                continue;
            };
            let mut samples = [Vec::new(), Vec::new(), Vec::new()];
            for _ in 0..self.rounds {
                for (samples, (_, way)) in samples.iter_mut().zip(WAYS) {
                    samples.push(self.processor_time(&path, arguments, (input, way))?);
                }
            }
            let [alone, recorded, stops] = samples.map(|it| median(&it));
            println!(
                "{name:18} {:6.0} ms {:9.2} {:9.2}",
                alone * 1e3,
                recorded / alone,
                stops / alone
            );
        }
        Ok(())
    }

    /// Runs a command; returns the processor time of all its processes, in seconds.
    fn processor_time(
        &self,
        program: &Path,
        arguments: &[&str],
        (input, way): (&str, Option<&[&str]>),
    ) -> Result<f64, String> {
        let _ = fs::remove_file(self.directory.path().join("rows.db"));
        let mut command = self.command(program, arguments, way);
        if program.ends_with("git") {
            command.current_dir(env!("CARGO_MANIFEST_DIR"));
        }
        let input = match input {
            "" => Vec::new(),
            name => fs::read(self.directory.path().join(name)).map_err(|it| it.to_string())?,
        };
        let before = children_time()?;
        let output = run_with_deadline(&mut command, &input, DEADLINE);
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{command:?}: {}{}", output.stdout, output.stderr));
        }
        Ok(children_time()? - before)
    }
}

/// Returns the path of a program, if it is installed: what may be a script that leads to it is asked.
fn installed(program: &str) -> Option<PathBuf> {
    if program == "python3" {
        let asked = Command::new(program)
            .args(["-c", "import sys; print(sys.executable)"])
            .output();
        let path = String::from_utf8(asked.ok()?.stdout).ok()?;
        return Some(PathBuf::from(path.trim())).filter(|path| path.is_file());
    }
    let directories = std::env::var_os("PATH")?;
    let mut paths = std::env::split_paths(&directories).map(|it| it.join(program));
    paths.find(|path| path.is_file())
}

/// Returns the processor time of all processes that have ended.
fn children_time() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
