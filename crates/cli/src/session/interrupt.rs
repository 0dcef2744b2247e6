//! Signals to juror: Ctrl-C, and those that end it.
//!
//! Usually the debuggee has the terminal and gets Ctrl-C. juror gets it if both share a
//! process group, or from `kill`.
//!
//! A signal that ends juror is handled by the thread that drives the session, which kills
//! or detaches the debuggee first. It is asked in stages: the running command is
//! interrupted, and nothing of the program runs any more; waits that are not over are
//! abandoned; at last juror ends where it is, as if it did not handle the signal.
//!
//! **Invariant**: juror ends, whatever that thread waits for.

use crate::driver::{Driver, Waker};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::termios::{self, SetArg, Termios};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time for a command to return once it has been interrupted.
const INTERRUPTED_MAX: Duration = Duration::from_millis(500);

/// The time for a program to stop before its run is ended without that.
const STOPPED_MAX: Duration = Duration::from_secs(5);

/// The time for the session to be left, from the request on.
const ASKED_MAX: Duration = Duration::from_secs(10);

/// The time for the debuggee to be killed or detached, which may need a while if it has
/// many threads.
const LEAVING_MAX: Duration = Duration::from_secs(30);

/// The time after which a request is repeated.
const PAUSE: Duration = Duration::from_millis(20);

/// The state that is shared with the thread that handles signals.
#[derive(Debug, Clone, Default)]
pub struct Running(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_running: AtomicBool,
    /// The signal that is to end juror; 0 for none.
    ending: AtomicI32,
    /// The debuggee is being killed or detached for it.
    is_leaving: AtomicBool,
    /// Ctrl-C has been pressed.
    is_interrupted: AtomicBool,
    /// Ctrl-C ends the run, and is repeated until it has: it is lost between two commands.
    is_repeated: AtomicBool,
    /// The terminal and its mode before the line editor changed it.
    terminal: Mutex<Option<(OwnedFd, Termios)>>,
    /// Wakes the session's thread where it awaits what another thread reads.
    prompt: Mutex<Option<PromptWaker>>,
}

/// Makes the wait for a line end.
struct PromptWaker(Box<dyn Fn() + Send>);

impl fmt::Debug for PromptWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PromptWaker")
    }
}

impl Running {
    /// Marks a command as running until the guard is dropped. Guards nest.
    pub fn begin(&self) -> Guard<'_> {
        let was_running = self.0.is_running.swap(true, Ordering::SeqCst);
        Guard(self, was_running)
    }

    /// Marks a command as running, or not.
    pub fn set(&self, is_running: bool) {
        self.0.is_running.store(is_running, Ordering::SeqCst);
    }

    /// Returns the signal that is to end juror after the command.
    pub fn ending(&self) -> Option<i32> {
        Some(self.0.ending.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }

    /// Makes Ctrl-C end the run from now on. Returns whether it has been pressed before.
    pub fn begin_run(&self) -> bool {
        self.0.is_repeated.store(true, Ordering::SeqCst);
        self.0.is_interrupted.load(Ordering::SeqCst)
    }

    /// Takes the run for ended: no further command is interrupted. Returns whether Ctrl-C has
    /// been pressed.
    pub fn end_run(&self) -> bool {
        self.0.is_repeated.store(false, Ordering::SeqCst);
        self.0.is_interrupted.load(Ordering::SeqCst)
    }

    /// Has a function called when juror is to end, perhaps several times: another thread reads
    /// the lines that the session's thread awaits.
    pub fn wake_prompt_by(&self, wake: Box<dyn Fn() + Send>) {
        if let Ok(mut prompt) = self.0.prompt.lock() {
            *prompt = Some(PromptWaker(wake));
        }
    }

    /// Records that the debuggee is being killed or detached since juror is to end.
    pub fn note_leaving(&self) {
        self.0.is_leaving.store(true, Ordering::SeqCst);
    }

    /// Ends juror by a signal, as if juror did not handle it. The debuggee has been ended
    /// or detached.
    pub fn end_by(&self, signal: i32) {
        if let Ok(terminal) = self.0.terminal.lock()
            && let Some((terminal, mode)) = &*terminal
        {
            let _ = termios::tcsetattr(terminal, SetArg::TCSADRAIN, mode);
        }
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}

/// Marks a command as running while it lives.
#[derive(Debug)]
pub struct Guard<'a>(&'a Running, bool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.0.is_running.store(self.1, Ordering::SeqCst);
    }
}

/// Handles signals in a thread, for the calling thread, which drives the session.
///
/// SIGINT interrupts a running command. Between commands it does nothing at a terminal,
/// where the line editor reads Ctrl-C as a key, and ends juror otherwise. SIGTERM and
/// SIGHUP end juror, but SIGHUP does nothing if juror was started with it ignored (`nohup`).
pub fn install(running: &Running, driver: &dyn Driver) -> io::Result<()> {
    let input = io::stdin();
    let at_terminal = input.is_terminal();
    if at_terminal && let Ok(mode) = termios::tcgetattr(&input) {
        let terminal = input.as_fd().try_clone_to_owned()?;
        if let Ok(mut kept) = running.0.terminal.lock() {
            *kept = Some((terminal, mode));
        }
    }
    let repeated = Arc::new(Mutex::new(driver.interrupter()));
    let thread = SessionThread::this()?;
    let session = Reach {
        running: running.clone(),
        interrupt: driver.interrupter(),
        end_runs: driver.ender(),
        waker: thread.waker,
        thread: thread.directory.clone(),
    };
    let mut signals = handled()?;
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                let state = &session.running.0;
                if signal == SIGINT {
                    state.is_interrupted.store(true, Ordering::SeqCst);
                }
                let is_running = state.is_running.load(Ordering::SeqCst);
                match signal == SIGINT && (is_running || at_terminal) {
                    true if state.is_repeated.load(Ordering::SeqCst) => {
                        repeat(&session.running, &repeated, thread.clone())
                    }
                    true if is_running => (session.interrupt)(),
                    true => {}
                    false => session.end(signal),
                }
            }
        })?;
    Ok(())
}

