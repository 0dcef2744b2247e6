//! Ctrl-C while the debuggee runs.
//!
//! Usually the debuggee has the terminal and gets the signal itself; juror
//! gets it when both share a process group, or from `kill`.

use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells the signal's thread whether a command runs.
#[derive(Debug, Clone, Default)]
pub struct Running(Arc<AtomicBool>);

impl Running {
    /// A command runs until the guard is dropped.
    pub fn begin(&self) -> Guard<'_> {
        self.0.store(true, Ordering::SeqCst);
        Guard(self)
    }
}

/// A command runs as long as this lives.
#[derive(Debug)]
pub struct Guard<'a>(&'a Running);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::SeqCst);
    }
}

/// Calls `interrupt` at each SIGINT while a command runs. Between commands
/// the signal does nothing at a terminal, where the line editor sees Ctrl-C as
/// a key, and ends juror elsewhere.
pub fn install(
    running: Running,
    interrupt: Box<dyn Fn() + Send>,
    at_terminal: bool,
) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT])?;
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                if running.0.load(Ordering::SeqCst) {
                    interrupt();
                } else if !at_terminal {
                    // The debuggee goes with us: it is traced to that end.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        })?;
    Ok(())
}
