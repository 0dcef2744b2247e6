//! Names and descriptions of signals.

/// Number, name and meaning of the common signals.
const SIGNALS: &[(i32, &str, &str)] = &[
    (1, "SIGHUP", "the terminal was closed"),
    (2, "SIGINT", "interrupted"),
    (3, "SIGQUIT", "quit"),
    (4, "SIGILL", "illegal instruction"),
    (5, "SIGTRAP", "trace or breakpoint trap"),
    (6, "SIGABRT", "aborted"),
    (7, "SIGBUS", "bus error"),
    (8, "SIGFPE", "arithmetic exception"),
    (9, "SIGKILL", "killed"),
    (10, "SIGUSR1", "user-defined signal 1"),
    (11, "SIGSEGV", "invalid memory access"),
    (12, "SIGUSR2", "user-defined signal 2"),
    (13, "SIGPIPE", "wrote to a pipe that nobody reads"),
    (14, "SIGALRM", "alarm clock"),
    (15, "SIGTERM", "terminated"),
    (16, "SIGSTKFLT", "stack fault"),
    (17, "SIGCHLD", "a child's state changed"),
    (18, "SIGCONT", "continued"),
    (19, "SIGSTOP", "stopped"),
    (20, "SIGTSTP", "stopped from the terminal"),
    (21, "SIGTTIN", "read from the terminal in the background"),
    (22, "SIGTTOU", "wrote to the terminal in the background"),
    (23, "SIGURG", "urgent data on a socket"),
    (24, "SIGXCPU", "CPU time limit exceeded"),
    (25, "SIGXFSZ", "file size limit exceeded"),
    (26, "SIGVTALRM", "virtual timer expired"),
    (27, "SIGPROF", "profiling timer expired"),
    (28, "SIGWINCH", "the window's size changed"),
    (29, "SIGIO", "input or output is possible"),
    (30, "SIGPWR", "power failure"),
    (31, "SIGSYS", "bad system call"),
];

/// Returns a signal's name and meaning.
pub fn describe(number: i32) -> (String, String) {
    match SIGNALS.iter().find(|(known, _, _)| *known == number) {
        Some((_, name, meaning)) => ((*name).to_owned(), (*meaning).to_owned()),
        None => (format!("SIG{number}"), "real-time signal".to_owned()),
    }
}

/// Parses a signal: `SIGUSR1`, `usr1`, `SIG40` or `10`.
pub fn number(word: &str) -> Option<i32> {
    let upper = word.to_uppercase();
    let short = upper.strip_prefix("SIG").unwrap_or(&upper);
    let named = SIGNALS.iter().find(|(_, name, _)| &name[3..] == short);
    match named {
        Some((number, _, _)) => Some(*number),
        None => short
            .parse()
            .ok()
            .filter(|number| (1..=crate::signal_names::SIGNAL_MAX).contains(number)),
    }
}

/// Returns the names of the signals.
pub fn names() -> impl Iterator<Item = &'static str> {
    SIGNALS.iter().map(|(_, name, _)| *name)
}

/// The highest signal number.
pub const SIGNAL_MAX: i32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_a_name_or_a_number_in_range() {
        for (word, expected) in [
            ("SIGUSR1", Some(10)),
            ("usr1", Some(10)),
            ("SigUsr1", Some(10)),
            ("10", Some(10)),
            ("SIG40", Some(40)),
            ("64", Some(64)),
            ("65", None),
            ("0", None),
            ("-1", None),
            ("SIG", None),
            ("SIGUSR9", None),
        ] {
            assert_eq!(number(word), expected, "{word}");
        }
    }

    #[test]
    fn every_name_is_that_of_its_number() {
        for name in names() {
            let number = number(name).expect("it is known");
            assert_eq!(describe(number).0, name);
        }
        assert_eq!(
            describe(40),
            ("SIG40".to_owned(), "real-time signal".to_owned())
        );
    }
}
