//! The time limit of a batch run.

use crate::driver::Driver;
use crate::session::interrupt::SessionThread;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time after which an interruption is repeated: it is lost between two commands.
const PAUSE: Duration = Duration::from_millis(20);

/// A time limit; without one a run takes as long as it takes.
#[derive(Debug, Default)]
pub struct TimeLimit {
    time: Duration,
    is_over: Arc<AtomicBool>,
    /// Set when the interruption has been followed.
    is_followed: Arc<Mutex<bool>>,
}

impl TimeLimit {
    /// Interrupts the commands of a session after this time, which this thread drives.
    ///
    /// # Errors
    /// A thread cannot be started, or a signal cannot be handled.
    pub fn start(time: Duration, driver: &dyn Driver) -> io::Result<TimeLimit> {
        let limit = TimeLimit {
            time,
            ..TimeLimit::default()
        };
        let interrupt = driver.interrupter();
        let is_over = Arc::clone(&limit.is_over);
        let is_followed = Arc::clone(&limit.is_followed);
        let session = SessionThread::this()?;
        let waiting = move || {
            std::thread::sleep(time);
            is_over.store(true, Ordering::SeqCst);
            let asked = session.now();
            loop {
                match is_followed.lock() {
                    Ok(is_followed) if !*is_followed => session.interrupt(&asked, &*interrupt),
                    _ => return,
                }
                std::thread::sleep(PAUSE);
            }
        };
        let thread = std::thread::Builder::new().name("time limit".to_owned());
        thread.spawn(waiting)?;
        Ok(limit)
    }

    /// Returns whether the time is over. Then no further command is interrupted.
    pub fn is_over(&self) -> bool {
        let is_over = self.is_over.load(Ordering::SeqCst);
        if is_over && let Ok(mut is_followed) = self.is_followed.lock() {
            *is_followed = true;
        }
        is_over
    }

    /// Returns the limit in seconds.
    pub fn seconds(&self) -> f64 {
        self.time.as_secs_f64()
    }
}
