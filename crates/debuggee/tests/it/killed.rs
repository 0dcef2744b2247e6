//! juror is killed, at any moment: what becomes of its debuggees.
//!
//! A child process of the test plays juror, so that it can be killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::support::bare::Bare;
use crate::support::workers::WORKERS;
use crate::support::{Program, compile, file_address, is_running};
use juror_debuggee::{
    AccessKinds, Attach, CallStops, Debuggee, Launch, Owner, Redirection, StopEvent, WatchTier,
};

/// Not a test of its own: plays juror when it is asked to, and is killed.
#[test]
fn play_juror() {
    let Ok(role) = std::env::var("PLAYED_ROLE") else {
        return;
    };
    let path = std::env::var("PLAYED_WORKERS").unwrap();
    let path = Path::new(&path);
    let mut debuggee = match role.as_str() {
        "launch" | "filtered" => Debuggee::launch(&Launch {
            call_stops: match role.as_str() {
                "filtered" => CallStops::FilterOnly([libc::SYS_read as u64].into()),
                _ => CallStops::Unfiltered,
            },
            input: Redirection::File("/dev/zero".into()),
            output: Redirection::File("/dev/null".into()),
            ..Launch::new(path)
        })
        .unwrap(),
        _ => {
            let process = std::env::var("PLAYED_PROCESS").unwrap().parse().unwrap();
            Debuggee::attach(&Attach::new(process)).unwrap()
        }
    };
    let main = debuggee.modules().iter().find(|it| it.is_main).unwrap();
    let work = main.bias + file_address(path, "work");
    let total = main.bias + file_address(path, "total");
    debuggee.insert(work, Owner::Developer).unwrap();
    if role == "watch" {
        let least = WatchTier::Hardware;
        debuggee
            .watch(
                std::slice::from_ref(&(total..total + 8)),
                AccessKinds::WRITE,
                Owner::Developer,
                least,
            )
            .unwrap();
    }
    if role == "calls" {
        debuggee.quiesce().unwrap();
        say(debuggee.pid());
        loop {
            let memory = debuggee.share_memory(1 << 16).unwrap().unwrap();
            debuggee.unshare_memory(&memory).unwrap();
        }
    }
    if role == "steps" {
        let threads: Vec<_> = debuggee.thread_ids().collect();
        for thread in threads {
            debuggee.set_single_stepping(thread, true);
        }
    }
    debuggee.resume_all().unwrap();
    let mut hits = 0;
    loop {
        let event = debuggee.wait().unwrap();
        hits += u32::from(matches!(event, StopEvent::Hit { .. }));
        if role == "steps" && hits == 5 {
            // The other threads are before the end of a step.
            debuggee.halt_all().unwrap();
            debuggee.quiesce().unwrap();
            say(debuggee.pid());
            std::thread::park();
        }
        let is_at_rest = role == "rest" || role == "watch";
        if is_at_rest && hits == 5 {
            // As at the prompt, at a breakpoint.
            debuggee.halt_all().unwrap();
            debuggee.quiesce().unwrap();
            // And again after a step, as a person does.
            if let Some(thread) = event.waiting_thread() {
                debuggee.step(thread).unwrap();
                while !matches!(debuggee.wait().unwrap(), StopEvent::Stepped { .. }) {}
                debuggee.halt_all().unwrap();
                debuggee.quiesce().unwrap();
            }
            say(debuggee.pid());
            std::thread::park();
        }
        if hits == 5 {
            say(debuggee.pid());
        }
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
}

fn say(process: u32) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "\nplaying with {process}").unwrap();
    output.flush().unwrap();
}

struct Player {
    juror: Child,
    output: BufReader<ChildStdout>,
    debuggee: u32,
}

impl Player {
    #[track_caller]
    fn start(role: &str, program: &Program, process: u32) -> Player {
        let mut juror = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "killed::play_juror",
                "--nocapture",
                "--test-threads=1",
            ])
            .env("PLAYED_ROLE", role)
            .env("PLAYED_WORKERS", &program.path)
            .env("PLAYED_PROCESS", process.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(juror.stdout.take().unwrap());
        let debuggee = loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "no player");
            if let Some(process) = line.strip_prefix("playing with ") {
                break process.trim().parse().unwrap();
            }
        };
        Player {
            juror,
            output,
            debuggee,
        }
    }

    /// Kills it, and waits until nothing of it is left: whoever it traced or
    /// made holds its output no longer.
    fn kill(mut self) -> u32 {
        self.juror.kill().unwrap();
        self.juror.wait().unwrap();
        let _ = std::io::copy(&mut self.output, &mut std::io::sink());
        self.debuggee
    }
}

#[test]
fn a_launched_program_dies_with_juror() {
    let program = compile(WORKERS, &["-O1"]);
    // Without a tracer, the calls of the filter would fail.
    for role in ["launch", "filtered"] {
        let player = Player::start(role, &program, 0);
        assert!(is_running(player.debuggee));
        let debuggee = player.kill();
        // It is killed at once, and gone when whoever adopts it has taken note.
        while is_running(debuggee) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn an_attached_program_at_rest_goes_on_unharmed() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &[]);
    let text = bare.bytes_at(&program, "work");
    for role in [
        "rest", "watch", "steps", "rest", "watch", "steps", "rest", "steps", "steps", "steps",
    ] {
        let player = Player::start(role, &program, bare.process());
        // The text is right before juror dies, not only after.
        assert_eq!(bare.bytes_at(&program, "work"), text);
        player.kill();
        assert_eq!(bare.bytes_at(&program, "work"), text);
    }
    assert_eq!(bare.finish(), "right\nstatus 7\n");
}

/// A thread of the program makes system calls for juror all the time.
#[test]
fn a_thread_that_makes_calls_for_juror_goes_on_where_it_was() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &[]);
    for round in 0..100 {
        let player = Player::start("calls", &program, bare.process());
        // At some moment of some call.
        std::thread::sleep(Duration::from_micros(37 * round));
        player.kill();
    }
    assert_eq!(bare.finish(), "right\nstatus 7\n");
}

#[test]
fn the_text_of_an_attached_program_that_runs_is_put_right() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["rarely"]);
    let text = bare.bytes_at(&program, "work");
    let player = Player::start("run", &program, bare.process());
    player.kill();
    // The kernel gives the signal of a trap to a thread that juror was just
    // attending to; otherwise the program goes on, with its own text.
    while bare
        .try_bytes_at(&program, "work")
        .is_some_and(|now| now != text)
    {
        std::thread::yield_now();
    }
    let end = bare.finish();
    assert!(end == "right\nstatus 7\n" || end == "status 133\n", "{end}");
}