/// Interrupts the commands of a run until it is taken for ended.
fn repeat(running: &Running, interrupt: &Arc<Mutex<Box<dyn Fn() + Send>>>, thread: SessionThread) {
    let (running, interrupt) = (running.clone(), Arc::clone(interrupt));
    let repeating = move || {
        let asked = thread.now();
        while running.0.is_repeated.load(Ordering::SeqCst) {
            if let Ok(interrupt) = interrupt.lock() {
                thread.interrupt(&asked, &**interrupt);
            }
            std::thread::sleep(PAUSE);
        }
    };
    let thread = std::thread::Builder::new().name("interruption".to_owned());
    let _ = thread.spawn(repeating);
}

/// Begins to handle the signals.
///
/// Until the handler of a signal is complete, the signal would be neither handled nor fatal; so
/// it stays pending for that time, unless a thread of the page takes it.
fn handled() -> io::Result<Signals> {
    let mut handled = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        handled.push(SIGHUP);
    }
    let known = handled.iter().filter_map(|it| Signal::try_from(*it).ok());
    let pending: SigSet = known.collect();
    let before = pending.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let signals = Signals::new(&handled);
    before.thread_set_mask()?;
    signals
}

/// The thread that drives the session, to other threads.
#[derive(Clone)]
pub struct SessionThread {
    waker: Waker,
    /// Its directory in `/proc`.
    directory: String,
}

impl SessionThread {
    /// Returns the calling thread.
    ///
    /// # Errors
    /// The signal that wakes it cannot be handled.
    pub fn this() -> io::Result<SessionThread> {
        Ok(SessionThread {
            waker: Waker::of_this_thread()?,
            directory: format!("/proc/self/task/{}", nix::unistd::gettid()),
        })
    }

    /// Returns the present moment of this thread.
    pub fn now(&self) -> Moment {
        Moment::now(&self.directory)
    }

    /// Calls a function that makes it stop the program, and ends its waits for that if it was asked
    /// long ago: a thread of the program may wait in the kernel, where nothing but its end
    /// interrupts it. The answer to a further request would be an end of a wait that goes on.
    pub fn interrupt(&self, asked: &Moment, interrupt: &dyn Fn()) {
        if self.now().since(asked) > STOPPED_MAX {
            self.waker.abandon_waits();
        } else {
            interrupt();
        }
    }
}

/// A moment, with the time that a thread has waited for a processor so far: a thread that other
/// programs keep from running is not stuck.
pub struct Moment {
    at: Instant,
    kept: Duration,
}

impl Moment {
    /// Returns this moment, for the thread with this directory in `/proc`.
    fn now(thread: &str) -> Moment {
        let words = std::fs::read_to_string(format!("{thread}/schedstat")).unwrap_or_default();
        // The time on a processor, the time of waiting for one, both in nanoseconds.
        let kept = words.split_whitespace().nth(1);
        let kept = kept.and_then(|kept| kept.parse().ok()).unwrap_or_default();
        Moment {
            at: Instant::now(),
            kept: Duration::from_nanos(kept),
        }
    }

    /// Returns the time since an earlier moment in which the thread could run.
    fn since(&self, earlier: &Moment) -> Duration {
        let kept = self.kept.saturating_sub(earlier.kept);
        self.at.duration_since(earlier.at).saturating_sub(kept)
    }
}

/// Returns whether juror was started with a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The means to reach the thread that drives the session.
struct Reach {
    running: Running,
    interrupt: Box<dyn Fn() + Send>,
    end_runs: Box<dyn Fn() + Send>,
    waker: Waker,
    /// The directory of that thread in `/proc`.
    thread: String,
}

impl Reach {
    /// Makes the session end, in stages; does not return.
    fn end(&self, signal: i32) {
        let state = &*self.running.0;
        state.ending.store(signal, Ordering::SeqCst);
        (self.end_runs)();
        (self.interrupt)();
        let mut begin = Moment::now(&self.thread);
        let mut was_leaving = false;
        let mut has_input = true;
        loop {
            let waited = Moment::now(&self.thread).since(&begin);
            let is_leaving = state.is_leaving.load(Ordering::SeqCst);
            if is_leaving && !was_leaving {
                was_leaving = true;
                begin = Moment::now(&self.thread);
            }
            let limit = if is_leaving { LEAVING_MAX } else { ASKED_MAX };
            if waited > limit {
                // The kernel kills a started debuggee with juror, and an attached one is
                // left as after `kill -9`.
                self.running.end_by(signal);
            }
            if waited > INTERRUPTED_MAX {
                self.waker.abandon_waits();
            }
            if !state.is_running.load(Ordering::SeqCst) && !is_leaving {
                has_input = has_input && close_input();
                if let Ok(prompt) = state.prompt.lock()
                    && let Some(PromptWaker(wake)) = &*prompt
                {
                    wake();
                }
            }
            self.waker.wake();
            std::thread::sleep(PAUSE);
        }
    }
}

/// Makes whatever reads the standard input find its end. Returns whether there still is one:
/// without a descriptor for an empty one it is closed.
fn close_input() -> bool {
    let replaced = File::open("/dev/null").map(nix::unistd::dup2_stdin);
    if let Ok(Ok(())) = replaced {
        return true;
    }
    let _ = nix::unistd::close(0);
    false
}
